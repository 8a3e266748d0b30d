"""The water runner of the reference page.

Its experiments, fixed-step walks along its flow, and the foot of the drop test.
"""

import dataclasses
import functools
import math
from typing import Any, ClassVar

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.flatten_util import ravel_pytree
from scipy.integrate import solve_ivp

from footfall.engines.events.runge_kutta import AbstractFixedStep, rk4_step_in_a_loop
from footfall.engines.simulate import as_floats, simulate
from footfall.hybrid.fields import param, part, port, signal, store
from footfall.hybrid.system import AbstractHybridSystem, Event, HybridState, Jump, Rates
from footfall.machines.parts.contact.base import AbstractContact
from footfall.machines.parts.contact.cubic import CubicContact
from footfall.machines.parts.friction.base import AbstractFriction
from footfall.machines.parts.friction.coulomb import StribeckFriction
from footfall.machines.water_runner.compliant_feet import CompliantFoot, Hinge
from footfall.machines.water_runner.foot import FootPoint, Tip
from footfall.numerics.trig import sincos
from footfall.record.trajectory import Trajectory
from footfall.scenario.load import Experiment, load

#: States of the body, in the page's order.
BODY = ("x", "y", "pitch", "vx", "vy", "pitch_rate")

#: Another choice of parts is another program to compile, another number is not. These numbers do
#: what a choice would do.
NO_TAIL = "tail.above=10"  # ten metres up it is never wet: no load, to the last bit
LOCKED = "body.inertia=1e12"  # turns by less than 1e-9 rad in seconds


@functools.cache
def runner(*settings: str, scenario: str = "water-runner") -> Experiment:
    """A shipped scenario with other numbers or parts."""
    return load(scenario, settings)


def on_ground(*settings: str) -> Experiment:
    return runner(*settings, scenario="water-runner-ground")


def run(experiment: Experiment, duration: float, **changes: Any) -> Trajectory:
    """The event engine for `duration`, the rest of the plan as it is but for `changes`."""
    return simulate(
        experiment.system,
        experiment.start,
        dataclasses.replace(experiment.plan, duration=duration, **changes),
    )


@functools.cache
def default_run() -> Trajectory:
    """The shipped scenario as it is, 4 s and a little."""
    return run(runner(), 4.001)


def body_at(done: Trajectory, row: int = -1) -> list[float]:
    return [float(done[name][row]) for name in BODY]


def started_at(experiment: Experiment, x: Any) -> Experiment:
    """The same from another state."""
    return dataclasses.replace(
        experiment, start=HybridState(x, _mode_at_start(experiment.system, x))
    )


@jax.jit  # one small program: operation by operation would take seconds
def _mode_at_start(system: Any, x: Any) -> Any:
    return system.mode_at(0.0, x)


class Window:
    """Means over a part of a run, from its rows; those of events lie between the samples, so by the
    trapezoid rule.
    """

    def __init__(self, done: Trajectory, begin: float, end: float):
        self.done, self.rows = done, (done.t >= begin) & (done.t <= end)

    def mean(self, name: str) -> float:
        t = self.done.t[self.rows]
        return float(np.trapezoid(self.done[name][self.rows], t) / (t[-1] - t[0]))

    def half_range(self, name: str) -> float:
        return float(np.ptp(self.done[name][self.rows])) / 2


# --- fixed steps along the flow, without an engine: modes follow the state at once, as in the
# page's own runs --------------------


def lanes_of(experiments: list[Experiment]) -> tuple[Any, Any]:
    """(system, state) with one lane for each experiment, along the first axis."""
    stacked = [(as_floats(e.system), as_floats(e.start.x)) for e in experiments]
    return jax.tree.map(lambda *leaves: np.stack(leaves), *stacked)


class LoopedRungeKutta4(AbstractFixedStep):
    """The classical method with its stages in a loop.

    The flow is compiled once instead of five times.
    """

    def order(self, terms: Any) -> int:
        return 4

    def init(self, terms: Any, t0: Any, t1: Any, y0: Any, args: Any) -> None:
        return None

    def step(
        self, terms: Any, t0: Any, t1: Any, y0: Any, args: Any, solver_state: None, made_jump: Any
    ) -> tuple:
        y1, _ = rk4_step_in_a_loop(lambda t, y: terms.vf(t, y, args), t0, t1 - t0, y0)
        return y1, None, {}, None, diffrax.RESULTS.successful


