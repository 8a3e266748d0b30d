"""Short runs of the shipped scenarios, made once, and a run small enough to do its sums by hand."""

from typing import NamedTuple

import numpy as np
import pytest

from footfall.engines.simulate import simulate
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.system import Travel
from footfall.record.ledger import Ledger
from footfall.record.trajectory import Ending, EventRecord, Signal, Trajectory
from footfall.scenario.catalog import shipped_scenarios
from footfall.scenario.load import Experiment, load


class ShippedRun(NamedTuple):
    name: str
    experiment: Experiment
    run: Trajectory


@pytest.fixture(
    scope="session",
    params=[n for n in shipped_scenarios() if "wheel" in n and not n.endswith("closed-loop")],
)
def shipped(request) -> ShippedRun:
    """Two seconds: seven or eight steps of each wheel. (What the records of other robots hold is
    looked at where they are tested; those of the step engine in laws/test_step_run.py.)"""
    experiment = load(request.param, duration=2.0)
    return ShippedRun(
        request.param, experiment, simulate(experiment.system, experiment.start, experiment.plan)
    )


@pytest.fixture
def hand_made() -> Trajectory:
    """Four stances of one second; three footfalls, at t = 1, 2 and 3 s.

    Motor: torque 2, then -1, then 4, then 0 N m.
    """
    t = np.array([0.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0])
    columns = {
        "angle": np.array([0.0, 0.1, -0.1, 0.1, -0.1, 0.1, -0.1, 0.3]),
        "steps": np.array([0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0]),
        "body.x": np.array([0.0, 0.5, 0.5, 1.2, 1.2, 2.0, 2.0, 2.5]),
        "motor.torque": np.array([2.0, 2.0, -1.0, -1.0, 4.0, 4.0, 0.0, 0.0]),
        "store.kinetic": np.array([1.0, 2.0, 1.5, 2.0, 1.5, 2.0, 1.5, 1.0]),
        "power.motor": np.full(8, 2.75),
        "work.motor": np.array([0.0, 2.0, 2.0, 5.0, 5.0, 9.0, 9.0, 11.0]),
    }
    signals = [
        Signal("angle", "rad", "an angle", "state"),
        Signal("steps", "", "footfalls so far", "discrete"),
        Signal("body.x", "m", "position forward", "output"),
        Signal("motor.torque", "N m", "torque", "output"),
        Signal("store.kinetic", "J", "kinetic energy", "store"),
        Signal("power.motor", "W", "motor", "power"),
        Signal("work.motor", "J", "motor", "work"),
    ]
    return Trajectory(
        t=t,
        j=np.array([0, 0, 1, 1, 2, 2, 3, 3]),
        columns=columns,
        signals={s.name: s for s in signals},
        events=tuple(EventRecord(float(k), "touchdown", None, 2 * k - 1, 2 * k) for k in (1, 2, 3)),
        ending=Ending(Outcome.reached_end, 4.0, None, {"angle": 0.3}, steps=40, tried=44, jumps=3),
        ledger=Ledger(
            {"kinetic": 1.0},
            {"kinetic": 1.0},
            {"motor": 11.0},
            {"damper": 9.5},
            {"impact": 1.5},
            throughput=22.0,
        ),
        least_room={"touchdown": 0.0, "liftoff": 12.5},
        pushes=("liftoff",),
        travel=Travel("body.x", ("steps",), 10.0, ("motor",)),
        provenance={"solver": "none"},
    )
