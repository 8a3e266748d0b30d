"""The folder of a run against the clock: what each file and device in it is called.

No name in it comes from outside.
"""

from __future__ import annotations

from pathlib import Path

from footfall.machines.control.settings import StackSettings
from footfall.realtime.stack_log import FILE_NAME

#: Of a motor driver: one for each motor that there can be.
MOST_BOARDS = 2


class RunFolder:
    """Names. The devices are there only while the run is."""

    def __init__(self, path: Path):
        self.path = path
        self.log = path / FILE_NAME
        self.settings = path / "settings.json"
        self.script = path / "operator.txt"
        self.speeds = path / "speeds.json"
        self.summary = path / "summary.json"
        self.devices = path / "devices"
        #: A line of each board that there may be, by the names that odrivetool gives the boards.
        self.driver_uarts, self.driver_usbs = (
            tuple(self.devices / f"odrv{board}-{line}" for board in range(MOST_BOARDS))
            for line in ("uart", "usb")
        )
        self.imu = self.devices / "imu"
        self.mid = self.devices / "teensy"
        self.reset = self.devices / "teensy-reset"
        self.faults = self.devices / "faults"

    def make(self) -> None:
        self.devices.mkdir(parents=True)

    def words_of(self, program: str) -> Path:
        """What a program wrote to its standard error."""
        return self.path / f"{program}.txt"

    def hand_out(self, settings: StackSettings) -> None:
        """What the run was built for, whole or not at all."""
        aside = self.settings.with_suffix(".part")
        aside.write_text(settings.to_json() + "\n")
        aside.replace(self.settings)

    def read_settings(self) -> StackSettings:
        return StackSettings.from_json(self.settings.read_text())

    def tidy(self) -> None:
        """Once all programs have ended: no device is left, nor an empty page."""
        for device in (
            *self.driver_uarts,
            *self.driver_usbs,
            self.imu,
            self.mid,
            self.reset,
            self.faults,
        ):
            device.unlink(missing_ok=True)
        if self.devices.is_dir() and not any(self.devices.iterdir()):
            self.devices.rmdir()
        for page in self.path.glob("*.txt"):
            if page.stat().st_size == 0:
                page.unlink()
