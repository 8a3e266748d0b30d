"""The high level's cycle, its scheduling, its start and its end, among devices that a test can
break.
"""

import dataclasses
import subprocess
import sys

import pytest
from tests.support.bench import (
    BATTERY,
    SETTINGS,
    WINDING,
    Driver,
    Hand,
    HandClock,
    Journal,
    Pendulum,
    Sensor,
    bench,
)

from footfall.machines.control.contracts import DeviceError, Operator
from footfall.machines.control.fingerprint import answer_payload
from footfall.machines.control.framing import FrameReader, down_format, encode, framed, up_format
from footfall.machines.control.mid import MidProgram
from footfall.machines.control.operator_sources import JoystickDecoder, Timeline
from footfall.machines.control.ports import LinkLost, pipe
from footfall.machines.control.reset_line import NoResetLine
from footfall.machines.control.settings import StackSettings
from footfall.machines.control.start_up import Connections, Devices, StartUpError, start_up
from footfall.machines.control.supervisor import Supervisor, run
from footfall.machines.control.virtual_bench import VirtualBench


class Rig:
    """A supervisor and all it talks to."""

    def __init__(self, settings: StackSettings = SETTINGS, delay: float = 0.0):
        self.settings, self.clock, self.hand = settings, HandClock(), Hand()
        self.driver, self.sensor = Driver(self.clock, delay), Sensor()
        self.port, self.mid_end = pipe()
        self.journal, self.records = Journal(), []
        self.takes_records = True
        self.supervisor = Supervisor(
            settings,
            self.journal.of(
                self.driver, "speeds", "positions", "bus", "motors_off", "motors_on", "calibrate"
            ),
            self.journal.of(self.sensor, "newest"),
            self.journal.of(self.port, "read", "write"),
            self.hand,
            self._log,
            self.clock,
            end_log=lambda: self.journal.entries.append("end_log"),
        )

    def _log(self, record) -> bool:
        self.journal.entries.append("log")
        if self.takes_records:
            self.records.append(record)
        return self.takes_records

    def cycle(self):
        self.clock.us += 10_000
        return self.supervisor.cycle()

    def frames(self):
        return FrameReader(down_format(self.settings)).feed(self.mid_end.read())


def armed(rig: Rig) -> Rig:
    rig.cycle()
    rig.hand.press("motors_on")
    rig.cycle()
    rig.hand.wishes["run"] = True
    assert rig.cycle().setpoint_on
    rig.journal.entries.clear()
    rig.mid_end.read()
    return rig


# The cycle


def test_cycle_keeps_the_order_of_the_specification():
    rig = Rig()
    rig.cycle()
    assert rig.journal.entries == ["speeds", "newest", "positions", "bus", "write", "read", "log"]


def test_record_and_frame_say_what_was_read_and_wanted():
    rig = armed(Rig())
    rig.hand.wishes |= {"setpoint": 0.7, "steer": 1.5}
    rig.driver.turning, rig.sensor.pitch = (1.5, -2.5), 0.25
    rig.mid_end.write(encode(up_format(SETTINGS), (1.0,)) + encode(up_format(SETTINGS), (3.25,)))
    record = rig.cycle()
    assert rig.frames() == [(0.7, 1.0, 0.25, 1.5)]
    assert (record.t, record.cycle, record.period) == (pytest.approx(0.04), 3, pytest.approx(0.01))
    assert (record.pitch, record.pitch_setpoint, record.steer) == (0.25, 0.7, 1.5)
    assert (record.motor_vel_l, record.motor_vel_r, record.bus_voltage, record.bus_current) == (
        1.5,
        -2.5,
        24.0,
        1.0,
    )
    assert record.pid_output == 3.25  # the newest
    assert rig.cycle().pid_output is None  # none arrived: nothing old is logged again


def test_wishes_beyond_their_limits_are_held_to_them():
    rig = armed(Rig())
    rig.hand.wishes |= {"setpoint": 9.0, "steer": -99.0}
    record = rig.cycle()
    assert (record.pitch_setpoint, record.steer) == (SETTINGS.setpoint_limit, -SETTINGS.steer_limit)
    rig.hand.wishes |= {"setpoint": float("nan"), "steer": float("nan")}
    assert (rig.cycle().pitch_setpoint, len(rig.frames())) == (SETTINGS.setpoint, 2)


