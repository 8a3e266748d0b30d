"""Spokes without a damper land with a force of zero that rises.

They lift off later, or not at all. Against SciPy, in Cartesian coordinates.
"""

import dataclasses
import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from footfall import Outcome, load, simulate
from footfall.engines.plan import FixedSteps

M1, M2, COM, G, L0, ALPHA, LEAN = 2.46, 4.45, 0.06, 9.81, 0.26, math.pi / 5, 0.6
GAINS = (20.0, 40.0, 1.0)


def oracle(stiffness, speed):
    """(what ended it, when) of the wheel that starts on an unloaded spoke at 18 degrees with
    `speed` across it.

    Unknowns: hub (x, z), torso angle, their rates, integral of the pitch error; Newton's law for
    hub and torso, the spoke a spring to a foot."""
    foot = np.array([L0 * math.sin(ALPHA / 2), 0.0])

    def spoke(y):
        ahead, height = foot[0] - y[0], y[1]
        length = math.hypot(ahead, height)
        return ahead / length, height / length, length

    def rates(_, y):
        s, c, length = spoke(y)
        phi, phi_rate = y[2], y[5]
        torque = GAINS[0] * (LEAN - phi) + GAINS[1] * y[6] - GAINS[2] * phi_rate
        force = stiffness * (L0 - length)
        fx, fz = -force * s + torque / length * c, force * c + torque / length * s
        sp, cp, total = math.sin(phi), math.cos(phi), M1 + M2
        # Torso: point mass at hub + COM (sin phi, -cos phi); the torque turns it against the wheel.
        matrix = [
            [total, 0, M2 * COM * cp],
            [0, total, M2 * COM * sp],
            [M2 * COM * cp, M2 * COM * sp, M2 * COM**2],
        ]
        swing = M2 * COM * phi_rate**2
        right = [fx + swing * sp, fz - total * G - swing * cp, torque - M2 * G * COM * sp]
        return [*y[3:6], *np.linalg.solve(matrix, right), LEAN - phi]

    def landing(_, y):
        s, c, length = spoke(y)
        return length * c - L0 * (c * math.cos(ALPHA) - s * math.sin(ALPHA))

    def lifting(_, y):
        return L0 - spoke(y)[2]

    def falling(_, y):
        return y[1] - 0.5 * L0

    for event in (landing, lifting, falling):
        event.terminal, event.direction = True, -1
    s, c = math.sin(ALPHA / 2), math.cos(ALPHA / 2)
    t, y = 0.0, np.array([0.0, L0 * c, LEAN, speed * c, speed * s, 0.0, 0.0])
    for _ in range(20):
        done = solve_ivp(
            rates, (t, 2.0), y, "DOP853", events=(landing, lifting, falling), rtol=1e-11, atol=1e-13
        )
        t, y = done.t[-1], done.y[:, -1]
        which = next(i for i, found in enumerate(done.t_events) if len(found))
        if which:
            return ("landed", "lifted_off", "fell")[which], t
        s, c, _ = spoke(y)
        # No inertia of the wheel: no velocity jumps.
        foot[0] = y[0] + L0 * (s * math.cos(ALPHA) + c * math.sin(ALPHA))
    raise AssertionError("twenty footfalls")


@pytest.mark.parametrize(
    ("stiffness", "end"), [(15000.0, "lifted_off"), (1315.0, "fell"), (1e6, "lifted_off")]
)
def test_an_undamped_wheel_ends_when_the_oracle_says(stiffness, end):
    experiment = load(
        "rimless-wheel", ["leg.damping=0", f"leg.stiffness={stiffness}"], duration=0.5
    )
    ended, when = oracle(stiffness, 3.5 * L0)
    assert ended == end
    period = 2 * math.pi / math.sqrt(stiffness / (M1 + M2))
    # Tolerances of 1e-8; fourth order at a 300th of the fastest period.
    for fixed, bound in ((None, 1e-8), (FixedSteps(5e-5), 1e-7)):
        assert fixed is None or period > 300 * fixed.step
        run = simulate(
            experiment.system, experiment.start, dataclasses.replace(experiment.plan, fixed=fixed)
        )
        assert run.outcome is Outcome[end] and run.ending.t == pytest.approx(when, abs=bound)


def test_the_two_sided_wheel_walking_straight_ends_with_the_oracle_too():
    experiment = load(
        "rimless-wheel-turning",
        ["leg.damping=0", "steering_current=0", "start.speed=0.9"],
        duration=0.5,
    )
    ended, when = oracle(15000.0, 0.9)
    run = simulate(experiment.system, experiment.start, experiment.plan)
    # As above.
    assert run.outcome is Outcome[ended] and run.ending.t == pytest.approx(when, abs=1e-8)
