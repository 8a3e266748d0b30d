"""A wheel that rolls backward is the mirror image of one that rolls forward.

Spokes land on either side.
"""

import dataclasses
import math

import jax
import numpy as np
import pytest

from footfall import Outcome, load, simulate
from footfall.engines.lanes.batch import run_batch
from footfall.engines.lanes.batch_plan import BatchPlan
from footfall.engines.plan import FixedSteps

#: Scenario, settings, and the same seen in a mirror that swaps front and back.
PASSIVE = (
    "passive-wheel",
    ["terrain.angle=0.08", f"start.spoke_angle={math.pi / 10}", "start.spoke_rate=-3"],
    ["terrain.angle=-0.08", f"start.spoke_angle={-math.pi / 10}", "start.spoke_rate=3"],
)
WALKING = (
    "rimless-wheel",
    ["torso.pitch_setpoint=0.6", f"start.spoke_angle={math.pi / 10}", "start.spoke_rate=-3.5"],
    ["torso.pitch_setpoint=-0.6", f"start.spoke_angle={-math.pi / 10}", "start.spoke_rate=3.5"],
)
TURNING = (
    "rimless-wheel-turning",
    [
        "torso.pitch_setpoint=0.6",
        f"start.spoke_angle={math.pi / 10}",
        "start.speed=0.8",
        "steering_current=0.5",
    ],
    [
        "torso.pitch_setpoint=-0.6",
        f"start.spoke_angle={-math.pi / 10}",
        "start.speed=-0.8",
        "steering_current=-0.5",
    ],
)
WHEELS = pytest.mark.parametrize(
    ("scenario", "forward", "backward"),
    [PASSIVE, WALKING, TURNING],
    ids=["passive", "walking", "turning"],
)


@WHEELS
def test_rolling_backward_is_the_mirror_image_of_rolling_forward(scenario, forward, backward):
    ahead, image = (
        simulate(e.system, e.start, e.plan)
        for e in (load(scenario, s, duration=2.0) for s in (forward, backward))
    )
    assert (
        ahead.outcome is image.outcome is Outcome.reached_end
        and len(ahead.events) == len(image.events) >= 7
    )
    # The same sums with other signs: rounding of 1e-16 a step, and 1e-13 s an event, grown over
    # eight steps.
    np.testing.assert_allclose([e.t for e in image.events], [e.t for e in ahead.events], atol=1e-10)
    np.testing.assert_allclose(image["travel.distance"], -ahead["travel.distance"], atol=1e-10)
    assert image["travel.distance"][-1] < -0.8 and image.ledger.relative_residual < 1e-8


@WHEELS
def test_and_in_batches(scenario, forward, backward):
    results = []
    for settings in (forward, backward):
        experiment = load(scenario, settings)
        start = jax.tree.map(lambda v: np.full(2, v), experiment.start)
        results.append(run_batch(experiment.system, start, BatchPlan(2.0, step=2e-3)).columns)
    ahead, image = results
    assert ahead["outcome"][0] == image["outcome"][0] == Outcome.reached_end
    np.testing.assert_array_equal(image["jumps"], ahead["jumps"])
    for name, sign in (("mean_speed", -1), ("step_length", -1), ("step_time", 1)):
        np.testing.assert_allclose(image[name], sign * ahead[name], rtol=1e-9)  # as above


#: What a mirror between front and back turns round: lengths and forces along x, rotations about y
#: and z, and what drives forward.
TURNED = {"x", "vx", "fx", "pitch", "yaw", "torque", "current", "distance"}


def mirrored(name, values):
    group, _, quantity = name.rpartition(".")
    odd = quantity in TURNED or (quantity == "speed" and not group.endswith("spoke"))
    return -values if odd else values


