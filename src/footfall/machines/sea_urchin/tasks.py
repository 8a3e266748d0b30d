"""What a learner may be asked to do with a spike: follow the path of its foot, by efforts."""

import math

from footfall.hybrid.task import Action, Observation, Passage, Reward, Task
from footfall.numerics.scalar import Scalar


def nearness(passage: Passage) -> Scalar:
    """[m] Less the distance of the foot from where it should be."""
    return -passage.after.outputs.total.tip_error


def effort(passage: Passage) -> Scalar:
    """[J] Less the work of the motors."""
    return -passage.work


def stop(passage: Passage) -> Scalar:
    """-1 where a joint came to its end."""
    return -passage.ended


#: The spike is light and quick: a period of 2 ms, steps of 0.1 ms.
FOLLOW_TASK = Task(
    "Lead the foot along its path, by torques of the hinges and the force of the slide.",
    actions=(
        Action("controller.torque_1", -1.0, 1.0),
        Action("controller.torque_2", -1.0, 1.0),
        Action("controller.force", -10.0, 10.0),
    ),
    observations=(
        Observation("joint_1.angle", -math.pi, math.pi),
        Observation("joint_1.rate", -50.0, 50.0),
        Observation("joint_1.angle_error", -1.0, 1.0),
        Observation("joint_2.angle", 0.0, math.pi),
        Observation("joint_2.rate", -50.0, 50.0),
        Observation("joint_2.angle_error", -1.0, 1.0),
        Observation("joint_3.extension", 0.0, 0.1),
        Observation("joint_3.rate", -5.0, 5.0),
        Observation("joint_3.extension_error", -0.1, 0.1),
    ),
    rewards=(Reward(nearness, 10.0), Reward(effort, 0.1), Reward(stop)),
    period=2e-3,
    step=1e-4,
    length=6.0,
    settings={"controller": "held-effort"},
    spread={"spike.prism_mass": 0.2, "spike.cylinder_mass": 0.2},
)
