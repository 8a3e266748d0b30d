"""Errata of the sea urchin's source: in each the printed form fails, and what stands here holds."""

import math

import numpy as np
import pytest
import sympy as sp

from footfall.hybrid.fields import ParameterError
from footfall.machines.sea_urchin.numbers import profile_p, profile_t
from footfall.machines.sea_urchin.spike import Spike
from footfall.machines.sea_urchin.spike_control import StiffnessControl
from footfall.machines.sea_urchin.spike_dynamics import coriolis, gravity_load, mass_matrix
from footfall.machines.sea_urchin.spike_gait import SpikeGait
from footfall.machines.sea_urchin.spike_kinematics import (
    SpikeShape,
    ball_jacobian,
    forward,
    inverse,
    jacobian,
    require_reach,
)
from support.spikes import Q, V, christoffel, mujoco_spike, mujoco_terms, vanishes

DOWN = 0.03 * math.sqrt(3)
# The source's reading of the masses.
TEXT = Spike(tip_mass=0.0, bodies="points", reading="telescoping")


def test_the_text_s_ball_does_not_reach_the_text_s_foothold():
    with pytest.raises(ParameterError, match=r"d_3 = 57\.62 mm of 0 to 40"):
        require_reach(SpikeShape(ball=0.005), 0.09, DOWN, 0.015, "foothold")
    require_reach(SpikeShape(ball=0.04), 0.09, DOWN, 0.015, "foothold")  # the script's does


def test_1_7_a_fixed_5_mm_beside_the_symbol_r_misses_the_floor():
    shape = SpikeShape(ball=0.04)
    # y - 0.005, r + k as in the script.
    printed = inverse(shape._replace(ball=0.005, prism=0.075), 0.09, DOWN, 0.015)
    assert forward(shape, *printed)[1] + 0.04 == pytest.approx(DOWN + 0.035)  # 35 mm below it
    assert forward(shape, *inverse(shape, 0.09, DOWN, 0.015))[1] + 0.04 == pytest.approx(
        DOWN, abs=1e-15
    )


def test_1_8_the_angle_of_a_ratio_loses_the_quadrant():
    x, w = -0.02, 0.06
    printed = math.atan2(w / x, 1.0)
    right = inverse(SpikeShape(ball=0.0), x, w, 0.0)[0]
    assert right == pytest.approx(math.atan2(w, x)) and abs(printed - right) == pytest.approx(
        math.pi
    )


def test_1_9_the_printed_theta_2_is_off_by_half_a_turn_and_makes_the_length_negative():
    shape, (x, y, z) = SpikeShape(ball=0.04), (0.09, DOWN, 0.015)
    rho = math.hypot(x, y - 0.04)
    printed = math.atan2(-rho, z)
    _, q2, d3 = inverse(shape, x, y, z)
    assert q2 - printed == pytest.approx(math.pi) and 0 < q2 < math.pi
    assert -z / math.cos(printed) < 0 < shape.shortest + d3


def test_1_10_the_quotient_is_nothing_by_nothing_at_z_0():
    shape = SpikeShape(ball=0.04)
    q1, q2, d3 = inverse(shape, 0.09, DOWN, 0.0)
    printed = -0.0 / math.cos(q2) - 0.04 - 0.04
    assert printed == -0.08  # the numerator is 0, the cosine 6e-17
    assert forward(shape, q1, q2, d3) == pytest.approx((0.09, DOWN - 0.04, 0.0), abs=1e-16)


def test_table_2_2_the_via_speed_sends_the_foot_below_the_floor():
    source = SpikeGait(
        swing_time=10.0,
        swing_ends="resting",
        via_speed=0.02,
        support="ignored",
        lift=profile_p().lift,
    )
    t = np.linspace(0.0, 10.0, 100001)
    y = DOWN - np.asarray(source.path(3.0 + t[:-1]).rise)
    assert y.min() == pytest.approx(0.02407, abs=5e-6) and t[y.argmin()] == pytest.approx(
        3.51, abs=5e-3
    )
    assert y.max() == pytest.approx(0.06421, abs=5e-6) and t[y.argmax()] == pytest.approx(
        6.92, abs=5e-3
    )
    assert y.max() - DOWN == pytest.approx(0.0122, abs=5e-5)
    still = SpikeGait(
        swing_time=10.0, swing_ends="resting", support="ignored", lift=profile_p().lift
    )
    assert np.asarray(still.path(3.0 + t[:-1]).rise).min() >= 0.0


