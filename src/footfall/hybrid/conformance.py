"""What every hybrid system must satisfy.

Checked on the system itself, at states that a run came to.

Sign errors live in velocities that are not derivatives and in energies that do not add up. Both are
found here by differentiating along the flow: near the start, and at states that a short run comes
to, so that every mode is looked at. Jumps are looked at where they happen, and nowhere else. Who
makes that run is an engine (engines/analysis/check_system.py).
"""

import inspect
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from footfall.hybrid.fields import describe
from footfall.hybrid.flatten import Layout, named_leaves, work_of_jumps
from footfall.hybrid.system import AbstractHybridSystem, HybridState, Jump
from footfall.scene.labels import anchors
from footfall.scene.sketch import Arrow, Ground, Link

#: Derivatives are exact and sums are of a few dozen terms, so what is left is rounding of 64-bit
#: numbers, times some room.
ROUNDING = 1e-10


class Check(NamedTuple):
    """One claim, whether it holds (None: nobody could look), and what was seen."""

    claim: str
    ok: bool | None
    detail: str

    @property
    def mark(self) -> str:
        return {True: "ok  ", False: "FAIL", None: "--  "}[self.ok]


class Report(NamedTuple):
    """All claims about one system."""

    system: str
    checks: list[Check]

    @property
    def ok(self) -> bool:
        """Nothing is wrong; what could not be looked at is not wrong, but see `whole`."""
        return all(c.ok is not False for c in self.checks)

    @property
    def whole(self) -> bool:
        """Every claim could be looked at."""
        return all(c.ok is not None for c in self.checks)

    def __str__(self) -> str:
        return "\n".join(f"{c.mark}  {c.claim}: {c.detail}" for c in self.checks)


class ConformanceError(AssertionError):
    """A system breaks the contract; the message lists how."""


class Visited(NamedTuple):
    """A state that a run came to."""

    t: Any
    x: Any
    m: Any
    event: int | None  #: index of the event that happens here, next; None on the way
    leg: int
    after: str  #: the event before it, for people

    @property
    def where(self) -> str:
        return f"t = {float(self.t):.4g} s, {self.after}"


class AtOnce(NamedTuple):
    """An event that happened in the instant of another, for whose jump it had room before."""

    first: int
    second: int
    t: float
    had: float  #: room of the second before the first's jump
    has: float  #: after it


class Journey(NamedTuple):
    """What a run came to."""

    visited: list[Visited]
    t: float  #: s, how far it came
    ended: str  #: how, for people: "rocked_back"; "" where it was still going on
    armed: list[np.ndarray]  #: of each event, by leg: whether its guard counted from the start on
    at_once: Sequence[AtOnce] = ()

    def at(self, event: int) -> list[Visited]:
        """States just before this event."""
        return [v for v in self.visited if v.event == event]

    @property
    def length(self) -> str:
        return f"a run of {self.t:.3g} s" + (
            f', which ended as "{self.ended}"' if self.ended else ""
        )


def examine(
    system: AbstractHybridSystem,
    state: HybridState,
    look_around: Callable[[], Journey],
    samples: int,
    seed: int,
    spread: float,
) -> Report:
    """Check all claims.

    At `samples` states near the start and at those that `look_around`, a run, comes to.
    """
    state = HybridState(
        jax.tree.map(lambda v: jnp.asarray(v, float), state.x), jax.tree.map(jnp.asarray, state.m)
    )
    seen = _Seen(system, state, look_around, samples, seed, spread)
    checks: list[Check] = []
    for examine in (
        _structure,
        _finite,
        _look_around,
        _rates,
        _energy,
        _jumps,
        _arming,
        _at_once,
        _transforms,
        _sketch,
        _travel,
        _bounds,
    ):
        try:
            checks += examine(seen)
        except Exception as error:  # a contract check reports whatever a user's model raises
            frame = traceback.extract_tb(error.__traceback__)[-1]
            hint = (
                " (inside a model use jax.numpy, not numpy)"
                if "Tracer" in type(error).__name__
                else ""
            )
            told = (
                f"{type(error).__name__}: {error}{hint}, at"
                f" {Path(frame.filename).name}:{frame.lineno}"
            )
            checks.append(Check(f"could not check that {examine.__doc__}", False, told))
            break
    return Report(type(system).__name__, checks)


