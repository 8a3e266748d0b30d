"""What every batch of the step engine may be relied on for, shown on systems whose answers are
known. XLA and the C++ kernel alike.
"""

import numpy as np
import pytest

from footfall import HybridState, Outcome, SimPlan, simulate
from footfall.engines.lanes import batch
from footfall.engines.lanes.batch import run_batch
from footfall.engines.lanes.batch_plan import BatchPlan
from support.batches import (
    Fading,
    ForcedBall,
    Paid,
    Poison,
    Pushed,
    Ticks,
    curves,
    leaning,
    same_bits,
    ticking_wheel,
)
from support.toys import Ball, Clockwork, Count, Height, Heights, ManyBalls, PerBall, Scalar1

PATHS = ("xla", "cpp")


@pytest.fixture(scope="module", params=PATHS)
def path(request):
    return request.param


def ball(heights, restitution):
    return Ball(restitution=np.array(restitution)), Ball.begin(Height(x=np.array(heights), v=0.0))


# --- which events happen, and when ----------------------------------------------------------------

#: Each case: guards as (roots, scale); the order of events ("1|2": rounding decides); time of the
#: first a (or None); of the first b.
CASES = {
    "falls once and stays below": ({"a": ([0.3], -1.0)}, "1", 0.3, None),
    "starts below and rises": ({"a": ([0.3], 1.0)}, "", None, None),
    "starts below, has been positive, falls": ({"a": ([0.3, 0.8], -1.0)}, "1", 0.8, None),
    "starts at zero, rising": ({"a": ([0.0, 0.45], -1.0)}, "1", 0.45, None),
    # The diary's first a is not set: it is still to come (test_guards_at_zero.py).
    "starts at zero, falling": ({"a": ([0.0], -1.0)}, "1", 0.0, None),
    "starts at zero, rising, back within the step": ({"a": ([0.0, 0.1], -1.0)}, "1", 0.1, None),
    "zero for ever": ({"a": ([], 0.0)}, "", None, None),
    "dips below zero and back inside a step": ({"a": ([0.55, 0.7], 1.0)}, "1", 0.55, None),
    "dips twice": ({"a": ([0.1, 0.2], 1.0), "b": ([0.55, 0.7], 1.0)}, "12", 0.1, 0.55),
    "touches a step's end": ({"a": ([0.5], -1.0)}, "1", 0.5, None),
    "b before a in one step": ({"a": ([0.62], -1.0), "b": ([0.55], -1.0)}, "21", 0.62, 0.55),
    "a just before b": ({"a": ([0.55], -1.0), "b": ([0.55 + 1e-9], -1.0)}, "12", 0.55, 0.55 + 1e-9),
    "both at once": ({"a": ([0.6], -1.0), "b": ([0.6], -1.0)}, "12", 0.6, 0.6),
    "both at once, other shapes": (
        {"a": ([0.6, -1.0], -1.0), "b": ([0.6, -0.3, 1.7], 3.0)},
        "12|21",
        0.6,
        0.6,
    ),
    "both at once at a step's end": ({"a": ([0.5], -1.0), "b": ([0.5], -1.0)}, "12", 0.5, 0.5),
    "a dip of b before a": ({"a": ([0.7], -1.0), "b": ([0.55, 0.6], 1.0)}, "21", 0.7, 0.55),
    "a pushes b below zero": (
        {"a": ([0.3], -1.0), "b": ([2.0], -0.1), "push_a": -1.0},
        "12",
        0.3,
        0.3,
    ),
    "a at the very end pushes b": (
        {"a": ([1.0], -1.0), "b": ([2.0], -0.1), "push_a": -1.0},
        "12",
        1.0,
        1.0,
    ),
    "a lifts b before it can fall": (
        {"a": ([0.6], -1.0), "b": ([0.62], -1.0), "push_a": 1.0},
        "1",
        0.6,
        None,
    ),
    "c restarts b, so its push is no event": (
        {"c0": 0.3, "b": ([2.0], -0.1), "push_c": -1.0},
        "3",
        None,
        None,
    ),
    "c restarts b, which counts again once positive": (
        {"c0": 0.3, "b": ([0.35, 0.9], -1.0)},
        "32",
        None,
        0.9,
    ),
}


