"""Every design of a sweep has a step that suits it.

What a batch says of a stiff robot is what the event engine says of it alone.
"""

import dataclasses
import math

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest

import footfall as ff
from footfall.engines.lanes import checked_batch
from footfall.engines.lanes.batch import BatchResult, run_batch
from footfall.engines.lanes.batch_inputs import prepared
from footfall.engines.lanes.batch_plan import BatchPlan
from footfall.engines.lanes.checked_batch import run_checked
from footfall.engines.lanes.stable_step import above_reach, spectral_radius
from footfall.engines.lanes.step_ladder import StepLadder, choose_steps, differences
from footfall.engines.stability_limit import limit_of, spectrum
from footfall.hybrid.fields import param
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.system import Event, HybridState, Jump, Rates
from footfall.record.verdict import verdict_words
from support.batches import leaning, wheel
from support.toys import AbstractToy, Ball, Height, NoPower, NoWork, Scalar1

STIFF = [
    {"controller.derivative": [0.5, 1.0, 20.0, 100.0]},
    {
        "leg.damping": [400.0, 20000.0, 100000.0, 100000.0],
        "torso.pitch_setpoint": [0.6, 0.6, 0.8, 1.0],
    },
]


class Forced(AbstractToy):
    """x' = cos(frequency t) - stiffness x, stiff only around t = 1 s.

    Neither at the start nor at the end of two seconds.
    """

    frequency: float = param(1.0, unit="rad/s", doc="of what drives it")
    stiffness: float = param(0.0, unit="1/s", doc="at t = 1 s")

    @property
    def events(self):
        return (Event("never", "there is always room"),)

    def flow(self, t, x, m):
        rate = self.stiffness * jnp.exp(-(((t - 1.0) / 0.1) ** 2))
        return Rates(Scalar1(x=jnp.cos(self.frequency * t) - rate * x.x), NoPower(none=0.0 * x.x))

    def guards(self, t, x, m):
        return (1.0 + 0.0 * x.x,)

    def jump(self, t, x, m, k):
        return Jump(x, m, NoWork(none=0.0 * x.x))

    @classmethod
    def lanes(cls, **values):
        values = {name: np.asarray(value, float) for name, value in values.items()}
        return cls(**values), cls.begin(Scalar1(x=np.zeros(len(next(iter(values.values()))))))


class Spring(AbstractToy):
    """x'' = -stiffness x."""

    stiffness: float = param(1.0, unit="1/s^2", doc="per mass")

    @property
    def events(self):
        return (Event("never", "there is always room"),)

    def flow(self, t, x, m):
        return Rates(Height(x=x.v, v=-self.stiffness * x.x), NoPower(none=0.0 * x.x))

    def guards(self, t, x, m):
        return (1.0 + 0.0 * x.x,)

    def jump(self, t, x, m, k):
        return Jump(x, m, NoWork(none=0.0 * x.x))


@pytest.mark.parametrize("designs", STIFF, ids=["derivative", "damping"])
def test_stiff_designs_walk_in_a_sweep_as_they_do_alone(designs):
    """At one step for all, accurate for the first of them, the stiff ones blew up within 0.13 s and
    were called rocked_back and lifted_off.
    """
    found = ff.rollout(ff.load("rimless-wheel"), designs=designs)
    assert (
        found.outcome.values.tolist() == ["reached_end"] * 4
        and found.verdict.values.tolist() == ["sound"] * 4
    )
    assert (
        len(set(found.time_step.values.tolist())) > 1
        and found.time_step.values[0] > 10 * found.time_step.values[-1]
    )
    for row in (2, 3):
        settings = [f"{key}={values[row]!r}" for key, values in designs.items()]
        alone = ff.load("rimless-wheel", settings)
        run = ff.simulate(alone.system, alone.start, alone.plan)
        assert run.outcome is Outcome.reached_end
        # Steps are chosen for a state error of 1e-5.
        assert found.mean_speed.values[row] == pytest.approx(
            ff.summarise(run).metrics["mean_speed"], rel=1e-5
        )


def test_a_given_step_is_kept_and_doubted_where_it_is_unstable():
    found = ff.rollout(
        ff.load("rimless-wheel"), designs={"controller.derivative": [1.0, 20.0]}, step="5 ms"
    )
    assert found.time_step.values.tolist() == [0.005, 0.005]
    assert found.verdict.values[0] == "sound" and "step_unstable" in found.verdict.values[1].split(
        ", "
    )


