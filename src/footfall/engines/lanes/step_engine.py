"""The step engine: fixed steps, batch first.

One loop moves a block of lanes; traced once, it becomes a kernel.

Each turn of the loop attempts one step (or what is left of one) in every lane. Where no guard of
the block reached zero and no clock ticks, that is all. Otherwise the lanes that crossed find the
fraction of the step at which they did, on a cubic through the guard's values and rates, and attempt
exactly that next; lanes that arrived at their event jump and go on with the rest; lanes that are
done wait with attempts of length zero, which change nothing. So the step formula stands in the code
once, and a lane's numbers never depend on its neighbours.

Everything is elementwise over lanes, which are the last axis; the only thing a block shares is the
question "does any lane need more?".
"""

import functools
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from footfall.engines import at_start
from footfall.engines.event_rules import has_room
from footfall.engines.lanes import lane_bounds, lane_jump
from footfall.engines.lanes.lane_jump import AT_ZERO
from footfall.engines.lanes.lane_loop import (
    I,
    LaneLoop,
    any_lane,
    armed_room,
    either,
    finite,
    numbers,
    pick,
)
from footfall.engines.lanes.lane_state import Clock, Extremes, Lane, Moving
from footfall.engines.lanes.step_locate import first_zero, may_dip
from footfall.hybrid.outcome import Outcome


def begin(loop: LaneLoop, x: list[Array], m: list[Array], clock: Clock) -> Lane:
    """Lanes at t = 0, after the first tick of every clock."""
    zero, none = jnp.zeros(x[0].shape[-1:], loop.real), jnp.zeros(x[0].shape[-1:], jnp.int32)
    works = [zero for _ in loop.works]
    # A guard at or below zero does not count until it has been positive, unless it fires at once.
    # Exactly at zero and rising out of it it has been positive. What a first tick makes of a guard
    # at zero is no fall into the run.
    fired, been = fire_at_start(loop, x, m)
    endings = [I(loop.system.events[k].outcome or 0) for k, _ in loop.searched]
    ended = functools.reduce(
        lambda rest, case: jnp.where(*case, rest),
        reversed([*zip(fired, endings, strict=True)]),
        none,
    )
    untouched = (x, m, works)
    for k in loop.clocks:
        x, m, done = loop.jump(zero, x, m, k, None)
        works = [a + b for a, b in zip(works, done, strict=True)]
    x, m, works = pick(ended != I(0), untouched, (x, m, works))
    slope = loop.field(m)(zero, x)
    room, rate = loop.guards(zero, x, m, slope)
    least = [room[j] for j in loop.margins]
    room = [
        armed_room(g, (has_room(g) & ~b) | ((g == 0) & (r > 0)) | f)
        for g, r, f, b in zip(room, rate, fired, been, strict=True)
    ]
    good = finite([*x, *[r for r in slope.x if r is not None], *slope.q, *room])
    full = zero + jnp.asarray(clock.step, loop.real)
    return Lane(
        x=x,
        m=m,
        q=[zero for _ in slope.q],
        room=room,
        least=least,
        jump_work=works,
        stored=loop.stores(zero, x, m),
        through=functools.reduce(lambda a, b: a + jnp.abs(b), works, zero),
        extremes=[
            Extremes(jnp.full_like(zero, np.inf), jnp.full_like(zero, -np.inf)) for _ in loop.track
        ],
        watch=lane_bounds.begin(loop, x, m),
        last=lane_jump.no_mark(loop, zero, none),
        outcome=jnp.where(good, ended, I(Outcome.diverged)),
        jumps=none,
        ended=zero,
        cap=None if loop.method.first_fraction is None else full * loop.method.first_fraction,
    )


def fire_at_start(
    loop: LaneLoop, x: list[Array], m: list[Array]
) -> tuple[list[Array], list[Array]]:
    """Of each searched guard, the lanes in which it fires at the start, and those in which its
    event has just been (see at_start.py).
    """
    zero, span = jnp.zeros(x[0].shape[-1:], loop.real), loop.real(at_start.moment(loop.real))
    field, ends = loop.field_once(m), at_start.ends_at_once(loop.system)

    def moved(by: Any, slope: Any) -> list[Array]:
        return [v if r is None else v + by * r for v, r in zip(x, slope.x, strict=True)]

    first = field(zero, x)
    room, rate = loop.guards_once(zero, x, m, first)
    half = loop.real(0.5) * span
    later, _ = loop.guards_once(
        zero + span, moved(span, field(zero + half, moved(half, first))), m, first
    )
    _, by_state = loop.guards_once(
        zero,
        x,
        m,
        first._replace(x=[v if r is not None else r for v, r in zip(x, first.x, strict=True)]),
    )
    guards = zip(room, rate, later, by_state, loop.searched, strict=True)
    found = [
        at_start.look(g, r, after, sizes, span, ends[k]) for g, r, after, sizes, (k, _) in guards
    ]
    been = _just_been(loop, x, m, found)
    counts = [
        ~(either([b for i, b in enumerate(been) if loop.disarms[i][j]]) & (g <= 0))
        for j, g in enumerate(room)
    ]
    any_deep = either([seen.deep & c for seen, c in zip(found, counts, strict=True)])
    fired = [
        at_start.first(seen.fires & c, seen.deep, any_deep)
        for seen, c in zip(found, counts, strict=True)
    ]
    return fired, been


