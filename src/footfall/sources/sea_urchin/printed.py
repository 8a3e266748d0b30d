"""Formulas of the source as they are printed, with its numbers."""

import numpy as np

R_S_SHARES = (0.5, np.sqrt(3.0) / 2.0)  #: d_i and a_i of table 1.1, over r_s
PRISM = 0.04


def dh(theta: float, d: float, a: float, alpha: float) -> np.ndarray:
    """Denavit-Hartenberg: Rot_z(theta) Trans_z(d) Trans_x(a) Rot_x(alpha)."""
    c, s, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
    return np.array(
        [
            [c, -s * ca, s * sa, a * c],
            [s, c * ca, -c * sa, a * s],
            [0.0, sa, ca, d],
            [0.0, 0.0, 0.0, 1.0],
        ]
    )


def end_of_cylinder(q1: float, q2: float, d3: float) -> np.ndarray:
    """The matrix of eq 1.4."""
    c1, s1, c2, s2 = np.cos(q1), np.sin(q1), np.cos(q2), np.sin(q2)
    out = d3 + PRISM
    return np.array(
        [
            [c2 * c1, s1, c1 * s2, c1 * s2 * out],
            [s1 * c2, -c1, s1 * s2, s1 * s2 * out],
            [s2, 0.0, -c2, -c2 * out],
            [0.0, 0.0, 0.0, 1.0],
        ]
    )


def inverse_kinematic(fx: float, fy: float, fz: float, r: float, k: float) -> tuple[float, ...]:
    """The Matlab function of figure 1.3."""
    ang1 = np.arctan2(fy - r, fx)
    ang2 = np.arctan2(np.sqrt((fy - r) ** 2 + fx**2), -fz)
    return float(ang1), float(ang2), float(-fz / np.cos(ang2) - r - k)


def tip_jacobian(q1: float, q2: float, d3: float) -> np.ndarray:
    """J_v of eq 3.2."""
    c1, s1, c2, s2 = np.cos(q1), np.sin(q1), np.cos(q2), np.sin(q2)
    half = PRISM + d3 / 2
    return np.array(
        [
            [-half * s1 * s2, half * c1 * c2, c1 * s2],
            [half * c1 * s2, half * s1 * c2, s1 * s2],
            [0.0, half * s2, -c2],
        ]
    )


def angular_jacobian(q1: float) -> np.ndarray:
    """J_w of eq 3.1."""
    return np.array([[0.0, np.sin(q1), 0.0], [0.0, -np.cos(q1), 0.0], [1.0, 0.0, 0.0]])


def mass_matrix(q2: float, q3: float) -> np.ndarray:
    """D of eq 4.1."""
    square = np.sin(q2) ** 2
    d11 = 0.002 * q3 * square + 8.4e-5 * square + 0.0125 * q3**2 * square + 2e-15
    return np.diag([d11, 0.0125 * q3**2 + 0.002 * q3 + 8.4e-5, 0.05])


def coriolis(q: np.ndarray, v: np.ndarray, c_11_as_printed: bool = True) -> np.ndarray:
    """C of eq 4.2; mended, the rate of joint 2 stands where its angle is printed."""
    (_, q2, q3), (v1, v2, v3) = q, v
    s, c, both = np.sin(q2), np.cos(q2), np.sin(2 * q2)
    slope, moment = 0.0125 * q3 + 0.001, 0.0125 * q3**2 + 0.002 * q3 + 8.4e-5
    c11 = v3 * slope * s**2 + (q2 if c_11_as_printed else v2) * moment * c * s
    c12 = v1 * both * (0.00625 * q3**2 + 0.001 * q3 + 4.2e-5)
    c21 = -2e-37 * v1 * both * (3.125e34 * q3**2 + 5e33 * q3 + 2.1e32)
    c31 = -1e-34 * v1 * s**2 * (1.25e32 * q3 + 1e31)
    return np.array(
        [[c11, c12, v1 * s**2 * slope], [c21, v3 * slope, v2 * slope], [c31, -v2 * slope, 0.0]]
    )


def gravity(q: np.ndarray) -> np.ndarray:
    """g of eq 4.3."""
    q1, q2, q3 = q
    s1, c1, s2, c2 = np.sin(q1), np.cos(q1), np.sin(q2), np.cos(q2)
    return np.array(
        [
            0.001961 * c1 * s2 * (125.0 * q3 + 11),
            0.001961 * c2 * s1 * (125.0 * q3 + 11),
            0.2452 * s1 * s2,
        ]
    )


def quintic(begin: tuple[float, ...], end: tuple[float, ...], t0: float, t1: float) -> np.ndarray:
    """Coefficients a_0 ... a_5 by the matrix of eq 2.4: place, speed, acceleration at both ends."""

    def rows(t: float) -> list[list[float]]:
        return [
            [1, t, t**2, t**3, t**4, t**5],
            [0, 1, 2 * t, 3 * t**2, 4 * t**3, 5 * t**4],
            [0, 0, 2, 6 * t, 12 * t**2, 20 * t**3],
        ]

    return np.linalg.solve(np.array([*rows(t0), *rows(t1)], float), np.array([*begin, *end]))


def rolling(m: float, inertia: float, radius: float, force: float, g: float, y: np.ndarray):
    """(a'', d'') of section 4.2's last lines, y = (a, d, a', d')."""
    a, d, a_v, d_v = y
    arm = d + radius
    turning = (-m * g * arm * np.cos(a) - 2 * m * d_v * a_v * arm) / (inertia + m * arm**2)
    return turning, (force + m * a_v**2 * arm - m * g * np.sin(a)) / m
