"""How the ODrive's firmware reads numbers out of a line and writes them into an answer.

It is C's scanf and snprintf: what follows a number is not looked at, and answers are cut to the
length of a buffer.
"""

from __future__ import annotations

import enum
import math
import re

import numpy as np

from footfall.machines.control.driver_lines import line_checksum

_FLOAT = re.compile(
    rb"\s*([+-]?(?:0x(?:[0-9a-f]+\.?[0-9a-f]*|\.[0-9a-f]+)(?:p[+-]?[0-9]+)?"
    rb"|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf(?:inity)?|nan))",
    re.IGNORECASE,
)
_WHOLE = re.compile(rb"\s*([+-]?[0-9]+)")
_WORD = re.compile(rb"\s*(\S{1,255})")

_ANSWER = 64  # bytes of an answer with its end
_VALUE = 9  # characters of a property's value


class Kind(enum.Enum):
    """Types of properties, as they are written."""

    FLOAT = enum.auto()
    FLAG = enum.auto()
    BYTE = enum.auto()
    SIGNED = enum.auto()
    UNSIGNED = enum.auto()  #: 32 bits; error words and states too
    WIDE = enum.auto()  #: 64 bits, unsigned


def scan(text: bytes, kinds: str) -> list[float]:
    """Numbers as scanf takes them: `u` unsigned, `f` single precision; up to the first that fails.

    A minus sign wraps an unsigned number round.
    """
    numbers: list[float] = []
    for kind in kinds:
        found = (_WHOLE if kind == "u" else _FLOAT).match(text)
        if found is None:
            break
        text = text[found.end() :]
        numbers.append(int(found[1]) % 2**32 if kind == "u" else _single(found[1]))
    return numbers


def words(text: bytes, most: int) -> list[bytes]:
    """Up to so many words."""
    found: list[bytes] = []
    while len(found) < most and (word := _WORD.match(text)):
        found.append(word[1])
        text = text[word.end() :]
    return found


def value_of(text: bytes, kind: Kind) -> float | None:
    """What is written into a property; None where there is no number at the beginning."""
    if kind is Kind.FLOAT:
        return scanned[0] if (scanned := scan(text, "f")) else None
    found = _WHOLE.match(text)
    if found is None:
        return None
    number = int(found[1])
    if kind is Kind.FLAG:
        return bool(number)
    bits = {Kind.BYTE: 8, Kind.WIDE: 64}.get(kind, 32)
    return number if kind is Kind.SIGNED else number % 2**bits


def value_text(value: float, kind: Kind, after_unsigned: bytes = b"") -> bytes:
    """A property's value as it is answered.

    `after_unsigned`: what a firmware writes by mistake behind unsigned numbers of 32 bits.
    """
    if kind is Kind.FLOAT:
        return (b"%f" % single(value))[:_VALUE] if math.isfinite(value) else _limitless(value)
    after = after_unsigned if kind is Kind.UNSIGNED else b""
    return (b"%d" % value + after)[:_VALUE]


def single(value: float) -> float:
    """In single precision, as the driver keeps it."""
    with np.errstate(over="ignore"):
        return float(np.float32(value))


def answer(text: bytes, checked: bool) -> bytes:
    """An answer with its end, cut to the buffer it is made in; a cut leaves a zero byte."""
    body = text[: _ANSWER - 1] + b"\0" if len(text) >= _ANSWER else text
    end = (b"*%d\r\n" % line_checksum(body)) if checked else b"\r\n"
    room = _ANSWER - len(body)
    if len(end) >= room:
        end = end[: max(room - 1, 0)] + b"\0" * (room > 0)
    return body + end


def _single(text: bytes) -> float:
    said = text.decode().lower()
    return single(float.fromhex(said) if "0x" in said else float(said))


def _limitless(value: float) -> bytes:
    return b"nan" if math.isnan(value) else (b"inf" if value > 0 else b"-inf")
