"""What every mid-level program does.

The one in Python and the firmware's core, one suite for both, in virtual time to the microsecond.
"""

import math
from collections.abc import Callable

import pytest

from footfall.machines.control.driver_lines import current_lines, strip_checksum
from footfall.machines.control.fingerprint import answer_format, fingerprint, request
from footfall.machines.control.framing import FrameReader, down_format, encode, up_format
from footfall.machines.control.mid import MidProgram
from support.firmware import FirmwareMid
from support.stack_cases import EVERY, ONE_MOTOR, PLAIN, ROBOT

MILLISECOND = 1000
SECOND = 1_000_000
STILL = current_lines(ROBOT, [0.0, 0.0])
PROGRAMS = {
    "Python": MidProgram,
    "Python in double precision": lambda settings: MidProgram(settings, real=float),
    "C": FirmwareMid,
}


@pytest.fixture(params=PROGRAMS)
def program_of(request) -> Callable:
    return PROGRAMS[request.param]


def say(
    program,
    now_us: int,
    on: bool = True,
    setpoint: float = 0.6,
    pitch: float = 0.5,
    steer: float = 0.0,
) -> None:
    """A frame from the high level."""
    form = down_format(program.settings)
    program.receive(encode(form, (setpoint, on, pitch, steer)[: len(form.fields)]), now_us)


def switch_on(program, now_us: int, **values) -> None:
    say(program, now_us, on=False, **values)
    say(program, now_us, on=True, **values)


def currents(lines: bytes) -> list[float]:
    """Of the motors as they are mounted."""
    texts = [strip_checksum(line) for line in lines.splitlines()]
    return [float(text.split()[2]) / ROBOT.torque_constant for text in texts]


def test_one_second_of_calls_every_100_us_gives_1000_calculations_1000_pairs_of_lines_and_100_reports(
    program_of,
):
    program, reader = program_of(ROBOT), FrameReader(up_format(ROBOT))
    lines, outputs = [], set()
    switch_on(program, 0)
    for now in range(0, SECOND, 100):
        if now % (10 * MILLISECOND) == 0:
            say(program, now)
        sent = program.step(now)
        if sent.to_driver:
            lines.append((now, sent.to_driver))
            outputs.add(program.output)
        assert len(reader.feed(sent.to_high)) == (now % (10 * MILLISECOND) == 0)
    assert [now for now, _ in lines] == list(range(0, SECOND, MILLISECOND))
    assert all(pair.count(b"\n") == 2 for _, pair in lines)
    # Each of them calculated: a constant error makes the integral grow, and it has not reached its
    # limit.
    assert len(outputs) == 1000
    assert reader.accepted == 100


def test_lines_go_out_if_and_only_if_the_law_calculated(program_of):
    program = program_of(ROBOT)
    switch_on(program, 0)
    # Six decimals of a torque: 15 uA.
    assert currents(program.step(0).to_driver) == pytest.approx([program.output] * 2, abs=0.5e-4)
    before = program.output
    assert program.step(999).to_driver == b""
    assert program.output == before
    assert program.step(1000).to_driver != b""
    assert program.output > before


def test_while_off_it_commands_0_a_at_once_and_then_once_a_period(program_of):
    program = program_of(ROBOT)
    times = [
        now for now in range(0, 4 * MILLISECOND + 100, 100) if program.step(now).to_driver == STILL
    ]
    assert times == [0, 1000, 2000, 3000, 4000]
    switch_on(program, 4100)
    assert program.step(4100).to_driver != STILL
    say(program, 4300, on=False)
    assert program.step(4300).to_driver == STILL, "it does not wait for the period to pass"
    assert not program.on
    assert program.output == 0.0


def test_it_reports_its_output_while_off_too(program_of):
    assert FrameReader(up_format(ROBOT)).feed(program_of(ROBOT).step(0).to_high) == [(0.0,)]


@pytest.mark.parametrize("name", EVERY)
def test_asked_what_it_was_built_for_it_says_so_once_beside_its_report(program_of, name):
    stack = EVERY[name]
    program = program_of(stack)
    report, answer = FrameReader(up_format(stack)), FrameReader(answer_format(stack))
    assert answer.feed(program.step(0).to_high) == []
    program.receive(request(stack) * 3, 100)
    assert answer.feed(program.step(100).to_high) == [fingerprint(stack)]
    assert program.step(200).to_high == b""
    program.receive(request(stack), 300)
    both = program.step(stack.report_period_us).to_high
    assert report.feed(both) == [(0.0,)] and answer.feed(both) == [fingerprint(stack)]
    assert not program.on and program.rejected_frames == 0


def test_a_garbled_question_is_rejected_and_not_answered(program_of):
    program = program_of(ROBOT)
    program.step(0)
    for garbled in (b"<e*64>", b"<e>", b"<ee*00>", b"<1*31>"):
        program.receive(garbled, 0)
    assert program.step(100).to_high == b"" and program.rejected_frames == 4


