"""Panels of energy: where it came from, where it went, what is kept where."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from footfall.engines.analysis.summary import Summary
from footfall.pictures.names import plain
from footfall.pictures.style import PAPER, Style, faded, name_lines, series
from footfall.pictures.time_panels import TIME, broken, last_steps, recent
from footfall.record.trajectory import Trajectory
from footfall.scene.palette import colour_of

#: A port with less than this share of the largest is one of the others.
_SMALL = 0.01
#: Lines of each kind that are told apart.
_MOST = 4
_DASHES = ("-", (0, (4.0, 1.5)), (0, (1.2, 1.2)), (0, (4.0, 1.5, 1.2, 1.5)))


def ledger_panel(axes: Axes, run: Trajectory, style: Style) -> None:
    """What came in, where it went, and what is left.

    The curves of what went add up to what came in, less what is stored.
    """
    stored = sum((run[name] for name in run.of_role("store")), np.zeros_like(run.t))
    works = run.of_role("work")
    jumps = stored - stored[0] - sum((run[name] for name in works), np.zeros_like(run.t))
    sizes = {name: float(np.abs(run[name]).max()) for name in works}
    least = _SMALL * max([*sizes.values(), float(np.abs(jumps).max()), 1e-300])
    others = np.zeros_like(run.t)
    for kind in ("work", "loss"):
        mine = sorted((n for n in works if run.signals[n].kind == kind), key=lambda n: -sizes[n])
        for place, name in enumerate(mine):
            if place >= _MOST or sizes[name] < least:
                others = others + run[name]
                continue
            look = {"color": faded(kind, 0.17 * place), "ls": _DASHES[place], "lw": style.line}
            axes.plot(run.t, run[name], label=plain(name.removeprefix("work.")), **look)
    if np.abs(jumps).max() > least:
        axes.step(run.t, jumps, where="post", color=colour_of("impact"), label="jumps")
    if np.abs(others).max() > least:
        axes.plot(run.t, others, color=colour_of("quiet"), label="others")
    axes.plot(
        run.t, stored - stored[0], lw=0.7 * style.line, color=colour_of("stored"), label="stored"
    )
    of = "" if style is PAPER else " of throughput"
    title = f"Energy since the start [J], residual {run.ledger.relative_residual:.0e}{of}"
    axes.set(title=title, xlabel=TIME)
    axes.margins(x=0.01)
    name_lines(axes, style)


def power_panel(axes: Axes, run: Trajectory, summary: Summary, style: Style) -> None:
    """What each port gives to the stores, over the last steps."""
    powers = [name for name in run.of_role("power") if np.any(run[name])] or run.of_role("power")
    words = [plain(name.removeprefix("power.")) for name in powers]
    last_steps(axes, run, summary, powers, "Power into the stores", style, words)


def stores_panel(axes: Axes, run: Trajectory, summary: Summary, style: Style) -> None:
    """Each kind of energy, from its mean: what goes to and fro between them."""
    begin = recent(run, summary, 6)
    late = run.t >= begin
    low = high = 0.0
    looks: Sequence[dict[str, Any]] = [series(i) for i in range(len(run.of_role("store")))]
    for name, look in zip(run.of_role("store"), looks, strict=True):
        t, values = broken(run, name)
        mean = np.mean(run[name][late])
        lowest, highest = (f(run[name][late] - mean) for f in (np.min, np.max))
        low, high = min(low, float(lowest)), max(high, float(highest))
        axes.plot(t, values - mean, label=plain(name.removeprefix("store.")), **look)
    room = 0.05 * (high - low) or 1.0
    axes.set(title="Energy stored, from its mean [J]", xlabel=TIME)
    axes.set(xlim=(begin, run.t[-1]), ylim=(low - room, high + room))
    name_lines(axes, style)
