"""What happens to lanes at an event, at a tick of a clock, and at their end.

And which guards count afterwards.
"""

import functools
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from footfall.engines import at_start
from footfall.engines.event_rules import drops, is_stopped
from footfall.engines.lanes import lane_bounds
from footfall.engines.lanes.lane_loop import (
    I,
    LaneLoop,
    any_lane,
    armed_room,
    either,
    finite,
    numbers,
    pick,
    reals,
)
from footfall.engines.lanes.lane_state import Clock, Lane, Mark, Moving
from footfall.engines.lanes.step_methods import Slope
from footfall.hybrid.flatten import named_leaves
from footfall.hybrid.outcome import Outcome

#: More events than this in one step, and than twice for each guard (forty legs may land at once),
#: end a lane as Zeno.
MOST_EVENTS_PER_STEP = 8
#: An event is located to this fraction of a step: a guard that fired is at zero as long as it is
#: within it.
AT_ZERO = 1e-3


def end(moving: Moving, ends: Array, outcome: Any, t: Array) -> Moving:
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


def jump(
    loop: LaneLoop, before: Moving, after: Moving, clock: Clock, t: Array, arriving: Array
) -> Moving:
    """The lanes that are at their event end there, or jump."""
    events, lane = loop.system.events, after.lane
    x, m, work, outcome, through = (
        lane.x,
        lane.m,
        lane.jump_work,
        jnp.zeros_like(lane.outcome),
        lane.through,
    )
    for j, (k, leg) in enumerate(loop.searched):
        mine = arriving & (before.at == I(j))
        if (ending := events[k].outcome) is not None:
            outcome = jnp.where(mine, I(ending), outcome)
            continue
        new_x, new_m, done = loop.jump(t, lane.x, lane.m, k, leg)
        x, m = pick(mine, new_x, x), pick(mine, new_m, m)
        work = [jnp.where(mine, w + d, w) for w, d in zip(work, done, strict=True)]
        through = jnp.where(
            mine, functools.reduce(lambda a, d: a + jnp.abs(d), done, through), through
        )
    jumped, good = arriving & (outcome == I(0)), finite([*x, *work, *reals(m)])
    moved = lane._replace(
        x=x,
        m=m,
        jump_work=work,
        stored=loop.stores(t, x, m),
        through=through,
        last=mark(loop, lane._replace(jump_work=work), x, m, t),
        jumps=lane.jumps + I(1),
    )
    after = after._replace(
        lane=pick(jumped & good, moved, lane),
        passes=jnp.where(jumped, after.passes + I(1), after.passes),
    )
    ends = jnp.where(
        jumped & (after.passes > I(max(MOST_EVENTS_PER_STEP, 2 * len(loop.searched)))),
        I(Outcome.zeno),
        outcome,
    )
    ends = jnp.where(
        jumped & (after.lane.jumps >= clock.max_jumps), I(Outcome.too_many_jumps), ends
    )
    ends = jnp.where(jumped & ~good, I(Outcome.diverged), ends)
    return end(after, arriving & (ends != I(0)), ends, t)


def mark(loop: LaneLoop, lane: Lane, x: list[Array], m: list[Array], t: Array) -> Mark | None:
    """The last footfall, if this jump was one."""
    if loop.travel is None or lane.last is None:
        return None
    here = mark_here(loop, lane, x, m, t)
    return pick(here.steps > step_count(loop, lane.m), here, lane.last)


def mark_here(loop: LaneLoop, lane: Lane, x: list[Array], m: list[Array], t: Array) -> Mark:
    """Where the robot stands in a state, with the integrals of the lane."""
    travel = loop.travel
    assert travel is not None
    outputs = loop.system.outputs(t, loop.struct_x(x), loop.struct_m(m))
    seen = {name: value for name, value, _ in named_leaves(outputs)}
    counts = _side_counts(loop, m)
    return Mark(
        t,
        loop.full(seen[travel.distance], t),
        motor_work(loop, lane),
        step_count(loop, m),
        None if travel.heading is None else loop.full(seen[travel.heading], t),
        counts if len(counts) > 1 else (),
        tuple(lane.q[len(loop.ports) :]),
    )


def no_mark(loop: LaneLoop, zero: Array, none: Array) -> Mark | None:
    """Of a lane that has not put a foot down; `zero` and `none` are 0, real and whole."""
    if loop.travel is None:
        return None
    sides = len(loop.travel.step_counters)
    return Mark(
        zero,
        zero,
        zero,
        none - I(1),
        None if loop.travel.heading is None else zero,
        (none,) * sides if sides > 1 else (),
        (zero,) * (2 * len(loop.track)),
    )


def step_count(loop: LaneLoop, m: list[Array]) -> Array:
    """Footfalls of all sides so far."""
    return functools.reduce(lambda a, b: a + b, _side_counts(loop, m))


def _side_counts(loop: LaneLoop, m: list[Array]) -> tuple[Array, ...]:
    assert loop.travel is not None
    counters = {name: value for name, value, _ in named_leaves(loop.struct_m(m))}
    return tuple(counters[name].astype(jnp.int32) for name in loop.travel.step_counters)


def motor_work(loop: LaneLoop, lane: Lane) -> Array:
    """Work the robot pays for, through ports and at jumps."""
    assert loop.travel is not None
    total = jnp.zeros_like(lane.through)
    for names, values in ((loop.ports, lane.q), (loop.works, lane.jump_work)):
        for name, value in zip(names, values, strict=False):
            if name in loop.travel.motor_ports:
                total = total + value
    return total


