"""Where in a fixed step a guard reaches zero.

On the cubic through its values and rates at both ends. No trigonometry, no branches.
"""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

#: Newton steps on the cubic (4 do, as a rule); a bisection takes the place of one that leaves the
#: bracket.
NEWTON_STEPS = 10


def may_dip(g0: Array, r0: Array, g1: Array, r1: Array, tau: Array) -> Array:
    """Whether an armed guard may have been at zero inside a step and positive at its end.

    Falling, then rising, tangents meeting below.

    The tangents g0 + r0 s and g1 + r1 (s - tau) meet at height (r0 (g1 - r1 tau) - r1 g0) / (r0 -
    r1), and r0 - r1 is negative here.
    """
    return (g0 > 0) & (r0 < 0) & (r1 > 0) & (r0 * (g1 - r1 * tau) >= r1 * g0)


def first_zero(g0: Array, m0: Array, g1: Array, m1: Array) -> Array:
    """Fraction of the step at which an armed guard is first at zero; 2 when it is not.

    m0, m1 are the rates times the step's length. A guard that is armed is positive (by how little
    does not matter) at the start.
    """
    c2, c3 = 3.0 * (g1 - g0) - 2.0 * m0 - m1, 2.0 * (g0 - g1) + m0 + m1
    one = jnp.ones_like(g0)
    # The first minimum of the cubic, where it has one inside: m0 + 2 c2 s + 3 c3 s^2 = 0 in the
    # form that does not cancel.
    discriminant = c2 * c2 - 3.0 * c3 * m0
    root = c2 + jnp.sqrt(jnp.maximum(discriminant, 0.0))
    lowest = jnp.where((discriminant > 0) & (root > 0), -m0 / jnp.where(root > 0, root, one), 2.0)
    inside = (lowest > 0) & (lowest < 1)
    depth = g0 + lowest * (m0 + lowest * (c2 + lowest * c3))
    crosses, dips = g1 <= 0, inside & (depth <= 0)
    end = jnp.where(dips, jnp.where(inside, lowest, one), one)
    below = jnp.where(dips, depth, g1)
    # Rounding must not throw a converged step to the middle.
    tolerance = np.dtype(g0.dtype).type(32 * np.finfo(g0.dtype).eps)

    def body(_: Any, state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        low, high, s = state
        value, slope = g0 + s * (m0 + s * (c2 + s * c3)), m0 + s * (2.0 * c2 + 3.0 * s * c3)
        low, high = jnp.where(value > 0, s, low), jnp.where(value > 0, high, s)
        newton = s - value / jnp.where(slope == 0, one, slope)
        # Falling only: a guard that leaves zero upwards has a root at its start, and that is not
        # the one.
        good = (newton >= low - tolerance) & (newton <= high + tolerance) & (slope < 0)
        return low, high, jnp.where(good, newton, 0.5 * (low + high))

    # The chord; or, for a guard that rises first (it has just been at zero), where the cubic is
    # back at the height it started from.
    fall = jnp.sqrt(jnp.maximum(c2 * c2 - 4.0 * c3 * m0, 0.0)) - c2
    chord = end * g0 / jnp.where(g0 > below, g0 - below, one)
    guess = jnp.where((m0 > 0) & (fall > 0), 2.0 * m0 / jnp.where(fall > 0, fall, one), chord)
    start = (jnp.zeros_like(g0), end, jnp.minimum(guess, end))
    # A fixed number of turns: to ask whether every lane is done costs as much as one.
    _, _, s = lax.fori_loop(np.int32(0), np.int32(NEWTON_STEPS), body, start)
    return jnp.where(crosses | dips, jnp.clip(s, 0.0, 1.0), 2.0)
