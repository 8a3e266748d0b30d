"""A part with its own state, as CONTRIBUTING.md writes it: found in the user's file, carried by the
robot, and its energies in the books; one wrong power in it, and the check says where.
"""

import re
from pathlib import Path

import equinox as eqx
import jax
import numpy as np
import pytest

import footfall as ff
from footfall.engines.lanes import batch
from footfall.engines.lanes.batch_plan import BatchPlan
from footfall.hybrid.compose import NamesClash, added, joined, put, taken
from footfall.hybrid.conformance import Journey, examine
from footfall.hybrid.fields import port, signal
from footfall.hybrid.flatten import named_leaves
from support.batches import op_by_op, optimised

PAGE = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
(PEG,) = re.findall(r"```python\n# my_foot\.py\n(.*?)```", PAGE, re.DOTALL)
#: The smallest robot that has feet on hard ground.
BIPED = {"terrain": "flat", "robot.pitch": "free", "foot": "my_foot.py:Peg"}


@pytest.fixture
def peg(tmp_path, monkeypatch):
    """Loads a robot whose foot is that of the page, with something in it changed."""
    monkeypatch.chdir(tmp_path)

    def load(change=("", "")):
        assert change[0] in PEG
        (tmp_path / "my_foot.py").write_text(PEG.replace(*change) if change[0] else PEG)
        return ff.load("water-runner-biped", BIPED, trust=True)

    return load


def checked(experiment):
    """The checks that hold at states near the start; a run would take a minute to compile."""
    system = experiment.system
    nowhere = Journey([], 0.0, "", [np.array(True) for _ in system.events])
    report = examine(system, experiment.start, lambda: nowhere, samples=4, seed=0, spread=0.05)
    return {check.claim: check for check in report.checks}


ENERGY = "the rate of the stores is the sum of the ports"


def test_the_peg_of_the_page_keeps_the_contract_and_its_names_are_columns(peg):
    experiment = peg()
    found = checked(experiment)
    assert [name for name, check in found.items() if check.ok is False] == []
    x, m = experiment.start
    feet = [name for name, _, _ in named_leaves(x) if name.startswith("feet.")]
    assert feet == [
        f"feet.{leg}.{field}"
        for leg in ("front_left", "front_right")
        for field in ("travel", "travel_rate")
    ]
    power = [name for name, _, _ in named_leaves(experiment.system.flow(0.0, x, m).power)]
    stores = [name for name, _, _ in named_leaves(experiment.system.stores(0.0, x, m))]
    assert power == ["drive", "forward_drag", "contact", "friction", "peg_damper"]
    assert stores == ["kinetic", "gravity", "peg_spring", "ground"]


def test_a_wrong_power_in_the_part_fails_the_check_which_names_the_file(peg):
    energy = checked(peg(("peg_damper=-self.damping", "peg_damper=-0.9 * self.damping")))[ENERGY]
    assert energy.ok is False
    assert re.search(r"my_foot\.py:\d+ \(Peg\.flow\)", energy.detail)


def test_the_books_of_a_run_on_pegs_close(peg, monkeypatch):
    """RK4 leaves (h lambda)^4/120 of a motion of rate lambda: of the peg, sqrt(k/m) = 900 1/s, and
    of the ground under it, 5e3 1/s, that is 5e-8 at 10 us.
    """
    optimised(monkeypatch, "-O0")
    op_by_op(monkeypatch)
    experiment = peg()
    system = eqx.tree_at(lambda s: s.drive.frequency, experiment.system, np.array([3.0, 8.0]))
    plan = BatchPlan(0.01, step=1e-5, path="cpp")
    result = batch.run_batch(system, experiment.start, plan)
    assert result.path.startswith("C++"), result.notes
    assert np.min(result.columns["jumps"]) >= 1  # feet have met the ground
    assert np.min(result.end.x.feet.front_right.travel) > 1e-3  # m: a peg is pushed in
    assert np.max(result.columns["relative_residual"]) < 1e-7


