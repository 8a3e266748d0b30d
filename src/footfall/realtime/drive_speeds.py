"""The table of speeds that commands of a speed need, from the scenario's own model.

Every set point and steering current that the robot's folder names (`AbstractPlant.drives`) is a
lane of one batch, which walks in lockstep, under the programs that will run in real time.
"""

from __future__ import annotations

import numpy as np

from footfall.engines.lanes.batch import run_batch
from footfall.engines.lanes.batch_plan import BatchPlan
from footfall.hybrid.outcome import Outcome
from footfall.machines.control.drive_table import DriveTable
from footfall.machines.control.lockstep import ClosedLoop
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import Experiment
from footfall.scenario.vary import batched

SIMULATED, SETTLED = 30.0, 12.0  # s of each lane, and from when on its speeds count


def drive_table(experiment: Experiment) -> DriveTable:
    """Steady speed and yaw rate. ScenarioError for a robot that has none."""
    system, name = experiment.system, experiment.name
    drives = system.plant.drives if isinstance(system, ClosedLoop) else None
    if not isinstance(system, ClosedLoop) or drives is None:
        raise ScenarioError(
            f"{name}: no speed can be commanded, for nobody has said at which set points this robot"
            " walks (`drives` of its class). Operate it with --script or --joystick, without --ros."
        )
    setpoints = np.asarray(drives.setpoints, float)
    steers = np.asarray(drives.steers if len(system.plant.joints) == 2 else (0.0,), float)
    steered = len(system.steered_by) == 2 and len(steers) > 1
    grid = np.meshgrid(setpoints, steers, indexing="ij")
    keys = system.steered_by[: 1 + steered]
    columns = {key: values.ravel() for key, values in zip(keys, grid, strict=False)}
    many, start = batched(experiment, columns)
    result = run_batch(many, start, BatchPlan(SIMULATED, system.stack.resolution, settle=SETTLED))
    walks = result.columns["outcome"] == Outcome.reached_end
    speed = np.where(walks, result.columns["mean_speed"], np.nan)
    turned = result.columns["yaw_rate"] if "yaw_rate" in result.columns else 0.0 * speed
    if not np.isfinite(speed).any():
        raise ScenarioError(
            f"{name}: it walks at none of the set points from {setpoints[0]:g} to"
            f" {setpoints[-1]:g} rad, so no speed can be commanded. See what it does: footfall run"
            f" {name}"
        )
    shape = grid[0].shape
    yaw_rate = np.where(walks, turned, np.nan).reshape(shape)
    return DriveTable(setpoints, steers, speed.reshape(shape), yaw_rate, drives.rest)
