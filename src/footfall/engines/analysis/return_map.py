"""From one event to the next: the return map, its derivative through the events, its fixed points.

A step starts at t = 0 just after an event. Its unknowns are the continuous state and every
floating-point number of the discrete one: a controller's memory is part of a gait. Counts and flags
are not: they are what `restarted` makes of the step before.

For a robot with a clock of its own (a control computer) this map is that of a robot whose clock is
*synchronised to the event*: it ticks at the footfall, again and again. A real clock runs free, so
that a footfall comes at any phase of it, and no step is exactly like another unless the step takes
a whole number of periods. How far the two are apart is a matter of (time between ticks) / (time of
a step); tests/laws/test_closed_loop_gait.py measures it. An offset of a program moves its phase
within the step.

Such a map is smooth in pieces: the number of ticks in a step is whole, and the derivative is that
of the piece it is taken on. It does not see that a landing moved by a tick brings one calculation
more; multipliers are off by what one calculation does in a tick's time.
"""

import dataclasses
import functools
import math
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from footfall.engines.events import engine
from footfall.engines.events.loop_state import Limits, Settings
from footfall.engines.events.packed_system import Loop
from footfall.engines.jax_setup import prepare_jax
from footfall.engines.plan import EventEngine, Plan
from footfall.engines.simulate import as_arrays, as_floats, limits_of, settings_of, step_of
from footfall.hybrid.fields import nearest
from footfall.hybrid.flatten import Layout
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.system import AbstractHybridSystem, HybridState

#: Other events that may happen on the way from one section to the next, besides the ticks of
#: clocks.
EVENTS_BETWEEN = 1024

#: Why a derivative is not a number.
NO_DERIVATIVE = (
    "two events happen in the same instant, and what follows depends on which of them comes first"
)

#: A step as short as this [s] is none: the event came again where it had just been.
NO_STEP = 1e-8

#: Multipliers and unknowns that a line of text has room for.
MOST_SAID = 8


class Section(NamedTuple):
    """State just after an event, and how it was reached."""

    x: Any
    m: Any
    t: jax.Array
    outcome: jax.Array  #: Outcome.reached_event when the section was reached


class Cycle(NamedTuple):
    """A periodic gait.

    The state just after the event, its period, and the multipliers of the return map.

    Small disturbances are multiplied by `multipliers` from step to step: below one in modulus they
    die out.
    """

    state: HybridState
    period: float
    multipliers: np.ndarray  #: eigenvalues of the return map's derivative, largest modulus first
    residual: float  #: largest component of (return map - identity), scaled by the state
    iterations: int
    unknowns: tuple[str, ...] = ()  #: names of the numbers that repeat, in the order of ...
    derivative: np.ndarray | None = None  #: ... the rows and columns of the return map's derivative

    @property
    def stable(self) -> bool:
        """Whether every small disturbance dies out."""
        return bool(np.all(np.abs(self.multipliers) < 1.0))

    def __repr__(self) -> str:
        sizes = ", ".join(f"{size:.4g}" for size in np.abs(self.multipliers[:MOST_SAID]))
        more = (
            f" and {len(self.multipliers) - MOST_SAID} smaller"
            if len(self.multipliers) > MOST_SAID
            else ""
        )
        numbers = dict(
            zip(
                _names(self.state),
                np.concatenate([np.ravel(v) for v in jax.tree.leaves(self.state)]),
                strict=True,
            )
        )
        named = [f"{name} = {numbers[name]:.6g}" for name in self.unknowns if name in numbers]
        state = ", ".join(named[:MOST_SAID]) + (
            f" and {len(named) - MOST_SAID} more" if len(named) > MOST_SAID else ""
        )
        return "\n".join(
            [
                f"{'stable' if self.stable else 'unstable'} gait of period {self.period:.8g} s",
                f"  multipliers, modulus: {sizes}{more}",
                f"  state just after the event: {state}",
                f"  residual {self.residual:.1e} after {self.iterations} iterations",
            ]
        )


class NoCycle(RuntimeError):
    """No periodic gait was found from this guess."""


