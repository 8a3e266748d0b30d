"""The event engine: adaptive steps of a diffrax solver that land on every event of a hybrid system.

The loop alternates three things: *march* step by step, looking into each step for a guard that reached zero; *locate* that
zero by re-integrating from the start of the step, with Newton kept inside a bracket; *jump*. Locating runs under `stop_gradient`;
a last correction by the implicit function theorem carries the exact tangent of the event time, so forward-mode
derivatives go through events.

The loop works on time local to the step (`s` from 0 to tau), so an event is located as sharply after an hour as after a second.
"""

import functools
from typing import Any, NamedTuple

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from footfall.hybrid.flatten import Layout
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.system import AbstractHybridSystem

#: A step is looked into at this many equal intervals, so a guard that is negative for longer than one of them is seen.
LOOKS = 16
#: Events are located to this [s].
TIME_TOLERANCE = 1e-13
#: Newton on the event time may stop here [s]: the last step is made along the flow. Its error is the square of this, and that of
#: its tangent this times the curvature of the guard.
LAST_SHIFT = 1e-11
#: After this many Newton steps without success the search bisects.
NEWTON_STEPS = 20
#: This many events in a row, each within ZENO_INTERVAL of the one before, are called Zeno.
ZENO_EVENTS = 48
ZENO_INTERVAL = 1e-8


class Settings(NamedTuple):
    """What shapes the compiled loop (static)."""

    solver: diffrax.AbstractSolver
    adaptive: bool
    keep_steps: int  #: room for this many steps per call; 0 keeps none
    keep_events: int


class Limits(NamedTuple):
    """Numbers of the plan (traced: a new duration or tolerance compiles nothing)."""

    t_end: Any
    rtol: Any
    atol: Any
    max_step: Any
    max_jumps: Any
    stop_event: Any  #: flat guard index whose `stop_count`-th event ends the run, or -1
    stop_count: Any
    tries_per_call: Any  #: a call returns after this many solver steps at the latest


class Carry(NamedTuple):
    """Everything the loop needs to go on: hand it back in and the run continues."""

    t: Array
    y: Array  #: packed (x, work through each port)
    m: Any
    solver_state: Any
    made_jump: Array
    guards: Array
    armed: Array
    rising: Array  #: rate of each unarmed guard that was rising at the last event, else 0
    step: Array  #: next step size
    last_error: Array
    outcome: Array
    cause: Array  #: flat index of the guard that ended the run, or -1
    jumps: Array
    crowded: Array  #: events in a row closer than ZENO_INTERVAL
    last_event: Array
    stop_left: Array
    stores: Array
    jump_work: Array
    throughput: Array
    least_room: Array  #: smallest value of each guard since the first jump
    steps: Array  #: accepted, in all
    tried: Array  #: solver steps taken, in all


class March(NamedTuple):
    """What changes while stepping from one event to the next: the lean inner loop's state."""

    t: Array
    y: Array
    solver_state: Any
    made_jump: Array
    guards: Array
    armed: Array
    rising: Array
    step: Array
    cap: Array  #: longest next step, once
    last_error: Array
    stores: Array
    throughput: Array
    least_room: Array
    steps: Array
    tried: Array
    stuck: Array  #: outcome that ends the run here, or 0
    crossing: Array  #: a guard was seen at or below zero inside the next step
    tau: Array  #: length of the last step tried
    looked: Array  #: guards at the looks into it, its start first
    rows: Any
    row_count: Array


class Search(NamedTuple):
    """Newton in a bracket for the time of an event, local to the step it was seen in."""

    tau: Array  #: where the values below were taken
    target: Array  #: where to look next
    low: Array
    high: Array
    tries: Array
    done: Array
    hit: Array
    y: Array
    solver_state: Any
    dense: Any
    which: Array


class Steps(NamedTuple):
    """Accepted steps of one call, for sampling."""

    start: Array
    tau: Array
    dense: Any
    event_row: Array  #: events of this call that came before the step


class Events(NamedTuple):
    """Events of one call."""

    t: Array
    guard: Array
    before: Array
    after: Array
    m: Any


class Chunk(NamedTuple):
    """What one compiled call adds."""

    steps: Steps | None
    step_count: Array
    events: Events
    event_count: Array


