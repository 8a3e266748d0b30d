"""Lanes whose steps choose their own size: tolerances instead of a step.

Every turn of the loop attempts one step in every lane and then says what becomes of it: it stands,
it is tried again shorter because its error is too large, or it holds an event, which is searched by
attempts from the same start until the guard that fired is at zero. Then the event happens. Which
steps are made, which guards count, what is an event and when, are the rules of the event engine
(engines/events/engine.py); both are held to the same tests.

Lanes are the last axis; a lane's numbers never depend on its neighbours.
"""

import functools
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from footfall.engines.event_rules import (
    CREEP,
    CREEP_TRIES,
    LAST_SHIFT,
    LOOKS,
    NEWTON_STEPS,
    TIME_TOLERANCE,
    ZENO_EVENTS,
    ZENO_INTERVAL,
    has_room,
    is_stopped,
)
from footfall.engines.lanes import lane_bounds, lane_jump
from footfall.engines.lanes.embedded_pair import Attempt, Pair, step
from footfall.engines.lanes.lane_loop import (
    I,
    LaneLoop,
    any_lane,
    either,
    finite,
    numbers,
    pick,
    reals,
)
from footfall.engines.lanes.lane_state import Extremes, Lane, Limits, Own, Progress, Search
from footfall.engines.lanes.step_engine import fire_at_start
from footfall.engines.lanes.step_methods import Slope
from footfall.hybrid.outcome import Outcome

#: Where Newton may stop and within which time a guard is at zero [s], by precision.
SHIFTS = {"float64": LAST_SHIFT, "float32": 1e-6}
BANDS = {"float64": TIME_TOLERANCE, "float32": 1e-8}

#: What a watched lane has just done: a step that stands, come to an event, been through one.
GOING, STEPPED, ARRIVED, JUMPED = 0, 1, 2, 3


class Looked(NamedTuple):
    """What looks into a step saw of one guard."""

    low: Array  #: its least value, the end included
    rose: Array  #: number of the look at which it was first positive, or LOOKS + 1
    fell: Array  #: of the first after that at which it was not
    below: Array  #: of the first at which it was not positive
    before: Array  #: its value at the look before `below`
    after: Array  #: its value at `below`
    gap: Array  #: by how much the look half-way is wrong


def begin(loop: LaneLoop, x: list[Array], m: list[Array], limits: Limits) -> Lane:
    """Lanes at t = 0. The first tick of a clock is still to come."""
    zero, none = jnp.zeros(x[0].shape[-1:], loop.real), jnp.zeros(x[0].shape[-1:], jnp.int32)
    no = jnp.zeros(x[0].shape[-1:], bool)
    slope = loop.field_once(m)(zero, x)
    room, rate = loop.guards_once(zero, x, m, slope)
    fired, been = fire_at_start(loop, x, m)
    armed = [(has_room(g) & ~b) | f for g, f, b in zip(room, fired, been, strict=True)]
    good = finite([*x, *[r for r in slope.x if r is not None], *slope.q, *numbers(room)])
    flowing = [(v, r) for v, r in zip(x, slope.x, strict=True) if r is not None]
    size = _norm(loop, [v for v, _ in flowing], [v for v, _ in flowing], limits, x)
    speed = _norm(
        loop,
        [*(r for _, r in flowing), *slope.q[: len(loop.ports)]],
        [*(v for v, _ in flowing), *(zero for _ in loop.ports)],
        limits,
        x,
    )
    first = jnp.clip(
        loop.real(0.01) * size / jnp.where(speed > 0, speed, loop.real(1.0)),
        loop.real(1e-6),
        jnp.asarray(limits.max_step, loop.real),
    )
    own = Own(
        t=zero,
        step=first,
        cap=zero + loop.real(np.inf),
        error=zero + loop.real(1.0),
        slope_x=[r for r in slope.x if r is not None],
        slope_q=slope.q,
        armed=armed,
        rising=[
            jnp.where(~a & (r > 0), r, loop.real(0.0)) for a, r in zip(armed, rate, strict=True)
        ],
        ticks=[none for _ in loop.clocks],
        search=Search(zero, zero, zero, none, no, none),
        at=none - I(1),
        moment=none,
        tau=zero,
        crowded=none,
        last_event=zero - loop.real(np.inf),
        begun=no,
        steps=none,
        tried=none,
        progress=Progress(none, zero),
    )
    return Lane(
        x=x,
        m=m,
        q=[zero for _ in slope.q],
        room=room,
        least=[room[j] for j in loop.margins],
        jump_work=[zero for _ in loop.works],
        stored=loop.stores(zero, x, m),
        through=zero,
        extremes=[Extremes(zero + loop.real(np.inf), zero - loop.real(np.inf)) for _ in loop.track],
        watch=lane_bounds.begin(loop, x, m),
        last=lane_jump.no_mark(loop, zero, none),
        outcome=jnp.where(good, none, I(Outcome.diverged)),
        jumps=none,
        ended=zero,
        cap=None,
        own=own,
    )


