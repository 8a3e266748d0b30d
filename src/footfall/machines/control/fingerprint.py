"""What a mid level was built for and of, as two numbers that it says when it is asked.

The bytes on the line do not show whose constants and which law a sketch holds: one made for another
robot, or for another controller, reports and drives as if all were well. So the high level asks at
its start (start_up.py), and refuses a sketch that its settings would not make.

    down  <e*HH>      a letter, which no number is; firmware older than this rejects it
    up    <N,N*HH>    two whole numbers below 2^32, where a report has one field

The numbers are a hash of every constant in footfall_config.h, as the firmware holds it, and of the
law's text. firmware/teensy/ has them from its configuration and says the same bytes.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from footfall.machines.control.framing import REQUEST, Field, FrameFormat, as_sent, framed
from footfall.machines.control.own_law import OwnLaw
from footfall.machines.control.pid import pid_update

if TYPE_CHECKING:
    from footfall.machines.control.settings import StackSettings

_MOST = (1 << 32) - 1


def fingerprint(settings: StackSettings) -> tuple[int, int]:
    """Of the mid level that these settings make."""
    told = json.dumps(_constants(settings), sort_keys=True) + _law_text(settings)
    hashed = hashlib.sha256(told.encode()).digest()
    return int.from_bytes(hashed[:4]), int.from_bytes(hashed[4:8])


def answer_format(settings: StackSettings) -> FrameFormat:
    """Mid to high level: what is answered to REQUEST."""
    return FrameFormat((Field("first", _MOST), Field("second", _MOST)), settings.checksum)


def request(settings: StackSettings) -> bytes:
    """High to mid level: what were you built for?"""
    return framed(REQUEST, settings.checksum)


def answer_payload(settings: StackSettings) -> bytes:
    """What stands in the frame of the answer."""
    return b"%d,%d" % fingerprint(settings)


def _constants(settings: StackSettings) -> dict[str, Any]:
    """Every number that the mid level holds, in the precision in which it holds it."""
    gains = settings.gains
    law = gains.numbers if isinstance(gains, OwnLaw) else gains._asdict()
    limits = settings.setpoint_limit, settings.measured_limit, settings.steer_limit
    signs = settings.motor_signs[: settings.motors]
    return {
        "law": {name: _single(value) for name, value in law.items() if name != "period_us"},
        "limits": [as_sent(limit) for limit in limits],
        "frames": [bool(settings.steering), bool(settings.checksum)],
        "periods": [
            int(gains.period_us),
            int(settings.report_period_us),
            int(settings.watchdog_us),
        ],
        "motors": [int(settings.motors), int(settings.boards), *map(_single, signs)],
        "torque_constant": _single(settings.torque_constant),
    }


def _law_text(settings: StackSettings) -> str:
    """The law's C where it is one of one's own; else the text that the shipped C is made from."""
    gains = settings.gains
    return gains.header + gains.source if isinstance(gains, OwnLaw) else _shipped_law()


@functools.cache
def _shipped_law() -> str:
    return inspect.getsource(pid_update)


def _single(value: Any) -> str:
    return float(np.float32(value)).hex()
