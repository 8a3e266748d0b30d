"""What a batch is asked for afterwards.

Outcome, ledger and statistics of each lane, as named columns with units.
"""

import functools
from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from footfall.engines.lanes import batch_metrics
from footfall.engines.lanes.batch_metrics import WINDOW, Column
from footfall.engines.lanes.batch_metrics import Columns as Columns
from footfall.engines.lanes.batch_program import Kind
from footfall.engines.lanes.lane_jump import step_count
from footfall.engines.lanes.lane_loop import LaneLoop
from footfall.engines.lanes.lane_state import Lane, Mark
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.system import HybridState
from footfall.record.ledger import share_of_throughput, without_noise


def facts(kind: Kind, lane: Lane, axis: int = -1) -> LaneLoop:
    """What the loop knows of its system's structure; its numbers mean nothing.

    The lanes are along `axis` of every leaf.
    """
    leaves = (*lane.x, *lane.m)
    return _facts(
        kind,
        tuple(
            (tuple(np.delete(leaf.shape, axis).tolist()), np.dtype(leaf.dtype).str)
            for leaf in leaves
        ),
    )


@functools.lru_cache(maxsize=64)  # tracing a model takes longer than a short run
def _facts(kind: Kind, leaves: tuple[tuple[tuple[int, ...], str], ...]) -> LaneLoop:
    real = np.dtype(kind.precision)
    system = jax.tree.unflatten(kind.system, [real.type(1.0)] * kind.system.num_leaves)
    ones, states = [np.ones((*shape, 1), dtype) for shape, dtype in leaves], kind.x.num_leaves
    one = HybridState(
        jax.tree.unflatten(kind.x, ones[:states]), jax.tree.unflatten(kind.m, ones[states:])
    )
    return LaneLoop(system, one, kind.method, real, kind.track)


def collect(
    kind: Kind,
    system: Any,
    start: HybridState,
    lane: Lane,
    first: Mark | None,
    walked: Any,
    settled: list[Any] | None,
    duration: float,
    settle: float,
    units: Mapping[str, str],
) -> Columns:
    """Every column of a finished batch; `units` are those of the outputs.

    What a lane cannot say (the speed of a robot that fell at once) is NaN.
    """
    ended = np.asarray(lane.outcome) != Outcome.running
    outcome = np.where(ended, np.asarray(lane.outcome), Outcome.reached_end).astype(np.int32)
    t_end = np.where(ended, np.asarray(lane.ended), duration)
    columns: Columns = {
        "outcome": Column(outcome, "", "how the run ended"),
        "t_end": Column(t_end, "s", "time at which it ended"),
        "jumps": Column(
            np.asarray(lane.jumps), "", "events located; ticks of a clock are not counted"
        ),
    }
    if lane.own is not None:
        steps = np.maximum(np.asarray(lane.own.steps), 1)
        columns["mean_step"] = Column(t_end / steps, "s", "mean length of its steps")
    loop = facts(kind, lane)
    columns |= _walk(loop, system, lane, first, walked, units)
    columns |= _books(kind, loop, system, start, lane, t_end)
    events = loop.system.events
    for n, j in enumerate(loop.margins):
        k, leg = loop.searched[j]
        name = events[k].name if leg is None else f"{events[k].name}.{leg}"
        columns[f"least_{name}"] = Column(
            np.asarray(lane.least[n]), "", f"least room before {name} since the first jump"
        )
    columns |= batch_metrics.least_push(loop, lane)
    columns |= _tracked(loop, lane, settled, t_end, settle, units)
    return columns


def _walk(
    loop: LaneLoop,
    system: Any,
    lane: Lane,
    begin: Mark | None,
    walked: Any,
    units: Mapping[str, str],
) -> Columns:
    """Metrics from footfall to footfall.

    From the last one before the settling time to the last one of the run.

    Of a robot that did not reach the end they say nothing. Where none came before the settling
    time, the window begins there: speed and cost are those of that window, but a part of a step is
    no step, so its time and length are not known.
    """
    if loop.travel is None or begin is None or lane.last is None or walked is None:
        return {}
    first, last = (
        jax.tree.map(lambda v: np.asarray(v, float), mark) for mark in (begin, lane.last)
    )
    sides = len(loop.travel.step_counters)
    with np.errstate(divide="ignore", invalid="ignore"):
        known = (np.asarray(lane.outcome) == Outcome.running) & (last.steps > first.steps)
        time, distance, work = (
            np.where(known, b - a, np.nan) for a, b in zip(first[:3], last[:3], strict=True)
        )
        steps = np.where(known & np.asarray(walked), (last.steps - first.steps) / sides, np.nan)
        weight = np.asarray(system.travel().weight, float)
        metrics = {
            "mean_speed": (
                distance / time,
                "m/s",
                f"mean speed {WINDOW}",
            ),
            "step_time": (time / steps, "s", "time between footfalls of one side"),
            "step_length": (distance / steps, "m", "distance between footfalls of one side"),
            "cost_of_transport": (
                work / (weight * np.abs(distance)),
                "",
                "work of the motors, at jumps too, over weight times distance",
            ),
            "motor_work": (work, "J", "work of the motors over the same footfalls"),
            "motor_work_per_step": (work / steps, "J", "the same for each step of a side"),
            "mean_power": (work / time, "W", "mean power of the motors"),
            "distance": (distance, "m", "distance gone over the same footfalls"),
            "steps": (steps, "", "footfalls counted, mean of the sides"),
        }
        more = batch_metrics.turning(loop, first, last, known)
        more |= batch_metrics.side_counts(loop, first, last, known)
        more |= batch_metrics.of_outputs(loop, lane, first, known, weight, units)
    total = np.asarray(step_count(loop, lane.m), float) / sides
    columns = {
        name: Column(np.broadcast_to(v, total.shape), unit, doc)
        for name, (v, unit, doc) in metrics.items()
    }
    return (
        columns
        | more
        | {"footfalls": Column(total, "", "footfalls in the whole run, mean of the sides")}
    )


