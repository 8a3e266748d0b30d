"""From compiled chunks to a Trajectory: which rows there are, in which order, and what the columns are called."""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from footfall.hybrid.fields import FieldInfo
from footfall.hybrid.flatten import named_leaves
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.system import AbstractHybridSystem
from footfall.record.ledger import Ledger
from footfall.record.trajectory import Ending, EventRecord, Signal, Trajectory
from footfall.sim.loop_state import Carry, Chunk, Report, Settings, Standing
from footfall.sim.packed_system import Loop

#: Samples evaluated per compiled call.
KEEP_SAMPLES = 1024


class _Observed(NamedTuple):
    """One row of every signal for each sample, each side of each event, and the end."""

    samples: np.ndarray
    before: np.ndarray
    after: np.ndarray
    end: np.ndarray
    jumps_before: np.ndarray  #: events of this chunk before each sample


@functools.partial(jax.jit, static_argnames="settings")
def observe(
    system: Any,
    x_like: Any,
    first_m: Any,
    chunk: Chunk,
    end: tuple[Any, Any, Any],
    times: Any,
    settings: Settings,
) -> tuple[Any, Any]:
    """Rows at the sample times, then before and after each event, then at the end, as one matrix; and the events before each sample."""
    layout = Loop(system, x_like, first_m, settings).layout
    events, steps = chunk.events, chunk.steps

    def row(t: Any, y: Any, m: Any) -> Any:
        x, work = layout.unpack(y)
        values = [x, m, system.outputs(t, x, m), system.stores(t, x, m), system.flow(t, x, m).power, work]
        return jnp.concatenate([jnp.ravel(jnp.asarray(v, float)) for v in jax.tree.leaves(values)])

    # Discrete state before event i is that after event i - 1; row 0 is the chunk's first.
    m_rows = jax.tree.map(lambda first, rest: jnp.concatenate([jnp.asarray(first)[None], rest]), first_m, events.m)
    count = jnp.arange(events.t.shape[0])
    parts = [
        (events.t, events.before, jax.tree.map(lambda v: v[count], m_rows)),
        (events.t, events.after, events.m),
        jax.tree.map(lambda v: jnp.asarray(v)[None], end),
    ]
    earlier = jnp.zeros(times.shape, jnp.int32)
    if steps is not None:
        starts = jnp.where(jnp.arange(steps.start.shape[0]) < chunk.step_count, steps.start, jnp.inf)
        index = jnp.maximum(jnp.searchsorted(starts, times, side="right") - 1, 0)

        def inside(t: Any, i: Any) -> Any:
            start, tau, dense = jax.tree.map(lambda v: v[i], (steps.start, steps.tau, steps.dense))
            curve = settings.solver.interpolation_cls(t0=jnp.zeros(()), t1=tau, **dense)
            return curve.evaluate(jnp.clip(t - start, 0.0, tau))

        earlier = steps.event_row[index]
        parts.insert(0, (times, jax.vmap(inside)(times, index), jax.tree.map(lambda v: v[earlier], m_rows)))
    rows = jax.tree.map(lambda *v: jnp.concatenate(v), *parts)
    return jax.vmap(row)(*rows), earlier


def _observed(
    on_device: Any, begin: Any, chunk: Any, end: Any, count: int, rows: Any, times: np.ndarray, settings: Settings
) -> _Observed:
    """Rows at the times given, and on both sides of the chunk's events; `rows` is what `observe` gave for the events already."""
    system, x, _ = on_device
    room = KEEP_SAMPLES if settings.keep_steps else 0
    if rows is None:
        fill = np.full(room - len(times), times[-1] if len(times) else 0.0)
        rows = observe(system, x, begin.m, chunk, (end.t, end.y, end.m), np.concatenate([times, fill]), settings=settings)
    values, earlier = np.asarray(rows[0]), np.asarray(rows[1]) if room else np.zeros(0, int)
    events, k = values[room:], settings.keep_events
    return _Observed(values[: len(times)], events[:count], events[k : k + count], events[-1], earlier[: len(times)])


class _Piece(NamedTuple):
    """What one chunk adds to the record, and where the run then stood."""

    t: np.ndarray
    j: np.ndarray
    rows: np.ndarray
    events: list[tuple[float, int, int, int]]  #: time, flat guard, rows of this piece before and after
    carry: Carry
    standing: Standing
    samples: int  #: so far
    jumps: int  #: so far