@pytest.mark.parametrize("steps", [4, 5, 40])
def test_each_event_happens_when_it_is_due_and_in_order(path, steps):
    """A cubic guard is its own Hermite cubic, and x = t is integrated exactly.

    Only rounding is left.
    """
    system, start = curves([case for case, *_ in CASES.values()])
    result = run_batch(system, start, BatchPlan(1.0, step=1.0 / steps, path=path))
    diary = result.end.m
    for lane, (name, (_, order, first_a, first_b)) in enumerate(CASES.items()):
        orders = order.split("|")
        assert f"{int(diary.order[lane]) or ''}" in orders, name
        assert result.columns["jumps"][lane] == len(orders[0]), name
        for found, expected in ((diary.first_a[lane], first_a), (diary.first_b[lane], first_b)):
            # 32 roundings of a step in the search; at a zero with a flat slope (none here is
            # flatter than 0.05) 20 times that
            assert found == pytest.approx(-1.0 if expected is None else expected, abs=1e-11), name
        assert result.columns["outcome"][lane] == Outcome.reached_end


def falls_of(roots, scale):
    """Times at which a cubic that is armed by being positive falls to zero."""
    edges = np.concatenate([[0.0], np.sort(roots), [1.0]])
    middles = 0.5 * (edges[1:] + edges[:-1])
    positive = scale * np.prod(middles[:, None] - np.asarray(roots)[None, :], axis=1) > 0
    return [edges[n + 1] for n in range(len(positive) - 1) if positive[n] and not positive[n + 1]]


def test_no_crossing_of_random_cubics_is_lost_or_doubled(path):
    """Roots anywhere, but a hump or dip between two of them not narrower than a step; seeded, so
    the same every time.
    """
    random, cases, expected = np.random.default_rng(3), [], []
    while len(cases) < 500:
        guards = {}
        for letter in "ab":
            roots = np.sort(random.uniform(0.0, 1.0, random.integers(1, 4)))
            if np.any(np.diff(roots) < 0.051):
                roots = roots[:1]
            guards[letter] = (roots, random.choice([-1.0, 1.0]) * 10.0 ** random.uniform(-3, 3))
        if len(cases) % 5 == 0:
            guards["b"] = (guards["a"][0], 2.5 * guards["a"][1])  # every crossing shared
        cases.append(guards)
        expected.append([falls_of(*guards[letter]) for letter in "ab"])
    system, start = curves(cases)
    diary = run_batch(system, start, BatchPlan(1.0, step=0.05, path=path)).end.m
    for lane, (a, b) in enumerate(expected):
        assert (diary.a[lane], diary.b[lane]) == (len(a), len(b)), cases[lane]
        for found, times in ((diary.last_a[lane], a), (diary.last_b[lane], b)):
            # slopes at roots at least 0.05^2 of the scale, values rounded to 1e-16 of it
            assert found == pytest.approx(times[-1] if times else -1.0, abs=1e-11), cases[lane]


def test_simultaneous_guards_fire_eleven_times_each(path):
    """Eleven crossings of each of two equal guards:

    11 + 11, not 11 + 0, and not the two arming each other for ever.
    """
    system = Clockwork(curve=both_cosines)
    for step in (0.05, 0.3, 0.7):
        result = run_batch(
            system, Clockwork.begin(Scalar1(x=np.zeros(1))), BatchPlan(21.0, step=step, path=path)
        )
        assert result.columns["outcome"][0] == Outcome.reached_end and result.end.m.n[0] == 22, step


