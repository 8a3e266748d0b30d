"""Arrays of a traced program, written out number by number: small matrices, no loops.

An array is a NumPy array of values here, so what only moves numbers about (a transpose, a slice)
moves them here and leaves no trace in C. Sums go from the first to the last.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from footfall.engines.kernels.fuse_errors import CannotFuse

#: More numbers than this are no law of a microcontroller, and no text to read.
MOST_NUMBERS = 4096

#: Reductions, by what joins two numbers.
REDUCTIONS = {
    "reduce_sum": "add",
    "reduce_prod": "mul",
    "reduce_max": "max",
    "reduce_min": "min",
    "reduce_and": "and",
    "reduce_or": "or",
}

#: Of two values a third: `join("add", a, b)`.
Join = Callable[[str, Any, Any], Any]


def moved(
    name: str, params: Mapping[str, Any], inputs: Sequence[np.ndarray], shape: tuple[int, ...]
) -> np.ndarray | None:
    """The same numbers in other places; None for a primitive that calculates.

    Inputs are arrays of values, `shape` is that of what comes out.
    """
    first = inputs[0] if inputs else np.empty((), object)
    match name:
        case "reshape" | "squeeze" | "copy" | "copy_p" | "stop_gradient" | "name":
            return first.reshape(shape)
        case "broadcast_in_dim":
            places = dict(zip(params["broadcast_dimensions"], first.shape, strict=True))
            return np.broadcast_to(
                first.reshape([places.get(axis, 1) for axis in range(len(shape))]), shape
            )
        case "transpose":
            return np.transpose(first, params["permutation"])
        case "rev":
            return np.flip(first, params["dimensions"])
        case "concatenate":
            return np.concatenate(inputs, axis=params["dimension"])
        case "stack":
            return np.stack(inputs, axis=params["axis"])
        case "tile":
            return np.tile(first, params["reps"])
        case "slice":
            steps = params["strides"] or (1,) * first.ndim
            limits = zip(params["start_indices"], params["limit_indices"], steps, strict=True)
            return first[tuple(slice(*limit) for limit in limits)]
        case "dynamic_slice":
            return first[_slices(name, inputs[1:], params["slice_sizes"], first.shape)]
        case _:
            return None


def joined(
    name: str, params: Mapping[str, Any], inputs: Sequence[np.ndarray], join: Join
) -> np.ndarray | None:
    """Products of matrices and reductions; None for any other primitive."""
    if name == "dot_general":
        return _product(*inputs, params["dimension_numbers"], join)
    if name in REDUCTIONS:
        (values,), axes = inputs, tuple(params["axes"])
        kept = [axis for axis in range(values.ndim) if axis not in axes]
        lines = np.transpose(values, [*kept, *axes])
        shape = lines.shape[: len(kept)]
        return _rows(lines.reshape(*shape, -1), lambda row: _folded(REDUCTIONS[name], row, join))
    return None


def _product(a: np.ndarray, b: np.ndarray, dimensions: Any, join: Join) -> np.ndarray:
    """Axes that run together first, then those of a, then those of b."""
    (a_sum, b_sum), (a_with, b_with) = dimensions
    a_own = [axis for axis in range(a.ndim) if axis not in (*a_sum, *a_with)]
    b_own = [axis for axis in range(b.ndim) if axis not in (*b_sum, *b_with)]
    with_shape = [a.shape[axis] for axis in a_with]
    a_shape, b_shape = [a.shape[axis] for axis in a_own], [b.shape[axis] for axis in b_own]
    length = int(np.prod([a.shape[axis] for axis in a_sum], dtype=int))
    left = np.transpose(a, [*a_with, *a_own, *a_sum]).reshape(*with_shape, -1, length)
    right = np.transpose(b, [*b_with, *b_own, *b_sum]).reshape(*with_shape, -1, length)
    made = np.empty((*with_shape, left.shape[-2], right.shape[-2]), object)
    for place in np.ndindex(*made.shape):
        *together, row, column = place
        pairs = zip(left[(*together, row)], right[(*together, column)], strict=True)
        made[place] = _folded("add", [join("mul", x, y) for x, y in pairs], join)
    return made.reshape(*with_shape, *a_shape, *b_shape)


def _folded(how: str, values: Sequence[Any], join: Join) -> Any:
    first, *others = values
    for value in others:
        first = join(how, first, value)
    return first


def _rows(lines: np.ndarray, made_of: Callable[[np.ndarray], Any]) -> np.ndarray:
    made = np.empty(lines.shape[:-1], object)
    for place in np.ndindex(*made.shape):
        made[place] = made_of(lines[place])
    return made


def _slices(
    name: str, starts: Sequence[np.ndarray], sizes: Sequence[int], shape: Sequence[int]
) -> tuple[slice, ...]:
    """Where a slice begins that the program says by numbers; they stop at the ends, as JAX's do."""
    numbers = [start.item().number for start in starts]
    if any(number is None for number in numbers):
        raise CannotFuse(name, "takes a place that is known only when the law runs")
    firsts = [
        min(max(int(number), 0), length - size)
        for number, length, size in zip(numbers, shape, sizes, strict=True)
    ]
    return tuple(slice(first, first + size) for first, size in zip(firsts, sizes, strict=True))


def checked(name: str, shape: Sequence[int]) -> None:
    """CannotFuse for an array that is too large, or empty."""
    count = int(np.prod(shape, dtype=int))
    if not 0 < count <= MOST_NUMBERS:
        raise CannotFuse(
            name, f"makes {count} numbers at once; 1 to {MOST_NUMBERS} can be written out"
        )


def every_place(shape: Sequence[int]) -> Any:
    """Of an array, in order, each with its number."""
    return enumerate(itertools.product(*(range(length) for length in shape)))
