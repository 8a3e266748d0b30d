"""The failure matrix of control-stack.md, section 7, exactly.

In virtual time, to the tick. One test or more for each row.
"""

import dataclasses

import pytest
from tests.support.bench import SETTINGS, WALK, Driver, Hand, HandClock, Journal, Sensor, bench

from footfall.machines.control.contracts import DeviceError
from footfall.machines.control.framing import FrameReader, down_format
from footfall.machines.control.odrive_axis import AxisError, AxisState
from footfall.machines.control.ports import LinkLost, pipe
from footfall.machines.control.supervisor import Supervisor
from footfall.machines.control.virtual_bench import VirtualBench

FAULT = 1.0  # s: by then the toy walks, and takes more than 2 A


def current_ended_us(on_bench: VirtualBench, after: float = FAULT) -> int:
    """When the last current stopped flowing.

    It did flow right up to that tick: a fault that came to nothing would not pass.
    """
    ticks = [moment.now_us for moment in on_bench.flow if any(moment.currents)]
    assert ticks[-1] >= after * 1e6 - 10_000  # it walked until the fault, or the cycle before
    return ticks[-1] + on_bench.settings.low_period_us


def walked(on_bench: VirtualBench, begin: float, end: float) -> bool:
    """Whether current flowed in every tick between."""
    between = [moment for moment in on_bench.flow if begin * 1e6 <= moment.now_us < end * 1e6]
    return bool(between) and all(all(moment.currents) for moment in between)


def still(on_bench: VirtualBench, begin: float, end: float) -> bool:
    """Whether none flowed in any tick between."""
    between = [moment for moment in on_bench.flow if begin * 1e6 <= moment.now_us < end * 1e6]
    return bool(between) and not any(any(moment.currents) for moment in between)


class Cycles:
    """A supervisor among devices that write down what is asked of them, past its start.

    Armed and running.
    """

    def __init__(self) -> None:
        journal, self.clock = Journal(), HandClock()
        self.driver, self.sensor, self.hand = Driver(), Sensor(), Hand()
        port, self.mid_end = pipe()
        self.entries, self.frames = journal.entries, FrameReader(down_format(SETTINGS))
        self.supervisor = Supervisor(
            SETTINGS,
            journal.of(self.driver, "speeds", "positions", "bus", "motors_off", "motors_on"),
            journal.of(self.sensor, "newest"),
            journal.of(port, "write", "read"),
            self.hand,
            lambda record: True,
            self.clock,
        )
        self.cycle()
        self.hand.press("motors_on")
        self.cycle()
        self.hand.wishes["run"] = True
        assert self.cycle().setpoint_on

    def cycle(self):
        """One more: its record. Its calls are in `entries`, the flag of its frame in `flag`."""
        self.entries.clear()
        self.clock.us += 10_000
        record = self.supervisor.cycle()
        ((_, self.flag, *_),) = self.frames.feed(self.mid_end.read())
        return record


# One motor over the speed limit, either sign


@pytest.mark.parametrize(
    "speeds", [(8.01, 0.0), (-8.01, 0.0), (0.0, 8.01), (0.0, -8.01), (float("nan"), 0.0)]
)
def test_over_speed_switches_both_motors_off_before_anything_else_in_the_cycle(speeds):
    cycles = Cycles()
    cycles.driver.turning = speeds
    record = cycles.cycle()
    assert cycles.entries[:2] == ["speeds", "motors_off"]
    assert cycles.entries.index("newest") > 1 and cycles.entries.index("write") > 1
    assert cycles.driver.axis_states == (AxisState.IDLE, AxisState.IDLE)
    assert (cycles.flag, record.setpoint_on, record.motors_on) == (0.0, False, False)
    assert "Over speed" in record.fault


def test_speed_at_its_limit_is_no_fault():
    cycles = Cycles()
    cycles.driver.turning = (8.0, -8.0)
    assert cycles.cycle().setpoint_on


