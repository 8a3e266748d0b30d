"""A hybrid system as the step engine sees it.

Lists of arrays over lanes, one field, one list of guards. Built while tracing.
"""

import copy
import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from footfall.engines.kernels.traced_program import kernel_function
from footfall.engines.lanes.lane_state import Moving
from footfall.engines.lanes.step_methods import METHODS, Roles, Slope
from footfall.hybrid.flatten import named_leaves, work_of_jumps
from footfall.hybrid.system import AbstractHybridSystem, HybridState, Jump

I = np.int32


class LaneLoop:
    """The loop's pieces for one system: what its guards, clocks, states and integrals are.

    Built while tracing.
    """

    def __init__(
        self,
        system: AbstractHybridSystem,
        like: HybridState,
        method: str,
        real: Any,
        track: tuple[str, ...] = (),
    ):
        self.system, self.method, self.real, self.track = (
            system,
            METHODS.get(method, METHODS["rk4"]),
            np.dtype(real).type,
            track,
        )
        self.x_tree, self.m_tree = jax.tree.structure(like.x), jax.tree.structure(like.m)
        events = system.events
        self.clocks = [k for k, e in enumerate(events) if e.period is not None]
        shapes = jax.eval_shape(lambda x, m: system.guards(self.zero, x, m), *like)
        #: (event, leg) of each guard that is searched; a guard over like legs has one entry for
        #: each
        self.searched: list[tuple[int, int | None]] = []
        for k, shape in enumerate(shapes):
            if events[k].period is None:
                legs = [None] if len(shape.shape) <= 1 else range(shape.shape[0])
                self.searched += [(k, leg) for leg in legs]
        names = [events[k].name for k, _ in self.searched]
        self.disarms = [
            [
                a == b
                or (names[j] in events[a[0]].restarts and (a[1] == b[1] or None in (a[1], b[1])))
                for j, b in enumerate(self.searched)
            ]
            for a in self.searched
        ]
        #: a guard's least room is worth keeping unless its event is the gait itself, or every step
        #: of the gait restarts it
        restarted = {name for event in events for name in event.restarts}
        self.margins = [
            j
            for j, (k, _) in enumerate(self.searched)
            if not events[k].restarts and events[k].name not in restarted
        ]
        self.travel = system.travel()
        self.bounds = tuple(system.bounds())
        #: what their windows are counted by; None: all of the run
        self.counters = list(dict.fromkeys(bound.counter for bound in self.bounds))
        power, self.held = self._flow_facts(like)
        works = list(named_leaves(self._work_of_a_jump(like)))
        self.ports, self.works = (
            [name for name, _, _ in named_leaves(power)],
            [name for name, _, _ in works],
        )
        #: places of the ports that only take, and of the works of jumps that do
        self.loss_ports = [
            i for i, (_, _, info) in enumerate(named_leaves(power)) if info.kind == "loss"
        ]
        self.loss_works = [i for i, (_, _, info) in enumerate(works) if info.kind == "loss"]
        self.roles = Roles(rates_of_states(like.x))

    @property
    def zero(self) -> Any:
        return self.real(0.0)

    def _flow_facts(self, like: HybridState) -> tuple[Any, list[bool]]:
        """Its ports, as shapes, and which states it leaves alone: their rate is plain 0.0."""
        seen: list[bool] = []

        def look(x: Any, m: Any) -> Any:
            rates = self.system.flow(self.zero, x, m)
            seen.extend(isinstance(r, float) and r == 0.0 for r in jax.tree.leaves(rates.x))
            return rates.power

        return jax.eval_shape(look, *like), seen

    def _work_of_a_jump(self, like: HybridState) -> Any:
        """What jumps report, as a struct of shapes; without a jump an empty one."""
        first = dict(reversed(self.searched))

        def jump(x: Any, m: Any, k: int) -> Jump:
            legs = () if first.get(k) is None else (first[k],)
            return self.system.jump(self.zero, x, m, k, *legs)

        return jax.eval_shape(
            lambda x, m: work_of_jumps(self.system.events, lambda k: jump(x, m, k)), *like
        )

    def struct_x(self, leaves: list[Any]) -> Any:
        return jax.tree.unflatten(self.x_tree, leaves)

    def struct_m(self, leaves: list[Any]) -> Any:
        return jax.tree.unflatten(self.m_tree, leaves)

    def full(self, value: Any, like: Array) -> Array:
        """A number as lanes of the engine's precision."""
        return jnp.broadcast_to(
            jnp.asarray(value, self.real), jnp.broadcast_shapes(jnp.shape(value), like.shape[-1:])
        )

    def field(self, m: list[Array]) -> Callable[[Any, list[Array]], Slope]:
        held_m = self.struct_m(m)

        def slope(t: Any, leaves: list[Array]) -> Slope:
            x = self.struct_x(leaves)
            rates = self.system.flow(t, x, held_m)
            x_rates = [
                None if held else r
                for r, held in zip(jax.tree.leaves(rates.x), self.held, strict=True)
            ]
            q_rates = list(jax.tree.leaves(rates.power))
            if self.track:
                for value in self.tracked(t, x, held_m):
                    q_rates += [value, value * value]
            like = leaves[0]
            x_rates = [r if r is None else self.full(r, like) for r in x_rates]
            return Slope(x_rates, [self.full(r, like) for r in q_rates])

        return slope

    @functools.cached_property
    def _flow_once(self) -> Callable[..., Slope]:
        def flow(system: Any, m: Any, t: Any, x: Any) -> Slope:
            return self.with_system(system).field(m)(t, x)

        return kernel_function(flow)

    def with_system(self, system: Any) -> "LaneLoop":
        """The same loop of a system of this kind with other numbers."""
        other = copy.copy(self)
        other.system = system
        return other

    def field_once(self, m: list[Array]) -> Callable[[Any, list[Array]], Slope]:
        """The same field, which a kernel has in one place, however often it is asked."""
        return lambda t, x: self._flow_once(self.system, m, self.full(t, x[0]), x)

    def tracked(self, t: Any, x: Any, m: Any) -> list[Any]:
        values = {name: value for name, value, _ in named_leaves(self.system.outputs(t, x, m))}
        return [values[name] for name in self.track]

    def output(self, name: str, t: Any, x: list[Array], m: list[Array]) -> Array:
        leaves = named_leaves(self.system.outputs(t, self.struct_x(x), self.struct_m(m)))
        return next(value for n, value, _ in leaves if n == name)

    def stores(self, t: Any, x: list[Array], m: list[Array]) -> list[Array]:
        """Energy in each store."""
        return [
            self.full(v, x[0])
            for v in jax.tree.leaves(self.system.stores(t, self.struct_x(x), self.struct_m(m)))
        ]

    @functools.cached_property
    def _rooms_once(self) -> Callable[..., list[Array]]:
        return kernel_function(lambda system, t, x, m: self.with_system(system).rooms(t, x, m))

    def rooms_once(self, t: Any, x: list[Array], m: list[Array]) -> list[Array]:
        """The same as `rooms`, which a kernel has in one place."""
        return self._rooms_once(self.system, self.full(t, x[0]), x, m)

    @functools.cached_property
    def _guards_once(self) -> Callable[..., tuple[list[Array], list[Array]]]:
        return kernel_function(
            lambda system, t, x, m, slope: self.with_system(system).guards(t, x, m, slope)
        )

    def guards_once(
        self, t: Any, x: list[Array], m: list[Array], slope: Slope
    ) -> tuple[list[Array], list[Array]]:
        """The same as `guards`, which a kernel has in one place."""
        return self._guards_once(self.system, self.full(t, x[0]), x, m, Slope(slope.x, []))

    def rooms(self, t: Any, x: list[Array], m: list[Array]) -> list[Array]:
        """Room of each searched guard."""
        every = self.system.guards(self.full(t, x[0]), self.struct_x(x), self.struct_m(m))
        return [
            self.full(every[k] if leg is None else every[k][leg], x[0]) for k, leg in self.searched
        ]

    def guards(
        self, t: Any, x: list[Array], m: list[Array], slope: Slope
    ) -> tuple[list[Array], list[Array]]:
        """Room of each searched guard, and its rate along the flow."""
        moving = [i for i, r in enumerate(slope.x) if r is not None]
        held_m, like = self.struct_m(m), x[0]

        def rooms(s: Any, values: list[Array]) -> list[Array]:
            leaves = list(x)
            for i, v in zip(moving, values, strict=True):
                leaves[i] = v
            every = self.system.guards(s, self.struct_x(leaves), held_m)
            return [
                self.full(every[k] if leg is None else every[k][leg], like)
                for k, leg in self.searched
            ]

        t = self.full(t, like)
        return jax.jvp(
            rooms, (t, [x[i] for i in moving]), (jnp.ones_like(t), [slope.x[i] for i in moving])
        )

    def jump(
        self, t: Any, x: list[Array], m: list[Array], k: int, leg: int | None
    ) -> tuple[list[Array], list[Array], list[Array]]:
        legs = () if leg is None else (leg,)
        jumped = self.system.jump(t, self.struct_x(x), self.struct_m(m), k, *legs)
        new_x = [
            jnp.broadcast_to(jnp.asarray(a, b.dtype), b.shape)
            for a, b in zip(jax.tree.leaves(jumped.x), x, strict=True)
        ]
        new_m = [
            jnp.broadcast_to(jnp.asarray(a, b.dtype), b.shape)
            for a, b in zip(jax.tree.leaves(jumped.m), m, strict=True)
        ]
        done = [0.0 for _ in self.works] if jumped.work is None else jax.tree.leaves(jumped.work)
        return new_x, new_m, [self.full(w, x[0]) for w in done]

    def slope_of(self, moving: Moving) -> Slope:
        rates = iter(moving.slope_x)
        return Slope([None if held else next(rates) for held in self.held], moving.slope_q)


