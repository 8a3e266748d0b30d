"""What each robot of a batch does, in a word: it walks, or what it does instead.

A robot *walks* when it ends as its scenario calls success, nothing stands against its run, and over
the settled part it repeats the gait: it comes no more than half a footstep less or more far than
the gait does, and makes no more than half a footstep less or more. Over a window of length W,

    |v - v*| W <= |v*| T* / 2,   |T - T*| W <= T*^2 / 2                               (walking.1)

with the gait's speed v* and step time T*. One that stands, that goes backward or that still finds
its pace misses whole footsteps, so the line is sharp however long the run.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from footfall.engines.analysis.settled_gait import Gait
from footfall.engines.lanes.batch import BatchResult
from footfall.hybrid.outcome import Outcome

WALKS, OTHERWISE, STANDS = "walks", "walks otherwise", "stands"
DOUBTFUL, NO_START = "doubtful", "cannot start"
#: Words that are no outcomes, and what they mean.
WORDS = {
    WALKS: "it ends well and repeats the gait",
    OTHERWISE: "it ends well and steps, but has not come to the gait",
    STANDS: "it ends well without a footfall in the settled part",
    DOUBTFUL: "something stands against its run",
    NO_START: "the robot cannot stand so",
}
#: Footsteps after which most starts are decided; those that are not are run to the end.
SOON = 20


class Walking:
    """Who walks, of batches of one scenario."""

    def __init__(self, starts: Any, success: Sequence[str], gait: Gait | None):
        """`starts`: of `Subject.many_starts`. Without a gait, who ends well does."""
        self.starts, self.success, self.gait = starts, tuple(success), gait

    def words(self, columns: Any, progress: Callable[[float], None]) -> np.ndarray:
        """What robots with these numbers do. One that is decided soon is not run further."""
        able = self.starts.can_start(columns)
        found = np.full(len(able), NO_START, object)
        if not np.any(able):
            return found
        some = {key: np.asarray(values)[able] for key, values in columns.items()}
        whole = self.starts.plan.duration
        soon = whole if self.gait is None else self.starts.span(SOON * self.gait.step_time)
        share = 1.0 if soon == whole else soon / whole
        words = self.judged(self.starts.run(some, lambda f: progress(share * f), soon), soon)
        open_ = np.isin(words, (OTHERWISE, STANDS))
        if soon < whole and np.any(open_):
            late = {key: values[open_] for key, values in some.items()}
            result = self.starts.run(late, lambda f: progress(share + (1 - share) * f))
            words[open_] = self.judged(result, whole)
        found[able] = words
        return found

    def judged(self, result: BatchResult, duration: float | None = None) -> np.ndarray:
        """What the robots of a batch of this duration did."""
        plan = self.starts.plan
        duration = float(plan.duration if duration is None else duration)
        codes, place = np.unique(result.columns["outcome"], return_inverse=True)
        names = np.array([Outcome(int(code)).name for code in codes], object)
        found = names[place]
        well = np.isin(found, self.success)
        ran_on = well & (found == Outcome.reached_end.name)
        found[well] = WALKS
        if "mean_speed" in result.columns and self.gait is not None:
            settle = duration / 2 if plan.settle is None else min(plan.settle, duration / 2)
            speed, time = (
                np.asarray(result.columns[name], float) for name in ("mean_speed", "step_time")
            )
            v, period = self.gait.speed, self.gait.step_time
            with np.errstate(invalid="ignore"):
                near = np.abs(speed - v) <= abs(v) * period / (2 * (duration - settle))
                near &= np.abs(time - period) <= period * period / (2 * (duration - settle))
            found[ran_on & ~near] = OTHERWISE
            found[ran_on & ~np.isfinite(speed)] = STANDS
        doubtful = np.any([np.zeros(len(found), bool), *result.doubts.values()], axis=0)
        found[doubtful] = DOUBTFUL
        return found
