"""design(experiment, minimise, free, subject_to) -> Design: a better robot, judged at its gait.

The objective and the constraints are figures of the periodic gait, with derivatives by the implicit
function theorem at the cycle (engines/analysis/cycle_slopes.py): SLSQP needs a few dozen gaits. A
design without a gait is no design: it counts as worse than any that was seen.
"""

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.stats import qmc

from footfall.engines.analysis.cycle import Cycle, find_cycle
from footfall.engines.analysis.cycle_slopes import cycle_slopes
from footfall.engines.analysis.return_map import NoCycle
from footfall.hybrid.fields import nearest
from footfall.numerics.units import UnitError, to_si
from footfall.scenario.errors import ScenarioError
from footfall.scenario.gait import Family, figures, fine_plan, gait_of, lengths_at
from footfall.scenario.load import Experiment, with_settings

#: A free key is sought between these shares of its value, where nobody says.
LEAST, MOST = 0.25, 4.0
#: A constraint is active, or kept, within this share of its limit.
ACTIVE, KEPT = 1e-4, 1e-6
#: Share of the force it had that a foot keeps.
CONTACT = 0.02
#: Figure that is the least force of a foot on the ground.
PUSH = "least_leg_force"
#: Gaits that one search may ask for.
MOST_GAITS = 120
#: Share of its range that a value may change by in one round of SLSQP, how many rounds, and what
#: is no change.
BOX, ROUNDS, SETTLED = 0.15, 12, 1e-5


@dataclasses.dataclass(frozen=True)
class Constraint:
    """A figure that is to stay on one side of a limit."""

    name: str
    least: bool  #: at least, or at most
    limit: float

    @classmethod
    def of(cls, said: str) -> "Constraint":
        """From "mean_speed >= 0.6"."""
        parts = re.fullmatch(r"\s*([\w.]+)\s*(>=|<=)\s*(\S+)\s*", said)
        try:
            assert parts is not None
            return cls(parts[1], parts[2] == ">=", float(parts[3]))
        except (AssertionError, ValueError):
            raise ScenarioError(
                f'--subject-to "{said}": write it as "FIGURE >= NUMBER" or "FIGURE <= NUMBER",'
                ' such as "mean_speed >= 0.6".'
            ) from None

    def room(self, value: float) -> float:
        """What is left of it, as a share of its limit; negative where it is broken."""
        side = 1.0 if self.least else -1.0
        return side * (value - self.limit) / max(abs(self.limit), 1e-9)

    def __str__(self) -> str:
        return f"{self.name} {'>=' if self.least else '<='} {self.limit:g}"


@dataclasses.dataclass(frozen=True, repr=False)
class Design:
    """The best robot that was found, and why it is no better."""

    experiment: Experiment  #: with the values in it: `experiment.to_toml()` is its scenario
    minimised: str
    values: Mapping[str, float]  #: of the free keys, SI
    before: Mapping[str, float]  #: figures of the scenario's own gait
    figures: Mapping[str, float]
    cycle: Cycle
    active: tuple[str, ...]  #: constraints and bounds that it lies on
    sensitivities: Mapping[str, float]  #: per cent of the objective for one per cent of a key
    gaits: int  #: that were found on the way

    def __repr__(self) -> str:
        return "\n".join(self.said())

    def said(self) -> list[str]:
        """A line to each thing there is to know."""
        name, now = self.minimised, self.figures[self.minimised]
        then = self.before[name]
        share = f" ({100.0 * (now / then - 1.0):+.1f} %)" if then else ""
        values = [f"  {key} = {value:.6g}" for key, value in self.values.items()]
        felt = [
            f"  1 % more {key} makes it {change:+.3g} %"
            for key, change in self.sensitivities.items()
        ]
        return [
            f"{name} {now:.6g}, {then:.6g} before{share}, after {self.gaits} gaits",
            *values,
            f"  limited by {', '.join(self.active) or 'nothing: it is a minimum of its own'}",
            *felt,
            f"  {self.cycle.verdict}",
        ]


