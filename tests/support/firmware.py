"""The firmware's C core as Python objects.

The same methods as the Python programs, so that one test drives both.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence

import numpy as np

from footfall.machines.control.fingerprint import answer_payload
from footfall.machines.control.framing import FrameFormat, down_format
from footfall.machines.control.mid import Sent
from footfall.machines.control.pid import PidGains
from footfall.machines.control.settings import StackSettings
from footfall.realtime.firmware_build import FLAGS, core_library

MOST_FIELDS = 4
_WRAP = (1 << 32) - 1


class Gains(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_float) for name in PidGains._fields[:-1]),
        ("period_us", ctypes.c_uint32),
    )


class Memory(ctypes.Structure):
    _fields_ = (
        ("last_us", ctypes.c_uint32),
        ("started", ctypes.c_bool),
        ("integral", ctypes.c_float),
        ("derivative", ctypes.c_float),
        ("previous", ctypes.c_float),
        ("output", ctypes.c_float),
    )


class _Field(ctypes.Structure):
    _fields_ = (("limit", ctypes.c_double), ("flag", ctypes.c_int32))


class _Format(ctypes.Structure):
    _fields_ = (
        ("fields", _Field * MOST_FIELDS),
        ("count", ctypes.c_int32),
        ("checksum", ctypes.c_int32),
    )


class _Settings(ctypes.Structure):
    _fields_ = (
        ("gains", Gains),
        ("down", _Format),
        ("motors", ctypes.c_int32),
        ("signs", ctypes.c_float * 2),
        ("boards", ctypes.c_int32),
        ("torque_constant", ctypes.c_float),
        ("report_period_us", ctypes.c_uint32),
        ("watchdog_us", ctypes.c_uint32),
        ("fingerprint", ctypes.c_char * 22),
    )


class _Sent(ctypes.Structure):
    _fields_ = (
        ("to_high_length", ctypes.c_uint8),
        ("to_driver_length", ctypes.c_uint8),
        ("to_high", ctypes.c_char * (23 + 26)),
        ("to_driver", ctypes.c_char * 54),
    )


@functools.cache
def core(flags: tuple[str, ...] = FLAGS) -> ctypes.CDLL:
    """The core, compiled, with its functions' types told to ctypes."""
    library = ctypes.CDLL(str(core_library(flags)))
    pointer, real = ctypes.c_void_p, ctypes.c_double
    for name, result, arguments in (
        (
            "ff_pid_update",
            ctypes.c_bool,
            (pointer, pointer, ctypes.c_uint32, ctypes.c_float, ctypes.c_float),
        ),
        ("ff_fixed", ctypes.c_size_t, (ctypes.c_float, ctypes.c_uint, pointer)),
        ("ff_number", ctypes.c_bool, (ctypes.c_char_p, pointer)),
        ("ff_reader_start", None, (pointer,)),
        ("ff_reader_take", ctypes.c_bool, (pointer, pointer, ctypes.c_uint8, pointer)),
        ("ff_mid_start", None, (pointer, pointer)),
        ("ff_mid_receive", None, (pointer, ctypes.c_uint8, ctypes.c_uint32)),
        ("ff_mid_take", None, (pointer, real, ctypes.c_bool, real, real, ctypes.c_uint32)),
        ("ff_mid_step", None, (pointer, ctypes.c_uint32, pointer)),
        (
            "ff_lines_of",
            ctypes.c_size_t,
            (pointer, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int32, pointer),
        ),
        ("ff_accepted", ctypes.c_uint32, (pointer,)),
        ("ff_rejected", ctypes.c_uint32, (pointer,)),
        ("ff_reader_of", pointer, (pointer,)),
        ("ff_is_on", ctypes.c_bool, (pointer,)),
        ("ff_has_tripped", ctypes.c_bool, (pointer,)),
        ("ff_output", ctypes.c_float, (pointer,)),
    ):
        function = library[name]
        function.restype, function.argtypes = result, arguments
        setattr(library, name, function)
    for kind, name in (
        (_Settings, "settings"),
        (Gains, "gains"),
        (Memory, "memory"),
        (_Format, "format"),
        (_Sent, "sent"),
    ):
        told = _size(library, name)
        assert ctypes.sizeof(kind) == told, f"{name}: {ctypes.sizeof(kind)} bytes here, {told} in C"
    return library


def fixed(value: float, decimals: int) -> bytes:
    text = ctypes.create_string_buffer(32)
    length = core().ff_fixed(value, decimals, text)
    return text.raw[:length]


def number(text: bytes) -> float | None:
    """For text without a 0 byte, which a payload cannot hold."""
    value = ctypes.c_double()
    return value.value if core().ff_number(text, ctypes.byref(value)) else None


