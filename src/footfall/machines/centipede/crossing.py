"""How often a robot gets over gaps: every set of its reflexes, every width, many arrivals.

Whether one run crosses says little, for it depends on where in its stride the robot arrives. So
each cell is a count over arrivals. A case is a run, and many of them are one batch.
"""

import dataclasses
import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from footfall.hybrid.doubt import DOUBTS, Doubt, word_of
from footfall.hybrid.fields import Parametric, numbers, param, text
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.study import AbstractStudy, Answer, Answers, Progress, Sheet, finite


class CrossingRequest(Parametric):
    """What is varied, and how it is run. A stride of the centipede is 60 mm."""

    widths: tuple[float, ...] = numbers(
        (0.025, 0.050, 0.075, 0.100, 0.125, 0.150, 0.200), unit="m", gt=0, doc="width of a gap"
    )
    arrivals: int = param(10, ge=1, doc="number of runs a cell", static=True)
    spread: float = param(0.06, unit="m", ge=0, doc="length over which arrivals are spread")
    vary: str = text("", doc="one more number, for a map of robustness")
    step: float | None = param(None, unit="s", gt=0, doc="fixed step of all runs")
    method: str = text("", doc="of the steps; the scenario's where it is not given")
    precision: str = text("float64", doc="float64 or float32")
    path: str = text("auto", doc="what the batch runs on")


@dataclasses.dataclass(frozen=True)
class Crossings:
    """What became of every run: arrays over (controllers, values, widths, arrivals)."""

    controllers: tuple[str, ...]  #: the switches that are on, joined by +, or "none"
    crossed: np.ndarray
    t_end: np.ndarray  #: s
    residual: np.ndarray  #: of the energy ledger, relative to throughput

    @property
    def counts(self) -> np.ndarray:
        """(controllers, values, widths): how many of the arrivals got over."""
        return self.crossed.sum(axis=-1)

    @property
    def times(self) -> np.ndarray:
        """Median time at which the tail was over, NaN where none was.

        (controllers, values, widths).
        """
        late = np.where(self.crossed, self.t_end, np.nan)
        some = self.counts > 0
        return np.where(some, np.nanmedian(np.where(some[..., None], late, 0.0), axis=-1), np.nan)


