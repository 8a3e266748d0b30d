"""Orientation sensors as their data sheets say, against emulators that know only the sheets."""

import math
import struct

import pytest
from tests.support.bench import SETTINGS

from footfall.machines.control.bno_sensors import KINDS, Bno055, Bno085, Mounting
from footfall.machines.control.contracts import DeviceError
from footfall.machines.control.pitch_sensor import SerialPitchSensor
from footfall.machines.control.ports import pipe
from footfall.realtime.sensor_line import open_sensor, split_line

#: The example of the BNO080's data sheet: pitch -1.10 degrees, roll 20.85 degrees.
SHEET = bytes.fromhex("AAAADE010092FF25088DFEECFFD103000000E7")


def rvc(index, yaw, pitch, roll):
    """A frame as section 1.3.5.2 has it, angles in hundredths of a degree."""
    body = struct.pack("<B6h3x", index % 256, yaw, pitch, roll, 0, 0, 1000)
    return b"\xaa\xaa" + body + bytes([sum(body) % 256])


def wired(kind, mounting="pitch"):
    ours, theirs = pipe()
    return kind(ours, Mounting.of(mounting)), theirs


@pytest.mark.parametrize(
    ("mounting", "degrees"),
    [("pitch", -1.10), ("-pitch", 1.10), ("roll", 20.85), ("-roll", -20.85)],
)
def test_the_message_of_the_data_sheet_is_read_as_the_sheet_reads_it(mounting, degrees):
    sensor, line = wired(Bno085, mounting)
    assert sensor.newest() is None
    line.write(SHEET)
    assert sensor.newest() == pytest.approx(math.radians(degrees))
    assert sensor.newest() is None and sensor.rejected == 0


def test_frames_come_in_any_pieces_and_the_newest_counts():
    stream = b"".join(rvc(k, 0, 10 * k, 0) for k in range(40))
    for size in (1, 7, 19, 50):
        sensor, line = wired(Bno085)
        seen = []
        for start in range(0, len(stream), size):
            line.write(stream[start : start + size])
            seen.append(sensor.newest())
        seen = [round(math.degrees(value) * 10) for value in seen if value is not None]
        assert seen == sorted(seen) and seen[-1] == 39 and sensor.rejected == 0


def test_a_changed_byte_costs_its_frame_and_no_other():
    good = [rvc(k, 100, 200 + k, 300) for k in range(3)]
    for place in range(2, 19):
        sensor, line = wired(Bno085)
        broken = bytearray(good[1])
        broken[place] ^= 0x10
        line.write(good[0] + bytes(broken))
        assert sensor.newest() == pytest.approx(math.radians(2.00))
        line.write(good[2])
        assert sensor.newest() == pytest.approx(math.radians(2.02)) and sensor.rejected >= 1


class Chip:
    """A BNO055 by sections 3.3, 3.6.1, 4.3 and 4.7 of its sheet: registers behind a line."""

    def __init__(self, line, chip=0xA0):
        self.line, self.registers, self.busy, self.deaf = line, {0x00: chip, 0x3D: 0, 0x3B: 0}, 0, 0
        self.radians = (0.0, 0.0, 0.0)  # heading, roll, pitch
        self.heard, self.modes = b"", []

    def step(self):
        self.heard += self.line.read()
        while len(self.heard) >= 4:
            start, kind, register, length = self.heard[:4]
            assert start == 0xAA
            data = self.heard[4 : 4 + length] if kind == 0 else b""
            self.heard = self.heard[4 + len(data) :]
            if self.deaf:
                self.deaf -= 1
            elif self.busy:
                self.busy -= 1
                self.line.write(b"\xee\x07")
            elif kind == 0:
                # Units may be chosen in the configuration mode alone (section 3.3.1).
                if register != 0x3D and self.registers[0x3D] != 0:
                    self.line.write(b"\xee\x05")
                    continue
                self.registers[register] = data[0]
                self.modes += [data[0]] if register == 0x3D else []
                self.line.write(b"\xee\x01")
            else:
                self.line.write(bytes([0xBB, length]) + self.read(register, length))

    def read(self, register, length):
        fused = self.registers[0x3D] & 0x0F == 0x08  # else the angles are 0
        unit = 900 * fused if self.registers[0x3B] & 0x04 else 16 * 180 / math.pi * fused
        angles = struct.pack("<3h", *(round(unit * angle) for angle in self.radians))
        known = self.registers | dict(enumerate(angles, 0x1A))
        return bytes(known.get(place, 0) for place in range(register, register + length))