def test_robot_of_one_motor_without_steering_has_frames_of_three_fields_and_one_side():
    settings = dataclasses.replace(SETTINGS, motors=1, steering=False)
    rig = Rig(settings)
    rig.driver.turning = (1.0,)
    record = rig.cycle()
    assert rig.frames() == [(0.6, 0.0, 0.1)]
    assert (record.motor_vel_l, record.motor_vel_r) == (1.0, None)


def test_pitch_is_held_in_the_frame_while_the_sensor_has_nothing_new():
    rig = armed(Rig())
    rig.sensor.pitch = None
    record = rig.cycle()
    assert record.pitch is None and record.setpoint_on
    assert rig.frames()[0][2] == 0.1


def test_law_does_not_run_before_a_pitch_has_been_measured():
    rig = Rig()
    rig.sensor.pitch = None
    rig.cycle()
    rig.hand.press("motors_on")
    rig.cycle()
    rig.hand.wishes["run"] = True
    assert rig.cycle().motors_on and not rig.records[-1].setpoint_on
    assert rig.frames()[-1][1] == 0.0
    rig.sensor.pitch = 0.1
    assert rig.cycle().setpoint_on


def test_lost_line_to_the_mid_level_cuts_off():
    rig = armed(Rig())
    rig.mid_end.close()
    record = rig.cycle()
    assert (
        "mid level is lost" in record.fault
        and not record.setpoint_on
        and rig.driver.axis_states == (1, 1)
    )


def test_lost_line_to_the_sensor_cuts_off_at_once():
    rig = armed(Rig())
    rig.sensor.trouble = DeviceError("unplugged")
    record = rig.cycle()
    assert "unplugged" in record.fault and rig.frames()[0][1] == 0.0


# The switches


def test_nothing_is_armed_by_presses_from_before_the_start():
    rig = Rig()
    old = Hand(motors_on=5, calibrate=3)
    supervisor = Supervisor(
        SETTINGS, rig.driver, rig.sensor, rig.port, old, lambda record: True, rig.clock
    )
    assert not supervisor.cycle().motors_on and rig.driver.axis_states == (1, 1)


def test_motors_off_is_no_fault_but_takes_the_start_switch_with_it():
    rig = armed(Rig())
    rig.hand.press("motors_off")
    record = rig.cycle()
    assert (record.fault, record.motors_on, record.setpoint_on) == ("", False, False)
    assert rig.journal.entries.index("motors_off") < rig.journal.entries.index("newest")
    rig.hand.press("motors_on")
    assert not any(rig.cycle().setpoint_on for _ in range(5))  # the switch is still on from before
    rig.hand.wishes["run"] = False
    rig.cycle()
    rig.hand.wishes["run"] = True
    assert rig.cycle().setpoint_on


def test_motors_off_by_joystick_is_a_fault_in_no_record():
    decoder, circle = JoystickDecoder(SETTINGS), 1
    # Cross, start, circle.
    presses = (button(number, 1) + button(number, 0) for number in (0, 9, circle))
    operators = [decoder.feed(press) for press in presses]
    times = [0, 100_000, 200_000, 1_000_000]
    script = Timeline(times, [Operator(setpoint=SETTINGS.setpoint), *operators])
    on_bench = bench(script)
    on_bench.start_up()
    on_bench.run(2.0)
    assert any(record.setpoint_on for record in on_bench.records)
    assert not any(record.fault for record in on_bench.records)
    assert [axis.state for axis in on_bench.odrive.axes] == [1, 1]


def button(number: int, value: int) -> bytes:
    return JoystickDecoder.EVENT.pack(0, value, JoystickDecoder.BUTTON, number)


