"""A robot as a WebAssembly module: the step engine for one lane, for a page that shows it move.

The module holds the robot. `run(count)` advances it by so many steps; its state, books and outcome
are then in the module's inputs, its outputs (places of bodies, forces) in the module's outputs.
Parameters are inputs as well, and may be written between calls.

A second module makes them (`browser_start`): from the numbers of a scenario, every input of the
first, as Python does.
"""

import base64
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from footfall.engines.jax_setup import prepare_jax
from footfall.engines.kernels.targets.wasm.wasm_module import WasmModule, build_wasm
from footfall.engines.lanes.batch_inputs import prepared, timing
from footfall.engines.lanes.batch_program import Kind, starter
from footfall.engines.lanes.batch_results import facts
from footfall.engines.lanes.lane_loop import LaneLoop
from footfall.engines.lanes.lane_state import MOST_JUMPS, Clock, Lane
from footfall.engines.lanes.step_engine import advance, begin
from footfall.hybrid.flatten import named_leaves, output_fields
from footfall.hybrid.system import AbstractHybridSystem, HybridState
from footfall.numerics.namespace import traced


class Ready(NamedTuple):
    """A robot laid out for a module."""

    kind: Kind
    system: Any
    state: HybridState
    lane: Lane
    clock: Clock

    @classmethod
    def of(
        cls, system: Any, state: HybridState, step: float, method: str, max_jumps: int
    ) -> "Ready":
        prepare_jax()
        system, state, lanes = prepared(system, state, "float64")
        if lanes != 1:
            raise ValueError(f"one robot, not {lanes}.")
        _, ticks = timing(system, step, step)
        kind = Kind(*map(jax.tree.structure, (system, state.x, state.m)), method, "float64", ())
        clock = Clock(np.float64(step), np.int32(max_jumps), tuple(np.int32(n) for n in ticks))
        lane = jax.tree.map(np.asarray, starter(kind)(system, state, clock))
        return cls(kind, system, state, lane, clock)

    def names(self) -> list[str]:
        """What the leaves of (system, lane, clock) are called.

        The books as a trajectory names them: "work.motor" and "jump_work.impact" for what was done
        so far, "store.kinetic" for what is kept.
        """
        books = facts(self.kind, self.lane)
        stores = jax.eval_shape(lambda x, m: self.system.stores(0.0, x, m), *self.state)
        # The same leaves, under their own names.
        lane = self.lane._replace(
            x=self.state.x,
            m=self.state.m,
            q=books.ports,
            jump_work=books.works,
            stored=[name for name, _, _ in named_leaves(stores)],
        )
        return [
            *names_in("system", self.system),
            *_lane_names(lane),
            *names_in("clock", self.clock),
        ]


_BOOKS = {"q": "work", "jump_work": "jump_work", "stored": "store"}


def browser_kernel(
    system: AbstractHybridSystem,
    state: HybridState,
    step: float,
    *,
    method: str = "rk4",
    max_jumps: int = MOST_JUMPS,
) -> WasmModule:
    """The module of a robot that begins in `state`, and moves in steps of `step` seconds.

    Inputs are named after the fields they come from (`system.leg.stiffness`, `x.angle`, `m.foot`,
    `lane.outcome`, `clock.step`); outputs as in a trajectory. `layout["start"]` holds all inputs at
    the start, as base64. The kernel depends on the kind of robot only: another number is another
    start. Raises CannotFuse and NoCompiler.
    """
    kind, system, state, lane, clock = ready = Ready.of(system, state, step, method, max_jumps)
    leaves, tree = jax.tree.flatten((system, lane, clock, np.int32(0), np.int32(0)))
    before, kept = len(jax.tree.leaves(system)), len(jax.tree.leaves(lane))

    def program(*values: Any) -> tuple[Any, ...]:
        system, lane, clock, first, count = jax.tree.unflatten(tree, values)
        loop, steps = kind.loop(system, lane), first + count
        moved = advance(loop, lane, clock, first, count)
        time = jnp.where(moved.outcome == 0, steps * clock.step, moved.ended)
        seen = system.outputs(time, loop.struct_x(moved.x), loop.struct_m(moved.m))
        numbers = [loop.full(value, moved.ended) for _, value, _ in named_leaves(seen)]
        return (*jax.tree.leaves(moved), steps, time, *numbers)

    names = [*ready.names(), "steps", "count"]
    outputs = [*names[before : before + kept], "steps", "time", *output_fields(system, state)]
    module = build_wasm(
        program,
        [np.ndim(leaf) > 0 for leaf in leaves],
        [leaf.dtype for leaf in leaves],
        real=np.dtype("float64"),
        rows=[np.shape(leaf)[0] if np.ndim(leaf) == 2 else None for leaf in leaves],
        names=(names, outputs),
        back=[*((n, before + n) for n in range(kept)), (kept, len(leaves) - 2)],
        argument=len(leaves) - 1,
    )
    layout = {
        **module.layout,
        # The state is read where it stays.
        "outputs": module.layout["outputs"][kept + 1 :],
        "step": step,
        "start": base64.b64encode(image(leaves, module.layout["inputs"])).decode(),
    }
    return module._replace(layout=layout)


