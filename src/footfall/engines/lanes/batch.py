"""run_batch(system, state, plan).

Many robots of one kind at once, each with its own numbers, outcome, ledger and statistics.
"""

import contextlib
import dataclasses
import functools
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from footfall.engines.jax_setup import prepare_jax
from footfall.engines.kernels.targets.cuda.gpu_fault import GpuFault
from footfall.engines.lanes.batch_inputs import padded, prepared, room_for, timing
from footfall.engines.lanes.batch_plan import BatchPlan
from footfall.engines.lanes.batch_program import (
    Kind,
    Path,
    choose_path,
    has_gpu,
    kernels_for,
    starter,
)
from footfall.engines.lanes.batch_results import Columns, collect
from footfall.engines.lanes.embedded_pair import pair_by
from footfall.engines.lanes.lane_doubts import doubts_of, plan_doubts
from footfall.engines.lanes.lane_jump import mark_here
from footfall.engines.lanes.lane_loop import pick
from footfall.engines.lanes.lane_state import MOST_JUMPS, Clock, Extremes, Lane, Limits, Mark
from footfall.engines.lanes.plan_figures import evaluate_plan
from footfall.hybrid.fields import nearest
from footfall.hybrid.flatten import output_fields
from footfall.hybrid.motion_plan import AbstractMotionPlan
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.system import AbstractHybridSystem, HybridState

#: Absolute tolerance as a share of the relative one, and longest step [s], of lanes that choose
#: their own: those of single runs.
ATOL_SHARE, MAX_STEP = 1e-2, 0.2
#: Lanes that choose their own steps meet this often.
SLICES = 32
#: Progress is told after about this many robot-steps, by path: a call returns then.
STEPS_PER_CALL = {"CUDA": 4_000_000_000, "C++": 20_000_000, "XLA": 5_000_000}


@dataclasses.dataclass(frozen=True)
class BatchResult:
    """What a batch gives: named columns with one number per robot."""

    columns: dict[str, np.ndarray]
    units: dict[str, str]
    docs: dict[str, str]
    path: str  #: how it ran
    step: float  #: s
    notes: tuple[str, ...]  #: why it did not run on a faster path
    end: HybridState  #: where each robot ended
    sample_times: np.ndarray | None = None
    #: Name -> (samples, lanes), or (samples, legs, lanes).
    samples: dict[str, np.ndarray] = dataclasses.field(default_factory=dict)
    #: Where each robot was at the settling time, or had ended before.
    midway: HybridState | None = None
    #: Reason -> whether it holds for each robot.
    doubts: dict[str, np.ndarray] = dataclasses.field(default_factory=dict)


def run_batch(
    system: AbstractHybridSystem,
    state: HybridState,
    plan: BatchPlan,
    *,
    progress: Callable[[float], None] | None = None,
    threads: int | None = None,
    room: int | None = None,
) -> BatchResult:
    """Move every lane through the plan's span with the plan's step.

    Leaves of `system` and `state` are numbers, or arrays with the lanes as last axis.

    Never raises for what a robot does: a lane that falls or diverges stays where it did, with its
    outcome, and the others are not touched by it. `progress` is told the share of the span that is
    done. `room` is for how many lanes programs are compiled: batches with the same share them.
    """
    prepare_jax()
    if threads is not None and threads < 1:
        raise ValueError(f"threads = {threads}: at least one.")
    if "step" not in system.engines:
        return _reckoned(system, state, plan.path, threads)
    given = (system, state), {"progress": progress, "threads": threads, "room": room}
    try:
        return _run(*given[0], plan, **given[1])
    except GpuFault as fault:
        note, again = f"the GPU kernel failed ({fault}); run again by XLA", "xla"
        where = contextlib.nullcontext()
    except jax.errors.JaxRuntimeError as error:
        if "RESOURCE_EXHAUSTED" not in str(error) or not has_gpu():
            raise
        note, again = "the GPU has too little memory for this batch; run on the CPU", "cpp"
        where = jax.default_device(jax.devices("cpu")[0])
    with where:
        found = _run(*given[0], dataclasses.replace(plan, path=again), **given[1])
    return dataclasses.replace(found, notes=(note, *found.notes))


