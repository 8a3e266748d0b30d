"""A spike of the sea urchin.

Two hinges and a slide that carry a ball, which is a point in spherical coordinates.

Frame S of a spike, at its attachment: x radially outwards, y straight DOWN, z along the ring,
counter-clockwise from above. Joint 1 turns about z, joint 2 about (sin q1, -cos q1, 0), joint 3
slides along the spike axis z_2 = (cos q1 sin q2, sin q1 sin q2, -cos q2). A spike that lies level
and points outwards has q1 = 0, q2 = pi/2. Everything is elementwise: a number, or an array of them.
Theory: docs/theory/sea-urchin.md.
"""

import math
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from footfall.hybrid.fields import ParameterError
from footfall.numerics.elementary import atan2
from footfall.numerics.scalar import Scalar
from footfall.numerics.trig import sincos

Vector = tuple[Scalar, Scalar, Scalar]
Rows = tuple[Vector, Vector, Vector]

SPIKES = 6  #: on each of the two rings
#: Where the spikes of a ring are, counter-clockwise from the body's x axis; index 0 is what the
#: physics page calls spike 1.
AZIMUTHS = tuple(i * math.pi / 3.0 for i in range(SPIKES))


class SpikeShape(NamedTuple):
    """Lengths of a spike."""

    prism: Scalar = 0.04  #: length k of the prism the cylinder slides in [m]
    ball: Scalar = 0.005  #: radius r of the ball at the tip [m]
    stroke: Scalar = 0.04  #: largest extension d_3 [m]

    @property
    def shortest(self) -> Scalar:
        """Distance r + k of the ball's centre with the slide drawn in."""
        return self.ball + self.prism


def axis(q1: Scalar, q2: Scalar) -> Vector:
    """The direction z_2 of the spike in S."""
    s1, c1 = sincos(q1)
    s2, c2 = sincos(q2)
    return c1 * s2, s1 * s2, -c2


def forward(shape: SpikeShape, q1: Scalar, q2: Scalar, d3: Scalar) -> Vector:
    """The ball's centre in S; the floor is touched the ball's radius below it, at (x, y + r, z).

    p_c = (r + k + d_3) z_2                                                                (spike.1)
    """
    length = shape.shortest + d3
    x, y, z = axis(q1, q2)
    return length * x, length * y, length * z


def orientation(q1: Scalar, q2: Scalar) -> Rows:
    """Rows of the rotation from the axes of the cylinder to S; its columns are those axes in S.

    R = [ (c1 c2, s1 c2, s2) | (s1, -c1, 0) | z_2 ]                                       (spike.23)
    """
    s1, c1 = sincos(q1)
    s2, c2 = sincos(q2)
    still = 0.0 * s1 * s2
    return (c1 * c2, s1 + still, c1 * s2), (s1 * c2, still - c1, s1 * s2), (s2, still, -c2)


def inverse(shape: SpikeShape, x: Scalar, y: Scalar, z: Scalar) -> Vector:
    """Joints (q1, q2, d_3) that put the contact point with a level floor at (x, y, z) in S.

    q2 in (0, pi).

    w = y - r,  rho = hypot(x, w):
    q1 = atan2(w, x),  q2 = atan2(rho, -z),  d_3 = hypot(rho, z) - r - k                   (spike.3)

    The root keeps its digits at z = 0, where the source's -z/cos(q2) is 0/0. Nothing is cut off at
    the end of the stroke: see `within_stroke` and `require_reach`. Singular only at rho = 0, on the
    axis of joint 1, where q1 means nothing.
    """
    w = y - shape.ball
    rho_squared = x * x + w * w
    rho = _root(rho_squared)
    return atan2(w, x), atan2(rho, -z), _root(rho_squared + z * z) - shape.shortest


def jacobian(lam: Scalar, lam_rate: Scalar, q1: Scalar, q2: Scalar) -> Rows:
    """Rows of dp/dq in S for the point at distance `lam` along the spike axis.

    With lam_rate = d lam/d d_3.

    J = [ lam (-s1 s2, c1 s2, 0) | lam (c1 c2, s1 c2, s2) | lam' z_2 ]                     (spike.4)
    det J = lam^2 lam' sin q2

    The ball's centre has lam = r + k + d_3 and lam' = 1.
    """
    s1, c1 = sincos(q1)
    s2, c2 = sincos(q2)
    return (
        (-lam * s1 * s2, lam * c1 * c2, lam_rate * c1 * s2),
        (lam * c1 * s2, lam * s1 * c2, lam_rate * s1 * s2),
        (0.0 * lam, lam * s2, -lam_rate * c2),
    )


def ball_jacobian(shape: SpikeShape, q1: Scalar, q2: Scalar, d3: Scalar) -> Rows:
    """Of the ball's centre."""
    return jacobian(shape.shortest + d3, 1.0, q1, q2)


def angular_jacobian(q1: Scalar) -> Rows:
    """Rows of J_w: the angular velocity of the spike in S is J_w q'.

    J_w = [ (0, 0, 1) | (s1, -c1, 0) | 0 ]                                                (spike.24)

    The axes that the joints turn about; the slide turns nothing.
    """
    s1, c1 = sincos(q1)
    still = 0.0 * s1
    return (still, s1, still), (still, -c1, still), (1.0 + still, still, still)


def joint_rates(shape: SpikeShape, q: Vector, v_foot: Vector) -> Vector:
    """J^-1 v for the velocity v of the ball's centre.

    The columns of J are orthogonal, so the inverse needs no elimination:

    q1' = e1.v/(lam s2),  q2' = e2.v/lam,  d_3' = z_2.v                                    (spike.5)
    e1 = (-s1, c1, 0),  e2 = (c1 c2, s1 c2, s2)

    Unbounded at q2 = 0 and pi, on the axis of joint 1.
    """
    q1, q2, d3 = q
    lam = shape.shortest + d3
    across, along, outward, s2, _ = _spherical(q1, q2, v_foot)
    return across / (lam * s2), along / lam, outward


