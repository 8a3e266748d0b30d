"""Designs of a robot judged at its periodic gait, with derivatives at the cycle itself.

A design without a gait is refused. The first one begins with the scenario's own gait, each other
with that of a design near it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np
from scipy.stats import qmc

from footfall.engines.analysis.cycle import Cycle, find_cycle
from footfall.engines.analysis.cycle_slopes import LARGEST, cycle_slopes
from footfall.engines.analysis.design_search import (
    AbstractLandscape,
    Found,
    Look,
    Problem,
    Refused,
)
from footfall.engines.analysis.gait_doubts import gait_doubts
from footfall.engines.analysis.gait_peaks import Peak, peak_outputs, peak_slopes, peaks_of
from footfall.engines.analysis.return_map import NoCycle, moved_only
from footfall.hybrid.doubt import Doubt
from footfall.scenario.errors import ScenarioError
from footfall.scenario.gait import Family, figures, fine_plan, gait_of, lengths_at
from footfall.scenario.load import Experiment, with_settings

#: A free key is sought between these shares of its value, where nobody says.
LEAST, MOST = 0.25, 4.0
#: Share of the force it had that a foot keeps.
CONTACT = 0.02
#: Figure that is the least force of a foot on the ground, and what it is called as a limit.
PUSH, FEET = "least_leg_force", "contact of the feet"


class GaitLandscape(AbstractLandscape):
    """Values of some keys, each on its range."""

    pieces = (np.zeros(0),)
    box = 0.3  # from where a gait begins near enough to be found

    def __init__(
        self,
        experiment: Experiment,
        free: Mapping[str, tuple[float, float] | None],
        event: str | None = None,
        searches: int = 1,
    ):
        """Raises ScenarioError for unknown keys, NoCycle without a gait to begin with."""
        self.experiment, self.searches = experiment, searches
        self.family = Family(experiment, list(free))
        self.keys = self.family.keys
        self.units = {key: knob.unit for key, knob in self.family.knobs.items()}
        self.first = gait_of(experiment, event)
        self.event, self.plan = self.first.event, fine_plan(experiment)
        self.own, self.own_values = figures(self.first), self.family.start
        self.offered = tuple(peak_outputs(self.first.map.system, self.first.state))
        self.known = (*self.own, *self.offered)
        self.peaks: tuple[str, ...] = ()
        # A foot that would have to pull ends the gait: its force is held above zero, so that a
        # search sees the edge before it is beyond it.
        self.force = abs(self.own.get(PUSH, 0.0))
        start = np.array(list(self.own_values.values()))
        spans = [
            span or _usual(value, self.family.knobs[key].info)
            for (key, span), value in zip(free.items(), start, strict=True)
        ]
        self.low, self.high = (np.array(side, float) for side in zip(*spans, strict=True))
        for key, low, high in zip(free, self.low, self.high, strict=True):
            if not low < high:
                raise ScenarioError(f"--free {key}: a range goes up, not from {low:g} to {high:g}.")
        self.center = np.clip((start - self.low) / (self.high - self.low), 0.0, 1.0)
        self.gaits = 0
        self.multiplier = True  #: whether the slope of the largest multiplier is wanted

    def ask(self, names: Sequence[str]) -> None:
        """What an objective and constraints speak of: the rest need not be computed."""
        self.multiplier = LARGEST in names
        self.peaks = tuple(name for name in self.offered if name in names)
        found = self._peaks(self.first)
        self.own |= {name: peak.value for name, peak in found.items()}

    def _peaks(self, cycle: Cycle) -> dict[str, Peak]:
        if not self.peaks:
            return {}
        point = cycle.point
        return peaks_of(cycle.map, point.flat, point.counts, cycle.period, self.peaks)

    def values(self, share: np.ndarray, piece: np.ndarray) -> dict[str, float]:
        del piece
        values = self.low + np.asarray(share) * (self.high - self.low)
        return dict(zip(self.keys, map(float, values), strict=True))

    def limits(self, piece: np.ndarray) -> dict[str, tuple[float, float]]:
        del piece
        return dict(zip(self.keys, zip(self.low, self.high, strict=True), strict=True))

    def starts(self, problem: Problem, piece: np.ndarray, search: int) -> list[np.ndarray]:
        """The scenario's own values first, then others spread over the ranges."""
        del problem, piece
        if search == 0:
            return [self.center]
        spread = qmc.Sobol(len(self.keys), seed=0).random(8)[search - 1]
        return [0.5 * (self.center + spread)]

    def value_slopes(self, share: np.ndarray, piece: np.ndarray) -> np.ndarray:
        del share, piece
        return np.diag(self.high - self.low)

    def gait(self, values: np.ndarray, near: Cycle) -> Cycle:
        """The gait of a design, from that of one near it. Raises NoCycle, ValueError."""
        system, _ = self.family.directions(*values)
        self.gaits += 1
        # Designs of a robot that conserves its energy are compared at the same one.
        how = {"energy": self.first.held.get("energy")}
        try:
            return find_cycle(system, near.state, self.event, self.plan, **how)
        except (NoCycle, ValueError):
            return find_cycle(system, near.state, self.event, self.plan, **how, warm_up=12)

    def look(self, share: np.ndarray, piece: np.ndarray, near: Look | None) -> Look:
        values, span = np.array(list(self.values(share, piece).values())), self.high - self.low
        try:
            cycle = self.gait(values, self.first if near is None else near.memory)
            _, along = self.family.directions(*values)
            lengths = lengths_at(values) if self.multiplier else None
            by_key = cycle_slopes(cycle, along, lengths=lengths)
            highest = self._peaks(cycle)
            by_key |= self._peak_slopes(cycle, highest, along, by_key)
        except (NoCycle, ValueError) as none:
            raise Refused(str(none)) from None
        known, still = figures(cycle), np.zeros(len(span))
        known |= {name: peak.value for name, peak in highest.items()}
        slopes = {name: by_key.get(name, still) * span for name in known}
        # A guard that comes to zero in this gait has no room left.
        for name in self.own.keys() - known.keys() - {PUSH}:
            known[name], slopes[name] = 0.0, still
        rooms, room_slopes = {}, {}
        if self.force and PUSH in known:
            rooms[FEET] = known[PUSH] / self.force - CONTACT
            room_slopes[FEET] = slopes[PUSH] / self.force
        elif self.force:
            raise Refused("a foot leaves the ground")
        return Look(known, slopes, rooms, room_slopes, cycle)

    def _peak_slopes(
        self, cycle: Cycle, peaks: Mapping[str, Peak], along: Any, by_key: Mapping[str, Any]
    ) -> dict[str, np.ndarray]:
        point = cycle.point
        return peak_slopes(
            cycle.map,
            point.flat,
            point.counts,
            cycle.period,
            peaks,
            moved_only(jax.tree.map(np.asarray, along)),
            by_key["state"],
            by_key["period"],
        )

    def recalled(self, share: Any, numbers: Any) -> Found:
        """A design whose gait was found before, by its numbers."""
        first, share = self.first, np.array(share, float)
        near = first._replace(state=first.map.state(np.array(numbers), first.point.counts))
        return Found(
            share, self.pieces[0], self.look(share, self.pieces[0], Look({}, {}, {}, {}, near))
        )

    def remembered(self, found: Found) -> list[list[float]]:
        """What `recalled` takes: plain JSON."""
        return [found.share.tolist(), found.look.memory.point.flat.tolist()]

    def tuned(self, found: Found) -> Experiment:
        """The scenario of a design."""
        values = self.values(found.share, found.piece)
        return with_settings(self.experiment, [f"{key}={value!r}" for key, value in values.items()])

    def measured(self, found: Found) -> tuple[dict[str, float], tuple[Doubt, ...]]:
        """Figures of its gait, and what is doubtful in two strides of it."""
        return dict(found.look.figures), gait_doubts(found.look.memory)


def _usual(value: float, info: Any) -> tuple[float, float]:
    """From a quarter of a value to four times it, within what is allowed."""
    low, high = sorted((LEAST * value, MOST * value)) if value else (-1.0, 1.0)
    lows = [b for b in (info.ge, None if info.gt is None else info.gt + 1e-9) if b is not None]
    highs = [b for b in (info.le, None if info.lt is None else info.lt - 1e-9) if b is not None]
    return max([low, *lows]), min([high, *highs])
