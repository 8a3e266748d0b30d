"""Every robot with a slot for its ground takes every ground there is, or says in one sentence why
not.

What runs here: wheels and the two-leg walker. Runners have test_runner_matrix.py, the urchin
test_mujoco_engine.py, the centipede laws/test_centipede_laws.py, with every ground that they take.
"""

import dataclasses
import math

import numpy as np
import pytest

from footfall import load, simulate
from footfall.engines.plan import FixedSteps
from footfall.hybrid.fields import ParameterError, refusal
from footfall.machines.parts.terrain.base import AbstractTerrain
from footfall.scenario.catalog import ROBOTS, kinds_for, refused_kinds
from footfall.scenario.document import slot_types
from footfall.scenario.errors import ScenarioError
from footfall.scenario.known_parts import kept_parts

GROUNDS = kinds_for(AbstractTerrain)
WALKERS = {
    name: type(make()) for name, make in ROBOTS.items() if "terrain" in slot_types(type(make()))
}


@pytest.mark.parametrize("name", sorted(WALKERS))
def test_a_robot_takes_a_ground_or_says_in_one_sentence_why_not(name):
    system = ROBOTS[name]()
    shown = {
        kind: said
        for slot in kept_parts()
        if slot.refused and name in slot.robots
        for kind, said in slot.kinds.items()
    }
    for kind, ground in GROUNDS.items():
        reason = refusal(WALKERS[name], ground)
        assert shown.get(kind) == (f"{reason}." if reason else None)  # what `footfall list` says
        if reason:
            assert len(reason) > 20 and ". " not in reason and not reason.endswith(".")
            with pytest.raises(ParameterError, match=reason):
                dataclasses.replace(system, terrain=ground())
        else:
            # By no other rule than `refuses`.
            assert slot_types(WALKERS[name])["terrain"] is AbstractTerrain


def test_the_only_grounds_that_are_refused_are_these():
    refused = {
        name: sorted(refused_kinds(AbstractTerrain, robot)) for name, robot in WALKERS.items()
    }
    wheels, centipedes = (
        {n for n in refused if "wheel" in n},
        {n for n in refused if "centipede" in n},
    )
    assert {n for n, kinds in refused.items() if kinds == ["water"]} == wheels | centipedes | {
        "urchin"
    }
    assert refused["two-leg"] == ["profile", "rough", "slope", "water"]
    assert refused["water-runner"] == ["bumps", "gap", "gaps", "profile", "rough", "steps"]


def test_a_refused_ground_is_told_with_its_sentence_and_those_that_fit():
    with pytest.raises(ScenarioError) as caught:
        load("rimless-wheel", ["terrain=water"])
    for words in ("--set terrain=water", "water does not carry points", "bumps", "profile"):
        assert words in str(caught.value)


# --- over every ground ----------------------------------------------------------------------------


def deepest_tip(run, wheel):
    """[m] How far a tip of any unloaded spoke is below the ground, by what a run shows; and how far
    the loaded one sags.
    """
    rest = float(getattr(wheel.leg, "rest_length", 0.0) or wheel.leg.length)
    across, up = (run[f"foot.{axis}"] - run[f"hub.{axis}"] for axis in "xz")
    deep = 0.0
    for i in range(1, wheel.spokes):
        turned = np.arctan2(up, across) + 2 * math.pi * i / wheel.spokes
        x, z = run["hub.x"] + rest * np.cos(turned), run["hub.z"] + rest * np.sin(turned)
        faces = wheel.terrain.faces(x, z, 0.0 * x, 0.0 * z)
        deep = max(
            deep, float(np.max(np.max([face.depth * (face.share > 0) for face in faces], axis=0)))
        )
    return deep, float(np.max(rest - np.hypot(across, up)))


#: What CI runs of each robot; the slow tests have every ground.
QUICK = {
    "passive-wheel": ("flat", "slope", "profile"),
    "rimless-wheel": ("flat", "slope", "steps"),
    "two-leg": ("flat", "steps", "gap"),
}


def pairs(*names):
    for name in names:
        for kind in sorted(kinds_for(AbstractTerrain, WALKERS[name])):
            yield pytest.param(name, kind, marks=() if kind in QUICK[name] else (pytest.mark.slow,))


@pytest.mark.parametrize(("name", "kind"), list(pairs("passive-wheel", "rimless-wheel")))
def test_a_wheel_runs_over_any_ground_with_closed_books_and_its_spokes_above_it(name, kind):
    """A driven wheel: level, up a step, over bars and hills, across a gap or into it."""
    settings = ["start.spoke_rate=-4.5", "wheel_torque=2"] if name == "passive-wheel" else []
    # 50 mm are too high for it.
    settings += ["terrain.edges=[0.3]", "terrain.heights=[0.02]"] if kind == "steps" else []
    experiment = load(name, [f"terrain={kind}", *settings], duration=1.0)
    run = simulate(
        experiment.system,
        experiment.start,
        dataclasses.replace(experiment.plan, fixed=FixedSteps(2.5e-4)),
    )
    assert run["steps"][-1] >= (1 if "gap" in kind else 3), run.ending.sentence
    assert all(np.all(np.isfinite(values)) for values in run.columns.values())
    assert run.ledger.relative_residual < 1e-6  # RK4 at a quarter of a millisecond, of order h^4
    if kind in ("steps", "bumps", "profile", "rough"):
        assert np.ptp(run["foot.z"]) > 1e-3  # it came to stand higher, or lower
        height = np.asarray(experiment.system.terrain.height(run["foot.x"]))
        np.testing.assert_allclose(run["foot.z"], height, atol=1e-12)  # rounding of metres
    deep, sag = deepest_tip(run, experiment.system)
    # A spoke that leaves springs out by as much as it sagged, and the next one sags too; 2e-5 m is
    # what counts as beside an edge.
    assert deep <= 2 * sag + 3e-5, (deep, sag)


@pytest.mark.parametrize(("name", "kind"), list(pairs("two-leg")))
def test_the_two_leg_walker_plans_its_way_over_any_ground_of_level_pieces(name, kind):
    ground = {
        "bumps": ["terrain.bars=2", "overhang=0.09"],
        "gap": ["terrain.gap_width=0.04"],
        "gaps": ["terrain.widths=[0.04,0.03]"],
        "steps": ["terrain.edges=[0.2]", "terrain.heights=[0.02]"],
    }
    experiment = load(
        f"{name}-single-step", [f"terrain={kind}", "route=go_to -0.4", *ground.get(kind, [])]
    )
    run = simulate(experiment.system, experiment.start, experiment.plan)
    assert run.outcome.name == "arrived" and run.ledger.relative_residual < 1e-9
    for foot in ("foot_1", "foot_2"):
        # A foot may stand with its ankle over an edge; it is never inside the ground.
        height = np.asarray(experiment.system.terrain.height(run[f"{foot}.x"]))
        assert np.min(run[f"{foot}.z"] - height) > -1e-9