def test_a_design_too_stiff_for_any_step_worth_taking_is_said_to_be_so():
    """Damping 1e9 decays at 1.6e8 1/s:

    10 s would take 6e8 steps. The other design is none the worse for it.
    """
    found = ff.rollout(ff.load("rimless-wheel"), designs={"leg.damping": [400.0, 1e9]})
    assert found.verdict.values[0] == "sound" and found.time_step.values[0] >= 1e-3
    assert "step_unstable" in found.verdict.values[1].split(", ")


def test_the_step_of_a_design_follows_from_its_own_numbers_and_the_ladder():
    experiment = wheel("rimless-wheel", "leg.damping=20000")
    ladder = StepLadder(0.01, ((0, 3), (5, 6)), deepest=9, error=1e-6, time=5.0, probes=4)
    plan = BatchPlan(1.0, path="cpp")
    many = run_checked(leaning(experiment, [0.6, 0.7, 0.8]), experiment.start, plan, ladder)
    one = run_checked(leaning(experiment, [0.7]), experiment.start, plan, ladder)
    for name, values in one.columns.items():
        assert values.tobytes() == np.ascontiguousarray(many.columns[name][1:2]).tobytes(), name
    assert ladder.levels_of(np.array([0, 1, 4, 5, 7, 20])).tolist() == [3, 3, 4, 6, 7, 9]
    assert StepLadder.from_dict(ladder.to_dict()) == ladder


def test_a_result_that_half_the_step_overturns_is_run_again_with_it(monkeypatch):
    """Stiff spokes on a ladder that does not know of it, 10 ms.

    They blow up. Halved up to four times they walk.
    """
    experiment = wheel("rimless-wheel", "leg.damping=3000")
    coarse = run_batch(experiment.system, experiment.start, BatchPlan(2.0, step=0.01, path="cpp"))
    assert coarse.columns["outcome"][0] != Outcome.reached_end
    monkeypatch.setattr(checked_batch, "rungs_of", lambda *given: np.zeros(1, int))
    ladder = StepLadder(0.01, ((0, 0),), deepest=9, error=1e-6, time=5.0, probes=1)
    found = run_checked(experiment.system, experiment.start, BatchPlan(2.0, path="cpp"), ladder)
    assert found.columns["outcome"][0] == Outcome.reached_end and verdict_words(
        found.doubts, 1
    ).tolist() == ["sound"]
    monkeypatch.setattr(checked_batch, "REPEATS", 1)  # half of it is still too long
    unsettled = run_checked(experiment.system, experiment.start, BatchPlan(2.0, path="cpp"), ladder)
    assert "step_inaccurate" in verdict_words(unsettled.doubts, 1)[0].split(", ")


def test_the_spectral_radius_of_many_matrices_at_once():
    random = np.random.default_rng(1)
    matrices = random.normal(size=(200, 7, 7)) * 10.0 ** random.uniform(-3, 3, size=(200, 7, 1))
    exact = np.array([np.max(np.abs(np.linalg.eigvals(m))) for m in matrices])
    assert np.all(spectral_radius(matrices) >= exact * (1 - 1e-9)) and np.all(
        spectral_radius(matrices) <= 1.02 * exact
    )
    odd = np.array(
        [
            np.zeros((2, 2)),
            [[0.0, 1.0], [0.0, 0.0]],
            [[math.nan, 0.0], [0.0, 1.0]],
            [[1e200, 0.0], [0.0, 1.0]],
        ]
    )
    assert spectral_radius(odd) == pytest.approx([0.0, 0.0, 0.0, 1e200])


@pytest.mark.parametrize(("share", "unstable"), [(0.99, False), (1.01, True)])
def test_a_step_is_unstable_from_the_limit_of_the_method_on(share, unstable):
    """The stiff spoke's damper, a real eigenvalue: rk4 is stable up to h |lambda| = 2.785."""
    experiment = wheel("rimless-wheel", "leg.damping=20000")
    system, state, _ = prepared(experiment.system, experiment.start, "float64")
    value, _ = spectrum(experiment.system, experiment.start).largest
    steps = np.array([share * 2.785 / abs(value)])
    assert above_reach(system, state, 0.0, steps, "rk4").tolist() == [unstable]
    assert above_reach(system, state, 0.0, steps, "linearly-implicit").tolist() == [False]


