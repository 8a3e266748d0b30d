"""Random wheels with nothing zero, a state of each, and the same numbers by the names the
derivations use.
"""

import math
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from footfall.machines.parts.terrain.planes import Slope
from footfall.machines.rimless_wheel.pitch_laws import ConstantTorque, PitchPid
from footfall.machines.rimless_wheel.rigid_wheel import RigidWheel, RigidWheelState, WheelStance
from footfall.machines.rimless_wheel.spring_leg import SpringLeg
from footfall.machines.rimless_wheel.steered_wheel import (
    SteeredWheel,
    SteeredWheelCounts,
    SteeredWheelState,
)
from footfall.machines.rimless_wheel.strut import Strut
from footfall.machines.rimless_wheel.torso import Torso
from footfall.machines.rimless_wheel.torso_wheel import TorsoWheel, TorsoWheelState
from support.wheels import ALPHA, LENGTH, SPOKES, as_jax, steered_wheel

SEEDS = range(6)

#: Rounding: a few dozen operations, and mass matrices of condition 1e2 to 1e3.
EXACT = 1e-12


def assert_within(found: Any, expected: Any, share: float) -> None:
    """Equal to a share of the largest expected component."""
    expected = np.asarray(expected, float)
    np.testing.assert_allclose(
        np.asarray(found, float), expected, rtol=0, atol=share * np.max(np.abs(expected))
    )


class PlanarCase(NamedTuple):
    """A sagittal wheel with nothing zero, a state of it, and the same numbers by the derivation's
    names.
    """

    wheel: TorsoWheel
    x: TorsoWheelState
    m: WheelStance
    numbers: dict[str, float]


def planar_case(seed: int) -> PlanarCase:
    draw = np.random.default_rng(seed).uniform
    n = {
        "m1": draw(1, 4), "m2": draw(1, 6), "c": draw(0.03, 0.1), "j1": draw(0.01, 0.1), "j2": draw(0.01, 0.1),
        "k": draw(1e3, 2e4), "c_v": draw(10, 500), "l0": 0.26, "g": draw(1, 20), "gamma": draw(-0.3, 0.3),
        "theta": draw(-0.5, 0.5), "phi": draw(-1.5, 1.5), "l": draw(0.23, 0.28), "theta_v": draw(-5, 5), "phi_v": draw(-8, 8),
        "l_v": draw(-1, 1), "xi": draw(-0.2, 0.2), "torque": draw(-10, 10),
    }  # fmt: skip
    wheel = TorsoWheel(
        wheel_mass=n["m1"], wheel_inertia=n["j1"], gravity=n["g"], spokes=10,
        leg=SpringLeg(rest_length=n["l0"], stiffness=n["k"], damping=n["c_v"]),
        torso=Torso(mass=n["m2"], com_distance=n["c"], inertia=n["j2"], pitch_setpoint=0.6),
        controller=PitchPid(20.0, 40.0, 1.0), terrain=Slope(angle=n["gamma"]),
    )  # fmt: skip
    x = TorsoWheelState(n["theta"], n["phi"], n["l"], n["theta_v"], n["phi_v"], n["l_v"], n["xi"])
    return PlanarCase(
        wheel, as_jax(x), WheelStance(foot_x=jnp.asarray(draw(-5, 5)), steps=jnp.int32(3)), n
    )


class RigidCase(NamedTuple):
    wheel: RigidWheel
    x: RigidWheelState
    m: WheelStance
    numbers: dict[str, float]


def rigid_case(seed: int) -> RigidCase:
    draw = np.random.default_rng(seed).uniform
    n = {
        "m": draw(1, 10), "l": draw(0.1, 0.5), "j": draw(0.01, 0.1), "g": draw(1, 20), "gamma": draw(-0.3, 0.3),
        "torque": draw(-5, 5), "theta": draw(-0.4, 0.4), "theta_v": draw(-5, 5),
    }  # fmt: skip
    wheel = RigidWheel(
        mass=n["m"], inertia=n["j"], wheel_torque=n["torque"], gravity=n["g"], spokes=10, leg=Strut(length=n["l"]),
        terrain=Slope(angle=n["gamma"]),
    )  # fmt: skip
    x = RigidWheelState(n["theta"], n["theta_v"])
    return RigidCase(
        wheel, as_jax(x), WheelStance(foot_x=jnp.asarray(draw(-5, 5)), steps=jnp.int32(3)), n
    )


