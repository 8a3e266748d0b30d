"""Two shanks that stay upright and two thighs that meet in a knee.

Where the links are, how they move, what their motors must give.

Plane: x to the right, y up, angles clockwise from +y. Points 1 to 5: sole of foot 1, motor 1
(ankle), motor 2 (knee), motor 3 (ankle), sole of foot 2. Links 1 to 4 join them; both feet stay
flat, so links 1 and 4 stay upright. Everything is elementwise: a number, or an array of poses.
Theory: docs/theory/two-leg-walker.md.
"""

from typing import NamedTuple

import jax.numpy as jnp

from footfall.numerics.scalar import Scalar


class Motion(NamedTuple):
    """A coordinate with its first and second time derivative."""

    value: Scalar
    rate: Scalar = 0.0
    second: Scalar = 0.0

    def plus(self, other: "Motion") -> "Motion":
        return Motion(self.value + other.value, self.rate + other.rate, self.second + other.second)

    def minus(self, other: "Motion") -> "Motion":
        return Motion(self.value - other.value, self.rate - other.rate, self.second - other.second)

    def middle(self, other: "Motion") -> "Motion":
        """Half-way to another."""
        both = self.plus(other)
        return Motion(0.5 * both.value, 0.5 * both.rate, 0.5 * both.second)


class Point(NamedTuple):
    """A point in motion."""

    x: Motion
    y: Motion

    def middle(self, other: "Point") -> "Point":
        return Point(self.x.middle(other.x), self.y.middle(other.y))


class Limbs(NamedTuple):
    """Lengths and masses. Each foot points towards the other one; its mass is half-way along it."""

    length: Scalar  #: of each of the four links
    mass: Scalar  #: of each link, at its middle
    inertia: Scalar  #: of each link about its middle
    foot_length: Scalar
    foot_mass: Scalar
    gravity: Scalar


class Pose(NamedTuple):
    """The five points, the turn at each motor, and the thighs' directions.

    A turn is clockwise, from link i to link i + 1.
    """

    points: tuple[Point, Point, Point, Point, Point]
    turns: tuple[Motion, Motion, Motion]
    thighs: tuple[Motion, Motion]  #: clockwise from +y


def reach_left(limbs: Limbs, u: Scalar, v: Scalar) -> Scalar:
    """How much further apart the feet may be, in metres: 2 L - hypot(u, v).

    Zero is a stretched knee, where joint speeds are unbounded.
    """
    return 2.0 * limbs.length - jnp.sqrt(u * u + v * v)


def pose(limbs: Limbs, foot1: Point, foot2: Point) -> Pose:
    """Inverse kinematics, knee up, with exact rates.

    For feet u = x5 - x1 apart and v = y5 - y1 above each other:

    cos(theta2/2) = hypot(u, v)/2L,  theta1 = atan2(u, v) - theta2/2,
    theta3 = pi - theta1 - theta2                                                        (two-leg.1)
    w2 = (u' s3 + v' c3)/S,  w3 = -(u' s2 + v' c2)/S,  S = L sin(theta2)                 (two-leg.2)
    w2' = (U s3 + V c3)/S,  w3' = -(U s2 + V c2)/S,
    (U, V) = (u'', v'') + L sum of (s, c) w^2                                            (two-leg.3)

    For u > 0; for u < 0 the page's formula would put the knee below, and this is its mirror image,
    knee up too. It means nothing beyond reach (see `reach_left`).
    """
    L = limbs.length
    u, v = foot2.x.minus(foot1.x), foot2.y.minus(foot1.y)
    span = jnp.sqrt(u.value * u.value + v.value * v.value)
    cos_half = span / (2.0 * L)
    sin_half = jnp.sqrt(jnp.maximum(1.0 - cos_half * cos_half, 0.0))
    ex, ey = u.value / span, v.value / span
    s2, c2 = ex * cos_half - ey * sin_half, ey * cos_half + ex * sin_half
    s3, c3 = ex * cos_half + ey * sin_half, ey * cos_half - ex * sin_half
    S = 2.0 * L * sin_half * cos_half
    w2 = (u.rate * s3 + v.rate * c3) / S
    w3 = -(u.rate * s2 + v.rate * c2) / S
    U = u.second + L * (s2 * w2 * w2 + s3 * w3 * w3)
    V = v.second + L * (c2 * w2 * w2 + c3 * w3 * w3)
    dw2, dw3 = (U * s3 + V * c3) / S, -(U * s2 + V * c2) / S
    phi2, theta2 = jnp.arctan2(s2, c2), 2.0 * jnp.arctan2(sin_half, cos_half)
    ankle1 = Point(foot1.x, foot1.y._replace(value=foot1.y.value + L))
    ankle2 = Point(foot2.x, foot2.y._replace(value=foot2.y.value + L))
    knee = Point(
        ankle1.x.plus(Motion(L * s2, L * c2 * w2, L * (c2 * dw2 - s2 * w2 * w2))),
        ankle1.y.plus(Motion(L * c2, -L * s2 * w2, -L * (s2 * dw2 + c2 * w2 * w2))),
    )
    thigh2, thigh3 = Motion(phi2, w2, dw2), Motion(phi2 + theta2, w3, dw3)
    turns = (thigh2, Motion(theta2, w3 - w2, dw3 - dw2), Motion(jnp.pi - phi2 - theta2, -w3, -dw3))
    return Pose((foot1, ankle1, knee, ankle2, foot2), turns, (thigh2, thigh3))


