"""The picture of a robustness study: falls by source, what walking costs, which numbers matter."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from footfall.engines.analysis.robust_page import METRICS
from footfall.engines.analysis.robust_study import Robust
from footfall.engines.analysis.walking import WALKS
from footfall.hybrid.study import Answers
from footfall.pictures.show import Picture
from footfall.pictures.style import PAPER, Style, faded
from footfall.record.verdict import Verdict
from footfall.scene.palette import colour_of

_UNITS = {"mean_speed": "m/s"}
_ALONE, _WITH = colour_of("leg"), colour_of("far_leg")
#: Numbers of a robot whose indices are drawn: those that matter most.
_MOST = 8


def draw(study: Robust, answers: Answers, verdict: Verdict, style: Style) -> Picture:
    """Three panels, or two where nothing varies."""
    rows = [answer.row for answer in study.kept(answers)]
    indices = study.indices(answers)
    metric = next((name for name in METRICS if _spreads(rows, name)), "mean_speed")
    shown = metric if metric in indices else next(iter(indices), None)
    count, high = 3 if shown else 2, 1.2 + 0.4 * max(len(rows), 4)
    paper = style is PAPER
    figure = Picture(
        figsize=(style.width, count * high) if paper else (1.3 * style.width, high + 0.9),
        style=style,
    )
    panels = np.ravel(figure.subplots(count, 1) if paper else figure.subplots(1, count))
    _falls(panels[0], rows)
    _spans(panels[1], study, answers, rows, metric)
    if shown:
        _indices(panels[2], study, indices[shown], shown)
    figure.suptitle(f"{study.subject.title}: tolerances, rough ground, pushes ({verdict.title})")
    return figure


def _spreads(rows: list[dict[str, Any]], metric: str) -> bool:
    return any(row[metric]["p95"] not in (None, row[metric]["p5"]) for row in rows)


def _labels(axes: Axes, names: list[str]) -> None:
    axes.set_yticks(range(len(names)), names, fontsize=9)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.grid(axis="x", alpha=0.25)


def _falls(axes: Axes, rows: list[dict[str, Any]]) -> None:
    share = np.array([100 * (row["share"] or 0.0) for row in rows])
    ends = 100 * np.array([row["share_range"] for row in rows]).T
    place = np.arange(len(rows))
    axes.barh(place, share, color=faded("loss", 0.5), height=0.55)
    bars = np.maximum([share - ends[0], ends[1] - share], 0.0)
    axes.errorbar(share, place, xerr=bars, fmt="o", ms=4, color="0.2", lw=1, capsize=3)
    _labels(axes, [f"{row['source'].replace('_', ' ')}\n{row['runs']} runs" for row in rows])
    axes.set(xlabel="falls [%], with 95 % interval (Wilson)", title="How often it falls")
    axes.set_xlim(0, min(100, 1.1 * float(np.max(ends[1]))))


def _spans(
    axes: Axes, study: Robust, answers: Answers, rows: list[dict[str, Any]], metric: str
) -> None:
    names = [row["source"] for row in rows]
    for place, name in enumerate(names):
        runs = study.of_source(answers, name)
        values = runs[metric][(runs["does"] == WALKS) & np.isfinite(runs[metric])]
        if len(values):
            # Each run a dot, spread over the height of its row by the order in which it was run.
            jitter = 0.5 * ((np.arange(len(values)) * 0.6180339887) % 1.0 - 0.5)
            axes.plot(
                values, place + jitter, ".", ms=2.5, alpha=0.35, color=colour_of("target"), mew=0
            )
            low, middle, high = np.percentile(values, [5, 50, 95])
            axes.plot([low, high], [place, place], color="0.2", lw=1.2)
            axes.plot(middle, place, "o", ms=4, color="0.2")
    own = study.nominal()[metric]
    if own is not None:
        axes.axvline(own, color="0.4", ls="--", lw=0.9, label="undisturbed")
        axes.legend(fontsize=8, loc="lower right")
    unit = f" [{_UNITS[metric]}]" if metric in _UNITS else ""
    _labels(axes, [""] * len(names))
    axes.set(xlabel=f"{METRICS[metric]}{unit}, of those that walk", title="Median, and 5 % to 95 %")


def _indices(axes: Axes, study: Robust, one: Any, name: str) -> None:
    order = np.argsort(-one.total, kind="stable")[:_MOST]
    place = np.arange(len(order))
    for values, ends, shift, colour, label in (
        (one.first, one.first_range, -0.18, _ALONE, "alone"),
        (one.total, one.total_range, 0.18, _WITH, "with others"),
    ):
        there = values[order]
        bars = np.maximum([there - ends[0, order], ends[1, order] - there], 0.0)
        axes.barh(place + shift, there, height=0.34, color=colour, label=label)
        axes.errorbar(there, place + shift, xerr=bars, fmt="none", color="0.3", lw=0.8, capsize=2)
    keys = [study.spreads[n] for n in order]
    _labels(axes, [f"{k.key}\n\u00b1{100 * k.spread:g} %" for k in keys])
    axes.tick_params(axis="y", labelsize=8)
    what = METRICS.get(name, "falls")
    axes.set(xlabel="share of the variance (Sobol' index)", title=f"What explains the {what}")
    axes.legend(fontsize=8, loc="lower right")
