"""footfall design: values of some keys with which a robot is best, or the front of two objectives.

A case is a search, or a point of the front; each is kept once it is done, and begins with what was
found before it.
"""

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from footfall.engines.analysis.design_search import Found, Refused, undominated
from footfall.engines.analysis.expression import Constraint
from footfall.engines.analysis.return_map import NoCycle
from footfall.hybrid.doubt import Doubt, word_of
from footfall.hybrid.fields import ParameterError, Parametric, param, text
from footfall.hybrid.study import AbstractStudy, Answer, Answers, Progress, Sheet, finite
from footfall.scenario.design import Design, Designer, front_point, objectives_of, parse_free

#: Written beside the table.
SCENARIO = "best.toml"
#: What is minimised where nobody says.
USUAL = "cost_of_transport"


class DesignRequest(Parametric):
    """What is to be small or large, what may change, what must hold."""

    minimise: str = text("", doc="expressions to minimise, joined by semicolons")
    maximise: str = text("", doc="expressions to maximise, joined by semicolons")
    free: str = text("", doc="keys that may change, joined by commas")
    subject_to: str = text("", doc="constraints, joined by semicolons")
    event: str = text("", doc="event a step ends with")
    starts: int = param(3, ge=1, le=8, static=True, doc="searches from as many places")
    points: int = param(12, ge=2, static=True, doc="designs of a front")


