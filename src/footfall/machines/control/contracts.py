"""What the high level is made of: devices it asks, an operator it obeys, a record it leaves.

Each has several makes.
"""

from __future__ import annotations

import dataclasses
from typing import Protocol


class DeviceError(OSError):
    """A device did not answer, or answered nonsense."""


class UnfitDriver(DeviceError):
    """A motor driver that answers, and cannot be used as it is."""

    def __init__(self, what: str, advice: str):
        super().__init__(f"The motor driver cannot be used. {what} Try: {advice}")
        self.what, self.advice = what, advice


@dataclasses.dataclass(frozen=True)
class Operator:
    """What the operator wants now.

    One immutable object, replaced as a whole, so that no lock is needed to read it.

    Buttons are counted, not held: an action is due when its count is not the one last seen.
    """

    setpoint: float  #: rad
    steer: float = 0.0  #: A, left minus mean: positive turns right
    run: bool = False  #: the start switch: the pitch law is wanted
    motors_on: int = 0  #: presses of "motors on", which also lifts a latched cut-off
    motors_off: int = 0
    calibrate: int = 0
    stop: bool = False  #: the operator is done: shut down
    present: bool = True  #: False once the joystick is unplugged: motors off
    source: str = "joystick"  #: what is gone then


class MotorDriver(Protocol):
    """The motor driver as the high level sees it (Pi - ODrive link).

    Any call may raise DeviceError.
    """

    @property
    def watchdog_bit(self) -> int:
        """The bit of `errors` that says: no command for too long."""
        ...

    def speeds(self) -> tuple[float, ...]:
        """Turns/s of each motor, forward drive positive whatever the mounting."""
        ...

    def positions(self) -> tuple[float, ...]:
        """Turns."""
        ...

    def bus(self) -> tuple[float, float]:
        """Volts, amperes."""
        ...

    def motors_off(self) -> None:
        """Every motor idle, now."""
        ...

    def motors_on(self) -> None:
        """Every motor into closed-loop control."""
        ...

    def calibrate(self) -> None:
        """Start the calibration of every motor."""
        ...

    def states(self) -> tuple[int, ...]:
        """Axis state of each motor: 1 idle, 3 calibrating, 8 closed loop."""
        ...

    def errors(self) -> tuple[int, ...]:
        """Error word of each motor; 0: none. Never cleared silently."""
        ...

    def explain(self) -> str:
        """All that the driver says is wrong, in words; "" while all is well."""
        ...

    def unmet_limits(self) -> tuple[list[str], list[str]]:
        """Limits that are not as the robot needs them, and limits that cannot be read, in words."""
        ...

    def close(self) -> None: ...


class PitchSensor(Protocol):
    """The orientation sensor."""

    def newest(self) -> float | None:
        """The newest pitch [rad] that arrived since the last call, or None.

        Not finite where the sensor said so.
        """
        ...

    def close(self) -> None: ...


class ResetLine(Protocol):
    """Digital output to the mid level's reset pin, active low."""

    def drive(self, high: bool) -> None: ...

    def close(self) -> None: ...


class Clock(Protocol):
    """Time as a program sees it: the machine's, or a virtual one."""

    def now(self) -> float:
        """Seconds on a clock that never goes back."""
        ...

    def sleep_until(self, t: float) -> None: ...


@dataclasses.dataclass(frozen=True)
class Record:
    """One cycle of the high level, 100 times a second. None: not known this cycle."""

    t: float  #: s since start
    cycle: int
    pitch: float | None
    pitch_setpoint: float
    motor_pos_l: float | None
    motor_pos_r: float | None
    motor_vel_l: float | None
    motor_vel_r: float | None
    pid_output: float | None  #: A; None when none arrived this cycle
    bus_voltage: float | None
    bus_current: float | None
    setpoint_on: bool
    steer: float  #: A
    motors_on: bool
    fault: str  #: why the motors were cut off and stay off; "" while all is well
    # deadlines that passed while the cycle before was at work (run late, or dropped), so far
    late_cycles: int
    dropped_records: int
    rejected_frames: int
    period: float  #: s since the cycle before
    work: float  #: s this cycle took
