"""Ground as a spring and a damper side by side: the law of the centipede's source."""

import jax.numpy as jnp

from footfall.hybrid.fields import param
from footfall.machines.parts.contact.base import AbstractContact
from footfall.numerics.scalar import Scalar


class ViscoelasticContact(AbstractContact):
    """F = max(0, k d + c d_dot) for depth d > 0, else 0                              (contact.3)

    The damper acts at once: a foot that arrives at speed v feels c v at the surface, so the force
    jumps there. What is pulled out faster than k d/c feels no force, and its share of the spring's
    energy is lost.
    """

    stiffness: Scalar = param(5000.0, unit="N/m", doc="stiffness k", gt=0)
    damping: Scalar = param(10.0, unit="N s/m", doc="damping c", ge=0)

    def force(self, depth: Scalar, depth_rate: Scalar) -> Scalar:
        inside = jnp.maximum(depth, 0.0)
        return jnp.where(
            depth > 0, jnp.maximum(self.stiffness * inside + self.damping * depth_rate, 0.0), 0.0
        )

    def energy(self, depth: Scalar) -> Scalar:
        inside = jnp.maximum(depth, 0.0)
        return 0.5 * self.stiffness * inside * inside

    def loss(self, depth: Scalar, depth_rate: Scalar) -> Scalar:
        """(F - k d) d_dot.

        A product of two factors of one sign, also where the force is clipped.
        """
        spring = self.stiffness * jnp.maximum(depth, 0.0)
        return jnp.where(
            depth > 0, depth_rate * jnp.maximum(self.damping * depth_rate, -spring), 0.0
        )
