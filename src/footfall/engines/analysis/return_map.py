"""From one event to the next: the return map, with what flows on the way, and its derivatives.

A step starts at t = 0 just after an event. Its unknowns are the continuous state and every
floating-point number of the discrete one: a controller's memory is part of a gait. Counts and flags
are not: they are what `restarted` makes of the step before. The event that has just been, and those
it restarts, count again once their guards have been positive, as they do inside a run.

For a robot with a clock of its own (a control computer) this map is that of a robot whose clock is
*synchronised to the event*: it ticks at the footfall, again and again. A real clock runs free, so
that a footfall comes at any phase of it, and no step is exactly like another unless the step takes
a whole number of periods. How far the two are apart is a matter of (time between ticks) / (time of
a step); tests/laws/test_closed_loop_gait.py measures it. An offset of a program moves its phase
within the step.

Such a map is smooth in pieces: the number of ticks in a step is whole, and the derivative is that
of the piece it is taken on. It does not see that a landing moved by a tick brings one calculation
more; multipliers are off by what one calculation does in a tick's time.
"""

import dataclasses
import functools
import math
import operator
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from footfall.engines.events import engine
from footfall.engines.events.event_time import drift
from footfall.engines.events.loop_state import Limits, Settings
from footfall.engines.events.packed_system import Loop
from footfall.engines.jax_setup import prepare_jax
from footfall.engines.plan import Plan
from footfall.engines.simulate import as_arrays, as_floats, limits_of, settings_of, step_of
from footfall.hybrid.fields import nearest
from footfall.hybrid.flatten import Layout, named_leaves
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.system import AbstractHybridSystem, HybridState

#: Other events that may happen on the way from one section to the next, besides the ticks of
#: clocks.
EVENTS_BETWEEN = 1024

#: Why a derivative is not a number.
NO_DERIVATIVE = (
    "two events happen in the same instant, and what follows depends on which of them comes first"
)

#: Share of its mean rates below which a robot is at rest.
AT_REST = 1e-3

#: More events than any stride has.
MANY = 1 << 30

#: A step as short as this [s] is none: the event came again where it had just been.
NO_STEP = 1e-8

#: s; how far before a tick a run stops that is to end just before it. An event that comes within
#: it is at zero where the next run begins, and happens there.
SHORT = 1e-9

#: s; a guard that is no further than this from zero at the start of half a stride has just been
#: there.
JUST_BEEN = 1e-9


class NoCycle(RuntimeError):
    """No periodic gait was found from this guess."""


class Section(NamedTuple):
    """State just after an event, and how it was reached."""

    x: Any
    m: Any
    t: jax.Array
    outcome: jax.Array  #: Outcome.reached_event when the section was reached


class Stride(NamedTuple):
    """One application of the map: where it leads, and what flowed on the way."""

    numbers: Any  #: the unknowns after it, packed
    t: Any  #: s
    distance: Any  #: m, gone along the ground; 0 for a robot that goes nowhere
    energy: Any  #: J, stored at its end
    work: Any  #: J, through each port
    jump_work: Any  #: J, done by jumps
    rooms: Any  #: least room of each guard
    begin_energy: Any  #: J, stored at its start
    path: Any  #: how far each of the numbers went, to and fro (0 for discrete ones)


class Books(NamedTuple):
    """What a ledger of a stride needs besides its work, without derivatives."""

    stored_start: Any  #: J, in each store
    stored_end: Any
    throughput: Any  #: J


class Mapped(NamedTuple):
    """A stride with its derivatives, and what has none."""

    stride: Stride
    slopes: Stride  #: each with a first axis: the unknowns, then the directions asked for
    after: Any  #: counts and flags after it
    steps: Any  #: footfalls in it, of each counter
    outcome: Any
    books: Books
    events: Any  #: of the section's name, in it


def event_index(system: AbstractHybridSystem, state: HybridState, name: str, leg: int = 0) -> int:
    """Flat index of a guard by its event's name; of like legs, which one."""
    names = [e.name for e in system.events]
    if name not in names:
        raise ValueError(
            f'"{name}" is not an event of {type(system).__name__}. Known:'
            f" {', '.join(names)}.{nearest(name, names)}"
        )
    guards = jax.eval_shape(lambda: system.guards(jnp.zeros(()), *state))
    sizes = [int(np.prod(g.shape)) for g in guards]
    k = names.index(name)
    if not 0 <= leg < sizes[k]:
        raise ValueError(f'event "{name}" has no leg {leg}; it has {sizes[k]}.')
    return sum(sizes[:k]) + leg


