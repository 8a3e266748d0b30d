"""simulate(system, state, plan) -> Trajectory: compiled chunks with Python in between.

Between chunks there is progress, Ctrl-C and bounded memory; nothing calls back from inside compiled
code, so compiled programs can be kept on disk and used again by the next process.
"""

import dataclasses
import functools
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, Protocol

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from footfall.engines.bodies.mujoco_engine import simulate_bodies
from footfall.engines.chatter import Creep, breaks
from footfall.engines.doubts import with_doubts
from footfall.engines.events import engine
from footfall.engines.events.loop_state import (
    Carry,
    Chunk,
    Limits,
    Report,
    Settings,
    as_arrays,
    as_floats,
)
from footfall.engines.events.recorder import (
    ROWS_PER_ARC,
    Piece,
    Recorder,
    observe,
    piece_of,
    standing_at_start,
)
from footfall.engines.jax_setup import prepare_jax
from footfall.engines.kernel_run import KernelRun, pair_for
from footfall.engines.kernels.fuse_errors import CannotFuse, NoCompiler
from footfall.engines.lanes.step_run import MOST_SAMPLES, simulate_steps
from footfall.engines.plan import Plan
from footfall.hybrid.flatten import Layout
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.rigid_bodies import AbstractRigidBodies
from footfall.hybrid.system import AbstractHybridSystem, HybridState
from footfall.numerics.namespace import traced
from footfall.record.columns import columns_of
from footfall.record.provenance import provenance
from footfall.record.row_stream import RowStream
from footfall.record.trajectory import Trajectory

#: Room per compiled call.
KEEP_STEPS, KEEP_EVENTS = 2048, 64
#: The same for steps of a run without samples, which are kept for statistics only.
KEEP_UNSAMPLED = 512
#: A call returns to Python after this many solver steps at the latest, so that progress and Ctrl-C
#: work without samples too.
TRIES_PER_CALL = 16384

#: A run that would take more tries than this (a day of one core), judged after so many of them, ...
ENDLESS, JUDGED_AFTER = 1e10, 100_000
#: ... and whose steps [s] are shorter than any that a robot which could be built needs, has steps
#: that fell to nothing.
NOTHING = 1e-6

Progress = Callable[[float, int], None]


def _simulate_kernel(
    machine: AbstractHybridSystem,
    begin_at: HybridState,
    plan: Plan,
    progress: Progress | None,
    rows: RowStream | None,
) -> Trajectory:
    """Raises CannotFuse or NoCompiler before anything is recorded."""
    system, x0, m0 = as_floats(machine), as_floats(begin_at.x), as_arrays(begin_at.m)
    named, rate = columns_of(system, x0, m0), _sample_rate(plan)
    run = KernelRun(system, HybridState(x0, m0), plan, named, rate)
    source = _source(plan, rate) | {"path": "C++ kernel"}
    recorder = Recorder(machine, named, rate, run.row, run.standing(), rows or RowStream(), source)

    def broken(end: Any, t: float, step: float) -> bool:
        return breaks(machine, t, *run.state(end), step)

    return _recorded(recorder, run.advance, run.keep, broken, plan, progress)


def _sample_rate(plan: Plan) -> float | None:
    rate = plan.sample_rate
    return None if rate is None else min(rate, MOST_SAMPLES / plan.duration)


def _source(plan: Plan, rate: float | None) -> dict[str, Any]:
    return provenance(plan, rate) | ({"least_rows_per_arc": ROWS_PER_ARC} if rate else {})


def _recorded(
    recorder: Recorder,
    advance: Callable[[], tuple[Any, Piece]],
    keep: Callable[[Any], None],
    broken: Callable[[Any, float, float], bool],
    plan: Plan,
    progress: Progress | None,
) -> Trajectory:
    """Piece after piece, until the run ends or someone ends it."""
    outcome, note, creep = Outcome.running, "", Creep()
    try:
        while outcome is Outcome.running:
            end, piece = advance()
            standing = recorder.add(end, piece)
            keep(end)
            outcome = Outcome(standing.outcome)
            if outcome is Outcome.running and _hopeless(standing.tried, standing.t, plan.duration):
                outcome, done = Outcome.diverged, float(standing.t) / plan.duration
                many = f"{float(standing.tried) / done:.0e} of them" if done else "no end of them"
                note = (
                    f"its steps fell to {standing.t / standing.tried:.1e} s, and the whole run"
                    f" would take {many}"
                )
            mean = creep.mean_step(standing.tried, standing.t)
            if outcome is Outcome.running and mean is not None and broken(end, standing.t, mean):
                outcome, note = Outcome.chattering, f"its steps fell to {mean:.1e} s"
            if progress is not None:
                progress(standing.t, standing.jumps)
    except KeyboardInterrupt:
        if outcome is Outcome.running:
            outcome = Outcome.interrupted
    return recorder.trajectory(outcome, note)


