"""Any foot fits any leg over any terrain: every choice of parts of the four-bar runner runs, and
its books close.

The choices are read from the catalogue, so a part that comes later joins by being listed. On the
step engine, because there a combination costs a small C++ kernel instead of a compiled adaptive
loop."""

import itertools

import equinox as eqx
import jax
import numpy as np
import pytest

from footfall import Outcome, load
from footfall.engines.lanes import batch
from footfall.engines.lanes.batch_plan import BatchPlan
from footfall.hybrid.fields import describe
from footfall.machines.parts.terrain.water import Water
from footfall.machines.water_runner.runner import FourBarRunner
from footfall.scenario.catalog import kinds_for
from footfall.scenario.document import slot_types
from support.batches import op_by_op, optimised

SLOTS = slot_types(FourBarRunner)
FEET, CONTACTS, TERRAINS, DRIVES, FRICTIONS = (
    tuple(kinds_for(SLOTS[slot], FourBarRunner))
    for slot in ("foot", "contact", "terrain", "drive", "friction")
)
#: [s] RK4 is stable up to 2.8/|lambda|; friction on the light foot link has lambda = -2.7e5 1/s at
#: its default creep speed (reference page, section 8).
STEP = 1e-5
#: What ends a run by the robot's own doing.
NAMED = {
    Outcome.reached_end,
    Outcome.fell,
    Outcome.sank,
    Outcome.tipped_over,
    Outcome.outside_model,
}
#: Crank frequencies [Hz], a lane each: that of the ground robot, and that of the water runner.
FREQUENCIES = np.array([3.0, 8.0])
#: RK4 leaves (h lambda)^4/120 of a motion of rate lambda: 8e-7 at 1e4 1/s, the hinge of a foot and
#: a bristle that is renewed. What is faster, a foot that creeps on Stribeck's friction, is damped
#: and carries little power.
RESIDUAL = 1e-6


@pytest.fixture(autouse=True)
def lightly(monkeypatch):
    """Kernels without optimisation, and little else compiled.

    A combination is run once, for a moment.
    """
    optimised(monkeypatch, "-O0")
    op_by_op(monkeypatch)


#: The usual damper of viscoelastic ground is for a robot 24 times as heavy: on a foot of 0.26 g it
#: has a rate of 4e4 1/s, which asks for a shorter step. In proportion to the mass it has 1.5e3.
SUITED = {"contact=viscoelastic": "contact.damping=0.4"}


def run_and_check(scenario, settings, duration):
    """Both frequencies, let go where the scenario's start puts them.

    Finite, ended as it may, books closed.
    """
    experiment = load(scenario, [*settings, *(SUITED[kind] for kind in settings if kind in SUITED)])
    system, start = experiment.system, experiment.start
    if system.drive.rest(0.0) is not None:
        start = eqx.tree_at(lambda s: s.x.crank_rate, start, 2 * np.pi * FREQUENCIES)
    else:
        system = eqx.tree_at(lambda s: s.drive.frequency, system, FREQUENCIES)
    result = batch.run_batch(system, start, BatchPlan(duration, step=STEP, path="cpp"))
    assert result.path.startswith("C++"), result.notes
    assert all(np.all(np.isfinite(leaf)) for leaf in jax.tree.leaves(result.end))
    assert {Outcome(n) for n in result.columns["outcome"]} <= NAMED
    # Feet have met the surface: the books are not those of a fall.
    assert np.min(result.columns["jumps"]) >= 1
    assert np.max(result.columns["relative_residual"]) < RESIDUAL


def name_of(kinds):
    return "-".join(kind.partition("=")[2] for kind in kinds)


def kinds_of(foot, contact, terrain, drive, friction):
    return (
        f"foot={foot}",
        f"contact={contact}",
        f"terrain={terrain}",
        f"drive={drive}",
        f"friction={friction}",
    )


def matrix():
    """Every pair of kinds that could meet: each foot has each terrain, each contact law, each drive
    and each friction law, and each terrain has each drive. The slow tests have every combination.

    Water has neither contact law nor friction, so it meets the first contact law only, and friction
    takes turns on hard ground."""
    wet = {kind for kind, cls in kinds_for(SLOTS["terrain"]).items() if issubclass(cls, Water)}
    hard = [terrain for terrain in TERRAINS if terrain not in wet]
    for f, foot in enumerate(FEET):
        cases = [(CONTACTS[0], terrain, f + t) for t, terrain in enumerate(TERRAINS)]
        cases += [
            (contact, hard[(f + c) % len(hard)], f // 2 + c)
            for c, contact in enumerate(CONTACTS[1:], 1)
        ]
        turns = itertools.islice(itertools.cycle(FRICTIONS), f, None)
        for contact, terrain, turn in cases:
            friction = FRICTIONS[f % len(FRICTIONS)] if terrain in wet else next(turns)
            yield kinds_of(foot, contact, terrain, DRIVES[turn % len(DRIVES)], friction)


def test_every_pair_of_kinds_meets():
    seen = [dict(kind.split("=") for kind in kinds) for kinds in matrix()]
    slots = {
        "foot": FEET,
        "contact": CONTACTS,
        "terrain": TERRAINS,
        "drive": DRIVES,
        "friction": FRICTIONS,
    }
    for one, other in (
        ("foot", "terrain"),
        ("foot", "contact"),
        ("foot", "drive"),
        ("foot", "friction"),
        ("terrain", "drive"),
    ):
        assert {(kinds[one], kinds[other]) for kinds in seen} == set(
            itertools.product(slots[one], slots[other])
        ), (one, other)


def diagonal():
    """Each foot once, with another terrain each time; pads on water first."""
    for f, foot in enumerate(FEET):
        wanted = kinds_of(foot, CONTACTS[0], TERRAINS[(f - 1) % len(TERRAINS)], "", "")[:3]
        yield next(kinds for kinds in matrix() if kinds[:3] == wanted)


@pytest.mark.parametrize("kinds", list(matrix()), ids=name_of)
def test_any_foot_runs_over_any_terrain_with_any_drive(kinds):
    """50 ms of a biped, the smallest kernel, free to pitch; a second of those on the diagonal."""
    run_and_check(
        "water-runner-biped", ["robot.pitch=free", *kinds], 1.0 if kinds in diagonal() else 0.05
    )


def product():
    """Every choice there is, on two legs and four; a pad that folds hard is refused where a motor
    drives it through water.
    """
    feet, drives, terrains = (kinds_for(SLOTS[slot]) for slot in ("foot", "drive", "terrain"))
    for foot, contact, terrain, drive, friction in itertools.product(
        FEET, CONTACTS, TERRAINS, DRIVES, FRICTIONS
    ):
        kinds = kinds_of(foot, contact, terrain, drive, friction)
        yield kinds
        if "folding" in describe(feet[foot]) and not (
            drives[drive]().rest(0.0) is not None and issubclass(terrains[terrain], Water)
        ):
            yield (*kinds, "foot.folding=hard")


@pytest.mark.slow
@pytest.mark.parametrize("scenario", ["water-runner-biped", "water-runner"])
@pytest.mark.parametrize("kinds", list(product()), ids=name_of)
def test_every_choice_of_parts_runs_on_two_legs_and_four(scenario, kinds):
    run_and_check(scenario, kinds, 0.05)
