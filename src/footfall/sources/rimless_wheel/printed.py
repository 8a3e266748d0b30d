"""Equations as the source prints them, beside which ours are put.

Symbols and signs are the source's. Numbers or arrays of equal shape; brackets of b_2 of the
transfer are balanced (E4).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from footfall.machines.rimless_wheel.torso_wheel import TorsoWheel


class Symbols(NamedTuple):
    """Parameters of section 1.1; J_1 is left out where it is zero."""

    m1: float
    m2: float
    c: float
    k: float
    c_v: float
    l0: float
    n: int = 10
    g: float = 9.81
    j1: float = 0.0
    j2: float = 0.0

    @property
    def alpha(self) -> float:
        return 2.0 * np.pi / self.n


def symbols_of(wheel: TorsoWheel) -> Symbols:
    """The source's symbols of a wheel with linear spokes."""
    leg: Any = wheel.leg
    return Symbols(
        m1=float(wheel.wheel_mass),
        m2=float(wheel.torso.mass),
        c=float(wheel.torso.com_distance),
        k=float(leg.stiffness),
        c_v=float(leg.damping),
        l0=float(leg.rest_length),
        n=wheel.spokes,
        g=float(wheel.gravity),
        j1=float(wheel.wheel_inertia),
        j2=float(wheel.torso.inertia),
    )


def stance(
    p: Symbols, y: Sequence[Any], torque: Any = 0.0, *, b3_as_printed: bool = True
) -> np.ndarray:
    """Accelerations (theta, phi, l) by equation 6, of y = (theta, phi, l and their rates).

    Without `b3_as_printed` the third row is mended (E1).
    """
    theta, phi, l, theta_v, phi_v, l_v = (np.asarray(v, float) for v in y)
    s, c, total = np.sin(theta - phi), np.cos(theta - phi), p.m1 + p.m2
    none, m2c = 0.0 * theta, p.c * p.m2
    force = -p.k * (l - p.l0) - p.c_v * l_v
    matrix = [
        [m2c * l * c - l**2 * total - p.j1, -m2c * p.c + l * m2c * c - p.j2 + none, m2c * s],
        [m2c * l * c, -m2c * p.c - p.j2 + none, m2c * s],
        [none, m2c * s, -total + none],
    ]
    shared = p.g * m2c * np.sin(phi) - 2 * m2c * l_v * theta_v * c + m2c * l * theta_v**2 * s
    b1 = (
        2 * l * l_v * total * theta_v
        - p.g * l * total * np.sin(theta)
        + shared
        - m2c * l * phi_v**2 * s
    )
    b3 = p.g * total * np.cos(theta) - force
    if b3_as_printed:
        b3 = b3 - l * p.m1 * theta_v**2 - l * p.m2 * theta_v**2 * c
    else:
        b3 = b3 - l * total * theta_v**2 + m2c * phi_v**2 * c
    return _solved(matrix, [b1, shared - torque, b3])


def transfer(p: Symbols, y: Sequence[Any], *, b3_as_printed: bool = True) -> np.ndarray:
    """Rates (theta, phi, l) after support transfer by equation 17, of y as in `stance`.

    Without `b3_as_printed` the momentum before is projected on the new spoke (E2).
    """
    theta, phi, l, theta_v, phi_v, l_v = (np.asarray(v, float) for v in y)
    new, total, none = theta + p.alpha, p.m1 + p.m2, 0.0 * theta
    s, c, m2c = np.sin(new - phi), np.cos(new - phi), p.c * p.m2
    matrix = [
        [-m2c * p.l0 * c, m2c * p.c + p.j2 + none, -m2c * s],
        [
            p.j1 + p.l0**2 * total - m2c * p.l0 * c,
            m2c * p.c - p.l0 * m2c * c + p.j2,
            -m2c * s,
        ],
        [none, -m2c * s, total + none],
    ]
    hub_back = l_v * np.sin(theta) + l * theta_v * np.cos(theta)
    hub_up = l_v * np.cos(theta) - l * theta_v * np.sin(theta)
    back, up = hub_back - p.c * phi_v * np.cos(phi), hub_up + p.c * phi_v * np.sin(phi)
    b1 = p.j2 * phi_v - m2c * (np.cos(phi) * back - np.sin(phi) * up)
    b2 = p.j1 * theta_v + p.j2 * phi_v
    b2 = b2 - p.m2 * (
        (p.l0 * np.sin(new) - p.c * np.sin(phi)) * up
        - (p.l0 * np.cos(new) - p.c * np.cos(phi)) * back
    )
    b2 = b2 + p.m1 * (p.l0 * np.cos(new) * hub_back - p.l0 * np.sin(new) * hub_up)
    if b3_as_printed:
        b3 = l_v * total - m2c * phi_v * np.sin(theta - phi)
    else:
        b3 = total * (l_v * np.cos(p.alpha) + l * theta_v * np.sin(p.alpha)) - m2c * phi_v * s
    return _solved(matrix, [b1, b2, b3])


def _solved(matrix: Sequence[Sequence[Any]], right: Sequence[Any]) -> np.ndarray:
    """A x = b for each lane; rows of the result are the unknowns."""
    a = np.moveaxis(np.array(np.broadcast_arrays(*(v for row in matrix for v in row))), 0, -1)
    b = np.moveaxis(np.array(np.broadcast_arrays(*right)), 0, -1)
    solved = np.linalg.solve(a.reshape(*a.shape[:-1], 3, 3), b[..., None])[..., 0]
    return np.moveaxis(solved, -1, 0)


def steering_rates(length: float, left: float, right: float, b: float) -> tuple[float, float]:
    """(forward speed, yaw rate) by equations 19 to 21, of the rates of both stance angles."""
    return 0.5 * length * (right + left), 0.5 * length / b * (right - left)


def difference_acceleration(difference: float, b: float, l0: float, j_d: float) -> float:
    """Acceleration of theta_d by equations 23 and 24, of T_l - T_r."""
    return difference * b / l0 / j_d


def yaw_rate_after(t: Any, difference: float, b: float, l0: float, j_d: float) -> Any:
    """Yaw rate from rest at a constant T_l - T_r by equations 21 to 24 and 28: nothing takes it."""
    theta_d = difference_acceleration(difference, b, l0, j_d) * t
    return steering_rates(l0, theta_d, -theta_d, b)[1]


def landed_angles(left: float, right: float) -> tuple[float, float]:
    """Stance angles after both sides have landed, by equations 30 and 31."""
    return -left, -right


def landed_rates(mean: float, left: float, right: float) -> tuple[float, float]:
    """Rates of both stance angles after a landing, from their mean then and the rates before."""
    return mean + (left - right), mean - (left - right)


def motor_power(torque: float, stance_rate: float) -> float:
    """Equation 34."""
    return torque * stance_rate