def test_tables_2_1_and_2_2_do_not_meet_the_speed_jumps_at_both_ends_of_the_swing():
    printed, mended = SpikeGait(swing_ends="resting"), SpikeGait()
    for gait, jump in ((printed, 0.01), (mended, 0.0)):
        rates = [
            float(gait.path(t).s_rate) for t in (3.0 - 1e-9, 3.0 + 1e-9, 6.0 - 1e-9, 6.0 + 1e-9)
        ]
        assert rates[1] - rates[0] == pytest.approx(jump, abs=1e-9) and rates[2] - rates[
            3
        ] == pytest.approx(jump, abs=1e-9)


def test_the_source_s_times_leave_the_body_unsupported_for_7_of_13_seconds():
    with pytest.raises(ParameterError, match=r"0\.2308 of a cycle.*tripod needs at least 0\.5"):
        SpikeGait(swing_time=10.0)
    gait = SpikeGait(swing_time=10.0, support="ignored")
    t = (np.arange(13000) + 0.5) / 1000
    standing = np.asarray(gait.standing(t)).sum(axis=0)
    assert set(standing) == {0, 3} and np.sum(standing == 0) / 1000 == pytest.approx(7.0)


def test_the_source_s_path_turns_the_body_and_does_not_move_it():
    """The motion of a rigid body that the six standing feet would agree on.

    Their mean velocity, and their mean turn.
    """
    foothold = profile_t().foothold
    for motion, speed, turn in (("turn", 0.0, 0.01 / foothold.arm), ("walk", 0.01, 0.0)):
        gait = SpikeGait(motion=motion, pattern="together", support="ignored")
        vx, _, vz = (np.asarray(v) for v in gait.feet(1.5, foothold).velocity)
        az = np.arange(6) * math.pi / 3
        feet = np.array([vx * np.cos(az) - vz * np.sin(az), vx * np.sin(az) + vz * np.cos(az)])
        assert -feet.mean(axis=1) == pytest.approx([speed, 0.0], abs=1e-15)
        assert -vz.mean() / foothold.arm == pytest.approx(turn, abs=1e-15)


def test_the_script_s_gradient_step_is_not_that_of_its_samples():
    swing, stance = 10 / 499, 3 / 499
    assert swing == pytest.approx(0.02004, abs=5e-6) and stance == pytest.approx(0.006012, abs=5e-7)
    samples = SpikeGait(swing_time=10.0, support="ignored").path(np.linspace(0, 3, 500)[:-1]).s
    printed = np.gradient(np.asarray(samples), 0.02)
    assert printed[100] / -0.01 == pytest.approx(0.3006, abs=5e-5)
    assert (stance / 0.02) ** 2 == pytest.approx(0.09, abs=5e-4)  # of accelerations


def test_3_2_the_tip_s_jacobian_has_columns_of_two_points():
    q1, q2, d3 = 0.3, 1.1, 0.02
    printed = np.array(jacobian(0.04 + d3 / 2, 1.0, q1, q2))  # the script's Jv_cyl
    tip, middle = (
        np.array(jacobian(0.04 + d3, 1.0, q1, q2)),
        np.array(jacobian(0.04 + d3 / 2, 0.5, q1, q2)),
    )
    assert np.allclose(printed[:, :2], middle[:, :2]) and not np.allclose(
        printed[:, :2], tip[:, :2]
    )
    assert np.allclose(printed[:, 2], tip[:, 2]) and not np.allclose(printed[:, 2], middle[:, 2])


def test_d_33_of_a_centre_that_moves_half_as_fast_is_a_quarter_of_the_mass():
    mass = [float(d) for d in mass_matrix(TEXT.inertia(0.02), 1.1)]
    assert mass[2] == pytest.approx(0.0125) and mass[1] == pytest.approx(
        0.0125 * 0.02**2 + 0.002 * 0.02 + 8.4e-5
    )
    # By the kinetic energy of the script's own centre, moving along the axis alone: m (d/2)'^2/2.
    t, rate = sp.symbols("t rate")
    place = sp.Rational(4, 100) + rate * t / 2
    assert sp.diff(sp.Rational(5, 100) * place.diff(t) ** 2, rate, 2) / 2 == sp.Rational(125, 10000)
    # 0.05 belongs to a cylinder that goes with the slide, and then D_22 is another.
    sliding = [
        float(d) for d in mass_matrix(Spike(tip_mass=0.0, bodies="points").inertia(0.02), 1.1)
    ]
    assert sliding[2] == pytest.approx(0.05) and sliding[1] == pytest.approx(8.4e-5)


