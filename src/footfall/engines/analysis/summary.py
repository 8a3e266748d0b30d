"""Summary: what a person wants to know of a run, in SI numbers with stated windows."""

import dataclasses
import math
from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from footfall.hybrid.statistics import SUMMED, mean_name, told_names
from footfall.record.footfall import Footfall
from footfall.record.trajectory import Trajectory

#: metric name -> unit; those of single outputs have the units that these declare
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
    "friction_needed": "",
}
#: metrics that a short summary tells, where there are any of them
SHORT = ("mean_speed", "step_time", "step_length", "cost_of_transport", "mean_power", "yaw_rate")
#: A robot that has not come this far [m] has no cost of transport: it is stuck, and the ratio would
#: be of rounding.
NO_WAY = 1e-6
#: A way shorter than this [m] is rounding, and is 0: events are located to 1e-12 s, and robots go
#: about a metre a second.
ROUNDING = 1e-12


@dataclasses.dataclass(frozen=True)
class Summary:
    """Metrics over a stated window, the ledger, the events and the end of a run."""

    scenario: str
    outcome: dict[str, Any]
    metrics: dict[str, float | None]
    window: dict[str, Any]  #: where the metrics were taken
    ledger: dict[str, Any]
    events: list[dict[str, Any]]
    verdict: dict[str, Any]  #: whether to believe it: `Verdict.to_dict`
    units: dict[str, str] = dataclasses.field(default_factory=dict)  #: of each metric

    def to_dict(self) -> dict[str, Any]:
        """For JSON: non-finite numbers become null."""
        return _finite(dataclasses.asdict(self))

    def __repr__(self) -> str:
        """A dozen lines at most.

        How it ended, how it moved, where the energy went, what happened.
        """
        end, books = self.outcome, self.ledger
        lines = [f"{self.scenario or 'run'}: {end['sentence']}"]
        doubts = "; ".join(doubt["sentence"] for doubt in self.verdict["doubts"])
        lines.append(f"  verdict: {f'doubtful: {doubts}' if doubts else 'sound'}")
        told = {name: v for name, v in self.metrics.items() if v is not None}
        names = [n for n in SHORT if n in told] or list(told)[: len(SHORT)]
        lines += [
            f"  {name.replace('_', ' ')}: {told[name]:.5g} {self.units.get(name, '')}".rstrip()
            for name in names
        ]
        moved = {
            "in": sum(books["work"].values()) + sum(books["jump_work"].values()),
            "lost": sum(books["losses"].values()),
            "lost at jumps": sum(books["jump_losses"].values()),
        }
        said = ", ".join(f"{v:.4g} J {name}" for name, v in moved.items())
        lines.append(
            f"  energy: {said}; residual {books['relative_residual']:.1e} of"
            f" {books['throughput']:.4g} J"
        )
        unnamed = (
            f"{end['jumps']} jumps, of which nothing more is known" if end["jumps"] else "none"
        )
        lines.append(
            "  events:"
            f" {', '.join(f'{n} {name}' for name, n in self.event_counts().items()) or unnamed}"
        )
        return "\n".join(lines)

    def event_counts(self) -> dict[str, int]:
        return dict(Counter(e["name"] for e in self.events))


def summarise(trajectory: Trajectory, scenario: str = "", settle: float | None = None) -> Summary:
    """What a person wants to know of a run.

    How it ended, its metrics with their window, its energy ledger, its events.

    Arguments:
        trajectory: a run, as `ff.simulate` or `ff.open_run` gives it.
        scenario: its name, if not the one it was loaded by.
        settle: time from which the metrics are taken [s]; without it the plan's, else the middle of
            the run.

    Returns a `Summary`. Metrics are taken over whole steps: from the last footfall before the
    settling time to the last of the run.

    >>> import footfall as ff
    >>> summary = ff.summarise(ff.simulate(ff.load("passive-wheel", duration=3)))
    >>> print(f"{summary.metrics['mean_speed']:.4f} m/s over {summary.window['steps']:g} steps")
    0.6425 m/s over 6 steps
    """
    ending, source = trajectory.ending, trajectory.provenance
    scenario, settle = (
        scenario or source.get("scenario", ""),
        source.get("settle") if settle is None else settle,
    )
    metrics, window = _metrics(trajectory, settle)
    events = [
        {"t": e.t, "name": e.name} | ({} if e.leg is None else {"leg": e.leg})
        for e in trajectory.events
    ]
    outcome = {
        "name": ending.outcome.name,
        "meaning": ending.meaning,
        "sentence": ending.sentence,
        "t": ending.t,
        "event": ending.event,
        "room": ending.room,
        "state": ending.state,
        "jumps": ending.jumps,
        "solver_steps": ending.steps,
        "solver_steps_tried": ending.tried,
    }
    return Summary(
        scenario,
        outcome,
        metrics,
        window,
        trajectory.ledger.to_dict(),
        events,
        trajectory.verdict.to_dict(),
        _units(trajectory, metrics),
    )


