"""The picture of a front: what time costs in energy, and the gaits along it."""

import numpy as np

from footfall.engines.analysis.optimise_study import Optimise
from footfall.hybrid.study import Answers
from footfall.pictures.show import Picture
from footfall.pictures.style import PAPER, Style, log_ticks, name_lines
from footfall.pictures.sweep_style import headline
from footfall.record.verdict import Verdict
from footfall.scene.palette import colour_of


def draw(study: Optimise, found: Answers, verdict: Verdict, style: Style) -> Picture:
    """Energy against time on the left, with the scenario's own gait.

    Knobs and the largest torque along the front on the right.
    """
    rows, own = [answer.row for answer in study.kept(found)], study.own
    knobs = [column for column in study.columns if column.names[0] in study.knobs]
    (peak,) = (column for column in study.columns if len(column.names) > 1)
    paper = style is PAPER
    figure = Picture(figsize=(style.width, 6.6 if paper else 5.4), style=style)
    left, right = np.ravel(
        figure.subfigures(2, 1, height_ratios=(1.0, 1.6))
        if paper
        else figure.subfigures(1, 2, width_ratios=(1.25, 1.0))
    )
    axes = left.subplots()
    times = [row["t_end"] for row in rows]
    axes.plot(
        times,
        [row["electrical_energy"] for row in rows],
        "o-",
        ms=5,
        color=colour_of("leg"),
        label="best gaits",
    )
    axes.plot(
        own["t_end"],
        own["electrical_energy"],
        "*",
        ms=14,
        color=colour_of("force"),
        label="the scenario's own gait",
    )
    axes.set(xlabel="time of the plan [s]", ylabel="energy of the motors [J]", xscale="log")
    log_ticks(axes.xaxis)
    axes.set_title("What time costs in energy")
    name_lines(axes, style)
    panels = right.subplots(len(knobs) + 1, 1, sharex=True)
    for panel, column in zip(panels, knobs, strict=False):
        (name,), unit = column.names, f" [{column.unit}]" if column.unit else ""
        panel.plot(
            times,
            [column.factor * row[name] for row in rows],
            "o-",
            ms=4,
            color=colour_of("target"),
        )
        panel.set_ylabel(f"{column.heading}{unit}", size="small")
    torque = panels[-1]
    torque.plot(
        times,
        [max(row[name] for name in peak.names) for row in rows],
        "o-",
        ms=4,
        color=colour_of("motor"),
    )
    torque_limit = study.search.torque_limit
    if torque_limit is not None:
        torque.axhline(torque_limit, color=colour_of("quiet"), ls="--", lw=1)
    torque.set_ylabel("torque [N m]", size="small")
    torque.set(xlabel="time of the plan [s]", xscale="log")
    log_ticks(torque.xaxis)
    for panel in panels:
        panel.ticklabel_format(axis="y", useOffset=False)
        low, high = panel.get_ylim()
        middle = 0.5 * (low + high)
        room = max(0.7 * (high - low), 0.05 * abs(middle))  # a knob that stays put is a level line
        panel.set_ylim(middle - room, middle + room)
    limit = "" if torque_limit is None else f", torques up to {torque_limit:g} N m"
    doubtful = "" if verdict.sound else f" ({verdict.title})"
    title = f"{study.subject.title}{doubtful}"
    if not paper or doubtful:
        headline(figure, f"{title}: best gaits{limit}")
    return figure
