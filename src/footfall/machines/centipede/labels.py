"""Words of the ground's force on one leg: how deep its tip is, what pushes it, what rubs."""

from typing import TYPE_CHECKING

import numpy as np

from footfall.machines.centipede.point_contact import touch
from footfall.machines.centipede.states import WalkerState
from footfall.scene.labels import Anchor, Label, Name, Span, Vector
from footfall.scene.sketch import Ball, Bar, Ground, Link, Point, Shape

if TYPE_CHECKING:
    from footfall.machines.centipede.walker import SegmentedWalker


def legs_close_up(system: "SegmentedWalker", legs: tuple[int, ...]) -> tuple[Shape, ...]:
    """Some of its legs, with the body above them and the ground below, without forces.

    Rods are thin and balls small, so that arrows at the tips can be seen.
    """
    own = {f"node.{i}" for i in legs} | {f"tip.{i}" for i in legs}
    shapes: list[Shape] = []
    for shape in system.sketch():
        if isinstance(shape, Ground):
            shapes.append(shape)
        elif isinstance(shape, Link) and {shape.start, shape.end} <= own:
            shapes.append(shape._replace(radius=0.15 * float(shape.radius)))
        elif isinstance(shape, Ball) and shape.body in own:
            shapes.append(shape._replace(radius=0.3 * float(shape.radius)))
    dots = (Ball(f"tip.{i}", (0.0, 0.0, 0.0), 0.001, "foot") for i in legs)
    return (*shapes, *dots)


def touch_labels(
    system: "SegmentedWalker", x: WalkerState, leg: int, scale: float, index: str = "i"
) -> tuple[Label, ...]:
    """N_i across the surface that pushes, f_i along it, their sum; `scale` in metres per newton."""
    tips = x.tips
    at = (float(v[leg]) for v in (tips.x, tips.z, tips.vx, tips.vz))
    tip_x, tip_z, vx, vz = at
    whole = touch(system.terrain, system.contact, system.friction, tip_x, tip_z, vx, vz)
    faces = system.terrain.faces(*map(np.asarray, (tip_x, tip_z, vx, vz)))
    face = next(face for face in faces if face.depth > 0 and face.share > 0)
    load = float(whole.load)
    across: Point = (float(face.nx) * load, 0.0, float(face.nz) * load)
    along: Point = (float(whole.fx) - across[0], 0.0, float(whole.fz) - across[2])
    tip = Anchor(f"tip.{leg}")
    words = ((f"$N_{index}$", across, "target"), (f"$f_{index}$", along, "mark"))
    total: Point = (float(whole.fx), 0.0, float(whole.fz))

    def arrow(text: str, force: Point, color: str) -> Vector:
        fx, fy, fz = force
        return Vector(text, tip, (scale * fx, scale * fy, scale * fz), color)

    return (
        *(arrow(*word) for word in words),
        arrow(f"$F_{{reaction,{index}}}$", total, "force"),
    )


def depth_label(leg: int, x: WalkerState, index: str = "i") -> Span:
    """How far a tip is below the floor at z = 0, on its right."""
    floor = Anchor("", (float(x.tips.x[leg]), 0.0, 0.0))
    return Span(f"$-z_{index}$", Anchor(f"tip.{leg}"), floor, away=-0.014)


def wall_regions(system: "SegmentedWalker", size: float) -> tuple[Shape, ...]:
    """The lines on which floor and wall are equally near, `size` long, from each edge of gaps."""
    lines = []
    for begin, end in system.terrain.gaps():
        for edge, way in ((float(begin), -1.0), (float(end), 1.0)):
            lines.append(Bar("", (edge, 0.0, 0.0), (edge + way * size, 0.0, -size), "quiet", 1e-4))
    return tuple(lines)


def edge_labels(system: "SegmentedWalker") -> tuple[Label, ...]:
    """Names of the edges of its first gap."""
    begin, end = system.terrain.gaps()[0]
    return (
        Name(r"$x_{gap,l}$", Anchor("", (float(begin), 0.0, 0.0)), (10.0, 9.0), dot=True),
        Name(r"$x_{gap,r}$", Anchor("", (float(end), 0.0, 0.0)), (-10.0, 9.0), dot=True),
    )
