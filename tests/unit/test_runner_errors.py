"""What a user can write wrong about a runner is answered with the key, what came and what to do;
and what is accepted gives numbers.
"""

import re

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from footfall import load
from footfall.machines.water_runner.four_bar_leg import FourBarLeg
from footfall.machines.water_runner.linkage import pose
from footfall.scenario.catalog import kinds_for
from footfall.scenario.document import slot_types
from footfall.scenario.errors import ScenarioError
from footfall.scenario.vary import batched

WATER, GROUND = "water-runner", "water-runner-ground"

#: name -> (scenario, settings, what the answer must contain)
BAD = {
    "crank too long": (WATER, ["leg.crank=40 mm"], ["[robot.leg] crank", "cannot turn fully", "rocker fold", "Try a crank of at most 33.42 mm"]),
    "ground link too long": (WATER, ["leg.ground=10 cm"], ["[robot.leg] crank", "cannot turn fully", "coupler and rocker stretch"]),
    "singular": (WATER, ["leg.crank=33.5 mm"], ["[robot.leg] crank", "singular", "joint loads grow without bound"]),
    "all but singular": (WATER, ["leg.crank=33.45 mm"], ["[robot.leg] crank", "singular or all but", "0.0748 mm or more"]),
    "ground link shortest": (WATER, ["leg.ground=15 mm", "leg.rocker=70 mm"], ["[robot.leg]", "the rocker turns round too"]),
    "rocker far too long": (WATER, ["leg.rocker=20 cm"], ["[robot.leg] rocker", "No crank is short enough", "shorten the rocker"]),
    "negative link": (WATER, ["leg.coupler=-1 mm"], ["[robot.leg] coupler", "-1 mm", "> 0"]),
    "no foot length": (WATER, ["leg.foot_length=0"], ["[robot.leg] foot_length", "> 0"]),
    "unknown assembly": (WATER, ["leg.assembly=above"], ["[robot.leg] assembly", "'above'", "below, mirrored"]),
    "negative radius": (WATER, ["foot.radius=-20 mm"], ["[robot.foot] radius", "-20 mm", "radius of the pad must be > 0"]),
    "radius nan": (WATER, ["foot.radius=nan"], ["[robot.foot] radius", "finite"]),
    "radius in kilograms": (WATER, ["foot.radius=20 g"], ["[robot.foot] radius", "20 g", "this needs m"]),
    "folded pad larger": (WATER, ["foot.folded_share=1.5"], ["[robot.foot] folded_share", "1.5", "<= 1"]),
    "unknown folding": (WATER, ["foot.folding=soft"], ["[robot.foot] folding", "'soft'", "blended, hard"]),
    "hard folding with a motor": (
        WATER, ["foot.folding=hard", "drive=crank-motor"], ["[robot] foot", "cannot be driven by a motor", 'foot.folding = "blended"'],
    ),
    "upside down": (WATER, ["start.pitch=1.1"], ["[start] pitch", "pad starts upside down", "less pitch"]),
    "tipped over": (WATER, ["start.pitch=-1.3"], ["[start] pitch", "-1.3 rad", "starts tipped over", "robot.tip_pitch"]),
    "locked and turning": (
        WATER, ["robot.pitch=locked", "start.pitch_rate=1"], ["[start] pitch_rate", "locked", 'robot.pitch = "locked"', "must be zero"],
    ),
    "below ground": (GROUND, ["start.height=5 cm"], ["[start] height", "below ground", "mm into it", '"auto"']),
    "below a slope": (GROUND, ["terrain=slope", "start.height=5 cm"], ["[start] height", "below ground", "0.06239 m or higher"]),
    "under water": (WATER, ["start.height=-3 cm"], ["[start] height", "-0.03 m", "the body starts under water"]),
    "sliding holds better": (GROUND, ["friction.kinetic_coefficient=0.5"], ["[robot.friction] kinetic_coefficient", "0.5", "0.4"]),
    "no stiffness": (GROUND, ["contact.stiffness=0"], ["[robot.contact] stiffness", "> 0"]),
    "hinge beyond the foot": (GROUND, ["foot.hinge_share=1.2"], ["[robot.foot] hinge_share", "1.2", "<= 1"]),
    "no density": (WATER, ["terrain.density=0"], ["[terrain] density", "> 0"]),
    "no frequency": (WATER, ["drive.frequency=0 Hz"], ["[robot.drive] frequency", "> 0"]),
    "three legs": (WATER, ["robot.legs=three"], ["[robot] legs", "'three'", "two, four"]),
    "massless": (WATER, ["body.mass=0 g"], ["[robot.body] mass", "0 g", "> 0"]),
    "field of another foot": (WATER, ["foot.stiffness=1"], ['no key "foot.stiffness"']),
}  # fmt: skip


@pytest.mark.parametrize(("scenario", "settings", "expected"), BAD.values(), ids=BAD)
def test_a_bad_runner_is_answered_with_key_what_came_and_what_to_do(scenario, settings, expected):
    with pytest.raises(ScenarioError) as caught:
        load(scenario, settings)
    said = str(caught.value)
    missing = [words for words in expected if words not in said]
    assert not missing, f"{missing} not in:\n{said}"


@pytest.mark.parametrize("slot", ["foot", "tail", "drive", "contact", "friction", "terrain"])
def test_an_unknown_kind_lists_those_that_fit(slot):
    robot = type(load(WATER).system)
    with pytest.raises(ScenarioError) as caught:
        load(WATER, [f"{slot}=paddle"])
    said = str(caught.value)
    table = "[terrain]" if slot == "terrain" else f"[robot.{slot}]"
    assert f"--set {slot}=paddle" in said and table in said
    assert all(kind in said for kind in kinds_for(slot_types(robot)[slot], robot))


