"""What each integrator's accuracy costs on one scenario: a study. A case is a method at a setting.

How wrong some methods are is what it tells; it is doubtful where its reference is.
"""

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

from footfall.engines.analysis.compare import (
    DEFAULT,
    NoReference,
    Result,
    device,
    find_reference,
    known_methods,
    plan_trials,
    run_trial,
)
from footfall.engines.events.event_engine import EventEngine
from footfall.hybrid.doubt import Doubt
from footfall.hybrid.fields import ParameterError, Parametric, param, text
from footfall.hybrid.study import AbstractStudy, Answer, Answers, Progress, Sheet, finite

#: s; the span compared over when nobody says: long enough for a touchdown, short enough for a
#: thousand steps of anything.
SPAN = 0.2


class CompareRequest(Parametric):
    """Which methods, over which time."""

    solvers: str = text("", doc="names, joined by commas; one of each kind where none is given")
    duration: float | None = param(None, unit="s", gt=0, doc="time compared over")


class Compare(AbstractStudy):
    """Error against cost."""

    name, place, doing, file = "compare-integrators", "comparisons", "comparing", "comparison"
    Request = CompareRequest
    notice = (
        "every method is compiled first, which takes a while once per robot; Ctrl-C shows what is"
        " there"
    )
    rows_key = "runs"

    def __init__(self, request: CompareRequest, subject: Any):
        super().__init__(request, subject)
        subject.require_flow("a comparison of integrators")
        names = [name.strip() for name in request.solvers.split(",") if name.strip()]
        try:
            self.methods = known_methods(names) if names else DEFAULT
        except ValueError as error:
            raise ParameterError(f"--solvers {request.solvers}: {error}", "solvers") from None
        self.span = request.duration or min(subject.plan.duration, SPAN)
        self.plan = dataclasses.replace(
            subject.event_plan,
            duration=self.span,
            settle=None,
            step=None,
            solver=EventEngine().solver,
        )

    def prepare(self, say: Callable[[str], None]) -> None:
        system, start = self.subject.system, self.subject.start
        try:
            self.reference = find_reference(system, start, self.plan, say)
        except NoReference as error:
            raise self.subject.refuse(f"{error} Try a shorter --duration.") from None
        self.trials = plan_trials(self.plan, start, self.reference, self.methods)

    @property
    def cases(self) -> list[dict[str, Any]]:
        return [{"method": trial.method, "setting": trial.setting} for trial in self.trials]

    def answers(
        self, places: Sequence[int], before: Answers, progress: Progress
    ) -> Sequence[Answer]:
        del before
        (place,) = places
        subject = self.subject
        result = run_trial(
            subject.system, subject.start, self.trials[place], self.reference, lambda: progress(0.0)
        )
        return [Answer(result.to_dict())]

    def results(self, found: Answers) -> list[Result]:
        """What came of each trial."""
        return [Result(**answer.row) for answer in self.kept(found)]

    def doubts(self) -> tuple[Doubt, ...]:
        return self.reference.run.verdict.doubts

    def _limits(self) -> dict[str, float]:
        return {trial.method: trial.limit.step for trial in self.trials if trial.limit is not None}

    def summary(self, found: Answers) -> dict[str, Any]:
        del found
        return {
            "span": self.span,
            "reference": self.reference.to_dict(),
            "longest_stable_step": {name: finite(step) for name, step in self._limits().items()},
            "device": device(),
        }

    def page(self, found: Answers, took: float | None) -> list[Sheet | str]:
        results = self.results(found)
        slow = any(result.slow_error is not None for result in results)
        columns = ["error", *(["slow"] if slow else []), "tried", "evals", "ms", "ledger"]
        rows, before = [], ""
        for r in results:
            mark = " !" if r.above_limit else ""
            least = ">=" if r.evaluations_are_least else ""
            cells = [
                self._error(r),
                *([_cell(r.slow_error, ".1e")] if slow else []),
                _cell(r.tried, "d"),
                least + _cell(r.evaluations, "d"),
                _cell(r.seconds and 1e3 * r.seconds, ".0f" if (r.seconds or 0) > 0.1 else ".3g"),
                _cell(r.residual, ".0e"),
            ]
            rows.append([r.method if r.method != before else "", r.setting + mark, *cells])
            before = r.method
        return [
            f"{self.span:g} s",
            *self._conditions(),
            Sheet(["method", "setting", *columns], rows, left=(0, 1)),
            *self._notes(results),
        ]

    def _conditions(self) -> list[str]:
        reference, ending = self.reference, self.reference.run.ending
        known = f"uncertain by {reference.uncertainty.scaled:.1e} (against {reference.against})"
        if not reference.against:
            known = "no second tight run ends alike, so how far to trust it is not known"
        lines = [
            f"reference: {reference.method} at rtol {reference.rtol:g}, {ending.outcome.name} at t"
            f" = {ending.t:g} s after {ending.jumps} jumps; {known}"
        ]
        value, t = reference.seen.largest
        if value:
            imag = f" +- {abs(value.imag):.3g}i" if abs(value.imag) > 1e-3 * abs(value.real) else ""
            lines.append(
                f"largest decaying eigenvalue: {value.real:.3g}{imag} 1/s at t = {t:.3g} s"
            )
        limits = {name: step for name, step in self._limits().items() if step < ending.t}
        if limits:
            each = ", ".join(f"{name} {step:.2g} s" for name, step in limits.items())
            lines.append(f"longest stable step: {each}")
        return lines

    def _error(self, result: Result) -> str:
        if result.error is None:
            return result.outcome.replace("_", " ")
        known = self.reference.uncertainty.scaled
        star = "*" if result.jumps != self.reference.run.ending.jumps else ""
        below = result.error < known < math.inf
        return f"<{known:.0e}" if below else f"{star}{result.error:.1e}"

    def _notes(self, results: Sequence[Result]) -> list[str]:
        compiled = sum(result.compile_seconds or 0.0 for result in results)
        jumps = self.reference.run.ending.jumps
        told = {
            "error: largest |x - x_ref| / (1 + |x_ref|) over the states at the end": True,
            "slow: largest |x - x_ref| over the states that are not marked fast, in their units": (
                any(r.slow_error is not None for r in results)
            ),
            "tried: steps, with rejected and searching ones; evals: evaluations of the flow by the"
            " method": True,
            ">=: at least; two to an implicit stage, and one per state for a Jacobian": any(
                r.evaluations_are_least for r in results
            ),
            f"ms: a compiled run, the best of a few ({device()}); compiling took"
            f" {compiled:.3g} s in all": True,
            "!: the step is above the longest stable one; the run may stay bounded and be wrong": (
                any(r.above_limit for r in results)
            ),
            "*: another number of jumps than the reference had": any(
                r.error is not None and r.jumps != jumps for r in results
            ),
        }
        remarks = dict.fromkeys(f"{r.method}: {r.remark}" for r in results if r.remark)
        return [*(words for words, holds in told.items() if holds), *remarks]


def _cell(value: float | None, form: str) -> str:
    return "" if value is None else f"{value:{form}}"
