"""Where a robot without a gait would have one: the nearest value of a key at which it walks.

A batch over the range says at which values it walks from this start; a second one, between the
nearest of them and its neighbour that does not, where that begins. The gait there is found, so that
what is said holds.
"""

from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from footfall.engines.analysis.cycle import Cycle
from footfall.engines.analysis.return_map import NoCycle
from footfall.engines.analysis.walking import STANDS, WALKS, Walking
from footfall.scenario.gait import gait_of
from footfall.scenario.vary import find_knob

#: Values of a batch.
VALUES = 257


class Nearest(NamedTuple):
    """The value, its gait, and what robots at the others do."""

    key: str
    unit: str
    own: float | None  #: of the scenario, where it is a number
    low: float
    high: float
    words: tuple[str, ...]  #: what each of the first batch does
    value: float | None = None  #: None: none walks
    gait: Cycle | None = None

    def said(self, origin: str) -> str:
        """A sentence or two, with a command to try."""
        counted = Counter(self.words)
        ends = f"{self.key} from {self.low:g} to {self.high:g}{self.unit and f' {self.unit}'}"
        if self.value is None or self.gait is None:
            others = ", ".join(f"{n} {word.replace('_', ' ')}" for word, n in counted.most_common())
            return (
                f"At none of {len(self.words)} values of {ends} was a gait found from this start:"
                f" {others}."
            )
        here = "" if self.own is None else f" ({self.own:g} here)"
        return (
            f"The nearest {self.key} at which it walks from this start is {self.value:.6g}{here};"
            f" {counted[WALKS]} of {len(self.words)} values from {self.low:g} to {self.high:g} do."
            f" Its gait there takes {self.gait.period:.4g} s: footfall gait {origin} --set"
            f" {self.key}={self.value:.6g}"
        )


def nearest_walker(subject: Any, text: str, event: str | None) -> Nearest:
    """Of a subject, from the words of --vary. Raises ScenarioError for words that mean nothing."""
    (axis,) = subject.ranges([text])
    unit = find_knob(subject.experiment, axis.key, f"--vary {text}").unit
    own = subject.own_value(axis.path)
    at = 0.5 * (axis.low + axis.high) if own is None else own
    look = _Look(subject, axis)
    values = axis.between(np.linspace(0.0, 1.0, VALUES))
    words = look.words(values)
    found = Nearest(axis.key, unit, own, axis.low, axis.high, tuple(words))
    walks = np.flatnonzero(words == WALKS)
    if not len(walks):
        return found

    def gait(value: float) -> Cycle | None:
        changed = subject.changed([f"{axis.path}={float(value)!r}"])
        try:
            return gait_of(changed.experiment, event)
        except NoCycle:
            return None

    # Who walks until the end of a run need not do so for ever: those with a gait count.
    order = walks[np.argsort(np.abs(values[walks] - at), kind="stable")]
    tried = (int(order[2**n - 1]) for n in range(len(order).bit_length()))
    place, best = next(((n, g) for n in tried if (g := gait(values[n])) is not None), (-1, None))
    if best is None:
        return found
    found = found._replace(value=float(values[place]), gait=best)
    edge = place + (1 if values[place] < at else -1)
    if not 0 <= edge < VALUES or words[edge] == WALKS:
        return found
    finer = np.linspace(values[place], values[edge], VALUES)
    low, high = 0, int(np.argmin(look.words(finer) == WALKS))
    while high - low > 1:
        middle = (low + high) // 2
        one = gait(finer[middle])
        if one is None:
            high = middle
        else:
            low, found = middle, found._replace(value=float(finer[middle]), gait=one)
    return found


class _Look:
    """What robots do at values of one key, by batches."""

    def __init__(self, subject: Any, axis: Any):
        self.key, self.success = axis.key, tuple(subject.experiment.about.success)
        like = {axis.key: axis.between(np.linspace(0.0, 1.0, 9))}
        self.starts = subject.many_starts(subject.batch_plan(), like)
        self.starts.prepare()

    def words(self, values: np.ndarray) -> np.ndarray:
        """WALKS for those that still step in the settled part of a run that ends well."""
        columns = {self.key: np.asarray(values)}
        able = self.starts.can_start(columns)
        found = np.full(len(able), "cannot start", object)
        if not np.any(able):
            return found
        result = self.starts.run({self.key: values[able]}, lambda _: None)
        said = Walking(self.starts, self.success, None).judged(result)
        if "step_time" in result.columns:
            steps = np.isfinite(np.asarray(result.columns["step_time"], float))
            said[(said == WALKS) & ~steps] = STANDS
        found[able] = said
        return found