def event_index(system: AbstractHybridSystem, state: HybridState, name: str, leg: int = 0) -> int:
    """Flat index of a guard by its event's name; of like legs, which one."""
    names = [e.name for e in system.events]
    if name not in names:
        raise ValueError(
            f'"{name}" is not an event of {type(system).__name__}. Known:'
            f" {', '.join(names)}.{nearest(name, names)}"
        )
    guards = jax.eval_shape(lambda: system.guards(jnp.zeros(()), *state))
    sizes = [int(np.prod(g.shape)) for g in guards]
    k = names.index(name)
    if not 0 <= leg < sizes[k]:
        raise ValueError(f'event "{name}" has no leg {leg}; it has {sizes[k]}.')
    return sum(sizes[:k]) + leg


@functools.partial(jax.jit, static_argnames=("settings", "after_event"))
def _to_section(
    system: Any,
    x: Any,
    m: Any,
    limits: Limits,
    fixed_step: Any,
    settings: Settings,
    after_event: bool = False,
) -> Section:
    """`after_event`: the event has just been, so it comes once its guard has been positive."""
    carry = engine.start(system, x, m, limits, settings, fixed_step)
    if after_event:
        carry = carry._replace(armed=carry.armed.at[limits.stop_event].set(False))
    carry, _ = engine.advance(system, carry, x, limits, settings)
    layout = Loop(system, x, m, settings).layout
    x_end, _ = layout.unpack(carry.y)
    return Section(x_end, carry.m, carry.t, carry.outcome)


def to_section(
    system: AbstractHybridSystem,
    state: HybridState,
    event: str,
    plan: Plan | None = None,
    count: int = 1,
    leg: int = 0,
) -> Section:
    """Flow from `state` until just after the `count`-th `event` (of a leg).

    Differentiable in forward mode, through every event.

    `outcome` is `reached_end` when it has not come within the plan's duration, `running` when more
    than EVENTS_BETWEEN events that are no clock's came before.
    """
    prepare_jax()
    plan = plan or Plan()
    # As arrays, traced or not, so that a Python number here and an array there share one compiled
    # program.
    system, x = (jax.tree.map(lambda v: jnp.asarray(v, float), tree) for tree in (system, state.x))
    state = HybridState(x, jax.tree.map(jnp.asarray, state.m))
    limits = limits_of(plan, event_index(system, state, event, leg), count)
    step = step_of(plan)
    return _to_section(
        system, *state, limits, step, settings=settings_of(plan, 0, _room(system, plan, count))
    )


def _room(system: AbstractHybridSystem, plan: Plan, count: int = 1) -> int:
    """Events to make room for: every tick that clocks have time for, and others.

    A power of two, so that few sizes are compiled.
    """
    ticks = sum(plan.duration / event.period for event in system.events if event.period is not None)
    return 2 ** math.ceil(math.log2(max(EVENTS_BETWEEN, count + 1) + ticks))


def _numbers(state: Any) -> tuple[Any, Any]:
    """What a derivative can be taken of, and the counts and flags that are left."""
    return eqx.partition(state, lambda leaf: jnp.issubdtype(jnp.result_type(leaf), jnp.floating))


@functools.partial(jax.jit, static_argnames=("settings",))
def _map_and_derivative(
    system: Any,
    flat: Any,
    like: Any,
    counts: Any,
    limits: Limits,
    fixed_step: Any,
    settings: Settings,
) -> tuple[Any, Any, Any, Any, Any]:
    """One step from the numbers `flat`, packed as `like`, and the counts.

    Numbers, their derivative, counts, time, outcome.
    """
    layout = Layout.of(like)

    def go(v: Any) -> Any:
        state: HybridState = eqx.combine(layout.unpack(v), counts)
        section = _to_section(
            system, *state, limits, fixed_step, settings=settings, after_event=True
        )
        numbers, after = _numbers(HybridState(section.x, system.restarted(section.m)))
        value = layout.pack(numbers)
        return value, (value, after, section.t, section.outcome)

    derivative, (value, after, t, outcome) = jax.jacfwd(go, has_aux=True)(flat)
    return value, derivative, after, t, outcome


