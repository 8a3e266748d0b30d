"""The control stack in lockstep.

Timing, delay, rounding, chance, watchdogs, cut-off, motor and battery.
"""

import dataclasses
import functools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from footfall import Outcome, SimPlan, check_system, load, rollout, simulate
from footfall.engines.plan import FixedSteps
from footfall.hybrid.plant import Senses
from footfall.machines.control import chance
from footfall.machines.control.electrics import (
    Battery,
    Winding,
    bus,
    electrical_power,
    loop_share,
    next_current,
)
from footfall.machines.control.lockstep import Now
from footfall.machines.control.messages import Message, empty, received, sent
from footfall.scenario.errors import ScenarioError

WHEEL = "rimless-wheel-closed-loop"
LOOPS = (WHEEL, "rimless-wheel-turning-closed-loop", "urchin-spike-closed-loop")


def run(name=WHEEL, *settings, duration=1.0, rate=4000.0):
    """Every tick is a row."""
    experiment = load(name, list(settings), duration=duration)
    return simulate(
        experiment.system, experiment.start, dataclasses.replace(experiment.plan, sample_rate=rate)
    )


@functools.cache
def usual(name):
    """A robot as it is, run once for all who ask.

    The turning one goes on until it has turned, with every fourth tick a row.
    """
    return run(name, duration=3.0, rate=1000.0) if "turning" in name else run(name)


@pytest.fixture
def walked():
    return usual(WHEEL)


# --- the system -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LOOPS)
def test_plant_and_computer_are_a_hybrid_system_with_closed_books(name):
    experiment = load(name)
    assert check_system(experiment.system, experiment.start).ok
    # Fixed steps of the fourth order: 2e-10 seen for the wheel, nothing lost at a tick.
    assert usual(name).ledger.relative_residual < 1e-8


def test_both_engines_come_to_the_same_state(walked):
    """0.2 s: 800 ticks and the first footfall.

    The engines differ by the error of RK4 at 0.25 ms, 1e-9 of the state a step.
    """
    experiment = load(WHEEL)
    exact = simulate(
        experiment.system, experiment.start, SimPlan(duration=0.2, rtol=1e-10, atol=1e-12)
    )
    row = int(np.searchsorted(walked.t, 0.2 - 1e-9))
    assert (
        exact.outcome is Outcome.reached_end
        and exact["plant.steps"][-1] == walked["plant.steps"][row] == 1
    )
    for name in exact.of_role("state"):
        assert walked[name][row] == pytest.approx(exact[name][-1], rel=1e-6, abs=1e-6)


def test_two_runs_are_equal_to_the_last_bit_and_a_lane_is_what_it_is_alone(walked):
    again = run()
    assert all(np.array_equal(again[name], walked[name]) for name in walked.columns)
    noisy = {"stack.pitch_noise": 1e-3, "stack.frame_loss": 0.02, "stack.mid_jitter": 0.0005}
    columns = {key: [0.0, value, value] for key, value in noisy.items()} | {
        "stack.seed": [3.0, 3.0, 4.0]
    }
    many = rollout(load(WHEEL), designs=columns, duration=2.0)
    alone = rollout(
        load(WHEEL), designs={key: values[1:2] for key, values in columns.items()}, duration=2.0
    )
    assert many["mean_speed"].values[1] == alone["mean_speed"].values[0]
    assert len(set(many["mean_speed"].values)) == 3  # chance matters, and the seed decides it


# --- clocks, messages -----------------------------------------------------------------------------


def test_each_level_runs_at_its_own_rate(walked):
    assert walked["programs.ticks"][-1] == 4001  # both ends count
    assert walked["programs.mid_cycles"][-1] == 1001 and walked["programs.high_cycles"][-1] == 101


