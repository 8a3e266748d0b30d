"""design(...) -> Design and pareto(...) -> Front: better robots, with their evidence.

Objective and constraints are expressions of figures: those of the periodic gait of a robot that
flows, those of a motion plan for one that follows it.
"""

import contextlib
import dataclasses
import importlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from footfall.engines.analysis.cycle import Cycle
from footfall.engines.analysis.design_search import (
    KEPT,
    AbstractLandscape,
    Found,
    Problem,
    Progress,
    Refused,
    front_problem,
    optimality,
    solve,
    undominated,
)
from footfall.engines.analysis.edge_search import along_edge
from footfall.engines.analysis.expression import Constraint, Expression, Objective
from footfall.hybrid.fields import ParameterError
from footfall.hybrid.motion_plan import AbstractMotionPlan, AbstractTunablePlan
from footfall.numerics.units import UnitError, to_si
from footfall.scenario.errors import ScenarioError
from footfall.scenario.gait import number_at
from footfall.scenario.gait_landscape import GaitLandscape
from footfall.scenario.load import Experiment, require_flow
from footfall.scenario.plan_landscape import PlanLandscape
from footfall.scenario.vary import find_knob

Free = Mapping[str, tuple[float, float] | None]


@dataclasses.dataclass(frozen=True, repr=False)
class Design:
    """The best robot that was found, and why it is no better."""

    experiment: Experiment  #: with the values in it: `experiment.to_toml()` is its scenario
    objective: str  #: what is small, or large
    values: Mapping[str, float]  #: of the free keys, SI
    before: Mapping[str, float]  #: figures of the scenario as it was
    figures: Mapping[str, float]
    value: float  #: of the objective
    value_before: float
    #: Constraints and ends of ranges that it lies on: per cent of the objective that one per cent
    #: of each is worth.
    active: Mapping[str, float]
    edge: str  #: why no better ones can be, where they were refused
    sensitivities: Mapping[str, float]  #: per cent of the objective for one per cent of a key
    #: Weights of the objectives: the first one changes by -weights[1]/weights[0] per cent where the
    #: second is to be one per cent better.
    weights: tuple[float, ...]
    off: (
        float  #: what the active limits leave unexplained of the objective's slope: 0 at an optimum
    )
    cycle: Cycle | None = None  #: its gait, where it has one

    def __repr__(self) -> str:
        return "\n".join(self.said())

    def said(self) -> list[str]:
        """A line to each thing there is to know."""
        now, then = self.value, self.value_before
        share = f" ({100.0 * (now / then - 1.0):+.1f} %)" if then else ""
        return [
            f"{self.objective} {now:.6g}, {then:.6g} before{share}",
            *(f"  {key} = {value:.6g}" for key, value in self.values.items()),
            f"  {self.limited}",
            *(
                f"  1 % more {key} makes it {change:+.3g} %"
                for key, change in self.sensitivities.items()
            ),
            *([f"  {self.cycle.verdict}"] if self.cycle is not None else []),
        ]

    @property
    def trade(self) -> float | None:
        """Per cent of the first objective that one per cent of the second is worth, on a front."""
        if len(self.weights) < 2 or self.weights[0] < 1e-9:
            return None
        return self.weights[1] / self.weights[0]

    @property
    def limited(self) -> str:
        """What limits it, in words."""
        said = [f"{name} (1 % of it: {price:.2g} %)" for name, price in self.active.items()]
        edge = f"; beyond it there is none: {self.edge}" if self.edge else ""
        if not said and not edge:
            return "a minimum of its own: nothing limits it"
        return f"limited by {', '.join(said) or 'where designs end'}{edge}"


