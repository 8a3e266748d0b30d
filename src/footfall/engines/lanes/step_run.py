"""One run by the step engine, as a Trajectory.

For robots whose clocks tick thousands of times a second.
"""

import functools
import math
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from footfall.engines.event_rules import TIME_TOLERANCE
from footfall.engines.lanes.batch_program import Kind
from footfall.engines.lanes.batch_results import facts
from footfall.engines.lanes.fixed_steps import StepEngine
from footfall.engines.lanes.lane_state import MOST_JUMPS, Lane
from footfall.engines.lanes.resident import ResidentLane
from footfall.engines.span import Span
from footfall.hybrid.flatten import named_leaves
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.system import AbstractHybridSystem, HybridState
from footfall.record.builder import Builder, Mark, Stand
from footfall.record.columns import Columns, columns_of
from footfall.record.footfall import Footfall
from footfall.record.provenance import provenance
from footfall.record.row_stream import RowStream
from footfall.record.trajectory import Trajectory

#: A longer run is sampled more coarsely, so that its record still fits into memory.
MOST_SAMPLES = 1_000_000
TOLD_EVERY = 0.1  # s of real time between two words about progress
#: Rows observed per compiled call, so that runs of any length share one program; until then they
#: wait as whole lanes, a few kilobytes each.
ROWS_PER_CALL = 1024


