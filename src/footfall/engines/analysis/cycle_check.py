"""Multipliers of a gait by differences of its map, against those of its exact derivative.

Central differences of two lengths, put together after Richardson, are off by the fourth power of
the length and by the rounding of a run over it: some 1e-8 of what a step changes. They know nothing
of derivatives through events, which is what makes them a check.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import numpy as np
from scipy.optimize import linear_sum_assignment

from footfall.engines.analysis.cycle import Cycle
from footfall.engines.analysis.return_map import NoCycle, numbers_of
from footfall.hybrid.doubt import Doubt
from footfall.hybrid.flatten import Layout
from footfall.hybrid.system import HybridState

#: Length of the differences, as a share of what a number changes by in a step.
LENGTH = 1e-3
#: How far apart they may be: well above what differences err by, well below what a wrong
#: derivative does.
APART = 1e-4
#: Where in a step a state may be moved freely, as a share of it.
MIDDLE = 0.5
#: Directions that are seen after an event: this share of the largest and more.
SEEN = 1e-5


class Checked(NamedTuple):
    """Both kinds of multipliers."""

    by_differences: np.ndarray
    apart: float  #: largest distance between the two
    why: str = ""  #: there are none, where the robot takes no step from beside its gait

    @property
    def doubts(self) -> tuple[Doubt, ...]:
        if self.apart <= APART:
            return ()
        said = self.why or (
            f"multipliers by differences of the map are up to {self.apart:.1g} from those of its"
            " derivative: the map bends or jumps beside the gait, or a derivative is wrong"
            " (`footfall check`)"
        )
        return (Doubt("multipliers_differ", said),)

    @property
    def words(self) -> str:
        return self.why or f"by differences of the map they are the same to {self.apart:.1g}"


def check_multipliers(cycle: Cycle) -> Checked:
    """Of a gait."""
    assert cycle.scale is not None
    try:
        by_steps = _by_clock(cycle) if cycle.map.clocked else _by_two_steps(cycle)
    except NoCycle as none:
        said = f"there are no differences to compare with: beside the gait, {none}"
        return Checked(np.zeros(0), np.inf, said)
    exact = np.linalg.eigvals(np.asarray(cycle.derivative))
    values = np.linalg.eigvals(by_steps)
    rows, places = linear_sum_assignment(np.abs(exact[:, None] - values[None, :]))
    paired = values[places]
    return Checked(paired, float(np.max(np.abs(exact[rows] - paired), initial=0.0)))


def _by_two_steps(cycle: Cycle) -> np.ndarray:
    """The derivative from how a change in the middle of a step is seen after one event and after
    two of the same run.

    Just after an event a state lies on a surface, beside which the event would come again at once;
    in the middle it may be moved freely. A_2 = J A_1 holds wherever A_1 leads.
    """
    x, m, _ = cycle.map.path(cycle.point.flat, cycle.point.counts, [MIDDLE * cycle.period])
    numbers, counts = numbers_of(jax.tree.map(lambda leaf: leaf[0], HybridState(x, m)))
    flat = np.array(Layout.of(cycle.map.like).pack(numbers))
    first, second = (
        _differences(cycle, lambda v, n=times: cycle.map.at(v, counts, times=n), flat)
        for times in (1, 2)
    )
    return second @ np.linalg.pinv(first, rcond=SEEN)


def _by_clock(cycle: Cycle) -> np.ndarray:
    """The derivative where a clock is set at the event: from there only."""
    point = cycle.point
    scale = np.asarray(cycle.scale)
    by_scale = _differences(cycle, lambda v: cycle.map.at(v, point.counts), point.flat)
    return by_scale * scale[:, None] / scale[None, :]


def _differences(cycle: Cycle, go: Callable[[np.ndarray], Any], flat: np.ndarray) -> np.ndarray:
    """Central differences of two lengths, after Richardson: in units of what a step changes."""
    scale, quotient = np.asarray(cycle.scale), cycle.quotient

    def after(which: int, h: float) -> np.ndarray:
        moved = flat + quotient.spread(h * scale * (np.arange(len(scale)) == which))
        return quotient.vector(go(moved).stride.numbers) / scale

    def difference(which: int, h: float) -> np.ndarray:
        return (after(which, h) - after(which, -h)) / (2.0 * h)

    return np.stack(
        [
            (4.0 * difference(k, 0.5 * LENGTH) - difference(k, LENGTH)) / 3.0
            for k in range(len(scale))
        ],
        axis=1,
    )
