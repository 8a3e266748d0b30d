"""What the sea urchin is to do, in words: "walk 2; lie; roll 5; rise; walk"."""

import math
from typing import NamedTuple

from footfall.hybrid.fields import ParameterError, nearest

#: verb -> whether it takes a number, and what that counts
VERBS = {"walk": "cycles of the gait", "roll": "sides", "lie": "", "rise": "", "hold": "seconds"}
UPRIGHT, LYING = "upright", "on a side"
_NEEDS = {"walk": UPRIGHT, "lie": UPRIGHT, "roll": LYING, "rise": LYING}
_LEAVES = {"lie": LYING, "rise": UPRIGHT}


class Deed(NamedTuple):
    """One verb and its number; without one, to the end of the run."""

    verb: str
    count: float = math.inf


def parse_program(text: str) -> tuple[Deed, ...]:
    """The deeds of a program. Raises for what cannot be read, or cannot follow on what comes before."""
    deeds = []
    for piece in text.split(";"):
        words = piece.split()
        if not words:
            continue
        verb, numbers = words[0], words[1:]
        if verb not in VERBS:
            raise ParameterError(f'"{verb}" is nothing it can do. It can: {", ".join(VERBS)}.{nearest(verb, VERBS)}', "program")
        if len(numbers) > (1 if VERBS[verb] else 0):
            takes = f"one number, {VERBS[verb]}" if VERBS[verb] else "no number"
            raise ParameterError(f'"{piece.strip()}": {verb} takes {takes}.', "program")
        deeds.append(Deed(verb, _number(piece.strip(), verb, numbers[0]) if numbers else math.inf))
    if not deeds:
        raise ParameterError('an empty program; write something to do, such as "walk" or "roll 6".', "program")
    pose = first_pose(tuple(deeds))
    for deed in deeds:
        if deed.verb in _NEEDS and _NEEDS[deed.verb] != pose:
            between = "lie" if pose == UPRIGHT else "rise"
            raise ParameterError(f'"{text}": it cannot {deed.verb} while it is {pose}; put "{between}" before it.', "program")
        pose = _LEAVES.get(deed.verb, pose)
    return tuple(deeds)


def _number(piece: str, verb: str, word: str) -> float:
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0) or (verb == "roll" and value != int(value)):
        whole = "a whole number" if verb == "roll" else "a number"
        raise ParameterError(f'"{piece}": {verb} wants {whole} above zero, the {VERBS[verb]}.', "program")
    return value


def first_pose(deeds: tuple[Deed, ...]) -> str:
    """Whether the program begins upright or on a side."""
    return _NEEDS.get(next((d.verb for d in deeds if d.verb in _NEEDS), "walk"), UPRIGHT)
