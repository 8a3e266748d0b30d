"""The emulated motor driver's protocol, and what every link to a motor driver owes the high
level.
"""

import dataclasses
import math
import re
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.bench import BATTERY, SETTINGS, WINDING, HandClock

from footfall.machines.control.contracts import DeviceError, MotorDriver, UnfitDriver
from footfall.machines.control.driver_lines import by_board, current_lines, with_checksum
from footfall.machines.control.electrics import (
    Battery,
    bus_extremes,
    electrical_power,
    loop_share,
)
from footfall.machines.control.odrive_ascii import OdriveAscii
from footfall.machines.control.odrive_axis import AxisError
from footfall.machines.control.odrive_emulator import OdriveEmulator
from footfall.machines.control.odrive_firmware import firmware_of
from footfall.machines.control.odrive_limits import setup_lines
from footfall.machines.control.odrive_vendor import OdriveVendor
from footfall.machines.control.settings import StackSettings

STILL = ((0.0, 0.0), (0.0, 0.0))  # speeds, positions
ARM = b"w axis0.requested_state 8\nw axis1.requested_state 8\n"


def emulator(
    settings: StackSettings = SETTINGS, battery: Battery = BATTERY, **choices
) -> OdriveEmulator:
    odrive = OdriveEmulator(settings, [WINDING] * settings.motors, battery, **choices)
    for axis in odrive.axes:
        axis.config.torque_constant = 1.0  # so that a torque is a current
    return odrive


def as_set_up(settings: StackSettings = SETTINGS, **choices) -> OdriveEmulator:
    return OdriveEmulator(settings, [WINDING] * settings.motors, BATTERY, **choices)


def armed(**choices) -> OdriveEmulator:
    odrive = emulator(**choices)
    assert odrive.usb(ARM, 0) == b""
    return odrive


def asked(odrive: OdriveEmulator, question: bytes, now_us: int = 0) -> bytes:
    return odrive.usb(question + b"\n", now_us).removesuffix(b"\r\n")


# The protocol


def test_answer_to_a_line_with_checksum_carries_one():
    odrive = emulator()
    assert asked(odrive, with_checksum(b"r vbus_voltage")) == with_checksum(b"24.000000")
    assert asked(odrive, b"r vbus_voltage") == b"24.000000"


def test_line_with_a_wrong_checksum_is_ignored_and_counted():
    odrive = armed()
    right = with_checksum(b"c 0 2")
    wrong = right[:-1] + (b"0" if right[-1:] != b"0" else b"1")
    odrive.uart(wrong + b"\n", 0)
    assert odrive.tick(0, *STILL) == (0.0, 0.0) and odrive.ignored_lines == 1
    odrive.uart(right + b"\n", 0)
    assert odrive.tick(250, *STILL) == (2.0, 0.0) and odrive.ignored_lines == 1


def test_the_two_lines_do_not_mix_their_bytes():
    odrive = armed()
    odrive.uart(b"c 0 1", 0)
    assert odrive.usb(b"r vbus_", 0) == b""
    odrive.uart(b".5\n", 0)
    assert odrive.usb(b"voltage\n", 0) == b"24.000000\r\n"
    assert odrive.tick(0, *STILL) == (1.5, 0.0)


@given(
    st.lists(
        st.binary(max_size=64)
        | st.sampled_from([b"c 0 1\n", b"w axis0.", b"r axis0.error\n", b"\n", b"*", b"9" * 300]),
        max_size=30,
    )
)
@settings(max_examples=200, deadline=None)
def test_any_bytes_in_any_pieces_are_survived_and_the_pieces_do_not_matter(pieces):
    in_pieces, at_once = emulator(), emulator()
    answers = b"".join(in_pieces.usb(piece, 0) for piece in pieces)
    assert answers == at_once.usb(b"".join(pieces), 0)
    assert in_pieces.tick(0, *STILL) == at_once.tick(0, *STILL)
    assert in_pieces.ignored_lines == at_once.ignored_lines
    assert all(math.isfinite(current) for current in in_pieces.tick(250, *STILL))


def test_line_without_end_takes_no_more_memory_than_a_line():
    odrive = armed()
    for _ in range(1000):
        odrive.uart(b"c" * 1000, 0)
    assert (
        len(odrive.boards[0].uart._partial) <= odrive.boards[0].uart.LONGEST
        and odrive.ignored_lines == 1
    )
    odrive.uart(b"\nc 0 2\n", 0)
    assert odrive.tick(0, *STILL) == (2.0, 0.0)  # and the next line counts again


# Current and its sign


@pytest.mark.parametrize("boards", [1, 2])
def test_what_the_mid_level_sends_forward_flows_forward_on_both_sides(boards):
    settings = dataclasses.replace(SETTINGS, boards=boards)
    odrive = as_set_up(settings)
    for board in range(boards):
        odrive.usb(ARM, 0, board)
    for board, lines in enumerate(by_board(settings, current_lines(settings, [3.0, 4.0]))):
        assert odrive.uart(lines, 0, board) == b""
    # Half of the last decimal of a torque is 15 uA.
    assert odrive.tick(0, *STILL) == pytest.approx((3.0, 4.0), abs=1.5e-5)
    # The motor's own sign.
    last = b"r axis%d.motor.current_control.Iq_measured\n" % (0 if boards == 2 else 1)
    assert odrive.usb(last, 0, boards - 1) == b"-4.000000\r\n"


