"""What can be asked of a basin: axes by short names and with units; errors that teach."""

import math

import pytest

import footfall as ff
from footfall.engines.analysis.basin_study import Basin, BasinRequest
from footfall.engines.analysis.settled_gait import NoGait, settled_gait
from footfall.scenario.errors import ScenarioError
from footfall.sweep.subject import Subject


@pytest.fixture(scope="module")
def wheel():
    return ff.load("rimless-wheel")


def test_sides_of_the_box_take_short_names_and_units_and_may_be_turned_round(wheel):
    study = Basin(
        BasinRequest(vary="spoke_angle=18 deg:-18 deg; stiffness=10 kN/m:20 kN/m"), Subject(wheel)
    )
    angle, stiffness = study.axes
    assert (angle.path, angle.unit) == ("start.spoke_angle", "rad")
    assert (angle.low, angle.high) == pytest.approx((-math.pi / 10, math.pi / 10))
    assert stiffness.path == "robot.leg.stiffness" and stiffness.high == 2e4


@pytest.mark.parametrize(
    ("vary", "words"),
    [
        ({"torso_angel": (0, 1), "spoke_rate": (-6, 0)}, "torso_angle"),
        ({"spoke_rate": (-6, 0)}, "over two numbers"),
        ({"spoke_rate": (-6, 0), "start.spoke_rate": (-3, 0)}, "varied twice"),
        ({"spoke_rate": (-6, 0), "leg": "spring,stiffening"}, "a side of a box"),
        ({"spoke_rate": (-6, 0), "spokes": (8, 12)}, "structure"),
        ({"spoke_rate": (-6, 0), "stiffness": (-1, 1)}, "out of range"),
        ({"spoke_rate": -6, "stiffness": (1, 2)}, "give its ends, (low, high)"),
        ({"spoke_rate": ("-6 kg", 0), "stiffness": (1, 2)}, "kg"),
        ({"spoke_rate": (-6, 0), "sim.duration": (1, 2)}, "cannot vary"),
        ([("spoke_rate", (-6, 0))], "a dictionary"),
    ],
)
def test_a_box_that_cannot_be_asked_is_told_what_to_write(wheel, vary, words):
    with pytest.raises(ScenarioError) as caught:
        ff.basin(wheel, vary)
    assert words in str(caught.value)


def test_robots_that_have_no_basin_say_why():
    box = {"gait.speed": (0.1, 0.2), "gait.lift": (0.01, 0.02)}
    with pytest.raises(ScenarioError, match="its motion is a plan"):
        ff.basin(ff.load("two-leg-single-step"), box)


def test_a_start_that_does_not_walk_has_no_gait_and_says_how_it_ended():
    gentle = ff.load("passive-wheel", {"terrain.angle": "1 deg"})
    with pytest.raises(NoGait, match=r"rocked_back after .* which is no success"):
        settled_gait(gentle.system, gentle.start, gentle.event_plan, ("reached_end",))


def test_clocks_and_counts_of_a_run_that_begins_on_a_gait_begin_anew():
    for name, counter in (("water-runner", "strides"), ("centipede", "ticks")):
        experiment = ff.load(name)
        m = experiment.start.m.__class__(
            **{f: getattr(experiment.start.m, f) for f in experiment.start.m.__dataclass_fields__}
            | {counter: 7}
        )
        assert getattr(experiment.system.restarted(m), counter) == 0