def _units(run: Trajectory, metrics: Iterable[str]) -> dict[str, str]:
    """Of each metric; that of a single output has the output's unit."""
    means = () if run.travel is None else run.travel.means
    known = UNITS | {mean_name(name): run.signals[name].unit for name in means}
    for name in run.of_role("output"):
        known |= dict.fromkeys(told_names(name), run.signals[name].unit)
    return {metric: known.get(metric, "") for metric in metrics}


def _metrics(
    run: Trajectory, settle: float | None
) -> tuple[dict[str, float | None], dict[str, Any]]:
    travel = run.travel
    if travel is None or len(run.t) < 2:
        # What stays where it is has no steps: all of its run counts.
        told = (
            _motor_metrics(run, _at_rows(run, np.array([0, len(run.t) - 1])), 0.0)
            if len(run.t) > 1
            else {}
        )
        return told, {"from": 0.0, "to": run.ending.t, "steps": 0, "settled": False}
    begin = 0.5 * run.ending.t if settle is None else settle
    ends = None if travel.planned else _settled(_footfalls(run), begin)
    settled = ends is not None or (travel.planned and run.t[-1] > run.t[0])
    ends = ends or _at_rows(run, np.array([0, len(run.t) - 1]))
    first, last = map(int, ends.row)
    time, distance, work = (float(v[1] - v[0]) for v in (ends.t, ends.distance, ends.work))
    distance = distance if abs(distance) > ROUNDING else 0.0
    counted = ends.counts[1] - ends.counts[0]
    sides = len(travel.step_counters)
    steps = float(np.sum(counted)) / sides
    step_time = (
        _ratio(time, steps) if travel.planned else _step_time(run, begin) if settled else None
    )
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
        "cost_of_transport": (
            _ratio(work, weight * abs(distance)) if abs(distance) > NO_WAY else None
        ),
    }
    if sides > 1:
        metrics |= {name: float(n) for name, n in zip(travel.step_counters, counted, strict=True)}
    between = float(run.t[last] - run.t[first])  # of the rows, where footfalls lie between them
    if travel.heading is not None:
        rate = _ratio(run[travel.heading][last] - run[travel.heading][first], between)
        metrics["yaw_rate"] = rate
        metrics["turn_radius"] = _ratio(metrics["mean_speed"] or 0.0, abs(rate or 0.0))
    if run.least_pushes:
        metrics["least_leg_force"] = min(run.least_pushes.values())
    friction = [run[name][first : last + 1] for name in travel.friction]
    # Over whole steps: a lift-off that ends the run would need any friction.
    if friction and settled:
        metrics["friction_needed"] = float(np.max(friction))
    metrics |= _means(run, ends)
    metrics |= _motor_metrics(run, ends, weight * abs(distance))
    window = {
        "from": float(ends.t[0]),
        "to": float(ends.t[1]),
        "steps": steps,
        "settled": bool(settled),
    }
    return metrics, window


class _Marks(NamedTuple):
    """Moments of a run between which metrics are taken."""

    t: np.ndarray
    distance: np.ndarray
    work: np.ndarray  #: of the motors
    counts: np.ndarray  #: (moments, sides) footfalls so far
    totals: np.ndarray  #: (moments, columns) integrals of outputs and of their squares so far
    row: np.ndarray  #: of the record: the moment itself, or the first after it


def _at_rows(run: Trajectory, rows: np.ndarray) -> _Marks:
    travel, none = run.travel, np.zeros(len(rows))
    totals = np.stack([none, *(run[name][rows] for name in _totals(run))], axis=1)[:, 1:]
    if travel is None:
        return _Marks(run.t[rows], none, none, none[:, None], totals, rows)
    paid = [f"{kind}.{name}" for name in travel.motor_ports for kind in ("work", "jump_work")]
    work = sum((run[name][rows] for name in paid if name in run.columns), none)
    counts = np.stack([run[name][rows] for name in travel.step_counters], axis=1)
    return _Marks(run.t[rows], run[travel.distance][rows], work, counts, totals, rows)


