"""The best design: constrained minimisation with exact derivatives, whatever is designed.

A landscape knows designs as points of a unit cube, what is known of each (figures and their
slopes), and why some cannot be. SLSQP moves the point; where a design is refused it goes on from
the best before it in a smaller box. How good the end is, the conditions of Karush, Kuhn and Tucker
tell:

    grad f = sum over active limits of price * grad room,   prices >= 0                (gaits.16)

in relative terms, so that a price is what one per cent of its limit is worth in per cent.
"""

import abc
import heapq
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize, nnls

from footfall.engines.analysis.expression import Constraint, Objective
from footfall.hybrid.doubt import Doubt

#: A limit is active, or kept, within this share of itself.
ACTIVE, KEPT = 1e-4, 1e-6
#: A round of SLSQP that moves less than this share of every range is the last.
SETTLED = 1e-6
#: A round that gains less than this share of the objective is the last, too.
GAINS = 1e-9
#: SLSQP's own: relative change of the objective at which a round ends, and its steps.
FINEST, MOST_STEPS = 1e-11, 60
#: Rounds of it; how a box shrinks after a refusal, and when that is the edge of what can be.
MOST_ROUNDS, BOX_SHRINKS, SMALLEST_BOX = 20, 0.25, 1e-4
#: Designs that one search may look at: at a corner of several minima SLSQP goes on for ever.
MOST_LOOKS = 90
#: Parts of a landscape searched again in smaller ranges, for one design.
MOST_NARROWINGS = 8
#: How much more the sum of weights counts than what is explained: it holds to the square of this.
SUM = 1e3

Progress = Callable[[float], None]


class Refused(Exception):
    """There is no such design; says why."""


class Look(NamedTuple):
    """What is known of a design. Slopes are by the point's coordinates, on the last axis."""

    figures: Mapping[str, Any]
    slopes: Mapping[str, Any]
    rooms: Mapping[str, Any]  #: what must not be negative whatever is asked, by name
    room_slopes: Mapping[str, Any]
    memory: Any = None  #: what the next look, near it, begins with


class Found(NamedTuple):
    """A point of a landscape, and what is known of it."""

    share: np.ndarray
    piece: np.ndarray
    look: Look
    edge: str = ""  #: why there is none beyond it, where the best are refused


class AbstractLandscape(abc.ABC):
    """Designs as points of a unit cube, in pieces within each of which figures are smooth."""

    keys: tuple[str, ...]
    units: Mapping[str, str]  #: of the keys
    pieces: Sequence[np.ndarray]  #: arrays of numbers that tell one from another
    own: Mapping[str, float]  #: figures of the scenario as it is
    known: Sequence[str]  #: names of the figures that have slopes
    own_values: Mapping[str, float]
    searches: int  #: that are made, and kept, one by one; each from other starts
    box: float = 1.0  #: share of its range that a coordinate may change by in a round of SLSQP

    @abc.abstractmethod
    def look(self, share: np.ndarray, piece: np.ndarray, near: Look | None) -> Look:
        """At a point. Raises Refused."""

    @abc.abstractmethod
    def values(self, share: np.ndarray, piece: np.ndarray) -> dict[str, float]:
        """Of the keys, SI."""

    @abc.abstractmethod
    def value_slopes(self, share: np.ndarray, piece: np.ndarray) -> np.ndarray:
        """Rows: keys. Columns: coordinates."""

    @abc.abstractmethod
    def limits(self, piece: np.ndarray) -> dict[str, tuple[float, float]]:
        """Ends of each key's range."""

    @abc.abstractmethod
    def starts(self, problem: "Problem", piece: np.ndarray, search: int) -> list[np.ndarray]:
        """Points to begin one search from."""

    @abc.abstractmethod
    def remembered(self, found: Found) -> list[list[float]]:
        """Plain JSON, from which `recalled` makes it again."""

    @abc.abstractmethod
    def recalled(self, share: list[float], more: list[float]) -> Found:
        """A design that was remembered. Raises Refused."""

    @abc.abstractmethod
    def tuned(self, found: Found) -> Any:
        """The scenario of a design."""

    @abc.abstractmethod
    def measured(self, found: Found) -> tuple[dict[str, float], tuple[Doubt, ...]]:
        """All figures of a design, as its run has them, and what is doubtful in them."""

    def refuses(self, found: Found) -> str | None:
        """Why a found design cannot be, for what no smooth function knows."""
        del found

    def narrower(self, piece: np.ndarray) -> Sequence[np.ndarray]:
        """The piece in smaller ranges, for where its best design is refused."""
        del piece
        return ()