class SteeredCase(NamedTuple):
    wheel: SteeredWheel
    x: SteeredWheelState
    m: SteeredWheelCounts
    numbers: dict[str, float]


def steered_case(seed: int) -> SteeredCase:
    draw = np.random.default_rng(seed).uniform
    n = {
        "m1": draw(1, 4), "m2": draw(1, 6), "c": draw(0.03, 0.1), "j2": draw(0.01, 0.1), "j_roll": draw(0.05, 0.2),
        "j_psi": draw(0.05, 0.2), "b": draw(0.1, 0.2), "k": draw(1e3, 2e4), "c_v": draw(10, 500), "l0": 0.26, "g": draw(1, 20),
        "s": 0.0, "z": draw(0.22, 0.26), "r": draw(-0.05, 0.05), "phi": draw(-1.5, 1.5), "psi": 0.0, "s_v": draw(-1, 1),
        "z_v": draw(-1, 1), "r_v": draw(-1, 1), "phi_v": draw(-8, 8), "psi_v": draw(-2, 2), "ahead_left": draw(-0.1, 0.1),
        "ahead_right": draw(-0.1, 0.1),
    }  # fmt: skip
    mean, current = draw(-5, 5), draw(-3, 3)
    n["torque_left"], n["torque_right"] = (
        mean / 2 + 5.4 * 0.034 * current,
        mean / 2 - 5.4 * 0.034 * current,
    )
    wheel = SteeredWheel(
        wheel_mass=n["m1"], half_track=n["b"], yaw_inertia=n["j_psi"], roll_inertia=n["j_roll"], steering_current=current,
        gravity=n["g"], spokes=10, leg=SpringLeg(rest_length=n["l0"], stiffness=n["k"], damping=n["c_v"]),
        torso=Torso(mass=n["m2"], com_distance=n["c"], inertia=n["j2"]), controller=ConstantTorque(value=mean),
    )  # fmt: skip
    x = SteeredWheelState(
        height=n["z"], roll=n["r"], torso_angle=n["phi"], speed=n["s_v"], climb_rate=n["z_v"], roll_rate=n["r_v"],
        torso_rate=n["phi_v"], yaw_rate=n["psi_v"], foot_ahead_left=n["ahead_left"], foot_ahead_right=n["ahead_right"],
        x=draw(-3, 3), y=draw(-3, 3), heading=draw(-3, 3), distance=draw(0, 9), pitch_integral=draw(-1, 1),
    )  # fmt: skip
    return SteeredCase(wheel, as_jax(x), SteeredWheelCounts(jnp.int32(4), jnp.int32(5)), n)


def landing_case(seed: int, j1: float, j2: float) -> tuple[TorsoWheel, TorsoWheelState]:
    """A sagittal wheel on a slope, whose next spoke, unstretched, just touches."""
    draw = np.random.default_rng(seed).uniform
    wheel = TorsoWheel(
        wheel_mass=draw(1, 4), wheel_inertia=j1, leg=SpringLeg(rest_length=LENGTH), spokes=SPOKES,
        torso=Torso(mass=draw(1, 6), com_distance=draw(0.03, 0.1), inertia=j2), terrain=Slope(angle=draw(-0.3, 0.3)),
    )  # fmt: skip
    theta = draw(-0.45, -0.2)
    length = LENGTH * math.cos(theta + ALPHA) / math.cos(theta)
    return wheel, as_jax(
        TorsoWheelState(theta, draw(-1.5, 1.5), length, draw(-5, 1), draw(-5, 5), draw(-1, 1), 0.1)
    )


def steered_landing(seed: int) -> tuple[SteeredWheel, SteeredWheelState, SteeredWheelCounts]:
    """The left side's next spoke touches; the right side is somewhere in its stance."""
    draw = np.random.default_rng(seed).uniform
    theta, roll = draw(-0.33, -0.25), draw(-0.02, 0.02)
    left_height = LENGTH * math.cos(theta + ALPHA)
    x = SteeredWheelState(
        height=left_height - 0.155 * roll, roll=roll, torso_angle=0.6, speed=0.6, climb_rate=-0.1, roll_rate=0.2,
        torso_rate=-0.3, yaw_rate=-0.5, foot_ahead_left=left_height * math.tan(theta), foot_ahead_right=draw(-0.02, 0.05),
        x=1.0, y=2.0, heading=0.3, distance=3.0, pitch_integral=0.03,
    )  # fmt: skip
    return steered_wheel(0.5), as_jax(x), SteeredWheelCounts(jnp.int32(4), jnp.int32(5))