def test_shutdown_orders_the_motors_off_until_the_driver_says_that_they_are():
    rig, orders = armed(Rig()), []
    off = rig.driver.motors_off

    def deaf_once() -> None:
        orders.append("off")
        if len(orders) > 1:
            off()

    rig.driver.motors_off = deaf_once  # type: ignore[method-assign]
    rig.supervisor.shut_down()
    assert orders == ["off", "off"] and rig.driver.axis_states == (1, 1)
    assert rig.supervisor.shutdown_problems == []


def test_motors_that_run_unasked_are_ordered_off_until_the_driver_says_they_are():
    """An order that got lost, a board that arms itself at power-up: neither is a press."""
    rig = armed(Rig())
    off = rig.driver.motors_off
    rig.driver.motors_off = lambda: None  # type: ignore[method-assign]
    rig.hand.press("motors_off")
    rig.cycle()
    assert rig.driver.axis_states == (8, 8)
    rig.journal.entries.clear()
    rig.cycle()
    rig.cycle()
    assert rig.journal.entries.count("motors_off") == 2
    rig.driver.motors_off = off  # type: ignore[method-assign]
    record = rig.cycle()
    assert rig.driver.axis_states == (1, 1) and not record.setpoint_on and not record.fault
    rig.journal.entries.clear()
    rig.cycle()
    assert "motors_off" not in rig.journal.entries


def test_an_order_that_the_driver_refuses_is_given_again_whatever_it_says_of_its_motors():
    rig = armed(Rig())
    refusals = [DeviceError("busy"), DeviceError("busy")]
    off = rig.driver.motors_off

    def busy() -> None:
        if refusals:
            raise refusals.pop()
        off()

    rig.driver.motors_off = busy  # type: ignore[method-assign]
    rig.driver.states = lambda: (3, 3)  # type: ignore[method-assign]
    rig.hand.press("motors_off")
    for _ in range(4):
        rig.cycle()
    assert rig.journal.entries.count("motors_off") == 3 and rig.driver.axis_states == (1, 1)


def test_motors_whose_state_cannot_be_read_are_ordered_off():
    rig = Rig()
    rig.driver.axis_states = (8, 8)
    rig.driver.states = lambda: 1 / 0  # type: ignore[method-assign, assignment, return-value]
    rig.cycle()
    assert rig.driver.axis_states == (1, 1)


def test_of_motors_off_and_motors_on_in_one_cycle_off_wins():
    rig = Rig()
    rig.cycle()
    rig.hand.press("motors_on")
    rig.hand.press("motors_off")
    assert not rig.cycle().motors_on


def test_law_waits_until_the_driver_says_that_the_motors_are_in_closed_loop():
    rig = Rig()
    rig.driver.arms = False
    rig.cycle()
    rig.hand.press("motors_on")
    rig.cycle()
    rig.hand.wishes["run"] = True
    assert not any(rig.cycle().setpoint_on for _ in range(10))
    rig.driver.axis_states = (8, 1)
    assert not rig.cycle().setpoint_on
    rig.driver.axis_states = (8, 8)
    assert rig.cycle().setpoint_on


def test_motors_that_never_reach_closed_loop_are_a_fault_after_half_a_second():
    rig = Rig()
    rig.driver.arms = False
    rig.cycle()
    rig.hand.press("motors_on")
    records = [rig.cycle() for _ in range(52)]
    # 0.5 s after the press, and the cycle after.
    assert not records[50].fault and "closed loop" in records[51].fault


@pytest.mark.parametrize(
    "change", [{"error_words": (0, 0x200)}, {"axis_states": (8, 1)}, {"axis_states": (1, 8)}]
)
def test_driver_that_reports_an_error_or_leaves_closed_loop_is_a_latched_fault(change):
    rig = armed(Rig())
    for name, value in change.items():
        setattr(rig.driver, name, value)
    record = rig.cycle()
    assert record.fault and not record.setpoint_on and rig.driver.axis_states == (1, 1)
    rig.driver.error_words = (0, 0)
    assert rig.cycle().fault


def test_errors_that_stand_while_the_motors_are_off_are_left_standing():
    rig = Rig()
    rig.driver.error_words = (0x800, 0)
    assert not rig.cycle().fault and rig.driver.error_words == (0x800, 0)