def simulate_steps(
    system: AbstractHybridSystem,
    state: HybridState,
    plan: Span,
    progress: Callable[[float, int], None] | None = None,
    stream: RowStream | None = None,
) -> Trajectory:
    """Fixed steps from `state` through the plan's span, with a row at each sample and at the end.

    Events are located and jumped as always, but no rows are kept on their two sides. Footfalls are
    told from the counters that `travel` names, with the times at which they happened.
    """
    engine, rate = plan.engine, plan.sample_rate
    assert isinstance(engine, StepEngine) and rate is not None
    step, told = (
        engine.step,
        columns_of(*jax.tree.map(np.asarray, (system, state.x, state.m))).told,
    )
    robot = ResidentLane(
        system,
        state,
        step,
        method=engine.method,
        max_jumps=min(plan.max_jumps, MOST_JUMPS),
        duration=plan.duration,
        track=told,
    )
    steps = round(plan.duration / step)
    every = max(1, round(1.0 / max(rate * step, 1e-12)), -(-steps // (MOST_SAMPLES - 1)))
    source = provenance(plan, 1.0 / (every * step)) | {"path": robot.path}
    record = _Record(system, robot, stream or RowStream(), source)
    walk = _Walk(robot, record, every, steps)
    told = time.perf_counter()
    try:
        while not robot.outcome and robot.steps < steps:
            walk.advance(min(every, steps - robot.steps))
            if progress is not None and (now := time.perf_counter()) - told > TOLD_EVERY:
                told = now
                progress(robot.steps * step, int(robot.lane.jumps[0]))
    except KeyboardInterrupt:
        pass  # the last row kept says how far it came
    walk.hand_over()
    made = min((record.count - 1) * every, steps)
    if ended := int(record.kept.lane.outcome[-1]):
        outcome, made = Outcome(ended), min(made, math.ceil(record.kept.t / step))
    else:
        outcome = Outcome.reached_end if made == steps else Outcome.interrupted
    return record.trajectory(outcome, made)


class _Walk:
    """Rows of a robot as it goes, and a copy of it after each step in which a foot came down.

    Handed over to the record block by block.

    A row counts once all that belongs to it is kept: whenever Ctrl-C comes, rows and footfalls
    belong together.
    """

    def __init__(self, robot: ResidentLane, record: "_Record", every: int, steps: int):
        self.robot, self.record, self.every, self.steps = robot, record, every, steps
        self.rows = np.zeros((ROWS_PER_CALL, robot.memory.size), np.uint8)
        self.rows[0] = robot.memory
        self.count = 1  # of those that wait
        # Row that follows, end of the step, lane.
        self._landings: list[tuple[int, float, np.ndarray]] = []

    def advance(self, steps: int) -> None:
        """One row on. Its extremes are those since the row before."""
        if self.count == len(self.rows):
            self.hand_over()
        for low, high in self.robot.lane.extremes:
            low[...], high[...] = np.inf, -np.inf
        self._find_footfalls(steps)
        self.rows[self.count] = self.robot.memory
        self.count += 1

    def hand_over(self) -> None:
        """The rows that wait, and the footfalls before the last of them."""
        if not self.count:
            return
        lanes, total = self._lanes(self.rows[: self.count]), self.record.count + self.count
        t = (
            np.minimum(np.arange(self.record.count, total) * self.every, self.steps)
            * self.robot.step
        )
        if lanes.outcome[-1]:
            t[-1] = float(lanes.ended[-1])
        kept = [landing for landing in self._landings if landing[0] < total]
        feet = self._lanes(np.stack([lane for _, _, lane in kept])) if kept else None
        self.record.add(
            t, lanes, [row for row, _, _ in kept], np.array([end for _, end, _ in kept]), feet
        )
        self.count, self._landings = 0, []

    def _lanes(self, rows: np.ndarray) -> Lane:
        return jax.tree.map(lambda leaf: leaf[..., 0], self.robot.lanes_of(rows))

    def _find_footfalls(self, steps: int) -> None:
        """A lane remembers its last footfall only.

        An interval with several is gone through again, in halves.
        """
        robot, last = self.robot, self.robot.lane.last
        if last is None:
            robot.advance(steps)
            return
        before, made, jumps, footfalls = (
            robot.memory.copy(),
            robot.steps,
            int(robot.lane.jumps[0]),
            int(last.steps[0]),
        )
        robot.advance(steps)
        if steps > 1 and robot.lane.jumps[0] > jumps + 1:
            robot.go_back(before, made)
            self._find_footfalls(steps // 2)
            self._find_footfalls(steps - steps // 2)
        elif last.steps[0] > footfalls:
            self._landings.append(
                (self.record.count + self.count, robot.steps * robot.step, robot.memory.copy())
            )


class _Kept(NamedTuple):
    """Where the run stood at the last row of a record, and how much of it belongs to that."""

    mark: Mark
    t: float
    lane: Lane
    row: np.ndarray  #: every column
    sides: tuple[int, ...]  #: footfalls of each side


class _Record:
    """Samples of a lane, turned into rows as they come, and handed to the builder of the record."""

    def __init__(
        self,
        system: AbstractHybridSystem,
        robot: ResidentLane,
        stream: RowStream,
        source: dict[str, Any],
    ):
        self.system, self.kind = system, robot.kind
        lanes = jax.tree.map(
            lambda leaf: np.array(leaf[..., 0]), robot.lanes_of(robot.memory[None])
        )
        x, m = (
            jax.tree.unflatten(tree, [leaf[0] for leaf in leaves])
            for tree, leaves in ((self.kind.x, lanes.x), (self.kind.m, lanes.m))
        )
        self.named: Columns = columns_of(jax.tree.map(np.asarray, system), x, m)
        self.loop = facts(self.kind, lanes, axis=0)
        self.begin = np.zeros(0)  # the first row
        sides = () if system.travel() is None else self._counts(lanes.m, 0)
        self.kept = _Kept(Mark(), 0.0, lanes, self.begin, sides)
        self.builder = Builder(system, self.named, stream, source)

    @property
    def count(self) -> int:
        """Rows so far."""
        return self.kept.mark.rows

    def add(
        self, t: np.ndarray, lanes: Lane, rows: list[int], ends: np.ndarray, feet: Lane | None
    ) -> None:
        """Some rows more.

        `feet` are the lanes at the `ends` of the steps in which a foot came down, and `rows` those
        that follow.
        """
        values, (found, sides) = self._observed(t, lanes), self._footfalls(rows, ends, feet)
        jumps = np.asarray(lanes.jumps).astype(int)
        mark = self.builder.add(self.kept.mark, t, jumps, values, found)
        self.begin = self.begin if self.count else values[0].copy()
        last = jax.tree.map(lambda leaf: np.array(leaf[-1:]), lanes)
        self.kept = _Kept(mark, float(t[-1]), last, values[-1].copy(), sides)

    def _observed(self, t: np.ndarray, lanes: Lane) -> np.ndarray:
        """Every column, of the rows or of other moments."""
        system, observe, seen = jax.tree.map(np.asarray, self.system), _observer(self.kind), []
        for first in range(0, len(t), ROWS_PER_CALL):
            rows = np.minimum(np.arange(first, first + ROWS_PER_CALL), len(t) - 1)
            x, m = ([leaf[rows] for leaf in leaves] for leaves in (lanes.x, lanes.m))
            seen.append(np.asarray(observe(system, t[rows], x, m)))
        ports = len(self.named.ports)
        # A lane integrates an output and its square side by side; columns have all integrals first.
        kept = [*lanes.q[:ports], *lanes.jump_work, *lanes.q[ports::2], *lanes.q[ports + 1 :: 2]]
        peaks = [
            np.where(np.isfinite(low), np.maximum(np.abs(low), np.abs(high)), 0.0)
            for low, high in lanes.extremes
        ]
        return np.concatenate(
            [np.concatenate(seen)[: len(t)], np.stack([*kept, *peaks], axis=1)], axis=1
        )

    def trajectory(self, outcome: Outcome, steps: int) -> Trajectory:
        """The record."""
        kept, loop = self.kept, self.loop
        stand = Stand.at_rows(
            self.named.signals,
            self.begin,
            kept.row,
            t=kept.t,
            throughput=float(kept.lane.through[-1]),
            least_room=[
                (loop.searched[margin][0], float(kept.lane.least[n][-1]))
                for n, margin in enumerate(loop.margins)
            ],
            cause=self._cause(outcome),
            steps=steps,
            tried=steps,
            jumps=int(kept.lane.jumps[-1]),
        )
        return self.builder.trajectory(kept.mark, outcome, stand)

    def _cause(self, outcome: Outcome) -> int | None:
        """The event that ended it.

        Of those with this outcome, the one whose guard is the least time from zero.

        What the lane kept of a guard is its room, but next to nothing where a tick pushed a guard
        that counts below zero.
        """
        events, searched = self.system.events, self.loop.searched
        able = [j for j, (k, _) in enumerate(searched) if events[k].outcome is outcome]
        if not able:
            return None
        x, m = ([leaf[-1] for leaf in leaves] for leaves in (self.kept.lane.x, self.kept.lane.m))
        rooms, rates = _guard_rates(self.kind)(
            jax.tree.map(np.asarray, self.system), np.float64(self.kept.t), x, m
        )
        tiny = np.finfo(float).tiny

        def time_from_zero(j: int) -> tuple[float, float]:
            """And its value, for those that are there at the same time: the lowest counts."""
            k, leg = searched[j]
            value, rate = (float(v[k] if leg is None else v[k][leg]) for v in (rooms, rates))
            time = abs(float(self.kept.lane.room[j][-1])) / max(abs(rate), tiny)
            return (0.0 if time < TIME_TOLERANCE else time), value

        return searched[min(able, key=time_from_zero)][0]

    def _footfalls(
        self, rows: list[int], ends: np.ndarray, lanes: Lane | None
    ) -> tuple[list[Footfall], tuple[int, ...]]:
        """One for each foot that came down, and how often each side has.

        Those of several sides in one step have the time of the last.
        """
        travel, before = self.system.travel(), self.kept.sides
        if travel is None or lanes is None or lanes.last is None:
            return [], before
        sides, found, totals = travel.step_counters, [], self._totals_at(ends, lanes)
        for n, row in enumerate(rows):
            counts = self._counts(lanes.m, n)
            t, distance, work = (float(value[n]) for value in lanes.last[:3])
            for leg, side in enumerate(sides):
                if counts[leg] > before[leg]:
                    label = leg if len(sides) > 1 else None
                    found.append(
                        Footfall(
                            t,
                            "footfall",
                            label,
                            row - 1,
                            row,
                            side,
                            counts,
                            distance,
                            work,
                            tuple(totals[n]),
                        )
                    )
            before = counts
        return found, before

    def _totals_at(self, ends: np.ndarray, lanes: Lane) -> np.ndarray:
        """Running integrals at the footfalls of lanes that are at the ends of their steps, less
        than a step later: from there back to the footfall with the value at the end, wrong by the
        square of a step.
        """
        assert lanes.last is not None
        seen, names = self._observed(ends, lanes), [s.name for s in self.named.signals]
        value = seen[:, [names.index(name) for name in self.named.told]]
        kept = [
            i
            for i, s in enumerate(self.named.signals)
            if s.role == "statistic" and not s.name.startswith("peak.")
        ]
        since = ends - np.asarray(lanes.last.t)
        return seen[:, kept] - since[:, None] * np.concatenate([value, value * value], axis=1)

    def _counts(self, m: list[Any], row: int) -> tuple[int, ...]:
        """Footfalls of each side."""
        travel = self.system.travel()
        assert travel is not None
        found = jax.tree.unflatten(self.kind.m, [leaf[row] for leaf in m])
        counters = {name: value for name, value, _ in named_leaves(found)}
        return tuple(int(counters[name]) for name in travel.step_counters)


@functools.lru_cache(maxsize=32)
def _observer(kind: Kind) -> Callable[..., Any]:
    """All rows at once: state, discrete state, outputs, stores and powers."""

    def row(system: Any, t: Any, x_leaves: list[Any], m_leaves: list[Any]) -> Any:
        x, m = jax.tree.unflatten(kind.x, x_leaves), jax.tree.unflatten(kind.m, m_leaves)
        values = (x, m, system.outputs(t, x, m), system.stores(t, x, m), system.flow(t, x, m).power)
        return jnp.concatenate([jnp.ravel(jnp.asarray(v, float)) for v in jax.tree.leaves(values)])

    return jax.jit(jax.vmap(row, in_axes=(None, 0, 0, 0)))


@functools.lru_cache(maxsize=32)
def _guard_rates(kind: Kind) -> Callable[..., Any]:
    """Each guard, and how fast it changes along the flow, at one row."""

    def rates(system: Any, t: Any, x_leaves: list[Any], m_leaves: list[Any]) -> Any:
        x, m = jax.tree.unflatten(kind.x, x_leaves), jax.tree.unflatten(kind.m, m_leaves)
        slope = jax.tree.map(
            lambda v, rate: jnp.broadcast_to(jnp.asarray(rate, v.dtype), v.shape),
            x,
            system.flow(t, x, m).x,
        )
        return jax.jvp(lambda s, v: system.guards(s, v, m), (t, x), (jnp.ones_like(t), slope))

    return jax.jit(rates)
