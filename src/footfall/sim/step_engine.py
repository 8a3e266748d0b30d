"""The step engine: fixed steps, batch first. One loop moves a block of lanes; traced once, it becomes a kernel.

Each turn of the loop attempts one step (or what is left of one) in every lane. Where no guard of the block reached zero and no clock
ticks, that is all. Otherwise the lanes that crossed find the fraction of the step at which they did, on a cubic through the guard's
values and rates, and attempt exactly that next; lanes that arrived at their event jump and go on with the rest; lanes that are done wait
with attempts of length zero, which change nothing. So the step formula stands in the code once, and a lane's numbers never depend on
its neighbours.

Everything is elementwise over lanes, which are the last axis; the only thing a block shares is the question "does any lane need more?".
"""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from footfall.hybrid.flatten import named_leaves
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.system import AbstractHybridSystem, HybridState
from footfall.sim.lane_state import Clock, Extremes, Lane, Mark, Moving
from footfall.sim.step_locate import first_zero, may_dip
from footfall.sim.step_methods import METHODS, Roles, Slope

#: More events than this in one step, and than twice for each guard (forty legs may land at once), end a lane as Zeno.
MOST_EVENTS_PER_STEP = 8
#: An event is located to this fraction of a step: a guard that fired is at zero as long as it is within it.
AT_ZERO = 1e-3
I = np.int32


