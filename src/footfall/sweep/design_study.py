"""footfall design: values of some keys with which the gait of a robot is best.

A case is a start of the search; each is kept once it is done.
"""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from footfall.engines.analysis.gait_doubts import gait_doubts
from footfall.engines.analysis.return_map import NoCycle
from footfall.hybrid.doubt import word_of
from footfall.hybrid.fields import Parametric, param, text
from footfall.hybrid.study import AbstractStudy, Answer, Answers, Progress, Sheet, finite
from footfall.scenario.design import Design, Seeker, best_of, parse_free
from footfall.scenario.gait import figures

#: Written beside the table.
SCENARIO = "best.toml"


class DesignRequest(Parametric):
    """What is to be small, what may change, what must hold."""

    minimise: str = text("cost_of_transport", doc="figure of the gait to minimise")
    free: str = text("", doc="keys that may change, joined by commas")
    subject_to: str = text("", doc="constraints, joined by semicolons")
    event: str = text("", doc="event a step ends with")
    starts: int = param(3, ge=1, le=8, static=True, doc="searches from as many places")


class DesignStudy(AbstractStudy):
    """A better robot, with its evidence."""

    name, place, doing, file = "design", "designs", "searching", "design"
    Request = DesignRequest
    noun, rows_key = "searches", "searches"

    def __init__(self, request: DesignRequest, subject: Any):
        super().__init__(request, subject)
        subject.require_flow("a design by its gait")
        self.free = parse_free(subject.experiment, request.free)

    @functools.cached_property
    def seeker(self) -> Seeker:
        request = self.request
        limits = [said for said in request.subject_to.split(";") if said.strip()]
        try:
            return Seeker(
                self.subject.experiment, request.minimise, self.free, limits, request.event or None
            )
        except NoCycle as none:
            raise self.subject.refuse(
                f"no gait to begin with. {none}\n  `footfall gait {self.subject.origin}` says more."
            ) from None

    @property
    def cases(self) -> list[dict[str, Any]]:
        return [{"start": k} for k in range(self.request.starts)]

    def answers(
        self, places: Sequence[int], before: Answers, progress: Progress
    ) -> Sequence[Answer]:
        del before
        (place,) = places
        seeker = self.seeker
        shares, cycle = seeker.search(seeker.starts(self.request.starts)[place], progress)
        values = dict(zip(seeker.family.keys, map(float, seeker.values(shares)), strict=True))
        doubts = () if cycle is None else gait_doubts(cycle)
        row: dict[str, Any] = {"start": place, "verdict": word_of(doubts)}
        row |= {"keeps_constraints": False, **values}
        if cycle is not None:
            row["keeps_constraints"] = seeker.feasible(cycle)
            row |= {name: finite(value) for name, value in figures(cycle).items()}
        known = figures(seeker.first)
        # A search that came to nothing has the same columns.
        row = {**dict.fromkeys(["start", "verdict", "keeps_constraints", *values, *known]), **row}
        numbers = seeker.first.point.flat if cycle is None else cycle.point.flat
        memory = [[float(v) for v in part] for part in (shares, numbers)]
        return [Answer(row, doubts, memory)]

    @functools.cached_property
    def _designs(self) -> dict[int, Design]:
        return {}

    def best(self, found: Answers) -> Design:
        """Raises ScenarioError where no search kept the constraints."""
        if len(found) not in self._designs:
            seeker, results = self.seeker, []
            for answer in found.values():
                if answer.row.get(seeker.minimise) is not None:
                    shares, numbers = map(np.array, answer.memory)
                    first = seeker.first
                    near = first._replace(state=first.map.state(numbers, first.point.counts))
                    results.append((shares, seeker.gait(seeker.values(shares), near)))
            self._designs[len(found)] = best_of(seeker, results)
        return self._designs[len(found)]

    def kept(self, found: Answers) -> list[Answer]:
        """All searches; only what is said against the best speaks against the design."""
        searches, name = super().kept(found), self.request.minimise
        fine = [search for search in searches if search.row["keeps_constraints"]]
        best = min(fine, key=lambda search: search.row[name], default=None)
        return [one if one is best else one._replace(doubts=()) for one in searches]

    def summary(self, found: Answers) -> dict[str, Any]:
        best = self.best(found)
        return {
            "minimised": best.minimised,
            "values": dict(best.values),
            "figures": {name: finite(value) for name, value in best.figures.items()},
            "before": {name: finite(value) for name, value in best.before.items()},
            "active": list(best.active),
            "sensitivities": dict(best.sensitivities),
        }

    def files(self, found: Answers) -> dict[str, str]:
        return {SCENARIO: self.best(found).experiment.to_toml()}

    def page(self, found: Answers, took: float | None) -> list[Sheet | str]:
        best = self.best(found)
        seeker, name = self.seeker, best.minimised
        seconds = f" in {took:.1f} s" if took is not None else ""
        keys = [
            [
                key,
                f"{seeker.family.start[key]:.6g}",
                f"{value:.6g}",
                seeker.family.knobs[key].unit,
                f"{best.sensitivities[key]:+.3g} %",
            ]
            for key, value in best.values.items()
        ]
        shown = [name, "mean_speed", "step_time", "least_leg_force", "largest_multiplier"]
        shown += [c.name for c in seeker.constraints]
        rows = [
            [figure, f"{best.before[figure]:.6g}", f"{best.figures[figure]:.6g}"]
            for figure in dict.fromkeys(shown)
            if figure in best.figures
        ]
        return [
            f"{name} {best.figures[name]:.6g}, {best.before[name]:.6g} before{seconds}",
            f"limited by {', '.join(best.active) or 'nothing: it is a minimum of its own'}",
            best.cycle.verdict,
            Sheet(["key", "before", "best", "unit", f"1 % more: {name}"], keys, left=(0, 3)),
            Sheet(["figure of the gait", "before", "best"], rows, left=(0,)),
            f"{SCENARIO} is its scenario: `footfall run` takes it",
        ]