def test_a_constant_set_wrongly_makes_wrong_currents():
    """Why it is looked at before anything moves."""
    odrive = as_set_up()
    odrive.usb(ARM + b"w axis0.motor.config.torque_constant 0.04\n", 0)
    odrive.uart(current_lines(SETTINGS, [4.0, 4.0]), 0)
    assert odrive.tick(0, *STILL) == pytest.approx((4.0 * 0.034 / 0.04, 4.0), abs=1.5e-5)


def test_current_is_limited_by_what_was_set_and_by_the_bus_voltage():
    odrive = armed()
    odrive.uart(b"c 0 100\nc 1 100\n", 0)
    assert odrive.tick(0, *STILL) == (40.0, -40.0)
    odrive.usb(b"w axis0.motor.config.current_lim 10\n", 0)
    assert odrive.tick(0, *STILL) == (10.0, -40.0)
    odrive.usb(b"w axis0.controller.config.vel_limit 200\n", 0)
    fast = 100.0  # turns/s: 21 V of back-EMF
    most = (odrive.bus_voltage - WINDING.torque_constant * math.tau * fast) / WINDING.resistance
    odrive.usb(b"w axis0.motor.config.current_lim 100\n", 0)
    assert odrive.tick(0, (fast, 0.0), (0.0, 0.0))[0] == pytest.approx(most)


def test_bus_sags_under_load_as_the_battery_says():
    odrive = armed()
    odrive.uart(b"c 0 20\nc 1 20\n", 0)
    odrive.tick(0, *STILL)
    power = 2 * WINDING.resistance * 20.0**2
    assert odrive.bus_voltage * odrive.bus_current == pytest.approx(power)
    assert odrive.bus_voltage == pytest.approx(
        BATTERY.voltage - BATTERY.resistance * odrive.bus_current
    )


def test_a_battery_that_cannot_give_so_much_lets_every_motor_go():
    """24 V behind 1 ohm: at most 144 W, and 40 A in two windings of 0.1 ohm are 320 W."""
    odrive = armed(battery=Battery(voltage=24.0, resistance=1.0))
    odrive.uart(b"c 0 40\nc 1 40\n", 0)
    assert odrive.tick(0, *STILL) == (0.0, 0.0)
    assert [axis.error for axis in odrive.axes] == [AxisError.UNDER_VOLTAGE] * 2
    assert (odrive.bus_voltage, odrive.bus_current) == (24.0, 0.0)


def test_current_loop_of_finite_bandwidth_approaches_its_command():
    share = loop_share(1000.0, 250e-6)
    odrive = OdriveEmulator(SETTINGS, [WINDING._replace(loop_share=share)] * 2, BATTERY)
    odrive.axes[0].config.torque_constant = 1.0
    odrive.usb(ARM, 0)
    odrive.uart(b"c 0 10\n", 0)
    currents = [odrive.tick(250 * k, *STILL)[0] for k in range(4)]
    assert currents == pytest.approx([10.0 * (1.0 - math.exp(-0.25 * (k + 1))) for k in range(4)])


def wheel(odrive: OdriveEmulator, seconds: float) -> tuple[float, float]:
    """Position and speed of motor 0 with some inertia on it (2 turns/s^2 per A) after a time of 1
    kHz commands repeated.
    """
    position = speed = 0.0
    for k in range(int(seconds * 4000)):
        odrive.axes[0].feed(250 * k)
        current, *_ = odrive.tick(250 * k, (speed, 0.0), (position, 0.0))
        speed += 250e-6 * 2.0 * current
        position += 250e-6 * speed
    return position, speed


def test_velocity_command_is_reached():
    odrive = armed()
    odrive.uart(b"v 0 2\n", 0)
    # The loop's time constant is 1 / (2 x 0.16 / 0.034) = 0.11 s: 3 s are 28 of them.
    assert wheel(odrive, 3.0)[1] == pytest.approx(2.0, abs=1e-6)


def test_position_command_is_reached():
    odrive = armed()
    odrive.uart(b"p 0 1.5\n", 0)
    # Slowest mode 5 /s: e^-30 is left, and the steps' error.
    assert wheel(odrive, 6.0)[0] == pytest.approx(1.5, abs=1e-4)


def test_velocity_wish_of_the_position_loop_is_held_to_the_speed_limit():
    odrive = armed()
    odrive.uart(b"p 0 1000\n", 0)
    assert wheel(odrive, 3.0)[1] == pytest.approx(8.0, abs=1e-6)
    assert odrive.axes[0].error == AxisError(0)


# States and errors


def test_idle_motor_takes_commands_and_gives_no_current():
    odrive = emulator()
    odrive.uart(b"c 0 5\nv 1 3\n", 0)
    assert odrive.tick(0, *STILL) == (0.0, 0.0)


def test_command_from_before_is_what_an_armed_motor_wakes_up_with():
    """The trap that the links to the driver avoid by sending zero before they arm."""
    odrive = emulator()
    odrive.uart(b"c 0 5\n", 0)
    odrive.usb(ARM, 0)
    assert odrive.tick(0, *STILL) == (5.0, 0.0)


