"""Vectors and rotations in the x-z plane, as pairs of scalars.

Elementwise, so they fuse into kernels.

Angles are counter-clockwise positive with +x to the right and +z up: rotating +x by a quarter turn
gives +z.
"""

from footfall.numerics.scalar import Scalar
from footfall.numerics.trig import sincos


def rotate(x: Scalar, z: Scalar, angle: Scalar) -> tuple[Scalar, Scalar]:
    """The vector (x, z) turned counter-clockwise by `angle`."""
    s, c = sincos(angle)
    return c * x - s * z, s * x + c * z


def cross(ax: Scalar, az: Scalar, bx: Scalar, bz: Scalar) -> Scalar:
    """a x b = ax bz - az bx, positive when b is counter-clockwise of a."""
    return ax * bz - az * bx
