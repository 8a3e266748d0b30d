"""The fastest gait of a motion plan, the thriftiest, and what lies between: a study.

Which robot, its knobs and what a table shows of a gait: the plan says (hybrid/motion_plan.py).
"""

import math
from collections.abc import Callable, Sequence
from typing import Any

from footfall.engines.analysis.plan_optimum import (
    FrontSearch,
    NoGait,
    Optimum,
    as_settings,
    best_of,
)
from footfall.hybrid.doubt import word_of
from footfall.hybrid.fields import ParameterError, Parametric, param, text
from footfall.hybrid.motion_plan import AbstractTunablePlan, GaitColumn
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.study import AbstractStudy, Answer, Answers, Progress, Sheet, finite
from footfall.numerics.units import UnitError, to_si


class OptimiseRequest(Parametric):
    """Where gaits are sought, and how many."""

    points: int = param(
        12, ge=2, doc="number of gaits: the fastest, the thriftiest, those between", static=True
    )
    ranges: str = text("", doc="KEY=A:B; KEY=A:B: ranges of knobs instead of the usual ones")


class Optimise(AbstractStudy):
    """What time costs in energy. A case is a gait; what one search found helps the next."""

    name, place, doing, file = "optimise", "optima", "searching", "front"
    Request = OptimiseRequest
    noun, rows_key = "gaits", "front"

    def __init__(self, request: OptimiseRequest, subject: Any):
        super().__init__(request, subject)
        if not isinstance(subject.system, AbstractTunablePlan):
            raise subject.refuse(
                "this robot does not follow a plan whose gait could be tuned. Try two-leg-step."
            )
        self.columns: Sequence[GaitColumn] = subject.system.gait_columns
        try:
            ranges = _ranges(subject.system, request.ranges)
            self.knobs = [knob.name for knob in subject.system.tuning(ranges).knobs]
            self.search = FrontSearch(subject.system, request.points, ranges, self._refuses)
        except (ParameterError, NoGait) as error:
            raise subject.refuse(str(error)) from None

    def prepare(self, say: Callable[[str], None]) -> None:
        say("evaluating the scenario's own gait")
        self.own = _figures(self.subject)

    @property
    def cases(self) -> list[dict[str, Any]]:
        words = ["fastest", "thriftiest", *range(1, self.request.points - 1)]
        return [{"gait": word} for word in words]

    def _refuses(self, gait: Optimum) -> str | None:
        """A gait counts only if its scenario loads and its plan arrives.

        Loading checks every footstep against the ground.
        """
        made = self.subject.changed_or_why(as_settings(gait))
        if isinstance(made, str):
            return made
        outcome = Outcome(int(made.figures()["outcome"]))
        if outcome is Outcome.arrived:
            return None
        return (
            f"with {', '.join(as_settings(gait))} the walker ends as {outcome.name}:"
            f" {outcome.meaning}."
        )

    def answers(
        self, places: Sequence[int], before: Answers, progress: Progress
    ) -> Sequence[Answer]:
        (place,) = places
        if place:
            self.search.recall(before[place - 1].memory["search"])
        gaits = [_optimum(before[k].memory["gait"]) for k in range(place)]
        try:
            gait = self.search.gait(place, gaits, progress)
        except NoGait as error:
            raise self.subject.refuse(
                f"{error} Widen a --range, or raise what the motors can do."
            ) from None
        memory = {"gait": gait and list(vars(gait).values()), "search": self.search.memory}
        if gait is None:
            return [Answer({}, (), memory)]
        tuned = self.subject.changed(as_settings(gait))
        doubts = tuple(tuned.system.figure_doubts(tuned.figures()))
        row = {**gait.values, **_figures(tuned), "held_by": list(gait.at_limit)}
        return [Answer(row | {"verdict": word_of(doubts)}, doubts, memory)]

    def kept(self, found: Answers) -> list[Answer]:
        places = sorted(found)
        gaits = [_optimum(found[place].memory["gait"]) for place in places]
        front = best_of([gait and (gait.time, gait.energy) for gait in gaits])
        return [found[places[k]] for k in front]

    def summary(self, found: Answers) -> dict[str, Any]:
        del found
        return {"torque_limit": self.search.torque_limit, "scenario_gait": self.own}

    def shown(self, found: Answers) -> list[GaitColumn]:
        """Columns that say something."""
        rows = [answer.row for answer in self.kept(found)]

        def differs(column: GaitColumn) -> bool:
            (name,), other = column.names, column.unless_like
            return any(abs(row[name] - row[other]) > 1e-9 * abs(row[other]) for row in rows)

        return [c for c in self.columns if not c.unless_like or differs(c)]

    def page(self, found: Answers, took: float | None) -> list[Sheet | str]:
        rows, columns = [answer.row for answer in self.kept(found)], self.shown(found)
        mine = {knob: self.subject.value(knob) for knob in self.knobs}
        cells = [
            [
                *(shown_value(row, column) for column in columns),
                ", ".join(self._short(held) for held in row["held_by"]),
            ]
            for row in [*rows, {**mine, **self.own, "held_by": ["(own gait)"]}]
        ]
        heads = [f"{column.heading}\n{column.unit}".rstrip() for column in columns]
        limit = self.search.torque_limit
        said = (
            "no torque limit (--set torque_limit=0.5)"
            if limit is None
            else f"torques up to {limit:g} N m"
        )
        layouts, solves = (
            len(self.search.layouts),
            max(_solves(answer) for answer in found.values()),
        )
        tail = [
            f"{layouts} layout{'' if layouts == 1 else 's'} of steps, {solves} solves by SLSQP with"
            " exact derivatives" + ("" if took is None else f", {took:.1f} s with compilation")
        ]
        tail += [
            column.remark
            for column in columns
            if column.remark and any((row[column.names[0]] or -1.0) < 0 for row in rows)
        ]
        return [f"best gaits, {said}", Sheet([*heads, "held by"], cells, left=(len(heads),)), *tail]

    def _short(self, held: str) -> str:
        """ "least gait.lift" as "least lift"."""
        for knob in self.knobs:
            held = held.replace(knob, knob.rpartition(".")[2])
        return held

    def files(self, found: Answers) -> dict[str, str]:
        rows = [answer.row for answer in self.kept(found)]
        return {
            f"{word}.toml": self.subject.changed([f"{k}={row[k]!r}" for k in self.knobs]).to_toml()
            for word, row in (("fastest", rows[0]), ("thriftiest", rows[-1]))
        }