def advance(
    loop: LaneLoop, pair: Pair, lane: Lane, limits: Limits, *, watched: bool = False
) -> tuple[Lane, list[Slope]]:
    """Every lane to its end; of a `watched` lane, to what it does next.

    Also the slopes of the last step kept, of a watched lane: its interpolant is made of them.
    """
    own = _own(lane)
    lane = lane._replace(own=own._replace(moment=jnp.zeros_like(own.moment)))

    def more(state: Any) -> Array:
        now: Lane = state[0]
        going = now.outcome == I(0)
        return any_lane(going & (_own(now).moment == I(GOING)) if watched else going)

    def body(state: Any) -> Any:
        now, kept = state
        if watched:
            return lax.cond(
                any_lane(_own(now).at >= I(0)),
                lambda: (happen(loop, now, limits), kept),
                lambda: attempt(loop, pair, now, limits, kept),
            )
        now, _ = attempt(loop, pair, now, limits, kept)
        return lax.cond(
            any_lane(_own(now).at >= I(0)), lambda: happen(loop, now, limits), lambda: now
        ), kept

    nothing = _no_stages(loop, pair, lane) if watched else []
    return lax.while_loop(more, body, (lane, nothing))


def _no_stages(loop: LaneLoop, pair: Pair, lane: Lane) -> list[Slope]:
    flowing = [v for v, held in zip(lane.x, loop.held, strict=True) if not held]
    x = [jnp.zeros_like(v) for v in flowing]
    q = [jnp.zeros_like(v) for v in lane.q[: len(loop.ports)]]
    return [Slope(x, q) for _ in range(pair.stages)]


def _own(lane: Lane) -> Own:
    assert lane.own is not None
    return lane.own