class Mass(NamedTuple):
    """A body of the walker: where its middle is, how it turns."""

    at: Point
    mass: Scalar
    inertia: Scalar
    spin: Motion  #: direction, clockwise


def bodies(limbs: Limbs, p: Pose) -> tuple[Mass, ...]:
    """Foot 1, links 1 to 4, foot 2."""
    upright, still = Motion(0.0), Motion(0.0)
    half = 0.5 * limbs.foot_length
    one, two, three, four, five = p.points
    inward = jnp.where(five.x.value >= one.x.value, half, -half)  # feet may stand either way round
    foot1 = Point(one.x._replace(value=one.x.value + inward), one.y)
    foot2 = Point(five.x._replace(value=five.x.value - inward), five.y)
    link = (limbs.mass, limbs.inertia)
    return (
        Mass(foot1, limbs.foot_mass, 0.0, still),
        Mass(one.middle(two), *link, upright),
        Mass(two.middle(three), *link, p.thighs[0]),
        Mass(three.middle(four), *link, p.thighs[1]),
        Mass(four.middle(five), *link, upright),
        Mass(foot2, limbs.foot_mass, 0.0, still),
    )


class Balance(NamedTuple):
    """Mass, centre and energies of the whole."""

    mass: Scalar
    x: Scalar
    y: Scalar
    potential: Scalar
    kinetic: Scalar


def balance(limbs: Limbs, every: tuple[Mass, ...]) -> Balance:
    """Centre of mass, potential energy against y = 0, kinetic energy (1/2) sum [m v^2 + I w^2]."""
    total = sum(b.mass for b in every)
    x = sum(b.mass * b.at.x.value for b in every) / total
    y = sum(b.mass * b.at.y.value for b in every) / total
    moving = [
        b.mass * (b.at.x.rate * b.at.x.rate + b.at.y.rate * b.at.y.rate)
        + b.inertia * b.spin.rate * b.spin.rate
        for b in every
    ]
    return Balance(total, x, y, total * limbs.gravity * y, 0.5 * sum(moving))


def moment_about(
    limbs: Limbs, joint: Point, moved: tuple[Mass, ...], inertial: float = 1.0
) -> Scalar:
    """Clockwise torque at a joint that gives bodies their accelerations against gravity:

    sum of m (r_y a_x - r_x (a_y + g)) + I w'                                            (two-leg.4)

    `inertial` = 0 leaves out the accelerations: what holds them still.
    """
    total = 0.0
    for body in moved:
        rx, ry = body.at.x.value - joint.x.value, body.at.y.value - joint.y.value
        ax, ay = inertial * body.at.x.second, inertial * body.at.y.second
        total = (
            total
            + body.mass * (ry * ax - rx * (ay + limbs.gravity))
            + body.inertia * inertial * body.spin.second
        )
    return total


class Effort(NamedTuple):
    """What the three motors give, and how the foot that stands is pressed down."""

    torques: tuple[Scalar, Scalar, Scalar]  #: Q_i, clockwise on link i + 1 from link i
    pressure: Scalar  #: force of the ground, up
    zmp: Scalar  #: zero-moment point from the support ankle towards the other foot
    grip: Scalar  #: force of the ground along x, which must not slip


def effort(limbs: Limbs, p: Pose, first_stands: Scalar, inertial: float = 1.0) -> Effort:
    """Torques of the motors, and what the standing foot must bear.

    Q_i = tau_i with foot 1 on the ground, -tau_i with foot 2 (`first_stands` 1 or 0), tau_i over
    the moving side of motor i:

    P_i = Q_i theta_i' whichever foot stands; at rest Q_i = d(potential)/d(theta_i)      (two-leg.5)
    zmp = -+ M/F_y,  F_y = sum of m (a_y + g),  M of (two-leg.4) over all                (two-leg.6)
    bodies about the sole
    """
    every = bodies(limbs, p)
    joints = p.points[1:4]
    beyond = [
        moment_about(limbs, joint, every[i + 2 :], inertial) for i, joint in enumerate(joints)
    ]
    before = [
        moment_about(limbs, joint, every[: i + 2], inertial) for i, joint in enumerate(joints)
    ]
    stands = first_stands > 0
    torques = tuple(jnp.where(stands, a, -b) for a, b in zip(beyond, before, strict=True))
    pressure = sum(b.mass * (inertial * b.at.y.second + limbs.gravity) for b in every)
    one, _, _, _, five = p.points
    about = jnp.where(
        stands,
        moment_about(limbs, one, every, inertial),
        moment_about(limbs, five, every, inertial),
    )
    ahead = jnp.where(stands == (five.x.value >= one.x.value), 1.0, -1.0)  # towards the other foot
    grip = sum(b.mass * inertial * b.at.x.second for b in every)
    return Effort(torques, pressure, -ahead * about / pressure, grip)
