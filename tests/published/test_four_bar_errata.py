"""Errors of the source (N. Thatte, Water Runner Simulation, 2012) in its four-bar leg: what its
printed forms do, and what ours do.

Equation numbers are the source's; shared/physics/water-runner.md, section 12, lists them. Angles
theta0 (body), theta1 (crank), theta2 (coupler), theta3 (rocker) are counter-clockwise in the
world's frame."""

import math
from typing import Any

import numpy as np
import pytest

from footfall.machines.water_runner.four_bar_leg import FourBarLeg
from footfall.machines.water_runner.linkage import joint_loads, pose

LINKS = FourBarLeg().links
L0, L1, L2, L3, L4 = LINKS

#: Rounding of a dozen operations on lengths below 0.2 m (in the metre, or its square, or N m of
#: them).
EXACT = 1e-15


def unit(angle: float) -> np.ndarray:
    return np.array([math.cos(angle), math.sin(angle)])


def across(angle: float) -> np.ndarray:
    return np.array([-math.sin(angle), math.cos(angle)])


def our_angles(theta0: float, theta1: float) -> tuple[float, float]:
    """(theta2, theta3) of the leg below the body."""
    psi = theta1 - theta0
    found = pose(LINKS, math.sin(psi), math.cos(psi), 1)
    return theta0 + math.atan2(found.uy, found.ux), theta0 + math.atan2(found.wy, found.wx)


def coupler_length(theta0: float, theta1: float, theta3: float) -> float:
    """|B - A| as it is."""
    return float(np.hypot(*(L0 * unit(theta0) + L3 * unit(theta3) - L1 * unit(theta1))))


POSES = [(0.0, 0.0), (0.0, math.pi), (0.4, 1.1), (-0.7, 2.5), (1.2, -2.0)]
each_pose = pytest.mark.parametrize(("theta0", "theta1"), POSES)


@each_pose
def test_eq_12_lost_the_term_of_the_two_sines(theta0, theta1):
    """Its last form is |B - A|^2 - L2^2 only while body or crank are level; with the term it is so
    always.
    """
    _, theta3 = our_angles(theta0, theta1)
    printed = L0**2 + L3**2 + L1**2 - L2**2 - 2 * L0 * L1 * math.cos(theta0) * math.cos(theta1)
    printed += 2 * L0 * L3 * math.cos(theta0 - theta3) - 2 * L1 * L3 * math.cos(theta3 - theta1)
    lost = -2 * L0 * L1 * math.sin(theta0) * math.sin(theta1)
    assert printed + lost == pytest.approx(0.0, abs=EXACT)
    assert abs(printed) == pytest.approx(abs(lost), abs=EXACT)
    # Where the body is tilted, a square centimetre or more.
    assert abs(lost) > 1e-4 or theta0 == 0.0


def source_rocker_argument(theta0: float, theta1: float) -> float:
    """What eq 17 takes the arc cosine of, with eq 13 to 15 as printed."""
    alpha = 2 * L0 * L3 * math.cos(theta0) - 2 * L1 * L3 * math.cos(theta1)
    beta = 2 * L0 * L3 * math.sin(theta0) - 2 * L1 * L3 * math.sin(theta1)
    twice = 2 * L0 * L1 * math.cos(theta0) * math.cos(theta1)
    return -(L0**2 + L3**2 + L1**2 - L2**2 - twice - twice) / math.hypot(alpha, beta)


def test_eq_15_has_no_solution_where_the_leg_has_one():
    # Printed so on the page; no angle has this cosine.
    assert source_rocker_argument(0.0, 0.0) == pytest.approx(1.21, abs=5e-3)
    _, theta3 = our_angles(0.0, 0.0)
    assert coupler_length(0.0, 0.0, theta3) == pytest.approx(L2, abs=EXACT)


def test_eq_15_closes_to_another_coupler():
    theta1 = math.pi
    delta = math.atan2(0.0, L0 - L1 * math.cos(theta1))
    source = delta + math.acos(source_rocker_argument(0.0, theta1))
    # Mm, printed so on the page.
    assert 1e3 * coupler_length(0.0, theta1, source) == pytest.approx(54.0, abs=0.05)
    _, theta3 = our_angles(0.0, theta1)
    assert 1e3 * coupler_length(0.0, theta1, theta3) == pytest.approx(74.8, abs=1e3 * EXACT)


def test_eq_16_to_18_lose_the_quadrant_on_a_body_far_over():
    """With the right gamma.

    The plain arctangent turns rocker and coupler round as soon as C lies left of A.
    """
    theta0, theta1 = 2.0, 2.7
    theta2, theta3 = our_angles(theta0, theta1)
    x, y = L0 * unit(theta0) - L1 * unit(theta1)
    assert x < 0
    opening = theta3 - math.atan2(y, x)
    source = math.atan(y / x) + opening
    assert abs(coupler_length(theta0, theta1, source) - L2) > 0.01  # a centimetre or more out
    bx, by = L0 * unit(theta0) + L3 * unit(theta3) - L1 * unit(theta1)
    assert abs(math.atan(by / bx) - theta2) == pytest.approx(math.pi, abs=1e-14)


