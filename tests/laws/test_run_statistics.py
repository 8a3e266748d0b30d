"""Means, rms and peaks are those of the motion, not of the rows kept; one throughput for every
engine; work at jumps is paid for.
"""

import dataclasses
import math

import numpy as np
import pytest
from tests.support.toys import Hopper, HopState, Scalar1, SineMotor

from footfall.engines.analysis.summary import summarise
from footfall.engines.events.panels import Panels
from footfall.engines.lanes.batch import run_batch
from footfall.engines.lanes.batch_plan import BatchPlan
from footfall.engines.plan import FixedSteps, SimPlan
from footfall.engines.simulate import KEEP_STEPS, simulate
from footfall.numerics import panel
from footfall.record.ledger import Ledger

COARSE = SimPlan(duration=2.0, sample_rate=1.0)
SAMPLED = {
    "one row a second": COARSE,
    "no rows but jumps": dataclasses.replace(COARSE, sample_rate=None),
    "fixed steps": dataclasses.replace(COARSE, fixed=FixedSteps(step=1e-3)),
}


def told(robot: SineMotor, plan: SimPlan) -> list[float]:
    metrics = summarise(simulate(robot, robot.begin(Scalar1(x=0.0)), plan)).metrics
    return [metrics[f"motor_{kind}_torque"] for kind in ("mean", "rms", "peak")]


@pytest.mark.parametrize("kind", SAMPLED)
def test_mean_rms_and_peak_of_a_sine_are_those_of_the_sine(kind):
    """sin 5t from 0 to 2 s: its largest value lies inside a step, where no row is."""
    mean, square = (1 - np.cos(10.0)) / 10.0, 0.5 - np.sin(20.0) / 40.0
    # Nine nodes on steps of 0.2 s at most integrate a sine to 1e-12, and the parabola on 65 points
    # is off by (1/64)^4. Fixed steps: fourth order, and peaks at the ends of steps, (5 * 1e-3)^2 /
    # 8 below the truth at most.
    rtol = 1e-7 if kind != "fixed steps" else 4e-6
    assert told(SineMotor(), SAMPLED[kind]) == pytest.approx([mean, np.sqrt(square), 1.0], rel=rtol)


LIMITS = (0.07, 0.3, 0.5, 0.7, 0.88, 0.97)


@pytest.mark.parametrize("limit", LIMITS)
def test_a_torque_at_its_limit_has_that_as_its_peak_and_its_own_mean(limit):
    """Steps of 0.2 s across corners.

    A polynomial through one overshoots (0.3 was told as 0.3039) and has another mean (by up to 3.6
    %).
    """
    mean, rms, peak = told(SineMotor(limit=limit), COARSE)
    assert peak == limit
    # Middles: right to 1e-11.
    torque = np.clip(np.sin(5.0 * (np.arange(1_000_000) + 0.5) * 2e-6), -limit, limit)
    # Panels are halved until they may be wrong by 1e-4 of the largest torque, times its share of
    # the span.
    assert [mean, rms] == pytest.approx(
        [torque.mean(), np.sqrt((torque**2).mean())], abs=1e-4 * limit
    )


def test_a_run_whose_torque_has_no_corner_is_looked_at_once(monkeypatch):
    looks, halve = [], Panels._halve
    monkeypatch.setattr(
        Panels,
        "_halve",
        lambda panels, rough, look: looks.append(rough.sum()) or halve(panels, rough, look),
    )
    told(SineMotor(), COARSE)
    assert not looks
    told(SineMotor(limit=0.3), COARSE)
    # Seven corners, each in one panel or two; a panel of 2^-12 of a step would be far too short to
    # matter.
    assert 4 <= len(looks) <= 12 and max(looks[2:]) <= 14


def test_statistics_go_on_from_one_chunk_to_the_next():
    """2048 steps of 0.5 ms are a chunk.

    The peak lies after the chunk's last row, before the first of the next.
    """
    top = 1.01
    plan = dataclasses.replace(COARSE, max_step=5e-4)
    assert 1.0 < top < KEEP_STEPS * plan.max_step < 2.0
    rate = 0.5 * math.pi / top
    run = simulate(SineMotor(rate=rate), SineMotor.begin(Scalar1(x=0.0)), plan)
    assert KEEP_STEPS < run.ending.steps < 2.5 * KEEP_STEPS
    metrics = summarise(run).metrics
    found = [metrics[f"motor_{kind}_torque"] for kind in ("mean", "rms", "peak")]
    mean, square = (1 - np.cos(2 * rate)) / (2 * rate), 0.5 - np.sin(4 * rate) / (8 * rate)
    # Smooth panels: rounding of 4000 sums.
    assert found == pytest.approx([mean, np.sqrt(square), 1.0], rel=1e-9)
    # Row by row: the integral never starts anew, and no row but that after the top has a peak of 1.
    assert np.all(np.diff(run["integral.motor.torque"]) >= 0)
    high = run.t[run["peak.motor.torque"] > 1 - 1e-9]
    assert len(high) == 1 and top < high[0] <= 1.1


