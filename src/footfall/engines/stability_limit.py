"""The longest step an explicit method may take.

Beyond it, it grows what the machine itself lets decay.

Along a run, the eigenvalues of d(flow)/dx say how fast each small disturbance dies out. A method
with step h multiplies such a disturbance by a factor that depends on h times the eigenvalue only.
Where that factor is above one although the disturbance decays, the method is unstable: it may stay
bounded (friction saturates), but it is wrong.
"""

import functools
import math
from fractions import Fraction
from typing import Any, NamedTuple

import diffrax
import jax
import jax.numpy as jnp
import numpy as np

from footfall.engines.events.adams_bashforth import AdamsBashforth
from footfall.engines.events.loop_state import as_arrays, as_floats
from footfall.engines.events.multirate import Multirate
from footfall.engines.events.runge_kutta import RungeKutta4
from footfall.engines.events.solvers import name_of
from footfall.engines.lanes.lane_loop import packed_rates
from footfall.engines.plan import EventEngine, Plan, StepEngine
from footfall.engines.step_growth import (
    LEAST_GROWTH,
    RUNGE_KUTTA,
    SEMI_IMPLICIT,
    Growth,
    decaying,
    explicit,
    longest_step,
    polynomial,
)
from footfall.hybrid.flatten import Layout
from footfall.hybrid.system import AbstractHybridSystem, HybridState
from footfall.record.trajectory import Trajectory

#: Rows of a run that are looked at: stiffness may last for a few samples only (a foot about to
#: stick), so many are.
MOST_ROWS = 1024
#: Rows per compiled call: always as many, so that one program serves the start of a run and its
#: whole length.
ROWS_PER_CALL = 256
#: Of a method whose steps are judged by their matrix, the fastest of these rows.
FASTEST_ROWS = 64


class StabilityLimit(NamedTuple):
    """The longest stable step, and what sets it."""

    step: float  #: s; infinite where nothing decays
    eigenvalue: complex  #: 1/s
    t: float  #: s, when it was seen


class Spectrum(NamedTuple):
    """Eigenvalues of d(flow)/dx at some instants of a run."""

    t: np.ndarray  #: (rows,)
    eigenvalues: np.ndarray  #: (rows, states)
    room: np.ndarray  #: (rows,) least guard of a contact; infinite for a system without
    jacobian: np.ndarray | None = None  #: (rows, states, states)
    rates: tuple[int | None, ...] = ()  #: for each state the one that is its rate

    @property
    def largest(self) -> tuple[complex, float]:
        """The decaying eigenvalue of largest modulus, and when it was seen.

        Zero where nothing decays.
        """
        size = np.where(self.decaying, np.abs(self.eigenvalues), 0.0)
        row, column = np.unravel_index(np.argmax(size), size.shape)
        found = complex(self.eigenvalues[row, column]) if size[row, column] > 0 else 0j
        return found, float(self.t[row])

    @property
    def decaying(self) -> np.ndarray:
        """Which eigenvalues decay: the others are growth, which a method is right to follow."""
        return decaying(self.eigenvalues)

    def where(self, rows: np.ndarray) -> "Spectrum":
        jacobian = None if self.jacobian is None else self.jacobian[rows]
        return Spectrum(self.t[rows], self.eigenvalues[rows], self.room[rows], jacobian, self.rates)


def stability_limit(
    system: AbstractHybridSystem,
    state: HybridState,
    solver: diffrax.AbstractSolver,
    run: Trajectory | None = None,
    *,
    span: float = math.inf,
) -> StabilityLimit | None:
    """The longest stable step of an explicit method.

    At `state`, or along a run of the system from it.

    None for implicit methods, which have no such limit. Of `multirate` it is the limit of its fine
    step. `span` allows growth that does not matter within it: see `limit_of`.
    """
    return limit_of(spectrum(system, state, run), solver, span)


# --- eigenvalues along a run ----------------------------------------------------------------------


