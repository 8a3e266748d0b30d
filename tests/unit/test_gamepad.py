"""Game pads by what they say of themselves; a pad whose buttons are not known moves nothing."""

import errno
import os
import shutil
import struct
import subprocess
import time

import pytest
from tests.support.bench import SETTINGS, until_true

from footfall.machines.control.contracts import Operator
from footfall.machines.control.gamepad import Pad, UnknownPad, layout_of
from footfall.machines.control.operator_sources import (
    DUALSHOCK3,
    DUALSHOCK3_BEFORE_4_12,
    JoystickDecoder,
)
from footfall.realtime import joystick
from footfall.realtime.joystick import read_pad, require_layout
from footfall.realtime.serial_port import PortError

# As the kernel's drivers declare them, in the order of their codes.
HID_SONY_DUALSHOCK3 = Pad(
    "Sony PLAYSTATION(R)3 Controller",
    (0, 1, 2, 3, 4, 5),
    (0x130, 0x131, 0x133, 0x134, 0x136, 0x137, 0x138, 0x139, 0x13A, 0x13B, 0x13C, 0x13D, 0x13E,
     0x220, 0x221, 0x222, 0x223),
)  # fmt: skip
XPAD = Pad(
    "Microsoft X-Box 360 pad",
    (0, 1, 2, 3, 4, 5, 0x10, 0x11),
    (0x130, 0x131, 0x133, 0x134, 0x136, 0x137, 0x13A, 0x13B, 0x13C, 0x13D, 0x13E),
)
FLIGHT_STICK = Pad("Logitech Extreme 3D", (0, 1, 5, 6, 0x10, 0x11), tuple(range(0x120, 0x12C)))


def event(kind, number, value):
    return struct.pack("<IhBB", 0, value, kind, number)


def press(number):
    return event(1, number, 1) + event(1, number, 0)


def test_the_table_of_the_dualshock_3_is_what_its_driver_says():
    assert layout_of(HID_SONY_DUALSHOCK3) == DUALSHOCK3
    old = Pad(HID_SONY_DUALSHOCK3.name, tuple(range(27)), tuple(range(0x120, 0x133)))
    assert layout_of(old) == DUALSHOCK3_BEFORE_4_12


def test_another_pad_operates_by_its_own_numbers():
    """Start is 7 here, which is R2 on the DualShock 3; up and down are an axis."""
    decoder = JoystickDecoder(SETTINGS, layout_of(XPAD))
    assert decoder.feed(press(0)).motors_on == 1
    assert decoder.feed(press(7)).run
    assert decoder.feed(press(1)).motors_off == 1
    before = decoder.operator.setpoint
    assert decoder.feed(event(2, 7, -32767)).setpoint == pytest.approx(before + 0.05)
    # Held, and let go: no further press.
    assert decoder.feed(event(2, 7, -32767) + event(2, 7, 0)).setpoint > before
    for _ in range(2):
        decoder.feed(event(2, 7, 32767) + event(2, 7, 0))
    assert decoder.operator.setpoint == pytest.approx(before - 0.05)
    assert decoder.feed(event(2, 3, 32767)).steer == SETTINGS.steer_limit
    assert decoder.feed(press(8)).stop


#: A DualSense without its driver: hid-generic numbers buttons from 0x130 on, so that 0x130 is square,
#: and axis 3 is a trigger, which rests at one end.
BY_HID_GENERIC = Pad(
    "Sony Interactive Entertainment DualSense Wireless Controller",
    (0, 1, 2, 3, 4, 5, 0x10, 0x11),
    tuple(range(0x130, 0x13F)),
)


def test_a_pad_whose_driver_only_counts_buttons_is_refused():
    """It has a code for every action, and they are on other buttons."""
    with pytest.raises(UnknownPad, match="counts buttons without knowing") as error:
        layout_of(BY_HID_GENERIC)
    assert "DualSense" in str(error.value) and "hid_playstation" in str(error.value)
    by_its_own = tuple(code for code in BY_HID_GENERIC.buttons if code not in (0x132, 0x135))
    layout_of(BY_HID_GENERIC._replace(buttons=by_its_own))


def test_a_cross_that_is_both_buttons_and_an_axis_counts_once():
    both = HID_SONY_DUALSHOCK3._replace(axes=(*HID_SONY_DUALSHOCK3.axes, 0x10, 0x11))
    decoder = JoystickDecoder(SETTINGS, layout_of(both))
    before = decoder.operator.setpoint
    decoder.feed(press(13) + event(2, 7, -32767) + event(2, 7, 0))
    assert decoder.operator.setpoint == pytest.approx(before + 0.05)


