"""The best gait of a motion plan, and what time costs in energy.

Constrained minimisation with exact derivatives.

Which layout (how many steps) is best cannot be asked of a derivative, so every layout is tried;
within one, SciPy's SLSQP moves the knobs.
"""

import dataclasses
import heapq
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np
from scipy.optimize import minimize
from scipy.stats import qmc

from footfall.hybrid.motion_plan import AbstractTunablePlan, AbstractTuning, Costs

#: SLSQP's own: relative change of the objective at which it stops, and how many steps it may take.
FINEST, MOST_STEPS = 1e-9, 100
#: A limit that is kept to this share of itself is kept.
KEPT = 1e-6
#: A found gait spares this share of the torque limit, for a run looks between the samples and at
#: the last digit.
SPARED = 1e-3
#: Layouts searched again in smaller ranges, for one gait.
MOST_NARROWINGS = 8
#: Points looked at in every layout to begin from a good one: from far outside the limits SLSQP does
#: not always find in.
SPREAD = 256
#: So many of them are begun from: SLSQP stops early where several torques reach the limit together.
STARTS = 6
#: A torque counts relative to its limit and this share of it more, so that a motor without load is
#: no pole of the logarithm.
IDLE = 0.1


@dataclasses.dataclass(frozen=True)
class Optimum:
    """One gait: the best of its layout for what was asked."""

    values: dict[str, float]  #: of the knobs, by name
    energy: float
    time: float
    peak_torque: float
    layout: tuple[float, ...]
    #: What keeps it from being better: "torque", "time", a room's name, or a knob's end.
    at_limit: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Front:
    """The fastest gait, the thriftiest one, and the best compromises between.

    None is faster and thriftier than another.
    """

    gaits: tuple[Optimum, ...]  #: fastest first
    torque_limit: float | None
    layouts: int  #: tried
    solves: int

    @property
    def fastest(self) -> Optimum:
        return self.gaits[0]

    @property
    def thriftiest(self) -> Optimum:
        return self.gaits[-1]


class NoGait(RuntimeError):
    """No gait in the ranges keeps the limits."""


Refuses = Callable[[Optimum], str | None]


def find_front(
    plan: AbstractTunablePlan,
    *,
    points: int = 12,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    refuses: Refuses = lambda _: None,
) -> Front:
    """Least energy for each of several times, from the fastest gait to the thriftiest.

    Raises NoGait.

    `refuses` may say of a gait why it cannot be walked, for what no smooth function knows (a foot
    that would land on an edge). Its layout is then searched again in smaller ranges.
    """
    search, gaits = FrontSearch(plan, points, ranges or {}, refuses), []
    for k in range(points):
        gaits.append(search.gait(k, gaits))
    front = [gaits[k] for k in best_of([gait and (gait.time, gait.energy) for gait in gaits])]
    return Front(
        tuple(gait for gait in front if gait is not None),
        search.torque_limit,
        len(search.layouts),
        search.solves,
    )


def best_of(gaits: Sequence[tuple[float, float] | None]) -> list[int]:
    """Places of the gaits that make a front, fastest first, from the (time, energy) of each.

    As `FrontSearch` finds them: the fastest, the thriftiest, those between; None where there is
    none.
    """
    front = [0]
    for place in [*range(2, len(gaits)), *([1] if len(gaits) > 1 else [])]:
        gait, last = gaits[place], gaits[front[-1]]
        if gait is not None and last is not None and gait[1] < last[1]:
            front.append(place)
    return front


