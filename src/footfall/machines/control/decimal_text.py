"""Numbers as text on a serial line.

One notation to write, one grammar to read, the same in firmware/teensy/ to the last byte.
"""

from __future__ import annotations

import math
import re

#: [+-] digits [. digits] [e [+-] digits], or a point with digits after it. Python's float() reads
#: more (`1_0`, ` 1`, `nan`, `inf`), C's strtod reads other things again (`0x1p3`): neither is asked
#: before this has matched.
_NUMBER = re.compile(rb"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")

#: Sizes from here on are not written: the firmware's formatter counts in 64-bit integers.
LARGEST = 1e9


def fixed(value: float, decimals: int) -> bytes:
    """A number in fixed notation, rounded as its exact binary value demands, ties to even.

    Zero has no sign, however it came about.
    """
    number = float(value)
    if not abs(number) < LARGEST:  # also true of nan
        raise ValueError(
            f"{number} cannot be written: a line carries finite numbers of size less than"
            f" {LARGEST:g}."
        )
    text = f"{number:.{decimals}f}"
    return (text if text.strip("-0.") else text.lstrip("-")).encode()


def number(text: bytes) -> float | None:
    """The double nearest to a decimal text, or None if the text is no number or too large for one.

    Tiny numbers are numbers: they come out subnormal or zero, as in C.
    """
    if _NUMBER.fullmatch(text) is None:
        return None
    value = float(text)
    return value if math.isfinite(value) else None
