"""check_system(): what every hybrid system must satisfy, checked on the system itself.

Sign errors live in velocities that are not derivatives and in energies that do not add up. Both are found here by
differentiating along the flow, before any simulation.
"""

import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from footfall.hybrid.fields import describe
from footfall.hybrid.flatten import Layout, named_leaves
from footfall.hybrid.sketch import Arrow, Ground, Link
from footfall.hybrid.system import AbstractHybridSystem, HybridState

#: Derivatives are exact and sums are of a few dozen terms, so what is left is rounding of 64-bit numbers, times some room.
ROUNDING = 1e-10


class Check(NamedTuple):
    """One claim, whether it holds, and what was seen."""

    claim: str
    ok: bool
    detail: str


class Report(NamedTuple):
    """All claims about one system."""

    system: str
    checks: list[Check]

    @property
    def ok(self) -> bool:
        return all(c.ok for c in self.checks)

    def __str__(self) -> str:
        return "\n".join(f"{'ok  ' if c.ok else 'FAIL'}  {c.claim}: {c.detail}" for c in self.checks)


class ConformanceError(AssertionError):
    """A system breaks the contract; the message lists how."""


def check_system(
    system: AbstractHybridSystem, state: HybridState, *, samples: int = 8, seed: int = 0, spread: float = 0.05
) -> Report:
    """Check that a system keeps the contract: velocities are derivatives, energy adds up, jumps report what they take.

    Arguments:
        system, state: a robot, often one of your own, and where it starts.
        samples, seed, spread: how many states near it are looked at, which, and how far from it they are.

    Returns a report, a line to each claim. Raises ConformanceError with the whole report where a claim does not hold.

    >>> import footfall as ff
    >>> wheel = ff.load("passive-wheel")
    >>> ff.check_system(wheel.system, wheel.start).ok
    True
    """
    report = examine_system(system, state, samples=samples, seed=seed, spread=spread)
    if not report.ok:
        raise ConformanceError(f"{report.system} does not keep the contract of a hybrid system:\n{report}")
    return report


def examine_system(
    system: AbstractHybridSystem, state: HybridState, *, samples: int = 8, seed: int = 0, spread: float = 0.05
) -> Report:
    """The same report without raising."""
    state = HybridState(jax.tree.map(lambda v: jnp.asarray(v, float), state.x), jax.tree.map(jnp.asarray, state.m))
    checks: list[Check] = []
    for examine in (_structure, _finite, _rates, _energy, _jumps, _arming, _transforms, _sketch, _travel):
        try:
            checks += examine(system, state, _near(state, samples, seed, spread))
        except Exception as error:  # a contract check reports whatever a user's model raises
            frame = traceback.extract_tb(error.__traceback__)[-1]
            hint = " (inside a model use jax.numpy, not numpy)" if "Tracer" in type(error).__name__ else ""
            told = f"{type(error).__name__}: {error}{hint}, at {Path(frame.filename).name}:{frame.lineno}"
            checks.append(Check(f"could not check that {examine.__doc__}", False, told))
            break
    return Report(type(system).__name__, checks)


def _near(state: HybridState, samples: int, seed: int, spread: float) -> list[Any]:
    """The start and random states near it."""
    layout = Layout.of(state.x)
    flat = np.asarray(layout.pack(state.x))
    random = np.random.default_rng(seed)
    noise = spread * np.maximum(np.abs(flat), 0.1) * random.standard_normal((samples, flat.size))
    return [state.x, *(layout.unpack(jnp.asarray(flat + row)) for row in noise)]


def _structure(system: AbstractHybridSystem, state: HybridState, near: list[Any]) -> Iterator[Check]:
    """structs keep their shape"""
    t, (x, m) = jnp.zeros(()), state
    flow = system.flow(t, x, m)
    same = jax.tree.structure(flow.x) == jax.tree.structure(x)
    yield Check("flow returns a rate for every state", same, "same struct" if same else f"{flow.x} for {x}")
    names = [e.name for e in system.events]
    guards = system.guards(t, x, m)
    yield Check("every guard has an event", len(guards) == len(names), f"{len(guards)} guards, events {', '.join(names)}")
    yield Check("event names are different", len(set(names)) == len(names), ", ".join(names))
    unknown = [r for e in system.events for r in e.restarts if r not in names]
    yield Check("restarts name events", not unknown, ", ".join(unknown) or "all known")
    signals = [name for struct in (x, m, system.outputs(t, x, m)) for name, _, _ in named_leaves(struct)]
    twice = sorted({name for name in signals if signals.count(name) > 1})
    # Columns of a record go by these names: of two that share one, one would be lost.
    yield Check("states, discrete states and outputs have names of their own", not twice, ", ".join(twice) or "all different")
    for k, event in enumerate(system.events):
        if event.outcome is None:
            jump = system.jump(t, x, m, k, *_leg(guards[k]))
            fits = jax.tree.structure((jump.x, jump.m)) == jax.tree.structure((x, m))
            yield Check(
                f'jump "{event.name}" keeps the structs of x and m', fits, "same structs" if fits else f"{jump.x}, {jump.m}"
            )