class Seeker:
    """Objective, constraints and their slopes as functions of the free values, as shares."""

    def __init__(
        self,
        experiment: Experiment,
        minimise: str,
        free: Mapping[str, tuple[float, float] | None],
        subject_to: Sequence[str],
        event: str | None = None,
    ):
        """Raises ScenarioError for unknown names, NoCycle without a gait to begin with."""
        self.experiment, self.minimise = experiment, minimise
        self.family = Family(experiment, list(free))
        self.constraints = [Constraint.of(said) for said in subject_to]
        self.first = gait_of(experiment, event)
        self.event, self.plan = self.first.event, fine_plan(experiment)
        known = figures(self.first)
        for name in (minimise, *(c.name for c in self.constraints)):
            if name not in known:
                raise ScenarioError(
                    f'"{name}" is no figure of this gait. Known: {", ".join(known)}.'
                    f"{nearest(name, list(known))}"
                )
        # A foot that would have to pull ends the gait: its force is held above zero, so that a
        # search sees the edge before it is beyond it.
        self.contact = Constraint(PUSH, True, 0.0) if PUSH in known else None
        self.force = abs(known.get(PUSH, 1.0)) or 1.0
        self.start = np.array(list(self.family.start.values()))
        spans = [
            span or _usual(value, self.family.knobs[key].info)
            for (key, span), value in zip(free.items(), self.start, strict=True)
        ]
        self.low, self.high = (np.array(side, float) for side in zip(*spans, strict=True))
        for key, low, high in zip(free, self.low, self.high, strict=True):
            if not low < high:
                raise ScenarioError(f"--free {key}: a range goes up, not from {low:g} to {high:g}.")
        self.unit = max(abs(known[minimise]), 1e-12)
        self.gaits = 0

    def values(self, shares: np.ndarray) -> np.ndarray:
        return self.low + np.asarray(shares) * (self.high - self.low)

    def shares(self, values: np.ndarray) -> np.ndarray:
        return np.clip((values - self.low) / (self.high - self.low), 0.0, 1.0)

    def gait(self, values: np.ndarray, near: Cycle) -> Cycle:
        """The gait of a design, from that of one near it."""
        system, _ = self.family.directions(*values)
        self.gaits += 1
        try:
            return find_cycle(system, near.state, self.event, self.plan)
        except (NoCycle, ValueError):
            return find_cycle(system, near.state, self.event, self.plan, warm_up=12)

    def search(
        self, shares: np.ndarray, progress: Callable[[float], None] = lambda _: None
    ) -> tuple[np.ndarray, Cycle | None]:
        """SLSQP from here, in a box that goes along: the best it came to, and the gait there."""
        kept: dict[bytes, Any] = {}
        near, begun = [self.first], self.gaits

        def at(x: np.ndarray) -> Any:
            mark = np.asarray(x, float).tobytes()
            if mark not in kept:
                progress(min(1.0, (self.gaits - begun) / MOST_GAITS))
                kept[mark] = (np.array(x), self._evaluate(x, near))
            return kept[mark][1]

        limits = {"type": "ineq", "fun": lambda x: at(x)[2], "jac": lambda x: at(x)[3]}
        for _ in range(ROUNDS):
            low, high = np.maximum(shares - BOX, 0.0), np.minimum(shares + BOX, 1.0)
            found = minimize(
                lambda x: at(x)[0],
                shares,
                jac=lambda x: at(x)[1],
                bounds=list(zip(low, high, strict=True)),
                constraints=[limits] if len(at(shares)[2]) else [],
                method="SLSQP",
                options={"maxiter": 8, "ftol": 1e-8},
            )
            moved = np.max(np.abs(found.x - shares))
            if at(found.x)[4] is not None:
                shares = np.asarray(found.x)
            if moved < SETTLED or self.gaits - begun > MOST_GAITS:
                break
        # Of all that were looked at, the best that keeps the constraints; else the nearest to it.
        seen = [(x, *said) for x, said in kept.values() if said[4] is not None]
        if not seen:
            return shares, None
        least = [float(np.min(rooms, initial=0.0)) for _, _, _, rooms, _, _ in seen]
        fine = [k for k, room in enumerate(least) if room >= -KEPT]
        which = min(fine, key=lambda k: seen[k][1]) if fine else int(np.argmax(least))
        return seen[which][0], seen[which][5]

    def _evaluate(self, shares: np.ndarray, near: list[Cycle]) -> Any:
        """Objective, its slope, rooms, their slopes, the gait."""
        values, span = self.values(shares), self.high - self.low
        try:
            cycle = self.gait(values, near[0])
            _, along = self.family.directions(*values)
            slopes = cycle_slopes(cycle, along, lengths=lengths_at(values))
        except (NoCycle, ValueError):
            many, few = len(self.constraints) + (self.contact is not None), len(shares)
            return 1e3, np.zeros(few), -np.ones(many), np.zeros((many, few)), None
        near[0] = cycle
        known = figures(cycle)
        rooms = np.array([c.room(known[c.name]) for c in self.constraints])
        signs = [
            (1.0 if c.least else -1.0) / max(abs(c.limit), 1e-9) * slopes[c.name] * span
            for c in self.constraints
        ]
        if self.contact is not None:
            force = known.get(PUSH, 0.0) / self.force
            rooms = np.append(rooms, force - CONTACT)
            signs.append(slopes.get(PUSH, 0.0 * values) * span / self.force)
        return (
            known[self.minimise] / self.unit,
            slopes[self.minimise] * span / self.unit,
            rooms,
            np.array(signs).reshape(len(rooms), len(shares)),
            cycle,
        )

    def feasible(self, cycle: Cycle) -> bool:
        """Whether a gait keeps every constraint."""
        known = figures(cycle)
        return all(c.room(known[c.name]) >= -KEPT for c in self.constraints)

    def broken(self, cycle: Cycle) -> str:
        """The constraints it breaks, in words."""
        known = figures(cycle)
        return ", ".join(
            f"{c} ({c.name} is {known[c.name]:.4g})"
            for c in self.constraints
            if c.room(known[c.name]) < -KEPT
        )

    def starts(self, count: int) -> np.ndarray:
        """The scenario's own values first, then others spread over the ranges."""
        spread = qmc.Sobol(len(self.start), seed=0).random(8)[: max(0, count - 1)]
        inner = self.shares(self.start)
        return np.concatenate([inner[None], 0.5 * (inner + spread)])

    def design(self, shares: np.ndarray, cycle: Cycle) -> Design:
        """What was found, with what limits it."""
        values, keys = self.values(shares), self.family.keys
        known = figures(cycle)
        _, along = self.family.directions(*values)
        slopes = cycle_slopes(cycle, along)[self.minimise]
        active = [str(c) for c in self.constraints if c.room(known[c.name]) <= ACTIVE]
        if self.contact is not None and known.get(PUSH, 0.0) <= 2.0 * CONTACT * self.force:
            active.append("contact of the feet")
        active += [
            f"{key} {'>=' if share < 0.5 else '<='} {(lo if share < 0.5 else hi):.6g}"
            for key, share, lo, hi in zip(keys, shares, self.low, self.high, strict=True)
            if min(share, 1.0 - share) <= ACTIVE
        ]
        now = known[self.minimise]
        felt = {
            key: float(slope * value / now) if now else 0.0
            for key, slope, value in zip(keys, slopes, values, strict=True)
        }
        settings = [f"{key}={float(value)!r}" for key, value in zip(keys, values, strict=True)]
        return Design(
            experiment=with_settings(self.experiment, settings),
            minimised=self.minimise,
            values=dict(zip(keys, map(float, values), strict=True)),
            before=figures(self.first),
            figures=known,
            cycle=cycle,
            active=tuple(active),
            sensitivities=felt,
            gaits=self.gaits,
        )