@pytest.mark.parametrize("fixed", [None, FixedSteps(1e-3)], ids=["events", "steps"])
@pytest.mark.parametrize(
    ("scenario", "start"),
    [
        # Seen by attack: leaning back at rest it "rocked back", leaning forward it walked.
        (
            "rimless-wheel",
            {"torso.pitch_setpoint": 0.6, "start.spoke_angle": 0.0, "start.spoke_rate": 0.0},
        ),
        # Pushed against the way it leans, it comes back and goes there: whichever way that is.
        (
            "rimless-wheel",
            {"torso.pitch_setpoint": 0.6, "start.spoke_angle": 0.0, "start.spoke_rate": 0.3},
        ),
        (
            "passive-wheel",
            {"terrain.angle": 0.08, "start.spoke_angle": 0.0, "start.spoke_rate": 0.3},
        ),
        (
            "rimless-wheel-turning",
            {
                "torso.pitch_setpoint": 0.6,
                "start.spoke_angle": 0.0,
                "start.speed": 0.0,
                "steering_current": 0.2,
            },
        ),
    ],
    ids=["at rest", "pushed back", "passive", "turning"],
)
def test_which_way_a_wheel_starts_does_not_decide_which_way_it_rolls(scenario, start, fixed):
    """Every output over several footfalls, those before the first landing included."""
    runs = []
    for sign in (1, -1):
        experiment = load(
            scenario, {key: sign * value for key, value in start.items()}, duration=3.0
        )
        runs.append(
            simulate(
                experiment.system,
                experiment.start,
                dataclasses.replace(experiment.plan, fixed=fixed),
            )
        )
    ahead, image = runs
    assert (
        ahead.outcome is image.outcome is Outcome.reached_end
        and ahead.ending.jumps == image.ending.jumps >= 4
    )
    assert ahead["travel.distance"][-1] > 0.5
    np.testing.assert_allclose(image.t, ahead.t, atol=1e-10)  # as above
    outputs = [name for name, signal in ahead.signals.items() if signal.role == "output"]
    for name in outputs:
        # The same sums with other signs: 8e-13 of the largest value was seen, most are equal to the
        # last bit; room for other compilers.
        scale = float(np.max(np.abs(ahead[name])))
        np.testing.assert_allclose(
            mirrored(name, image[name]), ahead[name], atol=1e-9 * scale, rtol=0.0, err_msg=name
        )
    assert len(outputs) > 15


@pytest.mark.parametrize("scenario", ["rimless-wheel", "passive-wheel"])
def test_a_wheel_too_slow_for_its_first_spoke_rocks_back_whichever_way_it_started(scenario):
    """On two feet, pushed up and back again onto the foot it came from."""
    ends = []
    for sign in (1, -1):
        settings = {"start.spoke_angle": sign * math.pi / 10, "start.spoke_rate": -sign * 1.0}
        settings |= (
            {"torso.pitch_setpoint": sign * 0.6}
            if scenario == "rimless-wheel"
            else {"terrain.angle": 0.0}
        )
        experiment = load(scenario, settings, duration=3.0)
        run = simulate(experiment.system, experiment.start, experiment.plan)
        ends.append(run.ending)
        assert run.outcome is Outcome.rocked_back and run.ledger.relative_residual < 1e-8
    assert ends[1].t == pytest.approx(ends[0].t, abs=1e-9) and ends[1].event == ends[0].event


def test_a_wheel_on_two_feet_that_is_pushed_backward_lands_at_once_and_loses_speed_by_the_closed_form():
    """Seen by attack: it ended at t = 0, as too slow, at -0.87 m/s. On level ground each landing
    leaves cos(36 deg) of the rate, and it passes over a foot with more than sqrt(2 g (1 - cos(18
    deg)) / l) = 1.92 rad/s: 5 becomes 4.05, 3.27, 2.65, 2.14 and 1.73."""
    experiment = load("passive-wheel", ["terrain.angle=0", "start.spoke_rate=5"], duration=5.0)
    run = simulate(experiment.system, experiment.start, experiment.plan)
    landings = run.events_named("touchdown")
    assert landings[0].t == 0.0 and run.outcome is Outcome.rocked_back
    expected = 5.0 * math.cos(math.pi / 5) ** np.arange(1, 6)
    rows = [event.row_after for event in landings]
    # Energy between landings, at a tolerance of 1e-8.
    np.testing.assert_allclose(run["spoke_rate"][rows], expected, rtol=1e-7)
    assert np.all(run["direction"][rows] == -1) and run.ledger.relative_residual < 1e-8


def test_a_wheel_that_was_pushed_back_a_little_comes_forward_again():
    experiment = load(
        "passive-wheel", ["start.spoke_angle=0", "start.spoke_rate=0.3"], duration=3.0
    )
    run = simulate(experiment.system, experiment.start, experiment.plan)
    assert (
        run.outcome is Outcome.reached_end
        and run["travel.distance"].min() < 0 < run["travel.distance"][-1]
    )
    assert run["direction"][0] == 0 and run["direction"][-1] == 1


def test_the_walking_wheel_pushed_backward_lands_on_the_spoke_behind_at_once_in_both_engines():
    """Both feet stand on the ground at the start.

    The one behind is above it or below by rounding, and comes down.
    """
    experiment = load("rimless-wheel", ["start.spoke_rate=3.5"], duration=0.1)
    run = simulate(experiment.system, experiment.start, experiment.plan)
    assert [(e.name, e.t) for e in run.events] == [
        ("touchdown", 0.0)
    ] and run.outcome is Outcome.reached_end
    start = jax.tree.map(lambda v: np.full(2, v), experiment.start)
    end = run_batch(experiment.system, start, BatchPlan(0.1, step=1e-3)).end
    assert np.all(end.m.steps == 1) and np.all(end.m.direction == -1)
    # Tolerances of 1e-8, and fourth order at a step of 1/170 of the spring's period.
    np.testing.assert_allclose(end.x.spoke_angle, run["spoke_angle"][-1], atol=1e-6)
