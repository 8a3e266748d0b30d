"""Still, deep water."""

from typing import ClassVar

from footfall.hybrid.fields import param
from footfall.machines.parts.terrain.base import AbstractTerrain, StillWater
from footfall.numerics.scalar import Scalar


class Water(AbstractTerrain):
    """A level surface that carries what slaps it.

    No waves, no wakes, no bottom; each stroke meets water at rest.
    """

    features: ClassVar[frozenset[str]] = frozenset({"water"})

    density: Scalar = param(1000.0, unit="kg/m^3", doc="density", gt=0)

    def height(self, x: Scalar) -> Scalar:
        return 0.0 * x

    def outline(self, x0: float, x1: float) -> tuple[tuple[float, float], ...]:
        return (x0, 0.0), (x1, 0.0)

    @property
    def water(self) -> StillWater:
        return StillWater(0.0, self.density)
