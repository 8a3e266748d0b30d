"""What a run writes: every value with its unit, and loaded again the same robot, start and plan."""

import random
import re
import tomllib

import jax
import numpy as np
import pytest

from footfall.hybrid.fields import describe
from footfall.numerics.units import to_si
from footfall.scenario.catalog import PARTS, ROBOTS, shipped_scenarios
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import load, with_settings
from footfall.scenario.schema import SimTable
from support.scenario_grammar import allowed_settings

#: Random settings tried on each scenario; those that are refused, because values do not fit
#: together, are drawn again.
TRIES, WANTED = 40, 5


@pytest.mark.parametrize("name", shipped_scenarios())
def test_with_any_kind_and_any_number_the_resolved_scenario_is_the_same_experiment(tmp_path, name):
    kind = tomllib.loads(shipped_scenarios()[name].read_text())["robot"]["kind"]
    slow = kind in ("two-leg", "urchin")  # a tenth of a second each
    r, made = random.Random(name), 0
    for _ in range(TRIES):
        settings = [f"{'.'.join(path)}={value}" for path, value in allowed_settings(r, kind)]
        try:
            first = load(name, settings)
        except ScenarioError:
            continue
        path = tmp_path / "again.toml"
        path.write_text(first.to_toml(), encoding="utf-8")
        again = load(path)
        assert again.document == first.document and again.about == first.about, settings
        assert again.plan == first.plan, settings
        assert jax.tree.structure((again.system, again.start)) == jax.tree.structure(
            (first.system, first.start)
        ), settings
        leaves = zip(*(jax.tree.leaves((e.system, e.start)) for e in (again, first)), strict=True)
        assert all(np.array_equal(a, b) for a, b in leaves), settings
        made += 1
        if made == (2 if slow else WANTED):
            break
    assert made


def test_every_quantity_of_a_resolved_scenario_has_its_unit_beside_it():
    text = load("rimless-wheel", ["torso.mass=3", "start.height=30 cm"]).to_toml()
    for line in (
        "mass = 3.0  # kg",
        "stiffness = 15000.0  # N/m",
        "height = 0.3  # m",
        "duration = 10.0  # s",
        "spokes = 10\n",
    ):
        assert line in text, line
    assert re.search(r'torso_angle = "auto"\n', text)


def test_the_units_written_mean_the_numbers_beside_them():
    """A number beside its unit, read as one quantity, is the number: declared units are SI."""
    classes = [
        *PARTS.values(),
        *(type(make()) for make in ROBOTS.values()),
        *(type(make()).Start for make in ROBOTS.values()),
    ]
    infos = [info for cls in classes for info in describe(cls).values()] + list(
        SimTable.describe().values()
    )
    units = {info.unit for info in infos if info.unit}
    assert len(units) > 20 and all(to_si(f"0.1 {unit}", unit) == 0.1 for unit in units)


# --- what was set is told -------------------------------------------------------------------------


def test_overrides_are_told_by_their_full_name_and_as_they_were_typed():
    experiment = load(
        "rimless-wheel",
        ["torso.mass=3", "leg=stiffening", "pitch_setpoint=45 deg"],
        duration="2 min",
    )
    assert (
        experiment.said_overrides()
        == "robot.torso.mass = 3 kg, robot.leg.kind = stiffening, robot.torso.pitch_setpoint = 45"
        " deg, sim.duration = 2 min"
    )
    assert load("rimless-wheel").said_overrides() == ""
    assert (
        with_settings(experiment, ["leg=spring", "spokes=8"])
        .said_overrides()
        .endswith("robot.spokes = 8")
    )


def test_a_part_that_changes_nothing_is_told_so():
    """The water runner has a contact law, for when it runs on ground."""
    wet = load("water-runner", ["contact=hunt-crossley"])
    assert "robot.contact.kind = hunt-crossley (no effect: on water" in wet.said_overrides()
    assert (
        "no effect" not in with_settings(wet, ["terrain=flat", "foot=compliant"]).said_overrides()
    )


@pytest.mark.parametrize(
    ("scenario", "word", "candidates"),
    [
        ("rimless-wheel", "mass", ["robot.torso.mass", "robot.wheel_mass"]),
        ("rimless-wheel", "inertia", ["robot.torso.inertia", "robot.wheel_inertia"]),
        ("centipede", "stiffness", ["robot.contact.stiffness", "robot.leg.length_stiffness"]),
    ],
)
def test_a_word_that_could_mean_a_key_of_another_table_asks(scenario, word, candidates):
    with pytest.raises(ScenarioError) as caught:
        load(scenario, [f"{word}=3"])
    assert "could be any of" in str(caught.value) and all(
        name in str(caught.value) for name in candidates
    )
    load(scenario, [f"{candidates[0]}=3"])


@pytest.mark.parametrize(
    ("scenario", "setting", "path"),
    [
        ("rimless-wheel", "max_step=0.1", ("sim", "max_step")),
        (
            "rimless-wheel",
            "step=1e-4",
            ("sim", "step"),
        ),  # its own table has other steps, but no other "step"
        ("urchin-walk", "friction=0.4", ("robot", "friction")),  # above those of the hinges
        (
            "passive-wheel",
            "angle=0.1",
            ("terrain", "angle"),
        ),  # the start has a spoke_angle: another matter
    ],
)
def test_a_word_that_names_one_key_is_enough(scenario, setting, path):
    assert load(scenario, [setting]).overrides == (path,)


def test_a_robot_that_mujoco_steps_has_no_solver_to_set():
    assert set(load("urchin-kick").document["sim"]) > {"solver", "rtol"}
    assert set(load("urchin-roll").document["sim"]) == {"duration", "sample_rate", "step", "settle"}
    with pytest.raises(ScenarioError, match="solver"):
        load("urchin-roll", ["sim.solver=euler"])
