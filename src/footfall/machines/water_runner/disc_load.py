"""Water load on a circular pad, integrated over its wetted part in closed form.

The pad is a thin disc of radius R. s in [-R, R] runs along its axis from the lower edge to the
upper one, the strip at s is 2 sqrt(R^2 - s^2) wide, h(s) = d - tau_y s below the surface, and meets
the water with normal speed a(s) = a0 + a1 s. Strip by strip it feels the drag and the hydrostatic
pressure of an open cavity behind a disc (Glasheen and McMahon's law):

    q(s) = C_D rho sqrt(R^2 - s^2) [2 g chi h(s) + a |a|]                                    (pad.1)
    F_w = integral of q,  S_1 = integral of s q,  over -R <= s <= s_t                        (pad.2)
    s_t = clamp(d/tau_y, -R, R)

The force on the pad is -F_w n, the moment about its centre -cross(tau, n) S_1, the power put into
it -(F_w a0 + S_1 a1).
"""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from footfall.numerics.scalar import Scalar


class DiscLoad(NamedTuple):
    """What the water does to a pad: F_w = drag + pressure, S_1 = drag_moment + pressure_moment.

    Apart, because drag only dissipates, drag a0 + drag_moment a1 >= 0, while pressure may give
    power back.
    """

    drag: Scalar  #: [N] part of F_w from a |a|
    drag_moment: Scalar  #: [N m] its part of S_1
    pressure: Scalar  #: [N] part of F_w from the depth h, never negative
    pressure_moment: Scalar  #: [N m] its part of S_1
    wetted: Scalar  #: p = (1 + s_t/R)/2, from 0 for a dry pad to 1 for a drowned one


def disc_load(
    radius: Scalar,
    depth: Scalar,
    axis_up: Scalar,
    normal_speed: Scalar,
    normal_gradient: Scalar,
    drag_density: Scalar,
    pressure_density: Scalar,
) -> DiscLoad:
    """The load (pad.2) on a pad whose centre lies d = `depth` below the surface.

    With tau_y = `axis_up` >= 0.

    `normal_speed` is a0, `normal_gradient` a1, `drag_density` C_D rho, `pressure_density` 2 g chi
    C_D rho. In units of R, with xi_t = s_t/R, b = R a1, and j_k(xi) the integral of s^k sqrt(1 -
    s^2) from -1 to xi:

        m_k = sign a(xi_t) [j_k(xi_t) - 2 j_k(xi_0)]                                         (pad.3)
        xi_0 = -a0/b where a changes sign below xi_t, else -1
        drag = C_D rho R^2 (a0^2 m_0 + 2 a0 b m_1 + b^2 m_2)                                 (pad.4)
        drag_moment: R^3 and m_1, m_2, m_3
        pressure = 2 g chi C_D rho R^2 (d j_0 - R tau_y j_1)                                 (pad.5)
        pressure_moment: R^3 and j_1, j_2; all at xi_t

    A level pad (tau_y = 0) is all wet where d > 0, else dry; a dry pad feels exactly nothing. First
    and second derivatives are right wherever they exist, and finite everywhere.
    """
    a0, half_height = normal_speed, radius * axis_up
    # Where the surface does not cut the pad, nothing is divided by its height, which may be zero.
    dry, cut = depth <= -half_height, abs(depth) < half_height
    top = jnp.where(dry, -1.0, jnp.where(cut, depth / jnp.where(cut, half_height, 1.0), 1.0))
    j0, j1, j2, j3 = _disc_moments(top)

    b = radius * normal_gradient
    lower_falls, upper_falls = a0 - b < 0.0, a0 + b * top < 0.0
    turns = lower_falls ^ upper_falls  # then b is not zero
    turn = jnp.where(turns, -a0 / jnp.where(turns, b, 1.0), -1.0)
    # a(xi_0) = 0, so the load does not change with xi_0 to second order: leave it out of the
    # derivatives.
    k0, k1, k2, k3 = _disc_moments(lax.stop_gradient(turn))
    m0, m1, m2, m3 = j0 - 2.0 * k0, j1 - 2.0 * k1, j2 - 2.0 * k2, j3 - 2.0 * k3

    square, mixed, gradient = a0 * a0, 2.0 * a0 * b, b * b
    area = radius * radius
    drag, pressure = drag_density * area, pressure_density * area
    drag = jnp.where(upper_falls, -drag, drag)
    return DiscLoad(
        drag=drag * (square * m0 + mixed * m1 + gradient * m2),
        drag_moment=drag * radius * (square * m1 + mixed * m2 + gradient * m3),
        pressure=pressure * (depth * j0 - half_height * j1),
        pressure_moment=pressure * radius * (depth * j1 - half_height * j2),
        wetted=0.5 + 0.5 * top,
    )


