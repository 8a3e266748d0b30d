"""Wheels with feet that touch MuJoCo's ground: its soft contacts instead of our laws.

A twin (`system.twin()`) touches nothing. Here the same numbers are put together as bodies whose feet
are points that land, rub and leave by MuJoCo's own constraints. `benchmarks/contacts_mujoco.py`
compares, `tests/laws/test_soft_contacts.py` checks the limit.
"""

import dataclasses
import math
from collections.abc import Callable
from typing import NamedTuple

import mujoco
import numpy as np

#: A foot is a point: a ball so small that where it is touched is where it is [m].
POINT = 1e-4


@dataclasses.dataclass(frozen=True)
class Contacts:
    """What MuJoCo is told of contacts."""

    solref: tuple[float, float] = (0.02, 1.0)  #: time constant [s] and damping ratio
    solimp: tuple[float, float, float] = (
        0.9,
        0.95,
        0.001,
    )  #: impedance at the surface, deeper, how deep
    cone: str = "pyramidal"
    impratio: float = 1.0
    timestep: float = 0.002
    friction: float = 1.0
    #: N/m and N s/m of a spring and a damper under every foot, instead of `solref` and `solimp`
    spring: tuple[float, float] | None = None


#: As MuJoCo comes.
DEFAULT = Contacts()


def hard(time_constant: float = 2e-3, step: float | None = None, **more: float) -> Contacts:
    """As near to a rigid, plastic, sticking contact as a time constant and a step allow.

    With an impedance near one a foot that stands hardly sinks in, and loses touch at every few
    steps; at one half it stands.
    """
    return Contacts(
        (time_constant, 1.0),
        (0.5, 0.5, 1e-3),
        "elliptic",
        100.0,
        0.05 * time_constant if step is None else step,
        **more,
    )


#: Impedance of a contact that is to be a spring and a damper and nothing else: MuJoCo adds this share
#: of what would hold the foot still.
SLIGHT = 1e-3


def settle(model: mujoco.MjModel, contacts: Contacts, feet: list[int]) -> None:
    """Write the contacts into a model.

    Of a constraint with a constant small impedance d MuJoCo's force is d m (b v + k r) with
    k = stiffness/d, b = damping/d and m the body's inverse weight: so a spring of K and a damper of C
    are solref = (-K/m, -C/m).
    """
    option = model.opt
    option.timestep, option.impratio = contacts.timestep, contacts.impratio
    option.cone = getattr(mujoco.mjtCone, f"mjCONE_{contacts.cone.upper()}")
    option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    model.geom_friction[:, 0] = contacts.friction
    for foot in feet:
        if contacts.spring is None:
            model.geom_solref[foot], model.geom_solimp[foot, :3] = contacts.solref, contacts.solimp
        else:
            weight = model.body_invweight0[model.geom_bodyid[foot], 0]
            model.geom_solref[foot] = [-number * weight for number in contacts.spring]
            model.geom_solimp[foot] = [SLIGHT, SLIGHT, 1e-3, 0.5, 2.0]
    ground = model.geom("ground").id
    # Of two geoms the one with the higher priority says how they touch.
    model.geom_priority[feet], model.geom_priority[ground] = 1, 0


class Wheel(NamedTuple):
    """A model of a wheel, and where its parts are."""

    model: mujoco.MjModel
    feet: list[list[int]]  #: geoms, by side
    spins: list[int]  #: degrees of freedom in which each side turns, about +y


def planar_wheel(
    *,
    mass: float,
    length: float,
    spokes: int,
    slope: float = 0.0,
    inertia: float = 0.0,
    torso: tuple[float, float, float] | None = None,
    leg: tuple[float, float, float] | None = None,
    gravity: float = 9.81,
    contacts: Contacts = DEFAULT,
) -> Wheel:
    """In the plane of its path; a slope is a gravity that leans.

    torso: mass, distance of its centre below the hub, inertia. leg: stiffness and damping of spokes
    that slide, and the mass of each of their tips (taken from the hub's); without it they are rigid.
    """
    spec = _ground(gravity, slope)
    hub = spec.worldbody.add_body(name="hub", pos=[0.0, 0.0, length])
    _slides(hub, (("x", [1, 0, 0]), ("z", [0, 0, 1])))
    if torso is None:
        wheel = hub
    else:
        bare = hub.add_body(name="torso")
        bare.add_joint(name="lean", type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 1, 0])
        _weigh(bare, torso[0], torso[2], -torso[1])
        wheel = hub.add_body(name="wheel")
        _weigh(hub, 1e-9, 1e-9, 0.0)
    wheel.add_joint(name="roll", type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 1, 0])
    feet = _spokes(wheel, "", 0.0, spokes, length, leg)
    tips = 0.0 if leg is None else spokes * leg[2]
    _weigh(wheel, mass - tips, inertia - tips * length**2, 0.0)
    return _made(spec, [feet], ["roll"], contacts)


