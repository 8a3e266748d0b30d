"""The event engine: adaptive steps of a diffrax solver that land on every event of a hybrid system.

The loop alternates three things: *march* step by step, looking into each step for a guard that
reached zero; *locate* that zero by re-integrating from the start of the step, with Newton kept
inside a bracket; *jump*. Locating runs under `stop_gradient`; a last correction by the implicit
function theorem carries the exact tangent of the event time, so forward-mode derivatives go through
events.

The loop works on time local to the step (`s` from 0 to tau), so an event is located as sharply
after an hour as after a second.
"""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from footfall.engines import at_start
from footfall.engines.event_rules import (
    LAST_SHIFT,
    LOOKS,
    TIME_TOLERANCE,
    ZENO_EVENTS,
    ZENO_INTERVAL,
    falls_through,
    has_room,
    is_number,
)
from footfall.engines.events import own_times
from footfall.engines.events.event_time import drift, own_shift
from footfall.engines.events.locate import (
    hermite,
    least_between,
    locate,
    seen_too_coarsely,
    until_armed,
)
from footfall.engines.events.loop_state import Carry, Chunk, Events, Limits, March, Settings, Steps
from footfall.engines.events.own_times import pick
from footfall.engines.events.packed_system import Loop, SolverStep
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.system import AbstractHybridSystem


def start(
    system: AbstractHybridSystem,
    x: Any,
    m: Any,
    limits: Limits,
    settings: Settings,
    fixed_step: Any,
    just_been: Any = None,
) -> Carry:
    """The loop's state at t = 0.

    `just_been`: which events have just happened, where that is known; else the start tells.
    """
    x = jax.tree.map(lambda v: jnp.asarray(v, float), x)
    m = jax.tree.map(jnp.asarray, m)
    loop = Loop(system, x, m, settings, limits)
    t = jnp.zeros(())
    y = loop.layout.pack(
        (
            x,
            jax.tree.map(
                lambda s: jnp.zeros(s.shape), jax.eval_shape(lambda: system.flow(t, x, m).power)
            ),
        )
    )
    field = loop.field(t, y, (system, m, t))
    guards, rates = loop.guard_rates(t, y, m, field)
    # A guard at or below zero is unarmed until it has been positive, unless it fires at once (see
    # at_start.py).
    span = at_start.moment(y.dtype)
    ahead = y + span * loop.field(t, y + 0.5 * span * field, (system, m, t + 0.5 * span))
    later, ends = (
        loop.guards(t + span, ahead, m),
        np.repeat(at_start.ends_at_once(system), np.diff(loop.first_index)),
    )
    _, by_state = loop.guard_rates(t, y, m, y)
    seen = at_start.look(guards, rates, later, by_state, span, ends)
    been = _just_been(loop, y, m, seen) if just_been is None else just_been
    # With the event that has just been, those that it restarts have not begun to count.
    waits = jnp.any(been[:, None] & jnp.asarray(loop.disarms), axis=0) & (guards <= 0)
    fired = at_start.first(seen.fires & ~waits, seen.deep, jnp.any(seen.deep & ~waits))
    armed = (has_room(guards) & ~been) | fired
    if settings.adaptive:
        scale = limits.atol + limits.rtol * jnp.abs(y)
        size, speed = jnp.sqrt(jnp.mean((y / scale) ** 2)), jnp.sqrt(jnp.mean((field / scale) ** 2))
        step = jnp.clip(0.01 * size / jnp.where(speed > 0, speed, 1.0), 1e-6, limits.max_step)
    else:
        step = jnp.asarray(fixed_step, float)
    state = loop.solver.init(loop.term, t, step, y, (system, m, t))
    zero, zero_i = jnp.zeros(()), jnp.zeros((), jnp.int32)
    finite = jnp.all(jnp.isfinite(y)) & jnp.all(jnp.isfinite(field)) & jnp.all(is_number(guards))
    return Carry(
        t=t,
        y=y,
        m=m,
        solver_state=state,
        made_jump=jnp.array(True),
        guards=guards,
        armed=armed,
        rising=lax.stop_gradient(jnp.where(~armed & (rates > 0), rates, 0.0)),
        step=lax.stop_gradient(step),
        last_error=jnp.ones(()),
        outcome=jnp.where(finite, 0, int(Outcome.diverged)).astype(jnp.int32),
        cause=zero_i - 1,
        jumps=zero_i,
        crowded=zero_i,
        last_event=zero - jnp.inf,
        stop_left=jnp.asarray(limits.stop_count, jnp.int32),
        stores=loop.stores(t, y, m),
        jump_work=jnp.zeros((loop.work_layout.size,)),
        throughput=zero,
        path=jnp.zeros_like(y),
        least_room=guards,
        begun=jnp.array(False),
        steps=jnp.zeros((), jnp.int64),
        tried=jnp.zeros((), jnp.int64),
    )


