"""One fixed step of a lane: the formulas, each with its own rule for the integrals of the ledger.

A lane's state is a list of arrays; a rate that is None belongs to a state that only jumps change.
`field(t, x)` gives the Slope at a state. Every method is given the slope at its start and hands
back the one at its end: it is the start of the next step, the guards need it, and what is shared
between the two (sines, mostly) is computed once. `t1` is the time at the end: t + tau but for the
last bit, which must not depend on where a call into the kernel begins.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
from jax import Array


class Slope(NamedTuple):
    """Rates of the states and of the integrals that go along with them."""

    x: list[Any]  #: None: held
    q: list[Any]


class Stepped(NamedTuple):
    """End of a step."""

    x: list[Array]
    q: list[Array]
    slope: Slope


Field = Callable[[Any, list[Array]], Slope]


def _shift(x: Sequence[Any], rate: Sequence[Any], length: Any) -> list[Any]:
    return [a if r is None else a + length * r for a, r in zip(x, rate, strict=True)]


def rk4(
    field: Field,
    t: Any,
    t1: Any,
    x: list[Array],
    q: list[Array],
    first: Slope,
    tau: Array,
    roles: "Roles",
) -> Stepped:
    """Classical Runge-Kutta, order 4. Integrals by the same weights, hence of the same order."""
    del roles
    half, sixth, third = 0.5 * tau, (1.0 / 6.0) * tau, (1.0 / 3.0) * tau
    second = field(t + half, _shift(x, first.x, half))
    middle = field(t + half, _shift(x, second.x, half))
    last = field(t1, _shift(x, middle.x, tau))

    def mix(a: Any, k1: Any, k2: Any, k3: Any, k4: Any) -> Any:
        return a if k1 is None else a + (sixth * (k1 + k4) + third * (k2 + k3))

    x1 = [mix(*column) for column in zip(x, first.x, second.x, middle.x, last.x, strict=True)]
    q1 = [mix(*column) for column in zip(q, first.q, second.q, middle.q, last.q, strict=True)]
    return Stepped(x1, q1, field(t1, x1))


def rk2(
    field: Field,
    t: Any,
    t1: Any,
    x: list[Array],
    q: list[Array],
    first: Slope,
    tau: Array,
    roles: "Roles",
) -> Stepped:
    """The midpoint rule, order 2; integrals by the midpoint rule too."""
    del roles
    middle = field(t + 0.5 * tau, _shift(x, first.x, 0.5 * tau))
    x1 = _shift(x, middle.x, tau)
    return Stepped(x1, _shift(q, middle.q, tau), field(t1, x1))


def semi_implicit_euler(
    field: Field,
    t: Any,
    t1: Any,
    x: list[Array],
    q: list[Array],
    first: Slope,
    tau: Array,
    roles: "Roles",
) -> Stepped:
    """Velocities first, then the positions with the new velocities.

    What has no velocity of its own (a phase, a filter) by its old slope.

    Order 1, but energy does not drift for conservative forces; and one slope a step. Integrals by
    the trapezoid rule on the states as they come out: of order 2, so the ledger shows the method's
    own error.
    """
    new = [a if r is None else a + tau * r for a, r in zip(x, first.x, strict=True)]
    x1 = [
        a if rate is None or old is None else b + tau * new[rate]
        for a, b, old, rate in zip(new, x, first.x, roles.rate, strict=True)
    ]
    last = field(t1, x1)
    q1 = [a + 0.5 * tau * (r0 + r1) for a, r0, r1 in zip(q, first.q, last.q, strict=True)]
    return Stepped(x1, q1, last)


def linearly_implicit(
    field: Field,
    t: Any,
    t1: Any,
    x: list[Array],
    q: list[Array],
    first: Slope,
    tau: Array,
    roles: "Roles",
) -> Stepped:
    """Linearly implicit Euler in 1, 2 and 3 parts, extrapolated to order 3.

    For systems with fast decaying motions.

    (I - h J) d = h f(x), with J the Jacobian at the start of the step. Integrals are states of the
    same scheme that nothing depends on, so their rule follows: h (P(x) + dP/dx d), extrapolated
    with the rest. Elimination is unrolled and without pivoting: I - h J is near the identity for
    slow motions and dominated by its diagonal for fast dissipative ones.
    """
    del roles
    moving = [i for i, r in enumerate(first.x) if r is not None]

    def rates(values: list[Array], after: Any = 0.0) -> tuple[list[Array], list[Array]]:
        full = list(x)
        for i, v in zip(moving, values, strict=True):
            full[i] = v
        slope = field(t + after, full)
        return [slope.x[i] for i in moving], slope.q

    start = [x[i] for i in moving]
    columns = []  # of d(rates)/d(states), one jvp each
    for i in range(len(start)):
        tangents = [v * 0.0 + (1.0 if i == j else 0.0) for j, v in enumerate(start)]
        columns.append(jax.jvp(rates, (start,), (tangents,))[1])
    results = []
    for parts in (1, 2, 3):
        h = tau * (1.0 / parts)
        matrix = [
            [(1.0 if i == j else 0.0) - h * columns[j][0][i] for j in range(len(start))]
            for i in range(len(start))
        ]
        solve = _factor(matrix)
        values, integrals = list(start), list(q)
        for part in range(parts):
            slope, powers = (
                ([first.x[i] for i in moving], first.q) if part == 0 else rates(values, part * h)
            )
            d = solve([h * s for s in slope])
            values = [v + s for v, s in zip(values, d, strict=True)]
            integrals = [
                a + h * (p + _dot([columns[j][1][n] for j in range(len(start))], d))
                for n, (a, p) in enumerate(zip(integrals, powers, strict=True))
            ]
        results.append([*values, *integrals])
    ends = [_extrapolate(*column) for column in zip(*results, strict=True)]
    x1 = list(x)
    for i, v in zip(moving, ends, strict=False):
        x1[i] = v
    return Stepped(x1, ends[len(moving) :], field(t1, x1))


def _extrapolate(one: Array, two: Array, three: Array) -> Array:
    """Aitken-Neville for an error expansion in powers of the step, steps 1, 1/2, 1/3."""
    a, b = two + (two - one), three + 2.0 * (three - two)
    return b + 0.5 * (b - a)


def _dot(row: list[Array], column: list[Array]) -> Array:
    total = row[0] * column[0]
    for a, b in zip(row[1:], column[1:], strict=True):
        total = total + a * b
    return total


def _factor(matrix: list[list[Array]]) -> Callable[[list[Array]], list[Array]]:
    """LU without pivoting, unrolled; returns the solver."""
    n = len(matrix)
    upper = [list(row) for row in matrix]
    lower = [[None] * n for _ in range(n)]
    inverse: list[Any] = [None] * n
    for k in range(n):
        inverse[k] = 1.0 / upper[k][k]
        for i in range(k + 1, n):
            lower[i][k] = upper[i][k] * inverse[k]
            for j in range(k + 1, n):
                upper[i][j] = upper[i][j] - lower[i][k] * upper[k][j]

    def solve(right: list[Array]) -> list[Array]:
        y: list[Any] = []
        for i in range(n):
            value = right[i]
            for k in range(i):
                value = value - lower[i][k] * y[k]
            y.append(value)
        out: list[Any] = [None] * n
        for i in reversed(range(n)):
            value = y[i]
            for k in range(i + 1, n):
                value = value - upper[i][k] * out[k]
            out[i] = value * inverse[i]
        return out

    return solve


class Roles(NamedTuple):
    """What the states of a lane are."""

    rate: list[int | None]  #: for each state the one that is declared to be its rate


class Method(NamedTuple):
    """A step formula and what the engine must know of it."""

    step: Callable[..., Stepped]
    order: int
    #: After a jump the steps start at this fraction of the full one and grow by as much each time:
    #: an implicit method steps over a fast transient stably but cannot see what it costs, and the
    #: ledger is wrong by all of it. None: full steps at once.
    first_fraction: float | None = None


METHODS = {
    "rk4": Method(rk4, 4),
    "rk2": Method(rk2, 2),
    "semi-implicit-euler": Method(semi_implicit_euler, 1),
    "linearly-implicit": Method(linearly_implicit, 3, first_fraction=1 / 64),
}
