"""Orientation sensors of the BNO family at the end of a serial line, as their data sheets say.

`Bno085`: the BNO080, 085 and 086 in UART-RVC mode (PS0 high, PS1 low), which send by themselves.
CEVA/Hillcrest, BNO080 data sheet 1000-3927, section 1.3.5.2. `Bno055`: registers asked one by one.
Bosch, BST-BNO055-DS000-14, sections 4.3 and 4.7. Both at 115200 baud, 8N1.

How a sensor is mounted decides which of its angles is the torso's pitch, and with which sign.
"""

from __future__ import annotations

import math
import struct
from typing import NamedTuple

from footfall.machines.control.contracts import DeviceError
from footfall.machines.control.ports import LinkLost, Port

ANGLES = ("pitch", "roll")
BAUD = 115200


class Mounting(NamedTuple):
    """Which angle of the sensor is the torso's pitch: +-1 times `angle`."""

    angle: str = "pitch"
    sign: float = 1.0

    @classmethod
    def of(cls, text: str) -> Mounting:
        """Of "pitch", "-pitch", "roll" or "-roll"; ValueError for anything else."""
        angle = text.removeprefix("-")
        if angle not in ANGLES:
            known = ", ".join(f"{sign}{name}" for name in ANGLES for sign in ("", "-"))
            raise ValueError(f"{text!r} is no angle of the sensor. Known are: {known}.")
        return cls(angle, -1.0 if text.startswith("-") else 1.0)


def _read(port: Port) -> bytes:
    try:
        return port.read()
    except LinkLost as error:
        raise DeviceError(f"The line to the pitch sensor is lost: {error}") from error


class Bno085:
    """A PitchSensor: the newest of the frames that arrive 100 times a second."""

    HEADER = b"\xaa\xaa"
    BODY = struct.Struct("<B6h3sB")  # index; yaw, pitch, roll, accelerations; reserved; checksum
    LENGTH = len(HEADER) + BODY.size
    HUNDREDTH = math.radians(0.01)

    def __init__(self, port: Port, mounting: Mounting = Mounting()):  # noqa: B008
        self._port, self._mounting = port, mounting
        self._held = b""
        self.rejected = 0  #: frames refused so far

    def newest(self) -> float | None:
        self._held += _read(self._port)
        found = None
        while (start := self._held.find(self.HEADER)) >= 0:
            self._held = self._held[start:]
            if len(self._held) < self.LENGTH:
                return found
            body = self._held[len(self.HEADER) : self.LENGTH]
            if sum(body[:-1]) % 256 != body[-1]:
                self.rejected += 1
                self._held = self._held[1:]  # a header may begin inside what was taken for a frame
                continue
            self._held = self._held[self.LENGTH :]
            _, _, pitch, roll, *_ = self.BODY.unpack(body)
            angle = pitch if self._mounting.angle == "pitch" else roll
            found = self._mounting.sign * angle * self.HUNDREDTH
        self._held = self._held[-1:] if self._held.endswith(self.HEADER[:1]) else b""
        return found

    def close(self) -> None:
        self._port.close()


# Registers of the BNO055, and what is written into them.
CHIP_ID, EUL_HEADING, SYS_STATUS, UNIT_SEL, OPR_MODE = 0x00, 0x1A, 0x39, 0x3B, 0x3D
CHIP, RADIANS = 0xA0, 0x04
#: Fusion without the magnetometer, which motors mislead.
CONFIG_MODE, IMU_MODE = 0x00, 0x08
PER_RADIAN = 900.0  # of Euler angles
SYSTEM_ERROR = 0x01  # of SYS_STATUS
WRITTEN, BUS_OVER_RUN = 0x01, 0x07
_STATUS = {
    0x02: "READ_FAIL",
    0x03: "WRITE_FAIL",
    0x04: "REGMAP_INVALID_ADDRESS",
    0x05: "REGMAP_WRITE_DISABLED",
    0x06: "WRONG_START_BYTE",
    BUS_OVER_RUN: "BUS_OVER_RUN_ERROR",
    0x08: "MAX_LENGTH_ERROR",
    0x09: "MIN_LENGTH_ERROR",
    0x0A: "RECEIVE_CHARACTER_TIMEOUT",
}


class _Exchange(NamedTuple):
    """One question, how long its answer is (0: an acknowledgement), calls to wait after it."""

    question: bytes
    length: int
    rest: int = 0


def _write(register: int, value: int, rest: int = 0) -> _Exchange:
    return _Exchange(bytes([0xAA, 0x00, register, 1, value]), 0, rest)


