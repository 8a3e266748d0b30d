"""Level ground and a constant slope."""

import math
from typing import ClassVar

from footfall.hybrid.fields import param
from footfall.machines.parts.terrain.base import AbstractPlane, Face
from footfall.numerics.namespace import namespace
from footfall.numerics.scalar import Scalar


class Flat(AbstractPlane):
    """Level ground at z = 0."""

    def height(self, x: Scalar) -> Scalar:
        return 0.0 * x

    def faces(self, x: Scalar, z: Scalar, vx: Scalar, vz: Scalar) -> tuple[Face, ...]:
        del vx, vz
        return (Face(depth=-z, nx=0.0 * x, nz=1.0 + 0.0 * x),)

    def pieces(self) -> list[tuple[float, float, float]]:
        return [(-math.inf, math.inf, 0.0)]


class Slope(AbstractPlane):
    """A plane through the origin, descending towards +x for a positive angle."""

    features: ClassVar[frozenset[str]] = frozenset({"inclined"})

    angle: Scalar = param(
        0.08, unit="rad", doc="slope, positive downhill towards +x", gt=-1.5, lt=1.5
    )

    @property
    def descent(self) -> Scalar:
        return self.angle

    def height(self, x: Scalar) -> Scalar:
        return -namespace(self.angle, x).tan(self.angle) * x
