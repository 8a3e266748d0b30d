"""Whether the legs are long enough for a footstep."""

import functools
import math
from typing import TYPE_CHECKING

import numpy as np

from footfall.hybrid.fields import ParameterError
from footfall.machines.two_leg.course import Footstep, lift_of
from footfall.numerics.scalar import Scalar

if TYPE_CHECKING:
    from footfall.machines.two_leg.walker import TwoLegWalker

#: A knee straighter than this share of its full reach is singular: joint speeds grow without bound.
STRETCHED = 1e-6


def corners(walker: "TwoLegWalker", step: Footstep) -> list[tuple[Scalar, Scalar]]:
    """(u, v) of the feet at the four ends of a footstep's three moves.

    Nowhere between are they further apart. Elementwise.
    """
    sign = np.where(np.equal(step.foot, 1), -1.0, 1.0)
    up = lift_of(walker.gait.lift, step)
    ways = ((0.0, 0.0), (0.0, up), (step.across, up), (step.across, step.rise))
    return [(step.apart + sign * dx, step.above + sign * dy) for dx, dy in ways]


def out_of_reach(walker: "TwoLegWalker", step: Footstep) -> tuple[Scalar, Scalar]:
    """Whether a move stretches the knee, and whether it brings one foot onto the other.

    Elementwise.
    """
    full, ends = 2.0 * walker.link_length, corners(walker, step)
    widest = functools.reduce(np.maximum, (np.hypot(u, v) for u, v in ends))
    before, after = ends[1][0], ends[2][0]
    meet = (np.greater(before, 0) != np.greater(after, 0)) | (
        np.minimum(np.abs(before), np.abs(after)) < 1e-3 * full
    )
    return widest > full * (1.0 - STRETCHED), meet


def check_reach(walker: "TwoLegWalker", step: Footstep, name: str) -> None:
    """Raise if a move stretches the knee, or brings one foot onto the other."""
    stretched, meet = out_of_reach(walker, step)
    if stretched:
        full = 2.0 * float(walker.link_length)
        widest, at = max((math.hypot(u, v), (u, v)) for u, v in corners(walker, step))
        height = abs(at[1])
        room = math.sqrt(max(full * full - height * height, 0.0)) * (1.0 - STRETCHED) - min(
            abs(step.apart), abs(at[0])
        )
        tip = (
            f"The longest stride at this height is {1e3 * room:.4g} mm (gait.stride)"
            if room > 0
            else f"No stride reaches {1e3 * height:.4g} mm up with legs of {1e3 * full:.4g} mm"
        )
        raise ParameterError(
            f"{name}: foot {step.foot} is out of reach: the feet would be {1e3 * widest:.4g} mm"
            f" apart, and the legs stretch to {1e3 * full:.4g} mm. {tip}.",
            "route",
        )
    if meet:
        raise ParameterError(
            f"{name}: foot {step.foot} would meet the other foot. Take a stride shorter than their"
            " distance.",
            "route",
        )
