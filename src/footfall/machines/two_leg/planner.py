"""Foothold by foothold over steps.

The fewest footsteps that lead to a goal, found by a search over where feet may stand.
"""

import heapq
import itertools
import math
from typing import TYPE_CHECKING

import numpy as np

from footfall.hybrid.fields import ParameterError
from footfall.machines.two_leg.course import Footstep, Stand
from footfall.machines.two_leg.reach import check_reach, out_of_reach
from footfall.machines.two_leg.support import (
    LEVEL,
    Build,
    foot_span,
    footing,
    highest_between,
    links_below,
    obstacle,
    way_over,
)

if TYPE_CHECKING:
    from footfall.machines.two_leg.walker import TwoLegWalker

#: A stride is tried in this many lengths, besides those that end at an edge or at the goal.
LENGTHS = 8
#: A search that has looked at this many stands without arriving gives up.
MOST_STANDS = 20_000
#: A foot that is put at an edge is put this far to one side of it [m].
INSIDE = 1e-3
#: Stands closer than this are the same [m].
GRAIN = 1e-4


def plan_to(walker: "TwoLegWalker", stand: Stand, goal: float) -> list[Footstep]:
    """Footsteps until foot 1 is at x = `goal`, the feet their usual distance apart and level.

    Raises ParameterError, naming how far it gets.

    Best first (A*): footsteps made, plus the least number still needed; of equally good ones that
    which is further on, then that which has kept the feet nearer to their usual distance.
    """
    apart, stride = float(walker.separation), float(walker.gait.stride)
    forward = goal < stand.x1

    def steps_left(s: Stand) -> float:
        """At least this many: each footstep brings one foot nearer by a stride at most."""
        return sum(
            math.ceil(abs(way) / stride - 1e-9) for way in (goal - s.x1, goal + apart - s.x5)
        )

    order = itertools.count()
    heap = [(steps_left(stand), 0.0, 0.0, next(order), stand)]
    best: dict[tuple[int, ...], float] = {_key(stand): 0.0}
    parents: dict[tuple[int, ...], tuple[Stand, Footstep]] = {}
    nearest_to, looked = stand, 0
    while heap:
        _, _, untidy, _, here = heapq.heappop(heap)
        if (
            abs(here.x1 - goal) < GRAIN
            and abs(here.x5 - goal - apart) < GRAIN
            and abs(here.y5 - here.y1) < LEVEL
        ):
            return _trace(parents, here, stand)
        looked += 1
        if looked > MOST_STANDS:
            raise ParameterError(
                f'"go_to {goal:g}": {MOST_STANDS} places to stand were looked at and none was the'
                f" goal; the nearest has foot 1 at x = {nearest_to.x1:.4g} m. A longer stride"
                f" (gait.stride = {1e3 * stride:.4g} mm), or a nearer goal on the way, needs"
                " fewer.",
                "route",
            )
        if abs(here.x1 - goal) < abs(nearest_to.x1 - goal):
            nearest_to = here
        made = best[_key(here)]
        for step in _footsteps(walker, here, goal, forward):
            there = here.after(step)
            count = made + 1
            if count >= best.get(_key(there), math.inf):
                continue
            best[_key(there)] = count
            parents[_key(there)] = (here, step)
            strain = (
                untidy
                + abs(there.x5 - there.x1 - apart)
                + 0.1 * float(walker.gait.lift + max(step.over, step.rise, 0.0))
            )
            heapq.heappush(heap, (count + steps_left(there), -count, strain, next(order), there))
    tried = [
        _why_not(walker, step, nearest_to) for step in _tries(walker, nearest_to, goal, forward)
    ]
    problem = next((why for why in tried if why is not None), None)
    said = f" From there: {problem}" if problem else ""
    if stride <= GRAIN:
        said = (
            f" A stride of {1e3 * stride:.3g} mm is below the {1e3 * GRAIN:g} mm that places are"
            " told apart by."
        )
    gap = _widest_gap(walker, stand.x1, goal)
    if gap:  # more to the point than any one footstep
        said = (
            f" The widest gap on the way is {1e3 * gap:.4g} mm; a stride reaches {1e3 * stride:.4g}"
            f" mm, and {1e3 * float(walker.overhang):.4g} mm of a foot may hang over."
        )
    raise ParameterError(
        f'"go_to {goal:g}": no footsteps lead there among the places tried. The nearest place'
        f" reached has foot 1 at x = {nearest_to.x1:.4g} m, {1e3 * nearest_to.y1:.4g} mm high, and"
        f" foot 2 at {nearest_to.x5:.4g} m.{said}",
        "route",
    )


