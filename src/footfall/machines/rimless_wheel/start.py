"""Starts of the spoked wheels: standing on one spoke, rolling over it.

Elementwise: one robot or a batch.
"""

import math
from typing import Any

import jax
import numpy as np

from footfall.hybrid.fields import ParameterError, param
from footfall.hybrid.start import AbstractStart
from footfall.hybrid.system import HybridState
from footfall.machines.parts.terrain.base import AbstractTerrain
from footfall.machines.rimless_wheel.rolling import LEVEL, rolling
from footfall.machines.rimless_wheel.states import (
    DrivenStance,
    DrivenWheelCounts,
    RigidWheelState,
    SampledStance,
    SteeredWheelCounts,
    SteeredWheelState,
    TorsoWheelState,
    WheelStance,
)
from footfall.numerics.namespace import namespace, traced
from footfall.numerics.scalar import Scalar

#: A foot may start this far below the ground: two feet may stand on it at once, and rounding must
#: not forbid that.
ALLOWED_DEPTH = 1e-9


def _require_above_ground(
    height: Scalar,
    rest_length: Scalar,
    angle: Scalar,
    spokes: int,
    terrain: AbstractTerrain = LEVEL,
    foot_x: Scalar = 0.0,
) -> None:
    """No unloaded spoke may reach below the ground, with the hub over x = 0, its height from the
    stance foot. Of a batch, the deepest is named.
    """
    if traced(height, rest_length, angle, *jax.tree.leaves(terrain)):
        return
    hub_z = terrain.relief(foot_x) + height
    spacing = 2.0 * math.pi / spokes
    clearance, lowest = np.inf, 0
    for i in range(1, spokes):  # one spoke at a time: a batch then needs no array of all of them
        x, z = (
            rest_length * np.sin(angle + i * spacing),
            hub_z - rest_length * np.cos(angle + i * spacing),
        )
        room = np.asarray(terrain.room_above(x, z))
        lowest, clearance = np.where(room < clearance, i, lowest), np.minimum(room, clearance)
    worst = int(np.argmin(clearance))
    if np.ravel(clearance)[worst] < -ALLOWED_DEPTH:
        height, angle, lowest, room = (
            _of_lane(v, worst) for v in (height, angle, lowest, clearance)
        )
        raise ParameterError(
            f"the start is below ground: with the hub {height:g} m above it and the stance spoke at"
            f" {angle:g} rad, spoke"
            f" {lowest:g} of {spokes} reaches {-1e3 * room:.3g} mm into the ground. Raise `height`"
            " (or leave it at"
            f' "auto") or bring `spoke_angle` within {spacing / 2:.4g} rad of upright.',
            "height",
            worst if np.ndim(clearance) else None,
        )


def _stance_angle_ok(angle: Scalar) -> None:
    if traced(angle):
        return
    upright = np.cos(angle)
    worst = int(np.argmin(upright))
    if not np.ravel(upright)[worst] > 0:
        message = f"spoke_angle = {_of_lane(angle, worst):g} rad puts the hub below the ground."
        raise ParameterError(message, "spoke_angle", worst if np.ndim(upright) else None)


def _of_lane(value: Scalar, lane: int) -> float:
    """One robot's value of what may be the same for all."""
    return float(np.ravel(value)[lane]) if np.ndim(value) else float(value)


class RigidWheelStart(AbstractStart):
    """Standing on one spoke."""

    spoke_angle: Scalar = param(
        math.pi / 10, unit="rad", doc="stance spoke from the ground's normal, foot ahead positive"
    )
    spoke_rate: Scalar = param(
        -3.0, unit="rad/s", doc="rate of the spoke angle, negative walking forward"
    )

    def state(self, system: Any) -> HybridState:
        angle = self.spoke_angle
        _stance_angle_ok(angle)
        length = system.leg.length
        xp = namespace(angle)
        foot_x = length * xp.sin(angle)  # the hub starts above x = 0
        _require_above_ground(
            length * xp.cos(angle), length, angle, system.spokes, system.terrain, foot_x
        )
        x = RigidWheelState(spoke_angle=self.spoke_angle, spoke_rate=self.spoke_rate)
        way = rolling(
            -self.spoke_rate,
            length * xp.cos(angle),
            length,
            angle,
            system.spokes,
            system.terrain,
            foot_x,
        )
        return HybridState(x, WheelStance(foot_x=foot_x, steps=np.int32(0), direction=way))