def test_a_hat_that_is_held_when_the_device_is_opened_is_no_press():
    decoder = JoystickDecoder(SETTINGS, layout_of(XPAD))
    before = decoder.operator.setpoint
    assert decoder.feed(event(2 | 0x80, 7, -32767)).setpoint == before


@pytest.mark.parametrize("pad", [FLIGHT_STICK, Pad("", (), ()), XPAD._replace(axes=(0, 1))])
def test_a_pad_whose_controls_are_not_known_is_refused_with_what_it_has(pad):
    with pytest.raises(UnknownPad, match="not a pad whose buttons are known: it has no") as error:
        layout_of(pad)
    assert pad.name in str(error.value) and "--script" in str(error.value)
    assert all(f"{code:#x}" in str(error.value) for code in (*pad.axes, *pad.buttons))


def driver(pad, refuses=None):
    """ioctl as joydev answers it."""

    def ioctl(descriptor, request, buffer):
        del descriptor
        if request == refuses:
            raise OSError(errno.ENOTTY, os.strerror(errno.ENOTTY))
        answers = {
            joystick.JSIOCGAXES: [len(pad.axes)],
            joystick.JSIOCGBUTTONS: [len(pad.buttons)],
            joystick.JSIOCGAXMAP: pad.axes,
            joystick.JSIOCGBTNMAP: pad.buttons,
            joystick.JSIOCGNAME_128: pad.name.encode(),
        }
        for place, value in enumerate(answers[request]):
            buffer[place] = value
        return 0

    return ioctl


def test_the_device_is_asked_and_a_pipe_has_the_numbers_of_a_dualshock_3(tmp_path):
    for pad in (HID_SONY_DUALSHOCK3, XPAD, FLIGHT_STICK):
        assert read_pad(-1, driver(pad)) == pad
    device = joystick.Path("/dev/null")  # a character device, in the place of one
    assert require_layout(device, driver(XPAD)) == layout_of(XPAD)
    with pytest.raises(PortError, match="Logitech Extreme 3D is not a pad"):
        require_layout(device, driver(FLIGHT_STICK))
    with pytest.raises(PortError, match="does not say which buttons"):
        require_layout(device)  # the real /dev/null answers no such question
    pipe = tmp_path / "pad"
    os.mkfifo(pipe)
    assert require_layout(pipe) == DUALSHOCK3


@pytest.mark.skipif(shutil.which("gcc") is None, reason="asks the system's own header")
def test_requests_and_codes_are_those_of_the_system(tmp_path):
    source = tmp_path / "codes.c"
    source.write_text(
        "#include <linux/joystick.h>\n#include <stdio.h>\nint main(void) {\n"
        'printf("%lu %lu %lu %lu %lu %d %d %d %d %d %d %d %d\\n", (long)JSIOCGAXES,'
        " (long)JSIOCGBUTTONS, (long)JSIOCGNAME(128), (long)JSIOCGAXMAP, (long)JSIOCGBTNMAP,"
        " BTN_SOUTH, BTN_EAST, BTN_NORTH, BTN_START, BTN_MODE, BTN_DPAD_UP, ABS_RX, ABS_HAT0Y);\n"
        "return 0;}\n"
    )
    subprocess.run(["gcc", source, "-o", tmp_path / "codes"], check=True)
    told = subprocess.run([tmp_path / "codes"], capture_output=True, text=True, check=True).stdout
    requests = "JSIOCGAXES JSIOCGBUTTONS JSIOCGNAME_128 JSIOCGAXMAP JSIOCGBTNMAP"
    ours = [getattr(joystick, name) for name in requests.split()]
    ours += [0x130, 0x131, 0x133, 0x13B, 0x13C, 0x220, 0x03, 0x11]
    assert [int(word) % 2**32 for word in told.split()] == ours


def test_a_joystick_that_is_pulled_out_or_cannot_be_opened_is_not_present(tmp_path):
    pipe, resting = tmp_path / "js0", Operator(setpoint=0.6)
    os.mkfifo(pipe)
    newest = joystick.JoystickThread(pipe, JoystickDecoder(SETTINGS), resting)
    with pipe.open("wb", buffering=0) as pad:
        pad.write(press(9))
        until_true(lambda: newest().run, lambda: time.sleep(0.005), 2000)
        assert newest().present
    until_true(lambda: not newest().present, lambda: time.sleep(0.005), 2000)
    assert not newest().run
    gone = joystick.JoystickThread(tmp_path / "js1", JoystickDecoder(SETTINGS), resting)
    until_true(lambda: not gone().present, lambda: time.sleep(0.005), 2000)
