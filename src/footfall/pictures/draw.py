"""Sketch shapes drawn with matplotlib.

Side view for robots in a plane, slanted view for those that leave it.
"""

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Circle, Polygon

from footfall.record.trajectory import Trajectory
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


def side_view(point: np.ndarray) -> tuple[float, float]:
    """x to the right, z up."""
    return float(point[0]), float(point[2])


def slanted_view(point: np.ndarray) -> tuple[float, float]:
    """From behind, right and above: azimuth 35 degrees, elevation 20 degrees."""
    across, up = np.deg2rad(35.0), np.deg2rad(20.0)
    deep = point[0] * np.sin(across) + point[1] * np.cos(across)
    return float(point[0] * np.cos(across) - point[1] * np.sin(across)), float(
        point[2] * np.cos(up) + deep * np.sin(up)
    )


def _nearness(point: np.ndarray) -> float:
    """How near a point is to who looks at the slanted view [m].

    What is nearer is drawn over what is behind it.
    """
    across, up = np.deg2rad(35.0), np.deg2rad(20.0)
    return float(
        point[2] * np.sin(up) - (point[0] * np.sin(across) + point[1] * np.cos(across)) * np.cos(up)
    )


def view_of(run: Trajectory) -> Project:
    """Side view unless something moves sideways.

    Legs that stay left and right of the middle are in a plane each.
    """
    sideways = [name for name in run.of_role("output") if name.endswith(".y")]
    leaves = any(np.ptp(run[name]) > 1e-9 for name in sideways)
    return slanted_view if leaves else side_view


def draw_pose(
    axes: Axes,
    shapes: tuple[Shape, ...],
    seen: Seen,
    project: Project,
    *,
    alpha: float = 1.0,
    forces: bool = True,
) -> list:
    """Draw one pose; returns the artists, so that an animation can remove them."""
    artists: list = []

    def order(layer: int, *points: np.ndarray) -> float:
        return (
            layer + 0.0
            if project is side_view
            else 2.5 + np.tanh(np.mean([_nearness(p) - middle for p in points]))
        )

    solid = [seen.origin(shape.body) for shape in shapes if isinstance(shape, Ball | Disc)]
    middle = float(np.mean([_nearness(p) for p in solid])) if solid else 0.0
    for shape in shapes:
        match shape:
            case Ball() | Disc():
                place = seen.place(shape.body, shape.centre)
                patch = Circle(
                    project(place),
                    shape.radius,
                    color=shape.color,
                    fill=isinstance(shape, Ball),
                    alpha=alpha,
                    zorder=order(3, place),
                )
                artists.append(axes.add_patch(patch))
            case Arrow() if forces:
                (tail, head) = segments(shape, seen)[0]
                (x0, z0), (x1, z1) = project(tail), project(head)
                if np.hypot(x1 - x0, z1 - z0) > 1e-3:
                    style = {"arrowstyle": "-|>", "color": shape.color, "alpha": alpha, "lw": 1.2}
                    artists.append(
                        axes.annotate("", (x1, z1), (x0, z0), arrowprops=style, zorder=4)
                    )
            case Bar() | Link():
                for a, b in segments(shape, seen):
                    (x0, z0), (x1, z1) = project(a), project(b)
                    width = 300.0 * shape.radius
                    line = axes.plot(
                        [x0, x1],
                        [z0, z1],
                        color=shape.color,
                        lw=width,
                        alpha=alpha,
                        solid_capstyle="round",
                        zorder=order(2, a, b),
                    )
                    artists += line
    return artists


def draw_ground(axes: Axes, shapes: tuple[Shape, ...], low: float, high: float) -> None:
    """The terrain between two x, filled below."""
    for shape in shapes:
        if isinstance(shape, Ground):
            x, z = ground_line(shape, low, high).T
            # Added as artists, not plotted: the ground must not widen the view.
            axes.add_artist(Line2D(x, z, color=shape.color, lw=1.5, zorder=1))
            below = np.concatenate([np.stack([x, z], 1), np.stack([x, z - 0.05], 1)[::-1]])
            axes.add_artist(Polygon(below, color=shape.color, alpha=0.15, lw=0, zorder=0))


def row_at(run: Trajectory, t: float) -> int:
    """The last row at or before t."""
    return int(np.clip(np.searchsorted(run.t, t, side="right") - 1, 0, len(run.t) - 1))