class LaneLoop:
    """The loop's pieces for one system: what its guards, clocks, states and integrals are. Built while tracing."""

    def __init__(self, system: AbstractHybridSystem, like: HybridState, method: str, real: Any, track: tuple[str, ...] = ()):
        self.system, self.method, self.real, self.track = system, METHODS[method], np.dtype(real).type, track
        self.x_tree, self.m_tree = jax.tree.structure(like.x), jax.tree.structure(like.m)
        events = system.events
        self.clocks = [k for k, e in enumerate(events) if e.period is not None]
        shapes = jax.eval_shape(lambda: self.system.guards(self.zero, like.x, like.m))
        #: (event, leg) of each guard that is searched; a guard over like legs has one entry for each
        self.searched: list[tuple[int, int | None]] = []
        for k, shape in enumerate(shapes):
            if events[k].period is None:
                legs = [None] if len(shape.shape) <= 1 else range(shape.shape[0])
                self.searched += [(k, leg) for leg in legs]
        names = [events[k].name for k, _ in self.searched]
        self.disarms = [
            [
                a == b or (names[j] in events[a[0]].restarts and (a[1] == b[1] or None in (a[1], b[1])))
                for j, b in enumerate(self.searched)
            ]
            for a in self.searched
        ]
        #: a guard's least room is worth keeping unless its event is the gait itself, or every step of the gait restarts it
        restarted = {name for event in events for name in event.restarts}
        self.margins = [
            j for j, (k, _) in enumerate(self.searched) if not events[k].restarts and events[k].name not in restarted
        ]
        self.travel = system.travel()
        power = jax.eval_shape(lambda: system.flow(self.zero, like.x, like.m).power)
        self.ports = [name for name, _, _ in named_leaves(power)]
        rates = [info.rate_of is not None for _, _, info in named_leaves(like.x)]
        self.roles = Roles(rates)
        self.held = self._held(like)

    @property
    def zero(self) -> Any:
        return self.real(0.0)

    def _held(self, like: HybridState) -> list[bool]:
        """Which states the flow leaves alone: their rate is the plain number 0.0."""
        seen: list[bool] = []

        def look() -> int:
            rates = jax.tree.leaves(self.system.flow(self.zero, like.x, like.m).x)
            seen.extend(isinstance(r, float) and r == 0.0 for r in rates)
            return 0

        jax.eval_shape(look)
        return seen

    def struct_x(self, leaves: list[Any]) -> Any:
        return jax.tree.unflatten(self.x_tree, leaves)

    def struct_m(self, leaves: list[Any]) -> Any:
        return jax.tree.unflatten(self.m_tree, leaves)

    def full(self, value: Any, like: Array) -> Array:
        """A number as lanes of the engine's precision."""
        return jnp.broadcast_to(jnp.asarray(value, self.real), jnp.broadcast_shapes(jnp.shape(value), like.shape[-1:]))

    def field(self, m: list[Array]) -> Callable[[Any, list[Array]], Slope]:
        held_m = self.struct_m(m)

        def slope(t: Any, leaves: list[Array]) -> Slope:
            x = self.struct_x(leaves)
            rates = self.system.flow(t, x, held_m)
            x_rates = [None if held else r for r, held in zip(jax.tree.leaves(rates.x), self.held, strict=True)]
            q_rates = list(jax.tree.leaves(rates.power))
            if self.track:
                for value in self.tracked(t, x, held_m):
                    q_rates += [value, value * value]
            like = leaves[0]
            x_rates = [r if r is None else self.full(r, like) for r in x_rates]
            return Slope(x_rates, [self.full(r, like) for r in q_rates])

        return slope

    def tracked(self, t: Any, x: Any, m: Any) -> list[Any]:
        values = {name: value for name, value, _ in named_leaves(self.system.outputs(t, x, m))}
        return [values[name] for name in self.track]

    def output(self, name: str, t: Any, x: list[Array], m: list[Array]) -> Array:
        leaves = named_leaves(self.system.outputs(t, self.struct_x(x), self.struct_m(m)))
        return next(value for n, value, _ in leaves if n == name)

    def guards(self, t: Any, x: list[Array], m: list[Array], slope: Slope) -> tuple[list[Array], list[Array]]:
        """Room of each searched guard, and its rate along the flow."""
        moving = [i for i, r in enumerate(slope.x) if r is not None]
        held_m, like = self.struct_m(m), x[0]

        def rooms(s: Any, values: list[Array]) -> list[Array]:
            leaves = list(x)
            for i, v in zip(moving, values, strict=True):
                leaves[i] = v
            every = self.system.guards(s, self.struct_x(leaves), held_m)
            return [self.full(every[k] if leg is None else every[k][leg], like) for k, leg in self.searched]

        t = self.full(t, like)
        return jax.jvp(rooms, (t, [x[i] for i in moving]), (jnp.ones_like(t), [slope.x[i] for i in moving]))

    def jump(
        self, t: Any, x: list[Array], m: list[Array], k: int, leg: int | None
    ) -> tuple[list[Array], list[Array], list[Array]]:
        legs = () if leg is None else (leg,)
        jumped = self.system.jump(t, self.struct_x(x), self.struct_m(m), k, *legs)
        new_x = [jnp.broadcast_to(jnp.asarray(a, b.dtype), b.shape) for a, b in zip(jax.tree.leaves(jumped.x), x, strict=True)]
        new_m = [jnp.broadcast_to(jnp.asarray(a, b.dtype), b.shape) for a, b in zip(jax.tree.leaves(jumped.m), m, strict=True)]
        return new_x, new_m, [self.full(w, x[0]) for w in jax.tree.leaves(jumped.work)]

    def slope_of(self, moving: Moving) -> Slope:
        rates = iter(moving.slope_x)
        return Slope([None if held else next(rates) for held in self.held], moving.slope_q)


def pick(flag: Array, new: Any, old: Any) -> Any:
    """`new` where the flag holds, else `old`, leaf by leaf."""
    return jax.tree.map(lambda a, b: b if a is b else jnp.where(flag, a, b), new, old)


def any_lane(flag: Array) -> Array:
    """Whether it holds in any lane of the block (kernels have no rule for `any`)."""
    return jnp.max(flag.astype(jnp.int32)) > I(0)


def either(flags: list[Array]) -> Array:
    return functools.reduce(lambda a, b: a | b, flags)


