"""What speaks against a gait, beyond that a run goes through it twice.

Its books over one stride, a loss that gives and a foot that pulls cost nothing: the stride carries
them, and every point of a branch and every design is asked. What a robot says of its own outputs
(friction, support) needs the rows of a run, and is asked of the one gait that is reported.
"""

from typing import Any

import numpy as np

from footfall.engines.analysis.return_map import Mapped, ReturnMap
from footfall.engines.plan import Plan
from footfall.engines.simulate import simulate
from footfall.hybrid.doubt import Doubt
from footfall.hybrid.outcome import Outcome
from footfall.record.builder import Stand, ledger_of
from footfall.record.columns import columns_of
from footfall.record.ledger import Ledger
from footfall.record.verdict import book_doubts, pull_doubts

#: Strides of the run that is asked: two whole ones, and no event at its very end.
STRIDES = 2.02


def stride_doubts(steps: ReturnMap, mapped: Mapped) -> tuple[Doubt, ...]:
    """Of one application of the map."""
    least = {
        name: float(room)
        for (event, name), room in zip(steps.labels.events, mapped.stride.rooms, strict=True)
        if event.push and np.isfinite(room)
    }
    return (
        *book_doubts(stride_ledger(steps, mapped)),
        *pull_doubts(least, Outcome.reached_event),
    )


def stride_ledger(steps: ReturnMap, mapped: Mapped) -> Ledger:
    """Where the energy of a stride came from and went to."""
    x, m = steps.state(steps.start, steps.counts)
    stride, books = mapped.stride, mapped.books
    stand = Stand(
        t=float(stride.t),
        state=stride.numbers,
        stored_start=np.asarray(books.stored_start).tolist(),
        stored_end=np.asarray(books.stored_end).tolist(),
        through=np.asarray(stride.work).tolist(),
        jump_work=np.asarray(stride.jump_work).tolist(),
        throughput=float(books.throughput),
        least_room=(),
        cause=None,
        steps=0,
        tried=0,
        jumps=0,
    )
    return ledger_of(columns_of(steps.system, x, m).signals, stand)


def gait_doubts(cycle: Any) -> tuple[Doubt, ...]:
    """Of a gait: those of its stride, and those of a run of two strides from it."""
    plan = cycle.map.plan
    run = simulate(
        cycle.map.system,
        cycle.state,
        Plan(duration=STRIDES * cycle.period, engine=plan.engine, max_jumps=plan.max_jumps),
    )
    # The books of the run are those of the stride, twice.
    return tuple(dict.fromkeys((*stride_doubts(cycle.map, cycle.point.mapped), *run.doubts)))
