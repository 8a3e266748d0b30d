"""Formulas and code of the source as they are printed."""

import numpy as np

from footfall.machines.two_leg.functions import LINK

#: Section 4's parameters [m, m, m/s], the step's height [m], gravity.
LIFT, STRIDE, SPEED, STEP = 0.01, -0.08, 0.05, 0.05
MASS, GRAVITY = 0.1, 9.81


def angles(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """`affectors_to_angles` [deg] of feet u apart and v above each other; (3, ...)."""
    alpha = np.sqrt(u**2 + v**2)
    knee = 2 * np.degrees(np.arccos(alpha / (2 * LINK)))
    first = np.degrees(np.arccos(v / alpha)) - knee / 2
    return np.array([first, knee, 180 - first - knee])


def static_torques(x: np.ndarray, foot_1_clamped: bool) -> np.ndarray:
    """tau_1, tau_2, tau_3 [N m] of the coordinates x_1 ... x_5."""
    _, x2, x3, x4, _ = x
    weight = MASS * GRAVITY
    if foot_1_clamped:
        rows = (5 / 2 * (x2 - 2 / 5 * x3 - 3 / 5 * x4), 3 / 2 * (x3 - x4), 0.0 * x3)
    else:
        rows = (0.0 * x3, 3 / 2 * (x3 - x2), 5 / 2 * (x4 - 2 / 5 * x3 - 3 / 5 * x2))
    return weight * np.array(rows)


def instantaneous_power(torque, thetadot, foot1_clamped, foot2_clamped) -> np.ndarray:
    """Its six lines."""
    inds = ~foot1_clamped & foot2_clamped
    thetadot_flipped = np.zeros(thetadot.shape)
    thetadot_flipped[:, inds] = -thetadot[:, inds]
    thetadot_flipped[:, ~inds] = thetadot[:, ~inds]
    return torque * thetadot_flipped


def full_steps(distance: float) -> int:
    """Steps that the loop of `walk_distance` makes before its last one."""
    steps, x = 0, 0.0
    while x + STRIDE > distance:
        x, steps = x + STRIDE, steps + 1
    return steps


def moves() -> list[float]:
    """Sizes of the 84 moves of the main script [m]."""
    ahead, beyond = [*[-STRIDE] * 6, 0.01], [*[-STRIDE] * 5, 0.03]
    flat = [[LIFT, across, LIFT] * 2 for across in (*ahead, *beyond)]
    return [STEP + LIFT, -STRIDE, LIFT] * 2 + [size for step in flat for size in step]
