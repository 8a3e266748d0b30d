"""Sketch shapes drawn with matplotlib.

Side view for robots in a plane, slanted view for those that leave it.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, Polygon

from footfall.pictures.style import faded
from footfall.record.trajectory import Trajectory
from footfall.scene.palette import colour_of
from footfall.scene.sketch import (
    Arrow,
    Ball,
    Bar,
    Disc,
    Ground,
    Link,
    Seen,
    Shape,
    ground_line,
    segments,
)

Project = Callable[[np.ndarray], tuple[float, float]]
#: Layers of one pose: the next is drawn over all of them.
LAYERS = 5.0
#: How far down the earth is drawn [m]: beyond the edge of every picture.
_DEEP = 100.0
_THINNEST = 0.8  # pt, of a rod
#: How pale the ground's colour is below its outline and as a floor; a floor's grid, a shadow.
EARTH, GRID, SHADOW = (0.85, 0.9), 0.72, 0.68


def side_view(point: np.ndarray) -> tuple[float, float]:
    """x to the right, z up."""
    return float(point[0]), float(point[2])


_ACROSS, _UP = np.deg2rad(35.0), np.deg2rad(20.0)


def slanted_view(point: np.ndarray) -> tuple[float, float]:
    """From behind, right and above: azimuth 35 degrees, elevation 20 degrees."""
    deep = point[0] * np.sin(_ACROSS) + point[1] * np.cos(_ACROSS)
    return float(point[0] * np.cos(_ACROSS) - point[1] * np.sin(_ACROSS)), float(
        point[2] * np.cos(_UP) + deep * np.sin(_UP)
    )


def nearness(point: np.ndarray) -> float:
    """How near a point is to who looks at the slanted view [m].

    What is nearer is drawn over what is behind it.
    """
    return float(
        point[2] * np.sin(_UP)
        - (point[0] * np.sin(_ACROSS) + point[1] * np.cos(_ACROSS)) * np.cos(_UP)
    )


def view_of(run: Trajectory) -> Project:
    """Side view unless something moves sideways.

    Legs that stay left and right of the middle are in a plane each.
    """
    sideways = [
        name
        for name in run.of_role("output")
        if name.endswith(".y") or (".y." in name and name.rpartition(".")[2].isdecimal())
    ]
    leaves = any(np.ptp(run[name]) > 1e-9 for name in sideways)
    return slanted_view if leaves else side_view


class Rod(Line2D):
    """A rod as thick as it is, to the scale of its axes, and never too thin to be seen."""

    def __init__(self, x: list[float], y: list[float], radius: float, **more: Any):
        super().__init__(x, y, solid_capstyle="round", **more)
        self._radius = radius

    def draw(self, renderer: Any) -> None:
        axes = self.axes
        assert axes is not None
        (left, _), (right, _) = axes.transData.transform([(0.0, 0.0), (1.0, 0.0)])
        points = (right - left) * 72.0 / axes.figure.dpi  # per metre
        self.set_linewidth(max(_THINNEST, 2.0 * self._radius * points))
        super().draw(renderer)


def draw_pose(
    axes: Axes,
    shapes: tuple[Shape, ...],
    seen: Seen,
    project: Project,
    *,
    fade: float = 0.0,
    forces: bool = True,
    layer: float = 0.0,
    shift: float = 0.0,
) -> list:
    """Draw one pose; returns the artists, so that an animation can remove them.

    `fade` mixes its colours with the paper: 0 is as it is, 1 nothing. A pose of a higher `layer` is
    drawn over one of a lower. `shift` moves it to the right [m].
    """
    artists: list = []

    def flat(point: np.ndarray) -> tuple[float, float]:
        across, up = project(point)
        return across + shift, up

    def order(own: int, *points: np.ndarray) -> float:
        if project is side_view:
            return layer + own
        return layer + 2.5 + np.tanh(np.mean([nearness(p) - middle for p in points]))

    line = rcParams["lines.linewidth"]
    solid = [seen.origin(shape.body) for shape in shapes if isinstance(shape, Ball | Disc)]
    middle = float(np.mean([nearness(p) for p in solid])) if solid else 0.0
    for shape in shapes:
        match shape:
            case Ball() | Disc():
                place = seen.place(shape.body, shape.centre)
                own, paper = faded(shape.color, fade), colour_of("paper")
                ball = isinstance(shape, Ball)
                patch = Circle(
                    flat(place),
                    shape.radius,
                    facecolor=own if ball else "none",
                    edgecolor=paper if ball else own,
                    lw=(0.3 if ball else 0.6) * line**2,
                    zorder=order(3, place),
                )
                artists.append(axes.add_patch(patch))
            case Arrow() if forces:
                (tail, head) = segments(shape, seen)[0]
                (x0, z0), (x1, z1) = flat(tail), flat(head)
                if np.hypot(x1 - x0, z1 - z0) > 1e-3:
                    style = {
                        "arrowstyle": "-|>,head_length=0.35,head_width=0.15",
                        "color": faded(shape.color, fade),
                        "lw": 0.85 * line,
                        "mutation_scale": 5.3 * line**2,  # smaller in smaller pictures
                        "shrinkA": 0.0,
                        "shrinkB": 0.0,
                    }
                    artists.append(
                        axes.annotate("", (x1, z1), (x0, z0), arrowprops=style, zorder=layer + 4)
                    )
            case Bar() | Link():
                for a, b in segments(shape, seen):
                    (x0, z0), (x1, z1) = flat(a), flat(b)
                    rod = Rod(
                        [x0, x1],
                        [z0, z1],
                        shape.radius,
                        color=faded(shape.color, fade),
                        zorder=order(2, a, b),
                    )
                    artists.append(axes.add_line(rod))
    return artists


def draw_ground(
    axes: Axes, shapes: tuple[Shape, ...], low: float, high: float, shift: float = 0.0
) -> None:
    """The terrain between two x, filled below; `shift` moves it to the right."""
    for shape in shapes:
        if isinstance(shape, Ground):
            x, z = ground_line(shape, low, high).T
            x = x + shift
            # Added as artists, not plotted: the ground must not widen the view.
            axes.add_artist(
                Line2D(
                    x,
                    z,
                    color=colour_of(shape.color),
                    lw=0.9 * rcParams["lines.linewidth"],
                    zorder=1,
                )
            )
            below = np.concatenate(
                [np.stack([x, z], 1), [(x[-1], z.min() - _DEEP), (x[0], z.min() - _DEEP)]]
            )
            earth = Polygon(below, color=faded(shape.color, EARTH[0]), lw=0, zorder=0)
            axes.add_artist(earth)


def draw_floor(
    axes: Axes,
    shapes: tuple[Shape, ...],
    around: np.ndarray,
    room: float,
    shift: float = 0.0,
    spacing: float | None = None,
) -> None:
    """The ground of a slanted view, with a grid, under points and `room` metres around them."""
    (x0, y0), (x1, y1) = around[:, :2].min(0) - room, around[:, :2].max(0) + room
    spacing = spacing or grid_spacing(max(x1 - x0, y1 - y0))
    for ground in (shape for shape in shapes if isinstance(shape, Ground)):
        along = ground_line(ground, x0, x1)
        line, earth = faded(ground.color, GRID), faded(ground.color, EARTH[1])

        def flat(x: Any, y: Any, z: Any) -> np.ndarray:
            points = np.broadcast_arrays(np.asarray(x, float), y, z)
            seen = np.array([slanted_view(p) for p in np.stack(points, 1)])
            return seen + np.array([shift, 0.0])

        sides = [flat(along[:, 0], y, along[:, 1]) for y in (y0, y1)]
        axes.add_artist(Polygon([*sides[0], *sides[1][::-1]], color=earth, lw=0, zorder=0))
        axes.update_datalim(np.concatenate(sides))
        for y in _marks(y0, y1, spacing):
            axes.add_artist(
                Line2D(*flat(along[:, 0], y, along[:, 1]).T, color=line, lw=0.6, zorder=0.5)
            )
        for x in _marks(x0, x1, spacing):
            z = np.interp(x, along[:, 0], along[:, 1])
            axes.add_artist(Line2D(*flat([x, x], [y0, y1], z).T, color=line, lw=0.6, zorder=0.5))


def draw_shadow(
    axes: Axes,
    shapes: tuple[Shape, ...],
    seen: Seen,
    height: Callable[[float], float],
    shift: float = 0.0,
) -> list:
    """What a robot leaves dark of the floor of a slanted view, lit from straight above."""
    dark = {"color": faded("ground", SHADOW), "zorder": 0.8}

    def below(point: np.ndarray) -> tuple[float, float]:
        across, up = slanted_view(np.array([point[0], point[1], height(float(point[0]))]))
        return across + shift, up

    artists = []
    for shape in shapes:
        match shape:
            case Ball():
                turn = np.linspace(0.0, 2.0 * np.pi, 40)
                ring = np.stack([np.cos(turn), np.sin(turn), 0.0 * turn], 1) * shape.radius
                centre = seen.place(shape.body, shape.centre)
                patch = Polygon([below(centre + p) for p in ring], lw=0, **dark)
                artists.append(axes.add_patch(patch))
            case Link():  # a fan of spokes would be all shadow
                for a, b in segments(shape, seen):
                    xs, zs = zip(below(a), below(b), strict=True)
                    artists.append(axes.add_line(Rod(list(xs), list(zs), shape.radius, **dark)))
    return artists


def grid_spacing(width: float) -> float:
    """A round distance [m], six to fifteen of which are in a width."""
    wide = max(width, 1e-6) / 6.0
    decade = 10.0 ** np.floor(np.log10(wide))
    return float(max(s * decade for s in (1.0, 2.0, 5.0) if s * decade <= 1.0001 * wide))


def _marks(low: float, high: float, spacing: float) -> np.ndarray:
    slack = 1e-9 * spacing
    return np.arange(np.ceil(low / spacing - slack), np.floor(high / spacing + slack) + 1) * spacing


def row_at(run: Trajectory, t: float) -> int:
    """The last row at or before t."""
    return int(np.clip(np.searchsorted(run.t, t, side="right") - 1, 0, len(run.t) - 1))
