"""How far a sweep is, and how fast it goes."""

import dataclasses
import math
import time
from collections import deque
from collections.abc import Callable


@dataclasses.dataclass(frozen=True)
class Standing:
    """How far a sweep is."""

    done: float  #: robots finished, those of earlier sessions and parts of a shard included
    total: int
    rate: float  #: robots per second of late; 0 while unknown
    left: float  #: s; infinite while unknown


Progress = Callable[[Standing], None]


class Meter:
    """Counts robots and reports on them, with a rate over the last half minute.

    The clock starts when the first robots are done.
    """

    def __init__(self, total: int, found: int, progress: Progress | None):
        self.total, self.finished, self.progress = total, float(found), progress
        self._marks: deque[tuple[float, float]] = deque()

    def add(self, rows: int) -> None:
        """A shard is finished."""
        self.finished += rows
        self.part(0.0)

    def part(self, rows: float) -> None:
        """This much of the shard at hand is done."""
        now, done = time.perf_counter(), self.finished + rows
        self._marks.append((now, done))
        while len(self._marks) > 2 and now - self._marks[0][0] > 30.0:
            self._marks.popleft()
        then, before = self._marks[0]
        rate = (done - before) / (now - then) if now > then else 0.0
        if self.progress is not None:
            self.progress(
                Standing(
                    done, self.total, rate, (self.total - done) / rate if rate > 0 else math.inf
                )
            )