class _Seen:
    """A system, its start, states near it, and what a run came to."""

    def __init__(
        self,
        system: AbstractHybridSystem,
        state: HybridState,
        look_around: Callable[[], Journey],
        samples: int,
        seed: int,
        spread: float,
    ):
        self.system, self.state, self._look_around = system, state, look_around
        layout = Layout.of(state.x)
        flat = np.asarray(layout.pack(state.x))
        random = np.random.default_rng(seed)
        noise = (
            spread * np.maximum(np.abs(flat), 0.1) * random.standard_normal((samples, flat.size))
        )
        xs = [state.x, *(layout.unpack(jnp.asarray(flat + row)) for row in noise)]
        self.near = [Visited(jnp.zeros(()), x, state.m, None, 0, "near the start") for x in xs]

    @property
    def everywhere(self) -> list[Visited]:
        return [*self.near, *self.journey.visited]

    def look_around(self) -> None:
        self.journey = self._look_around()

    def jump(self, k: int) -> Callable[[Any, Any, Any, Any], Any]:
        """(t, x, m, leg) -> what event k does, and the stores before and after it. Compiled."""
        legged = bool(self.journey.armed[k].shape)

        def at_the_event(t: Any, x: Any, m: Any, leg: Any) -> Any:
            jump = self.system.jump(t, x, m, k, *((leg,) if legged else ()))
            return jump, self.system.stores(t, x, m), self.system.stores(t, jump.x, jump.m)

        return jax.jit(at_the_event)

    def blame(self, *methods: str) -> str:
        """Where this system's class says what is wrong: "; see my_robot.py:42 (flow)"; and where
        its parts do that have a method of that name.
        """
        parts = [
            getattr(self.system, n) for n, i in describe(self.system).items() if i.role == "part"
        ]
        owners = [(type(self.system), "")]
        owners += [(type(part), f"{type(part).__name__}.") for part in parts]
        places = []
        for owner, said in owners:
            for name in methods if not said else (n for n in methods if n in vars(owner)):
                code = getattr(inspect.unwrap(getattr(owner, name)), "__code__", None)
                if code is not None:
                    places.append(
                        f"{_short(code.co_filename)}:{code.co_firstlineno} ({said}{name})"
                    )
        return f"; see {', '.join(places)}" if places else ""


def _short(file: str) -> str:
    """As a person would write it from here."""
    path = Path(file)
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else file


def _look_around(seen: _Seen) -> Iterator[Check]:
    """a short run gets somewhere"""
    seen.look_around()
    yield from ()


def _structure(seen: _Seen) -> Iterator[Check]:
    """structs keep their shape"""
    system, t, (x, m) = seen.system, jnp.zeros(()), seen.state
    flow = system.flow(t, x, m)
    same = jax.tree.structure(flow.x) == jax.tree.structure(x)
    yield Check(
        "flow returns a rate for every state", same, "same struct" if same else f"{flow.x} for {x}"
    )
    names = [e.name for e in system.events]
    guards = system.guards(t, x, m)
    yield Check(
        "every guard has an event",
        len(guards) == len(names),
        f"guards: {len(guards)}; events: {', '.join(names)}",
    )
    yield Check("event names are different", len(set(names)) == len(names), ", ".join(names))
    unknown = [r for e in system.events for r in e.restarts if r not in names]
    yield Check("restarts name events", not unknown, ", ".join(unknown) or "all known")
    signals = [
        name for struct in (x, m, system.outputs(t, x, m)) for name, _, _ in named_leaves(struct)
    ]
    twice = sorted({name for name in signals if signals.count(name) > 1})
    # Columns of a record go by these names: of two that share one, one would be lost.
    yield Check(
        "states, discrete states and outputs have names of their own",
        not twice,
        ", ".join(twice) or "all different",
    )
    for k, event in enumerate(system.events):
        if event.outcome is None:
            jump = system.jump(t, x, m, k, *_leg(guards[k]))
            fits = jax.tree.structure((jump.x, jump.m)) == jax.tree.structure((x, m))
            yield Check(
                f'jump "{event.name}" keeps the structs of x and m',
                fits,
                "same structs" if fits else f"{jump.x}, {jump.m}",
            )


