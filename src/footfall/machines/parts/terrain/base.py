"""Contract of the terrain slot: what any robot may ask of any ground."""

import abc
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from footfall.hybrid.fields import Parametric
from footfall.numerics.scalar import Scalar
from footfall.numerics.trig import sincos

#: Points of an outline that is sampled: a picture is a tenth of what is drawn, so some hundreds for
#: each screen.
_SAMPLES = 4000


class Face(NamedTuple):
    """One surface of solid ground as a point near it sees it.

    (nx, nz) is minus the gradient of the depth: the way the surface pushes. Where it is not of
    length one (ground that rises, measured straight down), a law's force times (nx, nz) is still
    what keeps energy: its power is the force times the rate of the depth.
    """

    depth: Scalar  #: m, how deep the point is below the surface; not positive outside
    nx: Scalar
    nz: Scalar
    stretch: Scalar = 1.0  #: length of (nx, nz)
    share: Scalar = 1.0  #: part of the contact that this surface carries
    share_rate: Scalar = 0.0  #: its rate


class StillWater(NamedTuple):
    """What there is instead of solid ground."""

    level: Scalar  #: m
    density: Scalar  #: kg/m^3


class AbstractTerrain(Parametric):
    """Ground as a height z = h(x) in the house frame.

    Only `height` must be written; the rest follows from it.

    What else a ground has, which some robots cannot use, it says in `features`: "inclined" (a plane
    that is not level), "hills" (its slope changes), "walls" (upright faces), "gaps" (places without
    ground), "water" (no solid ground). A robot that cannot use one of them has it in its `refuses`,
    with the reason. No robot asks for the class of its ground.

    Callers may rely on: the shares of all faces add up to one; a face that is not touched has depth
    <= 0; a room is positive outside the ground, negative inside, and continuous.
    """

    features: ClassVar[frozenset[str]] = frozenset({"hills"})

    @abc.abstractmethod
    def height(self, x: Scalar) -> Scalar:
        """Height of the ground at x."""

    def slope(self, x: Scalar) -> Scalar:
        """dh/dx, positive uphill."""
        x = jnp.asarray(x, float)
        return jax.jvp(self.height, (x,), (jnp.ones_like(x),))[1]

    def faces(self, x: Scalar, z: Scalar, vx: Scalar, vz: Scalar) -> tuple[Face, ...]:
        """The surfaces that a moving point may touch there.

        A point's depth is measured straight down, p = h(x) - z, and the law's force acts along
        minus its gradient, (-h', 1): the stored energy is continuous over kinks and the ledger
        closes. On a piece of slope h' the ground is then stiffer across itself by 1 + h'^2.
        """
        del vx, vz
        slope = self.slope(x)
        return (Face(self.height(x) - z, -slope, 1.0 + 0.0 * x, jnp.sqrt(1.0 + slope * slope)),)

    def outline(self, x0: float, x1: float) -> tuple[tuple[float, float], ...]:
        """(x, z) along its surface from x0 to x1, for pictures and bodies.

        An upright face is two points above each other.
        """
        x = np.linspace(x0, x1, _SAMPLES)
        return tuple(zip(x.tolist(), np.asarray(self.height(x), float).tolist(), strict=True))

    # --- for models that are written along and normal to a plane ----------------------------------

    @property
    def descent(self) -> Scalar:
        """Angle below the horizontal, towards +x, of the plane that it is or lies on.

        `room_above` and `relief` are seen from there.
        """
        return 0.0

    def relief(self, x: Scalar) -> Scalar:
        """Height above that plane at x along it."""
        return self.height(x)

    def tilt(self, x: Scalar) -> Scalar:
        """Slope of the relief."""
        return self.slope(x)

    @property
    def uneven(self) -> bool:
        """It is not one plane."""
        return bool(self.features & {"hills", "walls"})

    def room_above(self, x: Scalar, z: Scalar) -> Scalar:
        """How far a point is above what it could stand on."""
        return z - self.relief(x)

    def room_at_walls(self, x: Scalar, z: Scalar) -> Scalar | None:
        """How far a point is from running into an upright face; None where there are none."""
        del x, z

    # --- what only some have ----------------------------------------------------------------------

    def gaps(self) -> tuple[tuple[Scalar, Scalar], ...]:
        """(begin, end) of every place without ground, in order."""
        return ()

    def surface(self, x: Scalar) -> Scalar:
        """Its height, with gaps filled in."""
        return self.height(x)

    def pieces(self) -> list[tuple[float, float, float]]:
        """(from, to, height) of every level piece, the first and last endless.

        None of ground that is not made of such pieces.
        """
        return []

    @property
    def water(self) -> StillWater | None:
        """Where there is no solid ground."""
        return None


class AbstractPlane(AbstractTerrain):
    """Ground that is one plane."""

    features: ClassVar[frozenset[str]] = frozenset()

    def relief(self, x: Scalar) -> Scalar:
        del x
        return 0.0

    def tilt(self, x: Scalar) -> Scalar:
        del x
        return 0.0

    def room_above(self, x: Scalar, z: Scalar) -> Scalar:
        del x
        return z

    def outline(self, x0: float, x1: float) -> tuple[tuple[float, float], ...]:
        return tuple((x, float(self.height(x))) for x in (x0, x1))

    def faces(self, x: Scalar, z: Scalar, vx: Scalar, vz: Scalar) -> tuple[Face, ...]:
        del vx, vz
        s, c = sincos(self.descent)
        return (Face(depth=-(c * z + s * x), nx=s + 0.0 * x, nz=c + 0.0 * x),)