def _just_been(
    loop: LaneLoop, x: list[Array], m: list[Array], found: list[at_start.Started]
) -> list[Array]:
    """The lanes in which each event has just been, by what its own jump makes of its guard."""
    zero, own = jnp.zeros(x[0].shape[-1:], loop.real), at_start.has_own_jump(loop.system)
    no = jnp.zeros(x[0].shape[-1:], bool)
    asked = [
        seen.falls if own[k] else no for seen, (k, _) in zip(found, loop.searched, strict=True)
    ]

    def after(n: Any, been: list[Array]) -> list[Array]:
        """Of one event, in all lanes at once."""
        new_x, new_m, follows = x, m, ~no
        for j, (k, leg) in enumerate(loop.searched):
            if own[k]:
                jumped_x, jumped_m, _ = loop.jump(zero, x, m, k, leg)
                _, again, _ = loop.jump(zero, jumped_x, jumped_m, k, leg)
                marked = [
                    at_start.could_follow(*leaves)
                    for leaves in zip(m, jumped_m, again, strict=True)
                ]
                alike = [jnp.all(v, axis=0) if v.ndim > 1 else v for v in marked]
                here = functools.reduce(lambda a, b: a & b, alike, ~no)
                follows = jnp.where(n == I(j), here, follows)
                new_x, new_m = pick(n == I(j), (jumped_x, jumped_m), (new_x, new_m))
        room, rate = loop.guards_once(zero, new_x, new_m, loop.field_once(new_m)(zero, new_x))
        return [
            b | ((n == I(j)) & a & follows & at_start.still_falls(g, r, seen.rounding))
            for j, (b, a, g, r, seen) in enumerate(zip(been, asked, room, rate, found, strict=True))
        ]

    return lax.cond(
        any_lane(either(asked)),
        lambda: lax.fori_loop(I(0), I(len(asked)), after, [no for _ in asked]),
        lambda: [no for _ in asked],
    )


def _fresh(moving: Moving) -> Moving:
    """Ready for a whole step."""
    cap = moving.lane.cap
    target = moving.pace if cap is None else jnp.minimum(cap, moving.pace)
    return moving._replace(
        left=moving.pace,
        target=target,
        at=jnp.full_like(moving.at, -1),
        passes=jnp.zeros_like(moving.passes),
    )


def advance(
    loop: LaneLoop, lane: Lane, clock: Clock, first: Any, count: Any, age: Array | None = None
) -> Lane:
    """Steps `first` to `first + count` of a block of lanes.

    `age` is how many steps each lane had made before `first`, where they did not begin together:
    whole turns of every clock.
    """
    end = first + count
    # The attempt of length zero counts as a step too.
    countdown = tuple(n - lax.rem(first, n) + I(1) for n in clock.tick_steps)
    pace = jnp.where(lane.outcome == I(0), clock.step, jnp.zeros_like(lane.ended))
    zero, none = jnp.zeros_like(pace), jnp.full_like(lane.outcome, -1)
    # Slopes and rates are not kept between calls: an attempt of length zero finds them, by the code
    # of all attempts.
    flowing = [v for v, held in zip(lane.x, loop.held, strict=True) if not held]
    unknown = ([jnp.zeros_like(v) for v in values] for values in (flowing, lane.q, lane.room))
    start = Moving(lane, *unknown, pace=pace, left=zero, target=zero, at=none, passes=none + I(1))

    def more(state: Any) -> Array:
        i, _, moving = state
        return (i < end) & any_lane(moving.pace > 0)

    def body(state: Any) -> Any:
        i, countdown, now = state
        made = i + I(1) if age is None else age + (i + I(1))
        end_of_step = made.astype(loop.real) * clock.step
        t, t1 = end_of_step - now.left, end_of_step - (now.left - now.target)
        tried, hit, good = attempt(loop, now, t, t1)
        # Not finite counts in lanes that have ended too (their flow may depend on time): there the
        # attempt must not stand.
        special = hit | ~good | (now.at >= I(0)) | (now.target < now.pace)
        needed = any_lane(special)
        if countdown:
            due = functools.reduce(lambda a, b: a | b, [c == I(1) for c in countdown])
            needed = needed | due

        def plain() -> Any:
            # The step is over and no clock has ticked. Left, target, at and passes are those of a
            # fresh step already.
            return ((I(1), I(0)) if countdown else (I(1),)), tried

        def eventful() -> Any:
            return resolve(loop, now, tried, clock, (t, t1, end_of_step), hit, good, countdown)

        (done, *ticked), now = lax.cond(needed, eventful, plain)
        # After a tick the step may go on for the events it caused: the clock is wound at the tick,
        # and runs at the end of the step.
        wound = tuple(
            jnp.where((c == I(1)) & (ticked[0] > 0), n + I(1), c) - done
            for c, n in zip(countdown, clock.tick_steps, strict=True)
        )
        return i + done, wound, now

    _, _, moving = lax.while_loop(
        more, body, (jnp.asarray(first, jnp.int32) - I(1), countdown, start)
    )
    return moving.lane


