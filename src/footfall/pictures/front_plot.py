"""The picture of a front: what time costs in energy, and the gaits along it."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from footfall.engines.analysis.optimise_study import Optimise
from footfall.hybrid.study import Answers
from footfall.record.verdict import Verdict

_DPI = 120


def draw(study: Optimise, found: Answers, path: Path, verdict: Verdict) -> None:
    """Energy against time on the left, with the scenario's own gait.

    Knobs and the largest torque along the front on the right.
    """
    rows, own = [answer.row for answer in study.kept(found)], study.own
    knobs = [column for column in study.columns if column.names[0] in study.knobs]
    (peak,) = (column for column in study.columns if len(column.names) > 1)
    figure = Figure(figsize=(12.5, 5.6), layout="constrained", dpi=_DPI)
    left, right = np.ravel(figure.subfigures(1, 2, width_ratios=(1.25, 1.0)))
    axes = left.subplots()
    times = [row["t_end"] for row in rows]
    axes.plot(
        times, [row["electrical_energy"] for row in rows], "o-", color="#0072b2", label="best gaits"
    )
    axes.plot(
        own["t_end"],
        own["electrical_energy"],
        "*",
        ms=14,
        color="#d55e00",
        label="the scenario's own gait",
    )
    axes.set(xlabel="time of the plan [s]", ylabel="energy of the motors [J]", xscale="log")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    axes.xaxis.set_minor_formatter(lambda value, _: f"{value:g}" if f"{value:g}"[0] in "25" else "")
    axes.grid(which="both", alpha=0.25)
    axes.legend(frameon=False)
    panels = right.subplots(len(knobs) + 1, 1, sharex=True)
    for panel, column in zip(panels, knobs, strict=False):
        (name,), unit = column.names, f" [{column.unit}]" if column.unit else ""
        panel.plot(times, [column.factor * row[name] for row in rows], "o-", ms=4, color="#009e73")
        panel.set_ylabel(f"{column.heading}{unit}", fontsize=8)
    torque = panels[-1]
    torque.plot(
        times, [max(row[name] for name in peak.names) for row in rows], "o-", ms=4, color="#cc79a7"
    )
    torque_limit = study.search.torque_limit
    if torque_limit is not None:
        torque.axhline(torque_limit, color="0.3", ls="--", lw=1)
    torque.set_ylabel("torque [N m]", fontsize=8)
    torque.set(xlabel="time of the plan [s]", xscale="log")
    torque.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
    torque.xaxis.set_minor_formatter(
        lambda value, _: f"{value:g}" if f"{value:g}"[0] in "25" else ""
    )
    for panel in panels:
        panel.tick_params(labelsize=8)
        panel.grid(alpha=0.25)
        panel.ticklabel_format(axis="y", useOffset=False)
        low, high = panel.get_ylim()
        middle = 0.5 * (low + high)
        room = max(0.7 * (high - low), 0.05 * abs(middle))  # a knob that stays put is a level line
        panel.set_ylim(middle - room, middle + room)
    limit = "" if torque_limit is None else f", torques up to {torque_limit:g} N m"
    doubtful = "" if verdict.sound else f" ({verdict.title})"
    title = f"{study.subject.title}{doubtful}"
    figure.suptitle(f"{title}: best gaits{limit}", fontsize=12)
    figure.savefig(path, format="png")
