"""A footstep in time: where both feet are while one is lifted, carried across and put down."""

from typing import NamedTuple

import jax.numpy as jnp

from footfall.machines.two_leg.course import Footstep, lift_of
from footfall.machines.two_leg.gait import InchwormGait
from footfall.machines.two_leg.kinematics import Motion, Point
from footfall.numerics.rest_to_rest import moved
from footfall.numerics.scalar import Scalar

#: Moves of a footstep.
MOVES = ("up", "across", "down")


class Legs(NamedTuple):
    """Distances of the three moves, and how long they take."""

    distances: tuple[Scalar, Scalar, Scalar]
    durations: tuple[Scalar, Scalar, Scalar]


def legs_of(gait: InchwormGait, step: Footstep) -> Legs:
    """A lift above the highest ground on the way, across, down to the foothold.         (two-leg.7)

    A step down thus goes up first, and does not drive the foot into the edge it stands on.
    """
    up = lift_of(gait.lift, step)
    distances = (up, step.across, step.rise - up)
    up_time, across_time, down_time = (gait.duration(d) for d in distances)
    return Legs(distances, (up_time / gait.lift_pace, across_time, down_time / gait.lift_pace))


def feet_at(
    gait: InchwormGait, step: Footstep, move: Scalar, t: Scalar, x1: Scalar = 0.0, y1: Scalar = 0.0
) -> tuple[Point, Point]:
    """Both feet a time t into a move (0, 1 or 2) of a footstep.

    At its begin foot 1 stood at (x1, y1).

    Only the current move counts for velocity and acceleration: where two moves meet, the
    acceleration jumps.
    """
    legs = legs_of(gait, step)
    up, across, down = (
        moved(gait.path, d, T, t) for d, T in zip(legs.distances, legs.durations, strict=True)
    )
    first, last = move < 1, move > 1
    between = (~first) & (~last) if not isinstance(first, bool) else not (first or last)
    x = Motion(
        jnp.where(between, across.value, jnp.where(last, step.across, 0.0)),
        jnp.where(between, across.rate, 0.0),
        jnp.where(between, across.second, 0.0),
    )
    y = Motion(
        jnp.where(first, up.value, legs.distances[0] + jnp.where(last, down.value, 0.0)),
        jnp.where(first, up.rate, jnp.where(last, down.rate, 0.0)),
        jnp.where(first, up.second, jnp.where(last, down.second, 0.0)),
    )
    mine, other = Point(x, y), Point(Motion(0.0 * x.value), Motion(0.0 * y.value))
    is_one = step.foot < 1.5
    pick = lambda a, b: Motion(*(jnp.where(is_one, p, q) for p, q in zip(a, b, strict=True)))  # noqa: E731
    one = Point(pick(mine.x, other.x), pick(mine.y, other.y))
    two = Point(pick(other.x, mine.x), pick(other.y, mine.y))
    return (
        Point(one.x._replace(value=one.x.value + x1), one.y._replace(value=one.y.value + y1)),
        Point(
            two.x._replace(value=two.x.value + x1 + step.apart),
            two.y._replace(value=two.y.value + y1 + step.above),
        ),
    )
