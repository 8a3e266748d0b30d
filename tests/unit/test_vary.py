"""One experiment as many.

Arrays put into any number of robot, parts and start, checked all at once.
"""

import dataclasses

import jax
import numpy as np
import pytest

from footfall.hybrid.fields import ParameterError, Parametric, param
from footfall.hybrid.motion_plan import AbstractMotionPlan
from footfall.hybrid.rigid_bodies import AbstractRigidBodies
from footfall.machines.rimless_wheel.spring_leg import SpringLeg
from footfall.numerics.scalar import Scalar
from footfall.scenario.catalog import shipped_scenarios
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import load, with_settings
from footfall.scenario.vary import batched, find_knob


def leaves(system, state):
    return [np.asarray(leaf) for leaf in jax.tree.leaves((system, state))]


CASES = {
    "passive-wheel": {
        "leg.length": [0.2, 0.26, 0.3],
        "terrain.angle": [0.05, 0.08, 0.1],
        "start.spoke_angle": [0.1, 0.2, 0.3],
    },
    "rimless-wheel": {
        "leg.rest_length": [0.2, 0.26, 0.3],
        "torso.pitch_setpoint": [0.4, 0.6, 0.9],
        "start.spoke_rate": [-3, -4, -5],
    },
    "rimless-wheel-stiff": {
        "wheel_mass": [2.0, 2.5, 3.0],
        "start.height": [0.2585, 0.26, 0.27],
        "start.spoke_angle": [0.1, 0.0, 0.05],
    },
    "rimless-wheel-turning": {
        "half_track": [0.1, 0.15, 0.2],
        "start.roll": [-0.1, 0.0, 0.1],
        "start.speed": [0.7, 0.8, 0.9],
    },
    "rimless-wheel-closed-loop": {
        "controller.derivative": [0.3, 0.45, 0.6],
        "stack.pitch_delay": [0.0, 0.005, 0.01],
        "start.spoke_rate": [-3, -3.5, -4],
    },
    "rimless-wheel-turning-closed-loop": {
        "stack.steer_current": [0.0, 0.5, 1.0],
        "battery.voltage": [20, 24, 26],
        "start.roll": [-0.1, 0.0, 0.1],
    },
    "urchin-spike-closed-loop": {
        "angle_setpoint": [0.3, 0.5, 0.7],
        "slide": [0.01, 0.02, 0.03],
        "start.angle": [0.1, 0.2, 0.3],
    },
    "water-runner": {
        "foot.radius": [0.018, 0.02, 0.022],
        "drive.frequency": [7, 8, 9],
        "start.speed": [0.0, 0.1, 0.2],
    },
    "water-runner-biped": {
        "body.mass": [0.03, 0.04, 0.05],
        "leg.crank": [0.02, 0.021, 0.0218],
        "start.height": [0.05, 0.06, 0.07],
    },
    "water-runner-ground": {
        "leg.ground": [0.0600, 0.0615, 0.0620],
        "foot.damping": [0.001, 0.002, 0.003],
        "contact.damping": [0.5, 1, 2],
    },
    "centipede": {
        "body.mass": [0.1, 0.2, 0.3],
        "gait.height": [0.04, 0.05, 0.06],
        "start.head": [0.0, 0.1, 0.2],
    },
    "urchin-spike": {
        "spike.cylinder_mass": [0.04, 0.05, 0.06],
        "controller.hinge_proportional": [30.0, 40.0, 50.0],
        "start.slide": [0.015, 0.02, 0.025],
    },
    "urchin-spike-source": {
        "gait.swing_time": [8.0, 9.0, 10.0],
        "foothold_y": [0.05, 0.051, 0.052],
        "gravity": [0.0, 5.0, 9.81],
    },
    "urchin-kick": {
        "force": [30.0, 40.0, 50.0],
        "mass": [1.0, 1.232, 1.4],
        "start.angle": [0.8, 1.0, 1.2],
    },
    "centipede-gap": {
        "terrain.gap_width": [0.05, 0.1, 0.2],
        "gait.lag": [0.0, 1.0, 2.0],
        "start.phase": [4.0, 4.5, 5.0],
    },
}


@pytest.mark.parametrize("name", CASES)
def test_each_lane_of_a_batch_is_the_robot_and_start_loaded_with_those_values(name):
    # A motion plan lays out each design's own course instead: tests/unit/test_two_leg_routes.py.
    plans = {
        name for name in shipped_scenarios() if isinstance(load(name).system, AbstractMotionPlan)
    }
    # One at a time.
    bodies = {
        name for name in shipped_scenarios() if isinstance(load(name).system, AbstractRigidBodies)
    }
    assert set(CASES) == set(shipped_scenarios()) - plans - bodies
    columns = {key: np.array(values, dtype=float) for key, values in CASES[name].items()}
    experiment = load(name)
    many = leaves(*batched(experiment, columns))
    for lane in range(3):
        settings = [f"{key}={values[lane]!r}" for key, values in CASES[name].items()]
        one = load(name, settings)
        for a, b in zip(many, leaves(one.system, one.start), strict=True):
            assert a.shape in (b.shape, (*b.shape, 3))
            # NumPy may take another sine for arrays than for one number: the last bit may differ.
            assert (a if a.shape == b.shape else a[..., lane]) == pytest.approx(
                b, rel=4e-16, abs=2e-17
            )


