"""The footsteps of a two-leg walker: which foot goes where, in order, as a table.

A footstep lifts one foot, carries it across and puts it down: three moves. Every step of a walk is
two footsteps, the leading foot's and the other's, and ends as it began, so equal steps need to be
computed only once. Positions are in the model's plane, x to the right.
"""

import dataclasses
import math
from typing import NamedTuple

import numpy as np

from footfall.numerics.namespace import namespace
from footfall.numerics.scalar import Scalar

#: A remainder shorter than this share of a stride is rounding, not a step.
SLACK = 1e-9


class Footstep(NamedTuple):
    """One foot's step, from where the two feet stand.

    Numbers, or arrays over footsteps or designs.
    """

    foot: Scalar  #: 1 or 2: the one that moves
    across: Scalar  #: signed distance along x
    rise: Scalar  #: of its foothold
    apart: Scalar  #: x5 - x1 at its begin
    above: Scalar  #: y5 - y1 at its begin
    times: Scalar = 1.0  #: how often it is made
    over: Scalar = 0.0  #: highest ground on its way, above where it begins
    lift: Scalar = 0.0  #: how high it is lifted, where the route says so; 0: by the gait


def lift_of(usual: Scalar, step: Footstep) -> Scalar:
    """How high a foot is lifted above where it begins: `usual` above all that is on its way.

    Or as high as the route says. Elementwise.
    """
    xp = namespace(usual, *step)
    own = usual + xp.maximum(xp.maximum(step.rise, step.over), 0.0)
    return xp.where(step.lift > 0, step.lift, own)


class Stand(NamedTuple):
    """Where the feet are."""

    x1: Scalar
    y1: Scalar
    x5: Scalar
    y5: Scalar

    def after(self, step: Footstep) -> "Stand":
        if step.foot == 1:
            return self._replace(x1=self.x1 + step.across, y1=self.y1 + step.rise)
        return self._replace(x5=self.x5 + step.across, y5=self.y5 + step.rise)


def one_step(
    across: Scalar, rise: Scalar, apart: Scalar, forward: bool, times: Scalar = 1.0
) -> tuple[Footstep, Footstep]:
    """Both feet, the leading one first: foot 1 towards -x (`forward`), foot 2 towards +x.

    They end as far apart as they began.
    """
    lead, follow = (1, 2) if forward else (2, 1)
    sign = -1.0 if forward else 1.0
    wide, level = apart + sign * across, sign * rise
    return Footstep(lead, across, rise, apart, 0.0, times), Footstep(
        follow, across, rise, wide, level, times
    )


class Walk(NamedTuple):
    """How a walk is laid out."""

    forward: bool
    count: Scalar  #: steps, the last of which may be shorter


def lay_out(distance: Scalar, stride: Scalar, forward: bool) -> Walk:
    """As many steps as are needed, full ones but for the last. Elementwise, of numbers."""
    return Walk(forward, np.ceil(np.abs(distance) / stride - SLACK))


def walk_blocks(distance: Scalar, stride: Scalar, apart: Scalar, walk: Walk) -> list[Footstep]:
    """A walk over a distance of the sign that `walk.forward` says.

    N - 1 full steps and a last one of what remains. Elementwise, and smooth in distance and stride
    while the number of steps stays the same.
    """
    sign, some = -1.0 if walk.forward else 1.0, 1.0 * (walk.count > 0)
    before = (walk.count - 1.0) * some
    last = some * (sign * distance - before * stride) + (1.0 - some) * stride
    full = one_step(sign * stride, 0.0, apart, walk.forward, before)
    rest = one_step(sign * last, 0.0, apart, walk.forward, some)
    return [*full, *rest]


@dataclasses.dataclass(frozen=True)
class Verb:
    """One entry of a route."""

    name: str  #: one of VERBS
    value: float

    def __str__(self) -> str:
        return f"{self.name} {self.value:g}"


VERBS = {
    "walk": "walk a signed distance",
    "walk_to": "walk until foot 1 is at x",
    "climb": "one step up (or down, negative) by a height",
    "go_to": "plan footsteps over the terrain until foot 1 is at x",
    "lift_left": "lift foot 1 straight up, or put it down (negative)",
    "step_left": "carry foot 1, which is lifted, a signed distance",
    "lift_right": "lift foot 2 straight up, or put it down (negative)",
    "step_right": "carry foot 2, which is lifted, a signed distance",
}


def expanded(blocks: list[Footstep]) -> list[Footstep]:
    """Every footstep once, in order: blocks of equal steps written out. Concrete numbers only."""
    rows: list[Footstep] = []
    for lead, follow in zip(blocks[::2], blocks[1::2], strict=True):
        rows += [
            step._replace(times=1.0)
            for _ in range(round(float(lead.times)))
            for step in (lead, follow)
        ]
    return rows


def direction(value: float) -> bool:
    """Whether a signed distance is forward, towards -x."""
    return math.copysign(1.0, value) < 0