def test_a_1_without_a_0_before_it_starts_nothing_after_a_reset(program_of):
    program = program_of(ROBOT)
    for now in (0, 10_000):
        say(program, now)
        assert program.step(now).to_driver == STILL
    switch_on(program, 20_000)
    assert program.on
    program.reset()
    assert not program.on
    say(program, 30_000)
    assert program.step(30_000).to_driver == STILL


def test_a_reset_in_the_middle_of_a_frame_forgets_its_first_half_and_all_counts(program_of):
    program = program_of(PLAIN)
    program.receive(b"<x<0.6,0", 0)
    assert program.rejected_frames == 1
    program.reset()
    program.receive(b",0.5>", 0)
    say(program, 0)
    assert not program.on
    assert program.rejected_frames == 0


def test_the_watchdog_trips_100_ms_after_the_last_valid_frame_and_not_before(program_of):
    program = program_of(ROBOT)
    switch_on(program, 3_000)
    for now in range(3_000, 102_999, 250):
        program.step(now)
        assert program.on
    # Bytes that are no frame of ours do not count.
    program.receive(b"<0.6,1,0.5,0*00>" + encode(up_format(ROBOT), (1.0,)), 50_000)
    program.step(102_999)
    assert program.on
    assert program.step(103_000).to_driver == STILL
    assert not program.on
    assert program.watchdog_tripped


def test_after_the_watchdog_only_a_0_and_then_a_1_start_the_law_again(program_of):
    program = program_of(ROBOT)
    switch_on(program, 0)
    program.step(0)
    program.step(100_000)
    assert program.watchdog_tripped
    for now in range(110_000, 200_000, 10_000):
        say(program, now)
        assert currents(program.step(now).to_driver) == [0.0, 0.0]
    assert program.watchdog_tripped
    say(program, 200_000, on=False)
    assert not program.watchdog_tripped
    assert not program.on
    say(program, 210_000)
    assert program.on
    assert currents(program.step(210_000).to_driver)[0] > 0.0


def test_the_watchdog_also_disarms_a_program_that_is_off(program_of):
    """A 0 long ago, then silence: a lone 1 does not count as following it."""
    program = program_of(ROBOT)
    say(program, 0, on=False)
    for now in range(0, 300_000, 1000):
        program.step(now)
    say(program, 300_000)
    program.step(300_000)
    assert not program.on


def test_silence_for_longer_than_half_a_turn_of_the_counter_does_not_wake_it_up(program_of):
    program = program_of(ROBOT)
    switch_on(program, 0)
    for now in range(0, 2**32 + 2**31, 2**26):  # steps of 67 s, for 107 minutes
        program.step(now)
        assert program.on == (now == 0)


def test_switching_on_gives_no_derivative_kick_and_no_leftover_integral(program_of):
    program = program_of(ROBOT)
    switch_on(program, 0, pitch=-1.0)
    for now in range(0, 50_000, 1000):
        program.step(now)
    # No error: the output is what the law remembers, and it remembers nothing.
    switch_on(program, 50_000, setpoint=0.6, pitch=0.6)
    assert currents(program.step(50_000).to_driver) == [0.0, 0.0]


def test_off_and_on_between_two_steps_clears_the_law_as_well(program_of):
    program, fresh = program_of(ROBOT), program_of(ROBOT)
    switch_on(program, 0, pitch=-1.0)
    for now in range(0, 20_000, 1000):
        program.step(now)
    switch_on(program, 20_000)
    switch_on(fresh, 20_000)
    assert program.step(20_000).to_driver == fresh.step(20_000).to_driver


def test_steering_adds_to_one_side_what_it_takes_from_the_other_and_each_is_clamped(program_of):
    program = program_of(ROBOT)
    switch_on(program, 0, setpoint=0.6, pitch=0.6, steer=1.5)
    assert currents(program.step(0).to_driver) == pytest.approx([1.5, -1.5], abs=1.5e-5)
    program.reset()
    switch_on(program, 0, setpoint=1.5, pitch=-3.0, steer=-2.25)
    assert currents(program.step(0).to_driver) == pytest.approx([37.75, 40.0], abs=1.5e-5)
    assert program.output == 40.0, "what is reported is the law's own output"


def test_one_motor_mounted_the_other_way_round(program_of):
    program = program_of(ONE_MOTOR)
    switch_on(program, 0, setpoint=1.5, pitch=-3.0)
    (current,) = currents(program.step(0).to_driver)
    # Half of the last decimal of a torque, and single precision.
    assert current == pytest.approx(-16.3399981, abs=2e-5)
    assert program.step(249).to_driver == b""
    assert program.step(250).to_driver != b"", "4 kHz"


