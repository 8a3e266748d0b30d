"""What every run of the event engine may be relied on for, shown on systems whose answers are
known.
"""

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from footfall import HybridState, Outcome, SimPlan, simulate
from footfall.engines import simulate as simulate_module
from footfall.engines.analysis.return_map import to_section
from footfall.engines.events import recorder as recorder_module
from footfall.hybrid.fields import param, signal
from footfall.hybrid.system import Event, Jump, Rates
from support.toys import (
    AbstractToy,
    Ball,
    Clocks,
    Clockwork,
    Computer,
    Count,
    Curve,
    Explosion,
    Height,
    Heights,
    ManyBalls,
    NoPower,
    NoWork,
    PerBall,
    Scalar1,
    Ticking,
)


@pytest.fixture(autouse=True, params=["kernel", "xla"])
def through(request, monkeypatch):
    """Both ways to make a run: one contract."""
    if request.param == "xla":
        monkeypatch.setenv("FOOTFALL_CXX", "none")
    return request.param


QUIET = SimPlan(duration=2.0, sample_rate=None)
ONE_STEP = SimPlan(duration=1.0, sample_rate=None, max_step=1.0, step=1.0)


def clocked(*curves, plan):
    return simulate(Clocks.of(*curves), Clocks.begin(Scalar1(x=0.0)), plan)


def ball_from(height, **parameters):
    return Ball(**parameters), Ball.begin(Height(x=height, v=0.0))


def bounce_times(height, gravity, restitution, count):
    first = np.sqrt(2 * height / gravity)
    flights = 2 * first * restitution ** np.arange(1, count)
    return first + np.concatenate([[0.0], np.cumsum(flights)])


@pytest.mark.parametrize(
    "solver",
    [
        diffrax.Dopri8(),
        diffrax.Tsit5(),
        diffrax.Kvaerno5(root_finder=diffrax.VeryChord(1e-8, 1e-10)),
    ],
)
def test_bounces_happen_when_the_closed_form_says(solver):
    system, start = ball_from(1.0, restitution=0.8)
    run = simulate(system, start, SimPlan(duration=2.0, sample_rate=None, solver=solver))
    expected = bounce_times(1.0, 10.0, 0.8, len(run.events))
    assert len(run.events) == 3
    # A parabola is integrated exactly by every one of these solvers, so only locating the event can
    # err.
    np.testing.assert_allclose([e.t for e in run.events], expected, atol=1e-12)


def test_guard_over_its_rate_is_below_a_picosecond_at_every_event():
    system, start = ball_from(0.7, restitution=0.9)
    run = simulate(system, start, QUIET)
    rows = [e.row_before for e in run.events]
    assert len(rows) >= 3
    assert np.max(np.abs(run["x"][rows] / run["v"][rows])) <= 1e-12


def test_events_are_as_sharp_after_an_hour_as_after_a_second():
    """The step's own clock starts at zero, so the size of t does not blur an event."""
    run = clocked(
        Curve(c0=0.5, wave=1.0), plan=SimPlan(duration=4000.0, sample_rate=None, max_step=0.5)
    )
    late = run.events[-1]
    x = run["x"][late.row_before]
    assert late.t > 3900
    room, rate = np.sin(np.pi * x) + 0.5, np.pi * np.cos(np.pi * x)
    assert abs(room / rate) <= 1e-12


def test_the_earliest_of_several_guards_wins_not_the_first_listed():
    """In one long step guard 0 reaches zero at 0.9, guard 1 at 0.5 and guard 2 (in thousands) at
    0.7.
    """
    plan = SimPlan(duration=1.0, sample_rate=None, max_step=1.0)
    run = clocked(Curve(0.9, -1.0), Curve(0.5, -1.0), Curve(700.0, -1e3), plan=plan)
    assert [e.name for e in run.events] == ["e1", "e2", "e0"]
    np.testing.assert_allclose([e.t for e in run.events], [0.5, 0.7, 0.9], atol=1e-12)