def design(
    experiment: Experiment,
    minimise: str,
    free: Sequence[str] | Mapping[str, tuple[float, float] | None],
    subject_to: Sequence[str] = (),
    *,
    event: str | None = None,
    starts: int = 3,
) -> Design:
    """Find the values of some keys with which the gait of a robot is best.

    Arguments:
        experiment: as `ff.load` gives it; its own values are the first start.
        minimise: a figure of the gait ("cost_of_transport"; `cycle.figures` has them).
        free: keys that may change, or keys with their ranges: {"leg.stiffness": (8e3, 4e4)}.
            Without a range, from a quarter of its value to four times it.
        subject_to: what must hold, such as ["mean_speed >= 0.6", "largest_multiplier <= 0.8"].
        event: that a step ends with; without it the footfall.
        starts: searches from as many places.

    Returns a `Design`: values, figures, what limits it, sensitivities, and the scenario as
    `design.experiment`. Raises ScenarioError where no design keeps the constraints.

    >>> import footfall as ff
    >>> wheel = ff.load("passive-wheel")
    >>> best = ff.design(wheel, "step_time", ["leg.length"], ["mean_speed >= 0.7"], starts=1)
    >>> round(best.values["leg.length"], 4), best.active
    (0.3121, ('mean_speed >= 0.7',))
    """
    spans = dict.fromkeys(free) if not isinstance(free, Mapping) else dict(free)
    seeker = Seeker(experiment, minimise, spans, subject_to, event)
    results = [seeker.search(shares) for shares in seeker.starts(starts)]
    return best_of(seeker, [(shares, cycle) for shares, cycle in results if cycle is not None])


