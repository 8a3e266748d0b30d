"""Whole plans of many designs over the ground at once.

Where each foot lands, whether it may, and how its support holds.

A single walker is checked in words before it moves (two_leg_route). Thousands are checked here,
footstep by footstep, as arrays over designs.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from footfall.hybrid.outcome import Outcome
from footfall.machines.two_leg.course import Footstep, Stand
from footfall.machines.two_leg.figures import Figures
from footfall.machines.two_leg.reach import out_of_reach
from footfall.machines.two_leg.support import (
    LEVEL,
    Build,
    footing,
    ground_under,
    highest_between,
    links_below,
)

if TYPE_CHECKING:
    from footfall.machines.two_leg.walker import TwoLegWalker


class Walked(NamedTuple):
    """What became of each design."""

    outcome: np.ndarray
    # m, least distance of the zero-moment point from the ends of the ground under the foot that
    # stands
    static_margin: np.ndarray
    margin: np.ndarray


def walk_over(
    walker: "TwoLegWalker", steps: Footstep, each: Figures, groups: Sequence[Sequence[int]]
) -> Walked:
    """Go through the plan.

    `steps` and `each` have footsteps on their first axis and designs on their second; the footsteps
    of a group are made one after another, and the group as often as its first one says.

    A design whose plan would be refused is `unreachable` or `blocked`. Else the first footstep that
    tips, lifts off or overloads a motor decides, in this order where it is the same footstep; a
    run, which knows the instant, may name another of the three.
    """
    lanes = np.shape(steps.foot)[1]
    limit = np.broadcast_to(np.asarray(walker.motor.limit, float), (lanes,))
    side = each.dynamic if walker.dynamics == "full" else each.static
    outcome = np.full(lanes, int(Outcome.arrived))
    refused = np.zeros(lanes, bool)
    margins = [np.full(lanes, np.inf), np.full(lanes, np.inf)]
    for now in _footfalls(walker, steps, groups):
        row, made = now.row, now.made
        stretched, meet = out_of_reach(walker, now.step)
        far = stretched | meet
        refuse = made & (far | _blocked(walker, now))
        outcome = np.where(
            refuse & ~refused,
            np.where(far, int(Outcome.unreachable), int(Outcome.blocked)),
            outcome,
        )
        refused |= refuse
        low, high = ground_under(now.build, walker.terrain, 3 - now.foot, now.stand)
        rooms = []
        for s, one in enumerate((each.static, each.dynamic)):
            room = np.minimum(
                np.asarray(one.least_zmp)[row] - low, high - np.asarray(one.most_zmp)[row]
            )
            margins[s] = np.where(made, np.minimum(margins[s], room), margins[s])
            rooms.append(room)
        going = made & ~refused & (outcome == Outcome.arrived)
        torque = np.max([np.asarray(q)[row] for q in side.peak_torque], axis=0)
        ends = []
        if walker.feet == "free":
            room = rooms[1] if walker.dynamics == "full" else rooms[0]
            pulls = (
                np.asarray(each.least_pressure)[row] < 0
                if walker.dynamics == "full"
                else np.zeros(lanes, bool)
            )
            ends += [(room < 0, Outcome.tipped_over), (pulls, Outcome.lifted_off)]
        for happens, what in reversed([*ends, (torque > limit, Outcome.overloaded)]):
            outcome = np.where(going & happens, int(what), outcome)
    pulled = (
        np.min(
            np.where(np.asarray(steps.times) > 0, np.asarray(each.least_pressure), np.inf), axis=0
        )
        <= 0
    )
    # Where the ground would have to pull, there is no point that the force goes through.
    return Walked(outcome.astype(np.int8), margins[0], np.where(pulled, np.nan, margins[1]))


def refused_by_ground(
    walker: "TwoLegWalker", steps: Footstep, groups: Sequence[Sequence[int]]
) -> np.ndarray:
    """Whether the ground is in the way of each design, or not under a foot."""
    refused = np.zeros(np.shape(steps.foot)[1], bool)
    for now in _footfalls(walker, steps, groups):
        now = now._replace(made=now.made & ~refused)
        refused |= _blocked(walker, now)
    return refused


class _Now(NamedTuple):
    """One footstep of every design that makes it."""

    row: int
    foot: int
    step: Footstep
    stand: Stand  #: before it
    made: np.ndarray
    build: Build


def _footfalls(
    walker: "TwoLegWalker", steps: Footstep, groups: Sequence[Sequence[int]]
) -> Iterator[_Now]:
    lanes = np.shape(steps.foot)[1]
    build = Build(*(np.broadcast_to(np.asarray(v, float), (lanes,)) for v in Build.of(walker)))
    apart = np.broadcast_to(np.asarray(walker.separation, float), (lanes,))
    stand = Stand(np.zeros(lanes), np.zeros(lanes), apart.copy(), np.zeros(lanes))
    for group in groups:
        for turn in range(int(np.max(np.asarray(steps.times)[group[0]]))):
            for row in group:
                step = Footstep(*(np.asarray(v)[row] for v in steps))
                made = step.times > turn
                foot = int(step.foot[np.argmax(made)])
                yield _Now(row, foot, step, stand, made, build)
                after = stand.after(step._replace(foot=foot))
                stand = Stand(
                    *(np.where(made, new, old) for new, old in zip(after, stand, strict=True))
                )


def _blocked(walker: "TwoLegWalker", now: _Now) -> np.ndarray:
    """Feet first; links only where ground that is higher than a foot is near enough to be in their
    way.
    """
    build, foot, step, stand = now.build, now.foot, now.step, now.stand
    f = footing(build, walker.terrain, foot, step, stand)
    found = f.blocked(build) & now.made
    if len(walker.terrain.pieces()) == 1:
        return found
    xs = np.stack([stand.x1, stand.x5, f.ankle])
    room = build.link_length  # a knee may stand out over the feet
    highest = highest_between(walker.terrain, xs.min(axis=0) - room, xs.max(axis=0) + room)
    lowest = np.minimum(np.minimum(stand.y1, stand.y5), f.height)
    look = np.flatnonzero(now.made & ~found & (highest > lowest + LEVEL))
    if look.size:
        pick = lambda struct: type(struct)(*(np.asarray(v)[look] for v in struct))  # noqa: E731
        below = links_below(pick(build), walker.terrain, foot, pick(step), pick(stand))
        found[look] = below.max(axis=(0, 1, 2, 3)) > LEVEL
    return found
