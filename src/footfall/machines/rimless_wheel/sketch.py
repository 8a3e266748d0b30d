"""Shapes that every spoked wheel draws."""

import math

from footfall.numerics.scalar import Scalar
from footfall.scene.sketch import Arrow, Ball, Bar, Link, Shape, arrow_scale


def spoke_fan(
    body: str, spokes: int, length: Scalar, y: float = 0.0, color: str = "silver"
) -> tuple[Shape, ...]:
    """All spokes of a wheel, pointing down at zero pitch.

    Its body pitch is that of the stance spoke.
    """
    spacing = 2.0 * math.pi / spokes
    tips = [
        (length * math.sin(i * spacing), y, -length * math.cos(i * spacing)) for i in range(spokes)
    ]
    return tuple(Bar(body, (0.0, y, 0.0), tip, color) for tip in tips)


def stance_spoke(foot: str, hub: str, weight: Scalar, color: str = "black") -> tuple[Shape, ...]:
    """The loaded spoke, its foot, its hub and the ground force.

    The force is an arrow 0.15 m long at body weight.
    """
    return (
        Link(foot, hub, color),
        Ball(foot, (0.0, 0.0, 0.0), 0.008, color),
        Ball(hub, (0.0, 0.0, 0.0), 0.02, "dimgrey"),
        Arrow(foot, arrow_scale(0.15, weight)),
    )