def attempt(loop: LaneLoop, now: Moving, t: Array, t1: Array) -> tuple[Moving, Array, Array]:
    """Every lane by its target, as if nothing happened.

    Whether a guard reached zero on the way; whether the numbers are finite.
    """
    lane, tau = now.lane, now.target
    stepped = loop.method.step(
        loop.field(lane.m), t, t1, lane.x, lane.q, loop.slope_of(now), tau, loop.roles
    )
    room, rate = loop.guards(t1, stepped.x, lane.m, stepped.slope)
    hits = [
        ((a > 0) & (b <= 0)) | may_dip(a, ra, b, rb, tau)
        for a, ra, b, rb in zip(lane.room, now.room_rate, room, rate, strict=True)
    ]
    # Where a call begins must change no bit: an attempt of length zero leaves the books alone.
    stored, ports = pick(tau > 0, loop.stores(t1, stepped.x, lane.m), lane.stored), len(loop.ports)
    changes = zip([*stored, *stepped.q[:ports]], [*lane.stored, *lane.q[:ports]], strict=True)
    tried = lane._replace(
        x=stepped.x,
        q=stepped.q,
        stored=stored,
        through=functools.reduce(
            lambda total, pair: total + jnp.abs(pair[0] - pair[1]), changes, lane.through
        ),
        room=numbers(room),
        least=[
            jnp.where(tau > 0, jnp.minimum(lane.least[n], room[j]), lane.least[n])
            for n, j in enumerate(loop.margins)
        ],
        extremes=_extremes(loop, lane, t1, stepped.x, tau),
        watch=lane_bounds.stepped(loop, lane, t1, stepped.x, tau),
    )
    hit = either(hits) & (now.at < I(0)) & (tau > 0)
    slope_x = [r for r in stepped.slope.x if r is not None]
    moved = now._replace(lane=tried, slope_x=slope_x, slope_q=stepped.slope.q, room_rate=rate)
    return moved, hit, finite([*stepped.x, *stepped.q, *numbers(room)])


def _extremes(loop: LaneLoop, lane: Lane, t: Array, x: list[Array], tau: Array) -> list[Extremes]:
    if not loop.track:
        return []
    values = [loop.full(v, t) for v in loop.tracked(t, loop.struct_x(x), loop.struct_m(lane.m))]
    seen = [
        Extremes(jnp.minimum(e.low, v), jnp.maximum(e.high, v))
        for e, v in zip(lane.extremes, values, strict=True)
    ]
    return pick(tau > 0, seen, lane.extremes)


def resolve(
    loop: LaneLoop,
    now: Moving,
    tried: Moving,
    clock: Clock,
    times: tuple[Array, Array, Array],
    hit: Array,
    good: Array,
    countdown: tuple[Array, ...],
) -> tuple[tuple[Array, ...], Moving]:
    """What becomes of an attempt: accepted, repeated up to an event, or followed by a jump.

    Also whether the step is over for all and, where there are clocks, whether those that were due
    have ticked.
    """
    t, t1, end_of_step = times  # start and end of the attempt, end of the step
    after, arriving = _accept(loop, now, tried, hit, good)
    landed = any_lane(arriving)
    after = lax.cond(
        landed, lambda: lane_jump.jump(loop, now, after, clock, t1, arriving), lambda: after
    )
    after = lane_jump.end(after, ~good & (now.pace > 0), I(Outcome.diverged), t)
    over = ~any_lane((after.left > 0) | (after.at >= I(0)) | arriving)
    changed, any_changed, flags = arriving & (after.pace > 0), landed, ()
    if countdown:
        t_next = end_of_step + jnp.zeros_like(t)
        ticking = over & functools.reduce(lambda a, b: a | b, [c == I(1) for c in countdown])
        after = lax.cond(
            ticking, lambda: lane_jump.tick(loop, after, t_next, countdown), lambda: after
        )
        changed, any_changed, flags = (
            changed | (ticking & (after.pace > 0)),
            landed | ticking,
            (ticking.astype(jnp.int32),),
        )
        t1 = jnp.where(ticking, t_next, t1)
    after = lax.cond(
        any_changed,
        lambda: lane_jump.look_again(loop, now, after, clock, t1, changed, arriving),
        lambda: after,
    )
    if countdown:
        over = over & ~any_lane(after.at >= I(0))  # a tick may have pushed a guard below zero
    return (over.astype(jnp.int32), *flags), pick(over, _fresh(after), after)


