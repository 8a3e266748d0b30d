"""Questions and answers on a line to one board of the motor driver, with time limits.

Answers carry no names, only their order. After a timeout, or a command that might have been
answered, it is not known how many are still under way: the next question is then led by a mark, the
question for a motor that no driver has, and all that arrives before the complaint about it is
thrown away. Each mark has a number of its own, which its complaint tells: a late answer is never
taken for that of another question, a late complaint never for that about another mark.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from footfall.machines.control.contracts import Clock, DeviceError
from footfall.machines.control.ports import LinkLost, Port

_MARK, _MARKED = b"f %d", b"invalid motor %d"
_MARKS = 1000, 10_000  # numbers of marks, in turn
_RESOLUTION = 0.5e-6  # s; a clock of whole microseconds may never reach a sum of fractions
_LONGEST = 4096  # bytes of answers to one set of questions; more is a stranger talking


class OdriveLine:
    """One board at the other end of a port."""

    def __init__(self, port: Port, pipelined: bool):
        """`pipelined`: questions are asked all at once, else each when the last is answered."""
        self.pipelined = pipelined
        self._port = port
        self._in_step = False  # what a stranger left in the line is not ours
        self._marked = False  # the complaint about the mark has not come yet
        self._mark = _MARKS[0]
        self._questions: Sequence[bytes] = ()
        self._answers: list[bytes] = []
        self._partial = b""
        self._heard = 0
        self.progress = 0  #: answers that have come, the complaint about a mark included

    def tell(self, lines: Iterable[bytes]) -> None:
        """Lines that are not answered if all is well."""
        self._in_step = False  # a complaint may come
        self._write(lines)

    def begin(self, questions: Sequence[bytes]) -> None:
        """Ask; `poll` until it is true."""
        self._marked, self._in_step = not self._in_step, False
        self._questions, self._answers = questions, []
        self._partial, self._heard, self.progress = b"", 0, 0
        self._read()  # what lies in the line already answers nothing that is about to be asked
        if self._marked:
            self._mark = self._mark + 1 if self._mark + 1 < _MARKS[1] else _MARKS[0]
        mark = [_MARK % self._mark] if self._marked else []
        first = questions if self.pipelined else questions[: 1 - len(mark)]
        self._write([*mark, *first])

    def poll(self) -> bool:
        """Take what has come. Whether all is answered."""
        received = self._read()
        self._heard += len(received)
        *whole, self._partial = (self._partial + received).split(b"\n")
        for line in whole:
            self._take(line.strip())
        done = not self._marked and len(self._answers) >= len(self._questions)
        if done:
            self._in_step = len(self._answers) == len(self._questions) and not self._partial
        return done

    @property
    def answers(self) -> list[bytes]:
        """One for each question, in order, once `poll` was true."""
        return self._answers[: len(self._questions)]

    @property
    def flooded(self) -> bool:
        """More has come than any set of answers is."""
        return self._heard > _LONGEST

    @property
    def waiting_for(self) -> bytes:
        """The question that is not answered yet."""
        return self._questions[min(len(self._answers), len(self._questions) - 1)]

    def close(self) -> None:
        self._port.close()

    def _take(self, line: bytes) -> None:
        if self._marked:
            if line != _MARKED % self._mark:
                return
            self._marked = False
        else:
            self._answers.append(line)
        self.progress += 1
        if not self.pipelined and len(self._answers) < len(self._questions):
            self._write([self._questions[len(self._answers)]])

    def _read(self) -> bytes:
        try:
            return self._port.read()
        except LinkLost as error:
            raise DeviceError(f"The line to the motor driver is lost: {error}") from error

    def _write(self, lines: Iterable[bytes]) -> None:
        data = b"".join(line + b"\n" for line in lines)
        if not data:
            return
        try:
            taken = self._port.write(data)
        except LinkLost as error:
            raise DeviceError(f"The line to the motor driver is lost: {error}") from error
        if taken < len(data):
            raise DeviceError(
                f"The line to the motor driver is full: {taken} of {len(data)} bytes were taken. Is"
                " it being read?"
            )


def ask_all(
    lines: Sequence[OdriveLine],
    questions: Sequence[Sequence[bytes]],
    clock: Clock,
    reply_limit: float,
    poll: float,
) -> list[list[bytes]]:
    """The answers of each board to its own questions; all boards are asked at the same time.

    `reply_limit` [s] is for all questions that are asked at once: a board that is asked one
    question at a time has it for each. `poll` [s] is the time between looks.
    """
    waiting = list(range(len(lines)))
    for line, own in zip(lines, questions, strict=True):
        line.begin(own)
    deadlines = [clock.now() + reply_limit] * len(lines)
    while True:
        for board in tuple(waiting):
            line, before = lines[board], lines[board].progress
            while not (done := line.poll()) and line.progress > before:
                before = line.progress
                if not line.pipelined:
                    deadlines[board] = clock.now() + reply_limit
            if done:
                waiting.remove(board)
            elif clock.now() > deadlines[board] - _RESOLUTION or line.flooded:
                raise DeviceError(
                    f"The motor driver did not answer {line.waiting_for.decode()!r} within"
                    f" {reply_limit * 1e3:g} ms."
                )
        if not waiting:
            return [line.answers for line in lines]
        clock.sleep_until(min(clock.now() + poll, *(deadlines[board] for board in waiting)))