@functools.partial(jax.jit, static_argnames=("solver", "keep"))
def walk(
    solver: diffrax.AbstractSolver, system: Any, x: Any, duration: Any, steps: Any, keep: int = 1
) -> Any:
    """The state after each of `keep` equal parts of the duration, in `steps` equal steps (a
    multiple of `keep`).
    """
    y, as_state = ravel_pytree(jax.tree.map(lambda leaf: jnp.asarray(leaf, float), x))
    h, per = duration / steps, steps // keep

    def field(t: Any, y: Any, args: Any) -> Any:
        del args
        state = as_state(y)
        return ravel_pytree(system.flow(t, state, system.mode_at(t, state)).x)[0]

    term = diffrax.ODETerm(field)

    def step(i: Any, carry: tuple[Any, Any]) -> tuple[Any, Any]:
        y, memory = carry
        y, _, _, memory, _ = solver.step(term, i * h, (i + 1) * h, y, None, memory, False)
        return y, memory

    def stretch(carry: tuple[Any, Any], k: Any) -> tuple[tuple[Any, Any], Any]:
        carry = lax.fori_loop(k * per, (k + 1) * per, step, carry)
        return carry, as_state(carry[0])

    return lax.scan(stretch, (y, solver.init(term, 0.0, h, y, None)), jnp.arange(keep))[1]


@functools.partial(jax.jit, static_argnames="keep")
def settle(system: Any, x: Any, duration: Any, steps: Any, keep: int) -> Any:
    """The same for lanes of robots, with the classical method: states are (lane, part)."""
    return jax.vmap(lambda system, x: walk(LoopedRungeKutta4(), system, x, duration, steps, keep))(
        system, x
    )


# --- hard folding in SciPy: another engine for the same system, and no large program to compile ---


def scipy_run(experiment: Experiment, times: tuple[float, ...]) -> dict[float, np.ndarray]:
    """Body states at these times, the last of which is the end; every fold located by SciPy, and
    jumped by the system.
    """
    system, m = as_floats(experiment.system), experiment.start.m
    y, as_state = ravel_pytree(as_floats(experiment.start.x))
    names = [event.name for event in system.events]

    @jax.jit
    def flow(t: Any, y: Any, m: Any) -> Any:
        return ravel_pytree(system.flow(t, as_state(y), m).x)[0]

    @jax.jit
    def rooms(t: Any, y: Any, m: Any) -> Any:
        """Before each leg folds, or unfolds if it is folded."""
        left = dict(zip(names, system.guards(t, as_state(y), m), strict=True))
        return [
            jnp.where(getattr(m.feet, leg).folded > 0, left[f"unfold.{leg}"], left[f"fold.{leg}"])
            for leg in system.names
        ]

    def event_of(leg: int) -> Any:
        def room(t: float, y: np.ndarray, m: Any) -> float:
            return float(rooms(t, y, m)[leg])

        room.terminal, room.direction = True, -1  # type: ignore[attr-defined]
        return room

    events = [event_of(leg) for leg in range(len(system.names))]
    t, found = 0.0, {}
    while t < times[-1]:
        piece = solve_ivp(
            lambda t, y, m: np.asarray(flow(t, y, m)), (t, times[-1]), np.asarray(y), args=(m,), events=events,
            method="DOP853", rtol=1e-10, atol=1e-12, max_step=2e-3, dense_output=True,
        )  # fmt: skip
        found |= {at: piece.sol(at) for at in times if t < at <= piece.t[-1]}
        t, y = float(piece.t[-1]), piece.y[:, -1]
        for leg, hits in zip(system.names, piece.t_events, strict=True):
            if len(hits):
                what = "unfold" if getattr(m.feet, leg).folded else "fold"
                m = system.jump(t, as_state(y), m, names.index(f"{what}.{leg}")).m
    return found


# --- the drop test: a mass on a vertical guide over one compliant foot ----------------------------


class Guide(eqx.Module):
    y: float = signal(unit="m", doc="height of the leg's end F")
    vy: float = signal(unit="m/s", doc="its speed up", rate_of="y")
    q: float = signal(unit="rad", doc="deflection of the foot")
    q_rate: float = signal(unit="rad/s", doc="its rate", rate_of="q")


