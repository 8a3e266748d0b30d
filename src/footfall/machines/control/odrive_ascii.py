"""The motor driver as the high level sees it, over the ODrive's ASCII protocol on its USB line.

A driver is one board with all motors, or a board for each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from footfall.machines.control.contracts import Clock, DeviceError, UnfitDriver
from footfall.machines.control.decimal_text import number
from footfall.machines.control.odrive_axis import AxisState
from footfall.machines.control.odrive_errors import in_words
from footfall.machines.control.odrive_firmware import (
    FIRMWARE_05,
    VERSION_QUESTIONS,
    ErrorWord,
    Firmware,
    Version,
    firmware_of_all,
)
from footfall.machines.control.odrive_limits import unmet
from footfall.machines.control.odrive_line import OdriveLine, ask_all
from footfall.machines.control.ports import Port
from footfall.machines.control.settings import StackSettings

REPLY_LIMIT = 0.004  #: s
POLL = 0.0002  #: s, between looks for an answer
_NO_PROPERTY = b"invalid property"


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

    Set points are the mid level's (S9). The single exception is 0 N m, sent before arming, when
    the law is off: the driver remembers its last command, and must not wake up with it.
    """

    def __init__(
        self,
        ports: Sequence[Port],
        settings: StackSettings,
        clock: Clock,
        *,
        firmware: Firmware = FIRMWARE_05,
        reply_limit: float = REPLY_LIMIT,
        poll: float = POLL,
    ):
        """`ports`: one for each board. `connect` asks for the firmware instead."""
        if len(ports) != settings.boards:
            raise DeviceError(
                f"{len(ports)} lines to the motor driver came; the settings say boards ="
                f" {settings.boards}."
            )
        self.firmware = firmware
        self._clock, self._reply_limit, self._poll = clock, reply_limit, poll
        self._lines = [OdriveLine(port, firmware.pipelined) for port in ports]
        self._settings, self._signs = settings, settings.motor_signs[: settings.motors]
        #: Board and axis of each motor.
        self._places = [
            (motor, 0) if settings.boards > 1 else (0, motor) for motor in range(settings.motors)
        ]
        self._shelf_life = settings.high_period_us * 0.5e-6
        self._seen: _Seen | None = None

    @classmethod
    def connect(
        cls,
        ports: Sequence[Port],
        settings: StackSettings,
        clock: Clock,
        *,
        reply_limit: float = REPLY_LIMIT,
        poll: float = POLL,
    ) -> OdriveAscii:
        """A driver that speaks as the boards' firmware does. Raises DeviceError, in words."""
        lines = [OdriveLine(port, pipelined=False) for port in ports]
        told = ask_all(lines, [VERSION_QUESTIONS] * len(lines), clock, reply_limit, poll)
        firmware = firmware_of_all([_version(answers) for answers in told])
        if settings.motors > settings.boards * firmware.axes:
            raise UnfitDriver(
                f"A board with firmware {firmware.name} drives one motor; the robot has"
                f" {settings.motors}.",
                f"--set stack.boards={settings.motors}, and --driver-port for each.",
            )
        return cls(ports, settings, clock, firmware=firmware, reply_limit=reply_limit, poll=poll)

    @property
    def watchdog_bit(self) -> int:
        return self.firmware.watchdog_bit

    def speeds(self) -> tuple[float, ...]:
        self._seen = self._look()
        return self._seen.speeds

    def positions(self) -> tuple[float, ...]:
        return self._recent().positions

    def states(self) -> tuple[int, ...]:
        return self._recent().states

    def errors(self) -> tuple[int, ...]:
        return self._recent().errors

    def explain(self) -> str:
        words = [self._words(board) for board in range(len(self._lines))]
        answers = self._ask([[question for *_, question in own] for own in words])
        said = (
            f"{source}: {self._meaning(answer, word)}"
            for own, told in zip(words, answers, strict=True)
            for (source, word, _), answer in zip(own, told, strict=True)
            if _whole(answer)
        )
        return "; ".join(said)

    def bus(self) -> tuple[float, float]:
        """Volts of the first board, amperes of all."""
        answers = self._ask([[b"r vbus_voltage", b"r ibus"]] * len(self._lines))
        return _number(answers[0][0]), sum(_number(current) for _, current in answers)

    def unmet_limits(self) -> tuple[list[str], list[str]]:
        return unmet(self._settings, self.firmware, self._property)

    def motors_off(self) -> None:
        self._request(AxisState.IDLE)

    def motors_on(self) -> None:
        """Clears the driver's errors: only an operator's explicit press may lead here."""
        clear = [self.firmware.clear]
        self._tell(lambda axes: [*(b"c %d 0" % axis for axis in axes), *clear])
        self._request(AxisState.CLOSED_LOOP)

    def calibrate(self) -> None:
        self._request(AxisState.CALIBRATION)

    def close(self) -> None:
        for line in self._lines:
            line.close()

    def _recent(self) -> _Seen:
        if self._seen is None or self._clock.now() - self._seen.asked > self._shelf_life:
            self._seen = self._look()
        return self._seen

    def _look(self) -> _Seen:
        self._seen = None  # should the question fail, nothing old passes for its answer
        asked, error = self._clock.now(), self.firmware.error.encode()
        questions = [
            [
                *(b"f %d" % axis for axis in self._axes(board)),
                *(b"r axis%d.current_state" % axis for axis in self._axes(board)),
                *(b"r axis%d.%s" % (axis, error) for axis in self._axes(board)),
            ]
            for board in range(len(self._lines))
        ]
        speeds: list[float] = []
        positions: list[float] = []
        states: list[int] = []
        errors: list[int] = []
        for board, answers in enumerate(self._ask(questions)):
            count = len(self._axes(board))
            for place in range(count):
                position, speed = _pair(answers[place])
                positions.append(position)
                speeds.append(speed)
            states += map(_whole, answers[count : 2 * count])
            errors += map(_whole, answers[2 * count :])
        return _Seen(
            asked,
            speeds=_signed(self._signs, speeds),
            positions=_signed(self._signs, positions),
            states=tuple(states),
            errors=tuple(errors),
        )

    def _axes(self, board: int) -> list[int]:
        return [axis for place, axis in self._places if place == board]

    def _words(self, board: int) -> list[tuple[str, ErrorWord, bytes]]:
        """Every error word of a board: whose, which, and the question for it."""
        motors = [(motor, axis) for motor, (at, axis) in enumerate(self._places) if at == board]
        found: list[tuple[str, ErrorWord, bytes]] = []
        for word in self.firmware.error_words:
            path = word.path.encode()
            if word.of_axis:
                found += [
                    (word.source.format(motor), word, b"r axis%d.%s" % (axis, path))
                    for motor, axis in motors
                ]
            else:
                found.append((word.source, word, b"r " + path))
        return found

    def _meaning(self, answer: bytes, word: ErrorWord) -> str:
        if len(answer) >= self.firmware.longest_answer:
            return f"{answer.decode()}..., which this firmware cuts; odrivetool tells it whole"
        return in_words(_whole(answer), word.bits)

    def _property(self, board: int, path: str) -> float | None:
        answer = self._ask([[b"r " + path.encode()]], [self._lines[board]])[0][0]
        return None if answer == _NO_PROPERTY else _limitless(answer)

    def _request(self, state: AxisState) -> None:
        self._tell(lambda axes: [b"w axis%d.requested_state %d" % (axis, state) for axis in axes])

    def _tell(self, lines: Callable[[Sequence[int]], Iterable[bytes]]) -> None:
        """Every board is told, also when one of them cannot be."""
        self._seen = None
        troubles: list[DeviceError] = []
        for board, line in enumerate(self._lines):
            try:
                line.tell(lines(self._axes(board)))
            except DeviceError as error:
                troubles.append(error)
        if troubles:
            raise troubles[0]

    def _ask(
        self, questions: Sequence[Sequence[bytes]], lines: Sequence[OdriveLine] | None = None
    ) -> list[list[bytes]]:
        """Of each board as many answers as questions, in order."""
        asked = self._lines if lines is None else lines
        return ask_all(asked, questions, self._clock, self._reply_limit, self._poll)


def _signed(signs: Sequence[float], values: Sequence[float]) -> tuple[float, ...]:
    return tuple(sign * value for sign, value in zip(signs, values, strict=True))


def _version(answers: Sequence[bytes]) -> Version:
    major, minor, revision = map(_whole, answers)
    return major, minor, revision


def _whole(text: bytes) -> int:
    return int(_number(text))


def _number(text: bytes) -> float:
    value = number(text)
    if value is None:
        raise DeviceError(f"The motor driver answered {text[:40]!r} where a number was expected.")
    return value


def _limitless(text: bytes) -> float:
    """A number, or no limit at all."""
    return float(text) if text in (b"inf", b"-inf") else _number(text)


def _pair(text: bytes) -> tuple[float, float]:
    words = text.split()
    if len(words) != 2:
        raise DeviceError(
            f"The motor driver answered {text[:40]!r} where position and speed were expected."
        )
    return _number(words[0]), _number(words[1])
