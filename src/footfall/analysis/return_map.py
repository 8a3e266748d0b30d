"""From one event to the next: the return map, its derivative through the events, its fixed points."""

import dataclasses
import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from footfall.hybrid.fields import nearest
from footfall.hybrid.flatten import Layout, named_leaves
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.system import AbstractHybridSystem, HybridState
from footfall.sim import event_engine as engine
from footfall.sim.loop_state import Limits, Settings
from footfall.sim.packed_system import Loop
from footfall.sim.plan import SimPlan
from footfall.sim.simulate import as_arrays, as_floats, limits_of, settings_of

#: Other events that may happen on the way from one section to the next.
EVENTS_BETWEEN = 1024


class Section(NamedTuple):
    """State just after an event, and how it was reached."""

    x: Any
    m: Any
    t: jax.Array
    outcome: jax.Array  #: Outcome.reached_event when the section was reached


class Cycle(NamedTuple):
    """A periodic gait: the state just after the event, its period, and the multipliers of the return map."""

    state: HybridState
    period: float
    multipliers: np.ndarray  #: eigenvalues of the return map's derivative, largest modulus first
    residual: float  #: largest component of (return map - identity), scaled by the state
    iterations: int


class NoCycle(RuntimeError):
    """No periodic gait was found from this guess."""


def event_index(system: AbstractHybridSystem, state: HybridState, name: str, leg: int = 0) -> int:
    """Flat index of a guard by its event's name; of like legs, which one."""
    names = [e.name for e in system.events]
    if name not in names:
        raise ValueError(
            f'"{name}" is not an event of {type(system).__name__}. Known: {", ".join(names)}.{nearest(name, names)}'
        )
    guards = jax.eval_shape(lambda: system.guards(jnp.zeros(()), *state))
    sizes = [int(np.prod(g.shape)) for g in guards]
    k = names.index(name)
    if not 0 <= leg < sizes[k]:
        raise ValueError(f'event "{name}" has no leg {leg}; it has {sizes[k]}.')
    return sum(sizes[:k]) + leg


@functools.partial(jax.jit, static_argnames=("settings",))
def _to_section(system: Any, x: Any, m: Any, limits: Limits, fixed_step: Any, settings: Settings) -> Section:
    carry = engine.start(system, x, m, limits, settings, fixed_step)
    carry, _ = engine.advance(system, carry, x, limits, settings)
    layout = Loop(system, x, m, settings).layout
    x_end, _ = layout.unpack(carry.y)
    return Section(x_end, carry.m, carry.t, carry.outcome)


def to_section(
    system: AbstractHybridSystem, state: HybridState, event: str, plan: SimPlan | None = None, count: int = 1, leg: int = 0
) -> Section:
    """Flow from `state` until just after the `count`-th `event` (of a leg). Differentiable in forward mode, through every event.

    `outcome` is `running` when more than EVENTS_BETWEEN events came before it.
    """
    plan = plan or SimPlan()
    # As arrays, traced or not, so that a Python number here and an array there share one compiled program.
    system, x = (jax.tree.map(lambda v: jnp.asarray(v, float), tree) for tree in (system, state.x))
    state = HybridState(x, jax.tree.map(jnp.asarray, state.m))
    limits = limits_of(plan, event_index(system, state, event, leg), count)
    step = np.float64(plan.step or 0.0)
    return _to_section(system, *state, limits, step, settings=settings_of(plan, 0, max(EVENTS_BETWEEN, count + 1)))


@functools.partial(jax.jit, static_argnames=("settings",))
def _map_and_derivative(
    system: Any, flat: Any, x_like: Any, m: Any, limits: Limits, fixed_step: Any, settings: Settings
) -> tuple[Any, Any, Any, Any]:
    layout = Layout.of(x_like)

    def go(v: Any) -> Any:
        section = _to_section(system, layout.unpack(v), m, limits, fixed_step, settings=settings)
        return layout.pack(section.x), (layout.pack(section.x), section.t, section.outcome)

    derivative, (value, t, outcome) = jax.jacfwd(go, has_aux=True)(flat)
    return value, derivative, t, outcome


def find_cycle(
    system: AbstractHybridSystem,
    guess: HybridState,
    event: str,
    plan: SimPlan | None = None,
    *,
    ignore: tuple[str, ...] = (),
    warm_up: int = 0,
    tolerance: float = 1e-12,
    iterations: int = 20,
) -> Cycle:
    """Newton on the return map just after `event`, with the exact derivative.

    `ignore` names states that need not repeat (position, heading). `warm_up` steps are taken first, to come near a stable gait.
    The plan's duration is the longest a single step may take. The discrete state is held at what it is after the warm-up: a
    controller's memory that changes from step to step is not part of the map.
    """
    plan = plan or SimPlan(rtol=1e-10, atol=1e-12)
    system, state = as_floats(system), HybridState(as_floats(guess.x), as_arrays(guess.m))
    if warm_up:
        section = to_section(system, state, event, dataclasses.replace(plan, duration=warm_up * plan.duration), warm_up)
        _require(section.outcome, event)
        state = HybridState(section.x, section.m)
    layout = Layout.of(state.x)
    names = [n for name, value, _ in named_leaves(state.x) for n in [name] * int(np.prod(np.shape(value)))]
    keep = np.array([name not in ignore for name in names])
    flat = np.array(layout.pack(state.x))
    limits = limits_of(plan, event_index(system, state, event), 1)
    settings = settings_of(plan, 0, EVENTS_BETWEEN)
    for iteration in range(1, iterations + 1):
        value, derivative, t, outcome = _map_and_derivative(
            system, flat, state.x, state.m, limits, np.float64(plan.step or 0.0), settings=settings
        )
        _require(outcome, event)
        gap, jacobian = np.asarray(value) - flat, np.asarray(derivative)[np.ix_(keep, keep)]
        residual = float(np.max(np.abs(gap[keep]) / np.maximum(1.0, np.abs(flat[keep]))))
        if residual <= tolerance:
            multipliers = np.linalg.eigvals(jacobian)
            order = np.argsort(-np.abs(multipliers))
            x = jax.tree.map(np.asarray, layout.unpack(jnp.asarray(flat)))
            return Cycle(HybridState(x, state.m), float(t), multipliers[order], residual, iteration)
        flat = flat.copy()
        flat[keep] += np.linalg.solve(np.eye(keep.sum()) - jacobian, gap[keep])
    raise NoCycle(f"Newton did not settle in {iterations} iterations (residual {residual:.1e}); try more `warm_up` steps.")


def _require(outcome: Any, event: str) -> None:
    if int(outcome) == Outcome.running:
        raise NoCycle(f'more than {EVENTS_BETWEEN} events before the next "{event}".')
    if int(outcome) != Outcome.reached_event:
        ended = Outcome(int(outcome))
        raise NoCycle(f'the run ended before the next "{event}": {ended.name}, {ended.meaning}.')