def attempt(
    loop: LaneLoop, pair: Pair, lane: Lane, limits: Limits, kept: list[Slope]
) -> tuple[Lane, list[Slope]]:
    """One step of every lane that runs, and what becomes of it."""
    own, real = _own(lane), loop.real
    shift = SHIFTS[real.__name__]
    zero, running = jnp.zeros_like(own.t), lane.outcome == I(0)
    search, searching = own.search, own.search.high > 0
    at = due(loop, lane)
    stop = zero + jnp.asarray(limits.t_end, real)
    for n, period in enumerate(periods(loop)):
        stop = jnp.minimum(stop, own.ticks[n].astype(real) * real(period))
    reached = (own.t >= jnp.asarray(limits.t_end, real)) & (at < I(0))
    waits = ~running | (at >= I(0)) | reached
    left, want = stop - own.t, jnp.minimum(own.step, _cap(loop, lane, limits))
    at_stop = (want >= left) & ~searching
    tau = jnp.where(
        waits, zero, jnp.where(searching, search.target, jnp.where(at_stop, left, want))
    )
    t1 = jnp.where(at_stop & ~waits, stop, own.t + tau)
    first = _slope(loop, own)
    made = step(pair, loop.field_once(lane.m), own.t, t1, lane.x, lane.q, first, tau)
    room = loop.rooms_once(t1, made.x, lane.m)
    solved = finite([*made.x, *made.q, *numbers(room)])
    scaled = _norm(
        loop,
        [*(e for e in made.error_x if e is not None), *made.error_q[: len(loop.ports)]],
        [
            *(
                jnp.maximum(jnp.abs(a), jnp.abs(b))
                for a, b, e in zip(lane.x, made.x, made.error_x, strict=True)
                if e is not None
            ),
            *(
                jnp.maximum(jnp.abs(a), jnp.abs(b))
                for a, b in zip(lane.q[: len(loop.ports)], made.q[: len(loop.ports)], strict=True)
            ),
        ],
        limits,
        lane.x,
    )
    found = lax.cond(
        any_lane(searching),
        lambda: _searched(loop, lane, tau, t1, made, room),
        lambda: _Found(search, jnp.zeros_like(searching), zero, [zero for _ in room]),
    )
    ends = searching & found.done
    inside = lax.cond(
        any_lane(~searching | ends),
        lambda: looks(loop, lane, tau, first, made, room),
        lambda: [_nothing_seen(zero, own.at) for _ in room],
    )
    # A search ends at its event, or finds that the look was wrong: then the step up to here stands.
    arrives, stands = ends & found.search.hit, ends & ~found.search.hit
    shorter = _shorter(loop, lane, tau, inside)
    within = solved & (scaled <= 1.0)
    fits = within & (shorter >= tau)
    crosses = either(
        [a & (seen.below <= I(LOOKS)) for a, seen in zip(own.armed, inside, strict=True)]
    )
    march = running & ~waits & ~searching
    crossing, go = march & fits & crosses, march & fits & ~crosses
    keeps = go | arrives | stands
    # Newton's last step is made along the flow. No event is before the step in which it was seen.
    moved = jnp.where(arrives, jnp.maximum(found.moved, -tau), zero)
    x = [v if r is None else v + moved * r for v, r in zip(made.x, made.slope.x, strict=True)]
    q = [v + moved * r for v, r in zip(made.q, made.slope.q, strict=True)]
    t_new = t1 + moved
    stored = loop.stores(t_new, x, lane.m)
    ports = len(loop.ports)
    used = functools.reduce(
        lambda total, pair_: total + jnp.abs(pair_[0] - pair_[1]),
        zip([*stored, *q[:ports]], [*lane.stored, *lane.q[:ports]], strict=True),
        lane.through,
    )
    # At an event, what was above zero only within the time to which events are located does not
    # count.
    positive = [
        jnp.where(
            arrives,
            (seen.rose.astype(real) * real(1.0 / LOOKS) * tau <= tau - real(2 * shift))
            | (has_room(g) & (g > real(2 * shift) * jnp.abs(r))),
            seen.rose <= I(LOOKS),
        )
        for seen, g, r in zip(inside, room, found.rates, strict=True)
    ]
    tried = lane._replace(
        x=x,
        q=q,
        stored=stored,
        through=used,
        room=room,
        least=[jnp.minimum(lane.least[n], inside[j].low) for n, j in enumerate(loop.margins)],
        extremes=_extremes(loop, lane, t_new, x),
        watch=lane_bounds.stepped(loop, lane, t_new, x, tau),
    )
    good, factor, error = _judge(loop, pair, own, scaled, solved, shorter >= tau)
    cut = crossing | (go & (at_stop | (_cap(loop, lane, limits) < own.step))) | searching
    longer = jnp.minimum(tau * factor, jnp.asarray(limits.max_step, real))
    next_step = jnp.where(waits | cut | (shorter < tau), own.step, longer)
    too_small = _too_small(loop, own.t)
    guess, high = _first_guess(own.armed, inside, tau)
    rising = [jnp.where(keeps, zero, r) for r in own.rising]
    own_kept = own._replace(
        t=t_new,
        slope_x=[r for r in made.slope.x if r is not None],
        slope_q=made.slope.q,
        armed=[a | p for a, p in zip(own.armed, positive, strict=True)],
        tau=tau + moved,
    )
    own_new = pick(keeps, own_kept, own)._replace(
        rising=rising,
        step=next_step,
        cap=jnp.where(
            keeps,
            real(np.inf),
            jnp.where(march & (shorter < tau), jnp.minimum(shorter, own.cap), own.cap),
        ),
        error=jnp.where(march & good, error, own.error),
        search=Search(
            low=jnp.where(searching & ~ends, found.search.low, zero),
            high=jnp.where(crossing, high, jnp.where(searching & ~ends, found.search.high, zero)),
            target=jnp.where(crossing, guess, found.search.target),
            tries=jnp.where(searching & ~ends, found.search.tries, I(0)),
            hit=searching & ~ends & found.search.hit,
            which=found.search.which,
        ),
        at=jnp.where(running & (at >= I(0)), at, jnp.where(arrives, found.search.which, I(-1))),
        moment=jnp.where(
            (running & (at >= I(0))) | arrives,
            I(ARRIVED),
            jnp.where(keeps, I(STEPPED), own.moment),
        ),
        steps=own.steps + keeps.astype(jnp.int32),
        tried=own.tried + (running & ~waits).astype(jnp.int32),
    )
    # An event that fires where the lane is has no step before it.
    own_new = own_new._replace(tau=jnp.where(running & (at >= I(0)), zero, own_new.tau))
    stuck = jnp.where(
        march & (shorter < tau) & (shorter <= too_small),
        I(Outcome.zeno),
        jnp.where(
            march & ~fits & ~(shorter < tau) & (next_step <= too_small), I(Outcome.diverged), I(0)
        ),
    )
    # Steps that get nowhere, as along a break of the flow; runs find out whether (chatter.py).
    # (The remainder of `tried` would do, but gcc 12 compiles its test wrongly for one lane.)
    many = march & (own_new.tried - own.progress.tried >= I(CREEP_TRIES))
    nowhere = many & (own_new.t - own.progress.t < real(CREEP * CREEP_TRIES))
    own_new = own_new._replace(
        progress=pick(many, Progress(own_new.tried, own_new.t), own.progress)
    )
    stuck = jnp.where(nowhere & (stuck == I(0)), I(Outcome.diverged), stuck)
    ended = jnp.where(running & reached, I(Outcome.reached_end), stuck)
    after = pick(keeps, tried, lane)._replace(own=own_new)
    after = after._replace(
        outcome=jnp.where(running & (ended != I(0)), ended, lane.outcome),
        ended=jnp.where(running & (ended != I(0)), own.t, after.ended),
    )
    if not kept:
        return after, kept
    ports = len(loop.ports)
    slopes = [Slope([r for r in s.x if r is not None], s.q[:ports]) for s in made.stages]
    return after, pick(keeps, slopes, kept)


