"""Section 8 of the control stack's specification.

The plant, real frames through byte pipes, the programs as they are, in virtual time.
"""

import dataclasses
import math

import numpy as np
import pytest

from footfall import load, simulate
from footfall.machines.control.mid import MidProgram
from footfall.machines.control.virtual_bench import VirtualBench
from footfall.realtime.plant import PlantStepper, load_plant

OPERATOR = ["0.01 motors-on", "0.02 run"]


def walk(duration, *, delay_us=10_000, corruption=0.0, held=True, overrides=()):
    """A bench after a run, and the mean speed over its second half, from footfall to footfall."""
    experiment, stepper, settings, windings, battery = load_plant("rimless-wheel", overrides)
    plant = stepper if held else PlantStepper(experiment, held=False)
    bench = VirtualBench(
        settings, plant, MidProgram(settings), windings, battery, OPERATOR, sensor_delay_us=delay_us
    )
    bench.corrupt_lines(corruption)
    half = []
    bench.at(0.5 * duration, lambda: half.append(plant.last_footfall))
    bench.run(duration)
    assert bench.supervisor is not None and not bench.supervisor.fault
    if half[0] is None:
        return bench, math.nan, math.nan
    (t0, s0, n0), (t1, s1, n1) = half[0], plant.last_footfall
    return bench, (s1 - s0) / (t1 - t0), (t1 - t0) / (n1 - n0)


@pytest.fixture(scope="module")
def walked():
    return walk(12.0)


def test_through_real_bytes_it_walks_as_the_row_with_a_delay_of_10_ms(walked):
    bench, speed, step_time = walked
    # The page's tolerance.
    assert speed == pytest.approx(0.591, rel=0.03) and step_time == pytest.approx(0.2697, rel=0.03)
    late = [record for record in bench.records if record.t > 6.0]
    pitches = [record.pitch for record in late]
    # Rad; seen every 10 ms only.
    assert (min(pitches), max(pitches)) == pytest.approx((0.556, 0.668), abs=0.003)
    assert len(bench.records) == 1200 and bench.records[-1].rejected_frames == 0


def test_one_byte_in_a_hundred_corrupted_changes_the_speed_by_less_than_five_percent(walked):
    bench, speed, _ = walk(12.0, corruption=0.01)
    assert speed == pytest.approx(walked[1], rel=0.05)  # the page's goal
    # Of 2400 frames of 33 bytes (each is sent twice) 28 % are hit: they were refused, and the robot
    # walked on.
    assert bench.mid.rejected_frames > 500 and speed != walked[1]


def test_the_programs_with_real_bytes_are_the_lockstep_system():
    """Same start, same 10 ms, the law asked for at the same tick. Single precision in the mid level
    and RK4 steps cut elsewhere are all that differs: 1e-7 of the currents, which a walking robot
    does not amplify in a second."""
    bench, *_ = walk(1.0, held=False)
    # The programs send torques in steps of 1e-6 N m: at 0.034 N m/A, this current.
    changes = ["stack.switch_on=10 ms", f"stack.current_step={1e-6 / 0.034!r}"]
    experiment = load("rimless-wheel-closed-loop", changes, duration=1.0)
    run = simulate(
        experiment.system,
        experiment.start,
        dataclasses.replace(experiment.plan, sample_rate=4000.0),
    )
    currents = np.array([moment.currents for moment in bench.flow])
    n = min(len(currents), len(run.t))
    assert n >= 3999 and np.any(currents)
    # A pitch rounded the other way (1e-6 rad) is 1.1e-4 A of filtered derivative, and the one after
    # it may be rounded back; a command rounded the other way is 0.3e-4 A.
    assert np.max(np.abs(currents[:n, 0] - run["computer.current_1"][:n])) < 2.2e-4
    seen = np.array([record.pitch for record in bench.records])[2:]
    # Rad: frames carry 1e-6, and after one rounded the other way commands 1e-4 A apart have moved
    # the torso by as much again.
    assert seen == pytest.approx(
        run["computer.known_pitch"][80 : 80 + 40 * len(seen) : 40], abs=2.5e-6
    )


def test_60_seconds_at_100_hz_take_6000_cycles_whatever_a_device_delays():
    """See tests/unit/test_supervisor.py for the main loop alone; here the mid level's side of
    section 8.
    """
    settings = load_plant("rimless-wheel").settings
    mid, lines, frames = MidProgram(settings), 0, 0
    for now in range(0, 1_000_000, 100):
        sent = mid.step(now)
        lines, frames = lines + sent.to_driver.count(b"\n"), frames + sent.to_high.count(b">")
    assert lines == 2000 and abs(frames - 100) <= 1