def both_cosines(s):
    import jax.numpy as jnp

    return (jnp.cos(np.pi * s), 3.0 * jnp.cos(np.pi * s))


# --- balls ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def heights():
    return np.linspace(0.3, 1.0, 9)


@pytest.mark.parametrize("step", [0.3, 0.1, 0.01])
def test_a_ball_is_where_the_closed_form_says_however_long_the_step(path, heights, step):
    """Elastic: between bounces x = v0 s - g s^2 / 2, s the time since the last of them.

    Parabolas leave only rounding, 1e-15 a bounce.
    """
    system, start = ball(heights, np.ones(9))
    result = run_batch(system, start, BatchPlan(3.0, step=step, path=path))
    first = np.sqrt(2 * heights / 10.0)
    bounces = np.floor((3.0 / first + 1.0) / 2.0)
    since = 3.0 - first * (2 * bounces - 1)
    np.testing.assert_array_equal(result.columns["jumps"], bounces)
    np.testing.assert_allclose(result.end.x.x, 10.0 * first * since - 5.0 * since**2, atol=1e-12)
    assert result.columns["relative_residual"].max() < 1e-13


def test_bounces_that_die_away_are_called_zeno_not_let_through_the_floor(path):
    """Several bounces inside one step; then more than can be told apart.

    The ball stays on the floor either way.
    """
    restitution = np.array([0.9, 0.8, 0.5, 0.3, 0.1])
    for step in (0.3, 0.1, 0.05, 0.01):
        system, start = ball(np.ones(5), restitution)
        result = run_batch(system, start, BatchPlan(3.0, step=step, path=path))
        limit = np.sqrt(0.2) * (1 + 2 * restitution / (1 - restitution))
        dies = limit < 3.0
        np.testing.assert_array_equal(result.columns["outcome"] == Outcome.zeno, dies)
        # 8 bounces in a step are too many: what was left then is at most the geometric rest after
        # them
        assert np.all(limit[dies] - result.columns["t_end"][dies] < 2 * step)
        assert np.all(result.columns["t_end"][dies] <= limit[dies])
        assert np.all(result.end.x.x >= -1e-12)


def test_a_floor_that_is_located_roughly_still_holds(path):
    """Where guards are no cubics a bounce is located to the method's error, and the last flights
    are lower than that.
    """
    restitution = np.array([0.95, 0.8, 0.5, 0.3])
    for step in (0.05, 0.01, 0.0025):
        system, start = ForcedBall(restitution=restitution), Ball.begin(Height(x=np.ones(4), v=0.0))
        result = run_batch(system, start, BatchPlan(3.0, step=step, path=path))
        # fourth derivative of the height at most 10 x 0.9 x 40^2, over 384, times h^4: one
        # location; a few add up before Zeno
        assert np.all(result.end.x.x >= -50 * (14400 / 384 * step**4 + 1e-14)), step
        assert np.all(np.isin(result.columns["outcome"], (Outcome.reached_end, Outcome.zeno)))
        assert np.all(result.columns["outcome"][2:] == Outcome.zeno)


@pytest.mark.parametrize("wanted", ["cpp", "xla"])
def test_like_legs_that_land_together_bounce_once_each(wanted):
    """Twelve balls, four landing times, many shared; the floor of one is no event of another."""
    heights = np.repeat(np.array([0.05, 0.2, 0.45, 0.2] * 3)[:, None], 2, axis=1)
    start = HybridState(
        Heights(x=heights, v=0.0 * heights), PerBall(n=np.zeros(heights.shape, np.int32))
    )
    for step in (0.13, 0.01):
        result = run_batch(ManyBalls(), start, BatchPlan(1.95, step=step, path=wanted))
        np.testing.assert_array_equal(result.columns["outcome"], Outcome.reached_end)
        np.testing.assert_array_equal(result.end.m.n[:, 0], np.tile([10, 5, 3, 5], 3))
        assert result.columns["relative_residual"].max() < 1e-12  # parabolas: rounding


