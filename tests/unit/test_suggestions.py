"""What is suggested after a run.

Commands that load, a cure first after a bad end, never the command just run.
"""

import itertools
import shlex

import pytest

from footfall.cli.suggest import commands
from footfall.hybrid.doubt import Doubt
from footfall.hybrid.outcome import Outcome
from footfall.record.verdict import Verdict
from footfall.scenario.catalog import shipped_scenarios
from footfall.scenario.load import load


def settings_in(line):
    words = shlex.split(line, comments=True)
    return [value for word, value in itertools.pairwise(words) if word == "--set"]


@pytest.mark.parametrize("name", shipped_scenarios())
def test_every_suggestion_loads_and_every_bad_end_has_a_cure_that_changes_something(name):
    experiment = load(name)
    ends = {event.outcome for event in experiment.system.events if event.outcome is not None}
    for outcome in (
        *(ends - {Outcome[n] for n in experiment.about.success}),
        Outcome.diverged,
        Outcome[experiment.about.success[0]],
    ):
        lines = commands(experiment, outcome, [], None)
        assert len(lines) >= 2 and len(set(lines)) == len(lines)
        assert f"footfall run {name}" not in lines  # that was the command
        for line in lines:
            assert line.startswith("footfall ")
            load(name, settings_in(line))
        if outcome.name not in experiment.about.success:
            assert settings_in(lines[0]), (
                f"{name} ended as {outcome.name}: {lines[0]} mends nothing"
            )


def test_what_was_just_run_is_not_suggested_however_it_was_written():
    experiment = load("passive-wheel", ["terrain.angle=0.12 rad"])
    for text in ("terrain.angle=0.12 rad", 'terrain.angle="0.12 rad"', "terrain.angle = 0.12rad"):
        lines = commands(experiment, Outcome.reached_end, [text], None)
        assert not any("0.12 rad" in line for line in lines)
        assert any("1.8 deg" in line for line in lines)


def test_a_cure_keeps_what_else_was_set_and_offers_the_scenario_as_it_is():
    settings = ["terrain.angle=1.8 deg", "leg.length=0.3"]
    lines = commands(load("passive-wheel", settings), Outcome.rocked_back, settings, None)
    assert (
        "--set leg.length=0.3" in lines[0] and "1.8 deg" not in lines[0] and "0.08 rad" in lines[0]
    )
    assert any(line.startswith("footfall run passive-wheel   #") for line in lines)


def test_the_first_cure_mends_a_wheel_that_rocked_back():
    from footfall.engines.simulate import simulate

    experiment = load("passive-wheel", ["terrain.angle=1.8 deg"], duration=5)
    run = simulate(experiment.system, experiment.start, experiment.plan)
    assert run.outcome is Outcome.rocked_back
    line = commands(experiment, run.outcome, ["terrain.angle=1.8 deg"], None)[0]
    mended = load("passive-wheel", settings_in(line), duration=5)
    assert simulate(mended.system, mended.start, mended.plan).outcome is Outcome.reached_end


@pytest.mark.parametrize(
    ("name", "settings", "doubt", "first"),
    [
        ("passive-wheel", [], "books_open", "--set sim.rtol=1e-10"),
        (
            "passive-wheel",
            ["sim.step=0.01"],
            "step_unstable",
            "--set sim.solver=dopri8 --set sim.step=auto",
        ),
        (
            "rimless-wheel-closed-loop",
            ["sim.batch_step=250 us"],
            "books_open",
            "--set sim.batch_step=0.000125",
        ),
        ("urchin-walk", ["sim.step=2 ms"], "loss_creates_energy", "--set sim.step=0.001"),
        ("rimless-wheel", ["leg.stiffness=2000"], "contact_pulls", "--set leg.stiffness=15000"),
    ],
)
def test_a_doubtful_run_is_followed_by_what_would_settle_the_doubt(name, settings, doubt, first):
    experiment = load(name, settings)
    success = Outcome[experiment.about.success[0]]
    doubtful = commands(experiment, success, settings, None, verdict=Verdict((Doubt(doubt, ""),)))
    assert first in doubtful[0], doubtful
    load(name, settings_in(doubtful[0]))
    assert first not in commands(experiment, success, settings, None)[0]
