"""Uneven ground from samples."""

import itertools

import jax.numpy as jnp

from footfall.hybrid.fields import ParameterError, numbers
from footfall.machines.parts.terrain.base import AbstractGround, Face
from footfall.numerics.scalar import Scalar


class Profile(AbstractGround):
    """Straight pieces between sampled heights; level before the first sample and after the last.

    h(x) = h_0 + sum_k (slope_k - slope_{k-1}) max(x - x_k, 0)                                                (profile.1)

    A point's depth is measured straight down, p = h(x) - z, and the law's force acts along minus its gradient, (-h', 1): the stored
    energy is continuous over kinks and the ledger closes. On a piece of slope h' the ground is then stiffer across itself by 1 + h'^2.
    """

    places: tuple[float, ...] = numbers(
        (0.0, 0.1, 0.2, 0.3), unit="m", doc="where the ground was measured, forward", increasing=True
    )
    heights: tuple[float, ...] = numbers((0.0, 0.005, -0.005, 0.0), unit="m", doc="height of the ground there")

    def __check_init__(self) -> None:
        super().__check_init__()
        if len(self.places) != len(self.heights) or len(self.places) < 2:
            raise ParameterError(
                f"{len(self.places)} places need as many heights, two at least; there are {len(self.heights)}.", "heights"
            )

    def height(self, x: Scalar) -> Scalar:
        return self._height_and_slope(x)[0]

    def outline(self) -> tuple[tuple[float, float], ...]:
        return tuple(zip(self.places, self.heights, strict=True))

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
