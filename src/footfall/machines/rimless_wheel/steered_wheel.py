"""The rimless wheel with two sides.

One springy spoke each, small roll, heading, steering by a current difference.

Coordinates: mid-axle height z, roll r, torso angle phi, forward speed v, yaw rate w; per side the
distance s from hub forward to the foot. Level ground only. Theory: docs/theory/rimless-wheel.md,
section 3.
"""

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, TypeAlias

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from footfall.hybrid.bound import Bound
from footfall.hybrid.compose import added
from footfall.hybrid.fields import choice, param, part, port, store
from footfall.hybrid.frame import Body
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.plant import AbstractPlant, DriveRange, Senses
from footfall.hybrid.suggestion import Suggestion
from footfall.hybrid.system import Event, HybridState, Jump, Rates, Travel
from footfall.hybrid.task import Task
from footfall.hybrid.twin import Twin
from footfall.machines.parts.actuators.motors import DcMotor
from footfall.machines.parts.friction.needed import RollingFoot, friction_needed
from footfall.machines.rimless_wheel.bounds import friction_bounds, sag_bounds
from footfall.machines.rimless_wheel.cures import walking_cures
from footfall.machines.rimless_wheel.leg import AbstractCompliantLeg
from footfall.machines.rimless_wheel.odometry import STEERED_DRIVES, course, rolled
from footfall.machines.rimless_wheel.pitch_controller import AbstractPitchController
from footfall.machines.rimless_wheel.pitch_laws import PitchPid
from footfall.machines.rimless_wheel.rigid_wheel import LIFTOFF, WheelTravel
from footfall.machines.rimless_wheel.rolling import (
    feet,
    landing_behind,
    side_of_landing,
    turning_back,
)
from footfall.machines.rimless_wheel.sketch import spoke_fan, stance_spoke, steered_charts
from footfall.machines.rimless_wheel.spring_leg import SpringLeg
from footfall.machines.rimless_wheel.start import SteeredWheelStart
from footfall.machines.rimless_wheel.states import (
    DrivenWheelCounts,
    SteeredWheelCounts,
    SteeredWheelState,
)
from footfall.machines.rimless_wheel.tasks import STEER_TASK
from footfall.machines.rimless_wheel.torso import Torso
from footfall.machines.rimless_wheel.torso_wheel import MOTORS, MotorSignals, SpokeSignals
from footfall.machines.rimless_wheel.twin import steered_wheel_twin
from footfall.numerics.elementary import atan2
from footfall.numerics.scalar import Scalar
from footfall.numerics.small_solve import solve_spd
from footfall.numerics.trig import sincos
from footfall.scene.sketch import Ball, Chart, Ground, Link, Shape

TOGETHER = 1e-9  # m; two feet this close to landing together do
BEHIND = 9  # index of the left side's landing behind among the events; the right side's is next
#: Events that are landings, and of each the left side's: sides that land together do so in the same
#: way.
LANDINGS = {0: 0, 1: 0, BEHIND: BEHIND, BEHIND + 1: BEHIND}
SAME = 1e-14  # m; footholds of two that do, and that only rounding tells apart, are the same

Counts: TypeAlias = SteeredWheelCounts | DrivenWheelCounts


class SteeredWheelPower(eqx.Module):
    """Ports."""

    motor_left: Scalar = port(kind="work", doc="mechanical power of the left motor")
    motor_right: Scalar = port(kind="work", doc="mechanical power of the right motor")
    damper_left: Scalar = port(kind="loss", doc="damper of the left spoke")
    damper_right: Scalar = port(kind="loss", doc="damper of the right spoke")


class RollLockPower(eqx.Module):
    """Ports of a roll that is locked."""

    lock: Scalar = port(
        kind="work", doc="the moment that holds the roll: nothing, while it does not turn"
    )


class ReleasedWork(eqx.Module):
    """What a support transfer takes."""

    released_spring: Scalar = port(
        kind="loss", unit="J", doc="deflection energy left in the spoke that leaves"
    )


