"""The picture of a design, its gait; of a front, one objective against the other."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from footfall.pictures.cycle_plot import draw_cycle
from footfall.pictures.show import Picture
from footfall.pictures.style import PAPER, SCREEN, Style, log_ticks, name_lines, styled
from footfall.pictures.sweep_style import headline
from footfall.scenario.design import Design, Front, value_of
from footfall.scene.palette import colour_of


def draw(study: Any, found: Any, verdict: Any, style: Style) -> Picture:
    """Of the study `design`."""
    subject = study.subject
    doubtful = "" if verdict.sound else f" ({verdict.title})"
    if study.is_front:
        names = tuple(str(objective) for objective in study.objectives)
        front, units = Front(names, tuple(study.designs(found))), study.designer.landscape.units
        return _front(front, units, f"{subject.title}{doubtful}: best designs", style)
    best = study.best(found)
    title = f"{subject.title}{doubtful}, best design: {best.objective} {best.value:.4g}"
    if best.cycle is None:
        return _values(best, study.designer.landscape.own_values, title, style)
    return draw_cycle(best.cycle, title=title, style=style)


def draw_front(front: Front, path: Any = None, style: Style = SCREEN) -> Picture:
    """Of `ff.pareto`."""
    with styled(style):
        page = _front(front, {}, f"{front.designs[0].experiment.name}: best designs", style)
    if path is not None:
        page.savefig(Path(path))
    return page


def _front(front: Front, units: Mapping[str, str], title: str, style: Style) -> Picture:
    """One objective against the other, with the scenario itself; the keys along the front."""
    paper, designs = style is PAPER, front.designs
    first, second = front.objectives
    figure = Picture(figsize=(style.width, 6.6 if paper else 5.4), style=style)
    left, right = np.ravel(
        figure.subfigures(2, 1, height_ratios=(1.0, 1.6))
        if paper
        else figure.subfigures(1, 2, width_ratios=(1.25, 1.0))
    )
    across = [value_of(design.figures, second) for design in designs]
    up = [design.value for design in designs]
    own = [value_of(designs[0].before, name) for name in (second, first)]
    axes = left.subplots()
    axes.plot(across, up, "o-", ms=5, color=colour_of("leg"), label="best designs")
    axes.plot(*own, "*", ms=14, color=colour_of("force"), label="the scenario itself")
    axes.set(xlabel=_words(second), ylabel=_words(first))
    axes.set_title(f"What {_words(second)} costs in {_words(first)}")
    wide = min(across) > 0 and max(across) > 5.0 * min(across)
    name_lines(axes, style)
    panels = np.ravel(right.subplots(len(designs[0].values), 1, sharex=True, squeeze=False))
    for panel, key in zip(panels, designs[0].values, strict=True):
        values = [design.values[key] for design in designs]
        panel.plot(across, values, "o-", ms=4, color=colour_of("target"))
        unit = f"\n[{units[key]}]" if units.get(key) else ""
        panel.set_ylabel(f"{key.rpartition('.')[2].replace('_', ' ')}{unit}", size="small")
        panel.ticklabel_format(axis="y", useOffset=False)
        _level(panel)
    panels[-1].set_xlabel(_words(second))
    for axis in (axes, panels[-1]):
        if wide:
            axis.set_xscale("log")
            log_ticks(axis.xaxis)
    headline(figure, title)
    return figure


def _values(best: Design, before: Mapping[str, float], title: str, style: Style) -> Picture:
    """The free keys before and after, each as a share of what it was."""
    figure = Picture(figsize=(style.width, 0.9 + 0.5 * len(best.values)), style=style)
    axes, keys = figure.subplots(), list(best.values)
    axes.barh(keys, [best.values[key] / before[key] for key in keys], color=colour_of("leg"))
    axes.axvline(1.0, color=colour_of("quiet"), lw=1)
    axes.set_xlabel("value of the best design / that of the scenario")
    axes.invert_yaxis()
    headline(figure, title)
    return figure


def _level(panel: Any) -> None:
    """A key that stays put is a level line, not a magnified one."""
    low, high = panel.get_ylim()
    middle = 0.5 * (low + high)
    room = max(0.6 * (high - low), 0.05 * abs(middle))
    panel.set_ylim(middle - room, middle + room)


def _words(name: str) -> str:
    return name.replace("_", " ")
