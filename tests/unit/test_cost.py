"""A run without end is refused before it begins, a long one announced, with what to change."""

import dataclasses
import importlib
import shlex

import pytest

from footfall.cli import cost
from footfall.cli.cost import Pace, least_cost, require_affordable, words
from footfall.engines.bodies.mujoco_engine import SEEN_EVERY
from footfall.engines.plan import SimPlan
from footfall.engines.simulate import simulate
from footfall.hybrid.fields import ParameterError
from footfall.hybrid.outcome import Outcome
from footfall.machines.sea_urchin.gain_advice import sag_warning, stiff_gains_warning
from footfall.machines.sea_urchin.spike import Spike
from footfall.machines.sea_urchin.spike_control import SpikePid, StiffnessControl
from footfall.record.provenance import command_line, commit, provenance
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import load


@pytest.mark.parametrize(
    ("scenario", "settings", "engine", "steps"),
    [
        ("rimless-wheel", ["sim.duration=10"], "event", 50),  # max_step 0.2 s
        ("rimless-wheel", ["sim.step=1e-4"], "event", 1e5),
        ("rimless-wheel", ["robot.control_period=1 ms"], "event", 1e4),
        ("rimless-wheel-closed-loop", ["sim.duration=2", "sim.batch_step=250 us"], "step", 8000),
        ("urchin-roll", ["sim.duration=1", "sim.step=1 ms"], "mujoco", 1000),
    ],
)
def test_the_least_number_of_steps_follows_from_the_plan(scenario, settings, engine, steps):
    found = least_cost(load(scenario, settings))
    assert found.engine == engine and found.steps == pytest.approx(steps)


@pytest.mark.parametrize(
    ("scenario", "settings", "expected"),
    [
        (
            "rimless-wheel",
            ["sim.duration=1e9"],
            ["5.0e+09 steps", "sim.max_step", "14 h", "Shorten the duration"],
        ),
        ("rimless-wheel", ["sim.max_step=1e-9"], ["1.0e+10 steps", "sim.max_step = 1e-09 s"]),
        (
            "rimless-wheel",
            ["sim.sample_rate=1e10"],
            ["1.0e+11 rows", "GB", "--set sim.sample_rate="],
        ),
        ("urchin-roll", ["sim.step=1e-9"], ["sim.step = 1e-09 s", "days"]),
    ],
)
def test_a_run_without_end_is_refused_with_what_to_change(scenario, settings, expected):
    with pytest.raises(ScenarioError) as caught:
        require_affordable(load(scenario, settings))
    assert not [word for word in expected if word not in str(caught.value)], str(caught.value)


def test_a_long_run_is_announced_and_a_short_one_is_not(monkeypatch):
    said = []
    monkeypatch.setattr(cost, "note", said.append)
    require_affordable(load("rimless-wheel"))
    assert said == []
    require_affordable(load("rimless-wheel", ["sim.max_step=1e-6"]))  # 1e7 steps
    assert len(said) == 1 and "100 s" in said[0] and "Ctrl-C" in said[0]


def test_the_pace_of_a_run_is_judged_once_and_without_its_compilation():
    pace = Pace(10.0)
    assert pace.look(40.0, 0.0) is None  # compiling took 40 s
    assert pace.look(45.0, 0.01) is None
    assert "another 3 h" in pace.look(50.0, 0.01)  # 10 s for 0.01 s
    assert pace.look(60.0, 0.02) is None
    quick = Pace(10.0)
    quick.look(40.0, 0.0)
    assert quick.look(50.0, 5.0) is None  # 10 s more


def test_times_are_said_as_people_say_them():
    assert [words(s) for s in (5, 300, 7300, 1e6, 1e12)] == [
        "5 s",
        "5 min",
        "2 h",
        "12 days",
        "years",
    ]


# --- extremes that are accepted -------------------------------------------------------------------


def test_a_robot_that_mujoco_cannot_make_is_answered_with_its_words():
    experiment = load("urchin-roll", ["shell_mass=1e-300"], duration=0.01)
    with pytest.raises(ValueError, match="MuJoCo cannot make this robot") as caught:
        simulate(experiment.system, experiment.start, experiment.plan)
    # Which the command line answers with status 2.
    assert type(caught.value).__name__ == "ParameterError"


def test_a_robot_too_stiff_for_any_step_ends_with_an_outcome(monkeypatch):
    """Its steps of 1e-11 s are good ones, and there would be 8e10 of them."""
    # Seconds sooner.
    monkeypatch.setattr(
        importlib.import_module("footfall.engines.simulate"), "JUDGED_AFTER", 10_000
    )
    experiment = load("rimless-wheel", ["leg.stiffness=1e40"], duration=1.0)
    run = simulate(experiment.system, experiment.start, experiment.plan)
    assert run.outcome is Outcome.diverged and 0 < run.ending.t < 1e-6
    assert "its steps fell to" in run.ending.sentence and "of them" in run.ending.sentence


