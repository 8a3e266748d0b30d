"""Where a run ends, as a function that can be differentiated: to a time, or to just after an event.

The loop of the event engine is differentiated in forward mode: each step as it was taken, each
event by the implicit function theorem, each jump by its own derivative. So a derivative is exact up
to the tolerance of the run, through any number of events, as long as the same events come in the
same order; events in the same instant have each their own time (engines/events/own_times.py).
Reverse mode (`jax.grad`) is served by the same derivatives, one for each number that moves.
"""

import functools
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from footfall.engines.analysis.return_map import NO_DERIVATIVE as NO_DERIVATIVE
from footfall.engines.analysis.return_map import event_index
from footfall.engines.events import engine
from footfall.engines.events.loop_state import Limits, Settings
from footfall.engines.events.packed_system import Loop
from footfall.engines.plan import Plan
from footfall.engines.simulate import limits_of, settings_of, step_of
from footfall.hybrid.flatten import Layout
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.system import AbstractHybridSystem, HybridState
from footfall.numerics.namespace import traced

#: Room for events in one piece of the loop. Nothing of them is kept here; the loop goes on until it
#: has an outcome.
EVENTS_PER_PIECE = 16


class End(NamedTuple):
    """Where a run ended, and what had flowed until then: every number of it can be differentiated.

    At an event these are the values just after it. `work` and `jump_work` are structs like the
    system's powers: `end.work.motor`.
    """

    t: Any  #: s
    x: Any  #: continuous state
    m: Any  #: discrete state
    outputs: Any  #: what can be seen: end.outputs.hub.x
    stores: Any  #: J, energy kept in each place
    work: Any  #: J, through each port since the start, positive into the stores
    jump_work: Any  #: J, done by jumps since the start
    # code of an Outcome; `reached_event` or `reached_end` where the run came as far as it was asked
    # to
    outcome: Any


class Course(NamedTuple):
    """How far to go, for the compiled loop."""

    limits: Limits
    step: Any
    settings: Settings


def course(
    system: AbstractHybridSystem,
    state: HybridState,
    plan: Plan,
    event: str | None,
    count: int,
    leg: int,
) -> Course:
    """To the end of the plan's span, or until just after the `count`-th `event` (of a leg).

    The event must come within the span.
    """
    stop = -1 if event is None else event_index(system, state, event, leg)
    settings = settings_of(plan, 0, EVENTS_PER_PIECE)
    return Course(limits_of(plan, stop, count), step_of(plan), settings)


def find_end(system: Any, state: HybridState, way: Course) -> End:
    """The end of a run, differentiable in forward and in reverse mode.

    By every number of the system and the state that is traced.
    """
    leaves, tree = jax.tree.flatten((system, *state))
    moving = [i for i, leaf in enumerate(leaves) if traced(leaf) and _is_real(leaf)]
    if not moving:
        return _find(*_as_arrays(system, state), way.limits, way.step, settings=way.settings)
    layout = Layout.of([leaves[i] for i in moving])

    def put(vector: Any) -> tuple[Any, HybridState]:
        changed = dict(zip(moving, layout.unpack(vector), strict=True))
        system, x, m = jax.tree.unflatten(
            tree, [changed.get(i, leaf) for i, leaf in enumerate(leaves)]
        )
        return _as_arrays(system, HybridState(x, m))

    def go(vector: Any) -> End:
        return _find(*put(vector), way.limits, way.step, settings=way.settings)

    def with_slopes(vector: Any) -> tuple[End, Any]:
        directions = jax.vmap(lambda v: jax.jvp(lambda w: _reals(put(w)), (vector,), (v,))[1])(
            jnp.eye(layout.size)
        )
        return follow(*put(vector), directions, way)

    return _by_forward_mode(go, with_slopes)(layout.pack([leaves[i] for i in moving]))


