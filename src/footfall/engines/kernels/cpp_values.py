"""The values of a lane program as C++ text.

Shared or one per lane, one or one for each leg; constants that lose no bit.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from footfall.engines.kernels.fuse_errors import CannotFuse

#: Lanes a program is traced with. A kernel's own width would not do: eight lanes and eight legs
#: would look the same.
BLOCK = 8191

#: C++ types of shared values.
SCALARS = {
    "float32": "float",
    "float64": "double",
    "int32": "int32_t",
    "int64": "int64_t",
    "bool": "bool",
}


def lane_type(dtype: np.dtype) -> str:
    """The type of one such value per lane: numbers; 64-bit integers; other integers and truth."""
    return "V" if dtype.kind == "f" else "VL" if dtype == np.int64 else "VI"


class Layout(NamedTuple):
    """What a shape means.

    How many legs (1 where it has none), and whether there is a number for every lane.
    """

    legs: int
    lanes: bool


def layout(primitive: str, shape: Sequence[int]) -> Layout:
    """Legs first, lanes last: (), (W,), (L,), (L, 1) and (L, W) fit, anything else is refused."""
    shape = tuple(shape)
    if shape in ((), (BLOCK,)):
        return Layout(1, shape != ())
    if len(shape) == 1 or (len(shape) == 2 and shape[0] != BLOCK and shape[1] in (1, BLOCK)):
        return Layout(shape[0], shape[-1] == BLOCK)
    told = str(shape).replace(str(BLOCK), "lanes")
    raise CannotFuse(
        primitive,
        f"makes shape {told}; only one number, one per lane, (lanes,), and those for each leg fit",
    )


class Value(NamedTuple):
    """A value of the program: its C++ text, its dtype, and whether there is one per lane.

    One that differs between legs has a name as its text, which means the leg at hand inside a loop
    over legs. A value that is the same for all legs counts as one leg, whatever its shape: it is
    read in loops as it is.
    """

    text: str
    dtype: np.dtype
    lanes: bool
    number: np.ndarray | None = None  #: what it is, if the program says so
    legs: int = 1

    @property
    def wide(self) -> str:
        """The value as one per lane."""
        return self.text if self.lanes else f"all({self.text})"

    @property
    def is_bound(self) -> bool:
        """Known, and not NaN."""
        return self.number is not None and not (self.dtype.kind == "f" and np.isnan(self.number))


def literal(value: np.ndarray) -> Value:
    """A shared constant, written so that the compiler reads back the same bits."""
    single = value.dtype.itemsize == 4
    if value.dtype.kind == "b":
        text = "true" if value else "false"
    elif value.dtype.kind == "i":
        text = _integer_text(int(value), single)
    else:
        f = "f" if single else ""
        if np.isnan(value):
            text = f'__builtin_nan{f}("")'
        elif np.isinf(value):
            text = f"__builtin_inf{f}()" if value > 0 else f"(-__builtin_inf{f}())"
        else:
            digits = str(value[()])  # the shortest decimals that give the same bits back
            digits = digits if any(c in digits for c in ".e") else digits + ".0"
            text = f"({digits}{f})" if digits[0] == "-" else digits + f
    return Value(text, value.dtype, False, value)


def _integer_text(number: int, single: bool) -> str:
    if number == np.iinfo(np.int32 if single else np.int64).min:
        # without the minus its digits would not fit
        return f"({_integer_text(number + 1, single)} - 1)"
    text = str(number) if single else f"INT64_C({number})"
    return f"({text})" if number < 0 else text
