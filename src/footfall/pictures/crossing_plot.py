"""Pictures of a crossing study.

How many arrivals got over, by controller and width, or over one more number.
"""

import numpy as np
from matplotlib.axes import Axes

from footfall.hybrid.study import Answers
from footfall.machines.centipede.crossing import Crossing, Crossings
from footfall.numerics.chances import wilson
from footfall.pictures.show import Picture
from footfall.pictures.style import PAPER, Style, name_lines, share_map
from footfall.pictures.sweep_style import axis_label, headline
from footfall.record.verdict import Verdict
from footfall.scene.palette import SERIES, colour_of

_COLOURS = (colour_of("quiet"), *(shades.light for shades in SERIES[:3]))
_MARKERS = ("o", "s", "^", "D")


def draw(study: Crossing, answers: Answers, verdict: Verdict, style: Style) -> Picture:
    """A table of counts and success over width.

    With one more number varied, a map for each controller.
    """
    found, arrivals = study.crossings(answers), study.request.arrivals
    paper = style is PAPER
    figure = Picture(figsize=(style.width, 4.6), style=style)
    if study.axis is None:
        left, right = (
            figure.subplots(2, 1) if paper else figure.subplots(1, 2, width_ratios=[1.25, 1.0])
        )
        _table(left, study, found)
        _curves(right, study, found, style)
    else:
        columns = len(found.controllers)
        shape = (columns, 1) if paper else (1, columns)
        figure.set_size_inches(
            *((style.width, 2.2 * columns) if paper else (3.0 * columns + 1.0, 4.2))
        )
        panels = figure.subplots(*shape, sharex=paper, sharey=True, squeeze=False).ravel()
        for which, axes in enumerate(panels):
            image = _map(axes, study, found, which)
        panels[0].set_ylabel(axis_label(study.axis))
        figure.colorbar(image, ax=panels, label=f"crossed of {arrivals} arrivals", pad=0.01)
    doubt = "" if verdict.sound else f"; {study.doubtful(answers)} of {len(answers)} runs DOUBTFUL"
    if not paper or doubt:
        title = f"{study.subject.title}: crossings of {arrivals} arrivals a cell{doubt}"
        headline(figure, title)
    return figure


def _millimetres(widths: tuple[float, ...]) -> list[str]:
    return [f"{1e3 * w:g}" for w in widths]


def _table(axes: Axes, study: Crossing, found: Crossings) -> None:
    counts, times = found.counts[:, 0], found.times[:, 0]
    axes.imshow(counts, cmap=share_map(), vmin=0, vmax=study.request.arrivals, aspect="auto")
    for (row, column), count in np.ndenumerate(counts):
        late = f"\n{times[row, column]:.1f} s" if count else ""
        dark = count > 0.7 * study.request.arrivals
        axes.text(
            column,
            row,
            f"{count}{late}",
            ha="center",
            va="center",
            size="small",
            color=colour_of("paper" if dark else "ink"),
        )
    axes.set_xticks(range(counts.shape[1]), _millimetres(study.request.widths))
    axes.set_yticks(range(counts.shape[0]), found.controllers)
    axes.grid(False)
    axes.set(
        xlabel="width of the gap [mm]",
        title="Crossed, and median time until the tail is over",
        ylabel="reflexes",
    )


def _curves(axes: Axes, study: Crossing, found: Crossings, style: Style) -> None:
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
        ylim=(-0.05, 1.05),
        title="Share that crossed, 68 % intervals (Wilson)",
    )
    name_lines(axes, style)


def _map(axes: Axes, study: Crossing, found: Crossings, which: int):
    counts = found.counts[which]
    image = axes.imshow(
        counts,
        cmap=share_map(),
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
            size="small",
            color=colour_of("paper" if dark else "ink"),
        )
    axes.set_xticks(range(counts.shape[1]), _millimetres(study.request.widths))
    axes.set_yticks(range(counts.shape[0]), [f"{value:.4g}" for value in study.values])
    axes.grid(False)
    axes.set(xlabel="width of the gap [mm]", title=found.controllers[which])
    return image
