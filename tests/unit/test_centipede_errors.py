"""What a centipede is refused for, and in which words."""

import numpy as np
import pytest

from footfall import load
from footfall.scenario.errors import ScenarioError
from footfall.scenario.vary import batched, find_knob


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            ["terrain.gap_start=-0.2"],
            [
                "[start] head",
                "there is a gap under the start",
                "Start it with its head at -0.215 m or less",
            ],
        ),
        (
            ["start.head=0.2"],
            [
                "there is a gap under the start",
                "stands from -0.365 m to 0.215 m",
                "begins at 0.1 m",
            ],
        ),
        (["terrain.gap_width=0"], ["terrain", "gap_width", "must be > 0"]),
        (
            ["terrain=gaps", "terrain.starts=[0.1, 0.15]", "terrain.widths=[0.1, 0.1]"],
            ["overlaps the one that begins at 0.15 m"],
        ),
        (["start.head=1.5"], ["[start] head", "starts beyond the last gap"]),
        (["body.segments=3"], ["segments", "must be >= 4 and <= 60"]),
        (["body.segments=0"], ["segments", "must be >= 4"]),
        (["body.segments=61"], ["must be >= 4 and <= 60"]),
        (["body.axial_stiffness=-1"], ["axial_stiffness", "must be > 0"]),
        (["contact.stiffness=-5000"], ["stiffness", "must be > 0"]),
        (["leg.tip_mass=0"], ["tip_mass", "must be > 0"]),
        (
            ["missing_legs=[3, 12]"],
            ["there is no leg 12: legs are numbered from 0, the head, to 11"],
        ),
        (["missing_legs=[1.5]"], ["there is no leg 1.5"]),
        (["missing_legs=[0,1,2,3,4,5,6,7,8,9,10,11]"], ["a walker needs a leg"]),
        (["controller.reflexes=[lift]"], ["is not one of"]),
        (
            ['controller.reflexes=["lft"]'],
            ["'lft' is not one of: lift, cantilever (or [] for none)", 'Did you mean "lift"?'],
        ),
        (["controller.reflexes=3"], ["expected a list of: lift, cantilever"]),
        (["controller.period=0"], ["period", "must be > 0"]),
        (["terrain=water"], ['kind = "water" does not fit', "gap"]),
        (["start.phases=wild"], ["phases", "wave, random"]),
    ],
)
def test_bad_input_is_named(settings, said):
    with pytest.raises(ScenarioError) as caught:
        load("centipede-gap", settings)
    for words in said:
        assert words in str(caught.value), str(caught.value)


@pytest.mark.parametrize(
    ("text", "on"),
    [
        ("[]", []),
        ("none", []),
        ('["lift"]', ["lift"]),
        ("lift+cantilever", ["lift", "cantilever"]),
        ("cantilever", ["cantilever"]),
    ],
)
def test_reflexes_are_switched_by_a_list_or_a_word(text, on):
    experiment = load("centipede-gap", [f"controller.reflexes={text}"])
    assert experiment.document["controller"]["reflexes"] == on
    assert experiment.system.controller.reflexes == tuple(
        float(name in on) for name in ("lift", "cantilever")
    )
    again = load("centipede-gap", [f"controller.reflexes={on}".replace("'", '"')])
    assert again.document == experiment.document


def test_each_reflex_is_a_number_that_a_batch_can_vary():
    experiment = load("centipede-gap")
    knob = find_knob(experiment, "reflexes.lift", "here")
    assert knob.number and not knob.structural and knob.path == ("controller", "reflexes", "lift")
    assert find_knob(experiment, "controller.reflexes", "here").structural
    system, state = batched(experiment, {"controller.reflexes.lift": np.array([0.0, 1.0, 1.0])})
    assert (
        system.controller.reflexes[0].tolist() == [0.0, 1.0, 1.0]
        and system.controller.reflexes[1] == 1.0
    )
    assert state.x.nodes.x.shape == (12, 3) and state.m.missing.shape == (12, 3)
    with pytest.raises(ScenarioError, match="out of range"):
        batched(experiment, {"controller.reflexes.lift": np.array([2.0])})
    with pytest.raises(
        ScenarioError, match=r"design 1 .*lift is on, 1, or off, 0, and nothing between"
    ):
        batched(experiment, {"controller.reflexes.lift": np.array([1.0, 0.5])})


def test_a_gap_under_one_design_is_told_with_its_number():
    with pytest.raises(ScenarioError) as caught:
        batched(
            load("centipede-gap"),
            {"terrain.gap_start": np.array([0.1, 0.2, 0.01])},
            np.arange(5, 8),
        )
    assert "design 7 (terrain.gap_start = 0.01)" in str(
        caught.value
    ) and "gap under the start" in str(caught.value)
