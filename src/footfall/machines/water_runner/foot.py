"""Contract of the foot slot."""

import abc
from typing import ClassVar, NamedTuple

from footfall.hybrid.fields import Parametric
from footfall.machines.water_runner.wet_disc import NO_LOAD, Medium, WaterLoad
from footfall.numerics.scalar import Scalar


class FootPoint(NamedTuple):
    """The end F of a leg: place, velocity, unit vector u up the leg, rate of the leg's angle."""

    x: Scalar
    y: Scalar
    vx: Scalar
    vy: Scalar
    ux: Scalar
    uy: Scalar
    rate: Scalar


class Hinge(NamedTuple):
    """Deflection of a foot and its rate; zero for a foot without a hinge."""

    angle: Scalar = 0.0
    rate: Scalar = 0.0


class Tip(NamedTuple):
    """The point of a foot that meets hard ground."""

    x: Scalar
    y: Scalar
    vx: Scalar
    vy: Scalar


class AbstractFoot(Parametric):
    """What is fixed to the end of a leg, massless or nearly so. It keeps no state: a hinge's
    deflection travels beside it.

    On hard ground one point of it, `tip`, is pressed and rubbed; in water it carries a load of its
    own. A foot that has nothing to feel the water with feels nothing there, and the robot sinks.
    """

    has_hinge: ClassVar[bool] = False  #: its deflection is a state
    has_pads: ClassVar[bool] = False  #: water carries it
    folds_hard: ClassVar[bool] = False  #: it folds and unfolds at an instant: an event

    @abc.abstractmethod
    def tip(self, at: FootPoint, hinge: Hinge) -> Tip:
        """Where hard ground is met."""

    def depth_in_water(self, at: FootPoint, hinge: Hinge, level: Scalar) -> Scalar:
        """How deep its lowest point is."""
        return level - self.tip(at, hinge).y

    def water_load(self, at: FootPoint, medium: Medium, folded: Scalar) -> WaterLoad:
        """Force, moment about F and power of the water.

        `folded` is 1 or 0, and says nothing to a foot that folds by degrees.
        """
        del at, medium, folded
        return NO_LOAD

    def fold_speed(self, at: FootPoint) -> Scalar:
        """Speed at which the foot presses on the water: it folds where this is negative."""
        return at.vx * at.uy - at.vy * at.ux

    def hinge_arm(self, at: FootPoint, hinge: Hinge) -> tuple[Scalar, Scalar]:
        """How far the tip moves per radian of deflection."""
        raise NotImplementedError(f"{type(self).__name__} has no hinge")

    def hinge_acceleration(self, hinge: Hinge, moment: Scalar) -> Scalar:
        """Second derivative of the deflection under a moment of the ground."""
        raise NotImplementedError(f"{type(self).__name__} has no hinge")

    def hinge_energy(self, hinge: Hinge) -> tuple[Scalar, Scalar]:
        """(kinetic, elastic)."""
        raise NotImplementedError(f"{type(self).__name__} has no hinge")

    def hinge_loss(self, hinge: Hinge) -> Scalar:
        """Power lost in the hinge, never negative."""
        raise NotImplementedError(f"{type(self).__name__} has no hinge")