def test_calibration_is_obeyed_only_with_motors_off_and_nothing_latched():
    rig = Rig()
    rig.cycle()
    rig.hand.press("calibrate")
    rig.cycle()
    assert rig.driver.axis_states == (3, 3)
    rig = armed(Rig())
    rig.hand.press("calibrate")
    rig.cycle()
    assert "calibrate" not in rig.journal.entries
    rig.driver.turning = (9.0, 0.0)
    rig.cycle()
    rig.driver.turning = (0.0, 0.0)
    rig.hand.press("calibrate")
    rig.cycle()
    assert "calibrate" not in rig.journal.entries


# The schedule


def test_main_loop_makes_6000_cycles_in_60_s_with_a_device_that_takes_2_ms():
    rig = Rig(delay=0.002)
    assert run(rig.supervisor, rig.clock, until=60.0) == "the time was over"
    assert (rig.supervisor.cycles, rig.supervisor.late_cycles) == (6000, 0)
    # No drift: every cycle begins where the grid says, to a rounding of the clock (1e-6 s).
    assert max(abs(record.t - 0.01 * record.cycle) for record in rig.records) < 1e-6
    assert {round(record.work, 6) for record in rig.records} == {0.002}


def test_sleeping_for_the_period_instead_would_drift():
    """What absolute deadlines are for.

    The same 60 s with a sleep of 10 ms after each cycle's work.
    """
    clock, cycles = HandClock(), 0
    while clock.us < 60_000_000:
        clock.us += 2000
        clock.sleep_until(clock.now() + 0.01)
        cycles += 1
    assert cycles == 5000


@pytest.mark.parametrize(
    "work_ms, begins_ms, late",
    [
        (10, [0, 10, 20, 30, 40], 0),  # done exactly at the next deadline
        (12, [0, 10, 22, 30, 40], 1),  # late, done at once; the deadlines after it stay
        (20, [0, 10, 30, 40, 50], 1),  # 20 was missed altogether, 30 is on time
        (25, [0, 10, 35, 40, 50], 2),  # 20 dropped, 30 late
        (47, [0, 10, 57, 60, 70], 4),  # 20, 30, 40 dropped, 50 late: never replayed
    ],
)
def test_late_cycles_are_counted_and_missed_ones_dropped(work_ms, begins_ms, late):
    rig = Rig()
    speeds = rig.driver.speeds

    def slow_once():
        rig.clock.us += work_ms * 1000 if rig.supervisor.cycles == 1 else 0
        return speeds()

    rig.driver.speeds = slow_once  # type: ignore[method-assign]
    run(rig.supervisor, rig.clock, until=0.2)
    assert [round(record.t * 1000) for record in rig.records[:5]] == begins_ms
    assert rig.supervisor.late_cycles == late == rig.records[-1].late_cycles


def test_full_log_is_counted_and_changes_nothing_else():
    rig = Rig()
    rig.takes_records = False
    run(rig.supervisor, rig.clock, until=2.0)
    assert (rig.supervisor.cycles, rig.supervisor.dropped_records) == (200, 200)


# The end


SHUTDOWN = ["motors_off", "write", "end_log"]


def test_end_of_time_shuts_down_in_order():
    rig = Rig()
    run(rig.supervisor, rig.clock, until=0.05)
    assert rig.journal.entries[-3:] == SHUTDOWN
    assert rig.frames()[-1][1] == 0.0


@pytest.mark.parametrize(
    "wish, ending",
    [({"stop": True}, "the operator stopped"), ({"present": False}, "the joystick is gone")],
)
def test_operator_who_stops_or_is_gone_ends_the_run_in_order(wish, ending):
    rig = armed(Rig())
    rig.hand.wishes |= wish
    assert run(rig.supervisor, rig.clock) == ending
    assert rig.journal.entries[-3:] == SHUTDOWN and rig.driver.axis_states == (1, 1)
    assert len(rig.records) == 4  # one cycle, no more


