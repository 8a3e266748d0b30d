"""Every value of section 7 of the sea urchin's physics page, but for the table of the whole
robot.
"""

import math

import numpy as np
import pytest

from footfall import load, simulate
from footfall.machines.sea_urchin.gain_advice import explicit_step_limit, least_stiffness
from footfall.machines.sea_urchin.numbers import SHELL_MASS, profile_p, profile_t
from footfall.machines.sea_urchin.spike import Spike
from footfall.machines.sea_urchin.spike_control import SpikePid
from footfall.machines.sea_urchin.spike_dynamics import coriolis, gravity_load, mass_matrix
from footfall.machines.sea_urchin.spike_gait import SpikeGait
from footfall.machines.sea_urchin.spike_kinematics import (
    SpikeShape,
    attachment,
    ball_jacobian,
    forward,
    inverse,
    within_stroke,
)
from support.spikes import to_body

Q, V = (0.3, 1.1, 0.02), (0.7, -0.4, 0.1)
DOWN = 0.03 * math.sqrt(3)  # 3 sqrt(3) cm
TOLERANCE = 1e-8  # the page's, for kinematics


@pytest.mark.parametrize(
    ("ball", "contact", "joints", "reached"),
    [
        (0.04, (0.09, DOWN, 0.015), (0.132131468, 1.734531158, 0.012022161), True),
        (0.04, (0.09, DOWN, 0.0), (0.132131468, 1.570796327, 0.010791399), True),
        (0.04, (0.09, 0.042, 0.0), (0.022218565, 1.570796327, 0.010022219), True),
        (0.04, (0.09, DOWN, -0.015), (0.132131468, 1.407061495, 0.012022161), True),
        (0.005, (0.09, DOWN, 0.015), (0.480930969, 1.717495605, 0.057617663), False),
        # The page's theta_1 = 0.52359879 belongs to x = 0.05629165: at 0.065 cos 30 deg exactly it
        # is 30 deg exactly.
        (
            0.005,
            (0.065 * math.cos(math.pi / 6), 0.0375, 0.01),
            (math.pi / 6, 1.72344566, 0.02076473),
            True,
        ),
        (0.005, (0.05629165, 0.0375, 0.01), (0.52359879, 1.72344566, 0.02076473), True),
    ],
)
def test_inverse_kinematics(ball, contact, joints, reached):
    shape = SpikeShape(ball=ball)
    found = inverse(shape, *contact)
    np.testing.assert_allclose(found, joints, rtol=0, atol=TOLERANCE)
    assert within_stroke(shape, found[2]) == reached


def test_forward_kinematics_and_jacobian():
    shape = SpikeShape(ball=0.005)
    centre = forward(shape, *Q)
    np.testing.assert_allclose(
        centre, (0.05534119, 0.01711904, -0.02948375), rtol=0, atol=TOLERANCE
    )
    np.testing.assert_allclose(
        to_body(0.06, False, 0, centre),
        (0.10730271, -0.02948375, -0.04711904),
        rtol=0,
        atol=TOLERANCE,
    )
    rows = ball_jacobian(shape, *Q)
    expected = [
        (-0.01711904, 0.02816690, 0.85140291),
        (0.05534119, 0.00871304, 0.26336978),
        (0, 0.05792848, -0.45359612),
    ]
    np.testing.assert_allclose(rows, expected, rtol=0, atol=TOLERANCE)
    assert np.linalg.det(np.array(rows)) == pytest.approx(0.00376535, abs=TOLERANCE)


def test_the_attachment_of_the_page():
    for index in range(6):
        s, c = math.sin(index * math.pi / 3), math.cos(index * math.pi / 3)
        for upper, height in ((False, -0.03), (True, 0.03)):
            place, rows = attachment(0.06, upper, index)
            ring = 0.06 * math.sqrt(3) / 2
            np.testing.assert_allclose(place, (ring * c, ring * s, height), rtol=0, atol=1e-17)
            np.testing.assert_allclose(
                rows, [(c, 0, -s), (s, 0, c), (0, -1, 0)], rtol=0, atol=1e-16
            )


