"""The step climber on its first foot as a tree of MuJoCo: four links in a row on three hinges."""

from typing import TYPE_CHECKING, Any

import numpy as np

from footfall.hybrid.rigid_bodies import require_mujoco
from footfall.hybrid.twin import THIN, Posture, Twin, point
from footfall.numerics.scalar import Scalar

if TYPE_CHECKING:
    from footfall.machines.two_leg.walker import TwoLegWalker

#: Each link's end, as outputs name it; the first link begins at foot_1 and stays upright.
ENDS = ("ankle_1", "knee", "ankle_2", "foot_2")


def two_leg_twin(walker: "TwoLegWalker") -> Twin:
    """The tree is fixed to the ground by its first foot, which must be the one that stands."""
    mj = require_mujoco()
    limbs = walker.limbs
    length, half = float(limbs.length), 0.5 * float(limbs.foot_length)
    spec = mj.MjSpec()
    spec.modelname = "two-leg"
    spec.compiler.degree = False
    spec.option.gravity = [0.0, 0.0, -float(limbs.gravity)]
    looks = {"contype": 0, "conaffinity": 0}
    above = spec.worldbody.add_body(name="foot_1")
    above.add_site(name="foot_1")
    _foot(mj, above, limbs, -half, looks)
    for number, end in enumerate(ENDS, start=1):
        link = above.add_body(name=f"link_{number}", pos=[0.0, 0.0, 0.0 if number == 1 else length])
        link.explicitinertial = True
        link.mass, link.ipos = float(limbs.mass), [0.0, 0.0, 0.5 * length]
        link.inertia = [max(float(limbs.inertia), THIN)] * 3
        if number > 1:
            link.add_joint(
                name=f"turn_{number - 1}", type=mj.mjtJoint.mjJNT_HINGE, axis=[0.0, 1.0, 0.0]
            )
            motor = spec.add_actuator(
                name=f"motor_{number - 1}",
                trntype=mj.mjtTrn.mjTRN_JOINT,
                target=f"turn_{number - 1}",
            )
            motor.gainprm[0] = -1.0  # its torque is counted clockwise in the model's plane
        link.add_site(name=end, pos=[0.0, 0.0, length])
        link.add_geom(
            name=f"link_{number}",
            type=mj.mjtGeom.mjGEOM_CAPSULE,
            size=[0.006, 0.0, 0.0],
            fromto=[0.0, 0.0, 0.0, 0.0, 0.0, length],
            **looks,
        )
        above = link
    foot = above.add_body(name="foot_2", pos=[0.0, 0.0, length])
    _foot(mj, foot, limbs, -half, looks)  # the last link hangs head down, its x looks back

    def posture(t: Scalar, x: Any, m: Any) -> Posture:
        """Turns are clockwise in the model's plane, which looks at the robot from its right."""
        pose, stands = walker.pose_at(t, m)
        if not float(stands):
            raise ValueError(f"at {float(t):g} s foot 2 stands; the tree stands on foot 1.")
        torques = walker.effort_at(pose, stands).torques
        turns, seen = pose.turns, walker.outputs(t, x, m).foot_1
        return Posture(
            -point(*(turn.value for turn in turns)),
            -point(*(turn.rate for turn in turns)),
            -point(*(turn.second for turn in turns)),
            -point(*torques),
            (float(seen.x), 0.0, float(seen.z)),
        )

    return Twin(spec, posture, "the other stance: the tree stands on foot 1")


def _foot(mj: Any, body: Any, limbs: Any, middle: float, looks: dict[str, Any]) -> None:
    """A flat foot, its mass half-way along it."""
    mass, length = float(limbs.foot_mass), float(limbs.foot_length)
    body.explicitinertial = True
    body.mass, body.ipos, body.inertia = max(mass, THIN), [middle, 0.0, 0.0], [THIN] * 3
    body.add_geom(
        name=f"{body.name}_plate",
        type=mj.mjtGeom.mjGEOM_BOX,
        size=[0.5 * max(length, 1e-3), 0.02, 0.001],
        pos=list(np.array([middle, 0.0, 0.0])),
        **looks,
    )
