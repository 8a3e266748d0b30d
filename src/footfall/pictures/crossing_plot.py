"""Pictures of a crossing study.

How many arrivals got over, by controller and width, or over one more number.
"""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from footfall.hybrid.study import Answers
from footfall.machines.centipede.crossing import Crossing, Crossings
from footfall.numerics.chances import wilson
from footfall.pictures.sweep_style import axis_label
from footfall.record.verdict import Verdict

_COLOURS = ("0.45", "tab:blue", "tab:orange", "tab:green")
_MARKERS = ("o", "s", "^", "D")


def draw(study: Crossing, answers: Answers, path: Path, verdict: Verdict) -> None:
    """One PNG: a table of counts and success over width.

    With one more number varied, a map for each controller.
    """
    found, arrivals = study.crossings(answers), study.request.arrivals
    figure = Figure(figsize=(11.5, 4.6), layout="constrained", dpi=130)
    if study.axis is None:
        left, right = figure.subplots(1, 2, width_ratios=[1.25, 1.0])
        _table(left, study, found)
        _curves(right, study, found)
    else:
        columns = len(found.controllers)
        figure.set_size_inches(3.3 * columns + 1.0, 4.4)
        panels = figure.subplots(1, columns, sharey=True, squeeze=False)[0]
        for which, axes in enumerate(panels):
            image = _map(axes, study, found, which)
        panels[0].set_ylabel(axis_label(study.axis))
        figure.colorbar(image, ax=panels, label=f"crossed of {arrivals} arrivals", pad=0.01)
    doubt = "" if verdict.sound else f"; {study.doubtful(answers)} of {len(answers)} runs DOUBTFUL"
    figure.suptitle(
        f"{study.subject.title}: crossings of {arrivals} arrivals a cell{doubt}", fontsize=11
    )
    figure.savefig(path)


def _millimetres(widths: tuple[float, ...]) -> list[str]:
    return [f"{1e3 * w:g}" for w in widths]


def _table(axes: Axes, study: Crossing, found: Crossings) -> None:
    counts, times = found.counts[:, 0], found.times[:, 0]
    axes.imshow(counts, cmap="YlGn", vmin=0, vmax=study.request.arrivals, aspect="auto")
    for (row, column), count in np.ndenumerate(counts):
        late = f"\n{times[row, column]:.1f} s" if count else ""
        dark = count > 0.7 * study.request.arrivals
        axes.text(
            column,
            row,
            f"{count}{late}",
            ha="center",
            va="center",
            fontsize=8,
            color="white" if dark else "black",
        )
    axes.set_xticks(range(counts.shape[1]), _millimetres(study.request.widths))
    axes.set_yticks(range(counts.shape[0]), found.controllers)
    axes.set(
        xlabel="width of the gap [mm]",
        title="Crossed, and median time until the tail is over",
        ylabel="reflexes",
    )


def _curves(axes: Axes, study: Crossing, found: Crossings) -> None:
    wide = 1e3 * np.array(study.request.widths)
    share = found.counts[:, 0] / study.request.arrivals
    for which, name in enumerate(found.controllers):
        # Wilson's interval: what as many arrivals can say of the chance.
        low, high = wilson(found.counts[which, 0], study.request.arrivals)
        nudge = 0.6 * (which - 1.5)
        bars = np.array([share[which] - low, high - share[which]])
        axes.errorbar(
            wide + nudge,
            share[which],
            yerr=np.maximum(bars, 0.0),
            color=_COLOURS[which % 4],
            marker=_MARKERS[which % 4],
            ms=5,
            lw=1.4,
            elinewidth=0.7,
            capsize=2,
            label=name,
        )
    axes.set(
        xlabel="width of the gap [mm]",
        ylabel="share that crossed",
        ylim=(-0.05, 1.05),
        title="68 % intervals (Wilson)",
    )
    axes.grid(alpha=0.25)
    axes.legend(title="reflexes", fontsize=8, loc="lower left")


def _map(axes: Axes, study: Crossing, found: Crossings, which: int):
    counts = found.counts[which]
    image = axes.imshow(
        counts,
        cmap="YlGn",
        vmin=0,
        vmax=study.request.arrivals,
        aspect="auto",
        origin="lower",
        interpolation="nearest",
    )
    for (row, column), count in np.ndenumerate(counts):
        dark = count > 0.7 * study.request.arrivals
        axes.text(
            column,
            row,
            str(count),
            ha="center",
            va="center",
            fontsize=7,
            color="white" if dark else "black",
        )
    axes.set_xticks(range(counts.shape[1]), _millimetres(study.request.widths), fontsize=8)
    axes.set_yticks(range(counts.shape[0]), [f"{value:.4g}" for value in study.values], fontsize=8)
    axes.set(xlabel="width of the gap [mm]", title=found.controllers[which])
    return image
