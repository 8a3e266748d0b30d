"""Explicit Runge-Kutta pairs with an error estimate, by the tables that diffrax has of them.

The same tables for the event engine in JAX and for kernels, so that both make the same steps.
"""

import functools
from typing import Any, NamedTuple

import diffrax
import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from footfall.engines.lanes.step_methods import METHODS, Field, Slope

#: Of these the last stage is the first of the next step.
KNOWN = (diffrax.Bosh3, diffrax.Tsit5, diffrax.Dopri5, diffrax.Dopri8)
#: Powers of the fraction of a step that an interpolant may have.
DEGREE = 6


class Pair(NamedTuple):
    """A pair, by name (hashable: it is a part of what a kernel is made for)."""

    name: str

    @property
    def solver(self) -> diffrax.AbstractAdaptiveSolver:
        return getattr(diffrax, self.name)()

    @property
    def order(self) -> int:
        return int(self.solver.order(None))  # pyright: ignore[reportArgumentType]

    @property
    def stages(self) -> int:
        return self.solver.tableau.num_stages  # pyright: ignore[reportAttributeAccessIssue]


class Attempt(NamedTuple):
    """What a step gives."""

    x: list[Array]
    q: list[Array]
    error_x: list[Any]  #: None: held
    error_q: list[Any]
    slope: Slope  #: at its end
    stages: list[Slope]  #: slopes, of which the interpolant is made
    middle: list[Array]  #: states half-way, on the pair's own interpolant


def pair_of(solver: Any) -> Pair | None:
    """The pair that a diffrax solver is, or None."""
    return Pair(type(solver).__name__) if type(solver) in KNOWN else None


def order_of(method: str) -> int:
    """Of a method of fixed steps, or of a pair."""
    return METHODS[method].order if method in METHODS else Pair(method).order


def pair_by(limits: Any) -> Pair:
    """The pair that suits a tolerance: a high order where many digits are asked for."""
    return Pair("Dopri8" if limits.rtol < LOOSE else "Tsit5")


#: From this tolerance on the lower order is the faster one.
LOOSE = 1e-5


def step(
    pair: Pair,
    field: Field,
    t: Any,
    t1: Any,
    x: list[Array],
    q: list[Array],
    first: Slope,
    tau: Any,
) -> Attempt:
    """One step of length tau from t to t1, given the slope at its start."""
    table: Any = pair.solver.tableau  # pyright: ignore[reportAttributeAccessIssue]
    slopes = [first]
    for row, place in zip(table.a_lower, table.c, strict=True):
        last = len(slopes) == len(table.a_lower)
        when = t1 if last else t + float(place) * tau
        slopes.append(field(when, _moved(x, [s.x for s in slopes], row, tau)))
    rates_x, rates_q = [s.x for s in slopes], [s.q for s in slopes]
    return Attempt(
        x=_moved(x, rates_x, table.a_lower[-1], tau),
        q=_moved(q, rates_q, table.a_lower[-1], tau),
        error_x=_sums(rates_x, table.b_error, tau),
        error_q=_sums(rates_q, table.b_error, tau),
        slope=slopes[-1],
        stages=slopes,
        middle=_moved(x, rates_x, weights(pair, np.array([0.5]))[0], tau),
    )


def _moved(x: list[Array], rates: list[list[Any]], row: Any, tau: Any) -> list[Any]:
    changes = _sums(rates, row, tau)
    return [a if change is None else a + change for a, change in zip(x, changes, strict=True)]


def _sums(rates: list[list[Any]], row: Any, tau: Any) -> list[Any]:
    """tau times the weighted sum of slopes, for each state; None where it is held."""
    used = [(float(w), r) for w, r in zip(row, rates, strict=False) if w != 0.0]
    out: list[Any] = []
    for i, start in enumerate(rates[0]):
        if start is None:
            out.append(None)
            continue
        total: Any = None
        for w, r in used:
            part = jnp.asarray(w, r[i].dtype) * r[i]
            total = part if total is None else total + part
        out.append(tau * total)
    return out


@functools.lru_cache(maxsize=16)
def _powers(pair: Pair) -> np.ndarray:
    """(power of the fraction, stage) of the weights of an interpolant, which is linear in stages.

    Dopri8 has them as a table; else they are found from what diffrax's own interpolant makes of one
    stage at a time, which costs JAX a fifth of a second.
    """
    solver: Any = pair.solver
    table = getattr(solver.interpolation_cls, "eval_coeffs", None)
    if table is not None:  # of each stage, highest power first
        powers = np.zeros((DEGREE, pair.stages))
        powers[: table.shape[1]] = table[:, ::-1].T
        return powers
    places = 0.5 - 0.5 * np.cos(np.pi * (np.arange(DEGREE) + 0.5) / DEGREE)
    with jax.ensure_compile_time_eval():  # also while a program that uses it is traced
        end = jnp.append(jnp.asarray(solver.tableau.a_lower[-1]), 0.0)
        inside = solver.interpolation_cls(
            t0=0.0, t1=1.0, y0=0.0 * end, y1=end, k=jnp.eye(pair.stages)
        )
        found = np.stack([np.asarray(inside.evaluate(place)) for place in places])
    # Nothing at the start: powers from 1 on.
    return np.linalg.solve(places[:, None] ** np.arange(1, DEGREE + 1), found)


def weights(pair: Pair, place: np.ndarray) -> np.ndarray:
    """(places, stages): the state inside a step is its start plus tau times these of its slopes."""
    return place[:, None] ** np.arange(1, DEGREE + 1) @ _powers(pair)
