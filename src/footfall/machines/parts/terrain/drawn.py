"""Any terrain as a picture of it."""

from footfall.machines.parts.terrain.base import AbstractTerrain
from footfall.scene.sketch import Ground


def drawn_ground(terrain: AbstractTerrain, color: str = "saddlebrown") -> Ground:
    """Its corners where it has some, else its height wherever someone looks."""
    corners = terrain.outline()
    if not corners:
        return Ground(color=color, height=terrain.height)
    (first, low), (last, high) = corners[0], corners[-1]
    return Ground(((first - 1.0, low), *corners, (last + 1.0, high)), color)