def test_more_jumps_than_allowed_end_the_lane(path, heights):
    system, start = ball(heights, np.ones(9))
    result = run_batch(system, start, BatchPlan(3.0, step=0.1, path=path, max_jumps=3))
    np.testing.assert_array_equal(result.columns["outcome"], Outcome.too_many_jumps)
    np.testing.assert_array_equal(result.columns["jumps"], 3)
    # The third bounce, by parabola.
    np.testing.assert_allclose(result.columns["t_end"], 5 * np.sqrt(0.2 * heights), atol=1e-12)


# --- lanes do not touch each other ----------------------------------------------------------------


@pytest.mark.as_compiled
@pytest.mark.parametrize("lanes", [1, 7, 8, 9, 16])
def test_a_lane_does_not_depend_on_its_neighbours_nor_on_the_size_of_the_batch(path, lanes):
    random = np.random.default_rng(1)
    height, restitution = random.uniform(0.3, 1.0, 33), random.uniform(0.3, 1.0, 33)
    plan = BatchPlan(2.0, step=0.05, path=path)
    whole = run_batch(*ball(height, restitution), plan)
    part = run_batch(*ball(height[:lanes], restitution[:lanes]), plan)
    same_bits(part, whole, lanes)
    backwards = run_batch(*ball(height[::-1], restitution[::-1]), plan)
    np.testing.assert_array_equal(backwards.end.x.x[::-1], whole.end.x.x)


def test_where_calls_end_changes_no_bit(path, monkeypatch):
    """A batch goes in several calls of its kernel, whether anybody listens or not."""
    system, start = ball(np.linspace(0.3, 1.0, 9), np.linspace(0.5, 1.0, 9))
    plan = BatchPlan(2.0, step=0.05, path=path)
    whole, heard = run_batch(system, start, plan), []
    for steps in (1, 3, 11):
        monkeypatch.setattr(batch, "STEPS_PER_CALL", dict.fromkeys(batch.STEPS_PER_CALL, 9 * steps))
        same_bits(run_batch(system, start, plan, progress=heard.append), whole)
    assert heard[-1] == 1.0 and len(heard) >= 40 and heard[:40] == sorted(heard[:40])


@pytest.fixture(scope="module")
def poisoned(path):
    """Lanes that go bad in the flow, the guard, the jump and the tick, with good ones between."""
    bad = {"flow_from": 0.33, "guard_from": 0.33, "jump_from": 0.33, "tick_from": 0.33}
    columns = {name: np.full(9, 1e3) for name in bad}
    for lane, (name, value) in enumerate(bad.items()):
        columns[name][2 * lane + 1] = value
    plan = BatchPlan(1.0, step=0.05, path=path)
    return run_batch(Poison(**columns), Poison.start(9), plan), run_batch(
        Poison(**{name: np.full(9, 1e3) for name in bad}), Poison.start(9), plan
    )


@pytest.mark.parametrize(
    ("lane", "least", "most"),
    [
        (1, 0.3, 0.35),  # flow and guard: a step of 0.05 that looks beyond 0.33 is not taken
        (3, 0.3, 0.35),
        (5, 0.43, 0.43),  # the jump at 0.43
        (7, 0.4, 0.4),  # the first tick after 0.33
    ],
)
def test_a_lane_that_stops_being_a_number_is_frozen_at_its_last_finite_state(
    poisoned, lane, least, most
):
    result, _ = poisoned
    assert result.columns["outcome"][lane] == Outcome.diverged
    assert least - 1e-12 <= result.columns["t_end"][lane] <= most + 1e-12
    # x = t: finite, and of that time.
    assert result.end.x.x[lane] == pytest.approx(result.columns["t_end"][lane], abs=1e-12)


