"""Robots of a batch that begin anew one by one, and are moved while they run.

Two pure programs of arrays over lanes: `start` makes lanes from the numbers of a robot, `step`
holds those numbers (an action is among them) for a period, and says what is seen and what it is
worth. They are compiled as one C++ kernel each, or by XLA, or used inside a program of JAX.
"""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from footfall.engines.jax_setup import prepare_jax
from footfall.engines.kernels.fuse_errors import CannotFuse, NoCompiler
from footfall.engines.kernels.targets.simd.cpp_kernel import build_cpp
from footfall.engines.lanes.batch_inputs import prepared, timing
from footfall.engines.lanes.browser_kernel import as_lanes
from footfall.engines.lanes.lane_loop import I, LaneLoop
from footfall.engines.lanes.lane_state import Clock, Lane
from footfall.engines.lanes.step_engine import advance, begin
from footfall.engines.lanes.watched_lane import REAL
from footfall.hybrid.system import HybridState
from footfall.hybrid.task import Moment, Passage

Make = Callable[..., tuple[Any, HybridState]]


class Episodes:
    """The two programs of a robot, and how they are compiled.

    make      from the robot's numbers, as arrays over lanes, to the system and its start
    values    these numbers, of one robot
    period    s, for which numbers are held; `step` of the integrator divides it
    look      what is seen of a moment
    judge     the terms of the reward of a passage
    """

    def __init__(
        self,
        make: Make,
        values: Sequence[float],
        *,
        period: float,
        step: float,
        look: Callable[[Moment], Sequence[Any]],
        judge: Callable[[Passage], Sequence[Any]],
        method: str = "rk4",
    ):
        prepare_jax()
        self._make, self._look, self._judge, self._method = make, look, judge, method
        self.values = [float(value) for value in values]
        system, state = make(*(np.float64(value) for value in self.values))
        self.count, ticks = timing(system, period, step)
        for event, tick in zip((e for e in system.events if e.period), ticks, strict=True):
            if self.count % tick:
                raise ValueError(
                    f"a period of {period:g} s is no whole number of ticks of {event.name}"
                    f" ({event.period:g} s), so robots that begin at different times cannot be"
                    " stepped together. Take a multiple of it."
                )
        system, self._like, _ = prepared(system, state, REAL.name)
        self._clock = Clock(np.float64(step), np.int32(2**31 - 2), tuple(map(np.int32, ticks)))
        shapes = jax.eval_shape(self._begun, *(np.zeros(1) for _ in self.values))
        self._like_lane, self._tree = jax.tree.flatten(shapes)
        self.path = ""  #: how `start` and `step` run, once they have

    def _remade(self, values: Sequence[Array]) -> tuple[Any, HybridState, LaneLoop]:
        """The robots with these numbers."""
        none = 0.0 * values[0]
        system, state = self._make(*values)
        state = jax.tree.map(lambda leaf, like: as_lanes(leaf, like, none), state, self._like)
        return system, state, LaneLoop(system, state, self._method, REAL, ())

    def _begun(self, *values: Array) -> Lane:
        _, state, loop = self._remade(values)
        return begin(loop, jax.tree.leaves(state.x), jax.tree.leaves(state.m), self._clock)

    def start(self, *values: Array) -> tuple[Array, ...]:
        """Leaves of lanes at their start, then what is seen of them."""
        system, _, loop = self._remade(values)
        lane = self._begun(*values)
        seen = self._look(_moment(system, loop, lane, 0.0 * values[0]))
        return (*jax.tree.leaves(lane), *(loop.full(v, values[0]) for v in seen))

    def step(self, *given: Array) -> tuple[Array, ...]:
        """From values, leaves and age (in steps) to leaves, what is seen, and terms."""
        values, leaves = given[: len(self.values)], given[len(self.values) : -1]
        age = given[-1]
        system, _, loop = self._remade(values)
        lane: Lane = jax.tree.unflatten(self._tree, leaves)
        begun = age.astype(REAL) * self._clock.step
        moved = advance(loop, lane, self._clock, I(0), I(self.count), age)
        whole = (age + I(self.count)).astype(REAL) * self._clock.step
        ended = moved.outcome != I(0)
        time = jnp.where(ended, moved.ended, whole)
        passage = Passage(
            system,
            _moment(system, loop, lane, begun),
            _moment(system, loop, moved, time),
            _motor_work(loop, moved) - _motor_work(loop, lane),
            time - begun,
            jnp.where(ended, 1.0, 0.0 * time),
        )
        numbers = [*self._look(passage.after), *self._judge(passage)]
        return (*jax.tree.leaves(moved), *(loop.full(v, time) for v in numbers))

    @property
    def leaf_count(self) -> int:
        return len(self._like_lane)

    @property
    def outcome_leaf(self) -> int:
        """Which of the leaves says how a lane ended."""
        numbered = jax.tree.unflatten(self._tree, list(range(self.leaf_count)))
        return numbered.outcome

    def state(self, leaves: Sequence[np.ndarray], lane: int) -> HybridState:
        """Of one of the lanes with these leaves."""
        found: Lane = jax.tree.unflatten(self._tree, [leaf[..., lane] for leaf in leaves])
        trees = (jax.tree.structure(part) for part in self._like)
        return HybridState(*map(jax.tree.unflatten, trees, (found.x, found.m)))

    def compiled(
        self, *, threads: int | None = None, path: str = "auto"
    ) -> tuple[Callable[..., list[np.ndarray]], Callable[..., list[np.ndarray]]]:
        """`start` and `step` as functions of NumPy arrays: by C++ kernels, or by XLA without.

        `path` is "cpp", "xla" or "auto". Raises NoCompiler or CannotFuse where "cpp" cannot be had.
        A start is little work, so it has one thread: another would be waited for.
        """
        wide = [np.zeros(1) for _ in self.values]
        lane = [np.zeros(leaf.shape, leaf.dtype) for leaf in self._like_lane]
        pairs = (self.start, wide), (self.step, [*wide, *lane, np.zeros(1, np.int32)])
        if path != "xla":
            try:
                start, step = (_kernel(program, given) for program, given in pairs)
                self.path = "C++ kernel"
                return lambda *given: start(given, 1), lambda *given: step(given, threads)
            except (CannotFuse, NoCompiler):
                if path == "cpp":
                    raise
        self.path = "XLA"
        return tuple(_by_xla(jax.jit(program)) for program, _ in pairs)  # type: ignore[return-value]


def _kernel(program: Callable[..., tuple], given: Sequence[np.ndarray]) -> Any:
    return build_cpp(
        program,
        [True] * len(given),
        [array.dtype for array in given],
        real=REAL,
        rows=[array.shape[0] if array.ndim == 2 else None for array in given],
    )


def _by_xla(program: Callable[..., tuple]) -> Callable[..., list[np.ndarray]]:
    return lambda *given: [np.array(value) for value in program(*given)]


def _moment(system: Any, loop: LaneLoop, lane: Lane, t: Array) -> Moment:
    x, m = loop.struct_x(lane.x), loop.struct_m(lane.m)
    return Moment(t, x, m, system.outputs(t, x, m))


def _motor_work(loop: LaneLoop, lane: Lane) -> Array:
    """What motors have done: through the ports that `travel` names, or through all that work."""
    total = jnp.zeros_like(lane.through)
    for names, values, losses in (
        (loop.ports, lane.q, loop.loss_ports),
        (loop.works, lane.jump_work, loop.loss_works),
    ):
        for place, (name, value) in enumerate(zip(names, values, strict=False)):
            paid = place not in losses if loop.travel is None else name in loop.travel.motor_ports
            total = total + value if paid else total
    return total
