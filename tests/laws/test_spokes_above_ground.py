"""No wheel rolls through the ground.

Where its spokes are, from what a run shows, without the model's own guards.
"""

import dataclasses
import math

import numpy as np
import pytest

from footfall import load, simulate
from footfall.engines.plan import FixedSteps

#: of the spoke length: what a wheel sinks in before it counts as turned back
#: (machines/rimless_wheel/rolling.py), and rounding
SLACK = 1.1e-4


def deepest(run, wheel, rest, sides):
    """How far [m] an unloaded spoke reaches into the ground, and how far a loaded one sags, at
    most: by the outputs of a run.
    """
    terrain = getattr(wheel, "terrain", None)
    descent = 0.0 if terrain is None else float(terrain.descent)
    depth = sag = 0.0
    for hub, foot in sides:
        across, up = (run[f"{foot}.{axis}"] - run[f"{hub}.{axis}"] for axis in "xz")
        length, above = (
            np.hypot(across, up),
            run[f"{hub}.x"] * math.sin(descent) + run[f"{hub}.z"] * math.cos(descent),
        )
        for i in range(1, wheel.spokes):
            turned = np.arctan2(up, across) + 2 * math.pi * i / wheel.spokes
            depth = max(depth, float(np.max(-above - rest * np.sin(turned + descent))))
        sag = max(sag, float(np.max(rest - length)))
    return depth, sag


#: Two feet on the ground, the other one ahead: the mirror image of the usual start.
MIRRORED = ("start.spoke_angle=-0.3141592653589793", "torso.pitch_setpoint=-0.6")


# Each robot in the engine that is compiled sooner: what an engine does with a guard is no matter of
# robots, and test_step_run.py has both of them end these runs alike.
@pytest.mark.parametrize(
    ("name", "key", "values", "settings", "fixed"),
    [
        ("rimless-wheel", "start.spoke_rate", (-5, -3.5, -1, 1, 2, 3.4, 3.5, 4, 5), (), None),
        ("rimless-wheel", "start.spoke_rate", (-1, 0, 0.2, 0.5, 1), MIRRORED, None),
        ("rimless-wheel", "start.spoke_rate", (-5, 3.5), ("leg.stiffness=4000",), None),
        ("rimless-wheel-turning", "start.speed", (-1, -0.3, 0.3, 0.8), (), FixedSteps(2.5e-4)),
        ("passive-wheel", "start.spoke_rate", (-5, 1, 5), (), FixedSteps(2.5e-4)),
        # three spokes: a landing turns the wheel round, cos(alpha) < 0
        (
            "passive-wheel",
            "start.spoke_rate",
            (-0.5,),
            ("spokes=3", "start.spoke_angle=-0.9"),
            FixedSteps(2.5e-4),
        ),
    ],
)
def test_no_spoke_goes_through_the_ground(name, key, values, settings, fixed):
    """A spoke that leaves springs out by as much as it sagged, and the next one sags under the hub
    as it rolls on: no deeper.
    """
    for value in values:
        experiment = load(name, [f"{key}={value}", *settings], duration=2)
        wheel, plan = experiment.system, experiment.plan
        run = simulate(wheel, experiment.start, dataclasses.replace(plan, fixed=fixed))
        sides = (
            [("left_hub", "left_foot"), ("right_hub", "right_foot")]
            if "left_hub.x" in run.columns
            else [("hub", "foot")]
        )
        rest = float(getattr(wheel.leg, "rest_length", 0.0) or wheel.leg.length)
        depth, sag = deepest(run, wheel, rest, sides)
        assert depth <= 2 * sag + SLACK * rest, (value, run.ending.sentence)


@pytest.mark.parametrize(
    ("rate", "event"), [(1, "turn_back"), (3.5, "turn_back"), (4, "rock_back")]
)
def test_a_wheel_that_comes_back_onto_the_spoke_it_left_has_rocked_back(rate, event):
    """Whether that spoke had left the ground (4) or not yet."""
    run = simulate(load("rimless-wheel", [f"start.spoke_rate={rate}"], duration=2))
    assert (run.outcome.name, run.ending.event) == ("rocked_back", event)
