"""The two-leg walker's equations for arrays: each against another way to the same."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from footfall.machines.two_leg import functions as two_leg

#: Feet within reach, of both signs of their height; seeded, so that a failure comes again.
RANDOM = np.random.default_rng(3)
LEFT = RANDOM.uniform(-1.0, 1.0, (40, 2))
RIGHT = LEFT + np.stack([RANDOM.uniform(0.02, 0.15, 40), RANDOM.uniform(-0.1, 0.1, 40)], axis=-1)
#: Sums of a few lengths of 0.1 m at places of 1 m.
PLACE = {"rtol": 0.0, "atol": 1e-14}


def test_forward_puts_the_feet_where_inverse_was_asked_to_and_the_right_one_is_level():
    turns = two_leg.inverse(LEFT, RIGHT)
    points = np.asarray(two_leg.forward(turns, LEFT))
    np.testing.assert_allclose(points[:, 0], LEFT, **PLACE)
    np.testing.assert_allclose(points[:, 4], RIGHT, **PLACE)
    np.testing.assert_allclose(np.sum(turns, axis=-1), np.pi, rtol=1e-14)
    knee = points[:, 2, 1] - 0.5 * (points[:, 1, 1] + points[:, 3, 1])
    assert np.all(knee > 0)  # up


def test_rates_and_accelerations_are_derivatives_of_the_turns():
    v, a = RANDOM.uniform(-1.0, 1.0, (2, 2, 40, 2))

    def turns(t):
        feet = (foot + t * v[i] + 0.5 * t * t * a[i] for i, foot in enumerate((LEFT, RIGHT)))
        return two_leg.inverse(*feet)

    def slope(t):
        return jax.jvp(turns, (t,), (1.0,))[1]

    rates, seconds = jax.jvp(slope, (0.0,), (1.0,))
    np.testing.assert_allclose(two_leg.rates(LEFT, RIGHT, *v), rates, rtol=1e-10)
    np.testing.assert_allclose(
        two_leg.accelerations(LEFT, RIGHT, *v, *a), seconds, rtol=1e-9, atol=1e-7
    )


def test_static_torques_are_derivatives_of_the_potential_energy():
    """tau_i = dPE/dtheta_i while the left foot is held, and of the mirror image."""

    def height(turns, left):
        return jnp.sum(two_leg.centre_of_mass(turns, left)[..., 1])

    turns = two_leg.inverse(LEFT, RIGHT)
    slopes = 4 * 0.1 * 9.81 * jax.grad(height)(turns, LEFT)
    found = two_leg.static_torques(LEFT, RIGHT)
    np.testing.assert_allclose(found, slopes, rtol=0.0, atol=1e-14)
    mirror = np.array([-1.0, 1.0])
    other = two_leg.static_torques(RIGHT * mirror, LEFT * mirror, False)
    np.testing.assert_allclose(other[:, ::-1], -np.asarray(found), rtol=0.0, atol=1e-14)


def test_degrees_are_asked_for():
    feet = (0.0, 0.0), (0.15, 0.05)
    radians, degrees = two_leg.inverse(*feet), two_leg.inverse(*feet, degrees=True)
    np.testing.assert_allclose(np.radians(degrees), radians, rtol=1e-15)
    there = two_leg.forward(degrees, degrees=True)
    np.testing.assert_allclose(there[4], feet[1], **PLACE)
    same = two_leg.affectors_to_angles([0, 9, 9, 9, 0.15], [0, 9, 9, 9, 0.05], degrees=True)
    np.testing.assert_array_equal(same, degrees)


def test_out_of_reach_is_no_number_and_lanes_broadcast():
    right = [[0.15, 0.05], [0.2001, 0.0], [0.0, 0.0]]
    turns = np.asarray(two_leg.inverse((0.0, 0.0), right))
    assert np.isfinite(turns).all(axis=-1).tolist() == [True, False, False]
    assert two_leg.reaches((0.0, 0.0), right).tolist() == [True, False, False]
    longer = two_leg.inverse((0.0, 0.0), [0.2001, 0.0], np.array([[0.1], [0.2]]))
    assert longer.shape == (2, 1, 3) and np.isnan(longer[0]).all() and np.isfinite(longer[1]).all()


def test_moves_follow_each_other_and_take_distance_over_speed():
    strides = np.array([-0.08, -0.04])
    up = two_leg.lift_left(two_leg.standing(), 0.01, samples=11)
    across = two_leg.step_left(up.end, strides, samples=11)
    down = two_leg.lift_left(across.end, -0.01, speed=0.1, samples=11)
    np.testing.assert_allclose(down.end.left, np.stack([strides, 0 * strides], -1), **PLACE)
    np.testing.assert_allclose(across.t[:, -1], [1.6, 0.8], rtol=1e-15)
    assert float(down.t[..., -1].max()) == pytest.approx(0.1)
    assert across.turns.shape == (2, 11, 3)
    np.testing.assert_allclose(across.turns, two_leg.inverse(across.left, across.right))
    right = two_leg.step_right(two_leg.lift_right(down.end, 0.01).end, strides)
    np.testing.assert_array_equal(right.left[:, 0], down.end.left)
    np.testing.assert_allclose(right.end.right[:, 0], 0.1 + strides, **PLACE)


def test_power_counts_the_rate_the_other_way_where_the_right_foot_stands():
    power = two_leg.instantaneous_power([[1.0, 2.0, 3.0]] * 2, [4.0, 5.0, 6.0], [True, False])
    assert power.tolist() == [[4.0, 10.0, 18.0], [-4.0, -10.0, -18.0]]
