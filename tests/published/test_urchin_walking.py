"""The whole sea urchin in MuJoCo against the table of physics/sea-urchin.md, section 7.

The page gives 5 % for speeds and turns and 30 % for tracking errors, for another engine or contact
law. This is its engine and its contact law, once the readings it leaves open are found
(docs/theory/sea-urchin-robot.md), so speeds are held to 1 % here and errors to 20 %, the last digit
of the page's table being worth up to 10 % itself."""

import math

import mujoco
import numpy as np
import pytest

from footfall import load, simulate
from footfall.engines.bodies.mujoco_engine import compiled
from support.urchins import SCRIPT, SOURCE, kick, walk

SPEED, ERROR = 0.01, 0.2
SOFT = ("controller=stiffness",)
#: name -> (settings, period, cycles, speed mm/s, errors or None)
FAST = {
    "T, tripod, recommended PD": ((), 6.0, 3, 10.20, (0.0034, 0.0005, 1.2e-4)),
    "T, wave": (
        ("gait.pattern=wave", "gait.stance_time=5", "gait.swing_time=1"),
        6.0,
        3,
        6.18,
        (0.0028, 0.0003, 1.0e-4),
    ),
    "T, source PID": ((SOURCE,), 6.0, 3, 10.60, (0.0103, 0.0030, 1.0e-4)),
    "T, stiffness 2000/1000/2000": (
        (*SOFT, "controller.stiffness_y=1000"),
        6.0,
        3,
        9.59,
        (0.032, 0.0038, 1.1e-3),
    ),
    "P, tripod, recommended PD": (SCRIPT, 6.0, 3, 10.15, (0.0056, 0.0007, 2.5e-4)),
    "P, source PID": ((*SCRIPT, SOURCE), 6.0, 3, 11.66, (0.0145, 0.0052, 2.3e-4)),
    "P, stiffness 2000/300/2000": (
        (*SCRIPT, *SOFT, "controller.stiffness_y=300"),
        6.0,
        3,
        7.73,
        (0.071, 0.0045, 8.8e-4),
    ),
}
SLOW = {
    "T, mu = 0.3": (("friction=0.3",), 6.0, 3, 10.30, (0.0034, 0.0003, 1.2e-4)),
    "T, T = 2 s": (("gait.stance_time=1",), 2.0, 3, 30.9, (0.0035, 0.0007, 1.3e-4)),
    "T, zero-velocity swing ends": (("gait.swing_ends=resting",), 6.0, 3, 9.73, (0.0034, 0.0010, 1.3e-4)),
    "T, beta = 0.6": (("gait.stance_time=3.6", "gait.swing_time=2.4"), 6.0, 3, 8.51, (0.0033, 0.0004, 1.1e-4)),
    "T, stiffness 2000/3000/2000": (SOFT, 6.0, 3, 9.90, (0.0112, 0.0025, 4.1e-4)),
    "P, pairs, source PID": (
        (*SCRIPT, SOURCE, "gait.pattern=pairs", "gait.stance_time=4", "gait.swing_time=2"), 6.0, 3, 8.94, (0.0093, 0.0035, 1.9e-4),
    ),
    "P, stiffness 2000/3000/2000": ((*SCRIPT, *SOFT), 6.0, 3, 9.79, (0.0093, 0.0020, 7.6e-4)),
    # "Source timing" is its swing, at rest at both ends: with matched ends it is 8.9 mm/s.
    "P, straight map, source timing": (
        (*SCRIPT, SOURCE, "gait.swing_time=10", "gait.swing_ends=resting", "gait.support=ignored"), 13.0, 2, 4.38, (0.0094, 0.0013, 1.5e-4),
    ),
}  # fmt: skip


def assert_row(settings, period, cycles, speed, errors):
    found = walk(*settings, period=period, cycles=cycles)
    assert found.speed == pytest.approx(speed, rel=SPEED)
    # The page prints the second with one digit: 0.0005 stands for anything from 0.00045 to 0.00055;
    # half of that digit besides.
    for ours, page in zip(found.errors, errors, strict=True):
        digit = 10.0 ** math.floor(math.log10(page)) * (0.1 if f"{page:.1e}"[2] != "0" else 1.0)
        assert ours == pytest.approx(page, rel=ERROR, abs=0.5 * digit)


