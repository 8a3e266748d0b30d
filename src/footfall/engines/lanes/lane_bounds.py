"""What each lane of a batch keeps of the outputs that its robot has bounds for.

See hybrid/bound.py; kept between two steps and at jumps.

An extreme over whole steps needs two numbers: since the last count, which may be the end of the
run, and before it. A mean needs the value at the end of the last step and the integral, by the
trapezoid rule on the ends of steps: as of the rows of a run.
"""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import Array

from footfall.engines.lanes.lane_loop import LaneLoop, pick
from footfall.engines.lanes.lane_state import Lane, Watch, Watched
from footfall.hybrid.bound import Bound, beyond
from footfall.hybrid.flatten import named_leaves

#: How an extreme goes on, and what it is of nothing.
_MORE = {"peak": (jnp.maximum, -np.inf), "least": (jnp.minimum, np.inf)}


def begin(loop: LaneLoop, x: list[Array], m: list[Array]) -> Watch | None:
    """At t = 0."""
    if not loop.bounds:
        return None
    zero = jnp.zeros(x[0].shape[-1:], loop.real)
    values = _values(loop, zero, x, m)
    kept = [
        Watched(v, zero if b.statistic == "mean" else jnp.full_like(zero, _MORE[b.statistic][1]))
        for b, v in zip(loop.bounds, values, strict=True)
    ]
    return Watch(
        [zero if name is None else jnp.full_like(zero, np.inf) for name in loop.counters], kept
    )


def stepped(loop: LaneLoop, lane: Lane, t: Array, x: list[Array], tau: Array) -> Watch | None:
    """At the end of an attempt of length tau."""
    if lane.watch is None:
        return None
    kept = []
    for bound, v, old in zip(
        loop.bounds, _values(loop, t, x, lane.m), lane.watch.kept, strict=True
    ):
        if bound.statistic == "mean":
            kept.append(Watched(v, old.before + 0.5 * tau * (old.now + v)))
        else:
            kept.append(Watched(_MORE[bound.statistic][0](old.now, v), old.before))
    return pick(tau > 0, lane.watch._replace(kept=kept), lane.watch)


def jumped(loop: LaneLoop, m_before: list[Array], lane: Lane, t: Array) -> Watch | None:
    """Just after a jump or a tick, which the lane has behind it."""
    if lane.watch is None:
        return None
    counts = [_counted(loop, name, m_before, lane.m) for name in loop.counters]
    since, kept = lane.watch.since, []
    for bound, v, old in zip(
        loop.bounds, _values(loop, t, lane.x, lane.m), lane.watch.kept, strict=True
    ):
        n = loop.counters.index(bound.counter)
        counted, first = counts[n], ~(since[n] < np.inf)
        if bound.statistic == "mean":
            kept.append(
                Watched(
                    v,
                    old.before if counted is None else jnp.where(counted & first, 0.0, old.before),
                )
            )
            continue
        more, now = _MORE[bound.statistic][0], old.now
        before = (
            old.before
            if counted is None
            else jnp.where(counted & ~first, more(old.before, now), old.before)
        )
        after = more(now, v)
        kept.append(Watched(after if counted is None else jnp.where(counted, v, after), before))
    begun = [
        s if c is None else jnp.where(c & ~(s < np.inf), t, s)
        for s, c in zip(since, counts, strict=True)
    ]
    return Watch(begun, kept)


def found(loop: LaneLoop, lane: Lane, t_end: np.ndarray) -> list[np.ndarray]:
    """The statistic of each bound, of finished lanes; NaN where nothing counted."""
    if lane.watch is None:
        return []
    values = []
    for bound, (now, before) in zip(loop.bounds, lane.watch.kept, strict=True):
        since = np.asarray(lane.watch.since[loop.counters.index(bound.counter)], float)
        now, before = np.asarray(now, float), np.asarray(before, float)
        if bound.statistic == "mean":
            time = t_end - since
            values.append(np.where(time > 0, before / np.where(time > 0, time, 1.0), np.nan))
        else:
            whole = before if bound.counter else now
            values.append(np.where(np.isfinite(whole), whole, np.nan))
    return values


def lane_doubts(bounds: tuple[Bound, ...], values: list[np.ndarray]) -> dict[str, np.ndarray]:
    """Word -> whether it holds for each lane. `bounds` have the numbers of the batch."""
    doubts: dict[str, np.ndarray] = {}
    for bound, value in zip(bounds, values, strict=True):
        doubts[bound.doubt] = doubts.get(bound.doubt, False) | np.asarray(beyond(bound, value))
    return doubts


def _values(loop: LaneLoop, t: Any, x: list[Array], m: list[Array]) -> list[Array]:
    outputs = {
        name: v
        for name, v, _ in named_leaves(loop.system.outputs(t, loop.struct_x(x), loop.struct_m(m)))
    }
    return [loop.full(outputs[bound.output], x[0]) for bound in loop.bounds]


def _counted(
    loop: LaneLoop, name: str | None, before: list[Array], after: list[Array]
) -> Array | None:
    """Whether a counter went up; None for no counter."""
    if name is None:
        return None
    old, new = (_discrete(loop, m)[name] for m in (before, after))
    return new > old


def _discrete(loop: LaneLoop, m: list[Array]) -> dict[str, Array]:
    return {name: value for name, value, _ in named_leaves(loop.struct_m(m))}