def followed(sensor, chip, calls):
    seen = []
    for _ in range(calls):
        seen.append(sensor.newest())
        chip.step()
    return seen


def test_the_bno055_is_set_up_and_then_read_at_every_call():
    sensor, line = wired(Bno055, "-roll")
    chip = Chip(line)
    chip.radians = (1.0, -0.6, 0.2)
    seen = followed(sensor, chip, 40)
    assert chip.modes == [0x00, 0x08] and chip.registers[0x3B] == 0x04
    first = next(k for k, value in enumerate(seen) if value is not None)
    assert first < 15  # 0.15 s: within the second that the start-up check waits
    assert seen[first:] == [pytest.approx(0.6, abs=1 / 1800)] * (40 - first)
    chip.radians = (1.0, -0.7, 0.2)
    assert followed(sensor, chip, 3)[-1] == pytest.approx(0.7, abs=1 / 1800)


def test_a_busy_or_deaf_bno055_is_asked_again_and_another_chip_is_refused():
    sensor, line = wired(Bno055)
    chip = Chip(line)
    chip.radians = (0.0, 0.0, 0.5)
    followed(sensor, chip, 30)
    chip.busy = 2
    assert followed(sensor, chip, 8)[-1] == pytest.approx(0.5, abs=1 / 1800)
    chip.deaf = 1
    assert followed(sensor, chip, 8)[-1] == pytest.approx(0.5, abs=1 / 1800)
    assert sensor.rejected == 3
    sensor, line = wired(Bno055)
    with pytest.raises(DeviceError, match=r"says that it is 0x55; a BNO055 says 0xa0"):
        followed(sensor, Chip(line, chip=0x55), 5)


@pytest.mark.parametrize(
    ("registers", "words"),
    [
        ({0x3D: 0x00, 0x3B: 0x00}, "started anew: its mode is 0x0"),
        ({0x3D: 0x18, 0x3B: 0x80}, "started anew"),  # back in fusion, and in degrees
        ({0x39: 0x01}, "reports a system error"),
    ],
)
def test_a_bno055_that_starts_anew_in_the_middle_of_a_run_tells_no_pitch(registers, words):
    sensor, line = wired(Bno055)
    chip = Chip(line)
    chip.radians = (0.0, 0.0, 0.5)
    assert followed(sensor, chip, 30)[-1] == pytest.approx(0.5, abs=1 / 1800)
    chip.registers |= {0x3D: 0x18}  # its highest bits mean nothing
    assert followed(sensor, chip, 5)[-1] == pytest.approx(0.5, abs=1 / 1800)
    chip.registers |= registers
    with pytest.raises(DeviceError, match=words):
        followed(sensor, chip, 3)


def test_a_refusal_and_a_lost_line_are_errors_in_words():
    sensor, line = wired(Bno055)
    sensor.newest()
    line.write(b"\xee\x04")
    with pytest.raises(DeviceError, match=r"refused aa 01 00 01: REGMAP_INVALID_ADDRESS"):
        sensor.newest()
    for kind in KINDS.values():
        sensor, line = wired(kind)
        line.close()
        with pytest.raises(DeviceError, match="line to the pitch sensor is lost"):
            sensor.newest()
    with pytest.raises(ValueError, match="'yaw' is no angle of the sensor"):
        Mounting.of("yaw")


def test_a_line_says_which_sensor_is_at_its_end(monkeypatch):
    assert split_line("bno055:/dev/a:b") == ("bno055", Mounting("pitch", 1.0), "/dev/a:b")
    opened = []
    monkeypatch.setattr(
        "footfall.realtime.sensor_line.open_port", lambda *how: opened.append(how) or pipe()[0]
    )
    kinds = [
        type(open_sensor(where, SETTINGS))
        for where in ("/dev/a", "bno085-rvc:roll:/dev/b", "bno055:-pitch:/dev/c")
    ]
    assert kinds == [SerialPitchSensor, Bno085, Bno055]
    assert opened == [("/dev/a",), ("/dev/b", 115200), ("/dev/c", 115200)]
