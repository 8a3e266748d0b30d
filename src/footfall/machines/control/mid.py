"""The program of the mid level.

Frames from above and the time go in, current commands and reports come out. Opens nothing itself.

What it decides is mid_step.py, which lockstep runs too; here are the bytes around it.
firmware/teensy/ is the same program in C. With `real=numpy.float32` the two send the same bytes,
always: tests/contracts/test_firmware.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from footfall.machines.control.driver_lines import current_lines
from footfall.machines.control.fingerprint import answer_payload
from footfall.machines.control.framing import FrameReader, down_format, encode, framed, up_format
from footfall.machines.control.microseconds import elapsed_us
from footfall.machines.control.mid_step import BegunLaw, Frame, heard, started, stepped
from footfall.machines.control.pid import PidGains
from footfall.machines.control.settings import StackSettings


class Sent(NamedTuple):
    """Bytes for the two lines; empty when nothing is due."""

    to_high: bytes
    to_driver: bytes


class MidProgram:
    """Frames, commands, reports.

    Call `receive` with what has arrived and `step` as often as possible.

    Off, it commands 0 A once per period of the law: sent, not merely left out, and the driver's own
    watchdog stays fed. It is on from a frame with the flag 1 that follows one with the flag 0; so
    it is off after a reset, and after its watchdog tripped, until the high level has said both.
    """

    def __init__(
        self, settings: StackSettings, real: Any = np.float32, law: BegunLaw | None = None
    ):
        """`law`: of the settings' controller of one's own, compiled (realtime/own_law.py).

        Without it, that of the settings' gains, in `real` numbers.
        """
        if law is None:
            if not isinstance(settings.gains, PidGains):
                raise ValueError(
                    f"gains are {settings.gains.title}, which is C: compile it first, as"
                    " footfall.realtime.own_law.mid_program does."
                )
            law = settings.gains.of_type(real)
        self.settings = settings
        self._real, self._law = real, law
        self._down, self._up = down_format(settings), up_format(settings)
        self._answer = framed(answer_payload(settings), settings.checksum)
        self.reset()

    def reset(self) -> None:
        """As after the power came on."""
        self._reader = FrameReader(self._down)
        self._memory = started(self._real, self._law.rested())
        self._next_report_us: int | None = None
        self._answered = 0

    @property
    def rejected_frames(self) -> int:
        return self._reader.rejected

    @property
    def on(self) -> bool:
        """The law is running."""
        return bool(self._memory.on)

    @property
    def watchdog_tripped(self) -> bool:
        """It has, and the high level has not yet said 0."""
        return bool(self._memory.tripped)

    @property
    def output(self) -> float:
        """A; 0 while off."""
        return float(self._memory.law.output)

    def receive(self, data: bytes, now_us: int) -> None:
        """Take the bytes that have arrived, perhaps none, perhaps half a frame."""
        for setpoint, flag, pitch, *steer in self._reader.feed(data):
            self.take(setpoint, bool(flag), pitch, steer[0] if steer else 0.0, now_us)

    def take(
        self, setpoint: float, setpoint_on: bool, pitch: float, steer: float, now_us: int
    ) -> None:
        """The values of one valid frame."""
        real = self._real
        self._memory = heard(
            self._memory, Frame(setpoint_on, real(setpoint), real(pitch), real(steer)), now_us
        )

    def step(self, now_us: int) -> Sent:
        """What is due now."""
        settings = self.settings
        self._memory, commands = stepped(
            self._law, settings.watchdog_us, settings.motors, self._memory, now_us
        )
        to_driver = current_lines(settings, commands.currents) if commands.due else b""
        return Sent(self._report(now_us) + self._fingerprint(), to_driver)

    def _fingerprint(self) -> bytes:
        """One answer to all requests since the last call."""
        asked, self._answered = self._reader.requests > self._answered, self._reader.requests
        return self._answer if asked else b""

    def _report(self, now_us: int) -> bytes:
        """The output, at fixed times: a late report does not delay those after it.

        Those missed altogether are not made up for.
        """
        period = self.settings.report_period_us
        late = 0 if self._next_report_us is None else elapsed_us(now_us, self._next_report_us)
        if late < 0:
            return b""
        self._next_report_us = now_us + period - (late if late < period else 0)
        return encode(self._up, (self._memory.law.output,))
