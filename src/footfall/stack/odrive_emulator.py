"""A motor driver that is not there: signatures; the body follows in minutes."""

from __future__ import annotations

from collections.abc import Sequence

from footfall.stack.electrics import Battery, Winding
from footfall.stack.settings import StackSettings


class OdriveEmulator:
    """Attributes for faults: `speed_offsets` (list of turns/s added to what the encoders say, forward drive positive),
    `usb_silent`, `uart_silent` (bool: nothing is heard or answered). `ignored_lines`: wrong checksum or too long.
    """

    def __init__(
        self,
        settings: StackSettings,
        windings: Sequence[Winding],
        battery: Battery,
        *,
        calibrated: bool = True,
        calibration_us: int = 2_000_000,
    ): ...

    def uart(self, data: bytes, now_us: int) -> bytes:
        """Bytes from the mid level; what is answered."""
        raise NotImplementedError

    def usb(self, data: bytes, now_us: int) -> bytes:
        """Bytes from the high level; what is answered."""
        raise NotImplementedError

    def tick(self, now_us: int, speeds: Sequence[float], positions: Sequence[float]) -> tuple[float, ...]:
        """The currents [A] that flow until the next tick. Speeds [turns/s], positions [turns] and currents are those of the
        robot, forward drive positive: the emulator stands for driver and motors as mounted, and knows settings.motor_signs.
        Callers hand the plant's numbers in and the result on to the plant, without a sign."""
        raise NotImplementedError
