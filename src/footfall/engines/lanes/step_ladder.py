"""Which step each robot of a batch takes.

Short enough to be stable for it, and accurate for robots like it.

All steps are those of one halving series, first / 2^level. A robot's *rung* says how far the series
must go down before an explicit method is stable for it at its start; what accuracy asks for beyond
that is found on probes, rung by rung. So a robot's step follows from its own numbers and from this
table alone, whoever its neighbours are.

A scenario may give the first step (`BatchPlan.first_step`). For a method of low order, whose steps
could be halved without end before they are as accurate as those of order 4, its author has said how
accurate is enough: it is only halved where it is not stable.
"""

import dataclasses
import math
from typing import Any

import jax
import numpy as np

from footfall.engines.lanes.batch import BatchResult, run_batch
from footfall.engines.lanes.batch_inputs import prepared
from footfall.engines.lanes.batch_plan import BatchPlan
from footfall.engines.lanes.stable_step import rates_of_change
from footfall.engines.lanes.step_methods import METHODS
from footfall.engines.step_growth import damper_reach
from footfall.hybrid.system import AbstractHybridSystem, HybridState

#: State error a chosen step may leave, per unit of 1 + |state|, after PROBE_TIME; single precision
#: cannot do better than its second.
WANTED_ERROR = {"float64": 1e-5, "float32": 3e-4}
PROBE_TIME = 5.0
PROBES = 64
FIRST_GUESS = 0.01  # s
HALVINGS = 20
#: Two runs agree when they end within this many times the error that was wanted: some robots
#: amplify it.
AGREED = 10.0
#: What is wanted where a scenario gives the first step of a method of low order: with AGREED 1 %,
#: as of its energy books.
ROUGH_ERROR = 1e-3
#: Room left below the limit of stability at the start: along a run the flow becomes twice as fast
#: as it was there.
MARGIN = 0.5
#: A robot may always take so many steps (less than a second of a core); or so many times those of
#: the least stiff, up to ten times as many.
MOST_STEPS, MOST_TIMES = 1_000_000, 64


@dataclasses.dataclass(frozen=True)
class StepLadder:
    """The steps of a batch or sweep."""

    first: float  #: s, the longest step of the series
    levels: tuple[tuple[int, int], ...]  #: (rung, level) of the rungs that were probed, in order
    deepest: int  #: level below which a robot would cost too much
    # of the state after `time` on the first rung, 90 % of the probes are better; per unit of 1 +
    # |state|
    error: float
    time: float  #: s
    probes: int  #: 0: accuracy was not asked for
    unsure: tuple[int, ...] = ()  #: rungs whose probes did not become accurate at any level

    @property
    def margin(self) -> float:
        """Share of the limit of stability that a step may have at the start."""
        return MARGIN if self.probes else 1.0

    def agreed(self, precision: str) -> float:
        """How far apart two runs may end that agree, per unit of 1 + time."""
        return AGREED * (WANTED_ERROR[precision] if self.probes else ROUGH_ERROR)

    def vouched(self, rungs: np.ndarray) -> np.ndarray:
        """Which robots have a rung that was probed and found accurate.

        All of them where accuracy was not asked for.
        """
        accurate = [rung for rung, _ in self.levels if rung not in self.unsure]
        return np.isin(rungs, accurate) | (self.probes == 0)

    @property
    def step(self) -> float:
        """Of the least stiff robots."""
        return self.at(self.levels[0][1])

    def at(self, level: int) -> float:
        return self.first / 2**level

    def levels_of(self, rungs: np.ndarray) -> np.ndarray:
        """Level of robots on these rungs.

        One that was not probed needs no less than those above it.
        """
        found = np.asarray(rungs, np.int64)
        for rung, level in self.levels:
            found = np.where(np.asarray(rungs) >= rung, np.maximum(found, level), found)
        return np.minimum(found, self.deepest)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        finite = {"error": self.error if math.isfinite(self.error) else None}
        return {
            **dataclasses.asdict(self),
            **finite,
            "levels": [list(pair) for pair in self.levels],
        }

    @classmethod
    def from_dict(cls, said: dict[str, Any]) -> "StepLadder":
        error = math.inf if said["error"] is None else said["error"]
        levels = tuple((rung, level) for rung, level in said["levels"])
        return cls(
            **{**said, "error": error, "levels": levels, "unsure": tuple(said.get("unsure", ()))}
        )


def first_step(system: AbstractHybridSystem, plan: BatchPlan) -> float:
    """The longest step worth trying.

    The plan's, or one that divides the duration or the shortest time between ticks of a clock.
    """
    if plan.first_step is not None:
        return plan.first_step
    unit = min([plan.duration, *(e.period for e in system.events if e.period is not None)])
    return unit / math.ceil(unit / FIRST_GUESS - 1e-9)


def rungs_of(
    system: Any, state: HybridState, first: float, method: str, margin: float = MARGIN
) -> np.ndarray:
    """How often the first step must be halved to be stable for each robot where it starts.

    With room to spare.
    """
    with np.errstate(divide="ignore"):
        needed = np.log2(first * rates_of_change(system, state) / (margin * damper_reach(method)))
    return np.clip(np.ceil(needed), 0, HALVINGS).astype(np.int64)


