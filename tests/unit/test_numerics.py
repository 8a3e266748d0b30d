"""Arrays only: sine and cosine, tanh and atan2, small systems, the plane."""

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

from footfall.numerics.elementary import atan2, tanh
from footfall.numerics.planar import cross, rotate
from footfall.numerics.small_solve import solve_spd
from footfall.numerics.trig import sincos


def ulps(value, exact, kind):
    return abs(
        float(
            (mpmath.mpf(float(value)) - exact)
            / mpmath.mpf(float(np.spacing(kind(abs(float(exact))))))
        )
    )


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_lanes_of_sine_and_cosine_are_right_to_two_units_in_the_last_place(kind):
    """Random angles up to 1e4, and the floats next to multiples of pi/2, where the reduction
    cancels most.
    """
    random = np.random.default_rng(3)
    near = (np.arange(-6366, 6367, 61) * np.pi / 2).astype(kind)
    angles = np.concatenate(
        [random.uniform(-1e4, 1e4, 300).astype(kind), random.uniform(-4, 4, 200).astype(kind), near]
    )
    angles = np.concatenate([angles, np.nextafter(near, kind(np.inf))])
    s, c = sincos(jnp.asarray(angles))
    assert s.dtype == kind
    with mpmath.workdps(50):
        worst = max(
            max(
                ulps(a, mpmath.sin(mpmath.mpf(float(x))), kind),
                ulps(b, mpmath.cos(mpmath.mpf(float(x))), kind),
            )
            for x, a, b in zip(angles, np.asarray(s), np.asarray(c), strict=True)
            if x != 0
        )
    assert worst <= 2.0


def test_derivatives_of_sine_and_cosine_are_each_other():
    x = jnp.linspace(-3.0, 3.0, 7)
    (s, c), (ds, dc) = jax.jvp(sincos, (x,), (jnp.ones_like(x),))
    np.testing.assert_array_equal(ds, c)
    np.testing.assert_array_equal(dc, -s)


def test_one_angle_and_a_lane_of_angles_agree():
    for angle in (-2.5, 0.0, 0.3, 100.0):
        one, lane = sincos(angle), sincos(jnp.full(3, angle))
        # An ulp of 1.
        np.testing.assert_allclose(
            [float(v) for v in one], [float(v[0]) for v in lane], rtol=0, atol=3e-16
        )


