"""What a robot does along a branch where its gait is unstable: the bifurcation diagram.

It is let walk at values of the parameter, each from where the value before has led it, beginning
beside the gait where that is stable still. Steps are taken until it has settled; those that follow
are kept. A robot that repeats itself after two steps shows two of them, one that never does a band.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from footfall.engines.analysis.continuation import BranchPoint, Follower
from footfall.engines.analysis.return_map import one_stride
from footfall.hybrid.outcome import Outcome

#: Values of the parameter, steps that are taken before, and steps that are kept.
VALUES, SETTLE, KEPT = 48, 120, 24
#: How far beside the gait a walk begins, as a share of what its numbers change by in a step.
BESIDE = 1e-3
#: Times of the gait's period after which a step is none any more.
LONGEST = 5.0


class Orbit(NamedTuple):
    """A walk at one value of the parameter, once it has settled."""

    value: float
    times: tuple[float, ...]  #: s, that each step took; fewer where it fell
    distances: tuple[float, ...]  #: m, that each went

    @property
    def walks(self) -> bool:
        """Whether it took every step."""
        return len(self.times) == KEPT

    def figure(self, name: str) -> np.ndarray | None:
        """Of each step: its speed or its time; None for figures that are neither."""
        times, distances = np.array(self.times), np.array(self.distances)
        known = {"mean_speed": distances / times, "step_time": times, "period": times}
        return known.get(name)


def orbits(
    walker: Follower,
    points: Sequence[BranchPoint],
    most: int = VALUES,
    progress: Callable[[float], None] = lambda _: None,
) -> list[Orbit]:
    """At up to so many values where gaits of a branch are unstable.

    None of a robot that conserves energy: nothing draws it anywhere.
    """
    if walker.held or most < 1:
        return []
    runs, found = list(_unstable(points)), []
    whole = sum(_span(run) for run in runs)
    for run in runs:
        count = max(2, round(most * _span(run) / whole)) if whole > 0 else 1
        flat = None
        for value in np.linspace(run[0].value, run[-1].value, count):
            progress(min(1.0, len(found) / most))
            near = min(run, key=lambda point, value=value: abs(point.value - value))
            for start in (flat, _beside(walker, near)):
                if start is not None:
                    orbit, flat = _walked(walker, float(value), start, near)
                    if orbit.walks:
                        break
            found.append(orbit)
    return found


def _unstable(points: Sequence[BranchPoint]) -> Iterator[list[BranchPoint]]:
    """Parts of a branch without a stable gait, each from its side where gaits are stable.

    The special point at which they begin belongs to them.
    """
    run: list[BranchPoint] = []
    begun = False
    for point in (*points, None):
        if point is not None and (not point.stable or point.kind not in ("", "end")):
            run += [point] if point.kind != "end" else []
            continue
        if any(not one.stable and not one.kind for one in run):
            yield run if begun or point is None else run[::-1]
        run, begun = [], True


def _span(run: Sequence[BranchPoint]) -> float:
    return abs(run[-1].value - run[0].value)


def _beside(walker: Follower, point: BranchPoint) -> np.ndarray:
    return point.numbers + walker.quotient.spread(BESIDE * walker.step)


def _walked(
    walker: Follower, value: float, flat: np.ndarray, near: BranchPoint
) -> tuple[Orbit, np.ndarray | None]:
    """A walk, and where it leads; None where it falls."""
    system, _ = walker.robot(value)
    longest = LONGEST * near.figures["period"]
    limits = walker.map.limits._replace(
        t_end=min(longest, float(walker.map.limits.t_end)), stop_count=np.int32(1)
    )
    end, times, distances, walks = _orbit(
        system,
        np.asarray(flat, float),
        walker.map.like,
        walker.counts,
        limits,
        walker.map.step,
        settings=walker.map.settings,
        begins=walker.map.begins,
        steps=SETTLE + KEPT,
    )
    kept = np.asarray(walks)[SETTLE:]
    orbit = Orbit(
        value,
        tuple(np.asarray(times)[SETTLE:][kept].tolist()),
        tuple(np.asarray(distances)[SETTLE:][kept].tolist()),
    )
    return orbit, np.asarray(end) if kept.all() else None


@functools.partial(jax.jit, static_argnames=("settings", "begins", "steps"))
def _orbit(
    system: Any,
    flat: Any,
    like: Any,
    counts: Any,
    limits: Any,
    step: Any,
    settings: Any,
    begins: str,
    steps: int,
) -> Any:
    """Where so many steps lead, how long and how far each was, and whether it was one."""

    def next_step(before: Any, _: None) -> Any:
        flat, counts, walks = before
        # One that has fallen takes no more time.
        now = limits._replace(t_end=jnp.where(walks, limits.t_end, 0.0))
        stride, (after, _, outcome, _, _) = one_stride(
            system, flat, like, counts, now, step, settings, begins
        )
        walks = walks & (outcome == Outcome.reached_event)
        after = jax.tree.map(lambda a, b: jnp.asarray(a, b.dtype), after, counts)
        return (stride.numbers, after, walks), (stride.t, stride.distance, walks)

    begun = (flat, jax.tree.map(jnp.asarray, counts), jnp.asarray(True))
    (end, _, _), (times, distances, walks) = jax.lax.scan(next_step, begun, length=steps)
    return end, times, distances, walks
