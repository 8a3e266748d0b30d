"""Two runs over each other: the signals both have, a pair of axes to each."""

from matplotlib.axes import Axes

from footfall.pictures.plot_page import broken
from footfall.pictures.show import Picture
from footfall.record.trajectory import Trajectory

_COLUMNS = 3
#: The first so many signals: more axes than this are too small to see a difference in.
MOST_SIGNALS = 15
_LOOKS = ({"color": "tab:blue", "lw": 1.4}, {"color": "tab:orange", "lw": 1.0})


def overlay(first: Trajectory, second: Trajectory, names: tuple[str, str]) -> Picture:
    """One pair of axes per signal, over time.

    What the robot's own charts show comes first, then its states.
    """
    shown = _shared(first, second)
    if not shown:
        raise ValueError("these runs have no signal in common: they are of different robots.")
    rows = -(-len(shown) // _COLUMNS)
    figure = Picture(figsize=(5.2 * _COLUMNS, 1.0 + 2.4 * rows), layout="constrained", dpi=110)
    for i, signal in enumerate(shown):
        _draw(figure.add_subplot(rows, _COLUMNS, i + 1), (first, second), signal)
    lines = figure.axes[0].lines
    figure.legend(handles=list(lines), labels=list(names), loc="outside upper center", ncols=1)
    return figure


def _shared(first: Trajectory, second: Trajectory) -> list[str]:
    """Signals that both have, in the order of their importance."""
    charts = [name for chart in first.drawing.charts for name in chart.signals]
    travel = [] if first.travel is None else [first.travel.distance]
    usual = [
        n for n in first.of_role("output") if n.endswith((".speed", ".torque", ".force", ".fz"))
    ]
    wanted = [*travel, *first.of_role("state"), *charts, *usual]
    return [
        name for name in dict.fromkeys(wanted) if name in first.columns and name in second.columns
    ][:MOST_SIGNALS]


def _draw(axes: Axes, runs: tuple[Trajectory, Trajectory], signal: str) -> None:
    for run, look in zip(runs, _LOOKS, strict=True):
        t, values = broken(run, signal)
        axes.plot(t, values, **look)
    axes.set(title=signal, xlabel="t [s]", ylabel=f"[{runs[0].signals[signal].unit or '1'}]")
    axes.grid(alpha=0.25)
