"""Every metric of a summary is one of a sweep: the same numbers, over the same footfalls."""

import jax
import numpy as np
import pytest

import footfall as ff
from footfall.engines.lanes.batch import run_batch
from footfall.hybrid.statistics import mean_name, metrics_of_outputs, told_names
from footfall.hybrid.system import Travel
from footfall.scenario.load import load
from footfall.sweep.plan_sweep import plan_of, tracks_of_metric

#: Of a batch these are not over the same moments: times of steps are means over all sides at once,
#: and peaks are those at the ends of steps.
OTHERWISE = {"step_time": 0.02, "step_length": 0.02, "peak": 1e-4}


def test_a_batch_of_a_turning_wheel_has_every_metric_of_its_run():
    experiment = load("rimless-wheel-turning", duration=6.0)
    run = ff.summarise(experiment.run())
    needs = {name: tracks_of_metric(experiment, name) for name in run.metrics}
    track = tuple(dict.fromkeys(output for some in needs.values() for output in some))
    plan = plan_of(experiment, step=6.25e-4, track=track)
    start = jax.tree.map(lambda v: np.full(1, v), experiment.start)
    found = run_batch(experiment.system, start, plan)
    assert needs["turn_radius"] == () and needs["left_motor_rms_torque"] == ("left_motor.torque",)
    for name, value in run.metrics.items():
        within = next((share for word, share in OTHERWISE.items() if word in name), 1e-6)
        # 1e-6: rk4 at this step has an error of 1e-7 a second
        assert found.columns[name][0] == pytest.approx(value, rel=within), name
        assert found.units[name] == run.units[name], name


def test_metrics_of_outputs_are_those_of_the_names_that_a_robot_has():
    travel = Travel("d", ("n",), 1.0, (), means=("body.z", "gone"), friction=("foot.needed",))
    outputs = ["body.z", "hip.torque", "hip.electrical_power", "hip.power", "foot.needed"]
    needs = metrics_of_outputs(outputs, travel)
    assert needs[mean_name("body.z")] == ("body.z",) and mean_name("gone") not in needs
    assert all(needs[name] == ("hip.torque",) for name in told_names("hip.torque"))
    assert needs["electrical_energy"] == ("hip.electrical_power", "hip.power")
    assert needs["friction_needed"] == ("foot.needed",)