class SolverStep(NamedTuple):
    """What one solver step gives; slopes at both ends are times its length."""

    y: Array
    error: Array | None
    dense: Any
    state: Any
    solved: Array
    slope0: Array
    slope1: Array
    middle: Array  #: half-way, on the solver's own interpolant


class Loop:
    """The loop's pieces for one system: how it is packed, its vector field, its guards. Built while tracing."""

    def __init__(self, system: AbstractHybridSystem, x: Any, m: Any, settings: Settings):
        self.system, self.settings = system, settings
        zero = jnp.zeros(())
        shapes = jax.eval_shape(lambda: (system.flow(zero, x, m).power, system.guards(zero, x, m), system.stores(zero, x, m)))
        power, guards, stores = shapes
        self.layout = Layout.of((x, power))
        self.port_start = Layout.of(x).size
        self.store_layout = Layout.of(stores)
        self.guard_shapes = [g.shape for g in guards]
        self.work_layout = Layout.of(self._jump_work_shape(x, m))
        self.term = diffrax.ODETerm(self.field)
        sizes = [int(np.prod(shape)) for shape in self.guard_shapes]
        self.first_index = np.concatenate([[0], np.cumsum(sizes)])
        outcomes = [int(e.outcome) if e.outcome is not None else 0 for e in system.events]
        self.guard_outcome = np.repeat(np.asarray(outcomes, np.int32), sizes)
        self.disarms = self._disarm_table()

    def _disarm_table(self) -> np.ndarray:
        """Row: the event that fired. Column: guards it disarms, itself and those it restarts (of like legs: the same leg's)."""
        flat = [(k, leg) for k, shape in enumerate(self.guard_shapes) for leg in range(int(np.prod(shape)))]
        events, shapes = self.system.events, self.guard_shapes

        def disarms(fired: tuple[int, int], other: tuple[int, int]) -> bool:
            same_leg = shapes[fired[0]] != shapes[other[0]] or fired[1] == other[1]
            return fired == other or (events[other[0]].name in events[fired[0]].restarts and same_leg)

        return np.array([[disarms(a, b) for b in flat] for a in flat])

    def _jump_work_shape(self, x: Any, m: Any) -> Any:
        for k, event in enumerate(self.system.events):
            if event.outcome is None:
                return jax.eval_shape(lambda k=k: self._jump(jnp.zeros(()), x, m, k, jnp.int32(0)).work)
        return ()

    def _jump(self, t: Any, x: Any, m: Any, k: int, leg: Any) -> Any:
        legs = (leg,) if self.guard_shapes[k] else ()
        return self.system.jump(t, x, m, k, *legs)

    def field(self, s: Any, y: Array, args: Any) -> Array:
        system, m, base = args
        x, _ = self.layout.unpack(y)
        rates = system.flow(base + s, x, m)
        return self.layout.pack((rates.x, rates.power))

    def solver_step(self, c: Carry, tau: Array) -> "SolverStep":
        """One step of length tau from the carry's state."""
        solver, zero = self.settings.solver, jnp.zeros(())
        args = (self.system, c.m, c.t)
        y, error, dense, state, result = solver.step(self.term, zero, tau, c.y, args, c.solver_state, c.made_jump)
        tableau = getattr(solver, "tableau", None)
        if isinstance(tableau, diffrax.ButcherTableau) and tableau.fsal:
            slopes = dense["k"][0], dense["k"][-1]  # first and last stage sit at the ends
        else:
            slopes = tau * self.field(zero, c.y, args), tau * self.field(tau, y, args)
        solved = (result == diffrax.RESULTS.successful) & jnp.all(jnp.isfinite(y))
        middle = solver.interpolation_cls(t0=zero, t1=tau, **dense).evaluate(0.5 * tau)
        return SolverStep(y, error, dense, state, solved, *slopes, middle)

    def guards(self, t: Any, y: Array, m: Any) -> Array:
        x, _ = self.layout.unpack(y)
        values = self.system.guards(t, x, m)
        if all(shape == () for shape in self.guard_shapes):
            return jnp.stack([jnp.asarray(v, y.dtype) for v in values])
        return jnp.concatenate([jnp.ravel(v) for v in values])

    def guard_rates(self, t: Any, y: Array, m: Any, field: Array | None = None) -> tuple[Array, Array]:
        """Guards and their rates along the flow."""
        field = self.field(jnp.zeros(()), y, (self.system, m, t)) if field is None else field
        return jax.jvp(lambda s, v: self.guards(s, v, m), (t, y), (jnp.ones(()), field))

    def stores(self, t: Any, y: Array, m: Any) -> Array:
        x, _ = self.layout.unpack(y)
        return self.store_layout.pack(self.system.stores(t, x, m))

    def apply_jump(self, t: Any, y: Array, m: Any, which: Array) -> tuple[Array, Any, Array]:
        """State, discrete state and jump work after flat event `which`; unchanged if that event only ends the run."""
        x, q = self.layout.unpack(y)
        new_y, new_m, work = y, m, jnp.zeros((self.work_layout.size,), y.dtype)
        for k, event in enumerate(self.system.events):
            if event.outcome is not None:
                continue
            jumped = self._jump(t, x, m, k, which - int(self.first_index[k]))
            chosen = (which >= int(self.first_index[k])) & (which < int(self.first_index[k + 1]))
            new_y = jnp.where(chosen, self.layout.pack((jumped.x, q)), new_y)
            new_m = jax.tree.map(lambda a, b, c=chosen: jnp.where(c, a, b).astype(jnp.asarray(b).dtype), jumped.m, new_m)
            work = jnp.where(chosen, self.work_layout.pack(jumped.work), work)
        return new_y, new_m, work


