"""A motor driver that is not there.

Motors behind the ODrive's ASCII protocol, on two lines of each board, in front of any plant.

Opens nothing: bytes and times go in, bytes and currents come out. It behaves as the firmware whose
version it is given (odrive_firmware.py).
"""

from __future__ import annotations

from collections.abc import Sequence

from footfall.machines.control.axis_step import loaded
from footfall.machines.control.contracts import UnfitDriver
from footfall.machines.control.electrics import Battery, Winding, electrical_power
from footfall.machines.control.odrive_axis import Axis
from footfall.machines.control.odrive_board import Board
from footfall.machines.control.odrive_firmware import FIRMWARE_05, Firmware, Version, firmware_of
from footfall.machines.control.settings import StackSettings
from footfall.numerics.units import TURN

NEWEST_05: Version = (0, 5, 6)


class OdriveEmulator:
    """Driver and motors as mounted.

    Lines speak in each motor's own sign, `tick` in the robot's: forward drive positive.

    Faults for tests: `speed_offsets`, `usb_silent`, `uart_silent`.
    """

    def __init__(
        self,
        settings: StackSettings,
        windings: Sequence[Winding],
        battery: Battery,
        *,
        version: Version = NEWEST_05,
        calibrated: bool = True,
        calibration_us: int = 2_000_000,
    ):
        """`calibrated`: motors whose calibration was saved in the driver.

        Else closed loop is refused before a calibration.
        """
        if len(windings) != settings.motors:
            raise ValueError(f"{len(windings)} windings came for {settings.motors} motors.")
        self.axes = tuple(
            Axis(settings, winding, calibrated, calibration_us) for winding in windings
        )
        #: Turns/s that the encoders add, forward drive positive.
        self.speed_offsets = [0.0] * settings.motors
        self.usb_silent = self.uart_silent = False  #: nothing is heard, nothing is answered
        self.bus_voltage, self.bus_current = float(battery.voltage), 0.0
        firmware, share = _emulated(version), settings.motors // settings.boards
        self.boards = tuple(
            Board(
                settings,
                self.axes[share * k : share * (k + 1)],
                firmware,
                version,
                lambda: self.bus_voltage,
            )
            for k in range(settings.boards)
        )
        self._battery = battery
        self._signs = settings.motor_signs

    @property
    def ignored_lines(self) -> int:
        """Lines with a wrong checksum, and lines too long."""
        return sum(board.ignored_lines for board in self.boards)

    def uart(self, data: bytes, now_us: int, board: int = 0) -> bytes:
        """Bytes from the mid level; what is answered."""
        own = self.boards[board]
        return b"" if self.uart_silent else own.talk(own.uart, data, now_us)

    def usb(self, data: bytes, now_us: int, board: int = 0) -> bytes:
        """Bytes from the high level; what is answered."""
        own = self.boards[board]
        return b"" if self.usb_silent else own.talk(own.usb, data, now_us)

    def tick(
        self, now_us: int, speeds: Sequence[float], positions: Sequence[float]
    ) -> tuple[float, ...]:
        """The currents [A] that flow until the next tick.

        Given the motors' speeds [turns/s] and positions [turns].

        All three are the robot's, forward drive positive: hand the plant's in, hand the result on
        to the plant, without a sign.
        """
        for board in self.boards:
            board.check_bus()
        known = tuple(
            zip(self.axes, self._signs, speeds, self.speed_offsets, positions, strict=False)
        )
        for axis, sign, speed, offset, position in known:
            axis.tick(now_us, self.bus_voltage, sign * (speed + offset), sign * position)
        turning = [sign * speed * TURN for _, sign, speed, _, _ in known]
        windings, memories = (
            [axis.numbers.winding for axis in self.axes],
            [axis.memory for axis in self.axes],
        )
        fed, voltage, current = loaded(self._battery, windings, memories, turning)
        for axis, memory in zip(self.axes, fed, strict=True):
            axis.memory = memory
        self.bus_voltage, self.bus_current = float(voltage), float(current)
        self._share_out(turning)
        return tuple(
            float(sign * axis.memory.current) if axis.memory.current else 0.0
            for axis, sign, *_ in known
        )

    def _share_out(self, turning: Sequence[float]) -> None:
        """What each board draws of the bus."""
        if len(self.boards) == 1:
            self.boards[0].current = self.bus_current
            return
        for board, axis, speed in zip(self.boards, self.axes, turning, strict=True):
            power = electrical_power(axis.numbers.winding, axis.memory.current, speed)
            board.current = float(power) / self.bus_voltage


def _emulated(version: Version) -> Firmware:
    """Also 0.5.2 and 0.5.3, which have the names of those after them, and which nobody can use."""
    try:
        return firmware_of(version)
    except UnfitDriver:
        if (0, 5, 2) <= version < FIRMWARE_05.first:
            return FIRMWARE_05
        raise