def _leg(guard: Any, leg: int = 0) -> tuple[Any, ...]:
    return () if jnp.ndim(guard) == 0 else (jnp.int32(leg),)


def _worst(errors: Any) -> float:
    """The largest, where what is not a number is worse than anything."""
    return float(np.max(np.nan_to_num(errors, nan=np.inf)))


def _finite(seen: _Seen) -> Iterator[Check]:
    """outputs are finite at the start"""
    outputs = seen.system.outputs(jnp.zeros(()), *seen.state)
    bad = [
        name
        for name, value, _ in named_leaves(outputs)
        if not np.all(np.isfinite(np.asarray(value)))
    ]
    yield Check(
        "outputs are finite at the start",
        not bad,
        ", ".join(bad) or f"{len(list(named_leaves(outputs)))} signals",
    )


def _rates(seen: _Seen) -> Iterator[Check]:
    """velocities are derivatives of positions"""
    system, worst, where, count = seen.system, -1.0, "", 0

    @jax.jit
    def along_the_flow(t: Any, x: Any, m: Any) -> Any:
        dx = system.flow(t, x, m).x
        return dx, jax.jvp(lambda t, x: system.outputs(t, x, m), (t, x), (jnp.ones(()), dx))

    for at in seen.everywhere:
        dx, (outputs, rates) = along_the_flow(at.t, at.x, at.m)
        pairs = list(_rate_pairs(at.x, dx, "")) + list(_rate_pairs(outputs, rates, ""))
        count = len(pairs)
        for name, value, derivative in pairs:
            error = _worst(np.abs(value - derivative) / np.maximum(1.0, np.abs(derivative)))
            if error > worst:
                worst, where = error, f"{name}, {at.where}"
    holds = worst <= ROUNDING
    detail = f"{count} signals at {len(seen.everywhere)} states, worst {worst:.1e} ({where})"
    detail = (
        detail + ("" if holds else seen.blame("flow", "outputs"))
        if count
        else "no signal declares rate_of"
    )
    yield Check("velocities are derivatives of positions", holds, detail)


def _rate_pairs(
    struct: Any, rates: Any, prefix: str
) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """(name, value, derivative it must equal) of every field that declares rate_of."""
    infos = describe(struct)
    for field in struct.__dataclass_fields__:
        value = getattr(struct, field)
        if hasattr(value, "__dataclass_fields__"):
            yield from _rate_pairs(value, getattr(rates, field), f"{prefix}{field}.")
        elif field in infos and infos[field].rate_of is not None and value is not None:
            yield (
                f"{prefix}{field}",
                np.asarray(value),
                np.asarray(getattr(rates, infos[field].rate_of)),
            )


def _total(struct: Any) -> jax.Array:
    leaves = [jnp.sum(jnp.asarray(v, float)) for v in jax.tree.leaves(struct)]
    return sum(leaves, jnp.zeros(()))


def _size(struct: Any) -> jax.Array:
    return _total(jax.tree.map(jnp.abs, struct))


