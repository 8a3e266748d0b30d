"""Feedback on the return map does what its linear prediction says, and more robots stay up."""

import dataclasses
import math

import jax
import numpy as np
import pytest

import footfall as ff
from footfall.engines.lanes.batch import run_batch
from footfall.engines.lanes.batch_plan import BatchPlan
from footfall.hybrid.system import HybridState
from footfall.scenario.files import classics


@pytest.fixture(scope="module")
def wheel():
    return ff.load("passive-wheel").cycle("touchdown")


@pytest.fixture(scope="module")
def law(wheel):
    return ff.feedback(wheel, ["wheel_torque"], price=0.1)


def test_deadbeat_gives_the_torque_whose_work_makes_up_for_a_step(wheel):
    """rate+ = cos(alpha) sqrt(rate^2 + 2 (fall + T alpha) / (m l^2)) of a wheel without inertia.

    At the gait A = cos^2(alpha) and B = cos(alpha) alpha / (m l^2 rate before the landing), so that
    A / B is what takes a deviation of the rate away in one step.
    """
    law = ff.feedback(wheel, ["wheel_torque"], "deadbeat")
    robot, rate = wheel.map.system, float(wheel.state.x.spoke_rate)
    alpha, length = 2 * math.pi / robot.spokes, float(robot.leg.length)
    a, before = math.cos(alpha) ** 2, rate / math.cos(alpha)
    b = math.cos(alpha) * alpha / (float(robot.mass) * length**2 * before)
    assert law.gain[0, list(wheel.unknowns).index("spoke_rate")] == pytest.approx(a / b, rel=1e-8)
    assert np.abs(law.multipliers).max() < 1e-9


def test_multipliers_with_feedback_are_those_predicted(wheel, law):
    found = law.cycle()
    assert np.abs(law.multipliers).max() < 0.5 * np.abs(wheel.multipliers).max()
    assert found.multipliers[0] == pytest.approx(law.multipliers[0], abs=1e-6)
    assert np.abs(found.multipliers[1:]).max() < 1e-6  # what is held is new at each step
    assert found.period == pytest.approx(wheel.period, abs=1e-10)
    assert "wheel_torque" in repr(law)


@pytest.mark.slow
def test_more_wheels_roll_on_with_feedback(wheel, law):
    """From slower and slower starts; the law gives its torque as soon as they are put down."""
    rates = np.linspace(-0.5, -2.5, 12)
    start = wheel.state._replace(x=dataclasses.replace(wheel.state.x, spoke_rate=rates))
    rolls, plan = [], BatchPlan(duration=3.0, rtol=1e-8)
    for system, state in ((wheel.map.system, start), (law.system, law.disturbed(start))):
        lanes = jax.tree.map(lambda v: np.broadcast_to(np.asarray(v), rates.shape).copy(), state)
        ends = run_batch(system, lanes, plan).columns["outcome"]
        rolls.append(int(np.sum(ends == ff.Outcome.reached_end)))
    assert rolls[0] < 9 and rolls[1] == len(rates)


def test_a_limit_holds_what_the_law_wants(wheel):
    law = ff.feedback(wheel, ["wheel_torque"], "deadbeat", limits={"wheel_torque": 0.2})
    slow = dataclasses.replace(wheel.state.x, spoke_rate=wheel.state.x.spoke_rate + 1.0)
    state = law.disturbed(HybridState(slow, wheel.state.m))
    assert float(state.m.corrected_wheel_torque) == 0.2


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"inputs": ["wheel_torqe"]}, 'Did you mean "wheel_torque"'),
        ({"inputs": ["wheel_torque"], "law": "lqg"}, "Known: lqr, deadbeat"),
        ({"inputs": []}, "needs an input"),
        ({"inputs": ["wheel_torque"], "limits": {"mass": 1.0}}, '"mass" is no input'),
        ({"inputs": ["mass"]}, "changes what is stored"),
        ({"inputs": ["wheel_torque"], "within": 2.0}, "between 0 and 1"),
    ],
)
def test_feedback_that_cannot_be_is_told_why(wheel, asked, said):
    with pytest.raises(ValueError, match=r"inputs|law|feedback|limits|within") as caught:
        ff.feedback(wheel, **asked)
    assert said in str(caught.value)


@pytest.mark.slow
def test_deadbeat_of_the_touchdown_angle_keeps_a_runner_up_from_any_height():
    """The high gait of the spring-mass runner, which is unstable, from apexes of equal energy."""
    experiment = ff.load(classics()["slip-runner"].with_suffix(".toml"), trust=True)
    x, m = experiment.start
    energy = 0.5 * 5.0**2 + 9.81 * x.z

    def at_apex(z):
        return HybridState(dataclasses.replace(x, z=z, vx=np.sqrt(2 * (energy - 9.81 * z))), m)

    gait = ff.find_cycle(experiment.system, at_apex(1.28), "apex")
    assert gait.multipliers[0] == pytest.approx(1.603, abs=1e-3)
    law = ff.feedback(gait, ["leg_angle"], "deadbeat")
    assert np.abs(law.cycle().multipliers).max() < 1e-6
    z, up = np.linspace(0.93, 1.9, 98), []
    start = at_apex(z)
    for system, state in ((experiment.system, start), (law.system, law.disturbed(start))):
        lanes = jax.tree.map(lambda v: np.broadcast_to(np.asarray(v), z.shape).copy(), state)
        ends = run_batch(system, lanes, BatchPlan(duration=8.0, rtol=1e-8)).columns["outcome"]
        up.append(int(np.sum(ends == ff.Outcome.reached_end)))
    assert up[1] == 98 and up[0] < 40


@pytest.mark.slow
def test_the_wheel_with_a_corrected_pitch_has_the_multipliers_predicted():
    cycle = ff.load("rimless-wheel").cycle("touchdown", warm_up=12)
    law = ff.feedback(cycle, ["torso.pitch_setpoint"], within=0.5)
    found = law.cycle()
    kept = law.multipliers[np.abs(law.multipliers) > 1e-5]
    assert np.abs(law.multipliers).max() < 0.5 < np.abs(cycle.multipliers).max()
    assert found.multipliers[: len(kept)] == pytest.approx(kept, abs=1e-6)
