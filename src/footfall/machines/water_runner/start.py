"""Start of the runner: let go at some height, pitch and speed, the cranks turning.

Elementwise: one robot or a batch.
"""

import functools
import math
from typing import Any

import jax
import numpy as np

from footfall.hybrid.compose import joined
from footfall.hybrid.fields import ParameterError, param
from footfall.hybrid.start import AbstractStart
from footfall.hybrid.system import HybridState
from footfall.machines.water_runner.legs import Mount, each_leg, foot_depth, look, own_of
from footfall.machines.water_runner.states import (
    BristleState,
    FootState,
    PerLeg,
    RunnerMode,
    RunnerState,
)
from footfall.numerics.namespace import namespace, traced
from footfall.numerics.scalar import Scalar

#: On water the crank axes start this high above it [m] unless the start says otherwise.
HEIGHT_OVER_WATER = 0.05
#: A foot may start this deep in hard ground [m]: standing presses it in by 1 or 2 mm, and the force
#: grows with the cube.
ALLOWED_DEPTH = 0.004


class RunnerStart(AbstractStart):
    """Let go above the surface."""

    height: Scalar | None = param(
        None,
        unit="m",
        doc=(
            "centre of mass above the surface; auto: 50 mm on water, on hard ground the lowest foot"
            " just touches"
        ),
    )
    pitch: Scalar = param(0.0, unit="rad", doc="pitch, positive nose down", gt=-1.57, lt=1.57)
    speed: Scalar = param(0.0, unit="m/s", doc="forward speed")
    climb_rate: Scalar = param(0.0, unit="m/s", doc="speed up")
    pitch_rate: Scalar = param(0.0, unit="rad/s", doc="rate of the pitch")
    crank_frequency: Scalar = param(
        8.0, unit="Hz", doc="turns of the cranks per second, for a drive that does not prescribe it"
    )

    def state(self, system: Any) -> HybridState:
        unknown = traced(*jax.tree.leaves((system, self)))  # nothing to check then
        if not unknown and system.pitch == "locked" and np.any(np.asarray(self.pitch_rate) != 0):
            raise ParameterError(
                'the pitch is locked (robot.pitch = "locked"), so its rate must be zero.',
                "pitch_rate",
            )
        if not unknown:
            _check_pitch(system, self.pitch)
        lowest = _touching_height(system, self._at(system, 0.0))
        height = self.height
        if height is None:
            height = HEIGHT_OVER_WATER if system.on_water else lowest
        if not unknown:
            _check_height(system, height, lowest)
        x = self._at(system, height)
        feet, mode = _seen(system, x)
        for name, (_, rooms) in ({} if unknown else feet).items():
            system.foot.check_start(name.replace("_", " "), rooms, system.on_water)
        return HybridState(x, mode if unknown else jax.tree.map(np.asarray, mode))

    def _at(self, system: Any, height: Scalar) -> RunnerState:
        bristle = BristleState(bristle=0.0) if system.friction.has_memory else None
        foot = joined(FootState(), system.foot.rest(), bristle)
        own = RunnerState(
            x=0.0,
            y=height,
            pitch=self.pitch,
            vx=-self.speed,
            vy=self.climb_rate,
            pitch_rate=self.pitch_rate,
            feet=PerLeg.of(system.names, lambda _: foot),
        )
        return joined(own, system.drive.rest(2.0 * math.pi * self.crank_frequency))


@jax.jit  # one small program: operation by operation would take seconds
def _seen(system: Any, x: RunnerState) -> tuple[dict[str, tuple[Scalar, Any]], RunnerMode]:
    """(depth, rooms of its own guards) of each foot, and the discrete state."""

    frame = look(system, 0.0, x)

    def see(mount: Mount) -> tuple[Scalar, Any]:
        deep, at = foot_depth(system, x, frame, mount)
        return deep, system.foot.guards(at, own_of(system, mount.foot), system.on_water)

    return each_leg(system, x, None, see).by_name(), system.mode_at(0.0, x)


def _touching_height(system: Any, at_zero: RunnerState) -> Scalar:
    """Height of the centre of mass at which the lowest foot just touches.

    `at_zero` has the centre of mass at the origin.
    """
    xp = namespace(*jax.tree.leaves((system, at_zero)))
    deepest = functools.reduce(
        xp.maximum, [xp.asarray(deep, float) for deep, _ in _seen(system, at_zero)[0].values()]
    )
    return (
        deepest if system.on_water else deepest / xp.cos(xp.asarray(system.terrain.descent, float))
    )


def _check_pitch(system: Any, pitch: Scalar) -> None:
    over = np.abs(np.asarray(pitch, float)) - np.asarray(system.tip_pitch, float)
    if np.any(over >= 0):
        worst = int(np.argmax(over))
        value = np.ravel(np.broadcast_to(pitch, np.shape(over)))[worst]
        raise ParameterError(
            f"pitch = {value:.4g} rad: the robot starts tipped over (robot.tip_pitch).",
            "pitch",
            worst if np.ndim(over) else None,
        )


def _check_height(system: Any, height: Scalar, touching: Scalar) -> None:
    if not system.on_water:
        _check_above_ground(system, height, touching)
    elif np.any(np.asarray(height + system.body.half_height) <= 0):
        worst = int(np.argmin(height)) if np.ndim(height) else None
        raise ParameterError(
            f"height = {np.min(height):g} m: the body starts under water.", "height", worst
        )


def _check_above_ground(system: Any, height: Scalar, touching: Scalar) -> None:
    sunk_in = np.asarray(touching - np.asarray(height, float))
    worst = int(np.argmax(sunk_in))
    deepest = np.ravel(sunk_in)[worst]
    if deepest > ALLOWED_DEPTH:
        low = np.ravel(np.broadcast_to(touching, sunk_in.shape))[worst]
        raise ParameterError(
            f"the start is below ground: a foot reaches {1e3 * deepest:.3g} mm into it. Start at"
            f' {low:.4g} m or higher, or leave `height` at "auto".',
            "height",
            worst if sunk_in.ndim else None,
        )
    half, cosine = (
        np.asarray(system.body.half_height, float),
        np.cos(np.asarray(system.terrain.descent, float)),
    )
    room = np.asarray(np.asarray(height, float) * cosine - half)
    if np.any(room <= 0):
        worst = int(np.argmin(room))
        least = np.ravel(np.broadcast_to(half / cosine, room.shape))[worst]
        raise ParameterError(
            f"the body starts {-1e3 * np.ravel(room)[worst]:.3g} mm below the top of the ground:"
            f" its feet do not reach below it. A height of more than {least:.4g} m lets it fall;"
            " other legs (leg.assembly, leg.foot_length) stand.",
            "height",
            worst if room.ndim else None,
        )
