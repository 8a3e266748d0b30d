"""A metric over two axes of a grid."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch

from footfall.hybrid.outcome import Outcome
from footfall.pictures.show import Picture
from footfall.pictures.style import log_ticks
from footfall.pictures.sweep_style import (
    COLOURS,
    DOUBTFUL,
    axis_label,
    colour_limits,
    legend_below,
    legend_of,
    look_of,
    metric_label,
    require_values,
    resize,
)
from footfall.sweep.designs import Axis, Grid
from footfall.sweep.read_back import Sweep

MOST_CELLS = 640  #: along each side; more could not be told apart


class Cells(NamedTuple):
    """A grid binned to a picture, [first axis, second axis]."""

    #: Of the metric over the designs that did what they should; NaN where none did.
    mean: np.ndarray
    #: Code of the commonest failure where most designs failed or none has a value, else -1.
    worst: np.ndarray
    doubtful: np.ndarray  #: whether any design of the cell is
    top: tuple[float, int]  #: largest value of the metric and the number of its design


def draw_heatmap(
    figure: Picture,
    sweep: Sweep,
    grid: Grid,
    pair: tuple[Axis, Axis],
    metric: str,
    success: Sequence[str],
) -> None:
    """First axis across, second upwards; failed designs hatched by outcome."""
    resize(figure, 7.6, 5.6)
    axes = figure.add_subplot()
    axes.grid(False)
    across, upwards = pair
    shape = tuple(min(len(a.values) or a.count, MOST_CELLS) for a in pair)
    cells = binned(sweep, grid, pair, shape, metric, success)
    require_values(metric, cells.mean)
    x, y = edges(across, shape[0]), edges(upwards, shape[1])
    low, high, cut = colour_limits(cells.mean)
    drawn = np.ma.masked_invalid(np.where(cells.worst >= 0, np.nan, cells.mean)).T
    mesh = axes.pcolormesh(x, y, drawn, cmap=COLOURS, vmin=low, vmax=high, rasterized=True)
    figure.colorbar(mesh, ax=axes, label=metric_label(sweep, metric), extend=cut, pad=0.02)
    failed = [Outcome(int(code)) for code in np.unique(cells.worst) if code >= 0]
    for outcome in failed:
        _hatch(axes, x, y, cells.worst == outcome.value, *look_of(outcome))
    handles = legend_of(failed)
    if cells.doubtful.any():
        edge, hatch = DOUBTFUL
        _hatch(axes, x, y, cells.doubtful, None, hatch, edge)
        handles.append(
            Patch(facecolor="none", hatch=hatch, edgecolor=edge, lw=0.0, label="doubtful")
        )
    value, number = cells.top
    if number >= 0:
        place = grid.at(np.array([number]))
        mark = axes.plot(
            place[across.key],
            place[upwards.key],
            "*",
            ms=13,
            mfc="white",
            mec="black",
            mew=0.9,
            ls="none",
            clip_on=False,
        )[0]
        mark.set_label(
            f"largest of those that reached the end: {value:.4g} {sweep.unit(metric)}".strip()
        )
        handles.append(mark)
    if handles:
        legend_below(figure, handles)
    for axis, set_scale, shown in (
        (across, axes.set_xscale, axes.xaxis),
        (upwards, axes.set_yscale, axes.yaxis),
    ):
        if axis.log:
            set_scale("log")
            log_ticks(shown)
    axes.set(
        xlabel=axis_label(across),
        ylabel=axis_label(upwards),
        xlim=(x.min(), x.max()),
        ylim=(y.min(), y.max()),
    )


def binned(
    sweep: Sweep,
    grid: Grid,
    pair: tuple[Axis, Axis],
    shape: tuple[int, ...],
    metric: str,
    success: Sequence[str],
) -> Cells:
    """Sums over the designs of each cell, shard by shard."""
    where = [grid.axes.index(axis) for axis in pair]
    good = [Outcome(name).value for name in success]
    count = shape[0] * shape[1]
    total, valued = np.zeros(count), np.zeros(count)
    failures: dict[int, np.ndarray] = {}
    unsure = np.zeros(count, bool)
    top = (-np.inf, -1)
    for piece in sweep.coded_pieces(["design", metric]):
        places = grid.places(piece["design"])
        i, j = (places[w] * n // grid.shape[w] for w, n in zip(where, shape, strict=True))
        cell = i * shape[1] + j
        ok = np.isin(piece["outcome"], good)
        values = piece[metric].astype(float)
        use = ok & np.isfinite(values)
        unsure[cell[piece["doubtful"]]] = True
        total += np.bincount(cell[use], values[use], count)
        valued += np.bincount(cell[use], minlength=count)
        for code in np.unique(piece["outcome"][~ok]):
            failed = np.bincount(cell[~ok & (piece["outcome"] == code)], minlength=count)
            failures[int(code)] = failures.get(int(code), 0) + failed
        if np.any(sound := use & ~piece["doubtful"]):
            best = int(np.argmax(np.where(sound, values, -np.inf)))
            top = max(top, (float(values[best]), int(piece["design"][best])))
    with np.errstate(invalid="ignore"):
        mean = total / np.where(valued > 0, valued, np.nan)
    codes = sorted(failures)
    table = np.array([failures[code] for code in codes]).reshape(len(codes), count)
    commonest = np.array(codes)[table.argmax(0)] if codes else np.full(count, -1)
    worst = np.where(table.sum(0) > valued, commonest, -1)
    return Cells(mean.reshape(shape), worst.reshape(shape), unsure.reshape(shape), top)


def edges(axis: Axis, cells: int) -> np.ndarray:
    """Where cells begin and end along an axis.

    Halfway between its values (by ratio on a logarithmic one).
    """
    if axis.values:
        values = np.asarray(axis.values, dtype=float)
        middle = 0.5 * (values[1:] + values[:-1])
        return np.concatenate(
            [
                [values[0] - (middle[0] - values[0])],
                middle,
                [values[-1] + (values[-1] - middle[-1])],
            ]
        )
    index = np.arange(cells + 1) * axis.count / cells - 0.5
    return axis.between(index / (axis.count - 1))


def _hatch(
    axes: Axes,
    x: np.ndarray,
    y: np.ndarray,
    cells: np.ndarray,
    face: str | None,
    hatch: str,
    edge: str = "0.35",
) -> None:
    """Hatch whole cells.

    Each cell's corners are given its own value, so that borders fall on cell edges, not between
    centres.
    """
    if face is not None:
        axes.pcolormesh(
            x,
            y,
            np.ma.masked_equal(cells, False).T.astype(float),
            cmap=ListedColormap([face]),
            vmin=0,
            vmax=1,
            rasterized=True,
        )
    double = np.repeat(np.repeat(cells.T.astype(float), 2, axis=0), 2, axis=1)
    corners = [np.repeat(e, 2)[1:-1] for e in (x, y)]
    hatched = axes.contourf(*corners, double, levels=[0.5, 1.5], colors="none", hatches=[hatch])
    hatched.set(edgecolor=edge, linewidth=0.0)