class Standing(eqx.Module):
    touching: int = signal(doc="1 while the tip is on the ground")


class DropLosses(eqx.Module):
    contact: float = port(kind="loss", doc="damping of the ground")
    friction: float = port(kind="loss", doc="the tip sliding")
    hinge: float = port(kind="loss", doc="damper of the foot")


class NoImpact(eqx.Module):
    impact: float = port(kind="loss", unit="J", doc="nothing: contact is compliant")


class DropStores(eqx.Module):
    kinetic: float = store(doc="mass and foot")
    gravity: float = store(doc="height")
    spring: float = store(doc="spring of the foot")
    ground: float = store(doc="ground pressed in")


class TipSignals(eqx.Module):
    force: float = signal(unit="N", doc="normal force")
    depth: float = signal(unit="m", doc="penetration")


class DropOutputs(eqx.Module):
    tip: TipSignals


class DroppedFoot(AbstractHybridSystem):
    """A mass that slides on a vertical guide, its leg held at an angle, its foot the real part."""

    Start: ClassVar[type] = object

    mass: float = param(0.030, unit="kg", doc="mass", gt=0)
    leg_angle: float = param(math.radians(55.0), unit="rad", doc="theta2")
    gravity: float = param(9.81, unit="m/s^2", doc="gravity")
    foot: CompliantFoot = part(doc="foot", default_factory=CompliantFoot)
    contact: AbstractContact = part(doc="ground", default_factory=CubicContact)
    friction: AbstractFriction = part(doc="friction", default_factory=StribeckFriction)

    @property
    def events(self) -> tuple[Event, ...]:
        return Event("touchdown", "the tip comes down", contact=True), Event(
            "lift", "the tip leaves the ground"
        )

    def tip(self, x: Guide) -> tuple[FootPoint, Hinge, Tip]:
        s, c = sincos(self.leg_angle)
        at, hinge = FootPoint(0.0, x.y, 0.0, x.vy, c, s, 0.0), Hinge(x.q, x.q_rate)
        return at, hinge, self.foot.tip(at, hinge)

    def start(self, clearance: float = 0.020) -> HybridState:
        """At rest, the tip above the ground."""
        at_zero = self.tip(Guide(0.0, 0.0, 0.0, 0.0))[2]
        return HybridState(
            Guide(clearance - float(at_zero.y), 0.0, 0.0, 0.0), Standing(np.int32(0))
        )

    def mode_at(self, t: Any, x: Guide) -> Standing:
        return Standing(jnp.asarray(self.tip(x)[2].y < 0, jnp.int32))

    def flow(self, t: Any, x: Guide, m: Standing) -> Rates:
        at, hinge, tip = self.tip(x)
        normal = self.contact.force(-tip.y, -tip.vy)
        along = self.friction.force(tip.vx, normal, 0.0)
        arm_x, arm_y = self.foot.hinge_arm(at, hinge)
        bending = self.foot.hinge_acceleration(hinge, arm_x * along + arm_y * normal)
        losses = DropLosses(
            contact=-self.contact.loss(-tip.y, -tip.vy),
            friction=-self.friction.loss(tip.vx, normal, 0.0),
            hinge=-self.foot.hinge_loss(hinge),
        )
        return Rates(Guide(x.vy, normal / self.mass - self.gravity, x.q_rate, bending), losses)

    def guards(self, t: Any, x: Guide, m: Standing) -> tuple[Any, ...]:
        height = self.tip(x)[2].y
        return height, -height

    def jump(self, t: Any, x: Guide, m: Standing, k: int) -> Jump:
        return Jump(x, Standing(0 * m.touching + (1 - k)), NoImpact(0.0 * x.y))

    def stores(self, t: Any, x: Guide, m: Standing) -> DropStores:
        _, hinge, tip = self.tip(x)
        moving, bent = self.foot.hinge_energy(hinge)
        return DropStores(
            0.5 * self.mass * x.vy * x.vy + moving,
            self.mass * self.gravity * x.y,
            bent,
            self.contact.energy(-tip.y),
        )

    def outputs(self, t: Any, x: Guide, m: Standing) -> DropOutputs:
        tip = self.tip(x)[2]
        return DropOutputs(TipSignals(force=self.contact.force(-tip.y, -tip.vy), depth=-tip.y))
