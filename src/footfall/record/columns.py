"""What the columns of a record are called, in the order of its rows, whichever engine makes it."""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from footfall.hybrid.fields import FieldInfo
from footfall.hybrid.flatten import named_leaves, work_of_jumps
from footfall.hybrid.statistics import looked_at, worth_statistics
from footfall.hybrid.system import AbstractHybridSystem, Event
from footfall.record.signal import Signal


class Columns(NamedTuple):
    """What the columns, ports, jump works and guards of a machine are called."""

    signals: list[Signal]
    ports: list[tuple[str, FieldInfo]]
    works: list[tuple[str, FieldInfo]]
    guards: list[tuple[int, int | None]]  #: (index, leg) of each flat guard
    events: tuple[str, ...]
    terminal: np.ndarray  #: which events end the run
    clock: np.ndarray  #: which events are ticks
    told: tuple[str, ...] = ()  #: outputs worth statistics
    #: Port, output among those looked at, sign: ports that are a part of an output.
    parts: tuple[tuple[int, int, float], ...] = ()


class RowStructs(NamedTuple):
    """All that is known of a machine at one moment, each scalar or an array over like legs."""

    x: Any
    m: Any
    outputs: Any
    stores: Any
    power: Any
    work: Any = ()  #: of a jump
    guards: tuple[Any, ...] = ()


def columns_of(system: AbstractHybridSystem, x: Any, m: Any) -> Columns:
    """Of a system that flows and jumps."""
    leaves, tree = jax.tree.flatten((system, x, m))
    return _columns_of(tree, tuple((np.shape(leaf), np.asarray(leaf).dtype) for leaf in leaves))


@functools.lru_cache(maxsize=256)  # tracing for shapes takes longer than a short run
def _columns_of(tree: Any, shapes: tuple) -> Columns:
    travels, events = [], []

    def look(system: AbstractHybridSystem, x: Any, m: Any) -> RowStructs:
        t = jnp.zeros(())
        travels.append(system.travel())
        events.append(system.events)
        guards = system.guards(t, x, m)
        legs = [(jnp.int32(0),) if np.shape(guard) else () for guard in guards]
        work = work_of_jumps(system.events, lambda k: system.jump(t, x, m, k, *legs[k]))
        flow = system.flow(t, x, m)
        seen = system.outputs(t, x, m), system.stores(t, x, m)
        return RowStructs(flow.x, m, *seen, flow.power, work, guards)

    arguments = jax.tree.unflatten(tree, [jax.ShapeDtypeStruct(*shape) for shape in shapes])
    row = jax.eval_shape(look, *arguments)
    named = named_columns(row, events[0])
    scalars = [name for name, value, _ in named_leaves(row.outputs) if value.shape == ()]
    told = worth_statistics(scalars, travels[0])
    outputs = {signal.name: signal for signal in named.signals if signal.role == "output"}
    inside = looked_at(scalars, travels[0], row.power)
    parts = tuple(
        (n, inside.index(info.part_of), 1.0 if info.kind == "work" else -1.0)
        for n, (_, info) in enumerate(named.ports)
        if info.part_of
    )
    signals = named.signals + statistics_of([outputs[name] for name in told])
    return named._replace(signals=signals, told=told, parts=parts)


def named_columns(row: RowStructs, events: tuple[Event, ...]) -> Columns:
    """Of a machine whose rows look so, without statistics; the structs may hold shapes only."""
    signals: list[Signal] = []
    for role, prefix, struct in (
        ("state", "", row.x),
        ("discrete", "", row.m),
        ("output", "", row.outputs),
        ("store", "store.", row.stores),
        ("power", "power.", row.power),
        ("work", "work.", row.power),
        ("jump_work", "jump_work.", row.work),
    ):
        for name, info, parent, leg in _flat_fields(struct):
            rate_of = info.rate_of and f"{parent}{info.rate_of}{leg}"
            group = parent.rstrip(".") if role == "output" else prefix.rstrip(".")
            unit = "J" if role in ("work", "jump_work") else info.unit
            signals.append(
                Signal(prefix + name, unit, info.doc, role, rate_of, group, info.kind or "")
            )
    shapes = [np.shape(guard) for guard in row.guards]
    return Columns(
        signals,
        _flat_names(row.power),
        _flat_names(row.work),
        [
            (k, leg if shape else None)
            for k, shape in enumerate(shapes)
            for leg in range(int(np.prod(shape)))
        ],
        tuple(e.name for e in events),
        terminal=np.array([e.outcome is not None for e in events]),
        clock=np.array([e.period is not None for e in events]),
    )


def statistics_of(outputs: list[Signal]) -> list[Signal]:
    """The columns that go with outputs worth statistics.

    From them a summary has exact means and peaks over any steps.
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
    """(name, declaration, "parent.", ".leg") of each scalar.

    Fields over like legs give one name per leg, "force.3".
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
