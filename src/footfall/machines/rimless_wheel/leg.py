"""Contract of a leg that is compliant along its own axis."""

import abc

from footfall.hybrid.fields import Parametric, param
from footfall.numerics.scalar import Scalar


class AbstractCompliantLeg(Parametric):
    """A massless leg from foot to hub, with an axial force.

    The force depends on its length and the rate of it.

    Callers may rely on: `force(l, v) = -d energy/dl - f_d` with `f_d * v = loss(l, v) >= 0`, and
    energy 0 at rest length.
    """

    rest_length: Scalar = param(0.26, unit="m", doc="length at zero force", gt=0)

    @abc.abstractmethod
    def force(self, length: Scalar, rate: Scalar) -> Scalar:
        """Axial force, positive in compression: it pushes the hub away from the foot."""

    @abc.abstractmethod
    def energy(self, length: Scalar) -> Scalar:
        """Energy stored at this length."""

    @abc.abstractmethod
    def loss(self, length: Scalar, rate: Scalar) -> Scalar:
        """Power turned into heat, never negative."""
