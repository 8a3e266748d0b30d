"""Level ground with low bars across it, each of another height."""

import math

import jax.numpy as jnp
import numpy as np

from footfall.hybrid.fields import ParameterError, param
from footfall.machines.parts.terrain.level_pieces import AbstractLevelPieces, Piece
from footfall.numerics.scalar import Scalar


class Bumps(AbstractLevelPieces):
    """Bars across the way with flat tops and upright sides.

    Their heights are drawn evenly between nothing and `highest`, by `seed`.

    Level before the first bar and after the last. The same seed gives the same ground, whatever the
    height: heights scale with `highest`.
    """

    highest: Scalar = param(0.004, unit="m", doc="most height of a bar", ge=0)
    width: Scalar = param(0.02, unit="m", doc="of each bar, along x", gt=0)
    spacing: Scalar = param(
        0.03, unit="m", doc="from the begin of one bar to the begin of the next", gt=0
    )
    begin: Scalar = param(0.14, unit="m", doc="where the first bar begins")
    bars: int = param(40, doc="how many bars", ge=1, le=1000, static=True)
    seed: int = param(0, doc="which heights", ge=0, le=2**31, static=True)

    def __check_init__(self) -> None:
        super().__check_init__()
        if (
            all(isinstance(v, int | float) for v in (self.width, self.spacing))
            and self.width > self.spacing
        ):
            raise ParameterError(
                f"bars of {self.width * 1e3:g} mm do not fit a spacing of {self.spacing * 1e3:g}"
                " mm: make them narrower, or further apart.",
                "width",
            )

    def shares(self) -> np.ndarray:
        """Height of each bar as a share of `highest`."""
        return np.random.default_rng(self.seed).uniform(0.0, 1.0, self.bars)

    def piece(self, x: Scalar) -> Piece:
        """The one at x, by arithmetic: bars are alike."""
        x = jnp.asarray(x)
        place = (x - self.begin) / self.spacing
        which = jnp.floor(place)
        start = self.begin + which * self.spacing
        over = (which >= 0) & (which < self.bars) & ((place - which) * self.spacing < self.width)
        bars = jnp.asarray(self.shares(), jnp.result_type(x, 1.0))

        def high(k: Scalar) -> Scalar:
            share = bars[jnp.clip(k, 0, self.bars - 1).astype(int)]
            return jnp.where((k >= 0) & (k < self.bars), share * self.highest, 0.0 * x)

        # Before the first bar, and beyond the last, there is no end to it.
        nearest = jnp.clip(which, -1, self.bars - 1)
        last, this, following = (high(nearest + k) for k in (-1, 0, 1))
        touching = self.width >= self.spacing  # bars without room between them
        bar = Piece(
            start,
            start + self.width,
            this,
            jnp.where(touching, last, 0.0),
            jnp.where(touching, following, 0.0),
        )
        left = self.begin + nearest * self.spacing
        between = Piece(
            jnp.where(which < 0, -math.inf, left + self.width),
            jnp.where(which >= self.bars - 1, math.inf, left + self.spacing),
            0.0 * x,
            this,
            following,
        )
        return Piece(
            *(jnp.where(over, one, other) for one, other in zip(bar, between, strict=True))
        )

    def levels(self) -> tuple[tuple[Scalar, ...], tuple[Scalar, ...]]:
        edges: list[float] = []
        heights: list[float] = []
        for begin, end, height in self.boxes():
            if edges and float(self.width) >= float(self.spacing):  # no room between two bars
                edges, heights = edges[:-1], heights[:-1]
            edges += [begin, end]
            heights += [height, 0.0]
        return tuple(edges), tuple(heights)

    def boxes(self) -> list[tuple[float, float, float]]:
        """(begin, end, height) of each bar."""
        starts = float(self.begin) + float(self.spacing) * np.arange(self.bars)
        return [
            (float(a), float(a + self.width), float(s * self.highest))
            for a, s in zip(starts, self.shares(), strict=True)
            if s > 0
        ]

    @property
    def end(self) -> float:
        """Where the last bar ends."""
        return float(self.begin) + (self.bars - 1) * float(self.spacing) + float(self.width)
