"""follow(experiment, key, low, high) -> Branch: a gait over a key of its scenario."""

import dataclasses
import importlib
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from footfall.engines.analysis.continuation import BranchPoint, Follower, Lost
from footfall.engines.analysis.cycle import Cycle
from footfall.engines.analysis.orbits import VALUES, Orbit, orbits
from footfall.engines.analysis.special_curves import SHIFTS, CurvePoint, SpecialCurve
from footfall.scenario.errors import ScenarioError
from footfall.scenario.gait import Family, gait_of, number_at
from footfall.scenario.load import Experiment
from footfall.scenario.vary import find_knob

#: The parameter that is no key of a scenario: what a robot that loses nothing has stored.
ENERGY = "energy"
#: Points of a branch to each side, at most.
POINTS = 100
#: Times that a branch may double: a cascade goes on for ever.
DOUBLINGS = 2


@dataclasses.dataclass(frozen=True)
class Part:
    """A branch of gaits that repeat after `count` events, in the order of the curve."""

    count: int
    points: tuple[BranchPoint, ...]
    leaves_at: str = ""  #: kind of the special point of another part at which it leaves that


@dataclasses.dataclass(frozen=True)
class Curve:
    """Folds, or period doublings, over the branch's key and a second one."""

    kind: str
    points: tuple[CurvePoint, ...]


@dataclasses.dataclass(frozen=True, repr=False)
class Branch:
    """Gaits over a parameter: the branch of the scenario's own gait, then those that leave it."""

    name: str  #: of the scenario
    key: str
    unit: str
    event: str
    numbers: tuple[str, ...]  #: of a point
    parts: tuple[Part, ...]
    second: str = ""  #: key that curves are followed over as well
    curves: tuple[Curve, ...] = ()
    orbits: tuple[Orbit, ...] = ()  #: what the robot does where gaits of its branch are unstable

    @property
    def points(self) -> tuple[BranchPoint, ...]:
        """Of the scenario's own branch."""
        return self.parts[0].points

    @property
    def special(self) -> list[tuple[int, BranchPoint]]:
        """Folds, period doublings, torus points and ends, each with the count of its part."""
        return [(part.count, p) for part in self.parts for p in part.points if p.kind]

    def __repr__(self) -> str:
        return "\n".join(self.said())

    def said(self) -> list[str]:
        """A line for the range, and one for each thing that happens on it."""
        values = [point.value for point in self.points]
        unit = f" {self.unit}" if self.unit else ""
        stable = sum(point.stable for point in self.points)
        lines = [
            f"{self.name}: gaits from {self.event} to {self.event} over {self.key},"
            f" {min(values):.6g} to {max(values):.6g}{unit}",
            f"  {len(self.points)} points, {stable} of them stable",
        ]
        for count, point in self.special:
            often = "" if count == self.parts[0].count else f" of the gait of {count} events"
            why = f" of the branch: {point.why}" if point.why else ""
            lines.append(f"  {point.kind} at {point.value:.10g}{unit}{often}{why}")
        if self.orbits:
            fallen = sum(not orbit.walks for orbit in self.orbits) or "none"
            lines.append(
                f"  let walk at {len(self.orbits)} values where the gait is unstable: it falls at"
                f" {fallen} of them"
            )
        for curve in self.curves:
            ends = [
                f"({p.values[0]:.6g}, {p.values[1]:.6g})"
                for p in curve.points[:: len(curve.points) - 1 or 1]
            ]
            lines.append(
                f"  curve of {curve.kind}s over ({self.key}, {self.second}):"
                f" {len(curve.points)} points from {ends[0]} to {ends[-1]}"
            )
        return lines

    def plot(self, path: Any = None, figure: str | None = None) -> Any:
        """Draw it: a figure of the gaits and their largest multiplier over the key.

        Arguments:
            path: a .png file to write; without it the figure is returned to be shown.
            figure: which ("mean_speed", "cost_of_transport"); without it speed where there is one.
        """
        module = importlib.import_module("footfall.pictures.branch_plot")
        return module.draw_branch(self, path, figure)


def follow(
    experiment: Experiment,
    key: str,
    low: float,
    high: float,
    *,
    event: str | None = None,
    count: int = 1,
    points: int = POINTS,
    doublings: int = DOUBLINGS,
    walks: int = VALUES,
    second: tuple[str, float, float] | None = None,
) -> Branch:
    """Follow the gait of a scenario over one of its numbers, also round folds.

    Arguments:
        experiment: as `ff.load` gives it; its own value of the key is where the branch begins.
        key, low, high: a number of the robot by its key, and its range, in SI; "energy" of a robot
            that conserves it.
        event, count: where a step ends, and after how many it repeats.
        points: of the branch to each side, at most.
        doublings: how often branches that leave are followed: of twice the period, or crossing.
        walks: values at most at which the robot is let walk where its gait is unstable.
        second: another key and its range, over which folds and period doublings are followed.

    Returns a `Branch` with `points` (value, multipliers, figures), `special` ones (folds, period
    doublings, torus points, and where the robot takes no such step any more) and `plot()`. Raises
    NoCycle where there is no gait to begin with.

    >>> import footfall as ff
    >>> wheel = ff.load("passive-wheel")
    >>> branch = ff.follow(wheel, "terrain.angle", 0.05, 0.1)
    >>> branch.points[0].stable, round(branch.points[-1].value, 6)
    (True, 0.1)
    """
    cycle = begun(experiment, key, low, high, event, count)
    walker, start = follower_of(experiment, cycle, key, low, high)
    down = walked(walker, cycle, start, -1.0, points)
    up = walked(walker, cycle, start, 1.0, points)
    main = Part(count, (*reversed(down[1:]), *up))
    parts = [main, *leaving_parts(walker, main, points, doublings)]
    branch = branch_of(experiment, key, cycle, parts)
    branch = dataclasses.replace(branch, orbits=tuple(orbits(walker, main.points, walks)))
    if second is None:
        return branch
    if is_energy(experiment, key):
        raise ScenarioError("energy: curves over two numbers take keys of the robot.")
    ranges = ((low, high), second[1:])
    curves = curves_of(experiment, walker, main, (key, second[0]), ranges, points)
    return dataclasses.replace(branch, second=second[0], curves=tuple(curves))