def _run(
    system: AbstractHybridSystem,
    state: HybridState,
    plan: BatchPlan,
    *,
    progress: Callable[[float], None] | None,
    threads: int | None,
    room: int | None,
) -> BatchResult:
    wanted = (*plan.track, *plan.sample)
    known = output_fields(system, state) if wanted else {}
    for name in wanted:
        if name not in known:
            raise ValueError(
                f'"{name}" is not an output of this robot. Known:'
                f" {', '.join(known)}.{nearest(name, known)}"
            )
    if plan.step is None and plan.rtol is None:
        raise ValueError("a batch needs a step; `run_checked` chooses one for each robot.")
    system, state, lanes = prepared(system, state, plan.precision)
    step, steps, clock = _timing(system, plan)
    kind = Kind(
        *map(jax.tree.structure, (system, state.x, state.m)),
        plan.method if isinstance(clock, Clock) else pair_by(clock).name,
        plan.precision,
        plan.track,
    )
    system, state = padded(system, state, lanes, room_for(max(lanes, room or 0)))
    if has_gpu() and plan.path != "cpp":
        system, state = _on_device(system, state)
    begin = starter(kind)
    like = jax.eval_shape(begin, system, state, clock)
    # A kernel has a compiler of its own; meanwhile XLA compiles the start.
    aside = ThreadPoolExecutor(1)
    try:
        chosen = aside.submit(choose_path, plan.path, kind, system, like, clock, threads)
        lane = begin(system, state, clock)
        path, notes = chosen.result()
    finally:  # who was interrupted does not wait for a compiler
        aside.shutdown(wait=False, cancel_futures=True)
    if lane.outcome.shape[0] > lanes:
        filler = np.arange(lane.outcome.shape[0]) >= lanes
        lane = lane._replace(
            outcome=np.where(filler, np.int32(Outcome.interrupted), np.asarray(lane.outcome))
        )
    settle = round((plan.duration / 2 if plan.settle is None else plan.settle) / step)
    march = _March(kind, system, clock, path, plan, step, steps, settle, lanes, progress)
    lane = march.go(lane)
    _fetch((lane, march.first, march.midway))
    units = {name: field.unit for name, field in known.items()}
    columns = collect(
        kind,
        system,
        state,
        lane,
        march.first,
        march.walked,
        march.settled,
        plan.duration,
        settle * step,
        units,
    )
    doubts = {name: found[:lanes] for name, found in doubts_of(kind, system, lane, columns).items()}

    def state_of(x: list[Any], m: list[Any]) -> HybridState:
        trees = ((kind.x, x), (kind.m, m))
        return HybridState(
            *(
                jax.tree.unflatten(tree, [np.asarray(v)[..., :lanes] for v in leaves])
                for tree, leaves in trees
            )
        )

    values, column_units, docs = _tables(columns, lanes)
    times = None
    if plan.sample_every:
        times = (march.first_sample + np.arange(len(march.samples)) * plan.sample_every) * step
    samples = (
        {n: np.stack([row[n][..., :lanes] for row in march.samples]) for n in plan.sample}
        if plan.sample_every
        else {}
    )
    end, midway = state_of(lane.x, lane.m), state_of(*march.midway)
    return BatchResult(
        values,
        column_units,
        docs,
        path.name,
        step,
        tuple(notes),
        end,
        times,
        samples,
        midway,
        doubts,
    )


def _timing(system: Any, plan: BatchPlan) -> tuple[float, int, Clock | Limits]:
    """The step, how many there are, and the numbers that all lanes share.

    By tolerances there are SLICES, at whose ends lanes wait for each other.
    """
    real = np.dtype(plan.precision).type
    jumps = np.int32(min(plan.max_jumps, MOST_JUMPS))
    if plan.rtol is None:
        assert plan.step is not None
        steps, ticks = timing(system, plan.duration, plan.step)
        return plan.step, steps, Clock(real(plan.step), jumps, tuple(map(np.int32, ticks)))
    numbers = (plan.duration, plan.rtol, ATOL_SHARE * plan.rtol, MAX_STEP)
    limits = Limits(*map(real, numbers), jumps, real(-np.inf), real(np.inf))
    return plan.duration / SLICES, SLICES, limits


def _reckoned(
    system: AbstractMotionPlan, state: HybridState, path: str, threads: int | None
) -> BatchResult:
    """Plans are not stepped through: along a plan everything is known."""
    figures, how, notes = evaluate_plan(system, path, threads)
    columns = {name: figure.values for name, figure in figures.items()}
    return BatchResult(
        columns=columns,
        units={name: figure.unit for name, figure in figures.items()},
        docs={name: figure.doc for name, figure in figures.items()},
        path=how,
        step=math.nan,
        notes=notes,
        end=state,
        doubts=plan_doubts(system, columns),
    )


def fits_kernels(system: AbstractHybridSystem, state: HybridState) -> dict[str, str]:
    """Whether batches of this system can run as one C++ or GPU kernel, or what is in the way.

    Otherwise they run under XLA.
    """
    if "step" not in system.engines:
        found = evaluate_plan(system)
        return {
            "C++ kernel": "yes" if "C++" in found.path else "; ".join(found.notes) or found.path
        }
    system, state, _ = prepared(system, state, "float64")
    kind = Kind(*map(jax.tree.structure, (system, state.x, state.m)), "rk4", "float64", ())
    clocks = [event for event in system.events if event.period is not None]
    clock = Clock(np.float64(1e-3), np.int32(1), tuple(np.int32(1) for _ in clocks))
    try:
        lane = starter(kind)(system, state, clock)
    except Exception as error:  # whatever a model that was not written for lanes does with them
        return {
            "batches": (
                f"its code does not take an array for a number ({type(error).__name__}:"
                f" {str(error).splitlines()[0]})"
            )
        }
    return kernels_for(kind, system, lane, clock)


def _on_device(system: Any, state: HybridState) -> tuple[Any, HybridState]:
    """What differs between lanes, on the GPU once and for all; shared numbers travel with calls."""
    return jax.tree.map(lambda v: jax.device_put(v) if np.ndim(v) else v, (system, state))


