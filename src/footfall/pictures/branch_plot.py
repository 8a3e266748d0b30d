"""The picture of a branch of gaits: a figure and the largest multiplier over a parameter."""

from pathlib import Path
from typing import Any

import numpy as np

from footfall.pictures.show import Picture
from footfall.pictures.style import SCREEN, Style, styled
from footfall.scenario.follow import Branch, Part
from footfall.scene.palette import SERIES, colour_of

_COLOURS = tuple(shades.light for shades in SERIES)
_MARKS = {
    "fold": ("s", "fold"),
    "period doubling": ("D", "period doubling"),
    "torus": ("^", "torus point"),
    "branch point": ("P", "branch point"),
    "end": ("X", "no such gait beyond"),
}
#: What is drawn where nobody says: the first that the gaits have.
USUAL = ("mean_speed", "cost_of_transport", "step_time", "period")
#: Multiplier up to which is drawn: near a gait that stops, they grow without bound.
MOST = 3.0
SAID = {
    "mean_speed": "speed [m/s]",
    "cost_of_transport": "cost of transport",
    "step_time": "step time [s]",
    "period": "period [s]",
}


def draw_branch(
    branch: Branch, path: Any = None, figure: str | None = None, style: Style = SCREEN
) -> Picture:
    """Stable parts as lines, unstable ones dashed, special points marked."""
    with styled(style):
        page = _drawn(branch, figure, style)
    if path is not None:
        page.savefig(Path(path))
    return page


def _curves(branch: Branch, style: Style) -> Picture:
    """Folds and period doublings over both keys."""
    page = Picture(figsize=(style.width, 1.8 * style.panel), style=style)
    axes = page.subplots()
    for number, curve in enumerate(branch.curves):
        across, up = zip(*(point.values for point in curve.points), strict=True)
        colour = _COLOURS[min(number, len(_COLOURS) - 1)]
        axes.plot(across, up, "-", color=colour, label=f"{curve.kind}s")
        for point in curve.points:
            if point.why:
                axes.plot(*point.values, _MARKS["end"][0], color=colour, mec="k", ms=7)
    unit = f" [{branch.unit}]" if branch.unit else ""
    axes.set(xlabel=f"{branch.key}{unit}", ylabel=branch.second)
    axes.legend()
    page.suptitle(f"{branch.name}: special points over two numbers")
    return page


def _drawn(branch: Branch, figure: str | None, style: Style) -> Picture:
    if branch.curves:
        return _curves(branch, style)
    known = branch.points[0].figures
    name = figure or next(n for n in USUAL if n in known)
    page = Picture(figsize=(style.width, 2.4 * style.panel), style=style)
    top, low = page.subplots(2, 1, sharex=True)
    _walks(top, branch, name)
    for number, part in enumerate(branch.parts):
        colour = _COLOURS[min(number, len(_COLOURS) - 1)]
        label = f"repeats after {part.count}" if len(branch.parts) > 1 else None
        _curve(top, part, [p.figures.get(name, np.nan) for p in part.points], colour, label)
        sizes = [float(np.max(np.abs(p.multipliers), initial=0.0)) for p in part.points]
        _curve(low, part, sizes, colour, None)
        for point, size in zip(part.points, sizes, strict=True):
            if point.kind:
                mark, _ = _MARKS[point.kind]
                for axes, height in ((top, point.figures.get(name, np.nan)), (low, size)):
                    axes.plot(point.value, height, mark, color=colour, mec="k", ms=7, zorder=5)
    kinds = dict.fromkeys(point.kind for _, point in branch.special)
    for kind in kinds:
        mark, word = _MARKS[kind]
        top.plot([], [], mark, color="0.8", mec="k", label=word)
    top.plot([], [], "--", color=colour_of("quiet"), label="unstable")
    low.axhline(1.0, color=colour_of("quiet"), lw=1)
    unit = f" [{branch.unit}]" if branch.unit else ""
    top.set_ylabel(SAID.get(name, name))
    highest = max(float(np.max(line.get_ydata())) for line in low.lines)
    low.set(
        xlabel=f"{branch.key}{unit}",
        ylabel="largest multiplier",
        ylim=(0.0, min(1.05 * highest, MOST)),
    )
    top.legend()
    page.suptitle(f"{branch.name}: gaits from {branch.event} to {branch.event}")
    return page


def _walks(axes: Any, branch: Branch, name: str) -> None:
    """Beneath the branch: each step of a robot that is let walk where its gait is unstable."""
    seen = [(orbit.value, orbit.figure(name)) for orbit in branch.orbits if orbit.times]
    dots = [(value, heights) for value, heights in seen if heights is not None]
    if not dots:
        return
    across = np.concatenate([np.full(len(heights), value) for value, heights in dots])
    up = np.concatenate([heights for _, heights in dots])
    axes.plot(across, up, ".", color=colour_of("quiet"), ms=2.5, label="steps it takes", zorder=1)


def _curve(axes: Any, part: Part, heights: list[float], colour: str, label: str | None) -> None:
    """Piece by piece: dashed where either end is unstable."""
    across, up = np.array([p.value for p in part.points]), np.array(heights)
    stable = np.array([p.stable or p.kind not in ("", "end") for p in part.points])
    if part.leaves_at == "period doubling" and len(stable) > 1:
        stable[0] = stable[1]  # where it leaves another it neither attracts nor repels
    firm = stable[1:] & stable[:-1]
    first = True
    edges = np.flatnonzero(np.diff(firm)) + 1
    for piece in np.split(np.arange(len(firm)), edges):
        if not len(piece):
            continue
        rows = np.append(piece, piece[-1] + 1)
        axes.plot(
            across[rows],
            up[rows],
            "-" if firm[piece[0]] else "--",
            color=colour,
            lw=1.8 if firm[piece[0]] else 1.3,
            label=label if first else None,
        )
        first = False


def draw(study: Any, found: Any, verdict: Any, style: Style) -> Picture:
    """Of the study `follow`."""
    del verdict
    return draw_branch(study.branch(found), style=style)
