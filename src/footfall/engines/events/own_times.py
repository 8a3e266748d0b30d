"""Events that one jump makes together, differentiated each at its own time.

A robot may make two events in one jump: two feet that land in the same instant, so that rounding
does not decide which comes first. For derivatives each still has a time of its own, and
between the two the robot flows with only the first of them made:

    x+ = phi+(-d) R phi(d) x,  g(phi(d) x) = 0                                         (gaits.2)

one event after the other, with R its jump, phi the flow before it and phi+ after it, d how late it
is (event_time.py); to the first order that is the saltation matrix. The result is the state at the
time of the event that was located, on the flow that follows all of them. Where the order matters to
it, there is no derivative: its tangent is NaN.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array, lax

from footfall.engines.events.event_time import drift, own_shift
from footfall.engines.events.packed_system import Loop

#: Tangents of the two orders are the same within this share of the largest of them: rounding leaves
#: 1e-10, another order a good part of 1.
SAME_TANGENT = 1e-6
#: s; events this much apart are so by rounding, and the jump is taken as the robot makes it, in
#: one: what is the same on two sides stays so.
SAME_TIME = 1e-15
#: s; events that a robot calls simultaneous are not further apart than this. Else (a guard that
#: hardly moves) only the tangents are theirs.
LATEST = 1e-8


class Jumped(NamedTuple):
    """What a jump leaves."""

    y: Array
    m: Any
    work: Array


class Others(NamedTuple):
    """Events that a jump makes as well."""

    events: Array  #: flat indices of those it may make
    due: Array  #: whether it does
    late: Array  #: s, by which each comes later than the event that was located

    def of(self, event: Any) -> tuple[Array, Array]:
        """Whether this flat event is among them, and how late it is."""
        among = self.due & (self.events == event)
        return jnp.any(among), jnp.sum(jnp.where(among, self.late, 0.0))


def jump(loop: Loop, t: Array, y: Array, m: Any, which: Array) -> tuple[Jumped, Others]:
    """The jump of flat event `which`, with its tangents.

    And those of the events that it makes as well.
    """
    plain = Jumped(*loop.apply_jump(t, y, m, which))
    events, due = _made_together(loop, t, y, m, which)
    if not events.shape[0]:
        return plain, Others(events, due, jnp.zeros(0))
    both = jnp.any(due)
    order = jnp.stack(
        [jnp.concatenate([which[None], events]), jnp.concatenate([events[::-1], which[None]])]
    )
    made = jnp.stack([jnp.concatenate([both[None], due]), jnp.concatenate([due[::-1], both[None]])])
    ways, late = jax.vmap(
        lambda events, made: _one_by_one(loop, t, Jumped(y, m, 0.0 * plain.work), events, made)
    )(order, made)
    leaves, tree = jax.tree.flatten(plain)
    # Value and tangent are to belong together, also for a Newton method that moves the events apart
    # by less than they are called simultaneous.
    apart = jnp.any(due & (jnp.abs(late[0, 1:] - late[0, 0]) > SAME_TIME))
    found = jax.tree.leaves(pick(apart, jax.tree.map(lambda way: way[0], ways), plain))
    reals = [i for i, leaf in enumerate(leaves) if jnp.issubdtype(leaf.dtype, jnp.floating)]
    moving = [jax.tree.leaves(ways)[i] for i in reals] + [
        jnp.stack([late[0, 1:], late[1, :-1][::-1]])
    ]
    values = [
        *(lax.stop_gradient(found[i]) for i in reals),
        lax.stop_gradient(jnp.where(apart & due, late[0, 1:], 0.0)),
    ]
    *moved, late = _moving_as(
        [leaves[i] for i in reals] + [0.0 * late[0, 1:]], values, moving, both
    )
    for i, leaf in zip(reals, moved, strict=True):
        leaves[i] = leaf
    return jax.tree.unflatten(tree, leaves), Others(events, due, late)


def pick(flag: Array, new: Any, old: Any) -> Any:
    """`new` where the flag holds, else `old`, leaf by leaf."""
    return jax.tree.map(lambda a, b: jnp.where(flag, a, b), new, old)


def _made_together(loop: Loop, t: Array, y: Array, m: Any, which: Array) -> tuple[Array, Array]:
    """Flat indices of the events that the jump of `which` may make as well, and whether it does."""
    x, _ = loop.layout.unpack(y)
    with_each = [loop.system.together(t, x, m, k) for k in range(len(loop.system.events))]
    most = max(map(len, with_each))
    events, due = jnp.zeros(most, which.dtype), jnp.zeros(most, bool)
    for k, others in enumerate(with_each):
        for n, (other, happens) in enumerate(others.items()):
            chosen = which == int(loop.first_index[k])
            events = events.at[n].set(jnp.where(chosen, int(loop.first_index[other]), events[n]))
            due = due.at[n].set(jnp.where(chosen, happens, due[n]))
    return events, due


def _one_by_one(
    loop: Loop, t: Array, before: Jumped, events: Array, made: Array
) -> tuple[Jumped, Array]:
    """After these events, one by one, each at its own time.

    As it is at t on the flow after the last of them; and how late each is.
    """

    def event(now: Jumped, turn: tuple[Array, Array]) -> tuple[Jumped, Array]:
        which, happens = turn
        rooms, rates = loop.guard_rates(t, now.y, now.m)
        room, rate = rooms[which], rates[which]
        late = jnp.where(rate < 0, -room / jnp.where(rate < 0, rate, 1.0), 0.0)
        late = lax.stop_gradient(jnp.where(jnp.abs(late) < LATEST, late, 0.0))
        late = own_shift(loop, t, now.y, now.m, which, late, rate < 0)
        y = drift(loop, t, now.y, now.m, late)
        y, m, work = loop.apply_jump(t + late, y, now.m, which, alone=True)
        after = Jumped(drift(loop, t + late, y, m, -late), m, now.work + work)
        return pick(happens, after, now), late

    return lax.scan(event, before, (events, made))


@jax.custom_jvp
def _moving_as(
    plain: list[Array], values: list[Array], ways: list[Array], together: Array
) -> list[Array]:
    """These values, which move as `plain` does, or where `together` holds as both `ways` do (first
    axis): NaN if the two do not agree.
    """
    del plain, ways, together
    return values


@_moving_as.defjvp
def _(primals: Any, tangents: Any) -> Any:
    (plain, values, ways, together), (plain_moved, _, ways_moved, _) = primals, tangents
    both = _agreed(ways_moved)
    moved = [jnp.where(together, new, old) for new, old in zip(both, plain_moved, strict=True)]
    # Called again, so that a second derivative comes back to this rule.
    return _moving_as(plain, values, ways, together), moved


@jax.custom_jvp
def _agreed(ways: list[Array]) -> list[Array]:
    """What two ways (first axis) both are, NaN where they are not the same; so to every order."""
    apart = [jnp.max(jnp.abs(way[0] - way[1]), initial=0.0) for way in ways]
    size = [jnp.max(jnp.abs(way), initial=0.0) for way in ways]
    agree = jnp.stack(apart).max() <= SAME_TANGENT * jnp.stack(size).max()
    return [jnp.where(agree, way[0], jnp.nan) for way in ways]


@_agreed.defjvp
def _(primals: Any, tangents: Any) -> Any:
    return _agreed(*primals), _agreed(*tangents)
