"""Runners in batches: the step engine comes to the event engine's result with its order, lane by
lane, whatever varies.
"""

import dataclasses
import functools

import equinox as eqx
import jax
import numpy as np
import pytest

from footfall import Outcome, SimPlan, load, simulate
from footfall.engines.lanes.batch import run_batch
from footfall.engines.lanes.batch_plan import BatchPlan
from footfall.scenario.vary import batched
from support.cuda import run_cuda

DURATION = 0.2  # s; both pads have been in and out of the water
STATES = ("x", "y", "vx", "vy")
#: One robot a lane: the default, then one number changed in each. The last has pads of 4 mm, which
#: carry nothing.
COLUMNS = {
    "drive.frequency": np.array([8.0, 6.0, 10.0, 8.0, 8.0, 8.0, 8.0]),
    "foot.radius": np.array([0.020, 0.020, 0.020, 0.016, 0.020, 0.020, 0.004]),
    "leg.foot_length": np.array([0.0624, 0.0624, 0.0624, 0.0624, 0.070, 0.0624, 0.0624]),
    "body.mass": np.array([0.030, 0.030, 0.030, 0.030, 0.030, 0.045, 0.030]),
}
LANES = len(COLUMNS["body.mass"])
SINKS = LANES - 1


PRECISELY = {"rtol": 1e-12, "atol": 1e-14, "sample_rate": None}


@functools.cache
def biped():
    """Pads fold by degrees; pitch locked."""
    return load("water-runner-biped")


@functools.cache
def robots():
    """(system, start) of all lanes."""
    return batched(biped(), COLUMNS)


def batch(steps, duration=DURATION, lanes=None, **more):
    return run_batch(
        *(lanes or robots()), BatchPlan(duration, step=duration / steps, path="cpp", **more)
    )


def one_of(lanes, lane):
    return jax.tree.map(lambda leaf: leaf[lane] if np.ndim(leaf) else leaf, lanes)


def end_of(result):
    """(state, lane)"""
    return np.stack([np.asarray(getattr(result.end.x, name), float) for name in STATES])


def exactly(lanes, duration):
    """Every lane by itself through the event engine, two digits better than anything that is
    compared with it.
    """
    return [
        simulate(*one_of(lanes, lane), SimPlan(duration=duration, **PRECISELY))
        for lane in range(LANES)
    ]


def orders(counts, errors):
    """Mean order in each lane."""
    return np.log2(errors[0] / errors[-1]) / np.log2(counts[-1] / counts[0])


@pytest.fixture(scope="module")
def exact():
    return exactly(robots(), DURATION)


def states(runs):
    return np.array([[run.ending.state[name] for run in runs] for name in STATES])


def test_the_step_engine_converges_to_the_event_engine(exact):
    """With order 4 in the books. In the state with 4 while steps are long, and with 2.5 at last:
    the load of a pad that goes under grows with depth^1.5, and a polynomial of any degree misses
    the integral of that by h^2.5, also from the very instant of touching."""
    counts = 100 * 2 ** np.arange(6)
    results = [batch(n) for n in counts]
    errors = np.array(
        [np.max(np.abs(end_of(result) - states(exact)), axis=0) for result in results]
    )
    # Of the lanes together: each is irregular, by where in a step it happens to meet the surface.
    assert 2.5 < np.mean(orders(counts, errors)[:SINKS]) < 4.0
    # A pad loads the robot with 30 m/s^2 within 5 ms. Of t^1.5 Simpson's rule misses 0.0024: 6e-9
    # m/s in the first step of 63 us.
    assert np.max(errors[-1]) < 5e-7  # a dozen edges go through the surface, 8e-8 together
    residuals = np.array([result.columns["relative_residual"] for result in results])
    assert np.all(np.abs(orders(counts, residuals) - 4.0) < 0.3)


def test_where_no_pad_crosses_the_surface_the_order_is_four():
    """Drowned, and folding over 2 m/s.

    What is not smooth is drag where the water's speed along a pad changes sign, a |a|.
    """
    system, start = robots()
    system = eqx.tree_at(lambda s: (s.foot.blend_speed, s.body.half_height), system, (2.0, 10.0))
    lanes = system, eqx.tree_at(lambda s: s.x.y, start, np.full(LANES, -0.3))
    expected, counts = states(exactly(lanes, 0.05)), np.array([25, 50, 100, 200])
    errors = np.array(
        [np.max(np.abs(end_of(batch(n, 0.05, lanes)) - expected), axis=0) for n in counts]
    )
    assert abs(np.mean(orders(counts, errors)) - 4.0) < 0.25


def test_lanes_end_as_they_should_and_pads_too_small_to_carry_sink(exact):
    result = batch(800)
    assert result.path.startswith("C++")
    outcomes = [Outcome(n) for n in result.columns["outcome"]]
    assert (
        outcomes == [run.outcome for run in exact] == [Outcome.reached_end] * SINKS + [Outcome.sank]
    )
    assert result.columns["jumps"].tolist() == [run.ending.jumps for run in exact]
    # The body goes down at 1 m/s, and where it is is known to 1e-6 m with these steps (above).
    assert result.columns["t_end"][SINKS] == pytest.approx(exact[SINKS].ending.t, abs=1e-6)
    assert result.columns["t_end"][SINKS] < DURATION
    footfalls = [sum(event.name.startswith("touchdown") for event in run.events) for run in exact]
    feet = [np.asarray(getattr(result.end.m.feet, leg).footfalls) for leg in biped().system.names]
    assert sum(feet).tolist() == footfalls


def test_a_robot_of_a_batch_does_what_it_does_alone():
    """To the last bit: lanes share a kernel, not their numbers."""
    together = batch(400)
    for lane in range(LANES):
        columns = {name: values[lane : lane + 1] for name, values in COLUMNS.items()}
        alone = batch(400, lanes=batched(biped(), columns))
        for name, values in alone.columns.items():
            np.testing.assert_array_equal(values[0], together.columns[name][lane], err_msg=name)
        for one, all_of_them in zip(
            jax.tree.leaves(alone.end), jax.tree.leaves(together.end), strict=True
        ):
            np.testing.assert_array_equal(one[0], all_of_them[lane])


def test_each_quantity_that_varies_matters(exact):
    end = states(exact)
    assert np.all(np.max(np.abs(end[:, 1:] - end[:, :1]), axis=0) > 1e-2)


def test_single_precision_stays_close():
    """200 steps, each rounding speeds of 1 m/s to 6e-8:

    1e-6 if half of them add up; forces of water do not amplify it.
    """
    double, single = batch(200), batch(200, precision="float32")
    for name in ("outcome", "jumps"):
        np.testing.assert_array_equal(double.columns[name], single.columns[name])
    assert np.max(np.abs(end_of(double) - end_of(single))) < 5e-6
    assert np.max(single.columns["relative_residual"]) < 1e-5


@pytest.mark.slow
@pytest.mark.parametrize("path", ["xla", "cuda"])
def test_paths_agree_to_rounding(path, monkeypatch):
    """As for wheels, tests/contracts/test_batch_paths.py: 1e-13 over a few jumps."""
    plan = BatchPlan(0.02, step=5e-4, path="auto" if path == "cuda" else path)
    other = run_cuda(*robots(), plan, monkeypatch) if path == "cuda" else run_batch(*robots(), plan)
    assert other.path.lower().startswith(path)
    cpp = run_batch(*robots(), dataclasses.replace(plan, path="cpp"))
    np.testing.assert_array_equal(cpp.columns["jumps"], other.columns["jumps"])
    np.testing.assert_allclose(end_of(other), end_of(cpp), rtol=0, atol=1e-13)