class Crossing(AbstractStudy):
    """Counts of crossings over one gap."""

    name, place, doing, file = "crossing", "crossings", "crossing", "crossings"
    Request = CrossingRequest
    older_results = "crossings.json"

    def __init__(self, request: CrossingRequest, subject: Any):
        super().__init__(request, subject)
        switches = subject.switches()
        if switches is None:
            raise subject.refuse(
                "this robot has no reflexes to switch on and off. Try centipede-gap."
            )
        terrain = subject.document.get("terrain", {})
        if "gap_start" not in terrain:
            raise subject.refuse(
                "crossings are counted over one gap, --set terrain=gap, not over terrain"
                f' "{terrain.get("kind")}".'
            )
        key, options = switches
        keys = {option: f"{key}.{option}" for option in options}
        taken = [*keys.values(), "terrain.gap_width", "terrain.gap_start"]
        self.axis = subject.axis(request.vary, taken) if request.vary else None
        self.plan = subject.batch_plan(
            step=request.step,
            method=request.method or None,
            precision=request.precision,
            path=request.path,
        )
        sets = [
            s for size in range(len(options) + 1) for s in itertools.combinations(options, size)
        ]
        self.controllers = tuple("+".join(chosen) or "none" for chosen in sets)
        self.values: tuple[float, ...] = (math.nan,)  # one that nobody looks at
        if self.axis is not None:
            self.values = tuple(self.axis.at(np.arange(len(self.axis.values) or self.axis.count)))
        near, places = float(terrain["gap_start"]), np.arange(request.arrivals) / request.arrivals
        starts = near + request.spread * places
        self.shape = (len(sets), len(self.values), len(request.widths), request.arrivals)
        which, value, width, arrival = (index.ravel() for index in np.indices(self.shape))
        columns = {keys[o]: np.array([float(o in s) for s in sets])[which] for o in options}
        columns |= {
            "terrain.gap_width": np.array(request.widths)[width],
            "terrain.gap_start": starts[arrival],
        }
        if self.axis is not None:
            columns[self.axis.key] = np.array(self.values)[value]
        shown = {
            k.rpartition(".")[2]: columns[k] for k in ("terrain.gap_width", "terrain.gap_start")
        }
        shown = ({self.axis.key: columns[self.axis.key]} if self.axis else {}) | shown
        self._cases = [
            {"controller": self.controllers[which[i]]} | {k: float(v[i]) for k, v in shown.items()}
            for i in range(len(which))
        ]
        self.lanes = subject.lanes(columns, self.plan)
        self.at_once = self.lanes.at_once

    @property
    def cases(self) -> list[dict[str, Any]]:
        return self._cases

    def prepare(self, say: Callable[[str], None]) -> None:
        if self.plan.step is not None:
            say("looking at the step")
            self.warnings = self._unstable(self.plan.step, self.plan.method)
        self.lanes.prepare()

    def _unstable(self, step: float, method: str) -> list[str]:
        """Friction holds a light tip by a damper of slope mu N c.

        An explicit step must stay below 2 m/(mu N c).
        """
        decay, reach = self.subject.fastest_decay(method)
        # The robot starts pressed into the ground, with more load on its feet than it will ever
        # have: a margin of two for walking.
        limit = 2.0 * reach / decay if decay else math.inf
        if step <= limit:
            return []
        digit = 10.0 ** math.floor(math.log10(limit))
        return [
            f"--step {step:g} s is above the longest stable step of {method} for walking, about"
            f" {limit:.2g} s: friction on the light tips decays at {0.5 * decay:.3g} 1/s."
            f" Expect a wrong count; try --step {digit * math.floor(limit / digit):.0e} or less."
        ]

    def answers(
        self, places: Sequence[int], before: Answers, progress: Progress
    ) -> Sequence[Answer]:
        """A run that gets over ends there; the others are given the plan's whole duration."""
        del before
        result = self.lanes.run(places, progress)
        memory = {"path": result.path, "notes": list(result.notes)}
        given = []
        for lane, place in enumerate(places):
            doubts = tuple(
                Doubt(n, DOUBTS.get(n, n)) for n, is_ in result.doubts.items() if is_[lane]
            )
            value = {name: column[lane] for name, column in result.columns.items()}
            row = self.cases[place] | {
                "outcome": Outcome(int(value["outcome"])).name,
                "t_end": float(value["t_end"]),
                "verdict": word_of(doubts),
                "time_step": float(value["time_step"]),
                "relative_residual": finite(value["relative_residual"]),
            }
            given.append(Answer(row, doubts, memory))
        return given

    def crossings(self, found: Answers) -> Crossings:
        """All of them; what is not answered yet did not cross."""
        missing = {"outcome": "", "t_end": math.nan, "relative_residual": math.nan}
        rows = [found[i].row if i in found else missing for i in range(len(self.cases))]

        def cells(name: str) -> np.ndarray:
            return np.array([row[name] for row in rows]).reshape(self.shape)

        return Crossings(
            self.controllers,
            cells("outcome") == Outcome.arrived.name,
            cells("t_end"),
            cells("relative_residual").astype(float),
        )

    def reasons(self, found: Answers) -> dict[str, int]:
        """How many runs each reason for doubt was given for, the commonest first."""
        return dict(Counter(d.name for a in found.values() for d in a.doubts).most_common())

    def doubtful(self, found: Answers) -> int:
        return sum(bool(answer.doubts) for answer in found.values())

    def steps(self, found: Answers) -> dict[float, int]:
        """How many runs took each step [s], the longest first."""
        return dict(sorted(Counter(a.row["time_step"] for a in found.values()).items())[::-1])

    def summary(self, found: Answers) -> dict[str, Any]:
        all_, steps = self.crossings(found), self.steps(found)
        residual = [np.nan_to_num(abs(r), nan=1.0) for r in all_.residual.ravel()]
        return {
            "arrivals": self.request.arrivals,
            "widths": list(self.request.widths),
            "controllers": list(self.controllers),
            "varied": None if self.axis is None else self.axis.key,
            "values": [] if self.axis is None else list(map(float, self.values)),
            "counts": all_.counts.tolist(),
            "median_times": np.where(
                np.isnan(all_.times), None, all_.times.astype(object)
            ).tolist(),
            "doubtful": self.doubtful(found),
            "doubts": self.reasons(found),
            "largest_residual": float(max(residual)),
            "duration": self.plan.duration,
            "steps": [{"step": step, "runs": count} for step, count in steps.items()],
            "method": self.plan.method,
            "precision": self.plan.precision,
            "path": "; ".join(dict.fromkeys(a.memory["path"] for a in found.values())),
        }

    def page(self, found: Answers, took: float | None) -> list[Sheet | str]:
        all_, said = self.crossings(found), self.summary(found)
        parts: list[Sheet | str] = [f"crossed of {self.request.arrivals} arrivals"]
        columns = ["width, mm", *(f"{1e3 * width:g}" for width in self.request.widths)]
        for row, value in enumerate(self.values):
            title = f"{self.axis.key} = {value:.4g} {self.axis.unit}".strip() if self.axis else ""
            rows = []
            for which, name in enumerate(self.controllers):
                cells = zip(all_.counts[which, row], all_.times[which, row], strict=True)
                rows.append([name, *(f"{n} {t:.1f}" if n else "0     " for n, t in cells)])
            parts.append(Sheet(columns, rows, title, left=(0,)))
        each = " and ".join(
            f"{s['step']:.4g} s" + (f" ({s['runs']})" if s["runs"] < len(found) else "")
            for s in said["steps"]
        )
        speed = ""
        if took is not None:
            done = sum(self.plan.duration / step * n for step, n in self.steps(found).items())
            speed = (
                f", {took:.1f} s with compilation ({1e-6 * done / took:.2g} million robot-steps/s)"
            )
        notes = dict.fromkeys(note for answer in found.values() for note in answer.memory["notes"])
        return [
            *parts,
            f"{len(found)} runs of {self.plan.duration:g} s, step {each} ({self.plan.method},"
            f" {self.plan.precision}), {said['path']}{speed}. After each count the median time [s]"
            " until the tail is over.",
            *notes,
        ]

    def advice(self, found: Answers) -> str:
        """How many runs should not be believed, why, and what to try."""
        why = "; ".join(f"{name} in {count}" for name, count in self.reasons(found).items())
        cure = (
            "Without --step each run takes one that suits it"
            if self.plan.step
            else "Try a shorter --step and see whether the counts stay"
        )
        return (
            f"{self.doubtful(found)} of {len(found)} runs are doubtful ({why}): this step is too"
            " long for something they do (a leg drawn up to a few millimetres turns at 1e5 1/s)."
            f" {cure}; docs/theory/centipede.md, section 6."
        )
