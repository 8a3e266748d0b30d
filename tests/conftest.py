"""Every test: on the CPU, compiled quickly unless it says `as_compiled`, programs shared through one
folder (also with subprocesses and xdist), examples that repeat.
"""

import contextlib
import itertools
import os
import signal
from collections.abc import Iterator
from pathlib import Path

os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault(
    "FOOTFALL_CACHE", str(Path(__file__).resolve().parents[1] / ".cache" / "test")
)

# A compiler that waits for a busy machine is no compiler that hangs.
os.environ.setdefault("FOOTFALL_COMPILE_SECONDS", "900")

import hypothesis
import jax
import pytest

from footfall.engines.jax_setup import prepare_jax
from footfall.engines.kernels import kept_program
from support.quick_programs import compile_quickly

prepare_jax()

# A shell that starts the tests in the background has them ignore Ctrl-C, and all that they start:
# tests that press it would wait in vain.
with contextlib.suppress(ValueError):  # not the main thread
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--as-compiled", action="store_true", help="compile every program as a user's process does"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Before its fixtures, of whatever scope."""
    as_users_do = item.get_closest_marker("as_compiled") or item.config.getoption("--as-compiled")
    compile_quickly(not as_users_do)
    # Who changes code as it runs does not want what other code was traced to, nor leaves its own.
    kept_program.keep = "monkeypatch" not in getattr(item, "fixturenames", ())


# A first example may compile for seconds, so no deadline; derandomized, because nothing random
# decides what is run.
# To explain takes longer than to find.
hypothesis.settings.register_profile(
    "footfall",
    deadline=None,
    derandomize=True,
    max_examples=25,
    database=None,
    phases=[hypothesis.Phase.explicit, hypothesis.Phase.generate, hypothesis.Phase.shrink],
    suppress_health_check=[
        hypothesis.HealthCheck.too_slow,
        hypothesis.HealthCheck.function_scoped_fixture,
    ],
)
hypothesis.settings.load_profile("footfall")


@pytest.fixture(autouse=True)
def room_for_programs() -> Iterator[None]:
    """Forget compiled programs before there are too many: each maps several pieces of memory, a
    process may have 65 530, and XLA dies without a word when it gets no more. The disk cache has
    them again in a moment."""
    yield
    pieces = Path("/proc/self/maps")
    if (
        next(_tests_run) % 10 == 0
        and pieces.exists()
        and pieces.read_bytes().count(b"\n") > MOST_PIECES
    ):
        jax.clear_caches()


MOST_PIECES = 20_000
_tests_run = itertools.count(1)
