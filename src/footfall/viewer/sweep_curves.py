"""Metrics over one axis of a grid, a curve per structure where that varies too."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from footfall.hybrid.outcome import Outcome
from footfall.sweep.designs import Axis, Grid
from footfall.sweep.read_back import Sweep
from footfall.viewer.sweep_style import axis_label, legend_of, look_of, metric_label

_ALSO = ("mean_speed", "cost_of_transport", "step_time")
MOST_MARKED = 60  # designs that still get a dot each


def draw_curves(figure: Figure, sweep: Sweep, grid: Grid, axes: Sequence[Axis], metric: str, success: Sequence[str]) -> None:
    """The metric on top, what one also asks for below."""
    shown = [metric, *(m for m in _ALSO if m != metric and m in sweep.names())]
    data = sweep.columns(["design", "outcome", *dict.fromkeys(shown)])
    good = np.isin(data["outcome"], [Outcome[name].value for name in success])
    shown = [m for i, m in enumerate(shown) if i == 0 or np.any(good & np.isfinite(data[m].astype(float)) & (data[m] != 0))]
    along = next((a for a in axes if not a.structural), axes[0])
    kinds = next((a for a in axes if a.structural and a is not along), None)
    place = dict(zip(grid.axes, grid.places(data["design"]), strict=True))
    count = len(along.values) or along.count
    x = np.arange(count) if along.structural else along.at(np.arange(count))
    figure.set_size_inches(7.6, 1.2 + 2.3 * len(shown))
    panels = figure.subplots(len(shown), 1, sharex=True, squeeze=False)[:, 0]
    for panel, name in zip(panels, shown, strict=True):
        for k in range(len(kinds.values) if kinds else 1):
            rows = place[kinds] == k if kinds else np.ones(len(data["design"]), bool)
            curve = np.full(count, np.nan)
            curve[place[along][rows]] = np.where(good[rows], data[name][rows].astype(float), np.nan)
            marker = "o" if count <= MOST_MARKED else None
            panel.plot(x, curve, lw=1.4, marker=marker, ms=3.5, label=_kind_label(kinds, k, curve))
        panel.set_ylabel(metric_label(sweep, name))
        panel.grid(alpha=0.25)
        if not kinds:
            _shade(panel, along, x, place[along], data["outcome"], good)
    if along.structural:
        panels[-1].set_xticks(x, [str(v) for v in along.values])
    elif along.log:
        panels[-1].set_xscale("log")
    panels[-1].set_xlabel(axis_label(along))
    failed = [] if kinds else [Outcome(int(code)) for code in np.unique(data["outcome"][~good])]
    if kinds:
        panels[0].legend(title=axis_label(kinds), fontsize=8)
    if failed:
        figure.legend(handles=legend_of(failed), loc="outside lower center", ncols=4, fontsize=8, frameon=False)


def _kind_label(kinds: Axis | None, place: int, curve: np.ndarray) -> str | None:
    if kinds is None:
        return None
    return f"{kinds.values[place]}{'' if np.isfinite(curve).any() else ' (no design got there)'}"


def _shade(axes: Axes, along: Axis, x: np.ndarray, place: np.ndarray, outcome: np.ndarray, good: np.ndarray) -> None:
    """Stretches of designs that failed, by outcome."""
    codes = np.full(len(x), -1)
    codes[place] = np.where(good, -1, outcome)
    order = np.argsort(x)
    middle = np.asarray(x, dtype=float)[order]
    half = np.sqrt(middle[1:] * middle[:-1]) if along.log else 0.5 * (middle[1:] + middle[:-1])
    borders = np.concatenate([middle[:1], half, middle[-1:]])
    codes = codes[order]
    starts = np.flatnonzero(np.diff(codes, prepend=codes[0] - 1))
    for a, b in zip(starts, [*starts[1:], len(codes)], strict=True):
        if codes[a] >= 0:
            face, hatch = look_of(Outcome(int(codes[a])))
            axes.axvspan(borders[a], borders[b], facecolor=face, hatch=hatch, edgecolor="0.35", lw=0, zorder=0, alpha=0.6)
