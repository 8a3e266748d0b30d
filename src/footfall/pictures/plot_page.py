"""The plot page: what a person looks at first.

By default what one wants to know of every robot: poses, speed, the robot's main charts, energy,
footfalls. All of it: every chart, states, powers, stores, phase portraits.
"""

import textwrap
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.text import Text

from footfall.engines.analysis.summary import Summary
from footfall.pictures.energy_panels import ledger_panel, power_panel, stores_panel
from footfall.pictures.footfall_panel import footfall_panel
from footfall.pictures.names import kind_of, plain, short
from footfall.pictures.pose_strip import pose_strip, strip_of
from footfall.pictures.show import Picture
from footfall.pictures.state_panels import close_up_panel, path_panel, phase_panel
from footfall.pictures.style import PAPER, SCREEN, Style, styled
from footfall.pictures.time_panels import chart_panel, heading_panel, lines, speed_panel
from footfall.record.trajectory import Trajectory
from footfall.scene.palette import colour_of
from footfall.scene.sketch import Chart

Progress = Callable[[int, int], None]
#: Which panels: the main ones, or every one.
PLOTS = ("main", "all")
#: Of a robot that marks none of its charts as main, the first so many are.
_MAIN = 2
_HEADER = 0.42  # in
#: A way shorter than this [m] is none: the robot turns on the spot.
_NO_WAY = 1e-4


class Panel(NamedTuple):
    """One pair of axes."""

    main: bool  #: on the page without asking
    draw: Callable[[Axes], None]


def write_plot_page(
    run: Trajectory,
    summary: Summary,
    path: Path,
    *,
    title: str,
    plots: str = "main",
    style: Style = SCREEN,
    progress: Progress = lambda done, total: None,
) -> None:
    """The page as one picture file. `progress(done, total)` is called as panels are rendered."""
    figure = plot_page(run, summary, title=title, plots=plots, style=style)
    for done, axes in enumerate(figure.axes):  # rendering is what takes the time
        axes.add_artist(_Count(lambda done=done: progress(done, len(figure.axes))))
    figure.savefig(path)


