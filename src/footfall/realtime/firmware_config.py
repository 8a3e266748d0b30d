"""The stack's settings as the C header the firmware is compiled with."""

from __future__ import annotations

import math
import re

import numpy as np

from footfall.machines.control.fingerprint import answer_payload
from footfall.machines.control.framing import as_sent, down_format, encode
from footfall.machines.control.own_law import OwnLaw
from footfall.machines.control.pid import PidGains
from footfall.machines.control.settings import StackSettings

#: Outputs are written with six decimals through 64-bit integers, and a line has room for seven
#: digits before the point.
_LARGEST_OUTPUT = 1e6
_LARGEST_PERIOD = 1 << 31  # half a turn of the microsecond counter


def config_header(settings: StackSettings) -> str:
    """The text of footfall_config.h.

    Raises ValueError for settings the firmware cannot be built for.
    """
    _check(settings)
    gains = settings.gains
    signs = (*settings.motor_signs, 1.0)
    lines = [
        "/* What the firmware is built for. Made by `footfall stack firmware`: change the scenario",
        " * and make it again rather than editing it here, or the supervisor will refuse it. */",
        "#ifndef FOOTFALL_CONFIG_H",
        "#define FOOTFALL_CONFIG_H",
        "",
        *(_own_law(gains) if isinstance(gains, OwnLaw) else _shipped_law(gains)),
        "",
        "/* Frames from the high level: largest sizes, as their notation rounds them. */",
        define("SETPOINT_LIMIT", _double(settings.setpoint_limit), "rad"),
        define("PITCH_LIMIT", _double(settings.measured_limit), "rad"),
        define("STEER_LIMIT", _double(settings.steer_limit), "A"),
        define("STEERING", f"{int(settings.steering)}", "frames carry a steering current"),
        define("CHECKSUM", f"{int(settings.checksum)}", "frames carry *HH, both ways"),
        define("WATCHDOG_US", _whole(settings.watchdog_us), "without a valid frame: off"),
        define(
            "REPORT_PERIOD_US", _whole(settings.report_period_us), "at which the output is reported"
        ),
        "",
        "/* The motor driver. */",
        define("MOTORS", f"{settings.motors}", ""),
        define("SIGN_LEFT", single(signs[0]), "how it is mounted"),
        define("SIGN_RIGHT", single(signs[1]), ""),
        define("BOARDS", f"{settings.boards}", "2: each has one motor, as its axis 0"),
        define("TORQUE_CONSTANT", single(settings.torque_constant), "N m/A"),
        "",
        "/* Of all of the above and of the law: said to the high level, which compares. */",
        define("FINGERPRINT", f'"{answer_payload(settings).decode()}"', ""),
        "",
        "#endif",
    ]
    return "\n".join(lines) + "\n"


def own_sources(law: OwnLaw, sources: dict[str, str]) -> dict[str, str]:
    """Of the firmware's sources those that are others with a law of one's own."""
    known = {"output_limit": "OUTPUT_LIMIT", "period_us": "PERIOD_US"}
    rows = "".join(f"        .{n} = FF_{known.get(n, _macro(n))},\n" for n in law.numbers)
    settings, count = re.subn(
        r"(\.gains = \{\n).*?(    \},\n)", rf"\g<1>{rows}\g<2>", sources["settings.c"], flags=re.S
    )
    if count != 1:
        raise RuntimeError("settings.c of the firmware has no `.gains = {...}` to fill in")
    return {"pid.h": law.header, "pid.c": law.source, "settings.c": settings}


def _shipped_law(gains: PidGains) -> list[str]:
    return [
        "/* The law: amperes per motor, from radians. */",
        define("PROPORTIONAL", single(gains.proportional), "A/rad"),
        define("INTEGRAL", single(gains.integral), "A/(rad s)"),
        define("DERIVATIVE", single(gains.derivative), "A s/rad"),
        define("INTEGRAL_LIMIT", single(gains.integral_limit), "A"),
        define("OUTPUT_LIMIT", single(gains.output_limit), "A"),
        define("FILTER_TIME", single(gains.filter_time), "s, of the derivative"),
        define("PERIOD_US", _whole(gains.period_us), "at which the law calculates"),
    ]


def _own_law(law: OwnLaw) -> list[str]:
    ours = {name: v for name, v in law.numbers.items() if name not in ("output_limit", "period_us")}
    return [
        "/* The law. */",
        *(define(_macro(name), single(value), "") for name, value in ours.items()),
        define("OUTPUT_LIMIT", single(law.output_limit), "A"),
        define("PERIOD_US", _whole(law.period_us), "at which the law calculates"),
    ]


def _macro(name: str) -> str:
    return f"LAW_{name.upper()}"


def _check(settings: StackSettings) -> None:
    gains = settings.gains
    law = gains.numbers if isinstance(gains, OwnLaw) else gains._asdict()
    numbers = {f"gains.{name}": float(value) for name, value in law.items()}
    for name in ("setpoint_limit", "measured_limit", "steer_limit", "torque_constant"):
        numbers[name] = getattr(settings, name)
    for name, value in numbers.items():
        if not math.isfinite(value) or abs(value) > float(np.finfo(np.float32).max):
            raise ValueError(
                f"{name} = {value}: the firmware holds finite numbers in single precision."
            )
    if not 0 < gains.output_limit < _LARGEST_OUTPUT:
        raise ValueError(
            f"gains.output_limit = {gains.output_limit}: the firmware sends outputs between 0 and"
            f" {_LARGEST_OUTPUT:g}."
        )
    torque = gains.output_limit * settings.torque_constant
    if not torque < _LARGEST_OUTPUT:
        raise ValueError(
            f"torque_constant = {settings.torque_constant}: with gains.output_limit ="
            f" {gains.output_limit} a motor is told {torque:g} N m; a line has room for less than"
            f" {_LARGEST_OUTPUT:g}."
        )
    if isinstance(gains, PidGains) and (gains.integral_limit < 0 or gains.filter_time < 0):
        raise ValueError(
            f"gains: integral_limit = {gains.integral_limit}, filter_time = {gains.filter_time}:"
            " neither is negative."
        )
    for name, value in (
        ("gains.period_us", gains.period_us),
        ("report_period_us", settings.report_period_us),
        ("watchdog_us", settings.watchdog_us),
    ):
        if not 0 < value < _LARGEST_PERIOD:
            raise ValueError(f"{name} = {value}: between 1 and {_LARGEST_PERIOD - 1} microseconds.")
    # The longest frame both ends may have to exchange must fit: encode says so if not.
    down = down_format(settings)
    encode(down, [1.0 if field.flag else -field.limit for field in down.fields])


def define(name: str, value: str, meaning: str) -> str:
    line = f"#define FF_{name} {value}"
    return f"{line:<44} /* {meaning} */" if meaning else line


def single(value: float) -> str:
    """Shortest text that a C compiler reads as this very number."""
    return f"{np.float32(value)!s}f"


def _double(limit: float) -> str:
    return f"{as_sent(limit)!r}"


def _whole(value: int) -> str:
    return f"UINT32_C({int(value)})"
