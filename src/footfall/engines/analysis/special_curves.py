"""Curves of folds and period doublings over two parameters.

At such a point M = J - I (fold) or J + I (doubling) is singular. Bordered by vectors b and c near
its null vectors it is not, and

    [ M  b ] [ u ]   [ 0 ]        [ M'  c ] [ w ]   [ 0 ]
    [ c' 0 ] [ g ] = [ 1 ],       [ b'  0 ] [ g ] = [ 1 ],       dg = -w' dM u           (gaits.15)

make a number g that is zero where M is singular, with exact slopes: dM u is a second derivative of
the return map. P(v, p) - v = 0 and g = 0 are one equation fewer than the unknowns z = (v, p1, p2):
a curve, followed by pseudo-arclength as a branch is (gaits.9). After Govaerts, Numerical Methods
for Bifurcations of Dynamical Equilibria (2000), minimally augmented systems.
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from footfall.engines.analysis.continuation import (
    FIRST,
    GOOD,
    LONGEST,
    BranchPoint,
    Follower,
    Lost,
    Spot,
)
from footfall.engines.analysis.gait_figures import figures_of
from footfall.engines.analysis.return_map import NoCycle

#: What is added to J.
SHIFTS = {"fold": -1.0, "period doubling": 1.0}

#: A system with two parameters at values, and how its numbers move with each (a first axis of two).
Plane = Callable[[float, float], tuple[Any, Any]]


@dataclasses.dataclass(frozen=True)
class CurvePoint:
    """A gait at a special point, by both parameters."""

    values: tuple[float, float]
    numbers: np.ndarray
    multipliers: np.ndarray
    figures: dict[str, float]
    why: str = ""  #: of an end inside the ranges


class SpecialCurve(Follower):
    """The curve of one special point."""

    def __init__(
        self,
        branch: Follower,
        point: BranchPoint,
        plane: Plane,
        second: float,
        ranges: Sequence[tuple[float, float]],
    ):
        """`second`: value of the second parameter where the point was found. Raises Lost."""
        self.__dict__ |= branch.__dict__
        if self.held:
            raise Lost("a family over its energy has no curve of single gaits")
        self.plane, self.shift = plane, SHIFTS[point.kind]
        self.ends = np.array(ranges, float)
        self.spans = self.ends[:, 1] - self.ends[:, 0]
        self.start = np.concatenate(
            [
                point.numbers[self.quotient.kept] / self.scale,
                np.array([point.value, second]) / self.spans,
            ]
        )
        mapped = self._mapped(*self._split(self.start))[2]
        left, _, right = np.linalg.svd(self._singular(mapped))
        self.borders = left[:, -1], right[-1]

    def _split(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        flat = self.base.copy()
        flat[self.quotient.kept] = z[:-2] * self.scale
        return flat, z[-2:] * self.spans

    def _mapped(self, flat: np.ndarray, values: np.ndarray) -> tuple[Any, Any, Any]:
        try:
            system, along = self.plane(*map(float, values))
            return system, along, self.map.at(flat, self.counts, along, system=system)
        except (NoCycle, ValueError) as none:
            raise Lost(str(none)) from None

    def _singular(self, mapped: Any) -> np.ndarray:
        """M, in units of the numbers."""
        jacobian = self.quotient.matrix(mapped.slopes.numbers[: len(self.base)].T)
        scaled = jacobian * self.scale[None, :] / self.scale[:, None]
        return scaled + self.shift * np.eye(len(scaled))

    def at(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, Any]:
        """Equations, their derivative by z, that of the map, and the map there."""
        flat, values = self._split(z)
        system, along, mapped = self._mapped(flat, values)
        size, many, (b, c) = len(flat), len(self.scale), self.borders
        matrix = self._singular(mapped)
        whole = np.block([[matrix, b[:, None]], [c[None, :], np.zeros((1, 1))]])
        last = np.append(np.zeros(many), 1.0)
        right, left = np.linalg.solve(whole, last), np.linalg.solve(whole.T, last)
        u, w, g = right[:-1], left[:-1], right[-1]
        # dM u along every unknown: the numbers that repeat, then the parameters.
        numbers = np.stack([self.quotient.spread(row) for row in np.diag(self.scale)])
        ways = np.concatenate([numbers, np.zeros((2, size))])
        turned = jax.tree.map(
            lambda way: np.concatenate(
                [np.zeros((many, *way.shape[1:])), way * _wide(self.spans, way)]
            ),
            along,
        )
        row = self.quotient.spread(self.scale * u)[None]
        bent = self.map.bent(flat, self.counts, row, (ways, turned), system=system)[:, 0]
        slope = -(bent @ self.quotient.reads.T / self.scale) @ w
        jacobian = self.quotient.matrix(mapped.slopes.numbers[:size].T)
        gap = self.quotient.vector(mapped.stride.numbers - flat) / self.step
        by_v = (jacobian - np.eye(many)) * self.scale[None, :] / self.step[:, None]
        by_p = (
            mapped.slopes.numbers[size:] @ self.quotient.reads.T / self.step * self.spans[:, None]
        )
        equations = np.concatenate([np.concatenate([by_v, by_p.T], axis=1), slope[None]])
        self._next = u / np.linalg.norm(u), w / np.linalg.norm(w)
        return np.append(gap, g), equations, jacobian, mapped

    def both_ways(self, most: int) -> list[CurvePoint]:
        """From the point on to both sides, in the order of the curve. Raises Lost."""
        up = np.append(np.zeros(len(self.start) - 1), 1.0)
        first, _ = self.correct(self.start, up)
        there, back = (
            self._walk(dataclasses.replace(first, tangent=way * first.tangent), most)
            for way in (1.0, -1.0)
        )
        return [*reversed(back), self._point(first), *there]

    def _walk(self, spot: Spot, most: int) -> list[CurvePoint]:
        points: list[CurvePoint] = []
        step = FIRST
        while len(points) < most:
            length = min(step, LONGEST)
            try:
                new, turns = self.correct(spot.z + length * spot.tangent, spot.tangent)
            except Lost as lost:
                step = 0.5 * length
                if step < FIRST / 64.0:
                    return [*points, dataclasses.replace(self._point(spot), why=str(lost))]
                continue
            if float(new.tangent @ spot.tangent) < 0.9 and length > FIRST / 64.0:
                step = 0.5 * length
                continue
            self.borders = self._next[1], self._next[0]
            outside = self._outside(new.z)
            if outside is not None:
                return [*points, *self._edge(spot, new, *outside)]
            points.append(self._point(new))
            spot, step = new, length * (1.5 if turns <= GOOD else 0.7)
        return points

    def _outside(self, z: np.ndarray) -> tuple[int, float] | None:
        """Which parameter has left its range, and the end it left by."""
        for k, value in enumerate(z[-2:] * self.spans):
            low, high = self.ends[k]
            if not low <= value <= high:
                return k, low if value < low else high
        return None

    def _edge(self, spot: Spot, new: Spot, which: int, end: float) -> list[CurvePoint]:
        """The point at the end of a range."""
        place = which - 2
        share = (end / self.spans[which] - spot.z[place]) / (new.z[place] - spot.z[place])
        z = spot.z + share * (new.z - spot.z)
        z[place] = end / self.spans[which]
        try:
            return [self._point(self.correct(z, np.eye(len(z))[place])[0])]
        except Lost:
            return []

    def _point(self, spot: Spot) -> CurvePoint:
        flat, values = self._split(spot.z)
        system, _ = self.plane(*map(float, values))
        measured = figures_of(self.map, spot.mapped, system)
        first, second = map(float, values)
        return CurvePoint((first, second), flat, spot.multipliers, measured)


def _wide(spans: np.ndarray, way: np.ndarray) -> np.ndarray:
    return spans.reshape(2, *(1,) * (way.ndim - 1))