def start(system: AbstractHybridSystem, x: Any, m: Any, limits: Limits, settings: Settings, fixed_step: Any) -> Carry:
    """The loop's state at t = 0."""
    x = jax.tree.map(lambda v: jnp.asarray(v, float), x)
    m = jax.tree.map(jnp.asarray, m)
    loop = Loop(system, x, m, settings)
    t = jnp.zeros(())
    y = loop.layout.pack((x, jax.tree.map(lambda s: jnp.zeros(s.shape), jax.eval_shape(lambda: system.flow(t, x, m).power))))
    field = loop.field(t, y, (system, m, t))
    guards, rates = loop.guard_rates(t, y, m, field)
    # A guard at or below zero is unarmed until it has been positive; exactly at zero its rate decides.
    armed = (guards > 0) | ((guards == 0) & (rates < 0))
    if settings.adaptive:
        scale = limits.atol + limits.rtol * jnp.abs(y)
        size, speed = jnp.sqrt(jnp.mean((y / scale) ** 2)), jnp.sqrt(jnp.mean((field / scale) ** 2))
        step = jnp.clip(0.01 * size / jnp.where(speed > 0, speed, 1.0), 1e-6, limits.max_step)
    else:
        step = jnp.asarray(fixed_step, float)
    state = settings.solver.init(loop.term, t, step, y, (system, m, t))
    zero, zero_i = jnp.zeros(()), jnp.zeros((), jnp.int32)
    finite = jnp.all(jnp.isfinite(y)) & jnp.all(jnp.isfinite(field)) & jnp.all(jnp.isfinite(guards))
    return Carry(
        t=t, y=y, m=m, solver_state=state, made_jump=jnp.array(True), guards=guards, armed=armed,
        rising=lax.stop_gradient(jnp.where(~armed & (rates > 0), rates, 0.0)), step=lax.stop_gradient(step),
        last_error=jnp.ones(()), outcome=jnp.where(finite, 0, int(Outcome.diverged)).astype(jnp.int32), cause=zero_i - 1,
        jumps=zero_i, crowded=zero_i, last_event=zero - jnp.inf, stop_left=jnp.asarray(limits.stop_count, jnp.int32),
        stores=loop.stores(t, y, m), jump_work=jnp.zeros((loop.work_layout.size,)), throughput=zero,
        least_room=guards, steps=jnp.zeros((), jnp.int64), tried=jnp.zeros((), jnp.int64),
    )  # fmt: skip