def _energy(seen: _Seen) -> Iterator[Check]:
    """the rate of the stores is the sum of the ports"""
    system, worst, where, gains = seen.system, 0.0, "", []

    @jax.jit
    def along_the_flow(t: Any, x: Any, m: Any) -> Any:
        rates = system.flow(t, x, m)
        return (
            rates,
            jax.jvp(lambda t, x: system.stores(t, x, m), (t, x), (jnp.ones(()), rates.x))[1],
        )

    for at in seen.everywhere:
        rates, change = along_the_flow(at.t, at.x, at.m)
        scale = float(jnp.maximum(_size(change) + _size(rates.power), 1.0))
        error = _worst(abs(float(_total(change) - _total(rates.power))) / scale)
        if error > worst:
            flows = f"the stores ({_list(change)}) change by {float(_total(change)):.4g} W"
            ports = f"the ports ({_list(rates.power)}) give {float(_total(rates.power)):.4g} W"
            worst, where = (
                error,
                f": there ({at.where}) {flows}, {ports}{seen.blame('flow', 'stores')}",
            )
        gains += _giving(rates.power, scale)
    holds = worst <= ROUNDING
    yield Check(
        "the rate of the stores is the sum of the ports",
        holds,
        f"worst {worst:.1e} of the power flowing at {len(seen.everywhere)}"
        f" states{'' if holds else where}",
    )
    given = f"{', '.join(sorted(set(gains)))}{seen.blame('flow')}" if gains else "none does"
    yield Check("loss ports never give energy", not gains, given)


def _giving(ports: Any, scale: float) -> list[str]:
    """Loss ports that add energy."""
    return [
        n
        for n, v, info in named_leaves(ports)
        if info.kind == "loss" and np.any(np.asarray(v) > ROUNDING * scale)
    ]


def _list(struct: Any) -> str:
    return ", ".join(
        f"{name} {float(np.sum(np.asarray(value))):.4g}" for name, value, _ in named_leaves(struct)
    )


def _jumps(seen: _Seen) -> Iterator[Check]:
    """each jump reports the energy it takes"""
    for k, event in enumerate(seen.system.events):
        if event.outcome is not None:
            continue
        claim = f'jump "{event.name}" reports the energy it takes'
        reached = seen.journey.at(k)
        missed = sorted(set(range(seen.journey.armed[k].size)) - {at.leg for at in reached})
        if missed:
            legs = f" of legs {', '.join(map(str, missed))}" if reached else ""
            yield Check(
                "not reached",
                None,
                f"{event.name}{legs}; its jump was not checked ({seen.journey.length})",
            )
        if not reached:
            continue
        worst, where, gains, jump_at = 0.0, "", [], seen.jump(k)
        for at in reached:
            (_, _, work), before, after = jump_at(at.t, at.x, at.m, jnp.int32(at.leg))
            scale = float(jnp.maximum(_size(before) + _size(after), 1.0))
            error = _worst(abs(float(_total(after) - _total(before) - _total(work))) / scale)
            gains += [] if work is None else _giving(work, scale)
            if error > worst:
                change = f"the stores change by {float(_total(after) - _total(before)):.4g} J"
                worst, where = (
                    error,
                    f": there ({at.where}) {change}, the jump reports {float(_total(work)):.4g} J",
                )
        holds = worst <= ROUNDING and not gains
        detail = (
            f"worst {worst:.1e} of the energy, at {len(reached)}"
            f" states{'' if worst <= ROUNDING else where}"
        )
        if gains:
            detail += f"; these losses give energy: {', '.join(sorted(set(gains)))}"
        yield Check(claim, holds, detail + ("" if holds else seen.blame("jump")))


def _arming(seen: _Seen) -> Iterator[Check]:
    """which guards start armed"""
    system = seen.system
    guards = system.guards(jnp.zeros(()), *seen.state)
    armed = [
        e.name
        for e, counts in zip(system.events, seen.journey.armed, strict=True)
        if np.all(counts)
    ]
    waiting = [e.name for e in system.events if e.name not in armed]
    finite = all(np.all(np.asarray(g) > -np.inf) for g in guards)  # +inf: not in this mode
    armed = armed or ["NONE (nothing can happen until a guard has been positive: is a sign wrong?)"]
    yield Check(
        "guards are finite at the start",
        finite,
        f"armed: {', '.join(armed) or 'none'}; waiting: {', '.join(waiting) or 'none'}",
    )


