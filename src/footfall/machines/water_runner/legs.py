"""Legs of the runner at one instant.

Where their feet are, what water or ground does to them, what that asks of the cranks.

The legs are alike, so what is true of one is written once. A single robot loops over its legs
inside the compiled program, which is a quarter as long then; in a batch, where numbers are arrays
over robots, the same lines are written out for each leg.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from footfall.hybrid.compose import added, joined, taken, total
from footfall.machines.water_runner.foot import FootPoint, Tip
from footfall.machines.water_runner.linkage import FourBarPose, pose
from footfall.machines.water_runner.states import (
    BristleState,
    ContactPower,
    FootMode,
    FootPower,
    FootState,
    FrictionPower,
    RunnerMode,
    RunnerState,
    WaterPower,
)
from footfall.machines.water_runner.wet_disc import NO_LOAD, WaterLoad
from footfall.numerics.planar import cross
from footfall.numerics.scalar import Scalar
from footfall.numerics.trig import sincos

if TYPE_CHECKING:
    from footfall.machines.water_runner.runner import FourBarRunner


class Frame(NamedTuple):
    """The body's pitch and the cranks at one instant."""

    sin: Scalar  #: of the pitch
    cos: Scalar
    crank_angle: Scalar
    crank_rate: Scalar

    def turned(self, x: Scalar, y: Scalar) -> tuple[Scalar, Scalar]:
        """A vector of the body's frame in the model's plane."""
        return self.cos * x - self.sin * y, self.sin * x + self.cos * y


class Mount(NamedTuple):
    """What sets one leg apart from the others."""

    hip: Scalar  #: crank axis behind the centre of mass
    phase: Scalar  #: of the crank against the drive
    foot: FootState
    mode: FootMode | None


class Leg(NamedTuple):
    """Kinematics of a group."""

    pose: FourBarPose  #: in the body's frame
    at: FootPoint  #: its end, in the model's plane
    arm_x: Scalar  #: its end from the centre of mass
    arm_y: Scalar
    sweep_x: Scalar  #: how far its end moves per radian of the crank
    sweep_y: Scalar


class Touch(NamedTuple):
    """A tip against hard ground."""

    tip: Tip
    depth: Scalar
    depth_rate: Scalar
    speed: Scalar  #: along the ground, to the rear
    tangent_x: Scalar
    tangent_y: Scalar


class FootLoad(NamedTuple):
    """What a surface does to a leg at its end F.

    Where that energy goes, and how the foot's own state moves.
    """

    fx: Scalar
    fy: Scalar
    moment: Scalar
    torque: Scalar  #: on the crank
    water: WaterLoad | None  #: None: the foot has nothing to feel water with
    power: FootPower
    rates: FootState


class LoadedLeg(NamedTuple):
    """A leg and what acts on it."""

    mount: Mount
    leg: Leg
    load: FootLoad


class Loads(NamedTuple):
    """All loads on the robot at one instant, in the model's plane."""

    frame: Frame
    legs: "EachLeg"  #: of LoadedLeg
    tail_at: tuple[Scalar, Scalar]  #: from the centre of mass
    tail: WaterLoad
    fx: Scalar
    fy: Scalar
    moment: Scalar  #: about the centre of mass
    torque: Scalar  #: on all cranks together


class EachLeg(NamedTuple):
    """Something that was computed for every leg.

    One struct of arrays over the legs, or a list with a struct for each.
    """

    names: tuple[str, ...]
    found: Any

    @property
    def together(self) -> bool:
        return not isinstance(self.found, list)

    def by_name(self) -> dict[str, Any]:
        """Leg name -> its own."""
        if self.together:
            return {
                name: jax.tree.map(lambda v, i=i: v[i], self.found)
                for i, name in enumerate(self.names)
            }
        return dict(zip(self.names, self.found, strict=True))

    def total(self, value: Callable[[Any], Any]) -> Any:
        """Sum over the legs of one value, or of each of a struct."""
        if self.together:
            return jax.tree.map(jnp.sum, value(self.found))
        return total([value(one) for one in self.found])

    def then(self, see: Callable[[Any], Any]) -> "EachLeg":
        """What `see` makes of what was found, leg by leg."""
        return EachLeg(
            self.names,
            lax.map(see, self.found) if self.together else [see(one) for one in self.found],
        )


