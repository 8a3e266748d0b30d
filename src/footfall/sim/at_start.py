"""Which guards of ending events have no room at the start: one rule for the event engine and the step engine.

A robot that starts where its run would end has ended: a foot that pulls, a motor that is overloaded. But a spoke that has just landed has a
force of zero, whatever sign rounding gave it, and its force rises: so a guard that is positive a moment later is on its way up.
"""

from typing import Any

import numpy as np

#: How far to look ahead [s]: rounding is left behind by then, and no robot does anything in it.
MOMENT = 1e-6


def moment(real: Any) -> float:
    """In this precision: what a guard gains by its second derivative grows with the square of the time."""
    return max(MOMENT, 4.0 * float(np.sqrt(np.finfo(real).eps)))


def no_room(room: Any, rate: Any, later: Any, span: float) -> Any:
    """Whether a guard is at or below zero at the start and is not leaving it: neither by its rate nor `span` later is it positive."""
    return (room <= 0) & ~(room + span * rate > 0) & (later < 0)
