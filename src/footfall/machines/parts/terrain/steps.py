"""Level pieces of ground at different heights."""

import math

import jax.numpy as jnp

from footfall.hybrid.fields import ParameterError, numbers
from footfall.machines.parts.terrain.base import AbstractTerrain
from footfall.numerics.scalar import Scalar


class Steps(AbstractTerrain):
    """Ground that goes up and down in steps with upright faces, seen in the house frame (x forward).

    Behind the first edge it is at height 0; from each edge on it is at that edge's height. Two edges with a lower height between them are a gap.
    """

    edges: tuple[float, ...] = numbers((0.5,), unit="m", doc="where the ground changes its height, forward", increasing=True)
    heights: tuple[float, ...] = numbers((0.05,), unit="m", doc="height of the ground from each edge on")

    def __check_init__(self) -> None:
        super().__check_init__()
        if len(self.edges) != len(self.heights):
            raise ParameterError(
                f"{len(self.edges)} edges need as many heights, there are {len(self.heights)}: each edge has the height of the ground"
                " beyond it.",
                "heights",
            )

    def height(self, x: Scalar) -> Scalar:
        level = 0.0 * x
        for edge, high in zip(self.edges, self.heights, strict=True):
            level = jnp.where(x >= edge, high, level)
        return level

    def outline(self) -> tuple[tuple[float, float], ...]:
        corners, level = [], 0.0
        for edge, height in zip(self.edges, self.heights, strict=True):
            corners += [(edge - 1e-6, level), (edge, height)]
            level = height
        return tuple(corners)

    def pieces(self) -> list[tuple[float, float, float]]:
        """(from, to, height) of every level piece, the first and last endless."""
        starts, ends = (-math.inf, *self.edges), (*self.edges, math.inf)
        return list(zip(starts, ends, (0.0, *self.heights), strict=True))