def _hopeless(tried: int, t: float, duration: float) -> bool:
    return tried >= JUDGED_AFTER and tried * duration > ENDLESS * t and t < NOTHING * tried


@functools.partial(jax.jit, static_argnames="settings")
def _start(system: Any, x: Any, m: Any, limits: Limits, fixed_step: Any, settings: Settings) -> Any:
    return engine.start(system, x, m, limits, settings, fixed_step), (system, x, limits)


@functools.partial(jax.jit, static_argnames="settings")
def _start_and_advance(
    system: Any, x: Any, m: Any, limits: Limits, fixed_step: Any, settings: Settings
) -> Any:
    """Both in one call.

    Most runs without samples are over after one chunk, and a call costs as much as a hundred steps.
    """
    carry, on_device = _start(system, x, m, limits, fixed_step, settings=settings)
    return carry, on_device, _advance(*on_device, carry, settings=settings)


@functools.partial(jax.jit, static_argnames="settings")
def _advance(system: Any, x_like: Any, limits: Limits, carry: Carry, settings: Settings) -> Any:
    """One chunk. Without samples, what there is to see (both sides of its events) comes along,
    saving a call.
    """
    new, chunk = engine.advance(system, carry, x_like, limits, settings)
    report = Report.of(new, chunk)
    if settings.sampled:
        return new, chunk, report, None
    rows = observe(
        system,
        x_like,
        carry.m,
        chunk,
        (carry.t, carry.y, new.t, new.y),
        jnp.zeros(0),
        (0, chunk.step_count),
        settings=settings,
    )
    # The chunk stays on the device: it is looked into again only where a signal has a kink.
    return (new, chunk, report, rows)


def limits_of(
    plan: Plan, stop_event: int = -1, stop_count: int = 1, tries_per_call: int = 2**62
) -> Limits:
    """The plan's numbers for the compiled loop."""
    by = plan.engine_for("event")
    numbers = (plan.duration, by.rtol, by.atol, by.max_step)
    counts = (plan.max_jumps, stop_event, stop_count)
    near = (-np.inf, np.inf) if by.near_step is None else (by.near_room, by.near_step)
    return Limits(
        *map(np.float64, numbers),
        *map(np.int32, counts),
        np.int64(tries_per_call),
        *map(np.float64, near),
    )


def settings_of(plan: Plan, keep_steps: int, keep_events: int) -> Settings:
    """The plan's choices for the compiled loop."""
    by = plan.engine_for("event")
    return Settings(
        _forward(by.solver), by.step is None, keep_steps, keep_events, plan.sample_rate is not None
    )


def step_of(plan: Plan) -> np.float64:
    """The plan's constant step for the compiled loop; 0 where steps adapt."""
    return np.float64(plan.engine_for("event").step or 0.0)


@functools.lru_cache(maxsize=64)
def _forward(solver: diffrax.AbstractSolver) -> diffrax.AbstractSolver:
    """The solver with the loop over its stages that serves forward mode.

    diffrax's default serves reverse mode.
    """
    if getattr(solver, "scan_kind", "lax") is not None:
        return solver
    return eqx.tree_at(lambda s: s.scan_kind, solver, "lax", is_leaf=lambda leaf: leaf is None)


class Runnable(Protocol):
    """What a scenario loads as: a system, where it starts, how to run it."""

    name: str
    system: Any
    start: HybridState
    plan: Plan
    document: dict[str, Any]


