"""Hyperbolic tangent and the angle of a vector, elementwise, from polynomials.

What libm would do one lane at a time, done for all at once.

Coefficients are minimax fits of our own, better than an eighth of a unit in the last place; what is
left is rounding. Against mpmath both were right to 2.3 units in the last place in either precision.
Subnormal results may come out as zero, as everywhere in XLA.
"""

import math
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array, lax

from footfall.numerics.scalar import Scalar

# (e^r - 1 - r - r^2/2) / r^3 for |r| <= ln(2)/2
_EXPM1 = {
    np.float64: (
        0.16666666666666669,
        0.04166666666666667,
        0.008333333333330051,
        0.0013888888888880918,
        0.0001984126986310847,
        2.480158733403087e-05,
        2.7557268375356204e-06,
        2.755726422638177e-07,
        2.5100425540993716e-08,
        2.091817130916585e-09,
    ),
    np.float32: (0.16666667, 0.041666556, 0.008333301, 0.0013926215, 0.00019899337),
}
# ln(2) in two parts, the first with enough trailing zero bits that k times it is exact.
_LN2 = {
    np.float64: (0.6931471805599188, 2.6557520756679704e-14),
    np.float32: (0.69314575, 1.4286068e-06),
}
# Beyond this tanh is 1 to the last bit.
_FLAT = {np.float64: 20.0, np.float32: 10.0}
# (atan(q)/q - 1) / q^2 as a polynomial in q^2, for |q| <= tan(pi/8)
_ATAN = {
    np.float64: (
        -0.3333333333333333,
        0.19999999999995738,
        -0.14285714284707482,
        0.11111111018246786,
        -0.09090904689070888,
        0.07692185555073804,
        -0.0666454211553032,
        0.05858395084681542,
        -0.05086643589619784,
        0.039263704391759996,
        -0.01921343500708847,
    ),
    np.float32: (-0.3333333, 0.19999558, -0.14264451, 0.107482396, -0.064647645),
}
# pi/4 in two parts: three times the first is exact.
_EIGHTH = {
    np.float64: (0.7853981633974483, 3.061616997868383e-17),
    np.float32: (0.785398, 1.5695824e-07),
}
_TAN_SIXTEENTH = math.sqrt(2.0) - 1.0


def tanh(x: Scalar) -> Scalar:
    """Hyperbolic tangent. One number goes to the library, lanes go to the polynomial."""
    # A plain number stays one, and takes on the precision of what it meets.
    if isinstance(x, int | float):
        return math.tanh(x)
    x = _real(jnp.asarray(x))
    return jnp.tanh(x) if x.ndim == 0 else _tanh(x)


def atan2(y: Scalar, x: Scalar) -> Scalar:
    """Angle of the vector (x, y), in radians, from -pi to pi; 0 for the vector that has none."""
    if isinstance(y, int | float) and isinstance(x, int | float):
        return math.atan2(y, x)
    dtype = jnp.result_type(y, x)  # plain numbers take on the other's precision
    y, x = (_real(jnp.asarray(v, dtype)) for v in (y, x))
    if y.ndim == 0 and x.ndim == 0:
        return jnp.arctan2(y, x)
    return _atan2(*jnp.broadcast_arrays(y, x))


def _real(x: Array) -> Array:
    return x if jnp.issubdtype(x.dtype, jnp.floating) else x.astype(float)


@jax.custom_jvp
def _tanh(x: Array) -> Array:
    """With t = e^(2|x|) - 1 it is t / (t + 2), which loses nothing near 0.

    t = 2^k (e^r - 1) + (2^k - 1), where 2|x| = k ln(2) + r.
    """
    kind, whole, digits = _format(x)
    high, low = (kind(part) for part in _LN2[kind])
    y = jnp.minimum(jnp.abs(x), kind(_FLAT[kind])) * kind(2)
    k = jnp.floor(y * kind(1 / math.log(2)) + kind(0.5))
    # Adding this leaves a whole number in the last bits, from where a shift makes it an exponent.
    power = _from_bits(
        (_bits(k + kind(1.5 * 2.0**digits)) << whole(digits)) + whole(_ONE[kind]), kind
    )
    r = (y - k * high) - k * low
    z = r * r
    grown = r + (z * kind(0.5) + r * z * _horner(r, _EXPM1[kind], kind))
    t = power * grown + (power - kind(1))
    return _from_bits(_bits(t / (t + kind(2))) | _sign(x), kind)