def periods(loop: LaneLoop) -> list[float]:
    """Of each clock [s]."""
    return [float(loop.system.events[k].period or 0.0) for k in loop.clocks]


def due(loop: LaneLoop, lane: Lane) -> Array:
    """The event that fires where a lane is, or -1; ties go in declared order.

    A guard that counts and that a jump left at or below zero; a clock whose time has come.
    """
    own, at = _own(lane), jnp.full_like(lane.outcome, -1)
    fires = {k: [] for k in range(len(loop.system.events))}
    for j, (k, _) in enumerate(loop.searched):
        fires[k].append((j, own.armed[j] & (lane.room[j] <= 0)))
    for n, (k, period) in enumerate(zip(loop.clocks, periods(loop), strict=True)):
        when = own.ticks[n].astype(loop.real) * loop.real(period)
        fires[k].append((len(loop.searched) + n, when <= own.t))
    for k in reversed(range(len(loop.system.events))):
        for j, flag in reversed(fires[k]):
            at = jnp.where(flag & (own.search.high <= 0), I(j), at)
    return at


def _cap(loop: LaneLoop, lane: Lane, limits: Limits) -> Array:
    """How long the next step may be, whatever its error."""
    cap = _own(lane).cap
    feet = [j for j, (k, _) in enumerate(loop.searched) if loop.system.events[k].contact]
    if not feet:
        return cap
    near = either([lane.room[j] < jnp.asarray(limits.near_room, loop.real) for j in feet])
    return jnp.where(near, jnp.minimum(cap, jnp.asarray(limits.near_step, loop.real)), cap)