def find_cycle(
    system: AbstractHybridSystem,
    guess: HybridState,
    event: str,
    plan: Plan | None = None,
    *,
    ignore: tuple[str, ...] = (),
    warm_up: int = 0,
    tolerance: float = 1e-12,
    iterations: int = 20,
) -> Cycle:
    """Find a periodic gait.

    Newton on the return map just after an event, with the exact derivative.

    Arguments:
        system, guess: a robot and a state from which it nearly walks.
        event: the event a step ends with ("touchdown").
        plan: tolerances, and as its duration the longest a single step may take.
        ignore: names of numbers that need not repeat.
        warm_up: steps to take first.
        tolerance, iterations: how well the state has to repeat, and after how many tries to give
            up.

    Returns a `Cycle`: state, period, multipliers (a gait with all of them below one in modulus is
    stable). Raises NoCycle.

    >>> import footfall as ff
    >>> wheel = ff.load("passive-wheel")
    >>> cycle = ff.find_cycle(wheel.system, wheel.start, "touchdown")
    >>> print(f"{cycle.period:.4f} s, multiplier {abs(cycle.multipliers[0]):.4f}")
    0.2515 s, multiplier 0.6545

    The unknowns are all floating-point numbers of the state, continuous and discrete. A number that
    only adds up and that nothing else depends on (a position, a heading) need not repeat: such are
    found by themselves. `ignore` names others that need not. `warm_up` steps are taken first, to
    come near a stable gait, with clocks that run on.

    Rounded numbers have no derivative to speak of, and chance does not repeat: a control computer
    (`stack`) is to have pitch_step = current_step = 0, no noise, no loss, no jitter.
    """
    prepare_jax()
    plan = plan or Plan(engine=EventEngine(rtol=1e-10, atol=1e-12))
    system, state = as_floats(system), HybridState(as_floats(guess.x), as_arrays(guess.m))
    system.restarted(state.m)  # which may refuse, and says why, before anything long begins
    if warm_up:
        section = to_section(
            system,
            state,
            event,
            dataclasses.replace(plan, duration=warm_up * plan.duration),
            warm_up,
        )
        _require(section.outcome, event, plan)
        state = HybridState(section.x, section.m)
    numbers, counts = _numbers(HybridState(state.x, as_arrays(system.restarted(state.m))))
    layout, names = Layout.of(numbers), _names(numbers)
    for name in ignore:
        if name not in names:
            raise ValueError(
                f'ignore: "{name}" is no number of this state. Known: {", ".join(names)}.'
                f"{nearest(name, names)}"
            )
    asked = np.array([name not in ignore for name in names])
    flat = np.array(layout.pack(numbers))
    limits = limits_of(plan, event_index(system, state, event), 1)
    settings, step = settings_of(plan, 0, _room(system, plan)), step_of(plan)
    residual, settled = np.inf, False
    for iteration in range(1, iterations + 1):
        value, derivative, after, t, outcome = _map_and_derivative(
            system, flat, numbers, counts, limits, step, settings=settings
        )
        _require(outcome, event, plan)
        if np.any(np.isnan(derivative)):
            raise NoCycle(
                f"the return map has no derivative here: {NO_DERIVATIVE}. Start from a state that"
                " parts them."
            )
        if t < NO_STEP:
            raise NoCycle(
                f'"{event}" comes again {float(t):.2g} s after itself, which is no step: its guard'
                " should have room after its jump, or lose its meaning until the next one (a flag"
                " in the discrete state)."
            )
        keep = asked & ~_only_adds_up(np.asarray(derivative), asked)
        gap, jacobian = np.asarray(value) - flat, np.asarray(derivative)[np.ix_(keep, keep)]
        residual = float(
            np.max(np.abs(gap[keep]) / np.maximum(1.0, np.abs(flat[keep])), initial=0.0)
        )
        before, settled = settled, residual <= tolerance
        # Counts and flags that changed must not matter: with those after the step, it has to be the
        # same step again.
        if settled and (before or _equal(counts, after)):
            _require_idle(np.asarray(derivative)[np.ix_(keep, ~asked)], keep, asked, names)
            multipliers = np.linalg.eigvals(jacobian)
            order = np.argsort(-np.abs(multipliers))
            found = jax.tree.map(np.asarray, eqx.combine(layout.unpack(jnp.asarray(flat)), counts))
            repeated = tuple(name for name, kept in zip(names, keep, strict=True) if kept)
            return Cycle(
                found, float(t), multipliers[order], residual, iteration, repeated, jacobian
            )
        flat, counts = np.where(keep, flat, value), after
        flat[keep] += _solved(np.eye(keep.sum()) - jacobian, gap[keep], np.array(names)[keep])
    raise NoCycle(
        f"Newton did not settle in {iterations} iterations (residual {residual:.1e}); try more"
        " `warm_up` steps."
    )