def test_simultaneous_events_all_happen_in_declared_order():
    """Eleven crossings of each of two equal guards: 11 + 11, not 11 + 0."""
    cosine = Curve(c0=0.0, wave=1.0, phase=np.pi / 2)
    run = clocked(cosine, cosine, plan=SimPlan(duration=21.0, sample_rate=None))
    names = [e.name for e in run.events]
    assert names.count("e0") == 11 and names.count("e1") == 11
    assert names[:4] == ["e0", "e1", "e0", "e1"]
    times = np.array([e.t for e in run.events]).reshape(11, 2)
    np.testing.assert_allclose(times[:, 0], 0.5 + 2 * np.arange(11), atol=1e-11)
    np.testing.assert_allclose(times[:, 0], times[:, 1], atol=1e-12)


@pytest.mark.parametrize("width", [1.05 / 16, 0.1, 0.3])
@pytest.mark.parametrize("centre", [0.2, 0.5, 0.81])
def test_a_dip_inside_one_step_is_found_when_wider_than_a_sixteenth(width, centre):
    """The guard is positive at both ends of the only step, flat outside the dip, and negative for
    `width` of it.
    """
    # Zero at centre +- width/2.
    run = clocked(Curve(dip=2.0, centre=centre, half=0.5 * width), plan=ONE_STEP)
    assert len(run.events) == 1
    assert abs(run.events[0].t - (centre - width / 2)) <= 1e-12


def test_a_dip_before_another_guards_crossing_in_the_same_step_comes_first():
    run = clocked(Curve(0.95, -1.0), Curve(dip=2.0, centre=0.4, half=0.06), plan=ONE_STEP)
    assert [e.name for e in run.events] == ["e1", "e0"]
    np.testing.assert_allclose([e.t for e in run.events], [0.34, 0.95], atol=1e-12)


@pytest.mark.parametrize(
    ("curve", "expected"),
    [
        (Curve(-0.3, 1.0), []),  # starts below zero and only rises: never armed while falling
        (
            Curve(-0.24, 1.1, -1.0),
            [0.8],
        ),  # (x - 0.3) (0.8 - x): starts below, arms at 0.3, fires at 0.8
        (Curve(0.0, 0.5, -1.0), [0.5]),  # exactly zero and rising: waits
        (Curve(0.0, -1.0), []),  # exactly zero and falling, a moment that is marked: just been
        (Curve(0.0), []),  # zero for ever: never
    ],
)
def test_a_guard_at_or_below_zero_at_the_start_waits_until_it_has_been_positive(curve, expected):
    run = clocked(curve, plan=SimPlan(duration=1.0, sample_rate=None, max_step=0.13))
    np.testing.assert_allclose([e.t for e in run.events], expected, atol=1e-12)


def test_a_guard_over_like_legs_gives_an_event_per_leg():
    heights = np.array([0.05, 0.2, 0.45, 0.2])
    start = HybridState(Heights(x=heights, v=np.zeros(4)), PerBall(n=np.zeros(4, np.int32)))
    # More events than one chunk holds.
    run = simulate(ManyBalls(), start, SimPlan(duration=20.0, sample_rate=None))
    for leg, height in enumerate(heights):
        expected = bounce_times(height, 10.0, 1.0, 200)
        times = [e.t for e in run.events if e.leg == leg]
        expected = expected[expected < 20.0]
        assert len(times) == len(expected)
        # Up to a hundred bounces, each to 1e-12.
        np.testing.assert_allclose(times, expected, atol=1e-10)
    assert run["n.1"][-1] == run["n.3"][-1]
    assert run.ledger.relative_residual < 1e-12  # a parabola: rounding only


