"""The pitch law: the specification's test vector, what it says in words, and an implementation by
others.
"""

import itertools
import math

import numpy as np
import pytest
import simple_pid

from footfall.machines.control.microseconds import elapsed_us
from footfall.machines.control.pid import PidGains, PidMemory, cleared, pid_update
from support.stack_cases import WALKING

MILLISECOND = 1000

# control-stack.md, section 5
VECTOR = PidGains(
    2.0, 10.0, 0.05, integral_limit=0.3, output_limit=3.0, filter_time=0.005, period_us=MILLISECOND
)
EXPECTED = {
    0: (2.010000000, 0.010000000, 0.0),
    4: (2.050000000, 0.050000000, 0.0),
    5: (2.060000000, 0.060000000, 0.0),
    6: (1.085701694, 0.069048374, -15.860430327),
    10: (-0.959247020, 0.097412371, -45.394414210),
    20: (-1.174675319, 0.133867363, -35.096060043),
    40: (-0.103523249, 0.152212052, -6.322601351),
    59: (0.114183259, 0.154653868, -0.990075421),
}


def run(gains: PidGains, setpoints, measurements, start_us: int = 0) -> list[PidMemory]:
    """The memory after each of a row of calls, one period apart."""
    memory, rows = cleared(), []
    for k, (setpoint, measured) in enumerate(zip(setpoints, measurements, strict=True)):
        memory, calculated = pid_update(
            gains, memory, start_us + k * gains.period_us, setpoint, measured
        )
        assert calculated
        rows.append(memory)
    return rows


def vector_response() -> list[float]:
    return [0.0 if k < 5 else 1 - math.exp(-(k - 5) / 10) for k in range(60)]


@pytest.mark.parametrize("k", EXPECTED)
def test_the_law_gives_the_specifications_test_vector(k):
    row = run(VECTOR, [1.0] * 60, vector_response())[k]
    # The page's own tolerance.
    assert (row.output, row.integral, row.derivative) == pytest.approx(EXPECTED[k], abs=1e-8)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_constant_error_drives_the_integral_exactly_to_its_limit_and_it_leaves_at_once_when_the_error_changes_sign(
    sign,
):
    measurements = [-sign] * 100 + [sign]
    rows = run(VECTOR, [0.0] * 101, measurements)
    assert rows[99].integral == sign * 0.3
    assert rows[98].integral == sign * 0.3  # it has rested there
    # Ki e Ts less: one rounding.
    assert rows[100].integral == pytest.approx(sign * (0.3 - 0.01), abs=1e-15)


@pytest.mark.parametrize("period", [MILLISECOND, 250])
def test_a_call_one_microsecond_early_does_nothing_and_one_on_time_calculates(period):
    gains = VECTOR._replace(period_us=period)
    first, calculated = pid_update(gains, cleared(), 7, 1.0, 0.2)
    assert calculated
    early, calculated = pid_update(gains, first, 7 + period - 1, 1.0, 0.9)
    assert not calculated
    assert early == first
    _, calculated = pid_update(gains, first, 7 + period, 1.0, 0.9)
    assert calculated


def test_a_late_call_calculates_once_with_the_nominal_period_and_sets_the_clock_to_now():
    first, _ = pid_update(VECTOR, cleared(), 0, 1.0, 0.0)
    late, calculated = pid_update(VECTOR, first, 5_700, 1.0, 0.0)
    on_time, _ = pid_update(VECTOR, first, 1_000, 1.0, 0.0)
    assert calculated
    assert late == on_time._replace(last_us=5_700)
    _, again = pid_update(VECTOR, late, 6_000, 1.0, 0.0)
    assert not again, "no catching up"


@pytest.mark.parametrize(
    "count", [int, lambda t: t % 2**32], ids=["counter that never wraps", "32-bit counter"]
)
def test_the_wrap_of_the_microsecond_counter_is_harmless(count):
    start = 2**32 - 20 * MILLISECOND - 300
    memory, rows = cleared(), []
    for k, measured in enumerate(vector_response()):
        for early_us in (1, 0):
            memory, calculated = pid_update(
                VECTOR, memory, count(start + k * MILLISECOND - early_us * (k > 0)), 1.0, measured
            )
        rows.append(memory)
        assert calculated == (k > 0)  # the first call of all is never early, so its repetition is
    plain = run(VECTOR, [1.0] * 60, vector_response())
    assert [row[2:] for row in rows] == [row[2:] for row in plain]


