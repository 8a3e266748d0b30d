"""check_system(): does a system keep the contract?

Looked at where a run of the event engine comes to.

The run is made by the program that `simulate` runs, so what is checked is what happens, and nothing
is compiled only for it.
"""

import dataclasses
import functools
import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from footfall.engines.jax_setup import prepare_jax
from footfall.engines.plan import Plan
from footfall.engines.simulate import Call, chunks
from footfall.hybrid.conformance import AtOnce, ConformanceError, Journey, Report, Visited, examine
from footfall.hybrid.flatten import Layout
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.system import AbstractHybridSystem, HybridState

#: s; how far to look at most, and how many solver steps and events at most: a second or so for a
#: stiff robot or one with a fast clock too.
SPAN, MOST_TRIES, MOST_EVENTS = 10.0, 60_000, 1200
#: Less room than this may be rounding.
ROUNDING = 1e-9
#: States kept just before an event of one leg, and on the way after it.
KEPT, KEPT_AFTER = 3, 10


def check_system(
    system: AbstractHybridSystem,
    state: HybridState,
    *,
    samples: int = 8,
    seed: int = 0,
    spread: float = 0.05,
) -> Report:
    """Check that a system keeps the contract.

    Velocities are derivatives of positions, energy adds up, jumps report what they take.

    Arguments:
        system, state: a robot, often one of your own, and where it starts.
        samples, seed, spread: how many states near it are looked at, which, and how far from it
            they are. States that a short run from it comes to are looked at too: every mode, and
            each jump where it happens.

    Returns a report, a line to each claim; a jump that the run did not come to has a line that says
    so. Raises ConformanceError with the whole report, and the file and line of what is wrong, where
    a claim does not hold.

    >>> import footfall as ff
    >>> wheel = ff.load("passive-wheel")
    >>> ff.check_system(wheel.system, wheel.start).ok
    True
    """
    report = examine_system(system, state, samples=samples, seed=seed, spread=spread)
    if not report.ok:
        raise ConformanceError(
            f"{report.system} does not keep the contract of a hybrid system:\n{report}"
        )
    return report


def examine_system(
    system: AbstractHybridSystem,
    state: HybridState,
    plan: Plan | None = None,
    *,
    samples: int = 8,
    seed: int = 0,
    spread: float = 0.05,
) -> Report:
    """The same report without raising.

    `plan` has the solver and the tolerances to look around with.
    """
    prepare_jax()
    return examine(
        system, state, lambda: look_around(system, state, plan or Plan()), samples, seed, spread
    )


def look_around(system: AbstractHybridSystem, state: HybridState, plan: Plan) -> Journey:
    """Go from `state` through SPAN, or until every jump was seen often enough.

    As far as MOST_TRIES and MOST_EVENTS reach.
    """
    plan = dataclasses.replace(
        plan,
        duration=SPAN,
        settle=None,
        max_jumps=MOST_EVENTS,
        sample_rate=plan.sample_rate or 1.0 / SPAN,
    )
    shapes = [g.shape for g in jax.eval_shape(lambda: system.guards(jnp.zeros(()), *state))]
    flat = [(k, leg) for k, shape in enumerate(shapes) for leg in range(int(np.prod(shape)))]
    jumps = [which for which in flat if system.events[which[0]].outcome is None]
    seen, visited, last, first, end = Counter[Any](), list[Visited](), None, None, None
    at_once: dict[tuple[int, int], AtOnce] = {}
    for call in chunks(system, state, plan):
        first, end = first or call.begin, call.end
        events = [
            flat[int(guard)]
            for guard in np.asarray(call.chunk.events.guard)[: int(call.chunk.event_count)]
        ]
        for place in _places(call, events, last):
            seen[place.kind] += 1
            if seen[place.kind] <= (KEPT_AFTER if place.event is None else KEPT):
                k, leg = place.event or (None, 0)
                after = (
                    "from the start on"
                    if place.last is None
                    else f'after "{system.events[place.last[0]].name}"'
                )
                x = Layout.of(state.x).unpack(jnp.asarray(place.packed()))
                visited.append(
                    Visited(
                        jnp.asarray(place.t), x, jax.tree.map(jnp.asarray, place.m), k, leg, after
                    )
                )
        for found in _at_once(system, Layout.of(state.x), call, events):
            at_once.setdefault((found.first, found.second), found)
        last = events[-1] if events else last
        if int(end.tried) >= MOST_TRIES or (
            jumps and all(seen["before", jump] >= KEPT for jump in jumps)
        ):
            break
    assert first is not None and end is not None  # a run has at least one chunk
    armed = np.split(
        np.asarray(first.armed), np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1]
    )
    outcome = Outcome(int(end.outcome))
    going_on = outcome in (Outcome.running, Outcome.reached_end, Outcome.too_many_jumps)
    return Journey(
        visited,
        float(end.t),
        "" if going_on else outcome.name,
        [counts.reshape(shape) for counts, shape in zip(armed, shapes, strict=True)],
        list(at_once.values()),
    )


