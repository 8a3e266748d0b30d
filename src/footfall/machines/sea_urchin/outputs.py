"""What can be seen of the whole sea urchin, in the house frame, from what the engine logged."""

import math
from typing import TYPE_CHECKING

import equinox as eqx
import numpy as np

from footfall.hybrid.fields import signal
from footfall.hybrid.frame import Body
from footfall.hybrid.rigid_bodies import Log
from footfall.machines.sea_urchin.spike_kinematics import SPIKES, attachment
from footfall.numerics.scalar import Scalar

if TYPE_CHECKING:
    from footfall.machines.sea_urchin.robot import UrchinRobot

#: A foot this lightly loaded does not stand [N].
LIGHT = 1e-6


class HipSignals(eqx.Module):
    """Where the spikes are fixed to the shell: bottom ring (0 to 5), upper ring (6 to 11)."""

    x: Scalar = signal(unit="m", doc="attachment forward")
    y: Scalar = signal(unit="m", doc="attachment left")
    z: Scalar = signal(unit="m", doc="attachment up")


class TipSignals(eqx.Module):
    """Balls at the tips, and the force of the ground on them."""

    x: Scalar = signal(unit="m", doc="centre of the ball forward")
    y: Scalar = signal(unit="m", doc="centre of the ball left")
    z: Scalar = signal(unit="m", doc="centre of the ball up")
    fx: Scalar = signal(unit="N", doc="ground force forward, on the robot")
    fy: Scalar = signal(unit="N", doc="ground force left, on the robot")
    fz: Scalar = signal(unit="N", doc="ground force up, on the robot")


class JointSignals(eqx.Module):
    """Joints of the spikes."""

    swing: Scalar = signal(unit="rad", doc="joint 1: positive down")
    sweep: Scalar = signal(unit="rad", doc="joint 2: above a right angle counter-clockwise")
    slide: Scalar = signal(unit="m", doc="joint 3: how far the cylinder is out")
    swing_rate: Scalar = signal(unit="rad/s", doc="rate of joint 1", rate_of="swing")
    sweep_rate: Scalar = signal(unit="rad/s", doc="rate of joint 2", rate_of="sweep")
    slide_rate: Scalar = signal(unit="m/s", doc="rate of joint 3", rate_of="slide")


class WantedSignals(eqx.Module):
    """Targets of the joints."""

    swing: Scalar = signal(unit="rad", doc="joint 1 wanted")
    sweep: Scalar = signal(unit="rad", doc="joint 2 wanted")
    slide: Scalar = signal(unit="m", doc="joint 3 wanted")


class ErrorSignals(eqx.Module):
    """Wanted less measured."""

    swing: Scalar = signal(unit="rad", doc="error of joint 1")
    sweep: Scalar = signal(unit="rad", doc="error of joint 2")
    slide: Scalar = signal(unit="m", doc="error of joint 3")


class DriveSignals(eqx.Module):
    """Motors."""

    swing: Scalar = signal(unit="N m", doc="torque of joint 1")
    sweep: Scalar = signal(unit="N m", doc="torque of joint 2")
    slide: Scalar = signal(unit="N", doc="force of joint 3")


class LoadSignals(eqx.Module):
    """All contacts together."""

    lift: Scalar = signal(unit="N", doc="sum of the ground's forces up, shell included")
    thrust: Scalar = signal(unit="N", doc="sum of the ground's forces forward")
    left: Scalar = signal(unit="N", doc="sum of the ground's forces left")
    shell: Scalar = signal(unit="N", doc="force of the ground up on the shell")
    feet: Scalar = signal(doc="how many feet stand")


class UrchinTravel(eqx.Module):
    """Progress."""

    distance: Scalar = signal(unit="m", doc="way gone along the heading")
    speed: Scalar = signal(unit="m/s", doc="its rate", rate_of="distance")
    sideways: Scalar = signal(unit="m", doc="way gone to the left of the heading")
    tilt: Scalar = signal(unit="rad", doc="angle of the body's axis to the normal of the ground")


class UrchinOutputs(eqx.Module):
    """What can be seen."""

    shell: Body
    hip: HipSignals
    tip: TipSignals
    joint: JointSignals
    wanted: WantedSignals
    error: ErrorSignals
    drive: DriveSignals
    load: LoadSignals
    travel: UrchinTravel


class UrchinCounters(eqx.Module):
    """Discrete signals."""

    strides: Scalar = signal(doc="cycles of the gait walked so far")
    faces: Scalar = signal(doc="sides rolled over so far")
    kicks: Scalar = signal(doc="kicks so far")
    mode: Scalar = signal(doc="mode: 0 holds, 1 walks, 2 rolls, 3 tips over, 4 is stuck")


def rotations(quat: np.ndarray) -> np.ndarray:
    """Body to house, (rows, 3, 3), of quaternions (rows, 4)."""
    w, x, y, z = quat.T
    return np.stack(
        [
            np.stack([1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)], -1),
            np.stack([2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)], -1),
            np.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], -1),
        ],
        axis=-2,
    )


