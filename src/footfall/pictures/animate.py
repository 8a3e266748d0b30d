"""An animation of the sketch, the camera following the robot.

In real time, or slowed down where legs move too fast to be seen.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from matplotlib.animation import PillowWriter
from matplotlib.figure import Figure

from footfall.hybrid.outcome import Outcome
from footfall.pictures.draw import Project, draw_ground, draw_pose, row_at, side_view, view_of
from footfall.record.trajectory import Trajectory
from footfall.scene.sketch import Arrow, segments

FRAMES_PER_SECOND = 20
LONGEST = 6.0  # s; the last seconds of a longer run
FRAMES_PER_STEP = 16  # fewer than this, and legs seem to jump


def write_animation(
    run: Trajectory,
    path: Path,
    longest: float = LONGEST,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> None:
    """Write a GIF of the last seconds of a run, `longest` seconds to watch.

    Of a plan, or of a way to somewhere, all of it, faster if it must be.
    """
    project = view_of(run)
    slower = _slower(run)
    whole = (run.travel is not None and run.travel.planned) or run.outcome is Outcome.arrived
    if whole and run.ending.t > longest:
        slower = longest / run.ending.t
    begin = max(run.t[0], run.ending.t - longest / slower)
    times = np.arange(begin, run.ending.t, 1.0 / (FRAMES_PER_SECOND * slower))
    rows = [row_at(run, t) for t in times] or [len(run.t) - 1]
    centres = np.array([_centre(run, row, project) for row in rows])
    smooth = glide(centres)
    size = _reach(run, rows, project)
    figure = Figure(figsize=(6.4, 3.6), dpi=80)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    axes.set_aspect("equal")
    if project is side_view:
        draw_ground(
            axes, run.sketch, centres[:, 0].min() - 4 * size, centres[:, 0].max() + 4 * size
        )
        # Something to see it move against.
        for mark in np.arange(np.floor(centres[:, 0].min() - 3), centres[:, 0].max() + 3, 0.25):
            axes.axvline(mark, color="0.93", lw=0.8, zorder=-1)
    else:
        axes.plot(*np.array([_centre(run, r, project, z=0.0) for r in rows]).T, color="0.8", lw=1.0)
    clock = axes.text(
        0.02, 0.95, "", transform=axes.transAxes, fontsize=9, va="top", family="monospace"
    )
    if not run.verdict.sound:
        axes.text(
            0.98,
            0.95,
            run.verdict.title,
            transform=axes.transAxes,
            fontsize=9,
            va="top",
            ha="right",
            color="darkred",
        )
    writer = PillowWriter(fps=FRAMES_PER_SECOND)
    writer.setup(figure, str(path), dpi=80)
    for i, row in enumerate(rows):
        progress(i, len(rows))
        artists = draw_pose(axes, run.sketch, run.seen(row), project)
        x, z = smooth[i]
        axes.set_xlim(x - 2.0 * size, x + 2.0 * size)
        axes.set_ylim(z - 1.125 * size, z + 1.125 * size)
        pace = (
            ""
            if slower == 1
            else f"  ({slower:g} x slower)"
            if slower > 1
            else f"  ({1 / slower:.3g} x faster)"
        )
        clock.set_text(f"t = {run.t[row]:6.2f} s{pace}")
        writer.grab_frame()
        for artist in artists:
            artist.remove()
    writer.finish()  # nothing is written before: who is interrupted leaves no half of a file


def glide(centres: np.ndarray) -> np.ndarray:
    """Where the camera looks: the mean over up to half a second before and after.

    As far back as ahead, also near the ends: a steady speed keeps the robot in the middle.
    """
    smooth = centres.copy()
    for i in range(len(centres)):
        width = min(FRAMES_PER_SECOND // 2, i, len(centres) - 1 - i)
        smooth[i] = centres[i - width : i + width + 1].mean(axis=0)
    return smooth


def _slower(run: Trajectory) -> float:
    """How much slower than real time to show it, a whole number.

    So that each step has enough frames.
    """
    if run.travel is None:
        return 1.0
    steps = max(float(np.ptp(run[name])) for name in run.travel.step_counters)
    wanted = (
        FRAMES_PER_STEP * steps / (FRAMES_PER_SECOND * run.ending.t) if run.ending.t > 0 else 1.0
    )
    return 1.0 if wanted < 4.0 else float(np.ceil(wanted))


def _points(run: Trajectory, row: int) -> np.ndarray:
    outputs = run.of_role("output")
    groups = {n.rpartition(".")[0] for n in outputs if n.endswith(".z")}
    # One of several like legs: "tip.z.3" is of the group "tip.3".
    groups |= {
        f"{base[:-2]}.{leg}"
        for base, _, leg in (n.rpartition(".") for n in outputs)
        if leg.isdecimal() and base.endswith(".z")
    }
    seen = run.seen(row)
    return np.array([seen.origin(g) for g in sorted(groups)])


def _centre(
    run: Trajectory, row: int, project: Project, z: float | None = None
) -> tuple[float, float]:
    middle = _points(run, row).mean(axis=0)
    if z is not None:
        middle[2] = z
    return project(middle)


def _reach(run: Trajectory, rows: list[int], project: Project) -> float:
    """Half the height to show.

    So that the robot as drawn takes about a third of the picture's width.
    """
    extents = []
    for row in rows[:: max(1, len(rows) // 10)]:
        seen = run.seen(row)
        drawn = [
            end
            for shape in run.sketch
            if not isinstance(shape, Arrow)
            for piece in segments(shape, seen)
            for end in piece
        ]
        ends = np.array([project(end) for end in (*drawn, *_points(run, row))])
        extents.append(np.ptp(ends, axis=0).max())
    return max(0.75 * float(np.mean(extents)), 0.05)
