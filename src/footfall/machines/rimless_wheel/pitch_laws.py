"""Pitch laws: PID, a constant torque, and none."""

import jax.numpy as jnp

from footfall.hybrid.fields import param
from footfall.machines.rimless_wheel.pitch_controller import AbstractPitchController
from footfall.numerics.scalar import Scalar


class PitchPid(AbstractPitchController):
    """T = Kp e + Ki xi - Kd rate, xi_dot = e.

    The derivative acts on the measurement, so a new set point gives no kick.
    """

    proportional: Scalar = param(20.0, unit="N m/rad", doc="gain Kp", ge=0)
    integral: Scalar = param(40.0, unit="N m/rad/s", doc="gain Ki", ge=0)
    derivative: Scalar = param(1.0, unit="N m s/rad", doc="gain Kd", ge=0)
    integral_limit: Scalar | None = param(
        None, unit="N m", doc="largest torque of the integral part; none when not given", gt=0
    )

    def torque(self, error: Scalar, rate: Scalar, integral: Scalar) -> Scalar:
        return self.proportional * error + self.integral * integral - self.derivative * rate

    def integral_rate(self, error: Scalar, integral: Scalar) -> Scalar:
        if self.integral_limit is None:
            return error
        part = self.integral * integral
        winding_up = (part >= self.integral_limit) & (error > 0) | (
            part <= -self.integral_limit
        ) & (error < 0)
        return jnp.where(winding_up, 0.0, error)


class ConstantTorque(AbstractPitchController):
    """The same torque whatever happens."""

    value: Scalar = param(1.2, unit="N m", doc="torque on the torso, positive drives forward")

    def torque(self, error: Scalar, rate: Scalar, integral: Scalar) -> Scalar:
        del rate, integral
        return self.value + 0.0 * error

    def integral_rate(self, error: Scalar, integral: Scalar) -> Scalar:
        del integral
        return 0.0 * error


class Passive(AbstractPitchController):
    """No torque: the motors are switched off and turn freely."""

    def torque(self, error: Scalar, rate: Scalar, integral: Scalar) -> Scalar:
        del rate, integral
        return 0.0 * error

    def integral_rate(self, error: Scalar, integral: Scalar) -> Scalar:
        del integral
        return 0.0 * error
