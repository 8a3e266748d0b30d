"""Support transfer: what passes through it unchanged, and what it takes."""

import dataclasses
import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from footfall.machines.rimless_wheel.rigid_wheel import RigidWheelState
from footfall.machines.rimless_wheel.steered_wheel import SteeredWheelState
from footfall.machines.rimless_wheel.torso_wheel import TorsoWheelState
from support.wheel_cases import EXACT, SEEDS, landing_case, rigid_case, steered_landing
from support.wheels import ALPHA, HALF, LENGTH, as_jax, standing


class Flying(NamedTuple):
    """Positions and velocities of hub and torso centre, (along, normal) components."""

    hub: np.ndarray
    hub_v: np.ndarray
    torso: np.ndarray
    torso_v: np.ndarray


def flying(x: TorsoWheelState, com: float, foot: float) -> Flying:
    """Velocities as derivatives of the positions, for a foot at rest at `foot` on the ground."""

    def places(theta: Any, phi: Any, l: Any) -> tuple[Any, Any]:
        hub = jnp.array([foot, 0.0]) - l * jnp.array([jnp.sin(theta), -jnp.cos(theta)])
        return hub, hub + com * jnp.array([jnp.sin(phi), -jnp.cos(phi)])

    q, v = (
        (x.spoke_angle, x.torso_angle, x.spoke_length),
        (x.spoke_rate, x.torso_rate, x.spoke_speed),
    )
    (hub, torso), (hub_v, torso_v) = jax.jvp(places, q, v)
    return Flying(*map(np.asarray, (hub, hub_v, torso, torso_v)))


def cross(a: np.ndarray, b: np.ndarray) -> float:
    return float(a[0] * b[1] - a[1] * b[0])


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("j1", "j2"), [(0.0, 0.0), (0.0, 0.03), (0.02, 0.0), (0.02, 0.03)])
def test_transfer_keeps_three_momenta_and_the_place(j1, j2, seed):
    """Of the torso about the hub, of all about the new foot, of all along the new spoke."""
    wheel, x = landing_case(seed, j1, j2)
    jump = wheel.jump(0.0, x, standing(x).m, 0)
    after = jump.x
    m1, m2, com = wheel.wheel_mass, wheel.torso.mass, wheel.torso.com_distance
    new_angle = float(x.spoke_angle) + ALPHA
    new_foot = LENGTH * math.sin(new_angle) - float(x.spoke_length) * math.sin(x.spoke_angle)
    new_spoke = np.array([-math.sin(new_angle), math.cos(new_angle)])  # from foot to hub
    contact = np.array([new_foot, 0.0])

    def momenta(x: TorsoWheelState, f: Flying) -> list[float]:
        torso = m2 * cross(f.torso - f.hub, f.torso_v) + j2 * float(x.torso_rate)
        whole = m1 * cross(f.hub - contact, f.hub_v) + m2 * cross(f.torso - contact, f.torso_v)
        whole += j1 * float(x.spoke_rate) + j2 * float(x.torso_rate)
        return [torso, whole, float((m1 * f.hub_v + m2 * f.torso_v) @ new_spoke)]

    was, now = flying(x, com, 0.0), flying(after, com, new_foot)
    # Momenta are of the order of ten: this is a hundred units in the last place. The bound is the
    # reference page's.
    np.testing.assert_allclose(momenta(after, now), momenta(x, was), rtol=0, atol=1e-12)
    np.testing.assert_allclose((now.hub, now.torso), (was.hub, was.torso), rtol=0, atol=1e-15)
    assert (float(after.spoke_angle), float(after.spoke_length)) == pytest.approx(
        (new_angle, LENGTH), rel=1e-15
    )
    assert float(after.pitch_integral) == float(x.pitch_integral)
    assert (float(jump.m.foot_x), int(jump.m.steps)) == (pytest.approx(new_foot, rel=1e-14), 1)


@pytest.mark.parametrize("seed", SEEDS)
def test_transfer_of_the_rigid_wheel_keeps_angular_momentum_about_the_new_foot(seed):
    wheel, _, m, n = rigid_case(seed)
    mass, length, inertia, rate = n["m"], n["l"], n["j"], n["theta_v"]
    after = wheel.jump(0.0, as_jax(RigidWheelState(-HALF, rate)), m, 0).x
    old_spoke, new_spoke = (length * np.array([-math.sin(a), math.cos(a)]) for a in (-HALF, HALF))

    def about_new_foot(spoke: np.ndarray, rate: float) -> float:
        # The hub turns about the foot of its own spoke.
        hub_v = rate * np.array([-spoke[1], spoke[0]])
        return mass * cross(new_spoke, hub_v) + inertia * rate

    assert about_new_foot(new_spoke, float(after.spoke_rate)) == pytest.approx(
        about_new_foot(old_spoke, rate), rel=EXACT
    )
    assert float(after.spoke_angle) == pytest.approx(HALF, rel=1e-15)