@pytest.mark.parametrize("feeding", [b"c 0 1\n", b"v 0 0\n", b"p 0 0\n", b"u 0\n"])
def test_watchdog_expires_100_ms_after_the_last_command_of_its_motor(feeding):
    odrive = armed()
    odrive.uart(feeding + b"c 1 1\n", 50_000)
    odrive.uart(b"c 1 1\n", 100_000)  # the other motor's does not count
    odrive.tick(149_750, *STILL)
    assert odrive.axes[0].error == AxisError(0)
    odrive.tick(150_000, *STILL)
    assert (
        asked(odrive, b"r axis0.error") == b"2048"
        and asked(odrive, b"r axis0.current_state") == b"1"
    )
    assert odrive.tick(150_250, *STILL) == (0.0, -1.0)


def test_reading_does_not_feed_the_watchdog():
    odrive = armed()
    for now_us in range(0, 100_000, 1000):
        odrive.usb(b"f 0\nr axis0.error\n", now_us)
    odrive.tick(100_000, *STILL)
    assert odrive.axes[0].error == AxisError.WATCHDOG_EXPIRED


def test_motor_stays_off_after_an_error_until_it_is_cleared_and_requested_again():
    odrive = armed()
    odrive.uart(b"c 0 1\nc 1 1\n", 0)
    odrive.tick(200_000, *STILL)
    odrive.uart(b"c 0 1\n", 200_000)
    assert odrive.tick(200_250, *STILL) == (0.0, 0.0)  # commands alone do not
    odrive.usb(ARM, 200_000)
    assert odrive.tick(200_500, *STILL) == (0.0, 0.0)  # nor does a request with the error standing
    odrive.usb(b"w axis0.error 0\n", 200_000)
    assert odrive.tick(200_750, *STILL) == (0.0, 0.0)  # nor does clearing it
    odrive.usb(ARM, 200_000)
    assert odrive.tick(201_000, *STILL) == (1.0, 0.0)  # the other motor's error still stands
    odrive.usb(b"sc\n" + ARM, 200_000)
    assert odrive.tick(201_250, *STILL) == (1.0, -1.0)


def test_watchdog_that_is_disabled_never_expires():
    odrive = armed()
    odrive.usb(b"w axis0.config.enable_watchdog 0\n", 0)
    odrive.uart(b"c 0 1\n", 0)
    assert odrive.tick(10_000_000, *STILL)[0] == 1.0


@pytest.mark.parametrize("speed", [9.61, -9.61])
def test_driver_trips_by_itself_a_fifth_above_the_speed_limit(speed):
    odrive = armed()
    odrive.uart(b"c 0 1\nc 1 1\n", 0)
    odrive.tick(0, (math.copysign(9.59, speed), 0.0), (0.0, 0.0))
    assert odrive.axes[0].error == AxisError(0)
    assert odrive.tick(250, (speed, 0.0), (0.0, 0.0)) == (0.0, -1.0)
    assert odrive.axes[0].error == AxisError.OVER_SPEED


@pytest.mark.parametrize(
    "voltage, error", [(7.9, AxisError.UNDER_VOLTAGE), (60.0, AxisError.OVER_VOLTAGE)]
)
def test_bus_voltage_outside_the_trip_levels_stops_both_motors(voltage, error):
    odrive = armed(battery=BATTERY._replace(voltage=voltage))
    odrive.uart(b"c 0 1\nc 1 1\n", 0)
    assert odrive.tick(0, *STILL) == (0.0, 0.0)
    assert [axis.error for axis in odrive.axes] == [error, error]


def test_motor_never_calibrated_refuses_closed_loop_until_it_has_been():
    odrive = emulator(calibrated=False, calibration_us=2_000_000)
    odrive.usb(ARM, 0)
    assert (
        asked(odrive, b"r axis0.current_state") == b"1" and asked(odrive, b"r axis0.error") == b"1"
    )
    odrive.usb(b"sc\nw axis0.requested_state 3\nc 0 1\n", 0)
    odrive.usb(b"u 0\n", 1_950_000)
    assert (
        odrive.tick(1_999_750, *STILL) == (0.0, 0.0)
        and asked(odrive, b"r axis0.current_state") == b"3"
    )
    odrive.tick(2_000_000, *STILL)
    assert (
        asked(odrive, b"r axis0.current_state") == b"1"
        and asked(odrive, b"r axis0.motor.is_calibrated") == b"1"
    )
    odrive.usb(b"w axis0.requested_state 8\n", 2_000_000)
    assert asked(odrive, b"r axis0.current_state") == b"8"


def test_motor_and_encoder_are_calibrated_one_by_one_in_their_order():
    """The vendor's states 4 and 7; the second asks for the first."""
    odrive = emulator(calibrated=False, calibration_us=50_000)
    odrive.usb(b"w axis0.requested_state 7\n", 0)
    assert asked(odrive, b"r axis0.error") == b"1"
    odrive.usb(b"w axis0.requested_state 4\n", 0)  # forgets the state that could not be entered
    assert asked(odrive, b"r axis0.error") == b"0"
    assert asked(odrive, b"r axis0.current_state") == b"4"
    odrive.tick(50_000, *STILL)
    assert asked(odrive, b"r axis0.motor.is_calibrated") == b"1"
    odrive.usb(b"w axis0.requested_state 8\n", 50_000)
    assert asked(odrive, b"r axis0.error") == b"1", "the encoder is not"
    odrive.usb(b"w axis0.requested_state 7\nu 0\n", 50_000)
    assert asked(odrive, b"r axis0.current_state") == b"7"
    odrive.tick(100_000, *STILL)
    odrive.usb(b"w axis0.requested_state 8\n", 100_000)
    assert asked(odrive, b"r axis0.current_state") == b"8"