class TorsoWheelStart(AbstractStart):
    """Standing on one spoke, rolling over it, the torso held."""

    spoke_angle: Scalar = param(
        math.pi / 10, unit="rad", doc="stance spoke from the ground's normal, foot ahead positive"
    )
    spoke_rate: Scalar = param(
        -3.5, unit="rad/s", doc="rate of the spoke angle, negative walking forward"
    )
    height: Scalar | None = param(
        None, unit="m", doc="hub above the ground; auto: the stance spoke is unstretched"
    )
    torso_angle: Scalar | None = param(
        None, unit="rad", doc="torso from hanging; auto: its set point"
    )
    torso_rate: Scalar = param(0.0, unit="rad/s", doc="rate of the torso angle")
    spoke_speed: Scalar = param(0.0, unit="m/s", doc="rate of the spoke length")

    def state(self, system: Any) -> HybridState:
        angle, rest = self.spoke_angle, system.leg.rest_length
        _stance_angle_ok(angle)
        xp = namespace(angle)
        height = rest * xp.cos(angle) if self.height is None else self.height
        x = TorsoWheelState(
            spoke_angle=self.spoke_angle,
            torso_angle=(
                system.torso.pitch_setpoint if self.torso_angle is None else self.torso_angle
            ),
            spoke_length=rest if self.height is None else height / xp.cos(angle),
            spoke_rate=self.spoke_rate,
            torso_rate=self.torso_rate,
            spoke_speed=self.spoke_speed,
            pitch_integral=0.0,
        )
        foot_x = x.spoke_length * xp.sin(angle)  # the hub starts above x = 0
        _require_above_ground(height, rest, angle, system.spokes, system.terrain, foot_x)
        way = rolling(-self.spoke_rate, height, rest, angle, system.spokes, system.terrain, foot_x)
        stance = {"foot_x": foot_x, "steps": np.int32(0), "direction": way}
        if system.controller is None:  # a control computer decides
            return HybridState(x, DrivenStance(**stance, torque=0.0))
        if system.control_period is None:
            return HybridState(x, WheelStance(**stance))
        return HybridState(x, SampledStance(**stance, torque=0.0, ticks=np.int32(0)))


class SteeredWheelStart(AbstractStart):
    """Both sides on one spoke each, rolling over them, level and straight ahead."""

    spoke_angle: Scalar = param(
        math.pi / 10, unit="rad", doc="stance spokes from vertical, foot ahead positive"
    )
    speed: Scalar = param(
        0.8, unit="m/s", doc="speed of the axle as it rolls over the stance spokes"
    )
    height: Scalar | None = param(
        None, unit="m", doc="axle above the ground; auto: the stance spokes are unstretched"
    )
    torso_angle: Scalar | None = param(
        None, unit="rad", doc="torso from hanging; auto: its set point"
    )
    roll: Scalar = param(
        0.0, unit="rad", doc="roll, positive with the left side up", gt=-0.5, lt=0.5
    )
    heading: Scalar = param(0.0, unit="rad", doc="heading, counter-clockwise from above")

    def state(self, system: Any) -> HybridState:
        angle, rest = self.spoke_angle, system.leg.rest_length
        _stance_angle_ok(angle)
        xp = namespace(angle, self.roll)
        sink = system.half_track * xp.abs(self.roll)  # of the lower side
        height = rest * xp.cos(angle) + sink if self.height is None else self.height
        _require_above_ground(height - sink, rest, angle, system.spokes)
        ahead = (height - sink) * xp.tan(angle)
        x = SteeredWheelState(
            height=height,
            roll=self.roll,
            torso_angle=(
                system.torso.pitch_setpoint if self.torso_angle is None else self.torso_angle
            ),
            speed=self.speed * xp.cos(angle),
            climb_rate=self.speed * xp.sin(angle),
            roll_rate=0.0,
            torso_rate=0.0,
            yaw_rate=0.0,
            foot_ahead_left=ahead,
            foot_ahead_right=ahead,
            x=0.0,
            y=0.0,
            heading=self.heading,
            distance=0.0,
            pitch_integral=0.0,
        )
        # Both sides as the lower one.
        way = rolling(self.speed, height - sink, rest, angle, system.spokes)
        counts = {
            "steps_left": np.int32(0),
            "steps_right": np.int32(0),
            "direction_left": way,
            "direction_right": way,
        }
        if system.controller is None:  # a control computer decides
            return HybridState(x, DrivenWheelCounts(**counts, torque_left=0.0, torque_right=0.0))
        return HybridState(x, SteeredWheelCounts(**counts))