def rates_of_states(x: Any) -> list[int | None]:
    """For each state the place of the one that is declared to be its rate, or None."""
    fields = [(name, info) for name, _, info in named_leaves(x)]
    rates = {
        f"{name.rpartition('.')[0]}.{info.rate_of}": i
        for i, (name, info) in enumerate(fields)
        if info.rate_of
    }
    return [rates.get(f"{name.rpartition('.')[0]}.{name.rpartition('.')[2]}") for name, _ in fields]


def packed_rates(x: Any) -> tuple[int | None, ...]:
    """The same for one vector of all states, in which each leg of a leaf has its place."""
    sizes = [int(np.prod(np.shape(leaf))) for leaf in jax.tree.leaves(x)]
    first = np.concatenate([[0], np.cumsum(sizes)])
    places = zip(rates_of_states(x), sizes, strict=True)
    return tuple(
        None if rate is None else int(first[rate]) + leg
        for rate, size in places
        for leg in range(size)
    )


def pick(flag: Array, new: Any, old: Any) -> Any:
    """`new` where the flag holds, else `old`, leaf by leaf."""
    return jax.tree.map(lambda a, b: b if a is b else jnp.where(flag, a, b), new, old)


def any_lane(flag: Array) -> Array:
    """Whether it holds in any lane of the block."""
    return jnp.any(flag)


def either(flags: list[Array]) -> Array:
    return functools.reduce(lambda a, b: a | b, flags)


def finite(arrays: list[Array]) -> Array:
    """Whether all values of a lane are finite.

    A sum of finite numbers that overflows counts as not: they are useless by then.
    """
    sums = [jnp.sum(a, axis=tuple(range(a.ndim - 1))) if a.ndim > 1 else a for a in arrays]
    return jnp.abs(functools.reduce(lambda a, b: a + b, sums)) < np.inf


def numbers(rooms: list[Array]) -> list[Array]:
    """Rooms to look at: 0 for a guard that the mode has not, which is +inf."""
    return [jnp.where(g == np.inf, g.dtype.type(0.0), g) for g in rooms]


def reals(arrays: list[Array]) -> list[Array]:
    return [a for a in arrays if jnp.issubdtype(a.dtype, jnp.floating)]


def armed_room(room: Array, counts: Array) -> Array:
    """Room as the lane carries it: positive exactly where the guard counts."""
    tiny = np.finfo(room.dtype).tiny
    return jnp.where(counts, jnp.maximum(room, room.dtype.type(tiny)), jnp.minimum(room, 0.0))