def test_the_other_lanes_do_not_notice_a_bad_one(poisoned):
    result, healthy = poisoned
    for lane in (0, 2, 4, 6, 8):
        for name in result.columns:
            assert result.columns[name][lane] == healthy.columns[name][lane], name
        assert result.end.x.x[lane] == healthy.end.x.x[lane]


def test_a_start_that_is_not_finite_is_an_outcome_at_time_zero(path):
    system, start = ball([1.0, np.nan, np.inf, 0.5], np.ones(4))
    result = run_batch(system, start, BatchPlan(1.0, step=0.1, path=path))
    np.testing.assert_array_equal(result.columns["outcome"], [1, 7, 7, 1])
    np.testing.assert_array_equal(result.columns["t_end"], [1.0, 0.0, 0.0, 1.0])


# --- clocks ---------------------------------------------------------------------------------------


def test_two_clocks_tick_at_zero_and_at_every_period(poisoned):
    _, healthy = poisoned
    np.testing.assert_array_equal(healthy.end.m.n, 11)  # 0, 0.1, ..., 1.0
    np.testing.assert_array_equal(healthy.end.m.slow, 5)  # 0, 0.25, ..., 1.0
    np.testing.assert_array_equal(healthy.end.m.events, 1)
    np.testing.assert_array_equal(healthy.columns["jumps"], 1)  # ticks are not counted


@pytest.mark.parametrize("duration", [0.5, 0.9, 1.0])
def test_an_event_that_a_tick_makes_due_happens_at_the_tick(path, duration):
    """However steeply the guard rises again, and also at the very end: x starts anew at 0.5."""
    rise = np.array([-1.0, 0.0, 0.1, 1.0, 1.9, 2.1, 50.0])
    start = HybridState(Scalar1(x=np.zeros(7)), Ticks(np.int32(0), np.int32(0), np.int32(0)))
    result = run_batch(Pushed(rise=rise), start, BatchPlan(duration, step=0.05, path=path))
    np.testing.assert_array_equal(result.end.m.events, 1)
    np.testing.assert_array_equal(result.end.m.n, 3 if duration == 1.0 else 2)
    # Twenty additions of 0.05.
    np.testing.assert_allclose(result.end.x.x, duration - 0.5, atol=1e-13)


@pytest.mark.parametrize(
    ("duration", "step", "message"),
    [
        (1.0, 0.003, "does not divide the duration"),
        (1.0, 0.004, r"does not divide the 0.005 s between ticks of control_tick\. Try 0\.0025 s"),
        (1.0, 0.01, r"between ticks of control_tick\. Try 0\.005 s"),
    ],
)
def test_a_step_that_does_not_fit_is_refused_with_one_that_does(duration, step, message):
    experiment = ticking_wheel()
    with pytest.raises(ValueError, match=message):
        run_batch(experiment.system, experiment.start, BatchPlan(duration, step=step, path="xla"))


# --- against the event engine ---------------------------------------------------------------------


def test_lanes_that_end_do_so_where_the_event_engine_says():
    """Rocking back, lifting off and walking on, in one batch: outcome, time and state of each."""
    experiment, pitches = ticking_wheel(), np.array([0.1, 0.3, 0.6, 1.2, 2.5])
    plan = BatchPlan(2.0, step=6.25e-4, path="cpp", track=("motor.torque",))
    result = run_batch(leaning(experiment, pitches), experiment.start, plan)
    assert len(set(result.columns["outcome"])) >= 2
    for lane, pitch in enumerate(pitches):
        run = simulate(
            leaning(experiment, float(pitch)),
            experiment.start,
            SimPlan(duration=2.0, rtol=1e-11, atol=1e-12, sample_rate=None),
        )
        assert result.columns["outcome"][lane] == run.outcome
        # 2e-9 after 8 events at this step (tests/laws/test_step_methods.py); leaning far amplifies
        # it a hundredfold
        assert result.columns["t_end"][lane] == pytest.approx(run.ending.t, abs=1e-6)
        for name, value in run.ending.state.items():
            assert getattr(result.end.x, name)[lane] == pytest.approx(value, abs=2e-6), (
                pitch,
                name,
            )