class FrontSearch:
    """The gaits of a front, one after another: the fastest, the thriftiest, those between.

    What one search learns helps the next. `memory` holds it as plain JSON, so that a search that
    was cut goes on as if it had not been.
    """

    def __init__(
        self,
        plan: AbstractTunablePlan,
        points: int,
        ranges: Mapping[str, tuple[float, float]],
        refuses: Refuses,
    ):
        self._search, self._points, self._refuses = _Search(plan.tuning(ranges)), points, refuses
        self.layouts = list(self._search.tuning.layouts())
        if not self.layouts:
            raise NoGait("the ground refuses every stride in these ranges.")

    @property
    def torque_limit(self) -> float | None:
        return self._search.tuning.torque_limit

    @property
    def solves(self) -> int:
        return self._search.solves

    @property
    def memory(self) -> dict[str, Any]:
        found = {key.hex(): share.tolist() for key, share in self._search._found.items()}
        return {"solves": self._search.solves, "found": found}

    def recall(self, memory: Mapping[str, Any]) -> None:
        """Go on after the gait that left this memory."""
        self._search.solves = memory["solves"]
        self._search._found = {
            bytes.fromhex(key): np.array(share) for key, share in memory["found"].items()
        }

    def gait(
        self,
        place: int,
        before: Sequence[Optimum | None],
        progress: Callable[[float], None] = lambda _: None,
    ) -> Optimum | None:
        """The one at this place, after those before it; None if no gait is so fast.

        Raises NoGait where there is no fastest or no thriftiest.
        """
        if place < 2:
            return self._best("energy" if place else "time", math.inf, progress, required=True)
        fastest, thriftiest = before[0], before[1]
        assert fastest is not None and thriftiest is not None
        times = np.geomspace(fastest.time, thriftiest.time, self._points)[1:-1]
        return self._best("energy", float(times[place - 2]), progress)

    def _best(
        self,
        objective: str,
        limit: float,
        progress: Callable[[float], None],
        required: bool = False,
    ) -> Optimum | None:
        search, refused = self._search, ""
        heap: list[tuple[float, int, Optimum]] = []
        waiting, narrowings, first = list(self.layouts), MOST_NARROWINGS, True
        while True:
            for done, layout in enumerate(waiting):
                gait = search.solve(objective, layout, limit)
                if gait is not None:
                    heapq.heappush(heap, (getattr(gait, objective), search.solves, gait))
                if first:
                    progress((done + 1) / len(waiting))
            first = False
            if not heap:
                if required:
                    raise NoGait(search.why(refused))
                return None
            gait = heapq.heappop(heap)[2]
            why = self._refuses(gait)
            if why is None:
                return gait
            refused = why
            waiting = search.narrowed(gait) if narrowings else []
            narrowings -= bool(waiting)


