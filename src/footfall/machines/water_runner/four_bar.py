"""The four-bar linkage of a leg for arrays: where it is, how it moves, what it carries.

Angles are the source's (Thatte 2012, figure 1), in the plane x to the rear, y up, counter-clockwise
[rad]: theta0 of the base (from O to C), theta1 of the crank (O to A), theta2 of the coupler (A to
B), theta3 of the rocker (C to B). The foot point F lies on the coupler prolonged beyond A.

Every argument is a number or an array, NumPy or JAX; they broadcast. Points and forces are arrays
(..., 2). `jax.jit`, `jax.vmap` and `jax.grad` go through. Where the loop cannot close, what comes
back is NaN: `closes` and `crank_range` say where. Lengths are those of the shipped leg unless
`links` gives others, of which each may be an array too.

>>> import numpy as np
>>> import footfall as ff
>>> crank = np.radians([0.0, 90.0, 180.0])
>>> ff.robots.four_bar.positions(crank).foot.round(4)
Array([[-0.0305, -0.034 ],
       [-0.0591,  0.0017],
       [-0.0736, -0.0348]], dtype=float64)

Theory: docs/theory/water-runner.md, sections 2 and 3.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array
from jax.typing import ArrayLike

from footfall.machines.water_runner.four_bar_leg import ASSEMBLIES, FourBarLeg
from footfall.machines.water_runner.linkage import FourBarPose, curvature, joint_loads, pose
from footfall.machines.water_runner.linkage import Links as Links


class FourBar(NamedTuple):
    """Angles and points of the linkage, or their rates, or their accelerations."""

    coupler: Array  #: theta2
    rocker: Array  #: theta3
    crank_pin: Array  #: A
    rocker_pin: Array  #: B
    rocker_axis: Array  #: C
    foot: Array  #: F


class FourBarForces(NamedTuple):
    """What the joints of massless links carry."""

    crank: Array  #: F_R1 = F_1: the body on the crank at O, and the crank on the coupler at A
    rocker: Array  #: F_R3 = F_3: the body on the rocker at C, and the rocker on the coupler at B
    torque: Array  #: T, of the motor on the crank


def positions(
    crank: ArrayLike,
    base: ArrayLike = 0.0,
    hip: ArrayLike = (0.0, 0.0),
    *,
    links: Links | None = None,
    assembly: str = "below",
) -> FourBar:
    """Angles theta2, theta3 and the points A, B, C, F, with the crank axis O at `hip`."""
    at, links, turn = _posed(crank, base, links, assembly)
    hip = jnp.asarray(hip)
    coupler = turn.base + jnp.arctan2(at.uy, at.ux)
    return FourBar(
        coupler=coupler,
        rocker=turn.base + jnp.arctan2(at.wy, at.wx),
        crank_pin=hip + turn.of(at.ax, at.ay),
        rocker_pin=hip + turn.of(at.bx, at.by),
        rocker_axis=hip + turn.of(links.ground, 0.0) + jnp.zeros_like(coupler)[..., None],
        foot=hip + turn.of(at.fx, at.fy),
    )


def speeds(
    crank: ArrayLike,
    crank_rate: ArrayLike,
    base: ArrayLike = 0.0,
    base_rate: ArrayLike = 0.0,
    hip_velocity: ArrayLike = (0.0, 0.0),
    *,
    links: Links | None = None,
    assembly: str = "below",
) -> FourBar:
    """Rates of theta2 and theta3 and the velocities of A, B, C, F; `crank_rate` is theta1's."""
    at, links, turn = _posed(crank, base, links, assembly)
    of_base = jnp.asarray(base_rate)
    psi = jnp.asarray(crank_rate) - of_base  # of the crank against the base
    hip = jnp.asarray(hip_velocity)

    def velocity(x: ArrayLike, y: ArrayLike, dx: ArrayLike, dy: ArrayLike) -> Array:
        return hip + _times(of_base, turn.across(x, y)) + _times(psi, turn.of(dx, dy))

    swing = links.rocker * at.rocker_rate
    coupler = of_base + at.coupler_rate * psi
    return FourBar(
        coupler=coupler,
        rocker=of_base + at.rocker_rate * psi,
        crank_pin=velocity(at.ax, at.ay, -at.ay, at.ax),
        rocker_pin=velocity(at.bx, at.by, -swing * at.wy, swing * at.wx),
        rocker_axis=velocity(links.ground, 0.0, 0.0, 0.0) + jnp.zeros_like(coupler)[..., None],
        foot=velocity(at.fx, at.fy, at.dfx, at.dfy),
    )