def _at_once(seen: _Seen) -> Iterator[Check]:
    """no event undoes another in its instant"""
    for found in seen.journey.at_once:
        one, other = (seen.system.events[k] for k in (found.first, found.second))
        yield Check(
            "happens at once",
            None,
            f'"{other.name}" in the instant of "{one.name}" (t = {found.t:.4g} s): its guard had'
            f" {found.had:.3g} left before that jump and {found.has:.2g} after it. If it means"
            f' something new then, give "{one.name}" restarts=("{other.name}",), or let the guard'
            f" be +inf in modes that have no such event{seen.blame('guards')}",
        )


def _everything(system: AbstractHybridSystem, events: list[int], start: Any, at_events: Any) -> Any:
    """All that the system says at one state, and of each event at a state where it happens."""
    t, x, m = start
    guards = system.guards(t, x, m)
    jumps = [
        system.jump(*state, k, *(() if jnp.ndim(guards[k]) == 0 else (leg,)))
        for k, (*state, leg) in zip(events, at_events, strict=True)
    ]
    flat = (system.flow(t, x, m), guards, jumps, system.stores(t, x, m), system.outputs(t, x, m))
    return [jnp.asarray(v, float) for v in jax.tree.leaves(flat)]


def _transforms(seen: _Seen) -> Iterator[Check]:
    """the same call gives the same answer, and jit, vmap and jvp work"""
    zero, (x0, m0) = jnp.zeros(()), seen.state
    system = jax.tree.map(lambda v: jnp.asarray(v, float), seen.system)
    reached = {
        k: seen.journey.at(k)[:1] for k, event in enumerate(system.events) if event.outcome is None
    }
    events = [k for k, found in reached.items() if found]
    at_events = [
        (at.t, at.x, at.m, jnp.int32(at.leg)) for found in reached.values() for at in found
    ]

    def everything(system: Any, x: Any, at_events: Any) -> Any:
        return _everything(system, events, (zero, x, m0), at_events)

    eager, again = everything(system, x0, at_events), everything(system, x0, at_events)
    same = all(np.array_equal(a, b, equal_nan=True) for a, b in zip(eager, again, strict=True))
    yield Check(
        "the same call gives the same answer",
        same,
        "bit-equal" if same else "differs from call to call",
    )

    def moved(system: Any, x: Any, xs: Any) -> Any:
        return everything(
            system, x, [(t, at, m, leg) for (t, _, m, leg), at in zip(at_events, xs, strict=True)]
        )

    inputs = (system, x0, [x for _, x, _, _ in at_events])
    # One program for both: a model is compiled in seconds, and twice as many seconds are a wait.
    differentiated = jax.jit(lambda *v: jax.jvp(moved, v, jax.tree.map(jnp.ones_like, v)))
    jitted, derivative = differentiated(*inputs)
    yield Check("jit works", _close(eager, jitted), "agrees with the plain call")
    lanes = [at.x for at in seen.near[:3]]
    batch = jax.tree.map(lambda *v: jnp.stack(v), *lanes)
    events_batch = jax.tree.map(lambda v: jnp.stack([v] * len(lanes)), at_events)
    ts = jnp.zeros(len(lanes))
    many = jax.jit(jax.vmap(lambda t, x, at: _everything(system, events, (t, x, m0), at)))(
        ts, batch, events_batch
    )
    yield Check(
        "vmap works", _close(eager, [v[0] for v in many]), "lane 0 agrees with the plain call"
    )
    finite = all(bool(jnp.all(jnp.isfinite(v))) for v in derivative)
    yield Check(
        "jvp works",
        finite,
        "derivatives are finite" if finite else "a derivative is not finite at the start",
    )


