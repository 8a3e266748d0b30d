"""The plot page: what a person looks at first."""

import itertools
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from footfall.engines.analysis.summary import Summary
from footfall.pictures.draw import draw_ground, draw_pose, row_at, side_view, view_of
from footfall.pictures.show import Picture
from footfall.record.trajectory import Trajectory
from footfall.scene.sketch import Arrow, Bar, Chart, Ground, Link, Shape, ground_height

Panel = Callable[[Axes], None]
Progress = Callable[[int, int], None]
_COLUMNS = 3
#: Share of a panel's height that a line of its legend takes, and what is around all lines.
_LEGEND_LINE, _LEGEND_PADDING = 0.075, 0.06


def write_plot_page(
    run: Trajectory,
    summary: Summary,
    path: Path,
    *,
    title: str,
    progress: Progress = lambda done, total: None,
) -> None:
    """The page as one picture file. `progress(done, total)` is called as panels are rendered."""
    figure = plot_page(run, summary, title=title)
    for done, axes in enumerate(figure.axes):  # rendering is what takes the time
        axes.add_artist(_Count(lambda done=done: progress(done, len(figure.axes))))
    figure.savefig(path)


def plot_page(run: Trajectory, summary: Summary, *, title: str) -> Picture:
    """Poses, states, torques and forces, powers, ledger, footfalls, phase portraits, path."""
    panels = list(_panels(run, summary))
    rows = -(-len(panels) // _COLUMNS)
    figure = Picture(figsize=(5.2 * _COLUMNS, 2.6 + 2.7 * rows), layout="constrained", dpi=110)
    grid = figure.add_gridspec(rows + 1, _COLUMNS, height_ratios=[1.1, *[1.0] * rows])
    _pose_strip(figure.add_subplot(grid[0, :]), run, summary)
    for i, panel in enumerate(panels):
        panel(figure.add_subplot(grid[1 + i // _COLUMNS, i % _COLUMNS]))
    speed = summary.metrics.get("mean_speed")
    said = f" - {speed:.4g} m/s" if speed is not None else ""
    doubtful = "" if run.verdict.sound else f"\n{run.verdict.title}"
    figure.suptitle(
        f"{title}{said} - {run.ending.sentence}{doubtful}",
        fontsize=12,
        color="darkred" if doubtful else "black",
    )
    return figure


class _Count(Artist):
    """Draws nothing, but tells that its panel is being drawn."""

    def __init__(self, tell: Callable[[], None]):
        super().__init__()
        self._tell = tell
        self.set_in_layout(False)

    def draw(self, renderer: object) -> None:
        del renderer
        self._tell()


def broken(run: Trajectory, *names: str) -> tuple[np.ndarray, ...]:
    """Time and signals with a gap at every jump, so that no line is drawn through it."""
    cuts = np.flatnonzero(np.diff(run.j) > 0) + 1
    return tuple(
        np.insert(values, cuts, np.nan) for values in (run.t, *(run[name] for name in names))
    )


def _lines(axes: Axes, run: Trajectory, names: Iterable[str], ylabel: str, title: str) -> None:
    for name in names:
        t, values = broken(run, name)
        axes.plot(t, values, lw=0.9, label=name.removeprefix("power."))
    axes.set(title=title, xlabel="t [s]", ylabel=ylabel)
    _legend(axes)
    axes.grid(alpha=0.25)


def _legend(axes: Axes) -> None:
    """Above the curves, three names to a line.

    The axis is made taller by what that needs, so that nothing runs behind it.
    """
    names = len(axes.get_legend_handles_labels()[1])
    low, high = axes.get_ylim()
    axes.set_ylim(low, low + (high - low) / (1.0 - _LEGEND_PADDING - _LEGEND_LINE * -(-names // 3)))
    axes.legend(
        fontsize=6.5,
        ncols=3,
        loc="upper left",
        framealpha=0.6,
        borderaxespad=0.3,
        columnspacing=1.0,
        handlelength=1.5,
    )


def _panels(run: Trajectory, summary: Summary) -> Iterable[Panel]:
    """Panels in reading order, only those this robot has something to show for."""
    by_unit: dict[tuple[str, str, bool], list[str]] = {}
    # A position that runs away would flatten the angles and heights beside it.
    for name in _single_states(run):
        part = name.partition(".")[0] if "." in name else ""
        by_unit.setdefault((run.signals[name].unit, part, _wanders(run, name)), []).append(name)
    for (unit, part, wanders), names in by_unit.items():
        title = (
            f"States in {unit or '1'}"
            + (f", {part}" if part else "")
            + (", over the run" if wanders else "")
        )
        yield lambda axes, names=names, unit=unit, title=title: _lines(
            axes, run, names, f"[{unit}]", title
        )
    for chart in run.drawing.charts or _usual_charts(run):
        unit = run.signals[chart.signals[0]].unit
        label = f"[{unit}]" if unit else ""
        if chart.style == "carpet":
            yield lambda axes, c=chart: _carpet(axes, run, c)
        elif chart.style == "whole":
            yield lambda axes, c=chart, label=label: _lines(axes, run, c.signals, label, c.title)
        else:
            yield lambda axes, c=chart, label=label: _zoomed(
                axes, run, summary, list(c.signals), label, c.title
            )
    if run.of_role("power"):
        yield lambda axes: _zoomed(
            axes, run, summary, run.of_role("power"), "[W]", "Power into the stores"
        )
    if len(run.of_role("store")) > 1:
        yield lambda axes: _stores(axes, run, summary)
    yield lambda axes: _ledger(axes, run)
    if run.travel is not None:
        yield lambda axes: _footfalls(axes, run, summary)
    for title, shapes in run.drawing.close_ups.items():
        yield lambda axes, title=title, shapes=shapes: _close_up(axes, run, summary, title, shapes)
    states = _single_states(run)
    pairs = [
        n
        for n in states
        if run.signals[n].rate_of in states and not _wanders(run, run.signals[n].rate_of or "")
    ]
    for name in pairs[:2]:
        yield lambda axes, name=name: _phase(
            axes, run, summary, run.signals[name].rate_of or "", name
        )
    if run.travel is not None and run.travel.heading is not None:
        yield lambda axes: _top_view(axes, run)


def _single_states(run: Trajectory) -> list[str]:
    """States worth lines of their own.

    Those of many like legs would be dozens: the robot's charts show what is to be seen of them.
    """
    states = run.of_role("state")
    return [
        name for name in states if not (run.drawing.charts and name.rpartition(".")[2].isdecimal())
    ]


def _carpet(axes: Axes, run: Trajectory, chart: Chart) -> None:
    """A row for each signal, the first on top, its value as a colour, over the whole run."""
    times = np.linspace(run.t[0], run.t[-1], min(len(run.t), 800))
    rows = np.clip(np.searchsorted(run.t, times, side="right") - 1, 0, len(run.t) - 1)
    values = np.array([run[name][rows] for name in chart.signals])
    low, high = np.percentile(values, [1, 99])
    if not high > low:  # a few short events, or nothing at all
        low, high = float(values.min()), float(values.max())
    signed = low < 0 < high and min(-low, high) > 0.05 * max(-low, high)
    size = max(-low, high)
    shown = (
        {"cmap": "RdBu_r", "vmin": -size, "vmax": size}
        if signed
        else {"cmap": "viridis", "vmin": low, "vmax": high}
    )
    if not np.ptp(values):
        shown = {"cmap": "Greys", "vmin": low, "vmax": low + 1.0}  # nothing to see: white
    extent = (run.t[0], run.t[-1], len(values) - 0.5, -0.5)
    image = axes.imshow(values, aspect="auto", interpolation="nearest", extent=extent, **shown)
    unit = run.signals[chart.signals[0]].unit
    bar = axes.figure.colorbar(
        image,
        ax=axes,
        pad=0.02,
        extend="both" if np.ptp(values) > 1.02 * (high - low) else "neither",
    )
    bar.set_label(f"[{unit}]" if unit else "")
    still = "" if np.ptp(values) > 0 else f" (always {values.flat[0]:g})"
    axes.set(title=f"{chart.title}{still}", xlabel="t [s]", ylabel=chart.rows)


def _usual_charts(run: Trajectory) -> tuple[Chart, ...]:
    """What to show of a robot that does not say."""
    outputs = run.of_role("output")
    torques = tuple(n for n in outputs if n.endswith(".torque"))
    forces = tuple(n for n in outputs if n.endswith(".force")) or tuple(
        n for n in outputs if n.endswith(".fz")
    )
    return tuple(c for c in (Chart("Torques", torques), Chart("Leg forces", forces)) if c.signals)


def _wanders(run: Trajectory, name: str) -> bool:
    """Whether a signal leaves for good rather than coming back every step.

    Late in the run it still moves further than within a stance.
    """
    late = run.t >= 0.5 * run.t[-1]
    values, stances = (
        run[name][late],
        np.split(run[name][late], np.flatnonzero(np.diff(run.j[late]) > 0) + 1),
    )
    return len(stances) > 4 and np.ptp(values) > 4 * max(
        np.ptp(part) for part in stances if len(part)
    )


def _recent(run: Trajectory, summary: Summary, steps: int) -> float:
    """The time `steps` steps before the end.

    The begin of a plan, and of what never came to a steady pace.
    """
    step = summary.metrics.get("step_time")
    if (
        step is None
        or not summary.window["settled"]
        or (run.travel is not None and run.travel.planned)
    ):
        return float(run.t[0])
    return max(run.t[0], run.t[-1] - steps * step)


def _zoomed(
    axes: Axes, run: Trajectory, summary: Summary, names: list[str], ylabel: str, title: str
) -> None:
    """The last steps, close enough to see their shape.

    Rare spikes (a stiff spoke landing) must not hide the rest.
    """
    _lines(axes, run, names, ylabel, title)
    begin = _recent(run, summary, 6)
    late = run.t >= begin
    values = np.concatenate([run[name][late] for name in names])
    low, high = np.percentile(values, [2, 98])
    top, bottom = values.max(), values.min()
    span = max(high - low, 1e-12)
    if top > high + 20 * span or bottom < low - 20 * span:
        axes.set_ylim(low - 0.3 * span, high + 0.3 * span)
        title = f"{title} (spikes {bottom:.3g} .. {top:.3g} cut)"
    else:
        axes.set_ylim(bottom - 0.05 * (top - bottom + 1e-12), top + 0.05 * (top - bottom + 1e-12))
    axes.set_title(title)
    axes.set_xlim(begin, run.t[-1])
    _legend(axes)


def _stores(axes: Axes, run: Trajectory, summary: Summary) -> None:
    """Each kind of energy, from its mean: what goes to and fro between them."""
    begin = _recent(run, summary, 6)
    late = run.t >= begin
    for name in run.of_role("store"):
        t, values = broken(run, name)
        axes.plot(t, values - np.mean(run[name][late]), lw=0.9, label=name.rpartition(".")[2])
    shown = np.concatenate(
        [run[name][late] - np.mean(run[name][late]) for name in run.of_role("store")]
    )
    room = 0.05 * (np.ptp(shown) + 1e-12)
    axes.set(
        title="Energy stored, from its mean", xlabel="t [s]", ylabel="[J]", xlim=(begin, run.t[-1])
    )
    axes.set_ylim(shown.min() - room, shown.max() + room)
    _legend(axes)
    axes.grid(alpha=0.25)


def _ledger(axes: Axes, run: Trajectory) -> None:
    """What came in, where it went, and what is left.

    The curves of what went add up to what came in, less what is stored.
    """
    stored = sum(run[name] for name in run.of_role("store"))
    works = run.of_role("work")
    for name in works:
        t, value = broken(run, name)
        axes.plot(t, value, lw=1.2, label=name.removeprefix("work."))
    jumps = stored - stored[0] - sum((run[name] for name in works), np.zeros_like(run.t))
    axes.step(run.t, jumps, lw=1.2, where="post", label="jumps")
    axes.plot(run.t, stored - stored[0], lw=0.8, color="black", label="stored, change")
    residual = f"residual {run.ledger.relative_residual:.1e} of throughput"
    axes.set(title=f"Energy ledger ({residual})", xlabel="t [s]", ylabel="[J]")
    _legend(axes)
    axes.grid(alpha=0.25)


def _footfalls(axes: Axes, run: Trajectory, summary: Summary) -> None:
    """A bar per stance, a row per side: who steps when."""
    assert run.travel is not None
    if run.travel.contacts:
        _contacts(axes, run, summary, run.travel.contacts)
        return
    counters = run.travel.step_counters
    for row, name in enumerate(counters):
        landings = run.t[np.flatnonzero(np.diff(run[name]) > 0) + 1]
        edges = np.concatenate([[run.t[0]], landings, [run.t[-1]]])
        for i, (a, b) in enumerate(itertools.pairwise(edges)):
            axes.barh(row, b - a, left=a, height=0.7, color="0.25" if i % 2 else "0.7", lw=0)
    axes.set_yticks(
        range(len(counters)),
        [n.rpartition(".")[2].replace("steps", "").strip("_") or "feet" for n in counters],
    )
    axes.set(
        title="Footfalls (a bar from each to the next)",
        xlabel="t [s]",
        xlim=(_recent(run, summary, 20), run.t[-1]),
    )


def _contacts(axes: Axes, run: Trajectory, summary: Summary, flags: tuple[str, ...]) -> None:
    """A bar while a foot touches, a row per foot."""
    for row, name in enumerate(flags):
        touching = np.concatenate([[0], run[name] > 0, [0]]).astype(int)
        begins, ends = np.flatnonzero(np.diff(touching) > 0), np.flatnonzero(np.diff(touching) < 0)
        last = len(run.t) - 1
        spans = [
            (run.t[a], run.t[min(b, last)] - run.t[a]) for a, b in zip(begins, ends, strict=True)
        ]
        axes.broken_barh(spans, (row - 0.35, 0.7), color="0.3", lw=0)
    # One of many like legs: its number says which.
    like = all(name.rpartition(".")[2].isdecimal() for name in flags)
    labels = [name.split(".")[-1 if like else -2].replace("_", " ") for name in flags]
    every = -(-len(flags) // 15)
    axes.set_yticks(
        range(0, len(flags), every), labels[::every], fontsize=7 if len(flags) > 8 else None
    )
    axes.set(title="Feet that touch", xlabel="t [s]", xlim=(_recent(run, summary, 6), run.t[-1]))
    if like:
        # Thin bars, and a wave to be followed from leg to leg.
        axes.set_xlim(_recent(run, summary, 20), run.t[-1])
        axes.invert_yaxis()  # the first on top
        axes.set_ylabel(run.travel.legs if run.travel is not None else "leg")


def _close_up(
    axes: Axes, run: Trajectory, summary: Summary, title: str, shapes: tuple[Shape, ...]
) -> None:
    """A part of the robot at the moment when it carries most, with its forces."""
    groups = [shape.at for shape in shapes if isinstance(shape, Arrow)]
    carried = sum((run[f"{g}.fx"] ** 2 + run[f"{g}.fz"] ** 2 for g in groups), np.zeros_like(run.t))
    row = int(np.argmax(np.where(run.t >= _recent(run, summary, 1), carried, -1.0)))
    seen = run.seen(row)
    points = np.array(
        [
            seen.origin(end)[[0, 2]]
            for shape in shapes
            if isinstance(shape, Link)
            for end in (shape.start, shape.end)
        ]
    )
    forces = {group: seen.force(group)[[0, 2]] for group in groups}
    most = max((float(np.hypot(*force)) for force in forces.values()), default=0.0)
    # The longest arrow: half the part's size.
    scale = 0.5 * float(np.ptp(points, axis=0).max()) / most if most > 0 else 0.0
    shapes = tuple(
        shape._replace(metres_per_newton=scale) if isinstance(shape, Arrow) else shape
        for shape in shapes
    )
    draw_pose(axes, shapes, seen, side_view)
    heads = [(group, seen.origin(group)[[0, 2]] + scale * force) for group, force in forces.items()]
    for group, (x, z) in heads:
        size_of = float(np.hypot(*forces[group]))
        axes.annotate(
            f"{size_of:.2g} N", (x, z), textcoords="offset points", xytext=(4, 4), fontsize=7
        )
    axes.update_datalim([head for _, head in heads])  # arrows do not count by themselves
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.2)
    axes.autoscale_view()
    axes.set(title=f"{title}, t = {run.t[row]:.4g} s", xlabel="x [m]", ylabel="z [m]")


def _phase(axes: Axes, run: Trajectory, summary: Summary, position: str, rate: str) -> None:
    """Rate against position, the settled part in colour, jumps as dotted lines."""
    _, x, y = broken(run, position, rate)
    axes.plot(x, y, lw=0.4, color="0.75")
    late = run.t >= summary.window["from"]
    first = int(np.argmax(late))
    xs, ys, js = run[position][first:], run[rate][first:], run.j[first:]
    cuts = np.flatnonzero(np.diff(js) > 0) + 1
    axes.plot(np.insert(xs, cuts, np.nan), np.insert(ys, cuts, np.nan), lw=1.0, color="tab:blue")
    for i in cuts[-3:]:
        axes.plot(xs[i - 1 : i + 1], ys[i - 1 : i + 1], lw=0.8, ls=":", color="tab:red")
    axes.set(
        title="Phase portrait (settled part blue)",
        xlabel=run.signals[position].label,
        ylabel=run.signals[rate].label,
    )
    axes.grid(alpha=0.25)


def _top_view(axes: Axes, run: Trajectory) -> None:
    """The path from above, with where it pointed."""
    assert run.travel is not None and run.travel.heading is not None
    group = run.travel.heading.rpartition(".")[0]
    x, y, yaw = run[f"{group}.x"], run[f"{group}.y"], run[run.travel.heading]
    axes.plot(x, y, lw=1.0)
    marks = np.linspace(0, len(x) - 1, 12).astype(int)
    axes.quiver(
        x[marks],
        y[marks],
        np.cos(yaw[marks]),
        np.sin(yaw[marks]),
        angles="xy",
        width=0.005,
        scale=18,
    )
    axes.plot(x[0], y[0], "o", ms=5, color="tab:green", label="start")
    axes.plot(x[-1], y[-1], "s", ms=5, color="tab:red", label="end")
    axes.set(title="Path from above", xlabel="x forward [m]", ylabel="y left [m]")
    axes.set_aspect("equal", adjustable="datalim")
    axes.legend(fontsize=7)
    axes.grid(alpha=0.25)


def _pose_strip(axes: Axes, run: Trajectory, summary: Summary) -> None:
    """The last poses, side by side, fading into the past."""
    project = view_of(run)
    rows = spaced_rows(run)
    for row, alpha in zip(rows, np.linspace(1.0, 0.3, len(rows))[::-1], strict=True):
        draw_pose(axes, run.sketch, run.seen(row), project, alpha=float(alpha), forces=True)
    if project is side_view:  # the ground belongs into the picture, also under a robot in the air
        axes.update_datalim(
            [
                (x, ground_height(g, x))
                for g in run.sketch
                if isinstance(g, Ground)
                for x in axes.dataLim.intervalx
            ]
        )
    axes.set_aspect("equal", adjustable="datalim")
    axes.autoscale_view()
    low, high = axes.get_xlim()
    if project is side_view:
        width = high - low
        # Equal aspect widens the view when it is drawn.
        draw_ground(axes, run.sketch, low - 5 * width, high + 5 * width)
    span = f"t = {run.t[rows[0]]:.3g} to {run.t[rows[-1]]:.3g} s"
    axes.set(title=f"Poses, {span}", xlabel="x [m]", ylabel="z [m]" if project is side_view else "")


def spaced_rows(run: Trajectory, most: int = 8) -> list[int]:
    """Rows of poses that stand side by side: a robot's length apart, the last one at the end.

    A plan is shown whole.
    """
    if run.travel is not None and run.travel.planned:
        return sorted({row_at(run, t) for t in np.linspace(run.t[0], run.t[-1], 2 * most)})
    times = np.linspace(0.8 * run.t[-1], run.t[-1], most)
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
