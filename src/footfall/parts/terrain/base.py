"""Contract of the terrain slot."""

import abc

from footfall.hybrid.fields import Parametric
from footfall.numerics.scalar import Scalar


class AbstractTerrain(Parametric):
    """Ground as a height field z = h(x) in the house frame, differentiable wherever a foot may rest."""

    @abc.abstractmethod
    def height(self, x: Scalar) -> Scalar:
        """Height of the ground at x."""


class AbstractPlane(AbstractTerrain):
    """Ground that is one inclined plane, for models that are written along and normal to it."""

    @property
    @abc.abstractmethod
    def descent(self) -> Scalar:
        """Angle by which the ground goes down towards +x."""
