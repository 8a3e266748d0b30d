"""One robot whose every step and event is seen: the kernel behind a single run.

The kernel makes one step, comes to one event or goes through one, and is called again; its memory
after each of these is a row. What is looked at afterwards (samples, outputs) is computed from rows
by a kernel too, for many moments at once.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from footfall.engines.kernels.targets.simd.cpp_kernel import CppKernel, build_cpp
from footfall.engines.lanes import adaptive
from footfall.engines.lanes.batch_inputs import prepared
from footfall.engines.lanes.embedded_pair import Pair
from footfall.engines.lanes.lane_loop import LaneLoop
from footfall.engines.lanes.lane_state import Lane, Limits
from footfall.engines.lanes.step_methods import Slope
from footfall.hybrid.flatten import named_leaves
from footfall.hybrid.statistics import looked_at
from footfall.hybrid.system import AbstractHybridSystem, HybridState

REAL = np.dtype("float64")
#: Leaves begin at multiples of this many bytes.
ALIGNED = 8


class Kind(NamedTuple):
    """What a kernel is made for (hashable): everything else is numbers."""

    system: Any  #: tree structure, static fields included
    x: Any
    m: Any
    pair: Pair

    def loop(self, system: Any, x: list[Any], m: list[Any]) -> LaneLoop:
        """Without what only batches keep: a run has rows instead."""
        like = HybridState(jax.tree.unflatten(self.x, x), jax.tree.unflatten(self.m, m))
        loop = LaneLoop(system, like, self.pair.name, REAL)
        loop.bounds, loop.counters, loop.travel = (), [], None
        loop.margins = list(range(len(loop.searched)))
        return loop


class Facts(NamedTuple):
    """What is known of a system once it has been traced."""

    searched: list[tuple[int, int | None]]  #: (event, leg) of each guard that is searched
    clocks: list[int]  #: events that are ticks
    held: list[bool]  #: which states do not flow


class Leaves(NamedTuple):
    """Where the leaves of a struct lie in bytes."""

    tree: Any
    like: tuple[tuple[tuple[int, ...], np.dtype], ...]

    @classmethod
    def of(cls, struct: Any) -> "Leaves":
        leaves, tree = jax.tree.flatten(struct)
        return cls(tree, tuple((leaf.shape, np.dtype(leaf.dtype)) for leaf in leaves))

    @property
    def begins(self) -> list[int]:
        sizes = [int(np.prod(shape)) * dtype.itemsize for shape, dtype in self.like]
        return np.cumsum([0, *(-(-size // ALIGNED) * ALIGNED for size in sizes)]).tolist()

    def views(self, memory: np.ndarray, first: int = 0) -> list[np.ndarray]:
        """Of each leaf, in bytes, one row of them or many."""
        out = []
        for begin, (shape, dtype) in zip(self.begins, self.like, strict=False):
            piece = memory[..., first + begin :][..., : int(np.prod(shape)) * dtype.itemsize]
            out.append(piece.view(dtype).reshape(*memory.shape[:-1], *shape))
        return out

    def struct(self, memory: np.ndarray, first: int = 0) -> Any:
        return jax.tree.unflatten(self.tree, self.views(memory, first))


class WatchedLane:
    """A robot between two of its moments. `go` fills rows; `lanes` and `stages` read them."""

    def __init__(
        self, system: AbstractHybridSystem, state: HybridState, pair: Pair, limits: Limits
    ):
        system, state, lanes = prepared(system, state, "float64")
        assert lanes == 1
        self.kind = Kind(*map(jax.tree.structure, (system, state.x, state.m)), pair)
        self.system = jax.tree.map(lambda leaf: np.array(leaf, order="C"), system)
        limits = Limits(*(np.asarray(v) for v in limits))
        x, m = jax.tree.leaves(state.x), jax.tree.leaves(state.m)
        given = (*_shapes((self.system, x, m)), *_shapes(limits))
        start, go, shapes, self.facts = _kernels(self.kind, *given)
        self.leaves, self.stage_leaves = Leaves.of(shapes[0]), Leaves.of(shapes[1])
        begun = start([*jax.tree.leaves(self.system), *x, *m, *limits], threads=1)
        size = self.leaves.begins[-1]
        self._made = np.zeros(size + self.stage_leaves.begins[-1], np.uint8)
        self._memory = np.zeros(size, np.uint8)
        views = self.leaves.views(self._memory)
        for view, leaf in zip(views, begun, strict=True):
            view[...] = leaf
        self.lane: Lane = jax.tree.unflatten(self.leaves.tree, views)  #: where it stands
        # Kept: the kernel reads them where they are.
        self._inputs = [*jax.tree.leaves(self.system), *views, *limits]
        self._outputs = [
            *self.leaves.views(self._made),
            *self.stage_leaves.views(self._made, size),
        ]
        self._go = go.walk(self._inputs, self._outputs, self._memory, self._made, self.lane.outcome)
        self.observe = observer(self.kind, self.leaves, _shapes(self.system)[1])

    def first_row(self) -> np.ndarray:
        """The row at the start."""
        self._made[: self._memory.size] = self._memory
        return self._made[None].copy()

    def go(self, room: int) -> np.ndarray:
        """At most so many rows more; none once it has ended. An event is never cut in two."""
        rows = np.empty((room + 1, self._made.size), np.uint8)
        count = self._go(rows[:room])
        if count and self.lane.own is not None and self.lane.own.at[0] >= 0:
            count += self._go(rows[count : count + 1])
        return rows[:count]

    def go_back(self, row: np.ndarray) -> None:
        """To where a row was taken."""
        self._memory[:] = row[: self._memory.size]

    def lanes(self, rows: np.ndarray) -> Lane:
        """Each leaf with the rows in front."""
        return self.leaves.struct(rows)

    def stages(self, rows: np.ndarray) -> list[Slope]:
        """Slopes of the step that ended at each row."""
        return self.stage_leaves.struct(rows, self._memory.size)


def _shapes(struct: Any) -> tuple[Any, tuple[Any, ...]]:
    leaves, tree = jax.tree.flatten(struct)
    return tree, tuple((np.shape(leaf), np.dtype(leaf.dtype)) for leaf in leaves)


@functools.lru_cache(maxsize=32)
def _kernels(
    kind: Kind, given: Any, given_like: Any, limits: Any, limits_like: Any
) -> tuple[CppKernel, CppKernel, Any, Facts]:
    """The one that begins, the one that goes on, what they make, and what was learnt."""
    seen: list[Facts] = []

    def begin(system: Any, x: list[Any], m: list[Any], limits: Limits) -> Lane:
        return adaptive.begin(kind.loop(system, x, m), x, m, limits)

    def go(system: Any, lane: Lane, limits: Limits) -> Any:
        loop = kind.loop(system, lane.x, lane.m)
        seen.append(Facts(loop.searched, loop.clocks, loop.held))
        return adaptive.advance(loop, kind.pair, lane, limits, watched=True)

    like = jax.tree.unflatten(given, [jax.ShapeDtypeStruct(*s) for s in given_like])
    numbers = jax.tree.unflatten(limits, [jax.ShapeDtypeStruct(*s) for s in limits_like])
    first, shape = flat_kernel(begin, (*like, numbers))
    later, shapes = flat_kernel(go, (like[0], shape, numbers))
    return first, later, shapes, seen[0]


def flat_kernel(
    program: Callable[..., Any], like: Any, width: int | None = 1
) -> tuple[CppKernel, Any]:
    """A program of structs as a kernel of their leaves; and what it makes, of one lane.

    Arrays of one axis are over lanes, of two over legs and lanes. Raises CannotFuse or NoCompiler.
    """
    leaves, tree = jax.tree.flatten(like)
    made: list[Any] = []

    def flat(*values: Any) -> tuple[Any, ...]:
        found = jax.tree.map(jnp.asarray, program(*jax.tree.unflatten(tree, values)))
        made.append(
            jax.tree.map(
                lambda leaf: jax.ShapeDtypeStruct((*leaf.shape[:-1], 1), leaf.dtype), found
            )
        )
        return tuple(jax.tree.leaves(found))

    kernel = build_cpp(
        flat,
        [leaf.ndim > 0 for leaf in leaves],
        [np.dtype(leaf.dtype) for leaf in leaves],
        real=REAL,
        rows=[leaf.shape[0] if leaf.ndim == 2 else None for leaf in leaves],
        width=width,
    )
    return kernel, made[0]


class Observer(NamedTuple):
    """Outputs, stores and powers at many moments: moments are the lanes."""

    kernel: CppKernel
    told: tuple[int, ...]  #: columns that are looked at inside of steps

    def __call__(
        self, system: Any, t: np.ndarray, x: list[np.ndarray], m: list[np.ndarray]
    ) -> np.ndarray:
        """(moments, columns), legs one after another.

        Leaves of x and m have the moments as their last axis.
        """
        inputs = [*jax.tree.leaves(system), np.asarray(t, REAL), *x, *m]
        found = self.kernel(inputs, threads=1 if len(t) < MANY else None)
        return np.concatenate([np.atleast_2d(v) for v in found]).T


#: Moments for which more than one thread is worth its start.
MANY = 4096


@functools.lru_cache(maxsize=32)
def observer(kind: Kind, leaves: Leaves, system_like: Any) -> Observer:
    """For robots whose lanes look so."""
    lane = jax.tree.unflatten(leaves.tree, [jax.ShapeDtypeStruct(*s) for s in leaves.like])
    system = jax.tree.unflatten(kind.system, [jax.ShapeDtypeStruct(*s) for s in system_like])
    told: list[tuple[int, ...]] = []

    def look(system: Any, t: Any, x: list[Any], m: list[Any]) -> Any:
        x, m = jax.tree.unflatten(kind.x, x), jax.tree.unflatten(kind.m, m)
        outputs, power = system.outputs(t, x, m), system.flow(t, x, m).power
        named = [(name, jnp.ndim(v) < 2) for name, v, _ in named_leaves(outputs)]
        sizes = [jnp.shape(v)[0] if jnp.ndim(v) > 1 else 1 for _, v, _ in named_leaves(outputs)]
        first = dict(zip([name for name, _ in named], np.cumsum([0, *sizes]), strict=False))
        scalars = [name for name, single in named if single]
        told.append(tuple(int(first[n]) for n in looked_at(scalars, system.travel(), power)))
        seen = jax.tree.leaves((outputs, system.stores(t, x, m), power))
        wide = [jnp.asarray(v, REAL) for v in seen]
        return [jnp.broadcast_to(v, t.shape) if v.ndim < 2 else v for v in wide]

    like = (system, jax.ShapeDtypeStruct((1,), REAL), lane.x, lane.m)
    kernel, _ = flat_kernel(look, like, width=None)
    return Observer(kernel, told[0])
