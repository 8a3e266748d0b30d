"""The equations of the two-leg walker as functions of arrays: `ff.robots.two_leg`.

Points are (x, y) in the last axis, x to the right, y up; turns of the motors stand in a last axis
of length 3, clockwise; any axes before it are lanes, which broadcast. The left foot is foot 1 of
the source, at smaller x; what comes back are JAX arrays, also under `jax.jit`, `jax.vmap` and
`jax.grad`. Angles are radians, or degrees where `degrees=True` asks for them. Feet that the legs
do not reach give NaN. `link` is the length of each of the four links [m].

>>> import footfall as ff
>>> ff.robots.two_leg.inverse([0.0, 0.0], [0.15, 0.05], degrees=True).round(2).tolist()
[33.8, 75.52, 70.67]
>>> lifted = ff.robots.two_leg.lift_left(ff.robots.two_leg.standing(), 0.01)
>>> ff.robots.two_leg.step_left(lifted.end, -0.08).end.left.round(3).tolist()
[-0.08, 0.01]

Theory: docs/theory/two-leg-walker.md, sections 2 to 4.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from footfall.machines.two_leg.kinematics import (
    Limbs,
    Motion,
    Point,
    Pose,
    effort,
    pose,
    reach_left,
)
from footfall.numerics.rest_to_rest import LAWS, moved

#: Length [m] and mass [kg] of each of the four links, of the source.
LINK, MASS = 0.1, 0.1


class Feet(NamedTuple):
    """Where the soles are, (..., 2) each."""

    left: Array
    right: Array


class Path(NamedTuple):
    """One move of one foot, from rest to rest: samples along an axis before the last."""

    t: Array  #: (..., n)
    left: Array  #: (..., n, 2)
    right: Array  #: (..., n, 2)
    turns: Array  #: (..., n, 3) of the motors

    @property
    def end(self) -> Feet:
        """Where the feet are after it: where the next move begins."""
        return Feet(self.left[..., -1, :], self.right[..., -1, :])


# --- places ---------------------------------------------------------------------------------------


def inverse(
    left: ArrayLike, right: ArrayLike, link: ArrayLike = LINK, *, degrees: bool = False
) -> Array:
    """Turns (..., 3) of the motors that put flat feet there, knee up (two-leg.1)."""
    found = _posed(left, right, link)
    return _turns(found, [turn.value for turn in found.pose.turns], degrees)


def affectors_to_angles(
    x: ArrayLike, y: ArrayLike, link: ArrayLike = LINK, *, degrees: bool = False
) -> Array:
    """The source's function: turns (3, ...) from coordinates (5, ...) of its five points.

    Only the first and the last, the soles, are read.
    """
    x, y = jnp.asarray(x, float), jnp.asarray(y, float)
    left, right = (jnp.stack([x[i], y[i]], axis=-1) for i in (0, -1))
    return jnp.moveaxis(inverse(left, right, link, degrees=degrees), -1, 0)


def reaches(left: ArrayLike, right: ArrayLike, link: ArrayLike = LINK) -> Array:
    """Whether the legs are long enough for these feet, and these not at one place; (...)."""
    return _posed(left, right, link).reached


def rates(
    left: ArrayLike,
    right: ArrayLike,
    left_velocity: ArrayLike,
    right_velocity: ArrayLike,
    link: ArrayLike = LINK,
) -> Array:
    """Rates (..., 3) of the turns [rad/s] while the feet move (two-leg.2)."""
    found = _posed(left, right, link, (left_velocity, right_velocity))
    return _turns(found, [turn.rate for turn in found.pose.turns])


def accelerations(
    left: ArrayLike,
    right: ArrayLike,
    left_velocity: ArrayLike,
    right_velocity: ArrayLike,
    left_acceleration: ArrayLike,
    right_acceleration: ArrayLike,
    link: ArrayLike = LINK,
) -> Array:
    """Second derivatives (..., 3) of the turns [rad/s^2] (two-leg.3)."""
    moving = (left_velocity, right_velocity), (left_acceleration, right_acceleration)
    found = _posed(left, right, link, *moving)
    return _turns(found, [turn.second for turn in found.pose.turns])


def forward(
    turns: ArrayLike,
    left: ArrayLike = (0.0, 0.0),
    link: ArrayLike = LINK,
    *,
    degrees: bool = False,
) -> Array:
    """The five points (..., 5, 2): left sole, motors 1 to 3, right sole. The left shank is upright.

    Any turns will do: the right foot need not be flat.
    """
    turns = jnp.asarray(turns, float) * (jnp.pi / 180.0 if degrees else 1.0)
    upright = jnp.zeros((*turns.shape[:-1], 1))
    phi = jnp.concatenate([upright, jnp.cumsum(turns, axis=-1)], axis=-1)  # clockwise from +y
    ways = jnp.asarray(link)[..., None, None] * jnp.stack([jnp.sin(phi), jnp.cos(phi)], axis=-1)
    first = jnp.broadcast_to(jnp.asarray(left, float), (*ways.shape[:-2], 2))[..., None, :]
    return jnp.concatenate([first, first + jnp.cumsum(ways, axis=-2)], axis=-2)


def link_centres(
    turns: ArrayLike,
    left: ArrayLike = (0.0, 0.0),
    link: ArrayLike = LINK,
    *,
    degrees: bool = False,
) -> Array:
    """The middles (..., 4, 2) of the links, where their masses are."""
    points = forward(turns, left, link, degrees=degrees)
    return 0.5 * (points[..., :-1, :] + points[..., 1:, :])


def centre_of_mass(
    turns: ArrayLike,
    left: ArrayLike = (0.0, 0.0),
    link: ArrayLike = LINK,
    *,
    degrees: bool = False,
) -> Array:
    """Of four equal links, (..., 2); feet and motors have no mass."""
    return jnp.mean(link_centres(turns, left, link, degrees=degrees), axis=-2)


# --- torques --------------------------------------------------------------------------------------


def static_torques(
    left: ArrayLike,
    right: ArrayLike,
    left_stands: ArrayLike = True,
    link: ArrayLike = LINK,
    mass: ArrayLike = MASS,
    gravity: ArrayLike = 9.81,
) -> Array:
    """Torques (..., 3) that hold the pose [N m], clockwise on the moving side of each motor.

    `left_stands`: whether the left foot is held by the ground; the right one otherwise.
    """
    found = _posed(left, right, link)
    stands = jnp.asarray(left_stands, bool)
    limbs = Limbs(jnp.asarray(link), mass, 0.0, link, 0.0, gravity)
    held = effort(limbs, found.pose, jnp.where(stands, 1.0, 0.0), 0.0)
    sign = jnp.where(stands, 1.0, -1.0)
    return _turns(found, [sign * torque for torque in held.torques])


def instantaneous_power(
    torques: ArrayLike, turn_rates: ArrayLike, left_stands: ArrayLike = True
) -> Array:
    """Power (..., 3) of each motor [W] from the torque on its moving side and its turn's rate.

    Where the right foot stands the side that moves is the one before the motor, so a rate counts
    with the other sign.
    """
    sign = jnp.where(jnp.asarray(left_stands, bool), 1.0, -1.0)[..., None]
    return jnp.asarray(torques) * sign * jnp.asarray(turn_rates)


# --- moves ----------------------------------------------------------------------------------------


def standing(separation: ArrayLike = 0.1, left: ArrayLike = (0.0, 0.0)) -> Feet:
    """Both feet on level ground, `separation` apart: where a walk begins."""
    left = jnp.asarray(left, float)
    return Feet(left, left + _along(separation, 0.0))


def cubic_motion_trajectory(
    start: ArrayLike, distance: ArrayLike, duration: ArrayLike, samples: int = 101
) -> Array:
    """The source's function: a coordinate (..., samples) from rest to rest (path.1)."""
    start, distance, duration = (
        jnp.asarray(v, float)[..., None] for v in (start, distance, duration)
    )
    t = duration * jnp.linspace(0.0, 1.0, samples)
    return start + moved(LAWS["cubic"], distance, duration, t).value