@pytest.mark.parametrize(
    ("method", "on_a_damper"), [("rk4", 2.785), ("rk2", 2.0), ("semi-implicit-euler", 2.0)]
)
def test_a_lane_and_a_run_have_one_longest_step(method, on_a_damper):
    """A spoke that swings, damped by a tenth.

    The limits are 1.06 times that on a damper, 0.53 and 0.84 times.
    """
    experiment = wheel("rimless-wheel", "leg.stiffness=3e5", "leg.damping=200")
    system, state, _ = prepared(experiment.system, experiment.start, "float64")
    limit, value, _ = limit_of(spectrum(experiment.system, experiment.start), method, 10.0)
    assert value.imag > 100 and abs(limit * abs(value) / on_a_damper - 1) > 0.05
    for share, unstable in ((0.999, False), (1.001, True)):
        assert above_reach(
            system, state, 0.0, np.array([share * limit]), method, 10.0
        ).tolist() == [unstable]


def test_a_loss_that_creates_energy_is_doubted_lane_by_lane():
    start = Ball.begin(Height(x=np.ones(2), v=0.0))
    result = run_batch(
        Ball(restitution=np.array([0.9, 1.0])), start, BatchPlan(1.0, step=0.01, path="xla")
    )
    assert not result.doubts["loss_creates_energy"].any()
    livelier = eqx.tree_at(lambda ball: ball.restitution, Ball(), np.array([0.9, 1.1]))
    result = run_batch(livelier, start, BatchPlan(1.0, step=0.01, path="xla"))
    assert result.doubts["loss_creates_energy"].tolist() == [False, True]
    assert not result.doubts["books_open"].any()  # each bounce says what it adds
    assert verdict_words(result.doubts, 2).tolist() == ["sound", "loss_creates_energy"]


def test_the_step_of_a_scenario_is_where_a_method_of_low_order_begins():
    """Of two oscillators at 100 and 300 rad/s, semi-implicit Euler is stable up to 20 and 6.7 ms.

    Nothing is asked of its accuracy.
    """
    plan = BatchPlan(2.0, method="semi-implicit-euler", first_step=0.01, path="xla")
    spring, start = (
        Spring(stiffness=np.array([1e4, 9e4])),
        Spring.begin(Height(x=np.ones(2), v=0.0)),
    )
    found = run_checked(spring, start, plan)
    assert (
        found.columns["time_step"].tolist() == [0.01, 0.005]
        and verdict_words(found.doubts, 2).tolist() == ["sound"] * 2
    )
    # Order 4 is asked as ever: 0.01 s is one radian at 100 rad/s, far from 1e-5.
    assert choose_steps(spring, start, BatchPlan(2.0, first_step=0.01, path="xla")).levels[0][1] > 2
    assert choose_steps(spring, start, BatchPlan(2.0, first_step=0.016, path="xla")).first == 0.016


def test_stiff_spokes_under_the_control_software_end_as_they_do_at_any_shorter_step():
    """At the scenario's step of 250 us, 1.5 times what is stable for them, they were "lifted_off"
    at the first footfall, and sound.
    """
    experiment = wheel("rimless-wheel-closed-loop", "leg.damping=1e5", "sim.duration=2")
    truth = run_batch(
        experiment.system, experiment.start, BatchPlan(2.0, step=250e-6 / 64, path="cpp")
    )
    found = ff.rollout(experiment, designs={"leg.damping": [1e5]})
    assert (
        found.verdict.values[0] == "sound"
        and found.outcome.values[0] == Outcome(int(truth.columns["outcome"][0])).name
    )
    # What two steps must agree to.
    assert found.t_end.values[0] == pytest.approx(truth.columns["t_end"][0], rel=1e-4)