def test_no_bounce_is_lost_whatever_the_heights_and_the_step():
    """Balls that land together, almost together and apart, with long and short steps; seeded, so
    the same every time.
    """
    random = np.random.default_rng(0)
    for case in range(60):
        heights, gravity = random.uniform(0.01, 1.0, 4), random.uniform(5.0, 15.0)
        if case % 3 == 0:
            heights[1], heights[3] = heights[0], 9 * heights[0]  # every third landing shared
        if case % 5 == 0:
            heights = 0.05 * np.array([1.0, 4.0, 9.0, 16.0])
        if case % 7 == 0:
            heights[2] = heights[1] * (1 + 1e-14)  # apart by less than events are located to
        start = HybridState(Heights(x=heights, v=np.zeros(4)), PerBall(n=np.zeros(4, np.int32)))
        plan = SimPlan(
            duration=2.0, sample_rate=None, max_step=float(random.choice([0.01, 0.1, 0.5, 2.0]))
        )
        run = simulate(ManyBalls(gravity=gravity), start, plan)
        for leg, height in enumerate(heights):
            first = np.sqrt(2 * height / gravity)
            expected = np.arange(first, 2.0, 2 * first)
            times = [e.t for e in run.events if e.leg == leg]
            assert len(times) == len(expected), (case, leg)
            # Up to twenty bounces, each to 1e-12, adding up.
            np.testing.assert_allclose(times, expected, atol=1e-10)


class Swing(eqx.Module):
    x: float = signal(unit="m", doc="position")
    v: float = signal(unit="m/s", doc="speed", rate_of="x")


class Oscillator(AbstractToy):
    """x = cos(10 t) and a guard x + level.

    It dips below zero once a period, for a time that `level` sets.
    """

    level: float = param(0.99, doc="how much of the swing is allowed")

    @property
    def events(self):
        return (Event("dip", "the swing is too wide"),)

    def flow(self, t, x, m):
        return Rates(Swing(x=x.v, v=-100.0 * x.x), NoPower(none=0.0 * x.x))

    def guards(self, t, x, m):
        return (x.x + self.level,)

    def jump(self, t, x, m, k):
        return Jump(x, Count(n=m.n + 1), NoWork(none=0.0 * x.x))


# Error bounds: local error a step, times the steps in 12.56 s, over the guard's rate 10 sin(phase)
# at the crossing.
@pytest.mark.parametrize(
    ("level", "plan", "bound"),
    [
        # negative for 0.127 of a step of one radian, whose ninth-order error is about 1/9! = 3e-6:
        # 3e-6 x 126 / 0.63
        (0.998, SimPlan(duration=12.56, sample_rate=None, step=0.1), 6e-4),
        (
            0.99,
            SimPlan(duration=12.56, sample_rate=None, rtol=1e-4, atol=1e-6),
            7e-3,
        ),  # 1e-4 x 100 / 1.4
        (0.99, SimPlan(duration=12.56, sample_rate=None), 2e-6),  # 1e-8 x 300 / 1.4
    ],
)
def test_dips_of_a_curved_motion_are_found_in_long_steps(level, plan, bound):
    """Where the state itself bends within a step, a cubic between its ends is not enough to see
    by.
    """
    run = simulate(Oscillator(level=level), Oscillator.begin(Swing(x=1.0, v=0.0)), plan)
    first = np.arccos(-level) / 10.0
    expected = first + 2 * np.pi / 10.0 * np.arange(20)
    assert len(run.events) == 20
    np.testing.assert_allclose([e.t for e in run.events], expected, atol=bound)


def test_a_guard_that_rises_and_falls_within_the_step_of_another_event_is_not_lost():
    """B arms at 0.3, A fires at 0.5 and pushes B below zero:

    B's event is due at once, however long the step.
    """

    class Pushed(Clockwork):
        def guards(self, t, x, m):
            return (0.5 - x.x, jnp.where(m.n > 0, -1.0, x.x - 0.3))

    for step in (0.05, 0.25, 1.0):
        plan = SimPlan(duration=1.0, sample_rate=None, max_step=1.0, step=step)
        system = Pushed(curve=lambda s: (s, s))
        run = simulate(system, Clockwork.begin(Scalar1(x=0.0)), plan)
        assert [e.name for e in run.events] == ["e0", "e1"], step


