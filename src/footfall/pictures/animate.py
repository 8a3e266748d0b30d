"""An animation of the sketch, the camera following the robot.

In real time, or slowed down where legs move too fast to be seen.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from PIL import Image

from footfall.hybrid.outcome import Outcome
from footfall.pictures.draw import (
    EARTH,
    GRID,
    SHADOW,
    Project,
    draw_floor,
    draw_ground,
    draw_pose,
    draw_shadow,
    grid_spacing,
    row_at,
    side_view,
    view_of,
)
from footfall.pictures.show import Picture
from footfall.pictures.style import faded, styled
from footfall.record.trajectory import Trajectory
from footfall.scene.palette import colour_of
from footfall.scene.sketch import Arrow, Ground, ground_height, segments

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
    with styled():
        figure = Picture(figsize=(6.4, 3.6), dpi=80, layout=None)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set_axis_off()
    axes.set_aspect("equal")
    axes.set_autoscale_on(False)
    grounds = [shape for shape in run.sketch if isinstance(shape, Ground)]
    if project is side_view:
        left, right = centres[:, 0].min() - 4 * size, centres[:, 0].max() + 4 * size
        draw_ground(axes, run.sketch, left, right)
        # Something to see it move against.
        spacing = 2.0 * grid_spacing(4.0 * size)
        for mark in np.arange(np.floor(left / spacing) * spacing, right, spacing):
            axes.axvline(mark, color=colour_of("grid"), lw=0.8, zorder=-1)
    else:
        places = np.array([_points(run, row).mean(axis=0) for row in rows])
        draw_floor(axes, run.sketch, places, 4.0 * size, spacing=2.0 * grid_spacing(4.0 * size))
    clock = axes.text(
        0.02, 0.95, "", transform=axes.transAxes, fontsize=10, va="top", color=colour_of("quiet")
    )
    if not run.verdict.sound:
        axes.text(
            0.98,
            0.95,
            run.verdict.title,
            transform=axes.transAxes,
            fontsize=10,
            va="top",
            ha="right",
            color=colour_of("doubt"),
        )
    canvas = FigureCanvasAgg(figure)
    frames: list[Image.Image] = []
    for i, row in enumerate(rows):
        progress(i, len(rows))
        seen = run.seen(row)
        artists = draw_pose(axes, run.sketch, seen, project)
        if project is not side_view and grounds:
            below = lambda x: float(ground_height(grounds[0], np.array(x)))  # noqa: E731
            artists += draw_shadow(axes, run.sketch, seen, below)
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
        canvas.draw()
        frames.append(Image.fromarray(np.asarray(canvas.buffer_rgba())[..., :3]))
        for artist in artists:
            artist.remove()
    _save(
        frames, _table(run), path
    )  # nothing is written before: who is interrupted leaves no half of a file


def _table(run: Trajectory) -> Image.Image:
    """The colours of all frames: those of the sketch, and their edges on what is behind them."""
    grounds = [shape.color for shape in run.sketch if isinstance(shape, Ground)]
    behind = ["paper", *(faded(own, share) for own in grounds for share in EARTH)]
    drawn = [shape.color for shape in run.sketch]
    words = ["quiet", "grid", "doubt", faded("ground", SHADOW)]
    tops = list(dict.fromkeys([*drawn, *words, *(faded(own, GRID) for own in grounds)]))
    colours = [np.array(to_rgb(colour_of(name))) for name in behind]
    colours += [
        share * np.array(to_rgb(colour_of(top))) + (1.0 - share) * back
        for back in tuple(colours)
        for top in tops
        for share in (1.0, 0.67, 0.33)
    ]
    table = Image.new("P", (1, 1))
    table.putpalette(np.round(255 * np.array(colours[:256])).astype(np.uint8).tobytes())
    return table


def _save(frames: list[Image.Image], table: Image.Image, path: Path) -> None:
    """One table of colours for all frames, and no dots between them: a third of the size."""
    shown = [frame.quantize(palette=table, dither=Image.Dither.NONE) for frame in frames]
    shown[0].save(
        path,
        save_all=True,
        append_images=shown[1:],
        duration=1000 // FRAMES_PER_SECOND,
        loop=0,
    )


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


def _centre(run: Trajectory, row: int, project: Project) -> tuple[float, float]:
    return project(_points(run, row).mean(axis=0))


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
