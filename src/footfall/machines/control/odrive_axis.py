"""One motor's half of an emulated motor driver.

axis_step.py with what an ODrive's protocol reads and writes of it.

Everything here is in the motor's own sign.
"""

from __future__ import annotations

import enum
from typing import Any

from footfall.machines.control.axis_step import (
    AxisError,
    AxisMemory,
    AxisNumbers,
    Command,
    failed,
    rested,
    ticked,
)
from footfall.machines.control.axis_step import Mode as Mode
from footfall.machines.control.electrics import Winding
from footfall.machines.control.settings import StackSettings


class AxisState(enum.IntEnum):
    """The states of the ODrive that matter here, by its numbers."""

    IDLE = 1
    CALIBRATION = 3  #: the full sequence
    CLOSED_LOOP = 8


class Axis:
    """Simplified against the ODrive.

    The velocity loop has no integral part and no torque limit near the speed limit; calibration
    takes its time but neither turns nor heats the motor; the watchdog runs in closed loop only.
    """

    def __init__(
        self, settings: StackSettings, winding: Winding, calibrated: bool, calibration_us: int
    ):
        self.numbers = AxisNumbers(
            winding._replace(current_limit=min(settings.current_limit, winding.current_limit)),
            watchdog_us=settings.driver_watchdog_us,
            speed_limit=settings.speed_limit,
        )
        self.memory = AxisMemory(False, 0, 0.0, 0.0, calibrated=calibrated)
        self.position = self.speed = 0.0  #: turns, turns/s: what the encoder says
        self.command = Command()
        self._calibration_us = calibration_us

    @property
    def state(self) -> AxisState:
        calibrating = AxisState.CALIBRATION if self.memory.calibrating else AxisState.IDLE
        return AxisState.CLOSED_LOOP if self.memory.closed_loop else calibrating

    @property
    def error(self) -> AxisError:
        return AxisError(self.memory.error)

    @property
    def enable_watchdog(self) -> bool:
        return self.numbers.watched

    @enable_watchdog.setter
    def enable_watchdog(self, enabled: bool) -> None:
        self.set(watched=enabled)

    def clear_errors(self) -> None:
        self.memory = self.memory._replace(error=0)

    def set(self, **numbers: Any) -> None:
        """Numbers it is set to, by their names in AxisNumbers."""
        self.numbers = self.numbers._replace(**numbers)

    def take(self, command: Command, now_us: int) -> None:
        self.command = command
        self.feed(now_us)

    def feed(self, now_us: int) -> None:
        """The watchdog has been heard."""
        self.memory = self.memory._replace(fed_us=now_us)

    def request(self, state: int, now_us: int) -> None:
        """Enter a state, at once.

        Closed loop is refused while an error stands, and to a motor never calibrated.
        """
        self.memory = rested(self.memory)
        if state == AxisState.IDLE or self.error:
            return
        if state == AxisState.CALIBRATION:
            self.memory = self.memory._replace(
                calibrating=True, calibrated_us=now_us + self._calibration_us
            )
        elif state == AxisState.CLOSED_LOOP and self.memory.calibrated:
            self.memory = self.memory._replace(closed_loop=True, fed_us=now_us)
        else:
            self.fail(AxisError.INVALID_STATE)

    def fail(self, error: AxisError) -> None:
        """Off, until the error is cleared and closed loop requested again."""
        self.memory = failed(self.memory, error)

    def tick(self, now_us: int, bus_voltage: float, speed: float, position: float) -> None:
        """What the encoder says, and the current until the next tick."""
        self.speed, self.position = speed, position
        self.memory = ticked(
            self.numbers, self.memory, self.command, now_us, bus_voltage, speed, position
        )
