"""Lines of the ODrive ASCII protocol that the mid level sends, and the protocol's own checksum.

Without line ends, except whole lines.
"""

from __future__ import annotations

import functools
import operator
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from footfall.machines.control.decimal_text import fixed

if TYPE_CHECKING:
    from footfall.machines.control.settings import StackSettings

_DIGITS = re.compile(rb"\s*0*([0-9]{1,3})(?![0-9])")
TORQUE_DECIMALS = 6  #: 1 uN m: at 0.034 N m/A, 0.03 mA


def current_lines(settings: StackSettings, currents: Sequence[float]) -> bytes:
    """One `c` line for each motor, with its checksum: a garbled one is ignored, not obeyed.

    Currents [A] are given forward drive positive; what is sent is a torque [N m], as the motor is
    mounted. With a board for each motor, each line goes to its own, where the motor is axis 0.
    Raises ValueError for what is not a finite number.
    """
    if len(currents) != settings.motors:
        raise ValueError(f"{len(currents)} currents came for {settings.motors} motors.")
    # Python numbers take on the precision of the current: in single precision these are the
    # products the firmware forms.
    torques = [
        sign * current * settings.torque_constant
        for sign, current in zip(settings.motor_signs, currents, strict=False)
    ]
    return b"".join(
        with_checksum(
            b"c %d %s" % (0 if settings.boards > 1 else motor, fixed(torque, TORQUE_DECIMALS))
        )
        + b"\n"
        for motor, torque in enumerate(torques)
    )


def by_board(settings: StackSettings, lines: bytes) -> list[bytes]:
    """What of `current_lines` goes to each board."""
    rows, share = lines.splitlines(keepends=True), settings.motors // settings.boards
    return [b"".join(rows[share * board :][:share]) for board in range(settings.boards)]


def line_checksum(line: bytes) -> int:
    """The exclusive or of a line's bytes."""
    return functools.reduce(operator.xor, line, 0)


def with_checksum(line: bytes) -> bytes:
    """`line*N`, N in decimal."""
    return b"%s*%d" % (line, line_checksum(line))


def strip_checksum(line: bytes) -> bytes | None:
    """The line without comment and checksum, as the driver reads it.

    None if it has a checksum that is wrong. A checksum is not required; what follows its digits is
    not looked at, and a star at the very end is part of the line.
    """
    told = line.partition(b";")[0]
    text, star, given = told.partition(b"*")
    if not star or not given:
        return told
    digits = _DIGITS.match(given)
    return text if digits and int(digits[1]) == line_checksum(text) else None
