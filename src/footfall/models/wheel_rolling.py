"""Which of the two neighbours of a stance spoke is the next to take over: the one in front, or rolling backward the one behind.

A wheel that starts backward (`direction` -1) is the mirror image of one that starts forward: the next spoke is the one behind, and rocking
back means to land on the one in front again. Only before its first footfall may it still change its mind: a wheel that was
pushed back a little, and comes forward again, walks forward.
"""

from typing import Any

import jax.numpy as jnp
import numpy as np

from footfall.numerics.namespace import namespace
from footfall.numerics.scalar import Scalar

#: Of a wheel that rolls forward.
FORWARD = np.int32(1)


def rolling(speed: Scalar) -> Any:
    """Direction of a start with this speed, forward positive; at rest it is forward. One robot or a batch."""
    xp = namespace(speed)
    return xp.where(xp.asarray(speed) < 0, -FORWARD, FORWARD).astype(np.int32)[()]


def next_and_previous(front: Scalar, behind: Scalar, direction: Scalar, steps: Scalar, free: Scalar) -> tuple[Scalar, Scalar]:
    """Height above the ground of the foot that lands next, and of the one it would rock back on (`free`: there is none)."""
    forward, undecided = direction > 0, steps == 0
    backward = jnp.where(undecided, jnp.minimum(front, behind), behind)
    return jnp.where(forward, front, backward), jnp.where(forward, behind, jnp.where(undecided, free, front))


def side_of_landing(front: Scalar, behind: Scalar, direction: Scalar, steps: Scalar) -> Any:
    """1 where the spoke that lands is the one in front, -1 where it is the one behind."""
    is_behind = (direction < 0) & ((steps > 0) | (behind < front))
    return jnp.where(is_behind, np.int32(-1), np.int32(1))
