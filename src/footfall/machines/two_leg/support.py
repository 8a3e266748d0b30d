"""Feet and links against the ground.

How much of a foot has ground under it, and what a footstep would cut into.

Elementwise: one footstep, or the same footstep of many designs.
"""

import functools
import itertools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from footfall.machines.parts.terrain.base import AbstractTerrain
from footfall.machines.two_leg.course import Footstep, Stand, lift_of
from footfall.numerics.scalar import Scalar

if TYPE_CHECKING:
    from footfall.machines.two_leg.walker import TwoLegWalker

#: Heights closer than this are the same [m].
LEVEL = 1e-9
#: Poses looked at along each move.
POSES = 17


class Build(NamedTuple):
    """What of a walker its ground is asked about."""

    link_length: Scalar
    foot_length: Scalar
    overhang: Scalar
    lift: Scalar

    @staticmethod
    def of(walker: "TwoLegWalker") -> "Build":
        return Build(walker.link_length, walker.foot_length, walker.overhang, walker.gait.lift)


def foot_span(build: Build, foot: int, stand: Stand) -> tuple[Scalar, Scalar]:
    """Where the foot begins (its ankle) and ends, along the model's x. Feet point at each other."""
    ankle, other = (stand.x1, stand.x5) if foot == 1 else (stand.x5, stand.x1)
    return ankle, ankle + np.where(np.greater(other, ankle), 1.0, -1.0) * build.foot_length


def ground_under(
    build: Build, ground: AbstractTerrain, foot: int, stand: Stand
) -> tuple[Scalar, Scalar]:
    """(from, to) of the ground under a foot at its own height.

    From its ankle towards the other foot; nothing, (0, 0), where there is none.
    """
    height = stand.y1 if foot == 1 else stand.y5
    ankle, toe = foot_span(build, foot, stand)
    # House frame, forward positive.
    behind, ahead = (np.minimum(-ankle, -toe), np.maximum(-ankle, -toe))
    first, last = np.inf + 0.0 * behind, -np.inf + 0.0 * behind
    for a, b, level in ground.pieces():
        there = (np.abs(level - height) < LEVEL) & (np.minimum(b, ahead) > np.maximum(a, behind))
        first = np.where(there, np.minimum(first, np.maximum(a, behind)), first)
        last = np.where(there, np.maximum(last, np.minimum(b, ahead)), last)
    some = last > first
    one, two = (np.abs(ankle + np.where(some, end, -ankle)) for end in (first, last))
    return np.minimum(one, two), np.maximum(one, two)


def highest_between(ground: AbstractTerrain, left: Scalar, right: Scalar) -> Scalar:
    """The highest ground from `left` to `right` (model's x)."""
    low, high = -np.asarray(right, float), -np.asarray(left, float)
    found = -np.inf + 0.0 * low
    for a, b, level in ground.pieces():
        found = np.where((b > low + LEVEL) & (a < high - LEVEL), np.maximum(found, level), found)
    return found


def way_over(
    build: Build, ground: AbstractTerrain, foot: int, across: Scalar, stand: Stand
) -> Scalar:
    """The highest ground under the way of a foot, above where it stands."""
    ankle, toe = foot_span(build, foot, stand)
    ends = (ankle, toe, ankle + across, toe + across)
    left, right = (functools.reduce(pick, ends) for pick in (np.minimum, np.maximum))
    return highest_between(ground, left, right) - (stand.y1 if foot == 1 else stand.y5)


class Footing(NamedTuple):
    """A footstep against the ground, from where the feet stand to where one lands."""

    ankle: Scalar  #: where it lands
    height: Scalar
    ground: Scalar  #: highest under it there
    hanging: Scalar  #: how much of it has no ground under it
    holds: Scalar  #: whether any has
    up: Scalar  #: how high it is lifted
    over: Scalar  #: highest ground on its way

    def blocked(self, build: Build) -> Scalar:
        """Whether it cannot be made. Links are looked at apart."""
        inside = self.ground > self.height + LEVEL
        return (
            inside
            | ~self.holds
            | (self.hanging > build.overhang + LEVEL)
            | (self.over > self.up - LEVEL)
        )


def footing(
    build: Build, ground: AbstractTerrain, foot: int, step: Footstep, stand: Stand
) -> Footing:
    after = stand.after(step._replace(foot=foot))
    ankle, toe = foot_span(build, foot, after)
    low, high = ground_under(build, ground, foot, after)
    return Footing(
        ankle,
        after.y1 if foot == 1 else after.y5,
        highest_between(ground, np.minimum(ankle, toe), np.maximum(ankle, toe)),
        build.foot_length - (high - low),
        high > low,
        lift_of(build.lift, step),
        way_over(build, ground, foot, step.across, stand),
    )


def obstacle(walker: "TwoLegWalker", step: Footstep, stand: Stand) -> str | None:
    """Why a footstep cannot be made on this ground, in words with the place and the nearest remedy.

    None if it can.
    """
    build = Build.of(walker)
    f = footing(build, walker.terrain, int(step.foot), step, stand)
    where = f"foot {step.foot:g} lands at x = {f.ankle:.4g} m"
    if f.ground > f.height + LEVEL:
        return (
            f"{where}, {1e3 * f.height:.4g} mm high, where the ground under it rises to"
            f" {1e3 * f.ground:.4g} mm: the foot would cut into the step. End the walk before the"
            " edge, or climb."
        )
    if not f.holds:
        remedy = (
            "terrain.edges, terrain.heights"
            if len(walker.terrain.pieces()) > 1
            else "it is level: terrain=steps has edges and heights"
        )
        return (
            f"{where}, {1e3 * f.height:.4g} mm high, where there is no ground at that height"
            f" ({remedy})."
        )
    if f.hanging > build.overhang + LEVEL:
        return (
            f"{where} with {1e3 * f.hanging:.4g} mm of it over the edge;"
            f" {1e3 * float(build.overhang):.4g} mm are allowed (robot.overhang)."
        )
    if f.over > f.up - LEVEL:
        return (
            f"foot {step.foot:g} is lifted {1e3 * f.up:.4g} mm, and ground {1e3 * f.over:.4g} mm"
            " above it is in its way. Lift it higher (gait.lift)."
        )
    return _cut_link(build, walker.terrain, step, stand)


