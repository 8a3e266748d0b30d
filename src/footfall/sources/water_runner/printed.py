"""The source's equations as printed, misprints and all.

Angles th0 to th3 counter-clockwise [rad], u(a) = (cos a, sin a), its quarter turn v(a).
"""

import itertools

import numpy as np

from footfall.machines.water_runner.four_bar_leg import FourBarLeg

L0, L1, L2, L3, L4 = FourBarLeg().links

#: Equation 7 and 8; m_r is the robot's mass [kg].
GROUND, STATIC, KINETIC, MASS = 0.25e9, 0.4, 0.3, 0.060
DRAG, WATER, GRAVITY = 0.703, 1000.0, 9.81


def disc_drag(radius: float, speed: float, depth: float) -> float:
    """D of eq 1."""
    area = np.pi * radius**2
    return float(DRAG * (0.5 * area * WATER * speed**2 + area * WATER * GRAVITY * depth))


def pad_loads(
    radius: float, low: float, top: float, speed: float, gradient: float
) -> tuple[float, float]:
    """(F_w, M_w) of eq 2 and 3, the first without density; `low` and `top` are heights of edges.

    The surface is at 0, so p = -low/(top - low), at most 1, and h(s) is eq 5. By Gauss-Legendre in
    the angle of the strip, on each side of where a(s) changes its sign.
    """
    p = min(max(-low / (top - low), 0.0), 1.0)
    end = -radius + 2.0 * p * radius
    turn = -speed / gradient if gradient else end
    cuts = sorted({-radius, end, min(max(turn, -radius), end)})
    nodes, weights = np.polynomial.legendre.leggauss(60)
    force = moment = 0.0
    for a, b in itertools.pairwise(cuts):
        angles = np.arcsin(np.array([a, b]) / radius)
        half = 0.5 * (angles[1] - angles[0])
        angle = angles.mean() + half * nodes
        s, across = radius * np.sin(angle), radius * np.cos(angle)
        normal = speed + gradient * s
        depth = -low * (1.0 - (s + radius) / (2.0 * p * radius))
        load = across * (2.0 * GRAVITY * depth + normal * np.abs(normal)) * across * half * weights
        force += DRAG * load.sum()
        moment += DRAG * WATER * (load * -s).sum()
    return float(force), float(moment)


def ground_force(depth: float, depth_rate: float) -> float:
    """F_y of eq 7, with y_p the penetration."""
    return GROUND * abs(depth) ** 3 * (1.0 - depth_rate) if depth > 0 else 0.0


def ground_friction(acceleration: float, normal: float) -> float:
    """F_x of eq 8."""
    pull = MASS * acceleration
    return pull if pull < STATIC * normal else KINETIC * normal


def u(angle: float) -> np.ndarray:
    return np.array([np.cos(angle), np.sin(angle)])


def v(angle: float) -> np.ndarray:
    return np.array([-np.sin(angle), np.cos(angle)])


def coupler_length(th0: float, th1: float, th3: float) -> float:
    """|B - A| (eq 10, 11)."""
    return float(np.hypot(*(L0 * u(th0) + L3 * u(th3) - L1 * u(th1))))


def rocker_cosine(th0: float, th1: float) -> float:
    """What eq 17 takes the arc cosine of, with alpha, beta, gamma of eq 13 to 15."""
    alpha, beta = 2 * L3 * (L0 * u(th0) - L1 * u(th1))
    twice = 2 * L0 * L1 * np.cos(th0) * np.cos(th1)
    return float(-(L0**2 + L3**2 + L1**2 - L2**2 - twice - twice) / np.hypot(alpha, beta))


def rocker_angle(th0: float, th1: float) -> float:
    """theta3 (eq 16, 17), foot below the body."""
    alpha, beta = 2 * L3 * (L0 * u(th0) - L1 * u(th1))
    return float(np.arctan(beta / alpha) + np.arccos(rocker_cosine(th0, th1)))


def coupler_angle(th0: float, th1: float, th3: float) -> float:
    """theta2 (eq 18)."""
    x, y = L0 * u(th0) + L3 * u(th3) - L1 * u(th1)
    return float(np.arctan(y / x))


def _columns(th2: float, th3: float) -> np.ndarray:
    return np.stack([L3 * v(th3), -L2 * v(th2)], axis=1)


def rates(angles: tuple[float, ...], th0_v: float, th1_v: float) -> np.ndarray:
    """(theta3', theta2') of eq 21."""
    th0, th1, th2, th3 = angles
    return np.linalg.solve(_columns(th2, th3), L0 * v(th0) * th0_v + L1 * v(th1) * th1_v)


def accelerations(
    angles: tuple[float, ...], first: tuple[float, ...], th0_a: float, th1_a: float
) -> np.ndarray:
    """(theta3'', theta2'') of eq 25."""
    th0, th1, th2, th3 = angles
    w0, w1, w2, w3 = first
    right = -L0 * v(th0) * th0_a + L1 * v(th1) * th1_a + L0 * u(th0) * w0**2
    right = right - L1 * u(th1) * w1**2 - L2 * u(th2) * w2**2 + L3 * u(th3) * w3**2
    return np.linalg.solve(_columns(th2, th3), right)


def nine_balances(th1: float, th2: float, th3: float, load: tuple[float, ...]) -> np.ndarray:
    """[F_R1x, F_R1y, F_R3x, F_R3y, F_1x, F_1y, F_3x, F_3y, T] of eq 47 under (P_x, P_y, M)."""
    (c1, s1), (c2, s2), (c3, s3) = u(th1), u(th2), u(th3)
    far = L2 + L4
    matrix = np.array([
        [0, 0, 0, 0, 1, 0, 1, 0, 0],
        [0, 0, 0, 0, 0, 1, 0, 1, 0],
        [0, 0, 0, 0, -L4 * s2, L4 * c2, -far * s2, far * c2, 0],
        [1, 0, 0, 0, -1, 0, 0, 0, 0],
        [0, 1, 0, 0, 0, -1, 0, 0, 0],
        [0, 0, 0, 0, L1 * s1, -L1 * c1, 0, 0, 1],
        [0, 0, 1, 0, 0, 0, -1, 0, 0],
        [0, 0, 0, 1, 0, 0, 0, -1, 0],
        [0, 0, 0, 0, 0, 0, L3 * s3, -L3 * c3, 0],
    ])  # fmt: skip
    return np.linalg.solve(matrix, np.array([-load[0], -load[1], -load[2], 0, 0, 0, 0, 0, 0]))


def body_moment(th0: float, com: float, r1: np.ndarray, r3: np.ndarray, torque: float) -> float:
    """Moment on the robot about its centre of mass (eq 50), `com` metres along OC."""
    c, s = np.cos(th0), np.sin(th0)
    return float(
        -r1[1] * com * c + r1[0] * com * th0 - r3[1] * (com - L0) * c + r3[0] * (com - L0) * s
    ) - torque  # fmt: skip
