"""Lanes that choose their own steps, alone and in batches: the event engine's answers, in C."""

import dataclasses
import os

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import footfall as ff
from footfall import load, simulate
from footfall.engines.kernels.cpp_source import cpp_source
from footfall.engines.kernels.cpp_values import BLOCK
from footfall.engines.kernels.target import Target
from footfall.engines.kernels.targets.simd.cpp_kernel import build_cpp
from footfall.engines.kernels.traced_program import kernel_function
from footfall.engines.lanes.batch_plan import BatchPlan
from footfall.engines.lanes.checked_batch import run_checked
from footfall.engines.lanes.embedded_pair import KNOWN, pair_of, weights
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.system import Event, Rates
from footfall.scenario.errors import ScenarioError
from footfall.sweep.rollout import rollout
from support.toys import AbstractToy, Height, NoPower, NoStore

RNG = np.random.default_rng(5)


def ends(run):
    return np.array(list(run.ending.state.values()))


# ---- one run, both ways


@pytest.mark.parametrize(
    ("name", "duration", "allowed"),
    [
        ("rimless-wheel", 2.0, 1e-7),
        ("rimless-wheel-turning", 0.6, 1e-7),
        # A gait with feet that land: a difference of one rounding grows by each landing.
        ("water-runner-ground", 0.2, 1e-5),
        ("centipede", 0.2, 1e-3),
    ],
)
def test_a_kernel_makes_the_run_that_xla_makes(name, duration, allowed, monkeypatch):
    """Events in the same order, at the same times; states within what the tolerances allow."""
    experiment = load(name, duration=duration)
    fast = simulate(experiment)
    assert fast.provenance["path"] == "C++ kernel"
    monkeypatch.setenv("FOOTFALL_CXX", "none")
    slow = simulate(experiment)
    assert slow.provenance["path"] == "XLA: switched off by FOOTFALL_CXX"
    assert [(e.name, e.leg) for e in fast.events] == [(e.name, e.leg) for e in slow.events]
    times = [[e.t for e in run.events] for run in (fast, slow)]
    np.testing.assert_allclose(*times, atol=allowed)
    size = np.maximum(np.abs(ends(slow)), 1.0)
    np.testing.assert_allclose(ends(fast) / size, ends(slow) / size, atol=allowed)
    assert fast.outcome is slow.outcome and fast.verdict == slow.verdict
    assert abs(fast.ledger.residual) < 10 * max(abs(slow.ledger.residual), 1e-9)
    assert list(fast.columns) == list(slow.columns)
    for entry in ("work", "losses", "jump_losses", "stored_end"):
        mine, theirs = getattr(fast.ledger, entry), getattr(slow.ledger, entry)
        assert mine == pytest.approx(theirs, rel=100 * allowed, abs=100 * allowed)


def test_errors_fall_with_the_tolerance():
    """Three runs of the walking wheel against one that is a hundred times more careful yet."""

    def end(rtol):
        plan = dataclasses.replace(wheel.plan, rtol=rtol, atol=1e-2 * rtol, sample_rate=None)
        return ends(simulate(wheel.system, wheel.start, plan))

    wheel = load("rimless-wheel", duration=3.0)
    truth = end(1e-13)
    errors = [np.abs(end(rtol) - truth).max() for rtol in (1e-5, 1e-7, 1e-9)]
    assert errors[0] > 10 * errors[1] > 100 * errors[2]
    assert errors[2] < 1e-7


def test_what_is_looked_at_between_steps_is_on_the_solvers_own_interpolant():
    for solver in KNOWN:
        pair, stages = pair_of(solver()), solver.tableau.num_stages
        assert pair is not None
        slopes = RNG.normal(size=(stages, 1))
        end = np.append(np.asarray(solver.tableau.a_lower[-1]), 0.0) @ slopes
        inside = solver.interpolation_cls(
            t0=0.0, t1=1.0, y0=jnp.zeros(1), y1=jnp.asarray(end), k=jnp.asarray(slopes)
        )
        for place in (0.1, 0.5, 0.83, 1.0):
            (mine,) = weights(pair, np.array([place])) @ slopes
            # Six places of sixteen digits, through a matrix of condition 1e4.
            np.testing.assert_allclose(mine, inside.evaluate(place), rtol=0, atol=1e-11)
    assert pair_of(diffrax.Kvaerno5()) is None


class Mixed(AbstractToy):
    """A ball whose stores take the whole of an array: right for one robot, not for lanes."""

    @property
    def events(self):
        return (Event("floor", "never reached", Outcome.fell),)

    def flow(self, t, x, m):
        return Rates(Height(x=x.v, v=-10.0 + 0.0 * x.v), NoPower(none=0.0 * x.v))

    def guards(self, t, x, m):
        return (x.x,)

    def jump(self, t, x, m, k):
        raise AssertionError

    def stores(self, t, x, m):
        return NoStore(none=jnp.sum(jnp.asarray(x.x)))


