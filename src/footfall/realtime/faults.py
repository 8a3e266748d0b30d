"""Faults of the emulated robot, on demand: lines written into a named pipe of the run's folder.

    echo "sensor stall" > runs/<run>/devices/faults

| line                 | from then on                                                             |
|----------------------|--------------------------------------------------------------------------|
| sensor stall         | the pitch sensor sends nothing                                           |
| sensor nan           | the pitch sensor says that it does not know                              |
| sensor ok            | it works again                                                           |
| speed MOTOR TURNS    | this motor's encoder says so many turns/s too much (0: it works again)   |
| usb silent, usb ok   | the motor driver neither hears nor answers the high level, or does again |
| uart silent, uart ok | the same for the line from the mid level                                 |
"""

from __future__ import annotations

import os
from pathlib import Path

from footfall.machines.control.odrive_emulator import OdriveEmulator
from footfall.machines.control.pitch_sensor import SensorEmulator

_MOST = 4096  # bytes looked at in one turn, and of a line that does not end


class FaultSwitches:
    """The pipe, and the devices it spoils."""

    def __init__(self, path: Path, driver: OdriveEmulator, sensor: SensorEmulator):
        self._path, self._driver, self._sensor = path, driver, sensor
        path.unlink(missing_ok=True)
        os.mkfifo(path, 0o600)
        # Held open for writing as well: otherwise it would be at its end whenever nobody else holds
        # it.
        self._fd = os.open(path, os.O_RDWR | os.O_NONBLOCK)
        self._pending = b""

    def fileno(self) -> int:
        return self._fd

    def obey(self) -> list[str]:
        """Do what has been written; what was not understood."""
        try:
            self._pending += os.read(self._fd, _MOST)
        except BlockingIOError:
            return []
        *lines, rest = self._pending.split(b"\n")
        self._pending = rest[:_MOST]
        return [text for line in lines if not self._do(text := line.decode(errors="replace"))]

    def close(self) -> None:
        os.close(self._fd)
        self._path.unlink(missing_ok=True)

    def _do(self, line: str) -> bool:
        match line.split():
            case ["sensor", ("ok" | "stall" | "nan") as state]:
                self._sensor.stalled, self._sensor.says_nan = state == "stall", state == "nan"
            case ["usb", ("ok" | "silent") as state]:
                self._driver.usb_silent = state == "silent"
            case ["uart", ("ok" | "silent") as state]:
                self._driver.uart_silent = state == "silent"
            case ["speed", motor, turns]:
                try:
                    self._driver.speed_offsets[int(motor)] = float(turns)
                except (ValueError, IndexError):
                    return False
            case []:
                pass
            case _:
                return False
        return True