@pytest.mark.parametrize(
    "trouble", [RuntimeError("a mistake in the program"), KeyboardInterrupt(), SystemExit(143)]
)
def test_exceptions_and_signals_shut_down_in_order_and_go_on(trouble):
    rig = armed(Rig())

    def fail(record):
        raise trouble

    rig.supervisor._log = fail
    with pytest.raises(type(trouble)):
        run(rig.supervisor, rig.clock)
    assert rig.journal.entries[-3:] == SHUTDOWN and rig.driver.axis_states == (1, 1)
    assert rig.frames()[-1][1] == 0.0


def test_signal_during_sleep_shuts_down_in_order():
    rig = armed(Rig())

    def interrupted(t):
        raise KeyboardInterrupt

    rig.clock.sleep_until = interrupted  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        run(rig.supervisor, rig.clock)
    assert rig.journal.entries == SHUTDOWN


def test_shutdown_tries_every_step_though_each_fails_and_tells_which():
    rig = armed(Rig())
    rig.driver.trouble = DeviceError("gone")
    rig.mid_end.close()
    rig.supervisor._end_log = lambda: rig.journal.entries.append("end_log") or 1 / 0
    rig.supervisor.shut_down()
    assert list(dict.fromkeys(rig.journal.entries)) == SHUTDOWN  # each again and again, in order
    assert [problem.split(":")[0] for problem in rig.supervisor.shutdown_problems] == [
        "motors off",
        "setpoint_on = 0",
        "end of the log",
    ]


def test_shutdown_says_off_as_often_as_a_line_that_loses_frames_needs_it():
    rig = armed(Rig(dataclasses.replace(SETTINGS, frame_copies=3)))
    rig.cycle()
    rig.mid_end.read()
    rig.supervisor.shut_down()
    assert [frame[1] for frame in rig.frames()] == [0.0] * 3


def test_shutdown_tells_of_a_line_that_does_not_take_the_last_frame():
    rig = armed(Rig())
    rig.port.write = lambda data: 0  # type: ignore[method-assign]
    rig.supervisor.shut_down()
    assert len(rig.supervisor.shutdown_problems) == 1
    assert "setpoint_on = 0" in rig.supervisor.shutdown_problems[0]
    assert "0 of" in rig.supervisor.shutdown_problems[0]


def test_second_signal_interrupts_a_step_but_not_the_shutdown():
    rig = armed(Rig())
    off, signals = rig.driver.motors_off, [KeyboardInterrupt()]

    def interrupted_once():
        if signals:
            raise signals.pop()
        off()

    rig.driver.motors_off = interrupted_once  # type: ignore[method-assign]
    rig.supervisor.shut_down()
    assert rig.driver.axis_states == (1, 1) and rig.journal.entries == ["motors_off", *SHUTDOWN]
    assert rig.supervisor.shutdown_problems == []


def test_second_shutdown_does_nothing():
    rig = Rig()
    rig.supervisor.shut_down()
    rig.journal.entries.clear()
    rig.supervisor.shut_down()
    assert rig.journal.entries == []


# The start


def test_start_up_passes_on_a_sound_bench_and_leaves_everything_off_and_then_it_walks():
    on_bench = bench()
    on_bench.odrive.axes[0].request(8, 0)
    on_bench.start_up()
    assert [axis.state for axis in on_bench.odrive.axes] == [1, 1]
    on_bench.run(1.0)
    assert any(on_bench.flow[-1].currents) and not on_bench.records[-1].fault


def test_reset_is_held_low_for_at_least_10_ms_before_the_port_is_opened():
    on_bench, levels = bench(), []
    drive, connect = on_bench.reset_line.drive, on_bench._connections
    on_bench.reset_line.drive = lambda high: (levels.append((on_bench.now_us, high)), drive(high))  # type: ignore[method-assign, assignment]
    on_bench._connections = connect._replace(
        mid=lambda: levels.append((on_bench.now_us, "opened")) or connect.mid()
    )
    on_bench.start_up()
    (low_us, low), (high_us, high), (_, opened) = levels
    assert (low, high, opened) == (False, True, "opened")
    assert high_us - low_us >= 10_000


