"""From what an engine has to a Trajectory with its ledger: once, for every engine.

An engine hands over rows as they come, each with every column, and the events among them; at the
end it says where the run stood. How the rows came about is its own affair."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from footfall.hybrid.outcome import Outcome
from footfall.record.columns import Columns
from footfall.record.ledger import Ledger
from footfall.record.row_stream import RowStream
from footfall.record.signal import Signal
from footfall.record.trajectory import Ending, EventRecord, Trajectory


class Mark(NamedTuple):
    """How much of a record counts. What was added after it, when Ctrl-C came, does not."""

    rows: int = 0
    events: int = 0


class Stand(NamedTuple):
    """Where a run stands, in the order of its columns."""

    t: float
    state: Sequence[float]
    stored_start: Sequence[float]  #: J, in each store when it began
    stored_end: Sequence[float]
    through: Sequence[float]  #: J, work so far through each port
    jump_work: Sequence[float]  #: J, of each work of the jumps so far
    throughput: float  #: J, see record/ledger.py
    least_room: Iterable[tuple[int, float]]  #: (event, smallest value of one of its guards)
    cause: int | None  #: the event that ended it
    steps: int  #: accepted solver steps
    tried: int  #: solver steps taken, searches and rejections included
    jumps: int = 0

    @classmethod
    def at_rows(
        cls, signals: Sequence[Signal], first: Sequence[float], last: Sequence[float], **rest: Any
    ) -> "Stand":
        """Where a run stands whose first and last rows, of every column, tell all but the rest."""

        def found(row: Sequence[float], role: str) -> list[float]:
            return [v for s, v in zip(signals, row, strict=True) if s.role == role]

        return cls(
            state=found(last, "state"),
            stored_start=found(first, "store"),
            stored_end=found(last, "store"),
            through=found(last, "work"),
            jump_work=found(last, "jump_work"),
            **rest,
        )


class Builder:
    """Takes rows and events, and makes the record of them."""

    def __init__(self, machine: Any, columns: Columns, stream: RowStream, source: dict[str, Any]):
        self.machine, self.columns, self.stream, self.source = machine, columns, stream, source
        self._events: list[EventRecord] = []
        stream.begin(columns.signals, source)

    def add(
        self,
        last: Mark,
        t: np.ndarray,
        j: np.ndarray,
        rows: np.ndarray,
        events: Iterable[EventRecord] = (),
    ) -> Mark:
        """Some rows more after `last`, one for each t, and the events among them.

        The rows count once the caller keeps the mark that comes back: a call that Ctrl-C cut short
        may be made again.
        """
        self.stream.add(t, j, rows)
        self._events[last.events :] = events
        return Mark(last.rows + len(t), len(self._events))

    def trajectory(self, mark: Mark, outcome: Outcome, stand: Stand, note: str = "") -> Trajectory:
        """The record up to a mark.

        `note` says what the outcome means here, where that is not what it means elsewhere.
        """
        signals, names = self.columns.signals, self.columns.events
        t, j, columns = self.stream.finish(mark.rows)
        least: dict[str, float] = {}
        for k, room in stand.least_room:
            least[names[k]] = min(least.get(names[k], np.inf), float(room))
        event = None if stand.cause is None else names[stand.cause]
        return Trajectory(
            t=t,
            j=j,
            columns=columns,
            signals={s.name: s for s in signals},
            events=tuple(self._events[: mark.events]),
            ending=ending_of(signals, outcome, stand, event, note),
            ledger=ledger_of(signals, stand),
            least_room=least,
            pushes=tuple(e.name for e in self.machine.events if e.push),
            draw=self.machine.drawing,
            travel=self.machine.travel(),
            provenance=self.source,
        )


def ending_of(
    signals: Iterable[Signal], outcome: Outcome, stand: Stand, event: str | None, note: str
) -> Ending:
    """Why, when and where a run ended."""
    states = [s.name for s in signals if s.role == "state"]
    return Ending(
        outcome=outcome,
        t=stand.t,
        event=event,
        state={name: float(v) for name, v in zip(states, stand.state, strict=False)},
        steps=stand.steps,
        tried=stand.tried,
        jumps=stand.jumps,
        note=note,
    )


def ledger_of(signals: Sequence[Signal], stand: Stand) -> Ledger:
    """The books of a run, from what its columns are and where it stands."""

    def entries(role: str, joules: Sequence[float], kind: str = "") -> dict[str, float]:
        """By name; what is lost is positive."""
        sign, of_role = -1.0 if kind == "loss" else 1.0, [s for s in signals if s.role == role]
        both = zip(of_role, joules, strict=True)
        wanted = ((s, v) for s, v in both if not kind or (s.kind or "work") == kind)
        return {s.name.removeprefix(f"{role}."): sign * float(v) for s, v in wanted}

    return Ledger(
        stored_start=entries("store", stand.stored_start),
        stored_end=entries("store", stand.stored_end),
        work=entries("work", stand.through, "work"),
        losses=entries("work", stand.through, "loss"),
        jump_work=entries("jump_work", stand.jump_work, "work"),
        jump_losses=entries("jump_work", stand.jump_work, "loss"),
        throughput=stand.throughput,
    )
