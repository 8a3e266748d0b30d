"""Small linear systems solved by unrolled elimination.

`jnp.linalg.solve` calls LAPACK: it cannot be fused into a kernel, and for three unknowns the call
costs more than the arithmetic. These are plain expressions of scalars.
"""

import functools
from collections.abc import Iterable, Sequence

from footfall.numerics.scalar import Scalar


def solve_spd(matrix: Sequence[Sequence[Scalar]], right: Sequence[Scalar]) -> tuple[Scalar, ...]:
    """Solve A x = b for symmetric positive definite A, given as rows.

    Only the lower triangle is read.

    Square-root-free Cholesky (A = L D L^T), stable without pivoting because A is positive definite.
    An entry written as the Python number 0.0 is a structural zero and costs nothing, so order the
    unknowns such that zeros come early.
    """
    return solve_spd_each(matrix, (right,))[0]


def solve_spd_each(
    matrix: Sequence[Sequence[Scalar]], rights: Sequence[Sequence[Scalar]]
) -> list[tuple[Scalar, ...]]:
    """The same for several right sides, with one elimination."""
    low, inverse = _factors(matrix)
    return [_substitute(low, inverse, right) for right in rights]


def _factors(matrix: Sequence[Sequence[Scalar]]) -> tuple[list[list[Scalar]], list[Scalar]]:
    """L, and the inverse of D."""
    n = len(matrix)
    low: list[list[Scalar]] = [[0.0] * n for _ in range(n)]
    diagonal: list[Scalar] = [0.0] * n
    inverse: list[Scalar] = [0.0] * n
    for i in range(n):
        for j in range(i):
            below = _less(matrix[i][j], ((low[i][k], low[j][k], diagonal[k]) for k in range(j)))
            if (i, j) == (n - 1, n - 2) and not _is_zero(below):
                # One division for the last two pivots p and q, because a division costs as much as
                # a dozen products: p q = s p - b^2, then 1/p and 1/q from 1/(p^2 q).
                p = diagonal[j]
                s = _less(matrix[i][i], ((low[i][k], low[i][k], diagonal[k]) for k in range(j)))
                both = s * p - below * below
                shared = 1.0 / (p * both)
                inverse[j], inverse[i] = shared * both, shared * (p * p)
            if _is_zero(inverse[j]):
                inverse[j] = 1.0 / diagonal[j]
            low[i][j] = _times(below, inverse[j])
        if not _is_zero(inverse[i]):
            continue
        diagonal[i] = _pivot(matrix, low, diagonal, i)
        if i != n - 2:
            inverse[i] = 1.0 / diagonal[i]
    return low, inverse


def _substitute(
    low: list[list[Scalar]], inverse: list[Scalar], right: Sequence[Scalar]
) -> tuple[Scalar, ...]:
    n = len(right)
    forward: list[Scalar] = []
    for i in range(n):
        forward.append(_less(right[i], ((low[i][k], forward[k]) for k in range(i))))
    solution: list[Scalar] = [forward[i] * inverse[i] for i in range(n)]
    for i in reversed(range(n)):
        solution[i] = _less(solution[i], ((low[k][i], solution[k]) for k in range(i + 1, n)))
    return tuple(solution)


def _pivot(
    matrix: Sequence[Sequence[Scalar]], low: list[list[Scalar]], diagonal: list[Scalar], i: int
) -> Scalar:
    return _less(matrix[i][i], ((low[i][k], low[i][k], diagonal[k]) for k in range(i)))


def _is_zero(value: Scalar) -> bool:
    return isinstance(value, float) and value == 0.0


def _times(a: Scalar, b: Scalar) -> Scalar:
    return 0.0 if _is_zero(a) or _is_zero(b) else a * b


def _less(start: Scalar, products: Iterable[tuple[Scalar, ...]]) -> Scalar:
    """start minus the sum of products, structural zeros left out."""
    for factors in products:
        if not any(_is_zero(f) for f in factors):
            product = functools.reduce(lambda a, b: a * b, factors)
            start = -product if _is_zero(start) else start - product
    return start
