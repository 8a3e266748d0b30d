"""The wheels' equations of motion against Lagrangians written from the positions of the masses;
energy and ground force.
"""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from support.wheel_cases import EXACT, SEEDS, assert_within, planar_case, rigid_case, steered_case
from support.wheel_lagrangians import rigid_wheel_motion, steered_wheel_motion, torso_wheel_motion
from support.wheels import TORQUE_LIMIT


@pytest.mark.parametrize("seed", SEEDS)
def test_stance_of_the_torso_wheel_is_lagrange(seed):
    wheel, x, _, n = planar_case(seed)
    mass, expected = torso_wheel_motion().at(**n)
    assert_within(wheel.accelerations(x, n["torque"]), expected, EXACT)
    between = n["theta"] - n["phi"]
    found = np.array(wheel.mass_matrix(n["l"], math.sin(between), math.cos(between)), float)
    order = [2, 0, 1]  # the code's (l, theta, phi) from (theta, phi, l)
    assert_within(found, mass[np.ix_(order, order)], EXACT)
    # Raises unless positive definite, which the elimination without pivots relies on.
    np.linalg.cholesky(found)


@pytest.mark.parametrize("seed", SEEDS)
def test_flow_of_the_torso_wheel_uses_the_pitch_law_with_its_limit(seed):
    wheel, x, m, n = planar_case(seed)
    error = 0.6 - n["phi"]
    torque = np.clip(20.0 * error + 40.0 * n["xi"] - n["phi_v"], -TORQUE_LIMIT, TORQUE_LIMIT)
    dx = wheel.flow(0.0, x, m).x
    _, expected = torso_wheel_motion().at(**{**n, "torque": torque})
    assert_within((dx.spoke_rate, dx.torso_rate, dx.spoke_speed), expected, EXACT)
    kinematics = (dx.spoke_angle, dx.torso_angle, dx.spoke_length, dx.pitch_integral)
    assert_within(kinematics, (n["theta_v"], n["phi_v"], n["l_v"], error), EXACT)


def test_random_cases_reach_the_torque_limit_and_stay_below_it():
    """The test above is about both branches of the clip."""
    torques = [float(case.wheel.motor_torque(case.x, case.m)) for case in map(planar_case, SEEDS)]
    limited = np.isclose(np.abs(torques), TORQUE_LIMIT, rtol=1e-12)
    assert limited.any() and not limited.all()


@pytest.mark.parametrize("seed", SEEDS)
def test_stance_of_the_rigid_wheel_is_lagrange(seed):
    wheel, x, m, n = rigid_case(seed)
    _, expected = rigid_wheel_motion().at(**n)
    dx = wheel.flow(0.0, x, m).x
    assert_within(
        (wheel.acceleration(x.spoke_angle), dx.spoke_rate), (expected[0], expected[0]), EXACT
    )
    assert float(dx.spoke_angle) == n["theta_v"]


@pytest.mark.parametrize("seed", SEEDS)
def test_flow_of_the_steered_wheel_is_lagrange(seed):
    wheel, x, m, n = steered_case(seed)
    _, expected = steered_wheel_motion().at(**n)
    dx = wheel.flow(0.0, x, m).x
    assert_within(
        (dx.speed, dx.climb_rate, dx.roll_rate, dx.torso_rate, dx.yaw_rate), expected, EXACT
    )
    v, w, psi = n["s_v"], n["psi_v"], float(x.heading)
    found = (
        dx.height,
        dx.roll,
        dx.torso_angle,
        dx.heading,
        dx.x,
        dx.y,
        dx.distance,
        dx.foot_ahead_left,
        dx.foot_ahead_right,
    )
    kinematics = (
        n["z_v"],
        n["r_v"],
        n["phi_v"],
        w,
        v * math.cos(psi),
        v * math.sin(psi),
        v,
        n["b"] * w - v,
        -n["b"] * w - v,
    )
    assert_within(found, kinematics, EXACT)


def rate_of_energy(system: Any, x: Any, m: Any) -> tuple[float, list[float]]:
    """d(stores)/dt along the flow, in all and each."""
    _, rates = jax.jvp(lambda x: system.stores(0.0, x, m), (x,), (system.flow(0.0, x, m).x,))
    each = [float(rate) for rate in jax.tree.leaves(rates)]
    return math.fsum(each), each


