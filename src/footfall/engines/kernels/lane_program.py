"""A program over lanes, traced: what every target begins with."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from footfall.engines.kernels.cpp_values import BLOCK


class Leaf(NamedTuple):
    """An input or output.

    One value per lane or a shared one, for one leg (rows None) or for several.
    """

    dtype: np.dtype
    lane: bool = True
    rows: int | None = None

    def shape(self, lanes: int) -> tuple[int, ...]:
        return (() if self.rows is None else (self.rows,)) + ((lanes,) if self.lane else ())


class LaneProgram(NamedTuple):
    """A traced program with what goes in and what comes out."""

    jaxpr: Any
    inputs: list[Leaf]
    outputs: list[Leaf]


def trace_lanes(
    program: Callable[..., tuple],
    lane: Sequence[bool],
    dtypes: Sequence[np.dtype],
    *,
    real: np.dtype,
    rows: Sequence[int | None] | None = None,
) -> LaneProgram:
    """Trace `program(*leaves) -> leaves`; `build_cpp` says what it may be."""
    dtypes = [np.dtype(dtype) for dtype in dtypes]
    if real not in (np.float32, np.float64):
        raise ValueError(f"real is float32 or float64, not {real}")
    if bad := [dtype for dtype in dtypes if dtype not in (real, np.int32, np.bool_)]:
        raise ValueError(f"inputs are {real}, int32 or bool, not {bad[0]}")
    if not any(lane):
        raise ValueError("at least one input is per lane")
    inputs = [Leaf(*leaf) for leaf in zip(dtypes, lane, rows or [None] * len(dtypes), strict=True)]
    traced = jax.make_jaxpr(program)(
        *(jax.ShapeDtypeStruct(leaf.shape(BLOCK), leaf.dtype) for leaf in inputs)
    )
    outputs = [Leaf(aval.dtype, True, _rows(aval.shape)) for aval in traced.out_avals]
    return LaneProgram(traced, inputs, outputs)


def _rows(shape: tuple[int, ...]) -> int | None:
    return None if shape in ((), (BLOCK,)) else shape[0]