def _accept(
    loop: LaneLoop, now: Moving, tried: Moving, hit: Array, good: Array
) -> tuple[Moving, Array]:
    """Lanes that crossed go back and aim at the event; the others keep their attempt.

    Also says which lanes are at their event.
    """
    # A dip that was only suspected leaves the fraction at 2, and the attempt stands.
    fraction, which = lax.cond(
        any_lane(hit),
        lambda: _earliest(loop, now, tried),
        lambda: (jnp.full_like(now.pace, 2.0), now.at),
    )
    crossed = hit & good & (fraction <= 1.0)
    kept = ~crossed & good
    left = jnp.where(kept, jnp.maximum(now.left - now.target, 0.0), now.left)
    # What rounding leaves of a step is nothing.
    left = jnp.where(left < now.pace * (4 * np.finfo(loop.real).eps), 0.0, left)
    after = pick(kept, tried, now)
    # An attempt of length zero tells nothing new of which guards count. One that is part of a step
    # arms a guard only beyond what an event is located to: a guard that has just fired may still be
    # above zero by that when the next one follows at once.
    rooms = []
    for a, b, rate in zip(after.lane.room, now.lane.room, after.room_rate, strict=True):
        at_zero = (b <= 0) & (now.target < now.pace) & (a <= AT_ZERO * now.pace * jnp.abs(rate))
        rooms.append(jnp.where(now.target > 0, jnp.where(at_zero, jnp.minimum(a, 0.0), a), b))
    after = after._replace(lane=after.lane._replace(room=rooms))
    whole, cap = left, now.lane.cap
    if cap is not None and loop.method.first_fraction is not None:
        cap = jnp.where(
            kept & (now.target >= cap),
            jnp.minimum(cap + loop.method.first_fraction * now.pace, now.pace),
            cap,
        )
        whole = jnp.minimum(cap, left)
        after = after._replace(lane=after.lane._replace(cap=cap))
    target, at = jnp.where(crossed, fraction * now.target, whole), jnp.where(crossed, which, I(-1))
    return after._replace(left=left, target=target, at=at), good & (now.at >= I(0))


def _earliest(loop: LaneLoop, now: Moving, tried: Moving) -> tuple[Array, Array]:
    """Fraction of the attempt at which the first guard reached zero, and which.

    Ties go in declared order.
    """
    rows = list(zip(now.lane.room, now.room_rate, tried.lane.room, tried.room_rate, strict=True))

    def look(j: Any, best: tuple[Array, Array]) -> tuple[Array, Array]:
        fraction, which = best
        # The guards are looked at in turn by one piece of code: few have crossed, and a kernel is
        # to be short.
        a, ra, b, rb = rows[0]
        for n in range(1, len(rows)):
            a, ra, b, rb = (
                jnp.where(j == I(n), new, old)
                for new, old in zip(rows[n], (a, ra, b, rb), strict=True)
            )
        # A guard that was at zero, rising, and has not moved from it yet (a short rest of a step)
        # is leaving zero, not reaching it.
        leaving = (ra > 0) & (rb > 0) & (b > -AT_ZERO * now.pace * rb)
        hit = ((a > 0) & (b <= 0) & ~leaving) | may_dip(a, ra, b, rb, now.target)
        s = lax.cond(
            any_lane(hit),
            lambda: jnp.where(hit, first_zero(a, now.target * ra, b, now.target * rb), 2.0),
            lambda: jnp.full_like(a, 2.0),
        )
        sooner = s < fraction
        return jnp.where(sooner, s, fraction), jnp.where(sooner, j, which)

    none = (jnp.full_like(now.pace, 2.0), jnp.full_like(now.at, -1))
    return lax.fori_loop(I(0), I(len(rows)), look, none)