@pytest.mark.parametrize("name", EVERY)
def test_a_saturated_output_is_reported_in_a_frame_that_the_high_level_accepts(program_of, name):
    program, reader = program_of(EVERY[name]), FrameReader(up_format(EVERY[name]))
    for now, pitch in ((0, -3.14), (100_000, 3.14)):
        switch_on(program, now, setpoint=math.copysign(1.5, -pitch), pitch=pitch)
        program.step(now)
        (output,) = reader.feed(program.step(now + 10_000).to_high)[0]
        assert output == pytest.approx(
            math.copysign(EVERY[name].gains.output_limit, -pitch), rel=1e-6
        )


@pytest.mark.parametrize("nothing", [math.nan, math.inf, -math.inf])
def test_a_pitch_that_is_no_number_keeps_the_output_for_one_call_and_then_counts_as_a_watchdog_failure(
    program_of, nothing
):
    """Frames cannot carry such a pitch; a chip that reads its sensor itself could."""
    program = program_of(ROBOT)
    switch_on(program, 0)
    first = program.step(0).to_driver
    program.take(0.6, True, nothing, 0.0, 500)
    assert program.step(1000).to_driver == first
    assert program.step(1500).to_driver == b""
    assert program.step(2000).to_driver == STILL
    assert program.watchdog_tripped


def test_one_pitch_that_is_no_number_between_good_ones_is_passed_over(program_of):
    program, other = program_of(ROBOT), program_of(ROBOT)
    for each in (program, other):
        switch_on(each, 0)
        each.step(0)
    program.take(0.6, True, math.nan, 0.0, 1000)
    program.step(1000)
    for now in (2000, 3000):
        for each in (program, other):
            say(each, now)
        assert program.step(now).to_driver == other.step(now).to_driver, (
            "the integral did not run while nothing was seen"
        )
    program.take(0.6, True, math.nan, 0.0, 4000)
    program.step(4000)
    assert program.on, "it was one call only, again"


def test_switching_off_forgets_that_nothing_was_seen(program_of):
    program = program_of(ROBOT)
    for now in (0, 10_000):
        switch_on(program, now)
        program.take(0.6, True, math.nan, 0.0, now)
        program.step(now)
        assert program.on, "one call only, each time"


@pytest.mark.parametrize(
    "values", [{"setpoint": math.nan}, {"steer": math.nan}, {"setpoint": math.inf, "pitch": 0.0}]
)
def test_nothing_that_is_no_number_ever_reaches_the_driver(program_of, values):
    program = program_of(ROBOT)
    switch_on(program, 0)
    told = {"setpoint": 0.6, "pitch": 0.5, "steer": 0.0} | values
    program.take(told["setpoint"], True, told["pitch"], told["steer"], 0)
    lines = program.step(0).to_driver
    assert (
        lines == STILL if any(map(math.isnan, told.values())) else currents(lines) == [40.0, 40.0]
    )


def test_a_corrupted_frame_among_good_ones_is_counted_and_changes_nothing(program_of):
    clean, noisy = program_of(ROBOT), program_of(ROBOT)
    for program in (clean, noisy):
        switch_on(program, 0)
    bad = bytearray(encode(down_format(ROBOT), (0.1, 0, 0.9, 3.0)))
    bad[5] ^= 1
    for now in range(0, 60_000, 500):
        if now == 30_500:
            noisy.receive(bytes(bad), now)
        if now % 10_000 == 0:
            for program in (clean, noisy):
                say(program, now)
        assert noisy.step(now) == clean.step(now)
    assert (clean.rejected_frames, noisy.rejected_frames) == (0, 1)


def test_the_newest_of_several_frames_that_arrive_together_wins(program_of):
    program, other = program_of(ROBOT), program_of(ROBOT)
    switch_on(program, 0)
    say(program, 0, pitch=0.1)
    say(program, 0, pitch=0.4)
    switch_on(other, 0, pitch=0.4)
    assert program.step(0) == other.step(0)


@pytest.mark.parametrize("wrapped", [False, True], ids=["growing counter", "32-bit counter"])
def test_the_wrap_of_the_microsecond_counter_in_the_middle_of_a_run_changes_nothing(
    program_of, wrapped
):
    start = 2**32 - 100_000 - 37
    here, there = program_of(ROBOT), program_of(ROBOT)
    for k in range(0, 400_000, 250):
        now = (start + k) % 2**32 if wrapped else start + k
        if k % 10_000 == 0 and k < 200_000:  # then silence: the watchdog, across the wrap as well
            for program, at in ((here, k), (there, now)):
                say(program, at, on=k > 0, pitch=0.5 + k * 1e-7)
        assert here.step(k) == there.step(now)
    assert here.watchdog_tripped and there.watchdog_tripped


def test_a_late_report_does_not_delay_those_after_it_and_missed_ones_are_not_made_up_for(
    program_of,
):
    program = program_of(ROBOT)
    calls = [0, 9_000, 10_900, 20_000, 29_999, 30_000, 55_000, 55_250, 64_999, 65_000]
    reported = [now for now in calls if program.step(now).to_high]
    assert reported == [0, 10_900, 20_000, 30_000, 55_000, 65_000]
