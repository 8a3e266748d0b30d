"""The motor driver as the high level sees it, through the vendor's package.

`odrive` and its object tree.

Not tried on hardware. The names were checked against the package 0.6.11.post1
(`axisN.active_errors`, `clear_errors`, `requested_state`, `current_state`, `pos_estimate`,
`vel_estimate`, `vbus_voltage`, `ibus`; its enumerations give 1, 3 and 8 for the states used here)
and, from memory, firmware 0.5 (`axisN.error`, `axisN.encoder.pos_estimate`). Which of the two a
tree has is asked of the tree, once. Every read is a round trip over USB; the package waits for each
as long as it likes, so a driver that stops answering without disconnecting holds the main loop up.
The mid level's watchdog, 100 ms, then switches off.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from footfall.machines.control.contracts import DeviceError
from footfall.machines.control.odrive_axis import AxisState
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
    """A MotorDriver: OdriveVendor(find_odrive(serial_number), settings).

    Any trouble the package raises becomes a DeviceError.
    """

    def __init__(self, device: Any, settings: StackSettings):
        self._device = device
        self._signs = settings.motor_signs[: settings.motors]
        self._axes = _asked(
            lambda: [getattr(device, f"axis{motor}") for motor in range(settings.motors)]
        )
        self._error = (
            "active_errors" if _asked(lambda: hasattr(self._axes[0], "active_errors")) else "error"
        )
        in_axis = _asked(lambda: hasattr(self._axes[0], "pos_estimate"))
        self._estimates = (
            self._axes if in_axis else _asked(lambda: [axis.encoder for axis in self._axes])
        )

    def speeds(self) -> tuple[float, ...]:
        return self._signed("vel_estimate")

    def positions(self) -> tuple[float, ...]:
        return self._signed("pos_estimate")

    def bus(self) -> tuple[float, float]:
        return _asked(lambda: (float(self._device.vbus_voltage), float(self._device.ibus)))

    def motors_off(self) -> None:
        self._request(AxisState.IDLE)

    def motors_on(self) -> None:
        """Clears the driver's errors: only an operator's explicit press may lead here.

        0 A first: the driver remembers its input.
        """
        for axis in self._axes:
            _asked(lambda axis=axis: setattr(axis.controller, "input_torque", 0.0))
        _asked(lambda: self._device.clear_errors())
        self._request(AxisState.CLOSED_LOOP)

    def calibrate(self) -> None:
        self._request(AxisState.CALIBRATION)

    def states(self) -> tuple[int, ...]:
        return tuple(_asked(lambda axis=axis: int(axis.current_state)) for axis in self._axes)

    def errors(self) -> tuple[int, ...]:
        return tuple(
            _asked(lambda axis=axis: int(getattr(axis, self._error))) for axis in self._axes
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