def best_of(seeker: Seeker, results: Sequence[tuple[np.ndarray, Cycle]]) -> Design:
    """The best that keeps the constraints. Raises ScenarioError where none does."""
    kept = [(shares, cycle) for shares, cycle in results if seeker.feasible(cycle)]
    if not kept:
        nearest_one = min(
            (cycle for _, cycle in results),
            key=lambda c: -min((k.room(figures(c)[k.name]) for k in seeker.constraints), default=0),
            default=seeker.first,
        )
        raise ScenarioError(
            f"no design keeps every constraint. The nearest breaks {seeker.broken(nearest_one)}."
            "\n  Free more keys, widen their ranges (--free KEY=FROM:TO), or ask for less."
        )
    shares, cycle = min(kept, key=lambda pair: figures(pair[1])[seeker.minimise])
    return seeker.design(shares, cycle)


def parse_free(experiment: Experiment, said: str) -> dict[str, tuple[float, float] | None]:
    """From "leg.stiffness,leg.damping=100:800"."""
    spans: dict[str, tuple[float, float] | None] = {}
    for text in filter(None, (part.strip() for part in said.split(","))):
        key, equals, span = (part.strip() for part in text.partition("="))
        low, colon, high = (part.strip() for part in span.partition(":"))
        if equals and not colon:
            raise ScenarioError(f"--free {text}: write it as KEY or KEY=FROM:TO.")
        unit = Family(experiment, [key]).knobs[key].unit
        try:
            spans[key] = (to_si(low, unit), to_si(high, unit)) if equals else None
        except UnitError as error:
            raise ScenarioError(f"--free {text}: {error}") from None
    if not spans:
        raise ScenarioError("--free: name at least one key, such as leg.stiffness.")
    return spans


def _usual(value: float, info: Any) -> tuple[float, float]:
    """From a quarter of a value to four times it, within what is allowed."""
    low, high = sorted((LEAST * value, MOST * value)) if value else (-1.0, 1.0)
    lows = [b for b in (info.ge, None if info.gt is None else info.gt + 1e-9) if b is not None]
    highs = [b for b in (info.le, None if info.lt is None else info.lt - 1e-9) if b is not None]
    return max([low, *lows]), min([high, *highs])
