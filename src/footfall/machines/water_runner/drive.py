"""Contract of the drive slot."""

import abc
from typing import ClassVar

from footfall.hybrid.fields import Parametric
from footfall.numerics.scalar import Scalar


class AbstractDrive(Parametric):
    """What turns all cranks of a robot together.

    Through a rigid gear train that keeps their phases.
    """

    #: The cranks' angle and rate are states; otherwise the drive prescribes them.
    free: ClassVar[bool]

    @abc.abstractmethod
    def crank(self, t: Scalar) -> tuple[Scalar, Scalar]:
        """(angle, rate) of the cranks at time t, for a drive that prescribes them."""

    @abc.abstractmethod
    def torque(self, rate: Scalar) -> Scalar:
        """Torque on the cranks at this rate, for a drive that does not."""

    @abc.abstractmethod
    def current(self, rate: Scalar) -> Scalar:
        """Motor current, for a drive that does not."""

    @abc.abstractmethod
    def electrical_power(self, rate: Scalar) -> Scalar:
        """Power drawn from the battery, for a drive that does not."""

    @property
    @abc.abstractmethod
    def inertia(self) -> Scalar:
        """Inertia of the drive as the cranks feel it."""

    @abc.abstractmethod
    def friction(self, rate: Scalar) -> Scalar:
        """Torque lost in its bearings."""
