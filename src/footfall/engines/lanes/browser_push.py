"""A push by a force as a WebAssembly module: what it does to the rates of a robot, and its work.

Nothing in a robot's contract takes a force from outside, and nothing has to. Its rates u are the
velocities that its stores are quadratic in, so their second derivative is its inertia,

    M = d2(stored energy)/du2,

and a force F at a point with the velocity v does the power F . v, so its generalised force is

    Q = d(F . v)/du,    v = d(place of the point)/dx . flow(x),

as Kane has it (quasi-velocities, and constraints that do no work, included). A push of the impulse
F h leaves the place as it is and changes the rates by M^-1 Q h. Its work is the change of the
stored energy, F . (v + v+) h / 2, which the ledger of a page books.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from footfall.engines.kernels.targets.wasm.wasm_module import WasmModule, build_wasm
from footfall.engines.lanes.browser_kernel import Ready, names_in
from footfall.hybrid.flatten import named_leaves
from footfall.hybrid.system import AbstractHybridSystem, HybridState

#: A place and how it is turned, among the outputs of a group.
PLACE, TURN = ("x", "y", "z"), ("roll", "pitch", "yaw")
FORCE, POINT = ("force.x", "force.y", "force.z"), ("point.x", "point.y", "point.z")


def browser_push(
    system: AbstractHybridSystem,
    state: HybridState,
    groups: Sequence[str],
    step: float,
    *,
    method: str = "rk4",
) -> WasmModule:
    """The module of a push on one of `groups` of outputs, at a point of it.

    Inputs are the robot's as in its kernel (`system.*`, `x.*`, `m.*`), `t`, the force and the point
    in the group's own frame (`force.x`, `point.x`, ...), for each group `at.GROUP`, 1 where the
    force acts and 0 elsewhere, and for each rate a direction, `along.RATE`. Outputs are the stores
    (`store.*`), `power` of the force, and for each rate `force.RATE`, Q, and `inertia.RATE`, M
    times the direction. Raises CannotFuse, NoCompiler and, of groups without a place, ValueError.
    """
    ready = Ready.of(system, state, step, method, 1)
    rates = [n for n, _, info in named_leaves(ready.state.x) if info.rate_of is not None]
    like = {n: v for n, v, _ in named_leaves(ready.state.x)}
    robot, tree = jax.tree.flatten((ready.system, ready.state.x, ready.state.m))
    seen = jax.eval_shape(lambda x, m: ready.system.outputs(0.0, x, m), *ready.state)
    places = {group: _places(seen, group) for group in groups}
    one = np.zeros(1)
    more = [one, *[one] * 6, *[_as_wide(seen, group) for group in groups], *map(like.get, rates)]

    def program(*values: Any) -> tuple[Any, ...]:
        system, x, m = jax.tree.unflatten(tree, values[: len(robot)])
        t, *rest = values[len(robot) :]
        force, point, at, along = (
            rest[:3],
            rest[3:6],
            rest[6 : 6 + len(groups)],
            rest[-len(rates) :],
        )

        def with_rates(u: Sequence[Any]) -> Any:
            return _replaced(x, dict(zip(rates, u, strict=True)))

        def place(x: Any) -> list[Any]:
            out = {name: value for name, value, _ in named_leaves(system.outputs(t, x, m))}
            each = [
                _placed(out, names, point, weight)
                for names, weight in zip(places.values(), at, strict=True)
            ]
            return [sum(axis) for axis in zip(*each, strict=True)]

        def stores(u: Sequence[Any]) -> list[Any]:
            each = named_leaves(system.stores(t, with_rates(u), m))
            return [value + jnp.zeros_like(t) for _, value, _ in each]

        def power(u: Sequence[Any]) -> Any:
            speeds = named_leaves(system.flow(t, with_rates(u), m).x)
            terms = [
                pull[n] * v for n, v, _ in speeds if n not in rates
            ]  # no place has a rate in it
            return sum((_over_legs(term) for term in terms), jnp.zeros_like(t))

        u = [value for name, value, _ in named_leaves(x) if name in rates]
        _, pulled = jax.vjp(place, x)
        # Of the force on each number of x.
        pull = {name: value for name, value, _ in named_leaves(pulled(force)[0])}
        told, pulls = jax.vjp(power, u)
        ones = jnp.ones_like(t)
        kept = [ones for _ in stores(u)]
        _, inertia = jax.jvp(lambda u: jax.vjp(stores, u)[1](kept)[0], (u,), (along,))
        (forces,) = pulls(ones)
        wide = [v + 0.0 * a for v, a in zip([*forces, *inertia], [*along, *along], strict=True)]
        return (*stores(u), told, *wide)

    leaves = [np.asarray(leaf) for leaf in (*robot, *more)]
    inputs = [
        *names_in("system", ready.system),
        *names_in("x", ready.state.x),
        *names_in("m", ready.state.m),
        *("t", *FORCE, *POINT),
        *(f"at.{group}" for group in groups),
        *(f"along.{rate}" for rate in rates),
    ]
    stored = jax.eval_shape(lambda x, m: ready.system.stores(0.0, x, m), *ready.state)
    outputs = [*(f"store.{name}" for name, _, _ in named_leaves(stored)), "power"]
    outputs += [*(f"{of}.{rate}" for of in ("force", "inertia") for rate in rates)]
    return build_wasm(
        program,
        [np.ndim(leaf) > 0 for leaf in leaves],
        [leaf.dtype for leaf in leaves],
        real=np.dtype("float64"),
        rows=[np.shape(leaf)[0] if np.ndim(leaf) == 2 else None for leaf in leaves],
        names=(inputs, outputs),
    )


def _places(seen: Any, group: str) -> dict[str, str]:
    """Which outputs say where a group is, and how it is turned: {"x": "hub.x", ...}."""
    names = {name for name, _, _ in named_leaves(seen)}
    found = {each: f"{group}.{each}" for each in PLACE + TURN if f"{group}.{each}" in names}
    if not {"x", "z"} <= set(found):
        raise ValueError(f"{group} has no place among the outputs.")
    return found


def _as_wide(seen: Any, group: str) -> np.ndarray:
    """A weight for each of the group's like legs, or one."""
    shape = next(value.shape for name, value, _ in named_leaves(seen) if name == f"{group}.x")
    return np.zeros((shape[0], 1) if len(shape) == 2 else 1)


def _placed(
    out: Mapping[str, Any], names: Mapping[str, str], point: Sequence[Any], weight: Any
) -> list[Any]:
    """Weight times the place of the point; of like legs the sum."""
    place = [out[names[axis]] if axis in names else 0.0 for axis in PLACE]
    turned = list(point)
    for axis, (a, b) in zip(TURN, ((1, 2), (2, 0), (0, 1)), strict=True):  # x, then y, then z
        if axis in names:
            c, s = jnp.cos(out[names[axis]]), jnp.sin(out[names[axis]])
            turned[a], turned[b] = c * turned[a] - s * turned[b], s * turned[a] + c * turned[b]
    return [_over_legs(weight * (o + p)) for o, p in zip(place, turned, strict=True)]


def _over_legs(value: Any) -> Any:
    """The sum over like legs."""
    return jnp.sum(value, axis=0) if jnp.ndim(value) == 2 else value


def _replaced(struct: Any, values: Mapping[str, Any]) -> Any:
    """The struct with other numbers, by their flat names."""
    names = [name for name, _, _ in named_leaves(struct)]
    flat, tree = jax.tree.flatten(struct)
    return jax.tree.unflatten(tree, [values.get(n, v) for n, v in zip(names, flat, strict=True)])
