"""A robot of one's own ends in its own way.

In a run, in a batch, in a sweep's table, in another process.
"""

import pickle
import subprocess
import sys

import pytest

import footfall as ff
from footfall.cli.new import new_robot
from footfall.hybrid.outcome import Outcome
from footfall.scenario.errors import ScenarioError

ROBOT = '''
import equinox as eqx
from footfall.authoring import AbstractStart, Body, Event, HybridState, HybridSystem, Jump, Outcome, Rates, Travel, param, port, signal, store


class State(eqx.Module):
    x: float = signal(unit="m", doc="distance")
    v: float = signal(unit="m/s", doc="speed", rate_of="x")


class Mode(eqx.Module):
    steps: int = signal(doc="steps")


class Powers(eqx.Module):
    mud: float = port(kind="loss", doc="drag of the mud")


class Stores(eqx.Module):
    kinetic: float = store(doc="kinetic energy")


class Outputs(eqx.Module):
    body: Body


class MudStart(AbstractStart):
    speed: float = param(1.0, unit="m/s", doc="speed")

    def state(self, system):
        return HybridState(State(x=0.0, v=self.speed), Mode(steps=0))


class Sled(HybridSystem):
    """A sled that mud slows down until it is stuck."""

    Start = MudStart
    mass: float = param(2.0, unit="kg", doc="mass", gt=0)
    drag: float = param(1.0, unit="N s/m", doc="drag", gt=0)

    @property
    def events(self):
        return (Event("stuck", "it is too slow to go on", outcome=Outcome("bogged_down", "the mud holds the sled")),)

    def flow(self, t, x, m):
        return Rates(State(x=x.v, v=-self.drag / self.mass * x.v), Powers(mud=-self.drag * x.v**2))

    def guards(self, t, x, m):
        return (x.v - 0.5,)

    def jump(self, t, x, m, k):
        return Jump(x, m)

    def stores(self, t, x, m):
        return Stores(kinetic=0.5 * self.mass * x.v**2)

    def outputs(self, t, x, m):
        return Outputs(body=Body(x=x.x, z=0.0, vx=x.v, vz=0.0))
'''
SCENARIO = 'success = ["bogged_down"]\n[robot]\nkind = "sled.py:Sled"\n[sim]\nduration = "5 s"\n'


@pytest.fixture
def sled(tmp_path):
    (tmp_path / "sled.py").write_text(ROBOT)
    (tmp_path / "sled.toml").write_text(SCENARIO)
    return ff.load(tmp_path / "sled.toml", trust=True)


def test_a_run_ends_by_the_robots_own_outcome(sled):
    run = ff.simulate(sled)
    assert run.outcome.name == "bogged_down" and run.outcome.meaning == "the mud holds the sled"
    # v = exp(-t/2) reaches one half at 2 ln 2
    # The engine's tolerance is 1e-8 of the state.
    assert run.ending.t == pytest.approx(1.3862943611198906, abs=1e-9)
    assert run.outcome is Outcome["bogged_down"]


def test_lanes_and_their_tables_tell_it_in_words(sled):
    table = ff.rollout(sled, designs={"drag": [0.1, 1.0]})
    assert list(table.outcome.values) == ["reached_end", "bogged_down"]


def test_it_has_the_same_number_in_every_process_and_survives_the_way_there(sled):
    ff.simulate(sled)  # declares it
    own = Outcome["bogged_down"]
    program = (
        "import sys, pickle\n"
        "o = pickle.loads(bytes.fromhex(sys.argv[1]))\n"
        "from footfall.hybrid.outcome import Outcome\n"
        "print(int(o), o.name, o.meaning, o is Outcome['bogged_down'])"
    )
    said = subprocess.run(
        [sys.executable, "-c", program, pickle.dumps(own).hex()],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert said.strip() == f"{int(own)} bogged_down the mud holds the sled True"


def test_one_name_means_one_thing():
    with pytest.raises(ValueError, match="choose another name"):
        Outcome("fell", "something else")
    with pytest.raises(ValueError, match="letters, digits"):
        Outcome("fell over", "a name with a space")


def test_an_unknown_success_is_refused_and_an_own_one_is_known(tmp_path, sled):
    assert sled.about.success == ["bogged_down"]
    (tmp_path / "sled.toml").write_text(SCENARIO.replace("bogged_down", "boged_down"))
    with pytest.raises(ScenarioError, match='Did you mean "bogged_down"'):
        ff.load(tmp_path / "sled.toml", trust=True)


def test_a_jump_may_leave_its_work_out_beside_one_that_does_some(tmp_path, monkeypatch):
    """The hopper of `footfall new`.

    Touchdown reports nothing, the push at the bottom does work, lift-off loses some.
    """
    monkeypatch.chdir(tmp_path)
    new_robot("hopper")
    hopper = ff.load("hopper/hopper.toml", duration=2)
    run = hopper.run()
    assert run.ledger.relative_residual < 1e-9  # default tolerance is 1e-8 a step
    done, lost = run.ledger.jump_work["push"], run.ledger.jump_losses["released"]
    table = hopper.sweep({"push": [0.01]}, step=1e-4)
    # RK4 at 0.1 ms with w = 45 /s: (w h)^4 is 4e-10, and events to that order
    assert float(table.jump_work[0]) == pytest.approx(done - abs(lost), rel=1e-6)


def test_a_system_whose_jumps_all_do_nothing_has_no_such_lines(tmp_path):
    (tmp_path / "sled.py").write_text(
        ROBOT.replace('outcome=Outcome("bogged_down", "the mud holds the sled")', "unit='m/s'")
    )
    (tmp_path / "sled.toml").write_text(SCENARIO.replace("bogged_down", "reached_end"))
    sled = ff.load(tmp_path / "sled.toml", trust=True)
    run = sled.run()
    assert (
        len(run.events_named("stuck")) == 1
        and not run.ledger.jump_work
        and not run.ledger.jump_losses
    )
    assert ff.check_system(sled.system, sled.start) is not None
    assert list(sled.sweep({"drag": [1.0]}).outcome.values) == ["reached_end"]
