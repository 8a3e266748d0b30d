"""An animation of the sketch, in real time, the camera following the robot."""

from pathlib import Path

import numpy as np
from matplotlib.animation import PillowWriter
from matplotlib.figure import Figure

from footfall.record.trajectory import Trajectory
from footfall.viewer.draw import draw_ground, draw_pose, row_at, side_view, view_of

FRAMES_PER_SECOND = 20
LONGEST = 6.0  # s; the last seconds of a longer run


def write_animation(run: Trajectory, path: Path, longest: float = LONGEST) -> None:
    """Write a GIF of the last `longest` seconds of a run."""
    project = view_of(run)
    begin = max(run.t[0], run.ending.t - longest)
    times = np.arange(begin, run.ending.t, 1.0 / FRAMES_PER_SECOND)
    rows = [row_at(run, t) for t in times] or [len(run.t) - 1]
    centres = np.array([_centre(run, row, project) for row in rows])
    smooth = centres.copy()  # the camera glides: half a second of mean
    width = FRAMES_PER_SECOND // 2
    for i in range(len(rows)):
        smooth[i] = centres[max(0, i - width) : i + width + 1].mean(axis=0)
    size = _reach(run, rows, project)
    figure = Figure(figsize=(6.4, 3.6), dpi=80)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    axes.set_aspect("equal")
    if project is side_view:
        draw_ground(axes, run.sketch, centres[:, 0].min() - 4 * size, centres[:, 0].max() + 4 * size)
        for mark in np.arange(
            np.floor(centres[:, 0].min() - 3), centres[:, 0].max() + 3, 0.25
        ):  # something to see it move against
            axes.axvline(mark, color="0.93", lw=0.8, zorder=-1)
    else:
        axes.plot(*np.array([_centre(run, r, project, z=0.0) for r in rows]).T, color="0.8", lw=1.0)
    clock = axes.text(0.02, 0.95, "", transform=axes.transAxes, fontsize=9, va="top", family="monospace")
    writer = PillowWriter(fps=FRAMES_PER_SECOND)
    with writer.saving(figure, str(path), dpi=80):
        for i, row in enumerate(rows):
            artists = draw_pose(axes, run.sketch, run.seen(row), project)
            x, z = smooth[i]
            axes.set_xlim(x - 2.0 * size, x + 2.0 * size)
            axes.set_ylim(z - 1.125 * size, z + 1.125 * size)
            clock.set_text(f"t = {run.t[row]:6.2f} s")
            writer.grab_frame()
            for artist in artists:
                artist.remove()


def _points(run: Trajectory, row: int) -> np.ndarray:
    groups = {n.rpartition(".")[0] for n in run.of_role("output") if n.endswith(".z")}
    seen = run.seen(row)
    return np.array([seen.origin(g) for g in sorted(groups)])


def _centre(run: Trajectory, row: int, project, z: float | None = None) -> tuple[float, float]:
    middle = _points(run, row).mean(axis=0)
    if z is not None:
        middle[2] = z
    return project(middle)


def _reach(run: Trajectory, rows: list[int], project) -> float:
    """Half the height to show: twice the robot's extent."""
    extents = []
    for row in rows[:: max(1, len(rows) // 10)]:
        seen = np.array([project(p) for p in _points(run, row)])
        extents.append(np.ptp(seen, axis=0).max())
    return max(2.0 * float(np.mean(extents)), 0.05)
