"""The wheels as trees of MuJoCo: one on the spoke that stands, one with two sides."""

import math
from typing import TYPE_CHECKING, Any

import jax

from footfall.hybrid.rigid_bodies import require_mujoco
from footfall.hybrid.twin import THIN, Posture, Twin, point
from footfall.numerics.scalar import Scalar

if TYPE_CHECKING:
    from footfall.machines.rimless_wheel.steered_wheel import SteeredWheel
    from footfall.machines.rimless_wheel.torso_wheel import TorsoWheel


def torso_wheel_twin(wheel: "TorsoWheel") -> Twin:
    """Hub on a spoke (hinge, then slide) from its foot, torso on a hinge from the hub.

    The spring of the spoke is a spring of the slide, with the leg's stiffness and damping about its
    rest; what another law of the leg adds is given as a force.
    """
    mj = require_mujoco()
    rest = float(wheel.leg.rest_length)
    stiffness, damping = (
        -float(slope) for slope in jax.grad(wheel.leg.force, argnums=(0, 1))(rest, 0.0)
    )
    spec = mj.MjSpec()
    spec.modelname = "rimless-wheel"
    spec.compiler.degree = False
    spec.option.gravity = [0.0, 0.0, -float(wheel.gravity)]
    spec.option.integrator = mj.mjtIntegrator.mjINT_IMPLICITFAST
    lean = float(wheel.frame.descent)
    looks = {"contype": 0, "conaffinity": 0}
    base = spec.worldbody.add_body(
        name="base", quat=[math.cos(lean / 2), 0.0, math.sin(lean / 2), 0.0]
    )
    base.add_site(name="foot")
    base.add_geom(name="ground", type=mj.mjtGeom.mjGEOM_PLANE, size=[2.0, 1.0, 0.1], **looks)
    hub = base.add_body(name="hub", pos=[0.0, 0.0, rest])
    hub.add_joint(
        name="roll", type=mj.mjtJoint.mjJNT_HINGE, axis=[0.0, 1.0, 0.0], pos=[0.0, 0.0, -rest]
    )
    hub.add_joint(
        name="spoke",
        type=mj.mjtJoint.mjJNT_SLIDE,
        axis=[0.0, 0.0, 1.0],
        stiffness=stiffness,
        damping=damping,
    )
    _weigh(hub, wheel.wheel_mass, wheel.wheel_inertia, 0.0)
    hub.add_site(name="hub")
    for i in range(wheel.spokes):
        turn = i * wheel.spoke_spacing
        hub.add_geom(
            name=f"spoke_{i}",
            type=mj.mjtGeom.mjGEOM_CAPSULE,
            size=[0.005, 0.0, 0.0],
            fromto=[0.0, 0.0, 0.0, -rest * math.sin(turn), 0.0, -rest * math.cos(turn)],
            **looks,
        )
    torso = hub.add_body(name="torso")
    torso.add_joint(name="lean", type=mj.mjtJoint.mjJNT_HINGE, axis=[0.0, 1.0, 0.0])
    com = float(wheel.torso.com_distance)
    _weigh(torso, wheel.torso.mass, wheel.torso.inertia, -com)
    torso.add_site(name="torso", pos=[0.0, 0.0, -com])
    torso.add_geom(
        name="torso",
        type=mj.mjtGeom.mjGEOM_SPHERE,
        size=[0.025, 0.0, 0.0],
        pos=[0.0, 0.0, -com],
        **looks,
    )
    motor = spec.add_actuator(name="motor", trntype=mj.mjtTrn.mjTRN_JOINT, target="lean")
    motor.gainprm[0] = -1.0  # a positive torque drives forward

    def posture(t: Scalar, x: Any, m: Any) -> Posture:
        """The spoke's angle and the torso's are counter-clockwise, hinges turn about +y."""
        rates, stretch = wheel.flow(t, x, m).x, x.spoke_length - rest
        sprung = -stiffness * stretch - damping * x.spoke_speed
        force = wheel.leg.force(x.spoke_length, x.spoke_speed) - sprung
        seen = wheel.outputs(t, x, m)
        return Posture(
            point(-x.spoke_angle, stretch, x.spoke_angle - x.torso_angle),
            point(-x.spoke_rate, x.spoke_speed, x.spoke_rate - x.torso_rate),
            point(-rates.spoke_rate, rates.spoke_speed, rates.spoke_rate - rates.torso_rate),
            point(0.0, force, -wheel.motor_torque(x, m)),
            (float(seen.foot.x), 0.0, float(seen.foot.z)),
        )

    return Twin(spec, posture, "support transfers: the tree stands on one spoke")