def test_the_mid_level_knows_the_pitch_of_one_period_ago_rounded_to_what_a_frame_carries(walked):
    known, true = walked["computer.known_pitch"], walked["computer.pitch"]
    for k in range(1, 99):  # sampled at k x 10 ms, used from the tick 10 ms later until the next
        held = known[40 * (k + 1) : 40 * (k + 2)]
        assert np.ptp(held) == 0.0 and held[0] == pytest.approx(true[40 * k], abs=0.5000001e-6)
        assert held[0] * 1e6 == pytest.approx(round(held[0] * 1e6), abs=1e-6)


def test_an_offset_of_the_high_level_moves_its_samples():
    moved = run(WHEEL, "stack.high_offset=2.5 ms", "stack.pitch_delay=0", duration=0.1)
    known, true = moved["computer.known_pitch"], moved["computer.pitch"]
    # Sampled at 2.5 ms; the mid level looks at 3 ms.
    assert known[12] == pytest.approx(true[10], abs=1e-6)
    assert known[51] == known[12] and known[52] == pytest.approx(true[50], abs=1e-6)


def test_jitter_delays_cycles_by_whole_ticks_up_to_its_bound_and_loses_none():
    late = run(WHEEL, "stack.mid_jitter=0.5 ms", "stack.high_jitter=2 ms", duration=0.5)
    high, mid = (
        np.flatnonzero(np.diff(late[f"programs.{name}_cycles"], prepend=0.0))
        for name in ("high", "mid")
    )
    assert set(high - 40 * np.arange(len(high))) == set(range(9))  # deadlines stay where they are
    assert set(np.diff(mid)) == {4, 5, 6}  # the law counts from its last call
    # Every cycle calculates: none comes before the law's sample time is over. It is off until the
    # first message comes.
    first = np.argmax(late["computer.on"])
    calculated = np.flatnonzero(np.diff(late["programs.law.last_us"])) + 1
    assert np.array_equal(calculated, mid[mid >= first])


def test_messages_arrive_in_their_time_and_the_newest_wins():
    def message(arrival, pitch):
        return Message(np.int32(arrival), np.bool_(True), np.bool_(True), pitch)

    queue = empty(3)
    assert not received(queue, np.int32(0))[1]
    for arrival, pitch in ((100, 0.1), (200, 0.2), (300, 0.3)):
        queue = sent(queue, message(arrival, pitch), np.bool_(True))
    left, got, newest = received(queue, np.int32(99))
    assert not got
    left, got, newest = received(queue, np.int32(250))
    assert got and newest.pitch == pytest.approx(0.2)  # the one of 100 was overtaken
    left, got, newest = received(left, np.int32(299))
    assert not got
    left, got, newest = received(left, np.int32(300))
    assert got and newest.pitch == pytest.approx(0.3)
    # Across the wrap of the 32-bit microseconds.
    queue = sent(empty(1), message(-(2**31) + 5, 0.5), np.bool_(True))
    assert (
        not received(queue, np.int32(2**31 - 1))[1] and received(queue, np.int32(-(2**31) + 5))[1]
    )


@pytest.mark.parametrize(
    ("setting", "word"),
    [
        ("stack.pitch_delay=19.5 ms", "queue"),
        ("stack.mid_period=0.9 ms", "whole number of ticks"),
        ("stack.high_jitter=10 ms", "after the next one"),
        ("stack.resolution=0.3 us", "microsecond"),
        ("stack.frame_loss=1.5", "<= 1"),
        ("sim.batch_step=auto", "batch_step"),
        ("sim.batch_step=0.4 ms", "step"),
    ],
)
def test_a_stack_that_cannot_be_is_refused_in_words(setting, word):
    with pytest.raises(ScenarioError, match=word):
        load(WHEEL, [setting])


# --- chance ---------------------------------------------------------------------------------------


