"""Why a run ended, as data: compiled code returns one of these per robot instead of raising."""

import enum


class Outcome(enum.IntEnum):
    """How a run ended. The numbers travel through compiled code; the names are what users see.

    >>> import footfall as ff
    >>> ff.Outcome.fell.meaning
    'the body came too close to the ground, or went below it'
    """

    running = 0
    reached_end = 1
    fell = 2
    rocked_back = 3
    lifted_off = 4
    zeno = 5
    too_many_jumps = 6
    diverged = 7
    interrupted = 8
    reached_event = 9
    sank = 10
    tipped_over = 11
    outside_model = 12
    arrived = 13
    overloaded = 14
    unreachable = 15
    blocked = 16

    @property
    def meaning(self) -> str:
        """One sentence for the summary."""
        return _MEANING[self]


_MEANING = {
    Outcome.running: "still running",
    Outcome.reached_end: "ran to the end of the requested span",
    Outcome.fell: "the body came too close to the ground, or went below it",
    Outcome.rocked_back: "too slow to pass over the foot: it rocked back on the previous one",
    Outcome.lifted_off: "a foot would have to pull on the ground: contact was lost",
    Outcome.zeno: "events accumulate: many jumps in almost no time",
    Outcome.too_many_jumps: "reached `max_jumps` jumps",
    Outcome.diverged: "the state stopped being finite, or the step size fell to nothing",
    Outcome.interrupted: "the user ended it before its time",
    Outcome.reached_event: "reached the requested event",
    Outcome.sank: "the body went under water",
    Outcome.tipped_over: "tipped over",
    Outcome.outside_model: "left the range in which the model's equations mean anything",
    Outcome.arrived: "did all that was planned",
    Outcome.overloaded: "a motor would have to give more torque than it can",
    Outcome.unreachable: "a move of the plan is out of reach",
    Outcome.blocked: "the ground is in the way of a move of the plan, or not under a foot",
}