def test_over_speed_is_latched_until_motors_on_is_pressed_afterwards():
    cycles = Cycles()
    cycles.driver.turning = (9.0, 0.0)
    cycles.hand.press("motors_on")  # in the same cycle: before the operator can have known
    cycles.cycle()
    cycles.driver.turning = (0.0, 0.0)
    assert all(cycles.cycle().fault and not cycles.flag for _ in range(100))
    cycles.hand.press("motors_on")
    record = cycles.cycle()
    assert (record.fault, record.motors_on, record.setpoint_on) == ("", True, False)


def test_motors_on_pressed_while_still_over_speed_does_not_arm():
    cycles = Cycles()
    cycles.driver.turning = (9.0, 0.0)
    cycles.cycle()
    cycles.hand.press("motors_on")
    assert cycles.cycle().fault
    cycles.driver.turning = (0.0, 0.0)
    assert cycles.cycle().fault and "motors_on" not in cycles.entries  # that press is spent


@pytest.mark.parametrize(
    "motor, excess", [(0, 7.0), (0, -11.0), (1, 7.0), (1, -11.0)]
)  # the toy turns at 1.7 turns/s
def test_no_current_flows_after_the_cycle_that_saw_over_speed(motor, excess):
    on_bench = bench(WALK)
    on_bench.at(FAULT, lambda: on_bench.over_speed(motor, excess))
    on_bench.run(1.5)
    first = next(record for record in on_bench.records if record.fault)
    # The first cycle after the encoder's first sample of it.
    assert first.t == pytest.approx(FAULT + 0.01)
    assert abs((first.motor_vel_l, first.motor_vel_r)[motor] or 0.0) > SETTINGS.speed_limit
    assert current_ended_us(on_bench) <= 1_010_000
    assert all(record.fault for record in on_bench.records[first.cycle :])


# Speed query raises or times out


@pytest.mark.parametrize(
    "trouble",
    [DeviceError("no answer"), LinkLost("unplugged"), ValueError("not a number"), TimeoutError()],
)
def test_speeds_that_cannot_be_read_are_treated_as_over_speed(trouble):
    cycles = Cycles()
    cycles.driver.trouble = trouble
    record = cycles.cycle()
    assert cycles.entries[:2] == ["speeds", "motors_off"]
    # The driver cannot be told: the mid level is.
    assert "newest" in cycles.entries and cycles.flag == 0.0
    assert (record.setpoint_on, record.motor_vel_l, record.motor_pos_l, record.bus_voltage) == (
        False,
        None,
        None,
        None,
    )
    assert "could not be read" in record.fault


def test_order_to_switch_off_is_repeated_until_the_driver_takes_it():
    cycles = Cycles()
    cycles.driver.trouble = DeviceError("no answer")
    cycles.cycle()
    cycles.cycle()
    assert cycles.driver.axis_states == (8, 8)
    cycles.driver.trouble = None
    assert cycles.cycle().fault
    assert cycles.driver.axis_states == (1, 1)


def test_silent_driver_is_stopped_through_the_mid_level_in_the_same_cycle():
    on_bench = bench(WALK)
    on_bench.at(FAULT, on_bench.silence_usb)
    on_bench.run(1.5)
    first = next(record for record in on_bench.records if record.fault)
    assert (first.t, first.motor_vel_l) == (pytest.approx(FAULT), None)
    # 4 ms: the limit of OdriveAscii for an answer; then the mid level's next turn.
    assert current_ended_us(on_bench) <= 1_004_000 + 250
    # Waiting did not cost a cycle.
    assert on_bench.supervisor is not None and on_bench.supervisor.late_cycles == 0


def test_driver_whose_answers_are_lost_still_hears_the_order_to_switch_off():
    on_bench = bench(WALK)
    hear = on_bench.odrive.usb

    def lose_answers() -> None:
        on_bench.odrive.usb = lambda data, now_us, board: hear(data, now_us, board)[:0]  # type: ignore[method-assign]

    on_bench.at(FAULT, lose_answers)
    on_bench.run(1.5)
    assert current_ended_us(on_bench) <= 1_004_000
    assert [axis.state for axis in on_bench.odrive.axes] == [AxisState.IDLE] * 2