def tick(loop: LaneLoop, moving: Moving, t: Array, countdown: tuple[Array, ...]) -> Moving:
    """The clocks that are due, for every lane that runs."""
    lane = moving.lane
    x, m, work, through = lane.x, lane.m, lane.jump_work, lane.through
    for k, left in zip(loop.clocks, countdown, strict=True):
        due = (left == I(1)) & (moving.pace > 0)
        new_x, new_m, done = loop.jump(t, x, m, k, None)
        x, m = pick(due, new_x, x), pick(due, new_m, m)
        work = [jnp.where(due, w + d, w) for w, d in zip(work, done, strict=True)]
        through = jnp.where(
            due, functools.reduce(lambda a, d: a + jnp.abs(d), done, through), through
        )
    good = finite([*x, *reals(m), *work])
    new = lane._replace(x=x, m=m, jump_work=work, stored=loop.stores(t, x, m), through=through)
    ticked = moving._replace(lane=pick(good, new, lane))
    return end(ticked, ~good & (moving.pace > 0), I(Outcome.diverged), t)


def look_again(
    loop: LaneLoop,
    before: Moving,
    after: Moving,
    clock: Clock,
    t: Array,
    changed: Array,
    arrived: Array,
) -> Moving:
    """After a jump or tick: the slope, and which guards count from here.

    The guard that fired and those it restarts count once they are positive again; as long as they
    are within what an event is located to they are at zero, and rising decides. Another guard that
    counted and is below zero now fires at once.
    """
    lane = after.lane
    slope = loop.field(lane.m)(t, lane.x)
    room, rate = loop.guards(t, lane.x, lane.m, slope)
    slope_x = [r for r in slope.x if r is not None]
    pending, rooms, stopped = jnp.full_like(after.at, -1), [], []
    for j in reversed(range(len(loop.searched))):
        disarmed = arrived & either(
            [before.at == I(i) for i in range(len(loop.searched)) if loop.disarms[i][j]]
        )
        been = (before.lane.room[j] > 0) | (lane.room[j] > 0)
        near = AT_ZERO * clock.step * jnp.maximum(jnp.abs(rate[j]), jnp.abs(after.room_rate[j]))
        # The guard that fired is as near to zero as it could be located, whatever its rate.
        near = jnp.where(before.at == I(j), jnp.maximum(near, 2.0 * jnp.abs(lane.room[j])), near)
        again = (room[j] > near) | ((jnp.abs(room[j]) <= near) & (rate[j] > 0))
        counts = (again | (been & ~disarmed)) & (room[j] < np.inf)  # what the mode has
        fired = arrived & (before.at == I(j)) & (jnp.abs(room[j]) <= near)
        stopped.append(fired & is_stopped(after.room_rate[j], rate[j]))
        rooms.append(armed_room(room[j], counts))
        # One that was already rising from zero (it fired just before) is leaving it, not reaching
        # it; so is one that had room and that the jump left at zero and rising: the force of a
        # spoke that has just landed.
        risen = (after.room_rate[j] > 0) | ((rate[j] > 0) & (lane.room[j] > near))
        leaving = (jnp.abs(room[j]) <= near) & risen
        pending = jnp.where(~disarmed & been & (room[j] <= 0) & ~leaving, I(j), pending)
    # Start-up ends with the first event: what a guard did before it (a foot put down without load)
    # says nothing of the gait.
    first = arrived & (lane.jumps == I(1))
    least = [
        jnp.minimum(jnp.where(first, np.inf, lane.least[n]), room[j])
        for n, j in enumerate(loop.margins)
    ]
    cap = lane.cap
    if cap is not None and loop.method.first_fraction is not None:
        # A tick starts no fast transient.
        cap = jnp.where(arrived, after.pace * loop.method.first_fraction, cap)
    whole = after.left if cap is None else jnp.minimum(cap, after.left)
    seen = after._replace(
        lane=lane._replace(
            room=rooms[::-1],
            least=least,
            cap=cap,
            watch=lane_bounds.jumped(loop, before.lane.m, lane, t),
        ),
        slope_x=slope_x,
        slope_q=slope.q,
        room_rate=rate,
        at=pending,
        target=jnp.where(pending >= I(0), 0.0, whole),
    )
    after = pick(changed, seen, after)
    through = fallen_through(loop, t, lane.x, lane.m, slope, room, stopped[::-1])
    after = end(after, changed & through & (after.pace > 0), I(Outcome.not_held), t)
    good = finite([*slope_x, *slope.q, *numbers(room)])
    return end(after, changed & ~good, I(Outcome.diverged), t)


def fallen_through(
    loop: LaneLoop,
    t: Array,
    x: list[Array],
    m: list[Array],
    slope: Slope,
    room: list[Array],
    stopped: list[Array],
) -> Array:
    """Lanes whose flow takes a guard below zero that its own jump has stopped.

    See event_rules.falls_through; looked for only where a jump has stopped one: few do.
    """
    span = loop.real(at_start.moment(loop.real))

    def moved(by: Any, rates: Slope) -> list[Array]:
        return [v if r is None else v + by * r for v, r in zip(x, rates.x, strict=True)]

    def looked() -> Array:
        half = loop.real(0.5) * span
        middle = loop.field_once(m)(t + half, moved(half, slope))
        later = loop.rooms_once(t + span, moved(span, middle), m)
        sizes = [jnp.abs(v) if v.ndim == 1 else jnp.max(jnp.abs(v), axis=0) for v in x]
        size = functools.reduce(jnp.maximum, sizes)
        guards = zip(stopped, room, later, strict=True)
        return either([s & drops(g, b, size) for s, g, b in guards])

    any_stopped = either(stopped)
    return lax.cond(any_lane(any_stopped), looked, lambda: jnp.zeros_like(any_stopped))
