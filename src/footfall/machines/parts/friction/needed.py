"""What a foot that does not slip needs of its ground."""

import jax.numpy as jnp

from footfall.hybrid.fields import signal
from footfall.hybrid.frame import Foot
from footfall.numerics.scalar import Scalar

#: N; a foot that is pressed down by less carries nothing: it has just been put down.
UNLOADED = 1e-6


class RollingFoot(Foot):
    """A foot that sticks, and what the ground must be for that."""

    friction_needed: Scalar = signal(
        0.0, doc="coefficient of friction without which it slips; 0 while nothing presses it down"
    )


def friction_needed(along: Scalar, normal: Scalar) -> Scalar:
    """|force along the ground| over the force normal to it."""
    pressed = normal > UNLOADED
    return jnp.where(pressed, jnp.abs(along) / jnp.where(pressed, normal, 1.0), 0.0)
