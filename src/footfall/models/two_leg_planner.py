"""Foothold by foothold over steps: the fewest footsteps that lead to a goal, found by a search over where feet may stand."""

import heapq
import itertools
import math
from typing import TYPE_CHECKING

from footfall.hybrid.fields import ParameterError
from footfall.models.two_leg_course import Footstep, Stand
from footfall.models.two_leg_reach import check_reach
from footfall.models.two_leg_support import LEVEL, foot_span, highest_between, obstacle, way_over

if TYPE_CHECKING:
    from footfall.models.two_leg_walker import TwoLegWalker

#: A stride is tried in this many lengths, besides those that end at an edge or at the goal.
LENGTHS = 8
#: A search that has looked at this many stands without arriving gives up.
MOST_STANDS = 20_000
#: Stands closer than this are the same [m].
GRAIN = 1e-4


def plan_to(walker: "TwoLegWalker", stand: Stand, goal: float) -> list[Footstep]:
    """Footsteps until foot 1 is at x = `goal`, the feet their usual distance apart and level. Raises ParameterError, naming how far it gets.

    Best first: footsteps made, plus the least number still needed. Of equally many, the one that keeps the feet nearer to their usual distance.
    """
    apart, stride = float(walker.separation), float(walker.gait.stride)
    forward = goal < stand.x1

    def steps_left(s: Stand) -> float:
        """At least this many: each footstep brings one foot nearer by a stride at most."""
        return sum(math.ceil(abs(way) / stride - 1e-9) for way in (goal - s.x1, goal + apart - s.x5))

    order = itertools.count()
    heap = [(steps_left(stand), 0.0, next(order), stand)]
    best: dict[tuple[int, ...], float] = {_key(stand): 0.0}
    parents: dict[tuple[int, ...], tuple[Stand, Footstep]] = {}
    nearest_to, problem = stand, ""
    looked = 0
    while heap:
        _, untidy, _, here = heapq.heappop(heap)
        if abs(here.x1 - goal) < GRAIN and abs(here.x5 - goal - apart) < GRAIN and abs(here.y5 - here.y1) < LEVEL:
            return _trace(parents, here, stand)
        looked += 1
        if looked > MOST_STANDS:
            break
        if abs(here.x1 - goal) < abs(nearest_to.x1 - goal):
            nearest_to = here
        made = best[_key(here)]
        for step in _footsteps(walker, here, goal, forward):
            there = here.after(step)
            count = made + 1
            if count >= best.get(_key(there), math.inf):
                continue
            why = _why_not(walker, step, here)
            if why is not None:
                problem = why if here == nearest_to else problem
                continue
            best[_key(there)] = count
            parents[_key(there)] = (here, step)
            strain = untidy + abs(there.x5 - there.x1 - apart) + 0.1 * float(walker.gait.lift + max(step.over, step.rise, 0.0))
            heapq.heappush(heap, (count + steps_left(there), strain, next(order), there))
    said = f" From there: {problem}" if problem else ""
    raise ParameterError(
        f'"go_to {goal:g}": no footsteps lead there. The nearest place reached has foot 1 at x = {nearest_to.x1:.4g} m,'
        f" {1e3 * nearest_to.y1:.4g} mm high, and foot 2 at {nearest_to.x5:.4g} m.{said}",
        "route",
    )


def _key(stand: Stand) -> tuple[int, ...]:
    return tuple(round(v / GRAIN) for v in stand)


def _trace(parents: dict, here: Stand, start: Stand) -> list[Footstep]:
    steps = []
    while _key(here) != _key(start):
        here, step = parents[_key(here)]
        steps.append(step)
    return steps[::-1]


def _footsteps(walker: "TwoLegWalker", stand: Stand, goal: float, forward: bool) -> list[Footstep]:
    """Every footstep worth trying: either foot, some lengths, and those that end just at an edge, or where the goal wants the foot."""
    stride, foot_length = float(walker.gait.stride), float(walker.foot_length)
    sign = -1.0 if forward else 1.0
    found = []
    for foot in (1, 2) if forward else (2, 1):
        ankle, other = (stand.x1, stand.x5) if foot == 1 else (stand.x5, stand.x1)
        inward = 1.0 if other > ankle else -1.0
        target = goal if foot == 1 else goal + float(walker.separation)
        lengths = {sign * stride * k / LENGTHS for k in range(1, LENGTHS + 1)}
        lengths.add(target - ankle)
        for edge in getattr(walker.terrain, "edges", ()):
            for hang in (0.0, float(walker.overhang)):
                # Ankle at the edge, or toe at it; with as much over it as is allowed; on either side.
                lengths |= {
                    -edge + side * hang - reach - ankle for side in (-1.0, 0.0, 1.0) for reach in (0.0, inward * foot_length)
                }
        worth_it = sorted((d for d in lengths if GRAIN < sign * d <= stride * (1 + 1e-9)), key=abs, reverse=True)
        found += [_footstep(walker, stand, foot, across) for across in worth_it]
    return found


def _footstep(walker: "TwoLegWalker", stand: Stand, foot: int, across: float) -> Footstep:
    """To the highest ground under the foot where it lands."""
    moved_to = stand.after(Footstep(foot, across, 0.0, 0.0, 0.0))
    start_height = stand.y1 if foot == 1 else stand.y5
    landing = highest_between(walker, *sorted(foot_span(walker, foot, moved_to)))
    over = way_over(walker, foot, across, stand)
    return Footstep(foot, across, landing - start_height, stand.x5 - stand.x1, stand.y5 - stand.y1, 1.0, max(over, 0.0))


def _why_not(walker: "TwoLegWalker", step: Footstep, stand: Stand) -> str | None:
    """Out of reach, or in the way of the ground."""
    try:
        check_reach(walker, step, "")
    except ParameterError as error:
        return str(error).removeprefix(": ")
    return obstacle(walker, step, stand)
