"""The gait of a many-legged walker: every leg does the same, one after the other."""

import math
from typing import NamedTuple

import jax.numpy as jnp

from footfall.hybrid.fields import Parametric, param
from footfall.numerics.scalar import Scalar
from footfall.numerics.trig import sincos
from footfall.numerics.units import TURN


class Target(NamedTuple):
    """Where the tip of a leg should be, seen from its segment, and how that changes.

    x along the body, z normal to it.
    """

    x: Scalar
    z: Scalar
    dx: Scalar  #: per radian of phase
    dz: Scalar  #: per radian of phase
    dz_lift: Scalar  #: per metre of lift


class WaveGait(Parametric):
    """A half ellipse forward through the air, a straight line back under the body, pressed down a
    little:

        swing  0 <= phi < pi:     x_t = -A cos phi,            z_t = -h + B sin phi + eps
        stance pi <= phi < 2 pi:  x_t = A (3 - 2 phi/pi),  z_t = -h + d_s sin phi + eps   (walker.5)

    with the lift eps of a reflex, and z_t never above `highest`. Without slip it goes at v = 4 A f.
    """

    frequency: Scalar = param(1.0, unit="Hz", doc="cycles per second f", ge=0)
    lag: Scalar = param(
        2.0 * math.pi / 3.0,
        unit="rad",
        doc="phase psi of a leg ahead of the one behind it: positive swings from head to tail",
    )
    height: Scalar = param(0.05, unit="m", doc="height h of the body over the tips", gt=0)
    half_stride: Scalar = param(0.015, unit="m", doc="half the length A of a step", gt=0)
    swing_height: Scalar = param(0.015, unit="m", doc="how high B a tip is lifted in swing", ge=0)
    press: Scalar = param(
        0.002, unit="m", doc="how far d_s a tip is pressed below the height in stance", ge=0
    )
    highest: Scalar = param(0.004, unit="m", doc="a tip is kept this far below its segment", gt=0)

    def target(self, phase: Scalar, lift: Scalar) -> Target:
        s, c = sincos(phase)
        turn = phase - TURN * jnp.floor(phase * (1.0 / TURN))
        swing = turn < math.pi
        reach = jnp.where(swing, self.swing_height, self.press)
        z = -self.height + reach * s + lift
        free = z < -self.highest
        return Target(
            x=self.half_stride * jnp.where(swing, -c, 3.0 - (2.0 / math.pi) * turn),
            z=jnp.minimum(z, -self.highest),
            dx=self.half_stride * jnp.where(swing, s, -2.0 / math.pi),
            dz=jnp.where(free, reach * c, 0.0),
            dz_lift=jnp.where(free, 1.0, 0.0 * z),
        )