def advance(system: AbstractHybridSystem, carry: Carry, x_like: Any, limits: Limits, settings: Settings) -> tuple[Carry, Chunk]:
    """Go on until the end, an outcome, or until the room for steps or events is used up."""
    loop = Loop(system, x_like, carry.m, settings)
    zero_i = jnp.zeros((), jnp.int32)

    def empty(row: Any, room: int) -> Any:
        return jax.tree.map(lambda v: jnp.zeros((room, *jnp.shape(v)), jnp.asarray(v).dtype), row)

    rows = None
    if settings.keep_steps:
        shape = jax.eval_shape(lambda: loop.solver_step(carry, jnp.ones(())).dense)
        zeros = jax.tree.map(lambda v: jnp.zeros(v.shape, v.dtype), shape)
        rows = empty(Steps(carry.t, carry.t, zeros, zero_i), settings.keep_steps)
    events = empty(Events(carry.t, zero_i, carry.y, carry.y, carry.m), settings.keep_events)

    def more(state: tuple[Carry, Chunk]) -> Array:
        c, chunk = state
        room = chunk.event_count < settings.keep_events
        if settings.keep_steps:
            room = room & (chunk.step_count < settings.keep_steps)
        pending = jnp.any(c.armed & (c.guards <= 0))  # also at the very end
        return ((c.t < limits.t_end) | pending) & (c.outcome == 0) & room & (c.tried < last_try)

    last_try = carry.tried + limits.tries_per_call

    def body(state: tuple[Carry, Chunk]) -> tuple[Carry, Chunk]:
        c, chunk = state
        pending = jnp.any(c.armed & (c.guards <= 0))
        walked = march(loop, c, chunk, limits, pending, last_try)
        shared = set(March._fields) & set(Carry._fields)
        c = c._replace(**{name: getattr(walked, name) for name in shared})
        c = c._replace(outcome=jnp.where(walked.stuck != 0, walked.stuck, c.outcome).astype(jnp.int32))
        chunk = chunk._replace(steps=walked.rows, step_count=walked.row_count)
        return resolve(loop, c, chunk, limits, walked, pending)

    carry, chunk = lax.while_loop(more, body, (carry, Chunk(rows, zero_i, events, zero_i)))
    ended = (carry.outcome == 0) & (carry.t >= limits.t_end) & ~jnp.any(carry.armed & (carry.guards <= 0))
    return carry._replace(outcome=jnp.where(ended, int(Outcome.reached_end), carry.outcome).astype(jnp.int32)), chunk


class Report(NamedTuple):
    """Where a run stands, as two arrays: fetching one costs about as much as a solver step, so few are fetched."""

    reals: Any
    counts: Any

    @classmethod
    def of(cls, c: Carry, chunk: Chunk) -> "Report":
        reals = jnp.concatenate([jnp.stack([c.t, c.throughput]), c.y, c.stores, c.jump_work, c.least_room])
        counts = (c.outcome, c.cause, c.jumps, c.steps, c.tried, chunk.event_count, chunk.step_count)
        return cls(reals, jnp.stack([jnp.asarray(n, jnp.int64) for n in counts]))

    def read(self, stores: int, works: int, guards: int) -> "Standing":
        """On the host."""
        reals, counts = np.asarray(self.reals), np.asarray(self.counts).tolist()
        states = len(reals) - 2 - stores - works - guards
        y, kept, work, room = np.split(reals[2:], np.cumsum([states, stores, works]))
        return Standing(float(reals[0]), float(reals[1]), y, kept, work, room, *counts)


class Standing(NamedTuple):
    """A report, read."""

    t: float
    throughput: float
    y: np.ndarray
    stores: np.ndarray
    jump_work: np.ndarray
    least_room: np.ndarray
    outcome: int
    cause: int
    jumps: int
    steps: int
    tried: int
    event_count: int
    step_count: int