class Recorder:
    """Collects rows from chunks and turns them into a Trajectory.

    A chunk is added whole, in one step: whenever Ctrl-C comes, rows, events and the carry it leaves behind belong together.
    """

    def __init__(self, system: AbstractHybridSystem, x: Any, m: Any, rate: float | None, first: Carry):
        self.rate, self.first = rate, first
        self.signals, self.ports, self.works, self.guard_of, self.names, self.terminal = columns_of(system, x, m)
        self.store_count = sum(s.role == "store" for s in self.signals)
        self.pieces: list[_Piece] = []

    @property
    def carry(self) -> Carry:
        """Where the recorded run stands."""
        return self.pieces[-1].carry if self.pieces else self.first

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
        begin = self.carry
        samples, jumps = (self.pieces[-1].samples, self.pieces[-1].jumps) if self.pieces else (0, 0)
        count, t_end = standing.event_count, standing.t
        event_t, guard = np.asarray(chunk.events.t)[:count], np.asarray(chunk.events.guard)[:count]
        ends = self.terminal[[self.guard_of[g][0] for g in guard]] if count else np.zeros(0, bool)
        jumps_before = jumps + np.arange(count) - np.concatenate([[0], np.cumsum(ends)])[:count].astype(int)
        times = np.zeros(0)
        if self.rate is not None and standing.step_count:  # without a step there is nothing to sample
            times = np.arange(samples, int(np.floor(t_end * self.rate * (1 + 1e-15))) + 1) / self.rate
            times = times[times <= t_end]
        parts = []
        for first in range(0, max(1, len(times)), KEEP_SAMPLES):
            block = times[first : first + KEEP_SAMPLES]
            seen = _observed(on_device, begin, chunk, end, count, rows, block, settings)
            parts.append((block, jumps + seen.jumps_before, np.full(len(block), 1), seen.samples))
        # Order of rows at one instant: by jump count, then before (0) < sample (1) < after (2).
        parts.append((event_t, jumps_before, np.full(count, 0), seen.before))
        parts.append((event_t, jumps_before + ~ends, np.full(count, 2), seen.after))
        total = jumps + int(count - ends.sum())
        at_end = (count and event_t[-1] == t_end) or (len(times) and times[-1] == t_end)
        if standing.outcome != Outcome.running and not at_end:
            parts.append((np.array([t_end]), np.array([total]), np.array([3]), seen.end[None]))
        t, j, rank, values = (np.concatenate(part) for part in zip(*parts, strict=True))
        order = np.lexsort((rank, j, t))
        position = np.empty(len(order), int)
        position[order] = np.arange(len(order))
        before = position[len(times) : len(times) + count]
        after = position[len(times) + count : len(times) + 2 * count]
        events = [(float(a), int(g), int(b), int(c)) for a, g, b, c in zip(event_t, guard, before, after, strict=True)]
        self.pieces.append(_Piece(t[order], j[order], values[order], events, end, standing, samples + len(times), total))
        return standing

    def trajectory(self, outcome: Outcome, draw: Any, travel: Any, source: dict) -> Trajectory:
        """The record so far."""
        end = self.pieces[-1].standing if self.pieces else self._at_start()
        matrix = np.concatenate([np.zeros((0, len(self.signals))), *(p.rows for p in self.pieces)])
        columns = {s.name: np.ascontiguousarray(matrix[:, i]) for i, s in enumerate(self.signals)}
        events, offset = [], 0
        for piece in self.pieces:
            for t, guard, before, after in piece.events:
                k, leg = self.guard_of[guard]
                events.append(EventRecord(t, self.names[k], leg, offset + before, offset + after))
            offset += len(piece.t)
        cause = end.cause
        ending = Ending(
            outcome=outcome,
            t=end.t,
            event=self.names[self.guard_of[cause][0]] if cause >= 0 else None,
            state={s.name: float(v) for s, v in zip(self.signals, end.y, strict=False) if s.role == "state"},
            steps=end.steps,
            tried=end.tried,
            jumps=end.jumps,
        )
        rooms: dict[str, float] = {}
        for (k, _), room in zip(self.guard_of, end.least_room, strict=True):
            rooms[self.names[k]] = min(rooms.get(self.names[k], np.inf), float(room))
        return Trajectory(
            t=np.concatenate([np.zeros(0), *(p.t for p in self.pieces)]),
            j=np.concatenate([np.zeros(0, int), *(p.j for p in self.pieces)]),
            columns=columns,
            signals={s.name: s for s in self.signals},
            events=tuple(events),
            ending=ending,
            ledger=self._ledger(end),
            least_room=rooms,
            draw=draw,
            travel=travel,
            provenance=source,
        )

    def _at_start(self) -> Standing:
        """Of a run that was interrupted before its first chunk was done."""
        names = ("t", "throughput", "y", "stores", "jump_work", "least_room", "outcome", "cause", "jumps", "steps", "tried")
        values = [np.asarray(getattr(self.first, name)) for name in names]
        return Standing(*(v.item() if v.ndim == 0 else v for v in values), 0, 0)

    def _ledger(self, end: Standing) -> Ledger:
        stores = [s.name.removeprefix("store.") for s in self.signals if s.role == "store"]
        through = end.y[len(end.y) - len(self.ports) :]
        work = {name: float(v) for (name, info), v in zip(self.ports, through, strict=True) if info.kind == "work"}
        losses = {name: -float(v) for (name, info), v in zip(self.ports, through, strict=True) if info.kind == "loss"}
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


