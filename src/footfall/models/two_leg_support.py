"""Feet and links against the ground: how much of a foot has ground under it, and what a footstep would cut into."""

from typing import TYPE_CHECKING

import numpy as np

from footfall.models.two_leg_course import Footstep, Stand
from footfall.parts.terrain.steps import Steps

if TYPE_CHECKING:
    from footfall.models.two_leg_walker import TwoLegWalker

#: Heights closer than this are the same [m].
LEVEL = 1e-9
#: Poses looked at along each move, and points along each link.
POSES, POINTS = 9, 9


def foot_span(walker: "TwoLegWalker", foot: int, stand: Stand) -> tuple[float, float]:
    """Where the foot begins (its ankle) and ends, along the model's x. Feet point at each other."""
    ankle, other = (stand.x1, stand.x5) if foot == 1 else (stand.x5, stand.x1)
    inward = 1.0 if other > ankle else -1.0
    return ankle, ankle + inward * float(walker.foot_length)


def supported(walker: "TwoLegWalker", step: Footstep, stand: Stand) -> tuple[float, float]:
    """(from, to) of the ground under the foot that stands during a footstep, from its ankle towards the other foot."""
    return ground_under(walker, 2 if step.foot == 1 else 1, stand)


def ground_under(walker: "TwoLegWalker", foot: int, stand: Stand) -> tuple[float, float]:
    """The part of a foot that has ground under it at its own height; nothing, (0, 0), where there is none.

    Of ground that is not in steps: all of the foot, if that is how high it stands.
    """
    height = stand.y1 if foot == 1 else stand.y5
    if not isinstance(walker.terrain, Steps):
        return 0.0, float(walker.foot_length) if abs(float(walker.terrain.height(0.0)) - height) < LEVEL else 0.0
    ankle, toe = foot_span(walker, foot, stand)
    behind, ahead = sorted((-ankle, -toe))  # house frame, forward positive
    spans = [
        (max(a, behind), min(b, ahead))
        for a, b, level in walker.terrain.pieces()
        if abs(level - height) < LEVEL and min(b, ahead) > max(a, behind)
    ]
    if not spans:
        return 0.0, 0.0
    ends = sorted((abs(ankle + spans[0][0]), abs(ankle + spans[-1][1])))
    return ends[0], ends[1]


def highest_between(walker: "TwoLegWalker", left: float, right: float) -> float:
    """The highest ground from `left` to `right` (model's x)."""
    if not isinstance(walker.terrain, Steps):
        return float(np.max(np.asarray(walker.terrain.height(-np.array([left, right])))))
    low, high = -right, -left
    return max(level for a, b, level in walker.terrain.pieces() if b > low + LEVEL and a < high - LEVEL)


def way_over(walker: "TwoLegWalker", foot: int, across: float, stand: Stand) -> float:
    """The highest ground under the way of a foot, above where it stands."""
    ankle, toe = foot_span(walker, foot, stand)
    ends = (ankle, toe, ankle + across, toe + across)
    return highest_between(walker, min(ends), max(ends)) - (stand.y1 if foot == 1 else stand.y5)


def obstacle(walker: "TwoLegWalker", step: Footstep, stand: Stand) -> str | None:
    """Why a footstep cannot be made on this ground, in words with the place and the nearest remedy; None if it can."""
    after = stand.after(step)
    height = after.y1 if step.foot == 1 else after.y5
    ankle, toe = foot_span(walker, int(step.foot), after)
    where = f"foot {step.foot:g} lands at x = {ankle:.4g} m"
    ground = highest_between(walker, *sorted((ankle, toe)))
    if ground > height + LEVEL:
        return (
            f"{where}, {1e3 * height:.4g} mm high, where the ground under it rises to {1e3 * ground:.4g} mm: the foot would cut into the"
            " step. End the walk before the edge, or climb."
        )
    low, high = ground_under(walker, int(step.foot), after)
    hanging = float(walker.foot_length) - (high - low)
    if high - low <= 0:
        remedy = (
            "terrain.edges, terrain.heights"
            if isinstance(walker.terrain, Steps)
            else "it is level: terrain=steps has edges and heights"
        )
        return f"{where}, {1e3 * height:.4g} mm high, where there is no ground at that height ({remedy})."
    if hanging > float(walker.overhang) + LEVEL:
        return f"{where} with {1e3 * hanging:.4g} mm of it over the edge; {1e3 * float(walker.overhang):.4g} mm are allowed (robot.overhang)."
    up = float(walker.gait.lift) + max(float(step.rise), float(step.over), 0.0)
    over = way_over(walker, int(step.foot), float(step.across), stand)
    if over > up - LEVEL:
        return f"foot {step.foot:g} is lifted {1e3 * up:.4g} mm, and ground {1e3 * over:.4g} mm above it is in its way. Lift it higher (gait.lift)."
    return _cut_link(walker, step, stand)