def march(loop: Loop, c: Carry, chunk: Chunk, limits: Limits, pending: Array, last_try: Array) -> March:
    """Accept steps until one contains an event, the end or `last_try` is reached, no more can be kept, or the step size dies."""
    settings, stop = loop.settings, lax.stop_gradient
    order = settings.solver.order(loop.term)
    looks = np.arange(1, LOOKS) / LOOKS
    zero = jnp.zeros(())

    def more(w: March) -> Array:
        go = (w.t < limits.t_end) & (w.stuck == 0) & ~w.crossing & ~pending & (w.tried < last_try)
        return go & (w.row_count < settings.keep_steps) if settings.keep_steps else go

    def body(w: March) -> March:
        left = limits.t_end - w.t
        at_end = jnp.minimum(w.step, w.cap) >= left
        # To the end itself, whose distance depends on when the last event was; else a step of no consequence.
        tau = jnp.where(at_end, left, stop(jnp.minimum(w.step, w.cap)))
        s = loop.solver_step(c._replace(t=w.t, y=w.y, solver_state=w.solver_state, made_jump=w.made_jump), tau)
        guards = loop.guards(w.t + tau, s.y, c.m)
        s = s._replace(solved=s.solved & jnp.all(jnp.isfinite(guards)))
        good, factor, error = judge(w, s)
        # Look into the step: every armed guard at LOOKS points, the last one exact, the others on a cubic.
        inside = jax.vmap(lambda f: loop.guards(w.t + f * tau, hermite(w.y, s.slope0, s.y, s.slope1, f), c.m))(looks)
        values = stop(jnp.concatenate([w.guards[None], inside, guards[None]]))
        unsure = seen_too_coarsely(values, loop.guards(w.t + 0.5 * tau, s.middle, c.m), w.armed)
        shorter = stop(tau * jnp.where(unsure, 0.5, until_armed(values, w, tau)))
        good = good & (shorter >= tau)
        crossing = good & jnp.any((values[1:] <= 0) & w.armed)
        go = good & ~crossing
        stores = loop.stores(w.t + tau, s.y, c.m)
        used = jnp.sum(jnp.abs(stores - w.stores)) + jnp.sum(jnp.abs(s.y - w.y)[loop.port_start :])
        step = w.step
        if settings.adaptive:
            # A step cut short by the end says little about the next one; nor does one that is about to be searched.
            step = jnp.where(crossing | (go & (at_end | (w.cap < w.step))), w.step, jnp.minimum(tau * factor, limits.max_step))
            step = jnp.where(shorter < tau, w.step, step)
        too_small = 4 * np.finfo(float).eps * jnp.maximum(jnp.abs(w.t), 1e-3)
        rows = w.rows
        if rows is not None:  # the next free row; it counts only if the step is kept
            row = Steps(w.t, tau, s.dense, chunk.event_count)
            rows = jax.tree.map(lambda buffer, value: buffer.at[w.row_count].set(value), rows, row)
        return March(
            t=jnp.where(go, jnp.where(at_end, limits.t_end, w.t + tau), w.t),
            y=jnp.where(go, s.y, w.y),
            solver_state=pick(go, s.state, w.solver_state),
            made_jump=w.made_jump & ~go,
            guards=jnp.where(go, guards, w.guards),
            armed=w.armed | (go & jnp.any(values[1:] > 0, axis=0)),
            rising=jnp.where(go, 0.0, w.rising),
            step=stop(step),
            cap=jnp.where(go, jnp.inf, jnp.where(shorter < tau, shorter, w.cap)),
            last_error=jnp.where(good, error, w.last_error),
            stores=jnp.where(go, stores, w.stores),
            throughput=w.throughput + jnp.where(go, used, 0.0),
            least_room=jnp.where(go, jnp.minimum(w.least_room, jnp.min(values[1:], axis=0)), w.least_room),
            steps=w.steps + go,
            tried=w.tried + 1,
            # A guard that rises and falls within less than time can resolve is a Zeno point; else the solver has given up.
            stuck=jnp.where(
                shorter <= too_small,
                int(Outcome.zeno),
                jnp.where(~good & (step <= too_small if settings.adaptive else ~s.solved), int(Outcome.diverged), 0),
            ),
            crossing=crossing,
            tau=tau,
            looked=values,
            rows=rows,
            row_count=w.row_count + go,
        )

    def judge(w: March, s: SolverStep) -> tuple[Array, Array, Array]:
        """Whether a step is good, the factor for the next one (PI control: integral 0.7, proportional 0.2), and its scaled error."""
        if not settings.adaptive or s.error is None:
            return s.solved, jnp.ones(()), jnp.ones(())
        scale = limits.atol + limits.rtol * jnp.maximum(jnp.abs(w.y), jnp.abs(s.y))
        scaled = stop(jnp.sqrt(jnp.mean((s.error / scale) ** 2)))
        good = s.solved & (scaled <= 1.0)
        scaled = jnp.where(jnp.isfinite(scaled) & s.solved, jnp.maximum(scaled, 1e-10), 1e6)
        factor = jnp.clip(0.9 * scaled ** (-0.9 / order) * jnp.where(good, w.last_error ** (0.2 / order), 1.0), 0.2, 5.0)
        return good, jnp.where(good, factor, jnp.minimum(factor, 0.9)), scaled

    shared = {name: getattr(c, name) for name in set(March._fields) & set(Carry._fields)}
    no = jnp.array(False)
    looked = jnp.zeros((LOOKS + 1, c.guards.shape[0]))
    first = March(
        **shared,
        cap=zero + jnp.inf,
        stuck=jnp.zeros((), int),
        crossing=no,
        tau=zero,
        looked=looked,
        rows=chunk.steps,
        row_count=chunk.step_count,
    )
    return lax.while_loop(more, body, first)


