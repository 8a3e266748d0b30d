"""Branches of gaits: followed over a parameter by pseudo-arclength, with what happens on the way.

Unknowns are z = (v, p): the numbers that repeat, in units of their size, and the parameter, in
units of its range. A tangent predicts, Newton corrects on the plane across it
(gaits.9), so that a branch is followed round a fold. Between two points a test function that
changes its sign is a fold, a period doubling or a torus point (gaits.10); each is located by
Brent's method on the branch itself. A branch also ends where the robot takes no such step any
more: that place is found by bisection, with the reason.
"""

import contextlib
import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import brentq

from footfall.engines.analysis.cycle import Cycle
from footfall.engines.analysis.gait_doubts import stride_doubts
from footfall.engines.analysis.gait_figures import figures_of
from footfall.engines.analysis.return_map import NoCycle, ReturnMap
from footfall.engines.analysis.symmetry import on_level
from footfall.hybrid.doubt import Doubt

#: Newton's corrections: at most, and how many a step of good length takes.
CORRECTIONS, GOOD = 8, 3
#: How well a point lies on its branch, in units of what changes in a step.
ON_BRANCH = 1e-10
#: Shares of the parameter's range: first step, longest, shortest.
FIRST, LONGEST, SHORTEST = 0.01, 0.05, 1e-10
#: Where a special point is, as a share of the range.
LOCATED = 1e-12
#: Imaginary part of a multiplier that is one of a pair.
PAIR = 1e-6

#: A system with the parameter at a value, and how its numbers move with it (a first axis of one).
#: None in its place: the parameter is the energy that is held.
Family = Callable[[float], tuple[Any, Any]]


@dataclasses.dataclass(frozen=True)
class BranchPoint:
    """A gait on a branch."""

    value: float  #: of the parameter
    numbers: np.ndarray  #: all of them
    multipliers: np.ndarray
    figures: dict[str, float]
    kind: str = ""  #: "", "fold", "period doubling", "torus", "branch point" or "end"
    why: str = ""  #: of an end
    doubts: tuple[Doubt, ...] = ()  #: what its stride says against it

    @property
    def stable(self) -> bool:
        """Whether every small disturbance dies out."""
        return bool(np.all(np.abs(self.multipliers) < 1.0))


@dataclasses.dataclass
class Spot:
    """A point with what the next step needs."""

    z: np.ndarray
    tangent: np.ndarray
    jacobian: np.ndarray
    mapped: Any

    @property
    def multipliers(self) -> np.ndarray:
        values = np.linalg.eigvals(self.jacobian)
        return values[np.argsort(-np.abs(values), kind="stable")]


class Lost(Exception):
    """There is no point of the branch there; says why."""