def test_printed_c_11_with_q_2_for_its_rate_is_no_coriolis_matrix():
    s = sp.sin(Q[1])
    moment = (
        sp.Rational(125, 10000) * Q[2] ** 2 + sp.Rational(2, 1000) * Q[2] + sp.Rational(84, 10**6)
    )
    mass = sp.diag(moment * s**2, moment, sp.Rational(125, 10000))
    right = christoffel(mass)
    printed = right.copy()
    printed[0, 0] = right[0, 0].subs(V[1], Q[1])
    for matrix, holds in ((right, True), (printed, False)):
        skew = (
            sum((sp.diff(mass, q) * v for q, v in zip(Q, V, strict=True)), sp.zeros(3)) - 2 * matrix
        )
        assert vanishes(skew + skew.T) is holds
    # All other entries agree with ours, in numbers.
    at = dict(zip((*Q, *V), (0.3, 1.1, 0.02, 0.7, -0.4, 0.1), strict=True))
    ours = coriolis(TEXT.inertia(0.02), 1.1, (0.7, -0.4, 0.1))
    np.testing.assert_allclose(
        np.array(ours), np.array(right.subs(at), dtype=float), rtol=1e-12, atol=1e-18
    )


def test_gravity_has_the_other_sign_because_y_is_down():
    q, spike = (0.3, 1.1, 0.02), Spike(tip_mass=0.0)
    printed = (
        np.array([math.cos(0.3) * math.sin(1.1), math.sin(0.3) * math.cos(1.1)])
        * 0.001961
        * (125 * 0.02 + 11)
    )
    ours = np.array([float(g) for g in gravity_load(TEXT.inertia(0.02), 0.3, 1.1, 9.80665)])
    np.testing.assert_allclose(-printed, ours[:2], rtol=5e-4)  # four digits are printed
    assert ours[2] == pytest.approx(-0.2452 * math.sin(0.3) * math.sin(1.1), rel=5e-4)
    # A rigid-body engine says the same of the default spike: holding it still takes torques below
    # zero.
    _, holding = mujoco_terms(*mujoco_spike(spike), q, (0.0, 0.0, 0.0))
    np.testing.assert_allclose(
        holding, [float(g) for g in gravity_load(spike.inertia(0.02), 0.3, 1.1, 9.81)], rtol=1e-4
    )
    assert np.all(holding < 0)


def test_printed_gravity_is_that_of_9_80665_not_of_the_script_s_10():
    per_metre = 0.05 * 0.5  # m_2/2, of g_3
    assert (
        per_metre * 9.80665 == pytest.approx(0.2452, abs=5e-5)
        and abs(per_metre * 10 - 0.2452) > 4e-3
    )
    assert abs(9.80665 * 2e-4 - 0.001961) < 5e-7


def test_inertias_of_1e_15_leave_out_9_percent_of_d_22():
    rods, points = (
        float(mass_matrix(Spike(tip_mass=0.0, bodies=b).inertia(0.02), 1.1)[1])
        for b in ("rods", "points")
    )
    assert (rods - points) / rods == pytest.approx(0.087, abs=5e-4)
    assert rods - points == pytest.approx(0.01 * 0.04**2 / 12 + 0.05 * 0.04**2 / 12)


def test_5_2_with_the_cylinder_s_jacobian_the_foot_is_not_as_stiff_as_asked():
    spike, q, force = profile_p().spike, (0.132, 1.57, 0.0108), np.array([0.0, 1.0, 0.0])
    law = StiffnessControl(stiffness_y=1000.0)
    ball = np.array([[float(v) for v in row] for row in ball_jacobian(spike.shape, *q)])
    centre = np.array(
        [[float(v) for v in row] for row in jacobian(0.04 + q[2] / 2, 1.0, q[0], q[1])]
    )
    springs = np.diag([law.stiffness_x, law.stiffness_y, law.stiffness_z])
    sags = [ball @ np.linalg.solve(j.T @ springs @ j, ball.T @ force) for j in (ball, centre)]
    assert sags[0][1] == pytest.approx(1e-3, rel=1e-12)
    # The lever counts squared.
    assert sags[1][1] / 1e-3 == pytest.approx((0.0908 / 0.0454) ** 2, rel=0.02)
