"""Limits of the motor driver that a robot needs: as lines to set them, and as checks at start-up.

Most boards come with limits that a walking robot trips: 2 turns/s, 10 A, and 0.01 A back into the
supply.

What protects is exact, not only enough: the current and the speed that the driver itself allows are
all there is should the mid level have been flashed for others.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import NamedTuple

from footfall.machines.control.axis_step import SPEED_TOLERANCE
from footfall.machines.control.microseconds import SECOND
from footfall.machines.control.odrive_firmware import BAUD, Firmware
from footfall.machines.control.settings import StackSettings

#: Of a value: the driver keeps single precision, and answers six decimals.
_ROOM = 1e-3
#: A between the current limit and the current that trips, as firmware 0.5 has it.
CURRENT_MARGIN = 8.0
TORQUE_CONTROL, PASSTHROUGH = 1, 1  #: control mode and input mode, by the vendor's numbers


class Wanted(enum.Enum):
    """What a property may be."""

    AT_LEAST = "at least"
    AT_MOST = "at most"
    EXACTLY = "exactly"


class Limit(NamedTuple):
    """One property of the driver, and what it must be."""

    path: str
    wanted: Wanted
    value: float  #: a whole number or a flag stays one
    why: str
    of_axis: bool = True  #: behind `axisN.`; else the board's own

    def met(self, found: float) -> bool:
        room = _ROOM * abs(self.value)
        if self.wanted is Wanted.AT_LEAST:
            return found >= self.value - room
        if self.wanted is Wanted.AT_MOST:
            return found <= self.value + room
        return abs(found - self.value) <= room

    def full_path(self, axis: int) -> str:
        return f"axis{axis}.{self.path}" if self.of_axis else self.path

    @property
    def shown(self) -> str:
        """The value as Python writes it; six digits are enough."""
        return repr(float(f"{self.value:.6g}") if isinstance(self.value, float) else self.value)


def limits(settings: StackSettings, firmware: Firmware) -> tuple[Limit, ...]:
    """All that a robot needs of a board, then of each of its axes."""
    low, high = settings.bus_band
    least, most, exactly = Wanted
    current = settings.current_limit
    board = (
        ("config.dc_bus_undervoltage_trip_level", most, low, "V, of a battery run down"),
        ("config.dc_bus_overvoltage_trip_level", least, high, "V, while motors brake"),
        ("config.dc_max_positive_current", least, settings.drawn_current, "A, of all motors"),
        ("config.dc_max_negative_current", most, -settings.returned_current, "A, while they brake"),
        ("config.enable_uart_a", exactly, True, "the line from the mid level"),
        ("config.uart_a_baudrate", exactly, BAUD, "of that line"),
    )
    axis = (
        (
            firmware.torque_constant,
            exactly,
            settings.torque_constant,
            "N m/A: by this it makes currents of commanded torques",
        ),
        (firmware.current_limit, exactly, current, "A; held by the driver, whatever it is told"),
        *(
            (path, least, CURRENT_MARGIN + (0.0 if margin else current), "A, where it trips")
            for path, margin in firmware.current_rooms
        ),
        ("controller.config.vel_limit", exactly, settings.speed_limit, "turns/s"),
        ("controller.config.vel_limit_tolerance", exactly, SPEED_TOLERANCE, "times that: off"),
        (
            "controller.config.enable_overspeed_error",
            exactly,
            True,
            "else nothing trips",
        ),
        (
            "controller.config.enable_torque_mode_vel_limit",
            exactly,
            False,
            "else torque fades long before that speed",
        ),
        ("controller.config.control_mode", exactly, TORQUE_CONTROL, "torque"),
        ("controller.config.input_mode", exactly, PASSTHROUGH, "as commanded, at once"),
        (
            "config.watchdog_timeout",
            exactly,
            settings.driver_watchdog_us / SECOND,
            "s without a command: off",
        ),
        ("config.enable_watchdog", exactly, True, "a line that goes one way is not watched else"),
        ("config.startup_closed_loop_control", exactly, False, "no motor is on before you say so"),
    )
    return (
        *(Limit(*numbers, of_axis=False) for numbers in board),
        *(Limit(*numbers) for numbers in axis),
    )


def setup_lines(settings: StackSettings, firmware: Firmware) -> list[str]:
    """What to type into odrivetool, once, for every board."""
    per_board = settings.motors // settings.boards
    lines: list[str] = []
    for board in range(settings.boards):
        lines.append(f"# board {board}, firmware {firmware.name}")
        for limit in limits(settings, firmware):
            for axis in range(per_board if limit.of_axis else 1):
                said = f"odrv{board}.{limit.full_path(axis)} = {limit.shown}"
                lines.append(f"{said:<68}# {limit.why}")
        lines.append(f"odrv{board}.save_configuration()")
    return lines


def unmet(
    settings: StackSettings, firmware: Firmware, ask: Callable[[int, str], float | None]
) -> tuple[list[str], list[str]]:
    """Limits that are not as needed, and limits that could not be read, in words.

    `ask` takes a board and a path and gives the value, or None where there is none.
    """
    per_board = settings.motors // settings.boards
    wrong: list[str] = []
    unread: list[str] = []
    for board in range(settings.boards):
        whose = f"odrv{board}." if settings.boards > 1 else ""
        for limit in limits(settings, firmware):
            for axis in range(per_board if limit.of_axis else 1):
                path = limit.full_path(axis)
                found = ask(board, path)
                if found is None:
                    unread.append(f"{whose}{path}")
                elif not limit.met(found):
                    wrong.append(
                        f"{whose}{path} is {found:g}; needed: {limit.wanted.value} {limit.shown}"
                        f" ({limit.why})"
                    )
    return wrong, unread
