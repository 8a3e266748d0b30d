"""Uneven ground from samples."""

import itertools

import jax.numpy as jnp

from footfall.hybrid.fields import ParameterError, numbers
from footfall.machines.parts.terrain.base import AbstractTerrain, Face
from footfall.numerics.scalar import Scalar


class Profile(AbstractTerrain):
    """Straight pieces between sampled heights; level before the first sample and after the last.

    h(x) = h_0 + sum_k (slope_k - slope_{k-1}) max(x - x_k, 0)                           (profile.1)
    """

    places: tuple[float, ...] = numbers(
        (0.0, 0.1, 0.2, 0.3),
        unit="m",
        doc="where the ground was measured, forward",
        increasing=True,
    )
    heights: tuple[float, ...] = numbers(
        (0.0, 0.005, -0.005, 0.0), unit="m", doc="height of the ground there"
    )

    def __check_init__(self) -> None:
        super().__check_init__()
        if len(self.places) != len(self.heights) or len(self.places) < 2:
            raise ParameterError(
                f"{len(self.places)} places need as many heights, two at least; there are"
                f" {len(self.heights)}.",
                "heights",
            )

    def height(self, x: Scalar) -> Scalar:
        return self._height_and_slope(x)[0]

    def slope(self, x: Scalar) -> Scalar:
        return self._height_and_slope(x)[1]

    def outline(self, x0: float, x1: float) -> tuple[tuple[float, float], ...]:
        inside = [(x, z) for x, z in zip(self.places, self.heights, strict=True) if x0 < x < x1]
        ends = ((x, float(self.height(x))) for x in (x0, x1))
        return (next(ends), *inside, next(ends))

    def faces(self, x: Scalar, z: Scalar, vx: Scalar, vz: Scalar) -> tuple[Face, ...]:
        del vx, vz
        height, slope = self._height_and_slope(x)
        return (Face(height - z, -slope, 1.0 + 0.0 * x, jnp.sqrt(1.0 + slope * slope)),)

    def _height_and_slope(self, x: Scalar) -> tuple[Scalar, Scalar]:
        ends = itertools.pairwise(zip(self.places, self.heights, strict=True))
        slopes = [0.0, *((b - a) / (q - p) for (p, a), (q, b) in ends), 0.0]
        height, slope = self.heights[0] + 0.0 * x, 0.0 * x
        for place, (before, after) in zip(self.places, itertools.pairwise(slopes), strict=True):
            beyond = x > place
            height = height + jnp.where(beyond, (after - before) * (x - place), 0.0)
            slope = slope + jnp.where(beyond, after - before, 0.0)
        return height, slope
