"""Parallel coordinates: a line per design through one axis per key and the metric."""

from collections.abc import Sequence

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import Normalize
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator, MaxNLocator

from footfall.hybrid.outcome import Outcome
from footfall.pictures.show import Picture
from footfall.pictures.sweep_style import (
    COLOURS,
    axis_label,
    colour_limits,
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
from footfall.scene.palette import colour_of
from footfall.sweep.designs import Axis
from footfall.sweep.read_back import Sweep

MOST_LINES = 1200
MOST_AXES = 12


def draw_parallel(
    figure: Picture, sweep: Sweep, axes: Sequence[Axis], metric: str, success: Sequence[str]
) -> None:
    """Designs that did what they should, coloured by the metric; the others grey, behind them."""
    axes = list(axes)[:MOST_AXES]
    data = chosen_designs(sweep, [axis.key for axis in axes], metric, MOST_LINES)
    good = np.isin(data["outcome"], [Outcome(name).value for name in success])
    ok = good & np.isfinite(data[metric].astype(float))
    require_values(metric, data[metric].astype(float)[ok])
    heights = [_scaled(axis, data[axis.key]) for axis in axes]
    low, high, cut = colour_limits(np.where(ok, data[metric].astype(float), np.nan))
    share = np.clip((data[metric].astype(float) - low) / (high - low), 0.0, 1.0)
    columns = np.column_stack([h[0] for h in heights] + [np.where(ok, share, np.nan)])
    resize(figure, max(6.0, 1.9 * (len(axes) + 1)), 4.8)
    panel = figure.add_subplot()
    panel.grid(False)
    spots = np.arange(columns.shape[1])
    handles = [
        Line2D([], [], color=colormaps[COLOURS](0.6), lw=1.5, label=f"reached the end: {ok.sum()}")
    ]
    for outcome in (Outcome(int(code)) for code in np.unique(data["outcome"][~good])):
        rows = columns[~good & (data["outcome"] == outcome.value)]
        failed = [np.column_stack([spots[:-1], row[:-1]]) for row in rows]
        colour, line, _ = line_of(outcome)
        faint = float(np.clip(60 / len(failed), 0.25, 0.7))
        panel.add_collection(
            LineCollection(
                failed,
                colors=colour,
                linestyles=line,
                linewidths=0.6,
                alpha=faint,
                zorder=1,
                rasterized=True,
            )
        )
        handles.append(
            Line2D(
                [], [], color=colour, ls=line, lw=1.2, label=f"{words_of(outcome)}: {len(failed)}"
            )
        )
    order = np.flatnonzero(ok)[np.argsort(share[ok])]  # the largest on top
    lines = [np.column_stack([spots, row]) for row in columns[order]]
    alpha = float(np.clip(120 / max(len(lines), 1), 0.15, 0.9))
    colours = colormaps[COLOURS](share[order])
    panel.add_collection(
        LineCollection(
            lines, colors=colours, linewidths=0.8, alpha=alpha, zorder=2, rasterized=True
        )
    )
    norm = Normalize(low, high)
    figure.colorbar(
        ScalarMappable(norm, COLOURS),
        ax=panel,
        extend=cut,
        pad=0.06,
        label=metric_label(sweep, metric),
    )
    if data["doubtful"].any():
        ring_doubtful(panel, np.zeros(data["doubtful"].sum()), columns[data["doubtful"], 0])
        handles.append(doubtful_entry())
    _rulers(panel, [*(h[1] for h in heights), _marks(low, high)])
    names = [axis_label(a).replace(" [", "\n[") + ("\n(log)" if a.log else "") for a in axes]
    panel.set_xticks(spots, [*names, metric_label(sweep, metric).replace(" [", "\n[")])
    panel.set(xlim=(-0.25, len(axes) + 0.25), ylim=(-0.04, 1.04), yticks=[])
    for side in panel.spines.values():
        side.set_visible(False)
    shown = (
        f"{len(ok)} drawn of {sweep.manifest.count:,}".replace(",", " ")
        if len(ok) < sweep.manifest.count
        else None
    )
    legend_below(figure, handles, shown)


def chosen_designs(
    sweep: Sweep, keys: Sequence[str], metric: str, most: int
) -> dict[str, np.ndarray]:
    """All designs, or `most` of them, chosen by a fixed seed.

    An even stride would fall in step with a grid.
    """
    count = sweep.manifest.count
    numbers = np.arange(count)
    if count > most:
        numbers = np.unique(np.random.default_rng(0).integers(0, count, 2 * most))
        numbers = np.random.default_rng(1).permutation(numbers)[:most]
    return joined_pieces(sweep, ["design", *keys, metric], numbers)


def _scaled(axis: Axis, values: np.ndarray) -> tuple[np.ndarray, list[tuple[float, str]]]:
    """Heights in [0, 1] and (height, label) of some values."""
    if values.dtype.kind in "OU" or axis.structural:
        different, place = np.unique(
            values.astype(str) if values.dtype.kind in "OU" else values, return_inverse=True
        )
        heights = (np.arange(len(different)) + 0.5) / len(different)
        return heights[place], [(float(h), str(v)) for h, v in zip(heights, different, strict=True)]
    numbers = values.astype(float)
    ends = (axis.low, axis.high) if np.isfinite(axis.low) else (numbers.min(), numbers.max())
    low, high = float(min(ends)), float(max(ends))
    if low == high:
        return np.full(len(numbers), 0.5), [(0.5, f"{low:.4g}")]
    return _height(numbers, low, high, axis.log), _marks(low, high, axis.log)


def _height(values: np.ndarray, low: float, high: float, log: bool) -> np.ndarray:
    if log:
        return np.log(values / low) / np.log(high / low)
    return (values - low) / (high - low)


def _marks(low: float, high: float, log: bool = False) -> list[tuple[float, str]]:
    """(height, label) of round numbers between the ends."""
    decades = np.log10(high / low) if log else 0.0
    locator = LogLocator(subs=(1, 2, 3, 5) if decades < 2 else (1,)) if log else MaxNLocator(5)
    ticks = np.asarray(locator.tick_values(low, high))
    slack = 1e-9 * (high - low)
    ticks = ticks[(ticks >= low - slack) & (ticks <= high + slack)]
    return [
        (float(h), f"{v:.4g}") for h, v in zip(_height(ticks, low, high, log), ticks, strict=True)
    ]


def _rulers(panel: Axes, marks: Sequence[list[tuple[float, str]]]) -> None:
    """A vertical ruler per axis, labelled on white so that lines do not run through the numbers."""
    box = {"boxstyle": "round,pad=0.12", "fc": colour_of("paper"), "ec": "none", "alpha": 0.8}
    line = {"color": colour_of("ink"), "lw": 0.9, "zorder": 3}
    for spot, ruler in enumerate(marks):
        panel.plot([spot, spot], [0, 1], **line)
        for height, label in ruler:
            panel.plot([spot, spot + 0.02], [height, height], **line)
            panel.text(spot + 0.04, height, label, size="small", va="center", zorder=4, bbox=box)