def test_chance_is_uniform_bell_shaped_and_different_in_every_stream_and_seed():
    n = 20_000
    counts = jnp.arange(n, dtype=jnp.int32)
    rows = [
        np.asarray(chance.uniform(seed, stream, counts, 1.0))
        for seed in (0, 1)
        for stream in range(5)
    ]
    for row in rows:
        assert row.min() >= 0 and row.max() < 1
        # Five standard deviations of the mean.
        assert np.mean(row) == pytest.approx(0.5, abs=5 / math.sqrt(12 * n))
        cells = np.histogram(row, 50, (0, 1))[0]
        # Chi-squared of 49 degrees, five deviations.
        assert np.sum((cells - n / 50) ** 2 / (n / 50)) < 49 + 5 * math.sqrt(98)
        assert abs(np.corrcoef(row[:-1], row[1:])[0, 1]) < 5 / math.sqrt(n)
    worst = np.max(np.abs(np.corrcoef(rows) - np.eye(len(rows))))
    assert worst < 5 / math.sqrt(n)
    noise = np.asarray(chance.bell(0, chance.PITCH_NOISE, counts, 1.0))
    assert np.mean(noise) == pytest.approx(0.0, abs=5 / math.sqrt(n)) and np.std(
        noise
    ) == pytest.approx(1.0, abs=0.02)


def test_chance_is_the_same_in_every_precision_to_its_last_bit():
    counts = jnp.arange(1000, dtype=jnp.int32)
    double, single = (
        chance.uniform(7, 2, counts, jnp.zeros((), kind)) for kind in (jnp.float64, jnp.float32)
    )
    assert single.dtype == jnp.float32 and np.array_equal(np.asarray(double, np.float32), single)


# --- faults, exactly in virtual time --------------------------------------------------------------


def last_row(values):
    return int(np.flatnonzero(np.abs(values) > 0)[-1])


def test_a_mid_level_that_hears_nothing_switches_off_when_its_watchdog_says():
    deaf = run(WHEEL, "stack.frame_loss=1", duration=0.3)
    assert not np.any(deaf["computer.on"]) and not np.any(deaf["computer.current_1"])


def test_frames_lost_for_longer_than_the_watchdog_switch_off_until_the_operator_asks_again():
    """With 70 % lost, gaps of more than ten frames come soon; the high level goes on asking, which
    must not be enough.
    """
    lossy = run(
        "urchin-spike-closed-loop",
        "stack.frame_copies=1",
        "stack.frame_loss=0.7",
        "start.angle=0.5",
        duration=5.0,
    )
    on, heard = lossy["computer.on"], lossy["programs.heard_us"]
    assert np.any(on)
    off = np.flatnonzero((on[:-1] == 1) & (on[1:] == 0))[0] + 1  # the row at which it switched off
    silence = lossy.t[off] * 1e6 - heard[off]
    # The first cycle of the mid level at which 100 ms have passed: messages come at cycles too.
    assert silence == pytest.approx(100_000, abs=1e-6)
    assert not np.any(on[off:]) and not np.any(lossy["computer.current_1"][off:])
    assert np.any(np.diff(heard[off:]) > 0)  # frames did arrive afterwards


def test_a_motor_driver_without_commands_stops_after_its_watchdog_for_good():
    mute = run(WHEEL, "stack.command_loss=1", duration=0.3)
    tripped = mute.t[np.argmax(mute["programs.tripped"])]
    # The first tick of the low level at which 100 ms have passed.
    assert tripped == pytest.approx(0.1, abs=1e-9)
    assert not np.any(mute["computer.current_1"]) and mute["computer.cut_off"][-1] == 1


def test_too_fast_a_motor_cuts_off_in_that_cycle_and_stays_off():
    fast = run(WHEEL, "stack.speed_limit=3.5 turns/s", duration=0.5)
    cut = fast["programs.cut_off"]
    first = int(np.argmax(cut))
    assert cut[first] == 1 and np.all(cut[first:] == 1)
    assert first % 40 == 0  # a cycle of the high level
    speed = np.abs(fast["computer.motor_speed_1"]) / (2 * math.pi)
    assert speed[first] > 3.5 and np.all(speed[np.arange(0, first, 40)] <= 3.5)
    assert not np.any(fast["computer.current_1"][first:])
    assert np.any(fast["computer.current_1"][:first])