def _by_forward_mode(function: Any, with_slopes: Any) -> Any:
    """A function of a vector, differentiated forwards also where reverse mode is asked for.

    Again and again: its slopes are such a function themselves. `with_slopes` gives the value and
    its real numbers' slopes, one row for each number of the vector.
    """

    @jax.custom_jvp
    def go(vector: Any) -> Any:
        return function(vector)

    @go.defjvp
    def _(primals: Any, tangents: Any) -> Any:
        (vector,), (moved,) = primals, tangents
        again = functools.partial(_with_slopes, with_slopes)
        value, slopes = _by_forward_mode(with_slopes, again)(vector)
        # Linear in what moved, with slopes that do not depend on it: what JAX needs to turn it
        # round for reverse mode.
        slopes = jax.tree.map(lambda slope: jnp.tensordot(moved, slope, 1), slopes)
        return value, _with_whole(slopes, value)

    return go


def _with_slopes(function: Any, vector: Any) -> tuple[Any, Any]:
    def along(direction: Any) -> Any:
        value, slope, rest = jax.jvp(
            lambda v: eqx.partition(function(v), _is_real), (vector,), (direction,), has_aux=True
        )
        return eqx.combine(value, rest), slope

    return jax.vmap(along, out_axes=(None, 0))(jnp.eye(vector.shape[0]))


def follow(system: Any, state: HybridState, directions: Any, way: Course) -> tuple[End, Any]:
    """The end, and how its real numbers move along each direction.

    `directions` is like the real numbers of (system, state), None for the others, with a leading
    axis over directions.
    """
    return _follow(
        *_as_arrays(system, state), directions, way.limits, way.step, settings=way.settings
    )


@functools.partial(jax.jit, static_argnames="settings")
def _follow(
    system: Any, state: Any, directions: Any, limits: Limits, step: Any, settings: Settings
) -> tuple[End, Any]:
    reals, whole = eqx.partition((system, state), _is_real)

    def go(reals: Any) -> Any:
        end = _find(*eqx.combine(reals, whole), limits, step, settings=settings)
        return eqx.partition(end, _is_real)

    def along(direction: Any) -> Any:
        end, slope, rest = jax.jvp(go, (reals,), (direction,), has_aux=True)
        return eqx.combine(end, rest), slope

    end, slopes = jax.vmap(along, out_axes=(None, 0))(directions)
    return end, slopes


@functools.partial(jax.jit, static_argnames="settings")
def _find(system: Any, state: Any, limits: Limits, step: Any, settings: Settings) -> End:
    x, m = state
    carry = engine.start(system, x, m, limits, settings, step)
    carry = lax.while_loop(
        lambda c: c.outcome == int(Outcome.running),
        lambda c: engine.advance(system, c, x, limits, settings)[0],
        carry,
    )
    loop = Loop(system, x, m, settings)
    x, work = loop.layout.unpack(carry.y)
    outputs, stores = system.outputs(carry.t, x, carry.m), system.stores(carry.t, x, carry.m)
    jump_work = loop.work_layout.unpack(carry.jump_work)
    return jax.tree.map(
        jnp.asarray, End(carry.t, x, carry.m, outputs, stores, work, jump_work, carry.outcome)
    )


def _is_real(leaf: Any) -> bool:
    return jnp.issubdtype(jnp.result_type(leaf), jnp.floating)


def _reals(tree: Any) -> Any:
    return eqx.filter(tree, _is_real)


def _with_whole(slopes: Any, value: Any) -> Any:
    """Slopes of everything: of whole numbers JAX wants to hear that there are none."""
    none = jax.tree.map(lambda leaf: np.zeros(jnp.shape(leaf), jax.dtypes.float0), value)
    return eqx.combine(slopes, none)


def _as_arrays(system: Any, state: HybridState) -> tuple[Any, HybridState]:
    """As arrays, traced or not, so that a Python number here and an array there share one compiled
    program.
    """
    system, x = (jax.tree.map(lambda v: jnp.asarray(v, float), tree) for tree in (system, state.x))
    return system, HybridState(x, jax.tree.map(jnp.asarray, state.m))
