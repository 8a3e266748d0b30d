"""Figures of motion plans.

Nothing is stepped through, but thousands of plans are worth a kernel.
"""

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from footfall.engines.jax_setup import prepare_jax
from footfall.engines.kernels.fuse_errors import CannotFuse, NoCompiler
from footfall.engines.kernels.targets.simd.cpp_kernel import CppKernel, build_cpp, cores
from footfall.hybrid.motion_plan import AbstractMotionPlan, Figure

_built: dict[Hashable, CppKernel] = {}


class Evaluated(NamedTuple):
    """Figures, how they were computed, and why not faster."""

    figures: dict[str, Figure]
    path: str
    notes: tuple[str, ...]


def evaluate_plan(
    plan: AbstractMotionPlan, path: str = "auto", threads: int | None = None
) -> Evaluated:
    """Figures of all designs the plan's numbers stand for.

    `path` as in a batch plan: "cpp", "xla", "gpu" or "auto".
    """

    prepare_jax()

    def kernel(
        program: Callable[..., tuple[Any, ...]],
        key: Hashable,
        shared: Sequence[Any],
        columns: Sequence[np.ndarray],
    ) -> list[np.ndarray]:
        inputs = [*shared, *columns]
        dtypes = tuple(np.asarray(v).dtype for v in inputs)
        if (key, dtypes) not in _built:
            flags = [False] * len(shared) + [True] * len(columns)
            _built[key, dtypes] = build_cpp(program, flags, dtypes, real=np.dtype(np.float64))
        return _built[key, dtypes](inputs, threads=threads)

    on_gpu = jax.devices()[0].platform in ("gpu", "cuda")
    why = ""
    if path == "cpp" or (path == "auto" and not on_gpu):
        try:
            used = threads or cores()
            figures = plan.figures(plan.designs, kernel)
            return Evaluated(
                figures, f"along the plan, C++ kernel, {used} thread{'s' if used != 1 else ''}", ()
            )
        except NoCompiler as error:
            why = f"no C++ kernel: {error}"
        except CannotFuse as error:
            why = f"not one C++ kernel: no rule there for {error}"
    return Evaluated(
        plan.figures(plan.designs),
        f"along the plan, XLA on {jax.devices()[0].platform}",
        (why,) if why else (),
    )