def shown_value(row: dict[str, Any], column: GaitColumn) -> str:
    """A cell of the table of gaits."""
    values = [row[name] for name in column.names]
    return "-" if None in values else f"{column.factor * max(values):{column.form}}"


def _solves(answer: Answer) -> int:
    return answer.memory["search"]["solves"]


def _optimum(said: list[Any] | None) -> Optimum | None:
    return None if said is None else Optimum(*said)


def _figures(subject: Any) -> dict[str, float | None]:
    kept = subject.system.gait_figures
    return {name: finite(value) for name, value in subject.figures().items() if name in kept}


def _ranges(plan: AbstractTunablePlan, said: str) -> dict[str, tuple[float, float]]:
    """`gait.lift=2 mm:20 mm` -> its ends.

    What is no knob of the plan has no ends either, and is refused by its name.
    """
    units = {knob.name: knob.unit for knob in plan.tuning({}).knobs}
    ranges = {}
    for words in filter(None, (part.strip() for part in said.split(";"))):
        key, _, span = (part.strip() for part in words.partition("="))
        low, colon, high = (part.strip() for part in span.partition(":"))
        try:
            if not colon:
                raise ValueError("two ends are wanted")
            ends = (to_si(low, units[key]), to_si(high, units[key])) if key in units else None
        except (UnitError, ValueError) as error:
            raise ParameterError(
                f'--range {words}: {error}. Write it as --range gait.lift="2 mm:20 mm".', "range"
            ) from None
        ranges[key] = ends or (math.nan, math.nan)
    return ranges
