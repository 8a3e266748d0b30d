"""The pitch sensor, emulated and at the end of a line; the reset line."""

import math
import statistics

import pytest
from tests.support.bench import SETTINGS

from footfall.machines.control.contracts import DeviceError
from footfall.machines.control.framing import FrameReader, encode, sensor_format
from footfall.machines.control.pitch_sensor import SensorEmulator, SerialPitchSensor
from footfall.machines.control.ports import pipe
from footfall.machines.control.reset_line import FileResetLine, GpioResetLine, NoResetLine

FORMAT = sensor_format(SETTINGS)


def connected():
    port, end = pipe()
    return SerialPitchSensor(port, SETTINGS), end


def heard(
    emulator: SensorEmulator, pitch: float, seconds: float, every_us: int = 1000
) -> list[float]:
    reader = FrameReader(FORMAT)
    sent = [emulator.step(now_us, pitch) for now_us in range(0, round(seconds * 1e6), every_us)]
    return [value for data in sent for (value,) in reader.feed(data)]


@pytest.mark.parametrize("every_us", [250, 1000, 3000])
def test_emulated_sensor_sends_100_frames_a_second_however_often_it_is_asked(every_us):
    assert len(heard(SensorEmulator(SETTINGS), 0.5, 3.0, every_us)) == 300


def test_frames_missed_are_not_made_up_for():
    sensor = SensorEmulator(SETTINGS)
    assert [bool(sensor.step(now_us, 0.5)) for now_us in (0, 35_000, 36_000, 39_999, 40_000)] == [
        True,
        True,
        False,
        False,
        True,
    ]


def test_noise_has_its_deviation_and_its_seed():
    noisy = heard(SensorEmulator(SETTINGS, noise=0.02, seed=1), 0.5, 20.0)
    # 2000 samples: their mean strays by 0.02 / sqrt(2000) = 4.5e-4, their deviation by 0.02 /
    # sqrt(4000) = 3.2e-4; four of each.
    assert statistics.fmean(noisy) == pytest.approx(0.5, abs=1.8e-3)
    assert statistics.stdev(noisy) == pytest.approx(0.02, abs=1.3e-3)
    assert noisy == heard(SensorEmulator(SETTINGS, noise=0.02, seed=1), 0.5, 20.0)
    assert noisy != heard(SensorEmulator(SETTINGS, noise=0.02, seed=2), 0.5, 20.0)


def test_pitch_beyond_what_a_frame_carries_is_sent_as_its_limit():
    # Six decimals.
    assert heard(SensorEmulator(SETTINGS), 9.0, 0.01) == [pytest.approx(math.pi, abs=1e-6)]


def test_serial_sensor_gives_the_newest_pitch_once():
    sensor, end = connected()
    assert sensor.newest() is None
    end.write(encode(FORMAT, (0.1,)) + encode(FORMAT, (0.2,)))
    assert sensor.newest() == 0.2
    assert sensor.newest() is None


def test_serial_sensor_takes_frames_in_pieces_and_counts_nonsense():
    sensor, end = connected()
    frame = encode(FORMAT, (0.3,))
    end.write(frame[:4])
    assert sensor.newest() is None
    end.write(frame[4:] + b"<9.9*00>")
    assert sensor.newest() == 0.3 and sensor.rejected == 1


@pytest.mark.parametrize("text", [b"<nan>", b"<NaN*00>", b"<-nan>", b"<inf>", b"<-inf*12>"])
@pytest.mark.parametrize("cut", [0, 2, 4])
def test_sensor_that_says_it_does_not_know_is_taken_at_its_word(text, cut):
    sensor, end = connected()
    end.write(encode(FORMAT, (0.1,)) + text[:cut])
    sensor.newest()
    end.write(text[cut:] + encode(FORMAT, (0.2,)))
    pitch = sensor.newest()
    assert pitch is not None and math.isnan(pitch)
    end.write(encode(FORMAT, (0.2,)))
    assert sensor.newest() == 0.2  # said once, heard once


def test_emulated_sensor_stalls_and_says_nan_when_told():
    emulator = SensorEmulator(SETTINGS)
    emulator.stalled = True
    assert emulator.step(0, 0.5) == b""
    emulator.stalled, emulator.says_nan = False, True
    assert b"nan" in emulator.step(10_000, 0.5)


def test_endless_nonsense_takes_no_memory():
    sensor, end = connected()
    for _ in range(100):
        end.write(b"<nan" + b"x" * 1000)
        assert sensor.newest() is None
    assert len(sensor._unfinished) <= 64


def test_lost_line_is_a_device_error():
    sensor, end = connected()
    end.close()
    with pytest.raises(DeviceError, match="pitch sensor is lost"):
        sensor.newest()


def test_reset_line_in_a_file_is_seen_by_whoever_maps_it(tmp_path):
    high_level, mid_level = FileResetLine(tmp_path / "reset"), FileResetLine(tmp_path / "reset")
    assert mid_level.high and (tmp_path / "reset").read_bytes() == b"1"
    high_level.drive(False)
    assert not mid_level.high and (tmp_path / "reset").read_bytes() == b"0"
    high_level.drive(True)
    assert mid_level.high
    high_level.drive(False)
    high_level.close()
    assert not mid_level.high  # the level outlives who drove it
    again = FileResetLine(tmp_path / "reset")
    assert not again.high  # and opening changes nothing


def test_missing_gpio_package_is_told_with_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "gpiod", None)
    with pytest.raises(DeviceError, match="pip install gpiod"):
        GpioResetLine("/dev/gpiochip0", 17)
    NoResetLine().drive(False)
