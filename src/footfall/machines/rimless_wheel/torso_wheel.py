"""The sagittal rimless wheel.

Springy, damped spokes, a torso hung from the axle, motors between torso and wheels.

Model plane: x along the ground, z normal to it; foot - hub = l (sin theta, -cos theta), torso
centre - hub = c (sin phi, -cos phi), angles counter-clockwise. Walking forward means theta_dot < 0;
T > 0 (on the torso) drives forward. Theory: docs/theory/rimless-wheel.md, section 2.
"""

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, TypeAlias

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from footfall.hybrid.bound import Bound
from footfall.hybrid.doubt import Doubt
from footfall.hybrid.fields import choice, param, part, port, signal, store
from footfall.hybrid.frame import Body, PlanarFrame
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.plant import AbstractPlant, DriveRange, Senses
from footfall.hybrid.suggestion import Suggestion
from footfall.hybrid.system import Event, HybridState, Jump, Rates, Travel
from footfall.hybrid.task import Task
from footfall.hybrid.twin import Twin
from footfall.machines.parts.actuators.base import AbstractMotor
from footfall.machines.parts.actuators.motors import DcMotor
from footfall.machines.parts.friction.needed import RollingFoot, friction_needed
from footfall.machines.parts.terrain.base import AbstractTerrain
from footfall.machines.parts.terrain.planes import Flat
from footfall.machines.rimless_wheel.bounds import friction_bounds, sag_bounds
from footfall.machines.rimless_wheel.cures import walking_cures
from footfall.machines.rimless_wheel.footing import (
    corner_doubts,
    room_to_stumble,
    stumble,
    tip,
    to_footing,
)
from footfall.machines.rimless_wheel.leg import AbstractCompliantLeg
from footfall.machines.rimless_wheel.odometry import DRIVES, rolled
from footfall.machines.rimless_wheel.pitch_controller import AbstractPitchController
from footfall.machines.rimless_wheel.pitch_laws import PitchPid
from footfall.machines.rimless_wheel.rigid_wheel import LIFTOFF, REFUSES, WheelTravel
from footfall.machines.rimless_wheel.rolling import (
    feet,
    landing_behind,
    side_of_landing,
    turning_back,
)
from footfall.machines.rimless_wheel.sketch import spoke_fan, stance_spoke, torso_charts
from footfall.machines.rimless_wheel.spring_leg import SpringLeg
from footfall.machines.rimless_wheel.start import TorsoWheelStart
from footfall.machines.rimless_wheel.states import (
    DrivenStance,
    SampledStance,
    TorsoWheelState,
    WheelStance,
)
from footfall.machines.rimless_wheel.tasks import LEAN_TASK, TORQUE_TASK
from footfall.machines.rimless_wheel.torso import Torso
from footfall.machines.rimless_wheel.twin import torso_wheel_twin
from footfall.numerics.planar import cross
from footfall.numerics.scalar import Scalar
from footfall.numerics.small_solve import solve_spd
from footfall.numerics.trig import sincos
from footfall.scene.sketch import Ball, Chart, Ground, Link, Shape

MOTORS = 2  # left and right, both between torso and wheel
BEHIND, TICK = 5, 6  # indices of the landing behind and of the control tick among the events

Stance: TypeAlias = WheelStance | SampledStance | DrivenStance


class TorsoWheelPower(eqx.Module):
    """Ports."""

    motor: Scalar = port(kind="work", doc="mechanical power of the motors, torso against wheels")
    damper: Scalar = port(kind="loss", doc="damper of the stance spoke")


class TransferWork(eqx.Module):
    """What a support transfer takes."""

    impact: Scalar = port(
        kind="loss", unit="J", doc="impulse on the wheel's inertia at the new foot"
    )
    released_spring: Scalar = port(
        kind="loss", unit="J", doc="deflection energy left in the spoke that leaves"
    )


