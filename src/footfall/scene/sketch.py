"""Shapes that follow outputs: data without a renderer.

A shape names an output group (`"hub"`) by which it is carried. Local coordinates are in the group's
own frame: the group's roll, pitch and yaw (where it has them) turn them, its x, y, z move them. The
plot page, the animation and the browser view all draw the same shapes. A shape's colour is a role
(`scene/palette.py`: "leg", "force"), or any colour that matplotlib knows.

Where a robot makes its shapes of its numbers without `float(...)`, a live page traces them: a
longer spoke is then drawn longer as soon as its slider moves.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from footfall.numerics.namespace import choose

Point: TypeAlias = tuple[float, float, float]

#: Points of ground that is given as a height: the view is a tenth of what is drawn, so some
#: hundreds for each screen.
GROUND_SAMPLES = 4000


class Bar(NamedTuple):
    """A rod fixed to a body."""

    body: str
    start: Point
    end: Point
    color: str = "body"
    radius: float = 0.004


class Link(NamedTuple):
    """A rod between the origins of two output groups: a leg from foot to hip."""

    start: str
    end: str
    color: str = "leg"
    radius: float = 0.006


class Disc(NamedTuple):
    """A disc in the body's x-z plane."""

    body: str
    centre: Point
    radius: float
    color: str = "joint"


class Ball(NamedTuple):
    """A sphere fixed to a body."""

    body: str
    centre: Point
    radius: float
    color: str = "foot"


class Arrow(NamedTuple):
    """A force drawn at an output group from that group's fx, fy, fz."""

    at: str
    metres_per_newton: float
    color: str = "force"


class Ground(NamedTuple):
    """The ground in the house frame.

    (x, z) points whose first and last segments go on beyond them, or a function `outline(x0, x1)`
    that gives such points (every terrain has one). Beside or instead of them z = height(x): a live
    page follows it as numbers of the ground change, and without an outline it is sampled where it
    is looked at.
    """

    profile: tuple[tuple[float, float], ...] | Callable[[float, float], Any] = (
        (0.0, 0.0),
        (1.0, 0.0),
    )
    color: str = "ground"
    height: Callable[[Any], Any] | None = None
    water: bool = False  #: it is the surface of water


Shape: TypeAlias = Bar | Link | Disc | Ball | Arrow | Ground


class Chart(NamedTuple):
    """Outputs of one unit that belong on one pair of axes.

    "lines" are the last steps close up, "whole" the whole run; a "carpet" has a row for each signal
    (segments, legs) and shows its value as a colour over the whole run. `rows` says what its rows
    count. A `main` chart is on the plot page without asking. `names` says in a word or two what
    each signal is, where its declaration is too long."""

    title: str
    signals: tuple[str, ...]
    style: str = "lines"
    rows: str = ""
    main: bool = False
    names: tuple[str, ...] = ()


class Drawing(NamedTuple):
    """How a robot wants to be seen.

    Itself, parts of it close up (title -> shapes), its charts, and the words of a labelled
    schematic (`scene/labels.py`).
    """

    shapes: tuple[Shape, ...] = ()
    close_ups: Mapping[str, tuple[Shape, ...]] = MappingProxyType({})
    charts: tuple[Chart, ...] = ()
    labels: tuple[Any, ...] = ()


def arrow_scale(length: Any, force: Any) -> Any:
    """Metres per newton of an arrow that is `length` long at this force; 0 without a force."""
    some = force > 0
    return choose(some, length / choose(some, force, 1.0), 0.0)


def rotation(roll: float, pitch: float, yaw: float) -> np.ndarray:
    """Body axes to house axes: yaw about z, then pitch about y, then roll about x."""
    cr, sr, cp, sp, cy, sy = (
        np.cos(roll),
        np.sin(roll),
        np.cos(pitch),
        np.sin(pitch),
        np.cos(yaw),
        np.sin(yaw),
    )
    about_z = np.array([[cy, -sy, 0.0], [sy, cy, 0.0], [0.0, 0.0, 1.0]])
    about_y = np.array([[cp, 0.0, sp], [0.0, 1.0, 0.0], [-sp, 0.0, cp]])
    about_x = np.array([[1.0, 0.0, 0.0], [0.0, cr, -sr], [0.0, sr, cr]])
    return about_z @ about_y @ about_x


class Seen:
    """One row of outputs (flat names such as "hub.x") with look-ups by group."""

    def __init__(self, outputs: Mapping[str, float]):
        self._outputs = outputs

    def get(self, group: str, name: str) -> float:
        """The value of one signal, zero where the group has no such signal.

        (A planar body has no y.)
        """
        base, _, leg = group.rpartition(".")
        # One of several like legs.
        key = f"{base}.{name}.{leg}" if leg.isdecimal() else f"{group}.{name}"
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


def ground_line(ground: Ground, x0: float, x1: float) -> np.ndarray:
    """(x, z) along the ground from x0 to x1: what every picture of it is drawn from."""
    if ground.height is not None and not callable(ground.profile):
        x = np.linspace(x0, x1, GROUND_SAMPLES)
        return np.stack([x, np.asarray(ground.height(x), float)], axis=1)
    if callable(ground.profile):
        return np.asarray(ground.profile(x0, x1), float)
    points = np.asarray(ground.profile, float)
    inside = points[(points[:, 0] > x0) & (points[:, 0] < x1)]
    ends = [(x, _on_profile(points, x)) for x in (x0, x1)]
    return np.array([ends[0], *map(tuple, inside), ends[1]])


def _on_profile(points: np.ndarray, x: float) -> float:
    """Height at x; beyond the points along their first or last segment."""
    for (ax, az), (bx, bz), out in (
        (*points[:2], x < points[0, 0]),
        (*points[-2:], x > points[-1, 0]),
    ):
        if out:
            return float(az + (bz - az) / (bx - ax) * (x - ax))
    return float(np.interp(x, points[:, 0], points[:, 1]))


def ground_height(ground: Ground, x: np.ndarray) -> np.ndarray:
    """Height of the drawn ground; at an upright face, of either side."""
    x = np.asarray(x, float)
    line = ground_line(ground, float(np.min(x)) - 1.0, float(np.max(x)) + 1.0)
    return np.interp(x, line[:, 0], line[:, 1])
