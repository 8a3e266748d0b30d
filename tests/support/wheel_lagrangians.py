"""Equations of motion of the three wheels, derived from the positions of their masses and from
nothing else.
"""

import functools
from typing import Any, NamedTuple

import mpmath
import numpy as np
import sympy as sp


class Motion(NamedTuple):
    """M(q) q_dd = force, as functions of symbol values, evaluated with 40 digits."""

    mass: Any
    force: Any
    symbols: tuple[sp.Symbol, ...]

    def at(self, **values: float) -> tuple[np.ndarray, np.ndarray]:
        """(mass matrix, accelerations) at these values."""
        with mpmath.workdps(40):
            given = [mpmath.mpf(float(values[s.name])) for s in self.symbols]
            mass = self.mass(*given)
            solution = mpmath.lu_solve(mass, self.force(*given))
            return np.array(mass.tolist(), float), np.array([float(v) for v in solution])


def lagrange(
    kinetic: sp.Expr, potential: sp.Expr, power: sp.Expr, dissipation: sp.Expr, q: list, v: list
) -> Motion:
    """Euler-Lagrange with T(q, v), V(q), the power of the actuators (linear in v) and a Rayleigh
    dissipation function.
    """
    q, v = sp.Matrix(q), sp.Matrix(v)
    momentum = sp.Matrix([kinetic]).jacobian(v).T
    mass = momentum.jacobian(v)
    force = sp.Matrix([kinetic - potential]).jacobian(q).T - momentum.jacobian(q) * v
    force += sp.Matrix([power - dissipation]).jacobian(v).T
    symbols = tuple(sorted(mass.free_symbols | force.free_symbols, key=str))
    return Motion(
        sp.lambdify(symbols, mass, "mpmath"), sp.lambdify(symbols, force, "mpmath"), symbols
    )


def slope_axes(gamma: sp.Symbol) -> tuple[sp.Matrix, sp.Matrix]:
    """Unit vectors along (downhill) and normal to the ground, in (horizontal, vertical)
    components.
    """
    return sp.Matrix([sp.cos(gamma), -sp.sin(gamma)]), sp.Matrix([sp.sin(gamma), sp.cos(gamma)])


@functools.cache
def torso_wheel_motion() -> Motion:
    """Hub mass on a springy spoke from a fixed foot, torso mass on an arm from the hub; coordinates
    theta, phi, l.
    """
    theta, phi, l, theta_v, phi_v, l_v = sp.symbols("theta phi l theta_v phi_v l_v")
    m1, m2, c, j1, j2, k, c_v, l0, g, gamma, torque = sp.symbols(
        "m1 m2 c j1 j2 k c_v l0 g gamma torque"
    )
    along, normal = slope_axes(gamma)
    # Foot - hub = l (sin theta, -cos theta).
    hub = -l * (sp.sin(theta) * along - sp.cos(theta) * normal)
    torso = hub + c * (sp.sin(phi) * along - sp.cos(phi) * normal)
    q, v = [theta, phi, l], [theta_v, phi_v, l_v]
    hub_v, torso_v = hub.jacobian(q) * sp.Matrix(v), torso.jacobian(q) * sp.Matrix(v)
    kinetic = (
        m1 * hub_v.dot(hub_v) + m2 * torso_v.dot(torso_v) + j1 * theta_v**2 + j2 * phi_v**2
    ) / 2
    potential = g * (m1 * hub[1] + m2 * torso[1]) + k * (l - l0) ** 2 / 2
    return lagrange(kinetic, potential, torque * (phi_v - theta_v), c_v * l_v**2 / 2, q, v)


@functools.cache
def rigid_wheel_motion() -> Motion:
    """One mass on a rigid spoke."""
    theta, theta_v, m, l, j, g, gamma, torque = sp.symbols("theta theta_v m l j g gamma torque")
    along, normal = slope_axes(gamma)
    hub = -l * (sp.sin(theta) * along - sp.cos(theta) * normal)
    hub_v = hub.diff(theta) * theta_v
    kinetic = (m * hub_v.dot(hub_v) + j * theta_v**2) / 2
    return lagrange(kinetic, m * g * hub[1], -torque * theta_v, sp.Integer(0), [theta], [theta_v])


@functools.cache
def steered_wheel_motion() -> Motion:
    """Way gone s, height z, roll r, torso phi, heading psi.

    The neglects of the page's section 6 are made in the energies, before any equation exists: the
    torso moves in the vertical plane of travel, yaw and roll carry their own inertias, and a side's
    hub advances by ds - sigma b dpsi and stands at z + sigma b r. Each side's foot is fixed, so its
    spoke is the line from there to the hub; the springs and dampers of the spokes and the work of a
    torque on the angle between torso and spoke then give all forces."""
    s, z, r, phi, psi = q = list(sp.symbols("s z r phi psi"))
    s_v, z_v, r_v, phi_v, psi_v = v = list(sp.symbols("s_v z_v r_v phi_v psi_v"))
    m1, m2, c, j2, j_roll, j_psi, b, k, c_v, l0, g = sp.symbols(
        "m1 m2 c j2 j_roll j_psi b k c_v l0 g"
    )
    torso = sp.Matrix([s + c * sp.sin(phi), z - c * sp.cos(phi)])
    torso_v = torso.jacobian(q) * sp.Matrix(v)
    kinetic = (
        m1 * (s_v**2 + z_v**2)
        + m2 * torso_v.dot(torso_v)
        + j2 * phi_v**2
        + j_roll * r_v**2
        + j_psi * psi_v**2
    )
    potential = g * (m1 * z + m2 * torso[1])
    power = dissipation = sp.Integer(0)
    for sign, side in ((1, "left"), (-1, "right")):
        ahead = sp.Symbol(f"ahead_{side}") - (s - sign * b * psi)
        height = z + sign * b * r
        length, angle = sp.sqrt(ahead**2 + height**2), sp.atan2(ahead, height)
        rate = lambda f: (sp.Matrix([f]).jacobian(q) * sp.Matrix(v))[0]  # noqa: E731
        potential += (k / 2) * (length - l0) ** 2 / 2
        dissipation += (c_v / 2) * rate(length) ** 2 / 2
        power += sp.Symbol(f"torque_{side}") * (phi_v - rate(angle))
    return lagrange(kinetic / 2, potential, power, dissipation, q, v)