@dataclasses.dataclass(frozen=True, repr=False)
class Front:
    """Designs of which none is better in both objectives, best of the first one first."""

    objectives: tuple[str, str]
    designs: tuple[Design, ...]

    def __repr__(self) -> str:
        first, second = self.objectives
        lines = [
            "  ".join(
                [
                    f"{design.value:12.6g}",
                    f"{value_of(design.figures, second):12.6g}",
                    ", ".join(f"{key} = {value:.5g}" for key, value in design.values.items()),
                ]
            )
            for design in self.designs
        ]
        return "\n".join([f"{first:>12}  {second:>12}", *lines])

    def plot(self, path: Any = None) -> Any:
        """Draw one objective against the other, and the keys along the front."""
        module = importlib.import_module("footfall.pictures.design_plot")
        return module.draw_front(self, path)


def value_of(figures: Mapping[str, Any], expression: str) -> float:
    """Of an expression of figures."""
    return float(np.max(Expression(expression).value(figures)))


class Designer:
    """What is asked, on the landscape it is asked of."""

    def __init__(
        self,
        experiment: Experiment,
        objectives: Sequence[Objective],
        constraints: Sequence[Constraint],
        free: Free | None,
        event: str | None = None,
        searches: int = 1,
    ):
        """Raises ScenarioError, ParameterError, NoCycle and Refused for what cannot be."""
        self.objectives, self.constraints = tuple(objectives), tuple(constraints)
        asked = [o.expression for o in self.objectives] + [c.expression for c in self.constraints]
        self.landscape: AbstractLandscape
        system = experiment.system
        if isinstance(system, AbstractTunablePlan):
            self.landscape = PlanLandscape(experiment, free)
        elif isinstance(system, AbstractMotionPlan):
            raise ScenarioError(f"{experiment.name}: its plan has no number to tune.")
        else:
            require_flow(experiment, "a design by its gait")
            if free is None:
                raise ScenarioError("--free: name at least one key, such as leg.stiffness.")
            self.landscape = GaitLandscape(experiment, free, event, searches)
        for expression in asked:
            expression.require(self.landscape.known)
        if isinstance(self.landscape, GaitLandscape):
            self.landscape.ask([name for expression in asked for name in expression.names])
        self.units = [max(abs(o.worst(self.landscape.own)), 1e-12) for o in self.objectives]

    def problem(self, place: int = 0, points: int = 0, ends: Sequence[Found] = ()) -> Problem:
        """The only one, or that of a point of the front."""
        if len(self.objectives) == 1:
            return Problem(self.objectives[0], self.constraints, self.units[0])
        return front_problem(self.objectives, self.constraints, self.units, place, points, ends)

    def best(
        self,
        problem: Problem,
        searches: Sequence[int],
        warm: Sequence[Found] = (),
        progress: Progress = lambda _: None,
    ) -> Found:
        """Along the edge of what can be where SLSQP stops there. Raises Refused if all are."""
        found = solve(self.landscape, problem, searches, warm, progress)
        return along_edge(self.landscape, problem, found) if found.edge else found

    def design(self, found: Found) -> Design:
        """What was found, with what limits it."""
        landscape, objective = self.landscape, self.objectives[0]
        values = landscape.values(found.share, found.piece)
        measured, _ = landscape.measured(found)
        why = optimality(landscape, self.objectives, self.constraints, found)
        look = found.look
        numbers, slope = objective.expression.at(look.figures, look.slopes)
        decides = int(np.argmax(objective.sign * np.atleast_1d(numbers)))
        now = float(np.atleast_1d(numbers)[decides])
        by_key = np.linalg.lstsq(
            landscape.value_slopes(found.share, found.piece).T,
            np.atleast_2d(slope)[decides],
            rcond=None,
        )[0]
        felt = {
            key: float(rate * value / now) if now else 0.0
            for (key, value), rate in zip(values.items(), by_key, strict=True)
        }
        return Design(
            experiment=landscape.tuned(found),
            objective=str(objective),
            values=values,
            before=landscape.own,
            figures=measured,
            value=objective.worst(measured),
            value_before=objective.worst(landscape.own),
            active=why.prices,
            edge=found.edge,
            sensitivities=felt,
            weights=why.weights,
            off=why.off,
            cycle=look.memory if isinstance(look.memory, Cycle) else None,
        )

    def none_keeps(self, problem: Problem, nearest: Found) -> ScenarioError:
        """What to raise where no design keeps the constraints."""
        broken = f" The nearest breaks {problem.broken(nearest.look)}."
        return ScenarioError(
            f"no design keeps every constraint.{broken}"
            "\n  Free more keys, widen their ranges (--free KEY=FROM:TO), or ask for less."
        )