CATCH = """

from footfall.authoring import Event, Jump


class CatchMode(eqx.Module):
    catches: Scalar = signal(doc="times the peg was caught")


class CatchWork(eqx.Module):
    catch: Scalar = port(kind="loss", unit="J", doc="speed of the peg, taken by the catch")


class Caught(Peg):
    def mode(self, at, own, wet):
        return CatchMode(catches=jnp.int32(0) + 0 * jnp.asarray(at.x, jnp.int32))

    def events(self, wet):
        return (Event("catch", "the peg is at its end", unit="m"),)

    def guards(self, at, own, wet):
        return (0.005 - own.travel,)

    def jump(self, own, mode, k):
        taken = -0.5 * self.mass * own.travel_rate**2
        still = PegState(travel=own.travel, travel_rate=0.0 * own.travel_rate)
        return Jump(still, CatchMode(catches=mode.catches + 1), CatchWork(catch=taken))
"""


def test_a_part_has_discrete_states_events_and_work_of_its_own(peg, tmp_path):
    """The catch of one foot changes that foot alone; its work is what the stores lose."""
    peg()
    (tmp_path / "my_foot.py").write_text(f"import jax.numpy as jnp\n{PEG}{CATCH}")
    caught = ff.load("water-runner-biped", BIPED | {"foot": "my_foot.py:Caught"}, trust=True)
    system, (x, m) = caught.system, caught.start
    names = [event.name for event in system.events]
    assert names[4:6] == ["catch.front_left", "catch.front_right"]
    x = eqx.tree_at(lambda x: x.feet.front_right.travel_rate, x, 0.2)
    x = eqx.tree_at(lambda x: x.feet.front_left.travel_rate, x, 0.3)
    done = system.jump(0.0, x, m, names.index("catch.front_right"))
    assert done.x.feet.front_right.travel_rate == 0.0 and done.x.feet.front_left.travel_rate == 0.3
    assert (done.m.feet.front_right.catches, done.m.feet.front_left.catches) == (1, 0)
    before, after = (sum(jax.tree.leaves(system.stores(0.0, at, m))) for at in (x, done.x))
    # 1e-5 J, the difference of some 0.03 J
    assert done.work.catch == pytest.approx(float(after - before), rel=1e-9)
    assert system.jump(0.0, x, m, names.index("touchdown.front_right")).work is None


# --- how structs are put together
# -------------------------------------------------------------------------------------------------


class Robot(eqx.Module):
    a: float = signal(doc="of the robot")
    b: float | None = signal(None, doc="perhaps")


class Part(eqx.Module):
    a: float = signal(doc="of the part")
    c: float = signal(doc="of the part too")


class Other(eqx.Module):
    c: float = signal(doc="of the part")


def test_structs_join_by_name_add_up_and_come_apart_again():
    both = joined(Robot(1.0), None, Other(2.0))
    assert [(n, v) for n, v, _ in named_leaves(both)] == [("a", 1.0), ("c", 2.0)]
    assert isinstance(both, Robot) and both.b is None
    assert taken(Other(0.0), both) == Other(2.0) and taken(None, both) is None
    assert put(both, Other(5.0)).c == 5.0 and put(both, None) is both
    assert type(both) is type(joined(Robot(3.0), Other(4.0)))  # one struct for one program
    assert joined(Robot(1.0), None) == Robot(1.0)
    total = added(Robot(1.0, 3.0), Part(10.0, 20.0), Other(200.0))
    assert (total.a, total.b, total.c) == (11.0, 3.0, 220.0)
    with pytest.raises(TypeError, match=r"Part\.a: Robot has a field of that name"):
        joined(Robot(1.0), Part(1.0, 2.0))


class Motors(eqx.Module):
    drive: float = port(kind="work", doc="of the robot")


class Rub(eqx.Module):
    drive: float = port(kind="loss", doc="of the part")


def test_a_loss_is_not_counted_with_the_work_of_a_motor_of_its_name():
    """A foot's damper called `drive` made the motors cheaper, and the books closed."""
    assert added(Motors(1.0), Motors(2.0)).drive == 3.0
    with pytest.raises(
        NamesClash, match=r"Rub\.drive: Motors has one of that name.* loss and a work"
    ):
        added(Motors(1.0), Rub(-0.5))
    # Named as the user wrote it, also where a struct of the robot carries it.
    with pytest.raises(NamesClash, match=r"test_part_with_state.py, Rub\.drive: Motors"):
        added(Motors(1.0), joined(Robot(1.0), Rub(-0.5)))
