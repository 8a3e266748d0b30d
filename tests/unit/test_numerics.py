"""Arrays only: sine and cosine, small systems, the plane."""

import jax
import jax.numpy as jnp
import mpmath
import numpy as np
import pytest

from footfall.numerics.planar import cross, rotate
from footfall.numerics.small_solve import solve_spd
from footfall.numerics.trig import sincos


def ulps(value, exact, kind):
    return abs(float((mpmath.mpf(float(value)) - exact) / mpmath.mpf(float(np.spacing(kind(abs(float(exact))))))))


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_lanes_of_sine_and_cosine_are_right_to_two_units_in_the_last_place(kind):
    """Random angles up to 1e4, and the floats next to multiples of pi/2, where the reduction cancels most."""
    random = np.random.default_rng(3)
    near = (np.arange(-6366, 6367, 61) * np.pi / 2).astype(kind)
    angles = np.concatenate([random.uniform(-1e4, 1e4, 300).astype(kind), random.uniform(-4, 4, 200).astype(kind), near])
    angles = np.concatenate([angles, np.nextafter(near, kind(np.inf))])
    s, c = sincos(jnp.asarray(angles))
    assert s.dtype == kind
    with mpmath.workdps(50):
        worst = max(
            max(ulps(a, mpmath.sin(mpmath.mpf(float(x))), kind), ulps(b, mpmath.cos(mpmath.mpf(float(x))), kind))
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
        np.testing.assert_allclose([float(v) for v in one], [float(v[0]) for v in lane], rtol=0, atol=3e-16)  # an ulp of 1


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
    multiplied = str(jax.make_jaxpr(lambda a, b: solve_spd([[a, 0.0], [0.0, b]], [a, b]))(2.0, 3.0)).count("mul")
    assert multiplied == 2  # one per unknown: forward times inverse


def test_rotation_and_cross_product_agree_on_what_counter_clockwise_is():
    x, z = rotate(1.0, 0.0, np.pi / 2)
    assert (float(x), float(z)) == pytest.approx((0.0, 1.0), abs=1e-15)
    assert cross(1.0, 0.0, 0.0, 1.0) == 1.0
