"""The motor driver as the high level sees it, through the vendor's package.

`odrive` and its object trees, one for each board.

Not tried on hardware. The names are those of the package 0.6.11.post1 and, for firmware 0.5, of the
vendor's sources. Every read is a round trip over USB; the package waits for each as long as it
likes, so a driver that stops answering without disconnecting holds the main loop up. The mid
level's watchdog, 100 ms, then switches off.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from footfall.machines.control.contracts import DeviceError
from footfall.machines.control.odrive_axis import AxisState
from footfall.machines.control.odrive_errors import in_words
from footfall.machines.control.odrive_firmware import Version, firmware_of_all
from footfall.machines.control.odrive_limits import unmet
from footfall.machines.control.settings import StackSettings

T = TypeVar("T")


def find_odrive(serial_number: str | None = None, timeout: float = 5.0) -> Any:
    """The vendor's object tree of a connected driver. Raises DeviceError."""
    try:
        import odrive  # type: ignore[import-not-found]
    except ImportError as error:
        raise DeviceError(
            "The vendor's link to the motor driver needs its package: pip install odrive"
        ) from error
    return _asked(lambda: odrive.find_any(serial_number=serial_number, timeout=timeout))


class OdriveVendor:
    """A MotorDriver: OdriveVendor([find_odrive(serial_number)], settings).

    Any trouble the package raises becomes a DeviceError.
    """

    def __init__(self, boards: Sequence[Any], settings: StackSettings):
        """`boards`: one with all motors, or one for each."""
        if len(boards) != settings.boards:
            raise DeviceError(
                f"{len(boards)} boards of the motor driver came; the settings say boards ="
                f" {settings.boards}."
            )
        self._boards, self._settings = boards, settings
        self._signs = settings.motor_signs[: settings.motors]
        self.firmware = firmware_of_all([_asked(lambda b=board: _version(b)) for board in boards])
        places = [
            (motor, 0) if settings.boards > 1 else (0, motor) for motor in range(settings.motors)
        ]
        self._axes = [
            _asked(lambda board=board, axis=axis: getattr(boards[board], f"axis{axis}"))
            for board, axis in places
        ]
        self._estimates = (
            self._axes
            if self.firmware.estimates_in_axis
            else _asked(lambda: [axis.encoder for axis in self._axes])
        )

    @property
    def watchdog_bit(self) -> int:
        return self.firmware.watchdog_bit

    def speeds(self) -> tuple[float, ...]:
        return self._signed("vel_estimate")

    def positions(self) -> tuple[float, ...]:
        return self._signed("pos_estimate")

    def bus(self) -> tuple[float, float]:
        """Volts of the first board, amperes of all."""
        return _asked(
            lambda: (
                float(self._boards[0].vbus_voltage),
                sum(float(board.ibus) for board in self._boards),
            )
        )

    def explain(self) -> str:
        said: list[str] = []
        for word in self.firmware.error_words:
            owners = self._axes if word.of_axis else self._boards
            for number, owner in enumerate(owners):
                if value := int(_property(owner, word.path) or 0):
                    said.append(f"{word.source.format(number)}: {in_words(value, word.bits)}")
        return "; ".join(said)

    def unmet_limits(self) -> tuple[list[str], list[str]]:
        return unmet(
            self._settings, self.firmware, lambda board, path: _property(self._boards[board], path)
        )

    def motors_off(self) -> None:
        self._request(AxisState.IDLE)

    def motors_on(self) -> None:
        """Clears the driver's errors: only an operator's explicit press may lead here.

        0 A first: the driver remembers its input.
        """
        for axis in self._axes:
            _asked(lambda axis=axis: setattr(axis.controller, "input_torque", 0.0))
        for board in self._boards:
            _asked(lambda board=board: board.clear_errors())
        self._request(AxisState.CLOSED_LOOP)

    def calibrate(self) -> None:
        self._request(AxisState.CALIBRATION)

    def states(self) -> tuple[int, ...]:
        return tuple(_asked(lambda axis=axis: int(axis.current_state)) for axis in self._axes)

    def errors(self) -> tuple[int, ...]:
        return tuple(
            _asked(lambda axis=axis: int(getattr(axis, self.firmware.error))) for axis in self._axes
        )

    def close(self) -> None:
        """The package keeps the connection; there is nothing to give back."""

    def _signed(self, name: str) -> tuple[float, ...]:
        values = [
            _asked(lambda source=source: float(getattr(source, name))) for source in self._estimates
        ]
        return tuple(sign * value for sign, value in zip(self._signs, values, strict=True))

    def _request(self, state: AxisState) -> None:
        """Every axis is asked, also when one of them fails."""
        troubles: list[DeviceError] = []
        for axis in self._axes:
            try:
                _asked(lambda axis=axis: setattr(axis, "requested_state", int(state)))
            except DeviceError as error:
                troubles.append(error)
        if troubles:
            raise troubles[0]


def _version(board: Any) -> Version:
    return board.fw_version_major, board.fw_version_minor, board.fw_version_revision


def _property(owner: Any, path: str) -> float | None:
    """What a path leads to in an object tree; None if it leads nowhere."""

    def found() -> float | None:
        try:
            return float(functools.reduce(getattr, path.split("."), owner))
        except AttributeError:
            return None

    return _asked(found)


def _asked(question: Callable[[], T]) -> T:
    """The package has exceptions of its own for a lost device, by version.

    All mean the same here.
    """
    try:
        return question()
    except Exception as error:
        raise DeviceError(
            f"The motor driver (vendor package): {type(error).__name__}: {error}"
        ) from error
