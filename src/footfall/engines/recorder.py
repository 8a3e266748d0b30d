"""From compiled chunks to a Trajectory:

which rows there are, in which order, and what the columns are called.
"""

import functools
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from footfall.engines.events.loop_state import Carry, Chunk, Report, Settings, Standing
from footfall.engines.events.packed_system import Loop
from footfall.hybrid.fields import FieldInfo
from footfall.hybrid.flatten import named_leaves, work_of_jumps
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.statistics import worth_statistics
from footfall.hybrid.system import AbstractHybridSystem, Travel
from footfall.numerics import panel
from footfall.record.ledger import Ledger
from footfall.record.row_stream import RowStream
from footfall.record.trajectory import Ending, EventRecord, Signal, Trajectory

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
#: A step with a kink in it (a torque reaches its limit) is halved this often at most, and so is the
#: half that has it ...
MOST_HALVINGS = 12
#: ... as long as there are no more panels than so many for a step.
MOST_PANELS = 64


class Panels(NamedTuple):
    """The steps of one call, and what the outputs worth statistics were at the nodes of each."""

    start: np.ndarray
    tau: np.ndarray
    event_row: np.ndarray  #: events of this call that came before the step
    values: np.ndarray  #: (steps, nodes, outputs)

    def places(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Step that each time lies in, and how much of it is over."""
        step = np.clip(np.searchsorted(self.start, t, side="right") - 1, 0, len(self.start) - 1)
        length = np.where(self.tau > 0, self.tau, 1.0)[step]
        return step, np.clip((t - self.start[step]) / length, 0.0, 1.0)

    def halved(self, look: Callable[[np.ndarray], np.ndarray]) -> "Panels":
        """With panels halved where a polynomial says too little, such as at a kink; `look` gives
        the values at times inside of steps.
        """
        panels, most = self, MOST_PANELS * len(self.start)
        size, usual = np.abs(self.values).max(axis=(0, 1), initial=0.0), np.mean(self.tau) or 1.0
        for _ in range(MOST_HALVINGS):
            # What a panel adds to an integral, as if all were of the usual length.
            wrong = panel.doubt(panels.values) * np.minimum(1.0, panels.tau / usual)[:, None]
            rough = np.any(wrong > panel.WRONG * size, axis=1)
            if not rough.any() or len(panels.start) + rough.sum() > most:
                break
            panels = panels._halve(rough, look)
        return panels

    def _halve(self, rough: np.ndarray, look: Callable[[np.ndarray], np.ndarray]) -> "Panels":
        start, tau, event_row, values = (np.repeat(v, 1 + rough, axis=0) for v in self)
        first = np.flatnonzero(np.repeat(rough, 1 + rough))[::2]
        halves = np.stack([first, first + 1])
        tau[halves] *= 0.5
        start[first + 1] += tau[first]
        middle = values[first, panel.COUNT // 2]
        times = start[halves][..., None] + tau[halves][..., None] * panel.NODES[1:-1]
        values[halves, 1:-1] = look(times.ravel()).reshape(*times.shape, -1)
        values[first, -1], values[first + 1, 0] = middle, middle
        return Panels(start, tau, event_row, values)


class _Observed(NamedTuple):
    """One row of every signal for each sample, each side of each event, and the end."""

    samples: np.ndarray
    before: np.ndarray
    after: np.ndarray
    end: np.ndarray
    begin: np.ndarray
    events_before: np.ndarray  #: events of this chunk before each sample
    panels: Panels | None
    told: np.ndarray  #: the outputs worth statistics at the samples


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
        told = [scalars[name] for name in _looked_at(scalars, system.travel(), power)]
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


def _looked_at(outputs: Iterable[str], travel: Travel | None, power: Any) -> tuple[str, ...]:
    """Outputs that are looked at inside every step:

    those worth statistics, then those of which ports are a part.
    """
    parts = (
        [info.part_of for _, _, info in named_leaves(power) if info.part_of] if power != () else []
    )
    return tuple(dict.fromkeys([*worth_statistics(outputs, travel), *parts]))


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
) -> _Observed:
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
    return _Observed(
        samples, whole[:count], whole[k : k + count], end_row, begin_row, earlier, panels, told
    )


class _Stand(NamedTuple):
    """Where the run stood after a chunk, and how much of the record belongs to that."""

    carry: Carry
    standing: Standing
    rows: int  #: so far
    samples: int  #: so far
    jumps: int  #: so far
    arc_begin: float  #: when the last event that is no tick of a clock happened
    jump_work: np.ndarray  #: so far
    totals: np.ndarray  #: integrals of the outputs worth statistics and of their squares, so far
    peaks: np.ndarray  #: their largest sizes since the last row
    parts: dict[int, float]  #: work through ports that are a part of an output, so far


class Recorder:
    """Collects rows from chunks in `stream` and turns them into a Trajectory.

    A chunk counts once all of it is kept: whenever Ctrl-C comes, rows, events and the carry it
    leaves behind belong together."""

    def __init__(
        self,
        system: AbstractHybridSystem,
        x: Any,
        m: Any,
        rate: float | None,
        first: Carry,
        stream: RowStream,
        source: dict,
    ):
        self.rate, self.first, self.stream, self.source = rate, first, stream, source
        named = columns_of(system, x, m)
        self.signals, self.ports, self.works, self.guard_of, self.names = named[:5]
        self.terminal, self.clock, self.told, self.parts = (
            named.terminal,
            named.clock,
            named.told,
            named.parts,
        )
        self.first_work = next((i for i, s in enumerate(self.signals) if s.role == "work"), 0)
        self.store_count = sum(s.role == "store" for s in self.signals)
        self.stream.begin(self.signals, source)
        self.events: list[EventRecord] = []
        self.last: _Stand | None = None

    @property
    def carry(self) -> Carry:
        """Where the recorded run stands."""
        return self.last.carry if self.last else self.first

    def add(
        self,
        on_device: Any,
        end: Carry,
        chunk: Chunk,
        report: Report,
        rows: Any,
        settings: Settings,
    ) -> Standing:
        """Rows of one chunk, in hybrid-time order."""
        standing = report.read(self.store_count, len(self.works), len(self.guard_of))
        begin, last = self.carry, self.last or self._nothing()
        jumps, count, t_end = last.jumps, standing.event_count, standing.t
        event_t, guard = np.asarray(chunk.events.t)[:count], np.asarray(chunk.events.guard)[:count]
        kinds = [self.guard_of[g][0] for g in guard]
        ends, ticks = self.terminal[kinds], self.clock[kinds]
        jumps_before = (
            jumps + np.arange(count) - np.concatenate([[0], np.cumsum(ends)])[:count].astype(int)
        )
        times, samples = np.zeros(0), last.samples
        arc_ends = event_t[~ticks]
        if (
            self.rate is not None and standing.step_count
        ):  # without a step there is nothing to sample
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
            seen = _observed(
                on_device,
                begin,
                chunk,
                end,
                standing,
                rows,
                block,
                settings,
                look_inside=first is None,
            )
            first = first or seen
            passed = seen.events_before
            parts.append((block, jumps + passed, np.full(len(block), 1), passed, seen.samples))
        assert first is not None
        panels = first.panels
        if panels is not None and len(panels.start):

            def look(inside: np.ndarray) -> np.ndarray:
                blocks = (inside[k : k + KEEP_SAMPLES] for k in range(0, len(inside), KEEP_SAMPLES))
                seen = (
                    _observed(
                        on_device, begin, chunk, end, standing, None, b, settings, look_inside=False
                    )
                    for b in blocks
                )
                return np.concatenate([rows.told for rows in seen])

            panels = panels.halved(look)
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
            [
                np.zeros((1, len(self.works))),
                np.cumsum(np.asarray(chunk.events.work)[:count], axis=0),
            ]
        )
        statistics, totals, peaks = _statistics(panels, t, passed, last.totals, last.peaks)
        values, parts = values[order], dict(last.parts)
        if panels is not None and len(panels.start):
            for port, output, sign in self.parts:
                work, parts[port] = _part(panels, output, sign, t, parts.get(port, 0.0))
                values[:, self.first_work + port] = work
        self.stream.add(t, j[order], np.concatenate([values, done[passed], statistics], axis=1))
        for when, g, b, a in zip(event_t, guard, before, after, strict=True):
            k, leg = self.guard_of[g]
            self.events.append(
                EventRecord(float(when), self.names[k], leg, last.rows + int(b), last.rows + int(a))
            )
        arc_begin = float(arc_ends[-1]) if len(arc_ends) else last.arc_begin
        self.last = _Stand(
            end,
            standing,
            last.rows + len(t),
            samples,
            total,
            arc_begin,
            done[-1],
            totals,
            peaks,
            parts,
        )
        return standing

    def _nothing(self) -> _Stand:
        """The record before its first chunk."""
        standing, work, told = self._at_start(), np.zeros(len(self.works)), len(self.told)
        return _Stand(
            self.first, standing, 0, 0, 0, 0.0, work, np.zeros(2 * told), np.zeros(told), {}
        )

    def trajectory(self, outcome: Outcome, draw: Any, travel: Any) -> Trajectory:
        """The record so far."""
        end, count = (self.last.standing, self.last.rows) if self.last else (self._at_start(), 0)
        t, j, columns = self.stream.finish(count)
        cause = end.cause
        ending = Ending(
            outcome=outcome,
            t=end.t,
            event=self.names[self.guard_of[cause][0]] if cause >= 0 else None,
            state={
                s.name: float(v)
                for s, v in zip(self.signals, end.y, strict=False)
                if s.role == "state"
            },
            steps=end.steps,
            tried=end.tried,
            jumps=end.jumps,
        )
        rooms: dict[str, float] = {}
        for (k, _), room in zip(self.guard_of, end.least_room, strict=True):
            rooms[self.names[k]] = min(rooms.get(self.names[k], np.inf), float(room))
        return Trajectory(
            t=t,
            j=j,
            columns=columns,
            signals={s.name: s for s in self.signals},
            events=tuple(e for e in self.events if e.row_after < count),
            ending=ending,
            ledger=self._ledger(end),
            least_room=rooms,
            draw=draw,
            travel=travel,
            provenance=self.source,
        )

    def _at_start(self) -> Standing:
        """Of a run that was interrupted before its first chunk was done."""
        names = (
            "t",
            "throughput",
            "y",
            "stores",
            "jump_work",
            "least_room",
            "outcome",
            "cause",
            "jumps",
            "steps",
            "tried",
        )
        values = [np.asarray(getattr(self.first, name)) for name in names]
        return Standing(*(v.item() if v.ndim == 0 else v for v in values), 0, 0)

    def _ledger(self, end: Standing) -> Ledger:
        stores = [s.name.removeprefix("store.") for s in self.signals if s.role == "store"]
        through = end.y[len(end.y) - len(self.ports) :].copy()
        for port, work in self.last.parts.items() if self.last else ():
            through[port] = work
        work = {
            name: float(v)
            for (name, info), v in zip(self.ports, through, strict=True)
            if info.kind == "work"
        }
        losses = {
            name: -float(v)
            for (name, info), v in zip(self.ports, through, strict=True)
            if info.kind == "loss"
        }
        jumps = list(zip(self.works, map(float, end.jump_work), strict=True))
        return Ledger(
            stored_start=dict(zip(stores, np.asarray(self.first.stores).tolist(), strict=True)),
            stored_end=dict(zip(stores, map(float, end.stores), strict=True)),
            work=work,
            losses=losses,
            jump_work={name: v for (name, info), v in jumps if info.kind == "work"},
            jump_losses={name: -v for (name, info), v in jumps if info.kind == "loss"},
            throughput=end.throughput,
        )


def _rows_of_short_arcs(ends: np.ndarray, rate: float) -> np.ndarray:
    """Times of rows, evenly spread, in arcs too short for enough samples; `ends` are where they
    begin and end, one after another.
    """
    begin, length = ends[:-1], np.diff(ends)
    few = (length * rate < ROWS_PER_ARC - 1) & (length * rate > SHORTEST_ARC)
    places = np.arange(1, ROWS_PER_ARC - 1) / (ROWS_PER_ARC - 1)
    return (begin[few, None] + length[few, None] * places).ravel()


def _statistics(
    panels: Panels | None, t: np.ndarray, passed: np.ndarray, totals: np.ndarray, peaks: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Columns of the rows at `t`, after so many `passed` events: integrals so far, of the values
    and of their squares, and the largest sizes in steps that ended since the row before; and what
    there is of each at the end."""
    if panels is None or not len(panels.start):
        running, held = np.tile(totals, (len(t), 1)), np.zeros((len(t), len(peaks)))
        held[:1], left = peaks, (peaks if not len(t) else 0.0 * peaks)
        return np.concatenate([running, held], axis=1), totals, left
    start, tau, event_row, values = panels
    values = values[:, :, : len(peaks)]
    both = np.concatenate([values, values * values], axis=2)
    sums = tau[:, None] * np.einsum("n,pnf->pf", panel.WEIGHTS, both)
    begun = totals + np.concatenate([np.zeros((1, len(totals))), np.cumsum(sums, axis=0)])
    step, place = panels.places(t)
    running = begun[step] + tau[step, None] * np.einsum(
        "rn,rnf->rf", panel.running_weights(place), both[step]
    )
    whole = place >= 1.0
    running[whole] = begun[step[whole] + 1]
    # The row that follows the end of a step, before the next event; what is left over waits for the
    # next row.
    over = np.concatenate([panel.largest(values), np.zeros((len(t), len(peaks)))])
    is_row = np.concatenate([np.zeros(len(start), bool), np.ones(len(t), bool)])
    # An event is where its step ended, but for rounding.
    when = np.concatenate([start + tau * (1 - 1e-12), t])
    order = np.lexsort((is_row, when, np.concatenate([event_row, passed])))
    over, is_row = over[order], is_row[order]
    over[0] = np.maximum(over[0], peaks)
    begins = np.concatenate([[0], np.flatnonzero(is_row) + 1])
    held = np.maximum.reduceat(np.concatenate([over, np.zeros((1, len(peaks)))]), begins, axis=0)
    return np.concatenate([running, held[:-1]], axis=1), begun[-1], held[-1]


def _part(
    panels: Panels, output: int, sign: float, t: np.ndarray, begun: float
) -> tuple[np.ndarray, float]:
    """Work at the rows and at the end through a port that is the positive or the negative part of
    an output, integrated from zero to zero.
    """
    step, place = panels.places(t)
    values = sign * panels.values[:, :, output]
    low, high = panel.bounds(values)
    values = np.where(high[:, None] > 0, values, 0.0)
    sums, inside = (
        values @ panel.WEIGHTS,
        np.einsum("rn,rn->r", panel.running_weights(place), values[step]),
    )
    for i in np.flatnonzero((low < 0) & (high > 0)):
        rows = np.flatnonzero(step == i)
        found = panel.positive_part(values[i], np.append(place[rows], 1.0))
        inside[rows], sums[i] = found[:-1], found[-1]
    before = np.concatenate([[0.0], np.cumsum(panels.tau * sums)])
    return begun + sign * (before[step] + panels.tau[step] * inside), begun + sign * float(
        before[-1]
    )


class Columns(NamedTuple):
    """What the columns, ports, jump works and guards of a system are called."""

    signals: list[Signal]
    ports: list[tuple[str, FieldInfo]]
    works: list[tuple[str, FieldInfo]]
    guards: list[tuple[int, int | None]]  #: (index, leg) of each flat guard
    events: tuple[str, ...]
    terminal: np.ndarray  #: which events end the run
    clock: np.ndarray  #: which events are ticks
    told: tuple[str, ...]  #: outputs worth statistics
    #: Port, output among those looked at, sign: ports that are a part of an output.
    parts: tuple[tuple[int, int, float], ...]


def columns_of(system: AbstractHybridSystem, x: Any, m: Any) -> Columns:
    leaves, tree = jax.tree.flatten((system, x, m))
    return _columns_of(tree, tuple((np.shape(leaf), np.asarray(leaf).dtype) for leaf in leaves))


@functools.lru_cache(maxsize=256)  # tracing for shapes takes longer than a short run
def _columns_of(tree: Any, shapes: tuple) -> Columns:
    travels = []

    def look(system: AbstractHybridSystem, x: Any, m: Any) -> Any:
        t = jnp.zeros(())
        travels.append(system.travel())
        guards = system.guards(t, x, m)
        legs = [(jnp.int32(0),) if np.shape(guard) else () for guard in guards]
        work = work_of_jumps(system.events, lambda k: system.jump(t, x, m, k, *legs[k]))
        flow = system.flow(t, x, m)
        return flow.x, m, system.outputs(t, x, m), system.stores(t, x, m), flow.power, work, guards

    arguments = jax.tree.unflatten(tree, [jax.ShapeDtypeStruct(*shape) for shape in shapes])
    x, m, outputs, stores, power, work, guards = jax.eval_shape(look, *arguments)
    signals: list[Signal] = []
    for role, prefix, struct in (
        ("state", "", x),
        ("discrete", "", m),
        ("output", "", outputs),
        ("store", "store.", stores),
        ("power", "power.", power),
        ("work", "work.", power),
    ):
        for name, info, parent, leg in _flat_fields(struct):
            rate_of = info.rate_of and f"{parent}{info.rate_of}{leg}"
            group = parent.rstrip(".") if role == "output" else prefix.rstrip(".")
            unit = "J" if role == "work" else info.unit
            signals.append(
                Signal(prefix + name, unit, info.doc, role, rate_of, group, info.kind or "")
            )
    signals += [
        Signal(f"jump_work.{name}", "J", info.doc, "jump_work", None, "jump_work", info.kind or "")
        for name, info in _flat_names(work)
    ]
    outputs_of = {signal.name: signal for signal in signals if signal.role == "output"}
    told = worth_statistics(
        [name for name, value, _ in named_leaves(outputs) if value.shape == ()], travels[0]
    )
    signals += statistics_of([outputs_of[name] for name in told])
    flat = [
        (k, leg if g.shape else None)
        for k, g in enumerate(guards)
        for leg in range(int(np.prod(g.shape)))
    ]
    events = arguments[0].events
    terminal = np.array([e.outcome is not None for e in events])
    looked_at = _looked_at(
        [name for name, value, _ in named_leaves(outputs) if value.shape == ()], travels[0], power
    )
    parts = tuple(
        (n, looked_at.index(info.part_of), 1.0 if info.kind == "work" else -1.0)
        for n, (_, info) in enumerate(_flat_names(power))
        if info.part_of
    )
    clock = np.array([e.period is not None for e in events])
    names = tuple(e.name for e in events)
    return Columns(
        signals, _flat_names(power), _flat_names(work), flat, names, terminal, clock, told, parts
    )


def statistics_of(outputs: list[Signal]) -> list[Signal]:
    """The columns that go with outputs worth statistics:

    from them a summary has exact means and peaks over any steps.
    """
    kinds = (
        ("integral", lambda unit: f"{unit} s".strip(), "its integral over time so far"),
        (
            "square",
            lambda unit: f"({unit})^2 s" if unit else "s",
            "the integral of its square so far",
        ),
        (
            "peak",
            lambda unit: unit,
            "its largest size in the steps that ended since the row before",
        ),
    )
    return [
        Signal(f"{kind}.{s.name}", unit(s.unit), f"{s.doc}: {doc}", "statistic", None, kind)
        for kind, unit, doc in kinds
        for s in outputs
    ]


def _flat_fields(struct: Any) -> list[tuple[str, FieldInfo, str, str]]:
    """(name, declaration, "parent.", ".leg") of each scalar:

    fields over like legs give one name per leg, "force.3".
    """
    out: list[tuple[str, FieldInfo, str, str]] = []
    for name, value, info in named_leaves(struct) if struct != () else ():
        parent = name[: len(name) - len(name.rpartition(".")[2])]
        legs = (
            [""]
            if np.shape(value) == ()
            else [f".{i}" for i in range(int(np.prod(np.shape(value))))]
        )
        out += [(f"{name}{leg}", info, parent, leg) for leg in legs]
    return out


def _flat_names(struct: Any) -> list[tuple[str, FieldInfo]]:
    return [(name, info) for name, info, _, _ in _flat_fields(struct)]