def test_events_due_at_the_very_end_still_happen():
    class Twice(Clockwork):
        def guards(self, t, x, m):
            return (1.0 - t, jnp.where(m.n > 0, -1.0, 1.0) + 0.0 * x.x)

    run = simulate(
        Twice(curve=lambda s: (s, s)),
        Clockwork.begin(Scalar1(x=0.0)),
        SimPlan(duration=1.0, sample_rate=None, step=0.25),
    )
    assert [e.name for e in run.events] == ["e0", "e1"]
    assert run.outcome is Outcome.reached_end and run.ending.t == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("ulps", [1, 3])
def test_a_run_that_ends_a_hair_after_an_event_ends(ulps):
    """What is left of the run is a step too small to be cut further.

    That is the end, not a Zeno point.
    """
    end = 0.6 + ulps * np.spacing(0.6)
    run = clocked(Curve(0.6, -1.0), plan=SimPlan(duration=end, sample_rate=None))
    assert [e.name for e in run.events] == ["e0"]
    assert run.outcome is Outcome.reached_end and run.ending.t == end


def test_a_guard_that_is_not_a_number_is_an_outcome():
    system = Clockwork(curve=lambda s: (jnp.sqrt(0.3 - s) + 1.0,))
    run = simulate(system, Clockwork.begin(Scalar1(x=0.0)), SimPlan(duration=1.0, sample_rate=None))
    assert run.outcome is Outcome.diverged and run.ending.t == pytest.approx(0.3, abs=1e-6)


def test_derivatives_of_the_end_know_when_the_last_event_was():
    """Between events and the end the flight's length depends on the event:

    x(T) after one bounce, by the closed form.
    """

    def end(height):
        return to_section(
            Ball(restitution=0.8),
            Ball.begin(Height(x=height, v=0.0)),
            "bounce",
            SimPlan(duration=0.8),
            count=9,
        ).x.x

    def exact(height):
        first = jnp.sqrt(2 * height / 10.0)
        return 0.8 * jnp.sqrt(20 * height) * (0.8 - first) - 5.0 * (0.8 - first) ** 2

    value, slope = jax.jvp(end, (0.9,), (1.0,))
    expected, expected_slope = jax.jvp(exact, (0.9,), (1.0,))
    assert float(value) == pytest.approx(float(expected), rel=1e-12)
    assert float(slope) == pytest.approx(float(expected_slope), rel=1e-9)


def test_a_section_counts_the_event_and_the_leg_it_was_asked_for():
    heights = np.array([0.05, 0.2, 0.45, 0.2])
    start = HybridState(Heights(x=heights, v=np.zeros(4)), PerBall(n=np.zeros(4, np.int32)))
    section = to_section(ManyBalls(), start, "bounce", SimPlan(duration=5.0), count=2, leg=2)
    assert float(section.t) == pytest.approx(3 * np.sqrt(2 * 0.45 / 10.0), abs=1e-11)
    with pytest.raises(ValueError, match="has no leg 4"):
        to_section(ManyBalls(), start, "bounce", leg=4)


def test_control_ticks_are_jumps_and_land_on_the_microsecond():
    start = HybridState(Scalar1(x=0.0), Computer(n=np.int32(0), command=0.0, next_tick=0.01))
    run = simulate(Ticking(), start, SimPlan(duration=0.105, sample_rate=None))
    np.testing.assert_allclose([e.t for e in run.events], 0.01 * np.arange(1, 11), atol=1e-13)
    # x = 0.01 (0 + 1 + ... + 9) + 0.005 * 10: the command held between ticks
    assert run["x"][-1] == pytest.approx(0.5, abs=1e-12)


