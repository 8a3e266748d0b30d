"""Which guards fire at the start: one rule for the event engine and the step engine.

A robot that starts where its run would end has ended: a foot that pulls, a motor that is
overloaded. But a spoke that has just landed has a force of zero, whatever sign rounding gave it,
and its force rises: so a guard that is positive a moment later is on its way up.

A guard at zero that falls is about to have its event, or has just had it: a ball at the floor is
going to bounce, a runner at its apex has just been there. Its own jump tells: where that leaves the
guard at zero and falling, both sides of the event look alike. Such a start is taken for the one
that textbooks give, just after the event; unless the jump would set something that it leaves alone
the next time (a foot that is down), and that is not set yet.
"""

from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from footfall.hybrid.system import AbstractHybridSystem

#: How far to look ahead [s]: rounding is left behind by then, and no robot does anything in it.
MOMENT = 1e-6
#: A guard this near to zero is at zero, in roundings of what it is made of.
ROUNDINGS = 64


def moment(real: Any) -> float:
    """How far to look in this precision to see the curve of a guard.

    What it gains by that grows with the square of the time.
    """
    return max(MOMENT, 4.0 * float(np.sqrt(np.finfo(real).eps)))


class Started(NamedTuple):
    """What a guard does at the start."""

    fires: Any  #: there ...
    deep: Any  #: ... because it is below zero
    falls: Any  #: through zero, within a microsecond of it on either side
    rounding: Any  #: of the numbers it is made of


def look(room: Any, rate: Any, later: Any, by_state: Any, span: float, ends: Any) -> Started:
    """Whether a guard that is at or below zero at the start fires there.

    Arguments:
        room, rate, later: the guard, its rate, and its value after `span`.
        by_state: what its derivatives by the states come to, each times the state: how large the
            numbers are that it is the difference of.
        ends: of `ends_at_once`.

    It does if it is not leaving zero and either ends the run, or is at zero: it falls by more in a
    microsecond than it is deep. One that is below zero by rounding is at zero, and stays there if
    it does not move. One at zero whose rate is positive leaves it, whatever its curve says: a stiff
    damper bends it within nanoseconds.
    """
    rounding = np.finfo(jnp.result_type(room)).eps * jnp.maximum(1.0, jnp.abs(by_state))
    deep = room < -ROUNDINGS * rounding
    start, share = jnp.where(deep, room, 0.0), MOMENT / span
    # In a microsecond, curved as over the span.
    change = MOMENT * rate + (later - room - span * rate) * share**2
    rises = ~deep & (MOMENT * rate > 4 * rounding)
    leaves = rises | (start + change > 0)
    down = change < -4 * rounding * share**2  # by more than rounding
    falls = (change < start) & down
    fired = (room <= 0) & ~leaves & ((deep & ends) | falls)
    near = jnp.abs(room) <= jnp.maximum(-change, ROUNDINGS * rounding)
    return Started(fired, fired & deep, near & down & ~rises, rounding)


def still_falls(room: Any, rate: Any, rounding: Any) -> Any:
    """Whether a guard's own jump leaves it at zero and falling; `rounding` is that of its start.

    Then a start at which it falls through zero is just after the event.
    """
    near = jnp.abs(room) <= jnp.maximum(MOMENT * jnp.abs(rate), ROUNDINGS * rounding)
    return near & (moment(jnp.result_type(room)) * rate < -4 * rounding)


def could_follow(m: Any, once: Any, twice: Any) -> Any:
    """Whether a discrete state may be that just after a jump, by what one and two make of it.

    What a second jump leaves alone is a mark that the first one set; what it changes is a count.
    """
    return (once != twice) | (m == once)


def has_own_jump(system: AbstractHybridSystem) -> list[bool]:
    """Of each event, whether it is one of the motion: no end of it and no tick."""
    return [event.outcome is None and event.period is None for event in system.events]


def first(fired: Any, deep: Any, any_deep: Any) -> Any:
    """Which of those that fire may go first: a guard at zero waits for one that is below it.

    Which side of zero rounding left it on is not to decide how a run ends.
    """
    return fired & (deep | ~any_deep)


def ends_at_once(system: AbstractHybridSystem) -> list[bool]:
    """Of each event, whether it ends a run that starts without room for it.

    What another event restarts waits, at the start as after that event, just after which a run may
    begin.
    """
    restarted = {name for event in system.events for name in event.restarts}
    return [event.outcome is not None and event.name not in restarted for event in system.events]