class Columns(NamedTuple):
    """What the columns, ports, jump works and guards of a system are called."""

    signals: list[Signal]
    ports: list[tuple[str, FieldInfo]]
    works: list[tuple[str, FieldInfo]]
    guards: list[tuple[int, int | None]]  #: (index, leg) of each flat guard
    events: tuple[str, ...]
    terminal: np.ndarray  #: which events end the run


def columns_of(system: AbstractHybridSystem, x: Any, m: Any) -> Columns:
    leaves, tree = jax.tree.flatten((system, x, m))
    return _columns_of(tree, tuple((np.shape(leaf), np.asarray(leaf).dtype) for leaf in leaves))


@functools.lru_cache(maxsize=256)  # tracing for shapes takes longer than a short run
def _columns_of(tree: Any, shapes: tuple) -> Columns:
    def look(system: AbstractHybridSystem, x: Any, m: Any) -> Any:
        t = jnp.zeros(())
        work = ()
        guards = system.guards(t, x, m)
        for k, event in enumerate(system.events):
            if event.outcome is None:
                work = system.jump(t, x, m, k, *((jnp.int32(0),) if np.shape(guards[k]) else ())).work
                break
        flow = system.flow(t, x, m)
        return flow.x, m, system.outputs(t, x, m), system.stores(t, x, m), flow.power, work, guards

    arguments = jax.tree.unflatten(tree, [jax.ShapeDtypeStruct(*shape) for shape in shapes])
    x, m, outputs, stores, power, work, guards = jax.eval_shape(look, *arguments)
    signals: list[Signal] = []
    for role, prefix, struct in (
        ("state", "", x), ("discrete", "", m), ("output", "", outputs), ("store", "store.", stores), ("power", "power.", power),
        ("work", "work.", power),
    ):  # fmt: skip
        for name, info, parent, leg in _flat_fields(struct):
            rate_of = info.rate_of and f"{parent}{info.rate_of}{leg}"
            group = parent.rstrip(".") if role == "output" else prefix.rstrip(".")
            unit = "J" if role == "work" else info.unit
            signals.append(Signal(prefix + name, unit, info.doc, role, rate_of, group))
    flat = [(k, leg if g.shape else None) for k, g in enumerate(guards) for leg in range(int(np.prod(g.shape)))]
    events = arguments[0].events
    terminal = np.array([e.outcome is not None for e in events])
    return Columns(signals, _flat_names(power), _flat_names(work), flat, tuple(e.name for e in events), terminal)


def _flat_fields(struct: Any) -> list[tuple[str, FieldInfo, str, str]]:
    """(name, declaration, "parent.", ".leg") of each scalar: fields over like legs give one name per leg, "force.3"."""
    out: list[tuple[str, FieldInfo, str, str]] = []
    for name, value, info in named_leaves(struct) if struct != () else ():
        parent = name[: len(name) - len(name.rpartition(".")[2])]
        legs = [""] if np.shape(value) == () else [f".{i}" for i in range(int(np.prod(np.shape(value))))]
        out += [(f"{name}{leg}", info, parent, leg) for leg in legs]
    return out


def _flat_names(struct: Any) -> list[tuple[str, FieldInfo]]:
    return [(name, info) for name, info, _, _ in _flat_fields(struct)]
