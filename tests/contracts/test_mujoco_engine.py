"""The engine of rigid bodies.

The contract of a Trajectory, books that close, runs that repeat, ends that are data.
"""

import dataclasses
import subprocess
import sys

import equinox as eqx
import mujoco
import numpy as np
import pytest

from footfall import SimPlan, load, simulate, summarise
from footfall.engines.bodies.mujoco_check import examine_bodies
from footfall.engines.bodies.mujoco_engine import CHUNK, compiled, simulate_bodies
from footfall.hybrid.fields import signal
from footfall.hybrid.motion_plan import NoState
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.rigid_bodies import AbstractDriver, AbstractRigidBodies, BodiesState
from footfall.hybrid.start import AbstractStart
from footfall.hybrid.system import Event, HybridState
from footfall.pictures import bodies_picture
from footfall.scenario.catalog import kinds_for
from footfall.scenario.document import slot_path, slot_types
from footfall.scenario.errors import ScenarioError

G = 9.81


class BallStart(AbstractStart):
    """A ball a metre up."""

    def state(self, system):
        del system
        return HybridState(
            BodiesState(qpos=np.array([0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0]), qvel=np.zeros(6)),
            NoState(),
        )


class BallOutputs(eqx.Module):
    height: object = signal(unit="m", doc="height")
    climb: object = signal(unit="m/s", doc="its rate", rate_of="height")


class BallSeen(eqx.Module):
    ball: BallOutputs


class BallCounters(eqx.Module):
    looks: object = signal(doc="half seconds so far")


class Idle(AbstractDriver):
    def __init__(self, data, act=None):
        self.damping, self.data, self.also = np.zeros(6), data, act
        self.looks = 0

    def act(self, i):
        self.looks = int(self.data.time / 0.5)
        if self.also:
            self.also(i, self.data)

    def watch(self):
        return {"looks": self.looks}


class Ball(AbstractRigidBodies):
    """A ball that falls onto the floor, or past it."""

    Start = BallStart
    counted = ("looks",)
    also: object = eqx.field(static=True, default=None)
    floor: bool = eqx.field(static=True, default=True)
    drag: float = eqx.field(static=True, default=0.0)
    cone: str = eqx.field(static=True, default="elliptic")

    usual_step = 1e-3
    touching = ("ball",)
    events = (Event("deep", "it is far below", Outcome.fell),)

    def spec(self):
        ground = '<geom name="floor" type="plane" size="0 0 1"/>' if self.floor else ""
        return mujoco.MjSpec.from_string(
            f'<mujoco><option cone="{self.cone}" gravity="0 0 -{G}" integrator="implicitfast"/>'
            f'<worldbody>{ground}<body><joint type="free" damping="{self.drag}"/>'
            '<geom name="ball" type="sphere" size="0.1" mass="2"/></body></worldbody></mujoco>'
        )

    def driver(self, model, data, steps):
        return Idle(data, self.also)

    def rooms(self, log):
        return (log.qpos[:, 2] + 5.0,)

    def counters(self, log):
        return BallCounters(looks=log.watched["looks"])

    def outputs(self, log):
        return BallSeen(BallOutputs(height=log.qpos[:, 2], climb=log.qvel[:, 2]))


@pytest.fixture(scope="module")
def urchin():
    experiment = load("urchin-walk", duration=3.0)
    return experiment, simulate(experiment.system, experiment.start, experiment.plan)


def test_a_falling_ball_is_where_newton_puts_it_and_its_books_close():
    run = simulate(Ball(floor=False), plan=SimPlan(duration=1.0, sample_rate=100.0))
    # The step moves with the speed at its end: t (t + h)/2 instead of t^2/2.
    assert run["ball.height"] == pytest.approx(1.0 - 0.5 * G * run.t * (run.t + 1e-3), abs=1e-12)
    assert run.ledger.stored_end["kinetic"] == pytest.approx(0.5 * 2 * G**2, rel=1e-12)
    # Half a step of falling too far: m g v h/2.
    assert run.ledger.residual == pytest.approx(-2 * G * G * 1e-3 / 2, rel=1e-9)
    assert run.ledger.work == {"driving": 0.0} and run.ledger.losses == {
        "braking": 0.0,
        "contact": 0.0,
    }


