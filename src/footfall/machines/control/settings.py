"""StackSettings: every number the three programs agree on, in one place.

Made from a scenario, handed to each program as JSON.
"""

from __future__ import annotations

import dataclasses
import json
import math
from numbers import Integral, Real
from typing import Any

from footfall.machines.control.decimal_text import LARGEST
from footfall.machines.control.own_law import KINDS, SHARED, OwnLaw
from footfall.machines.control.pid import PidGains

MOST_COPIES = 4
LONGEST_PERIOD = 10_000_000  # us
LONGEST_TIMEOUT = 1_000_000_000  # us: half of what a difference of 32-bit times can tell


def _whole_us(default: int, most: int) -> Any:
    """A field of whole microseconds from 1 to `most`."""
    return dataclasses.field(default=default, metadata={"most_us": most})


def _positive(default: float) -> Any:
    """A field of a positive number."""
    return dataclasses.field(default=default, metadata={"positive": True})


def _flag(default: bool) -> Any:
    return dataclasses.field(default=default, metadata={"flag": True})


@dataclasses.dataclass(frozen=True)
class StackSettings:
    """What both ends of every line were built for."""

    gains: PidGains | OwnLaw  #: law of the mid level; output in amperes per motor
    setpoint: float  #: rad, at the start
    motors: int = 2  #: 1 or 2
    motor_signs: tuple[float, ...] = (1.0, 1.0)  #: how each motor is mounted: +1 or -1
    steering: bool = _flag(True)  #: frames carry the steering current as a fourth field (version 2)
    checksum: bool = _flag(True)  #: frames carry *HH
    # how often the high level says each thing: the newest whole copy counts, on a line that loses
    # some
    frame_copies: int = 1
    high_period_us: int = _whole_us(10_000, LONGEST_PERIOD)
    #: at which the mid level's PID calculates
    mid_period_us: int = _whole_us(1_000, LONGEST_PERIOD)
    low_period_us: int = _whole_us(250, LONGEST_PERIOD)
    #: at which the mid level sends its output up
    report_period_us: int = _whole_us(10_000, LONGEST_PERIOD)
    #: of the mid level: no valid frame for so long means off
    watchdog_us: int = _whole_us(100_000, LONGEST_TIMEOUT)
    #: of the motor driver: no command for so long means off
    driver_watchdog_us: int = _whole_us(100_000, LONGEST_TIMEOUT)
    #: no finite pitch for so long means motors off, latched
    sensor_timeout_us: int = _whole_us(100_000, LONGEST_TIMEOUT)
    #: that the motor driver may take to answer the high level
    reply_limit_us: int = _whole_us(4_000, LONGEST_TIMEOUT)
    speed_limit: float = _positive(8.0)  #: turns/s of a motor
    steer_limit: float = _positive(5.0)  #: A, largest steering current the operator can ask for
    setpoint_limit: float = _positive(math.pi / 2)  #: rad
    measured_limit: float = _positive(math.pi)  #: rad
    current_limit: float = _positive(40.0)  #: A, of the motor driver
    bus_band: tuple[float, float] = (18.0, 30.0)  #: V, allowed at the start
    torque_constant: float = _positive(0.034)  #: N m/A
    drawn_current: float = _positive(26.0)  #: A, the most that all motors draw from the bus
    returned_current: float = _positive(1.0)  #: A, the most that they feed back into it
    boards: int = 1  #: of the motor driver; 2: each has one motor, as its axis 0

    def __post_init__(self) -> None:
        """Settings also come out of files.

        So a value that a program could fail at is refused here.
        """
        if isinstance(self.gains, PidGains):
            self._check_gains(self.gains)
        elif isinstance(self.gains, OwnLaw):
            self._check_own(self.gains)
        else:
            raise ValueError(
                f"gains = {_shown(self.gains)}: the numbers of a pitch law are expected."
            )
        if not _whole(self.motors, 1, 2):
            raise ValueError(f"motors = {_shown(self.motors)}: a driver has one or two.")
        if not _whole(self.boards, 1, self.motors):
            raise ValueError(
                f"boards = {_shown(self.boards)}: 1, or one for each of {self.motors} motors."
            )
        if not _whole(self.frame_copies, 1, MOST_COPIES):
            raise ValueError(
                f"frame_copies = {_shown(self.frame_copies)}: each frame is sent at least once, and"
                f" at most {MOST_COPIES} times."
            )
        for field in dataclasses.fields(self):
            name, value, range_ = field.name, getattr(self, field.name), field.metadata
            if "flag" in range_ and not isinstance(value, bool):
                raise ValueError(f"{name} = {_shown(value)}: true or false is expected.")
            if "most_us" in range_:
                _require_whole(name, value, range_["most_us"])
            if "positive" in range_ and not (_number(value) and value > 0):
                raise ValueError(
                    f"{name} = {_shown(value)}: a positive number up to {LARGEST:g} is expected."
                )
        if self.gains.period_us != self.mid_period_us:
            raise ValueError(
                f"gains.period_us = {self.gains.period_us} and mid_period_us ="
                f" {self.mid_period_us}: the law and its loop have one period."
            )
        if not (_number(self.setpoint) and abs(self.setpoint) <= self.setpoint_limit):
            raise ValueError(
                f"setpoint = {_shown(self.setpoint)}: a number of size at most setpoint_limit,"
                f" {self.setpoint_limit:g}, is expected."
            )
        signs, band = self.motor_signs, self.bus_band
        if not (
            _numbers(signs)
            and self.motors <= len(signs) <= 2
            and all(abs(sign) == 1 for sign in signs)
        ):
            raise ValueError(f"motor_signs = {_shown(signs)}: +1 or -1 for each motor.")
        if not (_numbers(band) and len(band) == 2 and 0 <= band[0] < band[1]):
            raise ValueError(f"bus_band = {_shown(band)}: least voltage, then largest.")

    @staticmethod
    def _check_gains(gains: PidGains) -> None:
        for name, value in gains._asdict().items():
            if not _number(value):
                raise ValueError(
                    f"gains.{name} = {_shown(value)}: the firmware holds finite numbers, here of"
                    f" size at most {LARGEST:g}."
                )
        _require_whole("gains.period_us", gains.period_us, LONGEST_PERIOD)
        if gains.integral_limit < 0 or gains.filter_time < 0:
            raise ValueError(
                f"gains: integral_limit = {gains.integral_limit}, filter_time ="
                f" {gains.filter_time}: neither is negative."
            )
        if gains.output_limit <= 0:
            raise ValueError(
                f"gains.output_limit = {gains.output_limit}: with it no current ever flows; it must"
                " be positive."
            )

    @staticmethod
    def _check_own(law: OwnLaw) -> None:
        texts = (law.title, law.header, law.source)
        if not all(isinstance(text, str) for text in texts):
            raise ValueError("gains: title, header and source of a law of one's own are texts.")
        names = list(law.numbers) if isinstance(law.numbers, dict) else []
        if tuple(names[-len(SHARED) :]) != SHARED:
            raise ValueError(f"gains.numbers = {_shown(names)}: {', '.join(SHARED)} come last.")
        for name, value in law.numbers.items():
            if not _number(value):
                raise ValueError(
                    f"gains.{name} = {_shown(value)}: the law's C holds finite numbers, here of"
                    f" size at most {LARGEST:g}."
                )
        if not (isinstance(law.memory, dict) and all(k in KINDS for k in law.memory.values())):
            raise ValueError(
                f"gains.memory = {_shown(law.memory)}: names, each with one of {', '.join(KINDS)}."
            )
        _require_whole("gains.period_us", law.numbers["period_us"], LONGEST_PERIOD)
        if law.output_limit <= 0 or law.numbers["per_ampere"] <= 0:
            raise ValueError(
                f"gains: output_limit = {law.output_limit}, per_ampere ="
                f" {law.numbers['per_ampere']}: both are positive."
            )

    def to_json(self) -> str:
        return json.dumps(dataclasses.asdict(self) | {"gains": self.gains._asdict()})

    @classmethod
    def from_json(cls, text: str) -> StackSettings:
        """What `to_json` wrote. Raises ValueError, in words, for any other text."""
        try:
            values: Any = json.loads(text)
        except RecursionError:
            raise ValueError(
                "settings nested too deeply: what StackSettings.to_json wrote is expected."
            ) from None
        if not isinstance(values, dict):
            raise ValueError(f"settings = {_shown(values)}: a JSON object is expected.")
        if not isinstance(gains := values.get("gains"), dict):
            raise ValueError(
                f"gains = {_shown(gains)}: an object with the numbers of the pitch law is expected."
            )
        pairs = {
            name: tuple(values[name])
            for name in ("motor_signs", "bus_band")
            if isinstance(values.get(name), list)
        }
        try:
            law = (OwnLaw if "source" in gains else PidGains)(**gains)
            return cls(**values | pairs | {"gains": law})
        except TypeError as error:  # a key too many, or one too few
            raise ValueError(f"settings of another version? {error}") from None


def _number(value: Any) -> bool:
    """A plain finite number. Compared, not converted: an integer may be too long for a float."""
    return (
        isinstance(value, Real)
        and not isinstance(value, bool)
        and bool(-LARGEST <= value <= LARGEST)
    )


def _numbers(values: Any) -> bool:
    return isinstance(values, tuple) and all(map(_number, values))


def _whole(value: Any, least: int, most: int) -> bool:
    return (
        isinstance(value, Integral) and not isinstance(value, bool) and bool(least <= value <= most)
    )


def _require_whole(name: str, value: Any, most: int) -> None:
    if not _whole(value, 1, most):
        raise ValueError(
            f"{name} = {_shown(value)}: whole microseconds from 1 to {most} are expected."
        )


def _shown(value: Any) -> str:
    """A value in an error: a long text is cut short, and an integer of any length has one."""
    return (
        "a very long integer"
        if isinstance(value, int) and value.bit_length() > 200
        else str(value)[:60]
    )