def accelerations(
    crank: ArrayLike,
    crank_rate: ArrayLike,
    crank_acceleration: ArrayLike = 0.0,
    base: ArrayLike = 0.0,
    base_rate: ArrayLike = 0.0,
    base_acceleration: ArrayLike = 0.0,
    hip_acceleration: ArrayLike = (0.0, 0.0),
    *,
    links: Links | None = None,
    assembly: str = "below",
) -> FourBar:
    """Second derivatives of theta2 and theta3, and the accelerations of A, B, C, F."""
    at, links, turn = _posed(crank, base, links, assembly)
    of_base, base_dd = jnp.asarray(base_rate), jnp.asarray(base_acceleration)
    psi, psi_dd = jnp.asarray(crank_rate) - of_base, jnp.asarray(crank_acceleration) - base_dd
    bend = curvature(links, turn.sin_psi, turn.cos_psi, at)
    hip = jnp.asarray(hip_acceleration)

    def acceleration(place: tuple, slope: tuple, second: tuple) -> Array:
        """With every term of a point that moves in a base that moves (runner.2)."""
        return (
            hip
            + _times(base_dd, turn.across(*place))
            - _times(of_base**2, turn.of(*place))
            + _times(2.0 * of_base * psi, turn.across(*slope))
            + _times(psi**2, turn.of(*second))
            + _times(psi_dd, turn.of(*slope))
        )

    d3, dd3, long = at.rocker_rate, bend.rocker, links.rocker
    coupler = base_dd + bend.coupler * psi**2 + at.coupler_rate * psi_dd
    still = (0.0, 0.0)
    return FourBar(
        coupler=coupler,
        rocker=base_dd + dd3 * psi**2 + d3 * psi_dd,
        crank_pin=acceleration((at.ax, at.ay), (-at.ay, at.ax), (-at.ax, -at.ay)),
        rocker_pin=acceleration(
            (at.bx, at.by),
            (-long * d3 * at.wy, long * d3 * at.wx),
            (-long * (dd3 * at.wy + d3**2 * at.wx), long * (dd3 * at.wx - d3**2 * at.wy)),
        ),
        rocker_axis=acceleration((links.ground, 0.0), still, still)
        + jnp.zeros_like(coupler)[..., None],
        foot=acceleration((at.fx, at.fy), (at.dfx, at.dfy), (bend.ddfx, bend.ddfy)),
    )


def forces(
    crank: ArrayLike,
    force: ArrayLike,
    moment: ArrayLike = 0.0,
    base: ArrayLike = 0.0,
    *,
    links: Links | None = None,
    assembly: str = "below",
) -> FourBarForces:
    """Loads of the joints under a force P at F and a moment M on the coupler."""
    at, links, turn = _posed(crank, base, links, assembly)
    px, py = jnp.moveaxis(jnp.asarray(force), -1, 0)
    local_x, local_y = turn.cos * px + turn.sin * py, turn.cos * py - turn.sin * px
    loads = joint_loads(links, at, local_x, local_y, jnp.asarray(moment))
    return FourBarForces(
        turn.of(loads.crank_x, loads.crank_y), turn.of(loads.rocker_x, loads.rocker_y), loads.torque
    )


def closes(crank: ArrayLike, base: ArrayLike = 0.0, *, links: Links | None = None) -> Array:
    """Whether coupler and rocker reach each other at this crank angle, of any five lengths."""
    links = links or FourBarLeg().links
    psi = jnp.asarray(crank) - jnp.asarray(base)
    from_tip = jnp.hypot(links.ground - links.crank * jnp.cos(psi), links.crank * jnp.sin(psi))
    long, short = links.coupler + links.rocker, abs(links.coupler - links.rocker)
    return (short <= from_tip) & (from_tip <= long)


def crank_range(links: Links | None = None) -> tuple[Array, Array]:
    """(least, greatest) angle between crank and base, in [0, pi], at which the loop closes.

    (0, pi) is a crank that turns fully; NaN, lengths that never close. The angle counts either way
    from the base, so a crank between 0.5 and pi may go from 0.5 to 2 pi - 0.5.
    """
    links = links or FourBarLeg().links
    ground, crank, coupler, rocker = (jnp.asarray(length, float) for length in links[:4])
    both, product = ground**2 + crank**2, 2.0 * ground * crank
    folded = (both - (coupler - rocker) ** 2) / product  # its cosine with the least |C - A|
    stretched = (both - (coupler + rocker) ** 2) / product
    never = (folded < -1.0) | (stretched > 1.0)
    ends = (jnp.arccos(jnp.clip(end, -1.0, 1.0)) for end in (folded, stretched))
    least, greatest = (jnp.where(never, jnp.nan, end) for end in ends)
    return least, greatest


class _Turn(NamedTuple):
    """From the base's frame to the plane's."""

    base: Array
    sin: Array
    cos: Array
    sin_psi: Array
    cos_psi: Array

    def of(self, x: ArrayLike, y: ArrayLike) -> Array:
        """A vector of the base."""
        return _stacked(self.cos * x - self.sin * y, self.sin * x + self.cos * y)

    def across(self, x: ArrayLike, y: ArrayLike) -> Array:
        """The same, a quarter turned to the left."""
        return _stacked(-self.sin * x - self.cos * y, self.cos * x - self.sin * y)


def _posed(
    crank: ArrayLike, base: ArrayLike, links: Links | None, assembly: str
) -> tuple[FourBarPose, Links, _Turn]:
    links = links or FourBarLeg().links
    if assembly not in ASSEMBLIES:
        raise ValueError(f'"{assembly}" is not an assembly: there are {" and ".join(ASSEMBLIES)}.')
    base = jnp.asarray(base, float)
    psi = jnp.asarray(crank, float) - base
    turn = _Turn(base, jnp.sin(base), jnp.cos(base), jnp.sin(psi), jnp.cos(psi))
    return pose(links, turn.sin_psi, turn.cos_psi, ASSEMBLIES[assembly]), links, turn


def _stacked(x: ArrayLike, y: ArrayLike) -> Array:
    return jnp.stack(jnp.broadcast_arrays(x, y), axis=-1)


def _times(scale: ArrayLike, vector: Array) -> Array:
    """A number of each point times its vector."""
    return jnp.asarray(scale)[..., None] * vector
