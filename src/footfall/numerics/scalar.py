"""The one type a model computes with."""

from typing import TYPE_CHECKING, TypeAlias

import jax
import numpy as np

#: A number as models see it: a Python float, a NumPy scalar, or a traced JAX array. With a lane
#: axis in a batch it is an array, and the same elementwise code runs on it.
if TYPE_CHECKING:
    # Two kinds for the checker: it takes minutes to multiply out all four.
    Scalar: TypeAlias = jax.Array | float
else:
    Scalar = jax.Array | np.ndarray | np.floating | float