def steered_wheel_twin(wheel: "SteeredWheel") -> Twin:
    """The axle on two slides, with heading and roll, and the torso on a hinge from it.

    Roll and heading turn the axle's own inertia, which is the whole's less what the torso adds
    while it hangs at its set point: our equations keep both constant, the tree has them change as
    the torso swings, and couples them. Going straight, both are the same.
    """
    mj = require_mujoco()
    spec = mj.MjSpec()
    spec.modelname = "rimless-wheel-3d"
    spec.compiler.degree = False
    spec.option.gravity = [0.0, 0.0, -float(wheel.gravity)]
    rest, track = float(wheel.leg.rest_length), float(wheel.half_track)
    lean, com = float(wheel.torso.pitch_setpoint), float(wheel.torso.com_distance)
    swung = float(wheel.torso.mass) * com * com
    looks = {"contype": 0, "conaffinity": 0}
    axle = spec.worldbody.add_body(name="axle", pos=[0.0, 0.0, rest])
    hinge, slide = mj.mjtJoint.mjJNT_HINGE, mj.mjtJoint.mjJNT_SLIDE
    for name, kind, axis in (
        ("forward", slide, [1.0, 0.0, 0.0]),
        ("up", slide, [0.0, 0.0, 1.0]),
        ("heading", hinge, [0.0, 0.0, 1.0]),
        ("roll", hinge, [1.0, 0.0, 0.0]),
    ):
        axle.add_joint(name=name, type=kind, axis=axis)
    axle.explicitinertial = True
    axle.mass, axle.ipos = float(wheel.wheel_mass), [0.0, 0.0, 0.0]
    own = float(wheel.torso.inertia)
    across = float(wheel.roll_inertia) - swung * math.cos(lean) ** 2 - own
    upright = float(wheel.total_yaw_inertia) - swung * math.sin(lean) ** 2 - own
    axle.inertia = [max(across, THIN), abs(across - upright) + THIN, max(upright, THIN)]
    axle.add_site(name="axle")
    for name, side in (("left_hub", track), ("right_hub", -track)):
        axle.add_site(name=name, pos=[0.0, side, 0.0])
        axle.add_geom(
            name=name,
            type=mj.mjtGeom.mjGEOM_CYLINDER,
            size=[rest, 0.004, 0.0],
            pos=[0.0, side, 0.0],
            quat=[0.5**0.5, 0.5**0.5, 0.0, 0.0],
            **looks,
        )
    torso = axle.add_body(name="torso")
    torso.add_joint(name="lean", type=hinge, axis=[0.0, 1.0, 0.0])
    _weigh(torso, wheel.torso.mass, wheel.torso.inertia, -com)
    torso.add_site(name="torso", pos=[0.0, 0.0, -com])
    for name in ("left_motor", "right_motor"):
        motor = spec.add_actuator(name=name, trntype=mj.mjtTrn.mjTRN_JOINT, target="lean")
        motor.gainprm[0] = -1.0  # a positive torque drives forward

    def posture(t: Scalar, x: Any, m: Any) -> Posture:
        """Only where it goes straight along x: no roll, no turning."""
        if any(abs(float(v)) > 0 for v in (x.roll, x.roll_rate, x.yaw_rate, x.heading)):
            raise ValueError("the tree and our equations are the same only while it goes straight.")
        rates, (left, right) = wheel.flow(t, x, m).x, wheel.sides(x, m)
        return Posture(
            point(x.x, x.height - rest, 0.0, 0.0, -x.torso_angle),
            point(x.speed, x.climb_rate, 0.0, 0.0, -x.torso_rate),
            point(rates.speed, rates.climb_rate, 0.0, 0.0, -rates.torso_rate),
            point(left.fx + right.fx, left.fz + right.fz, 0.0, 0.0, -left.torque - right.torque),
            (0.0, float(x.y), 0.0),
        )

    return Twin(spec, posture, "spokes and ground; how roll and heading change with the torso")


def _weigh(body: Any, mass: Scalar, inertia: Scalar, below: float) -> None:
    """A body whose mass is on its own z axis."""
    body.explicitinertial = True
    body.mass, body.ipos = max(float(mass), THIN), [0.0, 0.0, below]
    body.inertia = [max(float(inertia), THIN)] * 3