def lift_left(
    feet: Feet,
    height: ArrayLike,
    speed: ArrayLike = 0.05,
    samples: int = 101,
    link: ArrayLike = LINK,
    *,
    degrees: bool = False,
) -> Path:
    """The left foot straight up by `height`, down where negative, in a time |height|/speed."""
    return _move(feet, True, _along(0.0, height), height, speed, samples, link, degrees)


def step_left(
    feet: Feet,
    distance: ArrayLike,
    speed: ArrayLike = 0.05,
    samples: int = 101,
    link: ArrayLike = LINK,
    *,
    degrees: bool = False,
) -> Path:
    """The left foot across by a signed `distance`, in a time |distance|/speed."""
    return _move(feet, True, _along(distance, 0.0), distance, speed, samples, link, degrees)


def lift_right(
    feet: Feet,
    height: ArrayLike,
    speed: ArrayLike = 0.05,
    samples: int = 101,
    link: ArrayLike = LINK,
    *,
    degrees: bool = False,
) -> Path:
    """The right foot straight up by `height`, down where it is negative."""
    return _move(feet, False, _along(0.0, height), height, speed, samples, link, degrees)


def step_right(
    feet: Feet,
    distance: ArrayLike,
    speed: ArrayLike = 0.05,
    samples: int = 101,
    link: ArrayLike = LINK,
    *,
    degrees: bool = False,
) -> Path:
    """The right foot across by a signed `distance`."""
    return _move(feet, False, _along(distance, 0.0), distance, speed, samples, link, degrees)