def simulate(
    system: Runnable | AbstractHybridSystem | AbstractRigidBodies,
    state: HybridState | None = None,
    plan: Plan | None = None,
    *,
    progress: Progress | None = None,
    rows: RowStream | None = None,
) -> Trajectory:
    """Simulate an experiment, or any system, landing on every event, and return its trajectory.

    Arguments:
        system: an experiment as `ff.load` gives it, or a system (`ff.robots.passive_wheel()`, one
            of your own, a motion plan).
        state: where to start; without it where the experiment starts, or the system's usual start.
        plan: how long, and by which engine (`ff.Plan`); without it the experiment's, or the usual
            one. A motion plan runs whole.
        progress: called as progress(t, jumps) between compiled chunks.
        rows: takes the rows as they come (record/row_stream.py), so that a long run need not fit
            into memory.

    Returns a `Trajectory`: signals by name (run["hub.x"]), `events`, `ending`, energy `ledger`,
    `verdict`; `run.plot()` shows it. Never raises for what the robot does: a fall, divergence or
    Zeno point ends the run as its outcome. Ctrl-C ends it as `interrupted`, with everything
    computed so far. Rigid bodies are stepped by MuJoCo.

    >>> import footfall as ff
    >>> run = ff.simulate(ff.load("passive-wheel", {"terrain.angle": 0.1}, duration=3))
    >>> run.outcome.name, len(run.events_named("touchdown"))
    ('reached_end', 13)
    >>> print(f"{run['travel.speed'][-1]:.3f} m/s")
    0.870 m/s
    """
    prepare_jax()
    if all(hasattr(system, name) for name in ("system", "start", "plan")):
        experiment: Any = system
        run = simulate(
            experiment.system,
            state or experiment.start,
            plan or experiment.plan,
            progress=progress,
            rows=rows,
        )
        named = {"scenario": experiment.name, **run.provenance}
        return dataclasses.replace(
            run, provenance=named, scenario=experiment.document, experiment=experiment
        )
    if not hasattr(system, "engines"):
        hint = (
            f' Load it first: ff.simulate(ff.load("{system}")).' if isinstance(system, str) else ""
        )
        raise TypeError(
            "simulate takes an experiment, as ff.load gives it, or a system, not"
            f" {type(system).__name__}.{hint}"
        )
    if traced(*jax.tree.leaves((system, state))):
        raise TypeError(
            "simulate keeps a record and cannot be traced by JAX (jit, grad, vmap). To"
            " differentiate a run, use ff.endpoint(experiment, {key: value}), which jax.grad and"
            " jax.jacfwd take, or ff.gradient(measure, experiment, wrt=[key]); for many robots at"
            " once, ff.rollout."
        )
    begin: HybridState = system.begin(system.Start()) if state is None else state
    if plan is None:
        plan = Plan() if system.own_time is None else Plan(duration=system.own_time)
    plan = plan.for_machine(system)
    assert plan.engine is not None  # by now
    run = _RUN[plan.engine.name](system, begin, plan, progress, rows)
    return with_doubts(run, system, begin, plan)


def _simulate_events(
    machine: AbstractHybridSystem,
    begin_at: HybridState,
    plan: Plan,
    progress: Progress | None,
    rows: RowStream | None,
) -> Trajectory:
    """By the event engine: through a kernel where there can be one, else through XLA."""
    path = ""
    if pair_for(plan) is not None:
        try:
            return _simulate_kernel(machine, begin_at, plan, progress, rows)
        except (CannotFuse, NoCompiler) as error:
            path = f"XLA: {error}"
    system, x0, m0 = as_floats(machine), as_floats(begin_at.x), as_arrays(begin_at.m)
    named, rate = columns_of(system, x0, m0), _sample_rate(plan)
    kept = KEEP_STEPS if rate else KEEP_UNSAMPLED if named.told else 0
    settings = settings_of(plan, kept, KEEP_EVENTS)
    limits = limits_of(plan, tries_per_call=TRIES_PER_CALL)
    source = _source(plan, rate) | ({"path": path} if path else {})
    # What goes in as NumPy numbers comes back as device arrays: later calls need not send it again.
    begin, made = (system, x0, m0, limits, step_of(plan)), []
    if settings.sampled:
        carry, on_device = _start(*begin, settings=settings)
    else:
        carry, on_device, chunk = _start_and_advance(*begin, settings=settings)
        made.append(chunk)
    recorder = Recorder(
        machine, named, rate, carry, standing_at_start(carry), rows or RowStream(), source
    )
    counts = (len(recorder.at_start.stores), len(named.works), len(named.guards))

    def advance() -> tuple[Any, Piece]:
        chunk = made.pop() if made else _advance(*on_device, recorder.carry, settings=settings)
        return chunk[0], piece_of(on_device, recorder.carry, *chunk, settings, counts)

    def broken(end: Any, t: float, step: float) -> bool:
        return breaks(machine, t, Layout.of(x0).unpack(end.y), end.m, step)

    return _recorded(recorder, advance, lambda _: None, broken, plan, progress)


_RUN = {"event": _simulate_events, "step": simulate_steps, "mujoco": simulate_bodies}


class Call(NamedTuple):
    """One compiled call of a run: where it began, what it added, where it ended."""

    begin: Carry
    chunk: Chunk
    end: Carry
    solver: diffrax.AbstractSolver  #: whose interpolant the steps of the chunk hold


def chunks(system: AbstractHybridSystem, state: HybridState, plan: Plan) -> Iterator[Call]:
    """The calls of a sampled run by the event engine, one by one.

    For who wants its states and not a record.
    """
    settings, limits = (
        settings_of(plan, KEEP_STEPS, KEEP_EVENTS),
        limits_of(plan, tries_per_call=TRIES_PER_CALL),
    )
    begin = (as_floats(system), as_floats(state.x), as_arrays(state.m), limits, step_of(plan))
    carry, on_device = _start(*begin, settings=settings)
    running = True
    while running:
        end, chunk, _, _ = _advance(*on_device, carry, settings=settings)
        yield Call(carry, chunk, end, settings.solver)
        carry, running = end, int(end.outcome) == Outcome.running
