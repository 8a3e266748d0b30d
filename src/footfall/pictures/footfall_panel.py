"""Who steps when."""

import itertools

import numpy as np
from matplotlib.axes import Axes

from footfall.engines.analysis.summary import Summary
from footfall.pictures.names import plain
from footfall.pictures.time_panels import TIME, recent
from footfall.record.trajectory import Trajectory
from footfall.scene.palette import colour_of


def footfall_panel(axes: Axes, run: Trajectory, summary: Summary) -> None:
    """A bar while a foot touches, a row per foot.

    Of a robot that only counts its steps, a bar from each to the next.
    """
    assert run.travel is not None
    if run.travel.contacts:
        _contacts(axes, run, summary, run.travel.contacts)
    elif len(run.travel.step_counters) == 1:
        _step_times(axes, run)
    else:
        _stances(axes, run, summary)
    axes.grid(False, axis="y")


def _landings(run: Trajectory, counter: str) -> np.ndarray:
    return run.t[np.flatnonzero(np.diff(run[counter]) > 0) + 1]


def _step_times(axes: Axes, run: Trajectory) -> None:
    """A dot at each footfall, as high as the time since the one before."""
    assert run.travel is not None
    landings = _landings(run, run.travel.step_counters[0])
    took = np.diff(landings)
    axes.vlines(landings[1:], 0.0, took, color=colour_of("far_leg"), lw=1.2)
    size = float(np.clip(90 / max(len(landings), 1), 1.8, 4.0))
    axes.plot(landings[1:], took, "o", ms=size, color=colour_of("leg"))
    axes.set(title="Footfalls: time since the one before [s]", xlabel=TIME)
    axes.set_ylim(bottom=0.0)
    axes.margins(x=0.01)


def _stances(axes: Axes, run: Trajectory, summary: Summary) -> None:
    assert run.travel is not None
    counters = run.travel.step_counters
    for row, name in enumerate(counters):
        edges = np.concatenate([[run.t[0]], _landings(run, name), [run.t[-1]]])
        for i, (a, b) in enumerate(itertools.pairwise(edges)):
            axes.barh(row, b - a, left=a, height=0.4, color=_shade(i), lw=0)
    sides = [plain(n.rpartition(".")[2].replace("steps", "")) or "feet" for n in counters]
    axes.set_yticks(range(len(counters)), sides)
    axes.set(title="Footfalls: a bar from each to the next", xlabel=TIME)
    axes.set_xlim(recent(run, summary, 20), run.t[-1])


def _shade(i: int) -> str:
    return colour_of("leg" if i % 2 else "far_leg")


def _contacts(axes: Axes, run: Trajectory, summary: Summary, flags: tuple[str, ...]) -> None:
    high = 0.4 if len(flags) < 3 else 0.6
    for row, name in enumerate(flags):
        touching = np.concatenate([[0], run[name] > 0, [0]]).astype(int)
        begins, ends = np.flatnonzero(np.diff(touching) > 0), np.flatnonzero(np.diff(touching) < 0)
        last = len(run.t) - 1
        spans = [
            (run.t[a], run.t[min(b, last)] - run.t[a]) for a, b in zip(begins, ends, strict=True)
        ]
        axes.broken_barh(spans, (row - 0.5 * high, high), color=colour_of("leg"), lw=0)
    # One of many like legs: its number says which.
    like = all(name.rpartition(".")[2].isdecimal() for name in flags)
    labels = [plain(name.split(".")[-1 if like else -2]) for name in flags]
    every = -(-len(flags) // 12)
    axes.set_yticks(range(0, len(flags), every), labels[::every])
    axes.set_ylim(-0.6, len(flags) - 0.4)
    axes.set(title="Footfalls: a bar while a foot touches", xlabel=TIME)
    # Of many legs thin bars, and a wave to be followed from leg to leg.
    axes.set_xlim(recent(run, summary, 20 if like else 6), run.t[-1])
    if like:
        axes.invert_yaxis()  # the first on top
        axes.set_ylabel(run.travel.legs if run.travel is not None else "leg")
