"""A robot as a WebAssembly module: the step engine for one lane, for a page that shows it move.

The module holds the robot. `run(count)` advances it by so many steps; its state, books and outcome
are then in the module's inputs, its outputs (places of bodies, forces) in the module's outputs.
Parameters are inputs as well, and may be written between calls.
"""

import base64
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from footfall.engines.jax_setup import prepare_jax
from footfall.engines.kernels.targets.wasm.wasm_module import WasmModule, build_wasm
from footfall.engines.lanes.batch_inputs import prepared, timing
from footfall.engines.lanes.batch_program import Kind, starter
from footfall.engines.lanes.lane_state import Clock, Lane
from footfall.engines.lanes.step_engine import advance
from footfall.hybrid.flatten import named_leaves, output_fields
from footfall.hybrid.system import AbstractHybridSystem, HybridState


def browser_kernel(
    system: AbstractHybridSystem,
    state: HybridState,
    step: float,
    *,
    method: str = "rk4",
    max_jumps: int = 2**31 - 2,
) -> WasmModule:
    """The module of a robot that begins in `state`, and moves in steps of `step` seconds.

    Inputs are named after the fields they come from (`system.leg.stiffness`, `x.angle`, `m.foot`,
    `lane.outcome`, `clock.step`); outputs as in a trajectory. `layout["start"]` holds all inputs at
    the start, as base64. The kernel depends on the kind of robot only: another number is another
    start. Raises CannotFuse and NoCompiler.
    """
    prepare_jax()
    system, state, lanes = prepared(system, state, "float64")
    if lanes != 1:
        raise ValueError(f"one robot, not {lanes}.")
    _, ticks = timing(system, step, step)
    kind = Kind(*map(jax.tree.structure, (system, state.x, state.m)), method, "float64", ())
    clock = Clock(np.float64(step), np.int32(max_jumps), tuple(np.int32(n) for n in ticks))
    lane = jax.tree.map(np.asarray, starter(kind)(system, state, clock))
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

    names = _names(system, state, lane, clock)
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


def _names(system: Any, state: HybridState, lane: Lane, clock: Clock) -> list[str]:
    """What the leaves are called: those of (system, lane, clock, first, count)."""
    lane = lane._replace(x=state.x, m=state.m)  # the same leaves, under their own names

    def of(prefix: str, tree: Any) -> list[str]:
        named = jax.tree_util.tree_leaves_with_path(tree)
        paths = [jax.tree_util.keystr(path, simple=True, separator=".") for path, _ in named]
        return [name if name[:2] in ("x.", "m.") else f"{prefix}.{name}" for name in paths]

    return [*of("system", system), *of("lane", lane), *of("clock", clock), "steps", "count"]


def image(leaves: Sequence[np.ndarray], places: Sequence[dict[str, Any]]) -> bytes:
    """The block of inputs with these numbers in it."""
    block = bytearray(places[-1]["offset"] + leaves[-1].nbytes)
    for leaf, place in zip(leaves, places, strict=True):
        data = np.asarray(leaf).tobytes()
        block[place["offset"] : place["offset"] + len(data)] = data
    return bytes(block)
