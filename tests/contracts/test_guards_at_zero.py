"""A guard that is at zero.

Whether it is reaching it or leaving it, at the start and after a jump. Both engines alike.
"""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

from footfall import HybridState, Outcome, SimPlan, load, simulate
from footfall.engines.events.solvers import solver_by_name
from footfall.engines.lanes.batch import run_batch
from footfall.engines.lanes.batch_plan import BatchPlan
from footfall.engines.plan import FixedSteps
from footfall.hybrid.fields import param
from footfall.hybrid.system import Event, Jump, Rates
from support.toys import AbstractToy, Clockwork, Count, NoPower, NoWork, Scalar1


class Ending(AbstractToy):
    """x(t) = t. Guard `change` is 0.3 - x; guard `end` is a cubic.

    From the start (`after` = 0), or only after the change, 1 before.
    """

    c0: float = param(0.0, doc="guard")
    c1: float = param(0.0, doc="guard")
    c2: float = param(0.0, doc="guard")
    c3: float = param(0.0, doc="guard")
    after: float = param(0.0, doc="whether the cubic begins with the change, and its x with it")

    @property
    def events(self):
        return (Event("change", "at 0.3"), Event("end", "the cubic is at zero", Outcome.fell))

    def flow(self, t, x, m):
        return Rates(Scalar1(x=1.0 + 0.0 * x.x), NoPower(none=0.0 * x.x))

    def guards(self, t, x, m):
        s = x.x - 0.3 * self.after
        cubic = self.c0 + s * (self.c1 + s * (self.c2 + s * self.c3))
        return (0.3 - x.x, jnp.where((self.after > 0) & (m.n == 0), 1.0, cubic))

    def jump(self, t, x, m, k):
        return Jump(x, Count(n=m.n + 1), NoWork(none=0.0 * x.x))


#: The cubic of the ending guard, and when it ends the run. What starts at zero and rises ends it at
#: its next zero.
AT_START = {
    "below zero": ([-0.2, 0.0, 0.0, 0.0], 0.0),
    "below zero and rising": ([-0.2, 1.0, 0.0, 0.0], 0.0),
    "at zero and falling": ([0.0, -1.0, 0.0, 0.0], 0.0),
    "at zero, at rest, then falling": ([0.0, 0.0, -1.0, 0.0], 0.0),
    "at zero and rising": ([0.0, 0.5, -1.0, 0.0], 0.5),
    "at zero, at rest, then rising": ([0.0, 0.0, 0.5, -1.0], 0.5),
    "below zero by rounding, and rising": ([-1e-17, 0.5, -1.0, 0.0], 0.5),
    "below zero by rounding, at rest, then rising": ([-1e-17, 0.0, 0.5, -1.0], 0.5),
    "at zero for ever": ([0.0, 0.0, 0.0, 0.0], None),
    "below zero by rounding, for ever": ([-1e-17, 0.0, 0.0, 0.0], None),
    "below zero and positive within a millisecond": ([-1e-4, 1.0, 0.0, 0.0], 0.0),
    "above zero": ([0.4, -1.0, 0.0, 0.0], 0.4),
}
AFTER_A_JUMP = {
    "left at zero and rising": ([0.0, 0.5, -1.0, 0.0], 0.8),
    "left at zero and falling": ([0.0, -0.5, 0.0, 0.0], 0.3),
    "pushed below zero and rising": ([-0.1, 1.0, 0.0, 0.0], 0.3),
}
CASES = {**AT_START, **AFTER_A_JUMP}


def toy(names):
    rows = np.array([CASES[name][0] for name in names])
    after = np.array([float(name in AFTER_A_JUMP) for name in names])
    return Ending(*rows.T, after)


def assert_ends(name, outcome, t):
    due = CASES[name][1]
    assert outcome is (Outcome.reached_end if due is None else Outcome.fell), name
    # x = t is exact, and a cubic is its own Hermite cubic: rounding over slopes of 0.25 and more
    assert t == pytest.approx(1.0 if due is None else due, abs=1e-12) and t >= 0.0, name


@pytest.mark.parametrize("name", CASES)
def test_the_event_engine_ends_a_run_where_its_guard_has_no_room(name):
    system = toy([name])
    one = Ending(*(float(v[0]) for v in (system.c0, system.c1, system.c2, system.c3, system.after)))
    run = simulate(
        one, Clockwork.begin(Scalar1(x=0.0)), SimPlan(duration=1.0, sample_rate=None, max_step=0.13)
    )
    assert_ends(name, run.outcome, run.ending.t)
    assert run.ending.event == (None if CASES[name][1] is None else "end")


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_the_step_engine_ends_a_lane_where_its_guard_has_no_room(precision):
    start = HybridState(Scalar1(x=np.zeros(len(CASES))), Count(n=np.int32(0)))
    columns = run_batch(
        toy(CASES), start, BatchPlan(1.0, step=0.05, path="xla", precision=precision)
    ).columns
    for name, outcome, t in zip(CASES, columns["outcome"], columns["t_end"], strict=True):
        if precision == "float64":
            assert_ends(name, Outcome(outcome), t)
        else:  # twenty roundings of x, over a slope of 0.25
            assert t == pytest.approx(
                1.0 if CASES[name][1] is None else CASES[name][1], abs=20 * 1.2e-7 / 0.25
            ), name


