"""Summary: what a person wants to know of a run, in SI numbers with stated windows."""

import dataclasses
import math
from collections import Counter
from typing import Any

import numpy as np

from footfall.record.trajectory import Trajectory

#: metric name -> unit
UNITS = {
    "mean_speed": "m/s",
    "step_time": "s",
    "step_length": "m",
    "steps": "",
    "cost_of_transport": "",
    "motor_work": "J",
    "motor_work_per_step": "J",
    "mean_power": "W",
    "electrical_energy": "J",
    "electrical_cost_of_transport": "",
    "distance": "m",
    "yaw_rate": "rad/s",
    "turn_radius": "m",
    "least_leg_force": "N",
}
#: A robot that has not come this far [m] has no cost of transport: it is stuck, and the ratio would be of rounding.
NO_WAY = 1e-6
#: outputs of which mean, root-mean-square and peak are told, by their own name
_SUFFIX_UNITS = {"torque": "N m", "current": "A", "angle_error": "rad", "extension_error": "m"}
#: of the means a robot asks for, by the output's own name
_MEAN_UNITS = {"z": "m", "height": "m", "pitch": "rad", "lift": "N", "thrust": "N", "frequency": "Hz"}


@dataclasses.dataclass(frozen=True)
class Summary:
    """Metrics over a stated window, the ledger, the events and the end of a run."""

    scenario: str
    outcome: dict[str, Any]
    metrics: dict[str, float | None]
    window: dict[str, Any]  #: where the metrics were taken
    ledger: dict[str, Any]
    events: list[dict[str, Any]]

    def to_dict(self) -> dict[str, Any]:
        """For JSON: non-finite numbers become null."""
        return _finite(dataclasses.asdict(self))

    def event_counts(self) -> dict[str, int]:
        return dict(Counter(e["name"] for e in self.events))


def unit_of(metric: str) -> str:
    """Unit of a metric by its name."""
    last = metric.rsplit("_", 1)[-1]
    suffix = next((unit for name, unit in _SUFFIX_UNITS.items() if metric.endswith(f"_{name}")), None)
    return UNITS.get(metric, suffix or _MEAN_UNITS.get(last, ""))


def summarise(trajectory: Trajectory, scenario: str = "", settle: float | None = None) -> Summary:
    """Metrics over whole steps: from the last footfall before the settling time to the last of the run.

    The settling time is `settle`, or the middle of the run.
    """
    ending = trajectory.ending
    metrics, window = _metrics(trajectory, settle)
    events = [{"t": e.t, "name": e.name} | ({} if e.leg is None else {"leg": e.leg}) for e in trajectory.events]
    outcome = {
        "name": ending.outcome.name,
        "meaning": ending.outcome.meaning,
        "t": ending.t,
        "event": ending.event,
        "state": ending.state,
        "jumps": ending.jumps,
        "solver_steps": ending.steps,
        "solver_steps_tried": ending.tried,
    }
    return Summary(scenario, outcome, metrics, window, trajectory.ledger.to_dict(), events)


