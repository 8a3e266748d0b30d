"""Ground of level pieces at different heights, with upright faces between them."""

import abc
import math
from typing import ClassVar, NamedTuple

import jax.numpy as jnp
import numpy as np

from footfall.hybrid.fields import ParameterError, describe
from footfall.machines.parts.terrain.base import AbstractTerrain, Face
from footfall.numerics.scalar import Scalar

#: A point that is this near to an edge, or this far below it, is neither on top nor beside it [m].
ON_THE_EDGE = 2e-5


class Piece(NamedTuple):
    """The level piece at some x, and the heights of its neighbours."""

    begin: Scalar
    end: Scalar
    height: Scalar
    before: Scalar
    after: Scalar


class AbstractLevelPieces(AbstractTerrain):
    """Level pieces, each at its own height.

    A point inside is pushed out of the nearer surface, up or sideways, as at the edge of a gap
    (gap.1):

        up:     p_z = h - z
        beside: max(p_x, q), for a lower neighbour with its edge p_x away and its ground q above
                the point

    where q > p_x the neighbour's ground pushes up. The least of them is the depth: it is the same
    on both sides of every edge, so the stored energy is continuous; the force turns by a right
    angle where two of them are the same.                                                 (pieces.1)
    """

    features: ClassVar[frozenset[str]] = frozenset({"walls"})

    @abc.abstractmethod
    def levels(self) -> tuple[tuple[Scalar, ...], tuple[Scalar, ...]]:
        """(edges, heights from each edge on); before the first edge the height is 0."""

    def piece(self, x: Scalar) -> Piece:
        """The one at x: from its begin on."""
        edges, heights = self.levels()
        none = 0.0 * x
        begins, ends = (-math.inf, *edges), (*edges, math.inf)
        levels = (0.0, *heights)
        rows = list(
            zip(begins, ends, levels, (0.0, *levels[:-1]), (*levels[1:], levels[-1]), strict=True)
        )
        at = Piece(*(none + value for value in rows[0]))
        for one in rows[1:]:
            at = Piece(
                *(jnp.where(x >= one[0], new, old) for new, old in zip(one, at, strict=True))
            )
        return at

    def height(self, x: Scalar) -> Scalar:
        return self.piece(x).height

    def slope(self, x: Scalar) -> Scalar:
        return 0.0 * x

    def pieces(self) -> list[tuple[float, float, float]]:
        many = [
            name
            for name in describe(self)
            if np.ndim(getattr(self, name)) and not isinstance(getattr(self, name), tuple)
        ]
        if many:
            raise ParameterError(
                f"{many[0]} has {np.size(getattr(self, many[0]))} values: steps are planned over"
                " one ground at a time. Vary it run by run.",
                many[0],
            )
        edges, heights = ([float(v) for v in values] for values in self.levels())
        return list(zip((-math.inf, *edges), (*edges, math.inf), (0.0, *heights), strict=True))

    def outline(self, x0: float, x1: float) -> tuple[tuple[float, float], ...]:
        return tuple(
            (min(max(x, x0), x1), height)
            for a, b, height in self.pieces()
            if b > x0 and a < x1
            for x in (a, b)
        )

    def faces(self, x: Scalar, z: Scalar, vx: Scalar, vz: Scalar) -> tuple[Face, ...]:
        del vx, vz
        at, far = self.piece(x), math.inf
        depth, sideways, sigma = at.height - z, jnp.zeros_like(x, bool), 0.0 * x
        for lower, away, way in ((at.before, x - at.begin, -1.0), (at.after, at.end - x, 1.0)):
            floor = lower - z
            out = jnp.where(lower < at.height, jnp.maximum(away, floor), far)
            nearer = out < depth
            wall = nearer & (away >= floor)
            sideways, sigma = jnp.where(nearer, wall, sideways), jnp.where(wall, way, sigma)
            depth = jnp.where(nearer, out, depth)
        share = jnp.where(sideways, 0.0, 1.0 + 0.0 * x)
        none = jnp.full_like(depth, -1.0)
        return (
            Face(jnp.where(sideways, none, depth), 0.0 * x, 1.0 + 0.0 * x, 1.0, share),
            Face(jnp.where(sideways, depth, none), sigma, 0.0 * x, 1.0, 1.0 - share),
        )

    def room_above(self, x: Scalar, z: Scalar) -> Scalar:
        """Over the tops of its pieces, each shorter by ON_THE_EDGE where it ends at a drop.

        A point beside a wall stays outside.
        """
        return self._room(x, z, sideways=ON_THE_EDGE, deeper=0.0)

    def room_at_walls(self, x: Scalar, z: Scalar) -> Scalar:
        """The same of its whole pieces, each lower by ON_THE_EDGE.

        A point that comes from above has come to stand before.
        """
        return self._room(x, z, sideways=0.0, deeper=ON_THE_EDGE)

    def _room(self, x: Scalar, z: Scalar, sideways: float, deeper: float) -> Scalar:
        """Least distance to the piece at x and to its neighbours.

        Of each: how far above the top or beside the walls, whichever is more.
        """
        at, far = self.piece(x), math.inf
        to_begin, to_end = x - at.begin, at.end - x
        own = z - at.height + deeper
        own = jnp.maximum(own, jnp.where(at.before < at.height, sideways - to_begin, -far))
        own = jnp.maximum(own, jnp.where(at.after < at.height, sideways - to_end, -far))
        before, after = (
            jnp.where(height > at.height, jnp.maximum(away + sideways, z - height + deeper), far)
            for height, away in ((at.before, to_begin), (at.after, to_end))
        )
        return jnp.minimum(own, jnp.minimum(before, after))