def _places(robot: "UrchinRobot", q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Attachments (12, 3) and balls (rows, 12, 3), body frame."""
    found = [
        attachment(float(robot.shell_radius), i >= SPIKES, i % SPIKES) for i in range(2 * SPIKES)
    ]
    hips, frames = np.array([place for place, _ in found]), np.array([rows for _, rows in found])
    s, c = np.sin(q[..., :2]), np.cos(q[..., :2])
    length = float(robot.built_spike.shape.shortest) + q[..., 2]
    inside = length[..., None] * np.stack(
        [c[..., 0] * s[..., 1], s[..., 0] * s[..., 1], -c[..., 1]], -1
    )
    return hips, hips + np.einsum("ijk,rik->rij", frames, inside)


def urchin_outputs(robot: "UrchinRobot", log: Log) -> UrchinOutputs:
    """Outputs of all rows."""
    rows = len(log.t)
    q, v = log.qpos[:, 7:].reshape(rows, -1, 3), log.qvel[:, 6:].reshape(rows, -1, 3)
    turn, place = rotations(log.qpos[:, 3:7]), log.qpos[:, :3]
    hips, balls = _places(robot, q)
    hip, tip = (
        place[:, None] + np.einsum("rjk,rik->rij", turn, np.broadcast_to(p, (rows, *p.shape[-2:])))
        for p in (hips, balls)
    )
    wanted, drive = log.watched["wanted"], log.effort.reshape(rows, -1, 3)
    error = wanted - q
    forces, total = log.contact[:, : 2 * SPIKES], log.contact.sum(1)
    along, across = robot.way(float(np.arctan2(turn[0, 1, 0], turn[0, 0, 0])))
    gone, rate = place - place[:1], log.qvel[:, :3]
    return UrchinOutputs(
        shell=Body(
            x=place[:, 0],
            y=place[:, 1],
            z=place[:, 2],
            vx=rate[:, 0],
            vy=rate[:, 1],
            vz=rate[:, 2],
            roll=np.arctan2(turn[:, 2, 1], turn[:, 2, 2]),
            pitch=np.arcsin(np.clip(-turn[:, 2, 0], -1.0, 1.0)),
            yaw=np.unwrap(np.arctan2(turn[:, 1, 0], turn[:, 0, 0])),
        ),
        hip=HipSignals(*(hip[..., k].T for k in range(3))),
        tip=TipSignals(*(tip[..., k].T for k in range(3)), *(forces[..., k].T for k in range(3))),
        joint=JointSignals(*(q[..., k].T for k in range(3)), *(v[..., k].T for k in range(3))),
        wanted=WantedSignals(*(wanted[..., k].T for k in range(3))),
        error=ErrorSignals(*(error[..., k].T for k in range(3))),
        drive=DriveSignals(*(drive[..., k].T for k in range(3))),
        load=LoadSignals(
            lift=total[:, 2],
            thrust=total[:, 0],
            left=total[:, 1],
            shell=log.contact[:, -1, 2],
            feet=(np.linalg.norm(forces, axis=-1) > LIGHT).sum(1).astype(float),
        ),
        travel=UrchinTravel(
            distance=gone @ along,
            speed=rate @ along,
            sideways=gone @ across,
            tilt=np.arccos(np.clip(turn[:, :, 2] @ robot.ground_normal, -1.0, 1.0)),
        ),
    )


def urchin_remarks(robot: "UrchinRobot", t: np.ndarray, columns) -> list[str]:
    """Tracking, feet, turning: what a person asks next."""
    said = []
    walking = columns["mode"] == 1.0
    if walking.any():
        rms = []
        for joint in ("swing", "sweep", "slide"):
            errors = np.array([columns[f"error.{joint}.{i}"][walking] for i in range(SPIKES)])
            rms.append(float(np.sqrt(np.mean(errors**2))))
        said.append(
            f"walking, rms error of the bottom spikes: {rms[0]:.2g} and {rms[1]:.2g} rad,"
            f" {1e3 * rms[2]:.2g} mm; {columns['load.feet'][walking].min():g} feet stand at least,"
            f" tilt up to {math.degrees(columns['travel.tilt'][walking].max()):.2g} deg"
        )
        turned = columns["shell.yaw"][walking]
        if abs(turned[-1] - turned[0]) > 0.02:
            said.append(f"turned by {math.degrees(turned[-1] - turned[0]):.4g} deg while it walked")
    if columns["kicks"][-1] > 0:
        said.append(
            f"{columns['faces'][-1]:g} sides of 60 deg with {columns['kicks'][-1]:g} kicks,"
            f" {1e3 * columns['travel.distance'][-1]:.4g} mm along its way and"
            f" {1e3 * columns['travel.sideways'][-1]:.2g} mm beside it"
        )
    if (columns["mode"] == 4.0).any():
        said.append("it got stuck: it lay or stood in a way its program cannot go on from")
    force = np.array([columns[f"tip.fz.{i}"] for i in range(2 * SPIKES)])
    said.append(f"largest force on a foot: {force.max():.3g} N (weight {robot.weight:.3g} N)")
    if (columns["load.shell"] > LIGHT).any():
        first = int(np.argmax(columns["load.shell"] > LIGHT))
        said.append(f"the shell touched the ground, first at t = {t[first]:.4g} s")
    return said
