"""How fast each robot of a batch can change, and so how long a step of an explicit method may be.

The eigenvalues of d(flow)/dx, h times as large, must lie where the method lets a disturbance decay.
For thousands of robots their largest modulus is enough, and repeated squaring finds it without
eigenvectors: rho(J) = lim |J^n|^(1/n).
"""

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from footfall.engines.lanes.lane_loop import packed_rates
from footfall.engines.step_growth import explicit, grows
from footfall.hybrid.system import HybridState

#: h |lambda| up to which no eigenvalues are looked for: nothing that decays grows below it, but
#: slowly.
SURE = {"rk4": 2.5, "semi-implicit-euler": 0.5}
#: Robots per compiled call: always as many, so that one program serves all and a robot's number
#: does not depend on its neighbours.
LANES_PER_CALL = 256
#: |J^1024|^(1/1024) is above rho(J) by less than 2 % for a condition of 1e7.
SQUARINGS = 10


def rates_of_change(system: Any, state: HybridState, t: Any = 0.0) -> np.ndarray:
    """Largest |eigenvalue| of d(flow)/dx of each lane [1/s]; zero where the Jacobian is not finite.

    As `prepared` gives system and state.
    """
    return _each(system, state, t, spectral_radius)


def above_reach(
    system: Any, state: HybridState, t: Any, steps: np.ndarray, method: str, span: float = math.inf
) -> np.ndarray:
    """Which lanes have a decaying disturbance that the method grows at the lane's step.

    See step_growth.py.
    """
    steps = np.asarray(steps, float)
    if not explicit(method):
        return np.zeros(len(steps), bool)
    rates = packed_rates(jax.tree.map(lambda leaf: leaf[..., 0], state.x))

    def unstable(jacobians: np.ndarray, steps: np.ndarray) -> np.ndarray:
        # By the cheap upper bound first: eigenvalues only where it is in doubt. One that is not
        # finite is that of a robot that has ended.
        above = spectral_radius(jacobians) * steps > SURE.get(method, 0.0)
        above[above] = grows(method, jacobians[above], steps[above], rates, span)
        return above

    return _each(system, state, t, unstable, steps)


def spectral_radius(matrices: np.ndarray) -> np.ndarray:
    """Largest |eigenvalue| of each matrix, from above and within 2 %.

    Zero for one that is not finite (its robot has ended anyway).
    """
    power = np.asarray(matrices, float)
    if not power.shape[-1]:
        return np.zeros(len(power))
    power = np.where(np.isfinite(power).all(axis=(1, 2))[:, None, None], power, 0.0)
    logarithm = np.zeros(len(power))
    for squaring in range(SQUARINGS + 1):
        size = np.max(np.sum(np.abs(power), axis=2), axis=1)
        with np.errstate(divide="ignore"):
            logarithm += np.log(size) / 2**squaring
        if squaring < SQUARINGS:
            power = power / np.where(size > 0, size, 1.0)[:, None, None]
            power = power @ power
    return np.exp(logarithm)


def _each(
    system: Any,
    state: HybridState,
    t: Any,
    measure: Callable[..., np.ndarray],
    *columns: np.ndarray,
) -> np.ndarray:
    """`measure` of the Jacobians of all lanes, call by call, in double precision."""
    lanes = jax.tree.leaves(state)[0].shape[-1]
    if not jax.tree.leaves(state.x):
        return measure(np.zeros((lanes, 0, 0)), *columns)
    system, state = jax.tree.map(_double, (system, state))
    time = np.broadcast_to(np.asarray(t, float), (lanes,))
    found = []
    for first in range(0, lanes, LANES_PER_CALL):
        rows = np.minimum(np.arange(first, first + LANES_PER_CALL), lanes - 1)
        kept = rows[: min(LANES_PER_CALL, lanes - first)]
        some = _lanes((system, state, time), lanes, rows)
        found.append(measure(_jacobians(*some)[: len(kept)], *(column[kept] for column in columns)))
    return np.concatenate(found)


def _double(leaf: Any) -> np.ndarray:
    array = np.asarray(leaf)
    return array.astype(float) if np.issubdtype(array.dtype, np.floating) else array


def _lanes(tree: Any, lanes: int, rows: np.ndarray) -> Any:
    return jax.tree.map(
        lambda leaf: leaf[..., rows] if np.ndim(leaf) and leaf.shape[-1] == lanes else leaf, tree
    )


def _jacobians(system: Any, state: HybridState, t: np.ndarray) -> np.ndarray:
    """d(flow)/dx as (lanes, states, states).

    One directional derivative compiles four times as fast as all of them together.
    """
    leaves, tree = jax.tree.flatten(state.x)
    lanes = leaves[0].shape[-1]
    sizes = [math.prod(leaf.shape[:-1]) for leaf in leaves]
    # Each lane once for each state, side by side in one batch, in the direction of that state.
    rows = np.tile(np.arange(lanes), sum(sizes))
    directions = np.split(np.repeat(np.eye(sum(sizes)), lanes, axis=1), np.cumsum(sizes)[:-1])
    along = [
        part.reshape(*leaf.shape[:-1], -1) for part, leaf in zip(directions, leaves, strict=True)
    ]
    system, x, m, t = _lanes((system, state.x, state.m, t), lanes, rows)
    rates = [
        np.asarray(rate) for rate in _rates_along(system, x, m, t, jax.tree.unflatten(tree, along))
    ]
    wide = np.concatenate([rate.reshape(-1, len(rows)) for rate in rates])
    return np.moveaxis(wide.reshape(sum(sizes), sum(sizes), lanes), -1, 0)


@jax.jit
def _rates_along(system: Any, x: Any, m: Any, t: Any, along: Any) -> list[Any]:
    """Change of the flow in one direction of the state, elementwise in lanes."""

    def flow(x: Any) -> list[Any]:
        rates = jax.tree.leaves(system.flow(t, x, m).x)
        return [
            jnp.broadcast_to(rate, jnp.shape(like))
            for rate, like in zip(rates, jax.tree.leaves(x), strict=True)
        ]

    return jax.jvp(flow, (x,), (along,))[1]
