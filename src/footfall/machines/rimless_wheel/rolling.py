"""Which of the two neighbours of a stance spoke is the next to take over: the one in front, or rolling backward the one behind.

A wheel that starts backward (`direction` -1) is the mirror image of one that starts forward: the next spoke is the one behind, and rocking
back means to land on the one in front again. Only before its first footfall may it still change its mind: a wheel that was
pushed back a little, and comes forward again, walks forward.

The spoke that a wheel has just left springs to its full length, so under a sagging hub its foot is still in the ground: the height of that
foot (`rock_back`) counts only once it has been positive. A wheel that turns round before would go through the ground unseen: `turn_back` sees it.
"""

from typing import Any

import jax.numpy as jnp
import numpy as np

from footfall.numerics.namespace import namespace
from footfall.numerics.scalar import Scalar

#: Of a wheel that rolls forward.
FORWARD = np.int32(1)
#: Of the spoke length: a wheel that comes back has rocked back (room 0) well before it has turned back (this much deeper).
DEEPER = 1e-4
#: s; what makes a length of a speed. Only the sign of the speed matters.
A_MOMENT = 1.0


def rolling(speed: Scalar) -> Any:
    """Direction of a start with this speed, forward positive; at rest it is forward. One robot or a batch."""
    xp = namespace(speed)
    return xp.where(xp.asarray(speed) < 0, -FORWARD, FORWARD).astype(np.int32)[()]


def next_and_previous(front: Scalar, behind: Scalar, direction: Scalar, steps: Scalar, free: Scalar) -> tuple[Scalar, Scalar]:
    """Height above the ground of the foot that lands next, and of the one it would rock back on (`free`: there is none)."""
    forward, undecided = direction > 0, steps == 0
    backward = jnp.where(undecided, jnp.minimum(front, behind), behind)
    return jnp.where(forward, front, backward), jnp.where(forward, behind, jnp.where(undecided, free, front))


def turning_back(previous: Scalar, speed: Scalar, direction: Scalar, length: Scalar) -> Any:
    """Room before a wheel rolls back onto a foot that it has not left yet: while that foot is clear, or while the hub still rolls on.

    Positive after every landing but that of a wheel which rolls back already, so nothing is missed while `rock_back` does not count.
    """
    return jnp.maximum(previous + DEEPER * length, A_MOMENT * jnp.where(direction > 0, speed, -speed))


def side_of_landing(front: Scalar, behind: Scalar, direction: Scalar, steps: Scalar) -> Any:
    """1 where the spoke that lands is the one in front, -1 where it is the one behind."""
    is_behind = (direction < 0) & ((steps > 0) | (behind < front))
    return jnp.where(is_behind, np.int32(-1), np.int32(1))
