"""The motor driver as the high level sees it, over the ODrive's ASCII protocol on its USB line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from footfall.machines.control.contracts import Clock, DeviceError
from footfall.machines.control.decimal_text import number
from footfall.machines.control.odrive_axis import AxisError, AxisState
from footfall.machines.control.ports import LinkLost, Port
from footfall.machines.control.settings import StackSettings

_MARK, _MARKED = b"?", b"unknown command"
_LONGEST = 4096  # bytes of answers to one set of questions; more is a stranger talking


class Dialect(NamedTuple):
    """Names that changed between firmwares."""

    error: bytes
    clear: tuple[bytes, ...]  #: lines that clear all errors


FIRMWARE_04 = Dialect(b"error", (b"w axis0.error 0", b"w axis1.error 0"))
FIRMWARE_05 = Dialect(b"error", (b"sc",))
FIRMWARE_06 = Dialect(b"active_errors", (b"sc",))


_MEANINGS = {
    AxisError.INVALID_STATE: "a state that cannot be entered",
    AxisError.UNDER_VOLTAGE: "under-voltage",
    AxisError.OVER_VOLTAGE: "over-voltage",
    AxisError.CONTROLLER_FAILED: "over-speed or a failed controller",
    AxisError.WATCHDOG_EXPIRED: "its watchdog expired",
}


def error_words(word: int) -> str:
    """An error word as it is and in words: "0x2 (under-voltage)".

    For the bits that firmware 0.4 and 0.5 give these meanings.
    """
    known = [meaning for bit, meaning in _MEANINGS.items() if word & bit]
    other = word & ~sum(_MEANINGS)
    if other and known:
        known.append(f"{other:#x} is in the driver's manual")
    return f"{word:#x} ({', '.join(known)})" if known else f"{word:#x}"


class _Seen(NamedTuple):
    """One set of answers about all motors, forward drive positive."""

    asked: float  #: s
    speeds: tuple[float, ...]
    positions: tuple[float, ...]
    states: tuple[int, ...]
    errors: tuple[int, ...]


class OdriveAscii:
    """A MotorDriver that speaks the ODrive's ASCII protocol.

    Waits at most `reply_limit` seconds for an answer, by `clock`, looking every `poll` seconds.

    One exchange asks for all that concerns safety, so `positions`, `states` and `errors` cost
    nothing after `speeds` in the same cycle; `speeds` always asks anew, and so does everything
    after a change of state.

    Answers carry no names, only their order. After a timeout, or a command that might have been
    answered, it is not known how many are still under way: the next question is then led by a mark
    that no driver understands, and all that arrives before the complaint about it is thrown away. A
    late answer is never taken for that of another question.

    Set points are the mid level's (S9). The single exception is 0 A, sent before arming, when the
    law is off: the driver remembers its last command, and must not wake up with it.
    """

    def __init__(
        self,
        port: Port,
        settings: StackSettings,
        clock: Clock,
        *,
        reply_limit: float = 0.004,
        poll: float = 0.0002,
        dialect: Dialect = FIRMWARE_05,
        counts_per_turn: float = 1.0,
    ):
        """`counts_per_turn`: 1 for a driver that speaks in turns (firmware 0.5 and later).

        An encoder's counts for one before.
        """
        self._port, self._clock, self._dialect = port, clock, dialect
        self._reply_limit, self._poll = reply_limit, poll
        self._turns = [sign / counts_per_turn for sign in settings.motor_signs[: settings.motors]]
        self._motors = range(settings.motors)
        self._shelf_life = settings.high_period_us * 0.5e-6
        self._in_step = False  # what a stranger left in the line is not ours
        self._seen: _Seen | None = None

    def speeds(self) -> tuple[float, ...]:
        self._seen = self._look()
        return self._seen.speeds

    def positions(self) -> tuple[float, ...]:
        return self._recent().positions

    def states(self) -> tuple[int, ...]:
        return self._recent().states

    def errors(self) -> tuple[int, ...]:
        return self._recent().errors

    def bus(self) -> tuple[float, float]:
        voltage, current = self._ask([b"r vbus_voltage", b"r ibus"])
        return _number(voltage), _number(current)

    def motors_off(self) -> None:
        self._tell(
            b"w axis%d.requested_state %d" % (motor, AxisState.IDLE) for motor in self._motors
        )

    def motors_on(self) -> None:
        """Clears the driver's errors: only an operator's explicit press may lead here."""
        zeros = [b"c %d 0" % motor for motor in self._motors]
        arm = [
            b"w axis%d.requested_state %d" % (motor, AxisState.CLOSED_LOOP)
            for motor in self._motors
        ]
        self._tell([*zeros, *self._dialect.clear, *arm])

    def calibrate(self) -> None:
        self._tell(
            b"w axis%d.requested_state %d" % (motor, AxisState.CALIBRATION)
            for motor in self._motors
        )

    def close(self) -> None:
        self._port.close()

    def _recent(self) -> _Seen:
        if self._seen is None or self._clock.now() - self._seen.asked > self._shelf_life:
            self._seen = self._look()
        return self._seen

    def _look(self) -> _Seen:
        self._seen = None  # should the question fail, nothing old passes for its answer
        asked = self._clock.now()
        feedback = [b"f %d" % motor for motor in self._motors]
        states = [b"r axis%d.current_state" % motor for motor in self._motors]
        errors = [b"r axis%d.%s" % (motor, self._dialect.error) for motor in self._motors]
        answers = self._ask(feedback + states + errors)
        count = len(self._motors)
        pairs = [_pair(answer) for answer in answers[:count]]
        return _Seen(
            asked,
            speeds=tuple(
                scale * speed for scale, (_, speed) in zip(self._turns, pairs, strict=True)
            ),
            positions=tuple(
                scale * position for scale, (position, _) in zip(self._turns, pairs, strict=True)
            ),
            states=tuple(int(_number(answer)) for answer in answers[count : 2 * count]),
            errors=tuple(int(_number(answer)) for answer in answers[2 * count :]),
        )

    def _tell(self, lines: Iterable[bytes]) -> None:
        """Lines that are not answered if all is well."""
        self._seen, self._in_step = None, False  # a complaint may come
        self._write(lines)

    def _ask(self, questions: Sequence[bytes]) -> list[bytes]:
        """As many answers, in order."""
        marked, self._in_step = not self._in_step, False
        self._read_away()
        self._write([_MARK, *questions] if marked else questions)
        deadline = self._clock.now() + self._reply_limit
        received = b""
        while True:
            received += self._read()
            answers, ours = self._whole_lines(received), not marked
            if marked and _MARKED in answers:
                answers, ours = answers[answers.index(_MARKED) + 1 :], True
            if ours and len(answers) >= len(questions):
                self._in_step = len(answers) == len(questions)
                return answers[: len(questions)]
            now = self._clock.now()
            if now >= deadline or len(received) > _LONGEST:
                question = questions[0].decode()
                raise DeviceError(
                    f"The motor driver did not answer {question!r} within"
                    f" {self._reply_limit * 1e3:g} ms."
                )
            self._clock.sleep_until(min(now + self._poll, deadline))

    @staticmethod
    def _whole_lines(received: bytes) -> list[bytes]:
        return [line.strip() for line in received.split(b"\n")[:-1]]

    def _read_away(self) -> None:
        """What lies in the line already answers nothing that is about to be asked."""
        self._read()

    def _read(self) -> bytes:
        try:
            return self._port.read()
        except LinkLost as error:
            raise DeviceError(f"The line to the motor driver is lost: {error}") from error

    def _write(self, lines: Iterable[bytes]) -> None:
        data = b"".join(line + b"\n" for line in lines)
        try:
            taken = self._port.write(data)
        except LinkLost as error:
            raise DeviceError(f"The line to the motor driver is lost: {error}") from error
        if taken < len(data):
            raise DeviceError(
                f"The line to the motor driver is full: {taken} of {len(data)} bytes were taken. Is"
                " it being read?"
            )


def _number(text: bytes) -> float:
    value = number(text)
    if value is None:
        raise DeviceError(f"The motor driver answered {text[:40]!r} where a number was expected.")
    return value


def _pair(text: bytes) -> tuple[float, float]:
    words = text.split()
    if len(words) != 2:
        raise DeviceError(
            f"The motor driver answered {text[:40]!r} where position and speed were expected."
        )
    return _number(words[0]), _number(words[1])
