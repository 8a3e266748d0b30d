"""Metrics of a summary, one number per robot of a batch.

From footfall to footfall, as a single run's. Those that are made of outputs need these tracked
(`hybrid/statistics.py` says which); their peaks are those of the settled part, at the ends of
steps.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from footfall.engines.lanes.lane_loop import LaneLoop
from footfall.engines.lanes.lane_state import Lane, Mark
from footfall.hybrid.statistics import PEAK, SUMMED, mean_name, metrics_of_outputs, told_names


class Column(NamedTuple):
    """One number per robot."""

    values: np.ndarray
    unit: str
    doc: str


Columns = dict[str, Column]
#: Where metrics are taken.
WINDOW = "from the last footfall before the settling time (or from then on) to the last of the run"


def turning(loop: LaneLoop, first: Mark, last: Mark, known: np.ndarray) -> Columns:
    """Of a robot that has a heading: how fast and how tightly it turns."""
    if first.heading is None or last.heading is None:
        return {}
    time, way = last.t - first.t, last.distance - first.distance
    rate = np.where(known, (last.heading - first.heading) / time, np.nan)
    radius = np.where(rate == 0.0, np.nan, way / time / np.abs(rate))
    return {
        "yaw_rate": Column(rate, "rad/s", f"mean yaw rate {WINDOW}"),
        "turn_radius": Column(radius, "m", "mean speed over mean yaw rate"),
    }


def side_counts(loop: LaneLoop, first: Mark, last: Mark, known: np.ndarray) -> Columns:
    """Footfalls of each side over the same footfalls, where there are several."""
    assert loop.travel is not None
    pairs = zip(loop.travel.step_counters, first.counts, last.counts, strict=False)
    return {
        name: Column(np.where(known, b - a, np.nan), "", f"{name} over the same footfalls")
        for name, a, b in pairs
    }


def least_push(loop: LaneLoop, lane: Lane) -> Columns:
    """The least force with which any foot pushed."""
    events = loop.system.events
    pushes = [
        np.asarray(lane.least[n], float)
        for n, j in enumerate(loop.margins)
        if events[loop.searched[j][0]].push
    ]
    if not pushes:
        return {}
    doc = "least force of a foot since the first jump"
    return {"least_leg_force": Column(np.min(pushes, axis=0), "N", doc)}


def of_outputs(
    loop: LaneLoop,
    lane: Lane,
    first: Mark | None,
    known: np.ndarray,
    weight: np.ndarray,
    units: Mapping[str, str],
) -> Columns:
    """Those whose outputs are tracked."""
    if first is None or lane.last is None:
        return {}
    last, columns = lane.last, {}
    with np.errstate(divide="ignore", invalid="ignore"):
        time = np.where(known, np.asarray(last.t, float) - np.asarray(first.t, float), np.nan)
        totals = [np.asarray(b, float) - np.asarray(a, float)
                  for a, b in zip(first.totals, last.totals, strict=True)]  # fmt: skip
        integral = dict(zip(loop.track, totals[::2], strict=True))
        square = dict(zip(loop.track, totals[1::2], strict=True))
        largest = {
            name: np.where(known & np.isfinite(np.asarray(ends.high)), ends.high, np.nan)
            for name, ends in zip(loop.track, lane.extremes, strict=True)
        }
        least = {
            name: np.where(known & np.isfinite(np.asarray(ends.low)), ends.low, np.nan)
            for name, ends in zip(loop.track, lane.extremes, strict=True)
        }
        offered = metrics_of_outputs(loop.track, loop.travel)
        for name in loop.track:
            told = told_names(name)
            if mean_name(name) in offered:
                doc = f"mean of {name} {WINDOW}"
                columns[mean_name(name)] = Column(integral[name] / time, units[name], doc)
            if told:
                peak = np.maximum(np.abs(least[name]), np.abs(largest[name]))
                rms = np.sqrt(np.maximum(square[name] / time, 0.0))
                values = (integral[name] / time, rms, peak)
                words = ("mean", "root mean square", "largest size")
                for k, (metric, value) in enumerate(zip(told, values, strict=True)):
                    where = "over the settled part, at the ends of steps" if k == PEAK else WINDOW
                    doc = f"{words[k]} of {name} {where}"
                    columns[metric] = Column(value, units[name], doc)
        friction = () if loop.travel is None else loop.travel.friction
        if friction and set(friction) <= set(loop.track):
            needed = np.max([largest[name] for name in friction], axis=0)
            doc = "largest coefficient of friction that a foot needs, over the settled part"
            columns["friction_needed"] = Column(needed, "", doc)
        drawn = [name for name in loop.track if name.rpartition(".")[2] == SUMMED]
        if drawn and set(offered["electrical_energy"]) <= set(loop.track):
            columns |= _electrical(drawn, integral, last, first, weight)
    return columns


def _electrical(
    drawn: list[str],
    integral: Mapping[str, np.ndarray],
    last: Mark,
    first: Mark,
    weight: np.ndarray,
) -> Columns:
    """Energy drawn; nothing is known of it where it is the mechanical work to the last bit."""
    energy = sum(integral[name] for name in drawn)
    shaft = [f"{name.rpartition('.')[0]}.power" for name in drawn]
    same = np.all([integral[a] == integral.get(b) for a, b in zip(drawn, shaft, strict=True)], 0)
    energy = np.where(same, np.nan, energy)
    way = np.abs(np.asarray(last.distance, float) - np.asarray(first.distance, float))
    return {
        "electrical_energy": Column(energy, "J", f"electrical energy drawn {WINDOW}"),
        "electrical_cost_of_transport": Column(
            energy / (weight * way), "", "the same over weight times distance"
        ),
    }