def test_single_precision_that_is_not_enough_for_a_stiff_design_gives_way_to_double():
    """Below 20 us rounding freezes the stiff spoke:

    9.8 and 4.9 us agree on a speed that is wrong by 0.8 %.
    """
    designs = {"leg.damping": [400.0, 1e5]}
    single = ff.rollout(
        ff.load("rimless-wheel"), designs={"leg.damping": [1e5]}, precision="float32"
    )
    both = ff.rollout(ff.load("rimless-wheel"), designs=designs, precision="float32")
    exact = ff.rollout(ff.load("rimless-wheel"), designs=designs)
    assert {*single.verdict.values, *both.verdict.values, *exact.verdict.values} == {"sound"}
    # Ten times the error that is wanted of single precision, 3e-4: within that two runs agree.
    assert both.mean_speed.values == pytest.approx(exact.mean_speed.values, rel=3e-3)
    assert single.mean_speed.values[0] == pytest.approx(exact.mean_speed.values[1], rel=3e-3)
    assert both.time_step.values[0] == 0.005  # the other is none the slower for it


def test_a_design_on_a_rung_that_no_probe_vouches_for_is_compared_with_half_its_step():
    """The toy driven at 200 rad/s, with 2 rad to a step.

    Its rms is 10 % too large, at half the step 0.7 %, then 0.04 %.
    """
    system, start = Forced.lanes(frequency=[1.0, 200.0])
    plan = BatchPlan(2.0, path="xla", track=("value.x",))
    sure = StepLadder(0.01, ((0, 0),), deepest=9, error=1e-6, time=2.0, probes=2)
    trusted = run_checked(system, start, plan, sure)
    # Of sin(200 t)/200 from 1 to 2 s.
    root_mean_square = math.sqrt(0.5 - (math.sin(800.0) - math.sin(400.0)) / 800.0) / 200.0
    assert trusted.columns["value.x_rms"][1] > 1.05 * root_mean_square and trusted.columns[
        "time_step"
    ].tolist() == [0.01, 0.01]
    for ladder in (
        dataclasses.replace(sure, unsure=(0,)),
        dataclasses.replace(sure, levels=((3, 0),)),
    ):
        found = run_checked(system, start, plan, ladder)
        assert (
            found.columns["time_step"].tolist() == [0.01, 0.0025]
            and verdict_words(found.doubts, 2).tolist() == ["sound"] * 2
        )
        # The share by which two runs may differ.
        assert found.columns["value.x_rms"][1] == pytest.approx(root_mean_square, rel=1e-3)


def test_a_design_that_becomes_stiff_on_the_way_is_seen_at_the_settling_time():
    """h |lambda| is 0 at both ends and 3.0 in the middle, where rk4 is stable up to 2.785."""
    system, start = Forced.lanes(stiffness=[30.0, 300.0])
    given = run_checked(system, start, BatchPlan(2.0, step=0.01, path="xla"))
    assert given.doubts["step_unstable"].tolist() == [False, True]
    ladder = StepLadder(0.01, ((0, 0),), deepest=9, error=1e-6, time=2.0, probes=2)
    found = run_checked(system, start, BatchPlan(2.0, path="xla"), ladder)
    assert (
        found.columns["time_step"].tolist() == [0.01, 0.005]
        and verdict_words(found.doubts, 2).tolist() == ["sound"] * 2
    )


@pytest.mark.parametrize(("fast", "finer"), [(1, False), (3, True)])
def test_nine_tenths_of_the_probes_decide_on_the_step(fast, finer):
    """One probe of twenty that no such step can follow is left to be run again; three of them are
    more than a tenth.
    """
    frequency = np.where(np.arange(20) < 20 - fast, 1.0, 1000.0)
    ladder = choose_steps(*Forced.lanes(frequency=frequency), BatchPlan(2.0, path="xla"))
    assert ladder.probes == 20 and (ladder.levels[0][1] > 1) == finer
    assert ladder.error < 1e-5 and not ladder.unsure


def test_probes_that_end_otherwise_or_at_another_time_are_told_apart():
    """By outcome, though they are at the same place at the same time; by time, though they are at
    the same place.
    """

    def ended(outcomes, times):
        columns = {"outcome": np.array(outcomes), "t_end": np.array(times)}
        return BatchResult(columns, {}, {}, "", 0.01, (), HybridState(Scalar1(x=np.zeros(3)), None))

    one, other = ended([1, 1, 1], [2.0, 2.0, 2.0]), ended([1, 3, 1], [2.0, 2.0, 3.0])
    assert differences(one, other).tolist() == [0.0, math.inf, 0.25]