def test_the_law_waits_for_the_operator_and_starts_without_a_kick():
    waiting = run(WHEEL, "stack.switch_on=50 ms", duration=0.1)
    on = int(np.argmax(waiting["computer.on"]))
    assert waiting.t[on] == pytest.approx(0.06)  # asked at 50 ms, the message takes 10
    assert not np.any(waiting["computer.current_1"][:on])
    # The torso moves, yet the first derivative is none.
    assert waiting["programs.law.derivative"][on] == 0.0


def test_losing_one_frame_in_a_hundred_changes_the_speed_by_less_than_five_percent():
    speeds = rollout(
        load(WHEEL, ["stack.frame_copies=1"]),
        designs={"stack.frame_loss": [0.0, 0.01, 0.01], "stack.seed": [0.0, 1.0, 2.0]},
    )["mean_speed"].values
    assert speeds[1:] == pytest.approx(speeds[0], rel=0.05) and speeds[1] != speeds[0]


def test_saying_everything_twice_makes_a_lossy_line_good_enough_to_walk():
    """One corrupted byte in a hundred loses 28 % of frames of 33 bytes.

    Said once, most of 64 robots fail, said twice none.
    """
    designs = {"stack.frame_loss": np.full(64, 0.28), "stack.seed": np.arange(64.0)}
    once, twice = (
        rollout(load(WHEEL, [f"stack.frame_copies={n}"]), designs=designs) for n in (1, 2)
    )
    walk = [np.mean(results["outcome"].values == "reached_end") for results in (once, twice)]
    assert walk[0] < 0.6 and walk[1] == 1.0
    usual = rollout(load(WHEEL), designs={"stack.seed": [0.0]})["mean_speed"].item()
    assert twice["mean_speed"].values == pytest.approx(usual, rel=0.05)


def test_without_noise_loss_or_jitter_the_seed_decides_nothing():
    speeds = rollout(load(WHEEL), designs={"stack.seed": np.arange(32.0)}, duration=4.0)[
        "mean_speed"
    ].values
    assert np.ptp(speeds) == 0.0


@pytest.mark.parametrize("speeds", [(60.0, 0.0), (-60.0, 0.0), (0.0, 60.0), (0.0, -60.0)])
def test_either_motor_too_fast_in_either_direction_switches_both_off_at_once_and_says_off(speeds):
    """Motors at 60 rad/s, 9.5 turns/s; 8 are allowed."""
    system, m = at_rest()
    joint = tuple(speed / 5.4 for speed in speeds)
    m = dataclasses.replace(
        m, current_1=jnp.asarray(3.0), current_2=jnp.asarray(3.0), wanted_1=jnp.asarray(3.0)
    )
    after, torques = system._ticked(
        Senses(jnp.asarray(0.6), (0.0, 0.0), tuple(map(jnp.asarray, joint))), m
    )
    assert after.cut_off and not after.queue.newest.on
    assert after.current_1 == after.current_2 == 0.0 and torques == (0.0, 0.0)
    allowed, _ = system._ticked(
        Senses(jnp.asarray(0.6), (0.0, 0.0), tuple(jnp.asarray(0.8 * v) for v in joint)), m
    )
    assert not allowed.cut_off and allowed.queue.newest.on


def at_rest(name=WHEEL, *settings):
    experiment = load(name, list(settings))
    return experiment.system, jax.tree.map(jnp.asarray, experiment.start.m.programs)


def told(system, m, on):
    """The memory after the high level has been heard saying this, at the next cycle of the mid
    level.
    """
    message = Message(m.ticks * 250, jnp.asarray(True), jnp.asarray(on), jnp.asarray(0.6))
    m = dataclasses.replace(m, queue=sent(m.queue, message, jnp.asarray(True)), mid_next=m.ticks)
    return system._mid(m, Now(m.ticks, m.ticks * 250, jnp.float64))