def _leg(guard: Any, leg: int = 0) -> tuple[Any, ...]:
    return () if jnp.ndim(guard) == 0 else (jnp.int32(leg),)


def _worst(errors: Any) -> float:
    """The largest, where what is not a number is worse than anything."""
    return float(np.max(np.nan_to_num(errors, nan=np.inf)))


def _finite(system: AbstractHybridSystem, state: HybridState, near: list[Any]) -> Iterator[Check]:
    """outputs are finite at the start"""
    outputs = system.outputs(jnp.zeros(()), *state)
    bad = [name for name, value, _ in named_leaves(outputs) if not np.all(np.isfinite(np.asarray(value)))]
    yield Check("outputs are finite at the start", not bad, ", ".join(bad) or f"{len(list(named_leaves(outputs)))} signals")


def _rates(system: AbstractHybridSystem, state: HybridState, near: list[Any]) -> Iterator[Check]:
    """velocities are derivatives of positions"""
    t, m = jnp.zeros(()), state.m
    worst, where, count = -1.0, "", 0

    @jax.jit
    def along_the_flow(x: Any) -> Any:
        dx = system.flow(t, x, m).x
        return dx, jax.jvp(lambda t, x: system.outputs(t, x, m), (t, x), (jnp.ones(()), dx))

    for x in near:
        dx, (outputs, rates) = along_the_flow(x)
        pairs = list(_rate_pairs(x, dx, "")) + list(_rate_pairs(outputs, rates, ""))
        count = len(pairs)
        for name, value, derivative in pairs:
            error = _worst(np.abs(value - derivative) / np.maximum(1.0, np.abs(derivative)))
            if error > worst:
                worst, where = error, name
    detail = f"{count} signals, worst {worst:.1e} ({where})" if count else "no signal declares rate_of"
    yield Check("velocities are derivatives of positions", worst <= ROUNDING, detail)


def _rate_pairs(struct: Any, rates: Any, prefix: str) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """(name, value, derivative it must equal) of every field that declares rate_of."""
    infos = describe(struct)
    for field in struct.__dataclass_fields__:
        value = getattr(struct, field)
        if hasattr(value, "__dataclass_fields__"):
            yield from _rate_pairs(value, getattr(rates, field), f"{prefix}{field}.")
        elif field in infos and infos[field].rate_of is not None and value is not None:
            yield f"{prefix}{field}", np.asarray(value), np.asarray(getattr(rates, infos[field].rate_of))


def _total(struct: Any) -> jax.Array:
    leaves = [jnp.sum(jnp.asarray(v, float)) for v in jax.tree.leaves(struct)]
    return sum(leaves, jnp.zeros(()))


def _size(struct: Any) -> jax.Array:
    return _total(jax.tree.map(jnp.abs, struct))


def _energy(system: AbstractHybridSystem, state: HybridState, near: list[Any]) -> Iterator[Check]:
    """the rate of the stores is the sum of the ports"""
    t, m = jnp.zeros(()), state.m
    worst, where, gains = 0.0, "", []

    @jax.jit
    def along_the_flow(x: Any) -> Any:
        rates = system.flow(t, x, m)
        return rates, jax.jvp(lambda t, x: system.stores(t, x, m), (t, x), (jnp.ones(()), rates.x))[1]

    for x in near:
        rates, change = along_the_flow(x)
        scale = float(jnp.maximum(_size(change) + _size(rates.power), 1.0))
        error = _worst(abs(float(_total(change) - _total(rates.power))) / scale)
        if error > worst:
            flows = f"the stores ({_list(change)}) change by {float(_total(change)):.4g} W"
            worst, where = error, f": there {flows}, the ports ({_list(rates.power)}) give {float(_total(rates.power)):.4g} W"
        gains += _giving(rates.power, scale)
    holds = worst <= ROUNDING
    yield Check(
        "the rate of the stores is the sum of the ports",
        holds,
        f"worst {worst:.1e} of the power flowing{'' if holds else where}",
    )
    yield Check("loss ports never give energy", not gains, ", ".join(sorted(set(gains))) or "none does")


