"""The house frame (x forward, y left, z up).

And the map to it from the plane a model is written in.
"""

import equinox as eqx

from footfall.hybrid.fields import signal
from footfall.numerics.planar import rotate
from footfall.numerics.scalar import Scalar


class PlanarFrame(eqx.Module):
    """A model's vertical plane seen from the house frame.

    The model's first axis points along `forward` (+1 or -1) times the house x axis and is tilted by
    `descent` below the horizontal (a slope that goes down towards +x has a positive `descent`); its
    second axis is the normal of the first, upwards. `clockwise` angles in the model are house
    pitch; counter-clockwise ones its negative.
    """

    descent: Scalar = 0.0
    forward: int = eqx.field(static=True, default=1)

    def to_house(self, along: Scalar, normal: Scalar) -> tuple[Scalar, Scalar]:
        """(x, z) in the house frame of a vector in the model's plane.

        The vector is given along and normal to the model's first axis.
        """
        return rotate(self.forward * along, normal, -self.descent)

    def pitch(self, counter_clockwise: Scalar) -> Scalar:
        """House pitch of an angle counted counter-clockwise in the model's plane.

        House pitch is positive leaning forward, about +y.
        """
        return -self.forward * counter_clockwise + self.descent


class Body(eqx.Module):
    """Pose and velocity of a rigid body or point, house frame."""

    x: Scalar = signal(unit="m", doc="position forward")
    z: Scalar = signal(unit="m", doc="position up")
    vx: Scalar = signal(unit="m/s", doc="velocity forward", rate_of="x")
    vz: Scalar = signal(unit="m/s", doc="velocity up", rate_of="z")
    y: Scalar = signal(0.0, unit="m", doc="position left")
    vy: Scalar = signal(0.0, unit="m/s", doc="velocity left", rate_of="y")
    roll: Scalar = signal(0.0, unit="rad", doc="rotation about the body's x axis")
    pitch: Scalar = signal(
        0.0, unit="rad", doc="rotation about the body's y axis, positive leans forward"
    )
    yaw: Scalar = signal(0.0, unit="rad", doc="heading, counter-clockwise from above")


class Foot(eqx.Module):
    """A foot on the ground and the force the ground exerts on the robot through it, house frame."""

    x: Scalar = signal(unit="m", doc="foothold forward")
    z: Scalar = signal(unit="m", doc="foothold up")
    fx: Scalar = signal(unit="N", doc="ground force forward, on the robot")
    fz: Scalar = signal(unit="N", doc="ground force up, on the robot")
    y: Scalar = signal(0.0, unit="m", doc="foothold left")
    fy: Scalar = signal(0.0, unit="N", doc="ground force left, on the robot")


class Joint(eqx.Module):
    """A point of a linkage in motion, house frame.

    And the force on the link that comes after it there.
    """

    x: Scalar = signal(unit="m", doc="position forward")
    z: Scalar = signal(unit="m", doc="position up")
    vx: Scalar = signal(unit="m/s", doc="velocity forward", rate_of="x")
    vz: Scalar = signal(unit="m/s", doc="velocity up", rate_of="z")
    ax: Scalar = signal(unit="m/s^2", doc="acceleration forward", rate_of="vx")
    az: Scalar = signal(unit="m/s^2", doc="acceleration up", rate_of="vz")
    fx: Scalar = signal(unit="N", doc="force forward")
    fz: Scalar = signal(unit="N", doc="force up")
    y: Scalar = signal(0.0, unit="m", doc="position left")
