"""The energy ledger: every run closes its books."""

import dataclasses
import math
from typing import Any

import numpy as np

#: A run that ends at once has moved next to nothing: a residual is measured against this share of
#: what was stored at least, or rounding would look like a loss.
LEAST_SHARE = 1e-9
#: An entry below this share of the throughput, or of what was stored, is the rounding of a zero.
NOISE = 1e-15


def share_of_throughput(residual: Any, throughput: Any, stored: Any) -> Any:
    """The residual of a run, or of each run of a batch, as everyone gives it.

    |residual| over the throughput.

    The throughput is the sum over accepted steps of |change of each store| + |work through each
    port|, and over jumps of |work of the jump|: a lower bound of the integral of the absolute
    rates. `stored` is the energy at the start, every store counted as positive.
    """
    measure = np.maximum(throughput, LEAST_SHARE * np.asarray(stored))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(measure > 0, np.abs(residual) / measure, np.abs(residual))


def without_noise(entry: Any, throughput: Any, stored: Any) -> Any:
    """An entry of the books, 0 where it is only rounding."""
    return np.where(np.abs(entry) <= NOISE * np.maximum(throughput, stored), 0.0, entry)


@dataclasses.dataclass(frozen=True)
class Ledger:
    """Where the energy of a run came from and went to, each by name, in joules.

    stored(end) - stored(start) = work in - losses - losses at jumps + residual.

    `work` and `jump_work` are signed: positive entered the stores. `losses` and `jump_losses` are
    positive when energy left. `throughput` is what a residual is measured against (see
    `share_of_throughput`). Entries that are only rounding are 0.
    """

    stored_start: dict[str, float]
    stored_end: dict[str, float]
    work: dict[str, float]  #: through ports that do work
    losses: dict[str, float]  #: through ports that only take, as positive numbers
    jump_losses: dict[str, float]  #: taken by jumps, as positive numbers
    throughput: float
    #: Done by jumps that do work.
    jump_work: dict[str, float] = dataclasses.field(default_factory=dict)

    def __post_init__(self) -> None:
        measure = self.throughput, self._stored
        for name in ("stored_start", "stored_end", "work", "losses", "jump_work", "jump_losses"):
            entries = {
                key: float(without_noise(v, *measure)) for key, v in getattr(self, name).items()
            }
            object.__setattr__(self, name, entries)

    @property
    def _stored(self) -> float:
        """Energy at the start, every store counted as positive."""
        return sum(map(abs, self.stored_start.values()))

    @property
    def stored_change(self) -> float:
        return math.fsum(self.stored_end.values()) - math.fsum(self.stored_start.values())

    @property
    def residual(self) -> float:
        """What is not accounted for."""
        out = math.fsum([*self.losses.values(), *self.jump_losses.values()])
        return self.stored_change - (
            math.fsum([*self.work.values(), *self.jump_work.values()]) - out
        )

    @property
    def relative_residual(self) -> float:
        """|residual| as a share of the throughput."""
        return float(share_of_throughput(self.residual, self.throughput, self._stored))

    def to_dict(self) -> dict:
        """Plain numbers for JSON."""
        return {
            **dataclasses.asdict(self),
            "stored_change": self.stored_change,
            "residual": self.residual,
            "relative_residual": self.relative_residual,
        }
