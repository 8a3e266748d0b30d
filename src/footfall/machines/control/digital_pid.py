"""The pitch law that a microcontroller computes: its numbers.

The law itself is footfall.machines.control.pid.
"""

from footfall.hybrid.fields import Parametric, param
from footfall.numerics.scalar import Scalar


class DigitalPid(Parametric):
    """PID at a fixed sample time, in joint torque of all motors together.

    They are converted to amperes by the motors' constants.

    The defaults walk with a pitch that is 10 ms old, which the stiff gains of a continuous law (20,
    40, 1) do not.
    """

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