def test_after_its_watchdog_the_mid_level_wants_to_hear_off_before_on():
    system, m = at_rest()
    m = told(system, m, True)
    assert m.on
    m = dataclasses.replace(m, ticks=m.ticks + 400)  # 100 ms later, nothing heard
    m = system._mid(
        dataclasses.replace(m, mid_next=m.ticks), Now(m.ticks, m.ticks * 250, jnp.float64)
    )
    assert not m.on and not m.armed
    assert not told(system, m, True).on
    m = told(system, m, False)
    assert not m.on and m.armed
    assert told(system, m, True).on


def test_a_driver_that_its_watchdog_stopped_stays_so_whatever_is_commanded():
    system, m = at_rest()
    m = dataclasses.replace(
        m, tripped=jnp.asarray(True), wanted_1=jnp.asarray(2.0), wanted_2=jnp.asarray(2.0)
    )
    after = system._low(
        Senses(jnp.asarray(0.6), (0.0, 0.0), (jnp.asarray(0.0),) * 2),
        m,
        Now(m.ticks, m.ticks, jnp.float64),
    )
    assert after.tripped and after.current_1 == after.current_2 == 0.0


@pytest.mark.parametrize(("queue", "delay"), [(2, "19 ms"), (3, "29 ms")])
def test_messages_with_the_longest_delay_that_is_allowed_arrive(queue, delay):
    late = run(WHEEL, f"stack.queue={queue}", f"stack.pitch_delay={delay}", duration=0.1)
    assert np.any(late["computer.on"])
    arrived = np.count_nonzero(np.diff(late["programs.heard_us"]))
    assert arrived == math.floor((0.1 - float(delay.split()[0]) * 1e-3) / 0.01 + 1e-9) + 1


@pytest.mark.parametrize("setting", ["stack.high_offset=150 ms", "stack.mid_offset=150 ms"])
def test_a_program_that_starts_after_a_watchdogs_time_still_drives(setting):
    later = run("urchin-spike-closed-loop", setting, "start.angle=0.5", "gravity=0", duration=0.3)
    assert later["computer.on"][-1] == 1 and not np.any(later["programs.tripped"])


def test_noise_and_loss_of_commands_are_as_large_as_they_say():
    noisy = run(
        "urchin-spike-closed-loop", "stack.pitch_noise=0.01", "start.angle=0.5", duration=8.0
    )
    known, true = noisy["computer.known_pitch"], noisy["computer.pitch"]
    rows = np.arange(1, 790) * 40
    errors = known[rows + 40] - true[rows]
    # Five standard deviations of 789 samples.
    assert np.std(errors) == pytest.approx(0.01, rel=0.13)
    assert abs(np.mean(errors)) < 5 * 0.01 / math.sqrt(len(rows))
    lossy = run(
        "urchin-spike-closed-loop", "stack.command_loss=0.3", "start.angle=0.5", duration=2.0
    )
    kept = np.count_nonzero(np.diff(lossy["programs.commanded_us"])) / 2000
    assert kept == pytest.approx(0.7, abs=5 * math.sqrt(0.21 / 2000))


def test_offset_of_the_mid_level_and_a_slower_low_level_are_kept():
    moved = run(WHEEL, "stack.mid_offset=1.5 ms", "stack.low_period=500 us", duration=0.1)
    mid = np.flatnonzero(np.diff(moved["programs.mid_cycles"], prepend=0.0))
    assert mid[0] == 6 and set(np.diff(mid)) == {4}
    changes = np.flatnonzero(np.diff(moved["computer.current_1"])) + 1
    assert len(changes) > 20 and not np.any(changes % 2)


# --- motors and battery ---------------------------------------------------------------------------


