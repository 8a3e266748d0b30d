"""Bounds: what an output may be while a robot's equations mean something.

Declared once, asked of runs and of every lane of a batch.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Literal, NamedTuple

import numpy as np

from footfall.hybrid.doubt import Doubt
from footfall.numerics.scalar import Scalar


class Bound(NamedTuple):
    """A statistic of an output that must lie between `low` and `high`.

    Beyond them a result is doubtful.

    With a `counter`, a discrete state that counts footfalls, extremes are taken over whole steps,
    from its first count to its last: before, a foot is put down without load; after, the run may
    end in a lift-off, of which the outcome tells. A mean is taken from the first count to the end.
    Without a counter all of the run counts.
    """

    doubt: str  #: its word, see hybrid/doubt.py
    output: str  #: one number, by its flat name: "foot.friction_needed"
    statistic: Literal["peak", "least", "mean"]
    #: Of the value found and its time [s] (of a mean, the end): what was seen, what to try.
    sentence: Callable[[float, float], str]
    low: Scalar = -math.inf
    high: Scalar = math.inf
    counter: str | None = None


def bound_doubts(
    bounds: Iterable[Bound], t: np.ndarray, columns: Mapping[str, np.ndarray]
) -> list[Doubt]:
    """What the rows of a run say against it: of each word the bound that is missed by most."""
    worst: dict[str, tuple[float, Doubt]] = {}
    for bound in bounds:
        value, when = _found(bound, np.asarray(t), columns)
        if beyond(bound, np.float64(value)):
            missed = max(value - float(bound.high), float(bound.low) - value)
            doubt = Doubt(bound.doubt, bound.sentence(value, when))
            worst[bound.doubt] = max(worst.get(bound.doubt, (-math.inf, doubt)), (missed, doubt))
    return [doubt for _, doubt in worst.values()]


def beyond(bound: Bound, value: np.ndarray) -> np.ndarray:
    """Where a value misses the bound, of one run or of each lane.

    NaN, of a run without a whole step, does not.
    """
    return (value < bound.low) | (value > bound.high)


def _found(bound: Bound, t: np.ndarray, columns: Mapping[str, np.ndarray]) -> tuple[float, float]:
    """The statistic over the rows that count, and when; NaN where there are none."""
    values, counts = np.asarray(columns[bound.output], float), np.ones(len(t), bool)
    if bound.counter is not None:
        count = np.asarray(columns[bound.counter])
        counts = count > count[0]
    if bound.statistic == "mean":
        time = np.where(counts[1:], np.diff(t), 0.0)
        total = float(np.sum(time))
        return (
            float(np.sum(0.5 * (values[1:] + values[:-1]) * time)) / total
            if total > 0
            else math.nan
        ), float(t[-1])
    if bound.counter is not None:
        counts &= count < count[-1]
    if not counts.any():
        return math.nan, math.nan
    rows = np.flatnonzero(counts)
    row = rows[np.argmax(values[rows]) if bound.statistic == "peak" else np.argmin(values[rows])]
    return float(values[row]), float(t[row])
