"""Every design of a sweep has a step that suits it: what a batch says of a stiff robot is what the event engine says of it alone."""

import math

import equinox as eqx
import numpy as np
import pytest

import footfall as ff
from footfall.engines.lanes import checked_batch
from footfall.engines.lanes.batch import run_batch
from footfall.engines.lanes.batch_inputs import prepared
from footfall.engines.lanes.batch_plan import BatchPlan
from footfall.engines.lanes.checked_batch import run_checked
from footfall.engines.lanes.stable_step import above_reach, spectral_radius
from footfall.engines.lanes.step_ladder import StepLadder
from footfall.engines.stability_limit import spectrum
from footfall.hybrid.outcome import Outcome
from footfall.record.verdict import verdict_words
from support.batches import leaning, wheel
from support.toys import Ball, Height

STIFF = [
    {"controller.derivative": [0.5, 1.0, 20.0, 100.0]},
    {"leg.damping": [400.0, 20000.0, 100000.0, 100000.0], "torso.pitch_setpoint": [0.6, 0.6, 0.8, 1.0]},
]


@pytest.mark.parametrize("designs", STIFF, ids=["derivative", "damping"])
def test_stiff_designs_walk_in_a_sweep_as_they_do_alone(designs):
    """At one step for all, accurate for the first of them, the stiff ones blew up within 0.13 s and were called rocked_back and lifted_off."""
    found = ff.rollout(ff.load("rimless-wheel"), designs=designs)
    assert found.outcome.values.tolist() == ["reached_end"] * 4 and found.verdict.values.tolist() == ["sound"] * 4
    assert len(set(found.time_step.values.tolist())) > 1 and found.time_step.values[0] > 10 * found.time_step.values[-1]
    for row in (2, 3):
        settings = [f"{key}={values[row]!r}" for key, values in designs.items()]
        alone = ff.load("rimless-wheel", settings)
        run = ff.simulate(alone.system, alone.start, alone.plan)
        assert run.outcome is Outcome.reached_end
        # Steps are chosen for a state error of 1e-5.
        assert found.mean_speed.values[row] == pytest.approx(ff.summarise(run).metrics["mean_speed"], rel=1e-5)


def test_a_given_step_is_kept_and_doubted_where_it_is_unstable():
    found = ff.rollout(ff.load("rimless-wheel"), designs={"controller.derivative": [1.0, 20.0]}, step="5 ms")
    assert found.time_step.values.tolist() == [0.005, 0.005]
    assert found.verdict.values[0] == "sound" and "step_unstable" in found.verdict.values[1].split(", ")


def test_a_design_too_stiff_for_any_step_worth_taking_is_said_to_be_so():
    """Damping 1e9 decays at 1.6e8 1/s: 10 s would take 6e8 steps. The other design is none the worse for it."""
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
    """Stiff spokes on a ladder that does not know of it, 10 ms: they blow up. Halved up to four times they walk."""
    experiment = wheel("rimless-wheel", "leg.damping=3000")
    coarse = run_batch(experiment.system, experiment.start, BatchPlan(2.0, step=0.01, path="cpp"))
    assert coarse.columns["outcome"][0] != Outcome.reached_end
    monkeypatch.setattr(checked_batch, "rungs_of", lambda system, state, first, method: np.zeros(1, int))
    ladder = StepLadder(0.01, ((0, 0),), deepest=9, error=1e-6, time=5.0, probes=1)
    found = run_checked(experiment.system, experiment.start, BatchPlan(2.0, path="cpp"), ladder)
    assert found.columns["outcome"][0] == Outcome.reached_end and verdict_words(found.doubts, 1).tolist() == ["sound"]
    monkeypatch.setattr(checked_batch, "REPEATS", 1)  # half of it is still too long
    unsettled = run_checked(experiment.system, experiment.start, BatchPlan(2.0, path="cpp"), ladder)
    assert "step_inaccurate" in verdict_words(unsettled.doubts, 1)[0].split(", ")


def test_the_spectral_radius_of_many_matrices_at_once():
    random = np.random.default_rng(1)
    matrices = random.normal(size=(200, 7, 7)) * 10.0 ** random.uniform(-3, 3, size=(200, 7, 1))
    exact = np.array([np.max(np.abs(np.linalg.eigvals(m))) for m in matrices])
    assert np.all(spectral_radius(matrices) >= exact * (1 - 1e-9)) and np.all(spectral_radius(matrices) <= 1.02 * exact)
    odd = np.array([np.zeros((2, 2)), [[0.0, 1.0], [0.0, 0.0]], [[math.nan, 0.0], [0.0, 1.0]], [[1e200, 0.0], [0.0, 1.0]]])
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


def test_a_loss_that_creates_energy_is_doubted_lane_by_lane():
    start = Ball.begin(Height(x=np.ones(2), v=0.0))
    result = run_batch(Ball(restitution=np.array([0.9, 1.0])), start, BatchPlan(1.0, step=0.01, path="xla"))
    assert not result.doubts["loss_creates_energy"].any()
    livelier = eqx.tree_at(lambda ball: ball.restitution, Ball(), np.array([0.9, 1.1]))
    result = run_batch(livelier, start, BatchPlan(1.0, step=0.01, path="xla"))
    assert result.doubts["loss_creates_energy"].tolist() == [False, True]
    assert not result.doubts["books_open"].any()  # each bounce says what it adds
    assert verdict_words(result.doubts, 2).tolist() == ["sound", "loss_creates_energy"]
