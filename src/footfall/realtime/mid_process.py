"""The Teensy's program as a process.

footfall.machines.control.mid turned a thousand times a second, between two lines.

The host build of the firmware takes the same arguments and is interchangeable with it.

    python -m footfall.realtime.mid_process --settings FILE --high LINE --driver LINE --reset PATH
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import time
from collections.abc import Sequence
from pathlib import Path

from footfall.machines.control.driver_lines import by_board, current_lines
from footfall.machines.control.ports import LinkLost, Port
from footfall.machines.control.reset_line import FileResetLine
from footfall.machines.control.settings import StackSettings
from footfall.realtime.own_law import mid_program
from footfall.realtime.parent_watch import begin
from footfall.realtime.real_clock import keep_time, now_us
from footfall.realtime.serial_port import open_device, open_port
from footfall.realtime.status_line import EVERY, prepare_to_say, say

DRIVER_BAUD = 460_800  # two lines of 14 bytes a millisecond are more than 115 200 can carry
MISSED_US = 1000  #: a deadline is missed if its commands are out later than this
PRIORITY = 30  #: of real-time scheduling where it is permitted: above the high level


@dataclasses.dataclass
class Deadlines:
    """How the loop kept time."""

    due: int = 0  #: deadlines so far
    missed: int = 0  #: of these, those by more than a millisecond
    latest_us: int = 0  #: by how much the worst was missed since the last status line


class MidLoop:
    """The program, its lines and its clock.

    The program is told the time of the deadline, not that of waking: the law calculates only when a
    whole period has passed, and a thousandth of a period too early would cost it every other turn.
    Deadlines that have passed altogether are left out.
    """

    def __init__(
        self, settings: StackSettings, high: Port, drivers: Sequence[Port], reset: FileResetLine
    ):
        """`drivers`: a line to each board."""
        self._program, self._high, self._drivers, self._reset = (
            mid_program(settings),
            high,
            drivers,
            reset,
        )
        self._settings, self._period_us = settings, settings.mid_period_us
        self._due_us = now_us()
        self._held = False
        self.deadlines = Deadlines()

    def turn(self) -> None:
        """Sleep until the next deadline; then bytes in, a step, bytes out."""
        sleep_us = self._due_us - now_us()
        if sleep_us > 0:
            time.sleep(sleep_us * 1e-6)
        late = now_us() - self._due_us
        if late >= self._period_us:
            self._count(self._due_us, late // self._period_us)
            self._due_us += late // self._period_us * self._period_us
        self._work(self._due_us)
        self._count(self._due_us, 1)
        self._due_us += self._period_us

    def farewell(self) -> None:
        """0 A, so that nothing flows until the driver's watchdog would see to it."""
        self._command(current_lines(self._settings, [0.0] * self._settings.motors))

    def _work(self, now: int) -> None:
        arrived = self._high.read()
        if not self._reset.high:
            self._held = True
            return
        if self._held:
            self._held = False
            self._program.reset()
        self._program.receive(arrived, now)
        sent = self._program.step(now)
        if sent.to_driver:
            self._command(sent.to_driver)
        if sent.to_high:
            self._high.write(sent.to_high)

    def _command(self, lines: bytes) -> None:
        for driver, own in zip(self._drivers, by_board(self._settings, lines), strict=True):
            with contextlib.suppress(LinkLost):  # one way: a Teensy does not notice either
                driver.write(own)

    def _count(self, first_us: int, deadlines: int) -> None:
        """So many deadlines, the first of them at `first_us`, are served (or given up) now."""
        tally, late = self.deadlines, now_us() - first_us
        tally.due += deadlines
        tally.latest_us = max(tally.latest_us, late)
        tally.missed += sum(late - k * self._period_us > MISSED_US for k in range(deadlines))


def main(arguments: Sequence[str] | None = None) -> None:
    asked = _arguments(arguments)
    begin(asked.parent)
    prepare_to_say()
    settings = StackSettings.from_json(Path(asked.settings).read_text())
    reset = FileResetLine(asked.reset)
    drivers = [open_port(line, DRIVER_BAUD) for line in asked.driver]
    high = open_device(asked.high)
    granted = keep_time(PRIORITY if asked.priority else None)
    loop = MidLoop(settings, high, drivers, reset)
    try:
        turns = round(EVERY * 1e6 / settings.mid_period_us)
        while True:
            for _ in range(turns):
                loop.turn()
            say("mid", now=time.monotonic(), granted=granted, **dataclasses.asdict(loop.deadlines))
            loop.deadlines.latest_us = 0
    finally:
        loop.farewell()
        say("mid", **dataclasses.asdict(loop.deadlines))
        high.close()


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--settings", required=True, help="JSON file")
    parser.add_argument(
        "--high",
        required=True,
        help="line to the high level: fd:N,M, or a pseudo-terminal's name to be",
    )
    parser.add_argument(
        "--driver",
        required=True,
        action="append",
        help="line to a board of the motor driver: a serial port, or fd:N; for each board",
    )
    parser.add_argument("--reset", required=True, help="file that stands for the reset pin")
    parser.add_argument("--priority", action="store_true", help="ask for real-time scheduling")
    parser.add_argument("--parent", type=int, default=0, help="end when this process does")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
