"""Lines of the ODrive ASCII protocol that the mid level sends, and the protocol's own checksum.

Without line ends, except whole lines.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING

from footfall.machines.control.decimal_text import fixed

if TYPE_CHECKING:
    from footfall.machines.control.settings import StackSettings

DECIMALS = 4  #: 0.1 mA, or 0.1 mN m


def current_lines(settings: StackSettings, currents: Sequence[float]) -> bytes:
    """One `c` line for each motor.

    Currents [A] are given forward drive positive; what is sent is as the motor is mounted, and in
    newton metres where the driver's firmware takes those. Raises ValueError for what is not a
    finite number.
    """
    if len(currents) != settings.motors:
        raise ValueError(f"{len(currents)} currents came for {settings.motors} motors.")
    # Python numbers take on the precision of the current: in single precision these are the
    # products the firmware forms.
    scale = settings.torque_constant if settings.command_in_torque else 1.0
    amounts = [
        sign * current * scale
        for sign, current in zip(settings.motor_signs, currents, strict=False)
    ]
    return b"".join(
        b"c %d %s\n" % (motor, fixed(amount, DECIMALS)) for motor, amount in enumerate(amounts)
    )


def line_checksum(line: bytes) -> int:
    """The exclusive or of a line's bytes."""
    return functools.reduce(operator.xor, line, 0)


def with_checksum(line: bytes) -> bytes:
    """`line*N`, N in decimal."""
    return b"%s*%d" % (line, line_checksum(line))


def strip_checksum(line: bytes) -> bytes | None:
    """The line without comment and checksum; None if it has a checksum that is wrong.

    A checksum is not required.
    """
    told = line.partition(b";")[0]
    text, star, given = told.partition(b"*")
    if not star:
        return told
    given = given.strip()
    right = given.isdigit() and len(given) <= 3 and int(given) == line_checksum(text)
    return text if right else None
