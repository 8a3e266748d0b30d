"""Words on a sketch: names of points, lengths, angles, directions and frames, as data.

A robot lists them in its drawing (`Drawing.labels`), so that a labelled schematic shows the robot's
own geometry. They are drawn in schematics (`pictures/schematic.py`) and nowhere else.
"""

from typing import NamedTuple, TypeAlias

from footfall.scene.sketch import Point, Seen


class Anchor(NamedTuple):
    """A point of a sketch.

    In the frame of an output group, at its origin if no place is given; `turned=False`: from the
    group's origin along the house axes. A group "" is the house frame itself. It is moved by
    `share` of the way to the origin of the group `toward`: half-way by 0.5, as far beyond by -1.
    """

    body: str = ""
    local: Point = (0.0, 0.0, 0.0)
    turned: bool = True
    toward: str = ""
    share: float = 0.0

    def place(self, seen: Seen):
        """Where it is, house frame."""
        own = seen.origin(self.body)
        away = self.share * (seen.origin(self.toward) - own)
        if self.turned:
            return seen.place(self.body, self.local) + away
        return own + self.local + away


class Name(NamedTuple):
    """A name beside a point, moved by `shift` points of print; `dot` marks the point itself."""

    text: str
    at: Anchor
    shift: tuple[float, float] = (8.0, 8.0)
    color: str = "ink"
    dot: bool = False


class Span(NamedTuple):
    """A length between two points, drawn `away` metres to the left of the way from start to end."""

    text: str
    start: Anchor
    end: Anchor
    away: float = 0.0
    color: str = "quiet"


class Angle(NamedTuple):
    """An angle at a point, from the ray through `start` to the ray through `end`.

    It goes the short way around; `dashed` draws the first ray, where no part of the robot does.
    """

    text: str
    at: Anchor
    start: Anchor
    end: Anchor
    radius: float
    color: str = "mark"
    dashed: bool = True


class Vector(NamedTuple):
    """A named arrow from a point along a direction in the house frame [m]: a speed, a force."""

    text: str
    at: Anchor
    along: Point
    color: str = "force"


class Frame(NamedTuple):
    """Axes of a frame: its arrows are `length` long, named in the order x, y, z; "" is left out."""

    at: Anchor
    length: float
    names: tuple[str, str, str] = ("x", "", "z")
    color: str = "quiet"


class Coupling(NamedTuple):
    """A spring and a damper side by side between two points, `apart` metres from each other."""

    spring: str
    damper: str
    start: Anchor
    end: Anchor
    apart: float
    color: str = "quiet"


Label: TypeAlias = Name | Span | Angle | Vector | Frame | Coupling


def anchors(label: Label) -> tuple[Anchor, ...]:
    """The points that a label holds on to."""
    return tuple(part for part in label if isinstance(part, Anchor))
