"""The sea urchin as rigid bodies: an MjSpec of shell, twelve spikes, their motors and the floor.

A spike is three bodies: the prism on two hinges, the cylinder on a slide, and the ball at its end,
which is fixed to it but a body of its own. That matters: how soft MuJoCo makes a contact goes by
how easily the bodies that touch are moved (`body_invweight0`), and a light ball at the tip is moved
more easily than the middle of a cylinder. At zero angles a spike lies along -z of its frame S,
where the hinges turn about (0, 0, 1) and then (0, -1, 0) and the slide goes along (0, 0, -1):
machines/sea_urchin/spike_kinematics.py. Only balls and shell touch the ground.
"""

import itertools
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from footfall.hybrid.rigid_bodies import require_mujoco
from footfall.machines.sea_urchin.spike_kinematics import SPIKES, attachment

if TYPE_CHECKING:
    from footfall.machines.sea_urchin.robot import UrchinRobot
    from footfall.machines.sea_urchin.spike import Spike

#: Bottom ring first, counter-clockwise: the order of everything that has twelve of something.
NAMES = tuple(f"{ring}_{i + 1}" for ring in ("bottom", "upper") for i in range(SPIKES))
JOINTS = ("swing", "sweep", "slide")
#: MuJoCo wants an inertia about every axis, of thin rods and points too: this, where the spike has
#: none [kg m^2].
THIN = 1e-9
#: Contact: time constant and damping ratio of the ground, which are the physics page's.
SOLREF = (0.01, 1.0)
#: Half-width of the blocks that uneven ground is made of [m], and how deep they reach below the
#: floor.
HALF_WIDTH, ROOTED = 1.0, 0.05
#: Ground that goes on for ever ends here [m].
FAR = 20.0
_BALLS = 1  #: collision bit: the ground meets what has it


def urchin_spec(robot: "UrchinRobot") -> Any:
    """The whole robot, standing at the origin with its joints at zero.

    Where it starts is the start's business.
    """
    mj = require_mujoco()
    spec = mj.MjSpec()
    spec.modelname = "sea-urchin"
    option = spec.option
    option.integrator = mj.mjtIntegrator.mjINT_IMPLICITFAST
    option.cone = mj.mjtCone.mjCONE_ELLIPTIC
    option.impratio = 10.0
    option.gravity = [0.0, 0.0, -float(robot.gravity)]
    option.timestep = robot.usual_step
    spec.compiler.degree = False
    spec.visual.global_.offwidth, spec.visual.global_.offheight = 1280, 960
    surface = {"friction": [float(robot.friction), 0.005, 0.0001], "solref": list(SOLREF)}
    _ground(mj, spec, robot, surface)
    _shell(mj, spec, robot, surface)
    return spec


def _ground(mj: Any, spec: Any, robot: "UrchinRobot", surface: dict) -> None:
    world, terrain = spec.worldbody, robot.terrain
    checks = spec.add_texture(
        name="checks", type=mj.mjtTexture.mjTEXTURE_2D, builtin=mj.mjtBuiltin.mjBUILTIN_CHECKER,
        rgb1=[0.85, 0.87, 0.88], rgb2=[0.75, 0.78, 0.80], width=200, height=200,
    )  # fmt: skip
    tiles = spec.add_material(name="tiles", texrepeat=[20.0, 20.0], texuniform=True)
    tiles.textures[mj.mjtTextureRole.mjTEXROLE_RGB] = checks.name
    tilt = float(terrain.descent)
    look = {"contype": _BALLS, "conaffinity": 0, **surface}
    line = terrain.outline(-FAR, FAR) if terrain.features & {"hills", "walls"} else ()
    floor = min((z for _, z in line), default=0.0)
    if not terrain.gaps():  # they have no bottom
        # A turn about +y by the descent takes z to the normal of a slope that goes down towards +x.
        world.add_geom(
            name="floor", type=mj.mjtGeom.mjGEOM_PLANE, size=[0.0, 0.0, 0.1], pos=[0.0, 0.0, floor],
            quat=[math.cos(tilt / 2), 0.0, math.sin(tilt / 2), 0.0], material=tiles.name, **look,
        )  # fmt: skip
    above = [(p, q) for p, q in itertools.pairwise(line) if q[0] > p[0] and max(p[1], q[1]) > floor]
    for k, ((begin, low), (end, high)) in enumerate(above):
        # A block whose top is this piece of the outline.
        top, bottom, rise = 0.5 * (low + high), floor - ROOTED, math.atan2(high - low, end - begin)
        deep = top - bottom
        half = 0.5 * (end - begin) if rise == 0 else 0.5 * math.hypot(end - begin, high - low)
        across, down = 0.5 * deep * math.sin(rise), 0.5 * deep * (1.0 - math.cos(rise))
        middle = [0.5 * (begin + end) + across, 0.0, 0.5 * (top + bottom) + down]
        world.add_geom(
            name=f"block_{k}",
            type=mj.mjtGeom.mjGEOM_BOX,
            size=[half, HALF_WIDTH, 0.5 * deep],
            pos=middle,
            quat=[math.cos(rise / 2), 0.0, -math.sin(rise / 2), 0.0],
            rgba=[0.62, 0.50, 0.38, 1.0],
            **look,
        )
    world.add_light(
        pos=[0.0, -0.5, 1.5], dir=[0.0, 0.3, -1.0], type=mj.mjtLightType.mjLIGHT_DIRECTIONAL
    )