# Pitch sensor stalls or says nan


def test_sensor_silent_for_100_ms_is_suffered_and_for_longer_is_not():
    on_bench = bench(WALK)
    on_bench.at(FAULT, on_bench.stall_sensor)  # the last pitch is that of 0.99 s
    on_bench.run(1.5)
    first = next(record for record in on_bench.records if record.fault)
    assert first.t == pytest.approx(1.10) and first.pitch is None  # at 1.09 s it was exactly 100 ms
    assert "No pitch for 110 ms" in first.fault
    assert current_ended_us(on_bench) == 1_100_000


def test_sensor_that_says_nan_cuts_off_at_once():
    on_bench = bench(WALK)
    on_bench.at(FAULT, on_bench.confuse_sensor)
    on_bench.run(1.5)
    first = next(record for record in on_bench.records if record.fault)
    assert first.t == pytest.approx(FAULT) and "nan" in first.fault
    assert current_ended_us(on_bench) == 1_000_000


@pytest.mark.parametrize("pitch", [float("nan"), float("inf"), -float("inf"), 3.2])
def test_pitch_that_is_none_cuts_off_whatever_the_sensor(pitch):
    cycles = Cycles()
    cycles.sensor.pitch = pitch
    record = cycles.cycle()
    assert "motors_off" in cycles.entries[: cycles.entries.index("write")]
    assert (cycles.flag, record.setpoint_on) == (0.0, False) and "pitch" in record.fault


def test_sensor_fault_stays_latched_when_the_sensor_comes_back():
    on_bench = bench((*WALK, "1.3 run", "1.6 pause", "1.7 run"))
    on_bench.at(FAULT, on_bench.stall_sensor)
    on_bench.at(1.2, lambda: setattr(on_bench.sensor, "stalled", False))
    on_bench.run(2.0)
    assert on_bench.records[-1].pitch is not None and "No pitch" in on_bench.records[-1].fault
    assert still(on_bench, 1.1, 2.0)


def test_motors_on_pressed_while_the_sensor_is_silent_does_not_arm():
    on_bench = bench((*WALK, "1.3 motors-on", "1.4 run"))
    on_bench.at(FAULT, on_bench.stall_sensor)
    on_bench.run(1.6)
    assert still(on_bench, 1.1, 1.6) and not on_bench.records[-1].motors_on


# Pi process killed


@pytest.mark.parametrize("killed_at", [1.0, 1.00325, 1.00975])
def test_mid_level_sends_zero_current_100_ms_after_the_last_frame(killed_at):
    on_bench = bench(WALK)
    on_bench.at(killed_at, on_bench.kill_supervisor)
    on_bench.run(1.5)
    last_frame_us = int(on_bench.records[-1].t * 1e6 + 0.5)
    assert on_bench.ended == "killed" and last_frame_us == (
        990_000 if killed_at == 1.0 else 1_000_000
    )
    assert current_ended_us(on_bench) == last_frame_us + 100_000  # the watchdog, to the tick
    # Nobody told the driver: 0 A was sent.
    assert [axis.state for axis in on_bench.odrive.axes] == [AxisState.CLOSED_LOOP] * 2
    assert still(on_bench, 1.1, 1.5)


# Teensy reset while running


def test_mid_level_reset_starts_off_and_stays_off_until_told_off_and_on():
    on_bench = bench((*WALK, "1.5 pause", "1.6 run"))
    on_bench.at(FAULT, on_bench.reset_mid)
    on_bench.run(2.0)
    assert current_ended_us(on_bench, after=2.0) == 2_000_000
    assert walked(on_bench, 0.9, 1.0) and still(on_bench, 1.0, 1.6) and walked(on_bench, 1.61, 2.0)
    # Frames with 1 did not start it.
    assert all(record.setpoint_on for record in on_bench.records[110:140])