def _solved(matrix: np.ndarray, gap: np.ndarray, names: np.ndarray) -> np.ndarray:
    """Newton's step. Without one, the numbers that may shift together are named."""
    _, sizes, directions = np.linalg.svd(matrix)
    if sizes[-1] > len(sizes) * np.finfo(float).eps * sizes[0]:
        return np.linalg.solve(matrix, gap)
    free = names[np.abs(directions[-1]) > 1e-3 * np.abs(directions[-1]).max()]
    raise NoCycle(
        f"a step may begin with {' and '.join(free)} shifted together and be the same step: there"
        " is no single gait to find. If they need not repeat (a position, a foot on level ground),"
        f" say so: ignore=({', '.join(map(repr, map(str, free)))},)."
    )


def _require_idle(
    effect: np.ndarray, keep: np.ndarray, asked: np.ndarray, names: list[str]
) -> None:
    """Raise where a number that is ignored moves one that has to repeat.

    Its multipliers would be those of another map. Beyond rounding, grown by what a step grows.
    """
    largest = np.max(np.abs(effect), axis=0, initial=0.0)
    for k in np.flatnonzero(largest > 1e-6):
        row = int(np.argmax(np.abs(effect[:, k])))
        moved, ignored = np.array(names)[keep][row], np.array(names)[~asked][k]
        raise NoCycle(
            f'ignore: "{ignored}" cannot be ignored at this event: {moved} after a step changes'
            f" {largest[k]:.3g} times as much as it. Take another event, or a state in which it"
            " does not matter (a place measured from the foot)."
        )


def _names(numbers: HybridState) -> list[str]:
    """Of each number, as Layout packs them: "torso_angle", "programs.law.integral"."""
    leaves = [leaf for part in numbers for leaf in jax.tree_util.tree_flatten_with_path(part)[0]]
    return [
        jax.tree_util.keystr(path, simple=True, separator=".")
        for path, value in leaves
        for _ in range(np.size(value))
    ]


def _equal(one: Any, other: Any) -> bool:
    return all(
        np.array_equal(a, b)
        for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True)
    )


def _only_adds_up(derivative: np.ndarray, asked: np.ndarray) -> np.ndarray:
    """Numbers on which, of those that have to repeat, only they themselves depend, one to one.

    Position, heading, a constant.

    Exactly: what does not enter an equation has a derivative of exactly 0. A heading enters
    positions only, so it is found once they are.
    """
    alone, size = np.zeros(len(derivative), bool), len(derivative)
    for _ in range(size):
        rows = asked & ~alone
        found = np.array(
            [np.array_equal(derivative[rows, k], np.eye(size)[rows, k]) for k in range(size)]
        )
        if np.array_equal(found | alone, alone):
            break
        alone |= found & rows
    return alone


def _require(outcome: Any, event: str, plan: Plan) -> None:
    ended = Outcome(int(outcome))
    if ended is Outcome.running:
        raise NoCycle(f'more than {EVENTS_BETWEEN} events besides ticks before the next "{event}".')
    if ended is Outcome.reached_end:
        raise NoCycle(
            f'no "{event}" within {plan.duration:g} s, the longest a step may take (the plan\'s'
            " duration)."
        )
    if ended is not Outcome.reached_event:
        raise NoCycle(f'the run ended before the next "{event}": {ended.name}, {ended.meaning}.')