def test_parts_of_other_robots_do_not_fit():
    for setting in ("leg=spring", "body=torso", "terrain=strut"):
        with pytest.raises(ScenarioError, match=re.escape(f"--set {setting}")):
            load(WATER, [setting])


@pytest.mark.parametrize(
    "settings",
    [
        ["foot.folding=hard"],
        ["foot.folding=hard", "drive=crank-motor", "terrain=flat"],
        ["robot.pitch=locked", "start.pitch=0.1"],
    ],
    ids=" ".join,
)
def test_what_is_refused_elsewhere_is_accepted_where_it_means_something(settings):
    """Hard folding with a prescribed crank, or where nothing folds; a pitch that is locked, but not
    level.
    """
    assert load(WATER, settings).system


@pytest.mark.parametrize(
    "links",
    [
        {"crank": 0.040},
        {"crank": 0.0335},
        {"ground": 0.1, "crank": 0.05},
        {"rocker": 0.07, "crank": 0.07},
    ],
)
def test_the_crank_a_message_proposes_is_accepted_and_turns(links):
    with pytest.raises(ValueError, match="Try a crank of at most") as caught:
        FourBarLeg(**links)
    (proposed,) = re.findall(r"at most ([\d.]+) mm", str(caught.value))
    leg = FourBarLeg(**{**links, "crank": float(proposed) * 1e-3})
    angle = np.linspace(0.0, 2 * np.pi, 721)
    assert all(np.all(np.isfinite(v)) for v in pose(leg.links, np.sin(angle), np.cos(angle), 1))


# --- batches --------------------------------------------------------------------------------------

#: columns -> words: which design, which key, why
BAD_LANES = {
    "links": ({"leg.crank": [0.02, 0.04, 0.0218]}, ["design 1", "leg.crank = 0.04", "crank", "cannot turn fully"]),
    "radius": ({"foot.radius": [0.02, 0.02, -0.01]}, ["foot.radius = -0.01 m", "design 2", "> 0"]),
    "pitch": ({"start.pitch": [0.0, 0.1, 1.1]}, ["design 2", "pitch", "upside down"]),
    "height": ({"start.height": [0.05, -0.05, 0.0]}, ["design 1", "height", "the body starts under water"]),
    "geometry of a start": (
        {"start.pitch": [0.9, 0.9, 0.9], "leg.rocker": [0.0468, 0.052, 0.0468], "foot.radius": [0.02, 0.02, 0.02]},
        ["design 1", "upside down"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("columns", "expected"), BAD_LANES.values(), ids=BAD_LANES)
def test_of_a_batch_the_design_that_is_wrong_is_named(columns, expected):
    with pytest.raises(ScenarioError) as caught:
        batched(load(WATER), {name: np.array(values) for name, values in columns.items()})
    said = str(caught.value)
    missing = [words for words in expected if words not in said]
    assert not missing, f"{missing} not in:\n{said}"


# --- what is accepted gives numbers ---------------------------------------------------------------

#: At the edge of what is allowed, one lane each, beside the default.
EDGES = {
    "leg.crank": 0.0334,
    "leg.foot_length": 1e-9,
    "foot.radius": 1e-9,
    "foot.folded_share": 0.0,
    "foot.edge_radius": 0.0,
    "foot.blend_speed": 1e-12,
    "tail.radius": 1e-9,
    "tail.down_angle": 0.0,
    "terrain.density": 1e-9,
    "robot.gravity": 0.0,
    "drive.frequency": 1e-6,
    "start.pitch": -1.15,
    "start.height": -0.0099,
    "start.speed": 100.0,
}


def test_numbers_at_the_edge_of_what_is_allowed_give_finite_rates_signals_and_derivatives():
    experiment = load(WATER)
    defaults = {"start.height": 0.05}  # auto
    columns, lanes = {}, len(EDGES) + 1
    for lane, (name, edge) in enumerate(EDGES.items(), start=1):
        table, _, key = name.partition(".")
        owner = experiment.start_options if table == "start" else experiment.system
        owner = owner if table in ("start", "robot") else getattr(owner, table)
        columns[name] = np.full(lanes, defaults.get(name) or float(getattr(owner, key)))
        columns[name][lane] = edge
    system, start = batched(experiment, columns)
    system, x = jax.tree.map(lambda v: jnp.asarray(v, float), (system, start.x))
    wet = eqx.tree_at(lambda x: x.y, x, x.y - 0.03)

    def seen(t, x):
        return (
            system.flow(t, x, start.m),
            system.outputs(t, x, start.m),
            system.guards(t, x, start.m),
        )

    for at in (x, wet):
        at = jax.tree.map(lambda v: v + jnp.zeros(lanes), at)
        rates = jax.tree.map(lambda v: v + jnp.zeros(lanes), system.flow(0.03, at, start.m).x)
        values, slopes = jax.jvp(seen, (jnp.float64(0.03), at), (jnp.ones(()), rates))
        for leaf in jax.tree.leaves((values, slopes)):
            assert np.all(np.isfinite(leaf))


@pytest.mark.parametrize(
    "settings",
    [["leg.assembly=mirrored"], ["leg.foot_length=1 mm", "foot.length=1 mm"]],
    ids=" ".join,
)
def test_a_body_below_hard_ground_is_refused(settings):
    with pytest.raises(ScenarioError, match="height"):
        load(GROUND, ["start.height=auto", *settings])