def design(
    experiment: Experiment,
    minimise: str | None = None,
    free: Sequence[str] | Free | None = None,
    subject_to: Sequence[str] = (),
    *,
    maximise: str | None = None,
    event: str | None = None,
    starts: int = 3,
) -> Design:
    """Find the values of some keys with which a robot is best.

    Arguments:
        experiment: as `ff.load` gives it; its own values are the first start.
        minimise, maximise: one of them, an expression of figures ("cost_of_transport",
            "motor_work / distance"; `cycle.figures` has the names, for a plan its figures).
        free: keys that may change, or keys with their ranges: {"leg.stiffness": (8e3, 4e4)}.
            Without a range, from a quarter of its value to four times it. None: all that a motion
            plan can tune.
        subject_to: what must hold, such as ["mean_speed >= 0.6", "largest_multiplier <= 0.8"].
        event: that a step ends with; without it the footfall.
        starts: searches from as many places.

    Returns a `Design`: values, figures, what limits it, sensitivities, and the scenario as
    `design.experiment`. Raises ScenarioError where no design keeps the constraints.

    >>> import footfall as ff
    >>> wheel = ff.load("passive-wheel")
    >>> best = ff.design(wheel, "step_time", ["leg.length"], ["mean_speed >= 0.7"], starts=1)
    >>> round(best.values["leg.length"], 4), list(best.active)
    (0.3121, ['mean_speed >= 0.7'])
    """
    asked = objectives_of([minimise] if minimise else [], [maximise] if maximise else [])
    if len(asked) != 1:
        raise ScenarioError("design has one objective: minimise or maximise. ff.pareto takes two.")
    limits = [Constraint.of(said) for said in subject_to]
    designer = Designer(experiment, asked, limits, _spans(free), event, starts)
    problem = designer.problem()
    try:
        found = designer.best(problem, range(designer.landscape.searches))
    except Refused as refused:
        raise ScenarioError(f"every design was refused. The last: {refused}") from None
    if not problem.keeps(found.look):
        raise designer.none_keeps(problem, found)
    return designer.design(found)


def pareto(
    experiment: Experiment,
    minimise: Sequence[str] | str = (),
    maximise: Sequence[str] | str = (),
    free: Sequence[str] | Free | None = None,
    subject_to: Sequence[str] = (),
    *,
    points: int = 12,
    event: str | None = None,
    starts: int = 3,
) -> Front:
    """Find the front between two objectives: what one of them costs in the other.

    Arguments:
        experiment, free, subject_to, event, starts: as of `design`.
        minimise, maximise: two expressions together.
        points: how many designs are sought. Each is the best of the first objective for a level of
            the second, begun with its neighbours.

    Returns the `Front`, without designs that another beats in both.

    >>> import footfall as ff
    >>> wheel, free = ff.load("passive-wheel"), {"leg.length": (0.2, 0.3)}
    >>> front = ff.pareto(wheel, "step_time", "mean_speed", free, points=2, starts=1)
    >>> [round(design.values["leg.length"], 4) for design in front.designs]
    [0.2, 0.3]
    """
    both = [[said] if isinstance(said, str) else list(said) for said in (minimise, maximise)]
    asked = objectives_of(*both)
    if len(asked) != 2:
        raise ScenarioError("a front is between two objectives: name two to minimise or maximise.")
    limits = [Constraint.of(said) for said in subject_to]
    designer = Designer(experiment, asked, limits, _spans(free), event, starts)
    found: list[Found] = []
    for place in range(points):
        new = front_point(designer, place, points, found)
        if new is not None:
            found.append(new)
    return front_of(designer, found)