# Teensy silent


def test_driver_stops_by_itself_when_the_mid_level_is_silent_and_the_record_shows_it():
    on_bench = bench(WALK)
    hear, commands = on_bench.odrive.uart, []

    def listen(data: bytes, now_us: int, board: int = 0) -> bytes:
        commands.extend([now_us] * data.count(b"c 0 "))
        return hear(data, now_us, board)

    on_bench.odrive.uart = listen  # type: ignore[method-assign]
    on_bench.at(FAULT, on_bench.silence_mid)
    on_bench.run(1.5)
    ended = current_ended_us(on_bench)
    assert ended == commands[-1] + 100_000  # the driver's watchdog, to the tick
    assert (
        all(record.pid_output is None for record in on_bench.records[101:])
        and on_bench.records[99].pid_output is not None
    )
    assert all(axis.error == AxisError.WATCHDOG_EXPIRED for axis in on_bench.odrive.axes)
    first = next(record for record in on_bench.records if record.fault)
    assert "0x800" in first.fault and first.t <= ended * 1e-6 + 0.01  # seen in the cycle after


# Disk blocked 2 s


def test_blocked_disk_costs_records_and_nothing_else():
    on_bench, undisturbed = bench(WALK), bench(WALK)
    on_bench.at(FAULT, on_bench.block_disk)
    on_bench.at(FAULT + 2.0, lambda: on_bench.block_disk(False))
    for each in (on_bench, undisturbed):
        each.run(3.5)
    assert on_bench.supervisor is not None
    assert on_bench.supervisor.cycles == 350 and on_bench.supervisor.late_cycles == 0
    assert [record.cycle for record in on_bench.records] == [*range(100), *range(300, 350)]
    assert on_bench.supervisor.dropped_records == 200 == on_bench.records[-1].dropped_records
    assert on_bench.flow == undisturbed.flow


# Joystick unplugged


def test_unplugged_joystick_switches_the_motors_off_and_ends_the_run():
    on_bench = bench((*WALK, f"{FAULT} unplug"))
    on_bench.run(1.5)
    assert on_bench.ended == "the joystick is gone"
    assert current_ended_us(on_bench) == 1_000_000
    assert "joystick" in on_bench.records[-1].fault and not on_bench.records[-1].motors_on
    assert [axis.state for axis in on_bench.odrive.axes] == [AxisState.IDLE] * 2


# Corrupted frame among good ones


def altered_every_tenth(on_bench: VirtualBench, alter) -> list[int]:
    """Every tenth frame to the mid level, from one second on, goes through `alter`; when."""
    times: list[int] = []

    def line(data: bytes) -> bytes:
        if data and on_bench.now_us >= FAULT * 1e6 and on_bench.now_us % 100_000 == 0:
            times.append(on_bench.now_us)
            return alter(data)
        return data

    on_bench.down_noise = line  # type: ignore[assignment]
    return times


def test_corrupted_frame_acts_as_if_it_had_never_been_sent_and_is_counted():
    corrupted, lossy, clean = bench(WALK), bench(WALK), bench(WALK)
    # A digit too many: the pitch is another.
    times = altered_every_tenth(corrupted, lambda frame: frame.replace(b",1,", b",1,9", 1))
    altered_every_tenth(lossy, lambda frame: b"")
    for each in (corrupted, lossy, clean):
        each.run(2.0)
    assert len(times) == 10 == corrupted.mid.rejected_frames  # type: ignore[attr-defined]
    assert corrupted.flow == lossy.flow
    assert corrupted.flow != clean.flow  # else the frames would not have mattered
    assert walked(corrupted, 0.3, 2.0) and not corrupted.records[-1].fault


