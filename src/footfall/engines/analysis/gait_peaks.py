"""The largest torques, currents and friction of a gait, with their slopes.

Names are those of a run's metrics (`hybrid/statistics.py`). A peak is sought over the phase of a
stride, on ever closer looks around the largest. Where it lies inside of the stride its place may be
held for the slope (envelope theorem); where it is at an end of the stride it goes with that end.
"""

import functools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from footfall.engines.analysis.return_map import ReturnMap, go_until, moving
from footfall.hybrid.flatten import Layout, named_leaves
from footfall.hybrid.statistics import PEAK, told_names
from footfall.hybrid.system import HybridState

#: Looks in one call, first calls of them over the stride, and rounds of closer looks.
LOOKS, CALLS, ROUNDS = 17, 4, 2
#: Rounds around a corner.
CORNER = 6
#: Share of a stride by which its last look is before the event.
BEFORE = 1e-8
#: How the largest friction a foot needs is called.
FRICTION = "friction_needed"


class Peak(NamedTuple):
    """The largest value of an output over a stride, and where it is."""

    value: float
    output: str
    phase: float
    sign: float  #: of the output there, where its size is meant


def peak_outputs(system: Any, state: HybridState) -> dict[str, tuple[str, ...]]:
    """Peaks that a gait of this robot has, and the outputs each is the largest of."""
    names = _names(system, state)
    offered = {told[PEAK]: (name,) for name in names if (told := told_names(name))}
    travel = system.travel()
    friction = () if travel is None else tuple(n for n in travel.friction if n in names)
    return offered | ({FRICTION: friction} if friction else {})


def peaks_of(
    steps: ReturnMap, flat: np.ndarray, counts: Any, period: float, wanted: Sequence[str]
) -> dict[str, Peak]:
    """Those that are wanted of a gait, from its numbers just after the event."""
    outputs = peak_outputs(steps.system, steps.state(flat, counts))
    phases = np.linspace(0.0, 1.0 - BEFORE, LOOKS * CALLS)
    first = np.concatenate(
        [_outputs(steps, flat, counts, period * part) for part in np.split(phases, CALLS)]
    )
    names, found = _names(steps.system, steps.state(flat, counts)), {}
    for peak in wanted:
        columns = [(name, names.index(name)) for name in outputs[peak]]
        best = [
            _peak(steps, flat, counts, period, phases, first[:, k], name, k, peak != FRICTION)
            for name, k in columns
        ]
        found[peak] = max(best, key=lambda one: one.value)
    return found


def _peak(
    steps: ReturnMap,
    flat: np.ndarray,
    counts: Any,
    period: float,
    phases: np.ndarray,
    seen: np.ndarray,
    name: str,
    column: int,
    size: bool,
) -> Peak:
    """Of one output: looks around the largest one, each round eight times as close.

    Where it is smooth there, the top of a parabola in the end; a corner, or a value that jumps, is
    looked at more closely.
    """
    turn = 0
    while True:
        values = np.where(np.isfinite(seen), np.abs(seen) if size else seen, -np.inf)
        k = int(np.argmax(values))
        at_end = k in (0, len(phases) - 1) and phases[k] in (0.0, 1.0 - BEFORE)
        smooth = _smooth(values[max(k - 2, 0) : k + 3])
        if at_end or turn == CORNER or (smooth and turn >= ROUNDS):
            break
        turn += 1
        phases = np.linspace(phases[max(k - 1, 0)], phases[min(k + 1, len(phases) - 1)], LOOKS)
        seen = _outputs(steps, flat, counts, period * phases)[:, column]
    sign = float(np.sign(seen[k])) if size else 1.0
    phase, value = float(phases[k]), float(values[k])
    if smooth and not at_end:
        before, after = float(values[k - 1]), float(values[k + 1])
        rise, bend = 0.5 * (after - before), after - 2.0 * value + before
        phase -= rise / bend * float(phases[k + 1] - phases[k])
        value -= 0.5 * rise**2 / bend
    return Peak(value, name, phase, sign)


