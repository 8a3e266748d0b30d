"""Legs with a spring and a damper side by side."""

from footfall.hybrid.fields import param
from footfall.machines.rimless_wheel.leg import AbstractCompliantLeg
from footfall.numerics.scalar import Scalar


class SpringLeg(AbstractCompliantLeg):
    """Linear spring and viscous damper: F = -k (l - l0) - c l_dot."""

    stiffness: Scalar = param(15000.0, unit="N/m", doc="axial stiffness k", gt=0)
    damping: Scalar = param(400.0, unit="N s/m", doc="axial damping c", ge=0)

    def force(self, length: Scalar, rate: Scalar) -> Scalar:
        return -self.stiffness * (length - self.rest_length) - self.damping * rate

    def energy(self, length: Scalar) -> Scalar:
        stretch = length - self.rest_length
        return 0.5 * self.stiffness * stretch * stretch

    def loss(self, length: Scalar, rate: Scalar) -> Scalar:
        del length
        return self.damping * rate * rate


class StiffeningLeg(AbstractCompliantLeg):
    """A spring that grows stiffer with deflection, as rubber does.

    F = -k s (1 + (s/s2)^2) - c l_dot, s = l - l0.
    """

    stiffness: Scalar = param(15000.0, unit="N/m", doc="stiffness k for small deflection", gt=0)
    doubling_deflection: Scalar = param(
        0.01, unit="m", doc="deflection s2 at which the force is twice the linear one", gt=0
    )
    damping: Scalar = param(400.0, unit="N s/m", doc="axial damping c", ge=0)

    def force(self, length: Scalar, rate: Scalar) -> Scalar:
        stretch = length - self.rest_length
        ratio = stretch / self.doubling_deflection
        return -self.stiffness * stretch * (1.0 + ratio * ratio) - self.damping * rate

    def energy(self, length: Scalar) -> Scalar:
        stretch = length - self.rest_length
        ratio = stretch / self.doubling_deflection
        return 0.5 * self.stiffness * stretch * stretch * (1.0 + 0.5 * ratio * ratio)

    def loss(self, length: Scalar, rate: Scalar) -> Scalar:
        del length
        return self.damping * rate * rate
