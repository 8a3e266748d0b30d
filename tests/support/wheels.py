"""The wheels of docs/physics: parameter sets, starts and short runs that several tests share."""

import math

import equinox as eqx
import numpy as np

from footfall.analysis.return_map import Cycle, find_cycle
from footfall.hybrid.system import HybridState
from footfall.models.rigid_wheel import RigidWheelState, WheelStance
from footfall.models.steered_wheel import SteeredWheel, SteeredWheelCounts, SteeredWheelState
from footfall.models.torso_wheel import TorsoWheel, TorsoWheelState
from footfall.parts.bodies.torso import Torso
from footfall.parts.controllers.pitch import PitchPid
from footfall.parts.legs.spring import SpringLeg
from footfall.record.trajectory import Trajectory
from footfall.sim.plan import SimPlan
from footfall.sim.simulate import simulate

#: Spoke sets of the reference page: A is stiff in effect (its damper is), B is compliant.
SET_A = SpringLeg(stiffness=1315.0, damping=1e5)
SET_B = SpringLeg(stiffness=15000.0, damping=400.0)

#: Jump rows only. One choice of solver and of what to keep: values in it may change without compiling anything again.
PLAN = SimPlan(sample_rate=None)
#: For closed forms and cycles. The duration only has to outlast the steps asked for.
FINE = SimPlan(duration=100.0, rtol=1e-10, atol=1e-12, sample_rate=None)


def torso_wheel(leg: SpringLeg = SET_B, pitch: float = 0.6, gains: tuple = (20.0, 40.0, 1.0), **more) -> TorsoWheel:
    """The sagittal robot of sections 1 to 5, every number spelled out (a default that moves must not move a reference)."""
    more.setdefault("torso", Torso(mass=4.45, com_distance=0.06, inertia=0.0, pitch_setpoint=pitch))
    return TorsoWheel(wheel_mass=2.46, gravity=9.81, spokes=10, leg=leg, controller=PitchPid(*gains), **more)


def steered_wheel(current: float = 0.0) -> SteeredWheel:
    """The robot of section 6 with set B, halved per side by the model."""
    torso = Torso(mass=4.45, com_distance=0.06, inertia=0.0, pitch_setpoint=0.6)
    return SteeredWheel(
        wheel_mass=2.46, half_track=0.155, yaw_inertia=0.12, roll_inertia=0.12, steering_current=current, gravity=9.81,
        spokes=10, leg=SET_B, torso=torso, controller=PitchPid(20.0, 40.0, 1.0),
    )  # fmt: skip


def standing(x: RigidWheelState | TorsoWheelState) -> HybridState:
    """A planar wheel with its foot at the origin and no steps taken."""
    return HybridState(x, WheelStance(foot_x=0.0, steps=np.int32(0)))


def torso_start(pitch: float = 0.6, spoke_rate: float = -3.5) -> HybridState:
    """Start of section 5: touch-down with an unloaded spoke."""
    return standing(TorsoWheelState(math.pi / 10, pitch, 0.26, spoke_rate, 0.0, 0.0, 0.0))


def steered_start() -> HybridState:
    """Start of section 6: touch-down of both sides at 0.8 m/s across the spoke."""
    s, c = math.sin(math.pi / 10), math.cos(math.pi / 10)
    x = SteeredWheelState(
        height=0.26 * c, roll=0.0, torso_angle=0.6, speed=0.8 * c, climb_rate=0.8 * s, roll_rate=0.0, torso_rate=0.0,
        yaw_rate=0.0, foot_ahead_left=0.26 * s, foot_ahead_right=0.26 * s, x=0.0, y=0.0, heading=0.0, distance=0.0,
        pitch_integral=0.0,
    )  # fmt: skip
    return HybridState(x, SteeredWheelCounts(np.int32(0), np.int32(0)))


def run(system, state: HybridState, duration: float, plan: SimPlan = PLAN) -> Trajectory:
    """Simulate for `duration`; the rest of the plan stays as it is."""
    return simulate(system, state, eqx.tree_at(lambda p: p, plan, plan) if False else _lasting(plan, duration))


def _lasting(plan: SimPlan, duration: float) -> SimPlan:
    import dataclasses

    return dataclasses.replace(plan, duration=duration)


def state_at_end(run: Trajectory, like: HybridState) -> HybridState:
    """Where a run ended, to go on from, with its counters at zero."""
    return HybridState(type(like.x)(**run.ending.state), like.m)


def walking_cycle(system: TorsoWheel, warm_up: int = 40) -> Cycle:
    """The gait the standard start settles into."""
    start = torso_start(float(system.torso.pitch_setpoint))
    return find_cycle(system, start, "touchdown", FINE, warm_up=warm_up)
