"""A wheel over uneven ground.

Its spokes land where the ground is, and nothing but the impact takes energy.
"""

import dataclasses
import math

import diffrax
import numpy as np
import pytest

from footfall.engines.plan import SimPlan
from footfall.engines.simulate import simulate
from footfall.hybrid.system import HybridState
from footfall.machines.parts.terrain.bumps import Bumps
from footfall.machines.parts.terrain.planes import Slope
from footfall.machines.parts.terrain.profile import Profile
from footfall.machines.parts.terrain.steps import Steps
from footfall.machines.rimless_wheel.rigid_wheel import RigidWheel
from footfall.machines.rimless_wheel.start import RigidWheelStart
from footfall.machines.rimless_wheel.strut import Strut

LENGTH, SPOKES, MASS = 0.26, 10, 6.91
ALPHA = 2 * math.pi / SPOKES
CHORD = 2 * LENGTH * math.sin(ALPHA / 2)
#: Driven by 2 N m, it keeps on rolling over level ground, and slowly enough for its feet to stay
#: down.
TORQUE, RATE = 2.0, -4.5
PLAN = SimPlan(duration=1.2, rtol=1e-10, atol=1e-12, sample_rate=200.0, solver=diffrax.Tsit5())
#: Errors of 1e-10 a step, some hundred steps, grow by the few landings of a run.
CLOSE = 1e-6
#: 20 mm up and down again.
UP, DOWN, HIGH = 0.3, 0.7, 0.02


def wheel(terrain, **more):
    return RigidWheel(mass=MASS, spokes=SPOKES, leg=Strut(length=LENGTH), terrain=terrain, **more)


def rolled(terrain, rate=RATE, angle=ALPHA / 2, torque=TORQUE, foot_x=None):
    system = wheel(terrain, wheel_torque=torque)
    start = RigidWheelStart(spoke_angle=angle, spoke_rate=rate).state(system)
    if foot_x is not None:
        start = HybridState(start.x, dataclasses.replace(start.m, foot_x=foot_x))
    return simulate(system, start, PLAN)


STEP = Steps(edges=(UP, DOWN), heights=(HIGH, 0.0))  # one ground, one compiled program


@pytest.fixture(scope="module")
def over_a_step():
    return rolled(STEP)


def landings(run):
    """(row before, row after) of each support transfer."""
    after = np.flatnonzero(np.diff(run["steps"]) > 0) + 1
    return after - 1, after


def test_bars_of_no_height_are_level_ground():
    level, bars = rolled(Slope(angle=0.0)), rolled(Bumps(highest=0.0))
    assert level["steps"][-1] >= 4 and len(level.t) == len(bars.t)
    for name in ("hub.x", "hub.z", "foot.x", "foot.z", "foot.fz", "spoke_rate"):
        # Rounding, compiled otherwise.
        np.testing.assert_allclose(bars[name], level[name], rtol=1e-11, atol=1e-11, err_msg=name)


def test_a_hill_of_one_slope_is_that_slope():
    """The model sees a slope from its own plane, and a hill from the house frame.

    Two ways to the same motion.
    """
    gamma = 0.08
    hill = Profile(places=(-9.0, 9.0), heights=(9 * math.tan(gamma), -9 * math.tan(gamma)))
    slope = rolled(Slope(angle=gamma), torque=0.0)
    # The same pose: the spoke's angle is from the normal of the slope, or from the vertical.
    over = rolled(hill, angle=ALPHA / 2 - gamma, torque=0.0, foot_x=slope["foot.x"][0])
    assert slope["steps"][-1] >= 4 and over["steps"][-1] == slope["steps"][-1]
    for name in (
        "hub.x",
        "hub.z",
        "foot.x",
        "foot.z",
        "foot.fx",
        "foot.fz",
        "foot.friction_needed",
    ):
        np.testing.assert_allclose(
            over[name][-1], slope[name][-1], rtol=CLOSE, atol=CLOSE, err_msg=name
        )
    np.testing.assert_allclose(over.t[landings(over)[0]], slope.t[landings(slope)[0]], rtol=CLOSE)


def test_a_spoke_lands_on_a_step_at_the_angle_of_the_chord(over_a_step):
    """Between two feet lies a chord of 2 l sin(alpha/2).

    On a step of height h it is inclined by asin(h/chord), and so is the wheel.
    """
    run = over_a_step
    before, after = landings(run)
    rise = run["foot.z"][after] - run["foot.z"][before]
    assert sorted(set(rise)) == [-HIGH, 0.0, HIGH]
    assert all(UP < x < DOWN for x in run["foot.x"][after][run["foot.z"][after] > 0])
    incline = np.arcsin(rise / CHORD)
    # Guards in metres, to rounding.
    np.testing.assert_allclose(run["spoke_angle"][before], -ALPHA / 2 + incline, atol=1e-9)
    np.testing.assert_allclose(
        (run["foot.x"][after] - run["foot.x"][before]), CHORD * np.cos(incline), atol=1e-9
    )


def test_the_impact_alone_takes_energy_and_the_hub_goes_on_from_where_it_was(over_a_step):
    run = over_a_step
    before, after = landings(run)
    for name in ("hub.x", "hub.z"):
        np.testing.assert_allclose(run[name][after], run[name][before], atol=1e-9)  # as above
    omega = run["spoke_rate"]
    np.testing.assert_allclose(omega[after], omega[before] * math.cos(ALPHA), rtol=1e-12)
    # 1/2 m l^2 omega^2 sin^2(alpha), whatever the ground
    lost = 0.5 * MASS * LENGTH**2 * omega[before] ** 2 * math.sin(ALPHA) ** 2
    height = run["hub.z"] * MASS * wheel(STEP).gravity
    energy = 0.5 * MASS * LENGTH**2 * omega**2 + height
    # 1e-9 m of the hub, of some J.
    np.testing.assert_allclose(energy[before] - energy[after], lost, rtol=1e-7)
    assert run.ledger.relative_residual < 1e-8


def test_rolling_backward_over_mirrored_ground_is_the_mirror_image(over_a_step):
    """The step is its own mirror image about its middle."""
    middle = 0.5 * (UP + DOWN)
    start = 2 * middle - over_a_step["foot.x"][0]
    back = rolled(STEP, rate=-RATE, angle=-ALPHA / 2, torque=-TORQUE, foot_x=start)
    assert over_a_step["steps"][-1] == back["steps"][-1] >= 4
    np.testing.assert_allclose(back["hub.x"][-1], 2 * middle - over_a_step["hub.x"][-1], atol=CLOSE)
    np.testing.assert_allclose(back["hub.z"][-1], over_a_step["hub.z"][-1], atol=CLOSE)


def test_a_tip_that_runs_into_the_face_of_a_step_stumbles_there():
    """The tip goes a little forward as it comes down: an edge within that little is in its way."""
    # On level ground the next foot would land half a millimetre beyond the edge.
    run = rolled(STEP, foot_x=UP + 0.0005 - CHORD)
    assert (run.outcome.name, run["steps"][-1]) == ("stumbled", 0)
    angle = run["spoke_angle"][-1] + ALPHA
    tip_x, tip_z = (
        run["hub.x"][-1] + LENGTH * math.sin(angle),
        run["hub.z"][-1] - LENGTH * math.cos(angle),
    )
    assert tip_x == pytest.approx(UP, abs=1e-9) and 0 < tip_z < HIGH