def _fetch(tree: Any) -> None:
    """Begin to copy what a GPU holds: the copies run side by side, and are there when asked for."""
    for leaf in jax.tree.leaves(tree):
        if isinstance(leaf, jax.Array):
            leaf.copy_to_host_async()


def _tables(
    columns: Columns, lanes: int
) -> tuple[dict[str, np.ndarray], dict[str, str], dict[str, str]]:
    return (
        {name: c.values[:lanes] for name, c in columns.items()},
        {name: c.unit for name, c in columns.items()},
        {name: c.doc for name, c in columns.items()},
    )


class _March:
    """Calls of the kernel up to the next thing that happens outside it.

    The settling time, a sample, a word about progress.
    """

    def __init__(
        self,
        kind: Kind,
        system: Any,
        clock: Clock | Limits,
        path: Path,
        plan: BatchPlan,
        step: float,
        steps: int,
        settle: int,
        lanes: int,
        progress: Callable[[float], None] | None,
    ):
        self.kind, self.system, self.clock, self.path, self.plan = kind, system, clock, path, plan
        self.step, self.steps, self.settle, self.progress = step, steps, settle, progress
        self.first_sample = round(plan.sample_from / step)
        self.settled: list[Any] | None = None  # integrals at the settling time
        self.samples: list[dict[str, np.ndarray]] = []
        # The same whether anybody listens or not.
        self.per_call = max(1, min(steps, STEPS_PER_CALL[path.name.partition(" ")[0]] // lanes))
        if isinstance(clock, Limits):
            self.per_call = 1
        self.midway: tuple[list[Any], list[Any]] = ([], [])  # states at the settling time
        self.first: Mark | None = None  # footfall from which metrics count
        self.walked: Any = None  # whether there was one

    def go(self, lane: Lane) -> Lane:
        i, every, begin = 0, self.plan.sample_every, self.first_sample
        while True:
            if i == self.settle:
                lane = self._at_settling(lane)
            if every and i >= begin and (i - begin) % every == 0:
                seen = _observer(self.kind, self.plan.sample)(self.system, lane, self._time(i))
                self.samples.append({n: np.asarray(v) for n, v in seen.items()})
            if i >= self.steps:
                return lane
            stops = [self.steps, i + self.per_call]
            stops += [self.settle] if i < self.settle else []
            stops += [begin + max(0, (i - begin) // every + 1) * every] if every else []
            until = min(stops)
            lane = self._moved(lane, i, until)
            i = until
            if self.progress is not None:
                jax.block_until_ready(lane.outcome)
                self.progress(i / self.steps)

    def _moved(self, lane: Lane, i: int, until: int) -> Lane:
        clock = self.clock
        if isinstance(clock, Limits):
            there = self.plan.duration if until == self.steps else self._time(until)
            clock = clock._replace(t_end=clock.t_end.dtype.type(there))
        lane = self.path.run(self.system, lane, clock, i, until - i)
        if isinstance(clock, Limits):  # who is there goes on
            outcome = np.asarray(lane.outcome)
            there = outcome == Outcome.reached_end
            lane = lane._replace(outcome=np.where(there, np.int32(Outcome.running), outcome))
        return lane

    def _time(self, i: int) -> Any:
        return np.dtype(self.plan.precision).type(i * self.step)

    def _at_settling(self, lane: Lane) -> Lane:
        """What is measured over the settled part starts here."""
        self.settled, self.midway = lane.q, (lane.x, lane.m)
        if lane.extremes:
            low, high = (np.full(lane.ended.shape, v, lane.ended.dtype) for v in (np.inf, -np.inf))
            lane = lane._replace(extremes=[Extremes(low, high) for _ in lane.extremes])
        self.first = self._mark_here(lane)
        return lane

    def _mark_here(self, lane: Lane) -> Mark | None:
        """The last footfall so far, where metrics begin.

        Where there was none yet, the place itself.
        """
        if lane.last is None:
            return None
        self.walked, mark = _standing(self.kind)(self.system, lane, self._time(self.settle))
        return mark


@functools.lru_cache(maxsize=32)
def _observer(kind: Kind, names: tuple[str, ...]) -> Callable[[Any, Lane, Any], dict[str, Any]]:
    def outputs(system: Any, lane: Lane, t: Any) -> dict[str, Any]:
        loop = kind.loop(system, lane)
        return {name: loop.full(loop.output(name, t, lane.x, lane.m), lane.ended) for name in names}

    return jax.jit(outputs)


@functools.lru_cache(maxsize=32)
def _standing(kind: Kind) -> Callable[[Any, Lane, Any], tuple[Any, Mark]]:
    """Whether the lanes have put a foot down yet, and where they last did; else where they are."""

    def mark(system: Any, lane: Lane, t: Any) -> tuple[Any, Mark]:
        loop = kind.loop(system, lane)
        assert loop.travel is not None and lane.last is not None
        here = mark_here(loop, lane, lane.x, lane.m, jnp.full_like(lane.ended, t))
        walked = lane.last.steps >= 0
        return walked, pick(walked, lane.last, here)

    return jax.jit(mark)