def resolve(loop: Loop, c: Carry, chunk: Chunk, limits: Limits, walked: March, pending: Array) -> tuple[Carry, Chunk]:
    """Find the event that was seen, go there, and jump. A look that was wrong leaves a shorter step and no event.

    Without an event (the end was reached, or a buffer is full) nothing changes. That is done by selection, not by a branch: a
    branch would keep XLA from compiling the whole loop into one piece of code.
    """
    stop, zero = lax.stop_gradient, jnp.zeros(())
    active = pending | walked.crossing
    found = locate(loop, c, walked, pending)
    which = jnp.where(pending, jnp.argmax(c.armed & (c.guards <= 0)), found.which).astype(jnp.int32)
    hit = active & (pending | found.hit)
    t1, y1 = c.t + jnp.where(pending, 0.0, found.tau), jnp.where(pending, c.y, found.y)
    field = loop.field(zero, y1, (loop.system, c.m, t1))
    g, rate = loop.guard_rates(t1, y1, c.m, field)
    # Implicit function theorem: the tangent of the event time, and what Newton had left.
    moved = jnp.where(
        found.hit & ~pending & (rate[which] < 0), -g[which] / stop(jnp.where(rate[which] < 0, rate[which], 1.0)), 0.0
    )
    moved = jnp.where(jnp.abs(moved) <= 2 * LAST_SHIFT, moved, 0.0)
    te, before = t1 + moved, y1 + field * moved
    ends = jnp.asarray(loop.guard_outcome)[which]
    jumped = hit & (ends == 0)
    after, m, work = loop.apply_jump(te, before, c.m, which)
    after, m = jnp.where(jumped, after, before), pick(jumped, m, c.m)
    guards, rates = loop.guard_rates(te, after, m)
    # Only the guard that fired and those it restarts are disarmed; each re-arms once it is positive. Within the time to which
    # events are located a guard is at zero, whatever sign rounding gave it.
    disarmed = hit & jnp.asarray(loop.disarms)[which]
    zero_band = TIME_TOLERANCE * jnp.maximum(jnp.abs(rate), jnp.abs(rates))
    located = jnp.where(jnp.arange(len(loop.guard_outcome)) == which, jnp.abs(g), 0.0)  # as near as the state's digits allow
    at_zero = jnp.abs(guards) <= 2 * jnp.maximum(zero_band, located)
    # A guard that became positive on the way here is armed, even if it is back at zero now: its own event is next.
    before_event = (jnp.arange(LOOKS + 1) / LOOKS * walked.tau <= found.tau - 2 * LAST_SHIFT)[:, None] & (walked.looked > 0)
    been_positive = ~pending & (jnp.any(before_event[1:], axis=0) | (g > 2 * LAST_SHIFT * jnp.abs(rate)))
    armed = ((c.armed | been_positive) & ~disarmed) | ((guards > 0) & ~at_zero)
    stores = loop.stores(te, before, c.m)
    used = jnp.sum(jnp.abs(stores - c.stores)) + jnp.sum(jnp.abs(before - c.y)[loop.port_start :])
    crowded = jnp.where(hit, jnp.where(te - c.last_event < ZENO_INTERVAL, c.crowded + 1, 0), c.crowded)
    counted = jumped & (which == limits.stop_event)
    stop_left, jumps = c.stop_left - counted, c.jumps + jumped
    outcome = _first_of(
        (~jnp.all(jnp.isfinite(after)) | ~jnp.all(jnp.isfinite(guards)), int(Outcome.diverged)),
        (hit & (ends != 0), ends),
        (counted & (stop_left <= 0), int(Outcome.reached_event)),
        (hit & (crowded >= max(ZENO_EVENTS, 4 * len(loop.guard_outcome))), int(Outcome.zeno)),
        (hit & (jumps >= limits.max_jumps), int(Outcome.too_many_jumps)),
    )
    passed = (jnp.arange(LOOKS + 1) / LOOKS * walked.tau <= found.tau)[:, None] & ~pending
    least_on_the_way = jnp.minimum(jnp.min(jnp.where(passed, walked.looked, jnp.inf), axis=0), g)
    steps = chunk.steps
    if steps is not None:
        row = Steps(c.t, jnp.where(pending, 0.0, found.tau + moved), found.dense, chunk.event_count)
        steps = jax.tree.map(lambda buffer, value: buffer.at[chunk.step_count].set(value), steps, row)
    row = Events(te, which, before, after, m)
    events = jax.tree.map(lambda buffer, value: buffer.at[chunk.event_count].set(value), chunk.events, row)
    chunk = Chunk(steps, chunk.step_count + (active & ~pending), events, chunk.event_count + hit)
    new = c._replace(
        t=te,
        y=after,
        m=m,
        solver_state=pick(hit, c.solver_state, found.solver_state),
        made_jump=hit,
        guards=guards,
        armed=armed,
        rising=stop(jnp.where(~armed & (rates > 0), rates, 0.0)),
        outcome=outcome,
        cause=jnp.where(hit & (outcome != 0), which, c.cause),
        jumps=jumps,
        crowded=crowded,
        last_event=jnp.where(hit, stop(te), c.last_event),
        stop_left=stop_left,
        stores=loop.stores(te, after, m),
        jump_work=c.jump_work + jnp.where(jumped, work, 0.0),
        throughput=c.throughput + used,
        # Start-up ends with the first jump: what a guard did before it (a foot put down without load) says nothing of the gait.
        least_room=jnp.minimum(
            jnp.where(jumped & (c.jumps == 0), jnp.inf, jnp.minimum(c.least_room, least_on_the_way)), guards
        ),
        steps=c.steps + ~pending,
        tried=c.tried + found.tries,
    )
    return pick(active, new, c), chunk


