"""Panels over time: the whole run or its last steps as lines, speed, carpets of many legs."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from footfall.engines.analysis.summary import Summary
from footfall.pictures.names import line_names, with_unit
from footfall.pictures.style import MUCH, SIGNED, Style, faded, name_lines, series
from footfall.record.trajectory import Trajectory
from footfall.scene.palette import colour_of
from footfall.scene.sketch import Chart

TIME = "time [s]"


def broken(run: Trajectory, *names: str) -> tuple[np.ndarray, ...]:
    """Time and signals with a gap at every jump, so that no line is drawn through it."""
    cuts = np.flatnonzero(np.diff(run.j) > 0) + 1
    return tuple(
        np.insert(values, cuts, np.nan) for values in (run.t, *(run[name] for name in names))
    )


def recent(run: Trajectory, summary: Summary, steps: int) -> float:
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


def lines(
    axes: Axes,
    run: Trajectory,
    names: Sequence[str],
    title: str,
    style: Style,
    words: Sequence[str] = (),
    note: str = "",
) -> None:
    """Signals over the whole run."""
    for i, (name, word) in enumerate(zip(names, words or line_names(run, names), strict=True)):
        t, values = broken(run, name)
        look = series(i) | {"lw": style.line}
        if i + 1 < len(names) and _alike(run[name], run[names[i + 1]]):
            # Under the next, which lies on it: both are seen.
            look |= {"lw": 2.5 * style.line, "color": faded(look["color"], 0.45)}
        axes.plot(t, values, label=word, **look)
    axes.set(title=with_unit(title, run.signals[names[0]].unit) + note, xlabel=TIME)
    axes.margins(x=0.01)
    name_lines(axes, style)


def last_steps(
    axes: Axes,
    run: Trajectory,
    summary: Summary,
    names: Sequence[str],
    title: str,
    style: Style,
    words: Sequence[str] = (),
) -> None:
    """The last steps, close enough to see their shape.

    Rare spikes (a stiff spoke landing) must not hide the rest.
    """
    begin = recent(run, summary, 6)
    low, high, cut = limits(run, names, begin)
    lines(axes, run, names, title, style, words, f", peaks to {cut:.2g} cut" if cut else "")
    axes.set_ylim(low, high)
    axes.set_xlim(begin, run.t[-1])


def _alike(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether two lines lie on each other nearly everywhere."""
    span = min(float(np.ptp(first)), float(np.ptp(second)))
    return float(np.percentile(np.abs(first - second), 98)) < 0.05 * span


def limits(
    run: Trajectory, names: Sequence[str], begin: float, most: float = 20.0
) -> tuple[float, float, float]:
    """(lowest, highest) value to show from a time on, and what rare peaks, cut, come to (or 0).

    Rare is by time, not by rows: engines take many rows where something is short. A peak is cut
    beyond `most` times what the rest spans.
    """
    late = run.t >= begin
    values = np.concatenate([run[name][late] for name in names])
    rows = np.searchsorted(run.t, np.linspace(begin, run.t[-1], 2000), side="right") - 1
    low, high = np.percentile([run[name][rows] for name in names], [2, 98])
    top, bottom = float(values.max()), float(values.min())
    span = max(high - low, 1e-12)
    if top > high + most * span or bottom < low - most * span:
        return float(low - 0.3 * span), float(high + 0.3 * span), max(top, bottom, key=abs)
    room = 0.05 * (top - bottom) or 0.05 * abs(top) or 1.0
    return bottom - room, top + room, 0.0


def chart_panel(axes: Axes, run: Trajectory, summary: Summary, chart: Chart, style: Style) -> None:
    """One chart of the robot's own."""
    if chart.style == "carpet":
        carpet(axes, run, chart)
    elif chart.style == "whole":
        lines(axes, run, chart.signals, chart.title, style, chart.names)
    else:
        last_steps(axes, run, summary, chart.signals, chart.title, style, chart.names)


def speed_panel(axes: Axes, run: Trajectory, style: Style) -> None:
    """Speed forward at each moment, and its mean over each step."""
    assert run.travel is not None
    distance, counter = run[run.travel.distance], run[run.travel.step_counters[0]]
    rates = [n for n in run.of_role("output", "state") if is_rate(run, n, run.travel.distance)]
    for name in rates[:1]:
        t, values = broken(run, name)
        low, high, _ = limits(run, [name], float(run.t[0]), 3.0)
        axes.plot(t, values, color=faded("leg", 0.55), lw=0.6 * style.line, label="at each moment")
        axes.set_ylim(low, high)
    landings = np.flatnonzero(np.diff(counter) > 0) + 1
    if len(landings) > 1:
        t = run.t[landings]
        mean = np.diff(distance[landings]) / np.maximum(np.diff(t), 1e-12)
        axes.stairs(
            mean, t, baseline=None, color=colour_of("leg"), lw=1.4 * style.line,
            label="mean of each step",
            zorder=3,
        )  # fmt: skip
    axes.set(title="Speed forward [m/s]", xlabel=TIME)
    axes.margins(x=0.01)
    name_lines(axes, style)


def heading_panel(axes: Axes, run: Trajectory, style: Style) -> None:
    """Where a robot that turns on the spot points."""
    assert run.travel is not None and run.travel.heading is not None
    lines(axes, run, [run.travel.heading], "Heading, positive to the left", style)


def is_rate(run: Trajectory, name: str, of: str) -> bool:
    return run.signals[name].rate_of == of


def carpet(axes: Axes, run: Trajectory, chart: Chart) -> None:
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
        {"cmap": SIGNED, "vmin": -size, "vmax": size}
        if signed
        else {"cmap": MUCH, "vmin": low, "vmax": high}
    )
    if not np.ptp(values):
        shown = {"cmap": "Greys", "vmin": low, "vmax": low + 1.0}  # nothing to see: white
    extent = (run.t[0], run.t[-1], len(values) - 0.5, -0.5)
    image = axes.imshow(values, aspect="auto", interpolation="nearest", extent=extent, **shown)
    if np.ptp(values):
        bar = axes.figure.colorbar(
            image,
            ax=axes,
            pad=0.02,
            aspect=14,
            extend="both" if np.ptp(values) > 1.02 * (high - low) else "neither",
        )
        bar.outline.set_visible(False)
    still = "" if np.ptp(values) else f": always {values.flat[0]:g}"
    unit = run.signals[chart.signals[0]].unit
    axes.set(title=with_unit(f"{chart.title}{still}", unit), xlabel=TIME, ylabel=chart.rows)
    axes.grid(False)