class TorsoWheelStores(eqx.Module):
    """Stores."""

    kinetic: Scalar = store(doc="kinetic energy of wheels and torso")
    gravity: Scalar = store(doc="weight times height")
    spring: Scalar = store(doc="deflection of the stance spoke")


class SpokeSignals(eqx.Module):
    """The loaded spoke."""

    force: Scalar = signal(unit="N", doc="axial force, positive in compression")
    length: Scalar = signal(unit="m", doc="length")
    speed: Scalar = signal(unit="m/s", doc="rate of the length", rate_of="length")


class MotorSignals(eqx.Module):
    """Motors of one side or of both together."""

    torque: Scalar = signal(unit="N m", doc="torque on the torso, positive drives forward")
    current: Scalar = signal(unit="A", doc="current in each motor")
    speed: Scalar = signal(unit="rad/s", doc="speed of the torso relative to the wheel")
    power: Scalar = signal(unit="W", doc="mechanical power")
    electrical_power: Scalar = signal(unit="W", doc="mechanical power plus winding heat")


class TorsoWheelOutputs(eqx.Module):
    """What can be seen."""

    hub: Body
    torso: Body
    foot: RollingFoot
    spoke: SpokeSignals
    motor: MotorSignals
    travel: WheelTravel
    computer: Any = None


class Motion(NamedTuple):
    """Velocities of the hub and the torso's centre, and the two spins.

    All that carries kinetic energy.
    """

    hub_x: Scalar
    hub_z: Scalar
    torso_x: Scalar
    torso_z: Scalar
    spoke_rate: Scalar
    torso_rate: Scalar


