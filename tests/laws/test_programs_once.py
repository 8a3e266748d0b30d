"""The control programs are one text.

Lockstep and the programs with bytes call the same functions, and agree step by step.
"""

import dataclasses
import functools
import math
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from footfall import load
from footfall.hybrid.plant import Senses
from footfall.machines.control import axis_step, mid_step, pid, safety_step
from footfall.machines.control.axis_step import AxisMemory, AxisNumbers, Command, Mode
from footfall.machines.control.electrics import Battery, Winding
from footfall.machines.control.lockstep import Now
from footfall.machines.control.mid import MidProgram
from footfall.machines.control.mid_step import Frame
from footfall.machines.control.safety_step import Pressed, SafetyMemory
from footfall.machines.control.virtual_bench import VirtualBench
from footfall.numerics.namespace import choose
from footfall.realtime.plant import stack_settings
from support.bench import bench
from support.stack_cases import WALKING

TICK_US, TICKS = 250, 1600  # 0.4 s
SHARED = {
    "supervisor": (
        safety_step.over_speed,
        safety_step.watched,
        safety_step.sensed,
        safety_step.may_run,
    ),
    "mid level": (mid_step.heard, mid_step.stepped, pid.pid_update),
    "motor driver": (axis_step.ticked, axis_step.loaded),
}


@functools.cache
def wheel():
    # The programs send torques in steps of 1e-6 N m: at 0.034 N m/A, this current.
    step = f"stack.current_step={1e-6 / 0.034!r}"
    changes = ["stack.pitch_delay=0", "stack.switch_on=20 ms", step]
    return load("rimless-wheel-closed-loop", changes)


def called_by(run) -> set:
    """Code of every function that is called meanwhile."""
    seen = set()
    sys.setprofile(lambda frame, event, _: seen.add(frame.f_code) if event == "call" else None)
    try:
        run()
    finally:
        sys.setprofile(None)
    return seen


@functools.cache
def called_by_both() -> tuple[set, set]:
    system, start = wheel().system, wheel().start
    senses = Senses(jnp.asarray(0.6), (0.0, 0.0), (jnp.asarray(0.0),) * 2)
    lockstep = called_by(
        lambda: jax.eval_shape(system._ticked, senses, jax.tree.map(jnp.asarray, start.m.programs))
    )
    return lockstep, called_by(lambda: bench().run(0.05))


@pytest.mark.parametrize("level", SHARED)
def test_lockstep_and_the_programs_with_bytes_call_the_same_functions(level):
    lockstep, programs = called_by_both()
    for function in SHARED[level]:
        assert function.__code__ in lockstep and function.__code__ in programs, function.__name__


# --- lockstep against the programs, bytes and all -------------------------------------------------