@pytest.mark.parametrize("seed", SEEDS)
def test_energy_of_the_torso_wheel_changes_by_motor_and_damper_only(seed):
    wheel, x, m, n = planar_case(seed)
    torque = np.clip(
        20.0 * (0.6 - n["phi"]) + 40.0 * n["xi"] - n["phi_v"], -TORQUE_LIMIT, TORQUE_LIMIT
    )
    expected = (torque * (n["phi_v"] - n["theta_v"]), -n["c_v"] * n["l_v"] ** 2)
    power = wheel.flow(0.0, x, m).power
    total, each = rate_of_energy(wheel, x, m)
    assert_within((power.motor, power.damper), expected, EXACT)
    assert total == pytest.approx(sum(expected), abs=EXACT * sum(map(abs, each)))


@pytest.mark.parametrize("seed", SEEDS)
def test_energy_of_the_rigid_wheel_changes_by_its_torque_only(seed):
    wheel, x, m, n = rigid_case(seed)
    total, each = rate_of_energy(wheel, x, m)
    expected = -n["torque"] * n["theta_v"]
    assert float(wheel.flow(0.0, x, m).power.motor) == pytest.approx(expected, rel=EXACT)
    assert total == pytest.approx(expected, abs=EXACT * sum(map(abs, each)))


@pytest.mark.parametrize("seed", SEEDS)
def test_energy_of_the_steered_wheel_changes_by_motors_and_dampers_only(seed):
    wheel, x, m, n = steered_case(seed)
    motors, dampers = [], []
    for sign, side in ((1, "left"), (-1, "right")):
        to_foot = np.array([n[f"ahead_{side}"], -(n["z"] + sign * n["b"] * n["r"])])
        hub_v = np.array(
            [n["s_v"] - sign * n["b"] * n["psi_v"], n["z_v"] + sign * n["b"] * n["r_v"]]
        )
        length = np.hypot(*to_foot)
        stretch_rate = -to_foot @ hub_v / length
        # Of the line to a foot at rest.
        turn_rate = (to_foot[0] * -hub_v[1] - to_foot[1] * -hub_v[0]) / length**2
        motors.append(n[f"torque_{side}"] * (n["phi_v"] - turn_rate))
        dampers.append(-0.5 * n["c_v"] * stretch_rate**2)
    power = wheel.flow(0.0, x, m).power
    found = (power.motor_left, power.motor_right, power.damper_left, power.damper_right)
    total, each = rate_of_energy(wheel, x, m)
    assert_within(found, (*motors, *dampers), EXACT)
    assert total == pytest.approx(sum(motors) + sum(dampers), abs=EXACT * sum(map(abs, each)))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("make", [planar_case, rigid_case], ids=["torso wheel", "rigid wheel"])
def test_ground_force_is_rate_of_momentum_less_weight(make, seed):
    """House frame, on a slope, with inertias.

    The rate of the total momentum is the ground force plus the weight.
    """
    wheel, x, m, n = make(seed)
    masses = {"hub": n["m1"], "torso": n["m2"]} if "m1" in n else {"hub": n["m"]}

    def momentum(x: Any) -> tuple[Any, Any]:
        seen = wheel.outputs(0.0, x, m)
        bodies = [(mass, getattr(seen, name)) for name, mass in masses.items()]
        return sum(mass * body.vx for mass, body in bodies), sum(
            mass * body.vz for mass, body in bodies
        )

    _, (fx, fz) = jax.jvp(momentum, (x,), (wheel.flow(0.0, x, m).x,))
    foot = wheel.outputs(0.0, x, m).foot
    assert_within((foot.fx, foot.fz), (fx, fz + sum(masses.values()) * n["g"]), EXACT)


@pytest.mark.parametrize("seed", SEEDS)
def test_ground_forces_of_the_steered_wheel_carry_its_momentum(seed):
    """Along the heading and upwards; across it the neglected couplings would show."""
    wheel, x, m, n = steered_case(seed)

    def momentum(x: Any) -> tuple[Any, Any]:
        swing = n["c"] * x.torso_rate
        along = n["m1"] * x.speed + n["m2"] * (x.speed + swing * jnp.cos(x.torso_angle))
        return along, n["m1"] * x.climb_rate + n["m2"] * (
            x.climb_rate + swing * jnp.sin(x.torso_angle)
        )

    _, (f_along, fz) = jax.jvp(momentum, (x,), (wheel.flow(0.0, x, m).x,))
    seen, psi = wheel.outputs(0.0, x, m), float(x.heading)
    feet = (seen.left_foot, seen.right_foot)
    found = (
        sum(math.cos(psi) * foot.fx + math.sin(psi) * foot.fy for foot in feet),
        sum(foot.fz for foot in feet),
    )
    assert_within(found, (f_along, fz + (n["m1"] + n["m2"]) * n["g"]), EXACT)