def test_statistics_are_those_of_a_densely_sampled_run_of_the_event_engine():
    experiment = ticking_wheel()
    plan = BatchPlan(
        5.0,
        step=1.25e-3,
        path="cpp",
        track=("motor.torque",),
        sample=("motor.torque", "travel.distance"),
        sample_every=40,
    )
    result = run_batch(leaning(experiment, [0.6]), experiment.start, plan)
    run = simulate(
        experiment.system,
        experiment.start,
        SimPlan(duration=5.0, rtol=1e-10, atol=1e-12, sample_rate=4000.0),
    )
    column = {name: values[0] for name, values in result.columns.items()}
    # from the last touchdown before 2.5 s to the last one: what the columns are said to be
    touchdowns = [e for e in run.events if e.name == "touchdown"]
    begin = [e for e in touchdowns if e.t <= 2.5][-1]
    end = touchdowns[-1]
    time, distance = (
        end.t - begin.t,
        run["travel.distance"][end.row_after] - run["travel.distance"][begin.row_after],
    )
    count = len([e for e in touchdowns if begin.t < e.t <= end.t])
    # state errors of 1e-6 (order 4, this step, 5 s) over 1.6 m and 2.6 s
    assert column["mean_speed"] == pytest.approx(distance / time, rel=3e-6)
    assert column["step_time"] == pytest.approx(time / count, rel=3e-6) and column["steps"] == count
    # held torque over [2.5, 5]: samples at 4 kHz of a signal that is constant between ticks of 200
    # Hz and at most 2.2 N m
    window = run.t >= 2.5
    t, torque = run.t[window], run["motor.torque"][window]
    mean = np.sum(np.diff(t) * 0.5 * (torque[1:] + torque[:-1])) / 2.5
    rms = np.sqrt(np.sum(np.diff(t) * 0.5 * (torque[1:] ** 2 + torque[:-1] ** 2)) / 2.5)
    assert column["motor.torque_mean"] == pytest.approx(mean, rel=1e-4)
    assert column["motor.torque_rms"] == pytest.approx(rms, rel=1e-4)
    assert column["motor.torque_max"] == pytest.approx(torque.max(), rel=1e-4)
    assert column["motor.torque_min"] == pytest.approx(torque.min(), rel=1e-4)
    # motor work over weight and distance, by the ledger's own port
    weight = float(experiment.system.travel().weight)
    assert column["cost_of_transport"] == pytest.approx(
        column["motor_work"] / (weight * column["distance"]), rel=1e-12
    )
    # samples are the trajectory at those times (ticks at the same time: the state after them)
    for row in range(1, len(result.sample_times)):
        last = np.flatnonzero(np.abs(run.t - result.sample_times[row]) < 1e-9)[-1]
        assert result.samples["travel.distance"][row, 0] == pytest.approx(
            run["travel.distance"][last], abs=2e-6
        )
        assert result.samples["motor.torque"][row, 0] == pytest.approx(
            run["motor.torque"][last], abs=5e-5
        )


def test_cost_and_room_agree_with_the_summary_of_a_run():
    """The summary counts from the first footfall after half time, the batch from the last before
    it: a settling gait apart.
    """
    from footfall import summarise

    experiment = ticking_wheel()
    result = run_batch(
        leaning(experiment, [0.6]),
        experiment.start,
        BatchPlan(10.0, step=1.25e-3, path="cpp", track=("motor.torque",)),
    )
    run = simulate(
        experiment.system,
        experiment.start,
        SimPlan(duration=10.0, rtol=1e-9, atol=1e-11, sample_rate=1000.0),
    )
    metrics, column = (
        summarise(run).metrics,
        {name: values[0] for name, values in result.columns.items()},
    )
    # a step's multiplier is about 0.7: after 19 steps (5 s) 1e-3 of the first step's excess of 0.3
    # is left
    for name in ("mean_speed", "step_time", "cost_of_transport", "mean_power", "step_length"):
        assert column[name] == pytest.approx(metrics[name], rel=5e-4), name
    # At ends of steps: 1.25 ms of a smooth force.
    assert column["least_liftoff"] == pytest.approx(metrics["least_leg_force"], rel=1e-3)