@jax.custom_jvp
def _disc_moments(xi: Array) -> tuple[Array, Array, Array, Array]:
    """j_k(xi) = integral of s^k sqrt(1 - s^2) from -1 to xi, k = 0..3; all exactly zero at xi = -1.

    Its own derivative, j_k' = xi^k sqrt(1 - xi^2), because the formulas' is infinite minus infinite
    at both ends.
    """
    xi = jnp.clip(xi, -1.0, 1.0)  # a kernel's quotient may round past the edge
    square = (1.0 - xi) * (1.0 + xi)
    width = jnp.sqrt(square)
    cube = square * width
    j0 = _area(xi, width, cube)
    return j0, cube * (-1.0 / 3.0), 0.25 * (j0 - xi * cube), cube * (0.2 * square - 1.0 / 3.0)


@_disc_moments.defjvp
def _disc_moments_jvp(
    primals: tuple[Array], tangents: tuple[Array]
) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
    (xi,), (dxi,) = primals, tangents
    square = (1.0 - xi) * (1.0 + xi)
    inside = square > 0.0
    # Chosen twice, so that the second derivative of a drowned or dry pad is zero and not 0/0.
    d0 = jnp.where(inside, jnp.sqrt(jnp.where(inside, square, 1.0)), 0.0) * dxi
    d1 = xi * d0
    d2 = xi * d1
    return _disc_moments(xi), (d0, d1, d2, xi * d2)


#: j_0 = (1 - xi^2)^(3/2) P((1 + xi)/2) for xi <= 0, constant term first; least relative error:
#: 1.0e-16, and 2.0e-8.
_AREA_64 = (
    0.3333333333333333,
    0.4000000000000661,
    0.4571428571215365,
    0.507936510665067,
    0.5541123694610431,
    0.5967442373145988,
    0.6363082115296883,
    0.678066916573616,
    0.6507577732691349,
    1.3758620719647692,
    -4.472556887194927,
    34.75594391243106,
    -171.8821146142564,
    694.703155589678,
    -2198.9714018447125,
    5476.487729934945,
    -10576.961476678414,
    15549.690990627376,
    -16824.62108381504,
    12663.729344188567,
    -5938.876247330182,
    1317.8428862191827,
)
_AREA_32 = (
    0.3333333399067065,
    0.3999967944540107,
    0.45739868239630266,
    0.5000565426047964,
    0.677125530131894,
    -0.5074033545884984,
    6.697102069568113,
    -20.100745708454856,
    44.424155083998876,
    -51.631251371790285,
    29.133792867862468,
)


def _area(xi: Array, width: Array, cube: Array) -> Array:
    """j_0 = [xi sqrt(1 - xi^2) + asin(xi) + pi/2]/2: half the area of the unit disc below xi.

    One pad at a time goes to the library's asin (a shorter program to trace and compile). Lanes go
    to a polynomial: a CPU has no asin for lanes, and without the difference of nearly equal numbers
    a pad that just touches keeps all its digits.
    """
    if jnp.ndim(xi) == 0:
        area = 0.5 * (xi * width + jnp.arcsin(xi)) + 0.25 * math.pi
        return jnp.where(xi > -1.0, jnp.maximum(area, 0.0), 0.0)
    small = 0.5 * (1.0 - jnp.abs(xi))  # by symmetry, of the smaller part
    coefficients = _AREA_64 if np.finfo(xi.dtype).bits > 32 else _AREA_32
    value = jnp.full_like(small, coefficients[-1])
    for c in coefficients[-2::-1]:
        value = value * small + c
    part = cube * value
    return jnp.where(xi > 0.0, 0.5 * math.pi - part, part)
