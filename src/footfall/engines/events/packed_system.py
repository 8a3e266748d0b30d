"""A hybrid system as the event engine sees it: one vector, one vector field, one vector of guards.

Built while tracing.
"""

import copy
import math
from typing import Any, NamedTuple

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from footfall.engines.events.loop_state import Carry, Limits, Settings
from footfall.engines.events.multirate import Multirate
from footfall.engines.events.newton import with_tolerances
from footfall.hybrid.flatten import Layout, named_leaves, work_of_jumps
from footfall.hybrid.system import AbstractHybridSystem


class SolverStep(NamedTuple):
    """What one solver step gives; slopes at both ends are times its length."""

    y: Array
    error: Array | None
    dense: Any
    state: Any
    solved: Array
    slope0: Array
    slope1: Array
    middle: Array  #: half-way, on the solver's own interpolant


class Loop:
    """The loop's pieces for one system: how it is packed, its vector field, its guards.

    Built while tracing.
    """

    def __init__(
        self,
        system: AbstractHybridSystem,
        x: Any,
        m: Any,
        settings: Settings,
        limits: Limits | None = None,
    ):
        self.system, self.settings = system, settings
        zero = jnp.zeros(())
        shapes = jax.eval_shape(
            lambda: (
                system.flow(zero, x, m).power,
                system.guards(zero, x, m),
                system.stores(zero, x, m),
            )
        )
        power, guards, stores = shapes
        self.layout = Layout.of((x, power))
        self.port_start = Layout.of(x).size
        self.store_layout = Layout.of(stores)
        self.guard_shapes = [g.shape for g in guards]
        self.work_layout = Layout.of(self._jump_work_shape(x, m))
        self.term = diffrax.ODETerm(self.field)
        sizes = [int(np.prod(shape)) for shape in self.guard_shapes]
        self.first_index = np.concatenate([[0], np.cumsum(sizes)])
        outcomes = [int(e.outcome) if e.outcome is not None else 0 for e in system.events]
        self.guard_outcome = np.repeat(np.asarray(outcomes, np.int32), sizes)
        self.disarms = self._disarm_table()
        self.is_clock = np.repeat([e.period is not None for e in system.events], sizes)
        self.is_contact = np.repeat([e.contact for e in system.events], sizes)
        self.solver = (
            settings.solver
            if limits is None
            else with_tolerances(settings.solver, limits.rtol, limits.atol)
        )
        if isinstance(self.solver, Multirate):  # integrals over the ports follow the fast states
            fast = fast_states(system, x)
            self.solver = self.solver.for_states(fast + [True] * (self.layout.size - len(fast)))

    def with_system(self, system: AbstractHybridSystem) -> "Loop":
        """The same loop of a system of this kind with other numbers."""
        other = copy.copy(self)
        other.system = system
        return other

    def _disarm_table(self) -> np.ndarray:
        """Row: the event that fired.

        Column: guards it disarms, itself and those it restarts (of like legs: the same leg's).
        """
        flat = [
            (k, leg)
            for k, shape in enumerate(self.guard_shapes)
            for leg in range(int(np.prod(shape)))
        ]
        events, shapes = self.system.events, self.guard_shapes

        def disarms(fired: tuple[int, int], other: tuple[int, int]) -> bool:
            same_leg = shapes[fired[0]] != shapes[other[0]] or fired[1] == other[1]
            return fired == other or (
                events[other[0]].name in events[fired[0]].restarts and same_leg
            )

        return np.array([[disarms(a, b) for b in flat] for a in flat])

    def _jump_work_shape(self, x: Any, m: Any) -> Any:
        return jax.eval_shape(
            lambda: work_of_jumps(
                self.system.events, lambda k: self._jump(jnp.zeros(()), x, m, k, jnp.int32(0))
            )
        )

    def _jump(self, t: Any, x: Any, m: Any, k: int, leg: Any, alone: bool = False) -> Any:
        legs = (leg,) if self.guard_shapes[k] else ()
        return (
            self.system.jump_alone(t, x, m, k, *legs)
            if alone
            else self.system.jump(t, x, m, k, *legs)
        )

    def field(self, s: Any, y: Array, args: Any) -> Array:
        system, m, base = args
        x, _ = self.layout.unpack(y)
        rates = system.flow(base + s, x, m)
        return self.layout.pack((rates.x, rates.power))

    def solver_step(self, c: Carry, tau: Array) -> "SolverStep":
        """One step of length tau from the carry's state."""
        solver, zero = self.solver, jnp.zeros(())
        args = (self.system, c.m, c.t)
        y, error, dense, state, result = solver.step(
            self.term, zero, tau, c.y, args, c.solver_state, c.made_jump
        )
        slopes = _end_slopes(solver, dense) or (
            tau * self.field(zero, c.y, args),
            tau * self.field(tau, y, args),
        )
        solved = (result == diffrax.RESULTS.successful) & jnp.all(jnp.isfinite(y))
        middle = solver.interpolation_cls(t0=zero, t1=tau, **dense).evaluate(0.5 * tau)
        return SolverStep(y, error, dense, state, solved, *slopes, middle)

    def guards(self, t: Any, y: Array, m: Any) -> Array:
        x, _ = self.layout.unpack(y)
        values = self.system.guards(t, x, m)
        if all(shape == () for shape in self.guard_shapes):
            return jnp.stack([jnp.asarray(v, y.dtype) for v in values])
        return jnp.concatenate([jnp.ravel(v) for v in values])

    def guard_rates(
        self, t: Any, y: Array, m: Any, field: Array | None = None
    ) -> tuple[Array, Array]:
        """Guards and their rates along the flow."""
        field = self.field(jnp.zeros(()), y, (self.system, m, t)) if field is None else field
        return jax.jvp(lambda s, v: self.guards(s, v, m), (t, y), (jnp.ones(()), field))

    def stores(self, t: Any, y: Array, m: Any) -> Array:
        x, _ = self.layout.unpack(y)
        return self.store_layout.pack(self.system.stores(t, x, m))

    def apply_jump(
        self, t: Any, y: Array, m: Any, which: Array, alone: bool = False
    ) -> tuple[Array, Any, Array]:
        """State, discrete state and jump work after flat event `which`.

        Unchanged if that event only ends the run.

        `alone`: without the events that it makes as well.
        """
        x, q = self.layout.unpack(y)
        new_y, new_m, work = y, m, jnp.zeros((self.work_layout.size,), y.dtype)
        for k, event in enumerate(self.system.events):
            if event.outcome is not None:
                continue
            jumped = self._jump(t, x, m, k, which - int(self.first_index[k]), alone)
            chosen = (which >= int(self.first_index[k])) & (which < int(self.first_index[k + 1]))
            new_y = jnp.where(chosen, self.layout.pack((jumped.x, q)), new_y)
            new_m = jax.tree.map(
                lambda a, b, c=chosen: jnp.where(c, a, b).astype(jnp.asarray(b).dtype),
                jumped.m,
                new_m,
            )
            if jumped.work is not None:
                work = jnp.where(chosen, self.work_layout.pack(jumped.work), work)
        return new_y, new_m, work


def fast_states(system: AbstractHybridSystem, x: Any) -> list[bool]:
    """Which entries of a packed state are declared fast.

    A system without any is refused: a multirate solver has nothing to do.
    """
    fast = [
        info.fast for _, value, info in named_leaves(x) for _ in range(math.prod(jnp.shape(value)))
    ]
    if not any(fast):
        raise ValueError(
            f"multirate: {type(system).__name__} has no fast states. Take another solver, or"
            " declare those that need small steps with signal(..., fast=True)."
        )
    return fast


def _end_slopes(solver: diffrax.AbstractSolver, dense: Any) -> tuple[Array, Array] | None:
    """Slopes at both ends, times the step's length, where the solver's interpolant holds them."""
    if "k0" in dense:
        return dense["k0"], dense["k1"]
    tableau = getattr(solver, "tableau", None)
    if isinstance(tableau, diffrax.ButcherTableau) and tableau.fsal:
        return dense["k"][0], dense["k"][-1]  # first and last stage sit at the ends
    return None
