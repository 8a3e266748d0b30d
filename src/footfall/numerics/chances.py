"""What counts and samples say: intervals of a chance, shares of a variance."""

from typing import NamedTuple

import numpy as np

#: Standard deviations to either side that hold 95 % of a normal distribution.
Z95 = 1.959963984540054
#: Samples drawn again to see how far an index may be off, and the seed they are drawn by.
REDRAWN, SEED = 200, 20


def wilson(count: np.ndarray, of: int, z: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    """Interval of a chance from a count, z standard deviations either way (Wilson 1927).

    All chances p with |count/of - p| <= z sqrt(p (1 - p) / of), solved for p.         (chances.1)
    """
    share = count / of
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z / (1 + z * z / of) * np.sqrt(share * (1 - share) / of + z * z / (4 * of * of))
    return middle - half, middle + half


def saltelli(points: np.ndarray) -> np.ndarray:
    """The points at which indices of k inputs are estimated, from `points` (n, 2k).

    (k + 2, n, k): A, B, and for each input A with that column of B.
    """
    inputs = points.shape[1] // 2
    a, b = points[:, :inputs], points[:, inputs:]
    mixed = [np.where(np.arange(inputs) == i, b, a) for i in range(inputs)]
    return np.stack([a, b, *mixed])


class Indices(NamedTuple):
    """Of each input: what it alone explains of the variance, and what it has a part in."""

    first: np.ndarray
    total: np.ndarray
    first_range: np.ndarray  #: (2, inputs), 95 %
    total_range: np.ndarray
    rows: int  #: points that counted


def sobol_indices(values: np.ndarray) -> Indices | None:
    """Sobol' indices from values (k + 2, n) at the points of `saltelli`.

    first:  V_i / V  = mean(f(B) (f(AB_i) - f(A))) / V        (chances.2)
    total:  1 - V_~i / V = mean((f(A) - f(AB_i))^2) / (2 V)   (chances.3)

    Saltelli's and Jansen's estimators, derived in docs/theory/basins.md; V is the variance of f(A)
    and f(B) together. f is taken from its mean, which changes what the first estimates by nothing
    and steadies it much. Ranges by drawing the n rows again. Rows with a value that is not finite
    are left out; None where nothing varies or fewer than eight are left.
    """
    good = values[:, np.all(np.isfinite(values), axis=0)]
    if good.shape[1] < 8 or not np.ptp(good[:2]) > 1e-12 * np.max(np.abs(good)):
        return None
    first, total = _estimates(good)
    draw = np.random.default_rng(SEED)
    again = [
        _estimates(good[:, draw.integers(0, good.shape[1], good.shape[1])]) for _ in range(REDRAWN)
    ]
    ends = [np.nanpercentile([one[i] for one in again], [2.5, 97.5], axis=0) for i in (0, 1)]
    return Indices(first, total, ends[0], ends[1], good.shape[1])


def _estimates(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    f = values - np.mean(values[:2])
    a, b, mixed = f[0], f[1], f[2:]
    variance = np.var(f[:2])
    with np.errstate(divide="ignore", invalid="ignore"):
        return (
            np.mean(b * (mixed - a), axis=1) / variance,
            np.mean((a - mixed) ** 2, axis=1) / (2.0 * variance),
        )
