"""The program of the mid level: frames from above and the time go in, current commands and reports come out. Opens nothing itself.

firmware/teensy/ is the same program in C. With `real=numpy.float32` the two send the same bytes, always: tests/contracts/test_firmware.py.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from footfall.machines.control.driver_lines import current_lines
from footfall.machines.control.framing import FrameReader, down_format, encode, up_format
from footfall.machines.control.microseconds import elapsed_us
from footfall.machines.control.pid import PidMemory, cleared, pid_update
from footfall.machines.control.settings import StackSettings

_SIDES = (1.0, -1.0)  #: how the steering current acts on left and right


class Sent(NamedTuple):
    """Bytes for the two lines; empty when nothing is due."""

    to_high: bytes
    to_driver: bytes


class MidProgram:
    """Gate, watchdog, law, commands, reports. Call `receive` with what has arrived and `step` as often as possible.

    Off, it commands 0 A once per period of the law: sent, not merely left out, and the driver's own watchdog stays fed. It is on from
    a frame with the flag 1 that follows one with the flag 0; so it is off after a reset, and after its watchdog tripped, until the
    high level has said both.
    """

    def __init__(self, settings: StackSettings, real: Any = np.float32):
        self.settings = settings
        self._real = real
        self._gains = settings.gains.of_type(real)
        self._down, self._up = down_format(settings), up_format(settings)
        self.reset()

    def reset(self) -> None:
        """As after the power came on."""
        self.watchdog_tripped = False  #: it has, and the high level has not yet said 0
        self._reader = FrameReader(self._down)
        self._armed = False  #: a 0 has been heard since the start, or since the watchdog tripped: a 1 counts
        self._heard_us = 0  #: when the last valid frame came; means something only while armed
        self._setpoint = self._pitch = self._steer = self._real(0.0)
        self._next_report_us: int | None = None
        self._switch_off()

    @property
    def rejected_frames(self) -> int:
        return self._reader.rejected

    @property
    def output(self) -> float:
        """A; 0 while off."""
        return float(self._memory.output)

    def receive(self, data: bytes, now_us: int) -> None:
        """Take the bytes that have arrived, perhaps none, perhaps half a frame."""
        for setpoint, flag, pitch, *steer in self._reader.feed(data):
            self.take(setpoint, bool(flag), pitch, steer[0] if steer else 0.0, now_us)

    def take(self, setpoint: float, setpoint_on: bool, pitch: float, steer: float, now_us: int) -> None:
        """The values of one valid frame."""
        self._heard_us = now_us
        self._setpoint, self._pitch, self._steer = self._real(setpoint), self._real(pitch), self._real(steer)
        if not setpoint_on:
            self._armed, self.watchdog_tripped = True, False
            if self.on:
                self._switch_off()
        elif self._armed:
            self.on = True  # the law's memory is cleared: its first call takes the present pitch for the previous one

    def step(self, now_us: int) -> Sent:
        """What is due now."""
        if self._armed and elapsed_us(now_us, self._heard_us) >= self.settings.watchdog_us:
            self._trip()
        to_driver = self._drive(now_us) if self.on else b""
        if not self.on:  # perhaps only just
            to_driver = self._hold_still(now_us)
        return Sent(self._report(now_us), to_driver)

    def _drive(self, now_us: int) -> bytes:
        """Current commands if the law calculated."""
        seen = math.isfinite(self._pitch)
        pitch = self._pitch if seen else self._memory.previous
        memory, calculated = pid_update(self._gains, self._memory, now_us, self._setpoint, pitch)
        if not calculated:
            return b""
        if not seen:  # keep the previous output for one call
            memory = self._memory._replace(last_us=now_us)
        currents = self._currents(memory)
        if (self._blind and not seen) or not all(math.isfinite(current) for current in currents):
            self._trip()
            return b""
        self._memory, self._blind = memory, not seen
        return current_lines(self.settings, currents)

    def _currents(self, memory: PidMemory) -> list[Any]:
        limit = self._gains.output_limit
        wanted = [memory.output + side * self._steer for side in _SIDES[: self.settings.motors]]
        return [-limit if current < -limit else limit if current > limit else current for current in wanted]

    def _hold_still(self, now_us: int) -> bytes:
        """0 A, at once and then once per period."""
        if self._still_us is not None and 0 <= elapsed_us(now_us, self._still_us) < self._gains.period_us:
            return b""
        self._still_us = now_us
        return current_lines(self.settings, [self._real(0.0)] * self.settings.motors)

    def _report(self, now_us: int) -> bytes:
        """The output, at fixed times: a late report does not delay those after it. Those missed altogether are not made up for."""
        period = self.settings.report_period_us
        late = 0 if self._next_report_us is None else elapsed_us(now_us, self._next_report_us)
        if late < 0:
            return b""
        self._next_report_us = now_us + period - (late if late < period else 0)
        return encode(self._up, (self._memory.output,))

    def _trip(self) -> None:
        self._armed, self.watchdog_tripped = False, True
        self._switch_off()

    def _switch_off(self) -> None:
        self.on = False  #: the law is running
        self._blind = False  #: the last calculation had no finite pitch
        self._memory = cleared(self._real)
        self._still_us: int | None = None  #: when 0 A was last sent since it is off
