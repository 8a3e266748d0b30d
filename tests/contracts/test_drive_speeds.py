"""The table of speeds behind `/cmd_vel`: from the scenario's own model, and what it then does."""

import numpy as np
import pytest

from footfall.engines.lanes.batch import run_batch
from footfall.engines.lanes.batch_plan import BatchPlan
from footfall.realtime.drive_speeds import SETTLED, SIMULATED, drive_table
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import load
from footfall.scenario.vary import batched


@pytest.fixture(scope="module")
def wheel():
    experiment = load("rimless-wheel-turning-closed-loop")
    return experiment, drive_table(experiment)


def test_the_table_has_the_speeds_of_the_page_and_says_where_it_does_not_walk(wheel):
    _, table = wheel
    straight = dict(zip(table.setpoints.tolist(), table.speed[:, 0].tolist(), strict=True))
    # control-stack.md, section 5: 0.591 m/s with a pitch that is 10 ms old, within 3 %. The turning
    # scenario has no delay: 0.593 with its own, finer pitch.
    assert straight[0.6] == pytest.approx(0.591, rel=0.03)
    assert np.isnan(straight[0.4])  # rocks back
    walks = table.speed[1:, 0]
    assert (np.diff(walks) > 0).all()
    assert np.nanmax(table.yaw_rate[:, 1:]) < 0.01  # a positive current turns right, or not at all
    assert np.nanmin(table.yaw_rate) < -1.0


def test_what_a_command_becomes_walks_as_commanded(wheel):
    """Between the table's points it is linear, and a gait is not: within a tenth of its range."""
    experiment, table = wheel
    asked = [(0.45, 0.0), (0.55, 0.0), (0.66, 0.0), (0.55, -0.7), (0.6, -1.0)]
    drives = [table.drive(*command) for command in asked]
    assert not any(drive.words for drive in drives)
    system = experiment.system
    lanes = table.speed.size  # as many as before: the same program
    columns = {
        key: np.resize([getattr(drive, name) for drive in drives], lanes)
        for key, name in zip(system.steered_by, ("setpoint", "steer"), strict=True)
    }
    many, start = batched(experiment, columns)
    plan = BatchPlan(SIMULATED, system.stack.resolution, settle=SETTLED)
    columns = run_batch(many, start, plan).columns
    speed, yaw_rate = np.resize(asked, (lanes, 2)).T
    assert np.abs(columns["mean_speed"] - speed).max() < 0.1 * np.nanmax(table.speed)
    assert np.abs(columns["yaw_rate"] - yaw_rate).max() < 0.1 * np.nanmax(np.abs(table.yaw_rate))


def test_a_robot_that_goes_nowhere_refuses_in_words():
    with pytest.raises(ScenarioError, match=r"no speed can be commanded.*--script"):
        drive_table(load("urchin-spike-closed-loop"))
