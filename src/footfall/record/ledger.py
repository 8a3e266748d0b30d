"""The energy ledger: every run closes its books."""

import dataclasses
import math


@dataclasses.dataclass(frozen=True)
class Ledger:
    """stored(end) - stored(start) = work in - losses - losses at jumps + residual, each by name, in joules.

    `work` and `jump_work` are signed: positive entered the stores. `losses` and `jump_losses` are positive when energy left.
    `throughput` is the sum of what flowed through each port and in and out of each store, step by step: what a residual is
    to be measured against.
    """

    stored_start: dict[str, float]
    stored_end: dict[str, float]
    work: dict[str, float]  #: through ports that do work
    losses: dict[str, float]  #: through ports that only take, as positive numbers
    jump_losses: dict[str, float]  #: taken by jumps, as positive numbers
    throughput: float
    jump_work: dict[str, float] = dataclasses.field(default_factory=dict)  #: done by jumps that do work

    @property
    def stored_change(self) -> float:
        return math.fsum(self.stored_end.values()) - math.fsum(self.stored_start.values())

    @property
    def residual(self) -> float:
        """What is not accounted for."""
        out = math.fsum([*self.losses.values(), *self.jump_losses.values()])
        return self.stored_change - (math.fsum([*self.work.values(), *self.jump_work.values()]) - out)

    @property
    def relative_residual(self) -> float:
        """|residual| as a share of the throughput."""
        return abs(self.residual) / self.throughput if self.throughput > 0 else abs(self.residual)

    def to_dict(self) -> dict:
        """Plain numbers for JSON."""
        return {
            **dataclasses.asdict(self),
            "stored_change": self.stored_change,
            "residual": self.residual,
            "relative_residual": self.relative_residual,
        }
