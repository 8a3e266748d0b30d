"""Serial lines of this machine.

Named ports, pseudo-terminals, a bad cable. And the programs that use them start light.
"""

import os
import subprocess
import sys
import termios

import pytest

from footfall.machines.control.ports import LinkLost, pipe
from footfall.realtime.serial_port import (
    Cable,
    NoisyPort,
    PortError,
    PtyPort,
    SerialPort,
    open_device,
    open_port,
)

EVERY_BYTE = bytes(range(256))


@pytest.fixture(params=["terminal", "cable"])
def line(request, tmp_path):
    """A device's end and its user's, by either make of line."""
    if request.param == "terminal":
        device, port = (
            open_device(str(tmp_path / "device")),
            open_port(str(tmp_path / "device"), 460_800),
        )
    else:
        device, port = plugged_in(Cable.made())
    yield device, port
    port.close()
    device.close()


def plugged_in(cable):
    """Both ends opened as two processes would, each with its own copies."""
    device, user = (os.dup(end.fileno()) for end in cable)
    port = open_port(f"fd:{os.dup(user)}")
    opened = open_device(f"fd:{device},{user}")
    for end in cable:
        end.close()
    return opened, port


def test_every_byte_passes_unchanged_both_ways(line):
    device, port = line
    assert device.write(EVERY_BYTE) == 256
    assert port.read() == EVERY_BYTE
    assert port.write(EVERY_BYTE) == 256
    assert device.read() == EVERY_BYTE


def test_reading_an_empty_line_does_not_wait(line):
    device, port = line
    assert (device.read(), port.read()) == (b"", b"")


def test_a_line_nobody_reads_takes_no_more_and_does_not_wait(line):
    device, port = line
    taken = 0
    for _ in range(1000):
        part = port.write(b"x" * 1000)
        taken += part
        if part == 0:
            break
    else:
        pytest.fail("a megabyte went into a line that nobody reads")
    received = b""
    while more := device.read():
        received += more
    assert len(received) == taken


def test_a_device_outlives_its_users_and_a_new_one_hears_nothing_of_before(tmp_path):
    device = PtyPort(tmp_path / "device")
    SerialPort(tmp_path / "device").close()
    assert device.read() == b""
    device.write(b"nobody listens")
    second = SerialPort(tmp_path / "device")
    assert second.read() == b""
    device.write(b"now")
    assert second.read() == b"now"
    second.close()
    device.close()


def test_a_device_that_is_gone_is_a_lost_link(line):
    device, port = line
    device.close()
    with pytest.raises(LinkLost):
        port.read()
    with pytest.raises(LinkLost):
        port.write(b"anybody?")


def test_a_device_on_a_cable_outlives_its_user_too():
    device, port = plugged_in(Cable.made())
    port.close()
    assert device.read() == b""
    assert device.write(b"nobody listens") == 14
    device.close()


def test_what_was_said_before_a_cable_was_opened_is_not_heard():
    cable = Cable.made()
    cable.device.send(b"old news")
    device, port = plugged_in(cable)
    device.write(b"now")
    assert port.read() == b"now"
    port.close()
    device.close()


@pytest.mark.parametrize("name", ["fd:", "fd:x", "fd:1,2,3", "fd:-1"])
def test_a_cable_has_numbers(name):
    with pytest.raises(PortError, match="names no open socket"):
        open_port(name)


def test_a_port_has_one_user(tmp_path):
    device = PtyPort(tmp_path / "device")
    port = SerialPort(tmp_path / "device")
    with pytest.raises(PortError, match="in use by another program"):
        SerialPort(tmp_path / "device")
    port.close()
    device.close()


def test_a_closed_device_leaves_no_name_but_does_not_take_another_ones(tmp_path):
    first = PtyPort(tmp_path / "device")
    second = PtyPort(tmp_path / "device")  # the first was killed, say, and its name remained
    first.close()
    assert os.path.lexists(tmp_path / "device")
    second.close()
    assert not os.path.lexists(tmp_path / "device")


def test_closing_a_port_does_not_pull_the_line_that_resets_some_boards(tmp_path):
    device = open_device(str(tmp_path / "device"))
    told = termios.tcgetattr(device._held)
    told[2] |= termios.HUPCL
    termios.tcsetattr(device._held, termios.TCSANOW, told)
    port = open_port(str(tmp_path / "device"))
    assert not termios.tcgetattr(port.fileno())[2] & termios.HUPCL
    port.close()
    device.close()


def test_what_is_no_port_is_refused_in_words(tmp_path):
    text = tmp_path / "notes.txt"
    text.write_text("not a port")
    for path, words in ((tmp_path / "absent", "plugged in"), (text, "not a serial port")):
        with pytest.raises(PortError, match=words):
            SerialPort(path)
    device = PtyPort(tmp_path / "device")
    with pytest.raises(PortError, match="123 baud"):
        SerialPort(tmp_path / "device", 123)
    device.close()
    assert text.read_text() == "not a port"


@pytest.mark.parametrize("rate", [0.0, 0.01, 0.3])
def test_a_bad_cable_garbles_its_share_of_bytes_and_loses_none(rate):
    near, far = pipe()
    noisy, data = NoisyPort(near, rate, seed=1), EVERY_BYTE * 100
    noisy.write(data)
    far.write(data)
    for received in (far.read(), noisy.read()):
        wrong = sum(a != b for a, b in zip(received, data, strict=True))
        # A binomial count: within five standard deviations of its mean, so wrong once in two
        # million seeds.
        assert abs(wrong - rate * len(data)) <= 5 * (rate * (1 - rate) * len(data)) ** 0.5


def test_the_same_seed_garbles_the_same_bytes():
    def through(seed: int) -> bytes:
        near, far = pipe()
        NoisyPort(near, 0.1, seed).write(EVERY_BYTE)
        return far.read()

    assert through(1) == through(1) != through(2)


@pytest.mark.parametrize("program", ["supervisor_process", "mid_process", "log_process", "faults"])
def test_programs_of_the_control_computer_need_no_jax_and_no_scenario(program):
    heavy = (
        "jax",
        "equinox",
        "diffrax",
        "pydantic",
        "matplotlib",
        "pyarrow",
        "rich",
        "typer",
        "footfall.scenario",
        "footfall.engines",
    )
    code = (
        f"import sys, footfall.realtime.{program}; print([name for name in {heavy} if name in"
        " sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
