"""StackSettings: every number the three programs agree on, in one place. Made from a scenario, handed to each program as JSON."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

from footfall.stack.pid import PidGains


@dataclasses.dataclass(frozen=True)
class StackSettings:
    """What both ends of every line were built for."""

    gains: PidGains  #: of the mid level; output in amperes per motor
    setpoint: float  #: rad, at the start
    motors: int = 2  #: 1 or 2
    motor_signs: tuple[float, ...] = (1.0, 1.0)  #: how each motor is mounted: +1 or -1
    steering: bool = True  #: frames carry the steering current as a fourth field (version 2)
    checksum: bool = True  #: frames carry *HH
    frame_copies: int = 1  #: how often the high level says each thing: the newest whole copy counts, on a line that loses some
    high_period_us: int = 10_000
    mid_period_us: int = 1_000  #: at which the mid level's PID calculates
    low_period_us: int = 250
    report_period_us: int = 10_000  #: at which the mid level sends its output up
    watchdog_us: int = 100_000  #: of the mid level: no valid frame for so long means off
    driver_watchdog_us: int = 100_000  #: of the motor driver: no command for so long means off
    sensor_timeout_us: int = 100_000  #: no finite pitch for so long means motors off, latched
    speed_limit: float = 8.0  #: turns/s of a motor
    steer_limit: float = 5.0  #: A, largest steering current the operator can ask for
    setpoint_limit: float = math.pi / 2  #: rad
    measured_limit: float = math.pi  #: rad
    current_limit: float = 40.0  #: A, of the motor driver
    bus_band: tuple[float, float] = (18.0, 30.0)  #: V, allowed at the start
    torque_constant: float = 0.034  #: N m/A
    command_in_torque: bool = False  #: the driver's `c` takes newton metres (firmware 0.5 and later), not amperes

    def __post_init__(self) -> None:
        if self.motors not in (1, 2):
            raise ValueError(f"motors = {self.motors}: a driver has one or two.")
        if len(self.motor_signs) < self.motors or any(sign not in (1.0, -1.0) for sign in self.motor_signs):
            raise ValueError(f"motor_signs = {self.motor_signs}: +1 or -1 for each motor.")
        if self.gains.period_us != self.mid_period_us:
            raise ValueError(
                f"gains.period_us = {self.gains.period_us} and mid_period_us = {self.mid_period_us}: the law and its loop have one period."
            )
        if self.frame_copies < 1:
            raise ValueError(f"frame_copies = {self.frame_copies}: each frame is sent at least once.")
        if self.bus_band[0] >= self.bus_band[1]:
            raise ValueError(f"bus_band = {self.bus_band}: least voltage, then largest.")

    def to_json(self) -> str:
        return json.dumps(dataclasses.asdict(self) | {"gains": self.gains._asdict()})

    @classmethod
    def from_json(cls, text: str) -> StackSettings:
        values: dict[str, Any] = json.loads(text)
        values["gains"] = PidGains(**values["gains"])
        for name in ("motor_signs", "bus_band"):
            values[name] = tuple(values[name])
        return cls(**values)
