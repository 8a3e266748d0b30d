"""Contract of a penalty law: how hard ground pushes back at what has sunk into it."""

import abc

from footfall.hybrid.fields import Parametric
from footfall.numerics.scalar import Scalar


class AbstractContact(Parametric):
    """Force along the ground's normal on a point that has sunk in.

    By `depth`, positive below the surface.

    Callers may rely on: `force >= 0` (ground pushes and never pulls); all three are 0 for depth <=
    0; `loss >= 0`; and

        force * depth_rate = d(energy)/dt + loss                                         (contact.1)

    for every depth above zero, so that a foot cannot take more out of the ground than it put in.
    The force need not be continuous at touch-down: a law with a linear damper is not.
    """

    @abc.abstractmethod
    def force(self, depth: Scalar, depth_rate: Scalar) -> Scalar:
        """Normal force on the foot, outwards.

        `depth_rate` is positive while the foot presses in.
        """

    @abc.abstractmethod
    def energy(self, depth: Scalar) -> Scalar:
        """Energy stored in the ground at this depth."""

    @abc.abstractmethod
    def loss(self, depth: Scalar, depth_rate: Scalar) -> Scalar:
        """Power turned into heat."""