class Table:
    """A plant that does what a table says, whatever the motors do."""

    positions = (0.0, 0.0)

    def __init__(self, pitches: np.ndarray, speeds: np.ndarray):
        self._pitches, self._speeds, self._k = pitches, speeds, 0

    @property
    def pitch(self) -> float:
        return float(self._pitches[self._k])

    @property
    def speeds(self) -> tuple[float, ...]:
        return tuple(map(float, self._speeds[self._k]))

    def advance(self, currents, dt_us: int) -> None:
        self._k = min(self._k + dt_us // TICK_US, TICKS - 1)


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A pitch [rad] around the set point, once so far from it that the largest current is asked;
    motors [turns/s] inside their limit.
    """
    draw, t = np.random.default_rng(seed), np.arange(TICKS) * TICK_US * 1e-6
    waves = sum(
        draw.uniform(0.3, 0.8) * np.sin(draw.uniform(10, 200) * t + draw.uniform(0, 6))
        for _ in range(3)
    )
    speeds = np.stack(
        [draw.uniform(2, 7) * np.sin(draw.uniform(10, 100) * t) for _ in range(2)], axis=1
    )
    return np.where((t > 0.1) & (t < 0.13), -2.2, 0.6 + waves), speeds


@functools.cache
def ticks_of_lockstep():
    """The three levels, as often as the table is long; each may be dead, and the line from the
    first to the second cut.
    """
    system = wheel().system

    def tick(m, row):
        angle, speeds, supervisor, line, mid = row
        senses = Senses(
            angle,
            (0.0, 0.0),
            tuple(speeds[k] * math.tau / system.motor.gear_ratio for k in range(2)),
        )
        now = Now(m.ticks, m.ticks * TICK_US, angle.dtype)

        def alive(flag, after, before):
            return jax.tree.map(
                lambda new, old: jnp.where(flag, new, old).astype(old.dtype), after, before
            )

        high = system._high(senses, m, now)
        high = dataclasses.replace(high, queue=alive(line, high.queue, m.queue))
        high = alive(supervisor, high, m)
        low = system._low(senses, alive(mid, system._mid(high, now), high), now)
        low = alive(True, dataclasses.replace(low, ticks=low.ticks + 1), m)
        return low, (low.current_1, low.current_2, low.on)

    return jax.jit(lambda m, rows: jax.lax.scan(tick, m, rows))


@pytest.mark.parametrize(
    ("fault", "ends"),
    [
        ("none", None),
        ("over speed", 0.16),  # the first cycle of the supervisor after 0.155 s
        (
            "supervisor killed",
            0.25,
        ),  # its last frame was sent at 0.15 s; the mid level waits 100 ms
        ("line cut for 120 ms", 0.25),  # and then "on" is not enough
        (
            "mid level silent",
            0.254,
        ),  # its last command was sent at 0.154 s; the driver waits 100 ms
    ],
)
def test_lockstep_and_the_programs_with_bytes_command_the_same_currents_tick_by_tick(fault, ends):
    """On a plant that does not listen: what differs does not grow. Frames carry 1e-6 rad and 1e-6
    N m, read from decimals here and counted in steps there, 1e-16 apart; over a millisecond that is
    1e-13 rad/s, far below 1e-9 A. The motor driver reads torques in single precision, half of whose
    last bit is 2.4e-6 A of 40 A."""
    system, start = wheel().system, wheel().start
    settings, t = stack_settings(system), np.arange(TICKS) * TICK_US * 1e-6
    pitches, speeds = drawn(seed=3)
    if fault == "over speed":
        speeds[t >= 0.155, 1] = -9.0  # 8 are allowed; the driver itself would trip at 9.6
    on_bench = VirtualBench(
        settings,
        Table(pitches, speeds),
        MidProgram(settings, real=float),
        [system.winding] * 2,
        system.pack,
        ["0.01 motors-on", "0.02 run"],
        mid_poll_us=TICK_US,
    )
    supervisor, line, mid = (np.ones(TICKS, bool) for _ in range(3))
    if fault == "supervisor killed":
        on_bench.at(0.155, on_bench.kill_supervisor)
        supervisor = t < 0.155
    elif fault == "line cut for 120 ms":
        on_bench.at(0.155, lambda: setattr(on_bench.down_noise, "rate", 1.0))
        on_bench.at(0.275, lambda: setattr(on_bench.down_noise, "rate", 0.0))
        line = (t < 0.155) | (t >= 0.275)
    elif fault == "mid level silent":
        on_bench.at(0.155, on_bench.silence_mid)
        mid = t < 0.155
    on_bench.run(TICKS * TICK_US * 1e-6)
    programs = np.array([moment.currents for moment in on_bench.flow])[:TICKS]
    m = jax.tree.map(jnp.asarray, start.m.programs)
    m, (left, right, _) = ticks_of_lockstep()(
        m, tuple(map(jnp.asarray, (pitches, speeds, supervisor, line, mid)))
    )
    lockstep = np.stack([left, right], axis=1)[: len(programs)]
    assert len(programs) >= TICKS - 1
    assert np.max(np.abs(programs - lockstep)) < 2.5e-6
    assert np.max(np.abs(programs)) == pytest.approx(settings.gains.output_limit), (
        "limits are reached"
    )
    flows = np.flatnonzero(np.any(programs != 0, axis=1))
    last = t[flows[-1]] + TICK_US * 1e-6
    assert last == pytest.approx(
        ends if ends is not None else TICKS * TICK_US * 1e-6, abs=1.5 * TICK_US * 1e-6
    )


# --- each program, number by number and traced ----------------------------------------------------

LANES, STEPS = 24, 250


def faulty_supervisor(draw):
    """Cycles with buttons, a switch, motors too fast, a driver that leaves closed loop, a sensor
    that is stale or says nonsense.
    """
    rare = lambda p: draw.random((STEPS, LANES)) < p  # noqa: E731
    pitch = np.where(
        rare(0.01),
        draw.choice([np.nan, np.inf, 4.0], (STEPS, LANES)),
        draw.uniform(-3, 3, (STEPS, LANES)),
    )
    # 25 cycles without a pitch are too many.
    fresh = np.repeat(draw.random((STEPS // 25, LANES)) < 0.8, 25, axis=0)
    speed = np.where(
        rare(0.01),
        draw.choice([9.0, -9.0, np.nan], (STEPS, LANES)),
        draw.uniform(-7, 7, (STEPS, LANES)),
    )
    # Closed loop, joystick gone, on, off, calibrate, start switch.
    flags = [rare(p) for p in (0.99, 0.01, 0.2, 0.02, 0.02, 0.8)]
    return (pitch, fresh, speed, *flags)


def supervised(memory, now_us, pitch, fresh, speed, closed, gone, on, off, calibrate, run):
    memory, lost = choose(
        memory.motors_on, safety_step.disobeyed(memory, closed, now_us), (memory, closed & False)
    )
    (fast,) = safety_step.over_speed([speed], 8.0)
    memory = safety_step.watched(memory, fast | lost | gone, off)
    memory, trouble = safety_step.sensed(memory, fresh, pitch, math.pi, 100_000, now_us)
    memory, orders = safety_step.obeyed(memory, Pressed(on, off, calibrate), run, now_us)
    return memory, (trouble, *orders, safety_step.may_run(memory, run))


def faulty_mid(draw):
    """Frames that say on and off, silences, a pitch that is no number, set points and steering
    beyond all limits.
    """
    rare = lambda p: draw.random((STEPS, LANES)) < p  # noqa: E731
    comes = rare(0.3) & np.repeat(draw.random((STEPS // 25, LANES)) < 0.8, 25, axis=0)
    pitch = np.where(rare(0.1), np.nan, draw.uniform(-3, 3, (STEPS, LANES)))
    return (
        comes,
        rare(0.85),
        draw.uniform(-3, 3, (STEPS, LANES)),
        pitch,
        draw.uniform(-30, 30, (STEPS, LANES)),
    )


def mid_levelled(memory, now_us, comes, on, setpoint, pitch, steer):
    memory = choose(
        comes, mid_step.heard(memory, Frame(on, setpoint, pitch, steer), now_us), memory
    )
    return mid_step.stepped(WALKING, 100_000, 2, memory, now_us)


def faulty_driver(draw):
    """Commands with gaps, motors beyond the driver's own limit, a bus that sags, an axis that is
    armed again.
    """
    rare = lambda p: draw.random((STEPS, LANES)) < p  # noqa: E731
    fed = rare(0.3) & np.repeat(draw.random((STEPS // 25, LANES)) < 0.8, 25, axis=0)
    speed = np.where(rare(0.01), 10.0, draw.uniform(-9, 9, (STEPS, LANES)))
    return (
        fed,
        rare(0.1),
        draw.uniform(-60, 60, (STEPS, LANES)),
        draw.uniform(6, 24, (STEPS, LANES)),
        speed,
    )


def driven(mode, memory, now_us, fed, armed, amount, voltage, speed):
    numbers = AxisNumbers(Winding(0.034, 0.1, 40.0, 0.5), 100_000, speed_limit=8.0)
    memory = choose(armed, memory._replace(closed_loop=True, error=0, fed_us=now_us), memory)
    memory = choose(fed, memory._replace(fed_us=now_us), memory)
    memory = axis_step.ticked(
        numbers, memory, Command(mode, amount, 0.1 * amount, amount), now_us, voltage, speed, 0.3
    )
    (memory,), *bus = axis_step.loaded(
        Battery(voltage, 1.0), [numbers.winding], [memory], [speed * math.tau]
    )
    return memory, tuple(bus)


IDLE = AxisMemory(False, 0, 0.0, 0.0, calibrating=True, calibrated=False, calibrated_us=50_000)
PROGRAMS = {
    "supervisor": (SafetyMemory(), faulty_supervisor, supervised, 10_000),
    "mid level": (mid_step.started(), faulty_mid, mid_levelled, 7_300),
    "driver, current": (IDLE, faulty_driver, functools.partial(driven, Mode.CURRENT), 7_300),
    "driver, velocity": (IDLE, faulty_driver, functools.partial(driven, Mode.VELOCITY), 7_300),
    "driver, position": (IDLE, faulty_driver, functools.partial(driven, Mode.POSITION), 7_300),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_decides_the_same_for_plain_numbers_as_for_traced_lanes_step_by_step(name):
    first, faults, program, period_us = PROGRAMS[name]
    inputs = faults(np.random.default_rng(5))
    compiled = jax.jit(program)
    lanes = jax.tree.map(
        lambda value: jnp.full(LANES, value, jnp.int32 if type(value) is int else None), first
    )
    alone = [first] * LANES
    changed = set()
    for k in range(STEPS):
        now_us = k * period_us
        lanes, seen = compiled(lanes, jnp.int32(now_us), *(values[k] for values in inputs))
        done = [
            program(alone[lane], now_us, *(values[k, lane].item() for values in inputs))
            for lane in range(LANES)
        ]
        before, alone = alone, [memory for memory, _ in done]
        for ours, theirs in zip(
            jax.tree.leaves((lanes, seen)),
            zip(*map(jax.tree.leaves, done), strict=True),
            strict=True,
        ):
            # XLA may merge products and sums: a few units in the last place of terms of some
            # hundreds.
            np.testing.assert_allclose(np.broadcast_to(ours, LANES), theirs, rtol=1e-12, atol=1e-10)
        changed |= {
            field
            for lane in range(LANES)
            for field in first._fields
            if differ(before[lane], alone[lane], field)
        }
    assert changed == set(first._fields) - {"calibrated_us"}, "what never changed was not tried"


def differ(before, after, field: str) -> bool:
    return getattr(before, field) != getattr(after, field)