@pytest.mark.parametrize("seed", SEEDS)
def test_steered_transfer_moves_one_foot_and_no_velocity(seed):
    wheel, x, m = steered_landing(seed)
    jump = wheel.jump(0.0, x, m, 0)
    height = x.height + 0.155 * x.roll
    angle = math.atan2(x.foot_ahead_left, height) + ALPHA
    assert float(jump.x.foot_ahead_left) == pytest.approx(LENGTH * math.sin(angle), rel=1e-14)
    # The new spoke is unstretched.
    assert math.hypot(jump.x.foot_ahead_left, height) == pytest.approx(LENGTH, rel=1e-14)
    for name in set(SteeredWheelState.__dataclass_fields__) - {"foot_ahead_left"}:
        assert float(getattr(jump.x, name)) == float(getattr(x, name)), name
    assert (int(jump.m.steps_left), int(jump.m.steps_right)) == (5, 5)


def test_feet_that_land_within_a_nanometre_land_together():
    wheel, x, m = steered_landing(0)
    height = float(x.height)
    angle = math.acos(height / LENGTH) - ALPHA  # where the next spoke of a level axle just touches
    foot = height * math.tan(angle)
    level = lambda right: as_jax(  # noqa: E731
        SteeredWheelState(
            **{**vars(x), "roll": 0.0, "foot_ahead_left": foot, "foot_ahead_right": right}
        )
    )
    together = wheel.jump(0.0, level(foot + 1e-10), m, 0)
    apart = wheel.jump(0.0, level(foot + 1e-8), m, 0)
    assert (int(together.m.steps_left), int(together.m.steps_right)) == (5, 6)
    assert (int(apart.m.steps_left), int(apart.m.steps_right)) == (5, 5)
    assert float(together.x.foot_ahead_left) == pytest.approx(
        float(together.x.foot_ahead_right), abs=1e-9
    )


def energy(system: Any, x: Any, m: Any) -> float:
    return math.fsum(float(v) for v in jax.tree.leaves(system.stores(0.0, x, m)))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("model", ["torso wheel", "rigid wheel", "steered wheel"])
def test_jump_work_is_what_the_stores_lose(model, seed):
    """A transfer reports exactly what is missing afterwards: no energy moves with the foot."""
    rigid, _, m, n = rigid_case(seed)
    system, x, m = {
        "torso wheel": lambda: (*landing_case(seed, 0.02, 0.03), m),
        "rigid wheel": lambda: (rigid, as_jax(RigidWheelState(-HALF, n["theta_v"])), m),
        "steered wheel": lambda: steered_landing(seed),
    }[model]()
    jump = system.jump(0.0, x, m, 0)
    before, work = energy(system, x, m), math.fsum(float(v) for v in jax.tree.leaves(jump.work))
    # Rounding of the sum.
    assert energy(system, jump.x, jump.m) - before == pytest.approx(
        work, abs=1e-13 * (1 + abs(before))
    )
    assert work < 0


@pytest.mark.parametrize("direction", [1, -1])
def test_a_transfer_does_not_turn_the_motors_whichever_way_the_wheel_rolls(direction):
    """What a control computer reads.

    The stance spoke is another one, by a spacing, forward or backward; the wheel has not turned.
    """
    way = np.int32(direction)
    wheel, x = landing_case(3, 0.02, 0.03)
    x = dataclasses.replace(x, spoke_angle=direction * x.spoke_angle)
    m = dataclasses.replace(standing(x).m, steps=np.int32(2), direction=way)
    planar = (wheel, x, m, wheel.jump(0.0, x, m, 0))
    wheel, x, m = steered_landing(3)
    x = dataclasses.replace(x, foot_ahead_left=direction * x.foot_ahead_left)
    m = dataclasses.replace(m, direction_left=way, direction_right=way)
    steered = (wheel, x, m, wheel.jump(0.0, x, m, 0))
    for wheel, x, m, jumped in (planar, steered):
        before, after = wheel.senses(0.0, x, m), wheel.senses(0.0, jumped.x, jumped.m)
        # Rounding; a spacing is 0.63 rad.
        assert np.allclose(before.positions, after.positions, rtol=0, atol=1e-13)
