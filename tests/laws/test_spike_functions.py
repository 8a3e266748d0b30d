"""`ff.robots.sea_urchin`: the spike's equations as functions of arrays."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import footfall as ff
from footfall.machines.sea_urchin.numbers import profile_p
from footfall.machines.sea_urchin.spike_kinematics import SpikeShape, forward, inverse

urchin = ff.robots.sea_urchin
LANES = (4, 25)


def draw(seed, low, high):
    return np.random.default_rng(seed).uniform(low, high, (*LANES, 3))


Q = draw(0, (-1.4, 0.2, 0.0), (1.4, np.pi - 0.2, 0.04))
V = draw(1, -1.0, 1.0)
A = draw(2, -1.0, 1.0)


def central(f, q, way, h):
    """Derivative of f along `way` by central differences of the fourth order."""
    near = f(q + h * way) - f(q - h * way)
    far = f(q + 2 * h * way) - f(q - 2 * h * way)
    return (8 * near - far) / (12 * h)


def test_the_angular_jacobian_is_that_of_differences_of_rotation_matrices():
    """R' R^T is the cross product with the angular velocity, J_w q'."""
    turning = central(urchin.spike_rotation, Q, V, 1e-3)
    cross = turning @ np.swapaxes(urchin.spike_rotation(Q), -1, -2)
    omega = np.stack([cross[..., 2, 1], cross[..., 0, 2], cross[..., 1, 0]], axis=-1)
    # h^4 f''''' / 30 of products of sines of two angles at rates up to 1: (2^5 h^4)/30.
    np.testing.assert_allclose(cross, -np.swapaxes(cross, -1, -2), rtol=0, atol=2e-12)
    found = (urchin.spike_angular_jacobian(Q) @ V[..., None])[..., 0]
    np.testing.assert_allclose(found, omega, rtol=0, atol=2e-12)


def test_the_rotation_is_a_rotation_whose_last_axis_is_the_spike():
    turn = urchin.spike_rotation(Q)
    np.testing.assert_allclose(
        turn @ np.swapaxes(turn, -1, -2), np.broadcast_to(np.eye(3), turn.shape), atol=1e-15
    )
    np.testing.assert_allclose(np.linalg.det(turn), 1.0, atol=1e-15)
    reach = 0.045 + Q[..., 2:]
    np.testing.assert_allclose(urchin.spike_forward(Q), reach * turn[..., 2], atol=1e-16)


def test_the_rotation_is_the_product_of_the_source_s_joint_matrices():
    """(1.3): A_0 A_1, each with a twist of 90 degrees."""

    def joint(angle):
        s, c = np.sin(angle), np.cos(angle)
        return np.array([[c, 0, s], [s, 0, -c], [0, 1, 0]])

    np.testing.assert_allclose(
        urchin.spike_rotation([0.3, 1.1, 0.02]), joint(0.3) @ joint(1.1), atol=1e-16
    )


def test_the_inverse_undoes_the_forward_map_and_says_what_is_in_reach():
    contact = np.add(urchin.spike_forward(Q), [0.0, 0.005, 0.0])
    np.testing.assert_allclose(urchin.spike_inverse(contact), Q, rtol=0, atol=3e-15)
    assert urchin.spike_reaches(Q).all() and urchin.spike_reaches(Q).shape == LANES
    foothold = [0.09, 0.03 * np.sqrt(3.0), 0.015]
    assert not urchin.spike_reaches(urchin.spike_inverse(foothold))
    thick = profile_p().spike
    assert urchin.spike_reaches(urchin.spike_inverse(foothold, thick), thick)


def test_jacobian_and_rates_are_derivatives_of_the_place():
    speed = (urchin.spike_jacobian(Q) @ V[..., None])[..., 0]
    np.testing.assert_allclose(speed, central(urchin.spike_forward, Q, V, 1e-3), atol=1e-12)
    np.testing.assert_allclose(urchin.spike_rates(Q, speed), V, rtol=0, atol=1e-13)


def test_effort_and_acceleration_undo_each_other_and_are_made_of_d_c_and_g():
    effort = urchin.spike_effort(Q, V, A)
    np.testing.assert_allclose(urchin.spike_acceleration(Q, V, effort), A, rtol=0, atol=1e-9)
    d, c = urchin.spike_mass_matrix(Q), urchin.spike_coriolis_matrix(Q, V)
    made = (d @ A[..., None] + c @ V[..., None])[..., 0] + urchin.spike_gravity(Q)
    np.testing.assert_allclose(effort, made, rtol=0, atol=1e-15)
    rate = central(urchin.spike_mass_matrix, Q, V, 1e-3) - 2 * c
    np.testing.assert_allclose(rate, -np.swapaxes(rate, -1, -2), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["spike_inverse", "spike_rotation", "spike_gravity"])
def test_lists_lanes_and_traced_arrays_give_the_same(name):
    f = getattr(urchin, name)
    contact = np.add(urchin.spike_forward(Q), [0.0, 0.005, 0.0])
    lanes = f(contact)
    assert isinstance(lanes, np.ndarray) and lanes.shape[:2] == LANES
    np.testing.assert_allclose(f(contact[1, 2].tolist()), lanes[1, 2], rtol=1e-14)
    traced = jax.jit(jax.vmap(f))(jnp.asarray(contact[1]))
    assert isinstance(traced, jax.Array)
    np.testing.assert_allclose(traced, lanes[1], rtol=1e-13, atol=1e-15)


def test_derivatives_go_through():
    slope = jax.jacfwd(urchin.spike_forward)(jnp.asarray(Q[0, 0]))
    np.testing.assert_allclose(slope, urchin.spike_jacobian(Q[0, 0]), atol=1e-15)


def test_they_are_the_functions_of_the_model():
    shape = SpikeShape()
    assert urchin.spike_forward([0.3, 1.1, 0.02]).tolist() == list(forward(shape, 0.3, 1.1, 0.02))
    assert urchin.spike_inverse([0.06, 0.04, 0.0]).tolist() == pytest.approx(
        inverse(shape, 0.06, 0.04, 0.0)
    )
    with pytest.raises(ValueError, match=r"last axis, and this has the shape \(2,\)"):
        urchin.spike_forward([0.1, 0.2])