def finite(arrays: list[Array]) -> Array:
    """Whether all values of a lane are finite. A sum of finite numbers that overflows counts as not: they are useless by then."""
    sums = [jnp.sum(a, axis=tuple(range(a.ndim - 1))) if a.ndim > 1 else a for a in arrays]
    return jnp.abs(functools.reduce(lambda a, b: a + b, sums)) < np.inf


def _reals(arrays: list[Array]) -> list[Array]:
    return [a for a in arrays if jnp.issubdtype(a.dtype, jnp.floating)]


def armed_room(room: Array, counts: Array) -> Array:
    """Room as the lane carries it: positive exactly where the guard counts."""
    tiny = np.finfo(room.dtype).tiny
    return jnp.where(counts, jnp.maximum(room, room.dtype.type(tiny)), jnp.minimum(room, 0.0))


def begin(loop: LaneLoop, x: list[Array], m: list[Array], clock: Clock) -> Lane:
    """Lanes at t = 0, after the first tick of every clock."""
    zero, none = jnp.zeros(x[0].shape[-1:], loop.real), jnp.zeros(x[0].shape[-1:], jnp.int32)
    works = [zero for _ in _work_leaves(loop, x, m)]
    # A guard at or below zero does not count until it has been positive. Exactly at zero its rate decides: falling into the run it
    # fires at once, rising out of it it has been positive. What a first tick makes of a guard at zero is no fall into the run.
    _, falling = loop.guards(zero, x, m, loop.field(m)(zero, x))
    for k in loop.clocks:
        x, m, done = loop.jump(zero, x, m, k, None)
        works = [a + b for a, b in zip(works, done, strict=True)]
    slope = loop.field(m)(zero, x)
    room, rate = loop.guards(zero, x, m, slope)
    room = [armed_room(g, (g > 0) | ((g == 0) & ((f < 0) | (r > 0)))) for g, f, r in zip(room, falling, rate, strict=True)]
    good = finite([*x, *[r for r in slope.x if r is not None], *slope.q, *room])
    full = zero + jnp.asarray(clock.step, loop.real)
    return Lane(
        x=x,
        m=m,
        q=[zero for _ in slope.q],
        room=room,
        least=[room[j] for j in loop.margins],
        jump_work=works,
        extremes=[Extremes(jnp.full_like(zero, np.inf), jnp.full_like(zero, -np.inf)) for _ in loop.track],
        last=Mark(zero, zero, zero, none - I(1)) if loop.travel is not None else None,
        outcome=jnp.where(good, none, I(Outcome.diverged)),
        jumps=none,
        ended=zero,
        cap=None if loop.method.first_fraction is None else full * loop.method.first_fraction,
    )


def _work_leaves(loop: LaneLoop, x: list[Array], m: list[Array]) -> list[Any]:
    for k, event in enumerate(loop.system.events):
        if event.outcome is None:
            leg = next((leg for j, leg in loop.searched if j == k), None)
            return jax.tree.leaves(jax.eval_shape(lambda k=k, leg=leg: loop.jump(loop.zero, x, m, k, leg)[2]))
    return []


def _fresh(moving: Moving) -> Moving:
    """Ready for a whole step."""
    cap = moving.lane.cap
    target = moving.pace if cap is None else jnp.minimum(cap, moving.pace)
    return moving._replace(
        left=moving.pace, target=target, at=jnp.full_like(moving.at, -1), passes=jnp.zeros_like(moving.passes)
    )


