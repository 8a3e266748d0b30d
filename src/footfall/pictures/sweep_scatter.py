"""A metric over two keys that were sampled or listed: a dot per design."""

from collections.abc import Sequence

import numpy as np

from footfall.hybrid.outcome import Outcome
from footfall.pictures.show import Picture
from footfall.pictures.style import log_ticks
from footfall.pictures.sweep_parallel import chosen_designs
from footfall.pictures.sweep_style import (
    COLOURS,
    axis_label,
    colour_limits,
    doubtful_entry,
    legend_below,
    line_of,
    metric_label,
    require_values,
    resize,
    ring_doubtful,
    words_of,
)
from footfall.sweep.designs import Axis
from footfall.sweep.read_back import Sweep

MOST_DOTS = 20_000


def draw_scatter(
    figure: Picture, sweep: Sweep, pair: tuple[Axis, Axis], metric: str, success: Sequence[str]
) -> None:
    """First key across, second upwards; designs that failed are grey, with a marker by outcome."""
    across, upwards = pair
    data = chosen_designs(sweep, [across.key, upwards.key], metric, MOST_DOTS)
    x, y, values = (np.asarray(data[name], float) for name in (across.key, upwards.key, metric))
    good = np.isin(data["outcome"], [Outcome(name).value for name in success])
    shown = good & np.isfinite(values)
    require_values(metric, values[shown])
    resize(figure, 7.6, 5.6)
    axes = figure.add_subplot()
    size = float(np.clip(4000 / len(x), 4, 36))
    for outcome in (Outcome(int(code)) for code in np.unique(data["outcome"][~good])):
        rows = ~good & (data["outcome"] == outcome.value)
        colour, _, marker = line_of(outcome)
        axes.scatter(
            x[rows],
            y[rows],
            size,
            color=colour,
            marker=marker,
            lw=0.8,
            label=words_of(outcome),
            rasterized=True,
        )
    low, high, cut = colour_limits(values[shown])
    dots = axes.scatter(
        x[shown],
        y[shown],
        size,
        c=values[shown],
        cmap=COLOURS,
        vmin=low,
        vmax=high,
        rasterized=True,
    )
    figure.colorbar(dots, ax=axes, label=metric_label(sweep, metric), extend=cut, pad=0.02)
    if data["doubtful"].any():
        ring_doubtful(axes, x[data["doubtful"]], y[data["doubtful"]])
        axes.add_line(doubtful_entry())
    shown = shown & ~data["doubtful"] if np.any(shown & ~data["doubtful"]) else shown
    top = int(np.argmax(np.where(shown, values, -np.inf)))
    axes.plot(
        *(x[top], y[top], "*"),
        **{"ms": 13, "mfc": "white", "mec": "black", "mew": 0.9, "ls": "none", "clip_on": False},
        label=(
            f"largest of those that reached the end: {values[top]:.4g} {sweep.unit(metric)}".strip()
        ),
    )
    axes.set(xlabel=axis_label(across), ylabel=axis_label(upwards))
    if across.log:
        axes.set_xscale("log")
        log_ticks(axes.xaxis)
    if upwards.log:
        axes.set_yscale("log")
        log_ticks(axes.yaxis)
    few = f"{len(x)} drawn of {sweep.manifest.count}" if len(x) < sweep.manifest.count else None
    legend_below(figure, axes.get_legend_handles_labels()[0], few)
