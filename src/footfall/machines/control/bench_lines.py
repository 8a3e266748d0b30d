"""Lines of a bench in virtual time, and what can be wrong with them."""

from __future__ import annotations

import random
from collections.abc import Callable

from footfall.machines.control.odrive_emulator import OdriveEmulator
from footfall.machines.control.ports import Port


class NoisyLine:
    """Alters each byte with the probability `rate`, to any other value."""

    def __init__(self, seed: int):
        self.rate = 0.0
        self.altered = 0
        self._chance = random.Random(seed)

    def __call__(self, data: bytes) -> bytes:
        if not self.rate:
            return data
        return bytes(self._byte(byte) for byte in data)

    def _byte(self, byte: int) -> int:
        if self._chance.random() >= self.rate:
            return byte
        self.altered += 1
        return byte ^ self._chance.randrange(1, 256)


class UsbLine:
    """The supervisor's end of the line to a board of the motor driver, which answers at once."""

    def __init__(self, odrive: OdriveEmulator, now_us: Callable[[], int], board: int = 0):
        self._odrive, self._now_us, self._board = odrive, now_us, board
        self._answers = b""

    def read(self) -> bytes:
        answers, self._answers = self._answers, b""
        return answers

    def write(self, data: bytes) -> int:
        self._answers += self._odrive.usb(data, self._now_us(), self._board)
        return len(data)

    def close(self) -> None:
        pass


class LifeLine:
    """A line that carries nothing out of a process that was killed."""

    def __init__(self, port: Port, alive: Callable[[], bool]):
        self._port, self._alive = port, alive

    def read(self) -> bytes:
        return self._port.read()

    def write(self, data: bytes) -> int:
        return self._port.write(data) if self._alive() else len(data)

    def close(self) -> None:
        self._port.close()


class SwitchedReset:
    """A reset line whose other end is a function: held, or let go."""

    def __init__(self, hold: Callable[[bool], None]):
        self._hold = hold

    def drive(self, high: bool) -> None:
        self._hold(not high)

    def close(self) -> None:
        pass