MODELS = {
    "default, rods": (
        Spike(tip_mass=0.0),
        (7.30710514e-5, 9.2e-5, 0.05),
        (2.0156e-4, -1.7822e-4, -1.09837e-3),
        (-0.01837498, -0.002893, -0.12918288),
    ),
    "point masses": (
        Spike(tip_mass=0.0, bodies="points"),
        (6.67170469e-5, 8.4e-5, 0.05),
        (2.0337e-4, -1.7664e-4, -1.09837e-3),
        (-0.01837498, -0.002893, -0.12918288),
    ),
    "telescoping, point masses": (
        Spike(tip_mass=0.0, bodies="points", reading="telescoping"),
        (1.0246e-4, 1.29e-4, 0.0125),
        (1.0979e-4, -1.2555e-4, -6.8648e-4),
        (-0.02255111, -0.0035505, -0.06459144),
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_dynamics(name):
    spike, mass, inertial, gravity = MODELS[name]
    sums = spike.inertia(Q[2])
    # The page's 1e-5, or half a unit of the last digit it prints, 1e-8, where that is more.
    np.testing.assert_allclose(
        mass_matrix(sums, Q[1]), mass, rtol=1e-5, atol=5e-9 if "telescoping" in name else 0.0
    )
    np.testing.assert_allclose(
        np.array(coriolis(sums, Q[1], V)) @ V, inertial, rtol=1e-5, atol=5e-9
    )
    np.testing.assert_allclose(gravity_load(sums, Q[0], Q[1], 9.81), gravity, rtol=1e-5)


def test_coriolis_matrix():
    rows = coriolis(Spike(tip_mass=0.0).inertia(Q[2]), Q[1], V)
    expected = [
        (1.4397378e-4, 2.6033584e-5, 1.1119508e-3),
        (-2.6033584e-5, 2e-4, -8e-4),
        (-1.1119508e-3, 8e-4, 0),
    ]
    np.testing.assert_allclose(rows, expected, rtol=1e-7, atol=1e-15)


def test_trajectory_of_profile_p():
    gait = SpikeGait(stance_time=3.0, swing_time=3.0, lift=profile_p().lift)
    expected = {
        0.0: {"s": 0.015, "y": 0.05196152},
        3.75: {"s": -0.01628906, "s_rate": 0.01109375, "y": 0.04698076, "y_rate": -0.01245191},
        4.5: {"s": 0.0, "s_rate": 0.0275, "y": 0.042},
        5.25: {"s": 0.01628906, "y_rate": 0.01245191},
    }
    for t, values in expected.items():
        path = gait.path(t)
        found = {
            "s": path.s,
            "s_rate": path.s_rate,
            "y": DOWN - path.rise,
            "y_rate": -path.rise_rate,
        }
        for name, value in values.items():
            assert float(found[name]) == pytest.approx(value, abs=1e-7), (t, name)


def test_the_source_s_swing():
    gait = SpikeGait(swing_time=10.0, swing_ends="resting", support="ignored")
    for t, value in ((1.0, -0.0147432), (2.5, -0.01189453), (5.0, 0.0)):
        assert float(gait.path(3.0 + t).s) == pytest.approx(value, abs=1e-7)
    assert float(gait.path(8.0).s_rate) == pytest.approx(0.005625, abs=1e-9)


def test_turns_and_speeds_of_the_page():
    """2 R/(r_s sqrt3/2 + x_0), in three cycles: 95.27 degrees for T, 72.6 for P; speeds R/T_s."""
    for profile, degrees in ((profile_t(), 95.27), (profile_p(), 72.6)):
        gait = SpikeGait(motion="turn", lift=profile.lift)
        assert 3 * math.degrees(gait.turn_per_cycle(profile.foothold)) == pytest.approx(
            degrees, abs=0.05
        )
    assert SpikeGait().ideal_speed == pytest.approx(0.01)
    assert SpikeGait(stance_time=3.6, swing_time=2.4).ideal_speed * 1e3 == pytest.approx(
        8.33, abs=0.005
    )
    assert SpikeGait(
        pattern="wave", stance_time=5.0, swing_time=1.0
    ).ideal_speed * 1e3 == pytest.approx(6.0)
    assert SpikeGait(
        pattern="pairs", stance_time=4.0, swing_time=2.0
    ).ideal_speed * 1e3 == pytest.approx(7.5)
    assert SpikeGait(swing_time=10.0, support="ignored").ideal_speed * 1e3 == pytest.approx(
        4.6, abs=0.05
    )


def test_stiffness_and_step_that_the_page_asks_for():
    robot = SHELL_MASS + 12 * Spike().mass
    assert robot == pytest.approx(1.232)
    assert least_stiffness(robot * 9.81, 0.01) == pytest.approx(403.0, abs=0.5)
    # "about 2e-5 s": 2 Jm/D with Jm = 9.2e-5
    assert explicit_step_limit(SpikePid(gains="source"), Spike(tip_mass=0.0)) == pytest.approx(
        2 * 9.2e-5 / 10, rel=2e-3
    )


def test_the_planar_kick():
    experiment = load("urchin-kick")
    run = simulate(experiment.system, experiment.start, experiment.plan)
    assert run.ending.outcome.name == "arrived" and run.ending.event == "full_stroke"
    assert run.ending.t == pytest.approx(0.057612, abs=1e-6)  # six digits are printed
    for name, value in (
        ("angle", 0.989835),
        ("angle_rate", -1.596795),
        ("extension_rate", 1.395049),
    ):
        assert run[f"kick.{name}"][-1] == pytest.approx(value, abs=1e-5)
    assert run["work.kick"][-1] == pytest.approx(40 * 0.04, rel=1e-8)  # rtol of the run
    gained = sum(run[name][-1] - run[name][0] for name in run.of_role("store"))
    assert gained == pytest.approx(1.6, rel=1e-8)