def test_start_up_waits_for_a_port_that_appears_late_and_gives_up_after_5_s():
    on_bench = bench()
    connect = on_bench._connections

    def appears(when_us):
        def open_port():
            if on_bench.now_us < when_us:
                raise FileNotFoundError("/dev/ttyACM0")
            return connect.mid()

        return open_port

    on_bench._connections = connect._replace(mid=appears(3_000_000))
    on_bench.start_up()
    on_bench = bench()
    connect = on_bench._connections
    on_bench._connections = connect._replace(mid=appears(9_000_000))
    with pytest.raises(StartUpError, match="/dev/ttyACM0") as failure:
        on_bench.start_up()
    assert failure.value.check == "mid level after its reset"
    assert 5.0 <= on_bench.now_us * 1e-6 <= 5.1


def low_battery() -> VirtualBench:
    return VirtualBench(
        SETTINGS,
        Pendulum(),
        MidProgram(SETTINGS),
        [WINDING] * 2,
        BATTERY._replace(voltage=17.9),
        (),
    )


def full_battery() -> VirtualBench:
    return VirtualBench(
        SETTINGS,
        Pendulum(),
        MidProgram(SETTINGS),
        [WINDING] * 2,
        BATTERY._replace(voltage=30.1),
        (),
    )


def other_build() -> VirtualBench:
    return bench(mid=MidProgram(dataclasses.replace(SETTINGS, checksum=False)))


def another_robot() -> VirtualBench:
    stiffer = SETTINGS.gains._replace(proportional=20.0)
    return bench(mid=MidProgram(dataclasses.replace(SETTINGS, gains=stiffer)))


def older_sketch() -> VirtualBench:
    program = MidProgram(SETTINGS)
    receive = program.receive
    program.receive = lambda data, now_us: receive(data.replace(b"e", b""), now_us)  # type: ignore[method-assign]
    return bench(mid=program)


def broken(fault: str) -> VirtualBench:
    on_bench = bench()
    getattr(on_bench, fault)()
    return on_bench


@pytest.mark.parametrize(
    "make, check, words",
    [
        (lambda: broken("silence_mid"), "mid level after its reset", "silent"),
        (lambda: broken("stall_sensor"), "pitch sensor", "No finite pitch"),
        (lambda: broken("confuse_sensor"), "pitch sensor", "No finite pitch"),
        (lambda: broken("silence_usb"), "motor driver", "did not answer"),
        (low_battery, "bus voltage", "17.90 V"),
        (full_battery, "bus voltage", "30.10 V"),
        (other_build, "frame from the mid level", "invalid ones"),
        (another_robot, "what the mid level was built for", "another controller"),
        (older_sketch, "what the mid level was built for", "does not say"),
    ],
)
def test_each_failed_check_is_named_and_leaves_the_motors_off(make, check, words):
    on_bench = make()
    with pytest.raises(StartUpError, match=words) as failure:
        on_bench.start_up()
    assert failure.value.check == check and "Try:" in str(failure.value)
    assert ("footfall stack firmware" in failure.value.advice) == (
        "built" in check or "frame" in check
    )
    assert [axis.state for axis in on_bench.odrive.axes] == [1, 1]


@pytest.mark.parametrize("device, check", [("sensor", "pitch sensor"), ("driver", "motor driver")])
def test_device_that_cannot_be_connected_fails_its_check_and_closes_those_before(device, check):
    on_bench, closed = bench(), []
    connect = on_bench._connections
    port = connect.mid()
    port.close = lambda: closed.append("mid")  # type: ignore[method-assign]

    def missing():
        raise LinkLost("no such port")

    on_bench._connections = connect._replace(mid=lambda: port, **{device: missing})
    with pytest.raises(StartUpError, match="no such port") as failure:
        on_bench.start_up()
    assert failure.value.check == check and closed == ["mid"]