def _just_been(loop: Loop, y: Array, m: Any, seen: at_start.Started) -> Array:
    """Which events have just happened, by what their own jumps make of their guards."""
    own = np.repeat(at_start.has_own_jump(loop.system), np.diff(loop.first_index))
    # Which events have been has no derivative, and need not be differentiated to find out.
    seen, y, m, system = lax.stop_gradient((seen, y, m, loop.system))
    loop, asked = loop.with_system(system), seen.falls & own
    t = jnp.zeros(())

    def after(which: Array) -> Array:
        new, new_m, _ = loop.apply_jump(t, y, m, which)
        guards, rates = loop.guard_rates(t, new, new_m)
        falls = at_start.still_falls(guards[which], rates[which], seen.rounding[which])
        _, again, _ = loop.apply_jump(t, new, new_m, which)
        marked = jax.tree.map(at_start.could_follow, m, new_m, again)
        return functools.reduce(lambda a, b: a & jnp.all(b), jax.tree.leaves(marked), falls)

    return lax.cond(
        jnp.any(asked),
        lambda: asked & lax.map(after, jnp.arange(len(own))),
        lambda: jnp.zeros_like(asked),
    )


def advance(
    system: AbstractHybridSystem, carry: Carry, x_like: Any, limits: Limits, settings: Settings
) -> tuple[Carry, Chunk]:
    """Go on until the end, an outcome, or until the room for steps or events is used up."""
    loop = Loop(system, x_like, carry.m, settings, limits)
    zero_i = jnp.zeros((), jnp.int32)

    def empty(row: Any, room: int) -> Any:
        return jax.tree.map(lambda v: jnp.zeros((room, *jnp.shape(v)), jnp.asarray(v).dtype), row)

    rows = None
    if settings.keep_steps:
        shape = jax.eval_shape(lambda: loop.solver_step(carry, jnp.ones(())).dense)
        zeros = jax.tree.map(lambda v: jnp.zeros(v.shape, v.dtype), shape)
        rows = empty(Steps(carry.t, carry.t, zeros, zero_i), settings.keep_steps)
    events = empty(
        Events(carry.t, zero_i, carry.y, carry.y, carry.m, carry.jump_work), settings.keep_events
    )

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
        c = c._replace(
            outcome=jnp.where(walked.stuck != 0, walked.stuck, c.outcome).astype(jnp.int32)
        )
        chunk = chunk._replace(steps=walked.rows, step_count=walked.row_count)
        return resolve(loop, c, chunk, limits, walked, pending)

    carry, chunk = lax.while_loop(more, body, (carry, Chunk(rows, zero_i, events, zero_i)))
    ended = (
        (carry.outcome == 0)
        & (carry.t >= limits.t_end)
        & ~jnp.any(carry.armed & (carry.guards <= 0))
    )
    return (
        carry._replace(
            outcome=jnp.where(ended, int(Outcome.reached_end), carry.outcome).astype(jnp.int32)
        ),
        chunk,
    )


