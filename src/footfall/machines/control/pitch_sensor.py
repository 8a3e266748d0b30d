"""The orientation sensor: one that is not there, and one at the end of a serial line."""

from __future__ import annotations

import math
import random
import re

from footfall.machines.control.contracts import DeviceError
from footfall.machines.control.framing import FrameReader, encode, sensor_format
from footfall.machines.control.microseconds import elapsed_us
from footfall.machines.control.ports import LinkLost, Port
from footfall.machines.control.settings import StackSettings

_NOT_A_NUMBER = re.compile(rb"<[+-]?(?:nan|inf)[^<>]*>", re.IGNORECASE)
_LONGEST = 64  # bytes of an unfinished frame worth remembering


class SensorEmulator:
    """A frame every high period, with Gaussian noise.

    Faults for tests: `stalled` says nothing, `says_nan` says so.
    """

    def __init__(self, settings: StackSettings, noise: float = 0.0, seed: int = 0):
        self.noise = noise  #: rad, standard deviation
        self.stalled = False
        self.says_nan = False
        self._chance = random.Random(seed)
        self._format = sensor_format(settings)
        self._limit, self._period = settings.measured_limit, settings.high_period_us
        self._due: int | None = None

    def step(self, now_us: int, pitch: float) -> bytes:
        """What the sensor sends now: a frame if one is due, else nothing.

        Frames are due at whole multiples of the period, and at the first call; those missed are not
        made up for. May be called at any rate.
        """
        if self._due is not None and elapsed_us(now_us, self._due) < 0:
            return b""
        self._due = now_us - now_us % self._period + self._period
        # Drawn also while stalled: a fault does not shift the noise after it.
        measured = pitch + self._chance.gauss(0.0, self.noise)
        if self.stalled:
            return b""
        if self.says_nan or not math.isfinite(measured):
            return b"<nan>"
        return encode(self._format, (min(max(measured, -self._limit), self._limit),))


class SerialPitchSensor:
    """A PitchSensor that sends frames.

    One that sends `<nan>` or `<inf>` counts at once as one that does not know; other bytes that
    are no pitch are counted.
    """

    def __init__(self, port: Port, settings: StackSettings):
        self._port = port
        self._reader = FrameReader(sensor_format(settings))
        self._unfinished = b""

    @property
    def rejected(self) -> int:
        """Frames refused so far."""
        return self._reader.rejected

    def newest(self) -> float | None:
        try:
            data = self._port.read()
        except LinkLost as error:
            raise DeviceError(f"The line to the pitch sensor is lost: {error}") from error
        frames = self._reader.feed(data)
        text = self._unfinished + data
        self._unfinished = text[text.rfind(b">") + 1 :][-_LONGEST:]
        # Even if a good one followed: a sensor that has lost its bearings is not to be trusted.
        if _NOT_A_NUMBER.search(text):
            return math.nan
        return frames[-1][0] if frames else None

    def close(self) -> None:
        self._port.close()
