"""Which guards fire at the start: one rule for the event engine and the step engine.

A robot that starts where its run would end has ended: a foot that pulls, a motor that is overloaded. But a spoke that has just landed has a
force of zero, whatever sign rounding gave it, and its force rises: so a guard that is positive a moment later is on its way up.
"""

from typing import Any

import numpy as np

from footfall.hybrid.system import AbstractHybridSystem

#: How far to look ahead [s]: rounding is left behind by then, and no robot does anything in it.
MOMENT = 1e-6


def moment(real: Any) -> float:
    """In this precision: what a guard gains by its second derivative grows with the square of the time."""
    return max(MOMENT, 4.0 * float(np.sqrt(np.finfo(real).eps)))


def fires(room: Any, rate: Any, later: Any, span: float, ends: Any) -> Any:
    """Whether a guard that is at or below zero at the start fires there; `later` is its value after `span`, `ends` is of `ends_at_once`.

    It does if it is not leaving zero and either ends the run, or is at zero: it falls by more in a microsecond than it is deep.
    """
    falling = (room <= 0) & ~(room + span * rate > 0) & (later < 0)
    share = MOMENT / span
    change = MOMENT * rate + (later - room - span * rate) * share**2  # in a microsecond, curved as over the span
    return falling & (ends | (change < room))


def ends_at_once(system: AbstractHybridSystem) -> list[bool]:
    """Of each event, whether it ends a run that starts without room for it.

    What another event restarts waits, at the start as after that event, just after which a run may begin.
    """
    restarted = {name for event in system.events for name in event.restarts}
    return [event.outcome is not None and event.name not in restarted for event in system.events]