def _metrics(run: Trajectory, settle: float | None) -> tuple[dict[str, float | None], dict[str, Any]]:
    travel = run.travel
    if travel is None or len(run.t) < 2:
        # What stays where it is has no steps: all of its run counts.
        told = _motor_metrics(run, 0, len(run.t) - 1, run.t[-1] - run.t[0], 0.0) if len(run.t) > 1 else {}
        return told, {"from": 0.0, "to": run.ending.t, "steps": 0, "settled": False}
    counts = np.sum([run[name] for name in travel.step_counters], axis=0)
    landings = np.flatnonzero(np.diff(counts) > 0) + 1  # rows just after a footfall
    begin = 0.5 * run.ending.t if settle is None else settle
    first, last = (0, len(run.t) - 1) if travel.planned else _settled(run, landings, begin)
    settled = last > first
    first, last = (first, last) if settled else (0, len(run.t) - 1)
    time = run.t[last] - run.t[first]
    distance = run[travel.distance][last] - run[travel.distance][first]
    sides = len(travel.step_counters)
    steps = float(counts[last] - counts[first]) / sides
    step_time = _ratio(time, steps) if travel.planned else _step_time(run, begin) if settled else None
    work = float(sum(run[f"work.{name}"][last] - run[f"work.{name}"][first] for name in travel.motor_ports))
    weight = float(travel.weight)
    metrics: dict[str, float | None] = {
        "mean_speed": _ratio(distance, time),
        "step_time": step_time,
        "step_length": float(distance / time * step_time) if step_time else None,
        "steps": steps,
        "distance": float(distance),
        "motor_work": work,
        "motor_work_per_step": _ratio(work, steps) if settled else None,
        "mean_power": _ratio(work, time),
        "cost_of_transport": _ratio(work, weight * abs(distance)) if abs(distance) > NO_WAY else None,
    }
    if sides > 1:
        for name in travel.step_counters:
            metrics[name] = float(run[name][last] - run[name][first])
    if travel.heading is not None:
        rate = _ratio(run[travel.heading][last] - run[travel.heading][first], time)
        metrics["yaw_rate"] = rate
        metrics["turn_radius"] = _ratio(metrics["mean_speed"] or 0.0, abs(rate or 0.0))
    liftoff = [room for name, room in run.least_room.items() if name.startswith("liftoff")]
    if liftoff:
        metrics["least_leg_force"] = min(liftoff)
    if run.provenance.get("sample_rate", 1.0) is not None:  # without samples there is nothing to average over
        metrics |= _means(run, first, last, time)
        metrics |= _motor_metrics(run, first, last, time, weight * abs(distance))
    window = {"from": float(run.t[first]), "to": float(run.t[last]), "steps": steps, "settled": bool(settled)}
    return metrics, window


def _settled(run: Trajectory, landings: np.ndarray, begin: float) -> tuple[int, int]:
    """Rows of the last footfall at or before `begin` (of the first, if there was none before) and of the last one of all."""
    if len(landings) < 2 or run.t[landings[-1]] < begin:
        return 0, 0
    before = np.flatnonzero(run.t[landings] <= begin)
    return int(landings[before[-1] if len(before) else 0]), int(landings[-1])


def _step_time(run: Trajectory, begin: float) -> float | None:
    """Time between a side's own footfalls: the inverse of the mean of the sides' step rates."""
    assert run.travel is not None
    rates = []
    for name in run.travel.step_counters:
        landings = np.flatnonzero(np.diff(run[name]) > 0) + 1
        first, last = _settled(run, landings, begin)
        if run.t[last] == run.t[first]:
            return None
        rates.append((run[name][last] - run[name][first]) / (run.t[last] - run.t[first]))
    return float(1.0 / np.mean(rates))


def _means(run: Trajectory, first: int, last: int, time: float) -> dict[str, float | None]:
    """Means that this robot's people want to know, by the trapezoid rule over the samples."""
    assert run.travel is not None
    rows = slice(first, last + 1)
    return {
        f"mean_{name.replace('.', '_')}": _ratio(np.trapezoid(run[name][rows], run.t[rows]), time) for name in run.travel.means
    }


def _motor_metrics(run: Trajectory, first: int, last: int, time: float, transport: float) -> dict[str, float | None]:
    """Mean, root-mean-square and peak of torques, currents and errors, by the trapezoid rule over the samples."""
    rows, out = slice(first, last + 1), {}
    t = run.t[rows]
    electrical, known = 0.0, False
    for name in run.of_role("output"):
        group, _, leaf = name.rpartition(".")
        values = run[name][rows]
        if leaf in _SUFFIX_UNITS:
            label = group.replace(".", "_")
            out[f"{label}_mean_{leaf}"] = _ratio(np.trapezoid(values, t), time)
            square = _ratio(np.trapezoid(values**2, t), time)
            out[f"{label}_rms_{leaf}"] = None if square is None else math.sqrt(square)
            out[f"{label}_peak_{leaf}"] = float(np.max(np.abs(values)))
        elif leaf == "electrical_power":
            electrical += float(np.trapezoid(values, t))
            # Equal to the mechanical power: no winding resistance was given, so nothing electrical is known.
            known = known or not np.array_equal(values, run[f"{group}.power"][rows])
    if known:
        out["electrical_energy"] = electrical
        out["electrical_cost_of_transport"] = _ratio(electrical, transport)
    return out


def _ratio(a: float, b: float) -> float | None:
    return float(a / b) if b else None


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _finite(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(v) for v in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value