def _shell(mj: Any, spec: Any, robot: "UrchinRobot", surface: dict) -> None:
    body = spec.worldbody.add_body(name="shell")
    body.add_freejoint(name="shell")
    radius, mass = float(robot.shell_radius), float(robot.shell_mass)
    body.explicitinertial = True
    body.mass, body.inertia = mass, [0.4 * mass * radius**2] * 3  # a solid sphere
    body.ipos = [0.0, 0.0, 0.0]  # left out, MuJoCo takes the body's place for it
    body.add_geom(
        name="shell",
        type=mj.mjtGeom.mjGEOM_SPHERE,
        size=[radius, 0.0, 0.0],
        contype=0,
        conaffinity=_BALLS,
        rgba=[0.35, 0.25, 0.45, 1.0],
        **surface,
    )
    for i, name in enumerate(NAMES):
        _spike(mj, spec, body, robot, name, i >= SPIKES, i % SPIKES, surface)


def _spike(
    mj: Any,
    spec: Any,
    shell: Any,
    robot: "UrchinRobot",
    name: str,
    upper: bool,
    index: int,
    surface: dict,
) -> None:
    spike = robot.built_spike
    place, rows = attachment(float(robot.shell_radius), upper, index)
    quat = np.zeros(4)
    mj.mju_mat2Quat(quat, np.array(rows).ravel())
    ball = spike_bodies(mj, shell, spike, name, place, quat, armature=float(robot.armature)).ball
    tip = float(spike.shape.shortest)
    colour = [0.85, 0.45, 0.15, 1.0] if not upper else [0.35, 0.55, 0.35, 1.0]
    ball.add_geom(
        name=name,
        type=mj.mjtGeom.mjGEOM_SPHERE,
        size=[float(spike.ball), 0.0, 0.0],
        pos=[0.0, 0.0, -tip],
        contype=0,
        conaffinity=_BALLS,
        rgba=colour,
        **surface,
    )
    limits = (
        robot.controller.torque_limit,
        robot.controller.torque_limit,
        robot.controller.force_limit,
    )
    for joint, damping, limit in zip(JOINTS, robot.controller.damping, limits, strict=True):
        # force = control - damping * speed: the derivative gain is inside, where the integrator
        # takes it implicitly.
        motor = spec.add_actuator(
            name=f"{name}_{joint}", trntype=mj.mjtTrn.mjTRN_JOINT, target=f"{name}_{joint}"
        )
        motor.gainprm[0], motor.biastype, motor.biasprm[2] = (
            1.0,
            mj.mjtBias.mjBIAS_AFFINE,
            -float(damping),
        )
        if limit is not None:
            motor.forcelimited, motor.forcerange = True, [-float(limit), float(limit)]


class SpikeBodies(NamedTuple):
    """The three bodies of a spike."""

    prism: Any
    cylinder: Any
    ball: Any


def spike_bodies(
    mj: Any,
    parent: Any,
    spike: "Spike",
    name: str,
    place: Any,
    quat: Any,
    *,
    armature: float = 0.0,
    thin: float = THIN,
) -> SpikeBodies:
    """Prism, cylinder and ball at a place of another body, with their joints and looks.

    `thin` is what they get of mass and inertia where the spike has none.
    """
    prism = parent.add_body(name=f"{name}_prism", pos=list(place), quat=quat)
    hinge = {
        "type": mj.mjtJoint.mjJNT_HINGE,
        "armature": armature,
        "damping": float(spike.hinge_friction),
    }
    prism.add_joint(name=f"{name}_swing", axis=[0.0, 0.0, 1.0], **hinge)
    prism.add_joint(name=f"{name}_sweep", axis=[0.0, -1.0, 0.0], **hinge)
    cylinder = prism.add_body(name=f"{name}_cylinder")
    cylinder.add_joint(
        name=f"{name}_slide",
        type=mj.mjtJoint.mjJNT_SLIDE,
        axis=[0.0, 0.0, -1.0],
        range=[0.0, float(spike.stroke)],
        limited=True,
        damping=float(spike.slide_friction),
    )
    ball = cylinder.add_body(name=f"{name}_ball")
    for body, part in zip((prism, cylinder, ball), spike.axial_bodies, strict=True):
        body.explicitinertial = True
        body.mass, body.ipos = max(float(part.mass), thin), [0.0, 0.0, -float(part.offset)]
        across = max(float(part.transverse), thin)
        body.inertia = [across, across, max(float(part.axial), thin)]
    length = float(spike.prism)
    looks = {"contype": 0, "conaffinity": 0, "group": 1}
    prism.add_geom(
        name=f"{name}_prism",
        type=mj.mjtGeom.mjGEOM_BOX,
        size=[0.006, 0.006, 0.5 * length],
        pos=[0.0, 0.0, -0.5 * length],
        rgba=[0.25, 0.45, 0.60, 1.0],
        **looks,
    )
    cylinder.add_geom(
        name=f"{name}_rod",
        type=mj.mjtGeom.mjGEOM_CYLINDER,
        size=[0.003, 0.5 * float(spike.cylinder_length), 0.0],
        pos=[0.0, 0.0, 0.5 * float(spike.cylinder_length) - length],
        rgba=[0.7, 0.7, 0.7, 1.0],
        **looks,
    )
    return SpikeBodies(prism, cylinder, ball)
