"""How a run of the whole sea urchin begins."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from footfall.hybrid.fields import param
from footfall.hybrid.motion_plan import NoState
from footfall.hybrid.rigid_bodies import BodiesState
from footfall.hybrid.start import AbstractStart
from footfall.hybrid.system import HybridState
from footfall.machines.sea_urchin.driver import DRAWN_IN, walk_reference
from footfall.machines.sea_urchin.program import LYING, first_pose
from footfall.machines.sea_urchin.spike_kinematics import AZIMUTHS
from footfall.numerics.scalar import Scalar

if TYPE_CHECKING:
    from footfall.machines.sea_urchin.robot import UrchinRobot


class UrchinStart(AbstractStart):
    """At rest, as its program needs it.

    On its feet where they are when the gait begins, or drawn in on a side.
    """

    x: Scalar = param(0.0, unit="m", doc="place of the shell's centre, forward")
    y: Scalar = param(0.0, unit="m", doc="place of the shell's centre, left")
    yaw: Scalar = param(
        0.0,
        unit="rad",
        doc=(
            "heading of the body; of one that lies, how far its axis is turned from square to"
            " its way"
        ),
    )
    drop: Scalar = param(0.0, unit="m", doc="how far above the ground it is let go", ge=0)

    def state(self, system: Any) -> HybridState:
        robot: UrchinRobot = system
        if first_pose(robot.actions) == LYING:
            joints, height, turn = (
                DRAWN_IN,
                robot.lying_height,
                _lying(float(robot.roll.direction) + float(self.yaw)),
            )
        else:
            walks = next((d.verb for d in robot.actions if d.verb != "hold"), "walk") == "walk"
            joints = walk_reference(robot, 1, robot.usual_step).joints[0] if walks else DRAWN_IN
            height = robot.stand_height if walks else robot.drawn_in_height
            turn = _about((0.0, 0.0, 1.0), float(self.yaw))
        normal = robot.ground_normal
        turn = _product(_about((0.0, 1.0, 0.0), math.atan2(normal[0], normal[2])), turn)
        foot = np.array([float(self.x), float(self.y), 0.0])
        foot[2] = -normal[0] / normal[2] * foot[0]
        qpos = np.concatenate([foot + (height + float(self.drop)) * normal, turn, joints.ravel()])
        return HybridState(BodiesState(qpos=qpos, qvel=np.zeros(len(qpos) - 1)), NoState())


def _about(axis: tuple[float, float, float], angle: float) -> np.ndarray:
    return np.concatenate([[math.cos(angle / 2)], math.sin(angle / 2) * np.array(axis)])


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The quaternion of b followed by a."""
    scalar = a[0] * b[0] - a[1:] @ b[1:]
    return np.concatenate([[scalar], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])])


def _lying(direction: float) -> np.ndarray:
    """On the side between columns 0 and 1, the axis level and to the left of the direction."""
    middle = 0.5 * (AZIMUTHS[0] + AZIMUTHS[1])
    # The azimuth in the middle shall point down and the axis left: the middle to x, x down, what
    # was z to the left, all to the direction.
    # x -> -z, z -> x.
    down = _product(_about((0.0, 1.0, 0.0), math.pi / 2), _about((0.0, 0.0, 1.0), -middle))
    left = _about((0.0, 0.0, 1.0), math.pi / 2)  # x -> y, so z of the body -> y
    return _product(_about((0.0, 0.0, 1.0), direction), _product(left, down))