def begun(
    experiment: Experiment, key: str, low: float, high: float, event: str | None, count: int
) -> Cycle:
    """The gait a branch begins with; raises where the range is none."""
    over_energy = is_energy(experiment, key)
    value = None if over_energy else number_at(experiment, key)
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise ScenarioError(f"{key}: a range goes from a lower to a higher number: {low}:{high}.")
    cycle = gait_of(experiment, event, count=count) if over_energy else None
    if over_energy:
        assert cycle is not None
        if ENERGY not in cycle.held:
            raise ScenarioError(
                "energy: this robot does not conserve it, so that its gaits are no family over it."
                " Take a key of the robot."
            )
        value = cycle.held[ENERGY]
    assert value is not None
    if not low <= value <= high:
        raise ScenarioError(
            f"{key} = {value:g} in this scenario, outside of {low:g}:{high:g}: a branch begins at"
            f" the scenario's own gait. Set {'the start' if over_energy else key} to a value"
            " inside."
        )
    return cycle or gait_of(experiment, event, count=count)


def is_energy(experiment: Experiment, key: str) -> bool:
    """Whether a key means the energy of a gait, and no number of the scenario."""
    if key != ENERGY:
        return False
    try:
        find_knob(experiment, key, f'"{key}"')
    except ScenarioError:
        return True
    return False


def follower_of(
    experiment: Experiment, cycle: Cycle, key: str, low: float, high: float
) -> tuple[Follower, float]:
    """Who follows the gait over a key, and the value it begins at."""
    if is_energy(experiment, key):
        return Follower.over_energy(cycle, low, high), cycle.held[ENERGY]
    family = Family(experiment, [key])
    return Follower(cycle, family.at, low, high), family.start[key]


def walked(
    walker: Follower,
    cycle: Cycle,
    value: float,
    way: float,
    points: int,
    progress: Callable[[float], None] = lambda _: None,
) -> list[BranchPoint]:
    """From the gait, up (+1) or down (-1)."""
    try:
        return walker.follow(walker.begin(cycle.point.flat, value, way), points, progress)
    except Lost as lost:
        raise ScenarioError(f"the branch cannot be begun: {lost}") from None


def leaving_parts(walker: Follower, part: Part, points: int, doublings: int) -> Iterable[Part]:
    """Branches that leave a part at its special points, and those that leave them."""
    if doublings < 1:
        return
    for place, point in enumerate(part.points):
        if point.kind == "period doubling":
            left = walker.doubled(point)
            if left is None:
                continue
            other, spot = left
            new = Part(
                2 * part.count,
                (point_without_kind(point, 2), *other.follow(spot, points)),
                point.kind,
            )
        elif point.kind == "branch point" and place:
            other, sides = walker, walker.crossed(point, part.points[place - 1])
            one, *rest = [walker.follow(spot, points) for spot in sides] or [[]]
            back = [p for side in rest for p in reversed(side)]
            new = Part(part.count, (*back, point_without_kind(point, 1), *one), point.kind)
        else:
            continue
        yield new
        yield from leaving_parts(other, new, points, doublings - 1)


def curves_of(
    experiment: Experiment,
    walker: Follower,
    part: Part,
    keys: tuple[str, str],
    ranges: tuple[tuple[float, float], tuple[float, float]],
    points: int,
) -> list[Curve]:
    """Curves of the folds and period doublings of a part, over a second key.

    The second derivatives they need take a minute or more to compile.
    """
    family, second = Family(experiment, keys), number_at(experiment, keys[1])
    found = []
    for point in part.points:
        if point.kind in SHIFTS:
            try:
                curve = SpecialCurve(walker, point, family.at, second, ranges)
                found.append(Curve(point.kind, tuple(curve.both_ways(points))))
            except Lost as lost:
                raise ScenarioError(
                    f"the curve of a {point.kind} cannot be begun: {lost}"
                ) from None
    return found


def point_without_kind(point: BranchPoint, times: int) -> BranchPoint:
    """Where a branch, of so many times the period, leaves another: special there, not here."""
    return dataclasses.replace(point, kind="", multipliers=point.multipliers**times)


def branch_of(experiment: Experiment, key: str, cycle: Cycle, parts: Iterable[Part]) -> Branch:
    """With its names."""
    unit = unit_of(experiment, key)
    return Branch(experiment.name, key, unit, cycle.event, tuple(cycle.map.names), tuple(parts))


def unit_of(experiment: Experiment, key: str) -> str:
    """Of what a branch is followed over."""
    return "J" if is_energy(experiment, key) else find_knob(experiment, key, f'"{key}"').unit