def test_a_long_run_of_usual_steps_is_never_taken_for_one_without_end():
    """A million seconds of the wheel are 1e10 steps of a millisecond: a week, and good."""
    hopeless = importlib.import_module("footfall.engines.simulate")._hopeless
    assert not hopeless(100_000, 100.0, 1e9)
    # Four days for a blink: rimless-wheel with controller.derivative = 1e9.
    assert hopeless(100_000, 1e-6, 0.3)
    assert not hopeless(100_000, 2e-3, 0.3)  # minutes


@pytest.mark.parametrize("rate", [200.0, None])
def test_a_robot_that_mujoco_loses_ends_at_once(rate, monkeypatch):
    """Once its speeds are no numbers a step of MuJoCo takes 5 ms; chunks of 2000 steps took ten
    seconds to notice.
    """
    experiment = load("urchin-roll", ["spike.cylinder_mass=2e25"])
    engine, made = (
        importlib.import_module("footfall.engines.bodies.mujoco_engine").require_mujoco(),
        [],
    )
    step = engine.mj_step
    monkeypatch.setattr(engine, "mj_step", lambda *a: (made.append(1), step(*a)))
    run = simulate(
        experiment.system, experiment.start, dataclasses.replace(experiment.plan, sample_rate=rate)
    )
    assert run.outcome is Outcome.diverged and len(made) <= 2 * SEEN_EVERY


def test_a_step_longer_than_the_run_is_refused():
    experiment = load("urchin-roll", ["sim.step=1e25"], duration=0.3)
    with pytest.raises(ParameterError, match=r"longer than the run of 0\.3 s"):
        simulate(experiment.system, experiment.start, experiment.plan)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("scenario", "setting"),
    [
        ("urchin-turn", "sim.sample_rate=1e-25"),
        ("urchin-turn", "sim.sample_rate=5e-324"),
        ("rimless-wheel-closed-loop", "sim.sample_rate=5e-324"),
        ("rimless-wheel-closed-loop", "sim.duration=5e-324"),
        ("rimless-wheel", "sim.atol=5e-324"),
    ],
)
def test_plans_at_the_ends_of_the_numbers_run_without_a_trace_or_a_warning(
    scenario, setting, monkeypatch
):
    monkeypatch.setattr(
        importlib.import_module("footfall.engines.simulate"), "JUDGED_AFTER", 10_000
    )
    duration = None if "duration" in setting else 0.01
    experiment = load(scenario, [setting], duration=duration)
    run = simulate(experiment.system, experiment.start, experiment.plan)
    assert run.outcome in (Outcome.reached_end, Outcome.diverged) and run.outcome.name in repr(run)


@pytest.mark.filterwarnings("error")
def test_what_mujoco_makes_with_a_warning_is_no_warning_on_the_terminal():
    experiment = load("urchin-roll", ["spike.prism=1e9"], duration=0.01)
    assert (
        simulate(experiment.system, experiment.start, experiment.plan).outcome is Outcome.diverged
    )


def test_a_route_of_a_million_steps_is_refused_at_once():
    with pytest.raises(ScenarioError, match=r"steps of gait.stride = 0\.001 mm; 10000 is the most"):
        load("two-leg-step", ["gait.stride=1e-06"])


def test_a_start_beyond_what_mujoco_computes_with_is_refused():
    with pytest.raises(ScenarioError, match="qpos = 4e"):
        load("urchin-roll", ["start.drop=4e28"])


@pytest.mark.parametrize("step", [1e-200, 5e-324, 1e-3, 1e200])
def test_advice_on_gains_divides_by_nothing(step):
    light = Spike(prism_mass=1e-300)
    for controller in (SpikePid(), StiffnessControl()):
        assert stiff_gains_warning(controller, light, step) is None or step >= 1e-3
    assert sag_warning(StiffnessControl(), 10.0, 0.0) is None


# --- where a result came from ---------------------------------------------------------------------


def test_provenance_has_the_command_and_the_commit(monkeypatch):
    monkeypatch.setattr(
        "sys.argv", ["/some/where/footfall", "run", "rimless-wheel", "--set", "torso.mass=3 kg"]
    )
    assert shlex.split(command_line()) == [
        "footfall",
        "run",
        "rimless-wheel",
        "--set",
        "torso.mass=3 kg",
    ]
    source = provenance(SimPlan(), 200.0)
    assert source["command"] == command_line() and source["commit"] == commit()
    assert commit() is None or len(commit().rstrip("+")) == 40
