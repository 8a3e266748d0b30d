"""Why an emulated robot fell: because a program was late, or because its gait does that.

Two things are known. How well time was kept in the second before, from the words of the programs
while they ran. And whether the same programs, under the same operator, fall in lockstep, where
nobody is ever late.
"""

from __future__ import annotations

import dataclasses
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from footfall.realtime.stack_log import StackLog

BEFORE = 1.0  # s before the fall that are looked at
AFTER = 0.5  # s that lockstep is given beyond it: a gait drifts in phase
#: Status lines of a program that are kept: more than BEFORE of them, and one to count from.
_KEPT = 8


class Lateness(NamedTuple):
    """How time was kept in the second before a fall."""

    mid_missed: int  #: deadlines of the mid level missed by more than 1 ms
    mid_latest_ms: float  #: the worst of all its deadlines
    ticks_left_out: int  #: of the motor driver
    tick_latest_ms: float

    @property
    def any(self) -> bool:
        return self.mid_missed > 0 or self.ticks_left_out > 0

    def __str__(self) -> str:
        return (
            f"in the {BEFORE:g} s before it, {self.mid_missed} deadlines of the mid level were"
            f" missed by more than 1 ms (the worst by {self.mid_latest_ms:.1f} ms) and"
            f" {self.ticks_left_out} ticks of the motor driver left out"
        )


class FallWatch:
    """Hears every status line; remembers those before a fall."""

    def __init__(self) -> None:
        self._heard = {name: deque[dict[str, Any]](maxlen=_KEPT) for name in ("robot", "mid")}
        self.fell_at: float | None = None  #: on the machine's clock [s]

    def take(self, program: str, figures: dict[str, Any]) -> None:
        if self.fell_at is None and program in self._heard and "now" in figures:
            self._heard[program].append(dict(figures))
            self.fell_at = figures.get("failed_at")

    @property
    def lateness(self) -> Lateness:
        mid, robot = self._before("mid"), self._before("robot")
        return Lateness(
            _grown(mid, "missed"),
            1e-3 * max((said["latest_us"] for said in mid[1:]), default=0),
            _grown(robot, "slipped"),
            1e-3 * max((said["latest_us"] for said in robot[1:]), default=0),
        )

    def _before(self, program: str) -> list[dict[str, Any]]:
        """What it said in the time looked at, led by the line before."""
        heard = list(self._heard[program])
        if self.fell_at is None:
            return []
        inside = [said["now"] > self.fell_at - BEFORE for said in heard]
        first = inside.index(True) if any(inside) else len(heard)
        return heard[max(first - 1, 0) :]


def why_it_fell(
    lateness: Lateness, falls_in_lockstep: Callable[[], bool], garbled: bool
) -> tuple[str, str]:
    """("lateness" | "gait" | "noise" | "unknown", a sentence).

    `garbled`: bytes or pitches were, which lockstep does not repeat.
    """
    if falls_in_lockstep():
        return "gait", f"the same programs fall in lockstep too, where nobody is late; {lateness}"
    if lateness.any:
        return "lateness", f"in lockstep, where nobody is late, it walks on; {lateness}"
    if garbled:
        return "noise", f"in lockstep, without the noise asked for, it walks on; {lateness}"
    return "unknown", f"in lockstep it walks on, and nobody was late: {lateness}"


def falls_in_lockstep(
    log: StackLog, scenario: str, changes: Sequence[str], t: float
) -> Callable[[], bool]:
    """Whether it does, up to this time [s] of the log and a moment longer."""

    def asked() -> bool:
        from footfall.realtime.replay import replay

        rows = np.flatnonzero(log["t"] <= t + AFTER)
        columns = {name: values[rows] for name, values in log.columns.items()}
        before = dataclasses.replace(log, columns=columns)
        # Two clocks that know nothing of each other: a pitch is half a cycle old, on average.
        age = 0.5e-6 * log.settings.high_period_us
        return replay(before, scenario, changes, age=age).outcome != "running"

    return asked


def _grown(said: list[dict[str, Any]], name: str) -> int:
    return said[-1][name] - said[0][name] if len(said) > 1 else 0