class _Search:
    """Costs and their derivatives, compiled once for all layouts."""

    def __init__(self, tuning: AbstractTuning):
        self.tuning, self.solves = tuning, 0
        self.torque_limit = (
            None if tuning.torque_limit is None else (1.0 - SPARED) * tuning.torque_limit
        )
        self._points = qmc.Halton(len(tuning.knobs), scramble=False).random(SPREAD + 1)[1:]

        def twice(share: Any, layout: Any) -> tuple[Costs, Costs]:
            costs = tuning.costs(share, layout)
            return costs, costs

        self._both = jax.jit(jax.jacfwd(twice, has_aux=True))
        self._many = jax.jit(jax.vmap(tuning.costs, (0, None)))
        self._last: tuple[bytes, tuple[Costs, Costs]] | None = None
        self._spread: dict[bytes, Costs] = {}
        self._found: dict[bytes, np.ndarray] = {}

    def costs(self, share: np.ndarray, layout: np.ndarray) -> tuple[Costs, Costs]:
        """Values and derivatives by each knob.

        The last are kept, for SLSQP asks for them one by one.
        """
        key = share.tobytes() + layout.tobytes()
        if self._last is None or self._last[0] != key:
            slopes, values = jax.tree.map(np.asarray, self._both(share, layout))
            self._last = key, (values, slopes)
        return self._last[1]

    def solve(
        self, objective: str, layout: np.ndarray, time_limit: float = math.inf
    ) -> Optimum | None:
        """The best gait of a layout; None if none keeps the limits."""
        self.solves += 1
        found = [
            self._descend(objective, layout, time_limit, start)
            for start in self._starts(objective, layout, time_limit)
        ]
        good = [gait for gait in found if gait is not None]
        if not good:
            return None
        share, gait = min(good, key=lambda pair: getattr(pair[1], objective))
        again = self._descend(objective, layout, time_limit, share)  # from there it often goes on
        if again is not None and getattr(again[1], objective) < getattr(gait, objective):
            share, gait = again
        self._found[layout.tobytes()] = share
        return gait

    def _descend(
        self, objective: str, layout: np.ndarray, time_limit: float, start: np.ndarray
    ) -> tuple[np.ndarray, Optimum] | None:
        """SLSQP in logarithms, in which powers of the speed are straight lines."""
        found = minimize(
            lambda share: math.log(getattr(self.costs(share, layout)[0], objective)),
            start,
            jac=lambda share: _log_slope(
                *(getattr(c, objective) for c in self.costs(share, layout))
            ),
            bounds=[(0.0, 1.0)] * len(self.tuning.knobs),
            constraints={
                "type": "ineq",
                "fun": lambda share: self._rooms(self.costs(share, layout)[0], time_limit),
                "jac": lambda share: self._room_slopes(*self.costs(share, layout), time_limit),
            },
            method="SLSQP",
            options={"ftol": FINEST, "maxiter": MOST_STEPS},
        )
        share = np.clip(found.x, 0.0, 1.0)
        costs = self.costs(share, layout)[0]
        left = self._rooms(costs, time_limit)
        if (
            not np.isfinite(left).all()
            or left.min() < -KEPT
            or not math.isfinite(float(costs.energy))
        ):
            return None
        values = {name: float(value) for name, value in self.tuning.values(share, layout).items()}
        held = tuple(self._at_limit(values, costs, time_limit))
        gait = Optimum(
            values,
            float(costs.energy),
            float(costs.time),
            float(costs.torques.max()),
            tuple(map(float, layout)),
            held,
        )
        return share, gait

    def _rooms(self, costs: Costs, time_limit: float) -> np.ndarray:
        """What must not be negative.

        Given rooms, and the logarithm of each limit over what is taken of it.
        """
        parts = list(costs.room.values())
        if self.torque_limit is not None:
            parts.append(np.log((1.0 + IDLE) / (costs.torques / self.torque_limit + IDLE)))
        if math.isfinite(time_limit):
            parts.append(np.atleast_1d(np.log(time_limit / costs.time)))
        return np.concatenate(parts)

    def _room_slopes(self, costs: Costs, slopes: Costs, time_limit: float) -> np.ndarray:
        parts = list(slopes.room.values())
        if self.torque_limit is not None:
            parts.append(-slopes.torques / (costs.torques + IDLE * self.torque_limit)[:, None])
        if math.isfinite(time_limit):
            parts.append(-_log_slope(costs.time, slopes.time)[None])
        return np.concatenate(parts)

    def _starts(self, objective: str, layout: np.ndarray, time_limit: float) -> list[np.ndarray]:
        """The best of many spread points that keep the limits (or break them least), and what was
        found for this layout before.
        """
        key = layout.tobytes()
        if key not in self._spread:
            self._spread[key] = jax.tree.map(np.asarray, self._many(self._points, layout))
        spread = self._spread[key]
        broken = -np.min(np.concatenate(list(spread.room.values()), axis=1), axis=1)
        if self.torque_limit is not None:
            broken = np.maximum(broken, spread.torques.max(axis=1) / self.torque_limit - 1.0)
        broken = np.nan_to_num(
            np.maximum(np.maximum(broken, spread.time / time_limit - 1.0), 0.0), nan=np.inf
        )
        best = np.lexsort((getattr(spread, objective), broken))[:STARTS]
        return [
            *(self._points[k].copy() for k in best),
            *([self._found[key]] if key in self._found else []),
        ]

    def _at_limit(self, values: Mapping[str, float], costs: Costs, time_limit: float) -> list[str]:
        near = 1e-4
        held = []
        if self.torque_limit is not None and costs.torques.max() > (1.0 - near) * self.torque_limit:
            held.append("torque")
        if math.isfinite(time_limit) and costs.time > (1.0 - near) * time_limit:
            held.append("time")
        held += [name for name, room in costs.room.items() if room.min() < near]
        for knob in self.tuning.knobs:
            if values[knob.name] < knob.low * (1.0 + near):
                held.append(f"least {knob.name}")
            elif values[knob.name] > knob.high * (1.0 - near):
                held.append(f"largest {knob.name}")
        return held

    def narrowed(self, gait: Optimum) -> list[np.ndarray]:
        """Smaller ranges of a gait's layout."""
        return [np.asarray(layout) for layout in self.tuning.narrower(np.array(gait.layout))]

    def why(self, refused: str) -> str:
        if refused:
            return (
                "gaits in these ranges keep the limits of the motors, but none can be walked. The"
                f" last one tried: {refused}"
            )
        least = min(
            (float(costs.torques.max(axis=1).min()) for costs in self._spread.values()),
            default=math.inf,
        )
        limit = (
            ""
            if self.tuning.torque_limit is None
            else f" with torques up to {self.tuning.torque_limit:g} N m"
        )
        return (
            f"no gait in these ranges can be walked{limit}. The least peak torque seen is"
            f" {least:.4g} N m."
        )


def _log_slope(value: np.ndarray, slope: np.ndarray) -> np.ndarray:
    return slope / value


def as_settings(gait: Optimum) -> Sequence[str]:
    """`KEY=VALUE` of every knob, for a scenario."""
    return [f"{name}={value!r}" for name, value in gait.values.items()]