def _go(
    system: Any, x: Any, m: Any, limits: Limits, step: Any, settings: Settings, start: str
) -> tuple[Any, Loop]:
    """The loop's state where it ends.

    `start`: what has just been, "nothing", "the event" that it ends with, its "mirror" image, or
    what comes: a "tick" of the clock, just before which it ends too.
    """
    loop = Loop(system, x, m, settings)
    been = None
    if start not in ("nothing", "tick"):
        been = jnp.zeros(len(loop.guard_outcome), bool).at[limits.stop_event].set(True)
        been = been & (start == "the event")
    carry = engine.start(system, x, m, limits, settings, step, been)
    # The start-up of a gait is over.
    carry = carry._replace(begun=jnp.array(start != "nothing"))
    if start == "mirror":
        _, rates = loop.guard_rates(carry.t, carry.y, carry.m)
        been = jnp.abs(carry.guards) <= JUST_BEEN * jnp.abs(rates)
        carry = carry._replace(armed=carry.armed & ~been)
    carry, _ = engine.advance(system, carry, x, limits, settings)
    if start == "tick":
        # The run has stopped short of the tick, which belongs to the next one.
        there = drift(loop, carry.t, carry.y, carry.m, jnp.asarray(SHORT))
        carry = carry._replace(t=carry.t + SHORT, y=there)
        carry = carry._replace(stores=loop.stores(carry.t, there, carry.m))
    return carry, loop


@functools.partial(jax.jit, static_argnames="settings")
def _to_section(
    system: Any, x: Any, m: Any, limits: Limits, fixed_step: Any, settings: Settings
) -> Section:
    carry, loop = _go(system, x, m, limits, fixed_step, settings, "nothing")
    return Section(loop.layout.unpack(carry.y)[0], carry.m, carry.t, carry.outcome)


def to_section(
    system: AbstractHybridSystem,
    state: HybridState,
    event: str,
    plan: Plan | None = None,
    count: int = 1,
    leg: int = 0,
) -> Section:
    """Flow from `state` until just after the `count`-th `event` (of a leg).

    Differentiable in forward mode, through every event.

    `outcome` is `reached_end` when it has not come within the plan's duration, `running` when more
    than EVENTS_BETWEEN events that are no clock's came before.
    """
    prepare_jax()
    plan = plan or Plan()
    # As arrays, traced or not, so that a Python number here and an array there share one compiled
    # program.
    system, x = (jax.tree.map(lambda v: jnp.asarray(v, float), tree) for tree in (system, state.x))
    state = HybridState(x, jax.tree.map(jnp.asarray, state.m))
    limits = limits_of(plan, event_index(system, state, event, leg), count)
    step = step_of(plan)
    return _to_section(
        system, *state, limits, step, settings=settings_of(plan, 0, _room(system, plan, count))
    )


def _room(system: AbstractHybridSystem, plan: Plan, count: int = 1) -> int:
    """Events to make room for: every tick that clocks have time for, and others.

    A power of two, so that few sizes are compiled.
    """
    ticks = sum(plan.duration / event.period for event in system.events if event.period is not None)
    return 2 ** math.ceil(math.log2(max(EVENTS_BETWEEN, count + 1) + ticks))


def numbers_of(state: Any) -> tuple[Any, Any]:
    """What a derivative can be taken of, and the counts and flags that are left."""
    return eqx.partition(state, is_real)


def is_real(leaf: Any) -> bool:
    """Whether a leaf is a floating-point number, or several."""
    return jnp.issubdtype(jnp.result_type(leaf), jnp.floating)


def names_of(numbers: HybridState) -> list[str]:
    """Of each number, as Layout packs them: "torso_angle", "programs.law.integral"."""
    leaves = [leaf for part in numbers for leaf in jax.tree_util.tree_flatten_with_path(part)[0]]
    return [
        jax.tree_util.keystr(path, simple=True, separator=".")
        for path, value in leaves
        for _ in range(np.size(value))
    ]


class Labels(NamedTuple):
    """Names of the ports, of the work of jumps, and of the guards with their events."""

    ports: list[str]
    jump_ports: list[str]
    events: list[tuple[Any, str]]


#: Of robots seen so far, by their structure: to look takes longer than a step.
_KNOWN_LABELS: dict[Any, Labels] = {}


def _leaf_names(struct: Any) -> list[str]:
    """Of each number of a struct, as Layout packs it."""
    return [
        jax.tree_util.keystr(path, simple=True, separator=".")
        for path, value in jax.tree_util.tree_flatten_with_path(struct)[0]
        for _ in range(max(1, int(np.size(value))))
    ]


