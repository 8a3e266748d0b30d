"""The body of a runner with four-bar legs."""

from footfall.hybrid.fields import Parametric, param
from footfall.numerics.scalar import Scalar


class RunnerBody(Parametric):
    """Rigid body in its vertical plane, crank axes at two places along it.

    Distances are from the centre of mass, to the rear.
    """

    mass: Scalar = param(0.060, unit="kg", doc="mass of the robot", gt=0)
    inertia: Scalar = param(
        4.5e-4, unit="kg m^2", doc="pitch inertia about the centre of mass", gt=0
    )
    front_hip: Scalar = param(
        -0.0566, unit="m", doc="front crank axis behind the centre of mass (negative: ahead)"
    )
    rear_hip: Scalar = param(0.1166, unit="m", doc="rear crank axis behind the centre of mass")
    hip_height: Scalar = param(0.0, unit="m", doc="crank axes above the centre of mass")
    half_height: Scalar = param(
        0.01,
        unit="m",
        doc="half the height of the body, for when it touches ground or goes under",
        gt=0,
    )
    half_width: Scalar = param(
        0.05, unit="m", doc="legs left and right of the middle: for pictures only", gt=0
    )
    forward_drag: Scalar = param(0.0, unit="N s/m", doc="viscous drag on the forward motion", ge=0)
