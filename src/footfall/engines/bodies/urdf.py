"""A model of MuJoCo as URDF, for rviz and what else reads that.

URDF puts the frame of a link at its joint, and knows one joint to a link: a body with several gets
links without mass between, and its own frame is moved to the last of them.
"""

import xml.etree.ElementTree as ET
from typing import Any

import numpy as np

from footfall.hybrid.rigid_bodies import require_mujoco
from footfall.hybrid.twin import THIN

#: Where nothing limits a joint [m or rad, N or N m, m/s or rad/s].
FAR, STRONG, FAST = 1e3, 1e6, 1e6


def urdf_of(model: Any, name: str) -> str:
    """The text. Tendons, actuators and contacts have no place in URDF."""
    mj = require_mujoco()
    robot = ET.Element("robot", name=name)
    ET.SubElement(robot, "link", name="world")
    frames = {0: ("world", np.zeros(3))}  # of each body: its link, and where that is in the body
    for body in range(1, model.nbody):
        parent, shift = frames[int(model.body_parentid[body])]
        own = model.body(body).name or f"body_{body}"
        first, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
        place, turn = model.body_pos[body] - shift, model.body_quat[body]
        at = np.zeros(3)
        for k in range(count):
            joint, last = first + k, k == count - 1
            free = model.jnt_type[joint] == mj.mjtJoint.mjJNT_FREE
            anchor = np.zeros(3) if free else np.array(model.jnt_pos[joint])
            child = own if last else f"{own}_{k + 1}"
            moved = anchor - at
            _joint(mj, robot, model, joint, (parent, child), place + _turned(mj, turn, moved), turn)
            if not last:
                _massless(robot, child)
            parent, at = child, anchor
            place, turn = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
        if not count:
            fixed = _element(robot, "joint", name=f"{own}_fixed", type="fixed")
            _element(fixed, "origin", xyz=_numbers(place), rpy=_numbers(_rpy(mj, turn)))
            _element(fixed, "parent", link=parent)
            _element(fixed, "child", link=own)
        frames[body] = (own, at)
        _link(mj, robot, model, body, own, at)
    ET.indent(robot)
    return ET.tostring(robot, encoding="unicode", xml_declaration=True) + "\n"


def _joint(
    mj: Any,
    robot: ET.Element,
    model: Any,
    joint: int,
    links: tuple[str, str],
    place: Any,
    turn: Any,
) -> None:
    kind, name = model.jnt_type[joint], model.joint(joint).name or f"joint_{joint}"
    limited = bool(model.jnt_limited[joint])
    said = {
        int(mj.mjtJoint.mjJNT_FREE): "floating",
        int(mj.mjtJoint.mjJNT_SLIDE): "prismatic",
        int(mj.mjtJoint.mjJNT_HINGE): "revolute" if limited else "continuous",
    }
    if int(kind) not in said:
        raise ValueError(f"the joint {name} is a ball, for which URDF has no word.")
    made = _element(robot, "joint", name=name, type=said[int(kind)])
    _element(made, "origin", xyz=_numbers(place), rpy=_numbers(_rpy(mj, turn)))
    _element(made, "parent", link=links[0])
    _element(made, "child", link=links[1])
    if kind == mj.mjtJoint.mjJNT_FREE:
        return
    _element(made, "axis", xyz=_numbers(model.jnt_axis[joint]))
    low, high = model.jnt_range[joint] if limited else (-FAR, FAR)
    limits = {"lower": low, "upper": high, "effort": STRONG, "velocity": FAST}
    _element(made, "limit", **{key: f"{value:.17g}" for key, value in limits.items()})
    damping = float(np.ravel(model.dof_damping[model.jnt_dofadr[joint]])[0])
    _element(made, "dynamics", damping=f"{damping:.17g}")


def _link(mj: Any, robot: ET.Element, model: Any, body: int, name: str, at: np.ndarray) -> None:
    link = _element(robot, "link", name=name)
    inertial = _element(link, "inertial")
    turn = _numbers(_rpy(mj, model.body_iquat[body]))
    _element(inertial, "origin", xyz=_numbers(model.body_ipos[body] - at), rpy=turn)
    _element(inertial, "mass", value=f"{model.body_mass[body]:.17g}")
    own = dict(zip(("ixx", "iyy", "izz"), model.body_inertia[body], strict=True))
    cross = dict.fromkeys(("ixy", "ixz", "iyz"), 0.0)
    _element(inertial, "inertia", **{key: f"{v:.17g}" for key, v in (own | cross).items()})
    for geom in range(model.ngeom):
        shape = _shape(mj, model, geom) if model.geom_bodyid[geom] == body else None
        if shape is not None:
            visual = _element(link, "visual")
            turn = _numbers(_rpy(mj, model.geom_quat[geom]))
            _element(visual, "origin", xyz=_numbers(model.geom_pos[geom] - at), rpy=turn)
            _element(_element(visual, "geometry"), shape[0], **shape[1])


def _shape(mj: Any, model: Any, geom: int) -> tuple[str, dict[str, str]] | None:
    """What URDF can draw: a capsule is a cylinder, a plane nothing."""
    size, kind = model.geom_size[geom], mj.mjtGeom(int(model.geom_type[geom]))
    if kind == mj.mjtGeom.mjGEOM_SPHERE:
        return "sphere", {"radius": f"{size[0]:.17g}"}
    if kind in (mj.mjtGeom.mjGEOM_CAPSULE, mj.mjtGeom.mjGEOM_CYLINDER):
        return "cylinder", {"radius": f"{size[0]:.17g}", "length": f"{2 * size[1]:.17g}"}
    if kind == mj.mjtGeom.mjGEOM_BOX:
        return "box", {"size": _numbers(2 * size)}
    return None


def _massless(robot: ET.Element, name: str) -> None:
    """A link between two joints: of so little mass that simulators take it, and nothing moves."""
    inertial = _element(_element(robot, "link", name=name), "inertial")
    _element(inertial, "mass", value=f"{THIN}")
    own, cross = dict.fromkeys(("ixx", "iyy", "izz"), THIN), dict.fromkeys(("ixy", "ixz", "iyz"), 0)
    _element(inertial, "inertia", **{key: f"{value}" for key, value in (own | cross).items()})


def _element(parent: ET.Element, tag: str, **attributes: str) -> ET.Element:
    return ET.SubElement(parent, tag, attributes)


def _numbers(values: Any) -> str:
    return " ".join(f"{value + 0.0:.17g}" for value in values)


def _turned(mj: Any, quat: Any, vector: np.ndarray) -> np.ndarray:
    out = np.zeros(3)
    mj.mju_rotVecQuat(out, vector, np.array(quat, float))
    return out


def _rpy(mj: Any, quat: Any) -> tuple[float, float, float]:
    """Roll, pitch and yaw of a quaternion: turns about the fixed x, then y, then z."""
    rows = np.zeros(9)
    mj.mju_quat2Mat(rows, np.array(quat, float))
    r = rows.reshape(3, 3)
    pitch = np.arctan2(-r[2, 0], np.hypot(r[0, 0], r[1, 0]))
    if abs(np.cos(pitch)) < 1e-9:  # it points up or down: roll and yaw turn about one axis
        return float(np.arctan2(-r[1, 2], r[1, 1])), float(pitch), 0.0
    return float(np.arctan2(r[2, 1], r[2, 2])), float(pitch), float(np.arctan2(r[1, 0], r[0, 0]))