def test_the_bus_gives_its_power_at_a_voltage_that_sags_and_rises_while_motors_brake():
    battery = Battery(24.0, 0.05)
    for power in (-200.0, 0.0, 1.0, 500.0, 24.0**2 / (4 * 0.05) * 0.999):
        voltage, current = bus(battery, power)
        assert voltage * current == pytest.approx(power, rel=1e-14)
        assert voltage == pytest.approx(24.0 - 0.05 * current, rel=1e-14) and voltage >= 12.0
    assert bus(battery, -200.0)[0] > 24.0 > bus(battery, 200.0)[0]
    assert bus(Battery(24.0, 0.0), 1e4)[0] == 24.0


def test_a_current_loop_keeps_its_limit_and_cannot_ask_for_more_voltage_than_there_is():
    winding = Winding(0.034, 0.05, 40.0, 1.0)
    assert (
        next_current(winding, 24.0, 0.0, 100.0, 0.0) == 40.0
        and next_current(winding, 24.0, 0.0, -100.0, 0.0) == -40.0
    )
    fast = 700.0  # rad/s: a back-EMF of 23.8 V leaves 0.2 V for the winding
    most = next_current(winding, 24.0, fast, 40.0, 0.0)
    assert most * winding.resistance + winding.torque_constant * fast == pytest.approx(
        24.0, rel=1e-14
    )
    assert next_current(winding, 24.0, fast, -5.0, 0.0) == -5.0  # braking is easy
    # Not known: limits nothing.
    assert next_current(winding._replace(resistance=0.0), 24.0, fast, 40.0, 0.0) == 40.0
    assert electrical_power(winding, 2.0, 10.0) == pytest.approx(0.05 * 4 + 0.034 * 2 * 10)


def test_a_slow_current_loop_is_a_lag_of_its_bandwidth():
    share = loop_share(1000.0, 250e-6)
    winding, current = Winding(0.034, 0.0, 40.0, share), 0.0
    for _ in range(4):
        current = next_current(winding, 24.0, 0.0, 1.0, current)
    assert current == pytest.approx(1 - math.exp(-1.0), rel=1e-14) and loop_share(None, 1.0) == 1.0
    quick, slow = (
        run(WHEEL, *s, duration=0.2) for s in ((), ("stack.current_bandwidth=500 rad/s",))
    )
    assert np.max(np.abs(np.diff(slow["computer.current_1"]))) < 0.5 * np.max(
        np.abs(np.diff(quick["computer.current_1"]))
    )


def test_the_bandwidth_of_the_current_loop_acts_at_every_tick_of_the_low_level():
    system, m = at_rest(WHEEL, "stack.current_bandwidth=800 rad/s", "motor.resistance=0")
    m = dataclasses.replace(m, wanted_1=jnp.asarray(2.0))
    after = system._low(
        Senses(jnp.asarray(0.6), (0.0, 0.0), (jnp.asarray(0.0),) * 2),
        m,
        Now(m.ticks, m.ticks, jnp.float64),
    )
    assert float(after.current_1) == pytest.approx(2.0 * (1 - math.exp(-800 * 250e-6)), rel=1e-12)


def test_steering_adds_to_the_left_takes_from_the_right_and_turns_right():
    turned = usual("rimless-wheel-turning-closed-loop")
    on = turned["computer.on"] == 1
    left, right = turned["computer.current_1"][on], turned["computer.current_2"][on]
    # 2 I_d; commands are sent to 1e-4 A.
    assert left - right == pytest.approx(np.full(len(left), 1.0), abs=1.001e-4)
    assert turned["axle.yaw"][-1] < -0.5
    for side, number in (("left", 1), ("right", 2)):
        assert turned[f"computer.motor_speed_{number}"] == pytest.approx(
            5.4 * turned[f"{side}_motor.speed"], rel=1e-12
        )
        assert np.array_equal(turned[f"{side}_motor.current"], turned[f"computer.current_{number}"])
        torque = 5.4 * 0.034 * turned[f"computer.current_{number}"]
        assert turned[f"{side}_motor.torque"] == pytest.approx(torque, rel=1e-12, abs=1e-15)