def joined(ladders: list[StepLadder]) -> StepLadder:
    """One table for robots of several structures: of each rung the finest."""
    best = max(ladders, key=lambda one: one.levels[0][1])
    levels: dict[int, int] = {}
    for rung, level in sorted(pair for one in ladders for pair in one.levels):
        levels[rung] = max(level, levels.get(rung, 0))
    deepest, probes = max(one.deepest for one in ladders), sum(one.probes for one in ladders)
    unsure = tuple(sorted({rung for one in ladders for rung in one.unsure}))
    return dataclasses.replace(
        best, levels=tuple(levels.items()), deepest=deepest, probes=probes, unsure=unsure
    )


def choose_steps(
    system: AbstractHybridSystem, state: HybridState, plan: BatchPlan, first: float | None = None
) -> StepLadder:
    """A ladder for these robots and those like them, from at most PROBES of them.

    On each rung the step is halved until a further halving changes the end of nine tenths of its
    probes by less than is wanted. A probe that ends otherwise, or at another time, at half the step
    is as wrong as can be. Single precision is measured by double: halving steps until rounding
    freezes the state would look like accuracy.
    """
    first = first or first_step(system, plan)
    if plan.first_step is not None and METHODS[plan.method].order < 4:
        return StepLadder(first, ((0, 0),), _deepest(first, plan.duration, 0), math.inf, 0.0, 0)
    system, state, lanes = prepared(system, state, plan.precision)
    rows = np.unique(np.linspace(0, lanes - 1, min(PROBES, lanes)).round().astype(int))
    system, state = lanes_of(system, state, rows)
    rungs = rungs_of(system, state, first, plan.method)
    span = first * max(1, round(min(PROBE_TIME, plan.duration) / first))
    levels, unsure, error = [], [], math.inf
    deepest = _deepest(first, plan.duration, int(rungs.min()))
    for rung in np.unique(rungs).tolist():
        if rung > deepest:
            break
        batch = lanes_of(system, state, np.flatnonzero(rungs == rung))
        level, found = _accurate(*batch, plan, first, span, rung, deepest, len(rows))
        if not levels:
            error, deepest = found, _deepest(first, plan.duration, level)
        levels.append((rung, level))
        unsure += [rung] if found > WANTED_ERROR[plan.precision] else []
    return StepLadder(
        first, tuple(levels) or ((0, deepest),), deepest, error, span, len(rows), tuple(unsure)
    )


def _deepest(first: float, duration: float, level: int) -> int:
    """How far down the series a robot may go where the least stiff are at `level`."""
    allowed = max(MOST_STEPS, min(MOST_TIMES * 2**level * duration / first, 10 * MOST_STEPS))
    return int(np.clip(math.floor(math.log2(allowed * first / duration)), 0, HALVINGS))


def _accurate(
    system: Any,
    state: HybridState,
    plan: BatchPlan,
    first: float,
    span: float,
    level: int,
    deepest: int,
    room: int,
) -> tuple[int, float]:
    """Level at which these robots are accurate, starting from one at which they are stable, and the
    error there.
    """
    wanted, order = WANTED_ERROR[plan.precision], METHODS[plan.method].order
    path = "cpp" if plan.path in ("auto", "gpu") else plan.path

    def run(level: int, precision: str) -> BatchResult:
        probe = BatchPlan(
            span, first / 2**level, plan.method, precision, max_jumps=plan.max_jumps, path=path
        )
        return run_batch(system, state, probe, room=room)

    best, coarse, stalled = (level, math.inf), run(level, plan.precision), 0
    for at in range(level, max(level, deepest - 1) + 1):
        fine = run(at + 1, "float64")
        gaps = np.sort(differences(coarse, fine))
        error = float(gaps[math.ceil(0.9 * (len(gaps) - 1))]) * 2**order / (2**order - 1)
        # Where halving no longer helps (order 1 gains a factor of 2 each time), rounding has taken
        # over; once may be chance.
        stalled = stalled + 1 if best[1] < 100 * wanted and error > 0.8 * best[1] else 0
        if error < best[1]:
            best = (at, error)
        if error <= wanted or stalled > 1:
            break
        coarse = fine if plan.precision == "float64" else run(at + 1, plan.precision)
    return best


def differences(one: BatchResult, other: BatchResult) -> np.ndarray:
    """How far two runs of the same robots ended from each other, per unit of 1 + |state|.

    Infinite where they ended otherwise.
    """
    a, b = (
        np.concatenate(
            [
                np.reshape(leaf, (-1, np.shape(leaf)[-1]))
                for leaf in [*jax.tree.leaves(r.end.x), r.columns["t_end"]]
            ]
        )
        for r in (one, other)
    )
    with np.errstate(invalid="ignore"):
        gap = np.max(np.abs(a.astype(float) - b) / (1.0 + np.abs(b)), axis=0)
    same = (one.columns["outcome"] == other.columns["outcome"]) & np.isfinite(gap)
    return np.where(same, gap, np.inf)


def lanes_of(system: Any, state: HybridState, rows: np.ndarray) -> tuple[Any, HybridState]:
    """Some of the robots of a batch, as `prepared` gives it."""
    return jax.tree.map(lambda leaf: leaf[..., rows] if np.ndim(leaf) else leaf, (system, state))
