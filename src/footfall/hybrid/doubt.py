"""A reason not to believe a result.

One word that a program can test, one sentence that a person can act on.
"""

from collections.abc import Iterable
from typing import NamedTuple

#: Every word, and what it means for a run. A robot of one's own may use others.
DOUBTS = {
    "books_open": "energy came from nowhere or went nowhere",
    "loss_creates_energy": "a loss gave energy over the run",
    "contact_pulls": "a foot would have to pull on the ground",
    "tips_unless_held": "a foot that is not held down would tip",
    "needs_friction": "the gait needs more friction than any ground gives",
    "support_invalid": "the model's assumption about which feet touch does not hold",
    "step_unstable": "the step is above the stability limit of the method",
    "step_inaccurate": "a smaller step gives another result",
    "not_finite": "part of the result is not a number",
    "numerical_end": "the numbers could not go on: how it ended says nothing about the robot",
    "cut_off": "the process was killed: only rows are left",
    "estimate_at_edge": "an estimate lies at the edge of what was searched",
    "multipliers_differ": "differences of a gait's map do not agree with its derivative",
    "jump_without_effect": "a jump changed nothing and its guard stayed at zero",
}
#: Coefficient of friction that a gait may need: rubber on dry concrete gives about this much.
MOST_FRICTION = 1.0


class Doubt(NamedTuple):
    """One reason. `sentence` says what was seen, by how much, and what to try."""

    name: str
    sentence: str


def word_of(doubts: Iterable[Doubt]) -> str:
    """ "sound", or the names of the reasons: what a column of a table holds."""
    return ", ".join(dict.fromkeys(doubt.name for doubt in doubts)) or "sound"