class Problem(NamedTuple):
    """What is to be small or large, and what must hold."""

    objective: Objective
    constraints: tuple[Constraint, ...]
    unit: float  #: size of the objective

    def merit(self, look: Look) -> tuple[np.ndarray, np.ndarray]:
        """What is to be small, of several numbers each; logarithmic where it is large.

        An area hyperbolic sine: powers become straight lines, and zero is no pole.
        """
        value, slope = self.objective.expression.at(look.figures, look.slopes)
        value, slope = np.atleast_1d(value), np.atleast_2d(slope)
        scaled = self.objective.sign * value / self.unit
        rate = self.objective.sign / (self.unit * np.hypot(1.0, scaled))
        return np.arcsinh(scaled), slope * rate[:, None]

    def rooms(self, look: Look) -> tuple[np.ndarray, np.ndarray]:
        """What must not become negative, and its slopes."""
        size = next(iter(look.slopes.values())).shape[-1]
        rooms, slopes = [np.zeros(0)], [np.zeros((0, size))]
        for constraint in self.constraints:
            value, slope = constraint.expression.at(look.figures, look.slopes)
            scaled, side = np.atleast_1d(value) / constraint.unit, 1 if constraint.least else -1
            limit = np.arcsinh(constraint.limit / constraint.unit)
            rooms.append(side * (np.arcsinh(scaled) - limit))
            rate = side / (constraint.unit * np.hypot(1.0, scaled))
            slopes.append(np.atleast_2d(slope) * rate[:, None])
        rooms += [np.atleast_1d(room) for room in look.rooms.values()]
        slopes += [np.atleast_2d(slope) for slope in look.room_slopes.values()]
        return np.concatenate(rooms), np.concatenate(slopes)

    def lacking(self, look: Look) -> float:
        """By how much the worst constraint is broken, as a share of it."""
        left = [c.room(look.figures) for c in self.constraints]
        left += [float(np.min(room)) for room in look.rooms.values()]
        return max(0.0, *(-room for room in left), 0.0)

    def keeps(self, look: Look) -> bool:
        return self.lacking(look) <= KEPT

    def rank(self, found: Found) -> tuple[float, float]:
        """The smaller the better: what breaks no constraint first, then the objective."""
        lack = self.lacking(found.look)
        value = self.objective.sign * self.objective.worst(found.look.figures)
        return (0.0 if lack <= KEPT else lack), value

    def broken(self, look: Look) -> str:
        """The constraints that are broken, in words."""
        said = [
            f"{c} (it is {_decisive(c, look.figures):.4g})"
            for c in self.constraints
            if c.room(look.figures) < -KEPT
        ]
        said += [
            f"{name} (by {-100.0 * float(np.min(room)):.3g} %)"
            for name, room in look.rooms.items()
            if np.min(room) < -KEPT
        ]
        return ", ".join(said)


def _decisive(constraint: Constraint, figures: Mapping[str, Any]) -> float:
    values = np.asarray(constraint.expression.value(figures))
    return float(np.min(values) if constraint.least else np.max(values))


class _Enough(Exception):
    """More was looked at than a search may."""


