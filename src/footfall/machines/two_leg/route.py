"""Routes of the two-leg walker.

The words a user writes, turned into footsteps and checked before anything moves.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from footfall.hybrid.fields import ParameterError, nearest
from footfall.machines.two_leg.course import (
    SLACK,
    VERBS,
    Footstep,
    Stand,
    Verb,
    Walk,
    direction,
    expanded,
    lay_out,
    one_step,
    walk_blocks,
)
from footfall.machines.two_leg.planner import plan_to
from footfall.machines.two_leg.reach import check_reach
from footfall.machines.two_leg.single_moves import MOVE_VERBS, footstep, grouped
from footfall.machines.two_leg.support import obstacle, unfit_start
from footfall.numerics.scalar import Scalar
from footfall.numerics.units import UnitError, to_si

if TYPE_CHECKING:
    from footfall.machines.two_leg.walker import TwoLegWalker


def parse_route(text: str) -> list[Verb]:
    """ "walk -0.49; climb 5 cm; walk_to -1" -> verbs.

    Distances are signed along the model's x: negative is forward.
    """
    verbs = []
    for entry in filter(None, (part.strip() for part in text.split(";"))):
        name, _, value = entry.partition(" ")
        if name not in VERBS:
            raise ParameterError(
                f'"{entry}": {name} is not a verb. Known:'
                f" {', '.join(VERBS)}.{nearest(name, VERBS)}",
                "route",
            )
        try:
            number = to_si(_number(value.strip()), "m")
        except (UnitError, ValueError) as error:
            raise ParameterError(
                f'"{entry}": {str(error).rstrip(".")}. Write it as "{name} -0.49" or "{name} -49'
                ' cm".',
                "route",
            ) from None
        if not math.isfinite(number):
            raise ParameterError(f'"{entry}": not a finite number.', "route")
        verbs.append(Verb(name, number))
    if not verbs:
        raise ParameterError(
            'the route is empty. Write verbs with a distance, such as "walk -0.49":'
            f" {', '.join(VERBS)}.",
            "route",
        )
    return verbs


def _number(text: str) -> float | str:
    """What Python takes for a number, so that "nan" and "inf" are told to be none that is finite.

    Else a quantity with its unit.
    """
    try:
        return float(text)
    except ValueError:
        if not text:
            raise ValueError("a distance is missing") from None
        return text


#: Steps of one walk, each of which is looked at for reach and obstacles before it is made.
MOST_STEPS = 10_000


class Block(NamedTuple):
    """What one verb asks for: pairs of footsteps, each pair made some number of times.

    Of three single moves, one footstep.
    """

    verb: Verb
    steps: list[Footstep]
    walk: Walk | None = None  #: how it is laid out, if it is a walk


def blocks_of(
    walker: "TwoLegWalker", verbs: list[Verb], layout: Sequence[Walk] | None = None
) -> list[Block]:
    """Elementwise in the walker's numbers: one design or many.

    Not for `go_to`, which plans foothold by foothold.

    With a layout, which says for each walk how many steps it has, the numbers may be traced.
    """
    stride, apart = walker.gait.stride, walker.separation
    x1, above, forward, blocks = 0.0 * apart, 0.0, True, []
    given = None if layout is None else iter(layout)
    for group in grouped(verbs):
        verb = group[0]
        if verb.name not in MOVE_VERBS:
            _require_level(verb, above)
        match verb.name:
            case "walk" | "walk_to":
                distance = verb.value if verb.name == "walk" else verb.value - x1
                walk = _laid_out(verb, distance, stride, forward) if given is None else next(given)
                forward = walk.forward
                blocks.append(Block(verb, walk_blocks(distance, stride, apart, walk), walk))
                x1 = x1 + distance
            case "climb":
                across = -stride if forward else stride
                blocks.append(Block(verb, list(one_step(across, verb.value, apart, forward))))
                x1 = x1 + across
            case name if name in MOVE_VERBS:
                step = footstep(group, apart, above)
                blocks.append(Block(verb, [step]))
                moved = Stand(x1, 0.0, x1 + apart, above).after(step)
                x1, apart, above = moved.x1, moved.x5 - moved.x1, moved.y5 - moved.y1
                forward = direction(step.across)
            case _:
                raise ParameterError(
                    f'"{verb}" is planned foothold by foothold, so its designs cannot run'
                    " together.",
                    "route",
                )
    return blocks


def stacked(blocks: Sequence[Block], lanes: int) -> tuple[Footstep, list[list[int]]]:
    """The footsteps of all blocks as arrays, designs on the second axis.

    And the pairs of them that are made in turns.
    """
    rows = [step for block in blocks for step in block.steps]
    groups: list[list[int]] = []
    for block in blocks:
        first = sum(map(len, groups))
        whose = range(first, first + len(block.steps))
        groups += [list(whose[i : i + 2]) for i in range(0, len(whose), 2)]
    columns = (
        [np.broadcast_to(np.asarray(row[i], float), (lanes,)) for row in rows]
        for i in range(len(Footstep._fields))
    )
    return Footstep(*map(np.stack, columns)), groups


def _laid_out(verb: Verb, distance: Scalar, stride: Scalar, forward: bool) -> Walk:
    ahead = np.unique(
        np.signbit(np.extract(np.abs(distance) > SLACK * stride, distance + 0.0 * stride))
    )
    if len(ahead) > 1:
        raise ParameterError(
            f'"{verb}" is forward for some designs and backward for others.', "route"
        )
    return lay_out(distance, stride, bool(ahead[0]) if len(ahead) else forward)


def footsteps_of(
    walker: "TwoLegWalker", verbs: list[Verb]
) -> tuple[list[Footstep], list[Stand], list[Verb]]:
    """Every footstep of a route in order.

    With where the feet stand before each (and after the last), and the verb it belongs to.
    """
    stand = Stand(0.0, 0.0, float(walker.separation), 0.0)
    problem = unfit_start(walker, stand)
    if problem is not None:
        raise ParameterError(problem, "terrain")
    rows: list[Footstep] = []
    whose: list[Verb] = []
    forward = True
    for group in grouped(verbs):
        verb = group[0]
        if verb.name == "go_to":
            found = plan_to(walker, stand, verb.value)
        elif verb.name in MOVE_VERBS:
            found = [footstep(group, stand.x5 - stand.x1, stand.y5 - stand.y1)]
            forward = direction(found[0].across)
        else:
            found, forward = _plain(walker, verb, stand, forward)
        for step in found:
            rows.append(step)
            whose.append(verb)
            stand = stand.after(step)
    stands = [Stand(0.0, 0.0, float(walker.separation), 0.0)]
    for step in rows:
        stands.append(stands[-1].after(step))
    for number, (step, stand, verb) in enumerate(zip(rows, stands, whose, strict=False), start=1):
        name = f'footstep {number} (of "{verb}")'
        check_reach(walker, step, name)
        problem = obstacle(walker, step, stand)
        if problem is not None:
            raise ParameterError(f"{name}: {problem}", "route")
    return rows, stands, whose


def _require_level(verb: Verb, above: float) -> None:
    if abs(above) > 1e-9:
        raise ParameterError(
            f'"{verb}" needs both feet at one height; they are {above:g} m apart.', "route"
        )


def _plain(
    walker: "TwoLegWalker", verb: Verb, stand: Stand, forward: bool
) -> tuple[list[Footstep], bool]:
    """Footsteps of a walk or a climb from where the feet are, which must be level."""
    _require_level(verb, stand.y5 - stand.y1)
    stride, apart = float(walker.gait.stride), stand.x5 - stand.x1
    if verb.name == "climb":
        return list(one_step(-stride if forward else stride, verb.value, apart, forward)), forward
    distance = verb.value if verb.name == "walk" else verb.value - stand.x1
    forward = direction(distance) if abs(distance) > SLACK * stride else forward
    walk = lay_out(distance, stride, forward)
    if walk.count > MOST_STEPS:
        raise ParameterError(
            f'"{verb}" takes {float(walk.count):.2g} steps of gait.stride = {1e3 * stride:.4g} mm;'
            f" {MOST_STEPS} is the most. A longer stride, or a shorter way, needs fewer.",
            "route",
        )
    return expanded(walk_blocks(distance, stride, apart, walk)), forward
