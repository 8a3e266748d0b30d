"""A crank-driven four-bar linkage: where it is, how it turns, what its joints carry.

Plane: x right, y up, angles counter-clockwise, u(a) = (cos a, sin a), cross(a, b) = ax by - ay bx.
Everything is in the frame of the ground link: crank axis O at the origin, rocker axis C = (L0, 0),
crank tip A = L1 u(psi), coupler joint B = A + L2 u(theta2) = C + L3 u(theta3), foot point F = A -
L4 u(theta2). A linkage on a moving body turns rigidly with it, so this one frame serves every
motion. Theory: docs/theory/water-runner.md.

Positions come from the intersection of two circles, as unit vectors: no angle is ever taken back
from its sine.
"""

from typing import NamedTuple

import jax.numpy as jnp

from footfall.numerics.planar import cross
from footfall.numerics.scalar import Scalar


class Links(NamedTuple):
    """Lengths of a four-bar, all of one unit."""

    ground: Scalar  #: L0, from the crank axis O to the rocker axis C
    crank: Scalar  #: L1, O to A
    coupler: Scalar  #: L2, A to B
    rocker: Scalar  #: L3, C to B
    foot: Scalar  #: L4, from A to the foot point F, on the coupler prolonged beyond A


class FourBarPose(NamedTuple):
    """Positions and first derivatives by the crank angle psi."""

    ax: Scalar  #: A - O
    ay: Scalar
    bx: Scalar  #: B - O
    by: Scalar
    ux: Scalar  #: u(theta2), along the coupler from A to B
    uy: Scalar
    wx: Scalar  #: u(theta3), along the rocker from C to B
    wy: Scalar
    coupler_rate: Scalar  #: theta2' = d theta2 / d psi
    rocker_rate: Scalar  #: theta3' = d theta3 / d psi
    fx: Scalar  #: f = F - O
    fy: Scalar
    dfx: Scalar  #: f' = dF / d psi
    dfy: Scalar


class FourBarCurvature(NamedTuple):
    """Second derivatives by the crank angle psi."""

    coupler: Scalar  #: theta2''
    rocker: Scalar  #: theta3''
    ddfx: Scalar  #: f''
    ddfy: Scalar


class JointLoads(NamedTuple):
    """What the joints of massless links carry."""

    crank_x: Scalar  #: F_R1 = F_1: the body on the crank at O, the crank on the coupler at A
    crank_y: Scalar
    rocker_x: Scalar  #: F_R3 = F_3: the body on the rocker at C, the rocker on the coupler at B
    rocker_y: Scalar
    torque: Scalar  #: T, the motor on the crank


def pose(links: Links, sin_psi: Scalar, cos_psi: Scalar, assembly: int) -> FourBarPose:
    """The linkage at a crank angle, in one of its two assemblies.

    +1 has B left of the line from A to C, -1 right of it.

    L1 u(psi) + L2 u(theta2) = L0 u(0) + L3 u(theta3)                                   (four-bar.1)

    B is where the circles about A (radius L2) and C (radius L3) meet. With D = C - A, D_perp = D
    turned a quarter left, and S the signed double area of the triangle A C B:

    B - A = [(D.D + L2^2 - L3^2) D / 2 + S D_perp] / D.D,
    S = +-1/2 sqrt[((L2 + L3)^2 - D.D) (D.D - (L2 - L3)^2)]                             (four-bar.2)
      = L2 L3 sin(theta3 - theta2)

    theta2' = -cross(A, B - C) / S,   theta3' = cross(B - A, A) / S,
    f = A - L4 u(theta2),   f' = L1 u_perp(psi) - L4 u_perp(theta2) theta2'             (four-bar.3)

    Singular only where coupler and rocker line up (S = 0), which a positive `grashof_margin`
    excludes; links that do not reach give NaN.
    """
    ground, crank, coupler, rocker, foot = links
    ax, ay = crank * cos_psi, crank * sin_psi
    dx = ground - ax  # D = (dx, -ay)
    dd = dx * dx + ay * ay  # not by the law of cosines, which cancels where A comes near C
    long, short = coupler + rocker, coupler - rocker
    area = 0.5 * jnp.sqrt((long * long - dd) * (dd - short * short))
    area = area if assembly > 0 else -area
    shared = 1.0 / (dd * area)  # one division for two: it costs as much as a dozen products
    per_dd, per_area = area * shared, dd * shared
    along, across = 0.5 * (dd + long * short) * per_dd, area * per_dd
    abx, aby = along * dx + across * ay, across * dx - along * ay  # B - A
    cbx, cby = abx - dx, aby + ay  # B - C
    ux, uy = abx / coupler, aby / coupler
    coupler_rate = -cross(ax, ay, cbx, cby) * per_area
    swing = foot * coupler_rate
    return FourBarPose(
        ax=ax,
        ay=ay,
        bx=ax + abx,
        by=ay + aby,
        ux=ux,
        uy=uy,
        wx=cbx / rocker,
        wy=cby / rocker,
        coupler_rate=coupler_rate,
        rocker_rate=cross(abx, aby, ax, ay) * per_area,
        fx=ax - foot * ux,
        fy=ay - foot * uy,
        dfx=swing * uy - ay,
        dfy=ax - swing * ux,
    )