def _at_once(
    system: AbstractHybridSystem, layout: Layout, call: Call, events: list[tuple[int, int]]
) -> Iterator[AtOnce]:
    """Events that happen in the instant of another, though they had room before its jump."""
    happened = call.chunk.events
    t, before, after, m_after = jax.tree.map(
        np.asarray, (happened.t, happened.before, happened.after, happened.m)
    )
    for i, ((k, _), (second, leg)) in enumerate(itertools.pairwise(events)):
        if t[i + 1] != t[i] or system.events[k].period is not None or k == second:
            continue
        m = call.begin.m if i == 0 else jax.tree.map(lambda v, i=i: v[i - 1], m_after)
        sides = ((before[i], m), (after[i], jax.tree.map(lambda v, i=i: v[i], m_after)))
        had, has = (
            float(np.ravel(system.guards(t[i], layout.unpack(jnp.asarray(y)), held)[second])[leg])
            for y, held in sides
        )
        if had > ROUNDING and had < np.inf:
            yield AtOnce(k, second, float(t[i]), had, has)


class _Place(NamedTuple):
    """Where a call came to."""

    t: Any
    packed: Callable[[], Any]  #: its continuous state
    m: Any
    event: tuple[int, int] | None  #: that happens here, next: its index and leg
    last: tuple[int, int] | None  #: the one before

    @property
    def kind(self) -> Any:
        return ("after", self.last) if self.event is None else ("before", self.event)


def _places(
    call: Call, events: list[tuple[int, int]], last: tuple[int, int] | None
) -> Iterator[_Place]:
    """Just before each event of a call, and in the middle of some of its steps.

    Ever rarer, a mode changes while it lasts.
    """
    steps, count = call.chunk.steps, int(call.chunk.step_count)
    assert steps is not None  # a sampled run keeps them
    happened = call.chunk.events
    times, before, m_after = jax.tree.map(np.asarray, (happened.t, happened.before, happened.m))
    modes = [
        jax.tree.map(np.asarray, call.begin.m),
        *(jax.tree.map(lambda v, i=i: v[i], m_after) for i in range(len(events))),
    ]
    lasts = [last, *events]
    for i, event in enumerate(events):
        yield _Place(times[i], functools.partial(before.__getitem__, i), modes[i], event, lasts[i])
    start, tau, row = (np.asarray(v)[:count] for v in (steps.start, steps.tau, steps.event_row))
    # Steps since the last event, this one counted.
    since = np.arange(count) - np.searchsorted(row, row) + 1
    for i in np.flatnonzero((since & (since + 1) == 0) & (tau > 0)):  # 1, 3, 7, 15, ...
        middle = functools.partial(
            _middle, tau[i], jax.tree.map(lambda v, i=i: v[i], steps.dense), solver=call.solver
        )
        yield _Place(start[i] + 0.5 * tau[i], middle, modes[row[i]], None, lasts[row[i]])


@functools.partial(jax.jit, static_argnames="solver")
def _middle(tau: Any, dense: Any, solver: Any) -> Any:
    """The state in the middle of a step."""
    return solver.interpolation_cls(t0=jnp.zeros(()), t1=tau, **dense).evaluate(0.5 * tau)
