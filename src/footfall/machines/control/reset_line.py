"""The wire from the high level to the mid level's reset pin, active low.

None, a file, or a pin of the Raspberry Pi.
"""

from __future__ import annotations

import mmap
import os
from pathlib import Path
from typing import Any

from footfall.machines.control.contracts import DeviceError

LOW, HIGH = ord("0"), ord("1")


class NoResetLine:
    """No wire: the mid level starts by itself, as a Teensy does whose USB port is opened anew."""

    def drive(self, high: bool) -> None:
        pass

    def close(self) -> None:
        pass


class FileResetLine:
    """A file of one byte, '0' low and '1' high.

    An emulated mid level maps it into its memory and looks at it in every turn.

    The file is made if it is not there, and begins high. Closing leaves the level as it is, as a
    real pin's pull-up would not: the emulated device must outlive the program that reset it.
    """

    def __init__(self, path: str | Path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            if os.fstat(descriptor).st_size != 1:
                os.ftruncate(descriptor, 0)
                os.pwrite(descriptor, bytes([HIGH]), 0)
            self._level = mmap.mmap(descriptor, 1)
        finally:
            os.close(descriptor)

    def drive(self, high: bool) -> None:
        self._level[0] = HIGH if high else LOW

    @property
    def high(self) -> bool:
        """The level now, for the end that is being reset. Anything but '0' lets it run."""
        return self._level[0] != LOW

    def close(self) -> None:
        self._level.close()


class GpioResetLine:
    """A pin of the Raspberry Pi through the package gpiod: GpioResetLine("/dev/gpiochip0", 17).

    Its names were checked against version 2.5.0; not tried on hardware.
    """

    def __init__(self, chip: str, line: int):
        try:
            import gpiod  # type: ignore[import-not-found]
        except ImportError as error:
            raise DeviceError(
                "A reset line on a GPIO pin needs the package gpiod: pip install gpiod"
            ) from error
        self._values: Any = gpiod.line.Value
        settings = gpiod.LineSettings(
            direction=gpiod.line.Direction.OUTPUT, output_value=self._values.ACTIVE
        )
        self._line, self._request = (
            line,
            gpiod.request_lines(chip, consumer="footfall", config={line: settings}),
        )

    def drive(self, high: bool) -> None:
        self._request.set_value(self._line, self._values.ACTIVE if high else self._values.INACTIVE)

    def close(self) -> None:
        self._request.release()