class SteeredWheelStores(eqx.Module):
    """Stores."""

    kinetic: Scalar = store(doc="kinetic energy")
    gravity: Scalar = store(doc="weight times height")
    spring: Scalar = store(doc="deflection of both stance spokes")


class SteeredWheelOutputs(eqx.Module):
    """What can be seen."""

    axle: Body
    left_hub: Body
    right_hub: Body
    torso: Body
    left_foot: RollingFoot
    right_foot: RollingFoot
    left_spoke: SpokeSignals
    right_spoke: SpokeSignals
    left_motor: MotorSignals
    right_motor: MotorSignals
    travel: WheelTravel
    computer: Any = None


class Side(NamedTuple):
    """One side's spoke, from the coordinates of the whole."""

    sin: Scalar
    cos: Scalar
    length: Scalar
    speed: Scalar  # rate of the length
    rate: Scalar  # rate of the spoke angle
    height: Scalar  # of this side's hub
    force: Scalar
    torque: Scalar
    fx: Scalar  # ground force forward
    fz: Scalar  # ground force up


class SteeredWheel(AbstractPlant):
    """Differential-drive rimless wheel on level ground.

    Neglected: couplings of order w^2 c and r w, the change of a foot's lateral offset with yaw,
    lateral slip, wheel pitch inertia. Requires compliance: with rigid spokes and no roll no turn
    exists. With `roll="locked"` both hubs have one height, as the source assumes, and it hardly
    turns.
    """

    Start = SteeredWheelStart
    setpoint_key: ClassVar[str] = "torso.pitch_setpoint"
    steered_by: ClassVar[tuple[str, ...]] = (setpoint_key, "steering_current")
    tasks: ClassVar[Mapping[str, Task]] = {"steer": STEER_TASK}
    start_angle: ClassVar[str] = "torso_angle"
    drives: ClassVar[DriveRange] = STEERED_DRIVES
    commanded: ClassVar[Mapping[str, Any]] = {"controller": None, "steering_current": 0.0}

    wheel_mass: Scalar = param(2.46, unit="kg", doc="mass at the axle, both wheels together", gt=0)
    half_track: Scalar = param(0.155, unit="m", doc="half the distance b between the wheels", gt=0)
    wheel_yaw_inertia: Scalar = param(
        0.0, unit="kg m^2", doc="yaw inertia of one wheel about its own centre", ge=0
    )
    yaw_inertia: Scalar | None = param(
        None,
        unit="kg m^2",
        doc="yaw inertia of the whole; derived from torso, wheels and track when not given",
        gt=0,
    )
    roll_inertia: Scalar = param(0.12, unit="kg m^2", doc="roll inertia of the whole", gt=0)
    roll: str = choice("free", options=("free", "locked"), doc="whether the robot may roll")
    steering_current: Scalar = param(
        0.0, unit="A", doc="current difference I_d: left + I_d, right - I_d; positive turns right"
    )
    gravity: Scalar = param(9.81, unit="m/s^2", doc="gravity", ge=0)
    spokes: int = param(10, doc="number of spokes per side", ge=3, le=1000, static=True)
    on_liftoff: str = choice(
        "stop", options=LIFTOFF, doc="what to do when a foot would have to pull"
    )
    leg: AbstractCompliantLeg = part(
        doc="virtual spoke: left and right together, each side has half", default_factory=SpringLeg
    )
    torso: Torso = part(doc="body hung from the axle", default_factory=Torso)
    motor: DcMotor = part(doc="one of the two motors", default_factory=DcMotor)
    controller: AbstractPitchController = part(
        doc="law that holds the torso's pitch", default_factory=PitchPid
    )

    @property
    def spoke_spacing(self) -> float:
        """Angle alpha between neighbouring spokes."""
        return 2.0 * math.pi / self.spokes

    @property
    def total_mass(self) -> Scalar:
        return self.wheel_mass + self.torso.mass

    @property
    def total_yaw_inertia(self) -> Scalar:
        """J_psi: as given, or torso plus two wheels at half a track from the middle."""
        if self.yaw_inertia is not None:
            return self.yaw_inertia
        each = self.wheel_yaw_inertia + 0.5 * self.wheel_mass * self.half_track * self.half_track
        return self.torso.yaw_inertia + 2.0 * each

    @property
    def events(self) -> tuple[Event, ...]:
        lifted = Outcome.lifted_off if self.on_liftoff == "stop" else None
        rocking = ("rock_back_left", "rock_back_right")  # both: the sides may land together
        return (
            Event("touchdown_left", "the next left spoke lands and takes over", restarts=rocking),
            Event("touchdown_right", "the next right spoke lands and takes over", restarts=rocking),
            Event(
                "rock_back_left",
                "the previous left spoke lands again",
                Outcome.rocked_back,
                unit="m",
            ),
            Event(
                "rock_back_right",
                "the previous right spoke lands again",
                Outcome.rocked_back,
                unit="m",
            ),
            Event("liftoff_left", "left spoke force reaches zero", lifted, unit="N", push=True),
            Event("liftoff_right", "right spoke force reaches zero", lifted, unit="N", push=True),
            Event("fall", "the axle sinks below half the spoke length", Outcome.fell, unit="m"),
            Event(
                "turn_back_left",
                "the left wheel turns round before its previous spoke has left",
                Outcome.rocked_back,
                unit="m",
            ),
            Event(
                "turn_back_right",
                "the right wheel turns round before its previous spoke has left",
                Outcome.rocked_back,
                unit="m",
            ),
            landing_behind("touchdown_behind_left", rocking, " left"),
            landing_behind("touchdown_behind_right", rocking, " right"),
        )

    def motor_torques(self, x: SteeredWheelState, m: Counts) -> tuple[Scalar, Scalar]:
        """(left, right) torque on the torso, each after its motor's limit."""
        if isinstance(m, DrivenWheelCounts):
            return m.torque_left, m.torque_right
        error = self.torso.pitch_setpoint - x.torso_angle
        each = self.controller.torque(error, x.torso_rate, x.pitch_integral) / MOTORS
        steer = self.motor.torque_per_ampere * self.steering_current
        return self.motor.torque(each + steer), self.motor.torque(each - steer)

    def side(self, x: SteeredWheelState, sign: float, ahead: Scalar, torque: Scalar) -> Side:
        """Spoke kinematics and ground force of one side (sign +1 left, -1 right)."""
        v = x.speed - sign * self.half_track * x.yaw_rate
        height = x.height + sign * self.half_track * x.roll
        climb = x.climb_rate + sign * self.half_track * x.roll_rate
        length = jnp.sqrt(ahead * ahead + height * height)
        s, c = ahead / length, height / length
        speed = -s * v + c * climb
        rate = -(c * v + s * climb) / length
        force = 0.5 * self.leg.force(length, speed)
        across = torque / length
        return Side(
            s,
            c,
            length,
            speed,
            rate,
            height,
            force,
            torque,
            -force * s + across * c,
            force * c + across * s,
        )

    def sides(self, x: SteeredWheelState, m: Counts) -> tuple[Side, Side]:
        left, right = self.motor_torques(x, m)
        return self.side(x, 1.0, x.foot_ahead_left, left), self.side(
            x, -1.0, x.foot_ahead_right, right
        )

    def flow(self, t: Scalar, x: SteeredWheelState, m: Counts) -> Rates:
        del t
        left, right = self.sides(x, m)
        m2c, total, b = self.torso.mass * self.torso.com_distance, self.total_mass, self.half_track
        sin_phi, cos_phi = sincos(x.torso_angle)
        centrifugal = m2c * x.torso_rate * x.torso_rate
        matrix = [
            [total, 0.0, m2c * cos_phi],
            [0.0, total, m2c * sin_phi],
            [m2c * cos_phi, m2c * sin_phi, m2c * self.torso.com_distance + self.torso.inertia],
        ]
        right_side = (
            left.fx + right.fx + centrifugal * sin_phi,
            left.fz + right.fz - total * self.gravity - centrifugal * cos_phi,
            left.torque + right.torque - m2c * self.gravity * sin_phi,
        )
        v_dot, z_dd, phi_dd = solve_spd(matrix, right_side)
        sin_psi, cos_psi = sincos(x.heading)
        rolling = b * (left.fz - right.fz)
        error = self.torso.pitch_setpoint - x.torso_angle
        dx = SteeredWheelState(
            height=x.climb_rate,
            roll=x.roll_rate,
            torso_angle=x.torso_rate,
            speed=v_dot,
            climb_rate=z_dd,
            roll_rate=0.0 if self.roll == "locked" else rolling / self.roll_inertia,
            torso_rate=phi_dd,
            yaw_rate=-b * (left.fx - right.fx) / self.total_yaw_inertia,
            foot_ahead_left=-(x.speed - b * x.yaw_rate),
            foot_ahead_right=-(x.speed + b * x.yaw_rate),
            x=x.speed * cos_psi,
            y=x.speed * sin_psi,
            heading=x.yaw_rate,
            distance=x.speed,
            pitch_integral=0.0
            if isinstance(m, DrivenWheelCounts)
            else self.controller.integral_rate(error, x.pitch_integral),
        )
        power = SteeredWheelPower(
            motor_left=left.torque * (x.torso_rate - left.rate),
            motor_right=right.torque * (x.torso_rate - right.rate),
            damper_left=-0.5 * self.leg.loss(left.length, left.speed),
            damper_right=-0.5 * self.leg.loss(right.length, right.speed),
        )
        lock = RollLockPower(-rolling * x.roll_rate) if self.roll == "locked" else None
        return Rates(dx, added(power, lock))

    def guards(self, t: Scalar, x: SteeredWheelState, m: Counts) -> tuple[Scalar, ...]:
        """Room left before each event.

        [m] height of the next and previous foot of each side; [N] spoke forces; [m] axle above its
        least height; [m] room of each side to turn back; [m] height of the foot behind of each side
        that has not decided yet.
        """
        del t
        l0 = self.leg.rest_length
        left, right = self.sides(x, m)
        on_left = feet(*self._neighbours(left), m.direction_left, l0)
        on_right = feet(*self._neighbours(right), m.direction_right, l0)
        return (
            on_left.next,
            on_right.next,
            on_left.previous,
            on_right.previous,
            left.force,
            right.force,
            x.height - 0.5 * l0,
            turning_back(
                on_left.previous, x.speed - self.half_track * x.yaw_rate, m.direction_left, l0
            ),
            turning_back(
                on_right.previous, x.speed + self.half_track * x.yaw_rate, m.direction_right, l0
            ),
            on_left.behind,
            on_right.behind,
        )

    def _neighbours(self, side: Side) -> tuple[Scalar, Scalar]:
        """Height of the foot in front of the stance foot of one side, and of the one behind it."""
        l0, cos_alpha, sin_alpha = (
            self.leg.rest_length,
            math.cos(self.spoke_spacing),
            math.sin(self.spoke_spacing),
        )
        in_front = side.height - l0 * (side.cos * cos_alpha - side.sin * sin_alpha)
        return in_front, side.height - l0 * (side.cos * cos_alpha + side.sin * sin_alpha)

    def jump(self, t: Scalar, x: SteeredWheelState, m: Counts, k: int) -> Jump:
        """The landing side gets a new, unstretched spoke.

        No velocity jumps, because the wheels have no pitch inertia here.

        The other side lands with it if it has less than TOGETHER left, in the SAME place if only
        rounding says otherwise: walking straight is unstable against the sides drifting apart, so a
        difference of a rounding error must not be made into one of a step.
        """
        if k not in LANDINGS:  # a lift-off that is only reported changes nothing
            return Jump(x, m)
        first = LANDINGS[k]
        rooms = self.guards(t, x, m)[first : first + 2]
        lands = [
            (rooms[i] < TOGETHER) if first + i != k else (rooms[i] == rooms[i]) for i in (0, 1)
        ]
        jumped = self._landed(x, m, lands, first)
        left, right = jumped.x.foot_ahead_left, jumped.x.foot_ahead_right
        right = jnp.where(jnp.abs(right - left) < SAME, left, right)
        return jumped._replace(x=eqx.tree_at(lambda s: s.foot_ahead_right, jumped.x, right))

    def together(self, t: Scalar, x: SteeredWheelState, m: Counts, k: int) -> dict[int, Scalar]:
        if k not in LANDINGS:
            return {}
        other = 2 * LANDINGS[k] + 1 - k
        return {other: self.guards(t, x, m)[other] < TOGETHER}

    def jump_alone(self, t: Scalar, x: SteeredWheelState, m: Counts, k: int) -> Jump:
        if k not in LANDINGS:
            return self.jump(t, x, m, k)
        return self._landed(x, m, [k == LANDINGS[k], k != LANDINGS[k]], LANDINGS[k])

    def _landed(self, x: SteeredWheelState, m: Counts, lands: list[Any], first: int) -> Jump:
        """After a landing of the sides that land, left and right; `first` is of LANDINGS."""
        ahead, steps, released = (
            [x.foot_ahead_left, x.foot_ahead_right],
            [m.steps_left, m.steps_right],
            0.0,
        )
        ways = [m.direction_left, m.direction_right]
        for i, side in enumerate(self.sides(x, m)):
            way = side_of_landing(ways[i], behind=first == BEHIND)
            turn = jnp.asarray(way, jnp.result_type(side.sin)) * math.sin(self.spoke_spacing)
            foot = self.leg.rest_length * (
                side.sin * math.cos(self.spoke_spacing) + side.cos * turn
            )
            now = lands[i]
            ahead[i], steps[i], ways[i] = (
                jnp.where(now, foot, ahead[i]),
                steps[i] + now,
                jnp.where(now, way, ways[i]),
            )
            released = released + jnp.where(now, 0.5 * self.leg.energy(side.length), 0.0)
        x = eqx.tree_at(lambda s: (s.foot_ahead_left, s.foot_ahead_right), x, tuple(ahead))
        counted = dataclasses.replace(
            m,
            steps_left=steps[0],
            steps_right=steps[1],
            direction_left=ways[0],
            direction_right=ways[1],
        )
        return Jump(x, counted, ReleasedWork(released_spring=-released))

    @property
    def joints(self) -> tuple[str, ...]:
        return ("left", "right")

    @property
    def setpoint(self) -> Scalar:
        return self.torso.pitch_setpoint

    def driven(self, m: DrivenWheelCounts, torques: tuple[Scalar, ...]) -> DrivenWheelCounts:
        return dataclasses.replace(m, torque_left=torques[0], torque_right=torques[1])

    def metered(
        self, outputs: SteeredWheelOutputs, currents: tuple[Scalar, ...], powers: tuple[Scalar, ...]
    ) -> SteeredWheelOutputs:
        left, right = (
            dataclasses.replace(motor, current=current, electrical_power=power)
            for motor, current, power in zip(
                (outputs.left_motor, outputs.right_motor), currents, powers, strict=True
            )
        )
        return dataclasses.replace(outputs, left_motor=left, right_motor=right)

    def senses(self, t: Scalar, x: SteeredWheelState, m: Counts) -> Senses:
        del t
        left, right = self.sides(x, m)
        turned = (
            atan2(side.sin, side.cos)
            - self.spoke_spacing * jnp.asarray(steps, jnp.result_type(side.sin))
            for side, steps in (
                (left, m.direction_left * m.steps_left),
                (right, m.direction_right * m.steps_right),
            )
        )
        positions = tuple(x.torso_angle - angle for angle in turned)
        return Senses(
            x.torso_angle, positions, (x.torso_rate - left.rate, x.torso_rate - right.rate)
        )

    def odometry(
        self, start: HybridState, angle: np.ndarray, positions: tuple[np.ndarray, ...]
    ) -> HybridState:
        length, b, began = float(self.leg.rest_length), float(self.half_track), start.x
        heights = began.height + b * began.roll, began.height - b * began.roll
        aheads = began.foot_ahead_left, began.foot_ahead_right
        left, right = (
            rolled(
                math.atan2(ahead, height) + (angle - angle[0]) - (position - position[0]),
                self.spokes,
                length,
            )
            for ahead, height, position in zip(aheads, heights, positions, strict=True)
        )
        way = course(left.hub, right.hub, b)
        sin, cos, still = math.sin(began.heading), math.cos(began.heading), np.zeros_like(way.x)
        x = SteeredWheelState(
            height=0.5 * (left.height + right.height),
            roll=(left.height - right.height) / (2.0 * b),
            torso_angle=np.asarray(angle),
            speed=still,
            climb_rate=still,
            roll_rate=still,
            torso_rate=still,
            yaw_rate=still,
            foot_ahead_left=left.foot - left.hub,
            foot_ahead_right=right.foot - right.hub,
            x=began.x + way.x * cos - way.y * sin,
            y=began.y + way.x * sin + way.y * cos,
            heading=began.heading + way.heading,
            distance=began.distance + way.distance,
            pitch_integral=still,
        )
        counts = {
            "steps_left": start.m.steps_left + left.steps.astype(np.int32),
            "steps_right": start.m.steps_right + right.steps.astype(np.int32),
        }
        return HybridState(x, dataclasses.replace(start.m, **counts))

    def stores(self, t: Scalar, x: SteeredWheelState, m: Counts) -> SteeredWheelStores:
        del t
        left, right = self.sides(x, m)
        sin_phi, cos_phi = sincos(x.torso_angle)
        swing = self.torso.com_distance * x.torso_rate
        torso_x, torso_z = x.speed + swing * cos_phi, x.climb_rate + swing * sin_phi
        kinetic = 0.5 * (
            self.wheel_mass * (x.speed * x.speed + x.climb_rate * x.climb_rate)
            + self.torso.mass * (torso_x * torso_x + torso_z * torso_z)
            + self.torso.inertia * x.torso_rate * x.torso_rate
            + self.roll_inertia * x.roll_rate * x.roll_rate
            + self.total_yaw_inertia * x.yaw_rate * x.yaw_rate
        )
        torso_height = x.height - self.torso.com_distance * cos_phi
        return SteeredWheelStores(
            kinetic=kinetic,
            gravity=self.gravity * (self.wheel_mass * x.height + self.torso.mass * torso_height),
            spring=0.5 * (self.leg.energy(left.length) + self.leg.energy(right.length)),
        )

    def outputs(self, t: Scalar, x: SteeredWheelState, m: Counts) -> SteeredWheelOutputs:
        del t
        left, right = self.sides(x, m)
        b = self.half_track
        s, c = sincos(x.heading)
        sin_phi, cos_phi = sincos(x.torso_angle)
        com = self.torso.com_distance
        vx, vy = x.speed * c, x.speed * s

        def hub(sign: float, side: Side) -> Body:
            # A point b to the left of the axle's middle: its velocity has the yaw part too.
            return Body(
                x=x.x - sign * b * s,
                y=x.y + sign * b * c,
                z=side.height,
                vx=vx - sign * b * c * x.yaw_rate,
                vy=vy - sign * b * s * x.yaw_rate,
                vz=x.climb_rate + sign * b * x.roll_rate,
                pitch=-jnp.arctan2(side.sin, side.cos),
                yaw=x.heading,
            )

        def foot(body: Body, side: Side, ahead: Scalar) -> RollingFoot:
            return RollingFoot(
                x=body.x + ahead * c,
                y=body.y + ahead * s,
                z=0.0 * body.z,
                fx=side.fx * c,
                fy=side.fx * s,
                fz=side.fz,
                friction_needed=friction_needed(side.fx, side.fz),
            )

        def motor(side: Side) -> MotorSignals:
            speed = x.torso_rate - side.rate
            power = side.torque * speed
            return MotorSignals(
                torque=side.torque,
                current=self.motor.current(side.torque),
                speed=speed,
                power=power,
                electrical_power=power + self.motor.heat(side.torque),
            )

        def spoke(side: Side) -> SpokeSignals:
            return SpokeSignals(force=side.force, length=side.length, speed=side.speed)

        left_hub, right_hub = hub(1.0, left), hub(-1.0, right)
        ahead, swing = com * sin_phi, com * cos_phi * x.torso_rate
        return SteeredWheelOutputs(
            axle=Body(
                x=x.x, y=x.y, z=x.height, vx=vx, vy=vy, vz=x.climb_rate, roll=x.roll, yaw=x.heading
            ),
            left_hub=left_hub,
            right_hub=right_hub,
            torso=Body(
                x=x.x + ahead * c,
                y=x.y + ahead * s,
                z=x.height - com * cos_phi,
                vx=vx + swing * c - ahead * s * x.yaw_rate,
                vy=vy + swing * s + ahead * c * x.yaw_rate,
                vz=x.climb_rate + com * sin_phi * x.torso_rate,
                roll=x.roll,
                pitch=-x.torso_angle,
                yaw=x.heading,
            ),
            left_foot=foot(left_hub, left, x.foot_ahead_left),
            right_foot=foot(right_hub, right, x.foot_ahead_right),
            left_spoke=spoke(left),
            right_spoke=spoke(right),
            left_motor=motor(left),
            right_motor=motor(right),
            travel=WheelTravel(distance=x.distance, speed=x.speed),
        )

    def suggestions(self, outcome: Outcome) -> tuple[Suggestion, ...]:
        return (
            *walking_cures(outcome),
            Suggestion("--set steering_current=0.25", "a wider curve"),
            Suggestion("--set torso.pitch_setpoint=0.7 --animate turning.gif"),
        )

    def sketch(self) -> tuple[Shape, ...]:
        weight, length = self.total_mass * self.gravity, self.leg.rest_length
        return (
            Ground(),
            *spoke_fan("right_hub", self.spokes, length),
            *stance_spoke("right_foot", "right_hub", weight, "far_leg"),
            Link("left_hub", "right_hub", "joint"),
            Link("axle", "torso", "body", 0.01),
            Ball("torso", (0.0, 0.0, 0.0), 0.025, "body"),
            *spoke_fan("left_hub", self.spokes, length),
            *stance_spoke("left_foot", "left_hub", weight),
        )

    def charts(self) -> tuple[Chart, ...]:
        return steered_charts()

    def bounds(self) -> tuple[Bound, ...]:
        counters = ("steps_left", "steps_right")
        slipping = friction_bounds(("left_foot", "right_foot"), counters)
        return slipping + sag_bounds(
            self.leg.rest_length, self.spokes, ("left_spoke", "right_spoke"), counters
        )

    def twin(self) -> Twin:
        """As bodies of MuJoCo, the same while it goes straight."""
        return steered_wheel_twin(self)

    def travel(self) -> Travel:
        return Travel(
            "travel.distance",
            ("steps_left", "steps_right"),
            self.total_mass * self.gravity,
            ("motor_left", "motor_right"),
            "axle.yaw",
            friction=("left_foot.friction_needed", "right_foot.friction_needed"),
        )
