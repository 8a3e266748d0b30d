"""One motor's half of an emulated motor driver.

axis_step.py with what an ODrive's protocol reads and writes of it.

Everything here is in the motor's own sign.
"""

from __future__ import annotations

import dataclasses
import enum
import math
from typing import Any

from footfall.machines.control.axis_step import (
    SPEED_TOLERANCE,
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
from footfall.machines.control.microseconds import elapsed_us
from footfall.machines.control.odrive_limits import CURRENT_MARGIN, PASSTHROUGH
from footfall.machines.control.settings import StackSettings

COUNTS_PER_TURN = 8192  #: of the encoder, as `es` counts


class AxisState(enum.IntEnum):
    """The states of the ODrive that matter here, by its numbers."""

    UNDEFINED = 0  #: asks for nothing
    IDLE = 1
    START_UP = 2  #: the sequence for a start, here nothing
    CALIBRATION = 3  #: the full sequence
    MOTOR_CALIBRATION = 4
    ENCODER_CALIBRATION = 7
    CLOSED_LOOP = 8


_CALIBRATIONS = (
    AxisState.CALIBRATION,
    AxisState.MOTOR_CALIBRATION,
    AxisState.ENCODER_CALIBRATION,
)


@dataclasses.dataclass
class AxisConfig:
    """What is kept of an axis besides AxisNumbers.

    The defaults are those of a board as it comes.
    """

    torque_constant: float = 0.04  #: N m/A, by which it makes currents of torques
    torque_limit: float = math.inf  #: N m
    current_margin: float = 8.0  #: A
    current_range: float = 60.0  #: A
    fades: bool = True  #: torque fades towards the speed limit
    trips_fast: bool = True  #: beyond the speed limit with its tolerance: off
    arms_itself: bool = False  #: into closed loop after a restart
    control_mode: int = 3
    input_mode: int = PASSTHROUGH


class Axis:
    """Simplified against the ODrive.

    The velocity loop has no integral part, a trajectory is a step, and a calibration takes its time
    but neither turns nor heats the motor.
    """

    def __init__(
        self, settings: StackSettings, winding: Winding, calibrated: bool, calibration_us: int
    ):
        self.numbers = AxisNumbers(
            winding._replace(current_limit=min(settings.current_limit, winding.current_limit)),
            watchdog_us=settings.driver_watchdog_us,
            speed_limit=settings.speed_limit,
        )
        # As `footfall stack setup-odrive` sets it.
        self.config = AxisConfig(
            torque_constant=settings.torque_constant,
            current_margin=CURRENT_MARGIN,
            current_range=max(60.0, settings.current_limit + CURRENT_MARGIN),
            fades=False,
            control_mode=Mode.CURRENT.value,
        )
        self.memory = AxisMemory(False, 0, 0.0, 0.0, calibrated=calibrated)
        self.motor_ready = self.encoder_ready = calibrated
        self.position = self.speed = 0.0  #: turns, turns/s: what the encoder says
        self.command = Command()
        self.written: dict[str, int] = {}  #: error words as somebody wrote them
        self._zero = 0.0  #: turns that the encoder is set off
        self._calibrating = AxisState.IDLE
        self._calibration_us = calibration_us

    @property
    def state(self) -> AxisState:
        if self.memory.closed_loop:
            return AxisState.CLOSED_LOOP
        return self._calibrating if self.memory.calibrating else AxisState.IDLE

    @property
    def error(self) -> AxisError:
        return AxisError(self.memory.error)

    def clear_errors(self) -> None:
        self.memory = self.memory._replace(error=0)
        self.written.clear()

    def write_error(self, path: str, word: int) -> None:
        """A word written from outside; 0 clears."""
        self.clear_errors()
        if word:
            self.written[path] = word
            self.fail(AxisError.WRITTEN)

    def set(self, **numbers: Any) -> None:
        """Numbers it is set to, by their names in AxisNumbers."""
        self.numbers = self.numbers._replace(**numbers)

    def limit_current(self, most: float) -> None:
        self.set(winding=self.numbers.winding._replace(current_limit=most))

    def as_it_comes(self) -> None:
        """Everything as on a board that nobody has set up."""
        for field in dataclasses.fields(AxisConfig):
            setattr(self.config, field.name, field.default)
        self.limit_current(10.0)
        self.set(watchdog_us=0, watched=False, speed_limit=2.0, speed_tolerance=SPEED_TOLERANCE)
        self.motor_ready = self.encoder_ready = False
        self.memory = self.memory._replace(calibrated=False)

    def restart(self, now_us: int) -> None:
        """As after the power came on."""
        self.memory = rested(self.memory)._replace(fed_us=now_us)
        self.clear_errors()
        self.command = Command()
        if self.config.arms_itself:
            self.request(AxisState.CLOSED_LOOP, now_us)

    def take(self, command: Command, now_us: int) -> None:
        self.command = command
        self.config.control_mode = command.mode.value
        self.feed(now_us)

    def wish(self, **wanted: float) -> None:
        """A part of the command, written alone; it does not feed the watchdog."""
        self.command = self.command._replace(**wanted)

    def feed(self, now_us: int) -> None:
        """The watchdog has been heard."""
        self.memory = self.memory._replace(fed_us=now_us)

    def amperes(self, torque: float) -> float:
        return torque / self.config.torque_constant if self.config.torque_constant else math.inf

    def set_count(self, count: int) -> None:
        """The encoder's place is now so many counts."""
        self._zero += count / COUNTS_PER_TURN - self.position
        self.position = count / COUNTS_PER_TURN

    def request(self, state: int, now_us: int) -> None:
        """Enter a state, at once.

        Closed loop is refused while an error stands, and to a motor never calibrated. A new request
        forgets a state that could not be entered.
        """
        if state == AxisState.UNDEFINED:
            return
        self.memory = rested(self.memory)
        self.memory = self.memory._replace(error=self.memory.error & ~int(AxisError.INVALID_STATE))
        if state in (AxisState.IDLE, AxisState.START_UP):
            return
        if not self._may_enter(state):
            self.fail(AxisError.INVALID_STATE)
        elif self.error:
            return
        elif state == AxisState.CLOSED_LOOP:
            self.memory = self.memory._replace(closed_loop=True, fed_us=now_us)
        else:
            self._calibrating = AxisState(state)
            self.memory = self.memory._replace(
                calibrating=True, calibrated_us=now_us + self._calibration_us
            )

    def fail(self, error: AxisError) -> None:
        """Off, until the error is cleared and closed loop requested again."""
        self.memory = failed(self.memory, error)

    def tick(self, now_us: int, bus_voltage: float, speed: float, position: float) -> None:
        """What the encoder says, and the current until the next tick."""
        self.speed, self.position = speed, position + self._zero
        numbers, calibrating = self.numbers, self.memory.calibrating
        if numbers.watched and elapsed_us(now_us, self.memory.fed_us) >= numbers.watchdog_us:
            self.fail(AxisError.WATCHDOG_EXPIRED)  # in every state
        if self.memory.closed_loop and any(map(math.isnan, self.command[1:])):
            self.fail(AxisError.NOT_A_NUMBER)
        self.memory = ticked(
            self._held(),
            self.memory,
            self._faded(),
            now_us,
            bus_voltage,
            speed,
            self.position,
        )
        if calibrating and not self.memory.calibrating:
            self._calibrated(not self.error)

    def _may_enter(self, state: int) -> bool:
        if state == AxisState.CLOSED_LOOP:
            return self.motor_ready and self.encoder_ready
        return state in _CALIBRATIONS and (
            state != AxisState.ENCODER_CALIBRATION or self.motor_ready
        )

    def _calibrated(self, well: bool) -> None:
        done = self._calibrating
        self.motor_ready |= well and done != AxisState.ENCODER_CALIBRATION
        self.encoder_ready |= well and done != AxisState.MOTOR_CALIBRATION
        self.memory = self.memory._replace(calibrated=self.motor_ready and self.encoder_ready)

    def _held(self) -> AxisNumbers:
        """Its numbers, the current held to the torque it may give, and whether speed trips."""
        winding = self.numbers.winding
        most = min(winding.current_limit, self.amperes(self.config.torque_limit))
        tolerance = self.numbers.speed_tolerance if self.config.trips_fast else math.inf
        return self.numbers._replace(
            winding=winding._replace(current_limit=most), speed_tolerance=tolerance
        )

    def _faded(self) -> Command:
        """A commanded current as it fades towards the speed limit, if it is set to."""
        numbers = self.numbers
        if not (self.config.fades and self.command.mode is Mode.CURRENT):
            return self.command
        most = self.amperes((numbers.speed_limit - self.speed) * numbers.velocity_gain)
        least = self.amperes((-numbers.speed_limit - self.speed) * numbers.velocity_gain)
        return self.command._replace(current=min(max(self.command.current, least), most))
