"""One run by the step engine, as a Trajectory: for robots whose clocks tick thousands of times a second."""

import functools
import math
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from footfall.engines.lanes.batch_program import Kind
from footfall.engines.lanes.batch_results import facts
from footfall.engines.lanes.lane_state import Lane
from footfall.engines.lanes.resident import ResidentLane
from footfall.engines.plan import SimPlan
from footfall.engines.recorder import Columns, columns_of
from footfall.hybrid.flatten import named_leaves
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.system import AbstractHybridSystem, HybridState
from footfall.record.footfall import Footfall
from footfall.record.ledger import Ledger
from footfall.record.provenance import provenance
from footfall.record.trajectory import Ending, EventRecord, Trajectory

#: Rows are kept as whole lanes, a few kilobytes each: a run with more of them than this is sampled more coarsely.
MOST_BYTES = 512_000_000
TOLD_EVERY = 0.1  # s of real time between two words about progress
#: Rows observed per compiled call, so that runs of any length share one program.
ROWS_PER_CALL = 1024


def simulate_steps(
    system: AbstractHybridSystem, state: HybridState, plan: SimPlan, progress: Callable[[float, int], None] | None = None
) -> Trajectory:
    """Fixed steps from `state` through the plan's span, with a row at each sample and at the end.

    Events are located and jumped as always, but no rows are kept on their two sides. Footfalls are told from the counters that
    `travel` names, with the times at which they happened.
    """
    assert plan.fixed is not None and plan.sample_rate is not None
    step, told = plan.fixed.step, columns_of(*jax.tree.map(np.asarray, (system, state.x, state.m))).told
    robot = ResidentLane(
        system,
        state,
        step,
        method=plan.fixed.method,
        max_jumps=min(plan.max_jumps, 2**31 - 2),
        duration=plan.duration,
        track=told,
    )
    steps = round(plan.duration / step)
    most_rows = max(2, MOST_BYTES // robot.memory.size)
    every = max(1, round(1.0 / (plan.sample_rate * step)), -(-steps // (most_rows - 1)))
    walk = _Walk(robot, -(-steps // every) + 1)
    told = time.perf_counter()
    try:
        while not robot.outcome and robot.steps < steps:
            walk.advance(min(every, steps - robot.steps))
            if progress is not None and (now := time.perf_counter()) - told > TOLD_EVERY:
                told = now
                progress(robot.steps * step, int(robot.lane.jumps[0]))
    except KeyboardInterrupt:
        pass  # the last row kept says how far it came
    lanes = jax.tree.map(lambda leaf: leaf[..., 0], robot.lanes_of(walk.rows[: walk.count]))
    at = np.minimum(np.arange(walk.count) * every, steps)
    t, made = at * step, int(at[-1])
    if ended := int(lanes.outcome[-1]):
        outcome, t[-1] = Outcome(ended), float(lanes.ended[-1])
        made = min(made, math.ceil(t[-1] / step))
    else:
        outcome = Outcome.reached_end if made == steps else Outcome.interrupted
    source = provenance(plan, 1.0 / (every * step)) | {
        "engine": "step",
        "solver": plan.fixed.method,
        "rtol": None,
        "atol": None,
        "step": step,
        "path": robot.path,
    }
    return _Record(system, robot.kind, t, lanes).trajectory(outcome, made, source, walk.landings())


class _Walk:
    """Rows of a robot as it goes, and a copy of it after each step in which a foot came down.

    A row counts once all that belongs to it is kept: whenever Ctrl-C comes, rows and footfalls belong together.
    """

    def __init__(self, robot: ResidentLane, room: int):
        self.robot = robot
        self.rows = np.zeros((room, robot.memory.size), np.uint8)
        self.rows[0] = robot.memory
        self.count = 1
        self._landings: list[tuple[int, float, np.ndarray]] = []  # row that follows, end of the step, lane

    def advance(self, steps: int) -> None:
        """One row on. Its extremes are those since the row before."""
        for low, high in self.robot.lane.extremes:
            low[...], high[...] = np.inf, -np.inf
        self._find_footfalls(steps)
        self.rows[self.count] = self.robot.memory
        self.count += 1

    def landings(self) -> tuple[list[int], np.ndarray, Lane | None]:
        """Of the footfalls before the last row: the rows that follow them, and when their steps ended, with the lanes there."""
        kept = [landing for landing in self._landings if landing[0] < self.count]
        if not kept:
            return [], np.zeros(0), None
        lanes = self.robot.lanes_of(np.stack([lane for _, _, lane in kept]))
        return [row for row, _, _ in kept], np.array([t for _, t, _ in kept]), jax.tree.map(lambda leaf: leaf[..., 0], lanes)

    def _find_footfalls(self, steps: int) -> None:
        """A lane remembers its last footfall only: an interval with several is gone through again, in halves."""
        robot, last = self.robot, self.robot.lane.last
        if last is None:
            robot.advance(steps)
            return
        before, made, jumps, footfalls = robot.memory.copy(), robot.steps, int(robot.lane.jumps[0]), int(last.steps[0])
        robot.advance(steps)
        if steps > 1 and robot.lane.jumps[0] > jumps + 1:
            robot.go_back(before, made)
            self._find_footfalls(steps // 2)
            self._find_footfalls(steps - steps // 2)
        elif last.steps[0] > footfalls:
            self._landings.append((self.count, robot.steps * robot.step, robot.memory.copy()))


class _Record:
    """Samples of a lane, turned into a record."""

    def __init__(self, system: AbstractHybridSystem, kind: Kind, t: np.ndarray, lanes: Lane):
        self.system, self.kind, self.t, self.lanes = system, kind, t, lanes
        x, m = (
            jax.tree.unflatten(tree, [leaf[0] for leaf in leaves]) for tree, leaves in ((kind.x, lanes.x), (kind.m, lanes.m))
        )
        self.named: Columns = columns_of(jax.tree.map(np.asarray, system), x, m)
        self.values = self._observed(t, lanes)
        self.loop = facts(kind, lanes, axis=0)

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
        peaks = [np.where(np.isfinite(low), np.maximum(np.abs(low), np.abs(high)), 0.0) for low, high in lanes.extremes]
        return np.concatenate([np.concatenate(seen)[: len(t)], np.stack([*kept, *peaks], axis=1)], axis=1)

    def trajectory(
        self, outcome: Outcome, steps: int, source: dict[str, Any], landings: tuple[list[int], np.ndarray, Lane | None]
    ) -> Trajectory:
        """The record."""
        signals, events = self.named.signals, self.system.events
        columns = {s.name: np.ascontiguousarray(self.values[:, i]) for i, s in enumerate(signals)}
        jumps = int(self.lanes.jumps[-1])
        ending = Ending(
            outcome=outcome,
            t=float(self.t[-1]),
            event=self._cause(outcome),
            state={s.name: float(columns[s.name][-1]) for s in signals if s.role == "state"},
            steps=steps,
            tried=steps,
            jumps=jumps,
        )
        least = {}
        for n, j in enumerate(self.loop.margins):
            name = events[self.loop.searched[j][0]].name
            least[name] = min(least.get(name, np.inf), float(self.lanes.least[n][-1]))
        return Trajectory(
            t=self.t,
            j=np.asarray(self.lanes.jumps, int),
            columns=columns,
            signals={s.name: s for s in signals},
            events=self._footfalls(*landings),
            ending=ending,
            ledger=self._ledger(columns),
            least_room=least,
            draw=self.system.drawing,
            travel=self.system.travel(),
            provenance=source,
        )

    def _cause(self, outcome: Outcome) -> str | None:
        """The event that ended it: of those with this outcome, the one whose guard is the least time from zero.

        What the lane kept of a guard is its room, but next to nothing where a tick pushed a guard that counts below zero.
        """
        events, searched = self.system.events, self.loop.searched
        able = [j for j, (k, _) in enumerate(searched) if events[k].outcome is outcome]
        if not able:
            return None
        x, m = ([leaf[-1] for leaf in leaves] for leaves in (self.lanes.x, self.lanes.m))
        rates = _guard_rates(self.kind)(jax.tree.map(np.asarray, self.system), self.t[-1], x, m)
        tiny = np.finfo(float).tiny

        def time_from_zero(j: int) -> float:
            k, leg = searched[j]
            rate = float(rates[k] if leg is None else rates[k][leg])
            return abs(float(self.lanes.room[j][-1])) / max(abs(rate), tiny)

        return events[searched[min(able, key=time_from_zero)][0]].name

    def _footfalls(self, rows: list[int], ends: np.ndarray, lanes: Lane | None) -> tuple[EventRecord, ...]:
        """One for each foot that came down; those of several sides in one step have the time of the last."""
        travel = self.system.travel()
        if travel is None or lanes is None or lanes.last is None:
            return ()
        sides, found, totals = travel.step_counters, [], self._totals_at(ends, lanes)
        before = self._counts(jax.tree.map(lambda leaf: leaf[0], self.lanes.m))
        for n, row in enumerate(rows):
            counts = self._counts([leaf[n] for leaf in lanes.m])
            t, distance, work, _ = (float(value[n]) for value in lanes.last)
            for leg, side in enumerate(sides):
                if counts[leg] > before[leg]:
                    label = leg if len(sides) > 1 else None
                    found.append(Footfall(t, "footfall", label, row - 1, row, side, counts, distance, work, tuple(totals[n])))
            before = counts
        return tuple(found)

    def _totals_at(self, ends: np.ndarray, lanes: Lane) -> np.ndarray:
        """Running integrals at the footfalls of lanes that are at the ends of their steps, less than a step later: from there back to the
        footfall with the value at the end, wrong by the square of a step."""
        assert lanes.last is not None
        seen, names = self._observed(ends, lanes), [s.name for s in self.named.signals]
        value = seen[:, [names.index(name) for name in self.named.told]]
        kept = [i for i, s in enumerate(self.named.signals) if s.role == "statistic" and not s.name.startswith("peak.")]
        since = ends - np.asarray(lanes.last.t)
        return seen[:, kept] - since[:, None] * np.concatenate([value, value * value], axis=1)

    def _counts(self, m: list[Any]) -> tuple[int, ...]:
        """Footfalls of each side."""
        travel = self.system.travel()
        assert travel is not None
        counters = {name: value for name, value, _ in named_leaves(jax.tree.unflatten(self.kind.m, m))}
        return tuple(int(counters[name]) for name in travel.step_counters)

    def _ledger(self, columns: dict[str, np.ndarray]) -> Ledger:
        stores = {s.name.removeprefix("store."): columns[s.name] for s in self.named.signals if s.role == "store"}
        ports = [(name, info, columns[f"work.{name}"]) for name, info in self.named.ports]
        jumps = [(name, info, work) for (name, info), work in zip(self.named.works, self.lanes.jump_work, strict=True)]
        return Ledger(
            stored_start={name: float(v[0]) for name, v in stores.items()},
            stored_end={name: float(v[-1]) for name, v in stores.items()},
            work={name: float(v[-1]) for name, info, v in ports if info.kind == "work"},
            losses={name: -float(v[-1]) for name, info, v in ports if info.kind == "loss"},
            jump_work={name: float(v[-1]) for name, info, v in jumps if info.kind == "work"},
            jump_losses={name: -float(v[-1]) for name, info, v in jumps if info.kind == "loss"},
            throughput=float(self.lanes.through[-1]),
        )


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
    """How fast each guard changes along the flow, at one row."""

    def rates(system: Any, t: Any, x_leaves: list[Any], m_leaves: list[Any]) -> Any:
        x, m = jax.tree.unflatten(kind.x, x_leaves), jax.tree.unflatten(kind.m, m_leaves)
        slope = jax.tree.map(lambda v, rate: jnp.broadcast_to(jnp.asarray(rate, v.dtype), v.shape), x, system.flow(t, x, m).x)
        return jax.jvp(lambda s, v: system.guards(s, v, m), (t, x), (jnp.ones_like(t), slope))[1]

    return jax.jit(rates)