class Meeting(Ending):
    """The cubic begins with the change; before it the guard of the end falls to zero in the same
    instant.
    """

    def guards(self, t, x, m):
        change, cubic = super().guards(t, x, m)
        return (change, jnp.where(m.n == 0, change, cubic))


def test_a_guard_at_zero_before_a_jump_that_leaves_it_rising_has_had_its_event():
    """It got to zero itself, in the same instant.

    Unlike one that had room, and that the jump put there.
    """
    parts = (0.0, 0.5, -1.0, 0.0, 1.0)
    plan = SimPlan(duration=1.0, sample_rate=None, max_step=0.13)
    run = simulate(Meeting(*parts), Clockwork.begin(Scalar1(x=0.0)), plan)
    assert [event.name for event in run.events] == ["change", "end"]  # ties go in declared order
    assert (run.outcome, run.ending.t) == (Outcome.fell, pytest.approx(0.3, abs=1e-12))
    lanes = HybridState(Scalar1(x=np.zeros(1)), Count(n=np.int32(0)))
    batch = run_batch(Meeting(*parts), lanes, BatchPlan(1.0, step=0.05, path="xla")).columns
    assert (Outcome(batch["outcome"][0]), batch["t_end"][0]) == (
        Outcome.fell,
        pytest.approx(0.3, abs=1e-12),
    )


class Bent(AbstractToy):
    """x falls by 1 m/s from 0.3 m.

    The guard has `left` at the start, less than a rounding of x, and flattens out within `scale`.
    """

    left: float = param(1e-17, doc="guard at the start")
    scale: float = param(1e-4, doc="where the guard flattens out")

    @property
    def events(self):
        return (Event("bend", "the guard is at zero"),)

    def flow(self, t, x, m):
        return Rates(Scalar1(x=0.0 * x.x - 1.0), NoPower(none=0.0 * x.x))

    def guards(self, t, x, m):
        return (self.left + self.scale * jnp.tanh((x.x - 0.3) / self.scale),)

    def jump(self, t, x, m, k):
        return Jump(Scalar1(x=x.x + 1.0), Count(n=m.n + 1), NoWork(none=0.0 * x.x))


def test_no_event_is_before_the_step_in_which_it_was_seen():
    """The chord of the guard looks too far, x is rounded by more than the guard has left, and
    Newton steps back before the start.
    """
    plan = SimPlan(duration=0.1, sample_rate=None, max_step=0.013)
    for left in (0.5e-17, 1e-17, 2e-17):
        for scale in np.geomspace(1e-6, 1e-2, 25):
            run = simulate(
                Bent(left=left, scale=float(scale)), Clockwork.begin(Scalar1(x=0.3)), plan
            )
            assert len(run.events) == 1 and 0.0 <= run.events[0].t < 1e-12, (left, scale)


#: What each start violates, seen by attack: before, the first ran to "arrived", the others for
#: milliseconds or for ever.
# The same program.
STARTS = [
    ("two-leg-single-step", ["feet=free", "torque_limit=0.15"], Outcome.overloaded, "overload"),
    (
        "two-leg-single-step",
        ["feet=free", "torque_limit=9", "gait.speed=0.3"],
        Outcome.tipped_over,
        "tip",
    ),
    ("rimless-wheel", ["start.spoke_speed=1.5"], Outcome.lifted_off, "liftoff"),
    ("rimless-wheel-turning", ["start.roll=0.1"], Outcome.lifted_off, "liftoff_left"),
    ("rimless-wheel-turning", ["start.roll=-0.1"], Outcome.lifted_off, "liftoff_right"),
]


@pytest.mark.parametrize(("scenario", "settings", "outcome", "event"), STARTS)
def test_a_start_that_its_robot_cannot_hold_ends_at_once(scenario, settings, outcome, event):
    experiment = load(scenario, settings)
    plans = [experiment.plan]
    if scenario != "two-leg-single-step":  # a plan is not stepped
        plans.append(dataclasses.replace(experiment.plan, duration=0.1, fixed=FixedSteps(2e-3)))
    for plan in plans:
        run = simulate(experiment.system, experiment.start, plan)
        assert (run.outcome, run.ending.event, run.ending.t) == (outcome, event, 0.0)
        # Nothing happened, and the books say so.
        assert len(run.t) and np.all(run.t == 0.0) and run.verdict.sound


