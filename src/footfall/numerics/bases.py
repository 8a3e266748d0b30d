"""Curves over a share s from 0 to 1 as sums of basis functions, elementwise.

Bezier curves and cubic B-splines are averages of their points with weights that add up to one: a
curve never leaves the span of its points, and equal points give a constant.
"""

import itertools
from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np

from footfall.numerics.scalar import Scalar
from footfall.numerics.trig import sincos

CUBIC = 3


def bezier(points: Sequence[Scalar], s: Scalar) -> Scalar:
    """The Bezier curve of these points, by de Casteljau's repeated averages.

    It begins at the first point with the slope n (p1 - p0), and ends at the last with
    n (pn - p(n-1)), for n + 1 points.
    """
    row = list(points)
    while len(row) > 1:
        row = [a + s * (b - a) for a, b in itertools.pairwise(row)]
    return row[0]


def cubic_b_spline(points: Sequence[Scalar], s: Scalar) -> Scalar:
    """The cubic B-spline of these points with equal spans, clamped to its first and last point.

    Twice continuously differentiable. A point moves the curve over four spans at most. The slope at
    the ends is 3 k (p1 - p0) and 3 k (pn - p(n-1)), for n + 1 points and k = n - 2 spans.

    All spans are computed and one is taken: by de Boor's averages, which need no table.
    """
    spans = len(points) - CUBIC
    inner = [k / spans for k in range(1, spans)]
    knots = [0.0] * (CUBIC + 1) + inner + [1.0] * (CUBIC + 1)
    value = _de_boor(points, knots, CUBIC, s)
    for k in range(1, spans):
        value = jnp.where(s >= knots[CUBIC + k], _de_boor(points, knots, CUBIC + k, s), value)
    return value


def _de_boor(points: Sequence[Scalar], knots: Sequence[float], span: int, s: Scalar) -> Scalar:
    row = [points[span - CUBIC + j] for j in range(CUBIC + 1)]
    for level in range(1, CUBIC + 1):
        for j in range(CUBIC, level - 1, -1):
            low, high = knots[span - CUBIC + j], knots[span + 1 + j - level]
            share = (s - low) / (high - low)
            row[j] = row[j - 1] + share * (row[j] - row[j - 1])
    return row[CUBIC]


def fourier(mean: Scalar, waves: Sequence[tuple[Scalar, Scalar]], s: Scalar) -> Scalar:
    """mean + sum of c_k cos(2 pi k s) + d_k sin(2 pi k s), of waves (c_k, d_k), k from 1.

    Sines and cosines of multiples follow from those of the first by addition theorems.
    """
    sine, cosine = sincos(2.0 * np.pi * s)
    total, sine_k, cosine_k = mean, sine, cosine
    for k, (c, d) in enumerate(waves):
        if k:
            sine_k, cosine_k = sine_k * cosine + cosine_k * sine, cosine_k * cosine - sine_k * sine
        total = total + c * cosine_k + d * sine_k
    return total
