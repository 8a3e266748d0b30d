"""Units at the door: "4 deg" becomes 0.0698... here.

Nowhere else does a unit appear in arithmetic.
"""

import math
import re

from footfall.numerics.shown import clipped, shown

#: One turn [rad].
TURN = 2.0 * math.pi
#: A longer text is no number with a unit.
LONGEST_QUANTITY = 100

#: unit -> (factor to SI, dimension as written in `param(unit=...)`)
_UNITS: dict[str, tuple[float, str]] = {
    "m": (1.0, "m"),
    "cm": (1e-2, "m"),
    "mm": (1e-3, "m"),
    "kg": (1.0, "kg"),
    "g": (1e-3, "kg"),
    "s": (1.0, "s"),
    "ms": (1e-3, "s"),
    "us": (1e-6, "s"),
    "second": (1.0, "s"),
    "seconds": (1.0, "s"),
    "min": (60.0, "s"),
    "minute": (60.0, "s"),
    "minutes": (60.0, "s"),
    "hour": (3600.0, "s"),
    "hours": (3600.0, "s"),
    "rad": (1.0, "rad"),
    "deg": (math.pi / 180.0, "rad"),
    "degree": (math.pi / 180.0, "rad"),
    "degrees": (math.pi / 180.0, "rad"),
    "°": (math.pi / 180.0, "rad"),
    "turn": (TURN, "rad"),
    "turns": (TURN, "rad"),
    "rpm": (TURN / 60.0, "rad/s"),
    "N": (1.0, "N"),
    "kN": (1e3, "N"),
    "J": (1.0, "J"),
    "W": (1.0, "W"),
    "A": (1.0, "A"),
    "mA": (1e-3, "A"),
    "V": (1.0, "V"),
    "ohm": (1.0, "ohm"),
    "mohm": (1e-3, "ohm"),
    "Pa": (1.0, "Pa"),
    "kPa": (1e3, "Pa"),
    "bar": (1e5, "Pa"),
    "K": (1.0, "K"),
    "Hz": (1.0, "Hz"),
    "kHz": (1e3, "Hz"),
}

#: compound dimensions are products and quotients of the above: "N s/m", "kg m^2", "rad/s", "N m/A"
_TOKEN = re.compile(r"\s*([A-Za-z]+|°)(?:\^(-?\d+(?:\.\d+)?))?\s*|\s*([*/()])\s*|\s+")
_QUANTITY = re.compile(r"^\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(.*?)\s*$")
#: derived units written out, so that "kg m/s^2" and "N" are seen to be the same dimension
_BASE: dict[str, dict[str, float]] = {
    "N": {"kg": 1, "m": 1, "s": -2},
    "J": {"kg": 1, "m": 2, "s": -2},
    "Pa": {"kg": 1, "m": -1, "s": -2},
    "W": {"kg": 1, "m": 2, "s": -3},
    "V": {"kg": 1, "m": 2, "s": -3, "A": -1},
    "ohm": {"kg": 1, "m": 2, "s": -3, "A": -2},
    "Hz": {"s": -1},
    "rad/s": {"rad": 1, "s": -1},
}


class UnitError(ValueError):
    """A quantity whose unit is unknown or of the wrong kind."""


def _dimension(text: str) -> tuple[float, dict[str, float]]:
    """Factor to SI and exponents of the base units of a unit expression such as "N s/m"."""
    factor, exponents, sign, position = 1.0, {}, 1, 0
    text = re.sub(r"\bNm\b", "N m", text)
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None or match.end() == position:
            raise UnitError(
                f'"{clipped(text)}" is not a unit. Write it like "m", "deg", "N s/m", "kg m^2".'
            )
        position = match.end()
        name, power, symbol = match.groups()
        if symbol == "/":
            sign = -1
        elif symbol == "*":
            sign = 1
        elif symbol in ("(", ")"):
            raise UnitError(f'"{clipped(text)}": write units without brackets, like "N m/rad/s".')
        elif name:
            if name not in _UNITS:
                raise UnitError(
                    f'"{clipped(name)}" is not a unit we know. Known: {", ".join(_UNITS)}.'
                )
            scale, base = _UNITS[name]
            exponent = sign * float(power or 1)
            try:
                factor *= scale**exponent
            except OverflowError:
                raise UnitError(
                    f'"{clipped(text)}": {name}^{exponent:g} is beyond any number.'
                ) from None
            for key, times in _BASE.get(base, {base: 1}).items():
                exponents[key] = exponents.get(key, 0) + exponent * times
    return factor, {key: n for key, n in exponents.items() if n != 0}


def _same(one: dict[str, float], other: dict[str, float]) -> bool:
    """An angle is a ratio, so "N m" may stand for "N m/rad".

    But 2 Hz is not 2 rad/s: without a mass the angle counts.
    """
    if "kg" in one:
        one, other = ({key: n for key, n in d.items() if key != "rad"} for d in (one, other))
    return one == other


def to_si(value: float | int | str, unit: str) -> float:
    """`value` in SI for a quantity declared in `unit`. A bare number is taken to be SI already.

    "4 deg" with unit "rad" gives 0.0698...; "4 kg" with unit "rad" raises UnitError.
    """
    if isinstance(value, bool):
        raise UnitError(f"expected a number{_in(unit)}, got {str(value).lower()}.")
    if isinstance(value, int | float):
        try:
            return float(value)
        except OverflowError:
            raise UnitError(f"{shown(value)} is beyond what can be computed with.") from None
    match = _QUANTITY.match(value.strip()) if len(value) <= LONGEST_QUANTITY else None
    if match is None:
        raise UnitError(
            f'"{clipped(value)}" is not a number{_in(unit)}. Write it like {_example(unit)}.'
        )
    number, given = float(match.group(1)), match.group(2)
    if not given:
        return number
    factor, dimension = _dimension(given)
    _, wanted = _dimension(unit) if unit else (1.0, {})
    if not _same(dimension, wanted):
        raise UnitError(
            f'"{clipped(value)}" is in {clipped(given)}, but this needs {unit or "a plain number"}.'
            f" Write it like {_example(unit)}."
        )
    return number * factor


def _in(unit: str) -> str:
    return f" in {unit}" if unit else ""


def _example(unit: str) -> str:
    examples = {
        "m": '"0.26 m" or "26 cm"',
        "rad": '"4 deg" or 0.07',
        "s": '"10 s"',
        "kg": '"2.5 kg"',
    }
    return examples.get(unit, f'"1.5 {unit}"' if unit else "1.5")
