"""The picture of a gait: its cycle in phase planes, its return map, its multipliers."""

from pathlib import Path
from typing import Any

import numpy as np

from footfall.engines.analysis.cycle import Cycle
from footfall.engines.analysis.lyapunov import Lyapunov
from footfall.engines.analysis.return_map import NoCycle
from footfall.hybrid.flatten import named_leaves
from footfall.pictures.show import Picture
from footfall.pictures.style import PAPER, SCREEN, Style, styled
from footfall.scene.palette import colour_of

_BLUE, _RED, _GREY = colour_of("leg"), colour_of("force"), colour_of("quiet")
#: Points along the cycle, and along the return map.
POINTS, ALONG = 160, 21
#: How far to each side the return map is drawn, as a share of what the numbers change by in a step.
REACH = 0.3
#: Phase planes that a picture has room for.
PLANES = 2


def draw_cycle(cycle: Cycle, path: Any = None, title: str = "", style: Style = SCREEN) -> Picture:
    """Phase planes on the left, then the return map along the slowest mode, then the multipliers.

    Written to `path` if one is given.
    """
    with styled(style):
        figure = _drawn(cycle, title, style)
    if path is not None:
        figure.savefig(Path(path))
    return figure


def _drawn(cycle: Cycle, title: str, style: Style) -> Picture:
    planes = phase_planes(cycle)
    count = len(planes) + 2
    rows = count if style is PAPER else 1
    wide, high = style.width / (count // rows), 1.35 * style.panel
    size = (style.width, high * rows) if rows > 1 else (max(wide, 3.4) * count, 4.0)
    figure = Picture(figsize=size, style=style)
    axes = np.ravel(figure.subplots(rows, count // rows))
    for panel, plane in zip(axes, planes, strict=False):
        _draw_plane(panel, plane, cycle.when)
    _draw_map(axes[-2], cycle)
    _draw_multipliers(axes[-1], cycle)
    figure.suptitle(title or f"gait from {cycle.event} to {cycle.event}: {cycle.verdict}")
    return figure


class Plane:
    """A number and its rate around the cycle."""

    def __init__(self, name: str, unit: str, across: np.ndarray, rate: str, up: np.ndarray):
        self.name, self.unit, self.across, self.rate, self.up = name, unit, across, rate, up


def phase_planes(cycle: Cycle) -> list[Plane]:
    """Of the numbers that have to repeat and whose rates are numbers too.

    First those with the largest part in the slowest mode.
    """
    times = np.linspace(0.0, cycle.period * (1.0 - 1e-9), POINTS)
    x, _, _ = cycle.map.path(cycle.point.flat, cycle.point.counts, times)
    shares = cycle.modes[0].shares if cycle.modes else {}
    leaves = {name: (value, info) for name, value, info in named_leaves(x)}
    planes = []
    for name, (value, info) in leaves.items():
        place = info.rate_of
        if place in leaves and place in cycle.unknowns and np.ndim(value) == 1:
            across, where = leaves[place]
            planes.append(Plane(place, where.unit, across, name, value))
    order = sorted(planes, key=lambda p: -max(shares.get(p.name, 0.0), shares.get(p.rate, 0.0)))
    return order[:PLANES]


def _draw_plane(axes: Any, plane: Plane, when: str) -> None:
    jump = int(np.argmax(np.hypot(_steps(plane.across), _steps(plane.up))))
    axes.plot(plane.across, plane.up, color=_BLUE, lw=1.6)
    axes.plot(
        [plane.across[-1], plane.across[0]], [plane.up[-1], plane.up[0]], ":", color=_GREY, lw=1.2
    )
    axes.plot(plane.across[0], plane.up[0], "o", color=_RED, ms=6, label=when)
    middle = (jump + len(plane.across) // 2) % (len(plane.across) - 1)
    axes.annotate(
        "",
        (plane.across[middle + 1], plane.up[middle + 1]),
        (plane.across[middle], plane.up[middle]),
        arrowprops={"arrowstyle": "-|>", "color": _BLUE},
    )
    unit = f" [{plane.unit}]" if plane.unit else ""
    rate = f" [{plane.unit}/s]" if plane.unit else ""
    axes.set(xlabel=f"{_said(plane.name)}{unit}", ylabel=f"{_said(plane.rate)}{rate}")
    # Above the cycle: inside it a mark of the legend looks like one of its points.
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), borderaxespad=0.2)


def _draw_map(axes: Any, cycle: Cycle) -> None:
    """Along the slowest mode: how far from the cycle before a step, and after it."""
    if not cycle.modes:
        axes.set_axis_off()
        return
    mode = cycle.modes[0]
    vector = mode.direction / np.max(np.abs(np.real(mode.direction)) / cycle.scale)
    way, read = np.real(vector), _reader(cycle, vector)
    across = np.linspace(-REACH, REACH, ALONG)
    after = np.array([_after(cycle, share * way, read) for share in across])
    axes.plot(100 * across, 100 * across, "--", color=_GREY, lw=1, label="the same")
    axes.plot(100 * across, 100 * after, "-", color=_BLUE, lw=1.6)
    axes.plot(0, 0, "o", color=_RED, ms=6, label="the gait")
    axes.set(
        xlabel="off the gait, along its slowest mode [%]",
        ylabel="off it after a step [%]",
        aspect="auto",
    )
    if np.any(np.isnan(after)):
        axes.set_title("gaps: no next step")
    axes.legend()


def _reader(cycle: Cycle, vector: np.ndarray) -> np.ndarray:
    """How much of a change lies along a mode: the left vector where there is one.

    Of a pair, along the real part of its vector: what it turns away from that is left out, so that
    the slope of the map is the real part of the multiplier.
    """
    assert cycle.derivative is not None and cycle.scale is not None
    values, vectors = np.linalg.eig(cycle.derivative.T)
    left = vectors[:, int(np.argmin(np.abs(values - cycle.multipliers[0])))]
    if abs(left @ vector) < 1e-6 * np.linalg.norm(left) * np.linalg.norm(vector):
        left = vector = np.real(vector) / cycle.scale
        return left / cycle.scale / (left @ vector)
    sides = 2.0 if np.any(np.imag(vector)) else 1.0  # the left vector is across the other of a pair
    return np.real(sides * left / (left @ vector))


def _after(cycle: Cycle, change: np.ndarray, read: np.ndarray) -> float:
    point = cycle.point
    try:
        mapped = cycle.map.at(point.flat + cycle.quotient.spread(change), point.counts)
    except NoCycle:
        return np.nan
    return float(read @ cycle.quotient.vector(mapped.stride.numbers - point.flat))


def _draw_multipliers(axes: Any, cycle: Cycle) -> None:
    turn = np.linspace(0.0, 2.0 * np.pi, 200)
    axes.plot(np.cos(turn), np.sin(turn), color=_GREY, lw=1)
    axes.axhline(0, color="0.85", lw=0.8, zorder=0)
    axes.axvline(0, color="0.85", lw=0.8, zorder=0)
    values = np.asarray(cycle.multipliers, complex)
    inside = np.abs(values) < 1.0
    axes.plot(values[inside].real, values[inside].imag, "o", color=_BLUE, ms=6)
    axes.plot(values[~inside].real, values[~inside].imag, "X", color=_RED, ms=8)
    reach = 1.15 * max(1.0, float(np.max(np.abs(values), initial=0.0)))
    axes.set(
        xlim=(-reach, reach),
        ylim=(-reach, reach),
        aspect="equal",
        xlabel="multipliers, real part",
        ylabel="imaginary part",
    )
    axes.set_title("stable inside the circle", fontsize=9)


def _steps(values: np.ndarray) -> np.ndarray:
    span = np.ptp(values)
    return np.abs(np.diff(values)) / (span if span > 0 else 1.0)


def _said(name: str) -> str:
    return name.replace("_", " ").replace(".", " ")


def draw(study: Any, found: Any, verdict: Any, style: Style) -> Picture:
    """Of the study `gait`."""
    del found, verdict
    if isinstance(study.result, Lyapunov):
        return draw_walk(study.result, f"{study.subject.title}: no gait", style)
    return draw_cycle(
        study.result, title=f"{study.subject.title}: {study.result.verdict}", style=style
    )


def draw_walk(walk: Lyapunov, title: str, style: Style = SCREEN) -> Picture:
    """Step after step: a number against itself a step before, and all of them one by one."""
    figure = Picture(figsize=(style.width, 4.0), style=style)
    axes = np.ravel(figure.subplots(1, 2))
    which = int(np.argmax(np.ptp(walk.orbit, axis=0) / np.maximum(np.abs(walk.orbit[0]), 1e-12)))
    values, name = walk.orbit[:, which], _said(walk.names[which])
    ends = [values.min(), values.max()]
    axes[0].plot(ends, ends, "--", color=_GREY, lw=1, label="the same")
    axes[0].plot(values[:-1], values[1:], ".", color=_BLUE, ms=4)
    axes[0].set(xlabel=f"{name}, just after a step", ylabel="after the next")
    axes[0].legend()
    axes[1].plot(values, ".-", color=_BLUE, ms=4, lw=0.5)
    axes[1].set(xlabel="step", ylabel=name)
    figure.suptitle(title)
    return figure
