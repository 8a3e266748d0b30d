"""Sine and cosine together: every model that needs one needs the other.

XLA's own double-precision sine on a CPU is a scalar library call, two per angle. Here both come
from one argument reduction and two polynomials, elementwise, so they vectorise and fuse into
kernels. Coefficients: fdlibm (float64), Cephes (float32). Good to 2 units in the last place for
|angle| <= 1e4; beyond that the reduction loses digits.
"""

import math
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

from footfall.numerics.scalar import Scalar

# pi/2 in parts with enough trailing zero bits that k * part is exact for every quadrant count k in
# range.
_HALF_PI = {
    np.float64: (1.57079632673412561417e00, 6.07710050630396597660e-11, 2.02226624879595063154e-21),
    np.float32: (1.5703125, 0.0004837512969970703, 7.549533620476723e-08, 2.5633440682570896e-12),
}
_SIN = {
    np.float64: (
        -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04,
        2.75573137070700676789e-06, -2.50507602534068634195e-08, 1.58969099521155010221e-10,
    ),
    np.float32: (-1.6666654611e-1, 8.3321608736e-3, -1.9515295891e-4),
}  # fmt: skip
_COS = {
    np.float64: (
        4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05,
        -2.75573143513906633035e-07, 2.08757232129817482790e-09, -1.13596475577881948265e-11,
    ),
    np.float32: (4.166664568298827e-2, -1.388731625493765e-3, 2.443315711809948e-5),
}  # fmt: skip


def sincos(angle: Scalar) -> tuple[Scalar, Scalar]:
    """(sin, cos) of an angle in radians.

    One angle at a time goes to the library (the same speed, and a program a third as long to trace
    and compile); lanes of angles go to the polynomials.
    """
    # A plain number stays one, and takes on the precision of what it meets.
    if isinstance(angle, int | float):
        return math.sin(angle), math.cos(angle)
    angle = jnp.asarray(angle)
    if not jnp.issubdtype(angle.dtype, jnp.floating):
        angle = angle.astype(float)
    return (jnp.sin(angle), jnp.cos(angle)) if angle.ndim == 0 else _sincos(angle)


@jax.custom_jvp
def _sincos(x: Array) -> tuple[Array, Array]:
    kind = np.dtype(x.dtype).type
    # NumPy scalars of the right type: Python floats would do, arrays would be captured and break a
    # fused kernel.
    *coarse, last = (kind(p) for p in _HALF_PI[kind])
    turns = jnp.floor(x * kind(2.0 / np.pi) + kind(0.5))
    r = x
    for p in coarse:
        r = r - turns * p
    tail = turns * last
    high = r - tail
    low = (r - high) - tail  # what the last subtraction rounded away
    r, z = high, high * high
    sine = r + (r * z * _horner(z, _SIN[kind], kind) + low)
    half = z * kind(0.5)
    one_less = kind(1.0) - half
    cosine = one_less + (
        ((kind(1.0) - one_less) - half) + (z * z * _horner(z, _COS[kind], kind) - r * low)
    )
    quadrant = turns.astype(jnp.int32)
    odd = (quadrant & np.int32(1)) == np.int32(1)
    sine, cosine = jnp.where(odd, cosine, sine), jnp.where(odd, sine, cosine)
    sine = jnp.where((quadrant & np.int32(2)) != np.int32(0), -sine, sine)
    cosine = jnp.where(((quadrant + np.int32(1)) & np.int32(2)) != np.int32(0), -cosine, cosine)
    return sine, cosine


def _horner(z: Array, coefficients: tuple[float, ...], kind: type) -> Array:
    value = jnp.full_like(z, kind(coefficients[-1]))
    for c in coefficients[-2::-1]:
        value = value * z + kind(c)
    return value


@partial(_sincos.defjvp)
def _sincos_jvp(
    primals: tuple[Array], tangents: tuple[Array]
) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    sine, cosine = _sincos(*primals)
    (dx,) = tangents
    return (sine, cosine), (cosine * dx, -sine * dx)
