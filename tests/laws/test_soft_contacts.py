"""MuJoCo's soft contacts go over into our rigid ones as they get harder.

A contact of time constant tau spreads a landing over about tau. While it lasts the wheel rolls on, so
what MuJoCo's wheel does differs from ours by a share of tau / step time, and the impulse, which stays,
makes a peak of 1 / tau. `benchmarks/contacts_mujoco.py` has the robots and the table.
"""

import importlib.util
import math
import sys
from pathlib import Path

import mujoco
import numpy as np
import pytest

SPOKES, LENGTH, MASS, SLOPE = 10, 0.26, 6.91, 0.08


@pytest.fixture(scope="module")
def soft():
    """`benchmarks/soft_ground.py`, which is a script's and in no package."""
    path = Path(__file__).parents[2] / "benchmarks" / "soft_ground.py"
    spec = importlib.util.spec_from_file_location("soft_ground", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["soft_ground"] = module  # its dataclasses look themselves up
    spec.loader.exec_module(module)
    yield module
    del sys.modules["soft_ground"]


def closed_form() -> tuple[float, float]:
    """Rate just after a landing, and time of a step, of the rigid wheel on its gait."""
    half, pull = math.pi / SPOKES, 9.81 / LENGTH
    kept = math.cos(2.0 * half) ** 2
    gained = 4.0 * pull * math.sin(half) * math.sin(SLOPE)
    rate = math.sqrt(kept * gained / (1.0 - kept))
    # From energy: the rate at each angle, and the time as a sum over it.
    angle = half * np.cos(np.pi * (np.arange(4000) + 0.5) / 4000)
    weights = half * np.sin(np.pi * (np.arange(4000) + 0.5) / 4000) * np.pi / 4000
    square = rate**2 + 2.0 * pull * (math.cos(half - SLOPE) - np.cos(angle + SLOPE))
    return rate, float(np.sum(weights / np.sqrt(square)))


@pytest.fixture(scope="module")
def landings(soft):
    """Time constant -> (time of a step, peak of a foot's force), begun on the rigid gait."""
    rate, _ = closed_form()
    found = {}
    for tau in (1e-2, 5e-3):
        model = soft.planar_wheel(
            mass=MASS, length=LENGTH, spokes=SPOKES, slope=SLOPE, contacts=soft.hard(tau)
        ).model
        data, lean = mujoco.MjData(model), math.pi / SPOKES
        data.qpos[:] = 0.0, LENGTH * (math.cos(lean) - 1.0), -lean
        data.qvel[:] = LENGTH * rate * math.cos(lean), LENGTH * rate * math.sin(lean), rate
        loads = soft.roll(model, data, 3.2, 0.1 * MASS * 9.81)
        spacing = 2.0 * math.pi / SPOKES
        marks = spacing * (math.floor(loads.qpos[-1, 2] / spacing) - np.arange(5)[::-1])
        times = np.interp(marks, loads.qpos[:, 2], loads.time)
        found[tau] = np.diff(times).mean(), loads.peak[loads.time > times[0]].max()
    return found


def test_the_step_time_goes_to_the_rigid_wheels(landings):
    _, rigid = closed_form()
    assert rigid == pytest.approx(0.2515, abs=5e-5)  # of our event engine, too
    off = {tau: abs(step - rigid) / rigid for tau, (step, _) in landings.items()}
    for tau, share in off.items():
        assert 0.0 < share < tau / rigid  # the share of a step that a landing takes
    assert (
        off[5e-3] < 0.7 * off[1e-2]
    )  # first order would be a half; 8 landings have a few per cent of the start


def test_the_impulse_of_a_landing_stays(landings):
    """Half the time constant, twice the peak."""
    (_, soft_peak), (_, hard_peak) = landings[1e-2], landings[5e-3]
    assert hard_peak / soft_peak == pytest.approx(2.0, rel=0.05)
    assert soft_peak > 5 * MASS * 9.81  # a peak, not the weight
