"""The pitch law that a microcontroller computes: its numbers.

The law itself is footfall.machines.control.pid.
"""

from typing import Any, ClassVar

import numpy as np

from footfall.hybrid.fields import param
from footfall.machines.control.controller import AbstractLaw
from footfall.machines.control.loop_states import LawMemory
from footfall.machines.control.pid import PidGains, PidMemory
from footfall.numerics.scalar import Scalar


class DigitalPid(AbstractLaw):
    """PID at a fixed sample time, in joint torque of all motors together.

    They are converted to amperes by the motors' constants.

    The defaults walk with a pitch that is 10 ms old, which the stiff gains of a continuous law (20,
    40, 1) do not.
    """

    carried_as: ClassVar[Any] = PidMemory
    shown_as: ClassVar[Any] = LawMemory

    proportional: Scalar = param(6.0, unit="N m/rad", doc="gain Kp", ge=0)
    integral: Scalar = param(10.0, unit="N m/rad/s", doc="gain Ki", ge=0)
    derivative: Scalar = param(
        0.45,
        unit="N m s/rad",
        doc="gain Kd, on the measurement: a new set point gives no kick",
        ge=0,
    )
    integral_limit: Scalar = param(
        1.836, unit="N m", doc="largest torque of the integral part (5 A in each motor)", gt=0
    )
    torque_limit: Scalar = param(
        14.688, unit="N m", doc="largest torque asked for (40 A in each motor)", gt=0
    )
    filter_time: Scalar = param(
        0.01,
        unit="s",
        doc=(
            "time constant of the derivative's filter; it must span a period of the pitch, 0: no"
            " filter"
        ),
        ge=0,
    )

    def in_amperes(self, per_ampere: Scalar, period_us: int) -> PidGains:
        torques = (
            self.proportional,
            self.integral,
            self.derivative,
            self.integral_limit,
            self.torque_limit,
        )
        return PidGains(
            *(value / per_ampere for value in torques),
            filter_time=self.filter_time,
            period_us=period_us,
        )

    def begun(self) -> LawMemory:
        return LawMemory(np.int32(0), np.bool_(False), 0.0, 0.0, 0.0, 0.0)