def loop_rate(theta0: float, theta1: float, rates: Any) -> np.ndarray:
    """d/dt (A + (B - A) - C - (B - C)), eq 20 with everything on one side, for rates of theta0 to
    theta3. Zero in a leg.
    """
    theta2, theta3 = our_angles(theta0, theta1)
    r0, r1, r2, r3 = rates
    return (
        L1 * across(theta1) * r1
        + L2 * across(theta2) * r2
        - L0 * across(theta0) * r0
        - L3 * across(theta3) * r3
    )


def our_rates(
    theta0: float, theta1: float, theta0_v: float, theta1_v: float
) -> tuple[float, float]:
    psi = theta1 - theta0
    found = pose(LINKS, math.sin(psi), math.cos(psi), 1)
    psi_v = theta1_v - theta0_v
    return theta0_v + float(found.coupler_rate) * psi_v, theta0_v + float(found.rocker_rate) * psi_v


def source_rates(
    theta0: float, theta1: float, theta0_v: float, theta1_v: float
) -> tuple[float, float]:
    """Eq 21 as printed."""
    theta2, theta3 = our_angles(theta0, theta1)
    matrix = np.stack([L3 * across(theta3), -L2 * across(theta2)], axis=1)
    theta3_v, theta2_v = np.linalg.solve(
        matrix, L0 * across(theta0) * theta0_v + L1 * across(theta1) * theta1_v
    )
    return theta2_v, theta3_v


@each_pose
def test_eq_19_has_a_minus_that_leaves_twice_the_couplers_speed(theta0, theta1):
    """Eq 20, which it is said to give, has the plus."""
    theta2, _ = our_angles(theta0, theta1)
    theta2_v, theta3_v = our_rates(theta0, theta1, 2.0, 50.0)
    good = loop_rate(theta0, theta1, (2.0, 50.0, theta2_v, theta3_v))
    printed = good - 2 * L2 * across(theta2) * theta2_v
    assert np.hypot(*good) == pytest.approx(0.0, abs=1e-13)  # speeds of some m/s
    assert (
        np.hypot(*printed) == pytest.approx(2 * L2 * abs(theta2_v), abs=1e-13)
        and abs(theta2_v) > 0.1
    )


@each_pose
def test_eq_21_leaves_twice_the_speed_of_the_ground_link(theta0, theta1):
    rates = (2.0, 50.0)
    printed = loop_rate(theta0, theta1, (*rates, *source_rates(theta0, theta1, *rates)))
    assert np.hypot(*printed) == pytest.approx(2 * L0 * 2.0, abs=1e-13)  # speeds of some m/s
    assert np.hypot(
        *loop_rate(theta0, theta1, (*rates, *our_rates(theta0, theta1, *rates)))
    ) == pytest.approx(0.0, abs=1e-13)


@each_pose
def test_eq_21_is_right_while_the_body_does_not_pitch(theta0, theta1):
    """Which hid it."""
    found = source_rates(theta0, theta1, 0.0, 50.0)
    assert found == pytest.approx(our_rates(theta0, theta1, 0.0, 50.0), abs=1e-12)  # tens of rad/s


def moments(theta0: float) -> tuple[float, float, float]:
    """On the body about its centre of mass: (eq 50 as printed, the page's form in joint loads, from
    the foot's wrench).

    The load of the reference values at psi = 240 deg, turned with the body; centre of mass 30 mm
    from O on the ground link."""
    psi, com, moment = math.radians(240.0), 0.03, 0.002
    found = pose(LINKS, math.sin(psi), math.cos(psi), 1)
    loads = joint_loads(LINKS, found, -0.3, 0.4, moment)
    turn = np.array([unit(theta0), across(theta0)]).T
    r1, r3 = turn @ [loads.crank_x, loads.crank_y], turn @ [loads.rocker_x, loads.rocker_y]
    c, s, torque = math.cos(theta0), math.sin(theta0), float(loads.torque)
    printed = (
        -r1[1] * com * c
        + r1[0] * com * theta0
        - r3[1] * (com - L0) * c
        + r3[0] * (com - L0) * s
        - torque
    )
    page = com * (c * r1[1] - s * r1[0]) + (com - L0) * (c * r3[1] - s * r3[0]) - torque
    arm, force = turn @ [found.fx, found.fy] - com * unit(theta0), turn @ [-0.3, 0.4]
    return float(printed), float(page), float(moment + arm[0] * force[1] - arm[1] * force[0])


def test_eq_50_pitches_the_robot_the_other_way():
    printed, page, from_foot = moments(0.0)
    assert page == pytest.approx(-5.027046587e-2, abs=1e-11)  # the last printed digit
    assert from_foot == pytest.approx(page, abs=EXACT)
    assert printed == pytest.approx(1.48e-2, abs=5e-5)


@pytest.mark.parametrize("theta0", [0.5, -1.0, 2.0])
def test_eq_50_depends_on_where_the_world_points_and_ours_does_not(theta0):
    """Leg and load turned together, the moment must stay; without its sine the printed one
    moves.
    """
    level, tilted = moments(0.0), moments(theta0)
    assert tilted[1] == pytest.approx(level[1], abs=EXACT)
    assert tilted[2] == pytest.approx(level[2], abs=EXACT)
    assert abs(tilted[0] - level[0]) > 1e-4  # a per cent of it
