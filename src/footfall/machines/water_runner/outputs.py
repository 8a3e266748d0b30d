"""What can be seen of the runner, in the house frame.

Body, loads, drive, and every joint of every leg.
"""

import dataclasses
import math
from typing import TYPE_CHECKING, NamedTuple

import jax.numpy as jnp

from footfall.hybrid.compose import joined
from footfall.hybrid.frame import Body
from footfall.machines.water_runner.legs import Frame, LoadedLeg, Loads, all_loads, drive_of, own_of
from footfall.machines.water_runner.linkage import curvature, joint_loads
from footfall.machines.water_runner.states import (
    DriveSignals,
    FootTip,
    Joint,
    LegSignals,
    LoadSignals,
    RunnerMode,
    RunnerOutputs,
    RunnerState,
    RunnerTravel,
    TailSignals,
)
from footfall.numerics.scalar import Scalar
from footfall.numerics.trig import sincos

if TYPE_CHECKING:
    from footfall.machines.water_runner.runner import FourBarRunner


class Motion(NamedTuple):
    """Second derivatives of the body and the cranks."""

    ax: Scalar
    ay: Scalar
    pitch: Scalar
    crank: Scalar


class Path(NamedTuple):
    """A point of a leg in the body's frame, with two derivatives by the crank's angle.

    Measured from the centre of mass.
    """

    x: Scalar
    y: Scalar
    dx: Scalar = 0.0
    dy: Scalar = 0.0
    ddx: Scalar = 0.0
    ddy: Scalar = 0.0


def runner_outputs(
    system: "FourBarRunner", t: Scalar, x: RunnerState, m: RunnerMode
) -> RunnerOutputs:
    """Outputs of the whole robot."""
    loads = all_loads(system, t, x, m)
    ax, ay, pitch_dd, crank_dd = system.accelerations(x, loads)
    motion = Motion(ax, ay, pitch_dd, crank_dd)
    rate, drive = loads.frame.crank_rate, drive_of(system, x)
    torque = system.drive.given_torque(drive, loads.torque)
    power = torque * rate
    legs = loads.legs.then(lambda one: _leg(system, x, motion, loads.frame, one)).by_name()
    return RunnerOutputs(
        body=Body(x=-x.x, z=x.y, vx=-x.vx, vz=x.vy, pitch=x.pitch),
        load=LoadSignals(lift=loads.fy, thrust=-loads.fx, moment=loads.moment),
        drive=joined(
            DriveSignals(torque=torque, frequency=rate / (2.0 * math.pi), power=power),
            system.drive.signals(drive),
        ),
        travel=RunnerTravel(distance=-x.x, speed=-x.vx),
        tail=_tail(system, x, loads) if system.tail.present and system.on_water else None,
        **{name: _with_side(system, name, leg) for name, leg in legs.items()},
    )


def _with_side(system: "FourBarRunner", name: str, leg: LegSignals) -> LegSignals:
    """The leg where it is across the robot."""
    side = (1.0 if name.endswith("left") else -1.0) * system.body.half_width
    points = {
        name: value for name, value in vars(leg).items() if isinstance(value, Joint | FootTip)
    }
    return dataclasses.replace(
        leg, **{name: dataclasses.replace(point, y=side) for name, point in points.items()}
    )


def _tail(system: "FourBarRunner", x: RunnerState, loads: Loads) -> TailSignals:
    arm_x, arm_y = loads.tail_at
    return TailSignals(
        x=-(x.x + arm_x),
        z=x.y + arm_y,
        fx=-loads.tail.fx,
        fz=loads.tail.fy,
        wetted=loads.tail.wetted,
    )


def _leg(
    system: "FourBarRunner", x: RunnerState, motion: Motion, frame: Frame, one: LoadedLeg
) -> LegSignals:
    """One leg, in the middle of the robot."""
    mount, leg, load = one
    links, p = system.leg.links, leg.pose
    bend = curvature(links, *sincos(frame.crank_angle + mount.phase), p)
    hip_x, hip_y = mount.hip, system.body.hip_height
    # B = A + L2 u(theta2): its derivatives follow those of the coupler's angle.
    d2, dd2 = p.coupler_rate, bend.coupler
    pin = (-p.ay, p.ax)
    paths = {
        "hip": Path(hip_x, hip_y),
        "crank_pin": Path(hip_x + p.ax, hip_y + p.ay, *pin, -p.ax, -p.ay),
        "rocker_pin": Path(
            hip_x + p.bx,
            hip_y + p.by,
            pin[0] - links.coupler * p.uy * d2,
            pin[1] + links.coupler * p.ux * d2,
            -p.ax - links.coupler * (p.uy * dd2 + p.ux * d2 * d2),
            -p.ay + links.coupler * (p.ux * dd2 - p.uy * d2 * d2),
        ),
        "rocker_axis": Path(hip_x + links.ground, hip_y),
        "foot": Path(hip_x + p.fx, hip_y + p.fy, p.dfx, p.dfy, bend.ddfx, bend.ddfy),
    }
    # The nine equations are solved in the body's frame, so the foot's force is turned there and the
    # joints' back.
    local_x, local_y = (
        frame.cos * load.fx + frame.sin * load.fy,
        frame.cos * load.fy - frame.sin * load.fx,
    )
    joints = joint_loads(links, p, local_x, local_y, load.moment)
    crank, rocker = (
        frame.turned(joints.crank_x, joints.crank_y),
        frame.turned(joints.rocker_x, joints.rocker_y),
    )
    forces = {
        "hip": crank,
        "crank_pin": crank,
        "rocker_pin": rocker,
        "rocker_axis": rocker,
        "foot": (load.fx, load.fy),
    }
    own = own_of(system, mount.foot)
    tip = system.foot.tip(leg.at, own)
    seen = LegSignals(
        **{point: _joint(x, frame, motion, path, *forces[point]) for point, path in paths.items()},
        tip=FootTip(x=-tip.x, z=tip.y, y=0.0, vx=-tip.vx, vz=tip.vy, fx=-load.fx, fz=load.fy),
        torque=joints.torque,
        moment=load.moment,
        coupler_angle=jnp.arctan2(leg.at.uy, leg.at.ux),
    )
    return joined(seen, system.foot.signals(leg.at, own, load.water))


def _joint(
    x: RunnerState, frame: Frame, motion: Motion, path: Path, fx: Scalar, fy: Scalar
) -> Joint:
    """A point that moves in a body that moves.                                           (runner.2)

    Velocity and acceleration with all their terms.
    """
    rx, ry = frame.turned(path.x, path.y)
    # Velocity in the body.
    sx, sy = frame.turned(path.dx * frame.crank_rate, path.dy * frame.crank_rate)
    square = frame.crank_rate * frame.crank_rate
    bx, by = frame.turned(
        path.ddx * square + path.dx * motion.crank, path.ddy * square + path.dy * motion.crank
    )
    w, dw = x.pitch_rate, motion.pitch
    return Joint(
        x=-(x.x + rx),
        z=x.y + ry,
        y=0.0,
        vx=-(x.vx - w * ry + sx),
        vz=x.vy + w * rx + sy,
        ax=-(motion.ax - dw * ry - w * w * rx - 2.0 * w * sy + bx),
        az=motion.ay + dw * rx - w * w * ry + 2.0 * w * sx + by,
        fx=-fx,
        fz=fy,
    )