@pytest.mark.parametrize("state", [1, 3, 8])
def test_watchdog_expires_in_every_state(state):
    odrive = emulator(calibration_us=500_000)
    odrive.usb(b"w axis0.requested_state %d\n" % state, 0)
    odrive.tick(99_750, *STILL)
    assert asked(odrive, b"r axis0.error") == b"0"
    odrive.tick(100_000, *STILL)
    assert asked(odrive, b"r axis0.error") == b"2048"
    assert asked(odrive, b"r axis0.current_state") == b"1"


def test_a_command_that_is_no_number_switches_the_motor_off():
    odrive = armed()
    odrive.uart(b"c 0 nan\nc 1 1\n", 0)
    assert odrive.tick(0, *STILL) == (0.0, -1.0)
    assert asked(odrive, b"r axis0.motor.error") == b"65536"  # modulation is nan


def test_torque_fades_towards_the_speed_limit_on_a_board_as_it_comes():
    odrive = armed()
    odrive.uart(b"c 0 40\nc 1 40\n", 0)
    odrive.usb(b"w axis0.controller.config.enable_torque_mode_vel_limit 1\n", 0)
    most = (8.0 - 6.0) * 0.16  # N m, here A
    assert odrive.tick(0, (6.0, 0.0), (0.0, 0.0)) == pytest.approx((most, -40.0))


def test_state_that_does_not_exist_is_an_error_and_leaves_the_motor_off():
    odrive = armed()
    odrive.usb(b"w axis0.requested_state 77\n", 0)
    assert (
        asked(odrive, b"r axis0.error") == b"1" and asked(odrive, b"r axis0.current_state") == b"1"
    )


# Links of the high level to a motor driver: the same claims for each make


class Wire:
    """A line to an emulator, which answers at once, or not at all, or late."""

    def __init__(self, odrive: OdriveEmulator, clock: HandClock, board: int = 0):
        self.odrive, self.clock, self.board = odrive, clock, board
        self.delay_us = 0
        self.lose = False
        self.taken: int | None = None
        self.sent = b""
        self._answers: list[tuple[int, bytes]] = []

    def write(self, data: bytes) -> int:
        data = data[: self.taken]
        self.sent += data
        answer = self.odrive.usb(data, self.clock.us, self.board)
        if answer and not self.lose:
            self._answers.append((self.clock.us + self.delay_us, answer))
        return len(data)

    def read(self) -> bytes:
        there = [answer for due, answer in self._answers if due <= self.clock.us]
        self._answers = [(due, answer) for due, answer in self._answers if due > self.clock.us]
        return b"".join(there)

    def close(self) -> None: ...


class Tree:
    """An object tree as the vendor's package gives it, over an emulator.

    Attributes are properties.
    """

    def __init__(self, odrive: OdriveEmulator, board: int = 0, path: str = ""):
        object.__setattr__(self, "_of", (odrive, board, path))

    def __getattr__(self, name: str):
        odrive, board, path = self._of
        full = f"{path}{name}"
        if name == "clear_errors":
            return lambda: odrive.usb(b"sc\n", 0, board)
        answer = odrive.usb(f"r {full}\n".encode(), 0, board).decode().strip()
        if "invalid" not in answer:
            return float(answer) if "." in answer or "inf" in answer else int(answer)
        known = any(
            known.startswith(f"{full}.".encode()) for known in odrive.boards[board]._properties
        )
        if not known:
            raise AttributeError(full)
        return Tree(odrive, board, full + ".")

    def __setattr__(self, name: str, value: object) -> None:
        odrive, board, path = self._of
        assert odrive.usb(f"w {path}{name} {value}\n".encode(), 0, board) == b""


def wires(odrive: OdriveEmulator, clock: HandClock) -> list[Wire]:
    return [Wire(odrive, clock, board) for board in range(len(odrive.boards))]


def over_ascii(odrive: OdriveEmulator) -> MotorDriver:
    clock = HandClock()
    settings = dataclasses.replace(SETTINGS, boards=len(odrive.boards))
    return OdriveAscii.connect(wires(odrive, clock), settings, clock)


def over_vendor(odrive: OdriveEmulator) -> MotorDriver:
    boards = [Tree(odrive, board) for board in range(len(odrive.boards))]
    return OdriveVendor(boards, dataclasses.replace(SETTINGS, boards=len(boards)))


TWO_BOARDS = dataclasses.replace(SETTINGS, boards=2)
DRIVERS = {
    "0.5.4": (SETTINGS, (0, 5, 4)),
    "0.5.6": (SETTINGS, (0, 5, 6)),
    "0.5.6 on two boards": (TWO_BOARDS, (0, 5, 6)),
    "0.6 on two boards": (TWO_BOARDS, (0, 6, 11)),
}
LINKS = [(make, name) for make in (over_ascii, over_vendor) for name in DRIVERS]


@pytest.fixture(params=LINKS, ids=lambda link: f"{link[0].__name__} {link[1]}")
def linked(request):
    make, name = request.param
    settings, version = DRIVERS[name]
    odrive = as_set_up(settings, version=version)
    return odrive, make(odrive)


def test_link_reads_speeds_and_positions_forward_positive(linked):
    odrive, link = linked
    odrive.tick(0, (1.5, -2.5), (3.0, 4.0))
    assert link.speeds() == (1.5, -2.5) and link.positions() == (3.0, 4.0)
    odrive.tick(0, (1.75, -2.5), (3.0, 4.0))
    assert link.speeds() == (1.75, -2.5)  # asked anew


