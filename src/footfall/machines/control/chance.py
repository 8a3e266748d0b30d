"""Chance from counters.

The k-th number of a stream, the same in every engine, batch and order of evaluation.

Elementwise on 32-bit integers, so that it runs inside one kernel; no generator has to be carried
along.
"""

import jax.numpy as jnp
import numpy as np
from jax import lax

from footfall.numerics.scalar import Scalar

#: One stream for each thing that chance decides.
HIGH_JITTER, MID_JITTER, FRAME_LOSS, COMMAND_LOSS, PITCH_NOISE = range(5)
#: Uniform numbers added up for one of a bell shape; streams of noise take as many as this.
SUMMED = 4


def _odd(number: int) -> np.int32:
    """The lowest 32 bits of a constant as a signed integer."""
    return np.uint32(number % 2**32).astype(np.int32)


def _mixed(x: Scalar) -> Scalar:
    """A bijection of the 32-bit integers in which every input bit reaches every output bit
    (Mueller's hash).
    """
    for _ in range(2):
        x = (lax.shift_right_logical(x, jnp.int32(16)) ^ x) * _odd(0x045D9F3B)
    return lax.shift_right_logical(x, jnp.int32(16)) ^ x


def uniform(seed: Scalar, stream: int, count: Scalar, like: Scalar) -> Scalar:
    """A number in [0, 1) of 24 random bits, in the precision of `like`."""
    real = jnp.result_type(like)
    key = _mixed(jnp.asarray(seed, jnp.int32) + _odd(0x9E3779B9 * (stream + 1)))
    bits = lax.shift_right_logical(_mixed(jnp.asarray(count, jnp.int32) ^ key), jnp.int32(8))
    return bits.astype(real) * real.type(2.0**-24)


def bell(seed: Scalar, stream: int, count: Scalar, like: Scalar) -> Scalar:
    """A number of mean 0 and variance 1, nearly Gaussian.

    The sum of four uniform ones, so within 3.5 of 0.
    """
    total = sum(uniform(seed, stream, count * SUMMED + n, like) for n in range(SUMMED))
    return (total - 0.5 * SUMMED) * (12.0 / SUMMED) ** 0.5
