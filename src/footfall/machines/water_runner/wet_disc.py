"""A disc moving in water.

Its force, moment and power in the plane, from the load along its diameter
(machines/water_runner/disc_load.py).
"""

from typing import NamedTuple

import jax.numpy as jnp

from footfall.machines.water_runner.disc_load import disc_load
from footfall.numerics.planar import cross
from footfall.numerics.scalar import Scalar


class Medium(NamedTuple):
    """Water as a disc feels it."""

    level: Scalar  #: height of the surface
    density: Scalar
    gravity: Scalar


class Disc(NamedTuple):
    """Where a disc is and how it moves.

    Centre, velocity, unit vector along it in the plane, unit normal (the face that pushes).
    """

    x: Scalar
    y: Scalar
    vx: Scalar
    vy: Scalar
    along_x: Scalar
    along_y: Scalar
    normal_x: Scalar
    normal_y: Scalar
    rate: Scalar  #: of its angle, counter-clockwise


class WaterLoad(NamedTuple):
    """What the water does to a disc or to a foot made of discs."""

    fx: Scalar
    fy: Scalar
    moment: Scalar  #: about the centre, counter-clockwise
    drag: Scalar  #: power of the drag, never positive
    pressure: Scalar  #: power of the hydrostatic pressure, of either sign
    wetted: Scalar  #: share of the diameter under water

    def times(self, share: Scalar) -> "WaterLoad":
        """The load of a disc that counts by `share` only."""
        return WaterLoad(*(share * v for v in self))

    def plus(self, other: "WaterLoad") -> "WaterLoad":
        return WaterLoad(*(a + b for a, b in zip(self, other, strict=True)))


NO_LOAD = WaterLoad(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


def wet_disc(
    disc: Disc, radius: Scalar, drag_coefficient: Scalar, hydrostatics: float, medium: Medium
) -> WaterLoad:
    """Force -F_w n, moment -cross(tau, n) S_1 and power -(F_w a0 + S_1 a1).                 (pad.6)

    Of a disc of which any part is wet.

    With tau the axis along the disc that points up, a0 = v . n the normal speed of the centre and
    a1 = rate (-tau_y n_x + tau_x n_y) its gradient along tau. Drag alone takes energy out of every
    strip; pressure need not.
    """
    down = disc.along_y < 0
    tau_x, tau_y = jnp.where(down, -disc.along_x, disc.along_x), jnp.abs(disc.along_y)
    turn = cross(tau_x, tau_y, disc.normal_x, disc.normal_y)
    speed = disc.vx * disc.normal_x + disc.vy * disc.normal_y
    gradient = disc.rate * (tau_x * disc.normal_y - tau_y * disc.normal_x)
    density = drag_coefficient * medium.density
    load = disc_load(
        radius,
        medium.level - disc.y,
        tau_y,
        speed,
        gradient,
        density,
        2.0 * hydrostatics * medium.gravity * density,
    )
    force, first = load.drag + load.pressure, load.drag_moment + load.pressure_moment
    return WaterLoad(
        fx=-force * disc.normal_x,
        fy=-force * disc.normal_y,
        moment=-turn * first,
        drag=-(load.drag * speed + load.drag_moment * gradient),
        pressure=-(load.pressure * speed + load.pressure_moment * gradient),
        wetted=load.wetted,
    )
