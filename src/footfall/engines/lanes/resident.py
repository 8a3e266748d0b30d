"""One robot that stays in the memory of its kernel.

For runs of one, and for a plant that a clock drives in real time.

A batch passes its arrays to the kernel and gets new ones back, which costs more than a millisecond
of one robot's motion. Here the arrays are laid out once, the kernel reads and writes them where
they are, and a call costs a few microseconds.
"""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from footfall.engines.jax_setup import prepare_jax
from footfall.engines.kernels.fuse_errors import CannotFuse, NoCompiler
from footfall.engines.kernels.targets.simd.cpp_kernel import build_cpp
from footfall.engines.lanes.batch_inputs import prepared, timing
from footfall.engines.lanes.batch_program import Kind, cpp_kernel, starter, xla_path
from footfall.engines.lanes.lane_state import MOST_JUMPS, Clock, Lane
from footfall.hybrid.system import AbstractHybridSystem, HybridState

#: Arrays begin at multiples of this many bytes.
ALIGNED = 64


class ResidentLane:
    """A robot between two steps.

    `advance` moves it; `x` and `m` are its state, which may be written between calls.
    """

    path: str  #: how it runs
    steps: int  #: made so far

    def __init__(
        self,
        system: AbstractHybridSystem,
        state: HybridState,
        step: float,
        *,
        method: str = "rk4",
        max_jumps: int = MOST_JUMPS,
        duration: float | None = None,
        track: tuple[str, ...] = (),
    ):
        prepare_jax()
        system, state, lanes = prepared(system, state, "float64")
        if lanes != 1:
            raise ValueError(f"one robot, not {lanes}.")
        _, ticks = timing(system, duration or step, step)
        self.kind = Kind(
            *map(jax.tree.structure, (system, state.x, state.m)), method, "float64", track
        )
        self.step, self.steps = step, 0
        clock = Clock(np.float64(step), np.int32(max_jumps), tuple(np.int32(n) for n in ticks))
        first = jax.tree.map(np.asarray, starter(self.kind)(system, state, clock))
        leaves, self._tree = jax.tree.flatten(first)
        sizes = [-(-leaf.nbytes // ALIGNED) * ALIGNED for leaf in leaves]
        self._begins = np.concatenate([[0], np.cumsum(sizes)])[:-1].tolist()
        self._like = [(leaf.shape, leaf.dtype) for leaf in leaves]
        self.memory = np.zeros(sum(sizes), np.uint8)  #: all of the lane, as bytes
        self._leaves = self.leaves_of(self.memory)
        for view, leaf in zip(self._leaves, leaves, strict=True):
            view[...] = leaf
        self.lane: Lane = jax.tree.unflatten(self._tree, self._leaves)
        self._first, self._count = np.zeros((), np.int32), np.zeros((), np.int32)
        self._system = jax.tree.map(lambda leaf: np.array(leaf, order="C"), system)
        self._move = self._bind(clock)

    def _bind(self, clock: Clock) -> Callable[[], None]:
        system, clock = self._system, jax.tree.map(np.asarray, clock)
        try:
            kernel = cpp_kernel(self.kind, system, self.lane, clock)
        except (CannotFuse, NoCompiler):
            slow = xla_path(self.kind, system, self.lane, clock)
            self.path = slow.name

            def move() -> None:
                moved = slow.run(system, self.lane, clock, int(self._first), int(self._count))
                for view, leaf in zip(self._leaves, jax.tree.leaves(moved), strict=True):
                    view[...] = np.asarray(leaf)

            return move
        self.path = "C++ kernel, 1 thread"
        self._after = np.zeros_like(self.memory)
        self._inputs = [
            *jax.tree.leaves(system),
            *self._leaves,
            *jax.tree.leaves(clock),
            self._first,
            self._count,
        ]
        call = kernel.bound(self._inputs, self.leaves_of(self._after))
        memory, after = self.memory, self._after

        def fast() -> None:
            call()
            memory[:] = after

        return fast

    def function(
        self, program: Callable[..., tuple], *extra: np.ndarray
    ) -> tuple[Callable[[], None], list[np.ndarray]]:
        """`program(system, x, m, *extra) -> numbers` bound to this robot.

        A call that costs a microsecond, and where its results then are.

        `extra` are arrays of one element that the caller writes between calls.
        """
        state = HybridState(self.lane.x, self.lane.m)
        leaves, tree = jax.tree.flatten((self._system, state, list(extra)))

        def flat(*values: Any) -> tuple:
            system, (x, m), more = jax.tree.unflatten(tree, values)
            return program(
                system,
                jax.tree.unflatten(self.kind.x, x),
                jax.tree.unflatten(self.kind.m, m),
                *more,
            )

        lane = [False] * len(jax.tree.leaves(self._system)) + [True] * (
            len(leaves) - len(jax.tree.leaves(self._system))
        )
        shapes = jax.eval_shape(flat, *leaves)
        outputs = [np.zeros(1, shape.dtype) for shape in shapes]
        try:
            kernel = build_cpp(
                flat, lane, [leaf.dtype for leaf in leaves], real=np.dtype("float64")
            )
            return kernel.bound(leaves, outputs), outputs
        except (CannotFuse, NoCompiler):
            compiled = jax.jit(flat)

            def slow() -> None:
                for out, value in zip(outputs, compiled(*leaves), strict=True):
                    out[...] = np.asarray(value)

            return slow, outputs

    def advance(self, count: int = 1) -> None:
        """By this many steps."""
        self._first[...], self._count[...] = self.steps, count
        self._move()
        self.steps += count

    def go_back(self, memory: np.ndarray, steps: int) -> None:
        """To where it was after so many steps, by a copy of `memory` made there."""
        self.memory[:] = memory
        self.steps = steps

    @property
    def outcome(self) -> int:
        """0 while it runs."""
        return int(self.lane.outcome[0])

    def leaves_of(self, memory: np.ndarray) -> list[np.ndarray]:
        """Views of the lane's leaves in bytes laid out as `memory`, one row of them or many."""
        out = []
        for begin, (shape, dtype) in zip(self._begins, self._like, strict=True):
            piece = memory[..., begin : begin + int(np.prod(shape)) * dtype.itemsize]
            out.append(piece.view(dtype).reshape(*memory.shape[:-1], *shape))
        return out

    def lanes_of(self, memory: np.ndarray) -> Lane:
        """The same as a lane; every leaf has the rows of `memory` before its own axes."""
        return jax.tree.unflatten(self._tree, self.leaves_of(memory))