@jax.custom_jvp
def _atan2(y: Array, x: Array) -> Array:
    """Within an eighth of a turn of an axis or a diagonal, so that one quotient q, |q| <=
    tan(pi/8), and one division are enough.
    """
    kind, whole, _ = _format(x)
    across, along = jnp.abs(y), jnp.abs(x)
    steep = across > along
    less, more = jnp.where(steep, along, across), jnp.where(steep, across, along)
    # Two infinities are as good as two ones. A power of two keeps the sum below from overflowing
    # and the quotient from flushing to zero.
    endless = (less == kind(np.inf)) & (more == kind(np.inf))
    scale = jnp.where(more > kind(1), kind(0.25), kind(4))
    less, more = (
        jnp.where(endless, kind(1), less * scale),
        jnp.where(endless | (more == kind(0)), kind(1), more * scale),
    )
    oblique = less > more * kind(_TAN_SIXTEENTH)
    q = jnp.where(oblique, less - more, less) / jnp.where(oblique, less + more, more)
    z = q * q
    angle = q + q * z * _horner(z, _ATAN[kind], kind)
    # From the nearest axis or diagonal, and in which sense: eighths of a turn are counted from the
    # x axis.
    eighths = jnp.where(oblique, kind(1), kind(0))
    angle, eighths = jnp.where(steep, -angle, angle), jnp.where(steep, kind(2) - eighths, eighths)
    back = _bits(x) < whole(0)  # a negative zero too
    angle, eighths = jnp.where(back, -angle, angle), jnp.where(back, kind(4) - eighths, eighths)
    high, low = (kind(part) for part in _EIGHTH[kind])
    angle = eighths * high + (angle + eighths * low)
    return _from_bits(_bits(angle) | _sign(y), kind)


# ---- numbers as bits

_ONE = {np.float64: 0x3FF0000000000000, np.float32: 0x3F800000}  #: the bits of 1


def _format(x: Array) -> tuple[Any, Any, int]:
    """The real type, the integer as wide, and how many bits follow the point."""
    kind = np.dtype(x.dtype).type
    return kind, np.int64 if kind == np.float64 else np.int32, np.finfo(kind).nmant


def _bits(x: Array) -> Array:
    return lax.bitcast_convert_type(x, jnp.int64 if x.dtype == jnp.float64 else jnp.int32)


def _from_bits(bits: Array, kind: type) -> Array:
    return lax.bitcast_convert_type(bits, kind)


def _sign(x: Array) -> Array:
    bits = _bits(x)
    return bits & np.iinfo(bits.dtype).min


def _horner(z: Array, coefficients: tuple[float, ...], kind: type) -> Array:
    value = jnp.full_like(z, kind(coefficients[-1]))
    for c in coefficients[-2::-1]:
        value = value * z + kind(c)
    return value


# ---- derivatives


@partial(_tanh.defjvp)
def _tanh_jvp(primals: tuple[Array], tangents: tuple[Array]) -> tuple[Array, Array]:
    value, (dx,) = _tanh(*primals), tangents
    return value, dx * (1 + value) * (1 - value)


@partial(_atan2.defjvp)
def _atan2_jvp(primals: tuple[Array, Array], tangents: tuple[Array, Array]) -> tuple[Array, Array]:
    (y, x), (dy, dx) = primals, tangents
    square = x * x + y * y
    return _atan2(y, x), dy * (x / square) - dx * (y / square)
