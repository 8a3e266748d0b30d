"""The verdict: whether to believe a run.

An outcome says how a run ended; a verdict says whether that means anything.

This is the one place where limits are stated and where reasons come together. What the engine
noticed on the way (a step above its stability limit) and what the robot says of its own run (a foot
that pulls) travel in `Trajectory.doubts`; what the books say is found here.
"""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from footfall.hybrid.doubt import Doubt, word_of
from footfall.hybrid.outcome import Outcome
from footfall.record.ledger import Ledger

#: A residual above this share of the throughput is no rounding and no solver error at any tolerance
#: worth using.
BOOKS_OPEN = 1e-4
#: The same for fixed steps of low order, of one robot or of many, and for single precision: their
#: books show the error of the step.
STEPPED_OPEN = 1e-2
#: From this order on fixed steps are held to BOOKS_OPEN too.
HIGH_ORDER = 4
#: A loss that gives more than this share of the throughput creates energy: numerical, not physical.
LOSS_GIVES = 1e-3
#: Ends of the numbers, not of the robot.
NUMERICAL_ENDS = (Outcome.diverged, Outcome.zeno, Outcome.not_held, Outcome.chattering)
#: What to do about those that a mode is missing for: a classic that has it.
_REMEDIES = {
    Outcome.zeno: "if it comes to rest, give it a mode for that: footfall new --from bouncing-ball",
    Outcome.not_held: "see how it is held: footfall new --from bouncing-ball",
    Outcome.chattering: "see how dry friction sticks: footfall new --from stick-slip",
}
#: N; a pull weaker than this is rounding where a foot is put down without load.
ROUNDING = 1e-6


@dataclasses.dataclass(frozen=True, repr=False)
class Verdict:
    """Sound, or doubtful with the reasons."""

    doubts: tuple[Doubt, ...] = ()

    @property
    def sound(self) -> bool:
        return not self.doubts

    @property
    def word(self) -> str:
        """ "sound", or the names of the reasons: what a column of a sweep holds."""
        return word_of(self.doubts)

    @property
    def sentence(self) -> str:
        return (
            "sound"
            if self.sound
            else "doubtful: " + "; ".join(doubt.sentence for doubt in self.doubts)
        )

    @property
    def title(self) -> str:
        """For a line with little room: "sound", or the reasons in a word or two each."""
        return "sound" if self.sound else f"doubtful: {self.word.replace('_', ' ')}"

    @property
    def lines(self) -> list[str]:
        """For a summary: "sound", or a line to each reason."""
        return ["sound"] if self.sound else [f"doubtful: {doubt.sentence}" for doubt in self.doubts]

    def status(self, *, success: bool, accepted: bool) -> int:
        """Exit status of a command with this result.

        1 when it failed, 3 when it is doubtful and nobody accepted that, else 0.
        """
        return 1 if not success else 0 if self.sound or accepted else 3

    def __repr__(self) -> str:
        return self.sentence

    def to_dict(self) -> dict:
        """For JSON."""
        return {"sound": self.sound, "doubts": [doubt._asdict() for doubt in self.doubts]}


def verdict(
    ledger: Ledger,
    doubts: Iterable[Doubt] = (),
    *,
    stepped: bool = False,
    outcome: Outcome = Outcome.reached_end,
) -> Verdict:
    """Of a run with this ledger and outcome, and with what its engine and its robot noticed.

    `stepped`: see `low_order`.
    """
    return Verdict(
        tuple(
            dict.fromkeys((*book_doubts(ledger, stepped=stepped), *_end_doubts(outcome), *doubts))
        )
    )


def low_order(order: int | None, precision: str = "float64") -> bool:
    """Whether books can only close to what fixed steps of this order, or single precision, leave.

    None: steps that keep their error small.
    """
    return (order is not None and order < HIGH_ORDER) or precision == "float32"


def stepped_run(provenance: Mapping[str, Any]) -> bool:
    """The same of a run, by what its record says of its engine.

    MuJoCo's steps are of the first order.
    """
    return low_order(1 if provenance.get("engine") == "mujoco" else provenance.get("order"))