def march(
    loop: Loop, c: Carry, chunk: Chunk, limits: Limits, pending: Array, last_try: Array
) -> March:
    """Accept steps until there is a reason to stop.

    One contains an event, the end or `last_try` is reached, no more can be kept, or the step size
    dies.
    """
    settings, stop = loop.settings, lax.stop_gradient
    order = loop.solver.order(loop.term)
    looks = np.arange(1, LOOKS) / LOOKS
    zero = jnp.zeros(())

    def more(w: March) -> Array:
        go = (w.t < limits.t_end) & (w.stuck == 0) & ~w.crossing & ~pending & (w.tried < last_try)
        return go & (w.row_count < settings.keep_steps) if settings.keep_steps else go

    def body(w: March) -> March:
        left = limits.t_end - w.t
        cap = w.cap
        if loop.is_contact.any():
            near = jnp.any(w.guards[loop.is_contact] < limits.near_room)
            cap = jnp.where(near, jnp.minimum(cap, limits.near_step), cap)
        at_end = jnp.minimum(w.step, cap) >= left
        # To the end itself, whose distance depends on when the last event was; else a step of no
        # consequence.
        tau = jnp.where(at_end, left, stop(jnp.minimum(w.step, cap)))
        s = loop.solver_step(
            c._replace(t=w.t, y=w.y, solver_state=w.solver_state, made_jump=w.made_jump), tau
        )
        guards = loop.guards(w.t + tau, s.y, c.m)
        s = s._replace(solved=s.solved & jnp.all(is_number(guards)))
        good, factor, error = judge(w, s)
        # Look into the step: every armed guard at LOOKS points, the last one exact, the others on a
        # cubic.
        inside = jax.vmap(
            lambda f: loop.guards(w.t + f * tau, hermite(w.y, s.slope0, s.y, s.slope1, f), c.m)
        )(looks)
        values = jnp.concatenate([w.guards[None], inside, guards[None]])
        unsure = seen_too_coarsely(values, loop.guards(w.t + 0.5 * tau, s.middle, c.m), w.armed)
        too_small = 4 * np.finfo(float).eps * jnp.maximum(jnp.abs(w.t), 1e-3)
        # What is left to the end may be less than time can resolve: then there is nothing to look
        # into.
        shorter = stop(
            tau
            * jnp.where(
                unsure & (tau > too_small),
                0.5,
                jnp.where(tau > too_small, until_armed(values, w, tau), 1.0),
            )
        )
        good = good & (shorter >= tau)
        crossing = good & jnp.any((values[1:] <= 0) & w.armed)
        go = good & ~crossing
        stores = loop.stores(w.t + tau, s.y, c.m)
        used = jnp.sum(jnp.abs(stores - w.stores)) + jnp.sum(jnp.abs(s.y - w.y)[loop.port_start :])
        step = w.step
        if settings.adaptive:
            # A step cut short (by the end, near the ground) says little about the next one; nor
            # does one that is about to be searched.
            step = jnp.where(
                crossing | (go & (at_end | (cap < w.step))),
                w.step,
                jnp.minimum(tau * factor, limits.max_step),
            )
            step = jnp.where(shorter < tau, w.step, step)
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
            armed=w.armed | (go & jnp.any(has_room(values[1:]), axis=0)),
            rising=jnp.where(go, 0.0, w.rising),
            step=stop(step),
            cap=jnp.where(go, jnp.inf, jnp.where(shorter < tau, shorter, w.cap)),
            last_error=jnp.where(good, error, w.last_error),
            stores=jnp.where(go, stores, w.stores),
            throughput=w.throughput + jnp.where(go, used, 0.0),
            path=w.path + jnp.where(go, stop(jnp.abs(s.y - w.y)), 0.0),
            least_room=jnp.where(
                go, jnp.minimum(w.least_room, least_in(w, s, tau, values)), w.least_room
            ),
            steps=w.steps + go,
            tried=w.tried + 1,
            # A guard that rises and falls within less than time can resolve is a Zeno point; else
            # the solver has given up.
            stuck=jnp.where(
                (shorter < tau) & (shorter <= too_small),
                int(Outcome.zeno),
                jnp.where(
                    ~good & (step <= too_small if settings.adaptive else ~s.solved),
                    int(Outcome.diverged),
                    0,
                ),
            ),
            crossing=crossing,
            tau=tau,
            looked=values,
            rows=rows,
            row_count=w.row_count + go,
        )

    def least_in(w: March, s: SolverStep, tau: Array, values: Array) -> Array:
        """Least room of each guard in a step."""
        if not settings.fine_rooms:
            return jnp.min(values[1:], axis=0)

        def rates(t: Array, y: Array, slope: Array) -> Array:
            return jax.jvp(lambda u, v: loop.guards(u, v, c.m), (t, y), (tau, slope))[1]

        ends = rates(w.t, w.y, s.slope0), rates(w.t + tau, s.y, s.slope1)
        found = least_between(values[0], ends[0], values[-1], ends[1])
        return jnp.where(values[0] + values[-1] < jnp.inf, found, jnp.min(values[1:], axis=0))

    def judge(w: March, s: SolverStep) -> tuple[Array, Array, Array]:
        """Whether a step is good, the factor for the next one, and its scaled error.

        PI control: integral 0.7, proportional 0.2.
        """
        if not settings.adaptive or s.error is None:
            return s.solved, jnp.ones(()), jnp.ones(())
        scale = limits.atol + limits.rtol * jnp.maximum(jnp.abs(w.y), jnp.abs(s.y))
        scaled = stop(jnp.sqrt(jnp.mean((s.error / scale) ** 2)))
        good = s.solved & (scaled <= 1.0)
        scaled = jnp.where(jnp.isfinite(scaled) & s.solved, jnp.maximum(scaled, 1e-10), 1e6)
        # Gains: the best of four pairs tried on the wheel (docs/performance.md).
        factor = jnp.clip(
            0.9 * scaled ** (-0.9 / order) * jnp.where(good, w.last_error ** (0.2 / order), 1.0),
            0.2,
            5.0,
        )
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


