"""Footsteps that a route writes move by move: up, across, down.

Three entries of one foot, such as "lift_left 0.01; step_left -0.08; lift_left -0.01", are a
footstep as any other, but for its lift, which is theirs and not the gait's. The left foot is foot
1, which leads where the walk goes forward, towards -x.
"""

from collections.abc import Sequence

from footfall.hybrid.fields import ParameterError
from footfall.machines.two_leg.course import Footstep, Verb
from footfall.numerics.scalar import Scalar

#: Verbs of single moves: which foot, and whether it goes across.
MOVE_VERBS = {
    "lift_left": (1, False),
    "step_left": (1, True),
    "lift_right": (2, False),
    "step_right": (2, True),
}


def grouped(verbs: Sequence[Verb]) -> list[tuple[Verb, ...]]:
    """The entries of a route, the three of a footstep together, any other alone.

    The last group is shorter where a foot is left in the air. Raises ParameterError where moves of
    one foot are not up, across, down.
    """
    groups: list[tuple[Verb, ...]] = []
    for verb in verbs:
        if groups and _unfinished(groups[-1]):
            groups[-1] = (*groups[-1], verb)
        else:
            groups.append((verb,))
        if groups[-1][0].name in MOVE_VERBS:
            _check(groups[-1])
    return groups


def in_the_air(verbs: Sequence[Verb]) -> bool:
    """Whether a route ends with a foot that is not put down."""
    groups = grouped(verbs)
    return bool(groups) and _unfinished(groups[-1])


def footstep(group: tuple[Verb, ...], apart: Scalar, above: Scalar) -> Footstep:
    """Of three moves, from feet that are so far `apart` and `above` each other."""
    foot, last = _foot(group[0]), group[-1]
    if len(group) < 3:
        raise ParameterError(
            f'"{last}" leaves foot {foot} in the air at the end of the route: go on'
            f" with {_expected(group)}.",
            "route",
        )
    up, across, down = (verb.value for verb in group)
    return Footstep(foot, across, up + down, apart, above, 1.0, 0.0, up)


def _foot(verb: Verb) -> int:
    return MOVE_VERBS[verb.name][0]


def _unfinished(group: tuple[Verb, ...]) -> bool:
    return group[0].name in MOVE_VERBS and len(group) < 3


def _expected(before: tuple[Verb, ...]) -> str:
    """What may come next, as an example."""
    side = "left" if not before or _foot(before[0]) == 1 else "right"
    if not before:
        return '"lift_left 0.01"'
    return f'"step_{side} -0.08"' if len(before) == 1 else f'"lift_{side} {-before[0].value:g}"'


def _check(group: tuple[Verb, ...]) -> None:
    """Whether the last of these may follow those before it."""
    *before, last = group
    across = len(before) == 1
    foot, goes_across = MOVE_VERBS.get(last.name, (0, False))
    if foot != _foot(group[0]) or goes_across != across:
        side = "in the air" if before else "on the ground"
        raise ParameterError(
            f'"{last}": foot {_foot(group[0])} is {side}, and a footstep is three moves of one'
            f" foot, up, across, down. Next would be {_expected(tuple(before))}.",
            "route",
        )
    wrong = {0: last.value <= 0, 1: last.value == 0, 2: last.value >= 0}[len(before)]
    if wrong:
        sign = ("above zero, up", "not zero", "below zero, down")[len(before)]
        raise ParameterError(
            f'"{last}": the distance must be {sign}, such as {_expected(tuple(before))}.', "route"
        )
