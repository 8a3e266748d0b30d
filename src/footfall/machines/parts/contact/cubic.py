"""The ground of the water runner.

A spring that stiffens with the square of the depth, damped in proportion to its force.
"""

import jax.numpy as jnp

from footfall.hybrid.fields import param
from footfall.machines.parts.contact.base import AbstractContact
from footfall.numerics.scalar import Scalar


class CubicContact(AbstractContact):
    """F = max(0, k d^3 (1 + c d_dot)) for depth d > 0, else 0                        (contact.2)

    Force, stiffness and damping all start from zero at the surface, so touch-down is smooth. A free
    mass that hits at v_i leaves at v_o with c (v_i + v_o) = ln[(1 + c v_i)/(1 - c v_o)], whatever k
    and its mass: c alone sets the bounce, and none leaves faster than 1/c. What is pulled out
    faster than that feels no force, and its share of the spring's energy is lost. Soft on purpose:
    the default gives by 1 to 2 mm under the loads of a 60 g robot.
    """

    stiffness: Scalar = param(2.5e8, unit="N/m^3", doc="stiffness k of the cubic spring", gt=0)
    damping: Scalar = param(
        1.0, unit="s/m", doc="damping c, as a share of the spring's force per speed", ge=0
    )

    def force(self, depth: Scalar, depth_rate: Scalar) -> Scalar:
        return self._spring_force(depth) * jnp.maximum(1.0 + self.damping * depth_rate, 0.0)

    def energy(self, depth: Scalar) -> Scalar:
        return 0.25 * self._spring_force(depth) * depth

    def loss(self, depth: Scalar, depth_rate: Scalar) -> Scalar:
        """(F - k d^3) d_dot.

        A product of two factors of one sign, also where the force is clipped.
        """
        return self._spring_force(depth) * depth_rate * jnp.maximum(self.damping * depth_rate, -1.0)

    def _spring_force(self, depth: Scalar) -> Scalar:
        inside = jnp.maximum(depth, 0.0)
        return self.stiffness * inside * inside * inside