def test_a_robot_with_one_joint_has_one_motors_gains_its_signs_and_no_steering():
    system = load("urchin-spike-closed-loop").system
    # N m/rad over G K of one motor.
    assert system.gains.proportional == pytest.approx(0.2 / (20 * 0.01))
    swung = usual("urchin-spike-closed-loop")
    rate = np.gradient(swung["computer.pitch"], swung.t)
    # Rad/s of some tens; 0.3 s.
    assert swung["computer.motor_speed_1"][5:1195] == pytest.approx(20 * rate[5:1195], abs=0.05)
    with pytest.raises(ScenarioError, match="cannot be steered"):
        load("urchin-spike-closed-loop", ["stack.steer_current=1 A"])


def test_currents_and_electrical_power_are_the_motors_own_whatever_friction_takes():
    rough = run(
        WHEEL,
        "drivetrain.viscous=0.02",
        "drivetrain.dry=0.1",
        "motor.resistance=0.1 ohm",
        duration=0.5,
    )
    mean = 0.5 * (rough["computer.current_1"] + rough["computer.current_2"])
    assert rough["motor.current"] == pytest.approx(mean, rel=1e-12, abs=1e-15)
    assert rough["motor.electrical_power"] == pytest.approx(
        rough["computer.bus_power"], rel=1e-12, abs=1e-14
    )
    # What the motors give and the joints do not get is the friction at the tick: positive, and of
    # the size it says.
    lost = 2 * 5.4 * 0.034 * mean - rough["motor.torque"]
    speed = rough["motor.speed"]
    walking = speed > 0.5
    drag = 2 * (0.02 * speed + 0.1 * np.tanh(speed / 0.1))
    assert lost[walking] == pytest.approx(drag[walking], rel=1e-6)


def test_motors_that_have_no_current_do_not_fit():
    with pytest.raises(ScenarioError, match="does not fit"):
        load(WHEEL, ["motor=ideal-motor"])


def test_a_battery_that_cannot_give_what_is_asked_switches_the_driver_off_and_says_so():
    # 1.1 W at most.
    empty = load(WHEEL, ["battery.voltage=3 V", "battery.resistance=2 ohm"], duration=1.0)
    ended = simulate(empty.system, empty.start, dataclasses.replace(empty.plan, sample_rate=4000.0))
    assert np.max(ended["computer.bus_power"]) <= 3.0**2 / (4 * 2.0)
    voltage, current = ended["computer.bus_voltage"], ended["computer.bus_current"]
    assert voltage == pytest.approx(3.0 - 2.0 * current, abs=1e-12)
    assert ended["programs.tripped"][-1] == 1
    (said,) = empty.system.remarks(ended.t, ended.columns)
    assert "motor driver switched off" in said


def test_what_the_computer_switched_off_is_said():
    def remarks(*settings):
        experiment = load(WHEEL, list(settings), duration=0.4)
        ended = simulate(experiment.system, experiment.start, experiment.plan)
        return " ".join(experiment.system.remarks(ended.t, ended.columns))

    assert not remarks()
    assert "supervisor cut the motors off at t = 0" in remarks("stack.speed_limit=3.5 turns/s")
    assert "never on" in remarks("stack.frame_loss=1")


def test_a_weak_battery_limits_the_current_and_books_stay_closed():
    weak, strong = (
        run(WHEEL, f"battery.voltage={v} V", "battery.resistance=0", "motor.resistance=0.2 ohm")
        for v in (0.6, 24.0)
    )
    speed, current = weak["computer.motor_speed_1"], weak["computer.current_1"]
    terminals = 0.2 * current + 0.034 * speed
    # The driver knows the bus of the tick before.
    room = weak["computer.bus_voltage"][:-1] - terminals[1:]
    assert np.min(room) > -1e-12 and np.min(room) < 1e-12  # at its limit, and never beyond
    assert np.max(current) < 0.8 * np.max(strong["computer.current_1"])
    assert weak.ledger.relative_residual < 1e-8


