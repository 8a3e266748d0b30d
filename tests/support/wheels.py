"""The rimless wheels of the reference page.

Parameter sets, starts and short runs that several tests share.
"""

import dataclasses
import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from footfall.engines.analysis.cycle import Cycle, find_cycle
from footfall.engines.analysis.return_map import to_section
from footfall.engines.plan import SimPlan
from footfall.engines.simulate import as_arrays, simulate
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.system import AbstractHybridSystem, HybridState
from footfall.machines.parts.terrain.planes import Slope
from footfall.machines.rimless_wheel.pitch_laws import PitchPid
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
from footfall.record.trajectory import Trajectory

GRAVITY, SPOKES, LENGTH, MASS = 9.81, 10, 0.26, 6.91
ALPHA = 2.0 * math.pi / SPOKES
HALF = math.pi / SPOKES
TORQUE_LIMIT = 14.688  # N m, two motors at 40 A

#: Spoke sets: A is stiff in effect (its damper is), B is compliant.
SET_A = SpringLeg(rest_length=LENGTH, stiffness=1315.0, damping=1e5)
SET_B = SpringLeg(rest_length=LENGTH, stiffness=15000.0, damping=400.0)
#: Spokes and set point of the page's three limit cycles.
GAITS = {"A": (SET_A, 0.6), "B": (SET_B, 0.6), "B leaning": (SET_B, 1.0)}

#: Jump rows only. One choice of solver and of what to keep: numbers may change without compiling
#: anything again.
PLAN = SimPlan(sample_rate=None)
#: With samples. Any rate shares one compiled program; none at all is another.
SAMPLED = SimPlan(sample_rate=100.0)
#: For closed forms and cycles. The duration only has to outlast the steps asked for.
FINE = SimPlan(duration=100.0, rtol=1e-10, atol=1e-12, sample_rate=None)


def rigid_wheel(slope: float = 0.0, torque: float = 0.0, inertia: float = 0.0) -> RigidWheel:
    """Section 7's wheel; every number is spelled out, so that a default that moves does not move a
    reference.
    """
    return RigidWheel(
        mass=MASS, inertia=inertia, wheel_torque=torque, gravity=GRAVITY, spokes=SPOKES, leg=Strut(length=LENGTH),
        terrain=Slope(angle=slope),
    )  # fmt: skip


def torso_wheel(
    leg: SpringLeg = SET_B,
    pitch: float = 0.6,
    gains: tuple[float, float, float] = (20.0, 40.0, 1.0),
    **more: Any,
) -> TorsoWheel:
    """The sagittal robot of sections 1 to 5."""
    torso = Torso(mass=4.45, com_distance=0.06, inertia=0.0, pitch_setpoint=pitch)
    numbers = {
        "wheel_mass": 2.46,
        "wheel_inertia": 0.0,
        "gravity": GRAVITY,
        "spokes": SPOKES,
        "torso": torso,
    }
    return TorsoWheel(leg=leg, controller=PitchPid(*gains), **{**numbers, **more})


def steered_wheel(current: float = 0.0, **more: Any) -> SteeredWheel:
    """The robot of section 6 with set B (which the model halves per side)."""
    torso = Torso(mass=4.45, com_distance=0.06, inertia=0.0, pitch_setpoint=0.6)
    numbers = {
        "wheel_mass": 2.46,
        "half_track": 0.155,
        "yaw_inertia": 0.12,
        "roll_inertia": 0.12,
        "gravity": GRAVITY,
    }
    return SteeredWheel(
        spokes=SPOKES, leg=SET_B, torso=torso, controller=PitchPid(20.0, 40.0, 1.0), steering_current=current,
        **{**numbers, **more},
    )  # fmt: skip


def as_jax(tree: Any) -> Any:
    """Python numbers as float arrays, for differentiation."""
    return jax.tree.map(lambda leaf: jnp.asarray(leaf, float), tree)


def standing(x: RigidWheelState | TorsoWheelState) -> HybridState:
    """A planar wheel with its foot at the origin and no steps taken."""
    return HybridState(x, WheelStance(foot_x=0.0, steps=np.int32(0)))


def rigid_start(rate: float) -> HybridState:
    """Just after a touch-down at this spoke rate (a magnitude)."""
    return standing(RigidWheelState(spoke_angle=HALF, spoke_rate=-rate))


def torso_start(pitch: float = 0.6) -> HybridState:
    """Start of section 5: touch-down with an unloaded spoke."""
    return standing(TorsoWheelState(HALF, pitch, LENGTH, -3.5, 0.0, 0.0, 0.0))


def steered_start() -> HybridState:
    """Start of section 6: touch-down of both sides at 0.8 m/s across the spokes."""
    s, c = math.sin(HALF), math.cos(HALF)
    x = SteeredWheelState(
        height=LENGTH * c, roll=0.0, torso_angle=0.6, speed=0.8 * c, climb_rate=0.8 * s, roll_rate=0.0, torso_rate=0.0,
        yaw_rate=0.0, foot_ahead_left=LENGTH * s, foot_ahead_right=LENGTH * s, x=0.0, y=0.0, heading=0.0, distance=0.0,
        pitch_integral=0.0,
    )  # fmt: skip
    return HybridState(x, SteeredWheelCounts(np.int32(0), np.int32(0)))


def run(
    system: AbstractHybridSystem,
    state: HybridState,
    duration: float,
    plan: SimPlan = PLAN,
    **changes: Any,
) -> Trajectory:
    """Simulate for `duration`, the rest of the plan as it is but for `changes`."""
    return simulate(system, state, dataclasses.replace(plan, duration=duration, **changes))


def end_of(trajectory: Trajectory, like: HybridState) -> HybridState:
    """Where a run ended, to go on from, with the discrete state as at its start."""
    return HybridState(type(like.x)(**trajectory.ending.state), like.m)


@functools.cache
def walking_cycle(gait: str) -> Cycle:
    """The gait the standard start settles into: 80 steps, then Newton."""
    leg, pitch = GAITS[gait]
    return find_cycle(torso_wheel(leg, pitch), torso_start(pitch), "touchdown", FINE, warm_up=80)


def mean_speed(trajectory: Trajectory, steps: int) -> float:
    """Mean over the last `steps` steps of a planar run."""
    rows = [event.row_after for event in trajectory.events_named("touchdown")]
    first, last = rows[-1 - steps], rows[-1]
    distance = trajectory["travel.distance"]
    return (distance[last] - distance[first]) / (trajectory.t[last] - trajectory.t[first])


def unbroken_passive_wheel() -> TorsoWheel:
    """Set B's spring without damper or motors; three spokes, so that a flow over one foot meets no
    other, and may pull.
    """
    leg = SpringLeg(rest_length=LENGTH, stiffness=15000.0, damping=0.0)
    return torso_wheel(leg, gains=(0.0, 0.0, 0.0), spokes=3, on_liftoff="report")


def section_after(
    system: AbstractHybridSystem, state: HybridState, event: str, plan: SimPlan = FINE
) -> Any:
    """State just after the next `event`; numbers as arrays, so that it shares its compiled program
    with `find_cycle`.
    """
    section = to_section(as_arrays(system), HybridState(*as_arrays(tuple(state))), event, plan)
    assert int(section.outcome) == Outcome.reached_event
    return section.x
