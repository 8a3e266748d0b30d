"""Gaits of a robot whose clock runs free: steps and ticks that come out even.

A clock that nobody sets ticks at 0, T, 2 T, ..., wherever the footfalls are. Looked at just before
a tick, again and again (stroboscopically), the robot has a map of its own; what repeats after p
periods of the clock, with q footfalls in them, is a gait of q steps that take p T together. If the
controller notices where in its period a foot lands, a gait near p/q is drawn to it and locks;
else footfalls wander through the phase of the clock, and no step is like another.
"""

import dataclasses
from typing import Any, NamedTuple

import jax
import numpy as np

from footfall.engines.analysis.return_map import NoCycle, ReturnMap
from footfall.engines.plan import Plan
from footfall.engines.simulate import chunks
from footfall.hybrid.flatten import Layout
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.system import HybridState

#: Steps taken before it is asked whether they repeat, and how many may make a period.
SETTLE, MOST = 200, 8
#: Share of a clock's period that some steps may be off a whole number of them, to be tried ...
NEAR = 0.05
#: ... and off which they are as good as even.
EVEN = 1e-3
#: Combinations of steps and periods that are tried.
TRIED = 3


class Even(NamedTuple):
    """Some steps that nearly take a whole number of periods."""

    steps: int
    periods: int
    off: float  #: of one period

    @property
    def words(self) -> str:
        return (
            f"{self.steps} step{'s' * (self.steps > 1)} in {self.periods} periods, off by"
            f" {self.off:.2g} of one"
        )


class Walked(NamedTuple):
    """A free run."""

    times: np.ndarray  #: s, of the footfalls
    state: HybridState  #: just before its last tick with which the clock begins anew

    def even(self, period: float) -> list[Even]:
        """The steps at its end that nearly fit the clock, the likeliest first."""
        found = []
        for steps in range(1, min(MOST, len(self.times) - 1) + 1):
            span = float(self.times[-1] - self.times[-1 - steps]) / period
            found.append(Even(steps, max(1, round(span)), abs(span - round(span))))
        return sorted(found, key=lambda e: (e.off > EVEN, e.off > NEAR, e.steps))


def walk_free(steps: ReturnMap, state: HybridState) -> Walked:
    """Some steps with a clock that goes on through them. Raises NoCycle where there are none."""
    period, layout = float(steps.system.clock_period), Layout.of(state.x)
    plan = Plan(duration=(SETTLE + MOST) * steps.plan.duration, engine=steps.plan.engine)
    wanted, times, begun = int(steps.limits.stop_event), [], None
    m, end = state.m, Outcome.running
    for call in chunks(steps.system, state, plan):
        count, events = int(call.chunk.event_count), call.chunk.events
        guards = np.asarray(events.guard[:count])
        times += np.asarray(events.t[:count])[guards == wanted].tolist()
        begun = _last_round(call, layout, m, period, steps) or begun
        m, end = call.end.m, Outcome(int(call.end.outcome))
        if len(times) >= SETTLE + MOST:
            break
    if len(times) <= MOST or begun is None or end not in (Outcome.running, Outcome.reached_end):
        raise NoCycle(
            f'it does not walk on: after {len(times)} events "{steps.event}" the run ended as'
            f" {end.name}, {end.meaning}."
        )
    return Walked(np.array(times), begun)


def _last_round(
    call: Any, layout: Layout, m: Any, period: float, steps: ReturnMap
) -> HybridState | None:
    """The state just before the last tick of a call with which the clock begins anew."""
    count, events = int(call.chunk.event_count), call.chunk.events
    clock = next(k for k, (event, _) in enumerate(steps.labels.events) if event.period is not None)
    rounds = np.asarray(events.t[:count]) / period
    even = (np.asarray(events.guard[:count]) == clock) & (abs(rounds - np.round(rounds)) < 1e-6)
    if not even.any():
        return None
    row = int(np.flatnonzero(even)[-1])
    before = m if row == 0 else _row(events.m, row - 1)
    return HybridState(layout.unpack(np.asarray(events.before[row])[: layout.size]), before)


def _row(tree: Any, row: int) -> Any:
    return jax.tree.map(lambda leaf: np.asarray(leaf[row]), tree)


def locked(steps: ReturnMap, state: HybridState, find: Any) -> Any:
    """The gait that a robot with a free clock comes to.

    `find` searches for a fixed point of a map. Raises NoCycle, in words, where nothing repeats.
    """
    period = steps.system.clock_period
    if period is None:
        raise ValueError(
            f"free_clock: {type(steps.system).__name__} has no clock of its own; leave it out."
        )
    walked = walk_free(steps, state)
    every, why = walked.even(float(period)), ""
    for one in [e for e in every if e.off <= NEAR][:TRIED]:
        by_clock = ReturnMap.of(steps.system, walked.state, steps.event, steps.plan)
        by_clock = dataclasses.replace(
            by_clock, limits=steps.limits, settings=steps.settings
        ).by_clock(one.periods)
        try:
            return find(by_clock)._replace(clock_periods=one.periods)
        except NoCycle as none:
            why = why or f" For {one.steps} in {one.periods}: {none}"
    took = float(np.mean(np.diff(walked.times[-MOST - 1 :]))) / float(period)
    near = min(every, key=lambda e: e.off)
    raise NoCycle(
        f"a step takes {took:.5g} periods of the clock ({float(period):g} s), which runs free:"
        f" footfalls wander through its phase, and no {MOST} steps or fewer repeat (nearest:"
        f" {near.words}).{why} Change a number until steps fit the clock, or ask for the gait of a"
        " clock that is set at each event (without free_clock)."
    )
