"""Friction without memory: dry friction smoothed near rest, and none."""

import jax.numpy as jnp

from footfall.hybrid.fields import param
from footfall.machines.parts.friction.base import AbstractDryFriction, AbstractFriction
from footfall.numerics.elementary import tanh
from footfall.numerics.scalar import Scalar


class StribeckFriction(AbstractDryFriction):
    """F = -mu(v) N v / sqrt(v^2 + eps^2), mu(v) of (friction.2)                     (friction.3)

    It never sticks: a foot pushed with P < mu_s N creeps, about as fast as eps P/(mu_s N). Near
    rest it is a damper of mu_s N/eps, which makes a light foot stiff; a smaller eps creeps less and
    costs shorter steps in proportion.
    """

    creep_speed: Scalar = param(
        0.01, unit="m/s", doc="speed eps below which sticking is replaced by creep", gt=0
    )

    def force(self, speed: Scalar, normal: Scalar, bristle: Scalar) -> Scalar:
        del bristle
        eps = self.creep_speed
        return -self.coefficient(speed) * normal * speed / jnp.sqrt(speed * speed + eps * eps)


class TanhFriction(AbstractFriction):
    """F = -mu N tanh(c v)                                                          (friction.10)

    One coefficient, at rest and sliding. It never sticks: near rest it is a damper of mu N c, so a
    foot pushed with P < mu N creeps at artanh(P/(mu N))/c, and an explicit step on a foot of mass m
    must stay below 2 m/(mu N c).
    """

    coefficient: Scalar = param(0.8, doc="coefficient mu", ge=0)
    steepness: Scalar = param(
        50.0, unit="s/m", doc="steepness c: full friction from a few times 1/c on", gt=0
    )

    def force(self, speed: Scalar, normal: Scalar, bristle: Scalar) -> Scalar:
        del bristle
        return -self.coefficient * normal * tanh(self.steepness * speed)


class Frictionless(AbstractFriction):
    """Ice: no force along the ground."""

    def force(self, speed: Scalar, normal: Scalar, bristle: Scalar) -> Scalar:
        del normal, bristle
        return 0.0 * speed