def test_a_spoke_of_any_damping_starts_to_carry_its_load():
    """At the start its force is zero and rises at c g; an explicit look of a microsecond ahead is
    longer than m/c = 7 ns, and saw it pull.
    """
    run = load("rimless-wheel", ["leg.damping=1e9"], duration=1e-6).run()
    assert run.outcome is Outcome.reached_end
    assert run["spoke.force"][-1] > 0


class Restarting(Ending):
    """Its change restarts its ending."""

    @property
    def events(self):
        change, ending = super().events
        return (change._replace(restarts=("end",)), ending)


@pytest.mark.parametrize(
    ("c0", "c1", "c2"), [(-1e-3, -0.1, 0.5), (0.0, -0.1, 0.0), (-1e-17, 0.0, -1.0)]
)
def test_an_ending_guard_that_another_event_restarts_waits_at_the_start_unless_it_is_at_zero(
    c0, c1, c2
):
    """A return map begins just after a footfall, where the spoke that left reaches into the ground.

    That is no rocking back.
    """
    run = simulate(
        Restarting(c0, c1, c2, 0.0, 0.0),
        Clockwork.begin(Scalar1(x=0.0)),
        SimPlan(duration=0.25, sample_rate=None, max_step=0.13),
    )
    lanes = HybridState(Scalar1(x=np.zeros(1)), Count(n=np.int32(0)))
    batch = run_batch(
        Restarting(c0, c1, c2, 0.0, 0.0), lanes, BatchPlan(0.25, step=0.05, path="xla")
    ).columns
    expected = (Outcome.reached_end, 0.25) if c0 == -1e-3 else (Outcome.fell, 0.0)
    assert (run.outcome, run.ending.t) == expected
    assert (Outcome(batch["outcome"][0]), batch["t_end"][0]) == expected


class Passing(AbstractToy):
    """x(t) = x0 - t. At x = 0 it only counts, or it goes back up by `up`; again at x = -0.5."""

    up: float = param(0.0, doc="how far the event lifts x")

    @property
    def events(self):
        return (Event("pass", "x is at zero"), Event("lower", "x is at -0.5"))

    def flow(self, t, x, m):
        return Rates(Scalar1(x=0.0 * x.x - 1.0), NoPower(none=0.0 * x.x))

    def guards(self, t, x, m):
        return (x.x, x.x + 0.5)

    def jump(self, t, x, m, k):
        up = self.up if k == 0 else 0.0
        return Jump(Scalar1(x=x.x + up), Count(n=m.n + 1), NoWork(none=0.0 * x.x))


#: Start, how far the event lifts, and the events of a second. Within what it falls by in a
#: microsecond a guard is at zero, on either side.
PASSES = {
    "just after an event that only marks it": (0.0, 0.0, [0.5]),
    "the same by eight digits, below": (-3e-8, 0.0, [0.5 - 3e-8]),
    "the same by eight digits, above": (3e-8, 0.0, [0.5 + 3e-8]),
    "above by more than a microsecond": (3e-6, 0.0, [3e-6, 0.500003]),
    "at an event that leads away": (0.0, 0.25, [0.0, 0.25, 0.5, 0.75]),
    "below by eight digits, at an event that leads away": (-3e-8, 0.25, None),
}


@pytest.mark.parametrize("name", PASSES)
def test_a_start_just_after_an_event_has_had_it_where_its_jump_leaves_the_guard_falling(name):
    x, up, times = PASSES[name]
    system, start = Passing(up), Clockwork.begin(Scalar1(x=x))
    for solver in ("dopri5", "rk4"):  # by a kernel, and by XLA
        how = {"step": 0.01} if solver == "rk4" else {}
        plan = SimPlan(duration=0.9, sample_rate=None, solver=solver_by_name(solver), **how)
        run = simulate(system, start, plan)
        seen = [event.t for event in run.events]
        if times is None:  # it fires, and the next comes a lift later
            times = [0.0, 0.25 - 3e-8, 0.5 - 3e-8, 0.75 - 3e-8]
        assert seen == pytest.approx(times, abs=1e-12), solver


@pytest.mark.parametrize("how", [{"step": 0.01}, {"rtol": 1e-9}])
def test_batches_take_such_starts_alike(how):
    rows = list(PASSES.values())
    start = HybridState(Scalar1(x=np.array([row[0] for row in rows])), Count(n=np.int32(0)))
    system = Passing(np.array([row[1] for row in rows]))
    found = run_batch(system, start, BatchPlan(0.9, path="xla", **how)).columns
    assert list(found["jumps"]) == [1, 1, 1, 2, 4, 4]
