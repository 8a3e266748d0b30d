"""From the compiled chunks of the event engine to rows: which there are, and in which order."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from footfall.engines.events.loop_state import Carry, Chunk, Report, Settings, Standing
from footfall.engines.events.packed_system import Loop
from footfall.engines.events.panels import Panels, part_work, statistics
from footfall.hybrid.flatten import named_leaves
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.statistics import looked_at
from footfall.hybrid.system import AbstractHybridSystem
from footfall.numerics import panel
from footfall.record.builder import Builder, Mark, Stand
from footfall.record.columns import Columns
from footfall.record.row_stream import RowStream
from footfall.record.trajectory import EventRecord, Trajectory

#: Samples evaluated per compiled call.
KEEP_SAMPLES = 1024
#: Rows computed at a time.
ROWS_TOGETHER = 128
#: A flight, stance or move between two events has at least this many rows, both ends and samples
#: counted ...
ROWS_PER_ARC = 9
#: ... unless it is shorter than this share of the time between samples: nothing that could be seen
#: happens in it.
SHORTEST_ARC = 1e-3


class Observed(NamedTuple):
    """One row of every signal for each sample, each side of each event, and the end."""

    samples: np.ndarray
    before: np.ndarray
    after: np.ndarray
    end: np.ndarray
    begin: np.ndarray
    events_before: np.ndarray  #: events of this piece before each sample
    panels: Panels | None
    told: np.ndarray  #: the outputs worth statistics at the samples


class Piece(NamedTuple):
    """What a piece of a run adds to its record."""

    standing: Standing  #: at its end
    event_t: np.ndarray
    guard: np.ndarray  #: flat number of the guard of each event
    work: np.ndarray  #: (events, works) done by each jump
    #: Rows at these times and at the events; with whether to look into its steps.
    look: Callable[[np.ndarray, bool], Observed]


class Rows(NamedTuple):
    """What `observe` gives of one chunk."""

    # every signal before each event, after each event, at the end, at the begin and at the samples
    whole: Any
    told: Any  #: the outputs worth statistics in the same rows, and at the nodes of each step
    earlier: Any  #: events before each sample
    steps: Any  #: start, length and events before each step


@functools.partial(jax.jit, static_argnames="settings")
def observe(
    system: Any,
    x_like: Any,
    first_m: Any,
    chunk: Chunk,
    ends: tuple[Any, Any, Any, Any],
    times: Any,
    counts: tuple[Any, Any],
    settings: Settings,
) -> Rows:
    """Rows of one chunk between `ends` (time and state at its begin, and at its end).

    `counts` says how many of `times` and of its steps are to be looked at.

    One piece of code computes every row, a few at a time and no more than there are.
    """
    layout, steps, events = (
        Loop(system, x_like, first_m, settings).layout,
        chunk.steps,
        chunk.events,
    )
    samples, looked_into = counts
    # Discrete state before event i is that after event i - 1; row 0 is the chunk's first.
    m_rows = jax.tree.map(
        lambda first, rest: jnp.concatenate([jnp.asarray(first)[None], rest]), first_m, events.m
    )
    number = jnp.arange(events.t.shape[0])
    first_t, first_y, last_t, last_y = ends
    given_t = jnp.concatenate([events.t, events.t, jnp.stack([last_t, first_t])])
    given_y = jnp.concatenate([events.before, events.after, jnp.stack([last_y, first_y])])
    given_m = jnp.concatenate(
        [
            number,
            number + 1,
            jnp.stack([jnp.asarray(chunk.event_count, number.dtype), 0 * number[0]]),
        ]
    )
    given = given_t.shape[0]
    earlier, index = jnp.zeros(times.shape, jnp.int32), jnp.zeros(times.shape, jnp.int32)
    if steps is not None and times.shape[0]:
        starts = jnp.where(
            jnp.arange(steps.start.shape[0]) < chunk.step_count, steps.start, jnp.inf
        )
        index = jnp.maximum(jnp.searchsorted(starts, times, side="right") - 1, 0)
        earlier = steps.event_row[index]

    def where(i: Any) -> tuple[Any, Any, Any]:
        """Time, state and place in m_rows of row number i."""
        k = jnp.minimum(i, given - 1)
        found = given_t[k], given_y[k], given_m[k]
        if steps is None:
            return found
        node = jnp.clip(i - given - samples, 0, panel.COUNT * steps.start.shape[0] - 1)
        step, place = node // panel.COUNT, jnp.asarray(panel.NODES)[node % panel.COUNT]
        t, sampled = 0.0, jnp.array(False)
        if times.shape[0]:
            k, sampled = jnp.clip(i - given, 0, times.shape[0] - 1), i < given + samples
            step, t = jnp.where(sampled, index[k], step), times[k]
        start, tau, dense, event_row = jax.tree.map(lambda v: v[step], steps)
        after = jnp.where(sampled, jnp.clip(t - start, 0.0, tau), place * tau)
        inside = settings.solver.interpolation_cls(t0=jnp.zeros(()), t1=tau, **dense).evaluate(
            after
        )
        t = jnp.where(sampled, t, start + after)
        return jax.tree.map(
            lambda a, b: jnp.where(i < given, a, b),
            found,
            (t, inside, event_row.astype(number.dtype)),
        )

    def row(i: Any) -> tuple[Any, Any]:
        t, y, k = where(i)
        (x, work), m = layout.unpack(y), jax.tree.map(lambda v: v[k], m_rows)
        outputs, power = system.outputs(t, x, m), system.flow(t, x, m).power
        values = [x, m, outputs, system.stores(t, x, m), power, work]
        scalars = {name: value for name, value, _ in named_leaves(outputs) if np.shape(value) == ()}
        told = [scalars[name] for name in looked_at(scalars, system.travel(), power)]
        return tuple(
            jnp.concatenate(
                [jnp.zeros(0), *(jnp.ravel(jnp.asarray(v, float)) for v in jax.tree.leaves(part))]
            )
            for part in (values, told)
        )

    room = (
        given + times.shape[0],
        given + times.shape[0] + (0 if steps is None else panel.COUNT * steps.start.shape[0]),
    )

    def block(k: Any, found: Any) -> Any:
        first = k * ROWS_TOGETHER
        some = jax.vmap(row)(first + jnp.arange(ROWS_TOGETHER))
        # What does not fit (of nodes, whole rows) is written behind what counts.
        begins = (jnp.minimum(first, most) for most in room)
        return tuple(
            jax.lax.dynamic_update_slice_in_dim(*v, 0)
            for v in zip(found, some, begins, strict=True)
        )

    widths = [shape.shape[0] for shape in jax.eval_shape(row, jnp.zeros((), jnp.int32))]
    empty = tuple(
        jnp.zeros((most + ROWS_TOGETHER, width)) for most, width in zip(room, widths, strict=True)
    )
    total = jnp.asarray(given + samples, jnp.int32)
    if steps is not None and widths[1]:
        total = total + panel.COUNT * jnp.asarray(looked_into, jnp.int32)
    whole, told = jax.lax.fori_loop(0, (total + ROWS_TOGETHER - 1) // ROWS_TOGETHER, block, empty)
    return Rows(
        whole, told, earlier, None if steps is None else (steps.start, steps.tau, steps.event_row)
    )


def piece_of(
    on_device: Any,
    begin: Carry,
    end: Carry,
    chunk: Chunk,
    report: Report,
    rows: Rows | None,
    settings: Settings,
    counts: tuple[int, int, int],
) -> Piece:
    """What one compiled call adds; `rows` is what `observe` gave for its events already.

    `counts` are the numbers of stores, of works of jumps and of guards.
    """
    standing, waiting = report.read(*counts), [rows]

    def look(times: np.ndarray, look_inside: bool) -> Observed:
        given = waiting.pop() if waiting else None
        return _observed(
            on_device, begin, chunk, end, standing, given, times, settings, look_inside=look_inside
        )

    count = standing.event_count
    happened = (np.asarray(v)[:count] for v in (chunk.events.t, chunk.events.guard))
    return Piece(standing, *happened, np.asarray(chunk.events.work)[:count], look)


def _observed(
    on_device: Any,
    begin: Any,
    chunk: Any,
    end: Any,
    standing: Standing,
    rows: Rows | None,
    times: np.ndarray,
    settings: Settings,
    *,
    look_inside: bool = True,
) -> Observed:
    """Rows at the times given, and on both sides of the chunk's events; `rows` is what `observe`
    gave for the events already.
    """
    system, x, _ = on_device
    count, steps, k = standing.event_count, standing.step_count, settings.keep_events
    found: Any = rows
    if found is None:
        all_times = np.concatenate([times, np.zeros(KEEP_SAMPLES - len(times))])
        counts = np.int32(len(times)), np.int32(steps if look_inside else 0)
        ends = (begin.t, begin.y, end.t, end.y)
        found = observe(system, x, begin.m, chunk, ends, all_times, counts, settings=settings)
    first = 2 * k + 2 + len(times)
    whole, earlier, panels = np.asarray(found.whole), np.asarray(found.earlier)[: len(times)], None
    if look_inside and found.steps is not None and found.told.shape[1]:
        told = np.asarray(found.told)[first : first + panel.COUNT * steps]
        panels = Panels(
            *(np.asarray(v)[:steps] for v in found.steps),
            told.reshape(steps, panel.COUNT, found.told.shape[1]),
        )
    samples, (end_row, begin_row) = whole[2 * k + 2 : first], whole[2 * k : 2 * k + 2]
    told = np.asarray(found.told)[2 * k + 2 : first]
    return Observed(
        samples, whole[:count], whole[k : k + count], end_row, begin_row, earlier, panels, told
    )


class _Kept(NamedTuple):
    """Where the run stood after a chunk, and how much of the record belongs to that."""

    carry: Any
    standing: Standing
    mark: Mark
    samples: int  #: so far
    jumps: int  #: so far
    arc_begin: float  #: when the last event that is no tick of a clock happened
    jump_work: np.ndarray  #: so far
    totals: np.ndarray  #: integrals of the outputs worth statistics and of their squares, so far
    peaks: np.ndarray  #: their largest sizes since the last row
    parts: dict[int, float]  #: work through ports that are a part of an output, so far


class Recorder:
    """Hands the rows of chunks to the builder of the record.

    A chunk counts once all of it is kept: whenever Ctrl-C comes, rows, events and the carry it
    leaves behind belong together."""

    def __init__(
        self,
        machine: AbstractHybridSystem,
        columns: Columns,
        rate: float | None,
        first: Any,
        standing: Standing,
        stream: RowStream,
        source: dict,
    ):
        self.rate, self.first, self.named = rate, first, columns
        self.at_start = standing
        self.builder = Builder(machine, columns, stream, source)
        signals = columns.signals
        self.first_work = next((i for i, s in enumerate(signals) if s.role == "work"), 0)
        self.states = sum(s.role == "state" for s in signals)
        self.last: _Kept | None = None

    @property
    def carry(self) -> Any:
        """Where the recorded run stands, as its engine keeps it."""
        return self.last.carry if self.last else self.first

    def add(self, end: Any, piece: Piece) -> Standing:
        """Rows of one piece, in hybrid-time order; `end` is what its engine goes on from."""
        standing, event_t, guard, done_work, look = piece
        last = self.last or self._nothing()
        jumps, count, t_end = last.jumps, standing.event_count, standing.t
        kinds = [self.named.guards[g][0] for g in guard]
        ends, ticks = self.named.terminal[kinds], self.named.clock[kinds]
        jumps_before = (
            jumps + np.arange(count) - np.concatenate([[0], np.cumsum(ends)])[:count].astype(int)
        )
        times, samples = np.zeros(0), last.samples
        arc_ends = event_t[~ticks]
        # Without a step there is nothing to sample.
        if self.rate is not None and standing.step_count:
            times = (
                np.arange(samples, int(np.floor(t_end * self.rate * (1 + 1e-15))) + 1) / self.rate
            )
            times = times[times <= t_end]
            samples += len(times)
            # A last arc that the end of the run cut off says nothing of its length, unless it is
            # all there is.
            alone = (
                standing.outcome != Outcome.running and not len(arc_ends) and last.arc_begin == 0
            )
            over = [t_end] if alone else []
            more = _rows_of_short_arcs(
                np.concatenate([[last.arc_begin], arc_ends, over]), self.rate
            )
            times = np.union1d(times, more[more >= last.standing.t])
        parts, first = [], None
        for k in range(0, max(1, len(times)), KEEP_SAMPLES):
            block = times[k : k + KEEP_SAMPLES]
            seen = look(block, first is None)
            first = first or seen
            passed = seen.events_before
            parts.append((block, jumps + passed, np.full(len(block), 1), passed, seen.samples))
        assert first is not None
        panels = first.panels
        if panels is not None and len(panels.start):

            def look_again(inside: np.ndarray) -> np.ndarray:
                blocks = (inside[k : k + KEEP_SAMPLES] for k in range(0, len(inside), KEEP_SAMPLES))
                return np.concatenate([look(block, False).told for block in blocks])

            panels = panels.halved(look_again)
        # Order of rows at one instant: by jump count, then before (0) < sample (1) < after (2).
        event = np.arange(count)
        parts.append((event_t, jumps_before, np.full(count, 0), event, seen.before))
        parts.append((event_t, jumps_before + ~ends, np.full(count, 2), event + 1, seen.after))
        if self.rate is None and self.last is None:  # a run without samples has a first row too
            parts.append(
                (np.zeros(1), np.zeros(1, int), np.array([-1]), np.zeros(1, int), seen.begin[None])
            )
        total = jumps + int(count - ends.sum())
        at_end = (count and event_t[-1] == t_end) or (len(times) and times[-1] == t_end)
        if standing.outcome != Outcome.running and not at_end:
            parts.append(
                (
                    np.array([t_end]),
                    np.array([total]),
                    np.array([3]),
                    np.array([count]),
                    seen.end[None],
                )
            )
        t, j, rank, passed, values = (np.concatenate(part) for part in zip(*parts, strict=True))
        order = np.lexsort((rank, j, t))
        position = np.empty(len(order), int)
        position[order] = np.arange(len(order))
        before = position[len(times) : len(times) + count]
        after = position[len(times) + count : len(times) + 2 * count]
        t, passed = t[order], passed[order]
        done = last.jump_work + np.concatenate(
            [np.zeros((1, len(self.named.works))), np.cumsum(done_work, axis=0)]
        )
        figures, totals, peaks = statistics(panels, t, passed, last.totals, last.peaks)
        values, parts = values[order], dict(last.parts)
        if panels is not None and len(panels.start):
            for port, output, sign in self.named.parts:
                work, parts[port] = part_work(panels, output, sign, t, parts.get(port, 0.0))
                values[:, self.first_work + port] = work
        begun, names = last.mark.rows, self.named.events
        of_guard = (self.named.guards[g] for g in guard)
        found = [
            EventRecord(float(when), names[k], leg, begun + int(b), begun + int(a))
            for when, (k, leg), b, a in zip(event_t, of_guard, before, after, strict=True)
        ]
        columns = np.concatenate([values, done[passed], figures], axis=1)
        mark = self.builder.add(last.mark, t, j[order], columns, found)
        arc_begin = float(arc_ends[-1]) if len(arc_ends) else last.arc_begin
        self.last = _Kept(
            end, standing, mark, samples, total, arc_begin, done[-1], totals, peaks, parts
        )
        return standing

    def _nothing(self) -> _Kept:
        """The record before its first chunk."""
        work, told = np.zeros(len(self.named.works)), len(self.named.told)
        totals, peaks, standing = np.zeros(2 * told), np.zeros(told), self.at_start
        return _Kept(self.first, standing, Mark(), 0, 0, 0.0, work, totals, peaks, {})

    def trajectory(self, outcome: Outcome, note: str = "") -> Trajectory:
        """The record so far."""
        last = self.last or self._nothing()
        end, guards = last.standing, self.named.guards
        through = end.y[len(end.y) - len(self.named.ports) :].copy()
        for port, work in last.parts.items():
            through[port] = work
        stand = Stand(
            t=end.t,
            state=end.y[: self.states],
            stored_start=np.asarray(self.at_start.stores).tolist(),
            stored_end=end.stores.tolist(),
            through=through.tolist(),
            jump_work=end.jump_work.tolist(),
            throughput=end.throughput,
            least_room=zip((k for k, _ in guards), end.least_room, strict=True),
            cause=guards[end.cause][0] if end.cause >= 0 else None,
            steps=end.steps,
            tried=end.tried,
            jumps=end.jumps,
        )
        return self.builder.trajectory(last.mark, outcome, stand, note)


def standing_at_start(first: Carry) -> Standing:
    """Of a run before its first piece."""
    # All but the events and steps of a chunk, of which there are none.
    values = [np.asarray(getattr(first, name)) for name in Standing._fields[:-2]]
    return Standing(*(v.item() if v.ndim == 0 else v for v in values), 0, 0)


def _rows_of_short_arcs(ends: np.ndarray, rate: float) -> np.ndarray:
    """Times of rows, evenly spread, in arcs too short for enough samples; `ends` are where they
    begin and end, one after another.
    """
    begin, length = ends[:-1], np.diff(ends)
    few = (length * rate < ROWS_PER_ARC - 1) & (length * rate > SHORTEST_ARC)
    places = np.arange(1, ROWS_PER_ARC - 1) / (ROWS_PER_ARC - 1)
    return (begin[few, None] + length[few, None] * places).ravel()