def _norm(
    loop: LaneLoop, values: list[Any], sizes: list[Any], limits: Limits, x: list[Array]
) -> Array:
    """Root of the mean square of values, each over its tolerance.

    Over all states, those that are held too, and all ports: as the event engine has them in one
    vector.
    """
    rtol, atol = jnp.asarray(limits.rtol, loop.real), jnp.asarray(limits.atol, loop.real)
    total: Any = loop.real(0.0)
    for value, size in zip(values, sizes, strict=True):
        part = (value / (atol + rtol * jnp.abs(size))) ** 2
        total = total + (jnp.sum(part, axis=0) if part.ndim > 1 else part)
    count = sum(int(np.prod(np.shape(v)[:-1])) for v in x) + len(loop.ports)
    return jnp.sqrt(total * loop.real(1.0 / count))


def _judge(
    loop: LaneLoop, pair: Pair, own: Own, scaled: Array, solved: Array, uncut: Array
) -> tuple[Array, Array, Array]:
    """Whether a step is good, the factor for the next one, and its scaled error.

    PI control: integral 0.7, proportional 0.2.
    """
    real = loop.real
    good = solved & (scaled <= 1.0)
    size = jnp.where(
        (jnp.abs(scaled) < np.inf) & solved, jnp.maximum(scaled, real(1e-10)), real(1e6)
    )
    factor = real(0.9) * _power(size, -0.9 / pair.order)
    factor = factor * jnp.where(good, _power(own.error, 0.2 / pair.order), real(1.0))
    factor = jnp.clip(factor, real(0.2), real(5.0))
    return good & uncut, jnp.where(good, factor, jnp.minimum(factor, real(0.9))), size


def _power(x: Array, exponent: float) -> Array:
    """x to a small power, for x > 0."""
    return jnp.exp(jnp.log(x) * x.dtype.type(exponent))


class _Found(NamedTuple):
    """Where a search stands after an attempt."""

    search: Search
    done: Array
    moved: Array  #: what is left of the way to the event
    rates: list[Array]  #: of the guards


def _searched(
    loop: LaneLoop, lane: Lane, tau: Array, t1: Array, made: Attempt, room: list[Array]
) -> _Found:
    """A Newton step of each guard that matters.

    Of those crossed the one crossed longest ago, else the next to cross. Times, not values of
    guards, are compared: a metre is not less than a newton.
    """
    own, real, search = _own(lane), loop.real, _own(lane).search
    last_shift = SHIFTS[real.__name__]
    _, rates = loop.guards_once(t1, made.x, lane.m, made.slope)
    crossed = [a & (g <= 0) for a, g in zip(own.armed, room, strict=True)]
    some = either(crossed)
    shift, which = jnp.full_like(tau, np.inf), jnp.full_like(own.at, 0)
    for j, (g, r) in enumerate(zip(room, rates, strict=True)):
        relevant = jnp.where(some, crossed[j], own.armed[j] & (r < 0))
        newton = jnp.where(r < 0, -g / jnp.where(r < 0, r, real(1.0)), real(-np.inf))
        newton = jnp.where(relevant, newton, real(np.inf))
        sooner = newton < shift
        shift, which = jnp.where(sooner, newton, shift), jnp.where(sooner, I(j), which)
    low, high = jnp.where(some, search.low, tau), jnp.where(some, tau, search.high)
    target = tau + shift
    inside = (target > low) & (target < high) & (search.tries < I(NEWTON_STEPS))
    close = jnp.abs(shift) <= real(last_shift)
    shut = high - low <= real(4 * np.finfo(real).eps) * high
    # The guard that closed the bracket is the one whose event it is.
    which = jnp.where(some | close | ~search.hit, which, search.which)
    moved = jnp.where(jnp.abs(shift) <= real(2 * last_shift), shift, real(0.0))
    return _Found(
        Search(
            low,
            high,
            jnp.where(inside, target, real(0.5) * (low + high)),
            search.tries + I(1),
            close | some | search.hit,
            which,
        ),
        close | shut,
        moved,
        rates,
    )


