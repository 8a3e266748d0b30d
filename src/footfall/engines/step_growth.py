"""By how much a step of the step engine multiplies a small disturbance.

One definition, for runs and for lanes.

A step of length h is a linear map S of a small disturbance, where the flow has the Jacobian J.
Runge-Kutta methods have S = R(h J), so that each eigenvalue can be looked at alone. Semi-implicit
Euler has not: what it makes of a swing depends on which states are positions.
"""

import functools
import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.polynomial import Polynomial

#: z = h lambda -> largest modulus by which a step multiplies a disturbance.
Growth = Callable[[np.ndarray], np.ndarray]
#: An eigenvalue counts as decaying when its real part is below minus this share of the largest:
#: less is rounding.
LEAST_DECAY = 1e-10
#: ln growth that is rounding.
LEAST_GROWTH = 1e-14


def polynomial(coefficients: Sequence[float]) -> Growth:
    """|R(z)|, constant first."""
    of = Polynomial(coefficients)
    return lambda z: np.abs(of(z))


#: Coefficients of R(z) of the step engine's Runge-Kutta methods.
RUNGE_KUTTA = {"rk4": (1.0, 1.0, 1 / 2, 1 / 6, 1 / 24), "rk2": (1.0, 1.0, 1 / 2)}
SEMI_IMPLICIT = "semi-implicit-euler"


def explicit(method: str) -> bool:
    """Whether a method of the step engine has a longest stable step."""
    return method in RUNGE_KUTTA or method == SEMI_IMPLICIT


def decaying(eigenvalues: np.ndarray) -> np.ndarray:
    """Which eigenvalues (rows, states) decay.

    The others are growth, which a method is right to follow.
    """
    scale = np.max(np.abs(eigenvalues), axis=1, keepdims=True, initial=0.0)
    return np.real(eigenvalues) < -LEAST_DECAY * scale


def grows(
    method: str,
    jacobians: np.ndarray,
    steps: np.ndarray,
    rates: Sequence[int | None] = (),
    span: float = math.inf,
) -> np.ndarray:
    """In which rows a step grows, by more than a factor e within `span`, what decays by itself.

    Of each row a Jacobian and a step.

    `rates` says for each state which one is its rate, or None. Over an endless span that is the
    usual definition, a factor above one; a finite one allows slow, nearly undamped oscillations,
    which methods of low order grow a little at any step worth taking.
    """
    steps = np.asarray(steps, float)
    if not explicit(method) or not jacobians.shape[-1]:
        return np.zeros(len(steps), bool)
    eigenvalues = np.linalg.eigvals(jacobians)
    allowed = steps / span + LEAST_GROWTH
    with np.errstate(all="ignore"):
        if method in RUNGE_KUTTA:
            growth = np.log(polynomial(RUNGE_KUTTA[method])(steps[:, None] * eigenvalues))
            return np.any(decaying(eigenvalues) & (growth > allowed[:, None]), axis=1)
        growth = np.log(
            np.max(np.abs(np.linalg.eigvals(_semi_implicit(jacobians, steps, rates))), axis=1)
        )
        # What grows by itself may grow: by z = h lambda, and this method adds up to z^2 / 2 to it.
        own = steps * np.maximum(np.max(np.real(eigenvalues), axis=1), 0.0)
        return growth > allowed + own * (1.0 + own)


def _semi_implicit(
    jacobians: np.ndarray, steps: np.ndarray, rates: Sequence[int | None]
) -> np.ndarray:
    """S = I + h J, but for positions, which go on with the new value of their rate: e_i + h S_r."""
    size = jacobians.shape[-1]
    matrix = np.eye(size) + steps[:, None, None] * jacobians
    explicit_rows = matrix.copy()
    for i, rate in enumerate(rates):
        if rate is not None:
            matrix[:, i] = np.eye(size)[i] + steps[:, None] * explicit_rows[:, rate]
    return matrix


def longest_step(
    method: str, jacobians: np.ndarray, rates: Sequence[int | None] = (), span: float = math.inf
) -> np.ndarray:
    """The longest step of each row that does not grow what decays, by bisection.

    Infinite where none does.
    """
    scale = (
        np.max(np.abs(np.linalg.eigvals(jacobians)), axis=1, initial=0.0)
        if jacobians.shape[-1]
        else np.zeros(len(jacobians))
    )
    scale = np.where(scale > 0, scale, 1.0)
    low, high = np.zeros(len(scale)), np.full(len(scale), np.inf)
    for look in np.geomspace(1e-3, 60.0, 60):
        found = grows(method, jacobians, look / scale, rates, span) & np.isinf(high)
        high = np.where(found, look / scale, high)
        low = np.where(np.isinf(high), look / scale, low)
    for _ in range(40):
        middle = np.where(np.isinf(high), low, 0.5 * (low + np.where(np.isinf(high), low, high)))
        up = grows(method, jacobians, middle, rates, span)
        low, high = np.where(up, low, middle), np.where(up, middle, high)
    return high


@functools.cache
def damper_reach(method: str) -> float:
    """h |lambda| up to which a method is stable on a damper; an implicit one always is."""
    return float(longest_step(method, np.array([[[-1.0]]]))[0])