def test_what_does_not_vary_stays_one_number():
    system, state = batched(load("rimless-wheel"), {"leg.stiffness": np.array([1e4, 2e4])})
    arrays = [leaf for leaf in leaves(system, state) if leaf.ndim]
    assert len(arrays) == 1 and arrays[0].tolist() == [1e4, 2e4]


def test_a_million_designs_are_checked_in_a_moment():
    values = np.linspace(0.1, 0.3, 1_000_000)
    _, state = batched(
        load("rimless-wheel"), {"start.spoke_angle": values, "leg.stiffness": 1e4 + values}
    )
    assert state.x.spoke_angle is values


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        (
            {"leg.stiffness": [1.0, 2.0, -3.0, -4.0]},
            ["leg.stiffness = -3 N/m", "design 12", "must be > 0"],
        ),
        ({"leg.stiffness": [1.0, np.nan, 1.0, 1.0]}, ["leg.stiffness = nan", "design 11"]),
        (
            {"start.spoke_angle": [0.1, 0.5, 1.0, 0.4], "leg.damping": [1.0, 2.0, 3.0, 4.0]},
            ["design 12 (start.spoke_angle = 1, leg.damping = 3)", "below ground", "spoke 8 of 10"],
        ),
        (
            {"start.height": [0.26, 0.1, 0.05, 0.26]},
            ["design 12 (start.height = 0.05)", "below ground"],
        ),
        (
            {"start.spoke_angle": [0.1, 0.1, 2.0, 0.1]},
            ["design 12", "spoke_angle = 2 rad puts the hub below"],
        ),
        ({"leg.stifness": [1.0]}, ['Did you mean "leg.stiffness"?']),
        ({"sim.rtol": [1e-3]}, ["cannot vary", "same for all designs"]),
        ({"spokes": [8, 10]}, ["structure"]),
        ({"leg": ["spring"]}, ["structure"]),
        (
            {"leg.stiffness": [1.0, 2.0], "leg.damping": [1.0]},
            ["leg.stiffness has 2, leg.damping has 1"],
        ),
        ({"leg.stiffness": 3.0}, ["one value per design"]),
        ({"leg.stiffness": [1.0], "robot.leg.stiffness": [1.0]}, ["same key"]),
    ],
)
def test_a_design_that_cannot_be_is_named_with_key_value_and_number(columns, said):
    with pytest.raises(ScenarioError) as caught:
        batched(
            load("rimless-wheel"), {k: np.asarray(v) for k, v in columns.items()}, np.arange(10, 14)
        )
    for words in said:
        assert words in str(caught.value), str(caught.value)


def test_a_start_that_no_design_could_have_is_not_blamed_on_one_of_them():
    experiment = load("rimless-wheel")
    sunk = dataclasses.replace(
        experiment, start_options=dataclasses.replace(experiment.start_options, height=0.1)
    )
    with pytest.raises(ScenarioError, match="every design: height: the start is below ground"):
        batched(sunk, {"leg.stiffness": np.array([1e4, 2e4])})


def test_knobs_tell_numbers_from_structure():
    experiment = load("rimless-wheel")
    knobs = {
        name: find_knob(experiment, name, "here")
        for name in ("leg.stiffness", "spokes", "leg", "leg.kind", "on_liftoff")
    }
    assert {n: (k.structural, k.number) for n, k in knobs.items()} == {
        "leg.stiffness": (False, True),
        "spokes": (True, True),
        "leg": (True, False),
        "leg.kind": (True, False),
        "on_liftoff": (True, False),
    }
    assert (
        knobs["leg.stiffness"].path == ("robot", "leg", "stiffness")
        and knobs["leg.stiffness"].unit == "N/m"
    )


def test_other_settings_make_the_experiment_that_loading_with_them_makes():
    changed = with_settings(
        load("rimless-wheel"), ["leg=stiffening", "leg.stiffness=9000", "spokes=8"]
    )
    loaded = load("rimless-wheel", ["leg=stiffening", "leg.stiffness=9000", "spokes=8"])
    assert changed.document == loaded.document and changed.name == loaded.name
    assert load("rimless-wheel").document["robot"]["spokes"] == 10


def test_bounds_of_an_array_are_checked_at_once_and_the_first_bad_value_is_named():
    values = np.full(2_000_000, 1e4)
    SpringLeg(stiffness=values)
    values[1_234_567] = -1.0
    with pytest.raises(ParameterError, match="stiffness = -1 N/m is out of range") as caught:
        SpringLeg(stiffness=values)
    assert caught.value.lane == 1_234_567 and caught.value.field == "stiffness"
    with pytest.raises(ParameterError) as caught:
        SpringLeg(stiffness=-1.0)
    assert caught.value.lane is None


def test_every_bound_holds_for_arrays_as_for_numbers():
    info = dataclasses.fields(_Bounded)[0].metadata["footfall"]
    values = np.array([-np.inf, -0.1, 0.0, 0.5, 1.0, 1.1, np.inf, np.nan])
    assert info.allows_each(values).tolist() == [
        False,
        False,
        False,
        True,
        True,
        False,
        False,
        False,
    ]
    assert [info.allows(v) for v in values] == info.allows_each(values).tolist()


class _Bounded(Parametric):
    value: Scalar = param(0.5, doc="a number", gt=0, le=1)
