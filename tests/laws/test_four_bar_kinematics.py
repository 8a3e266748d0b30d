"""`ff.robots.four_bar`: angles, points, speeds, accelerations and forces of arrays of legs, held
against the source's own (corrected) equations and against derivatives of positions.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import footfall as ff
from footfall.machines.water_runner.four_bar_leg import FourBarLeg
from footfall.machines.water_runner.linkage import grashof_margin

four_bar = ff.robots.four_bar
LEG = FourBarLeg().links
#: Rounding of some dozens of operations whose largest operand is ten times the result.
ROUNDING = 1e-14
DRAW = np.random.default_rng(20)
THETA0, THETA1 = DRAW.uniform(-3.0, 3.0, (2, 40))
RATES0, RATES1, SECONDS0, SECONDS1 = DRAW.normal(size=(4, 40)) * 3.0
HIP, HIP_V, HIP_A = DRAW.normal(size=(3, 40, 2)) * 0.1


def unit(angle):
    return np.stack([np.cos(angle), np.sin(angle)], axis=-1)


def across(angle):
    return np.stack([-np.sin(angle), np.cos(angle)], axis=-1)


def scaled(numbers, vectors):
    return np.asarray(numbers)[..., None] * vectors


def coupler_and_rocker(theta2, theta3):
    """The matrix of eq 21 and 25, for each leg."""
    return np.stack([scaled(LEG.rocker, across(theta3)), -LEG.coupler * across(theta2)], axis=-1)


def found():
    return four_bar.positions(THETA1, THETA0, HIP)


def test_positions_are_eq_16_to_18_and_26_to_35():
    at = found()
    alpha = 2 * LEG.rocker * (LEG.ground * np.cos(THETA0) - LEG.crank * np.cos(THETA1))
    beta = 2 * LEG.rocker * (LEG.ground * np.sin(THETA0) - LEG.crank * np.sin(THETA1))
    gamma = LEG.ground**2 + LEG.rocker**2 + LEG.crank**2 - LEG.coupler**2
    gamma = gamma - 2 * LEG.ground * LEG.crank * np.cos(THETA0 - THETA1)
    theta3 = np.arctan2(beta, alpha) + np.arccos(-gamma / np.hypot(alpha, beta))
    np.testing.assert_allclose(unit(at.rocker), unit(theta3), rtol=0, atol=3 * ROUNDING)
    a = HIP + LEG.crank * unit(THETA1)
    c = HIP + LEG.ground * unit(THETA0)
    b = c + LEG.rocker * unit(theta3)
    foot = a - LEG.foot * unit(at.coupler)  # L4 u(theta2 + pi)
    for ours, theirs in ((at.crank_pin, a), (at.rocker_axis, c), (at.rocker_pin, b)):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(b - a, LEG.coupler * unit(at.coupler), rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(at.foot, foot, rtol=0, atol=ROUNDING)


def test_rates_solve_eq_21_with_the_sign_that_20_gives():
    at = found()
    ours = four_bar.speeds(THETA1, RATES1, THETA0, RATES0)
    right = scaled(LEG.crank * RATES1, across(THETA1)) - scaled(LEG.ground * RATES0, across(THETA0))
    solved = np.linalg.solve(coupler_and_rocker(at.coupler, at.rocker), right[..., None])[..., 0]
    # Rates of some 10 rad/s, over sin(theta3 - theta2) of 0.46 and more.
    np.testing.assert_allclose(
        np.stack([ours.rocker, ours.coupler], axis=-1), solved, rtol=0, atol=100 * ROUNDING
    )


def test_accelerations_solve_eq_25():
    at, v = found(), four_bar.speeds(THETA1, RATES1, THETA0, RATES0)
    ours = four_bar.accelerations(THETA1, RATES1, SECONDS1, THETA0, RATES0, SECONDS0, links=LEG)
    right = (
        scaled(LEG.crank * SECONDS1, across(THETA1))
        - scaled(LEG.ground * SECONDS0, across(THETA0))
        + scaled(LEG.ground * RATES0**2, unit(THETA0))
        - scaled(LEG.crank * RATES1**2, unit(THETA1))
        - scaled(LEG.coupler * v.coupler**2, unit(at.coupler))
        + scaled(LEG.rocker * v.rocker**2, unit(at.rocker))
    )
    solved = np.linalg.solve(coupler_and_rocker(at.coupler, at.rocker), right[..., None])[..., 0]
    np.testing.assert_allclose(
        np.stack([ours.rocker, ours.coupler], axis=-1),
        solved,
        rtol=0,
        atol=100 * ROUNDING * np.max(np.abs(solved)),
    )


def test_speeds_and_accelerations_are_derivatives_of_positions_and_speeds():
    """Hip, base and crank all move and accelerate."""

    def place(t):
        base = THETA0 + RATES0 * t + 0.5 * SECONDS0 * t**2
        crank = THETA1 + RATES1 * t + 0.5 * SECONDS1 * t**2
        return four_bar.positions(crank, base, HIP + HIP_V * t + 0.5 * HIP_A * t**2)

    def speed(t):
        return four_bar.speeds(
            THETA1 + RATES1 * t + 0.5 * SECONDS1 * t**2,
            RATES1 + SECONDS1 * t,
            THETA0 + RATES0 * t + 0.5 * SECONDS0 * t**2,
            RATES0 + SECONDS0 * t,
            HIP_V + HIP_A * t,
        )

    _, slopes = jax.jvp(place, (0.0,), (1.0,))
    v, bends = jax.jvp(speed, (0.0,), (1.0,))
    a = four_bar.accelerations(THETA1, RATES1, SECONDS1, THETA0, RATES0, SECONDS0, HIP_A)
    for ours, derived in ((v, slopes), (a, bends)):
        for name in four_bar.FourBar._fields:
            expected = np.asarray(getattr(derived, name))
            np.testing.assert_allclose(
                getattr(ours, name),
                expected,
                rtol=0,
                atol=100 * ROUNDING * np.max(np.abs(expected)),
                err_msg=name,
            )


def test_forces_balance_every_link_on_a_tilted_base():
    """Eq 38 to 46: the coupler, the crank about O and the rocker about C are at rest."""
    at = found()
    force, moment = DRAW.normal(size=(40, 2)), DRAW.normal(size=40) * 0.03
    loads = four_bar.forces(THETA1, force, moment, THETA0)
    scale = np.max(np.abs(np.concatenate([loads.crank, loads.rocker])))
    cross = lambda a, b: a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]  # noqa: E731
    np.testing.assert_allclose(force + loads.crank + loads.rocker, 0.0, atol=ROUNDING * scale)
    about_foot = (
        moment
        + cross(at.crank_pin - at.foot, loads.crank)
        + cross(at.rocker_pin - at.foot, loads.rocker)
    )
    on_crank = loads.torque - cross(at.crank_pin - HIP, loads.crank)
    on_rocker = cross(at.rocker_pin - at.rocker_axis, loads.rocker)
    for left in (about_foot, on_crank, on_rocker):
        np.testing.assert_allclose(left, 0.0, atol=ROUNDING * scale)


@pytest.mark.parametrize(
    ("links", "turns"),
    [
        (LEG, True),
        (LEG._replace(crank=0.04), False),  # neither folded nor stretched
        (LEG._replace(coupler=0.03, rocker=0.03), False),  # too short to stretch
        (LEG._replace(coupler=0.01, rocker=0.01), None),  # never reach
    ],
    ids=["shipped", "long crank", "short rocker", "apart"],
)
def test_the_range_of_the_crank_is_where_the_loop_closes(links, turns):
    psi = np.linspace(0.0, np.pi, 20001)
    closed = np.asarray(four_bar.closes(psi + 0.7, 0.7, links=links))
    least, greatest = four_bar.crank_range(links)
    if turns is None:
        assert not closed.any() and np.isnan(least) and np.isnan(greatest)
        return
    # To the spacing of the angles that were tried.
    assert psi[closed][0] == pytest.approx(float(least), abs=2e-4)
    assert psi[closed][-1] == pytest.approx(float(greatest), abs=2e-4)
    assert (float(least), float(greatest)) == (0.0, np.pi) if turns else not closed.all()
    assert turns == bool(grashof_margin(links) > 0)
    placed = np.isfinite(four_bar.positions(psi, links=links).coupler)
    np.testing.assert_array_equal(placed[1:-1], closed[1:-1])


def test_arrays_broadcast_over_angles_and_lengths_and_derivatives_go_through():
    long = LEG._replace(foot=np.array([0.05, 0.0624, 0.08]))
    at = four_bar.positions(np.linspace(0.0, 6.0, 7)[:, None], links=long)
    assert at.foot.shape == (7, 3, 2) and at.crank_pin.shape[-1] == 2
    np.testing.assert_allclose(
        at.foot[:, 1], four_bar.positions(np.linspace(0.0, 6.0, 7)).foot, rtol=0, atol=ROUNDING
    )
    slope = jax.jit(jax.vmap(jax.grad(lambda a: four_bar.positions(a).coupler)))
    np.testing.assert_allclose(
        slope(jnp.asarray(THETA1)),
        four_bar.speeds(THETA1, 1.0).coupler,
        rtol=0,
        atol=100 * ROUNDING,
    )


def test_an_unknown_assembly_is_named():
    with pytest.raises(ValueError, match="below and mirrored"):
        four_bar.positions(0.0, assembly="above")
