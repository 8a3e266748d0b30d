"""What the equations of a spoked wheel cannot mean: feet that no ground could hold, spokes that sag so far that two would carry at once."""

import math
from collections.abc import Mapping, Sequence

import jax.numpy as jnp
import numpy as np

from footfall.hybrid.doubt import MOST_FRICTION, Doubt
from footfall.hybrid.fields import signal
from footfall.hybrid.frame import Foot
from footfall.numerics.scalar import Scalar

#: N; a foot that is pressed down by less carries nothing: it has just been put down.
UNLOADED = 1e-6


class RollingFoot(Foot):
    """A foot that sticks, and what the ground must be for that."""

    friction_needed: Scalar = signal(0.0, doc="coefficient of friction without which it slips; 0 while nothing presses it down")


def friction_needed(along: Scalar, normal: Scalar) -> Scalar:
    """|force along the ground| over the force normal to it."""
    pressed = normal > UNLOADED
    return jnp.where(pressed, jnp.abs(along) / jnp.where(pressed, normal, 1.0), 0.0)


def friction_doubts(
    t: np.ndarray, columns: Mapping[str, np.ndarray], feet: Sequence[str] = ("foot",), counters: Sequence[str] = ("steps",)
) -> list[Doubt]:
    """More friction than ground gives, from the first footfall to the last: over whole steps.

    Before the first a foot is put down without load. After the last the run may end in a lift-off, and on the way there the force that
    presses the foot down goes to zero, so that any force along the ground would need any friction: of that the outcome tells.
    """
    worst, when = 0.0, 0.0
    for foot, counter in zip(feet, counters, strict=True):
        values = np.where(_whole_steps(columns[counter]), columns[f"{foot}.friction_needed"], 0.0)
        row = int(np.argmax(values))
        worst, when = max((worst, when), (float(values[row]), float(t[row])))
    if worst <= MOST_FRICTION:
        return []
    said = (
        f"the gait needs a coefficient of friction of {worst:.3g}, at t = {when:.4g} s, and feet slip above {MOST_FRICTION:g}"
    )
    return [Doubt("needs_friction", f"{said}; try less torque or lean, or a shorter torso")]


def sag_doubts(
    t: np.ndarray,
    columns: Mapping[str, np.ndarray],
    rest_length: float,
    spokes: int,
    legs: Sequence[str] = ("spoke",),
    counters: Sequence[str] = ("steps",),
) -> list[Doubt]:
    """A hub that rides lower than one that stands on two unloaded spokes does not stand on one."""
    limit = rest_length * (1.0 - math.cos(math.pi / spokes))
    for leg, counter in zip(legs, counters, strict=True):
        walking = _walking(columns[counter])[1:]
        time = np.where(walking, np.diff(t), 0.0)
        sag = rest_length - np.asarray(columns[f"{leg}.length"])
        mean = float(np.sum(0.5 * (sag[1:] + sag[:-1]) * time)) / max(float(np.sum(time)), np.finfo(float).tiny)
        if mean > limit:
            said = (
                f"the spokes sag by {1e3 * mean:.3g} mm on average, more than l0 (1 - cos(pi/{spokes})) = {1e3 * limit:.3g} mm"
            )
            return [
                Doubt("support_invalid", f"{said}: two would carry at once, the model knows one; try stiffer or fewer spokes")
            ]
    return []


def _whole_steps(count: np.ndarray) -> np.ndarray:
    """Rows from the first footfall to just before the last."""
    return _walking(count) & (np.asarray(count) < count[-1])


def _walking(count: np.ndarray) -> np.ndarray:
    """Rows from the first footfall on."""
    return np.asarray(count) > count[0]