def test_link_reads_the_bus(linked):
    odrive, link = linked
    odrive.tick(0, *STILL)
    assert link.bus() == (24.0, 0.0)


def test_link_arms_and_disarms_both_motors(linked):
    odrive, link = linked
    assert link.states() == (1, 1)
    link.motors_on()
    assert link.states() == (8, 8) == tuple(axis.state for axis in odrive.axes)
    link.motors_off()
    assert link.states() == (1, 1) == tuple(axis.state for axis in odrive.axes)


def test_link_tells_errors_and_clears_them_only_when_arming(linked):
    odrive, link = linked
    odrive.axes[1].fail(AxisError.WATCHDOG_EXPIRED)
    link.speeds(), link.bus(), link.motors_off()
    assert link.errors() == (0, link.watchdog_bit)
    assert "axis 1" in link.explain() and "watchdog timer expired" in link.explain()
    link.motors_on()
    assert link.errors() == (0, 0) and link.states() == (8, 8) and link.explain() == ""


def test_link_starts_the_calibration_of_both_motors(linked):
    odrive, link = linked
    link.calibrate()
    assert link.states() == (3, 3)
    odrive.tick(2_000_000, *STILL)
    assert tuple(axis.state for axis in odrive.axes) == (1, 1)


def test_link_arms_with_zero_torque_whatever_was_commanded_before(linked):
    odrive, link = linked
    for board in range(len(odrive.boards)):
        odrive.uart(b"c 0 0.5\nc 1 0.5\n", 0, board)
    link.motors_on()
    assert odrive.tick(0, *STILL) == (0.0, 0.0)


def test_link_finds_the_limits_of_a_driver_that_was_set_up(linked):
    _, link = linked
    assert link.unmet_limits() == ([], [])


def test_link_finds_the_limits_of_a_board_as_it_comes(linked):
    odrive, link = linked
    board = odrive.boards[-1]
    board.as_it_comes()
    for name, value in (  # and as somebody may have left it
        (b"controller.config.vel_limit_tolerance", b"9"),
        (b"controller.config.enable_overspeed_error", b"0"),
        (b"config.startup_closed_loop_control", b"1"),
    ):
        odrive.usb(b"w axis0.%s %s\n" % (name, value), 0, len(odrive.boards) - 1)
    wrong, unread = link.unmet_limits()
    told = "\n".join(wrong)
    assert not unread
    for path, value in (
        ("torque_constant", "0.04"),
        ("vel_limit", "2"),
        ("dc_max_negative_current", "-0.01"),
        ("vel_limit_tolerance", "9"),
        ("enable_overspeed_error", "0"),
        ("startup_closed_loop_control", "1"),
        ("enable_watchdog", "0"),
        ("uart_a_baudrate", "115200"),
    ):
        assert f"{path} is {value}; needed" in told
    assert all(line.startswith("odrv1.") for line in wrong) == (len(odrive.boards) == 2)


def test_vendor_link_turns_the_packages_own_exceptions_into_device_errors_and_asks_every_axis():
    class DeviceLostException(Exception):
        """As the package's: not an OSError."""

    class Lost:
        encoder = None

        def __setattr__(self, name, value):
            raise DeviceLostException("gone")

    sound = SimpleNamespace(encoder=None)
    version = {"fw_version_major": 0, "fw_version_minor": 5, "fw_version_revision": 6}
    board = SimpleNamespace(axis0=Lost(), axis1=sound, **version)
    link = OdriveVendor([board], SETTINGS)
    with pytest.raises(DeviceError, match="gone"):
        link.motors_off()
    assert sound.requested_state == 1
    with pytest.raises(DeviceError):
        link.bus()


# Which firmware


@pytest.mark.parametrize("version", [(0, 5, 2), (0, 5, 3)])
@pytest.mark.parametrize("make", [over_ascii, over_vendor])
def test_firmware_whose_answers_cannot_be_read_is_refused_in_words(version, make):
    told = ".".join(map(str, version))
    with pytest.raises(UnfitDriver, match=rf"firmware {told}: it answers `0d`") as refused:
        make(as_set_up(version=version))
    assert "odrivetool dfu" in refused.value.advice


@pytest.mark.parametrize(
    "version, words", [((0, 4, 12), "amperes"), ((0, 0, 0), "one's own"), ((0, 7, 0), "newer")]
)
def test_other_firmware_is_refused_with_the_reason(version, words):
    with pytest.raises(UnfitDriver, match=words):
        firmware_of(version)


def test_one_board_of_a_firmware_with_one_axis_is_too_few_for_two_motors():
    with pytest.raises(UnfitDriver, match="drives one motor; the robot has 2") as refused:
        over_ascii(as_set_up(version=(0, 6, 8)))
    assert "stack.boards=2" in refused.value.advice


def test_boards_of_two_firmwares_are_refused():
    clock = HandClock()
    old, new = (as_set_up(TWO_BOARDS, version=version) for version in ((0, 5, 6), (0, 6, 11)))
    mixed = [Wire(old, clock, 0), Wire(new, clock, 1)]
    with pytest.raises(UnfitDriver, match=r"0\.5\.4 to 0\.5\.6 and 0\.6"):
        OdriveAscii.connect(mixed, TWO_BOARDS, clock)
    with pytest.raises(UnfitDriver, match=r"0\.5\.4 to 0\.5\.6 and 0\.6"):
        OdriveVendor([Tree(old, 0), Tree(new, 1)], TWO_BOARDS)


