"""What people who write a robot get wrong, and what they are told.

Each robot here is one that a user wrote; every way of running it must say the same.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import footfall as ff
from footfall.authoring import Event, HybridState, Jump, Rates, Travel, only_while, signal
from footfall.engines import simulate as engines
from footfall.engines.analysis.check_system import examine_system
from footfall.engines.lanes.batch import run_batch
from footfall.engines.lanes.batch_plan import BatchPlan
from support.toys import AbstractToy, Ball, BallStores, Count, Height, NoPower, Outputs, Value

WAYS = ("kernel", "jax", "fixed steps", "batch", "batch by tolerances")


def ending(way, system, state, duration, monkeypatch):
    """(outcome, when, after how many jumps) of a robot run in one of the ways there are."""
    if way in ("kernel", "jax", "fixed steps"):
        engine = ff.StepEngine(step=1e-3) if way == "fixed steps" else ff.EventEngine()
        if way == "jax":
            monkeypatch.setattr(engines, "pair_for", lambda plan: None)
        run = ff.simulate(system, state, ff.Plan(duration, sample_rate=20.0, engine=engine))
        return run.outcome, run.ending.t, run.ending.jumps
    lanes = jax.tree.map(lambda v: np.array([v]), state)
    plan = BatchPlan(duration, step=1e-3) if way == "batch" else BatchPlan(duration, rtol=1e-8)
    columns = run_batch(system, lanes, plan).columns
    return (
        ff.Outcome(int(columns["outcome"][0])),
        float(columns["t_end"][0]),
        int(columns["jumps"][0]),
    )


DROPPED = Ball.begin(Height(x=1.25, v=0.0))  # lands at 0.5 s with 5 m/s


@pytest.mark.parametrize("way", WAYS)
def test_a_ball_that_nothing_holds_after_its_impact_is_told_so(way, monkeypatch):
    """With restitution 0 it used to fall on through the floor, to the end, with closed books."""
    outcome, t, _ = ending(way, Ball(restitution=0.0), DROPPED, 3.0, monkeypatch)
    assert outcome is ff.Outcome.not_held
    assert t == pytest.approx(0.5, abs=1e-9)  # a parabola: exact for every method


class Resting(Ball):
    """It stays where its impact left it: a mode in which the floor holds it."""

    def flow(self, t, x, m):
        falls = jnp.where(m.n == 0, -self.gravity, 0.0)
        return Rates(Height(x=x.v, v=falls + 0.0 * x.v), NoPower(none=0.0 * x.v))

    def guards(self, t, x, m):
        return (x.x,)  # at zero for ever


class RestingElsewhere(Resting):
    """The same; while it rests there is no such event."""

    def guards(self, t, x, m):
        return (only_while(m.n == 0, x.x),)


class Marker(Resting):
    """Its event counts only, and its guard goes on below zero: nothing was stopped."""

    def jump(self, t, x, m, k):
        return Jump(x, Count(n=m.n + 1))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", [Resting, RestingElsewhere, Marker])
def test_what_is_held_or_only_counted_is_no_fault(kind, way, monkeypatch):
    if kind is not RestingElsewhere and way not in ("kernel", "batch"):
        pytest.skip("the rule is one; two ways of asking it are enough")
    outcome, t, _ = ending(way, kind(restitution=0.0), DROPPED, 1.0, monkeypatch)
    assert (outcome, t) == (ff.Outcome.reached_end, 1.0)


class HardFriction(Ball):
    """A block pushed by 0.1 N per kg; friction by `sign`, without a mode that sticks."""

    def flow(self, t, x, m):
        force = 0.1 - 5.0 * jnp.sign(x.v)
        return Rates(Height(x=x.v, v=force), NoPower(none=force * x.v))

    def guards(self, t, x, m):
        return (1.0 + 0.0 * x.v,)

    def stores(self, t, x, m):
        return BallStores(kinetic=0.5 * x.v**2, gravity=0.0 * x.x)


@pytest.mark.parametrize("way", ["kernel", "jax", "batch by tolerances"])
def test_friction_by_sign_does_not_creep_for_ever(way, monkeypatch):
    """It stops at 1 / 4.9 s. With fixed steps there is nothing to creep."""
    sliding = Ball.begin(Height(x=0.0, v=1.0))
    outcome, t, _ = ending(way, HardFriction(), sliding, 1.0, monkeypatch)
    by_lanes = way == "batch by tolerances"
    assert outcome is (ff.Outcome.diverged if by_lanes else ff.Outcome.chattering)
    assert t == pytest.approx(1 / 4.9, abs=1e-5)  # it has crept a little by then


def test_a_stiff_robot_is_no_chattering_one():
    """Its steps are short because a damper of 5e9 / s is fast, and shrink nothing else."""

    class Damped(HardFriction):
        def flow(self, t, x, m):
            force = 0.1 - 5e9 * x.v
            return Rates(Height(x=x.v, v=force), NoPower(none=force * x.v))

    begin = Ball.begin(Height(x=0.0, v=1.0))
    run = ff.simulate(Damped(), begin, ff.Plan(1e-5, sample_rate=None))
    assert run.outcome is ff.Outcome.reached_end
    assert run.ending.tried > 8000  # it was looked at


class Stance(eqx.Module):
    on: int = signal(doc="1 in stance")
    n: int = signal(doc="touchdowns")


class Runner(AbstractToy):
    """A leg whose spring is 5 mm longer in stance than it lands with: it pulls at first.

    In the mode that has no such event its guards are 1, a number that means nothing.
    """

    other: float = eqx.field(static=True, default=1.0)

    @staticmethod
    def begin(x):
        return HybridState(x, Stance(on=np.int32(0), n=np.int32(0)))

    @property
    def events(self):
        return (Event("touchdown", "lands"), Event("liftoff", "leaves"))

    def flow(self, t, x, m):
        force = jnp.where(m.on == 1, 400.0 * (0.995 - x.x), 0.0)
        return Rates(Height(x=x.v, v=force - 10.0), NoPower(none=force * x.v))

    def guards(self, t, x, m):
        return (
            jnp.where(m.on == 0, x.x - 1.0, self.other),
            jnp.where(m.on == 1, 0.995 - x.x, self.other),
        )

    def jump(self, t, x, m, k):
        return Jump(x, Stance(on=jnp.full_like(m.on, 1 - k), n=m.n + (1 - k)))

    def stores(self, t, x, m):
        return BallStores(kinetic=0.5 * x.v**2, gravity=10.0 * x.x)

    def outputs(self, t, x, m):
        return Outputs(value=Value(x=x.x))


def test_check_tells_of_an_event_in_the_instant_of_another():
    """A runner that lifts off as it lands: one forgotten `restarts`."""
    flying = Runner.begin(Height(x=1.2, v=0.0))
    said = [c for c in examine_system(Runner(), flying).checks if c.claim == "happens at once"]
    assert {c.ok for c in said} == {None}
    assert '"liftoff" in the instant of "touchdown"' in said[0].detail
    assert 'restarts=("liftoff",)' in said[0].detail
    absent = Runner(other=float("inf"))
    found = examine_system(absent, flying)
    assert not [c for c in found.checks if c.claim == "happens at once"]
    assert all(c.ok for c in found.checks if c.claim == "guards are finite at the start")


@pytest.mark.parametrize("way", WAYS)
def test_an_event_that_the_mode_has_not_is_unarmed_where_it_appears(way, monkeypatch):
    """+inf used to be a divergence; here liftoff appears below zero, and waits.

    A stance of force 400 (0.995 - x) - 10 from x = 1 with v = -2 (fallen from 1.2 m) is back at
    0.995 as cos and sin say.
    """
    flying = Runner.begin(Height(x=1.2, v=0.0))
    w, middle = 20.0, 0.995 - 10.0 / 400.0
    size, phase = np.hypot(1.0 - middle, 2.0 / w), np.arctan2(2.0 / w, 1.0 - middle)
    stance = (2 * np.pi - np.arccos((0.995 - middle) / size) - phase) / w
    first = 0.2 + stance
    leaving = w * np.sqrt(size**2 - (0.995 - middle) ** 2)
    again = first + (leaving + np.sqrt(leaving**2 - 2 * 10.0 * 0.005)) / 10.0
    runner, end = Runner(other=float("inf")), round(again + 0.02, 3)
    outcome, t, jumps = ending(way, runner, flying, end, monkeypatch)
    assert (outcome, t, jumps) == (ff.Outcome.reached_end, pytest.approx(end), 3)
    if way == "kernel":
        run = ff.simulate(runner, flying, ff.Plan(end, sample_rate=None))
        assert [event.name for event in run.events] == ["touchdown", "liftoff", "touchdown"]
        # default tolerance, two arcs
        assert [e.t for e in run.events] == pytest.approx([0.2, first, again], abs=1e-7)


class Bare(AbstractToy):
    """A robot without ports and without work at jumps; it counts its steps, and hops on."""

    class None_(eqx.Module):
        pass

    @property
    def events(self):
        return (Event("liftoff", "called so, and no force"),)

    def flow(self, t, x, m):
        return Rates(Height(x=x.v, v=0.0 * x.v), Bare.None_())

    def guards(self, t, x, m):
        return (1.0 + m.n - x.x,)

    def jump(self, t, x, m, k):
        return Jump(x, Count(n=m.n + 1))

    def stores(self, t, x, m):
        return Bare.None_()

    def travel(self):
        return Travel("value.x", ("n",), 10.0, ())


def test_a_robot_without_ports_can_be_checked_run_and_swept():
    begin = Bare.begin(Height(x=0.0, v=1.0))
    assert examine_system(Bare(), begin).ok
    run = ff.simulate(Bare(), begin, ff.Plan(3.5, sample_rate=20.0))
    assert [e.name for e in run.events] == ["liftoff"] * 3
    assert run.least_pushes == {}  # the name says nothing
    lanes = jax.tree.map(lambda v: np.array([v, v]), begin)
    assert list(run_batch(Bare(), lanes, BatchPlan(3.5, step=1e-2)).columns["jumps"]) == [3, 3]