def test_on_a_line_that_garbles_bytes_it_asks_again_what_the_mid_level_was_built_for():
    refused = 0
    for seed in (3, 4, 5):  # a single question is lost with these
        on_bench = bench(seed=seed)
        on_bench.corrupt_lines(0.03)  # half of the answers, and more of the questions' frames
        try:
            on_bench.start_up()
        except StartUpError as error:
            refused += error.check == "what the mid level was built for"
    assert refused == 0  # ten questions in the second that it waits


def test_motors_found_running_are_switched_off_when_a_later_check_fails():
    on_bench = other_build()
    for axis in on_bench.odrive.axes:
        axis.request(8, 0)
        axis.set(watched=False)
    with pytest.raises(StartUpError):
        on_bench.start_up()
    assert [axis.state for axis in on_bench.odrive.axes] == [1, 1]


def test_motors_found_running_are_switched_off_before_anything_else_is_asked_of_them():
    driver, journal = Driver(), Journal()
    driver.axis_states = (8, 8)
    started(journal.of(driver, "motors_off", "bus", "unmet_limits", "errors"))
    assert journal.entries[:2] == ["motors_off", "bus"] and driver.axis_states == (1, 1)


def test_start_up_tells_the_mid_level_that_the_law_is_off():
    mid, said = Talking(), bytearray()
    mid.write = lambda data: said.extend(data) or len(data)  # type: ignore[method-assign]
    start_up(SETTINGS, NoResetLine(), Connections(lambda: mid, Sensor, Driver), HandClock())
    assert FrameReader(down_format(SETTINGS)).feed(bytes(said)) == [(0.6, 0.0, 0.0, 0.0)]


def test_motors_that_do_not_switch_off_end_the_start():
    driver = Driver()
    driver.axis_states = (8, 1)
    driver.motors_off = lambda: None  # type: ignore[method-assign]
    with pytest.raises(StartUpError, match="stay in closed loop") as failure:
        started(driver)
    assert failure.value.check == "switching everything off" and "power" in failure.value.advice


def test_standing_errors_are_told_and_not_cleared():
    driver = Driver()
    driver.error_words = (0x200, 0)
    devices = started(driver)
    assert devices.standing_errors == "0x200" and driver.error_words == (0x200, 0)


def test_a_watchdog_that_expired_before_anybody_could_command_is_no_news():
    driver = Driver()
    driver.error_words = (0x800, 0x800)
    assert started(driver).standing_errors == ""
    driver.error_words = (0x800, 0x840)
    assert "0x840" in started(driver).standing_errors


def test_limits_that_the_robot_would_trip_are_refused_by_name_with_the_command_that_helps():
    driver = Driver()
    driver.wrong_limits = ["axis0.x is 2; needed: at least 8.0", "axis1.x is 2; needed: 8.0"]
    with pytest.raises(StartUpError, match=r"axis0\.x is 2.*\n.*axis1\.x is 2") as failure:
        started(driver)
    assert failure.value.check == "limits of the motor driver"
    assert "footfall stack setup-odrive" in failure.value.advice


class Talking:
    """A mid level that always has something to say."""

    def read(self) -> bytes:
        answer = framed(answer_payload(SETTINGS), SETTINGS.checksum)
        return encode(up_format(SETTINGS), (0.0,)) + answer

    def write(self, data: bytes) -> int:
        return len(data)

    def close(self) -> None: ...


def started(driver: Driver) -> Devices:
    connect = Connections(Talking, Sensor, lambda: driver)
    return start_up(SETTINGS, NoResetLine(), connect, HandClock())


def test_programs_of_the_robot_import_neither_jax_nor_pydantic():
    """They start on a Raspberry Pi, in a fifth of a second."""
    modules = (
        "supervisor start_up odrive_ascii odrive_vendor operator_sources pitch_sensor reset_line"
        " odrive_emulator virtual_bench drive_table"
    )
    program = (
        "import"
        f" sys\n{''.join(f'import footfall.machines.control.{name}{chr(10)}' for name in modules.split())}print(*sys.modules)"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    ).stdout.split()
    assert "footfall.machines.control.supervisor" in loaded
    assert not {"jax", "pydantic", "matplotlib", "footfall.scenario", "odrive", "gpiod"} & set(
        loaded
    )
