"""Poses side by side: how it moves, in one look."""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from footfall.pictures.draw import (
    LAYERS,
    Project,
    draw_floor,
    draw_ground,
    draw_pose,
    draw_shadow,
    grid_spacing,
    nearness,
    row_at,
    side_view,
    slanted_view,
    view_of,
)
from footfall.pictures.style import Style
from footfall.record.trajectory import Trajectory
from footfall.scene.palette import colour_of
from footfall.scene.sketch import Arrow, Ball, Bar, Ground, Link, ground_height, segments

#: So few poses side by side that frames, each with one, show more.
FEW = 2
_PALEST = 0.7  # of the first pose of many
_LOWEST, _HIGHEST = 0.1, 0.4  # of the strip's height, in widths


class Pose(NamedTuple):
    """One pose of a strip: a row of the run, and how far to the right it is moved [m]."""

    row: int
    shift: float = 0.0


class Strip(NamedTuple):
    """What is drawn: poses from first to last, and what they fill (left, low), (right, high)."""

    project: Project
    poses: tuple[Pose, ...]
    framed: bool  #: each in a frame of its own, beside the one before
    box: np.ndarray

    @property
    def height(self) -> float:
        """Of the picture, for a width of 1."""
        wide, high = 1.06 * np.ptp(self.box, axis=0)
        return float(np.clip(high / max(wide, 1e-9), _LOWEST, _HIGHEST))


def strip_of(run: Trajectory, style: Style) -> Strip:
    """Which poses to show, and how."""
    project = view_of(run)
    rows = spaced_rows(run, style.poses if project is side_view else style.poses + 2)
    framed = run.travel is None or len(rows) <= FEW
    if framed:
        times = np.linspace(run.t[0], run.t[-1], style.frames + 1)[1:]
        rows = [row_at(run, t) for t in times]
    boxes = np.array([_extent(run, row, project) for row in rows])
    shifts = np.zeros(len(rows))
    if framed:
        width = (1.25 if project is side_view else 1.45) * float(
            np.ptp(boxes[:, :, 0], axis=1).max()
        )
        shifts = width * np.arange(len(rows)) - boxes[:, :, 0].mean(axis=1)
    boxes[:, :, 0] += shifts[:, None]
    box = np.array([boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)])
    if project is side_view:  # the ground belongs into the picture, also under one in the air
        spots = (boxes[:, :, 0] - shifts[:, None]).ravel()
        for ground in (shape for shape in run.sketch if isinstance(shape, Ground)):
            heights = ground_height(ground, spots)
            box[:, 1] = min(box[0, 1], heights.min()), max(box[1, 1], heights.max())
    poses = tuple(Pose(row, float(shift)) for row, shift in zip(rows, shifts, strict=True))
    if project is slanted_view:
        corners = [box, *(_corners(run, *floor) for floor in _floors(run, poses, framed))]
        box = np.array([np.min(np.vstack(corners), axis=0), np.max(np.vstack(corners), axis=0)])
    return Strip(project, poses, framed, box)


def pose_strip(axes: Axes, run: Trajectory, strip: Strip, style: Style) -> None:
    """The last poses, fading into the past.

    A robot that goes nowhere is shown in frames beside each other, with their times.
    """
    fades = np.linspace(0.0 if strip.framed else _PALEST, 0.0, len(strip.poses))
    order = np.arange(len(strip.poses))
    if strip.project is slanted_view and not strip.framed:  # what is nearer covers what is behind
        depths = [np.mean([nearness(p) for p in _points(run, pose.row)]) for pose in strip.poses]
        order = np.argsort(np.argsort(depths))
    for pose, fade, place in zip(strip.poses, fades, order, strict=True):
        draw_pose(
            axes,
            run.sketch,
            run.seen(pose.row),
            strip.project,
            fade=float(fade),
            layer=LAYERS * float(place),
            shift=pose.shift,
        )
    axes.update_datalim(strip.box)
    (_ground if strip.project is side_view else _floor)(axes, run, strip)
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.02, 0.08)
    axes.autoscale_view()
    axes.grid(False)
    _name(axes, run, strip, style)


def _points(run: Trajectory, row: int) -> np.ndarray:
    """Where the drawn robot begins and ends, house frame."""
    seen = run.seen(row)
    ends = [
        end
        for shape in run.sketch
        if not isinstance(shape, Arrow)
        for piece in segments(shape, seen)
        for end in piece
    ]
    balls = [seen.place(s.body, s.centre) for s in run.sketch if isinstance(s, Ball)]
    return np.array([*ends, *balls]) if ends or balls else np.zeros((1, 3))


def _extent(run: Trajectory, row: int, project: Project) -> np.ndarray:
    """((left, low), (right, high)) of a pose as it is drawn, forces left out."""
    seen = run.seen(row)
    points = [np.array(project(point)) for point in _points(run, row)]
    for shape in run.sketch:
        if isinstance(shape, Ball):
            middle = np.array(project(seen.place(shape.body, shape.centre)))
            points += [middle - shape.radius, middle + shape.radius]
    return np.array([np.min(points, axis=0), np.max(points, axis=0)])