def front_point(
    designer: Designer,
    place: int,
    points: int,
    before: Sequence[Found],
    progress: Progress = lambda _: None,
) -> Found | None:
    """One point of a front, begun with those before it; None where the level cannot be had.

    Raises ScenarioError where there is no end of it.
    """
    problem = designer.problem(place, points, before[:2])
    landscape = designer.landscape
    # Pieces are searched anew each time: which one is best changes along a front.
    wide = place < 2 or len(landscape.pieces) > 1
    searches = range(landscape.searches) if wide else ()
    warm = before if wide else _nearest(problem, before)
    try:
        found = designer.best(problem, searches, warm, progress)
    except Refused as refused:
        if place < 2:
            raise ScenarioError(f"every design was refused. The last: {refused}") from None
        return None
    if not problem.keeps(found.look):
        if place < 2:
            raise designer.none_keeps(problem, found)
        return None
    return found if place > 1 else _efficient(designer, place, found)


def _efficient(designer: Designer, place: int, found: Found) -> Found:
    """An end of the front as good in the other objective as can be, at no cost in its own."""
    mine, other = designer.objectives[place], designer.objectives[1 - place]
    # Half of what a limit is kept to, so that rounding leaves a point inside.
    best = mine.worst(found.look.figures)
    level = mine.no_worse_than(best + mine.sign * 0.5 * KEPT * abs(best))
    problem = Problem(other, (*designer.constraints, level), designer.units[1 - place])
    with contextlib.suppress(Refused):
        better = designer.best(problem, (), [found])
        if problem.keeps(better.look):
            return better
    return found


def _nearest(problem: Problem, before: Sequence[Found]) -> list[Found]:
    """Of the designs before it, the nearest to its level on either side."""
    level = problem.constraints[-1]
    rooms = {k: level.room(found.look.figures) for k, found in enumerate(before)}
    sides = [[k for k in rooms if rooms[k] >= 0.0], [k for k in rooms if rooms[k] < 0.0]]
    return [before[min(side, key=lambda k: abs(rooms[k]))] for side in sides if side]


def front_of(designer: Designer, found: Sequence[Found]) -> Front:
    """The points that no other beats."""
    kept = undominated(designer.objectives, [f.look.figures for f in found])
    first, second = designer.objectives
    return Front((str(first), str(second)), tuple(designer.design(found[k]) for k in kept))


def objectives_of(minimise: Sequence[str], maximise: Sequence[str]) -> list[Objective]:
    """From what was said."""
    return [Objective(Expression(said, "minimise"), True) for said in minimise] + [
        Objective(Expression(said, "maximise"), False) for said in maximise
    ]


def _spans(free: Sequence[str] | Free | None) -> Free | None:
    if free is None or isinstance(free, Mapping):
        return free
    return dict.fromkeys(free)


def parse_free(experiment: Experiment, said: str) -> Free | None:
    """From "leg.stiffness,leg.damping=100:800"; "*" stands for all else that a plan can tune."""
    spans: dict[str, tuple[float, float] | None] = {}
    for text in filter(None, (part.strip() for part in said.split(","))):
        key, equals, span = (part.strip() for part in text.partition("="))
        if text == "*":
            continue
        low, colon, high = (part.strip() for part in span.partition(":"))
        if equals and not colon:
            raise ParameterError(f"--free {text}: write it as KEY or KEY=FROM:TO.", "free")
        unit = find_knob(experiment, key, f"--free {text}").unit
        number_at(experiment, key)
        try:
            spans[key] = (to_si(low, unit), to_si(high, unit)) if equals else None
        except UnitError as error:
            raise ParameterError(f"--free {text}: {error}", "free") from None
    rest = "*" in said or not spans
    if rest and isinstance(experiment.system, AbstractTunablePlan):
        knobs = (knob.name for knob in experiment.system.tuning({}).knobs)
        return {**dict.fromkeys(knobs), **spans}
    return spans or None