def _giving(ports: Any, scale: float) -> list[str]:
    """Loss ports that add energy."""
    return [n for n, v, info in named_leaves(ports) if info.kind == "loss" and np.any(np.asarray(v) > ROUNDING * scale)]


def _list(struct: Any) -> str:
    return ", ".join(f"{name} {float(np.sum(np.asarray(value))):.4g}" for name, value, _ in named_leaves(struct))


def _onto_guard(guard: Callable[[Any, Any], jax.Array], t: jax.Array, x: Any) -> tuple[jax.Array, Any, jax.Array]:
    """A nearby (t, x) where the guard is zero, and whether it is: a jump means something only there."""
    layout = Layout.of((t, x))
    slope = jax.value_and_grad(lambda v: guard(*layout.unpack(v)))

    def step(_: Any, flat: jax.Array) -> jax.Array:
        value, gradient = slope(flat)
        return jnp.where(jnp.abs(value) <= 1e-15, flat, flat - value * gradient / jnp.maximum(gradient @ gradient, 1e-30))

    flat = jax.lax.fori_loop(0, 40, step, layout.pack((t, x)))
    return *layout.unpack(flat), jnp.abs(slope(flat)[0]) <= 1e-13


def _jumps(system: AbstractHybridSystem, state: HybridState, near: list[Any]) -> Iterator[Check]:
    """each jump reports the energy it takes"""
    m = state.m
    sizes = [np.shape(g) for g in jax.eval_shape(lambda: system.guards(jnp.zeros(()), state.x, m))]
    for k, event in enumerate(system.events):
        if event.outcome is not None:
            continue

        @jax.jit
        def at_the_event(x: Any, leg: Any, k: int = k) -> Any:
            def guard(t: Any, x: Any) -> jax.Array:
                return jnp.ravel(jnp.asarray(system.guards(t, x, m)[k], float))[leg]

            t, x, found = _onto_guard(guard, jnp.zeros(()), x)
            jump = system.jump(t, x, m, k, *((leg,) if sizes[k] else ()))
            return found, jump.work, system.stores(t, x, m), system.stores(t, jump.x, jump.m)

        worst, reached, gains = 0.0, 0, []
        for leg in range(int(np.prod(sizes[k]))):
            for x in near:
                found, work, before, after = at_the_event(x, jnp.int32(leg))
                if not found:
                    continue
                reached += 1
                scale = float(jnp.maximum(_size(before) + _size(after), 1.0))
                worst = max(worst, _worst(abs(float(_total(after) - _total(before) - _total(work))) / scale))
                gains += _giving(work, scale)
        detail = f"worst {worst:.1e} of the energy, at {reached} states" if reached else "no state near the start reaches it"
        if gains:
            detail += f"; these losses give energy: {', '.join(sorted(set(gains)))}"
        yield Check(f'jump "{event.name}" reports the energy it takes', worst <= ROUNDING and not gains, detail)


def _arming(system: AbstractHybridSystem, state: HybridState, near: list[Any]) -> Iterator[Check]:
    """which guards start armed"""
    t = jnp.zeros(())
    guards = system.guards(t, *state)
    armed = [e.name for e, g in zip(system.events, guards, strict=True) if np.all(np.asarray(g) > 0)]
    waiting = [e.name for e in system.events if e.name not in armed]
    finite = all(np.all(np.isfinite(np.asarray(g))) for g in guards)
    armed = armed or ["NONE (nothing can happen until a guard has been positive: is a sign wrong?)"]
    yield Check(
        "guards are finite at the start",
        finite,
        f"armed: {', '.join(armed) or 'none'}; waiting: {', '.join(waiting) or 'none'}",
    )


def _everything(system: AbstractHybridSystem, t: Any, x: Any, m: Any) -> Any:
    jumps = []
    guards = system.guards(t, x, m)
    for k, event in enumerate(system.events):
        if event.outcome is None:
            jumps.append(system.jump(t, x, m, k, *_leg(guards[k])))
    flat = (system.flow(t, x, m), guards, jumps, system.stores(t, x, m), system.outputs(t, x, m))
    return [jnp.asarray(v, float) for v in jax.tree.leaves(flat)]


