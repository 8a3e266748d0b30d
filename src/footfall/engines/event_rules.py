"""What an event is, in numbers: one rule for the event engine in JAX and for kernels."""

from typing import Any

import jax.numpy as jnp
import numpy as np

#: A step is looked into at this many equal intervals, so a guard that is negative for longer than
#: one of them is seen.
LOOKS = 16
#: Events are located to this [s].
TIME_TOLERANCE = 1e-13
#: Newton on the event time may stop here [s]: the last step is made along the flow. Its error is
#: the square of this, and that of its tangent this times the curvature of the guard.
LAST_SHIFT = 1e-11
#: After this many Newton steps without success the search bisects.
NEWTON_STEPS = 20
#: This many events in a row, each within ZENO_INTERVAL [s] of the one before, are called Zeno.
ZENO_EVENTS = 48
ZENO_INTERVAL = 1e-8
#: A robot of a batch whose mean step is below CREEP [s] for so many tries gets nowhere.
CREEP, CREEP_TRIES = 1e-10, 1 << 15
#: What a guard falls by counts above so many roundings of the state.
FALLS = 4


def has_room(guard: Any) -> Any:
    """Whether a guard is positive and exists: +inf is that of an event which the mode has not."""
    return (guard > 0) & (guard < np.inf)


def is_number(guard: Any) -> Any:
    """Whether a guard means something: any number, or +inf."""
    return guard > -np.inf


def falls_through(before: Any, after: Any, room: Any, later: Any, size: Any) -> Any:
    """Whether a jump has stopped the guard that fired, and the flow takes it below zero.

    Then nothing holds what the jump has stopped, and the guard will never fire again: a mode in
    which it rests is missing.

    Arguments:
        before, after: the guard's rate on both sides of its own jump.
        room, later: its value after the jump, and a moment (at_start.py) after that.
        size: of the state, whose roundings it may fall by.
    """
    return is_stopped(before, after) & drops(room, later, size)


def is_stopped(before: Any, after: Any) -> Any:
    """Whether a jump has stopped a guard that fell, but for rounding."""
    eps = np.finfo(jnp.result_type(after)).eps
    return (before < 0) & (jnp.abs(after) <= np.sqrt(eps) * -before)


def drops(room: Any, later: Any, size: Any) -> Any:
    """Whether a guard falls by more than the roundings of a state of this size."""
    eps = np.finfo(jnp.result_type(room)).eps
    return later - room < -FALLS * eps * jnp.maximum(1.0, size)
