"""Forces in a chain of segments with one leg each.

Every one of them acts between points, so momentum is kept to the last bit.

Rows are segments, head first. Fields of the state have the shape (segments,) or, in a batch,
(segments, lanes).
"""

from typing import TYPE_CHECKING, Any, NamedTuple

import jax.numpy as jnp

from footfall.machines.centipede.gait import Target
from footfall.machines.centipede.point_contact import Touch, touch
from footfall.machines.centipede.states import Points, WalkerState
from footfall.numerics.elementary import atan2
from footfall.numerics.planar import cross
from footfall.numerics.scalar import Scalar

if TYPE_CHECKING:
    from footfall.machines.centipede.walker import SegmentedWalker


class Plane(NamedTuple):
    """A vector in the plane, or one per row."""

    x: Scalar
    z: Scalar

    def dot(self, other: "Plane") -> Scalar:
        return self.x * other.x + self.z * other.z

    def cross(self, other: "Plane") -> Scalar:
        return cross(self.x, self.z, other.x, other.z)

    def times(self, factor: Scalar) -> "Plane":
        return Plane(self.x * factor, self.z * factor)

    def plus(self, other: "Plane") -> "Plane":
        return Plane(self.x + other.x, self.z + other.z)

    def minus(self, other: "Plane") -> "Plane":
        return Plane(self.x - other.x, self.z - other.z)

    def rows(self, change: Any) -> "Plane":
        """Another choice or order of rows."""
        return Plane(change(self.x), change(self.z))

    def turning(self, inverse_square: Scalar) -> "Plane":
        """Gradient of the vector's angle: perp(a) = (-a_z, a_x)/|a|^2.

        A division costs much: the caller uses one for several things.
        """
        return Plane(-self.z * inverse_square, self.x * inverse_square)


def place(points: Points) -> Plane:
    return Plane(points.x, points.z)


def velocity(points: Points) -> Plane:
    return Plane(points.vx, points.vz)


# --- which segments a leg hangs on: a = the one ahead, b = the one behind; at the ends the segment
# itself ------------------------


def ahead(rows: Scalar) -> Scalar:
    return jnp.concatenate([rows[:1], rows[:-1]])


def behind(rows: Scalar) -> Scalar:
    return jnp.concatenate([rows[1:], rows[-1:]])


def to_ahead(rows: Scalar) -> Scalar:
    """What each row gives to the segment ahead, collected there."""
    return jnp.concatenate([rows[:1] + rows[1:2], rows[2:], jnp.zeros_like(rows[:1])])


def to_behind(rows: Scalar) -> Scalar:
    return jnp.concatenate([jnp.zeros_like(rows[:1]), rows[:-2], rows[-2:-1] + rows[-1:]])


def spread(links: Scalar, first: int, last: int) -> Scalar:
    """Rows of links or joints put among the segments.

    `first` rows of nothing before them, `last` after.
    """
    none = jnp.zeros_like(links[:1])
    return jnp.concatenate([none] * first + [links] + [none] * last)


class Chain(NamedTuple):
    """Axial links and joints of the body."""

    force: Plane  #: on each segment
    energy: Scalar
    loss: Scalar
    trunk: Scalar  #: power of the moments that are asked for


class Drive(NamedTuple):
    """Springs and dampers of the legs about their targets."""

    on_tips: Plane
    on_nodes: Plane
    along: Scalar  #: force along each leg
    torque: Scalar
    energy: Scalar
    loss: Scalar
    drive: Scalar  #: power of the targets moving with the phase
    reflex: Scalar  #: power of the targets moving with the lift


class Loads(NamedTuple):
    """Everything that acts."""

    chain: Chain
    drive: Drive
    on_nodes: Touch
    on_tips: Touch
    phase_rate: Scalar
    lift_rate: Scalar
    moments: Scalar


def chain_forces(system: "SegmentedWalker", nodes: Points, moments: Scalar) -> Chain:
    """Forces of the links and joints on the segments.

    Tension k_a (L - l) + c_a L' in every link;
    torque -(k_b beta + c_b beta') - M at every joint                                     (walker.1)

    beta = atan2(u x w, u . w). A torque tau on the angle between u and w pulls at three segments by
    tau times the gradient of the angle: F_{i+1} += tau perp(w), F_i -= tau (perp(w) + perp(u)),
    F_{i-1} += tau perp(u).                                                               (walker.2)
    """
    body, at, moving = system.body, place(nodes), velocity(nodes)
    link, link_rate = at.rows(_to_next), moving.rows(_to_next)
    length = jnp.sqrt(link.dot(link))
    inverse = 1.0 / length
    along, turn = link.times(inverse), link.turning(inverse * inverse)
    stretch, rate = length - body.spacing, along.dot(link_rate)
    tension = along.times(body.axial_stiffness * stretch + body.axial_damping * rate)

    u, w = link.rows(lambda r: r[:-1]), link.rows(lambda r: r[1:])
    bend, spin = atan2(u.cross(w), u.dot(w)), turn.dot(link_rate)
    bend_rate = spin[1:] - spin[:-1]
    asked = moments[1:-1]
    torque = -(body.bending_stiffness * bend + body.bending_damping * bend_rate) - asked
    # A link is w of the joint at its start and u of the one at its end (walker.2): what its one end
    # gets, its other end loses.
    twist = spread(torque, 1, 0) - spread(torque, 0, 1)
    through = tension.minus(turn.times(twist))
    force = Plane(*(spread(pull, 0, 1) - spread(pull, 1, 0) for pull in through))
    return Chain(
        force,
        energy=0.5
        * (
            total(body.axial_stiffness * stretch * stretch)
            + total(body.bending_stiffness * bend * bend)
        ),
        loss=total(body.axial_damping * rate * rate)
        + total(body.bending_damping * bend_rate * bend_rate),
        trunk=-total(asked * bend_rate),
    )


