"""Shapes of the two-leg walker."""

import itertools
from typing import TYPE_CHECKING

from footfall.hybrid.sketch import Arrow, Ball, Bar, Ground, Link, Shape
from footfall.parts.terrain.steps import Steps

if TYPE_CHECKING:
    from footfall.models.two_leg_walker import TwoLegWalker


def two_leg_sketch(walker: "TwoLegWalker") -> tuple[Shape, ...]:
    """Feet, links, motors, centre of mass, ground."""
    foot = float(walker.foot_length)
    weight = float(walker.travel().weight)
    joints = ("foot_1", "ankle_1", "knee", "ankle_2", "foot_2")
    links = [Link(a, b, "tab:blue", 0.006) for a, b in itertools.pairwise(joints)]
    return (
        _ground(walker),
        *links,
        # Foot 1 is ahead, so it points backward, foot 2 forward.
        Bar("foot_1", (0.0, 0.0, 0.0), (-foot, 0.0, 0.0), "black", 0.008),
        Bar("foot_2", (0.0, 0.0, 0.0), (foot, 0.0, 0.0), "black", 0.008),
        *(Ball(name, (0.0, 0.0, 0.0), 0.006, "dimgrey") for name in joints[1:4]),
        Ball("centre", (0.0, 0.0, 0.0), 0.005, "tab:red"),
        Arrow("foot_1", 0.05 / weight if weight > 0 else 0.0),
        Arrow("foot_2", 0.05 / weight if weight > 0 else 0.0),
    )


def _ground(walker: "TwoLegWalker") -> Ground:
    if not isinstance(walker.terrain, Steps):
        return Ground(((0.0, float(walker.terrain.height(0.0))), (1.0, float(walker.terrain.height(1.0)))))
    points: list[tuple[float, float]] = []
    level = 0.0
    for edge, height in zip(walker.terrain.edges, walker.terrain.heights, strict=True):
        points += [(edge - 1e-6, level), (edge, height)]
        level = height
    return Ground(((points[0][0] - 1.0, points[0][1]), *points, (points[-1][0] + 1.0, level)))
