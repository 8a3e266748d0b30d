"""What a learner may be asked to do with the centipede: walk, by the pace and the wave."""

import math

from footfall.hybrid.task import Action, Observation, Passage, Reward, Task
from footfall.numerics.scalar import Scalar


def headway(passage: Passage) -> Scalar:
    """[m] How far its segments came, in the mean."""
    return passage.after.outputs.travel.distance - passage.before.outputs.travel.distance


def effort(passage: Passage) -> Scalar:
    """[m] How far its weight would have to be drawn for the same work: cost of transport x way."""
    return -passage.work / passage.system.travel().weight


def fall(passage: Passage) -> Scalar:
    """-1 where the walk has ended below the ground."""
    return -passage.ended


WALK_TASK = Task(
    "Walk far and cheaply, by how fast the legs step and by how much each is ahead of the next.",
    actions=(Action("gait.frequency", 0.2, 3.0), Action("gait.lag", 0.5, 3.0)),
    observations=(
        Observation("travel.speed", -0.5, 0.5),
        Observation("travel.height", 0.0, 0.1),
        Observation("travel.order", 0.0, 1.0),
        Observation("legs.phase.0", -math.pi, math.pi, turns=True),
        Observation("load.lift", 0.0, 100.0),
        Observation("load.thrust", -50.0, 50.0),
    ),
    rewards=(Reward(headway), Reward(effort, 0.1), Reward(fall)),
    period=0.1,
    step=1e-4,
    length=20.0,
    spread={"friction.coefficient": 0.2, "body.mass": 0.1, "contact.stiffness": 0.2},
)