def _ground(axes: Axes, run: Trajectory, strip: Strip) -> None:
    left, right = strip.box[:, 0]
    if strip.framed:
        middles = [float(_extent(run, p.row, side_view)[:, 0].mean()) for p in strip.poses]
        shown = [m + p.shift for m, p in zip(middles, strip.poses, strict=True)]
        half = 0.48 * float(np.diff(shown).min())
        for pose, middle in zip(strip.poses, middles, strict=True):
            draw_ground(axes, run.sketch, middle - half, middle + half, pose.shift)
    else:  # equal aspect widens the view when it is drawn
        draw_ground(axes, run.sketch, left - 5 * (right - left), right + 5 * (right - left))


def _floor(axes: Axes, run: Trajectory, strip: Strip) -> None:
    """A floor under all poses, or one under each frame; and shadows."""
    grounds = [shape for shape in run.sketch if isinstance(shape, Ground)]
    if not grounds:
        return
    for floor in _floors(run, strip.poses, strip.framed):
        draw_floor(axes, run.sketch, *floor)
    for pose in strip.poses:
        draw_shadow(
            axes,
            run.sketch,
            run.seen(pose.row),
            lambda x: float(ground_height(grounds[0], np.array(x))),
            pose.shift,
        )


def _floors(
    run: Trajectory, poses: Sequence[Pose], framed: bool
) -> list[tuple[np.ndarray, float, float]]:
    """(points above it, room around them, shift) of each floor."""
    points = [_points(run, pose.row) for pose in poses]
    size = max(float(np.ptp(p, axis=0)[:2].max()) for p in points)
    if framed:
        return [(own, 0.1 * size, p.shift) for own, p in zip(points, poses, strict=True)]
    return [(np.concatenate(points), 0.3 * size, 0.0)]


def _corners(run: Trajectory, points: np.ndarray, room: float, shift: float) -> np.ndarray:
    """Of a floor, as it is seen."""
    low, high = points[:, :2].min(axis=0) - room, points[:, :2].max(axis=0) + room
    seen = []
    for ground in (shape for shape in run.sketch if isinstance(shape, Ground)):
        for x, y in itertools.product(*zip(low, high, strict=True)):
            across, up = slanted_view(np.array([x, y, float(ground_height(ground, np.array(x)))]))
            seen.append((across + shift, up))
    return np.array(seen).reshape(-1, 2)


def _name(axes: Axes, run: Trajectory, strip: Strip, style: Style) -> None:
    rows = [pose.row for pose in strip.poses]
    span = f"Poses, t = {run.t[rows[0]]:.3g} to {run.t[rows[-1]]:.3g} s"
    if strip.project is side_view and not strip.framed:
        axes.set(title=span, xlabel="x [m]", ylabel="z [m]")
        axes.yaxis.set_major_locator(MaxNLocator(3))
        return
    for side in axes.spines.values():
        side.set_visible(False)
    axes.set(xticks=[], yticks=[])
    scale = grid_spacing(
        float(np.ptp(strip.box[:, 0])) / (len(strip.poses) if strip.framed else 1) * 1.2
    )
    length = next(
        f"{scale * many:g} {unit}"
        for many, unit in ((1e3, "mm"), (1e2, "cm"), (1.0, "m"))
        if scale * many < 100 or many == 1.0
    )
    axes.set_title(f"{span}, bar {length}")
    low = axes.get_ylim()[0]
    axes.plot(
        [strip.box[0, 0], strip.box[0, 0] + scale], [low, low],
        color=colour_of("ink"), lw=2.0 * style.line, solid_capstyle="butt", clip_on=False,
    )  # fmt: skip
    for pose in strip.poses if strip.framed else ():
        middle = float(_extent(run, pose.row, strip.project)[:, 0].mean()) + pose.shift
        axes.annotate(
            f"{run.t[pose.row]:.3g} s", (middle, 0.0), (0.0, -2.0),
            xycoords=("data", "axes fraction"), textcoords="offset points",
            ha="center", va="top", fontsize=style.text - 1.0, color=colour_of("quiet"),
        )  # fmt: skip


def spaced_rows(run: Trajectory, most: int = 8) -> list[int]:
    """Rows of poses that stand side by side: a robot's length apart, the last one at the end.

    A plan is shown whole.
    """
    if run.travel is not None and run.travel.planned:
        return sorted({row_at(run, t) for t in np.linspace(run.t[0], run.t[-1], 2 * most)})
    times: Sequence[float] | np.ndarray = np.linspace(0.8 * run.t[-1], run.t[-1], most)
    if run.travel is not None:
        gone = run[run.travel.distance]
        length = 2.1 * _reach(run)
        behind = np.maximum.accumulate(gone)
        spots = gone[-1] - length * np.arange(most)[::-1]
        times = run.t[np.searchsorted(behind, spots[spots >= gone[0]])]
    return sorted({row_at(run, t) for t in times} | {len(run.t) - 1})


def _reach(run: Trajectory) -> float:
    """How far the sketch's bars reach from the bodies they are fixed to, and half of how far its
    links do from end to end; of upright ones, a fifth.
    """
    tips = [
        float(np.linalg.norm(end))
        for shape in run.sketch
        if isinstance(shape, Bar)
        for end in (shape.start, shape.end)
    ]
    seen = run.seen(len(run.t) - 1)
    ends = [
        seen.origin(end)
        for shape in run.sketch
        if isinstance(shape, Link)
        for end in (shape.start, shape.end)
    ]
    if ends:
        wide, _, high = np.ptp(ends, axis=0)
        tips += [0.5 * float(wide), 0.2 * float(high)]
    return max(tips, default=0.1)
