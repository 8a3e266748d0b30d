"""What a message shows of a value: enough to recognise it, never more than a person reads."""

import re
import reprlib
from typing import Any

#: Characters of one value, of one line of a message, and lines of a message.
MOST_OF_VALUE, LONGEST_LINE, MOST_LINES = 80, 300, 6
#: A word without a space, such as a path, longer than this loses its middle.
LONGEST_WORD = 200


class _Short(reprlib.Repr):
    """Python's own way to show a value, cut where it is long or deep."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel, self.maxlist, self.maxdict, self.maxtuple = 3, 4, 3, 4
        self.maxstring = self.maxother = self.maxlong = MOST_OF_VALUE

    def repr_int(self, x: int, level: int) -> str:
        if abs(x) >= 10**MOST_OF_VALUE:  # Python refuses to write one of more than 4300 digits
            return f"a whole number of about {int(x.bit_length() * 0.30103) + 1} digits"
        return repr(x)


def shown(value: Any) -> str:
    """A value as it would be written, shortened: `'aaaa...aaaa'`, `[1, 2, 3, 4, ...]`."""
    return clipped(_Short().repr(value))


def clipped(text: str, most: int = MOST_OF_VALUE) -> str:
    """A text on one line that any terminal can print, without its middle where it is long."""
    if len(text) > most:
        text = f"{text[: most * 2 // 3]}...{text[-(most // 4) :]}"
    return text if text.isprintable() else _escaped(text)


def bounded(message: str) -> str:
    """A message of a few lines, whatever was put into it."""
    lines: list[str] = []
    for line in message[: 100 * LONGEST_LINE].split("\n"):
        lines += _wrapped(line if line.isprintable() else _escaped(line))
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES - 1], f"  ... and more of it ({len(message)} characters)"]
    return "\n".join(lines)


def _wrapped(line: str) -> list[str]:
    """A long line as several, broken between sentences, or words where one sentence is long.

    Those after the first are indented.
    """
    if len(line) <= LONGEST_LINE or not line.strip():
        return [line[:LONGEST_LINE]]
    lines = [line[: len(line) - len(line.lstrip())][:4]]
    for sentence in re.split(r"(?<=[.;:]) ", line.strip()):
        whole = len(sentence) <= LONGEST_LINE - 4
        for piece in (
            [sentence] if whole else [clipped(word, LONGEST_WORD) for word in sentence.split()]
        ):
            if len(lines[-1]) + 1 + len(piece) > LONGEST_LINE:
                lines.append(f"    {piece}")
            else:
                lines[-1] += f" {piece}" if lines[-1].strip() else piece
    return lines


def _escaped(text: str) -> str:
    """Line breaks, control characters and bytes that are no text, as escapes."""
    return "".join(
        c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text
    )