def test_a_panel_integrates_smooth_functions_and_sees_their_peaks():
    s, ends = panel.NODES, np.array([0.0, 0.3, 1.0])
    values = np.exp(-s) * np.sin(4.0 * s)
    exact = lambda x: (4.0 - np.exp(-x) * (np.sin(4.0 * x) + 4.0 * np.cos(4.0 * x))) / 17.0  # noqa: E731
    assert values @ panel.WEIGHTS == pytest.approx(exact(1.0), abs=1e-13)  # exact to degree 15
    # What is left of a polynomial of degree 8: the ninth derivative, 17^(9/2) at most, over 9!
    # times the product of distances from the nodes.
    off = (
        17**4.5
        / math.factorial(9)
        * np.abs(np.prod(np.linspace(0, 1, 401)[:, None] - s, axis=1)).max()
    )
    assert off < 2e-5
    assert panel.running_weights(ends) @ values == pytest.approx(exact(ends), abs=off)
    top = np.arctan(4.0) / 4.0
    assert panel.largest(values[None, :, None])[0, 0] == pytest.approx(
        np.exp(-top) * np.sin(4.0 * top), abs=off
    )


# --- work at jumps --------------------------------------------------------------------------------


def hopping(robot: Hopper):
    return robot.begin(HopState(x=0.0, v=2.0, way=0.0))


@pytest.mark.parametrize(
    "fixed", [None, FixedSteps(step=1e-3)], ids=["event engine", "step engine"]
)
def test_a_push_at_a_jump_is_paid_for(fixed):
    robot, plan = Hopper(), SimPlan(duration=4.1, sample_rate=50.0, fixed=fixed)
    metrics = summarise(simulate(robot, hopping(robot), plan)).metrics
    assert metrics["cost_of_transport"] == pytest.approx(2.0 * 0.75 / (4 * 0.5), rel=1e-9)
    assert metrics["motor_work_per_step"] == pytest.approx(0.5 * 2.0**2 * 0.75, rel=1e-9)


def test_a_push_at_a_jump_is_paid_for_in_a_batch():
    columns = run_batch(Hopper(), hopping(Hopper()), BatchPlan(4.1, step=1e-3, path="xla")).columns
    assert columns["cost_of_transport"] == pytest.approx([0.75], rel=1e-9)


def test_the_check_knows_ports_of_jumps():
    from footfall.engines.analysis.check_system import examine_system

    claims = {c.claim: c.ok for c in examine_system(Hopper(), hopping(Hopper())).checks}
    assert claims["progress is measured by signals that exist"]


# --- the books ------------------------------------------------------------------------------------


def test_run_fixed_steps_and_batch_mean_the_same_by_a_relative_residual():
    """Each landing hides half of its 1.5 J; up and down, kinetic and potential energy change by 2 J
    each.
    """
    # Ten landings, every 0.4 s, and half a hop less a half of it.
    robot, duration = (Hopper(reported=0.5), 4.1)
    plan = SimPlan(duration=duration, sample_rate=50.0)
    run = simulate(robot, hopping(robot), plan).ledger
    stepped = simulate(
        robot, hopping(robot), dataclasses.replace(plan, fixed=FixedSteps(step=1e-3))
    ).ledger
    batch = run_batch(robot, hopping(robot), BatchPlan(duration, step=1e-3, path="xla")).columns
    rise = 0.5 * (2.0**2 - 1.0**2)  # in the last 0.1 s
    throughput = 10 * (4 * 2.0 + 1.5 + 0.75) + 2 * rise
    expected = 10 * 0.75 / throughput
    # A step over the top of a hop sees less than what moves there and back: steps of 0.2 s at most,
    # less than 0.05 J of 8 J a hop.
    assert run.relative_residual == pytest.approx(expected, rel=1e-2)
    assert stepped.relative_residual == pytest.approx(expected, rel=1e-5)
    assert batch["relative_residual"] == pytest.approx([stepped.relative_residual], rel=1e-12)


def test_lines_of_the_ledger_that_are_rounding_are_zero():
    stores = {"kinetic": 1.0, "spring": 0.0}, {"kinetic": 1.5, "spring": 4e-28}
    ledger = Ledger(*stores, {"motor": 0.5, "idle": 4e-28}, {"drag": -3e-17}, {"impact": 1e-9}, 2.0)
    assert ledger.stored_end == {"kinetic": 1.5, "spring": 0.0}
    assert ledger.work == {"motor": 0.5, "idle": 0.0} and ledger.losses == {"drag": 0.0}
    assert ledger.jump_losses == {"impact": 1e-9}


def test_a_run_that_ends_at_once_measures_its_residual_against_what_was_stored():
    ledger = Ledger({"kinetic": 10.0}, {"kinetic": 10.0 + 2e-14}, {}, {}, {}, 0.0)
    assert ledger.relative_residual < 1e-5