def advance(loop: LaneLoop, lane: Lane, clock: Clock, first: Any, count: Any) -> Lane:
    """Steps `first` to `first + count` of a block of lanes."""
    end = first + count
    countdown = tuple(n - lax.rem(first, n) + I(1) for n in clock.tick_steps)  # the attempt of length zero counts as a step too
    pace = jnp.where(lane.outcome == I(0), clock.step, jnp.zeros_like(lane.ended))
    zero, none = jnp.zeros_like(pace), jnp.full_like(lane.outcome, -1)
    # Slopes and rates are not kept between calls: an attempt of length zero finds them, by the code of all attempts.
    flowing = [v for v, held in zip(lane.x, loop.held, strict=True) if not held]
    unknown = ([jnp.zeros_like(v) for v in values] for values in (flowing, lane.q, lane.room))
    start = Moving(lane, *unknown, pace=pace, left=zero, target=zero, at=none, passes=none + I(1))

    def more(state: Any) -> Array:
        i, _, moving = state
        return (i < end) & any_lane(moving.pace > 0)

    def body(state: Any) -> Any:
        i, countdown, now = state
        t = i.astype(loop.real) * clock.step + (now.pace - now.left)
        tried, hit, good = attempt(loop, now, t)
        special = hit | (~good & (now.pace > 0)) | (now.at >= I(0)) | (now.target < now.pace)
        needed = any_lane(special)
        if countdown:
            due = functools.reduce(lambda a, b: a | b, [c == I(1) for c in countdown])
            needed = needed | due

        def plain() -> Any:
            # 1 and 0, but not as literals, which Triton cannot yield. Left, target, at and passes are those of a fresh step already.
            over, ticked = (~needed).astype(jnp.int32), needed.astype(jnp.int32)
            return ((over, ticked) if countdown else (over,)), tried

        def eventful() -> Any:
            return resolve(loop, now, tried, clock, t, hit, good, i, countdown)

        (done, *ticked), now = lax.cond(needed, eventful, plain)
        # After a tick the step may go on for the events it caused: the clock is wound at the tick, and runs at the end of the step.
        wound = tuple(
            jnp.where((c == I(1)) & (ticked[0] > 0), n + I(1), c) - done
            for c, n in zip(countdown, clock.tick_steps, strict=True)
        )
        return i + done, wound, now

    _, _, moving = lax.while_loop(more, body, (jnp.asarray(first, jnp.int32) - I(1), countdown, start))
    return moving.lane


def attempt(loop: LaneLoop, now: Moving, t: Array) -> tuple[Moving, Array, Array]:
    """Every lane by its target, as if nothing happened; whether a guard reached zero on the way; whether the numbers are finite."""
    lane, tau = now.lane, now.target
    stepped = loop.method.step(loop.field(lane.m), t, lane.x, lane.q, loop.slope_of(now), tau, loop.roles)
    room, rate = loop.guards(t + tau, stepped.x, lane.m, stepped.slope)
    hits = [
        ((a > 0) & (b <= 0)) | may_dip(a, ra, b, rb, tau)
        for a, ra, b, rb in zip(lane.room, now.room_rate, room, rate, strict=True)
    ]
    tried = lane._replace(
        x=stepped.x,
        q=stepped.q,
        room=room,
        least=[jnp.minimum(lane.least[n], room[j]) for n, j in enumerate(loop.margins)],
        extremes=_extremes(loop, lane, t + tau, stepped.x),
    )
    hit = either(hits) & (now.at < I(0)) & (tau > 0)
    slope_x = [r for r in stepped.slope.x if r is not None]
    moved = now._replace(lane=tried, slope_x=slope_x, slope_q=stepped.slope.q, room_rate=rate)
    return moved, hit, finite([*stepped.x, *stepped.q, *room])


def _extremes(loop: LaneLoop, lane: Lane, t: Array, x: list[Array]) -> list[Extremes]:
    if not loop.track:
        return []
    values = [loop.full(v, t) for v in loop.tracked(t, loop.struct_x(x), loop.struct_m(lane.m))]
    return [Extremes(jnp.minimum(e.low, v), jnp.maximum(e.high, v)) for e, v in zip(lane.extremes, values, strict=True)]