def unfit_start(walker: "TwoLegWalker", stand: Stand) -> str | None:
    """Why the feet cannot stand where a route begins; None if they can."""
    build = Build.of(walker)
    for foot, ankle in ((1, stand.x1), (2, stand.x5)):
        ends = np.sort(foot_span(build, foot, stand))
        if highest_between(walker.terrain, *ends) > LEVEL:
            return (
                f"foot {foot}, which starts at x = {ankle:.4g} m, would stand inside a step"
                " (terrain.edges are forward of foot 1's start)."
            )
        low, high = ground_under(build, walker.terrain, foot, stand)
        hanging = float(build.foot_length - (high - low))
        if hanging > float(build.overhang) + LEVEL:
            return (
                f"foot {foot} starts with {1e3 * hanging:.4g} mm of it over an edge;"
                f" {1e3 * float(build.overhang):.4g} mm are allowed."
            )
    return None


# --- links ----------------------------------------------------------------------------------------


def _cut_link(build: Build, ground: AbstractTerrain, step: Footstep, stand: Stand) -> str | None:
    """A link that would pass through the ground."""
    # Here, because moves of a footstep need no ground.
    from footfall.machines.two_leg.moves import MOVES

    below = links_below(build, ground, int(step.foot), step, stand)
    if below.max() <= LEVEL:
        return None
    move, link, *_ = np.unravel_index(np.argmax(below), below.shape)
    return (
        f"link {link + 1} would pass {1e3 * below.max():.3g} mm deep through the ground while the"
        f" foot goes {MOVES[move]}."
    )


def links_below(
    build: Build, ground: AbstractTerrain, foot: int, step: Footstep, stand: Stand
) -> np.ndarray:
    """How deep each link is below the ground, in poses along each move.

    (moves, links, places, poses, *designs).

    Ground is level between edges and links are straight, so a link is deepest at one of its ends or
    above a corner: those are the places.
    """
    L = np.asarray(build.link_length, float)
    up = lift_of(build.lift, step)
    zero = 0.0 * (up + step.across + stand.x1)
    ways_x, ways_y = (
        (zero, zero, zero + step.across, zero + step.across),
        (zero, zero + up, zero + up, zero + step.rise),
    )
    s = np.linspace(0.0, 1.0, POSES).reshape(-1, *(1,) * np.ndim(zero))
    mine, other = (1.0, 0.0) if foot == 1 else (0.0, 1.0)
    found = []
    for move in range(3):
        dx = ways_x[move] * (1 - s) + ways_x[move + 1] * s
        dy = ways_y[move] * (1 - s) + ways_y[move + 1] * s
        one = (stand.x1 + mine * dx, stand.y1 + mine * dy)
        five = (stand.x5 + other * dx, stand.y5 + other * dy)
        wx, wy = five[0] - one[0], five[1] - one[1]
        span = np.hypot(wx, wy)
        sag = np.sqrt(np.maximum(L * L - 0.25 * span * span, 0.0)) * np.sign(wx) / span  # knee up
        two, four = (one[0], one[1] + L), (five[0], five[1] + L)
        three = (0.5 * (two[0] + four[0]) - sag * wy, 0.5 * (two[1] + four[1]) + sag * wx)
        points = (one, two, three, four, five)
        ends = [_height(ground, x) - y for x, y in points]
        found.append(
            np.stack(
                [
                    np.stack(
                        [
                            ends[k],
                            ends[k + 1],
                            *(
                                _above(corner, points[k], points[k + 1])
                                for corner in _corners(ground)
                            ),
                        ]
                    )
                    for k in range(4)
                ]
            )
        )
    return np.stack(found)


def _corners(ground: AbstractTerrain) -> list[tuple[float, float]]:
    """Upper ends of the faces of steps, in the model's plane."""
    pieces = ground.pieces()
    return [(-b, max(level, nxt)) for (_, b, level), (_, _, nxt) in itertools.pairwise(pieces)]


def _above(
    corner: tuple[float, float], a: tuple[np.ndarray, np.ndarray], b: tuple[np.ndarray, np.ndarray]
) -> np.ndarray:
    """How far a corner stands out above a link from a to b.

    Far below where the link does not pass over it.
    """
    x, y = corner
    width = b[0] - a[0]
    share = (x - a[0]) / np.where(width == 0, 1.0, width)
    passes = (width != 0) & (share > 0) & (share < 1)
    return np.where(passes, y - (a[1] + share * (b[1] - a[1])), -np.inf)


def _height(ground: AbstractTerrain, x: np.ndarray) -> Any:
    """Of the ground at places along the model's x.

    At the face of a step, the lower side: to touch it is not to cut it.
    """
    begins, _, heights = (np.array(values) for values in zip(*ground.pieces(), strict=True))
    behind, ahead = (heights[np.searchsorted(begins[1:], -x + by)] for by in (-LEVEL, LEVEL))
    return np.minimum(behind, ahead)