class Follower:
    """One branch, from a gait on."""

    def __init__(self, cycle: Cycle, family: Family | None, low: float, high: float):
        self.map: ReturnMap = cycle.map
        self.counts, self.quotient = cycle.point.counts, cycle.quotient
        self.base, self.step = np.array(cycle.point.flat), np.asarray(cycle.scale)
        #: A number that changes little in a step may change much along a branch.
        self.scale = np.maximum(self.step, np.abs(self.base[self.quotient.kept]))
        self.held = dict(cycle.held)
        self.family, self.low, self.high = family, min(low, high), max(low, high)
        self.range = self.high - self.low

    @classmethod
    def over_energy(cls, cycle: Cycle, low: float, high: float) -> "Follower":
        """Of a robot that conserves energy: its gaits over what is stored [J]."""
        if not cycle.held:
            raise ValueError("it does not conserve its energy: its gaits are no family over it.")
        return cls(cycle, None, low, high)

    def robot(self, value: float) -> tuple[Any, Any]:
        """The system at a value of the parameter, and how it moves with it. Raises ValueError."""
        return (self.map.system, None) if self.family is None else self.family(value)

    # --- the equations ----------------------------------------------------------------------------

    def pack(self, flat: np.ndarray, value: float) -> np.ndarray:
        """z of all numbers and the parameter."""
        return np.append(flat[self.quotient.kept] / self.scale, value / self.range)

    def unpack(self, z: np.ndarray) -> tuple[np.ndarray, float]:
        flat = self.base.copy()
        flat[self.quotient.kept] = z[:-1] * self.scale
        return flat, float(z[-1] * self.range)

    def at(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, Any]:
        """Equations, their derivative by z, that of the map, and the map there."""
        flat, value = self.unpack(z)
        try:
            system, along = self.robot(value)
            mapped = self.map.at(flat, self.counts, along, system=system)
        except (NoCycle, ValueError) as none:
            raise Lost(str(none)) from None
        size, scale, step = len(flat), self.scale, self.step
        jacobian = self.quotient.matrix(mapped.slopes.numbers[:size].T)
        rows = self.quotient.vector(mapped.stride.numbers - flat) / step
        by_v = (jacobian - np.eye(len(scale))) * scale[None, :] / step[:, None]
        moved = np.zeros(size) if self.family is None else mapped.slopes.numbers[size]
        by_p = self.quotient.vector(moved) / step * self.range
        matrix = np.concatenate([by_v, by_p[:, None]], axis=1)
        if self.held:
            slope, usual = mapped.slopes.begin_energy, abs(self.held["energy"])
            level, by_level = (
                (value, -1.0) if self.family is None else (self.held["energy"], float(slope[size]))
            )
            by_numbers = slope[:size][self.quotient.kept]
            energy = np.append(by_numbers * scale, by_level * self.range)
            rows = np.append(rows, (mapped.stride.begin_energy - level) / usual)
            matrix = np.concatenate([matrix, energy[None] / usual])
            # Its multiplier one is no disturbance of this gait: it leads to another of the family.
            jacobian, _ = on_level(jacobian * step[None, :] / step[:, None], by_numbers * step)
        return rows, matrix, jacobian, mapped

    def correct(self, z: np.ndarray, tangent: np.ndarray) -> tuple[Spot, int]:
        """Newton to the branch, on the plane through z across the tangent; raises Lost."""
        first, before = z, np.inf
        for turn in range(1, CORRECTIONS + 1):
            rows, matrix, jacobian, mapped = self.at(z)
            off = np.append(rows, tangent @ (z - first))
            size = float(np.max(np.abs(off)))
            if size <= ON_BRANCH:
                return Spot(z, self.tangent(matrix, tangent), jacobian, mapped), turn
            if not np.isfinite(size) or size > 10.0 * before:
                break
            before = size
            bordered = np.concatenate([matrix, tangent[None]])
            z = z - np.linalg.lstsq(bordered, off, rcond=None)[0]
        raise Lost("Newton does not come back to the branch")

    @staticmethod
    def tangent(matrix: np.ndarray, like: np.ndarray) -> np.ndarray:
        """Along the branch, the same way as `like`."""
        bordered = np.concatenate([matrix, like[None]])
        right = np.append(np.zeros(len(matrix)), 1.0)
        way = np.linalg.lstsq(bordered, right, rcond=None)[0]
        return way / np.linalg.norm(way)

    # --- along the branch -------------------------------------------------------------------------

    def begin(self, flat: np.ndarray, value: float, way: float) -> Spot:
        """A gait that is known, going up (+1) or down (-1) with the parameter."""
        z = self.pack(flat, value)
        upwards = np.append(np.zeros(len(self.scale)), way)
        spot, _ = self.correct(z, upwards)
        return spot

    def follow(
        self, spot: Spot, most: int, progress: Callable[[float], None] = lambda _: None
    ) -> list[BranchPoint]:
        """Points from `spot` on, itself first, until the range, the branch or `most` ends."""
        points, step, begun = [self.point(spot)], FIRST, spot.z
        while len(points) < most:
            progress(len(points) / most)
            length = min(step, LONGEST)
            try:
                new, turns = self.correct(spot.z + length * spot.tangent, spot.tangent)
            except Lost as lost:
                step = 0.5 * length
                if step < FIRST / 16.0:
                    points.append(self.end(spot, length, str(lost)))
                    break
                continue
            bend = float(new.tangent @ spot.tangent)
            if bend < 0.9 and length > FIRST / 64.0:  # round a corner: more closely
                step = 0.5 * length
                continue
            value = new.z[-1] * self.range
            if not self.low <= value <= self.high:
                points += [*self.special(spot, new, self.limit(spot)), *self._to_edge(spot, new)]
                break
            points += [*self.special(spot, new), self.point(new)]
            if len(points) > 4 and np.linalg.norm(new.z - begun) < 0.5 * length:
                break  # round an isola, back where it began
            spot, step = new, length * (1.5 if turns <= GOOD else 0.7)
        return points

    def limit(self, spot: Spot) -> float:
        """The end of the range that lies ahead."""
        return self.high if spot.tangent[-1] > 0 else self.low

    def _to_edge(self, spot: Spot, new: Spot) -> list[BranchPoint]:
        """The point at the end of the range, between the last inside and the first outside."""
        edge = self.high if new.z[-1] * self.range > self.high else self.low
        share = (edge / self.range - spot.z[-1]) / (new.z[-1] - spot.z[-1])
        z = spot.z + share * (new.z - spot.z)
        z[-1] = edge / self.range
        try:
            only_value = np.append(np.zeros(len(self.scale)), 1.0)
            return [self.point(self.correct(z, only_value)[0])]
        except Lost:
            return []

    def end(self, spot: Spot, length: float, why: str) -> BranchPoint:
        """Where there is no gait any more: by bisection, with the reason."""
        good, low, high = spot, 0.0, length
        while high - low > SHORTEST:
            middle = 0.5 * (low + high)
            try:
                good, _ = self.correct(spot.z + middle * spot.tangent, spot.tangent)
                low = middle
            except Lost as lost:
                high, why = middle, str(lost)
        return dataclasses.replace(self.point(good), kind="end", why=why)

    def point(self, spot: Spot, kind: str = "") -> BranchPoint:
        flat, value = self.unpack(spot.z)
        system, _ = self.robot(value)
        measured = figures_of(self.map, spot.mapped, system)
        doubts = stride_doubts(self.map, spot.mapped)
        return BranchPoint(value, flat, spot.multipliers, measured, kind, doubts=doubts)

    # --- special points ---------------------------------------------------------------------------

    def special(self, a: Spot, b: Spot, within: float | None = None) -> list[BranchPoint]:
        """What lies between two neighbours on a branch, in its order."""
        found = []
        for kind, test in TESTS.items():
            if test(a) * test(b) >= 0.0:
                continue
            spot = self.located(a, b, test)
            if spot is None or not _is_kind(kind, spot):
                continue
            value = spot.z[-1] * self.range
            if within is not None and not self.low <= value <= self.high:
                continue
            found.append((float(a.tangent @ (spot.z - a.z)), self.point(spot, kind)))
        return [point for _, point in sorted(found, key=lambda pair: pair[0])]

    def located(self, a: Spot, b: Spot, test: Callable[[Spot], float]) -> Spot | None:
        """The point where a test function is zero, on the branch."""
        whole = float(a.tangent @ (b.z - a.z))
        spots = {0.0: a, whole: b}

        def value(length: float) -> float:
            if length not in spots:
                between = a.z + (length / whole) * (b.z - a.z)
                between = between + (length - a.tangent @ (between - a.z)) * a.tangent
                spots[length], _ = self.correct(between, a.tangent)
            return test(spots[length])

        try:
            root = float(brentq(value, 0.0, whole, xtol=LOCATED, rtol=1e-14))
        except (Lost, ValueError, RuntimeError):
            return None
        value(root)
        return spots[root]

    def crossed(self, point: BranchPoint, beside: BranchPoint) -> list[Spot]:
        """At a branch point: where the other branch begins, to both sides.

        Along the null space of the equations across the branch, whose direction `beside` tells
        (Keller): the branch itself does not lie there.
        """
        z = self.pack(point.numbers, point.value)
        null = np.linalg.svd(self.at(z)[1])[2][-2:]
        along = null @ (z - self.pack(beside.numbers, beside.value))
        across = np.array([-along[1], along[0]]) @ null / np.linalg.norm(along)
        found = []
        for way in (across, -across):
            for length in (FIRST / 2.0, FIRST / 8.0, FIRST / 32.0):
                with contextlib.suppress(Lost):
                    found.append(self.correct(z + length * way, way)[0])
                    break
        return found

    def doubled(self, point: BranchPoint) -> tuple["Follower", Spot] | None:
        """The branch of twice the period that leaves here, a first small step along it."""
        system, along = self.robot(point.value)
        mapped = self.map.at(point.numbers, self.counts, along, system=system)
        size = len(point.numbers)
        jacobian = self.quotient.matrix(mapped.slopes.numbers[:size].T)
        values, vectors = np.linalg.eig(jacobian)
        way = np.real(vectors[:, int(np.argmin(np.abs(values + 1.0)))]) / self.scale
        tangent = np.append(way / np.linalg.norm(way), 0.0)
        other = object.__new__(Follower)
        other.__dict__ |= self.__dict__
        limits = self.map.limits
        other.map = dataclasses.replace(
            self.map,
            limits=limits._replace(stop_count=2 * limits.stop_count, t_end=2 * limits.t_end),
        )
        z = self.pack(point.numbers, point.value)
        for length in (FIRST / 2.0, FIRST / 8.0, FIRST / 32.0):
            try:
                spot, _ = other.correct(z + length * tangent, tangent)
            except Lost:
                continue
            if np.linalg.norm(spot.z[:-1] - z[:-1]) > 0.5 * length:
                away = spot.tangent @ (spot.z - z)
                spot.tangent = spot.tangent * (1.0 if away >= 0.0 else -1.0)
                return other, spot
        return None


def _is_kind(kind: str, spot: Spot) -> bool:
    """Whether a zero of a test function is what it is called."""
    values = spot.multipliers
    if kind == "torus":
        pairs = values[np.abs(values.imag) > PAIR]
        return bool(len(pairs)) and float(np.min(np.abs(np.abs(pairs) - 1.0))) < 1e-6
    if kind == "branch point":  # det(I - J) is zero at a fold too
        return abs(spot.tangent[-1]) > 1e-6
    return True


def _torus(spot: Spot) -> float:
    """Product over pairs of (1 - product of two multipliers); those that are gone make it 1."""
    values = spot.multipliers
    first, second = np.triu_indices(len(values), 1)
    return float(np.real(np.prod(1.0 - values[first] * values[second])))


TESTS: dict[str, Callable[[Spot], float]] = {
    "fold": lambda spot: float(spot.tangent[-1]),
    "period doubling": lambda s: float(np.linalg.det(s.jacobian + np.eye(len(s.jacobian)))),
    "torus": _torus,
    "branch point": lambda s: float(np.linalg.det(np.eye(len(s.jacobian)) - s.jacobian)),
}
