"""Shapes of the two-leg walker."""

import itertools
from typing import TYPE_CHECKING

from footfall.scene.sketch import Arrow, Ball, Bar, Ground, Link, Shape, arrow_scale

if TYPE_CHECKING:
    from footfall.machines.two_leg.walker import TwoLegWalker


def two_leg_sketch(walker: "TwoLegWalker") -> tuple[Shape, ...]:
    """Feet, links, motors, centre of mass, ground."""
    foot = walker.foot_length
    scale = arrow_scale(0.05, walker.travel().weight)
    joints = ("foot_1", "ankle_1", "knee", "ankle_2", "foot_2")
    links = [Link(a, b, "leg", 0.003) for a, b in itertools.pairwise(joints)]
    return (
        Ground(walker.terrain.outline, height=walker.terrain.height),
        *links,
        # Foot 1 is ahead, so it points backward, foot 2 forward.
        Bar("foot_1", (0.0, 0.0, 0.0), (-foot, 0.0, 0.0), "foot", 0.003),
        Bar("foot_2", (0.0, 0.0, 0.0), (foot, 0.0, 0.0), "foot", 0.003),
        *(Ball(name, (0.0, 0.0, 0.0), 0.005, "joint") for name in joints[1:4]),
        Ball("centre", (0.0, 0.0, 0.0), 0.005, "mark"),
        Arrow("foot_1", scale),
        Arrow("foot_2", scale),
    )
