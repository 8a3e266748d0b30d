"""Two runs over each other: the signals both have, a pair of axes to each."""

from matplotlib.axes import Axes

from footfall.pictures.names import line_names, with_unit
from footfall.pictures.show import Picture
from footfall.pictures.style import SCREEN, faded, styled
from footfall.pictures.time_panels import TIME, broken, is_rate
from footfall.record.trajectory import Trajectory
from footfall.scene.palette import SERIES

#: The first so many signals: more axes than this are too many to look through.
MOST_SIGNALS = 12
#: The first run wide and pale, the second over it.
_LOOKS = (
    {"color": faded(SERIES[0].light, 0.3), "lw": 2.6},
    {"color": SERIES[1].light, "lw": 1.1},
)


def overlay(first: Trajectory, second: Trajectory, names: tuple[str, str]) -> Picture:
    """One pair of axes per signal, over time.

    Speed and what the robot's main charts show come first, then its states.
    """
    shown = _shared(first, second)
    if not shown:
        raise ValueError("these runs have no signal in common: they are of different robots.")
    rows = -(-len(shown) // SCREEN.columns)
    with styled():
        figure = Picture(figsize=(SCREEN.width, 0.8 + SCREEN.panel * rows))
        for i, (signal, words) in enumerate(zip(shown, line_names(first, shown), strict=True)):
            axes = figure.add_subplot(rows, SCREEN.columns, i + 1)
            _draw(axes, (first, second), signal, words)
        lines = figure.axes[0].lines
        figure.legend(handles=list(lines), labels=list(names), loc="outside upper left", ncols=1)
    return figure


def _shared(first: Trajectory, second: Trajectory) -> list[str]:
    """Signals that both have, in the order of their importance."""
    charts = first.drawing.charts
    main = [name for chart in charts if chart.main for name in chart.signals]
    rest = [name for chart in charts for name in chart.signals]
    travel = first.travel and first.travel.distance
    speed = [n for n in first.of_role("output", "state") if travel and is_rate(first, n, travel)]
    usual = [
        n for n in first.of_role("output") if n.endswith((".speed", ".torque", ".force", ".fz"))
    ]
    distance = [travel] if travel else []
    wanted = [*speed[:1], *distance, *main, *first.of_role("state"), *rest, *usual]
    return [
        name for name in dict.fromkeys(wanted) if name in first.columns and name in second.columns
    ][:MOST_SIGNALS]


def _draw(axes: Axes, runs: tuple[Trajectory, Trajectory], signal: str, words: str) -> None:
    for run, look in zip(runs, _LOOKS, strict=True):
        t, values = broken(run, signal)
        axes.plot(t, values, **look)
    axes.set(title=with_unit(words.capitalize(), runs[0].signals[signal].unit), xlabel=TIME)
    axes.margins(x=0.01)