def test_a_driver_of_0_6_that_is_asked_several_things_at_once_leaves_answers_out():
    odrive = as_set_up(TWO_BOARDS, version=(0, 6, 11))
    assert odrive.usb(b"r ibus\nr vbus_voltage\n", 0) == b"0.000000\r\n"
    clock = HandClock()
    hasty = OdriveAscii(wires(odrive, clock), TWO_BOARDS, clock)  # by the rules of 0.5
    with pytest.raises(DeviceError, match="did not answer"):
        hasty.bus()


def test_of_0_6_each_question_is_asked_when_the_one_before_is_answered():
    odrive, clock = as_set_up(TWO_BOARDS, version=(0, 6, 11)), HandClock()
    lines = wires(odrive, clock)
    link = OdriveAscii.connect(lines, TWO_BOARDS, clock)
    for line in lines:
        line.delay_us = 1000
    began = clock.us
    link.speeds()
    # Both boards at the same time: the mark, and three questions of one millisecond each.
    assert 4000 <= clock.us - began <= 4 * 1200
    assert [line.sent.count(b"\n") for line in lines] == [4 + 4, 4 + 4]


def test_one_lost_answer_of_0_6_costs_its_own_limit_and_no_more():
    odrive, clock = as_set_up(TWO_BOARDS, version=(0, 6, 11)), HandClock()
    lines = wires(odrive, clock)
    link = OdriveAscii.connect(lines, TWO_BOARDS, clock)
    lines[1].lose = True
    began = clock.us
    with pytest.raises(DeviceError, match="did not answer 'f 0' within 4 ms"):
        link.speeds()
    assert clock.us - began == 4000
    lines[1].lose = False
    assert link.speeds() == (0.0, 0.0)


def test_under_voltage_is_told_by_the_board_on_0_5_and_by_the_axis_on_0_6():
    for set_up, version, axis_word, words in (
        (SETTINGS, (0, 5, 6), 0x40, "board: 0x2: DC bus under voltage"),
        (TWO_BOARDS, (0, 6, 11), 0x200, "axis 1: 0x200: DC bus under voltage"),
    ):
        odrive = as_set_up(set_up, version=version)
        odrive.bus_voltage = 5.0
        odrive.tick(0, *STILL)
        link = over_ascii(odrive)
        assert link.errors() == (axis_word, axis_word) and words in link.explain()


def test_a_word_longer_than_the_firmwares_buffer_is_not_taken_for_another():
    odrive = as_set_up()
    odrive.usb(b"w axis0.motor.error 1073741824\n", 0)  # unknown current measurement
    assert "motor 0: 107374182..., which this firmware cuts" in over_ascii(odrive).explain()


# The limits


def test_what_setup_prints_sets_up_a_board_as_it_comes():
    for set_up, version in DRIVERS.values():
        odrive = as_set_up(set_up, version=version)
        for board in odrive.boards:
            board.as_it_comes()
        link = over_ascii(odrive)
        assert link.unmet_limits()[0]
        for line in setup_lines(set_up, link.firmware):
            if found := re.match(r"odrv(\d)\.(\S+) = (\S+)", line):
                value = {"True": "1", "False": "0"}.get(found[3], found[3])
                text = f"w {found[2]} {value}\n".encode()
                assert odrive.usb(text, 0, int(found[1])) == b"", line
        assert link.unmet_limits() == ([], [])


@pytest.mark.parametrize("name, value", [("vel_limit", "80"), ("current_lim", "60")])
def test_a_driver_that_allows_more_than_the_robot_is_refused_too(name, value):
    """A mid level flashed for 40 A beside a supervisor told of 5 A: the driver holds the 5 A."""
    odrive = as_set_up()
    path = "controller.config." if name == "vel_limit" else "motor.config."
    odrive.usb(f"w axis1.{path}{name} {value}\n".encode(), 0)
    (told,), unread = over_ascii(odrive).unmet_limits()
    assert not unread and f"axis1.{path}{name} is {value}; needed: exactly" in told


def test_a_board_that_is_set_to_arms_itself_after_a_restart():
    odrive = as_set_up()
    odrive.usb(b"w axis0.config.startup_closed_loop_control 1\nsr\n", 0)
    assert [axis.state for axis in odrive.axes] == [8, 1]


def test_a_speed_that_is_no_error_to_the_driver_trips_nothing():
    odrive = armed()
    odrive.usb(b"w axis0.controller.config.enable_overspeed_error 0\n", 0)
    odrive.uart(b"c 0 1\nc 1 1\n", 0)
    odrive.tick(0, (50.0, 50.0), (0.0, 0.0))
    assert [axis.error for axis in odrive.axes] == [AxisError(0), AxisError.OVER_SPEED]


def test_a_limit_that_the_driver_does_not_know_is_told_and_not_taken_for_wrong():
    link = over_ascii(as_set_up())
    link.firmware = dataclasses.replace(link.firmware, current_limit="motor.config.no_such_limit")
    assert link.unmet_limits() == (
        [],
        ["axis0.motor.config.no_such_limit", "axis1.motor.config.no_such_limit"],
    )


