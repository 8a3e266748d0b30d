"""The verdict: whether to believe a run. An outcome says how a run ended; a verdict says whether that means anything.

This is the one place where limits are stated and where reasons come together. What the engine noticed on the way (a step above its
stability limit) and what the robot says of its own run (a foot that pulls) travel in `Trajectory.doubts`; what the books say is
found here.
"""

import dataclasses
from collections.abc import Iterable

from footfall.hybrid.doubt import Doubt
from footfall.record.ledger import Ledger

#: A residual above this share of the throughput is no rounding and no solver error at any tolerance worth using.
BOOKS_OPEN = 1e-4
#: The same for rigid bodies, whose steps are of the first order and fixed.
STEPPED_OPEN = 1e-2
#: A loss that gives more than this share of the throughput creates energy: numerical, not physical.
LOSS_GIVES = 1e-3


@dataclasses.dataclass(frozen=True)
class Verdict:
    """Sound, or doubtful with the reasons."""

    doubts: tuple[Doubt, ...] = ()

    @property
    def sound(self) -> bool:
        return not self.doubts

    @property
    def word(self) -> str:
        """ "sound", or the names of the reasons: what a column of a sweep holds."""
        return ", ".join(dict.fromkeys(doubt.name for doubt in self.doubts)) or "sound"

    @property
    def sentence(self) -> str:
        return "sound" if self.sound else "doubtful: " + "; ".join(doubt.sentence for doubt in self.doubts)

    def to_dict(self) -> dict:
        """For JSON."""
        return {"sound": self.sound, "doubts": [doubt._asdict() for doubt in self.doubts]}


def verdict(ledger: Ledger, doubts: Iterable[Doubt] = (), *, stepped: bool = False) -> Verdict:
    """Of a run with this ledger, and with what its engine and its robot noticed. `stepped`: fixed steps of the first order."""
    return Verdict((*book_doubts(ledger, stepped=stepped), *doubts))


def book_doubts(ledger: Ledger, *, stepped: bool = False) -> list[Doubt]:
    """What the energy ledger says against a run."""
    found, limit = [], STEPPED_OPEN if stepped else BOOKS_OPEN
    if not ledger.relative_residual <= limit:  # also where it is not a number
        cure = "a smaller sim.step" if stepped else "a smaller step or tolerance, or `footfall check` if that does not help"
        share = f"{ledger.residual:+.2g} J of {ledger.throughput:.3g} J are not accounted for"
        found.append(Doubt("books_open", f"the books do not close: {share}; try {cure}"))
    for name, lost in (*ledger.losses.items(), *ledger.jump_losses.items()):
        if lost < -LOSS_GIVES * ledger.throughput:
            found.append(
                Doubt("loss_creates_energy", f"the loss in {name.replace('_', ' ')} gave {-lost:.3g} J; try a smaller step")
            )
    return found
