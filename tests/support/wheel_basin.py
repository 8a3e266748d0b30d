"""The closed form of the passive wheel's basin."""

import math

import numpy as np


def slowest(system, angle):
    """Least |spoke rate| with which the wheel walks from an angle: (rigid.1) has an energy.

    rate^2 / 2 + (g/l) cos(angle - slope) is kept, so before the apex the start must have what is
    missing there; and what the landing leaves, cos(alpha)^2 of rate^2, must do for the next apex.
    """
    g_over_l, slope = system.gravity / system.leg.length, system.terrain.descent
    alpha = system.spoke_spacing

    first = 2 * g_over_l * (1 - np.cos(angle - slope)) * (angle > slope)
    after = 2 * g_over_l * (1 - math.cos(alpha / 2 - slope))
    before = after / math.cos(alpha) ** 2
    second = before - 2 * g_over_l * (np.cos(angle - slope) - math.cos(alpha / 2 + slope))
    return np.sqrt(np.maximum(np.maximum(first, second), 0.0))
