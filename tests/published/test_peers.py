"""Facts of peers: what Drake's examples say of the rimless wheel and of the compass gait.

Drake (RobotLocomotion/drake), examples/rimless_wheel and examples/compass_gait: the parameters of
their .named_vector files, the claims of rimless_wheel_test.cc and compass_gait_test.cc. Nothing is
integrated here: between footfalls energy is kept, and a footfall is a jump. The simplest walker of
Garcia and the runner of Geyer are in test_zoo.py.
"""

import dataclasses

import numpy as np
import pytest
from scipy.optimize import brentq

import footfall as ff
from footfall.hybrid.system import HybridState
from footfall.machines.parts.terrain.planes import Slope
from footfall.machines.rimless_wheel.rigid_wheel import RigidWheel
from footfall.machines.rimless_wheel.strut import Strut
from footfall.scenario.files import classics

GRAVITY, SPOKES, GAMMA = 9.81, 8, 0.08  # mass and length are 1
ALPHA = np.pi / SPOKES  # half the angle between spokes


@pytest.fixture(scope="module")
def wheel():
    ground = Slope(angle=GAMMA)
    return RigidWheel(
        mass=1.0, spokes=SPOKES, leg=Strut(length=1.0), terrain=ground, gravity=GRAVITY
    )


def at(wheel, angle, rate):
    """A state; Drake's angles are from the vertical and forward, ours from the normal, backward."""
    state = wheel.begin(wheel.Start(spoke_angle=0.3, spoke_rate=-1.0))
    x = dataclasses.replace(state.x, spoke_angle=-(angle - GAMMA), spoke_rate=-rate)
    return HybridState(x, state.m)


def energy(wheel, state, *, about_toe):
    """Drake counts height from the toe that stands."""
    stores = wheel.stores(0.0, *state)
    sunk = GRAVITY * float(state.m.foot_x) * np.sin(GAMMA) if about_toe else 0.0
    return float(stores.kinetic + stores.gravity) + sunk


def stepped(wheel, state):
    """Just after the next footfall: energy is kept until then."""
    before = energy(wheel, state, about_toe=False)

    def left(rate):
        return energy(wheel, at(wheel, GAMMA + ALPHA, rate), about_toe=False) - before

    down = at(wheel, GAMMA + ALPHA, brentq(left, 0.0, 50.0, xtol=1e-14))
    jumped = wheel.jump(0.0, *down, 0)
    return HybridState(jumped.x, jumped.m)


#: "From the course notes, the rolling fixed point", at theta = slope - alpha.
ROLLING = (
    np.cos(2 * ALPHA) / np.sin(2 * ALPHA) * np.sqrt(4 * GRAVITY * np.sin(ALPHA) * np.sin(GAMMA))
)


def test_the_wheel_rolls_at_drakes_fixed_point(wheel):
    begun = at(wheel, GAMMA - ALPHA, ROLLING)
    after = stepped(wheel, begun)
    assert float(after.x.spoke_rate) == pytest.approx(-ROLLING, abs=1e-12)
    assert float(after.x.spoke_angle) == pytest.approx(ALPHA, abs=1e-12)
    gone = float(after.m.foot_x - begun.m.foot_x)
    assert gone == pytest.approx(2 * np.sin(ALPHA), abs=1e-12)  # "toe, step_length"
    kept = energy(wheel, after, about_toe=True), energy(wheel, begun, about_toe=True)
    assert kept[0] == pytest.approx(kept[1], abs=1e-12)


@pytest.mark.parametrize(("faster", "sign"), [(0.2, -1), (-0.2, 1)])
def test_too_fast_it_loses_energy_and_too_slow_it_gains(wheel, faster, sign):
    """By more than 0.01 J a step, from half-way: "walking too fast should lose energy"."""
    steady = energy(wheel, at(wheel, GAMMA - ALPHA, ROLLING), about_toe=True)
    half = GAMMA + ALPHA / 2

    def left(rate):
        return energy(wheel, at(wheel, half, rate), about_toe=True) - steady

    begun = at(wheel, half, brentq(left, 0.0, 50.0, xtol=1e-14) + faster)
    gained = energy(wheel, stepped(wheel, begun), about_toe=True) - energy(
        wheel, begun, about_toe=True
    )
    assert sign * gained > 0.01


def momentum(stance, swing, rates, *, about_swing):
    """Of hip 10 kg and two legs of 5 kg at their middle, about either foot; forward positive."""

    def along(angle, length):
        return np.array([length * np.sin(angle), length * np.cos(angle)])

    def moving(angle, length, rate):
        return rate * length * np.array([np.cos(angle), -np.sin(angle)])

    hip, hip_speed = along(stance, 1.0), moving(stance, 1.0, rates[0])
    bodies = [
        (5.0, along(stance, 0.5), moving(stance, 0.5, rates[0])),
        (10.0, hip, hip_speed),
        (5.0, hip - along(swing, 0.5), hip_speed - moving(swing, 0.5, rates[1])),
    ]
    foot = hip - along(swing, 1.0) if about_swing else np.zeros(2)
    return sum(
        mass * ((at - foot)[1] * speed[0] - (at - foot)[0] * speed[1]) for mass, at, speed in bodies
    )


def test_the_compass_gait_lands_as_drakes_does():
    """Drake's collision test: slope 0.0525, legs 0.2 rad either way of the normal, rates 2 and -1.

    What its angular momentum was about the new foot it is after the collision.
    """
    file = classics()["compass-gait"].with_suffix(".toml")
    walker = ff.load(file, {"slope": 0.0525}, trust=True).system
    stance, swing, rates = 0.2 + 0.0525, -0.2 + 0.0525, (2.0, -1.0)
    before = walker.standing(stance=stance, swing=swing, stance_rate=rates[0], swing_rate=rates[1])
    (landing,) = (k for k, event in enumerate(walker.events) if event.name == "heelstrike")
    after = walker.jump(0.0, *before, landing)
    x = after.x
    assert (float(x.stance), float(x.swing)) == pytest.approx((swing, stance), abs=1e-15)
    kept = momentum(swing, stance, (float(x.stance_rate), float(x.swing_rate)), about_swing=False)
    assert kept == pytest.approx(momentum(stance, swing, rates, about_swing=True), abs=5e-14)
    # The leg that leaves keeps its own about the hip: the second of the two equations.
    leg = [_about_hip(stance, swing, rates, leaving=True)]
    leg.append(_about_hip(swing, stance, (float(x.stance_rate), float(x.swing_rate))))
    assert leg[0] == pytest.approx(leg[1], abs=5e-14)
    # "Ensure that the toe moved forward": by a step, as far as that goes level.
    toe = float(walker.outputs(0.0, x, after.m).foot.x)
    assert toe == pytest.approx(2 * np.sin(0.2) * np.cos(0.0525), abs=1e-14)


def _about_hip(stance, swing, rates, *, leaving=False):
    """Angular momentum about the hip of the leg that stood before the landing."""
    hip_speed = rates[0] * np.array([np.cos(stance), -np.sin(stance)])
    angle, rate = (stance, rates[0]) if leaving else (swing, rates[1])
    arm = -0.5 * np.array([np.sin(angle), np.cos(angle)])
    speed = hip_speed - 0.5 * rate * np.array([np.cos(angle), -np.sin(angle)])
    return 5.0 * (arm[1] * speed[0] - arm[0] * speed[1])
