"""Spokes over the ground.

Where each tip is, what is under it, and what a wheel on uneven ground cannot do.

A tip lands where the ground is: the wheel turns about its stance foot until the next tip has no
room left above the ground under it. The new foot stays where it landed. Hub and spokes are where
they were, so nothing but the plastic impact changes the energy.                          (ground.1)

A tip that runs into an upright face, the spoke after the next one, or the hub, ends the run: the
wheel stumbles. What the ground does to a spoke between its tip and the hub is not modelled; where a
corner is in the way of the stance spoke, the run is doubtful.
"""

import math
from collections.abc import Mapping

import jax.numpy as jnp
import numpy as np

from footfall.hybrid.doubt import Doubt
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.system import Event
from footfall.machines.parts.terrain.base import AbstractTerrain
from footfall.numerics.scalar import Scalar

STUMBLED = Outcome("stumbled", "a spoke ran into the ground where no foot can stand")
#: A corner may cut this far into the stance spoke [m]: less than half the width of any.
SPOKE_ROOM = 1e-3


def stumble() -> Event:
    """The ending of a wheel on uneven ground."""
    return Event(
        "stumble",
        "a tip runs into an upright face, or a spoke after the next one into the ground",
        STUMBLED,
        unit="m",
    )


def tip(
    hub_x: Scalar, hub_z: Scalar, length: Scalar, s: Scalar, c: Scalar, turn: float
) -> tuple[Scalar, Scalar]:
    """The tip of the spoke that is `turn` on from the stance spoke.

    The angle of the stance spoke has the sine s and the cosine c.
    """
    cos_turn, sin_turn = math.cos(turn), math.sin(turn)
    return hub_x + length * (s * cos_turn + c * sin_turn), hub_z - length * (
        c * cos_turn - s * sin_turn
    )


def room_to_stumble(
    terrain: AbstractTerrain,
    hub_x: Scalar,
    hub_z: Scalar,
    length: Scalar,
    s: Scalar,
    c: Scalar,
    spacing: float,
    direction: Scalar,
) -> Scalar:
    """[m] Least room before the wheel stumbles, the way it rolls.

    Room at walls of the next tip, and above the ground of the tip after it and of the hub.
    """
    rooms = [terrain.room_above(hub_x, hub_z)]
    for k in (1, 2):
        ahead, behind = (
            tip(hub_x, hub_z, length, s, c, side * k * spacing) for side in (1.0, -1.0)
        )
        x, z = (jnp.where(direction < 0, back, on) for back, on in zip(behind, ahead, strict=True))
        at_walls = terrain.room_at_walls(x, z)  # where there are walls, of their tops too
        if at_walls is not None:
            rooms.append(at_walls)
        elif k == 2:
            rooms.append(terrain.room_above(x, z))
    least = rooms[0]
    for room in rooms[1:]:
        least = jnp.minimum(least, room)
    return least


def to_footing(
    terrain: AbstractTerrain, foot_x: Scalar, along: Scalar, normal: Scalar
) -> tuple[Scalar, Scalar]:
    """A force along and normal to the ground under the foot.

    Given along and normal to the plane of the ground.
    """
    if not terrain.uneven:
        return along, normal
    tilt = terrain.tilt(foot_x)
    stretch = jnp.sqrt(1.0 + tilt * tilt)
    return (along + tilt * normal) / stretch, (normal - tilt * along) / stretch


def corner_doubts(terrain: AbstractTerrain, columns: Mapping[str, np.ndarray]) -> list[Doubt]:
    """A corner of the ground inside the stance spoke."""
    if not terrain.uneven:
        return []
    foot_x, foot_z, hub_x, hub_z = (
        np.asarray(columns[f"{g}.{a}"])[:, None] for g in ("foot", "hub") for a in "xz"
    )
    every = (foot_x, hub_x)
    corners = np.array(sorted(set(terrain.outline(float(np.min(every)), float(np.max(every))))))
    x, z = corners.T
    inside = (z > foot_z) & (z < hub_z)
    spoke = foot_x + (z - foot_z) / np.where(inside, hub_z - foot_z, 1.0) * (hub_x - foot_x)
    cut = np.where(inside & ((spoke - x) * (foot_x - x) < 0), np.abs(spoke - x), 0.0)
    worst = float(cut.max(initial=0.0))
    if worst <= SPOKE_ROOM:
        return []
    at = x[np.unravel_index(np.argmax(cut), cut.shape)[1]]
    said = (
        f"the corner of the ground at x = {at:.4g} m is {1e3 * worst:.3g} mm inside the stance"
        " spoke"
    )
    return [Doubt("support_invalid", f"{said}, and the model knows feet only; try lower steps")]
