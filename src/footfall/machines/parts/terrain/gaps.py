"""Level ground with bottomless gaps whose walls push back."""

import itertools
from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np

from footfall.hybrid.fields import ParameterError, numbers, param
from footfall.machines.parts.terrain.base import Face
from footfall.machines.parts.terrain.level_pieces import AbstractLevelPieces
from footfall.numerics.scalar import Scalar

#: What stands for the height of ground that is not there [m].
BOTTOM = -1.0
#: Gaps have no bottom; they are drawn this deep [m].
DRAWN_DEPTH = 0.12


class AbstractBrokenGround(AbstractLevelPieces):
    """Ground at height zero except over the gaps.

    A point inside it is pushed out of the nearer surface:

        p_z = -z,   p_x = distance to the nearest edge
        top surface where p_z <= p_x, side wall where p_z > p_x                              (gap.1)

    Both depths are the same where they meet, so the stored energy is continuous; the force turns by
    a right angle there. A `blend` b > 0 spreads the turn over |p_x - p_z| < b: with s = (p_x -
    p_z)/b the top carries the share

        w = 1/2 + (3 s - s^3)/4                                                              (gap.2)

    and the wall the rest. The mixture is no longer the slope of an energy: what it gives or takes
    is (V_top - V_wall) dw/dt.
    """

    features: ClassVar[frozenset[str]] = frozenset({"walls", "gaps"})

    blend: Scalar = param(
        0.0, unit="m", doc="half-width over which the force turns at a corner; 0: sharp", ge=0
    )

    def height(self, x: Scalar) -> Scalar:
        inside, _, _ = self._edge(x)
        return jnp.where(inside, BOTTOM, 0.0 * x)

    def surface(self, x: Scalar) -> Scalar:
        return 0.0 * x

    def levels(self) -> tuple[tuple[Scalar, ...], tuple[Scalar, ...]]:
        gaps = self.gaps()
        return tuple(edge for gap in gaps for edge in gap), (BOTTOM, 0.0) * len(gaps)

    def outline(self, x0: float, x1: float) -> tuple[tuple[float, float], ...]:
        return tuple((x, max(z, -DRAWN_DEPTH)) for x, z in super().outline(x0, x1))

    def faces(self, x: Scalar, z: Scalar, vx: Scalar, vz: Scalar) -> tuple[Face, ...]:
        inside, sideways, sigma = self._edge(x)
        deep, lead = -z, sideways + z  # lead = p_x - p_z
        lead_rate = vz - sigma * vx
        sharp = jnp.where(lead >= 0.0, 1.0, 0.0 * x)
        blend = self.blend
        width = jnp.where(blend > 0.0, blend, 1.0)
        s = jnp.clip(lead / width, -1.0, 1.0)
        soft = blend > 0.0
        share = jnp.where(soft, 0.5 + 0.25 * s * (3.0 - s * s), sharp)
        share_rate = jnp.where(soft, 0.75 * (1.0 - s * s) / width * lead_rate, 0.0 * x)
        out = inside | (deep <= 0.0)  # over the gap there is nothing, above the floor neither
        none = jnp.full_like(z, -1.0)
        return (
            Face(jnp.where(out, none, deep), 0.0 * x, 1.0 + 0.0 * x, 1.0, share, share_rate),
            Face(jnp.where(out, none, sideways), sigma, 0.0 * x, 1.0, 1.0 - share, -share_rate),
        )

    def _edge(self, x: Scalar) -> tuple[Any, Scalar, Scalar]:
        """(over a gap, distance to the nearest edge, which way its wall looks: +1 forward)."""
        x = jnp.asarray(x)
        inside, nearest, sigma = jnp.zeros_like(x, bool), jnp.full_like(x, np.inf), jnp.ones_like(x)
        for begin, end in self.gaps():
            inside = inside | ((x > begin) & (x < end))
            before = x <= begin
            distance = jnp.where(before, begin - x, x - end)
            closer = distance < nearest
            sigma = jnp.where(closer & before, 1.0, jnp.where(closer, -1.0, sigma))
            nearest = jnp.where(closer, distance, nearest)
        return inside, nearest, sigma


class Gap(AbstractBrokenGround):
    """Level ground with one gap."""

    gap_start: Scalar = param(0.1, unit="m", doc="near edge x_l of the gap")
    gap_width: Scalar = param(0.1, unit="m", doc="width of the gap", gt=0)

    def gaps(self) -> tuple[tuple[Scalar, Scalar], ...]:
        return ((self.gap_start, self.gap_start + self.gap_width),)


class Gaps(AbstractBrokenGround):
    """Level ground with any number of gaps."""

    starts: tuple[float, ...] = numbers(
        (0.1, 0.3), unit="m", doc="near edge of each gap", increasing=True
    )
    widths: tuple[float, ...] = numbers((0.05, 0.1), unit="m", doc="width of each gap")

    def __check_init__(self) -> None:
        super().__check_init__()
        if len(self.starts) != len(self.widths) or not self.starts:
            raise ParameterError(
                f"{len(self.starts)} gaps need as many widths, at least one; there are"
                f" {len(self.widths)}.",
                "widths",
            )
        narrow = [w for w in self.widths if w <= 0]
        if narrow:
            raise ParameterError(
                f"a width of {narrow[0]:g} m is no gap: widths are above zero.", "widths"
            )
        pieces = self.gaps()
        for (begin, end), (after, _) in itertools.pairwise(pieces):
            if end >= after:
                raise ParameterError(
                    f"the gap from {begin:g} m to {end:g} m overlaps the one that begins at"
                    f" {after:g} m: leave ground between them, or make them one.",
                    "starts",
                )

    def gaps(self) -> tuple[tuple[Scalar, Scalar], ...]:
        return tuple((a, a + w) for a, w in zip(self.starts, self.widths, strict=True))