def resolve(
    loop: LaneLoop,
    now: Moving,
    tried: Moving,
    clock: Clock,
    t: Array,
    hit: Array,
    good: Array,
    i: Array,
    countdown: tuple[Array, ...],
) -> tuple[tuple[Array, ...], Moving]:
    """What becomes of an attempt: accepted, repeated up to an event, or followed by a jump.

    Also whether the step is over for all and, where there are clocks, whether those that were due have ticked.
    """
    after, arriving = _accept(loop, now, tried, hit, good)
    landed = any_lane(arriving)
    after = lax.cond(landed, lambda: _jump(loop, now, after, clock, t + now.target, arriving), lambda: after)
    after = _end(after, ~good & (now.pace > 0), I(Outcome.diverged), t)
    over = ~any_lane((after.left > 0) | (after.at >= I(0)) | arriving)
    t1 = t + now.target
    changed, any_changed, flags = arriving & (after.pace > 0), landed, ()
    if countdown:
        t_next = (i + I(1)).astype(loop.real) * clock.step + jnp.zeros_like(t)
        ticking = over & functools.reduce(lambda a, b: a | b, [c == I(1) for c in countdown])
        after = lax.cond(ticking, lambda: _tick(loop, after, t_next, countdown), lambda: after)
        changed, any_changed, flags = changed | (ticking & (after.pace > 0)), landed | ticking, (ticking.astype(jnp.int32),)
        t1 = jnp.where(ticking, t_next, t1)
    after = lax.cond(any_changed, lambda: _look_again(loop, now, after, clock, t1, changed, arriving), lambda: after)
    if countdown:
        over = over & ~any_lane(after.at >= I(0))  # a tick may have pushed a guard below zero
    return (over.astype(jnp.int32), *flags), pick(over, _fresh(after), after)


def _accept(loop: LaneLoop, now: Moving, tried: Moving, hit: Array, good: Array) -> tuple[Moving, Array]:
    """Lanes that crossed go back and aim at the event; the others keep their attempt. Also says which lanes are at their event."""
    # A dip that was only suspected leaves the fraction at 2, and the attempt stands.
    fraction, which = lax.cond(
        any_lane(hit), lambda: _earliest(loop, now, tried), lambda: (jnp.full_like(now.pace, 2.0), now.at)
    )
    crossed = hit & good & (fraction <= 1.0)
    kept = ~crossed & good
    left = jnp.where(kept, jnp.maximum(now.left - now.target, 0.0), now.left)
    left = jnp.where(left < now.pace * (4 * np.finfo(loop.real).eps), 0.0, left)  # what rounding leaves of a step is nothing
    after = pick(kept, tried, now)
    # An attempt of length zero tells nothing new of which guards count. One that is part of a step arms a guard only beyond what an
    # event is located to: a guard that has just fired may still be above zero by that when the next one follows at once.
    rooms = []
    for a, b, rate in zip(after.lane.room, now.lane.room, after.room_rate, strict=True):
        at_zero = (b <= 0) & (now.target < now.pace) & (a <= AT_ZERO * now.pace * jnp.abs(rate))
        rooms.append(jnp.where(now.target > 0, jnp.where(at_zero, jnp.minimum(a, 0.0), a), b))
    after = after._replace(lane=after.lane._replace(room=rooms))
    whole, cap = left, now.lane.cap
    if cap is not None and loop.method.first_fraction is not None:
        cap = jnp.where(kept & (now.target >= cap), jnp.minimum(cap + loop.method.first_fraction * now.pace, now.pace), cap)
        whole = jnp.minimum(cap, left)
        after = after._replace(lane=after.lane._replace(cap=cap))
    target, at = jnp.where(crossed, fraction * now.target, whole), jnp.where(crossed, which, I(-1))
    return after._replace(left=left, target=target, at=at), good & (now.at >= I(0))