@pytest.mark.parametrize("cone", ["elliptic", "pyramidal"])
def test_a_ball_that_has_landed_lost_its_height_to_contact_and_rests_on_its_weight(cone):
    run = simulate(Ball(cone=cone), plan=SimPlan(duration=3.0))
    assert run.ledger.losses["contact"] == pytest.approx(2 * G * 0.9, rel=0.01)
    # What half a step of falling too far gives, m g v h/2, is zero again at rest; nothing else is
    # lost.
    assert run.ledger.relative_residual < 1e-12


def test_friction_in_the_joints_is_a_loss_of_its_own():
    run = simulate(Ball(floor=False, drag=3.0), plan=SimPlan(duration=1.0))
    assert run.ledger.losses["friction"] > 1.0
    assert "power.friction" in run.columns
    assert run.ledger.relative_residual < 1e-3


def test_what_ends_a_run_is_data_and_the_record_ends_there():
    run = simulate(Ball(floor=False), plan=SimPlan(duration=5.0, sample_rate=50.0))
    assert run.outcome is Outcome.fell and run.ending.event == "deep"
    assert run["ball.height"][-1] <= -5.0 < run["ball.height"][-2]
    assert run.ending.t == run.t[-1] == pytest.approx(np.sqrt(12.0 / G), abs=0.03)
    assert run.least_room["deep"] <= 0.0
    assert run.ledger.stored_end["kinetic"] == pytest.approx(run["store.kinetic"][-1])


