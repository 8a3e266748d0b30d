"""The time of an event as a function that can be differentiated, again and again.

An event is located under `stop_gradient`, to the last digit but for a shift s of at most LAST_SHIFT
that is made along the flow. As a function of everything else this shift solves

    g(t + s, phi(s)) = 0,   phi(s): the flow from the located state over s,            (gaits.1)

so that by the implicit function theorem ds = -dg / (dg/ds), which holds wherever it is evaluated:
differentiated again it gives the second derivative, and so on. phi is one step of the classical
Runge-Kutta method: over so short a time its value is exact, and because its Taylor series in s is
that of the flow to the fourth order, so are derivatives to the fourth.
"""

from typing import Any

import jax.numpy as jnp
from jax import Array, lax

from footfall.engines.events.packed_system import Loop

#: Nodes and weights of the classical Runge-Kutta method.
_NODES, _WEIGHTS = (0.0, 0.5, 0.5, 1.0), (1 / 6, 1 / 3, 1 / 3, 1 / 6)


def drift(loop: Loop, t: Array, y: Array, m: Any, shift: Array) -> Array:
    """The state a very short time later (or earlier), with derivatives to the fourth order."""

    def stage(before: Array, node: Array) -> tuple[Array, Array]:
        slope = loop.field(node * shift, y + node * shift * before, (loop.system, m, t))
        return slope, slope

    _, slopes = lax.scan(stage, jnp.zeros_like(y), jnp.asarray(_NODES))
    moving = y + shift * jnp.tensordot(jnp.asarray(_WEIGHTS), slopes, 1)
    # The value without the rounding of the sum: a ball that comes to rest notices it.
    value = lax.stop_gradient(y + slopes[0] * shift)
    return value + (moving - lax.stop_gradient(moving))


def own_shift(
    loop: Loop, t: Array, y: Array, m: Any, which: Array, found: Array, falling: Array
) -> Array:
    """How much later than (t, y) guard `which` reaches zero: `found`, with its derivatives.

    Where the guard is not `falling` there is no such time: 0, and no derivative.
    """
    safe = jnp.where(falling, found, 0.0)

    def room(shift: Array) -> Array:
        at = loop.guards(t + shift, drift(loop, t, y, m, shift), m)[which]
        return jnp.where(falling, at, -shift)  # something that has a rate

    return lax.custom_root(room, safe, lambda _, shift: shift, lambda rate, gap: gap / rate(1.0))