def curvature(
    links: Links, sin_psi: Scalar, cos_psi: Scalar, pose: FourBarPose
) -> FourBarCurvature:
    """Second derivatives by psi.

    From the loop differentiated twice and multiplied by u(theta3) and by u(theta2).

    theta2'' = [L1 u(psi).w + L2 (u.w) theta2'^2 - L3 theta3'^2] / (L2 cross(u, w)),
    theta3'' = [L1 u(psi).u + L2 theta2'^2 - L3 (u.w) theta3'^2] / (L3 cross(u, w)),
    u = u(theta2), w = u(theta3),
    f'' = -L1 u(psi) - L4 [u_perp(theta2) theta2'' - u(theta2) theta2'^2]               (four-bar.4)

    Apart from `pose` because the motion of massless links does not need it: only accelerations as
    outputs do.
    """
    _, crank, coupler, rocker, foot = links
    ux, uy, wx, wy = pose.ux, pose.uy, pose.wx, pose.wy
    ax, ay = crank * cos_psi, crank * sin_psi
    sine, cosine = cross(ux, uy, wx, wy), ux * wx + uy * wy
    rate_squared = pose.coupler_rate * pose.coupler_rate
    from_coupler = coupler * rate_squared
    from_rocker = rocker * (pose.rocker_rate * pose.rocker_rate)
    coupler_second = (ax * wx + ay * wy + cosine * from_coupler - from_rocker) / (coupler * sine)
    rocker_second = (ax * ux + ay * uy + from_coupler - cosine * from_rocker) / (rocker * sine)
    return FourBarCurvature(
        coupler=coupler_second,
        rocker=rocker_second,
        ddfx=foot * (uy * coupler_second + ux * rate_squared) - ax,
        ddfy=foot * (uy * rate_squared - ux * coupler_second) - ay,
    )


def grashof_margin(links: Links) -> Scalar:
    """By how much the two other links exceed crank + longest.

    Positive when the crank, then the shortest, can turn fully.

    min(L2 + L3 - L0, L0 - |L2 - L3|) - L1 > 0                                          (four-bar.5)

    The first is the reach left when the crank points away from C (psi = 180 deg, coupler and rocker
    stretched), the second the room left when it points at C (psi = 0, coupler and rocker folded);
    with the crank subtracted they are the two cases of L1 + L_max < sum of the other two. Without a
    `min`, so that plain numbers, NumPy and traced arrays all may come.
    """
    ground, crank, coupler, rocker, _ = links
    stretched, folded = coupler + rocker - ground, ground - abs(coupler - rocker)
    return 0.5 * (stretched + folded - abs(stretched - folded)) - crank


def joint_loads(
    links: Links, pose: FourBarPose, force_x: Scalar, force_y: Scalar, moment: Scalar
) -> JointLoads:
    """What the joints carry when the foot carries the force P at F and the moment M.

    P in the frame of the pose.

    Nine balances of three massless links:

    P + F1 + F3 = 0,   M + cross(L4 u, F1) + cross((L2 + L4) u, F3) = 0,   cross(L3 w, F3) = 0,
    F_R1 = F1,   F_R3 = F3,   T = cross(A, F1)                                          (four-bar.6)

    A rocker without mass carries only a force along itself, F3 = N w. That leaves one equation for
    N, the moments on the coupler about A, and the rest follows:

    N = [L4 cross(u, P) - M] / (L2 cross(u, w)),   F1 = -P - N w                        (four-bar.7)

    For the torque alone use the power balance, which needs no division:

    T = -(P.f' + M theta2')                                                             (four-bar.8)
    """
    ux, uy, wx, wy = pose.ux, pose.uy, pose.wx, pose.wy
    along = (links.foot * cross(ux, uy, force_x, force_y) - moment) / (
        links.coupler * cross(ux, uy, wx, wy)
    )
    rocker_x, rocker_y = along * wx, along * wy
    crank_x, crank_y = -force_x - rocker_x, -force_y - rocker_y
    return JointLoads(
        crank_x, crank_y, rocker_x, rocker_y, torque=cross(pose.ax, pose.ay, crank_x, crank_y)
    )
