"""What a learner may be asked to do with the runner: stay above the water, fast, by the voltage."""

import math

from footfall.hybrid.task import Action, Observation, Passage, Reward, Task
from footfall.numerics.scalar import Scalar


def headway(passage: Passage) -> Scalar:
    """[m] How far it came along the water."""
    return passage.after.outputs.travel.distance - passage.before.outputs.travel.distance


def effort(passage: Passage) -> Scalar:
    """[m] How far its weight would have to be drawn for the same work: cost of transport x way."""
    return -passage.work / (passage.system.body.mass * passage.system.gravity)


def fall(passage: Passage) -> Scalar:
    """-1 where the run has ended: it sank, tipped over or touched the ground."""
    return -passage.ended


RUN_TASK = Task(
    "Run over water, far and cheaply, by the voltage of the motor that turns the cranks.",
    actions=(Action("drive.voltage", 0.0, 12.0),),
    observations=(
        Observation("body.z", -0.1, 0.3),
        Observation("body.vz", -2.0, 2.0),
        Observation("body.vx", -3.0, 5.0),
        Observation("body.pitch", -math.pi, math.pi),
        Observation("pitch_rate", -30.0, 30.0),
        Observation("crank_angle", -math.pi, math.pi, turns=True),
        Observation("crank_rate", -150.0, 150.0),
    ),
    rewards=(Reward(headway), Reward(effort, 0.1), Reward(fall)),
    period=0.01,
    step=2e-4,
    length=4.0,
    settings={"drive": "crank-motor"},
    spread={"body.mass": 0.1, "body.inertia": 0.1, "drive.resistance": 0.1},
)