def one_stride(
    system: Any,
    flat: Any,
    like: Any,
    counts: Any,
    limits: Limits,
    step: Any,
    settings: Settings,
    begins: str,
) -> tuple[Stride, Any]:
    """One application of the map, and counts, footfalls, outcome and books beside it."""
    layout, zero = Layout.of(like), jnp.zeros(())
    x, m = eqx.combine(layout.unpack(flat), counts)
    carry, loop = _go(system, x, m, limits, step, settings, begins)
    x_end, work = loop.layout.unpack(carry.y)
    m_end = carry.m
    travel = system.travel()
    distance, steps = zero, ()
    if travel is not None:
        distance = _output(system, carry.t, x_end, m_end, travel.distance) - _output(
            system, zero, x, m, travel.distance
        )
        steps = tuple(
            operator.attrgetter(name)(m_end) - operator.attrgetter(name)(m)
            for name in travel.step_counters
        )
    if begins == "mirror":
        x_end, m_end = system.mirrored(x_end, m_end)
    numbers, after = numbers_of(HybridState(x_end, system.restarted(m_end)))
    begun = loop.stores(zero, loop.layout.pack((x, work)), m)
    books = Books(*jax.lax.stop_gradient((begun, carry.stores, carry.throughput)))
    stride = Stride(
        numbers=layout.pack(numbers),
        t=carry.t,
        distance=distance,
        energy=jnp.sum(carry.stores),
        work=Layout.of(work).pack(work),
        jump_work=carry.jump_work,
        rooms=carry.least_room,
        begin_energy=jnp.sum(begun),
        path=jnp.zeros_like(flat).at[: loop.port_start].set(carry.path[: loop.port_start]),
    )
    events = limits.stop_count - carry.stop_left
    return stride, (after, steps, carry.outcome, books, events)


def _output(system: Any, t: Any, x: Any, m: Any, name: str) -> Any:
    found = {n: value for n, value, _ in named_leaves(system.outputs(t, x, m))}
    return jnp.sum(jnp.asarray(found[name]))


@functools.partial(jax.jit, static_argnames=("settings", "begins"))
def _mapped(
    system: Any,
    flat: Any,
    like: Any,
    counts: Any,
    along: Any,
    limits: Limits,
    step: Any,
    settings: Settings,
    begins: str,
) -> Mapped:
    """`along`: directions of numbers of the system, with a first axis; None for those that stay."""
    reals, whole = moving(system, along)
    size, more = flat.shape[0], 0 if along is None else jax.tree.leaves(along)[0].shape[0]

    def go(flat: Any, reals: Any) -> Any:
        return one_stride(
            eqx.combine(reals, whole), flat, like, counts, limits, step, settings, begins
        )

    ways = jnp.concatenate([jnp.eye(size), jnp.zeros((more, size))])
    if along is None:
        slope, turned = _by_numbers(go, flat, reals), (ways,)
    else:
        slope, turned = _by_both(go, flat, reals), (ways, _with_zeros(along, size))
    stride, slopes, rest = jax.vmap(slope, out_axes=(None, 0, None))(*turned)
    return Mapped(stride, slopes, *rest)


def _by_numbers(go: Any, flat: Any, reals: Any) -> Any:
    return lambda way: jax.jvp(lambda v: go(v, reals), (flat,), (way,), has_aux=True)


def _by_both(go: Any, flat: Any, reals: Any) -> Any:
    return lambda way, moved: jax.jvp(go, (flat, reals), (way, moved), has_aux=True)


def moving(system: Any, along: Any) -> tuple[Any, Any]:
    """The numbers of a system that move, and the rest."""
    if along is None:
        return eqx.partition(system, lambda _: False)
    return eqx.partition(
        system, jax.tree.map(lambda way: way is not None, along, is_leaf=lambda way: way is None)
    )


def moved_only(along: Any) -> Any:
    """Directions, with None for numbers that none of them moves: less to compile."""
    return jax.tree.map(lambda way: way if np.any(np.asarray(way)) else None, along)


def _with_zeros(along: Any, size: int) -> Any:
    return jax.tree.map(
        lambda way: jnp.concatenate([jnp.zeros((size, *way.shape[1:])), way]), along
    )


