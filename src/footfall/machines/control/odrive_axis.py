"""One motor's half of an emulated motor driver: its state, its watchdog, its loops. Everything here is in the motor's own sign."""

from __future__ import annotations

import enum
import math
from typing import NamedTuple

from footfall.machines.control.electrics import Winding, next_current
from footfall.machines.control.microseconds import SECOND, elapsed_us
from footfall.machines.control.settings import StackSettings


class AxisState(enum.IntEnum):
    """The states of the ODrive that matter here, by its numbers."""

    IDLE = 1
    CALIBRATION = 3  #: the full sequence
    CLOSED_LOOP = 8


class AxisError(enum.IntFlag):
    """Bits of the error word, by the numbers of firmware 0.4 and 0.5."""

    INVALID_STATE = 0x001  #: a state was requested that cannot be entered
    UNDER_VOLTAGE = 0x002
    OVER_VOLTAGE = 0x004
    CONTROLLER_FAILED = 0x200  #: here: over speed
    WATCHDOG_EXPIRED = 0x800


class Mode(enum.Enum):
    """What the last command was about."""

    CURRENT = enum.auto()
    VELOCITY = enum.auto()
    POSITION = enum.auto()


class Command(NamedTuple):
    """What is wanted of the motor. Kept while the axis is idle, as the ODrive keeps its inputs: who arms it clears it first."""

    mode: Mode = Mode.CURRENT
    position: float = 0.0  #: turns
    velocity: float = 0.0  #: turns/s; with a position: added to what the position loop wants
    current: float = 0.0  #: A; with the others: added to what their loops want


class Axis:
    """Simplified against the ODrive: the velocity loop has no integral part and no torque limit near the speed limit; calibration
    takes its time but neither turns nor heats the motor; the watchdog runs in closed loop only."""

    SPEED_TOLERANCE = 1.2  #: times the speed limit: there the driver itself trips

    def __init__(self, settings: StackSettings, winding: Winding, calibrated: bool, calibration_us: int):
        self.winding = winding._replace(current_limit=min(settings.current_limit, winding.current_limit))
        self.state = AxisState.IDLE
        self.error = AxisError(0)
        self.calibrated = calibrated
        self.enable_watchdog = True
        self.watchdog_timeout = settings.driver_watchdog_us / SECOND  #: s
        self.speed_limit = settings.speed_limit  #: turns/s
        self.position_gain = 20.0  #: (turns/s)/turn, the ODrive's default
        self.velocity_gain = 0.16  #: N m/(turns/s), the ODrive's default
        self.position = self.speed = 0.0  #: turns, turns/s: what the encoder says
        self.wanted = self.current = 0.0  #: A
        self.command = Command()
        self._calibration_us = calibration_us
        self._calibrated_at = 0
        self._fed_us = 0

    def take(self, command: Command, now_us: int) -> None:
        self.command = command
        self.feed(now_us)

    def feed(self, now_us: int) -> None:
        """The watchdog has been heard."""
        self._fed_us = now_us

    def request(self, state: int, now_us: int) -> None:
        """Enter a state, at once. Closed loop is refused while an error stands, and to a motor never calibrated."""
        self._rest()
        if state == AxisState.CALIBRATION and not self.error:
            self.state, self._calibrated_at = AxisState.CALIBRATION, now_us + self._calibration_us
        elif state == AxisState.CLOSED_LOOP and self.calibrated and not self.error:
            self.state = AxisState.CLOSED_LOOP
            self.feed(now_us)
        elif state != AxisState.IDLE and not self.error:
            self.error |= AxisError.INVALID_STATE

    def fail(self, error: AxisError) -> None:
        """Off, until the error is cleared and closed loop requested again."""
        self.error |= error
        self._rest()

    def tick(self, now_us: int, bus_voltage: float, speed: float, position: float) -> float:
        """The current [A] until the next tick."""
        self.speed, self.position = speed, position
        if self.state is AxisState.CALIBRATION and elapsed_us(now_us, self._calibrated_at) >= 0:
            self.state, self.calibrated = AxisState.IDLE, True
        if self.state is AxisState.CLOSED_LOOP:
            self._check(now_us)
        if self.state is AxisState.CLOSED_LOOP:
            limit = self.winding.current_limit
            self.wanted = min(max(self._asked(), -limit), limit)
            self.current = float(next_current(self.winding, bus_voltage, speed * math.tau, self.wanted, self.current))
        return self.current

    def _check(self, now_us: int) -> None:
        if abs(self.speed) > self.SPEED_TOLERANCE * self.speed_limit:
            self.fail(AxisError.CONTROLLER_FAILED)
        if self.enable_watchdog and elapsed_us(now_us, self._fed_us) >= self.watchdog_timeout * SECOND:
            self.fail(AxisError.WATCHDOG_EXPIRED)

    def _asked(self) -> float:
        """The cascade: position to velocity to current."""
        command = self.command
        if command.mode is Mode.CURRENT:
            return command.current
        pull = self.position_gain * (command.position - self.position) if command.mode is Mode.POSITION else 0.0
        velocity = min(max(command.velocity + pull, -self.speed_limit), self.speed_limit)
        return command.current + self.velocity_gain * (velocity - self.speed) / self.winding.torque_constant

    def _rest(self) -> None:
        """The bridge is open: no current, whatever the motor does."""
        self.state, self.wanted, self.current = AxisState.IDLE, 0.0, 0.0
