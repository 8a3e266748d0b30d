"""Still, deep water."""

from footfall.hybrid.fields import param
from footfall.machines.parts.terrain.base import AbstractTerrain
from footfall.numerics.scalar import Scalar


class Water(AbstractTerrain):
    """A level surface that carries what slaps it. No waves, no wakes, no bottom; each stroke meets water at rest."""

    density: Scalar = param(1000.0, unit="kg/m^3", doc="density", gt=0)

    def height(self, x: Scalar) -> Scalar:
        return 0.0 * x