def test_a_model_that_mixes_lanes_runs_through_xla_and_says_so():
    run = simulate(Mixed(), Mixed.begin(Height(x=1.0, v=0.0)), ff.Plan(duration=0.1))
    assert "mixes lanes" in run.provenance["path"]
    assert run.ledger.stored_end == {"none": pytest.approx(1.0 - 0.5 * 10.0 * 0.01)}


# ---- batches


@pytest.fixture(scope="module")
def wheels():
    """Five designs of the walking wheel, by tolerances."""
    stiffness = np.array([1.8e4, 2e4, 2.2e4, 2.5e4, 3e4])
    wheel = load("rimless-wheel", duration=3.0)
    system = dataclasses.replace(
        wheel.system, leg=dataclasses.replace(wheel.system.leg, stiffness=stiffness)
    )
    return wheel, system, run_checked(system, wheel.start, BatchPlan(duration=3.0, rtol=1e-8))


def test_a_design_in_a_batch_is_what_it_is_alone(wheels):
    _, system, result = wheels
    for lane, stiffness in enumerate(system.leg.stiffness):
        alone = simulate(load("rimless-wheel", {"leg.stiffness": float(stiffness)}, duration=3.0))
        found = [float(np.asarray(leaf)[lane]) for leaf in jax.tree.leaves(result.end.x)]
        np.testing.assert_allclose(found, ends(alone), rtol=1e-7, atol=1e-7)
        assert result.columns["mean_speed"][lane] == pytest.approx(
            alone.metrics["mean_speed"], rel=1e-7
        )
        assert result.columns["jumps"][lane] == alone.ending.jumps
    assert np.all(np.abs(result.columns["relative_residual"]) < 1e-9)
    assert not any(np.any(doubt) for doubt in result.doubts.values())


def test_a_lane_by_tolerances_does_not_depend_on_its_neighbours(wheels):
    wheel, system, result = wheels
    some = dataclasses.replace(
        system, leg=dataclasses.replace(system.leg, stiffness=system.leg.stiffness[[3, 0]])
    )
    again = run_checked(some, wheel.start, BatchPlan(duration=3.0, rtol=1e-8))
    for whole, part in zip(jax.tree.leaves(result.end), jax.tree.leaves(again.end), strict=True):
        np.testing.assert_array_equal(np.asarray(whole)[..., [3, 0]], part)
    np.testing.assert_array_equal(result.columns["time_step"][[3, 0]], again.columns["time_step"])


def test_single_precision_goes_by_tolerances_too(wheels):
    wheel, system, result = wheels
    plan = BatchPlan(duration=3.0, rtol=1e-4, precision="float32")
    found = run_checked(system, wheel.start, plan)
    assert np.array_equal(found.columns["outcome"], result.columns["outcome"])
    np.testing.assert_allclose(found.columns["mean_speed"], result.columns["mean_speed"], rtol=2e-3)


def test_a_rollout_takes_a_tolerance_and_not_a_step_beside_it():
    designs = {"terrain.angle": [0.08, 0.1]}
    exact = rollout(load("passive-wheel"), designs, duration=4, rtol=1e-9)
    usual = rollout(load("passive-wheel"), designs, duration=4)
    np.testing.assert_allclose(exact.mean_speed, usual.mean_speed, rtol=1e-6)
    assert (exact.time_step > 3 * usual.time_step).all() and (exact.verdict == "sound").all()
    assert exact.attrs["rtol"] == 1e-9
    with pytest.raises(ScenarioError, match="leave out step"):
        rollout(load("passive-wheel"), designs, duration=4, rtol=1e-9, step=1e-3)


# ---- functions


def test_what_is_called_twice_stands_in_the_text_once():
    def square(x):
        return jnp.sin(x) * x

    once = kernel_function(square)

    def program(x):
        return (once(x) + once(2.0 * x),)

    traced = jax.make_jaxpr(program)(jax.ShapeDtypeStruct((BLOCK,), np.float64))
    text = cpp_source(traced, [True], target=Target("none", "", 8), real=np.dtype("float64"))
    assert text.count("FUNCTION f1") == 1 and "f2" not in text and text.count("f1(") == 3
    kernel = build_cpp(program, [True], [np.float64], real=np.dtype("float64"))
    x = RNG.normal(size=37)
    np.testing.assert_allclose(kernel([x])[0], np.sin(x) * x + np.sin(2 * x) * 2 * x, rtol=1e-14)


def test_compilers_that_are_switched_off_are_so_for_kernels_made_before(monkeypatch):
    experiment = load("passive-wheel", duration=0.5)
    assert simulate(experiment).provenance["path"] == "C++ kernel"
    assert "FOOTFALL_CXX" not in os.environ
    monkeypatch.setenv("FOOTFALL_CXX", "none")
    assert simulate(experiment).provenance["path"].startswith("XLA")