def plot_page(
    run: Trajectory, summary: Summary, *, title: str, plots: str = "main", style: Style = SCREEN
) -> Picture:
    """Poses across the top, panels below."""
    if plots not in PLOTS:
        raise ValueError(f'plots = "{plots}": it is {" or ".join(PLOTS)}.')
    with styled(style):
        panels = [p for p in _panels(run, summary, style) if p.main or plots == "all"]
        strip = strip_of(run, style)
        rows = -(-len(panels) // style.columns)
        header = _header(run, summary, title, style)
        heights = [
            style.width * strip.height + (0.75 if style is SCREEN else 0.5),
            *[style.panel + 0.5] * rows,
        ]
        if header:
            heights.insert(0, _HEADER * len(header) / 2)
        top = len(heights) - rows  # rows above the panels
        figure = Picture(figsize=(style.width, sum(heights)), style=style)
        grid = figure.add_gridspec(len(heights), style.columns, height_ratios=heights)
        pose_strip(figure.add_subplot(grid[top - 1, :]), run, strip, style)
        for i, panel in enumerate(panels):
            row, column = divmod(i, style.columns)
            # The last one alone has the whole width.
            alone = i == len(panels) - 1 and column == 0
            panel.draw(figure.add_subplot(grid[top + row, :] if alone else grid[top + row, column]))
        if style is PAPER:
            _letter(figure)
        if header:
            _write(figure.add_subplot(grid[0, :]), header, style)
    return figure


class _Count(Artist):
    """Draws nothing, but tells that its panel is being drawn."""

    def __init__(self, tell: Callable[[], None]):
        super().__init__()
        self._tell = tell
        self.set_in_layout(False)

    def draw(self, renderer: object) -> None:
        del renderer
        self._tell()


def _header(
    run: Trajectory, summary: Summary, title: str, style: Style
) -> list[tuple[str, dict[str, object]]]:
    """Lines of words above all. A paper has a caption: there nothing but a doubt is said."""
    speed = summary.metrics.get("mean_speed")
    said = "" if speed is None else f"{speed:.4g} m/s; "
    doubt = [] if run.verdict.sound else textwrap.wrap(run.verdict.title, 60 * int(style.columns))
    shown = [(line, {"color": colour_of("doubt")}) for line in doubt]
    if style is PAPER:
        return shown
    return [
        (title, {"size": style.text + 4.0, "weight": "bold"}),
        (f"{said}{run.ending.sentence}", {"color": colour_of("quiet")}),
        *shown,
    ]


def _write(axes: Axes, header: list[tuple[str, dict[str, object]]], style: Style) -> None:
    axes.set_axis_off()
    for i, (line, look) in enumerate(header):
        above = 1.55 if i else 1.0
        axes.annotate(
            line, (0.0, 1.0), (0.0, -above * i * (style.text + 2.0)),
            xycoords="axes fraction", textcoords="offset points", va="top", **look,
        )  # fmt: skip


def _letter(figure: Picture) -> None:
    """(a), (b), ...: what a caption speaks of."""
    shown = [axes for axes in figure.axes if axes.get_title("left")]
    for letter, axes in zip("abcdefghijklmnopqrstuvwxyz" * 3, shown, strict=False):
        # Its text alone: set_title would forget the room for the legend.
        words = axes.get_title("left")
        own = next(text for text in axes.findobj(Text) if text.get_text() == words)
        own.set_text(f"({letter}) {words}")


def _panels(run: Trajectory, summary: Summary, style: Style) -> Iterable[Panel]:
    """Panels in reading order, only those this robot has something to show for."""
    travel = run.travel
    goes = travel is not None and np.ptp(run[travel.distance]) > _NO_WAY
    turns = travel is not None and travel.heading is not None
    if goes:
        yield Panel(True, lambda axes: speed_panel(axes, run, style))
    elif turns:
        yield Panel(True, lambda axes: heading_panel(axes, run, style))
    charts = run.drawing.charts or _usual_charts(run)
    main = [chart for chart in charts if chart.main] or list(charts[:_MAIN])
    for chart in main:
        yield Panel(True, lambda axes, c=chart: chart_panel(axes, run, summary, c, style))
    yield Panel(True, lambda axes: ledger_panel(axes, run, style))
    if travel is not None:
        yield Panel(True, lambda axes: footfall_panel(axes, run, summary))
    if goes and turns:
        yield Panel(True, lambda axes: path_panel(axes, run))
    for chart in charts:
        if chart not in main:
            yield Panel(False, lambda axes, c=chart: chart_panel(axes, run, summary, c, style))
    if run.of_role("power"):
        yield Panel(False, lambda axes: power_panel(axes, run, summary, style))
    if len(run.of_role("store")) > 1:
        yield Panel(False, lambda axes: stores_panel(axes, run, summary, style))
    for title, shapes in run.drawing.close_ups.items():
        yield Panel(
            False,
            lambda axes, title=title, shapes=shapes: close_up_panel(
                axes, run, summary, title, shapes
            ),
        )
    yield from _state_panels(run, summary, style)


def _state_panels(run: Trajectory, summary: Summary, style: Style) -> Iterable[Panel]:
    """States by unit, then rates against what they are the rates of."""
    by_unit: dict[tuple[str, str, bool], list[str]] = {}
    states = _single_states(run)
    # A position that runs away would flatten the angles and heights beside it.
    for name in states:
        part = name.partition(".")[0] if "." in name else ""
        by_unit.setdefault((run.signals[name].unit, part, _wanders(run, name)), []).append(name)
    for (unit, part, wanders), names in by_unit.items():
        title = f"States: {kind_of(unit)}"
        if len(names) == 1:  # no legend would say which
            title = f"State: {short(run.signals[names[0]].doc) or plain(names[0])}"
        title += (f" of {plain(part)}" if part else "") + (", over the run" if wanders else "")
        yield Panel(
            False, lambda axes, names=names, title=title: lines(axes, run, names, title, style)
        )
    pairs = [
        n
        for n in states
        if run.signals[n].rate_of in states and not _wanders(run, run.signals[n].rate_of or "")
    ]
    for name in pairs[:2]:
        yield Panel(
            False,
            lambda axes, name=name: phase_panel(
                axes, run, summary, run.signals[name].rate_of or "", name, style
            ),
        )


def _single_states(run: Trajectory) -> list[str]:
    """States worth lines of their own.

    Those of many like legs would be dozens: the robot's charts show what is to be seen of them.
    """
    states = run.of_role("state")
    return [
        name for name in states if not (run.drawing.charts and name.rpartition(".")[2].isdecimal())
    ]


def _usual_charts(run: Trajectory) -> tuple[Chart, ...]:
    """What to show of a robot that does not say."""
    outputs = run.of_role("output")
    torques = tuple(n for n in outputs if n.endswith(".torque"))
    forces = tuple(n for n in outputs if n.endswith(".force")) or tuple(
        n for n in outputs if n.endswith(".fz")
    )
    return tuple(c for c in (Chart("Torques", torques), Chart("Leg forces", forces)) if c.signals)


def _wanders(run: Trajectory, name: str) -> bool:
    """Whether a signal leaves for good rather than coming back every step.

    Late in the run it still moves further than within a stance.
    """
    late = run.t >= 0.5 * run.t[-1]
    values, stances = (
        run[name][late],
        np.split(run[name][late], np.flatnonzero(np.diff(run.j[late]) > 0) + 1),
    )
    return len(stances) > 4 and np.ptp(values) > 4 * max(
        np.ptp(part) for part in stances if len(part)
    )