def _smooth(values: np.ndarray) -> bool:
    """Whether five looks bend alike, downwards."""
    if len(values) < 5 or not np.all(np.isfinite(values)):
        return False
    bends = np.diff(values, 2)
    return bool(np.all(bends < 0.0) and np.min(bends) > 2.0 * np.max(bends))


def peak_slopes(
    steps: ReturnMap,
    flat: np.ndarray,
    counts: Any,
    period: float,
    peaks: Mapping[str, Peak],
    along: Any,
    change: np.ndarray,
    longer: np.ndarray,
) -> dict[str, np.ndarray]:
    """How peaks change along directions of the system's numbers.

    Arguments:
        steps, flat, counts, period, peaks: of the gait.
        along: directions, with a first axis; None for numbers that stay.
        change, longer: how the gait's numbers and its period change along each.
    """
    names, slopes = _names(steps.system, steps.state(flat, counts)), {}
    for label, peak in peaks.items():
        by_all, rates = _seen_slopes(
            steps.system,
            np.asarray(flat, float),
            steps.like,
            counts,
            along,
            peak.phase * period,
            steps.limits,
            steps.step,
            settings=steps.settings,
            begins=steps.begins,
        )
        column, size = names.index(peak.output), len(flat)
        rows, rate = np.asarray(by_all)[:, column], float(rates[column])
        moved = rows[size:] + change @ rows[:size] + rate * peak.phase * longer
        slopes[label] = peak.sign * moved
    return slopes


def _names(system: Any, state: HybridState) -> list[str]:
    """Outputs that are single numbers, found without computing anything."""
    found: list[str] = []

    def look() -> int:
        found.extend(name for name, _ in _singles(system.outputs(0.0, *state)))
        return 0

    jax.eval_shape(look)
    return found


def _singles(outputs: Any) -> list[tuple[str, Any]]:
    return [(name, value) for name, value, _ in named_leaves(outputs) if jnp.ndim(value) == 0]


def _scalars(outputs: Any) -> Any:
    """Of the outputs, in the order of `_names`."""
    return jnp.stack([jnp.asarray(value, float) for _, value in _singles(outputs)])


def _outputs(steps: ReturnMap, flat: np.ndarray, counts: Any, times: np.ndarray) -> np.ndarray:
    """A row of outputs at each of these times of a stride."""
    x, m, _ = steps.path(flat, counts, times)
    return np.asarray(_looked(steps.system, times, x, m))


@jax.jit
def _looked(system: Any, times: Any, x: Any, m: Any) -> Any:
    return jax.vmap(lambda t, x, m: _scalars(system.outputs(t, x, m)))(times, x, m)


@functools.partial(jax.jit, static_argnames=("settings", "begins"))
def _seen_slopes(
    system: Any,
    flat: Any,
    like: Any,
    counts: Any,
    along: Any,
    t: Any,
    limits: Any,
    step: Any,
    settings: Any,
    begins: str,
) -> tuple[Any, Any]:
    """Outputs at a time: how they change with each number and along each direction, and in time."""
    reals, whole = moving(system, along)

    def until(flat: Any, reals: Any) -> tuple[Any, Any]:
        robot = eqx.combine(reals, whole)
        x, m = eqx.combine(Layout.of(like).unpack(flat), counts)
        time, here, there = go_until(robot, x, m, t, limits, step, settings, begins)
        seen = _scalars(robot.outputs(time, here, there))
        ahead = jax.tree.map(jax.lax.stop_gradient, (here, there))
        _, rate = jax.jvp(
            lambda s, x: _scalars(robot.outputs(s, x, ahead[1])),
            (time, ahead[0]),
            (jnp.ones_like(time), robot.flow(time, *ahead).x),
        )
        return seen, rate

    size, more = flat.shape[0], jax.tree.leaves(along)[0].shape[0]
    ways = jnp.concatenate([jnp.eye(size), jnp.zeros((more, size))])
    moved = jax.tree.map(
        lambda way: jnp.concatenate([jnp.zeros((size, *way.shape[1:])), way]), along
    )
    _, slopes, rate = jax.vmap(
        lambda way, turn: jax.jvp(until, (flat, reals), (way, turn), has_aux=True),
        out_axes=(None, 0, None),
    )(ways, moved)
    return slopes, rate