def _transforms(system: AbstractHybridSystem, state: HybridState, near: list[Any]) -> Iterator[Check]:
    """the same call gives the same answer, and jit, vmap and jvp work"""
    t, m = jnp.zeros(()), state.m
    system = jax.tree.map(lambda v: jnp.asarray(v, float), system)
    eager, again = _everything(system, t, *state), _everything(system, t, *state)
    same = all(np.array_equal(a, b, equal_nan=True) for a, b in zip(eager, again, strict=True))
    yield Check("the same call gives the same answer", same, "bit-equal" if same else "differs from call to call")
    tangent = jax.tree.map(jnp.ones_like, (system, state.x))
    # One program for both: a model is compiled in seconds, and twice as many seconds are a wait.
    differentiated = jax.jit(lambda s, x: jax.jvp(lambda s, x: _everything(s, t, x, m), (s, x), tangent))
    jitted, derivative = differentiated(system, state.x)
    yield Check("jit works", _close(eager, jitted), "agrees with the plain call")
    batch = jax.tree.map(lambda *v: jnp.stack(v), *near[:3])
    lanes = jax.jit(jax.vmap(lambda t, x: _everything(system, t, x, m)))(jnp.zeros(3), batch)
    yield Check("vmap works", _close(eager, [v[0] for v in lanes]), "lane 0 agrees with the plain call")
    finite = all(bool(jnp.all(jnp.isfinite(v))) for v in derivative)
    yield Check("jvp works", finite, "derivatives are finite" if finite else "a derivative is not finite at the start")


def _close(one: list[Any], other: list[Any]) -> bool:
    return all(np.allclose(a, b, rtol=ROUNDING, atol=ROUNDING, equal_nan=True) for a, b in zip(one, other, strict=True))


def _sketch(system: AbstractHybridSystem, state: HybridState, near: list[Any]) -> Iterator[Check]:
    """the sketch follows outputs that exist"""
    outputs = jax.eval_shape(lambda: system.outputs(jnp.zeros(()), *state))
    names, groups = set(), set()
    for name, value, _ in named_leaves(outputs):
        # An array over like legs is seen leg by leg: "tip.z.3", of the group "tip.3".
        legs = [""] if not value.shape else [f".{i}" for i in range(value.shape[0])]
        names |= {f"{name}{leg}" for leg in legs}
        groups |= {f"{name.rpartition('.')[0]}{leg}" for leg in legs}
    wanted: set[str] = set()
    drawing = system.drawing()
    shapes = [*drawing.shapes, *(shape for close_up in drawing.close_ups.values() for shape in close_up)]
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
    missing = sorted((wanted - groups) | {name for chart in drawing.charts for name in chart.signals if name not in names})
    detail = f"{len(shapes)} shapes" if not missing else f"no outputs called {', '.join(missing)}"
    yield Check("the sketch follows outputs that exist", not missing, detail)


def _travel(system: AbstractHybridSystem, state: HybridState, near: list[Any]) -> Iterator[Check]:
    """progress is measured by signals that exist"""
    travel = system.travel()
    if travel is None:
        return
    t = jnp.zeros(())
    shapes = jax.eval_shape(lambda: (system.outputs(t, *state), state.m, system.flow(t, *state).power))
    outputs, counters, ports = ({name for name, _, _ in named_leaves(struct)} for struct in shapes)
    ports |= _jump_ports(system, state)
    wanted = [(n, outputs) for n in (travel.distance, travel.heading) if n is not None]
    wanted += [(n, counters) for n in travel.step_counters] + [(n, ports) for n in travel.motor_ports]
    missing = [name for name, known in wanted if name not in known]
    detail = f"no such signal: {', '.join(missing)}" if missing else ", ".join(name for name, _ in wanted)
    yield Check("progress is measured by signals that exist", not missing, detail)


def _jump_ports(system: AbstractHybridSystem, state: HybridState) -> set[str]:
    """Names of the work that jumps report."""
    k = next((k for k, event in enumerate(system.events) if event.outcome is None), None)
    if k is None:
        return set()
    t = jnp.zeros(())
    work = jax.eval_shape(lambda: system.jump(t, *state, k, *_leg(system.guards(t, *state)[k])).work)
    return {name for name, _, _ in named_leaves(work)}