def _earliest(loop: LaneLoop, now: Moving, tried: Moving) -> tuple[Array, Array]:
    """Fraction of the attempt at which the first guard reached zero, and which; ties go in declared order."""
    rows = list(zip(now.lane.room, now.room_rate, tried.lane.room, tried.room_rate, strict=True))

    def look(j: Any, best: tuple[Array, Array]) -> tuple[Array, Array]:
        fraction, which = best
        # The guards are looked at in turn by one piece of code: the compiler's time grows with the square of its length.
        a, ra, b, rb = rows[0]
        for n in range(1, len(rows)):
            a, ra, b, rb = (jnp.where(j == I(n), new, old) for new, old in zip(rows[n], (a, ra, b, rb), strict=True))
        hit = ((a > 0) & (b <= 0)) | may_dip(a, ra, b, rb, now.target)
        s = lax.cond(
            any_lane(hit),
            lambda: jnp.where(hit, first_zero(a, now.target * ra, b, now.target * rb), 2.0),
            lambda: jnp.full_like(a, 2.0),
        )
        sooner = s < fraction
        return jnp.where(sooner, s, fraction), jnp.where(sooner, j, which)

    none = (jnp.full_like(now.pace, 2.0), jnp.full_like(now.at, -1))
    return lax.fori_loop(I(0), I(len(rows)), look, none)


def _end(moving: Moving, ends: Array, outcome: Any, t: Array) -> Moving:
    """The lane stays where it is from here on."""
    lane, zero = moving.lane, jnp.zeros_like(moving.pace)
    stopped = moving._replace(
        lane=lane._replace(outcome=jnp.zeros_like(lane.outcome) + outcome, ended=t + zero),
        pace=zero,
        left=zero,
        target=zero,
        at=jnp.full_like(moving.at, -1),
    )
    return pick(ends, stopped, moving)


def _jump(loop: LaneLoop, before: Moving, after: Moving, clock: Clock, t: Array, arriving: Array) -> Moving:
    """The lanes that are at their event end there, or jump."""
    events, lane = loop.system.events, after.lane
    x, m, work, outcome = lane.x, lane.m, lane.jump_work, jnp.zeros_like(lane.outcome)
    for j, (k, leg) in enumerate(loop.searched):
        mine = arriving & (before.at == I(j))
        if (ending := events[k].outcome) is not None:
            outcome = jnp.where(mine, I(ending), outcome)
            continue
        new_x, new_m, done = loop.jump(t, lane.x, lane.m, k, leg)
        x, m = pick(mine, new_x, x), pick(mine, new_m, m)
        work = [jnp.where(mine, w + d, w) for w, d in zip(work, done, strict=True)]
    jumped, good = arriving & (outcome == I(0)), finite([*x, *work, *_reals(m)])
    moved = lane._replace(x=x, m=m, jump_work=work, last=_mark(loop, lane, x, m, t), jumps=lane.jumps + I(1))
    after = after._replace(lane=pick(jumped & good, moved, lane), passes=jnp.where(jumped, after.passes + I(1), after.passes))
    ends = jnp.where(jumped & (after.passes > I(max(MOST_EVENTS_PER_STEP, 2 * len(loop.searched)))), I(Outcome.zeno), outcome)
    ends = jnp.where(jumped & (after.lane.jumps >= clock.max_jumps), I(Outcome.too_many_jumps), ends)
    ends = jnp.where(jumped & ~good, I(Outcome.diverged), ends)
    return _end(after, arriving & (ends != I(0)), ends, t)


def _mark(loop: LaneLoop, lane: Lane, x: list[Array], m: list[Array], t: Array) -> Mark | None:
    """The last footfall, if this jump was one."""
    if loop.travel is None or lane.last is None:
        return None
    steps = step_count(loop, m)
    mark = Mark(t, loop.full(loop.output(loop.travel.distance, t, x, m), t), motor_work(loop, lane.q), steps)
    return pick(steps > step_count(loop, lane.m), mark, lane.last)


def step_count(loop: LaneLoop, m: list[Array]) -> Array:
    """Footfalls of all sides so far."""
    assert loop.travel is not None
    counters = {name: value for name, value, _ in named_leaves(loop.struct_m(m))}
    return functools.reduce(lambda a, b: a + b, (counters[name].astype(jnp.int32) for name in loop.travel.step_counters))


