"""MotorDriver over the vendor's `odrive` package: signatures; the body follows in minutes."""

from __future__ import annotations

from typing import Any

from footfall.stack.settings import StackSettings


def find_odrive(serial_number: str | None = None, timeout: float = 5.0) -> Any:
    """The vendor's object tree of a connected driver. Raises DeviceError."""
    raise NotImplementedError


class OdriveVendor:
    """Implements MotorDriver: OdriveVendor(find_odrive(serial), settings)."""

    def __init__(self, device: Any, settings: StackSettings): ...
