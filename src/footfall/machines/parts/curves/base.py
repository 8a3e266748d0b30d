"""Contract of the curve slot."""

import abc

import jax
import jax.numpy as jnp

from footfall.hybrid.fields import Parametric
from footfall.numerics.scalar import Scalar


class AbstractPhaseCurve(Parametric):
    """A number commanded over the phase of a step, in SI units of what the robot takes it for.

    The phase goes from 0 to 1 as the step does; what it is made of (an angle, a clock) is the
    robot's to say. Callers may rely on: a finite value at any phase, continuous in it, constant or
    periodic beyond 0 and 1. Only `value` must be written.
    """

    @abc.abstractmethod
    def value(self, phase: Scalar) -> Scalar:
        """What is commanded there."""

    def slope(self, phase: Scalar) -> Scalar:
        """Its derivative by the phase."""
        phase = jnp.asarray(phase, float)
        return jax.jvp(self.value, (phase,), (jnp.ones_like(phase),))[1]
