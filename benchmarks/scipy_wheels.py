"""The loops a user writes today:

SciPy's solve_ivp with a terminal event, restarted after every footfall. The yardstick.
"""

import numpy as np
from scipy.integrate import solve_ivp

ALPHA, LENGTH, GRAVITY = 2 * np.pi / 10, 0.26, 9.81
WHEEL, TORSO, COM = 2.46, 4.45, 0.06
STIFFNESS, DAMPING = 15000.0, 400.0
PITCH, KP, KI, KD, LIMIT = 0.6, 20.0, 40.0, 1.0, 14.688
SLOPE = 0.08


def passive_rhs(t, y):
    return np.array([y[1], GRAVITY / LENGTH * np.sin(y[0] - SLOPE)])


def passive_touchdown(t, y):
    return LENGTH * np.cos(y[0]) - LENGTH * np.cos(y[0] + ALPHA)


def passive_transfer(y):
    return np.array([y[0] + ALPHA, y[1] * np.cos(ALPHA)])


def torso_rhs(t, y):
    theta, phi, l, theta_dot, phi_dot, l_dot, integral = y
    total = WHEEL + TORSO
    s, c = np.sin(theta - phi), np.cos(theta - phi)
    torque = np.clip(KP * (PITCH - phi) + KI * integral - KD * phi_dot, -LIMIT, LIMIT)
    force = -STIFFNESS * (l - LENGTH) - DAMPING * l_dot
    matrix = np.array(
        [
            [total * l * l, -TORSO * COM * l * c, 0.0],
            [-TORSO * COM * l * c, TORSO * COM * COM, -TORSO * COM * s],
            [0.0, -TORSO * COM * s, total],
        ]
    )
    right = np.array(
        [
            -torque
            + total * GRAVITY * l * np.sin(theta)
            - 2 * total * l * l_dot * theta_dot
            + TORSO * COM * l * phi_dot**2 * s,
            torque
            - TORSO * GRAVITY * COM * np.sin(phi)
            + 2 * TORSO * COM * l_dot * theta_dot * c
            - TORSO * COM * l * theta_dot**2 * s,
            force
            - total * GRAVITY * np.cos(theta)
            + total * l * theta_dot**2
            - TORSO * COM * phi_dot**2 * c,
        ]
    )
    return np.array([theta_dot, phi_dot, l_dot, *np.linalg.solve(matrix, right), PITCH - phi])


def torso_touchdown(t, y):
    return y[2] * np.cos(y[0]) - LENGTH * np.cos(y[0] + ALPHA)


def torso_transfer(y):
    theta, phi, l, theta_dot, phi_dot, l_dot, integral = y
    c, s = np.cos(ALPHA), np.sin(ALPHA)
    return np.array(
        [
            theta + ALPHA,
            phi,
            LENGTH,
            (l * theta_dot * c - l_dot * s) / LENGTH,
            phi_dot,
            l_dot * c + l * theta_dot * s,
            integral,
        ]
    )


WHEELS = {
    "passive-wheel": (
        passive_rhs,
        passive_touchdown,
        passive_transfer,
        np.array([np.pi / 10, -3.0]),
    ),
    "rimless-wheel": (
        torso_rhs,
        torso_touchdown,
        torso_transfer,
        np.array([np.pi / 10, PITCH, LENGTH, -3.5, 0.0, 0.0, 0.0]),
    ),
}


def walk(
    name: str, method: str, duration: float, rtol: float, atol: float
) -> tuple[np.ndarray, int]:
    """Final state and number of footfalls."""
    rhs, touchdown, transfer, y = WHEELS[name]

    def event(t, y):
        return touchdown(t, y)

    event.terminal, event.direction = True, -1
    t, steps = 0.0, 0
    while t < duration:
        part = solve_ivp(rhs, (t, duration), y, method=method, rtol=rtol, atol=atol, events=event)
        t, y = part.t[-1], part.y[:, -1].copy()
        if part.status == 1:
            y, steps = transfer(y), steps + 1
    return y, steps
