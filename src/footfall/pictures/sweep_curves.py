"""Metrics over one axis of a grid, a curve per structure where that varies too."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from footfall.hybrid.outcome import Outcome
from footfall.pictures.show import Picture
from footfall.pictures.style import log_ticks, series
from footfall.pictures.sweep_style import (
    axis_label,
    doubtful_entry,
    joined_pieces,
    legend_below,
    line_of,
    metric_label,
    require_values,
    resize,
    ring_doubtful,
    words_of,
)
from footfall.sweep.designs import Axis, Grid
from footfall.sweep.read_back import Sweep

_ALSO = ("mean_speed", "cost_of_transport", "step_time")
MOST_MARKED = 60  # designs that still get a dot each


def draw_curves(
    figure: Picture,
    sweep: Sweep,
    grid: Grid,
    axes: Sequence[Axis],
    metric: str,
    success: Sequence[str],
) -> None:
    """The metric on top, what one also asks for below."""
    shown = [metric, *(m for m in _ALSO if m != metric and m in sweep.names())]
    data = joined_pieces(sweep, ["design", *dict.fromkeys(shown)])
    good = np.isin(data["outcome"], [Outcome(name).value for name in success])
    require_values(metric, data[metric].astype(float)[good])
    shown = [
        m
        for i, m in enumerate(shown)
        if i == 0 or np.any(good & np.isfinite(data[m].astype(float)) & (data[m] != 0))
    ]
    along = next((a for a in axes if not a.structural), axes[0])
    kinds = next((a for a in axes if a.structural and a is not along), None)
    place = dict(zip(grid.axes, grid.places(data["design"]), strict=True))
    count = len(along.values) or along.count
    x = np.arange(count) if along.structural else along.at(np.arange(count))
    resize(figure, 7.6, 1.2 + 2.3 * len(shown))
    panels = figure.subplots(len(shown), 1, sharex=True, squeeze=False)[:, 0]
    for panel, name in zip(panels, shown, strict=True):
        for k in range(len(kinds.values) if kinds else 1):
            rows = place[kinds] == k if kinds else np.ones(len(data["design"]), bool)
            curve = np.full(count, np.nan)
            curve[place[along][rows]] = np.where(good[rows], data[name][rows].astype(float), np.nan)
            marker = "o" if count <= MOST_MARKED else None
            line = "none" if along.structural else "-"  # nothing lies between two kinds
            colour = series(k)["color"]
            panel.plot(
                x,
                curve,
                lw=figure.style.line,
                ls=line,
                color=colour,
                marker=marker,
                ms=3.5,
                label=_kind_label(kinds, k, curve),
            )
            unsure = place[along][rows & data["doubtful"]]
            ring_doubtful(panel, np.asarray(x, float)[unsure], curve[unsure])
            unsure = place[along][rows & data["doubtful"] & ~good]
            low = np.full(len(unsure), 0.03 + 0.05 * k)
            ring_doubtful(
                panel,
                np.asarray(x, float)[unsure],
                low,
                transform=panel.get_xaxis_transform(),
                clip_on=False,
            )
            _mark_failed(
                panel,
                x,
                place[along][rows],
                data["outcome"][rows],
                good[rows],
                0.03 + 0.05 * k,
                colour if kinds else None,
            )
        panel.set_ylabel(metric_label(sweep, name))
        if not good.all():  # room for what is marked along the bottom
            low, high = panel.get_ylim()
            panel.set_ylim(
                low - (0.05 + 0.05 * (len(kinds.values) if kinds else 1)) * (high - low), high
            )
    if along.structural:
        panels[-1].set_xticks(x, [str(v) for v in along.values])
    elif along.log:
        panels[-1].set_xscale("log")
        log_ticks(panels[-1].xaxis)
    _span(panels[-1], x, along)
    panels[-1].set_xlabel(axis_label(along))
    handles = panels[0].get_legend_handles_labels()[0] if kinds else []
    if data["doubtful"].any():
        handles.append(doubtful_entry())
    for outcome in (Outcome(int(code)) for code in np.unique(data["outcome"][~good])):
        colour, _, marker = line_of(outcome)
        words = words_of(outcome)
        handles.append(Line2D([], [], color=colour, marker=marker, ls="none", ms=4.0, label=words))
    if handles:
        legend_below(figure, handles, axis_label(kinds) if kinds else None)


def _span(panel: Axes, x: np.ndarray, along: Axis) -> None:
    """All that was swept, whether it has a value or not."""
    low, high = float(np.min(x)), float(np.max(x))
    if along.log:
        room = (high / low) ** 0.02
        panel.set_xlim(low / room, high * room)
    elif high > low:
        room = (0.25 if along.structural else 0.02) * (high - low)
        panel.set_xlim(low - room, high + room)


def _kind_label(kinds: Axis | None, place: int, curve: np.ndarray) -> str | None:
    if kinds is None:
        return None
    return f"{kinds.values[place]}{'' if np.isfinite(curve).any() else ' (no design got there)'}"


def _mark_failed(
    panel: Axes,
    x: np.ndarray,
    place: np.ndarray,
    outcome: np.ndarray,
    good: np.ndarray,
    height: float,
    colour: str | None,
) -> None:
    """Designs that failed, along the bottom, by outcome."""
    for code in np.unique(outcome[~good]):
        grey, _, marker = line_of(Outcome(int(code)))
        at = np.asarray(x, float)[place[~good & (outcome == code)]]
        marks = {
            "marker": marker,
            "ls": "none",
            "color": colour or grey,
            "ms": 4.0 if len(x) <= MOST_MARKED else 2.5,
        }
        panel.plot(
            at,
            np.full(len(at), height),
            transform=panel.get_xaxis_transform(),
            clip_on=False,
            **marks,
        )
