"""The picture of a comparison of integrators: error against evaluations, and against time."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from footfall.engines.analysis.compare import FAMILIES, Result
from footfall.engines.analysis.compare_study import Compare
from footfall.hybrid.study import Answers
from footfall.pictures.show import Picture
from footfall.pictures.style import PAPER, Style, log_ticks
from footfall.pictures.sweep_style import headline
from footfall.record.verdict import Verdict
from footfall.scene.palette import SERIES, colour_of

#: Line, width and marker by family, and whether the marker is filled; the colour is the method's
#: own.
_STYLES = {
    "explicit": ("-", 1.4, "o", True),
    "implicit": ("-", 2.4, "s", True),
    "fixed": ("--", 1.4, "^", False),
    "multistep": (":", 1.6, "D", False),
    "multirate": ("-.", 1.4, "P", False),
}
_COLOURS = (*(shades.light for shades in SERIES), colour_of("ground"), colour_of("joint"))
_COSTS = {"evaluations": "evaluations of the flow", "seconds": "time of a compiled run [s]"}
_FLOOR = 1e-16  # below this an error is rounding


def draw(study: Compare, found: Answers, verdict: Verdict, style: Style) -> Picture:
    """Two panels in logarithmic scales, one line per method.

    Steps above the longest stable one stand alone; what has no error (diverged, fell) is a cross
    above all others.
    """
    del verdict  # of the reference: the page says it
    results = study.results(found)
    paper = style is PAPER
    figure = Picture(figsize=(style.width, 6.4 if paper else 5.0), style=style)
    panels = figure.subplots(2 if paper else 1, 1 if paper else 2, sharey=True)
    errors = [_shown(r) for r in results if r.error is not None]
    top = 10 * max(errors, default=0.1)
    uncertainty = study.reference.uncertainty.scaled
    bottom = max(uncertainty, _FLOOR) if np.isfinite(uncertainty) else _FLOOR
    for axes, (cost, label) in zip(panels, _COSTS.items(), strict=True):
        for i, mine in enumerate(_by_method(results)):
            _draw(axes, [r for r in mine if getattr(r, cost) is not None], cost, i, top)
        axes.set(xscale="log", yscale="log", xlabel=label)
        log_ticks(axes.xaxis)
        axes.axhspan(_FLOOR / 100, bottom, color=colour_of("grid"), zorder=0, lw=0)
    panels[0].set_ylim(0.3 * min([*errors, bottom]), 4 * top)
    figure.supylabel(
        "error at the end, largest |x - x_ref| / (1 + |x_ref|)",
        color=colour_of("quiet"),
        size=style.text,
    )
    figure.legend(
        handles=_legend(results, ", " if paper else "\n  "),
        loc="outside lower left" if paper else "outside right center",
        handlelength=2.6 if paper else 3.6,
    )
    least = any(r.evaluations_are_least for r in results)
    title = f"{study.subject.title}: integrators compared over {study.span:g} s"
    if not paper:
        more = " (of implicit methods: evaluations at least)" if least else ""
        headline(figure, f"{title}{more}")
    return figure


def _by_method(results: Sequence[Result]) -> list[list[Result]]:
    return [
        [r for r in results if r.method == method]
        for method in dict.fromkeys(r.method for r in results)
    ]


def _shown(result: Result) -> float:
    return max(result.error or 0.0, _FLOOR)


def _look(family: str, i: int) -> dict[str, Any]:
    """Marker and colour of method number i."""
    colour = _COLOURS[i % len(_COLOURS)]
    _, _, marker, filled = _STYLES[family]
    return {"marker": marker, "ms": 5.5, "color": colour, "mfc": colour if filled else "white"}


def _draw(axes: Axes, results: Sequence[Result], cost: str, i: int, top: float) -> None:
    if not results:
        return
    family = results[0].family
    line, width, *_ = _STYLES[family]
    good = [r for r in results if r.error is not None]  # in the order of refinement
    stable, unstable = [r for r in good if not r.above_limit], [r for r in good if r.above_limit]
    lost = [r for r in results if r.error is None]
    axes.plot(
        [getattr(r, cost) for r in stable],
        [_shown(r) for r in stable],
        ls=line,
        lw=width,
        **_look(family, i),
    )
    axes.plot(
        [getattr(r, cost) for r in unstable],
        [_shown(r) for r in unstable],
        ls="none",
        alpha=0.5,
        **_look(family, i),
    )
    axes.plot(
        [getattr(r, cost) for r in lost],
        [top] * len(lost),
        ls="none",
        **_look(family, i) | {"marker": "x"},
    )


def _legend(results: Sequence[Result], between: str) -> list[Line2D]:
    handles = []
    for i, mine in enumerate(_by_method(results)):
        family = mine[0].family
        line, width, *_ = _STYLES[family]
        handles.append(
            Line2D(
                [],
                [],
                ls=line,
                lw=width,
                label=f"{mine[0].method}{between}{FAMILIES[family]}",
                **_look(family, i),
            )
        )
    if any(r.above_limit and r.error is not None for r in results):
        alone = {"marker": "^", "mfc": "white", "alpha": 0.5}
        handles.append(
            Line2D(
                [],
                [],
                color=colour_of("quiet"),
                ls="none",
                label="alone: above the longest stable step",
                **alone,
            )
        )
    if any(r.error is None for r in results):
        handles.append(
            Line2D(
                [],
                [],
                color=colour_of("quiet"),
                marker="x",
                ls="none",
                label="diverged, or another outcome",
            )
        )
    handles.append(
        Line2D([], [], color=colour_of("grid"), lw=8, label="the reference's own uncertainty")
    )
    return handles