def lines_of(settings: StackSettings, lines: bytes, board: int) -> bytes:
    """What of these lines goes to a board."""
    built_for, begin, text = (
        _settings(settings),
        ctypes.c_void_p(),
        ctypes.create_string_buffer(lines),
    )
    length = core().ff_lines_of(
        ctypes.byref(built_for), text, len(lines), board, ctypes.byref(begin)
    )
    assert begin.value is not None
    return ctypes.string_at(begin.value, length)


class FirmwareLaw:
    """The law with its memory."""

    def __init__(self, gains: PidGains, flags: tuple[str, ...] = FLAGS):
        self._core = core(flags)
        self.gains, self.memory = Gains(*gains[:-1], gains.period_us), Memory()

    def update(self, now_us: int, setpoint: float, measured: float) -> bool:
        return self._core.ff_pid_update(
            ctypes.byref(self.gains),
            ctypes.byref(self.memory),
            now_us & _WRAP,
            float(setpoint),
            float(measured),
        )


class FirmwareReader:
    """footfall.machines.control.framing.FrameReader, in C."""

    def __init__(self, frame_format: FrameFormat):
        self._core, self._format = core(), _format(frame_format)
        self._reader = ctypes.create_string_buffer(_size(self._core, "reader"))
        self._core.ff_reader_start(self._reader)

    def feed(self, data: bytes) -> list[tuple[float, ...]]:
        values, count = (ctypes.c_double * MOST_FIELDS)(), self._format.count
        take = functools.partial(
            self._core.ff_reader_take, self._reader, ctypes.byref(self._format)
        )
        return [tuple(values[:count]) for byte in data if take(byte, values)]

    @property
    def accepted(self) -> int:
        return self._core.ff_accepted(self._reader)

    @property
    def rejected(self) -> int:
        return self._core.ff_rejected(self._reader)


class FirmwareMid:
    """footfall.machines.control.mid.MidProgram, in C."""

    def __init__(self, settings: StackSettings):
        self.settings = settings
        self._core, self._settings, self._sent = core(), _settings(settings), _Sent()
        self._mid = ctypes.create_string_buffer(_size(self._core, "mid"))
        self.reset()

    def reset(self) -> None:
        self._core.ff_mid_start(self._mid, ctypes.byref(self._settings))

    def receive(self, data: bytes, now_us: int) -> None:
        for byte in data:
            self._core.ff_mid_receive(self._mid, byte, now_us & _WRAP)

    def take(
        self, setpoint: float, setpoint_on: bool, pitch: float, steer: float, now_us: int
    ) -> None:
        self._core.ff_mid_take(self._mid, setpoint, setpoint_on, pitch, steer, now_us & _WRAP)

    def step(self, now_us: int) -> Sent:
        sent = self._sent
        self._core.ff_mid_step(self._mid, now_us & _WRAP, ctypes.byref(sent))
        raw = bytes(sent)
        high, driver = _Sent.to_high.offset, _Sent.to_driver.offset
        return Sent(
            raw[high : high + sent.to_high_length], raw[driver : driver + sent.to_driver_length]
        )

    @property
    def rejected_frames(self) -> int:
        return self._core.ff_rejected(self._core.ff_reader_of(self._mid))

    @property
    def on(self) -> bool:
        return self._core.ff_is_on(self._mid)

    @property
    def watchdog_tripped(self) -> bool:
        return self._core.ff_has_tripped(self._mid)

    @property
    def output(self) -> float:
        return self._core.ff_output(self._mid)


def bits(values: Sequence[float]) -> list[int]:
    """Single-precision numbers as their bits: 0.0 and -0.0 differ, and a nan equals itself."""
    return np.array(values, np.float32).view(np.uint32).tolist()


def _format(frame_format: FrameFormat) -> _Format:
    fields = [_Field(field.limit, field.flag) for field in frame_format.fields]
    return _Format((_Field * MOST_FIELDS)(*fields), len(fields), frame_format.checksum)


def _settings(settings: StackSettings) -> _Settings:
    return _Settings(
        gains=Gains(*settings.gains[:-1], settings.gains.period_us),
        down=_format(down_format(settings)),
        motors=settings.motors,
        signs=(ctypes.c_float * 2)(*settings.motor_signs),
        boards=settings.boards,
        torque_constant=settings.torque_constant,
        report_period_us=settings.report_period_us,
        watchdog_us=settings.watchdog_us,
        fingerprint=answer_payload(settings),
    )


def _size(library: ctypes.CDLL, name: str) -> int:
    function = library[f"ff_size_of_{name}"]
    function.restype = ctypes.c_size_t
    return function()