def test_friction_of_the_drivetrain_is_paid_by_the_motors_current_and_walks_slower():
    designs = {"drivetrain.viscous": [0.0, 0.02, 0.0], "drivetrain.dry": [0.0, 0.0, 0.1]}
    results = rollout(load(WHEEL), designs=designs, track=("computer.output", "motor.torque"))
    speed, current = results["mean_speed"].values, results["computer.output_mean"].values
    # The torso's weight needs the same mean torque at the joints, whatever it takes to bring it
    # there.
    assert results["motor.torque_mean"].values == pytest.approx(
        results["motor.torque_mean"].values[0], rel=0.03
    )
    assert np.all(current[1:] > 1.05 * current[0]) and np.all(np.isfinite(speed))


def test_a_robot_class_with_a_computer_has_the_parameters_of_its_plant_once():
    system = load(WHEEL).system
    plant = system.plant
    own = {f.name for f in dataclasses.fields(system)} - {
        "controller",
        "stack",
        "battery",
        "drivetrain",
    }
    assert own == {f.name for f in dataclasses.fields(plant)} - {"controller", "control_period"}
    assert all(getattr(system, name) is getattr(plant, name) for name in own)


def test_it_runs_by_the_step_engine_in_single_precision_too():
    slow, fast = (
        rollout(
            load(WHEEL), {"torso.pitch_setpoint": [0.6]}, precision=p, duration=4.0, step=2.5e-4
        )
        for p in ("float64", "float32")
    )
    # The gait forgets rounding; the speed over 2 s is known to a footfall's 7 digits in single
    # precision, times a few hundred ticks.
    assert fast["mean_speed"].item() == pytest.approx(slow["mean_speed"].item(), rel=2e-3)


def test_the_record_of_a_fixed_step_run_is_that_of_the_event_engine_where_both_have_rows():
    """The wheel without a computer, by both engines."""
    experiment = load("rimless-wheel", duration=2.0)
    exact = simulate(experiment.system, experiment.start, experiment.plan)
    stepped = simulate(
        experiment.system,
        experiment.start,
        dataclasses.replace(experiment.plan, fixed=FixedSteps(2.5e-4)),
    )
    footfalls = [e.t for e in exact.events_named("touchdown")]
    # RK4 at 0.25 ms.
    assert [e.t for e in stepped.events_named("footfall")] == pytest.approx(footfalls, abs=1e-8)
    assert stepped.signals == exact.signals
    row = int(np.searchsorted(exact.t, 1.5))
    assert exact.t[row] == stepped.t[300] == 1.5
    for name in exact.columns:
        if name.startswith("peak."):  # since the row before, which is another one
            continue
        scale = 1e-6 * max(1.0, float(np.max(np.abs(exact[name]))))
        assert stepped[name][300] == pytest.approx(exact[name][row], abs=scale)
    assert stepped.ledger.stored_start == pytest.approx(exact.ledger.stored_start)
    assert stepped.ledger.work == pytest.approx(exact.ledger.work, rel=1e-6)
    assert stepped.ledger.jump_losses == pytest.approx(
        exact.ledger.jump_losses, rel=1e-6, abs=1e-12
    )
    assert stepped.ledger.relative_residual < 1e-8


def test_tracing_leaves_types_as_they_are():
    """Loops carry the discrete state: an integer must stay one."""
    experiment = load(WHEEL)
    system, state = experiment.system, experiment.start
    m = jax.tree.map(jnp.asarray, state.m)
    after = system.jump(0.0, jax.tree.map(jnp.asarray, state.x), m, len(system.events) - 1).m
    assert [v.dtype for v in jax.tree.leaves(after)] == [v.dtype for v in jax.tree.leaves(m)]