def spectrum(
    system: AbstractHybridSystem, state: HybridState, run: Trajectory | None = None
) -> Spectrum:
    """Eigenvalues at `state`, or at up to MOST_ROWS rows of a run.

    The discrete state is held, as between events.
    """
    system, x, m = as_floats(system), as_floats(state.x), as_arrays(state.m)
    t, flat, held = _rows(x, m, run)
    finite = np.isfinite(flat).all(axis=1) & np.isfinite(held).all(axis=1)
    t, flat, held = t[finite], flat[finite], held[finite]
    if not len(t):
        return Spectrum(np.zeros(1), np.zeros((1, flat.shape[1]), complex), np.full(1, np.inf))
    parts = []
    for first in range(0, len(t), ROWS_PER_CALL):
        some = [v[first : first + ROWS_PER_CALL] for v in (t, flat, held)]
        padded = [
            np.concatenate([v, np.repeat(v[-1:], ROWS_PER_CALL - len(v), axis=0)]) for v in some
        ]
        parts.append([np.asarray(v)[: len(some[0])] for v in _jacobians(system, x, m, *padded)])
    jacobian, room = (np.concatenate(part) for part in zip(*parts, strict=True))
    known = np.isfinite(jacobian).all(axis=(1, 2))
    if not known.any():
        return Spectrum(np.zeros(1), np.zeros((1, flat.shape[1]), complex), np.full(1, np.inf))
    jacobian = jacobian[known]
    return Spectrum(
        t[known],
        np.linalg.eigvals(jacobian).astype(complex),
        room[known],
        jacobian,
        packed_rates(x),
    )


