"""One robot whose every step and event is seen: the kernel behind a single run.

The kernel makes one step, comes to one event or goes through one, and is called again; its memory
after each of these is a row. What is looked at afterwards (samples, outputs) is computed from rows
by a kernel too, for many moments at once.
"""

import functools
import itertools
import math
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

import jax
import jax.monitoring
import jax.numpy as jnp
import numpy as np

from footfall.engines.kernels.fuse_errors import CannotFuse
from footfall.engines.kernels.kept_program import kept_program
from footfall.engines.kernels.targets.simd.compiler import require_compilers, vector_bytes
from footfall.engines.kernels.targets.simd.cpp_kernel import CppKernel, CppText, cpp_text
from footfall.engines.lanes import adaptive
from footfall.engines.lanes.embedded_pair import Pair
from footfall.engines.lanes.lane_loop import LaneLoop
from footfall.engines.lanes.lane_state import Lane, Limits
from footfall.hybrid.flatten import named_leaves
from footfall.hybrid.statistics import looked_at
from footfall.hybrid.system import AbstractHybridSystem, HybridState

REAL = np.dtype("float64")
#: Told to listeners of `jax.monitoring`, as JAX tells of its own programs.
BUILDING, BUILT = "/footfall/kernels_asked_for", "/footfall/kernels_made"
#: Leaves begin at multiples of this many bytes.
LEAF_BYTES = 8


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