def _widest_gap(walker: "TwoLegWalker", start: float, goal: float) -> float:
    """Of the pieces of ground between start and goal that lie lower than both their neighbours."""
    pieces = walker.terrain.pieces()
    low, high = sorted((-start, -goal))
    widths = [
        b - a
        for (_, _, before), (a, b, level), (_, _, after) in zip(
            pieces, pieces[1:], pieces[2:], strict=False
        )
        if level < min(before, after) and b > low and a < high
    ]
    return max(widths, default=0.0)


def _key(stand: Stand) -> tuple[int, ...]:
    return tuple(round(v / GRAIN) for v in stand)


def _trace(parents: dict, here: Stand, start: Stand) -> list[Footstep]:
    steps = []
    while _key(here) != _key(start):
        here, step = parents[_key(here)]
        steps.append(step)
    return steps[::-1]


def _lengths(
    walker: "TwoLegWalker", stand: Stand, foot: int, goal: float, forward: bool
) -> np.ndarray:
    """Signed lengths worth trying, longest first.

    Some shares of a stride, those that end just at an edge, or where the goal wants the foot.
    """
    stride, foot_length = float(walker.gait.stride), float(walker.foot_length)
    sign = -1.0 if forward else 1.0
    ankle, other = (stand.x1, stand.x5) if foot == 1 else (stand.x5, stand.x1)
    inward = 1.0 if other > ankle else -1.0
    target = goal if foot == 1 else goal + float(walker.separation)
    lengths = {sign * stride * k / LENGTHS for k in range(1, LENGTHS + 1)}
    lengths.add(target - ankle)
    for edge, _, _ in walker.terrain.pieces()[1:]:
        # Ankle or toe at the edge, a little to either side of it (what only touches a piece does
        # not stand on it), or with as much over it as is allowed.
        aside = (0.0, INSIDE, float(walker.overhang), float(walker.overhang) - INSIDE)
        lengths |= {
            float(-edge + side * by - reach - ankle)
            for by in aside
            for side in (-1.0, 1.0)
            for reach in (0.0, inward * foot_length)
        }
    return np.array(
        sorted(
            (d for d in lengths if GRAIN < sign * d <= stride * (1 + 1e-9)), key=abs, reverse=True
        )
    )


def _made(walker: "TwoLegWalker", stand: Stand, foot: int, across: np.ndarray) -> Footstep:
    """To the highest ground under the foot where it lands; an array of footsteps."""
    build = Build.of(walker)
    moved_to = stand.after(Footstep(foot, across, 0.0, 0.0, 0.0))
    start_height = stand.y1 if foot == 1 else stand.y5
    ends = np.sort(np.broadcast_arrays(*foot_span(build, foot, moved_to)), axis=0)
    rise = highest_between(walker.terrain, ends[0], ends[1]) - start_height
    over = np.maximum(way_over(build, walker.terrain, foot, across, stand), 0.0)
    return Footstep(foot, across, rise, stand.x5 - stand.x1, stand.y5 - stand.y1, 1.0, over)


def _tries(walker: "TwoLegWalker", stand: Stand, goal: float, forward: bool) -> list[Footstep]:
    """Every footstep worth trying, either foot."""
    return [
        step
        for foot in (1, 2)
        for step in _each(_made(walker, stand, foot, _lengths(walker, stand, foot, goal, forward)))
    ]


def _each(steps: Footstep, which: np.ndarray | None = None) -> list[Footstep]:
    rows = np.arange(len(np.atleast_1d(steps.across))) if which is None else np.flatnonzero(which)
    return [
        steps._replace(
            across=float(steps.across[i]), rise=float(steps.rise[i]), over=float(steps.over[i])
        )
        for i in rows
    ]


def _footsteps(walker: "TwoLegWalker", stand: Stand, goal: float, forward: bool) -> list[Footstep]:
    """Those that reach, land on ground, and cut into none."""
    build, found = Build.of(walker), []
    for foot in (1, 2) if forward else (2, 1):
        across = _lengths(walker, stand, foot, goal, forward)
        if not across.size:
            continue
        steps = _made(walker, stand, foot, across)
        stretched, meet = out_of_reach(walker, steps)
        good = (
            ~stretched & ~meet & ~footing(build, walker.terrain, foot, steps, stand).blocked(build)
        )
        rows = np.flatnonzero(good)
        if rows.size and len(walker.terrain.pieces()) > 1:
            some = steps._replace(across=across[rows], rise=steps.rise[rows], over=steps.over[rows])
            good[rows] = (
                links_below(build, walker.terrain, foot, some, stand).max(axis=(0, 1, 2, 3))
                <= LEVEL
            )
        found += _each(steps, good)
    return found


def _why_not(walker: "TwoLegWalker", step: Footstep, stand: Stand) -> str | None:
    """Out of reach, or in the way of the ground."""
    try:
        check_reach(walker, step, "")
    except ParameterError as error:
        return str(error).removeprefix(": ")
    return obstacle(walker, step, stand)