def _nothing_seen(zero: Array, like: Array) -> Looked:
    far, never = zero + zero.dtype.type(np.inf), jnp.full_like(like, LOOKS + 1)
    return Looked(far, never, never, never, zero, zero, zero)


def looks(
    loop: LaneLoop, lane: Lane, tau: Array, first: Slope, made: Attempt, room: list[Array]
) -> list[Looked]:
    """Every guard at LOOKS points of a step: on a cubic through its ends, the last one exact.

    Half-way also on the pair's own interpolant, which shows by how much the cubic errs.
    """
    own, real = _own(lane), loop.real
    never = jnp.full_like(own.at, LOOKS + 1)

    def see(seen: Looked, last: Array, value: Array, n: Any) -> tuple[Looked, Array]:
        positive, below = has_room(value), value <= 0
        rose = jnp.where((seen.rose > I(LOOKS)) & positive, n, seen.rose)
        fell = jnp.where((seen.fell > I(LOOKS)) & below & (seen.rose < n), n, seen.fell)
        now = (seen.below > I(LOOKS)) & below
        return Looked(
            low=jnp.minimum(seen.low, value),
            rose=rose,
            fell=fell,
            below=jnp.where(now, n, seen.below),
            before=jnp.where(now, last, seen.before),
            after=jnp.where(now, value, seen.after),
            gap=jnp.where(n == I(LOOKS // 2), value, seen.gap),
        ), value

    def body(n: Any, state: Any) -> Any:
        f = n.astype(real) * real(1.0 / LOOKS)
        x = [
            a if r0 is None else _hermite(a, tau * r0, b, tau * r1, f)
            for a, r0, b, r1 in zip(lane.x, first.x, made.x, made.slope.x, strict=True)
        ]
        values = loop.rooms_once(own.t + f * tau, x, lane.m)
        return [see(*s, v, n) for s, v in zip(state, values, strict=True)]

    start = [(_nothing_seen(jnp.zeros_like(tau), never), g) for g in lane.room]
    state = lax.fori_loop(I(1), I(LOOKS), body, start)
    middle = loop.rooms_once(own.t + real(0.5) * tau, made.middle, lane.m)
    found = [see(*s, g, I(LOOKS))[0] for s, g in zip(state, room, strict=True)]
    return [seen._replace(gap=jnp.abs(seen.gap - g)) for seen, g in zip(found, middle, strict=True)]


def _hermite(y0: Array, slope0: Array, y1: Array, slope1: Array, f: Any) -> Array:
    """Cubic through both ends of a step with their slopes (times its length), at fraction f."""
    rise = y1 - y0
    return (1 - f) * y0 + f * y1 + f * (1 - f) * ((1 - f) * (slope0 - rise) + f * (rise - slope1))


def _shorter(loop: LaneLoop, lane: Lane, tau: Array, inside: list[Looked]) -> Array:
    """Length of the step to take instead; that of the step itself where it is as it should be.

    Half of it where an armed guard came nearer to zero than a cubic can tell. Up to where a guard
    arms that would rise and fall again inside the step: only what is armed at its start can be
    located in it. A guard that was left at zero rising, and is not seen above it at all, rose and
    fell before the first look.
    """
    own, real = _own(lane), loop.real
    rows = list(zip(own.armed, own.rising, lane.room, inside, strict=True))
    unsure = either([a & (s.low > 0) & (s.low < 2 * s.gap) for a, _, _, s in rows])
    never = jnp.full_like(own.at, LOOKS + 1)
    new, known = never, never
    for a, _, _, seen in rows:
        new = jnp.minimum(new, jnp.where(a, never, seen.fell))
        known = jnp.minimum(known, jnp.where(a, seen.below, never))
    cut = jnp.where(
        (new <= I(LOOKS)) & (new <= known),
        (new - I(1)).astype(real) * real(1.0 / LOOKS),
        real(1.0),
    )
    hidden = either(
        [(r > 0) & (g + r * tau * real(1.0 / LOOKS) > 0) & (s.below == I(1)) for _, r, g, s in rows]
    )
    share = jnp.where(unsure, real(0.5), jnp.where(hidden, real(0.1), cut))
    # What is left to the end may be less than time can resolve: then there is nothing to look into.
    return jnp.where(tau > _too_small(loop, own.t), tau * share, tau)


def _too_small(loop: LaneLoop, t: Array) -> Array:
    """A step that time cannot resolve [s]."""
    return loop.real(4 * np.finfo(loop.real).eps) * jnp.maximum(jnp.abs(t), loop.real(1e-3))


def _first_guess(armed: list[Array], inside: list[Looked], tau: Array) -> tuple[Array, Array]:
    """Where the earliest crossing of an armed guard seems to be, and the look that saw it."""
    guess, high = jnp.full_like(tau, np.inf), tau
    for a, seen in zip(armed, inside, strict=True):
        fall = seen.before - seen.after
        chord = jnp.where(fall > 0, seen.before / jnp.where(fall > 0, fall, 1.0), 0.5)
        look = seen.below.astype(tau.dtype)
        place = (look - 1.0 + jnp.clip(chord, 0.0, 1.0)) * (1.0 / LOOKS)
        mine = a & (seen.below <= I(LOOKS)) & (place < guess)
        guess = jnp.where(mine, place, guess)
        high = jnp.where(mine, look * (1.0 / LOOKS) * tau, high)
    return jnp.where(guess < np.inf, guess * tau, 0.0), high


def _extremes(loop: LaneLoop, lane: Lane, t: Array, x: list[Array]) -> list[Extremes]:
    values = [loop.full(v, t) for v in loop.tracked(t, loop.struct_x(x), loop.struct_m(lane.m))]
    return [
        Extremes(jnp.minimum(e.low, v), jnp.maximum(e.high, v))
        for e, v in zip(lane.extremes, values, strict=True)
    ]


def happen(loop: LaneLoop, lane: Lane, limits: Limits) -> Lane:
    """The event that a lane has come to: it ends there, or jumps.

    Only the guard that fired and those it restarts are disarmed; each re-arms once it is positive.
    Within the time to which events are located a guard is at zero, whatever sign rounding gave it.
    """
    own, real, events = _own(lane), loop.real, loop.system.events
    t, arrived, zero = own.t, own.at >= I(0), jnp.zeros_like(own.t)
    before, rate = loop.guards_once(t, lane.x, lane.m, _slope(loop, own))
    every = [*loop.searched, *((k, None) for k in loop.clocks)]
    x, m, work, used = lane.x, lane.m, lane.jump_work, lane.through
    ends = jnp.zeros_like(lane.outcome)
    for j, (k, leg) in enumerate(every):
        mine = arrived & (own.at == I(j))
        if (ending := events[k].outcome) is not None:
            ends = jnp.where(mine, I(ending), ends)
            continue
        new_x, new_m, done = loop.jump(t, lane.x, lane.m, k, leg)
        x, m = pick(mine, new_x, x), pick(mine, new_m, m)
        work = [jnp.where(mine, w + d, w) for w, d in zip(work, done, strict=True)]
        total = functools.reduce(lambda a, d: a + jnp.abs(d), done, used)
        used = jnp.where(mine, total, used)
    slope = loop.field_once(m)(t, x)
    room, rates = loop.guards_once(t, x, m, slope)
    armed, rising, stopped = [], [], []
    for j, (g, r, old, old_rate) in enumerate(zip(room, rates, before, rate, strict=True)):
        disarmed = either([own.at == I(i) for i in disarmed_by(loop, j)])
        band = real(BANDS[real.__name__]) * jnp.maximum(jnp.abs(old_rate), jnp.abs(r))
        # As near as the state's digits allow.
        located = jnp.where(own.at == I(j), jnp.abs(old), zero)
        at_zero = jnp.abs(g) <= 2 * jnp.maximum(band, located)
        # One that had room and that the jump left at zero and rising (the force of a spoke that
        # has just landed) is leaving zero.
        leaving = at_zero & (r > 0) & (old > 2 * band)
        counts = (own.armed[j] & ~disarmed & ~leaving) | ((g > 0) & ~at_zero)
        counts = counts & (g < np.inf)  # what the mode has not
        fired = arrived & (own.at == I(j)) & at_zero
        stopped.append(fired & is_stopped(old_rate, r))
        armed.append(counts)
        rising.append(jnp.where(~counts & (r > 0), r, zero))
    ticks = [
        n + (arrived & (own.at == I(len(loop.searched) + i))).astype(jnp.int32)
        for i, n in enumerate(own.ticks)
    ]
    located = arrived & (own.at < I(len(loop.searched))) & (ends == I(0))
    crowded = jnp.where(t - own.last_event < real(ZENO_INTERVAL), own.crowded + I(1), I(0))
    jumps = lane.jumps + located.astype(jnp.int32)
    made = functools.reduce(lambda a, b: a + b, ticks, jumps)
    good = finite([*x, *reals(m), *work, *(r for r in slope.x if r is not None), *slope.q])
    good = good & finite(numbers(room))
    outcome = jnp.where(made >= jnp.asarray(limits.max_jumps, jnp.int32), TOO_MANY, I(0))
    outcome = jnp.where(crowded >= I(max(ZENO_EVENTS, 4 * len(every))), I(Outcome.zeno), outcome)
    through = lane_jump.fallen_through(loop, t, x, m, slope, room, stopped)
    outcome = jnp.where(through, I(Outcome.not_held), outcome)
    outcome = jnp.where(ends != I(0), ends, outcome)
    outcome = jnp.where(good, outcome, I(Outcome.diverged))
    # Start-up ends with the first jump (a clock's tick does not count): what a guard did before it,
    # such as a foot put down without load, says nothing of the gait.
    first = located & ~own.begun
    moved = lane._replace(
        x=x,
        m=m,
        room=room,
        jump_work=work,
        through=used,
        stored=loop.stores(t, x, m),
        least=[
            jnp.minimum(jnp.where(first, real(np.inf), lane.least[n]), room[j])
            for n, j in enumerate(loop.margins)
        ],
        last=lane_jump.mark(loop, lane._replace(jump_work=work), x, m, t),
        jumps=jumps,
        own=own._replace(
            slope_x=[r for r in slope.x if r is not None],
            slope_q=slope.q,
            armed=armed,
            rising=rising,
            ticks=ticks,
            crowded=crowded,
            last_event=t,
            begun=own.begun | located,
        ),
    )
    moved = moved._replace(watch=lane_bounds.jumped(loop, lane.m, moved, t))
    # What only ends the run changes nothing else.
    after = pick(arrived & (ends == I(0)), moved, lane)
    new = _own(after)
    return after._replace(
        outcome=jnp.where(arrived, outcome, lane.outcome),
        ended=jnp.where(arrived & (outcome != I(0)), t, lane.ended),
        own=new._replace(
            at=jnp.where(arrived, I(-1), new.at),
            moment=jnp.where(arrived, I(JUMPED), new.moment),
        ),
    )


def disarmed_by(loop: LaneLoop, j: int) -> list[int]:
    """The events, by number, that disarm a guard: its own and those that restart it."""
    events, name = loop.system.events, loop.system.events[loop.searched[j][0]].name
    ticks = [
        len(loop.searched) + n for n, k in enumerate(loop.clocks) if name in events[k].restarts
    ]
    return [i for i in range(len(loop.searched)) if loop.disarms[i][j]] + ticks


def _slope(loop: LaneLoop, own: Own) -> Slope:
    rates = iter(own.slope_x)
    return Slope([None if held else next(rates) for held in loop.held], own.slope_q)


TOO_MANY = I(Outcome.too_many_jumps)