class Leaves:
    """Where the leaves of a struct lie in bytes."""

    def __init__(self, struct: Any) -> None:
        leaves, self.tree = jax.tree.flatten(struct)
        self.like = tuple((leaf.shape, np.dtype(leaf.dtype)) for leaf in leaves)
        self.sizes = [math.prod(shape) * dtype.itemsize for shape, dtype in self.like]
        steps = [0, *(-(-size // LEAF_BYTES) * LEAF_BYTES for size in self.sizes)]
        *self.begins, self.size = itertools.accumulate(steps)

    def views(self, memory: np.ndarray, first: int = 0) -> list[np.ndarray]:
        """Of each leaf, in bytes, one row of them or many."""
        rows = memory.shape[:-1]
        return [
            memory[..., first + begin : first + begin + size].view(dtype).reshape(*rows, *shape)
            for begin, size, (shape, dtype) in zip(self.begins, self.sizes, self.like, strict=True)
        ]

    def struct(self, memory: np.ndarray, first: int = 0) -> Any:
        return jax.tree.unflatten(self.tree, self.views(memory, first))


class WatchedLane:
    """A robot between two of its moments. `go` fills rows; `lanes` and `stages` read them."""

    def __init__(
        self, system: AbstractHybridSystem, state: HybridState, pair: Pair, limits: Limits
    ):
        require_compilers()
        system, state = _one_robot(system), _one_lane(state)
        self.kind = Kind(*map(jax.tree.structure, (system, state.x, state.m)), pair)
        self.system = system
        limits = Limits(*(np.asarray(v) for v in limits))
        x, m = jax.tree.leaves(state.x), jax.tree.leaves(state.m)
        given = (*_shapes((self.system, x, m)), *_shapes(limits))
        start, go, self.observe, self.leaves, self.stage_leaves, self.facts = _kernels(
            self.kind, *given
        )
        begun = start([*jax.tree.leaves(self.system), *x, *m, *limits], threads=1)
        size = self.leaves.size
        self._made = np.zeros(size + self.stage_leaves.size, np.uint8)
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

    def first_row(self) -> np.ndarray:
        """The row at the start."""
        self._made[: self._memory.size] = self._memory
        return self._made[None].copy()

    def go(self, row: np.ndarray, room: int) -> np.ndarray:
        """That row, where it stands, and at most so many more; none once it has ended.

        An event is never cut in two.
        """
        rows = np.empty((room + 2, self._made.size), np.uint8)
        rows[:1] = row
        end = 1 + self._go(rows[1 : room + 1])
        if end > 1 and self.lane.own is not None and self.lane.own.at[0] >= 0:
            end += self._go(rows[end : end + 1])
        return rows[:end]

    def go_back(self, row: np.ndarray) -> None:
        """To where a row was taken."""
        self._memory[:] = row[: self._memory.size]

    def lanes(self, rows: np.ndarray) -> Lane:
        """Each leaf with the rows in front."""
        return self.leaves.struct(rows)

    def slopes(self, rows: np.ndarray, which: np.ndarray) -> np.ndarray:
        """(rows, stages, states that flow and ports) of the step that ended at each of `which`."""
        stages, size = self.kind.pair.stages, self.stage_leaves.size // REAL.itemsize
        whole = rows[:, self.leaves.size :].view(REAL)[which]
        return whole.reshape(len(which), stages, size // stages)


def _one_robot(system: Any) -> Any:
    def number(leaf: Any) -> np.ndarray:
        if np.ndim(leaf) > 1:
            raise CannotFuse("a parameter", f"of shape {np.shape(leaf)}")
        return np.array(leaf, REAL, order="C")

    return jax.tree.map(number, system)


def _one_lane(state: HybridState) -> HybridState:
    def number(leaf: Any) -> np.ndarray:
        array = np.asarray(leaf)
        if array.ndim > 1:
            raise CannotFuse("a state", f"of shape {array.shape}")
        whole = np.issubdtype(array.dtype, np.integer)
        return np.array(array[..., None], np.int32 if whole else array.dtype, order="C")

    return jax.tree.map(number, state)


def _shapes(struct: Any) -> tuple[Any, tuple[Any, ...]]:
    leaves, tree = jax.tree.flatten(struct)
    return tree, tuple((np.shape(leaf), np.dtype(leaf.dtype)) for leaf in leaves)


class Kernels(NamedTuple):
    """All that is compiled for a kind of robot, and what was learnt on the way."""

    begin: CppKernel
    go: CppKernel
    observe: "Observer"
    lane: Leaves
    stages: Leaves
    facts: Facts


class Program(NamedTuple):
    """The texts of a kind of robot, and what tracing it taught; shapes stand for arrays."""

    begin: CppText
    go: CppText
    whole: CppText
    told: CppText | None
    lane: Any
    stages: Any
    facts: Facts
    places: tuple[int, ...]  #: see Observer


@functools.lru_cache(maxsize=32)
def _kernels(kind: Kind, given: Any, given_like: Any, limits: Any, limits_like: Any) -> Kernels:
    """One is compiled while the next is traced. Raises CannotFuse or NoCompiler."""
    like = jax.tree.unflatten(given, [jax.ShapeDtypeStruct(*s) for s in given_like])
    numbers = jax.tree.unflatten(limits, [jax.ShapeDtypeStruct(*s) for s in limits_like])
    pool, began = ThreadPoolExecutor(4), time.monotonic()
    made: dict[str, Future[CppKernel]] = {}

    def compiling(text: CppText) -> CppText:
        if text.source not in made:
            made[text.source] = pool.submit(text.compiled, quick=True)
        return text

    def kernel(text: CppText) -> CppKernel:
        return made[compiling(text).source].result()

    jax.monitoring.record_event(BUILDING)
    try:
        asked = (*kind[:3], kind.pair.name, given, given_like, limits_like, vector_bytes())
        found = kept_program(asked, lambda: _traced(kind, like, numbers, compiling))
        for text in (found.begin, found.go, found.whole, found.told):
            if text is not None:
                compiling(text)
        observe = Observer(
            kernel(found.whole), kernel(found.told) if found.told else None, found.places
        )
        lane, stages = Leaves(found.lane), Leaves(found.stages)
        return Kernels(kernel(found.begin), kernel(found.go), observe, lane, stages, found.facts)
    finally:  # who was interrupted does not wait for compilers
        pool.shutdown(wait=False, cancel_futures=True)
        jax.monitoring.record_event_duration_secs(BUILT, time.monotonic() - began)


def _traced(
    kind: Kind, like: Any, numbers: Limits, compiling: Callable[[CppText], CppText]
) -> Program:
    """Each text is given to the compiler as it comes. Raises CannotFuse."""
    loops: list[LaneLoop] = []  # one: what was traced for a kernel need not be for the next

    def begin(system: Any, x: list[Any], m: list[Any], limits: Limits) -> Lane:
        loops.append(kind.loop(system, x, m))
        return adaptive.begin(loops[0], x, m, limits)

    def go(system: Any, lane: Lane, limits: Limits) -> Any:
        loop = loops[0].with_system(system)
        return adaptive.advance(loop, kind.pair, lane, limits, watched=True)

    first, lane = flat_text(begin, (*like, numbers))
    compiling(first)
    later, (_, stages) = flat_text(go, (like[0], lane, numbers))
    compiling(later)
    whole, told, places = _observed(kind, like[0], lane)
    facts = Facts(loops[0].searched, loops[0].clocks, loops[0].held)
    return Program(first, later, whole, told, lane, stages, facts, places)


def flat_text(program: Callable[..., Any], like: Any, width: int | None = 1) -> tuple[CppText, Any]:
    """A program of structs as the text of a kernel of their leaves; and what it makes, of one lane.

    The first struct is the system, which lanes share: arrays in it are over legs. Of the others,
    arrays of one axis are over lanes, of two over legs and lanes. Raises CannotFuse.
    """
    leaves, tree = jax.tree.flatten(like)
    part = [n for n, some in enumerate(like) for _ in jax.tree.leaves(some)]
    made: list[Any] = []

    def flat(*values: Any) -> tuple[Any, ...]:
        try:
            found = jax.tree.map(jnp.asarray, program(*jax.tree.unflatten(tree, values)))
        except CannotFuse:
            raise
        except Exception as error:  # XLA runs it, or says what is wrong with it
            told = f"{type(error).__name__}: {error}".partition("\n")[0]
            raise CannotFuse("the model", f"it was written for single numbers ({told})") from error
        made.append(
            jax.tree.map(
                lambda leaf: jax.ShapeDtypeStruct((*leaf.shape[:-1], 1), leaf.dtype), found
            )
        )
        return tuple(jax.tree.leaves(found))

    rows = [
        leaf.shape[0] if leaf.ndim == (2 if n else 1) else None
        for n, leaf in zip(part, leaves, strict=True)
    ]
    text = cpp_text(
        flat,
        [n > 0 and leaf.ndim > 0 for n, leaf in zip(part, leaves, strict=True)],
        [np.dtype(leaf.dtype) for leaf in leaves],
        real=REAL,
        rows=rows,
        width=width,
        apart=width is None,
    )
    return text, made[0]


class Observer(NamedTuple):
    """Outputs, stores and powers at many moments: moments are the lanes."""

    whole: CppKernel
    told: CppKernel | None  #: those outputs alone that are looked at inside of steps
    places: tuple[int, ...]  #: of these in the columns of the whole

    def __call__(
        self, system: Any, t: np.ndarray, x: list[np.ndarray], m: list[np.ndarray]
    ) -> np.ndarray:
        """(moments, columns), legs one after another.

        Leaves of x and m have the moments as their last axis.
        """
        return self._seen(self.whole, system, t, x, m)

    def inside(
        self, system: Any, t: np.ndarray, x: list[np.ndarray], m: list[np.ndarray]
    ) -> np.ndarray:
        """The same of the outputs that are looked at inside of steps."""
        if self.told is None:
            return np.zeros((len(t), 0))
        return self._seen(self.told, system, t, x, m)

    def _seen(self, kernel: CppKernel, system: Any, t: np.ndarray, x: Any, m: Any) -> np.ndarray:
        inputs = [*jax.tree.leaves(system), np.asarray(t, REAL), *x, *m]
        found = kernel(inputs, threads=1 if len(t) < MANY else None)
        return np.concatenate([np.atleast_2d(v) for v in found]).T


#: Moments for which more than one thread is worth its start.
MANY = 32768


def _observed(
    kind: Kind, system: Any, lane: Lane
) -> tuple[CppText, CppText | None, tuple[int, ...]]:
    """The texts and places of an Observer of robots whose lanes look so."""
    told: list[tuple[int, ...]] = []

    @jax.jit  # traced once for both
    def look(system: Any, t: Any, x: list[Any], m: list[Any]) -> Any:
        x, m = jax.tree.unflatten(kind.x, x), jax.tree.unflatten(kind.m, m)
        outputs, power = system.outputs(t, x, m), system.flow(t, x, m).power
        named = [(name, jnp.shape(v)) for name, v, _ in named_leaves(outputs)]
        sizes = [shape[0] if len(shape) > 1 else 1 for _, shape in named]
        first = dict(zip([name for name, _ in named], np.cumsum([0, *sizes]), strict=False))
        scalars = [name for name, shape in named if len(shape) < 2]
        told.append(tuple(int(first[n]) for n in looked_at(scalars, system.travel(), power)))
        seen = jax.tree.leaves((outputs, system.stores(t, x, m), power))
        wide = [jnp.asarray(v, REAL) for v in seen]
        if any(v.ndim > 2 or (v.ndim and v.shape[-1] not in (1, t.shape[0])) for v in wide):
            raise CannotFuse("the model", "its outputs are not numbers for each lane")
        return [jnp.broadcast_to(v, (*v.shape[:-1], *t.shape)) for v in wide]

    def look_inside(system: Any, t: Any, x: list[Any], m: list[Any]) -> Any:
        whole = look(system, t, x, m)
        rows = [
            v[i] if v.ndim > 1 else v for v in whole for i in range(len(v) if v.ndim > 1 else 1)
        ]
        return [rows[place] for place in told[0]]

    like = (system, jax.ShapeDtypeStruct((1,), REAL), lane.x, lane.m)
    whole, _ = flat_text(look, like, width=None)
    inside = flat_text(look_inside, like, width=None)[0] if told[0] else None
    return whole, inside, told[0]