def vectors(kind):
    """All directions, closest to the axes and diagonals, where the formula changes hands; all
    lengths; one side much the longer.
    """
    random = np.random.default_rng(4)
    angles = np.concatenate([random.uniform(-np.pi, np.pi, 400), np.arange(-8, 9) * np.pi / 8])
    angles = np.concatenate([angles, angles[-17:] + 1e-7, angles[-17:] - 1e-7])
    length = 10.0 ** random.uniform(-30, 30, angles.size)
    lean = 10.0 ** random.uniform(-6, 6, angles.size)
    y, x = length * np.sin(angles), length * np.cos(angles)
    return np.concatenate([y, y * lean]).astype(kind), np.concatenate([x, x]).astype(kind)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_lanes_of_tanh_are_right_to_three_units_in_the_last_place(kind):
    """2.3 measured on 24 000 numbers: half a unit each from the quotient and its denominator; where
    2x passes ln(2)/2, one and a half from e^r - 1, which a half to a third of it cancels."""
    random = np.random.default_rng(5)
    x = np.concatenate(
        [
            random.uniform(-1, 1, 300),
            random.uniform(-20, 20, 200),
            10.0 ** random.uniform(-30, 1, 200),
            [0.1733, 0.1734],
        ]
    )
    x = x.astype(kind)
    values = np.asarray(jax.jit(tanh)(jnp.asarray(x)))
    assert values.dtype == kind
    with mpmath.workdps(50):
        assert (
            max(
                ulps(v, mpmath.tanh(mpmath.mpf(float(a))), kind)
                for a, v in zip(x, values, strict=True)
            )
            <= 3.0
        )
    np.testing.assert_array_equal(jax.jit(tanh)(jnp.asarray(-x)), -values)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_lanes_of_atan2_are_right_to_three_units_in_the_last_place(kind):
    """2.1 measured on 18 000 vectors.

    A unit and a half from the quotient of a sum and a difference, half from adding the eighths of a
    turn.
    """
    y, x = vectors(kind)
    values = np.asarray(jax.jit(atan2)(jnp.asarray(y), jnp.asarray(x)))
    assert values.dtype == kind
    with mpmath.workdps(50):
        exact = [
            mpmath.atan2(mpmath.mpf(float(a)), mpmath.mpf(float(b)))
            for a, b in zip(y, x, strict=True)
        ]
        assert max(ulps(v, e, kind) for v, e in zip(values, exact, strict=True)) <= 3.0


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_signs_zeros_and_infinities_of_tanh_and_atan2(kind):
    largest, tiny = np.finfo(kind).max, np.finfo(kind).tiny
    special = np.array(
        [0.0, -0.0, 1, -1, np.inf, -np.inf, np.nan, largest, -largest, tiny, -tiny], kind
    )
    values = np.asarray(jax.jit(tanh)(jnp.asarray(special)))
    np.testing.assert_array_equal(values, np.tanh(special.astype(np.longdouble)).astype(kind))
    np.testing.assert_array_equal(np.signbit(values)[:6], np.signbit(special)[:6])
    y, x = (v.ravel() for v in np.meshgrid(special, special))
    values, exact = np.asarray(jax.jit(atan2)(jnp.asarray(y), jnp.asarray(x))), np.arctan2(y, x)
    # Smaller ones may be zero.
    np.testing.assert_allclose(values, exact, rtol=3 * np.finfo(kind).eps, atol=tiny)
    known = ~np.isnan(exact)
    np.testing.assert_array_equal(np.signbit(values)[known], np.signbit(exact)[known])


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_derivatives_of_tanh_and_atan2_are_those_of_the_library(kind):
    x, y = jnp.asarray(np.linspace(-3, 3, 41), kind), jnp.asarray(np.linspace(2, -1, 41), kind)
    for ours, theirs, at in ((tanh, jnp.tanh, (x,)), (atan2, jnp.arctan2, (y, x))):
        along = tuple(jnp.full_like(v, 0.7 + k) for k, v in enumerate(at))
        (_, a), (_, b) = jax.jvp(ours, at, along), jax.jvp(theirs, at, along)
        # a few ulp of tanh are a few ulp of 1 in (1 + tanh)(1 - tanh); x^2 + y^2 is two roundings,
        # its quotients two more
        np.testing.assert_allclose(a, b, rtol=0, atol=12 * np.finfo(kind).eps)
        grad = jax.grad(lambda *v, f=ours: jnp.sum(f(*v)), argnums=0)(*at)
        np.testing.assert_allclose(
            grad,
            jax.grad(lambda *v, f=theirs: jnp.sum(f(*v)), argnums=0)(*at),
            atol=12 * np.finfo(kind).eps,
        )


def test_one_number_and_a_lane_of_numbers_give_the_same_tanh_and_atan2():
    for x in (-2.5, 0.0, 0.3, 100.0):
        assert tanh(x) == pytest.approx(float(tanh(jnp.full(3, x))[0]), abs=5e-16)  # two ulp of 1
        # Two ulp of 2.
        assert atan2(x, 0.4) == pytest.approx(float(atan2(jnp.full(3, x), 0.4)[0]), abs=1e-15)
    assert isinstance(tanh(0.5), float) and isinstance(atan2(1, 2), float)
    # A plain number takes on what it meets.
    assert atan2(jnp.ones(3, jnp.float32), 2.0).dtype == jnp.float32
    assert atan2(1.0, jnp.ones((4, 3))).shape == (4, 3)
    assert atan2(jnp.zeros(1), 0.0)[0] == 0


@pytest.mark.parametrize("n", [1, 2, 3, 5, 9])
def test_small_systems_solve_like_lapack(n):
    random = np.random.default_rng(n)
    half = random.standard_normal((n, n))
    matrix, right = half @ half.T + n * np.eye(n), random.standard_normal(n)
    solution = solve_spd([[float(v) for v in row] for row in matrix], [float(v) for v in right])
    np.testing.assert_allclose(solution, np.linalg.solve(matrix, right), rtol=1e-12)


def test_structural_zeros_change_nothing_and_are_not_multiplied():
    matrix = [[2.0, 0.0, 0.5], [0.0, 3.0, 0.25], [0.5, 0.25, 1.0]]
    right = [1.0, 2.0, 3.0]
    np.testing.assert_allclose(solve_spd(matrix, right), np.linalg.solve(matrix, right), rtol=1e-14)
    multiplied = str(
        jax.make_jaxpr(lambda a, b: solve_spd([[a, 0.0], [0.0, b]], [a, b]))(2.0, 3.0)
    ).count("mul")
    assert multiplied == 2  # one per unknown: forward times inverse


def test_rotation_and_cross_product_agree_on_what_counter_clockwise_is():
    x, z = rotate(1.0, 0.0, np.pi / 2)
    assert (float(x), float(z)) == pytest.approx((0.0, 1.0), abs=1e-15)
    assert cross(1.0, 0.0, 0.0, 1.0) == 1.0