def steered_wheel(
    *,
    mass: float,
    track: float,
    length: float,
    spokes: int,
    roll_inertia: float,
    yaw_inertia: float,
    wheel_inertia: float,
    torso: tuple[float, float, float],
    lean: float,
    gravity: float = 9.81,
    contacts: Contacts = DEFAULT,
) -> Wheel:
    """Two sides on an axle that is free to move, to roll and to turn; wheels of no mass but inertia.

    Inertias of the whole as in our equations: the axle has what the torso at `lean` does not bring.
    """
    spec = _ground(gravity, 0.0)
    axle = spec.worldbody.add_body(name="axle", pos=[0.0, 0.0, length])
    _slides(axle, (("x", [1, 0, 0]), ("y", [0, 1, 0]), ("z", [0, 0, 1])))
    for name, axis in (("heading", [0, 0, 1]), ("sway", [1, 0, 0])):
        axle.add_joint(name=name, type=mujoco.mjtJoint.mjJNT_HINGE, axis=axis)
    swung = torso[0] * torso[1] ** 2
    across, upright = (
        roll_inertia - swung * math.cos(lean) ** 2,
        yaw_inertia - swung * math.sin(lean) ** 2,
    )
    axle.explicitinertial = True
    axle.mass, axle.inertia = mass, [across, abs(across - upright) + 1e-6, upright]
    body = axle.add_body(name="torso")
    body.add_joint(name="lean", type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 1, 0])
    _weigh(body, torso[0], torso[2], -torso[1])
    feet = []
    for side, across in (("left", track), ("right", -track)):
        wheel = axle.add_body(name=side, pos=[0.0, across, 0.0])
        wheel.add_joint(name=side, type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 1, 0])
        wheel.explicitinertial = True
        wheel.mass, wheel.inertia = 1e-6, [0.5 * wheel_inertia, wheel_inertia, 0.5 * wheel_inertia]
        feet.append(_spokes(wheel, f"{side}_", 0.0, spokes, length, None))
    return _made(spec, feet, ["left", "right"], contacts)


def _ground(gravity: float, slope: float) -> mujoco.MjSpec:
    spec = mujoco.MjSpec()
    spec.option.gravity = [gravity * math.sin(slope), 0.0, -gravity * math.cos(slope)]
    spec.worldbody.add_geom(
        name="ground",
        type=mujoco.mjtGeom.mjGEOM_PLANE,
        size=[0.0, 0.0, 1.0],
        pos=[0.0, 0.0, -POINT],
        contype=2,
        conaffinity=1,
    )
    return spec


def _slides(body: mujoco.MjsBody, axes: tuple) -> None:
    for name, axis in axes:
        body.add_joint(name=name, type=mujoco.mjtJoint.mjJNT_SLIDE, axis=axis)


def _weigh(body: mujoco.MjsBody, mass: float, inertia: float, below: float) -> None:
    body.explicitinertial = True
    body.mass, body.ipos = mass, [0.0, 0.0, below]
    body.inertia = [max(inertia, 1e-9)] * 3


def _spokes(
    wheel: mujoco.MjsBody,
    side: str,
    across: float,
    spokes: int,
    length: float,
    leg: tuple[float, float, float] | None,
) -> list[str]:
    """Feet on the wheel, or each on a slide of its own; number 0 points down."""
    names = []
    for i in range(spokes):
        turn = 2.0 * math.pi * i / spokes
        out = [-math.sin(turn), 0.0, -math.cos(turn)]
        at, holder = [length * v for v in out], wheel
        if leg is not None:
            stiffness, damping, tip = leg
            holder = wheel.add_body(name=f"{side}tip_{i}", pos=at)
            holder.add_joint(
                name=f"{side}spoke_{i}",
                type=mujoco.mjtJoint.mjJNT_SLIDE,
                axis=out,
                stiffness=stiffness,
                damping=damping,
            )
            _weigh(holder, tip, 0.0, 0.0)
            at = [0.0, 0.0, 0.0]
        names.append(f"{side}foot_{i}")
        holder.add_geom(
            name=names[-1],
            type=mujoco.mjtGeom.mjGEOM_SPHERE,
            size=[POINT, 0.0, 0.0],
            pos=at,
            contype=1,
            conaffinity=2,
        )
    return names


def _made(spec: mujoco.MjSpec, feet: list, spins: list[str], contacts: Contacts) -> Wheel:
    model = spec.compile()
    found = [[model.geom(name).id for name in side] for side in feet]
    settle(model, contacts, [foot for side in found for foot in side])
    return Wheel(model, found, [int(model.joint(name).dofadr[0]) for name in spins])


class Loads(NamedTuple):
    """What feet felt, step by step."""

    time: np.ndarray
    qpos: np.ndarray
    qvel: np.ndarray
    energy: np.ndarray  #: kinetic and of height
    work: np.ndarray  #: of motors, since the start
    peak: np.ndarray  #: the greatest force of one foot
    rubbed: np.ndarray  #: the greatest tangential force to normal force of a foot that carries
    landings: np.ndarray  #: so far: contacts of feet that did not touch in the step before


def roll(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    seconds: float,
    carries: float,
    drive: Callable[[mujoco.MjData], float] | None = None,
) -> Loads:
    """Step to the end. `drive` sets forces before a step and returns their power.

    A foot carries from `carries` newtons on.
    """
    model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    steps = round(seconds / model.opt.timestep)
    rows = np.zeros((steps, 6))
    qpos, qvel = np.zeros((steps, model.nq)), np.zeros((steps, model.nv))
    force, done, landed, before = np.zeros(6), 0.0, 0, set()
    for i in range(steps):
        power = 0.0 if drive is None else drive(data)
        qpos[i], qvel[i], time = data.qpos, data.qvel, data.time
        mujoco.mj_step(model, data)
        peak, rubbed, felt = 0.0, 0.0, {}
        for number, contact in enumerate(data.contact):
            mujoco.mj_contactForce(model, data, number, force)
            foot = int(max(contact.geom))  # of a plate, all its corners; the ground is geom 0
            felt[foot] = felt.get(foot, 0.0) + force[:3]
        for normal, *along in felt.values():
            peak = max(peak, math.hypot(normal, *along))
            if normal > carries:
                rubbed = max(rubbed, math.hypot(*along) / normal)
        touching = set(felt)
        landed += len(touching - before)
        before = touching
        rows[i] = time, data.energy.sum(), done, peak, rubbed, landed
        done += power * model.opt.timestep
    return Loads(rows[:, 0], qpos, qvel, *rows[:, 1:].T)