def each_leg(
    system: "FourBarRunner", x: RunnerState, m: RunnerMode | None, see: Callable[[Mount], Any]
) -> EachLeg:
    """What `see` tells of every leg."""
    mounts = [
        Mount(
            system.body.front_hip if name.startswith("front") else system.body.rear_hip,
            _phase(system, name),
            getattr(x.feet, name),
            None if m is None else getattr(m.feet, name),
        )
        for name in system.names
    ]
    if not any(jnp.ndim(leaf) for leaf in jax.tree.leaves((system, x))):  # one robot
        mounts = jax.tree.map(lambda *v: jnp.stack([jnp.asarray(n) for n in v]), *mounts)
    return EachLeg(system.names, mounts).then(see)


def _phase(system: "FourBarRunner", name: str) -> Scalar:
    side = system.side_phase if name.endswith("right") else 0.0
    return side if name.startswith("front") else system.rear_phase + side


def look(system: "FourBarRunner", t: Scalar, x: RunnerState) -> Frame:
    """Sines and cranks that every leg needs."""
    return Frame(*sincos(x.pitch), *system.drive.cranks(t, drive_of(system, x)))


def drive_of(system: "FourBarRunner", x: RunnerState) -> Any:
    """The drive's own state."""
    return taken(system.drive.rest(0.0), x)


def own_of(system: "FourBarRunner", foot: FootState) -> Any:
    """A foot's own state."""
    return taken(system.foot.rest(), foot)


def leg_at(system: "FourBarRunner", x: RunnerState, frame: Frame, mount: Mount) -> Leg:
    """A leg in the plane, its foot and the foot's velocity.

    F = centre of mass + Rot(pitch)(b + f(psi))                                           (runner.1)
    """
    s, c = sincos(frame.crank_angle + mount.phase)
    p = pose(system.leg.links, s, c, system.leg.assembly_sign)
    arm_x, arm_y = frame.turned(mount.hip + p.fx, system.body.hip_height + p.fy)
    sweep_x, sweep_y = frame.turned(p.dfx, p.dfy)
    at = FootPoint(
        x.x + arm_x,
        x.y + arm_y,
        x.vx - x.pitch_rate * arm_y + sweep_x * frame.crank_rate,
        x.vy + x.pitch_rate * arm_x + sweep_y * frame.crank_rate,
        *frame.turned(p.ux, p.uy),
        x.pitch_rate + p.coupler_rate * frame.crank_rate,
    )
    return Leg(p, at, arm_x, arm_y, sweep_x, sweep_y)


def touch(system: "FourBarRunner", at: FootPoint, own: Any) -> Touch:
    """The tip against the plane of the ground.

    The plane rises to the rear where it descends forward.
    """
    tip = system.foot.tip(at, own)
    s, c = sincos(system.terrain.descent)
    return Touch(
        tip,
        depth=s * tip.x - c * tip.y,
        depth_rate=s * tip.vx - c * tip.vy,
        speed=c * tip.vx + s * tip.vy,
        tangent_x=c,
        tangent_y=s,
    )


def depth(system: "FourBarRunner", at: FootPoint, own: Any) -> Scalar:
    """How far the lowest point of a foot is below the surface."""
    return (
        system.foot.depth_in_water(at, own, 0.0)
        if system.on_water
        else touch(system, at, own).depth
    )


def foot_load(system: "FourBarRunner", leg: Leg, mount: Mount) -> FootLoad:
    """Of water or ground, as a force and a moment at the leg's end F."""
    own = own_of(system, mount.foot)
    return (_wet_load if system.on_water else _dry_load)(system, leg, mount, own)


def _wet_load(system: "FourBarRunner", leg: Leg, mount: Mount, own: Any) -> FootLoad:
    foot, friction, bristle = system.foot, system.friction, mount.foot
    water = foot.in_water(leg.at, own, mount.mode, system.medium)
    load = NO_LOAD if water is None else water
    inner = foot.flow_in_water(leg.at, own, water)
    relaxing = rates = None
    if friction.has_memory:  # in water bent bristles still relax
        relaxing = FrictionPower(-friction.loss(0.0, 0.0, bristle.bristle))
        rates = BristleState(friction.bristle_rate(0.0, 0.0, bristle.bristle))
    return FootLoad(
        load.fx,
        load.fy,
        load.moment,
        _crank_torque(leg, load.fx, load.fy, load.moment),
        water,
        added(FootPower(), water_power(water), relaxing, inner.power),
        joined(FootState(), inner.x, rates),
    )