def test_braking_beyond_what_the_bus_takes_back_trips_and_says_so():
    odrive = as_set_up()
    odrive.usb(ARM + b"w config.dc_max_negative_current -0.01\n", 0)
    for k in range(3):
        odrive.uart(current_lines(SETTINGS, [-4.0, -4.0]), 250 * k)
        odrive.tick(250 * k, (4.0, 4.0), (0.0, 0.0))
    assert odrive.axes[0].error == AxisError.OVER_RETURN
    assert "DC bus over regen current" in over_ascii(odrive).explain()


def test_most_that_motors_return_to_a_bus_is_a_bound():
    """Against every current and speed within the limits."""
    speed, voltage = 8 * math.tau, 18.0
    drawn, returned = bus_extremes(WINDING, 2, speed, voltage)
    each = [
        2 * electrical_power(WINDING, 0.25 * i, speed * w / 10) / voltage
        for i in range(-160, 161)
        for w in range(-10, 11)
    ]
    assert max(each) == pytest.approx(drawn) and -min(each) <= returned
    assert -min(each) == pytest.approx(returned, rel=1e-2)  # currents a quarter of an ampere apart


# The ASCII link and time


def test_ascii_link_waits_for_an_answer_that_comes_within_the_limit():
    odrive, clock = emulator(), HandClock()
    wire = Wire(odrive, clock)
    wire.delay_us = 3000
    link = OdriveAscii([wire], SETTINGS, clock)
    odrive.tick(0, (1.0, 2.0), (0.0, 0.0))
    assert link.speeds() == (1.0, 2.0) and 3000 <= clock.us <= 3000 + 200


def test_ascii_link_gives_up_at_the_limit_and_not_later():
    clock = HandClock()
    wire = Wire(emulator(), clock)
    wire.lose = True
    with pytest.raises(DeviceError, match="did not answer 'f 0' within 4 ms"):
        OdriveAscii([wire], SETTINGS, clock).speeds()
    assert clock.us == 4000


@pytest.mark.parametrize("delay_us", [4100, 6000, 9000, 15_000])
def test_late_answer_is_never_taken_for_that_of_another_question(delay_us):
    odrive, clock = emulator(), HandClock()
    wire = Wire(odrive, clock)
    link = OdriveAscii([wire], SETTINGS, clock)
    odrive.tick(0, (1.0, 1.0), (0.0, 0.0))
    assert link.speeds() == (1.0, 1.0)
    wire.delay_us = delay_us
    with pytest.raises(DeviceError):
        link.speeds()
    odrive.tick(0, (7.0, 7.0), (0.0, 0.0))
    with pytest.raises(DeviceError):
        link.bus()  # what arrives meanwhile answers the other question
    wire.delay_us = 0
    for _ in range(5):
        try:
            assert link.bus() == (24.0, 0.0)
            assert link.speeds() == (7.0, 7.0)
        except DeviceError:
            continue  # late complaints about marks still under way: refused, not misread
        break
    else:
        raise AssertionError("the link never came back into step")


def test_after_a_question_that_failed_nothing_older_passes_for_its_answer():
    odrive, clock = emulator(), HandClock()
    wire = Wire(odrive, clock)
    link = OdriveAscii([wire], SETTINGS, clock, reply_limit=1e-4, poll=1e-4)
    odrive.tick(0, (1.0, 1.0), (0.0, 0.0))
    link.speeds()
    wire.lose = True
    for question in (link.speeds, link.states, link.errors, link.positions):
        with pytest.raises(DeviceError):
            question()


def test_late_answer_is_not_taken_for_the_next_answer_to_the_same_question():
    """The treacherous case: the old speeds look exactly like an answer to the new question."""
    odrive, clock = emulator(), HandClock()
    wire = Wire(odrive, clock)
    link = OdriveAscii([wire], SETTINGS, clock)
    odrive.tick(0, (1.0, 1.0), (0.0, 0.0))
    link.speeds()
    wire.delay_us = 6000  # arrives at 6 ms, after the limit of 4 ms
    with pytest.raises(DeviceError):
        link.speeds()
    odrive.tick(0, (7.0, 7.0), (0.0, 0.0))
    wire.delay_us = 3000  # asked at 4 ms, answered at 7 ms
    assert link.speeds() == (7.0, 7.0)


@pytest.mark.parametrize("delay_us", range(4200, 16_000, 700))
@pytest.mark.parametrize("version", [(0, 5, 6), (0, 6, 11)])
def test_a_driver_that_is_always_late_never_passes_an_old_answer_for_a_new_one(delay_us, version):
    """Its complaints about earlier marks are late as well."""
    set_up = SETTINGS if version < (0, 6, 0) else dataclasses.replace(SETTINGS, motors=1)
    odrive, clock = as_set_up(set_up, version=version), HandClock()
    wire = Wire(odrive, clock)
    link = OdriveAscii([wire], set_up, clock, firmware=firmware_of(version))
    wire.delay_us = delay_us
    refused = 0
    for turn in range(40):
        if turn == 30:
            wire.delay_us = 0
        odrive.tick(0, (0.125 * turn,) * set_up.motors, (0.0,) * set_up.motors)
        try:
            assert link.speeds() == (0.125 * turn,) * set_up.motors
        except DeviceError:
            refused += 1
            assert turn < 35, "it comes back into step once the driver is prompt"
    assert refused >= 30


