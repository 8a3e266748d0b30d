"""Laws in batches: where nearly every test has a robot of its own, most of its time would go into
compiling what runs for a moment.
"""

import functools
from collections.abc import Iterator

import pytest

from footfall.engines.lanes import batch_program
from support.batches import op_by_op, optimised

# Kernels made so stay among the tests that ask for it; what users get is tested by contracts/,
# published/ and journeys/.
_kernels = functools.lru_cache(maxsize=32)(batch_program._cpp.__wrapped__)


@pytest.fixture(scope="module")
def little_compiled() -> Iterator[None]:
    """Kernels with -O2, and what a batch does once operation by operation.

    A third of the time for a robot of twelve legs.
    """
    with pytest.MonkeyPatch.context() as patch:
        optimised(patch, "-O2")
        op_by_op(patch)
        patch.setattr(batch_program, "_cpp", _kernels)
        yield