def unfit_start(walker: "TwoLegWalker", stand: Stand) -> str | None:
    """Why the feet cannot stand where a route begins; None if they can."""
    for foot, ankle in ((1, stand.x1), (2, stand.x5)):
        ends = sorted(foot_span(walker, foot, stand))
        if highest_between(walker, *ends) > LEVEL:
            return f"foot {foot}, which starts at x = {ankle:.4g} m, would stand inside a step (terrain.edges are forward of foot 1's start)."
        low, high = ground_under(walker, foot, stand)
        hanging = float(walker.foot_length) - (high - low)
        if hanging > float(walker.overhang) + LEVEL:
            return f"foot {foot} starts with {1e3 * hanging:.4g} mm of it over an edge; {1e3 * float(walker.overhang):.4g} mm are allowed."
    return None


def _cut_link(walker: "TwoLegWalker", step: Footstep, stand: Stand) -> str | None:
    """A link that would pass through the ground."""
    from footfall.models.two_leg_moves import MOVES  # here, because moves of a footstep need no ground

    for move, name in enumerate(MOVES):
        points = _links_during(walker, step, stand, move)  # (links, poses, points, 2)
        below = _height(walker, points[..., 0]) - points[..., 1]
        if below.max() > LEVEL:
            link = int(np.unravel_index(np.argmax(below), below.shape)[0]) + 1
            return f"link {link} would pass {1e3 * below.max():.3g} mm deep through the ground while the foot goes {name}."
    return None


def _height(walker: "TwoLegWalker", x: np.ndarray) -> np.ndarray:
    """Of the ground at places along the model's x, in NumPy. At the face of a step, the lower side: to touch it is not to cut it."""
    if not isinstance(walker.terrain, Steps):
        return np.asarray(walker.terrain.height(-x))
    levels = np.array([0.0, *walker.terrain.heights])
    behind, ahead = (levels[np.searchsorted(np.array(walker.terrain.edges), -x + by)] for by in (-LEVEL, LEVEL))
    return np.minimum(behind, ahead)


def _links_during(walker: "TwoLegWalker", step: Footstep, stand: Stand, move: int) -> np.ndarray:
    """Points along every link in poses along one move. NumPy: a plan looks at thousands of footsteps."""
    L, lift = float(walker.link_length), float(walker.gait.lift)
    up = lift + max(float(step.rise), float(step.over), 0.0)
    ways = [(0.0, 0.0), (0.0, up), (float(step.across), up), (float(step.across), float(step.rise))]
    s = np.linspace(0.0, 1.0, POSES)[:, None]
    offset = np.array(ways[move]) * (1 - s) + np.array(ways[move + 1]) * s
    one = np.array([stand.x1, stand.y1]) + (offset if step.foot == 1 else 0.0 * offset)
    five = np.array([stand.x5, stand.y5]) + (offset if step.foot == 2 else 0.0 * offset)
    way = five - one
    span = np.hypot(way[:, 0], way[:, 1])[:, None]
    sag = np.sqrt(np.maximum(L * L - 0.25 * span * span, 0.0))
    side = np.stack([-way[:, 1], way[:, 0]], axis=1) / span * np.sign(way[:, :1])  # knee up
    two, four = one + np.array([0.0, L]), five + np.array([0.0, L])
    three = 0.5 * (two + four) + sag * side
    along = np.linspace(0.0, 1.0, POINTS)[:, None, None]
    links = [a[None] * (1 - along) + b[None] * along for a, b in ((one, two), (two, three), (three, four), (four, five))]
    return np.stack([link.swapaxes(0, 1) for link in links])
