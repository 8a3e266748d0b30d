"""Curves over a phase: weights that add up to one, ends, slopes by hand and by SciPy."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.interpolate import BSpline

from footfall.hybrid.fields import describe
from footfall.machines.parts.curves.base import AbstractPhaseCurve
from footfall.numerics.bases import bezier, cubic_b_spline, fourier
from footfall.scenario.catalog import PARTS, kinds_for

SHARES = np.linspace(0.0, 1.0, 23)
POINTS = np.array([0.7, -1.3, 2.1, 0.4, -0.2, 1.6, 0.9, -0.5])
#: Averages of numbers of size one to three.
ROUNDING = 1e-14


@pytest.mark.parametrize("curve", [bezier, cubic_b_spline])
@pytest.mark.parametrize("count", [4, 6, 8])
def test_weights_of_the_points_are_not_negative_and_add_up_to_one(curve, count):
    """The weight of a point is the curve of that point alone."""
    weights = np.array([curve(tuple(row), SHARES) for row in np.eye(count)])
    assert np.sum(weights, axis=0) == pytest.approx(1.0, abs=ROUNDING)
    assert weights.min() >= -ROUNDING


def test_a_bezier_curve_has_the_weights_of_bernstein_and_the_slope_of_the_differences():
    points, n = POINTS[:6], 5
    weights = np.array(
        [math.comb(n, k) * SHARES**k * (1 - SHARES) ** (n - k) for k in range(n + 1)]
    )
    assert bezier(tuple(points), SHARES) == pytest.approx(points @ weights, abs=ROUNDING)
    slope = jax.jvp(lambda s: bezier(tuple(points), s), (SHARES,), (np.ones_like(SHARES),))[1]
    by_hand = n * np.asarray(bezier(tuple(np.diff(points)), SHARES))
    assert np.asarray(slope) == pytest.approx(by_hand, abs=1e-13)
    assert slope[0] == pytest.approx(n * (points[1] - points[0]), abs=1e-13)
    assert slope[-1] == pytest.approx(n * (points[5] - points[4]), abs=1e-13)


def test_a_b_spline_is_scipys_with_its_first_and_second_derivative():
    spans = len(POINTS) - 3
    knots = np.concatenate([np.zeros(3), np.linspace(0, 1, spans + 1), np.ones(3)])
    theirs = BSpline(knots, POINTS, 3)
    inside = np.setdiff1d(SHARES, knots)  # of the third derivative it has either at a knot

    def value(s):
        return cubic_b_spline(tuple(POINTS), s)

    def slope(s):
        return jax.jvp(value, (s,), (jnp.ones_like(s),))[1]

    bend = jax.jvp(slope, (inside,), (np.ones_like(inside),))[1]
    assert np.asarray(value(SHARES)) == pytest.approx(theirs(SHARES), abs=ROUNDING)
    assert np.asarray(slope(SHARES)) == pytest.approx(theirs(SHARES, 1), abs=1e-12)
    assert np.asarray(bend) == pytest.approx(theirs(inside, 2), abs=1e-10)
    assert slope(jnp.zeros(())) == pytest.approx(3 * spans * (POINTS[1] - POINTS[0]), abs=1e-12)


def test_a_fourier_curve_is_its_sum_and_its_slope_is_by_hand():
    waves = ((0.3, -0.8), (1.1, 0.2), (-0.4, 0.6))
    turns = 2 * np.pi * np.arange(1, 4)[:, None] * SHARES
    c, d = np.array(waves).T[:, :, None]
    assert np.asarray(fourier(0.5, waves, SHARES)) == pytest.approx(
        0.5 + np.sum(c * np.cos(turns) + d * np.sin(turns), axis=0), abs=1e-14
    )
    found = jax.jvp(lambda s: fourier(0.5, waves, s), (SHARES,), (np.ones_like(SHARES),))[1]
    rate = 2 * np.pi * np.arange(1, 4)[:, None]
    by_hand = np.sum(rate * (d * np.cos(turns) - c * np.sin(turns)), axis=0)
    assert np.asarray(found) == pytest.approx(by_hand, abs=1e-12)


@pytest.mark.parametrize("kind", sorted(kinds_for(AbstractPhaseCurve)))
def test_a_curve_keeps_its_contract(kind):
    """Linear in its coefficients, finite and continuous, constant or periodic beyond a step."""
    names = list(describe(PARTS[kind]))
    numbers = np.random.default_rng(4).normal(size=len(names))
    curve = PARTS[kind](**dict(zip(names, numbers.tolist(), strict=True)))
    double = PARTS[kind](**dict(zip(names, (2 * numbers).tolist(), strict=True)))
    phases = np.linspace(-0.5, 1.5, 401)
    values = np.asarray(curve.value(phases))
    assert np.asarray(double.value(phases)) == pytest.approx(2 * values, abs=1e-13)
    steepest = np.abs(np.asarray(curve.slope(phases))).max()
    apart = np.abs(np.diff(values)).max()
    assert apart <= 1.3 * max(steepest, 1e-12) * 0.005  # the slope turns by less in a spacing
    before, after = values[phases < 0], values[phases > 1]
    ends = np.asarray(curve.value(np.array([0.0, 1.0])))
    constant = np.ptp(before) + np.ptp(after) == 0.0 and before[0] == ends[0]
    periodic = np.asarray(curve.value(phases - 1)) == pytest.approx(values, abs=1e-12)
    assert constant or periodic
