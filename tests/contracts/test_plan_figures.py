"""Figures of many plans.

One kernel or XLA, the same numbers; another number of steps, the same program.
"""

import dataclasses

import numpy as np
import pytest

from footfall import load, simulate
from footfall.engines.kernels.fuse_errors import NoCompiler
from footfall.engines.lanes import plan_figures
from footfall.engines.lanes.plan_figures import evaluate_plan
from footfall.hybrid.outcome import Outcome
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import with_settings
from footfall.scenario.vary import batched


def many(settings=(), count=40):
    random = np.random.default_rng(3)
    # Some are out of reach with the stride below.
    columns = {
        "gait.lift": random.uniform(0.004, 0.03, count),
        "gait.stride": random.uniform(0.04, 0.095, count),
        "gait.speed": random.uniform(0.03, 0.5, count),
        "gait.lift_pace": random.uniform(0.5, 2.0, count),
        "foot_mass": random.uniform(0.0, 0.05, count),
    }
    return batched(load("two-leg-step", list(settings)), columns)[0], columns


@pytest.mark.parametrize(
    "settings", [(), ("links=rod", "gait.law=quintic", "motor=dc-motor", "motor.resistance=1")]
)
def test_the_kernel_and_xla_agree_to_rounding(settings):
    system, _ = many(settings)
    kernel, xla = evaluate_plan(system, "cpp"), evaluate_plan(system, "xla")
    assert (
        kernel.path.startswith("along the plan, C++ kernel")
        and xla.path == "along the plan, XLA on cpu"
    )
    outcomes = {Outcome(int(k)) for k in kernel.figures["outcome"].values}
    assert outcomes == {Outcome.arrived, Outcome.unreachable, Outcome.blocked, Outcome.overloaded}
    for name, figure in xla.figures.items():
        # Sums of 200 terms, added in another order; a pressure near zero divides the zero-moment
        # point: 1e-9 there.
        tolerance = 1e-9 if "zmp" in name or "margin" in name else 1e-12
        assert kernel.figures[name].values == pytest.approx(
            figure.values, rel=tolerance, abs=1e-13, nan_ok=True
        ), name


def test_each_lane_is_the_plan_of_that_design_alone():
    level = ("terrain=flat", "route=walk -0.49; walk 0.2")
    system, columns = many(level)
    figures = evaluate_plan(system, "cpp").figures
    arrived = np.flatnonzero(figures["outcome"].values == Outcome.arrived)
    assert len(arrived) > 5
    for lane in arrived[:4]:
        alone = load(
            "two-leg-step",
            [*level, *(f"{key}={float(values[lane])!r}" for key, values in columns.items())],
        )
        mine, w = evaluate_plan(alone.system, "cpp").figures, alone.system
        weight = w.gravity * (4.0 * w.link_mass + 2.0 * columns["foot_mass"][lane])
        assert figures["weight"].values[lane] == pytest.approx(weight, rel=1e-12)
        assert figures["t_end"].values[lane] == pytest.approx(mine["t_end"].values[0], rel=1e-12)
        # 201 and 4001 samples.
        assert figures["energy"].values[lane] == pytest.approx(mine["energy"].values[0], rel=5e-4)
        assert figures["peak_torque_1"].values[lane] == pytest.approx(
            mine["peak_torque_1"].values[0], rel=1e-3
        )


def test_another_number_of_steps_compiles_nothing():
    evaluate_plan(many()[0], "cpp")
    before = len(plan_figures._built)
    evaluate_plan(load("two-leg-step", ["route=walk -0.3"]).system, "cpp")
    evaluate_plan(many(["terrain=flat", "route=walk -0.9; walk 0.1; walk -0.1"])[0], "cpp")
    assert len(plan_figures._built) == before


def test_without_a_compiler_xla_does_it_and_says_why(monkeypatch):
    def none(*_, **__):
        raise NoCompiler("no C++ compiler was found")

    monkeypatch.setattr(plan_figures, "build_cpp", none)
    monkeypatch.setattr(plan_figures, "_built", {})
    found = evaluate_plan(load("two-leg-single-step").system)
    assert found.path == "along the plan, XLA on cpu" and found.notes == (
        "no C++ kernel: no C++ compiler was found",
    )


def ended(experiment, settings):
    """How a run of this design ends, or why it would not begin."""
    try:
        made = with_settings(experiment, settings)
    except ScenarioError as error:
        return (
            Outcome.unreachable
            if "out of reach" in str(error) or "meet the other" in str(error)
            else Outcome.blocked
        )
    return simulate(
        made.system, made.start, dataclasses.replace(made.plan, sample_rate=None)
    ).outcome


@pytest.mark.parametrize(
    "feet", [pytest.param("clamped", marks=pytest.mark.slow), "free"]
)  # free feet end in more ways
def test_outcomes_of_many_plans_are_those_of_their_runs(feet):
    """Strides that overhang, that are out of reach, speeds that tip, lift off or overload.

    All of it in the batch, as each run would say.
    """
    experiment = load(
        "two-leg-step",
        [f"feet={feet}", "torque_limit=0.7", "route=walk -0.2; climb 0.05", "terrain.edges=[0.21]"],
    )
    columns = {
        "gait.stride": np.array([0.05, 0.06, 0.07, 0.08, 0.09, 0.095, 0.08, 0.08, 0.085]),
        "gait.lift": np.array([0.01, 0.01, 0.006, 0.01, 0.01, 0.01, 0.01, 0.005, 0.02]),
        "gait.speed": np.array([0.05, 0.05, 0.05, 0.03, 0.05, 0.05, 0.11, 0.12, 0.2]),
    }
    many = evaluate_plan(batched(experiment, columns)[0], "cpp").figures["outcome"].values
    runs = [
        ended(experiment, [f"{k}={float(v[i])!r}" for k, v in columns.items()])
        for i in range(len(many))
    ]
    assert [Outcome(int(k)).name for k in many] == [run.name for run in runs]
    assert len(set(runs)) >= 3


def test_a_stride_longer_than_the_walk_is_made_as_short_as_the_walk():
    """Its full steps are made no times at all.

    That they would be out of reach is nobody's business.
    """
    system = batched(load("two-leg-single-step"), {"gait.stride": np.array([0.08, 0.12])})[0]
    for path in ("cpp", "xla"):
        figures = evaluate_plan(system, path).figures
        assert (figures["outcome"].values == Outcome.arrived).all()
        assert all(
            np.isfinite(figure.values).all()
            for name, figure in figures.items()
            if "efficiency" not in name
        ), path
        assert figures["energy"].values[1] == pytest.approx(figures["energy"].values[0], rel=1e-12)
