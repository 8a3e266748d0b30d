"""Frames between the high and the mid level: `<field,field,...*HH>`.

What may stand in one, how it is written, how it is read.

A reader is a machine of three states that takes any bytes in pieces of any size. A frame is
accepted whole or not at all; what is not accepted is counted, and nothing of it is kept.

    IDLE      drops every byte up to `<`
    PAYLOAD   collects `0-9 + - . , e E`, at most 48 of them; `*` leads to TAIL where a checksum is
              required; `>` ends the frame
    TAIL      collects two of `0-9 A-F`; `>` ends the frame

`<` inside a frame discards what was collected, which counts as one rejection, and starts anew. Any
other byte that does not belong where it stands discards the frame, which counts as one rejection,
and leads to IDLE. A whole frame with nothing but `e` in it is a request (fingerprint.py): it is
counted apart. firmware/teensy/ does the same in C.
"""

from __future__ import annotations

import enum
import functools
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from footfall.machines.control.decimal_text import fixed, number

if TYPE_CHECKING:
    from footfall.machines.control.settings import StackSettings

LONGEST_PAYLOAD = 48  #: bytes between `<` and `*` or `>`
DECIMALS = 6  #: of every number sent
REQUEST = b"e"  #: payload of the frame that asks a mid level for its fingerprint; no number is it

_START, _END, _STAR = b"<>*"
_PAYLOAD_BYTES = frozenset(b"0123456789+-.,eE")
_TAIL_BYTES = frozenset(b"0123456789ABCDEF")


class Field(NamedTuple):
    """One value of a frame.

    A number between -limit and +limit, or a flag, which is `0` or `1` and nothing else.
    """

    name: str
    limit: float
    flag: bool = False


class FrameFormat(NamedTuple):
    """What both ends of a line agreed on when they were built."""

    fields: tuple[Field, ...]
    checksum: bool  #: every frame carries `*HH`; or none does


def as_sent(limit: float) -> float:
    """The largest value that a sender held to this limit can put on the line.

    The sender may hold the limit in single precision, and writes six decimals: pi arrives as
    3.141593, which is more than pi. A receiver that took pi literally would reject every frame of
    a sound sender at its limit.
    """
    return max(limit, float(fixed(limit, DECIMALS)), float(fixed(np.float32(limit), DECIMALS)))


def down_format(settings: StackSettings) -> FrameFormat:
    """High to mid level.

    What is wanted and what is measured; with the steering current where there is steering (version
    2).
    """
    fields = (
        Field("setpoint", as_sent(settings.setpoint_limit)),
        Field("setpoint_on", 1.0, flag=True),
        Field("pitch", as_sent(settings.measured_limit)),
    )
    steer = (Field("steer_current", as_sent(settings.steer_limit)),) if settings.steering else ()
    return FrameFormat(fields + steer, settings.checksum)


def up_format(settings: StackSettings) -> FrameFormat:
    """Mid to high level: the output of its law."""
    return FrameFormat(
        (Field("pid_output", as_sent(float(settings.gains.output_limit))),), settings.checksum
    )


def sensor_format(settings: StackSettings) -> FrameFormat:
    """Pitch sensor to high level."""
    return FrameFormat((Field("pitch", as_sent(settings.measured_limit)),), settings.checksum)


def checksum_of(payload: bytes) -> bytes:
    """`*HH`: the exclusive or of all bytes before it.

    Any one altered byte shows; two altered in the same bits do not.
    """
    return b"*%02X" % functools.reduce(operator.xor, payload, 0)


def encode(frame_format: FrameFormat, values: Sequence[float]) -> bytes:
    """A frame. Raises ValueError for what the other end would reject.

    It is better noticed here, where the mistake was made.
    """
    names = ",".join(field.name for field in frame_format.fields)
    if len(values) != len(frame_format.fields):
        raise ValueError(
            f"a frame <{names}> takes {len(frame_format.fields)} values, {len(values)} came."
        )
    payload = b",".join(
        _written(field, value) for field, value in zip(frame_format.fields, values, strict=True)
    )
    if len(payload) > LONGEST_PAYLOAD:
        raise ValueError(
            f"a frame <{names}> of {len(payload)} bytes: at most {LONGEST_PAYLOAD} are read. Lower"
            " the fields' limits."
        )
    return framed(payload, frame_format.checksum)


