"""Shapes and charts that spoked wheels share."""

import math

from footfall.numerics.scalar import Scalar
from footfall.scene.sketch import Arrow, Ball, Bar, Chart, Link, Shape, arrow_scale


def spoke_fan(
    body: str, spokes: int, length: Scalar, y: float = 0.0, color: str = "idle_leg"
) -> tuple[Shape, ...]:
    """All spokes of a wheel, pointing down at zero pitch.

    Its body pitch is that of the stance spoke.
    """
    spacing = 2.0 * math.pi / spokes
    tips = [
        (length * math.sin(i * spacing), y, -length * math.cos(i * spacing)) for i in range(spokes)
    ]
    return tuple(Bar(body, (0.0, y, 0.0), tip, color) for tip in tips)


def stance_spoke(foot: str, hub: str, weight: Scalar, color: str = "leg") -> tuple[Shape, ...]:
    """The loaded spoke, its foot, its hub and the ground force.

    The force is an arrow 0.15 m long at body weight.
    """
    return (
        Link(foot, hub, color),
        Ball(foot, (0.0, 0.0, 0.0), 0.008),
        Ball(hub, (0.0, 0.0, 0.0), 0.02, "joint"),
        Arrow(foot, arrow_scale(0.15, weight)),
    )


def torso_charts() -> tuple[Chart, ...]:
    """What shows how a wheel with a torso walks."""
    return (
        Chart("Pitch of the torso, negative: mass ahead", ("torso.pitch",), "whole", main=True),
        Chart("Torque of the motors", ("motor.torque",), main=True),
        Chart("Force along the stance spoke", ("spoke.force",), main=True),
    )


def steered_charts() -> tuple[Chart, ...]:
    """The same of one with two sides."""
    angles = ("torso.pitch", "torso.roll")
    return (
        Chart(
            "Angles of the torso",
            angles,
            "whole",
            main=True,
            names=("pitch, negative: mass ahead", "roll"),
        ),
        Chart("Torques of the motors", ("left_motor.torque", "right_motor.torque"), main=True),
        Chart("Forces along the stance spokes", ("left_spoke.force", "right_spoke.force")),
    )


def rigid_charts() -> tuple[Chart, ...]:
    """The same of a wheel without a torso."""
    forces = ("foot.fz", "foot.fx")
    return (
        Chart("Pitch of the stance spoke", ("hub.pitch",), main=True),
        Chart("Force of the ground", forces, main=True, names=("up", "forward")),
    )