class DesignStudy(AbstractStudy):
    """A better robot, with its evidence; or what one objective costs in the other."""

    name, place, doing, file = "design", "designs", "searching", "design"
    Request = DesignRequest
    noun, rows_key = "searches", "searches"

    def __init__(self, request: DesignRequest, subject: Any):
        super().__init__(request, subject)
        asked = [_parts(said) for said in (request.minimise, request.maximise)]
        self.objectives = objectives_of(*(asked if any(asked) else ([USUAL], [])))
        if len(self.objectives) > 2:
            raise ParameterError(
                f"{len(self.objectives)} objectives: one has a best design, two have a front."
                " Hold the others by --subject-to.",
                "minimise",
            )
        self.constraints = [Constraint.of(said) for said in _parts(request.subject_to)]
        self.free = parse_free(subject.experiment, request.free)
        self._recalled: dict[str, Found] = {}
        self._made: dict[str, Design] = {}
        if self.is_front:
            self.noun, self.rows_key, self.file = "designs", "front", "front"

    @functools.cached_property
    def designer(self) -> Designer:
        request, subject = self.request, self.subject
        try:
            return Designer(
                subject.experiment,
                self.objectives,
                self.constraints,
                self.free,
                request.event or None,
                request.starts,
            )
        except NoCycle as none:
            raise subject.refuse(
                f"no gait to begin with. {none}\n  `footfall gait {subject.origin}` says more."
            ) from None
        except (Refused, ParameterError) as error:
            raise subject.refuse(str(error)) from None

    def prepare(self, say: Callable[[str], None]) -> None:
        say("evaluating the scenario as it is")
        _ = self.designer

    @property
    def is_front(self) -> bool:
        return len(self.objectives) == 2

    @property
    def cases(self) -> list[dict[str, Any]]:
        if not self.is_front:
            return [{"start": k} for k in range(self.designer.landscape.searches)]
        ends = [f"best {objective}" for objective in self.objectives]
        return [{"point": word} for word in (*ends, *range(1, self.request.points - 1))]

    def answers(
        self, places: Sequence[int], before: Answers, progress: Progress
    ) -> Sequence[Answer]:
        (place,) = places
        designer, landscape = self.designer, self.designer.landscape
        found: Found | None = None
        refused = None
        if self.is_front:
            earlier = [f for k in sorted(before) if k < place and (f := self._found(before[k]))]
            found = front_point(designer, place, self.request.points, earlier, progress)
            good = found is not None
        else:
            try:
                found = designer.best(designer.problem(), [place], (), progress)
            except Refused as why:  # data, as any other answer
                refused = str(why)
            good = found is not None and designer.problem().keeps(found.look)
        row: dict[str, Any] = {**self.cases[place], "verdict": "sound", "keeps_constraints": good}
        row["refused"] = refused
        more = [*landscape.keys, *landscape.own, "limited_by", "off_optimum", "trade"]
        row = {**row, **dict.fromkeys(more)}
        if found is None:
            return [Answer(row)]
        row |= landscape.values(found.share, found.piece)
        measured: Mapping[str, float] = found.look.figures
        doubts: tuple[Doubt, ...] = ()
        if good:
            measured, doubts = landscape.measured(found)
            best = self._design(found)
            row |= {"limited_by": list(best.active), "off_optimum": best.off, "trade": best.trade}
            row["refused"] = best.edge or None
        row |= {name: finite(np.max(measured[name])) for name in landscape.own if name in measured}
        return [Answer(row | {"verdict": word_of(doubts)}, doubts, landscape.remembered(found))]

    def _found(self, answer: Answer) -> Found | None:
        if answer.memory is None:
            return None
        key = repr(answer.memory)
        if key not in self._recalled:
            self._recalled[key] = self.designer.landscape.recalled(*answer.memory)
        return self._recalled[key]

    def _design(self, found: Found) -> Design:
        """What is asked for by table, page, files and picture."""
        key = repr(self.designer.landscape.remembered(found))
        if key not in self._made:
            self._made[key] = self.designer.design(found)
        return self._made[key]

    def kept(self, found: Answers) -> list[Answer]:
        """The front, or all searches: then only what is said against the best counts."""
        rows = super().kept(found)
        if not self.is_front:
            (wanted,) = self.objectives
            fine = [answer for answer in rows if answer.row["keeps_constraints"]]
            best = min(fine, key=lambda a: wanted.sign * wanted.worst(a.row), default=None)
            return [one if one is best else one._replace(doubts=()) for one in rows]
        rows = [answer for answer in rows if answer.memory is not None]
        return [rows[k] for k in undominated(self.objectives, [answer.row for answer in rows])]

    def designs(self, found: Answers) -> list[Design]:
        """The front; or the best alone. Raises ScenarioError where none keeps the constraints."""
        designer, problem = self.designer, self.designer.problem()
        points = [point for answer in self.kept(found) if (point := self._found(answer))]
        if self.is_front:
            return [self._design(point) for point in points]
        if not points:
            last = self.kept(found)[-1].row["refused"]
            raise self.subject.refuse(f"every design was refused. The last: {last}")
        best = min(points, key=problem.rank)
        if not problem.keeps(best.look):
            raise designer.none_keeps(problem, best)
        return [self._design(best)]

    def best(self, found: Answers) -> Design:
        """The only one, or that of the first objective."""
        return self.designs(found)[0]

    def summary(self, found: Answers) -> dict[str, Any]:
        own = {name: finite(value) for name, value in self.designer.landscape.own.items()}
        said = {
            "objectives": [str(o) for o in self.objectives],
            "maximised": [str(o) for o in self.objectives if not o.least],
            "before": own,
        }
        if self.is_front:
            return said
        best = self.best(found)
        return said | {
            "values": dict(best.values),
            "figures": {name: finite(value) for name, value in best.figures.items()},
            "active": dict(best.active),
            "sensitivities": dict(best.sensitivities),
            "off_optimum": best.off,
        }

    def files(self, found: Answers) -> dict[str, str]:
        designs = self.designs(found)
        if not self.is_front:
            return {SCENARIO: designs[0].experiment.to_toml()}
        words = [
            f"best-{'-'.join(re.findall(r'[a-z0-9_]+', str(o).lower()))}" for o in self.objectives
        ]
        ends = zip(words, (designs[0], designs[-1]), strict=True)
        return {f"{word}.toml": design.experiment.to_toml() for word, design in ends}

    def page(self, found: Answers, took: float | None) -> list[Sheet | str]:
        seconds = f" in {took:.1f} s" if took is not None else ""
        return self._front_page(found, seconds) if self.is_front else self._page(found, seconds)

    def _page(self, found: Answers, seconds: str) -> list[Sheet | str]:
        best, landscape = self.best(found), self.designer.landscape
        keys = [
            [
                key,
                f"{landscape.own_values[key]:.6g}",
                f"{value:.6g}",
                landscape.units[key],
                f"{best.sensitivities[key]:+.3g} %",
            ]
            for key, value in best.values.items()
        ]
        usual = ["mean_speed", "step_time", "least_leg_force", "largest_multiplier"]
        asked = [o.expression for o in self.objectives] + [c.expression for c in self.constraints]
        names = dict.fromkeys([*(n for e in asked for n in e.names), *usual])
        rows = [
            [name, f"{best.before[name]:.6g}", f"{best.figures[name]:.6g}"]
            for name in names
            if name in best.figures
        ]
        return [
            f"{best.objective} {best.value:.6g}, {best.value_before:.6g} before{seconds}",
            best.limited,
            *([best.cycle.verdict] if best.cycle is not None else []),
            Sheet(
                ["key", "before", "best", "unit", f"1 % more: {best.objective}"], keys, left=(0, 3)
            ),
            Sheet(["figure", "before", "best"], rows, left=(0,)),
            f"{SCENARIO} is its scenario: `footfall run` takes it",
        ]

    def _front_page(self, found: Answers, seconds: str) -> list[Sheet | str]:
        landscape, rows = self.designer.landscape, [answer.row for answer in self.kept(found)]
        first, second = self.objectives
        cells = [
            [
                *(f"{objective.worst(row):.5g}" for objective in self.objectives),
                "-" if row["trade"] is None else f"{row['trade']:.3g} %",
                *(f"{row[key]:.5g}" for key in landscape.keys),
                ", ".join(self._briefly(name) for name in row["limited_by"]),
            ]
            for row in rows
        ]
        own = {**landscape.own, **landscape.own_values}
        cells.append(
            [
                *(f"{objective.worst(own):.5g}" for objective in self.objectives),
                "",
                *(f"{own[key]:.5g}" for key in landscape.keys),
                "(the scenario itself)",
            ]
        )
        units = [f"{_short(key)}_{landscape.units[key]}".rstrip("_") for key in landscape.keys]
        heads = [str(first), str(second), "1 %_costs", *units, "limited by"]
        heads = [head.replace("_", "\n") for head in heads]
        return [
            f"{len(rows)} designs, {first} against {second}{seconds}",
            Sheet(heads, cells, left=(len(heads) - 1,)),
            f"1 % costs: what one per cent of {second} is worth in {first}",
            f"{' and '.join(self.files(found))} are its ends: `footfall run` takes them",
        ]

    def _briefly(self, said: str) -> str:
        """ "gait.lift >= 0.004" as "least lift", where that is the end of its range."""
        key, _, rest = said.partition(" ")
        if key not in self.designer.landscape.keys:
            return said
        return f"{'least' if rest.startswith('>') else 'most'} {_short(key)}"


def _parts(said: str) -> list[str]:
    return [part.strip() for part in said.split(";") if part.strip()]


def _short(key: str) -> str:
    return key.rpartition(".")[2]
