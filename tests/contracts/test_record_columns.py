"""What a robot declares about its record, and nobody else guesses from names."""

import pytest

from footfall.record.columns import columns_of
from footfall.scenario.load import load


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
