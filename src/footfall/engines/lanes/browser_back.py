"""From the end of a step back to an event inside it, as a WebAssembly module."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from footfall.engines.kernels.targets.wasm.wasm_module import WasmModule, build_wasm
from footfall.engines.lanes.browser_kernel import Ready, names_in
from footfall.hybrid.flatten import named_leaves
from footfall.hybrid.system import AbstractHybridSystem, HybridState


def browser_back(system: AbstractHybridSystem, state: HybridState, step: float) -> WasmModule:
    """The module that takes the state at `t` back by `span`, less than a step, along its flow.

    Inputs are the robot's as in its kernel (`system.*`, `x.*`, `m.*`), `t` and `span` [s]; outputs
    are `x.*` then: a step of the fourth order backwards, for a state between events. Raises
    CannotFuse and NoCompiler.
    """
    ready = Ready.of(system, state, step, "rk4", 1)
    leaves, tree = jax.tree.flatten((ready.system, *ready.state, np.zeros(1), np.zeros(1)))

    def program(*values: Any) -> tuple[Any, ...]:
        system, x, m, t, span = jax.tree.unflatten(tree, values)
        shape, own = jax.tree.structure(x), [name for name, _, _ in named_leaves(x)]
        held = jax.tree.leaves(x)

        def slope(t: Any, values: list[Any]) -> list[Any]:
            rates = system.flow(t, jax.tree.unflatten(shape, values), m).x
            found = {name: value for name, value, _ in named_leaves(rates)}
            return [jnp.zeros_like(v) + found.get(n, 0.0) for n, v in zip(own, values, strict=True)]

        def moved(by: Any, slopes: list[Any]) -> list[Any]:
            return [v - by * s for v, s in zip(held, slopes, strict=True)]

        one = slope(t, held)
        two = slope(t - span / 2, moved(span / 2, one))
        three = slope(t - span / 2, moved(span / 2, two))
        four = slope(t - span, moved(span, three))
        stages = zip(one, two, three, four, strict=True)
        mean = [(a + 2 * b + 2 * c + d) / 6 for a, b, c, d in stages]
        return tuple(moved(span, mean))

    leaves = [np.asarray(leaf) for leaf in leaves]
    names = names_in("x", ready.state.x)
    return build_wasm(
        program,
        [np.ndim(leaf) > 0 for leaf in leaves],
        [leaf.dtype for leaf in leaves],
        real=np.dtype("float64"),
        rows=[np.shape(leaf)[0] if np.ndim(leaf) == 2 else None for leaf in leaves],
        names=(
            [*names_in("system", ready.system), *names, *names_in("m", ready.state.m), "t", "span"],
            names,
        ),
    )