def framed(payload: bytes, checksum: bool) -> bytes:
    """A frame with this in it."""
    return b"<" + payload + (checksum_of(payload) if checksum else b"") + b">"


def _written(field: Field, value: float) -> bytes:
    if field.flag:
        if value not in (0, 1):
            raise ValueError(f"{field.name} = {value} cannot be sent: it is a flag, 0 or 1.")
        return b"1" if value else b"0"
    # What arrives is the rounded number, so that is what must be within the limit.
    if not abs(value) <= field.limit or abs(float(text := fixed(value, DECIMALS))) > field.limit:
        raise ValueError(
            f"{field.name} = {value} cannot be sent: a finite number of size at most {field.limit}"
            " is expected."
        )
    return text


class _State(enum.Enum):
    IDLE = enum.auto()
    PAYLOAD = enum.auto()
    TAIL = enum.auto()


class FrameReader:
    """Bytes in, values out. Never raises, whatever comes, and never holds more than one frame."""

    def __init__(self, frame_format: FrameFormat):
        self.accepted = 0  #: frames so far
        self.rejected = 0  #: frames begun and not accepted, so far
        self.requests = 0  #: so far; neither accepted nor rejected
        self._format = frame_format
        self._state = _State.IDLE
        self._payload = bytearray()
        self._tail = bytearray()

    def feed(self, data: bytes) -> list[tuple[float, ...]]:
        """The values of every frame that these bytes completed, oldest first.

        Flags as 0.0 or 1.0.
        """
        frames: list[tuple[float, ...]] = []
        for byte in data:
            if byte == _START:
                self.rejected += self._state is not _State.IDLE
                self._begin()
            elif self._state is _State.IDLE:
                continue
            elif byte == _END:
                self._state = _State.IDLE
                values = self._values()
                if self._is_request():
                    self.requests += 1
                elif values is None:
                    self.rejected += 1
                else:
                    self.accepted += 1
                    frames.append(values)
            elif not self._collect(byte):
                self.rejected += 1
                self._state = _State.IDLE
        return frames

    def _begin(self) -> None:
        self._state = _State.PAYLOAD
        self._payload.clear()
        self._tail.clear()

    def _collect(self, byte: int) -> bool:
        """Whether this byte may stand here."""
        if self._state is _State.TAIL:
            self._tail.append(byte)
            return byte in _TAIL_BYTES and len(self._tail) <= 2
        if byte == _STAR and self._format.checksum:
            self._state = _State.TAIL
            return True
        self._payload.append(byte)
        return byte in _PAYLOAD_BYTES and len(self._payload) <= LONGEST_PAYLOAD

    def _is_whole(self) -> bool:
        """Its checksum is right, or there are none."""
        checksum = self._format.checksum
        return not checksum or b"*" + self._tail == checksum_of(bytes(self._payload))

    def _is_request(self) -> bool:
        return self._payload == REQUEST and self._is_whole()

    def _values(self) -> tuple[float, ...] | None:
        """The collected frame's values; None if anything at all is wrong with it."""
        payload, fields = bytes(self._payload), self._format.fields
        if not self._is_whole():
            return None
        texts = payload.split(b",")
        if len(texts) != len(fields):
            return None
        values = [
            value
            for field, text in zip(fields, texts, strict=True)
            if (value := _read(field, text)) is not None
        ]
        return tuple(values) if len(values) == len(fields) else None


def _read(field: Field, text: bytes) -> float | None:
    if field.flag:
        return {b"0": 0.0, b"1": 1.0}.get(text)
    value = number(text)
    return value if value is not None and abs(value) <= field.limit else None
