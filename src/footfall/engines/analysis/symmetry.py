"""What of a state need not repeat: places that only add up, shifts that nothing notices.

A gait that goes somewhere repeats but for its place. The return map then has P(v + e w) = P(v) + e
w for the shift w, J w = w, and I - J cannot be solved with (gaits.5). Such shifts are taken out:
one number of each, the pivot, is dropped, and the others are counted from it.
"""

import dataclasses
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from footfall.engines.analysis.return_map import is_real, numbers_of
from footfall.hybrid.flatten import Layout
from footfall.hybrid.system import HybridState

#: A change of the equations along a shift, as a share of their largest one: rounding.
NO_CHANGE = 1e-9
#: States near those visited at which the equations are asked, and how far away, as a share.
NEAR, SPREAD = 4, 0.05


@dataclasses.dataclass(frozen=True)
class Quotient:
    """The numbers that have to repeat, and how a derivative reads in them."""

    kept: np.ndarray  #: which numbers those are
    #: Numbers that repeat = reads @ all numbers: a shift's pivot taken off the others.
    reads: np.ndarray

    @classmethod
    def of(cls, kept: np.ndarray, shifts: np.ndarray, order: np.ndarray) -> "Quotient":
        """`shifts` has a column for each direction; pivots are taken where `order` is largest."""
        kept, reads = kept.copy(), np.eye(len(kept))
        for shift in shifts.T:
            now = reads @ shift
            pivot = int(np.argmax(np.where(kept, np.abs(now) * order, -1.0)))
            if abs(now[pivot]) <= NO_CHANGE * np.abs(shift).max():
                continue  # moves only what is out already
            reads = reads - np.outer(now / now[pivot], reads[pivot])
            kept[pivot] = False
        return cls(kept, reads[kept])

    def vector(self, full: np.ndarray) -> np.ndarray:
        """A change of all numbers, in those that repeat (first axis)."""
        return self.reads @ full

    def matrix(self, derivative: np.ndarray) -> np.ndarray:
        """The derivative of the map, in those that repeat."""
        return self.reads @ derivative[:, self.kept]

    def spread(self, change: np.ndarray) -> np.ndarray:
        """A change of those that repeat, as one of all numbers."""
        full = np.zeros(len(self.kept))
        full[self.kept] = change
        return full


def only_adds_up(derivative: np.ndarray, asked: np.ndarray) -> np.ndarray:
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


def shifts(system: Any, like: Any, counts: Any, visited: np.ndarray) -> np.ndarray:
    """Directions in which a state may be shifted without any equation noticing, as columns.

    Flow and guards do not change, and every jump hands the shift on: asked of the equations
    themselves, at the states `visited` (rows) and near them. So a foothold that is put where the
    body is hides nothing, and a gait whose multiplier happens to be one is not taken for one.
    """
    layout, zero = Layout.of(like), jnp.zeros(())

    def equations(flat: Any) -> Any:
        x, m = eqx.combine(layout.unpack(flat), counts)
        rates, guards = system.flow(zero, x, m), system.guards(zero, x, m)
        parts = [rates.x, rates.power, guards]
        for k, event in enumerate(system.events):
            if event.outcome is None:
                legs = [()] if not jnp.ndim(guards[k]) else [(i,) for i in range(guards[k].size)]
                for leg in legs:
                    jumped = system.jump(zero, x, m, k, *(jnp.int32(i) for i in leg))
                    numbers, _ = numbers_of(HybridState(jumped.x, jumped.m))
                    parts.append(layout.pack(numbers) - flat)
        leaves = [leaf for leaf in jax.tree.leaves(parts) if is_real(leaf)]
        return jnp.concatenate([jnp.ravel(jnp.asarray(leaf, float)) for leaf in leaves])

    size = np.maximum(np.abs(visited).max(axis=0), np.ptp(visited, axis=0)) + 1e-3
    near = np.random.default_rng(0).uniform(-SPREAD, SPREAD, (NEAR, len(size))) * size
    points = np.concatenate([visited, visited[-1] + near])
    slopes = np.asarray(jax.jit(jax.vmap(jax.jacfwd(equations)))(points))
    rows = slopes.reshape(-1, len(size))
    rows = rows[np.all(np.isfinite(rows), axis=1)]
    largest = np.abs(rows).max(axis=1, keepdims=True)
    rows = rows / np.where(largest > 0, largest, 1.0)
    if not len(rows):
        return np.zeros((len(size), 0))
    _, values, directions = np.linalg.svd(rows)
    values = np.concatenate([values, np.zeros(len(size) - len(values))])
    return directions[values <= NO_CHANGE * max(values[0], 1e-300)].T


def on_level(matrix: np.ndarray, normal: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The derivative of a map on the surface across `normal`, which it maps to itself (gaits.6).

    Returns it in coordinates of the surface, and their directions as columns.
    """
    inside = np.linalg.svd(normal[None])[2][1:].T
    return inside.T @ matrix @ inside, inside