def _rows(x: Any, m: Any, run: Trajectory | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times, packed continuous and packed discrete states.

    Columns of a run are in the order in which structs are packed.
    """
    if run is None or not len(run.t):
        return np.zeros(1), *(
            np.asarray(Layout.of(struct).pack(struct), float)[None] for struct in (x, m)
        )
    pick = np.unique(np.linspace(0, len(run.t) - 1, min(MOST_ROWS, len(run.t))).astype(int))
    columns = []
    for role, struct in (("state", x), ("discrete", m)):
        names, size = run.of_role(role), Layout.of(struct).size
        if len(names) != size:
            raise ValueError(
                f"this run has {len(names)} {role} columns and the system {size}: it is a run of"
                " another system."
            )
        columns.append(
            np.stack([run[name][pick] for name in names], axis=1)
            if names
            else np.zeros((len(pick), 0))
        )
    return run.t[pick], *columns


@jax.jit
def _jacobians(system: Any, x_like: Any, m_like: Any, t: Any, flat: Any, held: Any) -> Any:
    """d(flow)/dx of each row, and the least guard of a contact there."""
    layout, memory = Layout.of(x_like), Layout.of(m_like)

    def one(t: Any, v: Any, h: Any) -> Any:
        m = jax.tree.map(lambda value, like: value.astype(like.dtype), memory.unpack(h), m_like)
        jacobian = jax.jacfwd(lambda u: layout.pack(system.flow(t, layout.unpack(u), m).x))(v)
        guards = system.guards(t, layout.unpack(v), m)
        contacts = [
            jnp.min(g) for g, event in zip(guards, system.events, strict=True) if event.contact
        ]
        return jacobian, functools.reduce(jnp.minimum, contacts, jnp.inf)

    return jax.vmap(one)(t, flat, held)


# --- what a method makes of an eigenvalue ---------------------------------------------------------


def growth_of(solver: diffrax.AbstractSolver | str) -> Growth | None:
    """How an explicit method multiplies a disturbance, by h times its eigenvalue.

    None for implicit methods. A name is the step engine's.

    Runge-Kutta:      R(z) = 1 + sum_k z^k b' A^(k-1) 1, from its tableau              (stability.1)
    Adams-Bashforth:  the largest root of r^p - r^(p-1) - z sum_j w_j r^(p-1-j)        (stability.2)
    """
    if isinstance(solver, str):
        return polynomial(RUNGE_KUTTA[solver]) if solver in RUNGE_KUTTA else None
    if isinstance(solver, AdamsBashforth):
        return functools.partial(_adams_bashforth_growth, solver.degree)
    if isinstance(solver, diffrax.Euler):
        return polynomial([1.0, 1.0])
    # The fine steps of the latter are of the former.
    if isinstance(solver, RungeKutta4 | Multirate):
        return polynomial(RUNGE_KUTTA["rk4"])
    tableau = getattr(solver, "tableau", None)
    if isinstance(solver, diffrax.AbstractERK) and isinstance(tableau, diffrax.ButcherTableau):
        return polynomial(stability_polynomial(tableau))
    return None


def stability_polynomial(tableau: diffrax.ButcherTableau) -> list[float]:
    """Coefficients of R(z), constant first."""
    a = np.zeros((tableau.num_stages, tableau.num_stages))
    for i, row in enumerate(tableau.a_lower):
        a[i + 1, : i + 1] = row
    coefficients, power = [1.0], np.ones(tableau.num_stages)
    for _ in range(tableau.num_stages):
        coefficients.append(float(tableau.b_sol @ power))
        power = a @ power
    return coefficients


@functools.cache
def adams_bashforth_weights(order: int) -> tuple[float, ...]:
    """w_j of equal steps, newest slope first: Lagrange's polynomials at 0, -1, -2, ...

    integrated over [0, 1], exactly.
    """
    weights = []
    for j in range(order):
        product = [Fraction(1)]  # coefficients, constant first
        for m in (m for m in range(order) if m != j):
            raised, scaled = [Fraction(0), *product], [*(m * c for c in product), Fraction(0)]
            # Times (x + m) / (m - j).
            product = [(a + b) / (m - j) for a, b in zip(raised, scaled, strict=True)]
        weights.append(float(sum(c / (k + 1) for k, c in enumerate(product))))
    return tuple(weights)


def _adams_bashforth_growth(order: int, z: np.ndarray) -> np.ndarray:
    """Largest root of the characteristic polynomial, as the largest eigenvalue of its companion
    matrix.
    """
    z = np.asarray(z, complex)
    companion = np.zeros((*z.shape, order, order), complex)
    companion[..., 0, :] = z[..., None] * np.asarray(adams_bashforth_weights(order))
    companion[..., 0, 0] += 1.0
    companion[..., np.arange(1, order), np.arange(order - 1)] = 1.0
    return np.max(np.abs(np.linalg.eigvals(companion)), axis=-1)


# --- the limit ------------------------------------------------------------------------------------

#: Where along a ray from zero the growth is looked at first; between two looks the limit is found
#: by bisection.
_LOOKS = np.geomspace(1e-6, 60.0, 120)
#: Rays, by their damping -Re z / |z|, on which that is done once for all eigenvalues; the nearest
#: ray tells which to look at closely.
_RAYS = np.concatenate([np.geomspace(1e-9, 0.1, 24), np.linspace(0.12, 1.0, 40)])
_CLOSELY = 64


def limit_of(
    seen: Spectrum, solver: diffrax.AbstractSolver | str, span: float = math.inf
) -> StabilityLimit | None:
    """The longest step that grows no decaying disturbance.

    By no more, that is, than a factor e within `span`.

    Over an endless span that is the usual definition, |R(h lambda)| <= 1. A finite one allows
    slow, nearly undamped oscillations, which methods of order one and two grow a little at any step
    worth taking: a matter of accuracy, not of stability.
    """
    if isinstance(solver, str) and solver == SEMI_IMPLICIT:
        return _by_matrix(seen, SEMI_IMPLICIT, span)
    growth = growth_of(solver)
    if growth is None:
        return None
    row, column = np.nonzero(seen.decaying)
    eigenvalues, t = seen.eigenvalues[row, column], seen.t[row]
    upper = np.imag(eigenvalues) >= 0  # the others are their conjugates
    eigenvalues, t = eigenvalues[upper], t[upper]
    if not len(eigenvalues):
        return StabilityLimit(math.inf, 0j, 0.0)
    size, damping = np.abs(eigenvalues), -np.real(eigenvalues) / np.abs(eigenvalues)
    allowed = 1.0 / np.maximum(size * span, 1e-100)
    nearest = np.argmin(np.abs(np.log(damping)[:, None] - np.log(_RAYS)), axis=1)
    coarse = _coarse(growth)
    first = np.array(
        [_first(coarse[k] > share * _LOOKS) for k, share in zip(nearest, allowed, strict=True)]
    )
    closely = np.argsort(first / size, kind="stable")[:_CLOSELY]
    size, allowed, rays = size[closely], allowed[closely], (eigenvalues / size)[closely]
    reach = _reach(growth, rays, allowed)
    best = int(np.argmin(reach / size))
    found = closely[best]
    return StabilityLimit(
        float(reach[best] / size[best]), complex(eigenvalues[found]), float(t[found])
    )


def _by_matrix(seen: Spectrum, method: str, span: float) -> StabilityLimit:
    """Of a method that looks at no eigenvalue alone; told with the fastest of the row."""
    if seen.jacobian is None:  # no row was finite
        return StabilityLimit(math.inf, 0j, 0.0)
    rows = np.argsort(-np.max(np.abs(seen.eigenvalues), axis=1, initial=0.0), kind="stable")[
        :FASTEST_ROWS
    ]
    steps = longest_step(method, seen.jacobian[rows], seen.rates, span)
    best = int(np.argmin(steps))
    value, t = seen.where(rows[best : best + 1]).largest
    return StabilityLimit(float(steps[best]), value, t)


def _first(grows: np.ndarray) -> float:
    """The first look with growth; infinite where there is none."""
    return float(_LOOKS[np.argmax(grows)]) if grows.any() else math.inf


def _coarse(growth: Growth) -> np.ndarray:
    """ln growth on every ray at every look."""
    rays = -_RAYS + 1j * np.sqrt(1.0 - _RAYS**2)
    with np.errstate(all="ignore"):
        return np.log(growth(rays[:, None] * _LOOKS))


def _grows(growth: Growth, z: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Whether ln growth is above what is allowed, a share of |z|."""
    with np.errstate(all="ignore"):
        return np.log(growth(z)) > allowed * np.abs(z) + LEAST_GROWTH


def _reach(growth: Growth, rays: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """|z| along each ray up to which nothing grows.

    Infinite where that is allowed everywhere (a decay slower than the span).
    """
    looked = _grows(growth, rays[:, None] * _LOOKS, allowed[:, None])
    first = np.argmax(looked, axis=1)
    low, high = np.append(_LOOKS, 0.0)[first - 1], _LOOKS[first]
    for _ in range(50):
        middle = 0.5 * (low + high)
        grows = _grows(growth, rays * middle, allowed)
        low, high = np.where(grows, low, middle), np.where(grows, middle, high)
    return np.where(looked.any(axis=1), high, np.inf)


class TooLong(NamedTuple):
    """A step of a plan above its limit."""

    # of a scenario's [sim]: "step", "near_step", "fine_step" of a multirate method, "batch_step" of
    # the step engine
    key: str
    step: float
    limit: StabilityLimit
    method: str

    @property
    def sentence(self) -> str:
        """The eigenvalue, the limit, by how much the step is above it, and what to try."""
        limit, value, t = self.limit
        seen = f"{value.real:.3g}" + (
            f" +- {abs(value.imag):.3g}i" if abs(value.imag) > 1e-3 * abs(value.real) else ""
        )
        digit = 10.0 ** math.floor(math.log10(limit))
        safe = f"{digit * math.floor(limit / digit):.0e}"  # one digit, rounded down
        other = (
            "" if self.key == "batch_step" else ", or --set sim.solver=kvaerno5 --set sim.step=auto"
        )
        return (
            f"sim.{self.key} = {self.step:.3g} s is {self.step / limit:.3g} times the longest"
            f" stable step of {self.method}, {limit:.3g} s (eigenvalue {seen} 1/s at t = {t:.3g}"
            f" s): expect a wrong run; try --set sim.{self.key}={safe} or less (a wrong run does"
            f" not see all there is){other}"
        )


def has_limit(plan: Plan) -> bool:
    """Whether a plan's steps are constant and by an explicit method.

    Only then there is something to look for.
    """
    by = plan.engine_for("event", "step", "mujoco")
    if isinstance(by, StepEngine):
        return explicit(by.method)
    return isinstance(by, EventEngine) and by.step is not None and growth_of(by.solver) is not None


def too_long(plan: Plan, seen: Spectrum) -> TooLong | None:
    """The plan's constant step, if it is above the limit of its explicit method anywhere.

    The worst of them.

    Adaptive runs find a stable step by themselves. Steps that are cut near the ground are judged
    there by what they are cut to.
    """
    by = plan.engine_for("event", "step")
    if isinstance(by, StepEngine):
        method = solver = by.method
        steps = [("batch_step", by.step, seen)]
    else:
        method, solver = name_of(by.solver), by.solver
        if by.step is None:
            return None
        if isinstance(solver, Multirate):
            steps = [("fine_step", solver.fine_step, seen)]
        elif by.near_step is None or by.near_step >= by.step:
            steps = [("step", by.step, seen)]
        else:
            near = seen.room < by.near_room
            steps = [
                ("step", by.step, seen.where(~near)),
                ("near_step", by.near_step, seen.where(near)),
            ]
    found = []
    for key, step, rows in steps:
        limit = limit_of(rows, solver, plan.duration) if len(rows.t) else None
        if limit is not None and step > limit.step * (1 + 1e-9):
            found.append(TooLong(key, step, limit, method))
    return max(found, key=lambda f: f.step / f.limit.step, default=None)