class TorsoWheel(AbstractPlant):
    """Springy-spoked wheel with torso on a plane.

    Left and right wheels move as one (see SteeredWheel for two).

    Not modelled: slip, both spokes loaded at once, a stop at l > l0. Lift-off and rocking back are
    detected.
    """

    Start = TorsoWheelStart
    refuses: ClassVar[Mapping[str, str]] = REFUSES
    setpoint_key: ClassVar[str] = "torso.pitch_setpoint"
    steered_by: ClassVar[tuple[str, ...]] = (setpoint_key,)
    tasks: ClassVar[Mapping[str, Task]] = {"torque": TORQUE_TASK, "lean": LEAN_TASK}
    start_angle: ClassVar[str] = "torso_angle"
    drives: ClassVar[DriveRange] = DRIVES
    commanded: ClassVar[Mapping[str, Any]] = {"controller": None, "control_period": None}

    wheel_mass: Scalar = param(2.46, unit="kg", doc="mass at the hub, both wheels together", gt=0)
    wheel_inertia: Scalar = param(
        0.0, unit="kg m^2", doc="pitch inertia of both wheels about the hub", ge=0
    )
    gravity: Scalar = param(9.81, unit="m/s^2", doc="gravity", ge=0)
    spokes: int = param(10, doc="number of spokes", ge=3, le=1000, static=True)
    on_liftoff: str = choice(
        "stop", options=LIFTOFF, doc="what to do when the foot would have to pull"
    )
    control_period: float | None = param(
        None,
        unit="s",
        doc=(
            "time between ticks of the controller, which holds its torque in between; auto:"
            " continuous"
        ),
        gt=0,
        static=True,
    )
    leg: AbstractCompliantLeg = part(
        doc="virtual spoke: left and right together", default_factory=SpringLeg
    )
    torso: Torso = part(doc="body hung from the axle", default_factory=Torso)
    motor: AbstractMotor = part(doc="one of the two motors", default_factory=DcMotor)
    controller: AbstractPitchController = part(
        doc="law that holds the torso's pitch", default_factory=PitchPid
    )
    terrain: AbstractTerrain = part(doc="ground", default_factory=Flat)

    @property
    def spoke_spacing(self) -> float:
        """Angle alpha between neighbouring spokes."""
        return 2.0 * math.pi / self.spokes

    @property
    def total_mass(self) -> Scalar:
        return self.wheel_mass + self.torso.mass

    @property
    def frame(self) -> PlanarFrame:
        return PlanarFrame(descent=self.terrain.descent)

    @property
    def events(self) -> tuple[Event, ...]:
        lifted = Outcome.lifted_off if self.on_liftoff == "stop" else None
        tick = Event(
            "control_tick",
            "the controller looks at the pitch and holds a new torque",
            period=self.control_period,
        )
        return (
            Event("touchdown", "the next spoke lands and takes over", restarts=("rock_back",)),
            Event("rock_back", "the previous spoke lands again", Outcome.rocked_back, unit="m"),
            Event("liftoff", "spoke force reaches zero", lifted, unit="N", push=True),
            Event("fall", "the hub sinks below half the spoke length", Outcome.fell, unit="m"),
            Event(
                "turn_back",
                "the wheel turns round before the previous spoke has left the ground",
                Outcome.rocked_back,
                unit="m",
            ),
            landing_behind("touchdown_behind", restarts=("rock_back",)),
            *(() if self.control_period is None else (tick,)),
            *((stumble(),) if self.terrain.uneven else ()),
        )

    def motor_torque(self, x: TorsoWheelState, m: Stance) -> Scalar:
        """T: total torque on the torso, after the limit of each motor."""
        return self._wanted_torque(x, x.pitch_integral) if isinstance(m, WheelStance) else m.torque

    def _wanted_torque(self, x: TorsoWheelState, integral: Scalar) -> Scalar:
        error = self.torso.pitch_setpoint - x.torso_angle
        wanted = self.controller.torque(error, x.torso_rate, integral)
        return MOTORS * self.motor.torque(wanted / MOTORS)

    def _tick(self, x: TorsoWheelState, m: SampledStance) -> tuple[TorsoWheelState, SampledStance]:
        """The integral grows by a rectangle; the torque that follows is held."""
        error = self.torso.pitch_setpoint - x.torso_angle
        integral = x.pitch_integral + self.control_period * self.controller.integral_rate(
            error, x.pitch_integral
        )
        torque = self._wanted_torque(x, integral)
        return dataclasses.replace(x, pitch_integral=integral), dataclasses.replace(
            m, torque=torque, ticks=m.ticks + 1
        )

    def mass_matrix(
        self, length: Scalar, sin_between: Scalar, cos_between: Scalar
    ) -> list[list[Scalar]]:
        """Of (l, theta, phi), in the order that makes `solve_spd` cheapest.

        The angle between is theta - phi.
        """
        m2c = self.torso.mass * self.torso.com_distance
        total = self.total_mass
        cross_term = -m2c * length * cos_between
        return [
            [total, 0.0, -m2c * sin_between],
            [0.0, total * length * length + self.wheel_inertia, cross_term],
            [-m2c * sin_between, cross_term, m2c * self.torso.com_distance + self.torso.inertia],
        ]

    def accelerations(self, x: TorsoWheelState, torque: Scalar) -> tuple[Scalar, Scalar, Scalar]:
        """(theta_dd, phi_dd, l_dd), the stance equations:

        M(q) q_dd = [  F - M g cos(theta - gamma) + M l theta_dot^2 - m2 c phi_dot^2 C,
                      -T + M g l sin(theta - gamma) - 2 M l l_dot theta_dot + m2 c l phi_dot^2 S,
                       T - m2 g c sin(phi - gamma) + 2 m2 c l_dot theta_dot C - m2 c l theta_dot^2 S
                       ]                                                                   (wheel.1)

        for q = (l, theta, phi), with S, C of theta - phi. The first row corrects erratum E1 of the
        source.
        """
        total, l, g = self.total_mass, x.spoke_length, self.gravity
        m2c = self.torso.mass * self.torso.com_distance
        theta_dot, phi_dot, l_dot = x.spoke_rate, x.torso_rate, x.spoke_speed
        sin_theta, cos_theta = sincos(x.spoke_angle - self.terrain.descent)
        sin_phi, cos_phi = sincos(x.torso_angle - self.terrain.descent)
        s = sin_theta * cos_phi - cos_theta * sin_phi
        c = cos_theta * cos_phi + sin_theta * sin_phi
        force = self.leg.force(l, l_dot)
        right = (
            force
            - total * g * cos_theta
            + total * l * theta_dot * theta_dot
            - m2c * phi_dot * phi_dot * c,
            -torque
            + total * g * l * sin_theta
            - 2.0 * total * l * l_dot * theta_dot
            + m2c * l * phi_dot * phi_dot * s,
            torque
            - m2c * g * sin_phi
            + 2.0 * m2c * l_dot * theta_dot * c
            - m2c * l * theta_dot * theta_dot * s,
        )
        l_dd, theta_dd, phi_dd = solve_spd(self.mass_matrix(l, s, c), right)
        return theta_dd, phi_dd, l_dd

    def flow(self, t: Scalar, x: TorsoWheelState, m: Stance) -> Rates:
        del t
        torque = self.motor_torque(x, m)
        theta_dd, phi_dd, l_dd = self.accelerations(x, torque)
        error = self.torso.pitch_setpoint - x.torso_angle
        dx = TorsoWheelState(
            spoke_angle=x.spoke_rate,
            torso_angle=x.torso_rate,
            spoke_length=x.spoke_speed,
            spoke_rate=theta_dd,
            torso_rate=phi_dd,
            spoke_speed=l_dd,
            pitch_integral=(
                self.controller.integral_rate(error, x.pitch_integral)
                if isinstance(m, WheelStance)
                else 0.0
            ),
        )
        power = TorsoWheelPower(
            motor=torque * (x.torso_rate - x.spoke_rate),
            damper=-self.leg.loss(x.spoke_length, x.spoke_speed),
        )
        return Rates(dx, power)

    def guards(self, t: Scalar, x: TorsoWheelState, m: Stance) -> tuple[Scalar, ...]:
        """Room left before each event.

        [m] height of the next and of the previous foot above the ground; [N] spoke force; [m] hub
        above its least height; [m] room to turn back; [m] height of the foot behind, of a wheel
        that has not decided yet.

        With a sampled controller also [s] time left before its next tick; on uneven ground [m] room
        to stumble.
        """
        l0 = self.leg.rest_length
        s, c = sincos(x.spoke_angle)
        height = x.spoke_length * c
        foot = feet(*self._neighbours(height, s, c, x, m), m.direction, l0)
        hub_speed = -x.spoke_speed * s - height * x.spoke_rate
        return (
            foot.next,
            foot.previous,
            self.leg.force(x.spoke_length, x.spoke_speed),
            height - 0.5 * l0,
            turning_back(foot.previous, hub_speed, m.direction, l0),
            foot.behind,
            *((self._time_left(t, m, height),) if isinstance(m, SampledStance) else ()),
            *((self._room_to_stumble(s, c, x, m),) if self.terrain.uneven else ()),
        )

    def _room_to_stumble(self, s: Scalar, c: Scalar, x: TorsoWheelState, m: Stance) -> Scalar:
        hub = self.hub_position(x, m)
        return room_to_stumble(
            self.terrain, *hub, self.leg.rest_length, s, c, self.spoke_spacing, m.direction
        )

    def _neighbours(
        self, height: Scalar, s: Scalar, c: Scalar, x: TorsoWheelState, m: Stance
    ) -> tuple[Scalar, Scalar]:
        """Height of the foot in front of the stance foot, and of the one behind it, above the
        ground under it.
        """
        l0, alpha = self.leg.rest_length, self.spoke_spacing
        hub_z = self.terrain.relief(m.foot_x) + height
        ahead, behind = (
            tip(m.foot_x - x.spoke_length * s, hub_z, l0, s, c, turn) for turn in (alpha, -alpha)
        )
        return self.terrain.room_above(*ahead), self.terrain.room_above(*behind)

    def _time_left(self, t: Scalar, m: SampledStance, like: Scalar) -> Scalar:
        """Before the next tick, in the precision of `like`.

        A whole number times a Python number would be double.
        """
        return jnp.asarray(m.ticks, jnp.result_type(like)) * self.control_period - t

    def motion(self, x: TorsoWheelState) -> Motion:
        """Velocities in the model plane."""
        s, c = sincos(x.spoke_angle)
        sin_phi, cos_phi = sincos(x.torso_angle)
        hub_x = -x.spoke_speed * s - x.spoke_length * x.spoke_rate * c
        hub_z = x.spoke_speed * c - x.spoke_length * x.spoke_rate * s
        swing = self.torso.com_distance * x.torso_rate
        return Motion(
            hub_x,
            hub_z,
            hub_x + swing * cos_phi,
            hub_z + swing * sin_phi,
            x.spoke_rate,
            x.torso_rate,
        )

    def kinetic(self, v: Motion) -> Scalar:
        """Kinetic energy of a motion, or of the difference of two."""
        hub = v.hub_x * v.hub_x + v.hub_z * v.hub_z
        torso = v.torso_x * v.torso_x + v.torso_z * v.torso_z
        spins = (
            self.wheel_inertia * v.spoke_rate * v.spoke_rate
            + self.torso.inertia * v.torso_rate * v.torso_rate
        )
        return 0.5 * (self.wheel_mass * hub + self.torso.mass * torso + spins)

    def transfer(self, x: TorsoWheelState, side: Scalar = 1.0) -> TorsoWheelState:
        """State just after the next spoke has taken over, unstretched, its foot at rest.

        `side` is 1 for the spoke in front, -1 for the one behind.

        Three momenta pass through unchanged, because the impulse acts at the new foot and across
        the new spoke only: the torso's about the hub (p_phi), the whole robot's about the new foot
        (p_theta + p_phi) and the linear one along the NEW spoke (p_l; the source projects the old
        one on the old spoke, erratum E2). In the coordinates of the new stance these are M(q+)
        q_dot+ = p.                                                                        (wheel.2)

        Without wheel inertia nothing impulsive happens at all, and the velocities are rewritten
        exactly.
        """
        l0 = self.leg.rest_length
        angle = x.spoke_angle + side * self.spoke_spacing
        s, c = sincos(angle)
        sin_phi, cos_phi = sincos(x.torso_angle)
        com = self.torso.com_distance
        v = self.motion(x)
        torso_px, torso_pz = self.torso.mass * v.torso_x, self.torso.mass * v.torso_z
        px, pz = self.wheel_mass * v.hub_x + torso_px, self.wheel_mass * v.hub_z + torso_pz
        p_phi = (
            cross(com * sin_phi, -com * cos_phi, torso_px, torso_pz)
            + self.torso.inertia * v.torso_rate
        )
        p_theta = cross(-l0 * s, l0 * c, px, pz) + self.wheel_inertia * v.spoke_rate
        p_l = -s * px + c * pz
        s_between, c_between = s * cos_phi - c * sin_phi, c * cos_phi + s * sin_phi
        matrix = self.mass_matrix(l0, s_between, c_between)
        l_dot, theta_dot, phi_dot = solve_spd(matrix, (p_l, p_theta, p_phi))
        return TorsoWheelState(
            spoke_angle=angle,
            torso_angle=x.torso_angle,
            spoke_length=l0 + 0.0 * x.spoke_length,
            spoke_rate=theta_dot,
            torso_rate=phi_dot,
            spoke_speed=l_dot,
            pitch_integral=x.pitch_integral,
        )

    def jump(self, t: Scalar, x: TorsoWheelState, m: Stance, k: int) -> Jump:
        del t
        # Neither a lift-off that is only reported nor a control tick moves energy.
        if k not in (0, BEHIND):
            if k == TICK and isinstance(m, SampledStance):
                x, m = self._tick(x, m)
            return Jump(x, m)
        s, _ = sincos(x.spoke_angle)
        side = side_of_landing(m.direction, behind=k == BEHIND)
        after = self.transfer(x, jnp.asarray(side, jnp.result_type(x.spoke_angle)))
        # The map is an orthogonal projection in the kinetic metric, so what it takes is the energy
        # of what it removes.
        removed = Motion(*(b - a for a, b in zip(self.motion(x), self.motion(after), strict=True)))
        work = TransferWork(
            impact=-self.kinetic(removed), released_spring=-self.leg.energy(x.spoke_length)
        )
        foot_x = m.foot_x + self.leg.rest_length * sincos(after.spoke_angle)[0] - x.spoke_length * s
        return Jump(
            after, dataclasses.replace(m, foot_x=foot_x, steps=m.steps + 1, direction=side), work
        )

    def restarted(self, m: Stance) -> Stance:
        """The controller's next tick is at zero, wherever between two ticks the event was."""
        return dataclasses.replace(m, ticks=0 * m.ticks) if isinstance(m, SampledStance) else m

    @property
    def joints(self) -> tuple[str, ...]:
        return ("left", "right")

    @property
    def setpoint(self) -> Scalar:
        return self.torso.pitch_setpoint

    def driven(self, m: DrivenStance, torques: tuple[Scalar, ...]) -> DrivenStance:
        return dataclasses.replace(m, torque=torques[0] + torques[1])

    def senses(self, t: Scalar, x: TorsoWheelState, m: Stance) -> Senses:
        del t
        # A transfer renames the stance spoke by one spacing; the wheel itself has not turned.
        wheel = x.spoke_angle - self.spoke_spacing * jnp.asarray(
            m.direction * m.steps, jnp.result_type(x.spoke_angle)
        )
        position, speed = x.torso_angle - wheel, x.torso_rate - x.spoke_rate
        return Senses(x.torso_angle, (position, position), (speed, speed))

    def metered(
        self, outputs: TorsoWheelOutputs, currents: tuple[Scalar, ...], powers: tuple[Scalar, ...]
    ) -> TorsoWheelOutputs:
        mean = 0.5 * (currents[0] + currents[1])
        motor = dataclasses.replace(
            outputs.motor, current=mean, electrical_power=powers[0] + powers[1]
        )
        return dataclasses.replace(outputs, motor=motor)

    def odometry(
        self, start: HybridState, angle: np.ndarray, positions: tuple[np.ndarray, ...]
    ) -> HybridState:
        turn = (angle - angle[0]) - np.mean(positions, axis=0) + np.mean([p[0] for p in positions])
        length = float(self.leg.rest_length)
        seen = rolled(float(start.x.spoke_angle) + turn, self.spokes, length)
        still = np.zeros_like(turn)
        x = TorsoWheelState(
            spoke_angle=seen.spoke_angle,
            torso_angle=np.asarray(angle),
            spoke_length=length + still,
            spoke_rate=still,
            torso_rate=still,
            spoke_speed=still,
            pitch_integral=still,
        )
        counts = start.m.steps + seen.steps.astype(np.int32)
        feet = float(start.m.foot_x) + seen.foot - seen.foot[0]
        return HybridState(x, dataclasses.replace(start.m, foot_x=feet, steps=counts))

    def hub_position(self, x: TorsoWheelState, m: Stance) -> tuple[Scalar, Scalar]:
        """Along and normal to the ground's plane."""
        s, c = sincos(x.spoke_angle)
        return m.foot_x - x.spoke_length * s, self.terrain.relief(m.foot_x) + x.spoke_length * c

    def stores(self, t: Scalar, x: TorsoWheelState, m: Stance) -> TorsoWheelStores:
        del t
        along, normal = self.hub_position(x, m)
        sin_phi, cos_phi = sincos(x.torso_angle)
        com = self.torso.com_distance
        _, hub = self.frame.to_house(along, normal)
        _, torso = self.frame.to_house(along + com * sin_phi, normal - com * cos_phi)
        return TorsoWheelStores(
            kinetic=self.kinetic(self.motion(x)),
            gravity=self.gravity * (self.wheel_mass * hub + self.torso.mass * torso),
            spring=self.leg.energy(x.spoke_length),
        )

    def outputs(self, t: Scalar, x: TorsoWheelState, m: Stance) -> TorsoWheelOutputs:
        del t
        frame, v = self.frame, self.motion(x)
        s, c = sincos(x.spoke_angle)
        sin_phi, cos_phi = sincos(x.torso_angle)
        com, length = self.torso.com_distance, x.spoke_length
        along, normal = self.hub_position(x, m)
        hub_x, hub_z = frame.to_house(along, normal)
        hub_vx, hub_vz = frame.to_house(v.hub_x, v.hub_z)
        torso_x, torso_z = frame.to_house(along + com * sin_phi, normal - com * cos_phi)
        torso_vx, torso_vz = frame.to_house(v.torso_x, v.torso_z)
        torque = self.motor_torque(x, m)
        axial = self.leg.force(length, x.spoke_speed)
        # The massless spoke passes on its axial force and, for the moment T + J1 theta_dd about the
        # hub, a force across it.
        theta_dd, _, _ = self.accelerations(x, torque)
        across = (torque + self.wheel_inertia * theta_dd) / length
        force = -axial * s + across * c, axial * c + across * s
        fx, fz = frame.to_house(*force)
        foot_x, foot_z = frame.to_house(m.foot_x, self.terrain.relief(m.foot_x))
        each, speed = torque / MOTORS, x.torso_rate - x.spoke_rate
        power = torque * speed
        return TorsoWheelOutputs(
            hub=Body(x=hub_x, z=hub_z, vx=hub_vx, vz=hub_vz, pitch=frame.pitch(x.spoke_angle)),
            torso=Body(
                x=torso_x, z=torso_z, vx=torso_vx, vz=torso_vz, pitch=frame.pitch(x.torso_angle)
            ),
            foot=RollingFoot(
                x=foot_x,
                z=foot_z,
                fx=fx,
                fz=fz,
                friction_needed=friction_needed(*to_footing(self.terrain, m.foot_x, *force)),
            ),
            spoke=SpokeSignals(force=axial, length=length, speed=x.spoke_speed),
            motor=MotorSignals(
                torque=torque,
                current=self.motor.current(each),
                speed=speed,
                power=power,
                electrical_power=power + MOTORS * self.motor.heat(each),
            ),
            travel=WheelTravel(distance=along, speed=v.hub_x),
        )

    def suggestions(self, outcome: Outcome) -> tuple[Suggestion, ...]:
        return (
            *walking_cures(outcome),
            Suggestion("--set torso.pitch_setpoint=1.0", "leans more, walks faster"),
            Suggestion("--set leg=stiffening --animate stiffening.gif"),
        )

    def sketch(self) -> tuple[Shape, ...]:
        weight = self.total_mass * self.gravity
        fan = spoke_fan("hub", self.spokes, self.leg.rest_length)
        torso = (
            Link("hub", "torso", "body", 0.01),
            Ball("torso", (0.0, 0.0, 0.0), 0.025, "body"),
        )
        ground = Ground(self.terrain.outline, height=self.terrain.height)
        return (ground, *fan, *stance_spoke("foot", "hub", weight), *torso)

    def charts(self) -> tuple[Chart, ...]:
        return torso_charts()

    def bounds(self) -> tuple[Bound, ...]:
        return friction_bounds() + sag_bounds(self.leg.rest_length, self.spokes)

    def doubts(self, t: Any, columns: Any) -> list[Doubt]:
        del t
        return corner_doubts(self.terrain, columns)

    def twin(self) -> Twin:
        """In stance, as bodies of MuJoCo."""
        return torso_wheel_twin(self)

    def travel(self) -> Travel:
        return Travel(
            "travel.distance",
            ("steps",),
            self.total_mass * self.gravity,
            ("motor",),
            friction=("foot.friction_needed",),
        )
