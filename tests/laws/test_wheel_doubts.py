"""Gaits that the equations allow and the ground does not.

Friction needed, and spokes that sag too far.
"""

import math

import numpy as np
import pytest

from footfall import load, rollout, simulate
from footfall.engines.analysis.summary import summarise
from footfall.hybrid.bound import bound_doubts
from support.wheel_cases import EXACT, SEEDS, planar_case, rigid_case


@pytest.mark.parametrize(
    "case", [*(planar_case(seed) for seed in SEEDS), *(rigid_case(seed) for seed in SEEDS)]
)
def test_friction_needed_is_the_slope_of_the_ground_force_against_the_grounds_normal(case):
    """By the angle between the two, in the house frame; the model divides components in its own."""
    foot = case.wheel.outputs(0.0, case.x, case.m).foot
    descent = float(case.wheel.terrain.descent)
    lean = math.atan2(float(foot.fx), float(foot.fz)) - descent
    pressed = math.cos(lean) > 0
    assert float(foot.friction_needed) == pytest.approx(
        abs(math.tan(lean)) if pressed else 0.0, rel=1e3 * EXACT
    )


@pytest.mark.parametrize(
    ("settings", "expected", "friction"),
    [
        ([], [], 0.45),
        (["torso.com_distance=0.15"], ["needs_friction"], 7.3),  # walks at 1.54 m/s
        (["spokes=30", "start.spoke_angle=0.1"], ["support_invalid"], 0.268),
    ],
)
def test_a_gait_that_no_ground_could_hold_is_doubted(settings, expected, friction):
    experiment = load("rimless-wheel", settings)
    run = simulate(experiment.system, experiment.start, experiment.plan)
    assert run.outcome.name == "reached_end"
    doubts = bound_doubts(experiment.system.bounds(), run.t, run.columns)
    assert [doubt.name for doubt in doubts] == expected == [d.name for d in run.verdict.doubts]
    # rows every 5 ms: what lies between two of them is missed, a few parts in a thousand of a peak
    # that lasts 50 ms
    assert summarise(run).metrics["friction_needed"] == pytest.approx(friction, rel=0.01)


def test_the_rows_before_the_first_footfall_do_not_count():
    """A foot is put down without load: what its friction is there says nothing of the gait."""
    columns = {
        "steps": np.array([0.0, 0.0, 1.0, 2.0]),
        "foot.friction_needed": np.array([9.0, 9.0, 0.5, 0.5]),
        "spoke.length": np.array([0.2, 0.2, 0.2, 0.259]),
    }
    t = np.array([0.0, 1.0, 1.0, 101.0])
    wheel = load("rimless-wheel").system
    # 30.5 mm on average, of 12.7.
    assert [d.name for d in bound_doubts(wheel.bounds(), t, columns)] == ["support_invalid"]
    columns["spoke.length"][2] = 0.258
    assert bound_doubts(wheel.bounds(), t, columns) == []
    columns["foot.friction_needed"][3] = 9.0  # after the last footfall: it may be about to lift off
    assert bound_doubts(wheel.bounds(), t, columns) == []
    columns["foot.friction_needed"][2] = 1.01
    assert [d.name for d in bound_doubts(wheel.bounds(), t, columns)] == ["needs_friction"]
    assert [d.name for d in bound_doubts(load("passive-wheel").system.bounds(), t, columns)] == [
        "needs_friction"
    ]
    with_computer = {"plant.steps": columns.pop("steps"), **columns}
    closed = load("rimless-wheel-closed-loop").system
    assert [d.name for d in bound_doubts(closed.bounds(), t, with_computer)] == ["needs_friction"]


def test_either_side_of_the_two_sided_wheel_counts():
    t, count, fine = np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 2.0]), np.full(3, 0.4)
    columns = {f"steps_{side}": count for side in ("left", "right")}
    columns |= {f"{side}_foot.friction_needed": fine for side in ("left", "right")}
    columns |= {f"{side}_spoke.length": np.full(3, 0.255) for side in ("left", "right")}
    wheel = load("rimless-wheel-turning").system
    assert bound_doubts(wheel.bounds(), t, columns) == []
    assert [
        d.name
        for d in bound_doubts(wheel.bounds(), t, columns | {"right_foot.friction_needed": 4 * fine})
    ] == ["needs_friction"]
    assert [
        d.name
        for d in bound_doubts(wheel.bounds(), t, columns | {"right_spoke.length": np.full(3, 0.24)})
    ] == ["support_invalid"]


def test_the_approach_to_a_lift_off_is_no_doubt_about_friction():
    """The force that presses the foot down goes to zero there:

    11.4 in its last rows, and no step of the gait needed it.
    """
    experiment = load("rimless-wheel", ["leg.damping=0"])
    run = simulate(experiment.system, experiment.start, experiment.plan)
    assert (run.outcome.name, run.verdict.doubts) == ("lifted_off", ())
    assert run.ending.t == pytest.approx(0.256215, abs=1e-6)  # as before
    assert np.max(run["foot.friction_needed"]) > 5
    friction = summarise(run).metrics.get("friction_needed")
    assert friction is None or friction < 1


@pytest.mark.parametrize(
    ("settings", "key", "values", "expected"),
    [
        ([], "torso.com_distance", [0.06, 0.15], ["sound", "needs_friction"]),
        ([], "leg.damping", [0.0, 400.0], ["sound", "sound"]),  # the first lifts off, at once
        (
            ["spokes=30", "start.spoke_angle=0.1"],
            "leg.stiffness",
            [15e3, 1e6],
            ["support_invalid", "sound"],
        ),
    ],
)
def test_a_lane_is_doubted_as_its_run_is(settings, key, values, expected):
    lanes = rollout(load("rimless-wheel", settings, duration=3), {key: values})
    runs = [
        simulate(load("rimless-wheel", [*settings, f"{key}={value}"], duration=3))
        for value in values
    ]
    assert list(lanes.verdict.values) == expected == [run.verdict.word for run in runs]