def _close(one: list[Any], other: list[Any]) -> bool:
    return all(
        np.allclose(a, b, rtol=ROUNDING, atol=ROUNDING, equal_nan=True)
        for a, b in zip(one, other, strict=True)
    )


def _sketch(seen: _Seen) -> Iterator[Check]:
    """the sketch follows outputs that exist"""
    system = seen.system
    outputs = jax.eval_shape(lambda: system.outputs(jnp.zeros(()), *seen.state))
    names, groups = set(), set()
    for name, value, _ in named_leaves(outputs):
        # An array over like legs is seen leg by leg: "tip.z.3", of the group "tip.3".
        legs = [""] if not value.shape else [f".{i}" for i in range(value.shape[0])]
        names |= {f"{name}{leg}" for leg in legs}
        groups |= {f"{name.rpartition('.')[0]}{leg}" for leg in legs}
    wanted: set[str] = set()
    drawing = system.drawing()
    shapes = [
        *drawing.shapes,
        *(shape for close_up in drawing.close_ups.values() for shape in close_up),
    ]
    for shape in shapes:
        match shape:
            case Link(start=start, end=end):
                wanted |= {start, end}
            case Arrow(at=at):
                wanted.add(at)
            case Ground():
                pass
            case _:
                wanted.add(shape.body)
    wanted |= {at.body for label in drawing.labels for at in anchors(label) if at.body}
    missing = sorted(
        (wanted - groups)
        | {name for chart in drawing.charts for name in chart.signals if name not in names}
    )
    detail = f"{len(shapes)} shapes" if not missing else f"no outputs called {', '.join(missing)}"
    yield Check("the sketch follows outputs that exist", not missing, detail)


def _travel(seen: _Seen) -> Iterator[Check]:
    """progress is measured by signals that exist"""
    system, state = seen.system, seen.state
    travel = system.travel()
    if travel is None:
        return
    t = jnp.zeros(())
    shapes = jax.eval_shape(
        lambda: (system.outputs(t, *state), state.m, system.flow(t, *state).power)
    )
    outputs, counters, ports = ({name for name, _, _ in named_leaves(struct)} for struct in shapes)
    ports |= _jump_ports(system, state)
    wanted = [(n, outputs) for n in (travel.distance, travel.heading) if n is not None]
    wanted += [(n, counters) for n in travel.step_counters] + [
        (n, ports) for n in travel.motor_ports
    ]
    missing = [name for name, known in wanted if name not in known]
    detail = (
        f"no such signal: {', '.join(missing)}"
        if missing
        else ", ".join(name for name, _ in wanted)
    )
    yield Check("progress is measured by signals that exist", not missing, detail)


def _bounds(seen: _Seen) -> Iterator[Check]:
    """bounds are of signals that exist"""
    bounds = seen.system.bounds()
    if not bounds:
        return
    shapes = jax.eval_shape(lambda: (seen.system.outputs(jnp.zeros(()), *seen.state), seen.state.m))
    outputs, counters = (
        {name for name, v, _ in named_leaves(struct) if v.shape == ()} for struct in shapes
    )
    missing = [b.output for b in bounds if b.output not in outputs]
    missing += [b.counter for b in bounds if b.counter is not None and b.counter not in counters]
    detail = (
        f"not a single number by this name: {', '.join(missing)}"
        if missing
        else ", ".join(b.output for b in bounds)
    )
    yield Check(
        "bounds are of signals that exist",
        not missing,
        detail + (seen.blame("bounds") if missing else ""),
    )


def _jump_ports(system: AbstractHybridSystem, state: HybridState) -> set[str]:
    """Names of the work that jumps report."""
    t = jnp.zeros(())

    def jump(k: int) -> Jump:
        return system.jump(t, *state, k, *_leg(system.guards(t, *state)[k]))

    work = jax.eval_shape(lambda: work_of_jumps(system.events, jump))
    return {name for name, _, _ in named_leaves(work)}