def resolve(
    loop: Loop, c: Carry, chunk: Chunk, limits: Limits, walked: March, pending: Array
) -> tuple[Carry, Chunk]:
    """Find the event that was seen, go there, and jump.

    A look that was wrong leaves a shorter step and no event.

    Without an event (the end was reached, or a buffer is full) nothing changes. That is done by
    selection, not by a branch: a branch would keep XLA from compiling the whole loop into one piece
    of code.
    """
    stop, zero = lax.stop_gradient, jnp.zeros(())
    active = pending | walked.crossing
    found = locate(loop, c, walked, pending)
    which = jnp.where(pending, jnp.argmax(c.armed & (c.guards <= 0)), found.which).astype(jnp.int32)
    hit = active & (pending | found.hit)
    t1, y1 = c.t + jnp.where(pending, 0.0, found.tau), jnp.where(pending, c.y, found.y)
    field = loop.field(zero, y1, (loop.system, c.m, t1))
    g, rate = loop.guard_rates(t1, y1, c.m, field)
    # What Newton had left, with the derivatives of the event time.
    falling = found.hit & ~pending & (rate[which] < 0)
    moved = jnp.where(falling, -g[which] / jnp.where(rate[which] < 0, rate[which], 1.0), 0.0)
    falling = falling & (jnp.abs(moved) <= 2 * LAST_SHIFT)
    # One that waited for another at the same time got to zero by itself; one that the jump pushed
    # below zero happens when that does.
    waited = (
        pending
        & (c.t == c.last_event)
        & (rate[which] < 0)
        & (jnp.abs(g[which]) <= 2 * LAST_SHIFT * jnp.abs(rate[which]))
    )
    moved = stop(jnp.where(falling, moved, 0.0))
    moved = own_shift(loop, t1, y1, c.m, which, moved, falling | waited)
    # No event is before the step in which it was seen, by no rounding either.
    early = stop(jnp.maximum(c.t - (t1 + moved), 0.0))
    te, before = t1 + moved + early, drift(loop, t1, y1, c.m, moved + early)
    ends = jnp.asarray(loop.guard_outcome)[which]
    jumped = hit & (ends == 0)
    (after, m, work), others = own_times.jump(loop, te, before, c.m, which)
    stops, late = others.of(limits.stop_event)
    # A run that ends with an event that another's jump makes as well ends at that event's time.
    if others.events.shape[0]:
        te, after = te + late, drift(loop, te, after, m, late)
    after, m = jnp.where(jumped, after, before), pick(jumped, m, c.m)
    guards, rates = loop.guard_rates(te, after, m)
    # Only the guard that fired and those it restarts are disarmed; each re-arms once it is
    # positive. Within the time to which events are located a guard is at zero, whatever sign
    # rounding gave it.
    disarmed = hit & jnp.asarray(loop.disarms)[which]
    zero_band = TIME_TOLERANCE * jnp.maximum(jnp.abs(rate), jnp.abs(rates))
    # As near as the state's digits allow.
    located = jnp.where(jnp.arange(len(loop.guard_outcome)) == which, jnp.abs(g), 0.0)
    at_zero = jnp.abs(guards) <= 2 * jnp.maximum(zero_band, located)
    # A guard that became positive on the way here is armed, even if it is back at zero now: its own
    # event is next.
    before_event = (jnp.arange(LOOKS + 1) / LOOKS * walked.tau <= found.tau - 2 * LAST_SHIFT)[
        :, None
    ] & has_room(walked.looked)
    been_positive = ~pending & (
        jnp.any(before_event[1:], axis=0) | (has_room(g) & (g > 2 * LAST_SHIFT * jnp.abs(rate)))
    )
    # One that had room and that the jump left at zero and rising (the force of a spoke that has
    # just landed) is leaving zero.
    leaving = jumped & at_zero & (rates > 0) & (g > 2 * zero_band)
    armed = ((c.armed | been_positive) & ~disarmed & ~leaving) | ((guards > 0) & ~at_zero)
    armed = armed & (guards < jnp.inf)  # what the mode has not
    through = jumped & at_zero[which] & _falls(loop, te, after, m, rate, rates, which)
    stores = loop.stores(te, before, c.m)
    used = jnp.sum(jnp.abs(stores - c.stores)) + jnp.sum(jnp.abs(before - c.y)[loop.port_start :])
    crowded = jnp.where(
        hit, jnp.where(te - c.last_event < ZENO_INTERVAL, c.crowded + 1, 0), c.crowded
    )
    counted = jumped & ((which == limits.stop_event) | stops)
    stepped = jumped & ~jnp.asarray(loop.is_clock)[which]
    stop_left, jumps = c.stop_left - counted, c.jumps + jumped
    outcome = _first_of(
        (~jnp.all(jnp.isfinite(after)) | ~jnp.all(is_number(guards)), int(Outcome.diverged)),
        (hit & (ends != 0), ends),
        (counted & (stop_left <= 0), int(Outcome.reached_event)),
        (through, int(Outcome.not_held)),
        (hit & (crowded >= max(ZENO_EVENTS, 4 * len(loop.guard_outcome))), int(Outcome.zeno)),
        (hit & (jumps >= limits.max_jumps), int(Outcome.too_many_jumps)),
    )
    passed = (jnp.arange(LOOKS + 1) / LOOKS * walked.tau <= found.tau)[:, None] & ~pending
    least_on_the_way = jnp.minimum(jnp.min(jnp.where(passed, walked.looked, jnp.inf), axis=0), g)
    if loop.settings.fine_rooms:
        g0, rate0 = loop.guard_rates(c.t, c.y, c.m)
        fine = least_between(g0, rate0 * found.tau, g, rate * found.tau)
        least_on_the_way = jnp.where(pending | (g0 + g == jnp.inf), least_on_the_way, fine)
    steps = chunk.steps
    if steps is not None:
        row = Steps(
            c.t, jnp.where(pending, 0.0, found.tau + moved + early), found.dense, chunk.event_count
        )
        steps = jax.tree.map(
            lambda buffer, value: buffer.at[chunk.step_count].set(value), steps, row
        )
    row = Events(te, which, before, after, m, jnp.where(jumped, work, 0.0))
    events = jax.tree.map(
        lambda buffer, value: buffer.at[chunk.event_count].set(value), chunk.events, row
    )
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
        throughput=c.throughput + used + jnp.where(jumped, jnp.sum(jnp.abs(work)), 0.0),
        path=c.path + stop(jnp.abs(before - c.y) + jnp.abs(after - before)),
        # Start-up ends with the first jump (a clock's tick does not count): what a guard did before
        # it, such as a foot put down without load, says nothing of the gait.
        least_room=jnp.minimum(
            jnp.where(stepped & ~c.begun, jnp.inf, jnp.minimum(c.least_room, least_on_the_way)),
            guards,
        ),
        begun=c.begun | stepped,
        steps=c.steps + ~pending,
        tried=c.tried + found.tries,
    )
    return pick(active, new, c), chunk


def _falls(
    loop: Loop, t: Array, y: Array, m: Any, before: Array, after: Array, which: Array
) -> Array:
    """Whether the jump stopped the guard that fired, and nothing holds it."""
    system, t, y, m = lax.stop_gradient((loop.system, t, y, m))
    span = at_start.moment(y.dtype)

    def field(s: Any, v: Array) -> Array:
        return loop.field(s, v, (system, m, t))

    half = 0.5 * span
    ahead = y + span * field(half, y + half * field(0.0, y))
    room, later = loop.guards(t, y, m)[which], loop.guards(t + span, ahead, m)[which]
    size = jnp.max(jnp.abs(y[: loop.port_start]), initial=0.0)
    return falls_through(before[which], after[which], room, later, size)


def _first_of(*cases: tuple[Array, Any]) -> Array:
    """The value of the first case that holds, or 0."""
    return functools.reduce(
        lambda rest, case: jnp.where(case[0], case[1], rest), reversed(cases), jnp.int32(0)
    )