def motor_work(loop: LaneLoop, q: list[Array]) -> Array:
    """Work through the ports the robot pays for."""
    assert loop.travel is not None
    total = jnp.zeros_like(q[0])
    for name, value in zip(loop.ports, q, strict=False):
        if name in loop.travel.motor_ports:
            total = total + value
    return total


def _tick(loop: LaneLoop, moving: Moving, t: Array, countdown: tuple[Array, ...]) -> Moving:
    """The clocks that are due, for every lane that runs."""
    lane = moving.lane
    x, m, work = lane.x, lane.m, lane.jump_work
    for k, left in zip(loop.clocks, countdown, strict=True):
        due = (left == I(1)) & (moving.pace > 0)
        new_x, new_m, done = loop.jump(t, x, m, k, None)
        x, m = pick(due, new_x, x), pick(due, new_m, m)
        work = [jnp.where(due, w + d, w) for w, d in zip(work, done, strict=True)]
    good = finite([*x, *_reals(m), *work])
    ticked = moving._replace(lane=pick(good, lane._replace(x=x, m=m, jump_work=work), lane))
    return _end(ticked, ~good & (moving.pace > 0), I(Outcome.diverged), t)


def _look_again(
    loop: LaneLoop, before: Moving, after: Moving, clock: Clock, t: Array, changed: Array, arrived: Array
) -> Moving:
    """After a jump or tick: the slope, and which guards count from here.

    The guard that fired and those it restarts count once they are positive again; as long as they are within what an event is located
    to they are at zero, and rising decides. Another guard that counted and is below zero now fires at once.
    """
    lane = after.lane
    slope = loop.field(lane.m)(t, lane.x)
    room, rate = loop.guards(t, lane.x, lane.m, slope)
    slope_x = [r for r in slope.x if r is not None]
    pending, rooms = jnp.full_like(after.at, -1), []
    for j in reversed(range(len(loop.searched))):
        disarmed = arrived & either([before.at == I(i) for i in range(len(loop.searched)) if loop.disarms[i][j]])
        been = (before.lane.room[j] > 0) | (lane.room[j] > 0)
        near = AT_ZERO * clock.step * jnp.maximum(jnp.abs(rate[j]), jnp.abs(after.room_rate[j]))
        # The guard that fired is as near to zero as it could be located, whatever its rate.
        near = jnp.where(before.at == I(j), jnp.maximum(near, 2.0 * jnp.abs(lane.room[j])), near)
        again = (room[j] > near) | ((jnp.abs(room[j]) <= near) & (rate[j] > 0))
        counts = again | (been & ~disarmed)
        rooms.append(armed_room(room[j], counts))
        # One that was already rising from zero (it fired just before) is leaving it, not reaching it.
        leaving = (jnp.abs(room[j]) <= near) & (after.room_rate[j] > 0)
        pending = jnp.where(~disarmed & been & (room[j] <= 0) & ~leaving, I(j), pending)
    # Start-up ends with the first event: what a guard did before it (a foot put down without load) says nothing of the gait.
    first = arrived & (lane.jumps == I(1))
    least = [jnp.minimum(jnp.where(first, np.inf, lane.least[n]), room[j]) for n, j in enumerate(loop.margins)]
    cap = lane.cap
    if cap is not None and loop.method.first_fraction is not None:
        cap = after.pace * loop.method.first_fraction
    whole = after.left if cap is None else jnp.minimum(cap, after.left)
    seen = after._replace(
        lane=lane._replace(room=rooms[::-1], least=least, cap=cap),
        slope_x=slope_x,
        slope_q=slope.q,
        room_rate=rate,
        at=pending,
        target=jnp.where(pending >= I(0), 0.0, whole),
    )
    after = pick(changed, seen, after)
    return _end(after, changed & ~finite([*slope_x, *slope.q, *room]), I(Outcome.diverged), t)