def test_bouncing_without_end_is_called_zeno_and_says_when():
    system, start = ball_from(1.0, restitution=0.5)
    run = simulate(system, start, SimPlan(duration=10.0, sample_rate=None))
    assert run.outcome is Outcome.zeno
    limit = np.sqrt(0.2) * (1 + 2 * 0.5 / (1 - 0.5))  # the geometric series of flights
    assert run.ending.t == pytest.approx(limit, abs=1e-6)
    assert "zeno" in run.ending.sentence


def test_more_jumps_than_allowed_end_the_run():
    system, start = ball_from(1.0, restitution=1.0)
    run = simulate(system, start, SimPlan(duration=100.0, sample_rate=None, max_jumps=5))
    assert run.outcome is Outcome.too_many_jumps and run.ending.jumps == 5 and len(run.events) == 5


def test_divergence_is_an_outcome_with_a_time_not_a_nan():
    run = simulate(
        Explosion(), Explosion.begin(Scalar1(x=1.0)), SimPlan(duration=5.0, sample_rate=50.0)
    )
    assert run.outcome is Outcome.diverged
    assert run.ending.t == pytest.approx(1.0, abs=1e-6)  # the solution is 1 / (1 - t)
    assert np.all(np.isfinite(run["x"])) and run.ending.state["x"] > 1e5


def test_a_start_that_is_not_finite_is_an_outcome_too():
    run = simulate(Explosion(), Explosion.begin(Scalar1(x=np.nan)), QUIET)
    assert run.outcome is Outcome.diverged and run.ending.t == 0.0


def test_an_event_with_an_outcome_ends_the_run_there():
    system = Clockwork(curve=lambda s: (0.4 - s, 0.7 - s), ends=(None, Outcome.fell))
    run = simulate(system, Clockwork.begin(Scalar1(x=0.0)), SimPlan(duration=1.0, sample_rate=10.0))
    assert run.outcome is Outcome.fell and run.ending.event == "e1"
    assert run.ending.t == pytest.approx(0.7, abs=1e-12)
    assert run.ending.jumps == 1 and run.t[-1] == run.ending.t


def test_samples_come_at_the_asked_rate_with_both_sides_of_every_jump():
    system, start = ball_from(1.0, restitution=0.6)
    run = simulate(system, start, SimPlan(duration=1.0, sample_rate=50.0))
    sides = {row for e in run.events for row in (e.row_before, e.row_after)}
    samples = np.array([row for row in range(len(run.t)) if row not in sides])
    np.testing.assert_allclose(run.t[samples], np.arange(51) / 50.0, atol=1e-15)
    assert np.all(np.diff(run.t) >= 0) and np.all(np.diff(run.j) >= 0)
    for i, event in enumerate(run.events):
        assert (run.j[event.row_before], run.j[event.row_after]) == (i, i + 1)
        assert run["v"][event.row_after] == pytest.approx(
            -0.6 * run["v"][event.row_before], rel=1e-12
        )
        assert run.t[event.row_before] == run.t[event.row_after] == event.t
    first = run.t < run.events[0].t
    # On the interpolant.
    np.testing.assert_allclose(run["x"][first], 1.0 - 5.0 * run.t[first] ** 2, atol=1e-12)


def test_a_constant_step_keeps_its_order_across_events():
    """Heun on a ball with drag-free flight is exact; on a stiffer curve its order must survive the
    bounces: 4 times less error.
    """

    class Spring(Ball):
        def flow(self, t, x, m):
            rates = super().flow(t, x, m)
            return rates._replace(x=Height(x=x.v, v=-self.gravity - 40.0 * x.x))

    def end(step):
        plan = SimPlan(duration=1.0, sample_rate=None, solver=diffrax.Heun(), step=step)
        return simulate(
            Spring(restitution=0.9), Ball.begin(Height(x=1.0, v=0.0)), plan
        ).ending.state["x"]

    fine = simulate(
        Spring(restitution=0.9),
        Ball.begin(Height(x=1.0, v=0.0)),
        SimPlan(duration=1.0, sample_rate=None, rtol=1e-12, atol=1e-13),
    ).ending.state["x"]
    coarse, half = abs(end(2e-3) - fine), abs(end(1e-3) - fine)
    assert 3.0 < coarse / half < 5.0  # second order: 4, up to higher terms