def drive_forces(
    system: "SegmentedWalker",
    nodes: Points,
    tips: Points,
    target: Target,
    phase_rate: Scalar,
    lift_rate: Scalar,
) -> Drive:
    """A force along each leg and a torque about its hip, which the body carries:         (walker.3)

    tip: f g/L + tau perp(g), its segment the opposite; segments a and b of the body's direction d =
    r_a - r_b: -+ tau perp(d).
    """
    leg = system.leg
    at, moving = place(nodes), velocity(nodes)
    arm, arm_rate = place(tips).minus(at), velocity(tips).minus(moving)
    if system.missing_legs:  # a leg that is not there has no direction
        there = system.has_leg(tips.x)
        arm = Plane(jnp.where(there > 0, arm.x, 0.0), jnp.where(there > 0, arm.z, -1.0))
    spine = at.rows(lambda r: ahead(r) - behind(r))
    spine_rate = moving.rows(lambda r: ahead(r) - behind(r))
    length = jnp.sqrt(arm.dot(arm))
    inverse = 1.0 / length
    along = arm.times(inverse)
    turn_arm, turn_spine = arm.turning(inverse * inverse), spine.turning(1.0 / spine.dot(spine))
    length_rate = along.dot(arm_rate)
    angle_rate = turn_arm.dot(arm_rate) - turn_spine.dot(spine_rate)

    # The target in the frame of the spine, up to its length: the angle between it and the leg is
    # gamma - gamma_t, wrapped.
    goal_length = jnp.sqrt(target.x * target.x + target.z * target.z)
    per_goal = 1.0 / goal_length
    leg_x, leg_z = spine.dot(arm), spine.cross(arm)
    off_angle = atan2(target.x * leg_z - target.z * leg_x, target.x * leg_x + target.z * leg_z)
    off_length = length - goal_length

    def rates_of(dx: Scalar, dz: Scalar) -> tuple[Scalar, Scalar]:
        """(length, angle) of the target when it moves by (dx, dz)."""
        return (target.x * dx + target.z * dz) * per_goal, (target.x * dz - target.z * dx) * (
            per_goal * per_goal
        )

    goal_rate, goal_turn = rates_of(target.dx * phase_rate, target.dz * phase_rate)
    lift_length, lift_turn = rates_of(0.0, target.dz_lift * lift_rate)
    # A damper does not know of the lift.
    slip, twist = (length_rate - goal_rate, angle_rate - goal_turn)
    force = -(leg.length_stiffness * off_length + leg.length_damping * slip)
    torque = -(leg.angle_stiffness * off_angle + leg.angle_damping * twist)
    if system.missing_legs:
        there = system.has_leg(tips.x)
        force, torque = force * there, torque * there
        off_length, off_angle, slip, twist = (
            value * there for value in (off_length, off_angle, slip, twist)
        )
    on_tips = along.times(force).plus(turn_arm.times(torque))
    reaction = turn_spine.times(torque)
    on_nodes = Plane(
        *(to_behind(r) - to_ahead(r) - t for r, t in zip(reaction, on_tips, strict=True))
    )
    lifted = (
        leg.length_stiffness * off_length * lift_length
        + leg.angle_stiffness * off_angle * lift_turn
    )
    return Drive(
        on_tips,
        on_nodes,
        force,
        torque,
        energy=0.5
        * total(
            leg.length_stiffness * off_length * off_length
            + leg.angle_stiffness * off_angle * off_angle
        ),
        loss=total(leg.length_damping * slip * slip + leg.angle_damping * twist * twist),
        drive=total(force * goal_rate + torque * goal_turn),
        reflex=-total(lifted),
    )


def all_loads(system: "SegmentedWalker", x: WalkerState) -> Loads:
    """Everything that acts on the walker, and what its control makes of it."""
    nodes, tips, legs = x.nodes, x.tips, x.legs
    ground = (system.terrain, system.contact, system.friction)
    under = touch(
        *ground, nodes.x, nodes.z - system.body.radius, nodes.vx, nodes.vz, _bristle(nodes)
    )
    feet = touch(*ground, tips.x, tips.z, tips.vx, tips.vz, _bristle(tips))
    if system.missing_legs:
        there = system.has_leg(tips.x)
        feet = Touch(*(value * there for value in feet))
    control = system.controller
    phase_rate = control.phase_rate(system.gait, legs.phase, feet.fx, feet.fz)
    lift_rate = control.lift_rate(legs.lift, feet.fx, feet.fz)
    moments = control.moments(legs.unsupported, system.weights(), system.body.spacing)
    target = system.gait.target(legs.phase, legs.lift)
    return Loads(
        chain_forces(system, nodes, moments),
        drive_forces(system, nodes, tips, target, phase_rate, lift_rate),
        under,
        feet,
        phase_rate,
        lift_rate,
        moments,
    )


def _to_next(rows: Scalar) -> Scalar:
    """From each row to the next."""
    return rows[1:] - rows[:-1]


def _bristle(points: Points) -> Scalar:
    return 0.0 if points.bristle is None else points.bristle


def total(rows: Scalar) -> Scalar:
    """Over the segments."""
    return jnp.sum(rows, axis=0)