def _totals(run: Trajectory) -> list[str]:
    """Columns of running integrals."""
    return [name for name in run.of_role("statistic") if not name.startswith("peak.")]


def _integrals(run: Trajectory, ends: _Marks, name: str) -> tuple[float, float]:
    """Of an output and of its square, between two moments.

    As the engine kept them, or else by the trapezoid rule over the rows.
    """
    kept = _totals(run)
    if f"integral.{name}" in kept:
        value, square = (
            ends.totals[:, kept.index(f"{kind}.{name}")] for kind in ("integral", "square")
        )
        return float(value[1] - value[0]), float(square[1] - square[0])
    rows = slice(int(ends.row[0]), int(ends.row[1]) + 1)
    t, values = run.t[rows], run[name][rows]
    return float(np.trapezoid(values, t)), float(np.trapezoid(values**2, t))


def _footfalls(run: Trajectory, side: int | None = None) -> _Marks:
    """Footfalls of all sides or of one.

    As they were located between the rows, or else the rows just after them.
    """
    assert run.travel is not None
    counters = run.travel.step_counters if side is None else (run.travel.step_counters[side],)
    located = [e for e in run.events if isinstance(e, Footfall) and e.side in counters]
    if located:
        return _Marks(
            *map(
                np.array,
                zip(
                    *((e.t, e.distance, e.work, e.counts, e.totals, e.row_after) for e in located),
                    strict=True,
                ),
            )
        )
    counts = np.sum([run[name] for name in counters], axis=0)
    return _at_rows(run, np.flatnonzero(np.diff(counts) > 0) + 1)


def _settled(footfalls: _Marks, begin: float) -> _Marks | None:
    """The last footfall at or before `begin` (the first, if there was none before) and the last one
    of all; None if that is one or none.
    """
    t = footfalls.t
    if len(t) < 2 or t[-1] < begin:
        return None
    before = np.flatnonzero(t <= begin)
    first = int(before[-1]) if len(before) else 0
    return _Marks(*(v[[first, -1]] for v in footfalls)) if first < len(t) - 1 else None


def _step_time(run: Trajectory, begin: float) -> float | None:
    """Time between a side's own footfalls: the inverse of the mean of the sides' step rates."""
    assert run.travel is not None
    rates = []
    for side in range(len(run.travel.step_counters)):
        ends = _settled(_footfalls(run, side), begin)
        if ends is None or ends.t[1] == ends.t[0]:
            return None
        rates.append((ends.counts[1, side] - ends.counts[0, side]) / (ends.t[1] - ends.t[0]))
    return float(1.0 / np.mean(rates))


def _means(run: Trajectory, ends: _Marks) -> dict[str, float | None]:
    """Means that this robot's people want to know."""
    assert run.travel is not None
    time = float(ends.t[1] - ends.t[0])
    return {
        mean_name(name): _ratio(_integrals(run, ends, name)[0], time) for name in run.travel.means
    }


def _motor_metrics(run: Trajectory, ends: _Marks, transport: float) -> dict[str, float | None]:
    """Mean, root-mean-square and peak of torques, currents and errors.

    And the electrical energy.
    """
    rows, out = slice(int(ends.row[0]), int(ends.row[1]) + 1), {}
    time, electrical, known = float(ends.t[1] - ends.t[0]), 0.0, False
    for name in run.of_role("output"):
        group, _, leaf = name.rpartition(".")
        if told := told_names(name):
            values = run[name][rows]
            total, square = (_ratio(v, time) for v in _integrals(run, ends, name))
            mean, rms, peak = told
            out[mean] = total
            out[rms] = None if square is None else math.sqrt(max(square, 0.0))
            # Rows stand on both sides of every jump; what lies inside the steps between them was
            # kept with the row after.
            between = run.columns.get(f"peak.{name}", np.zeros(len(run.t)))[rows][1:]
            out[peak] = float(max(np.max(np.abs(values)), np.max(between, initial=0.0)))
        elif leaf == SUMMED:
            electrical += _integrals(run, ends, name)[0]
            # Equal to the mechanical power: no winding resistance was given, so nothing electrical
            # is known.
            known = known or not np.array_equal(run[name][rows], run[f"{group}.power"][rows])
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
