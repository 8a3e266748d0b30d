"""The law of Hunt and Crossley.

Two round bodies that press into each other, damped in proportion to their force.
"""

import jax.numpy as jnp

from footfall.hybrid.fields import param
from footfall.machines.parts.contact.base import AbstractContact
from footfall.numerics.scalar import Scalar


class HuntCrossleyContact(AbstractContact):
    """F = max(0, k d^(3/2) (1 + c d_dot)) for depth d > 0, else 0                    (contact.4)

    Hertz's spring of two spheres. Force and damping start from zero at the surface; a free mass
    bounces as on the cubic law: c alone sets how high (Hunt and Crossley 1975, with c = 3/2 of
    their alpha for small speeds).
    """

    stiffness: Scalar = param(
        2e5, unit="N/m^1.5", doc="stiffness k of the spring of power 3/2", gt=0
    )
    damping: Scalar = param(
        1.0, unit="s/m", doc="damping c, as a share of the spring's force per speed", ge=0
    )

    def force(self, depth: Scalar, depth_rate: Scalar) -> Scalar:
        return self._spring_force(depth) * jnp.maximum(1.0 + self.damping * depth_rate, 0.0)

    def energy(self, depth: Scalar) -> Scalar:
        return 0.4 * self._spring_force(depth) * depth

    def loss(self, depth: Scalar, depth_rate: Scalar) -> Scalar:
        return self._spring_force(depth) * depth_rate * jnp.maximum(self.damping * depth_rate, -1.0)

    def _spring_force(self, depth: Scalar) -> Scalar:
        inside = depth > 0
        safe = jnp.where(inside, depth, 1.0)  # the root has no derivative at zero
        return jnp.where(inside, self.stiffness * safe * jnp.sqrt(safe), 0.0)
