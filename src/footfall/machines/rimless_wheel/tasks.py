"""What a learner may be asked to do with the wheels: walk, by torque or by lean, and steer."""

import math

from footfall.hybrid.task import Action, Observation, Passage, Reward, Task
from footfall.numerics.scalar import Scalar

#: Of the motors of both sides together, at the current limit: 2 x 5.4 x 0.034 N m/A x 40 A.
TORQUE = 14.0
#: Of wheel and torso, as they move in any gait and in most falls.
SPIN, SWING = 15.0, 20.0


def headway(passage: Passage) -> Scalar:
    """[m] How far it came along the ground."""
    return passage.after.outputs.travel.distance - passage.before.outputs.travel.distance


def effort(passage: Passage) -> Scalar:
    """[m] How far its weight would have to be drawn for the same work: cost of transport x way."""
    return -passage.work / (passage.system.total_mass * passage.system.gravity)


def fall(passage: Passage) -> Scalar:
    """-1 where the walk has ended: it lifted off, rocked back, fell or stumbled."""
    return -passage.ended


def turn(passage: Passage) -> Scalar:
    """[rad] How far it turned to the left."""
    return passage.after.x.heading - passage.before.x.heading


SPOKE = (
    Observation("spoke_angle", -0.5 * math.pi, 0.5 * math.pi),
    Observation("spoke_rate", -SPIN, SPIN),
)
TORSO = (
    Observation("torso_angle", -math.pi, math.pi),
    Observation("torso_rate", -SWING, SWING),
)
#: Deflection and speed of the loaded spoke.
SPRING = (Observation("spoke_length", 0.0, 0.5), Observation("spoke_speed", -2.0, 2.0))
SPREAD = {"leg.stiffness": 0.2, "leg.damping": 0.2, "torso.mass": 0.1, "torso.com_distance": 0.1}
WALK = (Reward(headway), Reward(effort, 0.5), Reward(fall))
#: 20 ms for which an action is held; steps of 1 ms; episodes of 10 s.
TIMES = {"period": 0.02, "step": 1e-3, "length": 10.0}

TORQUE_TASK = Task(
    "Walk by the torque of the motors on the torso, far and cheaply.",
    actions=(Action("controller.value", -TORQUE, TORQUE),),
    observations=(*SPOKE, *TORSO, *SPRING),
    rewards=WALK,
    settings={"controller": "constant-torque"},
    spread=SPREAD,
    **TIMES,
)
LEAN_TASK = Task(
    "Walk by leaning: the angle at which the PID holds the torso.",
    actions=(Action("torso.pitch_setpoint", 0.0, 1.4),),
    observations=(*SPOKE, *TORSO, *SPRING, Observation("pitch_integral", -2.0, 2.0)),
    rewards=WALK,
    spread=SPREAD,
    **TIMES,
)
STEER_TASK = Task(
    "Walk in a curve to the left, by leaning and by a difference of the motor currents.",
    actions=(Action("torso.pitch_setpoint", 0.0, 1.2), Action("steering_current", -1.0, 1.0)),
    observations=(
        Observation("height", 0.0, 0.5),
        Observation("roll", -0.5, 0.5),
        Observation("speed", -3.0, 3.0),
        Observation("climb_rate", -2.0, 2.0),
        Observation("roll_rate", -10.0, 10.0),
        Observation("yaw_rate", -5.0, 5.0),
        Observation("foot_ahead_left", -0.3, 0.3),
        Observation("foot_ahead_right", -0.3, 0.3),
        *TORSO,
    ),
    rewards=(Reward(headway), Reward(turn, 0.2), Reward(effort, 0.5), Reward(fall)),
    spread=SPREAD,
    **TIMES,
)