def test_a_robot_that_never_walks_has_no_speed():
    experiment = ticking_wheel()
    result = run_batch(
        leaning(experiment, [0.0, 0.6]),
        experiment.start,
        BatchPlan(2.0, step=2.5e-3, path="cpp", track=("motor.torque",)),
    )
    assert result.columns["outcome"][0] == Outcome.rocked_back
    for name in ("mean_speed", "step_time", "cost_of_transport", "distance"):
        assert np.isnan(result.columns[name][0]) and np.isfinite(result.columns[name][1]), name


def test_ticks_of_the_wheel_are_counted_from_zero():
    experiment = ticking_wheel()
    for step in (5e-3, 2.5e-3, 1.25e-3):
        result = run_batch(
            leaning(experiment, [0.6]),
            experiment.start,
            BatchPlan(1.0, step=step, path="cpp", track=("motor.torque",)),
        )
        assert result.end.m.ticks[0] == 201


# --- what is asked for ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"method": "rk5"}, 'method = "rk5".*Did you mean "rk4"'),
        ({"precision": "float16"}, 'precision = "float16"'),
        ({"path": "cuda"}, 'path = "cuda" is not an option. Known: auto, gpu, cpp, xla'),
        ({"duration": 0.0}, "duration = 0"),
        ({"step": np.nan}, "step = nan"),
        ({"step": 2.0}, "longer than the duration"),
        ({"settle": 1.0}, "settle = 1"),
        ({"max_jumps": 0}, "max_jumps = 0"),
        ({"sample": ("value.x",)}, "give both or neither"),
        ({"sample": ("value.x",), "sample_every": 0}, "at least 1"),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused(change, message):
    with pytest.raises(ValueError, match=message):
        BatchPlan(**{"duration": 1.0, "step": 0.1, **change})


def test_a_batch_that_makes_no_sense_is_refused():
    plan = BatchPlan(1.0, step=0.1, path="xla")
    with pytest.raises(ValueError, match=r"arrays of lengths \[2, 3\]"):
        run_batch(*ball(np.ones(2), np.ones(3)), plan)
    with pytest.raises(ValueError, match="at least one robot"):
        run_batch(*ball(np.ones(0), np.ones(0)), plan)
    with pytest.raises(ValueError, match=r'"value.y" is not an output.*Did you mean "value.x"'):
        run_batch(
            *ball(np.ones(2), np.ones(2)), BatchPlan(1.0, step=0.1, path="xla", track=("value.y",))
        )
    with pytest.raises(ValueError, match="JAX sees no GPU here"):
        run_batch(*ball(np.ones(2), np.ones(2)), BatchPlan(1.0, step=0.1, path="gpu"))


def test_numbers_for_all_and_numbers_for_each_give_the_same(path):
    shared = run_batch(
        Ball(restitution=0.8),
        Ball.begin(Height(x=np.full(3, 0.7), v=0.0)),
        BatchPlan(2.0, step=0.05, path=path),
    )
    each = run_batch(*ball([0.7] * 3, [0.8] * 3), BatchPlan(2.0, step=0.05, path=path))
    np.testing.assert_allclose(shared.end.x.x, each.end.x.x, rtol=1e-14)
    assert len(shared.columns["outcome"]) == 3