def test_forward_derivatives_through_bounces_are_exact():
    """After n bounces the speed is r^n sqrt(2 g h).

    Its derivative with respect to h and r is known.
    """

    def speed(height, restitution):
        section = to_section(
            Ball(restitution=restitution),
            Ball.begin(Height(x=height, v=0.0)),
            "bounce",
            QUIET,
            count=3,
        )
        return section.x.v, section.t

    (v, t), (dv_dh, dt_dh) = jax.tree.map(float, jax.jvp(lambda h: speed(h, 0.8), (0.9,), (1.0,)))
    _, (dv_dr, _) = jax.tree.map(float, jax.jvp(lambda r: speed(0.9, r), (0.8,), (1.0,)))
    assert v == pytest.approx(0.8**3 * np.sqrt(2 * 10 * 0.9), rel=1e-12)
    assert dv_dh == pytest.approx(0.5 * v / 0.9, rel=1e-10)
    assert dt_dh == pytest.approx(0.5 * t / 0.9, rel=1e-10)
    assert dv_dr == pytest.approx(3 * v / 0.8, rel=1e-10)


def test_new_values_compile_nothing():
    system, start = ball_from(1.0)
    simulate(system, start, SimPlan(duration=0.5, sample_rate=100.0))
    sizes = [
        f._cache_size()
        for f in (simulate_module._start, simulate_module._advance, recorder_module.observe)
    ]
    for height, duration, rtol in ((0.5, 0.7, 1e-8), (2, 1.5, 1e-6), (1.5, 0.2, 1e-9)):
        system, start = ball_from(height, restitution=0.3 + 0.1 * height, gravity=int(9 + height))
        simulate(system, start, SimPlan(duration=duration, sample_rate=70.0, rtol=rtol))
    assert sizes == [
        f._cache_size()
        for f in (simulate_module._start, simulate_module._advance, recorder_module.observe)
    ]


def test_interrupting_keeps_what_was_computed():
    system, start = ball_from(1.0, restitution=1.0)

    def press_control_c(t, jumps):
        if jumps > 100:
            raise KeyboardInterrupt

    run = simulate(system, start, SimPlan(duration=1e9, sample_rate=None), progress=press_control_c)
    assert run.outcome is Outcome.interrupted
    assert len(run.events) == run.ending.jumps > 100
    assert run.t[-1] == pytest.approx(run.ending.t)
    assert run.ledger.relative_residual < 1e-9


def test_the_ledger_closes_over_inelastic_bounces():
    system, start = ball_from(1.0, restitution=0.7)
    run = simulate(system, start, QUIET)
    speeds = np.sqrt(20.0) * 0.7 ** np.arange(len(run.events))
    lost = np.sum(0.5 * speeds**2 * (1 - 0.7**2))
    assert run.ledger.jump_losses["impact"] == pytest.approx(lost, rel=1e-12)
    assert run.ledger.relative_residual < 1e-13  # a parabola: rounding only


def test_a_plan_that_makes_no_sense_is_refused():
    for bad in (
        {"duration": 0.0},
        {"rtol": -1.0},
        {"sample_rate": np.inf},
        {"solver": diffrax.Euler()},
        {"settle": 20.0},
        {"max_jumps": 0},
    ):
        with pytest.raises(
            ValueError, match=next(iter(bad)) if "solver" not in bad else "constant `step`"
        ):
            SimPlan(**bad)
