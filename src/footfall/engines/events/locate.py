"""Which guard reaches zero first, and when.

Looking into a step, and searching the event that was seen.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from footfall.engines.event_rules import LAST_SHIFT, LOOKS, NEWTON_STEPS, has_room
from footfall.engines.events.loop_state import Carry, March, Search
from footfall.engines.events.packed_system import Loop


def locate(loop: Loop, c: Carry, walked: March, pending: Array) -> Search:
    """The earliest zero of an armed guard after c.t, re-integrating from c.t at every try.

    The last try's state is kept.
    """
    stop, zero = lax.stop_gradient, jnp.zeros(())

    def body(f: Search) -> Search:
        tau = stop(f.target)
        s = loop.solver_step(c, tau)
        t1 = c.t + tau
        g, rate = stop(loop.guard_rates(t1, s.y, c.m))
        crossed = c.armed & (g <= 0)
        some = jnp.any(crossed)
        # Newton step of each guard that matters: of those crossed the one crossed longest ago, else
        # the next to cross. Times, not guard values, are compared: a metre is not less than a
        # newton.
        relevant = jnp.where(some, crossed, c.armed & (rate < 0))
        newton = jnp.where(
            relevant, jnp.where(rate < 0, -g / jnp.where(rate < 0, rate, 1.0), -jnp.inf), jnp.inf
        )
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
            done=close
            | shut,  # shut without a crossing: the look was wrong, and the step up to here stands
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
        tau=zero,
        target=guess * walked.tau,
        low=zero,
        high=high * walked.tau,
        tries=zero_i,
        done=pending | ~walked.crossing,
        hit=no,
        y=c.y,
        solver_state=c.solver_state,
        dense=empty.dense,
        which=zero_i,
    )
    return lax.while_loop(lambda f: ~f.done, body, first)


def hermite(y0: Array, slope0: Array, y1: Array, slope1: Array, f: Any) -> Array:
    """Cubic through both ends of a step with their slopes (times its length), at fraction f."""
    rise = y1 - y0
    return (1 - f) * y0 + f * y1 + f * (1 - f) * ((1 - f) * (slope0 - rise) + f * (rise - slope1))


def least_between(y0: Array, slope0: Array, y1: Array, slope1: Array) -> Array:
    """Least value of such a cubic, inside or at an end, with its derivatives.

    Where it lies inside, the slope there is zero: that it moves changes nothing.
    """
    y0, slope0, y1, slope1 = (
        jnp.where(y0 + y1 < jnp.inf, v, 1.0) for v in (y0, slope0, y1, slope1)
    )
    rise = y1 - y0
    first, last = slope0 - rise, rise - slope1
    # Its slope: 3 (first - last) f^2 + b f + slope0; the root at which that rises.
    b = 2.0 * last - 4.0 * first
    square = b * b - 12.0 * (first - last) * slope0
    below = b + jnp.sqrt(jnp.where(square > 0, square, 1.0))
    inside = (square > 0) & (slope0 < 0) & (below > 0)
    f = jnp.where(inside, -2.0 * slope0 / jnp.where(below > 0, below, 1.0), 0.0)
    f = lax.stop_gradient(jnp.where(f < 1.0, f, 1.0))
    return jnp.minimum(jnp.minimum(y0, y1), hermite(y0, slope0, y1, slope1, f))


def seen_too_coarsely(looked: Array, middle: Array, armed: Array) -> Array:
    """Whether an armed guard came too near to zero for the looks that were taken.

    They were taken on a cubic, which cannot tell then.

    A cubic through the ends with their slopes errs most half-way, where the solver's own
    interpolant shows by how much.
    """
    gap = jnp.abs(looked[LOOKS // 2] - middle)
    least = jnp.min(looked[1:], axis=0)
    return jnp.any(armed & (least > 0) & (least < 2.0 * gap))


def until_armed(looked: Array, w: March, tau: Array) -> Array:
    """Fraction of a step to take instead, so that it ends where a guard arms.

    For a guard that would rise and fall again inside the step.

    1 when nothing does. Only what is armed at a step's start can be located in it, so the step is
    cut where the guard is seen positive. One that was left at zero rising, and is not seen above it
    at all, rose and fell before the first look.
    """
    # What is unarmed at the start counts as at zero there, whatever its sign.
    positive = has_room(looked[1:])
    rose = jnp.where(jnp.any(positive, axis=0), jnp.argmax(positive, axis=0), LOOKS)
    below = looked[1:] <= 0
    newly = jnp.any((jnp.arange(LOOKS)[:, None] > rose) & below & ~w.armed, axis=1)
    known = jnp.any(below & w.armed, axis=1)
    first_new = jnp.where(jnp.any(newly), jnp.argmax(newly), LOOKS)
    first_known = jnp.where(jnp.any(known), jnp.argmax(known), LOOKS)
    cut = jnp.where((first_new < LOOKS) & (first_new <= first_known), first_new / LOOKS, 1.0)
    hidden = jnp.any((w.rising > 0) & (w.guards + w.rising * tau / LOOKS > 0) & (looked[1] <= 0))
    return jnp.where(hidden, 0.1, cut)


def first_guess(looked: Array, armed: Array) -> tuple[Array, Array]:
    """Where the earliest crossing of an armed guard seems to be, as fractions of the step.

    And the look that saw it.
    """
    below = (looked[1:] <= 0) & armed
    seen = jnp.any(below, axis=0)
    first = jnp.argmax(below, axis=0)  # of each guard
    column = jnp.arange(looked.shape[1])
    before, after = looked[first, column], looked[first + 1, column]
    # Inverse quadratic interpolation through a third look, the one before (after, in the first
    # interval); else the chord.
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
