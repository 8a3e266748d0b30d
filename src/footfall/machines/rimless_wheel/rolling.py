"""Which of the two neighbours of a stance spoke is the next to take over.

The one in front, or rolling backward the one behind.

A wheel that rolls backward (`direction` -1) is the mirror image of one that rolls forward: the next
spoke is the one behind, and rocking back means to land on the one in front again. One that starts
on two feet has come from the one it moves away from. One that starts on a single foot has not
decided yet (`direction` 0): pushed back a little, it comes forward again and walks; at rest with
its torso leaning back, it rolls backward. Its landing on the spoke behind is an event of its own,
`touchdown_behind`.

The spoke that a wheel has just left springs to its full length, so under a sagging hub its foot is
still in the ground: the height of that foot (`rock_back`) counts only once it has been positive. A
wheel that turns round before would go through the ground unseen: `turn_back` sees it.
"""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from footfall.hybrid.system import Event
from footfall.machines.parts.terrain.base import AbstractTerrain
from footfall.machines.parts.terrain.planes import Flat
from footfall.numerics.namespace import namespace
from footfall.numerics.scalar import Scalar

#: Of a wheel that rolls forward.
FORWARD = np.int32(1)
#: What a wheel stands on that has no slot for its ground.
LEVEL = Flat()
#: m; a foot no higher than this stands on the ground at the start.
ON_THE_GROUND = 1e-9
#: Of the spoke length: a wheel that comes back has rocked back (room 0) well before it has turned
#: back (this much deeper).
DEEPER = 1e-4
#: s; what makes a length of a speed. Only the sign of the speed matters.
A_MOMENT = 1.0


def rolling(
    speed: Scalar,
    height: Scalar,
    length: Scalar,
    angle: Scalar,
    spokes: int,
    terrain: AbstractTerrain = LEVEL,
    foot_x: Scalar = 0.0,
) -> Any:
    """Direction of a start with this speed, the hub at `height`, its stance spoke at `angle`.

    0 on one foot. One robot or a batch.
    """
    numbers = jax.tree.leaves(terrain) if terrain.uneven else ()
    xp, spacing = namespace(speed, height, angle, *numbers), 2.0 * np.pi / spokes
    hub_z = terrain.relief(foot_x) + height
    tips = (
        (length * xp.sin(a), hub_z - length * xp.cos(a)) for a in (angle + spacing, angle - spacing)
    )
    front, behind = (terrain.room_above(*tip) <= ON_THE_GROUND for tip in tips)
    # At rest from the other foot.
    came_from = xp.where(speed > 0, 1, xp.where(speed < 0, -1, xp.where(behind, 1, -1)))
    return xp.asarray(xp.where(front | behind, came_from, 0)).astype(np.int32)[()]


class Feet(NamedTuple):
    """Heights above the ground of the feet on both sides of the stance foot.

    By what landing on them means.
    """

    next: Scalar  #: it takes over
    behind: Scalar  #: it takes over, of a wheel that has not decided yet
    previous: Scalar  #: the wheel has rocked back


def feet(front: Scalar, behind: Scalar, direction: Scalar, free: Scalar) -> Feet:
    """Of the foot in front and the one behind; `free` stands for one that is not there."""
    forward, backward = direction > 0, direction < 0
    return Feet(
        next=jnp.where(backward, behind, front),
        behind=jnp.where(forward | backward, free, behind),
        previous=jnp.where(forward, behind, jnp.where(backward, front, free)),
    )


def turning_back(previous: Scalar, speed: Scalar, direction: Scalar, length: Scalar) -> Any:
    """Room before a wheel rolls back onto a foot that it has not left yet.

    While that foot is clear, or while the hub still rolls on.

    Positive after every landing but that of a wheel which rolls back already, so nothing is missed
    while `rock_back` does not count.
    """
    return jnp.maximum(
        previous + DEEPER * length, A_MOMENT * jnp.where(direction < 0, -speed, speed)
    )


def side_of_landing(direction: Scalar, *, behind: bool) -> Any:
    """1 where the spoke that lands is the one in front, -1 where it is the one behind.

    `behind`: by `touchdown_behind`.
    """
    return jnp.where((direction < 0) | behind, np.int32(-1), np.int32(1))


def landing_behind(name: str, restarts: tuple[str, ...], side: str = "") -> Event:
    """The event with which a wheel that started on one foot decides to roll backward.

    Or one side of a wheel.
    """
    return Event(
        name,
        f"of a wheel that started on one foot, the{side} spoke behind lands: it rolls backward",
        restarts=restarts,
    )
