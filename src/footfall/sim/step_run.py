"""One run by the step engine, as a Trajectory: for robots whose clocks tick thousands of times a second."""

import functools
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from footfall.hybrid.outcome import Outcome
from footfall.hybrid.system import AbstractHybridSystem, HybridState
from footfall.record.ledger import Ledger
from footfall.record.provenance import provenance
from footfall.record.trajectory import Ending, EventRecord, Trajectory
from footfall.sim.batch_program import Kind
from footfall.sim.batch_results import facts
from footfall.sim.lane_jump import step_count
from footfall.sim.lane_state import Lane
from footfall.sim.plan import SimPlan
from footfall.sim.recorder import Columns, columns_of
from footfall.sim.resident import ResidentLane

#: A longer run is sampled more coarsely, so that its record still fits into memory.
MOST_SAMPLES = 1_000_000
TOLD_EVERY = 0.1  # s of real time between two words about progress


def simulate_steps(
    system: AbstractHybridSystem, state: HybridState, plan: SimPlan, progress: Callable[[float, int], None] | None = None
) -> Trajectory:
    """Fixed steps from `state` through the plan's span, with a row at each sample and at the end.

    Events are located and jumped as always, but no rows are kept on their two sides. Footfalls are told from the counters that
    `travel` names, with the times at which they happened.
    """
    assert plan.fixed is not None and plan.sample_rate is not None
    step = plan.fixed.step
    robot = ResidentLane(
        system, state, step, method=plan.fixed.method, max_jumps=min(plan.max_jumps, 2**31 - 2), duration=plan.duration
    )
    steps = round(plan.duration / step)
    rate = min(plan.sample_rate, MOST_SAMPLES / plan.duration)
    every = max(1, round(1.0 / (rate * step)))
    rows = -(-steps // every) + 1
    kept, count, outcome = np.zeros((rows, robot.memory.size), np.uint8), 0, Outcome.running
    told = time.perf_counter()
    try:
        while True:
            kept[count] = robot.memory
            count += 1
            if robot.outcome or robot.steps >= steps:
                break
            robot.advance(min(every, steps - robot.steps))
            if progress is not None and (now := time.perf_counter()) - told > TOLD_EVERY:
                told = now
                progress(robot.steps * step, int(robot.lane.jumps[0]))
    except KeyboardInterrupt:
        outcome = Outcome.interrupted
    if outcome is Outcome.running:
        outcome = Outcome(robot.outcome) if robot.outcome else Outcome.reached_end
    lanes = jax.tree.map(lambda leaf: leaf[..., 0], robot.lanes_of(kept[:count]))
    t = np.minimum(np.arange(count) * every, steps) * step
    if robot.outcome:
        t[-1] = float(lanes.ended[-1])
    source = provenance(plan, 1.0 / (every * step)) | {
        "engine": "step",
        "solver": plan.fixed.method,
        "step": step,
        "path": robot.path,
    }
    return _Rows(system, robot.kind, t, lanes).trajectory(outcome, robot.steps, source)


class _Rows:
    """Samples of a lane, turned into a record."""

    def __init__(self, system: AbstractHybridSystem, kind: Kind, t: np.ndarray, lanes: Lane):
        self.system, self.kind, self.t, self.lanes = system, kind, t, lanes
        x, m = (
            jax.tree.unflatten(tree, [leaf[0] for leaf in leaves]) for tree, leaves in ((kind.x, lanes.x), (kind.m, lanes.m))
        )
        self.named: Columns = columns_of(jax.tree.map(np.asarray, system), x, m)
        self.values = self._observed()
        self.loop = facts(kind, tuple(np.shape(leaf)[1:] for leaf in (*lanes.x, *lanes.m)))

    def _observed(self) -> np.ndarray:
        seen = _observer(self.kind)(jax.tree.map(np.asarray, self.system), self.t, self.lanes.x, self.lanes.m)
        work = np.stack(self.lanes.q[: len(self.named.ports)], axis=1)
        return np.concatenate([np.asarray(seen), work], axis=1)

    def trajectory(self, outcome: Outcome, steps: int, source: dict[str, Any]) -> Trajectory:
        """The record."""
        signals, events = self.named.signals, self.system.events
        columns = {s.name: np.ascontiguousarray(self.values[:, i]) for i, s in enumerate(signals)}
        cause = next((event.name for event in events if event.outcome is outcome), None)
        jumps = int(self.lanes.jumps[-1])
        ending = Ending(
            outcome=outcome,
            t=float(self.t[-1]),
            event=cause,
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
            events=self._footfalls(),
            ending=ending,
            ledger=self._ledger(columns),
            least_room=least,
            draw=self.system.drawing,
            travel=self.system.travel(),
            provenance=source,
        )

    def _footfalls(self) -> tuple[EventRecord, ...]:
        """One for each sample interval in which a foot came down; of several in one interval, the last."""
        if self.lanes.last is None:
            return ()
        counts = np.asarray(step_count(self.loop, self.lanes.m))
        rows = np.flatnonzero(np.diff(counts) > 0) + 1
        return tuple(EventRecord(float(self.lanes.last.t[r]), "footfall", None, int(r) - 1, int(r)) for r in rows)

    def _ledger(self, columns: dict[str, np.ndarray]) -> Ledger:
        stores = {s.name.removeprefix("store."): columns[s.name] for s in self.named.signals if s.role == "store"}
        ports = [(name, info, columns[f"work.{name}"]) for name, info in self.named.ports]
        jumps = [(name, info, work) for (name, info), work in zip(self.named.works, self.lanes.jump_work, strict=True)]
        everything = [*stores.values(), *(work for _, _, work in (*ports, *jumps))]
        return Ledger(
            stored_start={name: float(v[0]) for name, v in stores.items()},
            stored_end={name: float(v[-1]) for name, v in stores.items()},
            work={name: float(v[-1]) for name, info, v in ports if info.kind == "work"},
            losses={name: -float(v[-1]) for name, info, v in ports if info.kind == "loss"},
            jump_work={name: float(v[-1]) for name, info, v in jumps if info.kind == "work"},
            jump_losses={name: -float(v[-1]) for name, info, v in jumps if info.kind == "loss"},
            throughput=float(sum(np.abs(np.diff(v)).sum() for v in everything)),
        )


@functools.lru_cache(maxsize=32)
def _observer(kind: Kind) -> Callable[..., Any]:
    """All rows at once: state, discrete state, outputs, stores and powers."""

    def row(system: Any, t: Any, x_leaves: list[Any], m_leaves: list[Any]) -> Any:
        x, m = jax.tree.unflatten(kind.x, x_leaves), jax.tree.unflatten(kind.m, m_leaves)
        values = (x, m, system.outputs(t, x, m), system.stores(t, x, m), system.flow(t, x, m).power)
        return jnp.concatenate([jnp.ravel(jnp.asarray(v, float)) for v in jax.tree.leaves(values)])

    return jax.jit(jax.vmap(row, in_axes=(None, 0, 0, 0)))