@functools.partial(jax.jit, static_argnames=("settings", "begins"))
def _bent(
    system: Any,
    flat: Any,
    like: Any,
    counts: Any,
    right: Any,
    turns: tuple[Any, Any],
    limits: Limits,
    step: Any,
    settings: Settings,
    begins: str,
) -> Any:
    """d/de of J(v + e dv, system + e dp) r, for each r of `right` and each (dv, dp) of `turns`."""
    reals, whole = moving(system, turns[1])

    def image(flat: Any, reals: Any, way: Any) -> Any:
        def go(v: Any) -> Any:
            return one_stride(
                eqx.combine(reals, whole), v, like, counts, limits, step, settings, begins
            )[0].numbers

        return jax.jvp(go, (flat,), (way,))[1]

    def turned(dv: Any, dp: Any) -> Any:
        return jax.vmap(
            lambda way: jax.jvp(lambda v, p: image(v, p, way), (flat, reals), (dv, dp))[1]
        )(right)

    return jax.vmap(turned)(*turns)


def go_until(
    system: Any, x: Any, m: Any, t: Any, limits: Limits, step: Any, settings: Settings, begins: str
) -> tuple[Any, Any, Any]:
    """Time, x and m at a time of one stride."""
    carry, loop = _go(system, x, m, limits._replace(t_end=t), step, settings, begins)
    return carry.t, loop.layout.unpack(carry.y)[0], carry.m


@functools.partial(jax.jit, static_argnames=("settings", "begins"))
def _path(
    system: Any,
    flat: Any,
    like: Any,
    counts: Any,
    times: Any,
    limits: Limits,
    step: Any,
    settings: Settings,
    begins: str,
) -> Any:
    """State and outputs at each of these times."""
    x, m = eqx.combine(Layout.of(like).unpack(flat), counts)

    def until(t: Any) -> Any:
        time, here, there = go_until(system, x, m, t, limits, step, settings, begins)
        return here, there, system.outputs(time, here, there)

    return jax.lax.map(until, times)