def water_power(load: WaterLoad | None) -> WaterPower | None:
    """The ports that a load of the water works through."""
    return None if load is None else WaterPower(drag=load.drag, pressure=load.pressure)


def _dry_load(system: "FourBarRunner", leg: Leg, mount: Mount, own: Any) -> FootLoad:
    contact, friction = system.contact, system.friction
    on = touch(system, leg.at, own)
    bristle = mount.foot.bristle if friction.has_memory else 0.0
    normal = contact.force(on.depth, on.depth_rate)
    along = friction.force(on.speed, normal, bristle)
    fx, fy = (
        along * on.tangent_x - normal * on.tangent_y,
        along * on.tangent_y + normal * on.tangent_x,
    )
    # The leg feels the force at the tip.
    moment = cross(on.tip.x - leg.at.x, on.tip.y - leg.at.y, fx, fy)
    inner = system.foot.flow(leg.at, own, fx, fy)
    rates = (
        BristleState(friction.bristle_rate(on.speed, normal, bristle))
        if friction.has_memory
        else None
    )
    return FootLoad(
        fx,
        fy,
        moment,
        _crank_torque(leg, fx, fy, moment),
        None,
        added(
            FootPower(),
            ContactPower(-contact.loss(on.depth, on.depth_rate)),
            FrictionPower(-friction.loss(on.speed, normal, bristle)),
            inner.power,
        ),
        joined(FootState(), inner.x, rates),
    )


def _crank_torque(leg: Leg, fx: Scalar, fy: Scalar, moment: Scalar) -> Scalar:
    """Torque on the crank: massless links pass on power.

    T = -(P . dF/dpsi + M dtheta2/dpsi)                                                 (four-bar.8)
    """
    return -(fx * leg.sweep_x + fy * leg.sweep_y + moment * leg.pose.coupler_rate)


def _tail_load(
    system: "FourBarRunner", x: RunnerState, frame: Frame
) -> tuple[tuple[Scalar, Scalar], WaterLoad]:
    """(place from the centre of mass, load)."""
    arm_x, arm_y = frame.turned(*system.tail.place)
    if not (system.on_water and system.tail.present):
        return (arm_x, arm_y), NO_LOAD
    load = system.tail.water_load(
        x.x + arm_x,
        x.y + arm_y,
        x.vx - x.pitch_rate * arm_y,
        x.vy + x.pitch_rate * arm_x,
        frame.sin,
        frame.cos,
        x.pitch_rate,
        system.medium,
    )
    return (arm_x, arm_y), load


def all_loads(system: "FourBarRunner", t: Scalar, x: RunnerState, m: RunnerMode) -> Loads:
    """Every leg, every load, and their sums."""
    frame = look(system, t, x)

    def loaded(mount: Mount) -> LoadedLeg:
        leg = leg_at(system, x, frame, mount)
        return LoadedLeg(mount, leg, foot_load(system, leg, mount))

    legs = each_leg(system, x, m, loaded)
    (tail_x, tail_y), tail = _tail_load(system, x, frame)
    about_centre = legs.total(
        lambda one: one.load.moment + cross(one.leg.arm_x, one.leg.arm_y, one.load.fx, one.load.fy)
    )
    return Loads(
        frame,
        legs,
        (tail_x, tail_y),
        tail,
        fx=tail.fx + legs.total(lambda one: one.load.fx),
        fy=tail.fy + legs.total(lambda one: one.load.fy),
        moment=tail.moment + cross(tail_x, tail_y, tail.fx, tail.fy) + about_centre,
        torque=legs.total(lambda one: one.load.torque),
    )


def foot_depth(
    system: "FourBarRunner", x: RunnerState, frame: Frame, mount: Mount
) -> tuple[Scalar, FootPoint]:
    """How deep a foot is, and where and how its leg ends."""
    at = leg_at(system, x, frame, mount).at
    return depth(system, at, own_of(system, mount.foot)), at