@functools.lru_cache(maxsize=32)
def _stored(kind: Kind) -> Callable[..., Any]:
    def stored(system: Any, x: list[Any], m: list[Any], t: Any) -> Any:
        stores = system.stores(t, jax.tree.unflatten(kind.x, x), jax.tree.unflatten(kind.m, m))
        leaves = [jnp.broadcast_to(v, x[0].shape[-1:]) for v in jax.tree.leaves(stores)]
        none = jnp.zeros(x[0].shape[-1:], x[0].dtype)  # a robot may keep no energy
        return functools.reduce(lambda a, b: a + b, leaves, none), leaves

    return jax.jit(stored)


def _books(
    kind: Kind, loop: LaneLoop, system: Any, start: HybridState, lane: Lane, t_end: np.ndarray
) -> Columns:
    """The ledger of each lane.

    What is not accounted for, and that as a share of what went through.
    """
    stored = _stored(kind)
    before, parts = stored(system, jax.tree.leaves(start.x), jax.tree.leaves(start.m), loop.zero)
    after, _ = stored(system, lane.x, lane.m, t_end.astype(kind.precision))
    ports = [np.asarray(v, float) for v in lane.q[: len(loop.ports)]]
    jumps = [np.asarray(v, float) for v in lane.jump_work]
    with np.errstate(invalid="ignore"):  # a start that was not finite has no books
        change = np.asarray(after, float) - np.asarray(before, float)
        residual = change - sum(ports) - sum(jumps)
        measure = np.asarray(lane.through, float), sum(np.abs(np.asarray(v, float)) for v in parts)
        relative = share_of_throughput(residual, *measure)
    columns = {
        f"work_{name}": Column(
            without_noise(v, *measure), "J", f"energy through {name}, positive into the stores"
        )
        for name, v in zip(loop.ports, ports, strict=True)
    }
    done = without_noise(sum(jumps) + np.zeros_like(residual), *measure)
    columns["jump_work"] = Column(
        done, "J", "energy the jumps added to the stores; losses are negative"
    )
    columns["stored_change"] = Column(change, "J", "change of what is stored")
    columns["residual"] = Column(residual, "J", "energy that is not accounted for")
    columns["relative_residual"] = Column(
        relative, "", "the same as a share of the energy through ports, jumps and stores"
    )
    return columns


def _tracked(
    loop: LaneLoop,
    lane: Lane,
    settled: list[Any] | None,
    t_end: np.ndarray,
    settle: float,
    units: Mapping[str, str],
) -> Columns:
    columns: Columns = {}
    if not loop.track or settled is None:
        return columns
    time = np.where(t_end > settle, t_end - settle, np.nan)
    for n, name in enumerate(loop.track):
        total, square = (
            np.asarray(lane.q[i], float) - np.asarray(settled[i])
            for i in (len(loop.ports) + 2 * n, len(loop.ports) + 2 * n + 1)
        )
        low, high = (
            np.where(np.isfinite(v) & (t_end > settle), v, np.nan)
            for v in map(np.asarray, lane.extremes[n])
        )
        what = f"{name} over the settled part"
        columns[f"{name}_mean"] = Column(total / time, units[name], f"mean of {what}")
        columns[f"{name}_rms"] = Column(
            np.sqrt(np.maximum(square / time, 0.0)), units[name], f"root mean square of {what}"
        )
        columns[f"{name}_min"] = Column(low, units[name], f"least {what}, at the ends of steps")
        columns[f"{name}_max"] = Column(high, units[name], f"largest {what}, at the ends of steps")
    return columns