def test_a_run_that_diverges_says_so_and_keeps_what_was_finite(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def blow(i, data):
        if i == 700:
            data.qvel[2] = np.nan

    run = simulate(Ball(also=blow), plan=SimPlan(duration=2.0))
    assert run.outcome is Outcome.diverged
    assert 0.69 < run.ending.t <= 0.7
    assert not list(tmp_path.iterdir())  # MuJoCo left to itself writes MUJOCO_LOG.TXT
    assert all(np.isfinite(values).all() for values in run.columns.values())


def test_ctrl_c_keeps_what_was_computed():
    def stop(i, data):
        if i == 2 * CHUNK + 7:
            raise KeyboardInterrupt

    run = simulate(Ball(also=stop), plan=SimPlan(duration=20.0))
    assert run.outcome is Outcome.interrupted
    assert run.t[-1] == pytest.approx(2 * CHUNK * 1e-3, abs=6e-3)
    assert run.ledger.relative_residual < 5e-3
    early = simulate(
        Ball(also=lambda i, data: stop(2 * CHUNK + 7, data)), plan=SimPlan(duration=20.0)
    )
    assert early.outcome is Outcome.interrupted and len(early.t) == 0
    assert summarise(early).outcome["name"] == "interrupted"


def test_progress_is_told_between_chunks():
    told = []
    simulate(Ball(), plan=SimPlan(duration=5.0), progress=lambda t, jumps: told.append((t, jumps)))
    assert len(told) >= 2 and told == sorted(told)


def test_growth_of_a_counter_is_an_event():
    run = simulate(Ball(), plan=SimPlan(duration=2.0, sample_rate=100.0))
    assert [e.name for e in run.events] == ["looks"] * len(run.events)
    assert len(run.events) in (3, 4)
    assert run.events[0].t == pytest.approx(0.5, abs=0.02)


def test_samples_are_as_many_as_asked_for_and_the_end_is_among_them():
    run = simulate(Ball(), plan=SimPlan(duration=1.0, sample_rate=50.0))
    assert run.t == pytest.approx(np.arange(51) / 50.0, abs=1e-12)
    ends = simulate(Ball(), plan=SimPlan(duration=1.0, sample_rate=None))
    assert ends.t == pytest.approx([0.0, 1.0])
    assert ends.provenance["sample_rate"] is None
    odd = simulate(Ball(), plan=SimPlan(duration=0.0307, step=1e-4, sample_rate=300.0))
    assert odd.t[-1] == pytest.approx(0.0307)
    assert odd.provenance["sample_rate"] == pytest.approx(1e4 / 33)


def test_an_absurdly_long_run_is_refused_at_once():
    with pytest.raises(ValueError, match="1e\\+08 is the most"):
        simulate(Ball(), plan=SimPlan(duration=1e6, step=1e-5))


# ---- the sea urchin


def test_columns_are_those_the_signals_declare(urchin):
    _, run = urchin
    assert set(run.columns) == set(run.signals)
    assert all(
        values.shape == run.t.shape and values.dtype == float for values in run.columns.values()
    )
    assert {s.role for s in run.signals.values()} == {
        "state",
        "discrete",
        "output",
        "store",
        "power",
        "work",
    }
    for name, s in run.signals.items():
        assert s.rate_of is None or s.rate_of in run.columns, name
    assert np.all(run.j == 0) and np.all(np.diff(run.t) > 0)


def test_a_run_repeats_itself_to_the_last_bit(urchin):
    experiment, run = urchin
    again = simulate(experiment.system, experiment.start, experiment.plan)
    assert all(np.array_equal(run[name], again[name]) for name in run.columns)


def test_what_is_sampled_does_not_change_what_happens(urchin):
    experiment, run = urchin
    seldom = simulate(
        experiment.system, experiment.start, dataclasses.replace(experiment.plan, sample_rate=10.0)
    )
    for name in ("qpos.0", "qvel.10", "work.driving", "store.kinetic", "tip.fz.2"):
        assert np.array_equal(seldom[name], run[name][::5]), name


def test_forces_of_the_ground_carry_the_weight(urchin):
    experiment, run = urchin
    steady = run.t > 1.5
    assert run["load.lift"][steady].mean() == pytest.approx(experiment.system.weight, rel=2e-3)
    assert sum(run[f"tip.fz.{i}"] for i in range(12)) + run["load.shell"] == pytest.approx(
        run["load.lift"], abs=1e-12
    )
    assert np.all(run["load.shell"] == 0.0)


def test_logged_contact_forces_are_mujocos(urchin):
    experiment, run = urchin
    model = compiled(experiment.system, 1e-3)
    data = mujoco.MjData(model)
    row = 90
    data.qpos[:] = [run[f"qpos.{i}"][row] for i in range(model.nq)]
    data.qvel[:] = [run[f"qvel.{i}"][row] for i in range(model.nv)]
    data.ctrl[:] = np.array(
        [[run[f"drive.{j}.{i}"][row] for j in ("swing", "sweep", "slide")] for i in range(12)]
    ).ravel()
    data.ctrl[:] += np.tile([0.5, 0.5, 100.0], 12) * data.qvel[6:]
    mujoco.mj_forward(model, data)
    up, force = np.zeros(model.ngeom), np.zeros(6)
    for k in range(data.ncon):
        mujoco.mj_contactForce(model, data, k, force)
        up[data.contact.geom[k, 1]] += force[:3] @ data.contact.frame[k].reshape(3, 3)[:, 2]
    ours = [run[f"tip.fz.{i}"][row] for i in range(12)]
    names = experiment.system.touching[:12]
    # MuJoCo begins its search for contact forces from those before, here from none.
    assert ours == pytest.approx([up[model.geom(name).id] for name in names], abs=1e-4)


def test_books_close_and_close_better_with_shorter_steps(urchin):
    _, run = urchin
    # It stops in the middle of a step: m g v h/2 of 0.2 J.
    assert run.ledger.relative_residual < 1e-4
    rolls = load("urchin-roll", ['program="roll 1"'], duration=2.5)
    coarse, fine = (
        simulate(
            rolls.system, rolls.start, dataclasses.replace(rolls.plan, step=h, sample_rate=200.0)
        )
        for h in (5e-4, 1.25e-4)
    )
    assert coarse.ledger.relative_residual < 3e-4  # balls that hit the floor within few steps
    assert abs(fine.ledger.residual) < 0.4 * abs(coarse.ledger.residual)


def test_work_is_what_the_powers_add_up_to(urchin):
    _, run = urchin
    for name in ("driving", "braking"):
        summed = np.concatenate(
            [
                [0.0],
                np.cumsum(
                    0.5 * (run[f"power.{name}"][1:] + run[f"power.{name}"][:-1]) * np.diff(run.t)
                ),
            ]
        )
        # Twenty steps to a sample.
        assert run[f"work.{name}"][-1] == pytest.approx(summed[-1], rel=0.1)
    assert np.all(np.diff(run["work.driving"]) >= 0) and np.all(np.diff(run["work.braking"]) <= 0)


def test_provenance_names_the_engine_and_its_version(urchin):
    _, run = urchin
    assert run.provenance["engine"] == "mujoco"
    assert run.provenance["versions"]["mujoco"] == mujoco.__version__
    assert run.provenance["step"] == 1e-3
    assert "implicitfast" in run.provenance["solver"]


def fits():
    """Every slot of the urchin with each kind that fits, one at a time."""
    robot = type(load("urchin-walk").system)
    for slot, slot_type in slot_types(robot).items():
        for kind in kinds_for(slot_type, robot):
            yield pytest.param(slot, kind, id=f"{'.'.join(slot_path(slot))}={kind}")


@pytest.mark.parametrize(("slot", "kind"), list(fits()))
def test_any_part_that_fits_a_slot_runs_with_a_closed_ledger(slot, kind):
    experiment = load("urchin-walk", [f"{slot}={kind}", "wait=0.1"], duration=0.5)
    run = simulate(experiment.system, experiment.start, experiment.plan)
    assert run.outcome is Outcome.reached_end
    assert all(np.isfinite(values).all() for values in run.columns.values())
    # The first contact is within it. Spikes that nothing holds let the robot fall on its shell: that
    # contact is most of what flows, and the error is first order in the step (0.0048, 0.0023 and
    # 0.0011 at 1, 0.5 and 0.25 ms).
    assert run.ledger.relative_residual < (1e-2 if kind == "held-effort" else 1e-3)


@pytest.mark.parametrize("name", ["urchin-walk", "urchin-roll"])
def test_shipped_robots_keep_the_contract(name):
    experiment = load(name)
    report = examine_bodies(experiment.system, experiment.start, span=0.15)
    assert report.ok, str(report)


def test_a_picture_is_taken_from_where_the_robot_says(monkeypatch):
    asked = []

    def ask(command, **_):
        asked.append(command)
        raise subprocess.TimeoutExpired(command, 0.0)

    class Far(Ball):
        view_distance = 2.5

    monkeypatch.setenv("MUJOCO_GL", "egl")
    monkeypatch.setattr(bodies_picture.subprocess, "run", ask)
    for robot in (Far(), Ball()):
        assert bodies_picture._rendered(robot, np.zeros(7)) is None
    assert [command[-1] for command in asked] == ["2.5", "0.0"]
    assert "shell" not in asked[0][2]  # a geom that only the sea urchin has


def test_a_robot_whose_velocity_is_no_derivative_is_found_out():
    class Liar(Ball):
        def outputs(self, log):
            return BallSeen(BallOutputs(height=log.qpos[:, 2], climb=-log.qvel[:, 2]))

    report = examine_bodies(Liar(), BallStart().state(None))
    assert [c.claim for c in report.checks if not c.ok] == ["velocities are derivatives"]


def test_what_needs_equations_of_its_own_says_so():
    from footfall import rollout

    with pytest.raises(ScenarioError, match="stepped by MuJoCo"):
        rollout(load("urchin-walk"), {"friction": [0.5, 1.0]})


@pytest.mark.parametrize(
    "code", ["import footfall", "import footfall; footfall.load('urchin-walk')"]
)
def test_mujoco_is_not_imported_before_something_is_stepped(code):
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; import sys; sys.exit('mujoco' in sys.modules)"],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr


def test_without_mujoco_the_line_that_installs_it_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "mujoco", None)
    experiment = load("urchin-walk")
    with pytest.raises(ModuleNotFoundError, match=r'pip install "footfall\[mujoco\]"'):
        simulate_bodies(experiment.system, experiment.start, experiment.plan)


def test_a_run_that_starts_without_room_ends_there():
    """As in the other engines: docs/conventions.md, guards."""
    start = Ball().begin(BallStart())
    deep = start._replace(
        x=eqx.tree_at(lambda x: x.qpos, start.x, np.array([0.0, 0.0, -6.0, 1.0, 0.0, 0.0, 0.0]))
    )
    run = simulate(Ball(floor=False), deep, SimPlan(duration=1.0))
    assert (run.outcome, run.ending.event, run.ending.t) == (Outcome.fell, "deep", 0.0)
