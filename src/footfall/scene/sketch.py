"""Shapes that follow outputs: data without a renderer.

A shape names an output group (`"hub"`) by which it is carried. Local coordinates are in the group's own frame: the group's
roll, pitch and yaw (where it has them) turn them, its x, y, z move them. The plot page, the animation and the
browser view all draw the same shapes.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import numpy as np

Point: TypeAlias = tuple[float, float, float]


class Bar(NamedTuple):
    """A rod fixed to a body."""

    body: str
    start: Point
    end: Point
    color: str = "grey"
    radius: float = 0.004


class Link(NamedTuple):
    """A rod between the origins of two output groups: a leg from foot to hip."""

    start: str
    end: str
    color: str = "black"
    radius: float = 0.006


class Disc(NamedTuple):
    """A disc in the body's x-z plane."""

    body: str
    centre: Point
    radius: float
    color: str = "grey"


class Ball(NamedTuple):
    """A sphere fixed to a body."""

    body: str
    centre: Point
    radius: float
    color: str = "black"


class Arrow(NamedTuple):
    """A force drawn at an output group from that group's fx, fy, fz."""

    at: str
    metres_per_newton: float
    color: str = "tab:red"


class Ground(NamedTuple):
    """The ground in the house frame: z = height(x), or (x, z) points whose first and last segments go on beyond them.

    A height is sampled where it is looked at, so that any ground is drawn as it is; points are for what has upright walls.
    """

    profile: tuple[tuple[float, float], ...] = ()
    color: str = "saddlebrown"
    height: Callable[[Any], Any] | None = None


Shape: TypeAlias = Bar | Link | Disc | Ball | Arrow | Ground


class Chart(NamedTuple):
    """Outputs of one unit that belong on one pair of axes.

    "lines" are the last steps close up, "whole" the whole run; a "carpet" has a row for each signal (segments, legs) and shows its value
    as a colour over the whole run.
    """

    title: str
    signals: tuple[str, ...]
    style: str = "lines"


class Drawing(NamedTuple):
    """How a robot wants to be seen: itself, parts of it close up (title -> shapes), and its charts."""

    shapes: tuple[Shape, ...] = ()
    close_ups: Mapping[str, tuple[Shape, ...]] = MappingProxyType({})
    charts: tuple[Chart, ...] = ()


def rotation(roll: float, pitch: float, yaw: float) -> np.ndarray:
    """Body axes to house axes: yaw about z, then pitch about y, then roll about x."""
    cr, sr, cp, sp, cy, sy = np.cos(roll), np.sin(roll), np.cos(pitch), np.sin(pitch), np.cos(yaw), np.sin(yaw)
    about_z = np.array([[cy, -sy, 0.0], [sy, cy, 0.0], [0.0, 0.0, 1.0]])
    about_y = np.array([[cp, 0.0, sp], [0.0, 1.0, 0.0], [-sp, 0.0, cp]])
    about_x = np.array([[1.0, 0.0, 0.0], [0.0, cr, -sr], [0.0, sr, cr]])
    return about_z @ about_y @ about_x


class Seen:
    """One row of outputs (flat names such as "hub.x") with look-ups by group."""

    def __init__(self, outputs: Mapping[str, float]):
        self._outputs = outputs

    def get(self, group: str, name: str) -> float:
        """The value of one signal, zero where the group has no such signal (a planar body has no y)."""
        base, _, leg = group.rpartition(".")
        key = f"{base}.{name}.{leg}" if leg.isdecimal() else f"{group}.{name}"  # one of several like legs
        return float(self._outputs.get(key, 0.0))

    def origin(self, group: str) -> np.ndarray:
        """Where the group is, house frame."""
        return np.array([self.get(group, "x"), self.get(group, "y"), self.get(group, "z")])

    def place(self, group: str, local: Point) -> np.ndarray:
        """House coordinates of a point given in the group's own frame."""
        turn = rotation(self.get(group, "roll"), self.get(group, "pitch"), self.get(group, "yaw"))
        return self.origin(group) + turn @ np.asarray(local)

    def force(self, group: str) -> np.ndarray:
        """The group's force, house frame."""
        return np.array([self.get(group, "fx"), self.get(group, "fy"), self.get(group, "fz")])


def segments(shape: Shape, seen: Seen) -> list[tuple[np.ndarray, np.ndarray]]:
    """The straight pieces of a shape in house coordinates: what every line renderer needs."""
    match shape:
        case Bar(body=body, start=start, end=end):
            return [(seen.place(body, start), seen.place(body, end))]
        case Link(start=start, end=end):
            return [(seen.origin(start), seen.origin(end))]
        case Arrow(at=at, metres_per_newton=scale):
            tail = seen.origin(at)
            return [(tail, tail + scale * seen.force(at))]
        case _:
            return []


def ground_height(ground: Ground, x: np.ndarray) -> np.ndarray:
    """Height of the drawn terrain; of points, the end segments extended."""
    if ground.height is not None:
        return np.asarray(ground.height(np.asarray(x, float)), float)
    px, pz = np.asarray(ground.profile).T
    inside = np.interp(x, px, pz)
    left = pz[0] + (pz[1] - pz[0]) / (px[1] - px[0]) * (x - px[0])
    right = pz[-1] + (pz[-1] - pz[-2]) / (px[-1] - px[-2]) * (x - px[-1])
    return np.where(x < px[0], left, np.where(x > px[-1], right, inside))