@dataclasses.dataclass(frozen=True)
class ReturnMap:
    """The map of one robot from event to event, as a function of a vector of numbers.

    `along` holds directions of the system's real numbers in which derivatives are wanted as well.
    """

    system: Any
    like: Any  #: the unknowns as structs
    counts: Any  #: the counts and flags of the guess
    limits: Limits
    step: Any
    settings: Settings
    begins: str  #: what a stride begins with: "the event", its "mirror" image, a "tick"
    event: str
    plan: Plan

    @classmethod
    def of(
        cls,
        system: AbstractHybridSystem,
        state: HybridState,
        event: str,
        plan: Plan,
        *,
        leg: int = 0,
        count: int = 1,
        mirror: bool = False,
    ) -> "ReturnMap":
        """Raises where there is no such event, and where no step can repeat another."""
        system, state = as_floats(system), HybridState(as_floats(state.x), as_arrays(state.m))
        like, counts = numbers_of(HybridState(state.x, as_arrays(system.restarted(state.m))))
        limits = limits_of(plan, event_index(system, state, event, leg), count)
        settings = settings_of(plan, 0, _room(system, plan, count))._replace(fine_rooms=True)
        begins = "mirror" if mirror else "the event"
        return cls(system, like, counts, limits, step_of(plan), settings, begins, event, plan)

    def by_clock(self, rounds: int) -> "ReturnMap":
        """From tick to tick of its clock, which runs free: so many of its periods at a time."""
        duration = rounds * float(self.system.clock_period)
        plan = dataclasses.replace(self.plan, duration=duration)
        limits = self.limits._replace(t_end=duration - SHORT, stop_count=np.int32(MANY))
        settings = settings_of(plan, 0, _room(self.system, plan))._replace(fine_rooms=True)
        return dataclasses.replace(self, limits=limits, settings=settings, begins="tick", plan=plan)

    @property
    def start(self) -> np.ndarray:
        """The numbers of the guess."""
        return np.array(Layout.of(self.like).pack(self.like))

    @property
    def names(self) -> list[str]:
        return names_of(self.like)

    @functools.cached_property
    def labels(self) -> "Labels":
        """Names of what a stride carries. They follow from the structure of the robot alone."""
        leaves, tree = jax.tree.flatten((self.system, self.like, self.counts))
        structure = (tree, tuple(np.shape(leaf) for leaf in leaves))
        if structure not in _KNOWN_LABELS:
            _KNOWN_LABELS[structure] = self._labels()
        return _KNOWN_LABELS[structure]

    def _labels(self) -> "Labels":
        x, m = self.state(self.start, self.counts)
        loop = Loop(self.system, x, m, self.settings)
        _, work = loop.layout.unpack(np.zeros(loop.layout.size))
        jump_work = loop.work_layout.unpack(np.zeros(loop.work_layout.size))
        events = [
            (event, f"{event.name}.{leg}" if shape else event.name)
            for event, shape in zip(self.system.events, loop.guard_shapes, strict=True)
            for leg in range(int(np.prod(shape)))
        ]
        return Labels(_leaf_names(work), _leaf_names(jump_work), events)

    @property
    def clocked(self) -> bool:
        """Whether it has a clock of its own."""
        return any(event.period is not None for event in self.system.events)

    def state(self, flat: np.ndarray, counts: Any) -> HybridState:
        """The state that these numbers and counts are."""
        return jax.tree.map(
            np.asarray, eqx.combine(Layout.of(self.like).unpack(jnp.asarray(flat)), counts)
        )

    def at(
        self, flat: np.ndarray, counts: Any, along: Any = None, system: Any = None, times: int = 1
    ) -> Mapped:
        """One application of the map; `times` goes on for as many in one run.

        Raises NoCycle where the event does not come, and says what came instead.
        """
        limits = self.limits
        if times > 1 and self.begins == "tick":
            limits = limits._replace(t_end=times * (limits.t_end + SHORT) - SHORT)
        elif times > 1:
            limits = limits._replace(
                stop_count=times * limits.stop_count, t_end=times * limits.t_end
            )
        mapped = _mapped(
            self.system if system is None else system,
            np.asarray(flat, float),
            self.like,
            counts,
            along,
            limits,
            self.step,
            settings=self.settings,
            begins=self.begins,
        )
        mapped = jax.tree.map(np.asarray, mapped)
        self._require(mapped)
        return mapped

    def bent(
        self, flat: np.ndarray, counts: Any, right: np.ndarray, turns: Any, system: Any = None
    ) -> np.ndarray:
        """How J r changes, for each row r of `right`, along each (dv, dp) of `turns`.

        A second derivative of the map: axes are turn, row, number.
        """
        found = _bent(
            self.system if system is None else system,
            np.asarray(flat, float),
            self.like,
            counts,
            np.asarray(right, float),
            turns,
            self.limits,
            self.step,
            settings=self.settings,
            begins=self.begins,
        )
        return np.asarray(found)

    def path(self, flat: np.ndarray, counts: Any, times: np.ndarray) -> tuple[Any, Any, Any]:
        """x, m and outputs at these times of one stride, with a first axis over them."""
        found = _path(
            self.system,
            np.asarray(flat, float),
            self.like,
            counts,
            np.asarray(times, float),
            self.limits,
            self.step,
            settings=self.settings,
            begins=self.begins,
        )
        return jax.tree.map(np.asarray, found)

    def _rest(self, mapped: Mapped) -> str:
        """In words, whether it has come to rest: it moves less than on the way by AT_REST."""
        x, m = self.state(mapped.stride.numbers, mapped.after)
        rates = numbers_of(HybridState(self.system.flow(mapped.stride.t, x, m).x, ()))[0]
        sizes = np.abs(np.concatenate([np.ravel(rate) for rate in jax.tree.leaves(rates)]))
        usual = mapped.stride.path[: len(sizes)] / float(mapped.stride.t)
        return ": it has come to rest" if np.all(sizes <= AT_REST * np.max(usual)) else ""

    def _require(self, mapped: Mapped) -> None:
        ended, t, event = Outcome(int(mapped.outcome)), float(mapped.stride.t), self.event
        if ended is Outcome.running:
            raise NoCycle(
                f'more than {EVENTS_BETWEEN} events besides ticks before the next "{event}".'
            )
        if ended is Outcome.reached_end and self.begins != "tick":
            raise NoCycle(
                f'no "{event}" within {self.plan.duration:g} s, the longest a step may take (the'
                f" plan's duration){self._rest(mapped)}."
            )
        if ended not in (Outcome.reached_event, Outcome.reached_end):
            raise NoCycle(
                f'the run ended before the next "{event}", {t:.3g} s after the last: {ended.name},'
                f" {ended.meaning}."
            )
        if np.any(np.isnan(mapped.slopes.numbers)):
            raise NoCycle(
                f"the return map has no derivative here: {NO_DERIVATIVE}. Start from a state that"
                " parts them."
            )
        if t < NO_STEP:
            raise NoCycle(
                f'"{event}" comes again {t:.2g} s after itself, which is no step: its guard'
                " should have room after its jump, or lose its meaning until the next one (a flag"
                " in the discrete state)."
            )