def test_walk_goes_on_with_one_byte_in_a_hundred_altered_on_both_lines():
    on_bench, clean = bench(WALK, seed=3), bench(WALK)
    on_bench.corrupt_lines(0.01)
    for each in (on_bench, clean):
        each.run(4.0)
    assert on_bench.down_noise.altered > 50 and on_bench.up_noise.altered > 20
    assert on_bench.mid.rejected_frames > 30 and on_bench.records[-1].rejected_frames > 10  # type: ignore[attr-defined]
    assert not on_bench.records[-1].fault and walked(on_bench, 0.3, 4.0)
    # A missed frame is 10 ms of an old pitch; the toy has settled by then, and stays within the
    # noise of that.
    assert on_bench.records[-1].pitch == pytest.approx(clean.records[-1].pitch, abs=0.01)


# setpoint_on pressed while cut-off latched


def test_start_switch_does_nothing_while_latched_nor_when_the_latch_is_lifted():
    cycles = Cycles()
    cycles.driver.turning = (9.0, 0.0)
    cycles.cycle()
    cycles.driver.turning = (0.0, 0.0)
    for run in (False, True, False, True):
        cycles.hand.wishes["run"] = run
        assert not cycles.cycle().setpoint_on and cycles.flag == 0.0
    cycles.hand.press("motors_on")  # the switch is still on
    assert not any(cycles.cycle().setpoint_on for _ in range(10))
    cycles.hand.wishes["run"] = False
    cycles.cycle()
    cycles.hand.wishes["run"] = True
    assert cycles.cycle().setpoint_on


def test_start_pressed_while_latched_moves_nothing_and_motors_on_then_start_walks_again():
    script = (*WALK, "1.2 pause", "1.3 run", "1.5 motors-on", "1.6 run")
    on_bench = bench(script)
    on_bench.at(FAULT, lambda: on_bench.over_speed(0, 7.0))
    on_bench.at(1.1, lambda: on_bench.over_speed(0, 0.0))
    on_bench.run(2.0)
    assert walked(on_bench, 0.3, 1.0) and still(on_bench, 1.01, 1.6) and walked(on_bench, 1.61, 2.0)


# And one rule that no row names: S9


def test_supervisor_sends_no_set_point_to_the_driver_while_the_law_runs():
    on_bench = bench(
        (
            *WALK,
            "0.5 motors-on",
            "0.6 run",
            "0.8 calibrate",
            "1.2 motors-off",
            "1.4 motors-on",
            "1.5 run",
        )
    )
    hear, lines = on_bench.odrive.usb, []

    def listen(data: bytes, now_us: int, board: int = 0) -> bytes:
        lines.extend((now_us, line) for line in data.splitlines())
        return hear(data, now_us, board)

    on_bench.odrive.usb = listen  # type: ignore[method-assign]
    on_bench.run(2.0)
    running = {round(record.t * 1e6) for record in on_bench.records if record.setpoint_on}
    assert len(running) > 100
    # Sets of lines in a cycle that ended with the flag on: feedback, reads and the mark, and no
    # change of state either.
    kinds = {
        line.split()[0]
        for now_us, line in lines
        if now_us in running and now_us - 10_000 in running
    }
    assert kinds <= {b"f", b"r", b"?"}
    commands = {line for _, line in lines if line.split()[0] in (b"c", b"v", b"p")}
    assert commands == {b"c 0 0", b"c 1 0"}  # before arming only, and nothing but zero


def test_motors_on_pressed_while_the_law_runs_reaches_no_driver():
    """Arming sends 0 A first: a set point, which is not the supervisor's to send now."""
    cycles = Cycles()
    cycles.hand.press("motors_on")
    assert cycles.cycle().setpoint_on and "motors_on" not in cycles.entries


def test_every_row_repeats_to_the_last_bit():
    def run() -> VirtualBench:
        on_bench = bench(WALK, sensor_noise=0.01, seed=5)
        on_bench.corrupt_lines(0.02)
        on_bench.at(FAULT, on_bench.reset_mid)
        on_bench.run(1.3)
        return on_bench

    one, other = run(), run()
    assert one.flow == other.flow
    assert [dataclasses.asdict(record) for record in one.records] == [
        dataclasses.asdict(record) for record in other.records
    ]
