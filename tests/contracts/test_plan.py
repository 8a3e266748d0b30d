"""A plan is declared once: objects, old names, [sim] tables and batches read the same fields."""

import dataclasses

import diffrax
import numpy as np
import pytest

import footfall as ff
from footfall.engines.lanes.batch_plan import BatchPlan
from footfall.hybrid.fields import ParameterError, describe
from footfall.machines.rimless_wheel.spring_leg import StiffeningLeg
from footfall.scenario.catalog import PARTS
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import load
from footfall.scenario.schema import SIM_KEYS, SimTable

STEP = ff.StepEngine(step=1e-3)


def assert_same(one, other):
    assert set(one.columns) == set(other.columns)
    for name in one.columns:
        assert np.array_equal(one.columns[name], other.columns[name], equal_nan=True), name


# --- one plan, by its old name and as objects
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "engine"),
    [
        ({}, ff.EventEngine()),
        ({"rtol": 1e-9, "atol": 1e-11}, ff.EventEngine(rtol=1e-9, atol=1e-11)),
        ({"solver": diffrax.Tsit5()}, ff.EventEngine(solver="tsit5")),
        ({"step": 1e-2}, ff.EventEngine(step=1e-2)),
        ({"max_step": 0.1, "step": 1e-2}, ff.EventEngine(max_step=0.1, step=1e-2)),
        ({"near_room": 0.1, "near_step": 1e-3}, ff.EventEngine(near_room=0.1, near_step=1e-3)),
        ({"fixed": STEP}, STEP),
    ],
)
def test_the_old_name_makes_the_same_plan(old, engine):
    wheel, common = ff.robots.passive_wheel(), {"duration": 2.0, "settle": 1.0, "max_jumps": 9}
    new = ff.Plan(**common, engine=engine)
    assert ff.SimPlan(**common, **old).for_machine(wheel) == new
    assert dataclasses.replace(ff.Plan(**common), **old).for_machine(wheel) == new


@pytest.mark.parametrize("old", [{"rtol": 1e-9}, {"fixed": STEP}])
def test_the_old_name_makes_the_same_run_bit_for_bit(old):
    wheel = ff.robots.passive_wheel()
    engine = old.get("fixed") or ff.EventEngine(**old)
    assert_same(
        ff.simulate(wheel, plan=ff.SimPlan(duration=0.6, **old)),
        ff.simulate(wheel, plan=ff.Plan(duration=0.6, engine=engine)),
    )


# --- nothing is half ignored
# --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("engine", "ignored"),
    [
        (STEP, {"rtol": 1e-9}),
        (STEP, {"solver": diffrax.Tsit5()}),
        (STEP, {"near_step": 1e-3}),
        (ff.MujocoEngine(), {"max_step": 0.1}),
        (ff.MujocoEngine(), {"max_jumps": 5}),
        (ff.EventEngine(), {"method": "rk2"}),
    ],
)
def test_a_number_that_the_engine_would_ignore_is_refused_by_name(engine, ignored):
    (name,) = ignored
    with pytest.raises(ParameterError, match=f"^{name}.*{type(engine).__name__}") as refused:
        ff.Plan(engine=engine, **ignored)
    assert refused.value.field == name


def test_metrics_begin_inside_the_run_and_its_provenance_says_when():
    assert ff.Plan(duration=2.0, settle=0.0).told()["settle"] == 0.0
    assert ff.Plan(duration=2.0, settle=1.5, engine=STEP).told()["settle"] == 1.5
    for settle in (2.0, 2.5):
        with pytest.raises(ParameterError, match=r"settle = .* must lie inside the duration of 2"):
            ff.Plan(duration=2.0, settle=settle)


def test_an_engine_that_cannot_run_a_machine_is_refused_with_those_that_can():
    with pytest.raises(ValueError, match=r"StepEngine cannot run .*: take EventEngine"):
        ff.simulate(ff.robots.two_leg_walker(), plan=ff.Plan(engine=STEP))
    with pytest.raises(
        ValueError, match=r"MujocoEngine cannot run .*: take EventEngine or StepEng"
    ):
        ff.simulate(ff.robots.passive_wheel(), plan=ff.Plan(engine=ff.MujocoEngine()))
    with pytest.raises(ValueError, match="StepEngine cannot run this: take EventEngine"):
        wheel = ff.load("passive-wheel")
        ff.find_cycle(wheel.system, wheel.start, "touchdown", ff.Plan(engine=STEP))
    with pytest.raises(ScenarioError, match=r"\[sim\] StepEngine cannot run"):
        load("two-leg-step", ["sim.engine=step", "sim.batch_step=1e-3"])


# --- one declaration
# --------------------------------------------------------------------------------------------------

#: A value of each key that is not its default.
TYPED = {
    "duration": "3 s",
    "sample_rate": "100 Hz",
    "solver": "multirate",
    "rtol": 1e-6,
    "atol": 1e-9,
    "max_step": "50 ms",
    "step": "2 ms",
    "fine_step": "20 us",
    "near_room": "5 mm",
    "near_step": "1 ms",
    "engine": "step",
    "batch_step": "500 us",
    "batch_method": "rk2",
    "max_jumps": 77,
    "settle": "1 s",
}
#: What some of them need beside them.
WITH = {
    "solver": {"step": "2 ms"},
    "fine_step": {"solver": "multirate", "step": "2 ms"},
    "near_room": {"near_step": "1 ms"},
    "near_step": {"near_room": "5 mm"},
    "engine": {"batch_step": "500 us"},
    "batch_method": {"engine": "step", "batch_step": "500 us"},
}


