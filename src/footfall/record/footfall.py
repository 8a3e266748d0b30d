"""A footfall that was located between two rows of a record: what metrics need of it, exactly."""

import dataclasses

from footfall.record.trajectory import EventRecord


@dataclasses.dataclass(frozen=True, slots=True)
class Footfall(EventRecord):
    """A foot came down; its rows are the samples around it.

    Whoever keeps rows on both sides of every event needs no such record.
    """

    side: str  #: the counter that counted it
    counts: tuple[int, ...]  #: of every side's counter, just after
    distance: float  #: m, gone so far
    work: float  #: J, of the motors so far
    #: Running integrals of the outputs worth statistics, in the order of their columns.
    totals: tuple[float, ...] = ()