def joint_accelerations(shape: SpikeShape, q: Vector, q_rates: Vector, a_foot: Vector) -> Vector:
    """J^-1 (a - J' q') for the acceleration a of the ball's centre, in the same axes:

    q1'' = [e1.a - 2 d' s2 q1' - 2 lam c2 q1' q2'] / (lam s2),
    q2'' = [e2.a - 2 d' q2' + lam s2 c2 q1'^2] / lam,
    d_3'' = z_2.a + lam (q2'^2 + s2^2 q1'^2)                                               (spike.6)
    """
    q1, q2, d3 = q
    w1, w2, out_rate = q_rates
    lam = shape.shortest + d3
    across, along, outward, s2, c2 = _spherical(q1, q2, a_foot)
    return (
        (across - 2.0 * out_rate * s2 * w1 - 2.0 * lam * c2 * w1 * w2) / (lam * s2),
        (along - 2.0 * out_rate * w2 + lam * s2 * c2 * w1 * w1) / lam,
        outward + lam * (w2 * w2 + s2 * s2 * w1 * w1),
    )


def _spherical(q1: Scalar, q2: Scalar, v: Vector) -> tuple[Scalar, Scalar, Scalar, Scalar, Scalar]:
    """Parts of a vector along e1, e2 and z_2, and sin q2, cos q2."""
    s1, c1 = sincos(q1)
    s2, c2 = sincos(q2)
    x, y, z = v
    out = c1 * x + s1 * y
    return c1 * y - s1 * x, c2 * out + s2 * z, s2 * out - c2 * z, s2, c2


# ---- on the shell


def ring_radius(r_s: Scalar) -> Scalar:
    """Radius r_s sqrt(3)/2 of both rings of attachments.

    They lie 30 degrees below and above the equator.
    """
    return (0.5 * math.sqrt(3.0)) * r_s


def attachment(r_s: Scalar, upper: bool, index: int) -> tuple[Vector, Rows]:
    """Place of the origin of S in the body, and the rows of the rotation from S to the body.

    `index` is 0 to 5.

    p_B = (R_a c, R_a s, -+r_s/2) + [[c, 0, -s], [s, 0, c], [0, -1, 0]] p_S                (spike.2)
    R_a = r_s sqrt(3)/2

    with c, s of the azimuth 60 deg * index and the upper sign for the bottom ring. The body's z is
    up while it stands.
    """
    if not 0 <= index < SPIKES:
        raise ValueError(f"spikes of a ring are numbered from 0 to {SPIKES - 1}, not {index}")
    s, c = math.sin(AZIMUTHS[index]), math.cos(AZIMUTHS[index])
    ring = ring_radius(r_s)
    place = (ring * c, ring * s, 0.5 * r_s if upper else -0.5 * r_s)
    return place, ((c, 0.0, -s), (s, 0.0, c), (0.0, -1.0, 0.0))


# ---- reach


def within_stroke(shape: SpikeShape, d3: Scalar) -> Any:
    """Whether the slide can go there, number by number."""
    return (d3 >= 0.0) & (d3 <= shape.stroke)


def require_reach(
    shape: SpikeShape, x: Scalar, y: Scalar, z: Scalar, field: str, what: str = "the foothold"
) -> None:
    """Raise for contact points (numbers or arrays of them) that the ball cannot be put at.

    The worst is told. For concrete numbers.
    """
    points = np.broadcast_arrays(*(np.asarray(v, dtype=float) for v in (x, y, z)))
    w = points[1] - float(shape.ball)
    span = np.sqrt(points[0] ** 2 + w**2 + points[2] ** 2)
    shortest, longest = float(shape.shortest), float(shape.shortest + shape.stroke)
    beyond = np.maximum(span - longest, shortest - span)
    beyond = np.where(np.isfinite(span), beyond, np.inf)
    worst = int(np.argmax(beyond))
    if beyond.flat[worst] <= 1e-12:  # rounding of a point that is exactly at the end
        return
    at = ", ".join(f"{v.flat[worst] * 1e3:.4g}" for v in points)
    raise ParameterError(
        f"{what} ({at}) mm is out of reach: its ball would be {span.flat[worst] * 1e3:.4g} mm from"
        f" the attachment, and the spike reaches from {shortest * 1e3:.4g} to {longest * 1e3:.4g}"
        f" mm (d_3 = {(span.flat[worst] - shortest) * 1e3:.4g} mm of 0 to"
        f" {float(shape.stroke) * 1e3:.4g}). Choose a nearer foothold, a longer prism or a larger"
        " ball.",
        field,
        worst if points[0].ndim else None,
    )


def require_joints(shape: SpikeShape, q1: float, q2: float, d3: float, field: str) -> None:
    """Raise for a pose outside the limits of the joints."""
    if not math.isfinite(q1):
        raise ParameterError(f"joint 1 at {q1:g} rad is not an angle.", field)
    if not 0.0 < q2 < math.pi:
        raise ParameterError(
            f"joint 2 at {q2:g} rad is outside its range, 0 to pi: at both ends the spike lies on"
            " the axis of joint 1.",
            field,
        )
    if not 0.0 <= d3 <= float(shape.stroke):
        raise ParameterError(
            f"the slide at d_3 = {d3 * 1e3:.4g} mm is outside its stroke of 0 to"
            f" {float(shape.stroke) * 1e3:.4g} mm.",
            field,
        )


def _root(x: Scalar) -> Scalar:
    return math.sqrt(x) if isinstance(x, int | float) else jnp.sqrt(x)