def browser_start(
    make: Callable[..., tuple[Any, HybridState, Sequence[Any]]],
    values: Sequence[float],
    names: tuple[Sequence[str], Sequence[str]],
    step: float,
    *,
    method: str = "rk4",
    max_jumps: int = MOST_JUMPS,
) -> WasmModule:
    """The module that makes the inputs of a robot's kernel from the numbers of its scenario.

    `make(*values)` gives the system, its start and more numbers. Inputs are the values and
    `clock.step`; outputs are the kernel's inputs by their names, and the numbers. `names` are those
    of the values and of the numbers. Raises CannotFuse and NoCompiler.
    """
    first_system, first_state, _ = make(*values)
    ready = Ready.of(first_system, first_state, step, method, max_jumps)

    def program(*given: Any) -> tuple[Any, ...]:
        *numbers, step = given
        none = 0.0 * step  # in every lane: what is the same in all must not become a constant
        system, state, more = make(*numbers)
        state = jax.tree.map(lambda leaf, like: as_lanes(leaf, like, none), state, ready.state)
        loop = LaneLoop(system, state, method, np.dtype("float64"), ())
        clock = ready.clock._replace(step=step)
        lane = begin(loop, jax.tree.leaves(state.x), jax.tree.leaves(state.m), clock)
        flat = [*jax.tree.leaves(system), *more]
        wide = [number + none for number in flat]
        count = len(flat) - len(more)
        return (*wide[:count], *jax.tree.leaves(lane), *wide[count:])

    made = ready.names()[: -len(jax.tree.leaves(ready.clock))]
    return build_wasm(
        program,
        [True] * (len(values) + 1),
        [np.dtype("float64")] * (len(values) + 1),
        real=np.dtype("float64"),
        names=([*names[0], "clock.step"], [*made, *names[1]]),
    )


def as_lanes(leaf: Any, like: Any, none: jax.Array) -> jax.Array:
    """A number of a state as a kernel keeps it: of its type, with the lanes last."""
    if np.ndim(leaf) and np.shape(leaf) == like.shape[:-1]:  # one for each leg, for all lanes
        leaf = leaf[:, None]
    elif np.ndim(leaf) and not traced(leaf):  # the same in all lanes
        leaf = leaf[..., :1] if np.ndim(leaf) > 1 else leaf[0]
    value = jnp.asarray(leaf, like.dtype)
    if like.dtype == bool:
        return value | (none != 0)
    value = value + none.astype(like.dtype)
    return jnp.broadcast_to(value, (*like.shape[:-1], *none.shape))


def names_in(prefix: str, tree: Any) -> list[str]:
    named = jax.tree_util.tree_leaves_with_path(tree)
    return [
        f"{prefix}.{jax.tree_util.keystr(path, simple=True, separator='.')}" for path, _ in named
    ]


def _lane_names(lane: Lane) -> list[str]:
    """Of a lane with names in the place of its books."""
    names: list[str] = []
    for field, value in lane._asdict().items():
        if field in _BOOKS:
            names += [f"{_BOOKS[field]}.{name}" for name in value]
        elif jax.tree.leaves(value):
            names += names_in(field if field in ("x", "m") else f"lane.{field}", value)
    return [name.removesuffix(".") for name in names]


def image(leaves: Sequence[np.ndarray], places: Sequence[dict[str, Any]]) -> bytes:
    """The block of inputs with these numbers in it."""
    block = bytearray(places[-1]["offset"] + leaves[-1].nbytes)
    for leaf, place in zip(leaves, places, strict=True):
        data = np.asarray(leaf).tobytes()
        block[place["offset"] : place["offset"] + len(data)] = data
    return bytes(block)