def test_ascii_link_comes_back_into_step_after_a_lost_answer():
    odrive, clock = emulator(), HandClock()
    wire = Wire(odrive, clock)
    link = OdriveAscii([wire], SETTINGS, clock)
    wire.lose = True
    with pytest.raises(DeviceError):
        link.speeds()
    wire.lose = False
    assert link.bus() == (24.0, 0.0)


def test_answers_that_are_no_numbers_are_device_errors():
    class Babbling:
        mark = b""

        def read(self) -> bytes:
            return b"invalid motor %s\n" % self.mark + b"eh?\n" * 6

        def write(self, data: bytes) -> int:
            self.mark = data.split(b"\n")[0].removeprefix(b"f ")
            return len(data)

        def close(self) -> None: ...

    with pytest.raises(DeviceError, match="eh"):
        OdriveAscii([Babbling()], SETTINGS, HandClock()).speeds()


def test_what_a_board_says_unasked_between_two_questions_answers_none():
    """Firmware 0.5 also prints its remarks there."""
    odrive, clock = emulator(), HandClock()
    wire = Wire(odrive, clock)
    link = OdriveAscii([wire], SETTINGS, clock)
    link.speeds()
    wire._answers.append((clock.us, b"99.0 99.0\r\n"))
    assert link.speeds() == (0.0, 0.0) and link.bus() == (24.0, 0.0)


def test_half_a_remark_behind_the_answers_does_not_become_one_of_the_next():
    odrive, clock = emulator(), HandClock()
    wire = Wire(odrive, clock)
    link = OdriveAscii([wire], SETTINGS, clock)
    link.speeds()
    plain = wire.read
    wire.read = lambda: plain() + b"99."  # type: ignore[method-assign]
    link.speeds()
    wire.read = plain  # type: ignore[method-assign]
    wire._answers.append((clock.us + 100, b"0 99.0\r\n"))
    wire.delay_us = 300
    assert link.speeds() == (0.0, 0.0)


def test_a_complaint_about_an_order_is_not_taken_for_an_answer():
    odrive, clock = emulator(), HandClock()
    wire = Wire(odrive, clock)
    link = OdriveAscii([wire], SETTINGS, clock)
    link.speeds()
    link.firmware = dataclasses.replace(link.firmware, clear=b"no such order")
    wire.delay_us = 500
    link.motors_on()
    assert link.speeds() == (0.0, 0.0)


def test_a_line_that_never_stops_talking_is_left_before_it_fills_the_memory():
    class Flood:
        read_so_far = 0

        def read(self) -> bytes:
            self.read_so_far += 1000
            return b"x" * 1000

        def write(self, data: bytes) -> int:
            return len(data)

        def close(self) -> None: ...

    flood, clock = Flood(), HandClock()
    with pytest.raises(DeviceError, match="did not answer"):
        OdriveAscii([flood], SETTINGS, clock).speeds()
    assert flood.read_so_far < 10_000 and clock.us < 4000


def test_the_bus_current_is_that_of_all_boards():
    odrive = as_set_up(TWO_BOARDS)
    for board, torque in enumerate((b"0.34", b"0.17")):
        odrive.usb(b"w axis0.requested_state 8\nc 0 %s\n" % torque, 0, board)
    for now_us in (0, 250):
        odrive.tick(now_us, *STILL)
    # 10 A and 5 A in windings of 0.1 ohm at the bus voltage.
    power = WINDING.resistance * (10.0**2 + 5.0**2)
    for link in (over_ascii(odrive), over_vendor(odrive)):
        assert link.bus()[1] == pytest.approx(power / odrive.bus_voltage, abs=1e-4)


@pytest.mark.parametrize("make", [over_ascii, over_vendor])
def test_an_encoder_that_is_wrong_is_wrong_forward_on_a_reversed_motor_too(make):
    odrive = as_set_up()
    odrive.speed_offsets[1] = 2.0
    odrive.tick(0, (1.0, 1.0), (0.0, 0.0))
    assert make(odrive).speeds() == (1.0, 3.0)


def test_a_current_that_trips_too_soon_is_told():
    """0.6 has the current itself, 0.5 the room above the limit and the range that is measured."""
    for version, path, value in (
        ((0, 6, 11), "config.motor.current_hard_max", 41),
        ((0, 5, 6), "motor.config.current_lim_margin", 1),
        ((0, 5, 6), "motor.config.requested_current_range", 41),
    ):
        set_up = TWO_BOARDS if version >= (0, 6, 0) else SETTINGS
        odrive = as_set_up(set_up, version=version)
        odrive.usb(f"w axis0.{path} {value}\n".encode(), 0)
        (told,), _ = over_ascii(odrive).unmet_limits()
        assert f"{path} is {value}; needed: at least" in told


def test_full_line_is_a_device_error():
    clock = HandClock()
    wire = Wire(emulator(), clock)
    wire.taken = 3
    with pytest.raises(DeviceError, match="full"):
        OdriveAscii([wire], SETTINGS, clock).motors_off()


def test_one_exchange_serves_a_cycle_and_no_longer():
    odrive, clock = emulator(), HandClock()
    wire = Wire(odrive, clock)
    link = OdriveAscii([wire], SETTINGS, clock)
    link.speeds()
    asked_once = wire.sent
    link.positions(), link.states(), link.errors()
    assert wire.sent == asked_once
    odrive.axes[0].fail(AxisError.OVER_SPEED)
    clock.us += 10_000
    assert link.errors() == (0x200, 0)