@pytest.mark.parametrize("name", FAST)
def test_walks_as_fast_and_as_closely_as_on_the_page(name):
    assert_row(*FAST[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_the_other_rows_of_the_table(name):
    assert_row(*SLOW[name])


def test_a_tripod_always_stands_on_three_feet_and_hardly_tilts():
    found = walk()
    assert found.least_feet == 3
    assert found.tilt < 0.2  # deg; the page's 0.05 is without the first moment of the walk: 0.12
    steady = found.run.t > 1.5
    assert math.degrees(found.run["travel.tilt"][steady].max()) < 0.1


def test_a_wave_always_stands_on_five_feet():
    assert walk("gait.pattern=wave", "gait.stance_time=5", "gait.swing_time=1").least_feet == 5


def test_it_walks_to_any_side_alike():
    ahead, left = walk(*SCRIPT, SOURCE), walk(*SCRIPT, SOURCE, 'gait.heading="90 deg"')
    assert left.speed == pytest.approx(11.73, rel=SPEED)
    assert ahead.speed == pytest.approx(11.66, rel=SPEED)


@pytest.mark.parametrize(
    ("settings", "turned"),
    [
        pytest.param(("gait.motion=turn",), 96.4, id="T"),
        pytest.param((*SCRIPT, "gait.motion=turn"), 74.1, id="P", marks=pytest.mark.slow),
    ],
)
def test_strokes_along_the_ring_turn_it_on_the_spot(settings, turned):
    found = walk(*settings)
    assert found.turned == pytest.approx(turned, rel=0.005)
    assert abs(found.speed) < 0.01
    experiment = load("urchin-walk", list(settings))
    without_slip = 3 * math.degrees(
        experiment.system.gait.turn_per_cycle(experiment.system.foothold)
    )
    assert found.turned == pytest.approx(without_slip, rel=0.05)


@pytest.mark.slow
def test_what_the_source_calls_walking_turns_it():
    settings = (
        *SCRIPT,
        SOURCE,
        "gait.motion=turn",
        "gait.swing_time=10",
        "gait.swing_ends=resting",
        "gait.via_speed=0.02",
    )
    found = walk(*settings, "gait.support=ignored", period=13.0, cycles=2)
    assert found.turned == pytest.approx(41.8, rel=0.05)
    assert abs(found.speed) < 0.01


@pytest.mark.parametrize(
    ("settings", "speed", "near"),
    [
        pytest.param((*SCRIPT, SOURCE), -0.18, 0.1, id="P does not walk"),
        pytest.param((), 4.7, 0.25, id="T has its shell for a foot", marks=pytest.mark.slow),
    ],
)
def test_with_all_feet_in_step(settings, speed, near):
    found = walk(*settings, "gait.pattern=together", "gait.support=ignored")
    assert found.speed == pytest.approx(speed, abs=near)
    # 7.5 mm under the shell, 10 mm of lift.
    assert (found.run["load.shell"].max() > 1.0) == (not settings)


@pytest.mark.slow
def test_speeds_with_the_sources_gains_are_those_of_the_step_not_of_the_robot():
    """Erratum of the page: MuJoCo's contacts are solved with the bare inertia, while a damping of
    10 N m s/rad times a step of 1 ms is seventy times that. Feet press in, stay down into the swing
    and carry the body on: 1.19 strides. With shorter steps that goes away; the recommended gains
    have hardly any of it."""
    coarse, fine = walk(*SCRIPT, SOURCE), walk(*SCRIPT, SOURCE, 'sim.step="0.25 ms"')
    assert coarse.speed > 1.15 * fine.speed
    assert fine.speed == pytest.approx(10.0, rel=0.02)
    assert walk().speed == pytest.approx(walk('sim.step="0.25 ms"').speed, rel=0.002)


# ---- rolling


@pytest.mark.parametrize(("force", "angle", "near"), [(2.0, 0.5, 0.3), (3.0, 4.5, 1.0)])
def test_a_weak_kick_rocks_it_and_does_not_roll_it(force, angle, near):
    found = kick(force)
    assert found.faces == 0
    assert found.angle == pytest.approx(angle, abs=near)


@pytest.mark.parametrize(
    ("force", "angle", "distance"),
    [(4.0, 60, 96), (5.0, 60, 96), (8.0, 120, 200), (10.0, 120, 214)],
)
def test_a_kick_rolls_it_in_steps_of_sixty_degrees(force, angle, distance):
    found = kick(force)
    assert found.angle == pytest.approx(angle, abs=0.5)
    assert found.faces == angle / 60
    assert found.distance == pytest.approx(distance, rel=0.02)
    assert abs(found.run["travel.sideways"][-1]) < 1e-4  # a pair pushes in the middle


@pytest.mark.slow
@pytest.mark.parametrize("force", [5.0, 8.0])
def test_the_steps_are_firm_at_half_the_step(force):
    assert kick(force, 'sim.step="0.25 ms"').faces == kick(force).faces


@pytest.mark.parametrize("force", [15.0, 30.0])
def test_a_single_spike_does_not_roll_it_but_stands_it_on_its_head(force):
    robot = load("urchin-roll").system
    model = compiled(robot, 5e-4)
    data = mujoco.MjData(model)
    data.qpos[:] = robot.Start().state(robot).x.qpos
    driver = robot.driver(model, data, 8000)

    def single():
        yield from driver._hold(0.5)
        yield from driver._kick((1,), force)  # bottom spike of the rear column
        while True:
            yield

    driver.script = single()
    for i in range(8000):
        driver.act(i)
        mujoco.mj_step(model, data)
    up = 1 - 2 * (data.qpos[4] ** 2 + data.qpos[5] ** 2)
    assert up == pytest.approx(-1.0, abs=0.02)
    assert np.abs(data.qvel).max() < 0.2  # it rocks a little still


def test_it_rolls_six_sides_in_a_row_choosing_each_pair_for_itself():
    experiment = load("urchin-roll")
    run = simulate(experiment.system, experiment.start, experiment.plan)
    assert run.outcome.name == "reached_end"
    assert run["faces"][-1] == 6 and run["kicks"][-1] == 6
    assert run["travel.distance"][-1] == pytest.approx(6 * 0.096, rel=0.01)
    assert abs(run["travel.sideways"][-1]) < 0.002