def _ask(register: int, length: int) -> _Exchange:
    return _Exchange(bytes([0xAA, 0x01, register, length]), length)


class Bno055:
    """A PitchSensor: one question each time it is asked, and the answer to the one before.

    So a pitch is one call old. It is set up by the first calls; until then there is no pitch. A
    change of mode takes up to 19 ms (table 3-6 of the data sheet), for which it is left in peace.

    A dip of its supply starts it anew, and until it is set up again every angle it tells is 0,
    which is a pitch like any other: so its mode and its units are read with each.
    """

    PATIENCE = 3  #: calls without an answer before a question is asked again
    REST = 3  #: calls after a change of mode: 30 ms at 100 Hz
    SET_UP = (
        _ask(CHIP_ID, 1),
        _write(OPR_MODE, CONFIG_MODE, REST),
        _write(UNIT_SEL, RADIANS),
        _write(OPR_MODE, IMU_MODE, REST),
    )
    #: With them all registers up to its mode: 38 bytes, 3.3 ms.
    ANGLES = _ask(EUL_HEADING, OPR_MODE + 1 - EUL_HEADING)

    def __init__(self, port: Port, mounting: Mounting = Mounting()):  # noqa: B008
        self._port, self._mounting = port, mounting
        self._left = list(self.SET_UP)
        self._held = b""
        self._asked: _Exchange | None = None
        self._waited = self._resting = 0
        self.rejected = 0  #: answers refused so far

    def newest(self) -> float | None:
        self._held += _read(self._port)
        found = self._answered() if self._asked is not None else None
        if self._resting:
            self._resting -= 1
        elif self._asked is None:
            self._send(self._left[0] if self._left else self.ANGLES)
        else:
            self._waited += 1
            # A byte was lost on the way there or back, or the sensor was busy.
            if self._waited >= self.PATIENCE:
                self.rejected += 1
                self._send(self._asked)
        return found

    def close(self) -> None:
        self._port.close()

    def _send(self, exchange: _Exchange) -> None:
        self._asked, self._waited, self._held = exchange, 0, b""
        try:
            self._port.write(exchange.question)
        except LinkLost as error:
            raise DeviceError(f"The line to the pitch sensor is lost: {error}") from error

    def _answered(self) -> float | None:
        """The pitch, if that is what was asked for and the answer is whole."""
        asked, held = self._asked, self._held
        assert asked is not None
        if len(held) < 2:
            return None
        if held[0] == 0xEE:
            return self._acknowledged(asked, held[1])
        if held[0] != 0xBB or held[1] != asked.length or not asked.length:
            self._refuse()
            return None
        if len(held) < 2 + asked.length:
            return None
        data = held[2 : 2 + asked.length]
        if asked is self.ANGLES:
            self._asked = None
            self._require_awake(data)
            _, roll, pitch = struct.unpack_from("<3h", data)
            angle = pitch if self._mounting.angle == "pitch" else roll
            return self._mounting.sign * angle / PER_RADIAN
        if data[0] != CHIP:
            raise DeviceError(
                f"The pitch sensor says that it is {data[0]:#04x}; a BNO055 says {CHIP:#04x}. Is it"
                " another sensor?"
            )
        self._done(asked)
        return None

    @staticmethod
    def _require_awake(data: bytes) -> None:
        status, units, mode = (data[at - EUL_HEADING] for at in (SYS_STATUS, UNIT_SEL, OPR_MODE))
        if mode & 0x0F != IMU_MODE or not units & RADIANS:
            raise DeviceError(
                f"The pitch sensor has started anew: its mode is {mode & 0x0F:#x}, that of fusion"
                f" is {IMU_MODE:#x}, and its angles mean nothing. Is its supply steady?"
            )
        if status == SYSTEM_ERROR:
            raise DeviceError("The pitch sensor reports a system error. Switch it off and on.")

    def _acknowledged(self, asked: _Exchange, status: int) -> None:
        if status == WRITTEN and not asked.length:
            self._done(asked)
        elif status == BUS_OVER_RUN:  # it was busy: the sheet says to ask again
            self._refuse()
        else:
            raise DeviceError(
                f"The pitch sensor refused {asked.question.hex(' ')}:"
                f" {_STATUS.get(status, f'status {status:#04x}')}."
            )

    def _done(self, asked: _Exchange) -> None:
        self._left.pop(0)
        self._asked, self._resting = None, asked.rest

    def _refuse(self) -> None:
        """Ask again at once."""
        self._waited, self._held = self.PATIENCE, b""


#: Kinds of sensors of this family by the name that a user types.
KINDS = {"bno085-rvc": Bno085, "bno055": Bno055}
