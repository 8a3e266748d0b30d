"""What the sea urchin is to do, in words: "walk 2; lie; roll 5; rise; walk"."""

import math
from typing import NamedTuple

from footfall.hybrid.fields import ParameterError, nearest

#: verb -> whether it takes a number, and what that counts
VERBS = {"walk": "cycles of the gait", "roll": "sides", "lie": "", "rise": "", "hold": "seconds"}
UPRIGHT, LYING = "upright", "on a side"
_NEEDS = {"walk": UPRIGHT, "lie": UPRIGHT, "roll": LYING, "rise": LYING}
_LEAVES = {"lie": LYING, "rise": UPRIGHT}


class Action(NamedTuple):
    """One verb and its number; without one, to the end of the run."""

    verb: str
    count: float = math.inf


def parse_program(text: str) -> tuple[Action, ...]:
    """The actions of a program.

    Raises for what cannot be read, or cannot follow on what comes before.
    """
    actions = []
    for piece in text.split(";"):
        words = piece.split()
        if not words:
            continue
        verb, numbers = words[0], words[1:]
        if verb not in VERBS:
            raise ParameterError(
                f'"{verb}" is nothing it can do. It can: {", ".join(VERBS)}.{nearest(verb, VERBS)}',
                "program",
            )
        if len(numbers) > (1 if VERBS[verb] else 0):
            takes = f"one number, {VERBS[verb]}" if VERBS[verb] else "no number"
            raise ParameterError(f'"{piece.strip()}": {verb} takes {takes}.', "program")
        actions.append(
            Action(verb, _number(piece.strip(), verb, numbers[0]) if numbers else math.inf)
        )
    if not actions:
        raise ParameterError(
            'an empty program; write something to do, such as "walk" or "roll 6".', "program"
        )
    pose = first_pose(tuple(actions))
    for action in actions:
        if action.verb in _NEEDS and _NEEDS[action.verb] != pose:
            between = "lie" if pose == UPRIGHT else "rise"
            raise ParameterError(
                f'"{text}": it cannot {action.verb} while it is {pose}; put "{between}" before it.',
                "program",
            )
        pose = _LEAVES.get(action.verb, pose)
    return tuple(actions)


def _number(piece: str, verb: str, word: str) -> float:
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0) or (verb == "roll" and value != int(value)):
        whole = "a whole number" if verb == "roll" else "a number"
        raise ParameterError(
            f'"{piece}": {verb} wants {whole} above zero, the {VERBS[verb]}.', "program"
        )
    return value


def first_pose(actions: tuple[Action, ...]) -> str:
    """Whether the program begins upright or on a side."""
    return _NEEDS.get(next((d.verb for d in actions if d.verb in _NEEDS), "walk"), UPRIGHT)