def locate(loop: Loop, c: Carry, walked: March, pending: Array) -> Search:
    """The earliest zero of an armed guard after c.t, re-integrating from c.t at every try; the last try's state is kept."""
    stop, zero = lax.stop_gradient, jnp.zeros(())

    def body(f: Search) -> Search:
        tau = stop(f.target)
        s = loop.solver_step(c, tau)
        t1 = c.t + tau
        g, rate = stop(loop.guard_rates(t1, s.y, c.m))
        crossed = c.armed & (g <= 0)
        some = jnp.any(crossed)
        # Newton step of each guard that matters: of those crossed the one crossed longest ago, else the next to cross. Times, not
        # guard values, are compared: a metre is not less than a newton.
        relevant = jnp.where(some, crossed, c.armed & (rate < 0))
        newton = jnp.where(relevant, jnp.where(rate < 0, -g / jnp.where(rate < 0, rate, 1.0), -jnp.inf), jnp.inf)
        which = jnp.argmin(newton).astype(jnp.int32)
        shift = newton[which]
        low, high = jnp.where(some, f.low, tau), jnp.where(some, tau, f.high)
        target = tau + shift
        inside = (target > low) & (target < high) & (f.tries < NEWTON_STEPS)
        shut = high - low <= 4 * np.finfo(float).eps * high
        close = jnp.abs(shift) <= LAST_SHIFT
        return Search(
            tau=tau,
            target=jnp.where(inside, target, 0.5 * (low + high)),
            low=low,
            high=high,
            tries=f.tries + 1,
            done=close | shut,  # shut without a crossing: the look was wrong, and the step up to here stands
            hit=close | some | f.hit,
            y=s.y,
            solver_state=s.state,
            dense=s.dense,
            which=jnp.where(some | close | ~f.hit, which, f.which),
        )

    shapes = jax.eval_shape(lambda: loop.solver_step(c, jnp.ones(())))
    empty = jax.tree.map(lambda v: jnp.zeros(v.shape, v.dtype), shapes)
    zero_i, no = jnp.zeros((), jnp.int32), jnp.array(False)
    guess, high = first_guess(walked.looked, c.armed)
    first = Search(
        tau=zero, target=guess * walked.tau, low=zero, high=high * walked.tau, tries=zero_i, done=pending | ~walked.crossing, hit=no, y=c.y,
        solver_state=c.solver_state, dense=empty.dense, which=zero_i,
    )  # fmt: skip
    return lax.while_loop(lambda f: ~f.done, body, first)


