"""Errors of the source (Thatte, Water Runner Simulation, 2012) in its ground contact: what its
printed forms do, and what ours do.

Equations 7 and 8 as printed; the corrections are derived in shared/physics/water-runner.md,
sections 5 and 12."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from footfall.machines.parts.contact.cubic import CubicContact
from footfall.machines.parts.friction.bristle import BristleFriction
from footfall.machines.parts.friction.coulomb import StribeckFriction

MASS, STATIC, KINETIC = 0.06, 0.4, 0.3


def printed_normal_force(depth, depth_rate):
    """Eq 7: 0.25e9 |y_p|^3 (1 - y_p_dot) for y_p > 0."""
    return np.where(depth > 0, 0.25e9 * np.abs(depth) ** 3 * (1.0 - depth_rate), 0.0)


def printed_friction(acceleration, normal):
    """Eq 8: m a_x if m a_x < mu_s F_y, mu_k F_y if m a_x >= mu_s F_y."""
    pull = MASS * acceleration
    return np.where(pull < STATIC * normal, pull, KINETIC * normal)


def rebound(force, impact):
    """Speed at which a free mass leaves the ground again."""

    def left(t, y):
        return y[0] if t > 0 else 1.0  # the start lies on the surface too

    left.terminal, left.direction = True, -1  # type: ignore[attr-defined]
    run = solve_ivp(
        lambda t, y: [y[1], -float(force(y[0], y[1])) / MASS],
        (0.0, 1.0),
        [0.0, impact],
        method="DOP853",
        rtol=1e-11,
        atol=1e-15,
        events=left,
    )
    return -run.y_events[0][0][1]


def test_the_printed_sign_of_the_damping_throws_a_mass_back_faster_than_it_came():
    leaving = rebound(printed_normal_force, 0.5)
    assert leaving == pytest.approx(0.756, abs=5e-4)  # the three digits of the note
    # Its closed form is ours with c = -1: ln(1 + v_o) - v_o = v_i + ln(1 - v_i).
    exact = brentq(lambda out: math.log1p(out) - out - 0.5 - math.log(0.5), 0.1, 2.0, xtol=1e-14)
    assert leaving == pytest.approx(exact, rel=1e-8)  # some 100 steps at 1e-11
    assert (leaving / 0.5) ** 2 > 2.2  # more than twice the energy
    # Seven digits are given.
    assert rebound(CubicContact().force, 0.5) == pytest.approx(0.3742175, abs=1e-7)


def test_the_printed_normal_force_is_active_where_ours_is_passive():
    draw = np.random.default_rng(7)
    depth, rate = draw.uniform(1e-4, 4e-3, 2000), draw.uniform(-3.0, 3.0, 2000)
    spring = 0.25e9 * depth**3
    # A loss below zero at every speed.
    assert np.all((printed_normal_force(depth, rate) - spring) * rate < 0)
    assert np.all(CubicContact().loss(depth, rate) > 0)


def test_the_printed_normal_force_pulls_a_fast_foot_in():
    assert printed_normal_force(1e-3, 1.5) < 0 < CubicContact().force(1e-3, 1.5)


def test_the_printed_sign_is_right_for_a_coordinate_that_points_up():
    """What the source meant.

    With the height's rate -y_p_dot in its place, the two forms agree where ground pushes.
    """
    depth, rate = 1.3e-3, np.linspace(-0.99, 3.0, 50)
    # Rounding.
    np.testing.assert_allclose(
        printed_normal_force(depth, -rate), CubicContact().force(depth, rate), rtol=1e-14
    )


def test_printed_stiction_holds_any_pull_to_one_side():
    """No absolute value: an acceleration to the left counts as small, however large."""
    normal = 0.5
    for acceleration in (-10.0, -100.0, -1e4):
        force = printed_friction(acceleration, normal)
        assert force == pytest.approx(MASS * acceleration, rel=1e-14)  # rounding
        assert abs(force) > STATIC * normal
    assert printed_friction(100.0, normal) == KINETIC * normal  # while the other side does slip


@pytest.mark.parametrize("law", [StribeckFriction(), BristleFriction()])
def test_our_friction_is_bounded_on_both_sides(law):
    normal, bend = 0.5, np.linspace(-2e-4, 2e-4, 41)[:, None]
    speed = np.array([-1e3, -1.0, -1e-3, 0.0, 1e-3, 1.0, 1e3])
    if not law.has_memory:
        bend = 0.0 * bend
    force = law.force(speed, normal, bend)
    assert np.max(np.abs(force)) <= STATIC * normal * (1 + 1e-12)  # rounding
    # Rounding: the grids mirror only to the last digit.
    np.testing.assert_allclose(np.flip(force), -force, rtol=1e-12, atol=1e-18)


def test_printed_sliding_friction_drives_a_foot_that_slides_to_the_right():
    """Sliding force mu_k F_y has one direction whatever the motion.

    Half the time it does work on the foot.
    """
    speed, normal = 0.2, 0.5
    assert printed_friction(100.0, normal) * speed > 0
    assert StribeckFriction().force(speed, normal, 0.0) * speed < 0


def test_printed_stiction_does_not_say_what_the_force_is():
    """Friction from the acceleration that friction causes.

    For a free foot every answer up to the limit agrees with itself.
    """
    normal = 0.5
    acceleration = np.linspace(-50.0, 0.99 * STATIC * normal / MASS, 30)
    np.testing.assert_array_equal(
        printed_friction(acceleration, normal) / MASS * MASS, MASS * acceleration
    )
