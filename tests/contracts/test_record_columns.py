"""What a robot declares about its record, and nobody else guesses from names."""

import numpy as np
import pytest

from footfall.engines.simulate import simulate
from footfall.machines.control.lockstep import ClosedLoop
from footfall.record.columns import columns_of
from footfall.scenario.catalog import WITH_COMPUTER, shipped_scenarios
from footfall.scenario.load import load, with_computer


@pytest.mark.parametrize(
    ("scenario", "works"),
    [
        ("water-runner-ground", []),
        ("two-leg-step", []),
        ("centipede", []),
        ("urchin-spike", []),
        ("urchin-spike-closed-loop", []),
        # The tick of the computer moves no energy; the plant's landings do.
        ("rimless-wheel-closed-loop", ["impact", "released_spring"]),
    ],
)
def test_only_jumps_that_move_energy_have_columns_for_it(scenario, works):
    experiment = load(scenario)
    columns = columns_of(experiment.system, experiment.start.x, experiment.start.m)
    assert [name for name, _ in columns.works] == works


def test_scenarios_with_a_control_computer_are_those_declared_to_have_one():
    systems = {name: load(name).system for name in shipped_scenarios()}
    assert {n for n, s in systems.items() if isinstance(s, ClosedLoop)} == {*WITH_COMPUTER.values()}
    for plain, driven in WITH_COMPUTER.items():
        assert not isinstance(systems[plain], ClosedLoop)
        assert with_computer(plain) == with_computer(driven) == driven
        angle = systems[driven].plant.start_angle
        # What is left out means the set point: None, for the start to fill in.
        assert angle is None or getattr(systems[driven].plant.Start(), angle) is None
    assert with_computer("mine.toml") == "mine.toml"


@pytest.mark.parametrize("name", shipped_scenarios())
def test_every_shipped_scenario_runs_by_itself(name):
    """Grounds with gaps among them, whose events depend on what the ground is."""
    experiment = load(name, duration=0.01)
    run = simulate(experiment.system, experiment.start, experiment.plan)
    assert run.ending.t == pytest.approx(0.01)
    assert len(run.t) > 1 and all(np.isfinite(column).all() for column in run.columns.values())
