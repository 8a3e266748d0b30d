"""Time as microcontrollers count it.

Whole microseconds in 32 bits, which wrap around every 71 minutes.
"""

from typing import Any

SECOND = 1_000_000  # microseconds
_WRAP = 1 << 32
_HALF = 1 << 31


def elapsed_us(now: Any, before: Any) -> Any:
    """now - before as a signed 32-bit difference.

    Right across the wrap for any two times less than 35 minutes apart.

    Python numbers of any size, or 32-bit integer arrays, whose subtraction wraps by itself.
    """
    if isinstance(now, int) and isinstance(before, int):
        return (now - before + _HALF) % _WRAP - _HALF
    difference = now - before
    unsigned = getattr(difference, "dtype", None) == "uint32"
    return difference.astype("int32") if unsigned else difference
