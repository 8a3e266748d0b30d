"""What the equations of a spoked wheel cannot mean.

Feet that no ground could hold, spokes that sag so far that two would carry at once.
"""

import math
from collections.abc import Sequence

from footfall.hybrid.bound import Bound
from footfall.hybrid.doubt import MOST_FRICTION
from footfall.numerics.scalar import Scalar


def friction_bounds(
    feet: Sequence[str] = ("foot",), counters: Sequence[str] = ("steps",)
) -> tuple[Bound, ...]:
    """No more friction than ground gives."""

    def said(worst: float, when: float) -> str:
        needed = f"the gait needs a coefficient of friction of {worst:.3g}, at t = {when:.4g} s"
        return (
            f"{needed}, and feet slip above {MOST_FRICTION:g}; try less torque or lean, or a"
            " shorter torso"
        )

    return tuple(
        Bound(
            "needs_friction",
            f"{foot}.friction_needed",
            "peak",
            said,
            high=MOST_FRICTION,
            counter=counter,
        )
        for foot, counter in zip(feet, counters, strict=True)
    )


def sag_bounds(
    rest_length: Scalar,
    spokes: int,
    legs: Sequence[str] = ("spoke",),
    counters: Sequence[str] = ("steps",),
) -> tuple[Bound, ...]:
    """A hub that rides lower than one that stands on two unloaded spokes does not stand on one."""
    shortest = rest_length * math.cos(math.pi / spokes)

    def said(mean: float, _: float) -> str:
        sag, limit = (1e3 * (float(rest_length) - length) for length in (mean, float(shortest)))
        return (
            f"the spokes sag by {sag:.3g} mm on average, more than l0 (1 - cos(pi/{spokes})) ="
            f" {limit:.3g} mm: two would carry at once, the model knows one; try stiffer or fewer"
            " spokes"
        )

    return tuple(
        Bound("support_invalid", f"{leg}.length", "mean", said, low=shortest, counter=counter)
        for leg, counter in zip(legs, counters, strict=True)
    )