def _move(
    feet: Feet,
    is_left: bool,
    way: Array,
    distance: ArrayLike,
    speed: ArrayLike,
    samples: int,
    link: ArrayLike,
    degrees: bool,
) -> Path:
    duration = (jnp.abs(jnp.asarray(distance, float)) / jnp.asarray(speed))[..., None]
    share = jnp.linspace(0.0, 1.0, samples)
    progress = LAWS["cubic"].at(share).share[:, None]
    left, right = (jnp.asarray(foot, float)[..., None, :] for foot in feet)
    going = progress * way[..., None, :]
    left, right = (left + going, right) if is_left else (left, right + going)
    left, right = jnp.broadcast_arrays(left, right)
    turns = inverse(left, right, jnp.asarray(link)[..., None], degrees=degrees)
    t = jnp.broadcast_to(duration * share, left.shape[:-1])
    return Path(t, left, right, turns)


# --- shared ---------------------------------------------------------------------------------------


class _Posed(NamedTuple):
    pose: Pose
    reached: Array


def _posed(left: ArrayLike, right: ArrayLike, link: ArrayLike, *moving: tuple) -> _Posed:
    """The pose of feet at these places, with their velocities, and accelerations, if given."""
    ways = [[jnp.asarray(foot, float) for foot in pair] for pair in ((left, right), *moving)]
    one, two = (
        Point(*(Motion(*(pair[foot][..., axis] for pair in ways)) for axis in (0, 1)))
        for foot in (0, 1)
    )
    length = jnp.asarray(link, float)
    limbs = Limbs(length, MASS, 0.0, length, 0.0, 0.0)
    u, v = two.x.value - one.x.value, two.y.value - one.y.value
    apart = (u != 0) | (v != 0)
    return _Posed(pose(limbs, one, two), apart & (reach_left(limbs, u, v) >= 0))


def _turns(found: _Posed, parts: list, degrees: bool = False) -> Array:
    stacked = jnp.stack(jnp.broadcast_arrays(*parts), axis=-1) * (
        180.0 / jnp.pi if degrees else 1.0
    )
    return jnp.where(found.reached[..., None], stacked, jnp.nan)


def _along(x: ArrayLike, y: ArrayLike) -> Array:
    return jnp.stack(jnp.broadcast_arrays(jnp.asarray(x, float), jnp.asarray(y, float)), axis=-1)
