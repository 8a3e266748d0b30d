"""Contract of the motor slot."""

import abc
from typing import ClassVar

import jax.numpy as jnp

from footfall.hybrid.fields import Parametric
from footfall.numerics.scalar import Scalar


class AbstractMotor(Parametric):
    """One motor with its gear, seen from the joint: what torque it gives, and what that costs.

    `has_winding`: whether current and heat mean anything. A robot with several like motors holds
    one of these and asks it for the torque of each.
    """

    has_winding: ClassVar[bool] = False

    @property
    @abc.abstractmethod
    def limit(self) -> Scalar:
        """The largest joint torque."""

    def torque(self, demand: Scalar) -> Scalar:
        """Joint torque delivered when `demand` is asked for."""
        return jnp.clip(demand, -self.limit, self.limit)

    @abc.abstractmethod
    def current(self, torque: Scalar) -> Scalar:
        """Motor current at this joint torque."""

    @abc.abstractmethod
    def heat(self, torque: Scalar) -> Scalar:
        """Power lost in the winding at this joint torque.

        Mechanical power plus this is what the battery gives.
        """