def test_a_lane_that_has_ended_stays_where_it_is_while_time_goes_on_beside_it(path):
    """Its flow is not a number later; neither the end by an event nor the one by divergence may be
    overwritten.
    """
    system = Fading(until=np.array([0.5, 0.33, 9.0]), stop=np.array([0.2, 1e3, 1e3]))
    start = HybridState(Scalar1(x=np.zeros(3)), Count(n=np.zeros(3, np.int32)))
    result = run_batch(system, start, BatchPlan(1.0, step=0.05, path=path))
    assert [Outcome(o).name for o in result.columns["outcome"]] == [
        "rocked_back",
        "diverged",
        "reached_end",
    ]
    assert np.isfinite(result.end.x.x).all()
    # The step's own error, (0.05)^5 times a few hundred.
    assert result.end.x.x[0] == pytest.approx(0.2, abs=1e-5)
    assert 0.25 <= result.columns["t_end"][1] <= 0.35


def test_a_guard_that_rises_through_zero_with_another_that_falls_does_not_fire(path):
    """Shared roots on the grid of steps.

    What is left of the step moves nothing, and a guard leaving zero is not one reaching it.
    """
    draw = np.random.default_rng(5)
    roots = draw.integers(2, 19, 500) / 20
    cases = [{"a": ([r], draw.uniform(0.01, 2)), "b": ([r], -draw.uniform(0.01, 2))} for r in roots]
    system, start = curves(cases)
    result = run_batch(system, start, BatchPlan(1.0, step=0.05, path=path))
    assert np.all(result.columns["outcome"] == Outcome.reached_end)
    assert np.all(result.end.m.a == 0) and np.all(result.end.m.b == 1)


@pytest.mark.parametrize("per_call", [1, 7])
def test_where_calls_end_changes_no_bit_of_a_flow_that_depends_on_time(path, per_call, monkeypatch):
    system, start = (
        ForcedBall(restitution=np.linspace(0.5, 0.9, 9)),
        Ball.begin(Height(x=np.linspace(0.5, 1.0, 9), v=0.0)),
    )
    whole = run_batch(system, start, BatchPlan(1.0, step=0.01, path=path))
    monkeypatch.setattr(batch, "STEPS_PER_CALL", dict.fromkeys(batch.STEPS_PER_CALL, per_call * 9))
    same_bits(whole, run_batch(system, start, BatchPlan(1.0, step=0.01, path=path)))


def test_metrics_of_walking_are_for_robots_that_reach_the_end_and_steps_for_those_that_step(path):
    """Pitch 0.3 rocks back.

    With the settling time at the start, speed is over the window from there; a part of a step is no
    step.
    """
    system, start = leaning(ticking_wheel(), [0.3, 0.6]), ticking_wheel().start
    columns = run_batch(system, start, BatchPlan(3.0, step=2.5e-3, settle=0.0, path=path)).columns
    assert Outcome(columns["outcome"][0]) is Outcome.rocked_back
    assert np.isnan(columns["mean_speed"][0]) and np.isfinite(columns["mean_speed"][1])
    assert np.isnan(columns["step_time"]).all() and np.isnan(columns["step_length"]).all()
    settled = run_batch(system, start, BatchPlan(3.0, step=2.5e-3, settle=1.5, path=path)).columns
    assert settled["step_time"][1] == pytest.approx(0.26, abs=0.02)  # 0.2623 s once settled


def test_the_work_of_ticks_and_of_events_is_in_the_books(path):
    """Ticks at 0, 0.5 and 1.0 (a tick due at the end happens), one event at 0.5: 3 J + 2 J."""
    start = HybridState(Scalar1(x=np.zeros(3)), Ticks(*(np.zeros(3, np.int32) for _ in range(3))))
    result = run_batch(Paid(), start, BatchPlan(1.0, step=0.05, path=path))
    assert np.all(result.end.m.n == 3) and np.all(result.end.m.events == 1)
    assert np.all(result.columns["jump_work"] == 5.0)