def test_a_step_of_the_set_point_gives_no_derivative_term():
    rows = run(VECTOR, [0.0] * 5 + [0.5] * 5, [0.1] * 10)
    assert [row.derivative for row in rows] == [0.0] * 10
    assert rows[5].output - rows[4].output == pytest.approx(
        VECTOR.proportional * 0.5 + 10 * 0.4 * 0.001 - 0.0, abs=1e-12
    )


def test_a_filter_time_of_zero_gives_the_raw_derivative():
    measurements = [0.0, 0.3, 0.2, 0.7]
    rows = run(VECTOR._replace(filter_time=0.0), [0.0] * 4, measurements)
    raw = [0.0, *(-(b - a) / 1e-3 for a, b in itertools.pairwise(measurements))]
    # A few roundings of numbers up to 500.
    assert [row.derivative for row in rows] == pytest.approx(raw, rel=1e-13)


def test_the_filter_halves_a_held_signals_spikes_as_a_first_order_filter_does():
    """A unit spike of the raw derivative decays by Tf / (Tf + Ts) a call."""
    rows = run(VECTOR, [0.0] * 6, [0.0, 0.001, 0.001, 0.001, 0.001, 0.001])
    ratios = [b.derivative / a.derivative for a, b in itertools.pairwise(rows[1:])]
    assert ratios == pytest.approx([5 / 6] * 4, rel=1e-12)  # roundings


def test_a_change_of_the_integral_gain_makes_no_bump():
    memory = run(VECTOR, [0.5] * 20, [0.5 - 0.1] * 20)[-1]
    changed, _ = pid_update(VECTOR._replace(integral=0.0), memory, 20 * MILLISECOND, 0.5, 0.4)
    assert changed.output == memory.output


def test_comparing_float_seconds_skips_a_third_of_the_ticks_and_counting_microseconds_skips_none():
    ticks = 3000
    last, by_seconds = None, 0
    for k in range(ticks):
        now = k * 0.001
        if last is None or not now - last < 0.001:
            last, by_seconds = now, by_seconds + 1
    # The page says a third are skipped; which, depends on the roundings.
    assert 0.6 * ticks < by_seconds < 0.72 * ticks
    memory, by_microseconds = cleared(), 0
    for k in range(ticks):
        memory, calculated = pid_update(VECTOR, memory, k * MILLISECOND, 0.0, 0.0)
        by_microseconds += calculated
    assert by_microseconds == ticks


def test_elapsed_time_is_signed_and_right_across_the_wrap():
    assert elapsed_us(3, 2**32 - 2) == 5
    assert elapsed_us(2**32 - 2, 3) == -5
    assert elapsed_us(2**31 - 1, 0) == 2**31 - 1
    assert elapsed_us(2**40 + 7, 2**40) == 7


@pytest.mark.parametrize("integral", [0.0, 27.0])
def test_the_law_agrees_with_simple_pid_where_the_two_mean_the_same(integral):
    """Both: derivative of the measurement, integral held in units of the output and limited, output
    limited. They differ in three ways, which are made alike here: simple-pid has no derivative
    filter (Tf = 0); it divides by the time measured, we by the nominal one (so calls are exactly
    periodic); and it has one limit for integral and output (so ours are set equal)."""
    gains = PidGains(
        16.0,
        integral,
        1.2,
        integral_limit=2.0,
        output_limit=2.0,
        filter_time=0.0,
        period_us=MILLISECOND,
    )
    other = simple_pid.PID(
        16.0, integral, 1.2, setpoint=0.6, sample_time=None, output_limits=(-2.0, 2.0)
    )
    measurements = 0.6 + 0.3 * np.sin(np.arange(2000) * 0.01) * np.exp(-np.arange(2000) * 1e-3)
    ours = run(gains, [0.6] * 2000, measurements.tolist())
    theirs = [other(measured, dt=1e-3) for measured in measurements.tolist()]
    outputs = [row.output for row in ours]
    assert max(outputs) == 2.0 and min(outputs) == -2.0, "the limits are tried"
    # 2000 sums of numbers below 7, of 1e-15 each, with room.
    assert outputs == pytest.approx(theirs, abs=1e-9)


def test_in_single_precision_the_law_stays_in_single_precision():
    memory, _ = pid_update(
        WALKING.of_type(np.float32), cleared(np.float32), 0, np.float32(0.6), np.float32(0.5)
    )
    assert {type(value) for value in memory[2:]} == {np.float32}