class _Round:
    """A problem on one piece as functions for SLSQP, of the point and, where several numbers are to
    be small, of one more unknown that none of them may exceed.

    What was looked at is kept. A point that is refused ends the round: raises Refused.
    """

    def __init__(
        self,
        landscape: AbstractLandscape,
        problem: Problem,
        piece: np.ndarray,
        near: Look | None,
        progress: Progress,
    ):
        self.landscape, self.problem, self.piece = landscape, problem, piece
        self.near, self.progress = near, progress
        self.seen: dict[bytes, Found] = {}

    def at(self, x: np.ndarray) -> Found:
        point = np.clip(np.array(x, float)[: len(self.landscape.keys)], 0.0, 1.0)
        mark = point.tobytes()
        if mark not in self.seen:
            if len(self.seen) >= MOST_LOOKS:
                raise _Enough
            self.progress(len(self.seen) / MOST_LOOKS)
            look = self.landscape.look(point, self.piece, self.near)
            self.seen[mark], self.near = Found(point, self.piece, look), look
        return self.seen[mark]

    @property
    def best(self) -> Found:
        return min(self.seen.values(), key=self.problem.rank)

    def go(self, start: Found, box: float) -> np.ndarray:
        """Where SLSQP comes to in a box round a point. Raises Refused."""
        share, size = start.share, len(start.share)
        bounds: list[Any] = [(max(v - box, 0.0), min(v + box, 1.0)) for v in share]
        merits = self.problem.merit(start.look)[0]
        many = len(merits) > 1
        if many:
            bounds, share = [*bounds, (None, None)], np.append(share, np.max(merits))
        solved = minimize(
            (lambda x: x[-1]) if many else (lambda x: float(self.merit(x)[0][0])),
            share,
            jac=(lambda x: np.eye(size + 1)[-1]) if many else (lambda x: self.merit(x)[1][0]),
            bounds=bounds,
            constraints={
                "type": "ineq",
                "fun": lambda x: self.rooms(x, many)[0],
                "jac": lambda x: self.rooms(x, many)[1],
            },
            method="SLSQP",
            options={"maxiter": MOST_STEPS, "ftol": FINEST},
        )
        return np.clip(solved.x[:size], 0.0, 1.0)

    def merit(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.problem.merit(self.at(x).look)

    def rooms(self, x: np.ndarray, many: bool) -> tuple[np.ndarray, np.ndarray]:
        rooms, slopes = self.problem.rooms(self.at(x).look)
        if not many:
            return rooms, slopes
        values, rates = self.merit(x)
        level = np.append(np.zeros(len(rooms)), np.ones(len(values)))
        return np.append(rooms, x[-1] - values), np.column_stack(
            [np.concatenate([slopes, -rates]), level]
        )


def descend(
    landscape: AbstractLandscape,
    problem: Problem,
    piece: np.ndarray,
    share: np.ndarray,
    near: Look | None = None,
    progress: Progress = lambda _: None,
) -> Found:
    """SLSQP from a point, in a box that shrinks where designs are refused: the best looked at.

    Raises Refused where the first one is.
    """
    here = _Round(landscape, problem, piece, near, progress)
    start, box, edge = here.at(np.asarray(share, float)), landscape.box, ""
    for _ in range(MOST_ROUNDS):
        try:
            end = here.at(here.go(start, box))
        except Refused as refused:
            # On from the best so far, more carefully.
            start, box, edge, here.near = here.best, BOX_SHRINKS * box, str(refused), here.best.look
            if box < SMALLEST_BOX:
                return start._replace(edge=edge)
            continue
        except _Enough:
            break
        moved, before = float(np.max(np.abs(end.share - start.share))), problem.rank(start)
        start = min(end, here.best, key=problem.rank)
        lack, value = problem.rank(start)
        gains = bool(before[0]) or before[1] - value > GAINS * abs(value)
        if moved < SETTLED or (not lack and not gains):
            break
        if moved > 0.99 * box:
            box = min(2.0 * box, landscape.box)
    return here.best


def solve(
    landscape: AbstractLandscape,
    problem: Problem,
    searches: Sequence[int],
    warm: Sequence[Found] = (),
    progress: Progress = lambda _: None,
) -> Found:
    """The best design over all pieces; one that breaks constraints where none keeps them.

    `warm`: what was found for like problems, to begin from as well. A design that the landscape
    refuses gives way to another of its piece, in smaller ranges, or of the next. Raises Refused
    where every one is.
    """
    heap: list[tuple[tuple[float, float], int, Found]] = []
    waiting, narrowings, count = list(landscape.pieces), MOST_NARROWINGS, 0
    why = "there is nothing to begin with"
    while True:
        for done, piece in enumerate(waiting):
            begun: list[tuple[np.ndarray, Look | None]] = [
                (share, None) for k in searches for share in landscape.starts(problem, piece, k)
            ]
            begun += [(f.share, f.look) for f in warm if np.array_equal(f.piece, piece)]
            good: list[Found] = []
            for number, (share, near) in enumerate(begun):

                def told(part: float, all_done: float = done + number / len(begun)) -> None:
                    progress((all_done + part / len(begun)) / len(waiting))  # noqa: B023

                try:
                    good.append(descend(landscape, problem, piece, share, near, told))
                except Refused as refused:
                    why = str(refused)
            if good:  # the best of each piece: others of it are as good or as bad
                best, count = min(good, key=problem.rank), count + 1
                heapq.heappush(heap, (problem.rank(best), count, best))
        if not heap:
            raise Refused(why)
        rank, _, best = heapq.heappop(heap)
        refused_too = None if rank[0] else landscape.refuses(best)
        if refused_too is None:
            return best
        why = refused_too
        waiting = list(landscape.narrower(best.piece)) if narrowings else []
        narrowings -= bool(waiting)


class Optimality(NamedTuple):
    """Why a design is no better."""

    off: float  #: what is left of the slope of the objective, as a share of it
    #: What limits it: per cent of the objective that one per cent of the limit is worth; for an end
    #: of a range, of the range. Of a point of a front, with the weights of its objectives.
    prices: dict[str, float]
    weights: tuple[float, ...]  #: of the objectives, their sum is 1


def optimality(
    landscape: AbstractLandscape,
    objectives: Sequence[Objective],
    constraints: Sequence[Constraint],
    found: Found,
) -> Optimality:
    """By (gaits.16): prices of the limits that are active, and what they leave unexplained.

    Of several objectives, or one of several numbers, the sum with weights is explained.
    """
    look, size = found.look, len(found.share)
    rows, owners = [], []
    for number, objective in enumerate(objectives):
        value, slope = objective.expression.at(look.figures, look.slopes)
        value = objective.sign * np.atleast_1d(value)
        unit = max(abs(float(np.max(value))), 1e-300)
        for k in np.flatnonzero(value >= np.max(value) - ACTIVE * unit):
            owners.append(number)
            rows.append(objective.sign * np.atleast_2d(slope)[k] / unit)
    limits = _active(landscape, constraints, found)  # an edge of what can be has no slope
    # sum w = 1, sum w grad f = sum price grad room.
    first = np.array(rows)
    matrix = np.concatenate([first, -np.array([way for _, way in limits]).reshape(-1, size)]).T
    reach = max(float(np.max(np.linalg.norm(first, axis=1))), 1e-300)
    ones = np.append(np.ones(len(rows)), np.zeros(len(limits)))
    weights, _ = nnls(
        np.concatenate([matrix / reach, SUM * ones[None]]), np.append(np.zeros(size), SUM)
    )
    prices: dict[str, float] = {}
    for (name, _), price in zip(limits, weights[len(rows) :], strict=True):
        prices[name] = prices.get(name, 0.0) + float(price)
    of_each = np.bincount(owners, weights[: len(rows)], len(objectives))
    return Optimality(float(np.linalg.norm(matrix @ weights)) / reach, prices, tuple(of_each))


def _active(
    landscape: AbstractLandscape, constraints: Sequence[Constraint], found: Found
) -> list[tuple[str, np.ndarray]]:
    """The limits that a design lies on, and which way each has more room."""
    look, limits = found.look, []
    for c in constraints:
        at, way = c.expression.at(look.figures, look.slopes)
        side = 1.0 if c.least else -1.0
        near = np.flatnonzero(side * (np.atleast_1d(at) - c.limit) / c.unit <= ACTIVE)
        limits += [(str(c), side * np.atleast_2d(way)[k] / c.unit) for k in near]
    for name, room in look.rooms.items():
        near = np.flatnonzero(np.atleast_1d(room) <= ACTIVE)
        limits += [(name, np.atleast_2d(look.room_slopes[name])[k]) for k in near]
    ends = landscape.limits(found.piece)
    for k, (key, share) in enumerate(zip(landscape.keys, found.share, strict=True)):
        if min(share, 1.0 - share) <= ACTIVE:
            low = share < 0.5
            said = f"{key} {'>=' if low else '<='} {ends[key][0 if low else 1]:.6g}"
            limits.append((said, np.eye(len(found.share))[k] * (1.0 if low else -1.0)))
    return limits


def front_problem(
    objectives: Sequence[Objective],
    constraints: Sequence[Constraint],
    units: Sequence[float],
    place: int,
    points: int,
    ends: Sequence[Found],
) -> Problem:
    """Of the points of a front: the best of each objective alone, then what lies between.

    Between the ends the first objective is best while the second is no worse than a level
    (epsilon-constraint); levels are spread evenly, by their logarithm where all have one sign.
    """
    first, second = objectives
    if place < 2:
        return Problem((first, second)[place], tuple(constraints), units[place])
    here, there = (second.worst(end.look.figures) for end in ends)
    spread = np.geomspace if here * there > 0 else np.linspace
    level = float(spread(here, there, points)[place - 1])
    return Problem(first, (*constraints, second.no_worse_than(level)), units[0])


def undominated(objectives: Sequence[Objective], figures: Sequence[Mapping[str, Any]]) -> list[int]:
    """Places of the designs that none other beats, best of the first objective first."""
    costs = np.array([[o.sign * o.worst(f) for o in objectives] for f in figures])
    near = 1e-9 * np.abs(costs)
    kept = [
        k
        for k, cost in enumerate(costs)
        if not np.any(
            np.all(costs <= cost + near[k], axis=1)
            & (np.any(costs < cost - near[k], axis=1) | (np.arange(len(costs)) < k))
        )
    ]
    return sorted(kept, key=lambda k: costs[k][0])