@pytest.mark.parametrize("key", SIM_KEYS)
def test_every_key_of_sim_comes_into_the_plan_and_back(key):
    usual = SimTable()
    table = SimTable(**{key: TYPED[key], **WITH.get(key, {})})
    assert getattr(table, key) != getattr(usual, key)
    kept = SimTable.of(table.plan())
    alone = {"batch_step": {"engine": "step"}}.get(key, {})  # else of sweeps only, not of a run
    if alone:
        kept = SimTable.of(SimTable(**{key: TYPED[key], **alone}).plan())
    assert getattr(kept, key) == getattr(table, key)
    assert SimTable(**kept.model_dump()).plan() == (kept.plan() if alone else table.plan())


def test_a_resolved_scenario_with_every_key_set_loads_again_as_the_same_plan(tmp_path):
    for solver, engine in (("tsit5", "event"), ("tsit5", "step")):
        said = {f"sim.{key}": value for key, value in TYPED.items()}
        first = ff.load("passive-wheel", said | {"sim.solver": solver, "sim.engine": engine})
        (tmp_path / "again.toml").write_text(first.to_toml())
        again = ff.load(tmp_path / "again.toml")
        assert again.plan == first.plan and again.document == first.document
        assert again.event_plan.engine == ff.EventEngine(
            solver, 1e-6, 1e-9, max_step=0.05, step=2e-3, near_room=5e-3, near_step=1e-3
        )


def test_tables_and_batches_share_the_declarations_of_the_plan():
    table, batch = SimTable.describe(), describe(BatchPlan)
    for name in ("duration", "settle", "max_jumps"):
        assert table[name] is batch[name] is describe(ff.Plan)[name]
    for name in ("rtol", "atol", "max_step", "step", "near_room", "near_step", "solver"):
        assert table[name] is describe(ff.EventEngine)[name]
    assert table["batch_method"] is batch["method"] is describe(ff.StepEngine)["method"]
    assert batch["step"] is describe(ff.StepEngine)["step"]


# --- an experiment without a file
# --------------------------------------------------------------------------------------------------


def test_an_experiment_of_a_system_runs_as_the_scenario_does():
    scenario = ff.load(
        "passive-wheel",
        {"terrain.angle": 0.1, "sim.engine": "step", "sim.batch_step": 1e-3},
        duration=1,
    )
    wheel = ff.robots.passive_wheel(terrain=ff.parts.Slope(angle=0.1))
    start = wheel.Start(**scenario.document["start"])
    mine = ff.Experiment(wheel, start, engine=STEP, duration="1 s")
    assert mine.plan == scenario.plan
    assert mine.document["robot"] == scenario.document["robot"]
    assert mine.document["sim"] == scenario.document["sim"]
    assert_same(mine.run(), scenario.run())
    swept = [e.sweep({"terrain.angle": [0.08, 0.1]}) for e in (mine, scenario)]
    assert np.array_equal(swept[0].mean_speed, swept[1].mean_speed)
    assert mine.check().system == "RigidWheel"
    # From the same start, by the same default tolerances: the same iterations.
    assert mine.cycle("touchdown").period == scenario.cycle("touchdown").period


def test_an_experiment_of_a_system_is_kept_and_loaded_again(tmp_path):
    leg = ff.parts.SpringLeg(stiffness=2e4)
    mine = ff.Experiment(ff.robots.rimless_wheel(leg=leg), engine=ff.StepEngine(step=2.5e-4))
    (tmp_path / "mine.toml").write_text(mine.to_toml())
    again = ff.load(tmp_path / "mine.toml")
    assert again.system == mine.system and again.plan == mine.plan
    assert "sim: 10 s, rk4" in repr(mine)


def test_an_experiment_from_a_bare_state_says_that_its_start_is_no_table():
    wheel = ff.load("passive-wheel")
    mine = ff.Experiment(wheel.system, wheel.start, ff.Plan(duration=2.0))
    assert mine.start is wheel.start and mine.plan.engine == ff.EventEngine()
    assert mine.to_toml().startswith("# It began at a state given in Python")
    with pytest.raises(ScenarioError, match="made without its"):
        mine.sweep({"terrain.angle": [0.1]})
    with pytest.raises(ScenarioError, match=r'made of a system.*ff\.load\("passive-wheel"\)'):
        ff.Experiment("passive-wheel")


def test_a_plan_of_its_own_machine_runs_whole_without_a_duration():
    walker = ff.robots.two_leg_walker()
    assert ff.Experiment(walker).plan.duration == walker.own_time == float(walker.plan_time)


# --- what a person types
# --------------------------------------------------------------------------------------------------


def test_settings_of_load_may_be_texts_as_set_takes_them():
    wheel = ff.load("rimless-wheel", {"torso.pitch_setpoint": "40 deg", "leg": "stiffening"})
    assert wheel.system.torso.pitch_setpoint == pytest.approx(np.deg2rad(40), rel=1e-15)
    assert isinstance(wheel.system.leg, StiffeningLeg)


def test_every_part_is_found_by_the_name_of_its_class():
    assert {getattr(ff.parts, name) for name in dir(ff.parts)} == set(PARTS.values())
    with pytest.raises(AttributeError, match='Did you mean "SpringLeg"'):
        ff.parts.SpringLegs  # noqa: B018