def hermite(y0: Array, slope0: Array, y1: Array, slope1: Array, f: Any) -> Array:
    """Cubic through both ends of a step with their slopes (times its length), at fraction f."""
    rise = y1 - y0
    return (1 - f) * y0 + f * y1 + f * (1 - f) * ((1 - f) * (slope0 - rise) + f * (rise - slope1))


def pick(flag: Array, new: Any, old: Any) -> Any:
    """`new` where the flag holds, else `old`, leaf by leaf."""
    return jax.tree.map(lambda a, b: jnp.where(flag, a, b), new, old)


def _first_of(*cases: tuple[Array, Any]) -> Array:
    """The value of the first case that holds, or 0."""
    return functools.reduce(lambda rest, case: jnp.where(case[0], case[1], rest), reversed(cases), jnp.int32(0))


def seen_too_coarsely(looked: Array, middle: Array, armed: Array) -> Array:
    """Whether an armed guard came so near to zero that the cubic the looks were taken on cannot tell.

    A cubic through the ends with their slopes errs most half-way, where the solver's own interpolant shows by how much.
    """
    gap = jnp.abs(looked[LOOKS // 2] - middle)
    least = jnp.min(looked[1:], axis=0)
    return jnp.any(armed & (least > 0) & (least < 2.0 * gap))


def until_armed(looked: Array, w: March, tau: Array) -> Array:
    """Fraction of a step to take instead, so that it ends where a guard arms that would rise and fall again inside the step.

    1 when nothing does. Only what is armed at a step's start can be located in it, so the step is cut where the guard is seen
    positive. One that was left at zero rising, and is not seen above it at all, rose and fell before the first look.
    """
    positive = looked[1:] > 0  # what is unarmed at the start counts as at zero there, whatever its sign
    rose = jnp.where(jnp.any(positive, axis=0), jnp.argmax(positive, axis=0), LOOKS)
    newly = jnp.any((jnp.arange(LOOKS)[:, None] > rose) & ~positive & ~w.armed, axis=1)
    known = jnp.any(~positive & w.armed, axis=1)
    first_new = jnp.where(jnp.any(newly), jnp.argmax(newly), LOOKS)
    first_known = jnp.where(jnp.any(known), jnp.argmax(known), LOOKS)
    cut = jnp.where((first_new < LOOKS) & (first_new <= first_known), first_new / LOOKS, 1.0)
    hidden = jnp.any((w.rising > 0) & (w.guards + w.rising * tau / LOOKS > 0) & (looked[1] <= 0))
    return jnp.where(hidden, 0.1, cut)


def first_guess(looked: Array, armed: Array) -> tuple[Array, Array]:
    """Fractions of the step: where the earliest crossing of an armed guard seems to be, and the look that saw it."""
    below = (looked[1:] <= 0) & armed
    seen = jnp.any(below, axis=0)
    first = jnp.argmax(below, axis=0)  # of each guard
    column = jnp.arange(looked.shape[1])
    before, after = looked[first, column], looked[first + 1, column]
    # Inverse quadratic interpolation through a third look, the one before (after, in the first interval); else the chord.
    third = jnp.where(first > 0, first - 1, first + 2)
    beyond, at = looked[third, column], jnp.where(first > 0, -1.0, 2.0)
    chord = jnp.where(before > after, before / jnp.where(before > after, before - after, 1.0), 0.5)
    spread = (before - after) * (before - beyond) * (after - beyond)
    curved = before * beyond * (before - beyond) + at * before * after * (after - before)
    curved = jnp.where(spread != 0, -curved / jnp.where(spread != 0, spread, 1.0), chord)
    between = jnp.where((curved > 0) & (curved < 1), curved, chord)
    guess = jnp.where(seen, (first + jnp.clip(between, 0.0, 1.0)) / LOOKS, jnp.inf)
    earliest = jnp.argmin(guess)
    return guess[earliest], (first[earliest] + 1.0) / LOOKS
