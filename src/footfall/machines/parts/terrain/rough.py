"""Rough ground: waves of many lengths, their places by chance."""

import math

import jax.numpy as jnp
import numpy as np

from footfall.hybrid.fields import param
from footfall.machines.parts.terrain.base import AbstractTerrain
from footfall.numerics.scalar import Scalar

#: Waves that are added: enough that the ground does not repeat, few enough for a kernel.
WAVES = 6
#: Root mean square of a wave 4 v (1 - |v|), -1 < v < 1.
RMS = math.sqrt(8.0 / 15.0)


class Rough(AbstractTerrain):
    """Waves of lengths between half and twice `wavelength`, their places drawn by `seed`.

    h(x) = rise / (RMS sqrt(n)) sum_i s(x + shift; i) min(max((x - begin) / wavelength, 0), 1)
    s(x; i) = 4 v (1 - |v|),   v = 2 frac(x / length_i + place_i) - 1                      (rough.1)

    s is nearly a sine, of parabolas: arithmetic alone, continuous with its slope. Level up to
    `begin`, so that a robot can stand there. Another `shift` is another place of the same ground,
    a number that robots of one batch may have different ones of.
    """

    rise: Scalar = param(0.002, unit="m", doc="root mean square of the height", ge=0)
    wavelength: Scalar = param(0.3, unit="m", doc="middle length of the waves", gt=0)
    begin: Scalar = param(0.14, unit="m", doc="where it begins, to be whole a wavelength later")
    shift: Scalar = param(0.0, unit="m", doc="which place of it")
    seed: int = param(0, doc="which waves", ge=0, le=2**31, static=True)

    def waves(self) -> tuple[np.ndarray, np.ndarray]:
        """Of each: how many there are in a `wavelength`, and its place, a share of itself."""
        draw = np.random.default_rng(self.seed)
        octaves = 2.0 * (np.arange(WAVES) + draw.uniform(0.0, 1.0, WAVES)) / WAVES - 1.0
        return 2.0**octaves, draw.uniform(0.0, 1.0, WAVES)

    def height(self, x: Scalar) -> Scalar:
        return self._height_and_slope(x)[0]

    def slope(self, x: Scalar) -> Scalar:
        return self._height_and_slope(x)[1]

    def _height_and_slope(self, x: Scalar) -> tuple[Scalar, Scalar]:
        along, steep, inverse = 0.0 * x, 0.0 * x, 1.0 / self.wavelength
        at = (x + self.shift) * inverse
        for number, place in zip(*map(np.ndarray.tolist, self.waves()), strict=True):
            turn = at * number + place
            v = 2.0 * (turn - jnp.floor(turn)) - 1.0
            along = along + v * (1.0 - jnp.abs(v))
            steep = steep + number * (1.0 - 2.0 * jnp.abs(v))
        scale = 4.0 / (RMS * math.sqrt(WAVES)) * self.rise
        whole = (x - self.begin) * inverse
        part = jnp.minimum(jnp.maximum(whole, 0.0), 1.0)
        rising = jnp.where((whole > 0.0) & (whole < 1.0), inverse, 0.0)
        return scale * along * part, scale * (2.0 * steep * inverse * part + along * rising)
