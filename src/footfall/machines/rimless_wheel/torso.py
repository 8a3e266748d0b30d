"""The body hung from the axle."""

from footfall.hybrid.fields import Parametric, param
from footfall.numerics.scalar import Scalar


class Torso(Parametric):
    """A body that hangs from the axle and is held pitched by the motors.

    So its weight drives the wheels.
    """

    mass: Scalar = param(4.45, unit="kg", doc="torso mass", ge=0)
    com_distance: Scalar = param(0.06, unit="m", doc="hub to torso centre of mass", ge=0)
    inertia: Scalar = param(0.0, unit="kg m^2", doc="pitch inertia about its own centre", ge=0)
    yaw_inertia: Scalar = param(0.06, unit="kg m^2", doc="yaw inertia about its own centre", ge=0)
    pitch_setpoint: Scalar = param(
        0.6, unit="rad", doc="angle to hold, centre of mass ahead of the hub", gt=-3.2, lt=3.2
    )
