"""Contracts of the terrain slot."""

import abc
from typing import ClassVar, NamedTuple

from footfall.hybrid.fields import Parametric
from footfall.numerics.scalar import Scalar
from footfall.numerics.trig import sincos


class AbstractTerrain(Parametric):
    """Ground as a height field z = h(x) in the house frame, differentiable wherever a foot may rest."""

    @abc.abstractmethod
    def height(self, x: Scalar) -> Scalar:
        """Height of the ground at x."""

    def outline(self) -> tuple[tuple[float, float], ...]:
        """(x, z) of its corners, for pictures of ground with upright walls, level before the first and after the last; () draws `height`."""
        return ()


class Face(NamedTuple):
    """One surface of solid ground as a point near it sees it.

    (nx, nz) is minus the gradient of the depth: the way the surface pushes. Where it is not of length one (ground that rises, measured
    straight down), a law's force times (nx, nz) is still what keeps energy: its power is the force times the rate of the depth.
    """

    depth: Scalar  #: m, how deep the point is below the surface; not positive outside
    nx: Scalar
    nz: Scalar
    stretch: Scalar = 1.0  #: length of (nx, nz)
    share: Scalar = 1.0  #: part of the contact that this surface carries
    share_rate: Scalar = 0.0  #: its rate


class AbstractGround(AbstractTerrain):
    """Solid ground that any point may meet, from above or from the side.

    Callers may rely on: the shares of all faces add up to one; a face that is not touched has depth <= 0.
    """

    @abc.abstractmethod
    def faces(self, x: Scalar, z: Scalar, vx: Scalar, vz: Scalar) -> tuple[Face, ...]:
        """The surfaces that a moving point may touch there."""

    broken: ClassVar[bool] = False  #: there are gaps

    def gaps(self) -> tuple[tuple[Scalar, Scalar], ...]:
        """(begin, end) of every place without ground, in order."""
        return ()


class AbstractPlane(AbstractGround):
    """Ground that is one inclined plane, for models that are written along and normal to it."""

    @property
    @abc.abstractmethod
    def descent(self) -> Scalar:
        """Angle of the plane below the horizontal towards +x."""

    def faces(self, x: Scalar, z: Scalar, vx: Scalar, vz: Scalar) -> tuple[Face, ...]:
        del vx, vz
        s, c = sincos(self.descent)
        return (Face(depth=-(c * z + s * x), nx=s + 0.0 * x, nz=c + 0.0 * x),)
