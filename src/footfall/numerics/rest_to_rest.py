"""From rest to rest: polynomials that carry a point over a distance, with exact derivatives."""

import math
from collections.abc import Callable
from typing import NamedTuple

import jax.numpy as jnp

from footfall.numerics.scalar import Scalar


class Progress(NamedTuple):
    """Share of the way, and its first and second derivative by the share of the time."""

    share: Scalar
    slope: Scalar
    bend: Scalar


class Law(NamedTuple):
    """A way to go from 0 to 1 while the share s of the time goes from 0 to 1."""

    at: Callable[[Scalar], Progress]
    # largest |bend|: over a distance D in a time T the acceleration peaks at peak_bend |D|/T^2
    peak_bend: float


def _cubic(s: Scalar) -> Progress:
    return Progress(s * s * (3.0 - 2.0 * s), 6.0 * s * (1.0 - s), 6.0 - 12.0 * s)


def _quintic(s: Scalar) -> Progress:
    one_less = 1.0 - s
    return Progress(
        s * s * s * (10.0 - 15.0 * s + 6.0 * s * s),
        30.0 * s * s * one_less * one_less,
        60.0 * s * one_less * (1.0 - 2.0 * s),
    )


#: s^2 (3 - 2 s): the acceleration jumps at both ends.
#: s^3 (10 - 15 s + 6 s^2): it starts and ends at zero.                                     (path.1)
LAWS = {"cubic": Law(_cubic, 6.0), "quintic": Law(_quintic, 10.0 / math.sqrt(3.0))}


class Moved(NamedTuple):
    """Displacement, velocity and acceleration."""

    value: Scalar
    rate: Scalar
    second: Scalar


def moved(law: Law, distance: Scalar, duration: Scalar, t: Scalar) -> Moved:
    """A time t after the begin of a move over `distance` that takes `duration`, while it lasts.

    A move that takes no time is not made.
    """
    length = jnp.where(duration > 0, duration, 1.0)
    p = law.at(t / length)
    return Moved(
        distance * p.share, distance * p.slope / length, distance * p.bend / (length * length)
    )