def together(verdicts: Sequence[Verdict], what: str) -> Verdict:
    """The verdict on a study of many ("gaits", "runs").

    Each reason once, with how many it holds for and the words of the first.
    """
    said: dict[str, str] = {}
    for doubt in (doubt for one in verdicts for doubt in one.doubts):
        said.setdefault(doubt.name, doubt.sentence)
    count = {
        name: sum(name in (doubt.name for doubt in one.doubts) for one in verdicts) for name in said
    }
    return Verdict(
        tuple(
            Doubt(name, f"{count[name]} of {len(verdicts)} {what}: {words}")
            for name, words in said.items()
        )
    )


def book_doubts(ledger: Ledger, *, stepped: bool = False) -> list[Doubt]:
    """What the energy ledger says against a run."""
    found, limit = [], STEPPED_OPEN if stepped else BOOKS_OPEN
    if not ledger.relative_residual <= limit:  # also where it is not a number
        cure = (
            "a smaller step"
            if stepped
            else "a smaller step or tolerance, or `footfall check` if that does not help"
        )
        share = f"{ledger.residual:+.2g} J of {ledger.throughput:.3g} J are not accounted for"
        found.append(Doubt("books_open", f"the books do not close: {share}; try {cure}"))
    for name, lost in (*ledger.losses.items(), *ledger.jump_losses.items()):
        if lost < -LOSS_GIVES * ledger.throughput:
            found.append(
                Doubt(
                    "loss_creates_energy",
                    f"the loss in {name.replace('_', ' ')} gave {-lost:.3g} J; try a smaller step",
                )
            )
    return found


def _end_doubts(outcome: Outcome) -> list[Doubt]:
    """What the way a run ended says against it."""
    if not numerical_end(outcome):
        return []
    said = (
        f"it ended as {outcome.name} ({outcome.meaning}): an end of the numbers, not of the robot;"
        f" {_REMEDIES.get(outcome, 'look at what was set')}"
    )
    return [Doubt("numerical_end", said)]


def pull_doubts(least_pushes: Mapping[str, float], outcome: Outcome) -> list[Doubt]:
    """What the least force of each foot [N] says: a foot cannot pull."""
    pulled = min(least_pushes.values(), default=0.0)
    if outcome is Outcome.lifted_off or pulled >= -ROUNDING:
        return []
    said = (
        f"a foot would have had to pull, by up to {-pulled:.3g} N, since the first footfall: the"
        " model holds only while feet push"
    )
    return [Doubt("contact_pulls", said)]


# --- the same of many robots at once: whether each reason holds, lane by lane ---------------------


def open_books(relative_residual: np.ndarray, *, stepped: bool = False) -> np.ndarray:
    """Whose books do not close, also where the residual is not a number."""
    return ~(np.asarray(relative_residual) <= (STEPPED_OPEN if stepped else BOOKS_OPEN))


def numerical_end(outcome: Any) -> Any:
    """Who ended because the numbers could not go on: of one run or of each lane."""
    return np.isin(outcome, NUMERICAL_ENDS)


def creates_energy(lost: Iterable[np.ndarray], throughput: np.ndarray) -> np.ndarray:
    """Where any of the losses gave energy over the run."""
    gives = np.zeros(np.shape(throughput), bool)
    for one in lost:
        gives |= one < -LOSS_GIVES * throughput
    return gives


def verdict_words(doubts: Mapping[str, np.ndarray], lanes: int) -> np.ndarray:
    """`Verdict.word` of each robot, from the robots that each reason holds for."""
    names = list(doubts)
    code = np.zeros(lanes, np.int64)
    for bit, name in enumerate(names):
        code |= np.asarray(doubts[name], np.int64) << bit
    seen, place = np.unique(code, return_inverse=True)
    words = [
        Verdict(tuple(Doubt(n, "") for bit, n in enumerate(names) if int(one) >> bit & 1)).word
        for one in seen
    ]
    return np.array(words, object)[place]
