"""The rigid rimless wheel on a plane.

McGeer's and Coleman's passive walker, with an optional constant wheel torque.

Model plane: x along the ground (downhill), z normal to it; foot - hub = l (sin theta, -cos theta);
walking forward means theta_dot < 0. Theory: docs/theory/rimless-wheel.md, section 1.
"""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp

from footfall.hybrid.bound import Bound
from footfall.hybrid.doubt import Doubt
from footfall.hybrid.fields import choice, param, part, port, signal, store
from footfall.hybrid.frame import Body, PlanarFrame
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.suggestion import Suggestion, cure
from footfall.hybrid.system import AbstractHybridSystem, Event, Jump, Rates, Travel
from footfall.machines.parts.friction.needed import RollingFoot, friction_needed
from footfall.machines.parts.terrain.base import AbstractTerrain
from footfall.machines.parts.terrain.planes import Slope
from footfall.machines.rimless_wheel.bounds import friction_bounds
from footfall.machines.rimless_wheel.footing import (
    STUMBLED,
    corner_doubts,
    room_to_stumble,
    stumble,
    tip,
    to_footing,
)
from footfall.machines.rimless_wheel.rolling import (
    feet,
    landing_behind,
    side_of_landing,
    turning_back,
)
from footfall.machines.rimless_wheel.sketch import rigid_charts, spoke_fan, stance_spoke
from footfall.machines.rimless_wheel.start import RigidWheelStart
from footfall.machines.rimless_wheel.states import RigidWheelState, WheelStance
from footfall.machines.rimless_wheel.strut import Strut
from footfall.numerics.scalar import Scalar
from footfall.numerics.trig import sincos
from footfall.scene.sketch import Chart, Ground, Shape

LIFTOFF = ("stop", "report")
REFUSES = {"water": "its feet are points, and water does not carry points"}
BEHIND = 4  # index of the landing behind among the events


class RigidWheelPower(eqx.Module):
    """Ports."""

    motor: Scalar = port(kind="work", doc="constant wheel torque")


class ImpactWork(eqx.Module):
    """What a support transfer takes."""

    impact: Scalar = port(kind="loss", unit="J", doc="plastic impact of the new foot")


class RigidWheelStores(eqx.Module):
    """Stores."""

    kinetic: Scalar = store(doc="kinetic energy")
    gravity: Scalar = store(doc="weight times height")


class RigidWheelOutputs(eqx.Module):
    """What can be seen."""

    hub: Body
    foot: RollingFoot
    travel: "WheelTravel"


class WheelTravel(eqx.Module):
    """Progress along the ground."""

    distance: Scalar = signal(unit="m", doc="distance of the hub along the ground")
    speed: Scalar = signal(unit="m/s", doc="speed of the hub along the ground", rate_of="distance")


class RigidWheel(AbstractHybridSystem):
    """Rigid spokes, all mass at the hub (plus a wheel inertia).

    One foot on the ground at a time, no slip.

    (m l^2 + J) theta_dd = m g l sin(theta - gamma) - T          (rigid.1)
    support transfer: (m l^2 + J) omega+ = (m l^2 cos(alpha) + J) omega-,
                      theta+ = theta- + alpha                                              (rigid.2)
    and theta+ = theta- - alpha for one that rolls backward (see wheel_rolling.py).
    """

    Start = RigidWheelStart
    refuses: ClassVar[Mapping[str, str]] = REFUSES

    mass: Scalar = param(6.91, unit="kg", doc="total mass", gt=0)
    inertia: Scalar = param(0.0, unit="kg m^2", doc="wheel inertia about the hub", ge=0)
    wheel_torque: Scalar = param(
        0.0, unit="N m", doc="constant torque on the wheel, positive drives forward"
    )
    gravity: Scalar = param(9.81, unit="m/s^2", doc="gravity", ge=0)
    spokes: int = param(10, doc="number of spokes", ge=3, le=1000, static=True)
    on_liftoff: str = choice(
        "stop", options=LIFTOFF, doc="what to do when the foot would have to pull"
    )
    leg: Strut = part(doc="spoke", default_factory=Strut)
    terrain: AbstractTerrain = part(doc="ground", default_factory=Slope)

    @property
    def spoke_spacing(self) -> float:
        """Angle alpha between neighbouring spokes."""
        return 2.0 * math.pi / self.spokes

    @property
    def frame(self) -> PlanarFrame:
        return PlanarFrame(descent=self.terrain.descent)

    @property
    def events(self) -> tuple[Event, ...]:
        lifted = Outcome.lifted_off if self.on_liftoff == "stop" else None
        return (
            Event("touchdown", "the next spoke lands and takes over", restarts=("rock_back",)),
            Event("rock_back", "the previous spoke lands again", Outcome.rocked_back, unit="m"),
            Event("liftoff", "normal ground force reaches zero", lifted, unit="N", push=True),
            Event(
                "turn_back",
                "the wheel turns round before the previous spoke has left the ground",
                Outcome.rocked_back,
                unit="m",
            ),
            landing_behind("touchdown_behind", restarts=("rock_back",)),
            *((stumble(),) if self.terrain.uneven else ()),
        )

    def acceleration(self, angle: Scalar) -> Scalar:
        """theta_dd of (rigid.1)."""
        s, _ = sincos(angle - self.terrain.descent)
        return self._acceleration(s)

    def _acceleration(self, sin_from_vertical: Scalar) -> Scalar:
        l, m = self.leg.length, self.mass
        return (m * self.gravity * l * sin_from_vertical - self.wheel_torque) / (
            m * l * l + self.inertia
        )

    def ground_force(self, x: RigidWheelState) -> tuple[Scalar, Scalar]:
        """Force on the robot along and normal to the ground: m (a_hub - g)."""
        return self._ground_force(*sincos(x.spoke_angle), x.spoke_rate)

    def _ground_force(self, s: Scalar, c: Scalar, rate: Scalar) -> tuple[Scalar, Scalar]:
        l = self.leg.length
        sg, cg = sincos(self.terrain.descent)
        acc = self._acceleration(s * cg - c * sg)
        along = -l * (acc * c - rate * rate * s)
        normal = -l * (acc * s + rate * rate * c)
        return self.mass * (along - self.gravity * sg), self.mass * (normal + self.gravity * cg)

    def flow(self, t: Scalar, x: RigidWheelState, m: WheelStance) -> Rates:
        del t, m
        dx = RigidWheelState(spoke_angle=x.spoke_rate, spoke_rate=self.acceleration(x.spoke_angle))
        return Rates(dx, RigidWheelPower(motor=-self.wheel_torque * x.spoke_rate))

    def guards(self, t: Scalar, x: RigidWheelState, m: WheelStance) -> tuple[Scalar, ...]:
        """Room left before each event.

        [m] height of the next and of the previous foot above the ground; [N] normal force; [m] room
        to turn back; [m] height of the foot behind, of a wheel that has not decided yet; on uneven
        ground [m] room to stumble.
        """
        del t
        s, c = sincos(x.spoke_angle)  # once: guards are looked at many times a step
        l = self.leg.length
        foot = feet(*self._neighbours(s, c, m), m.direction, l)
        turn = turning_back(foot.previous, -l * x.spoke_rate * c, m.direction, l)
        _, normal = to_footing(self.terrain, m.foot_x, *self._ground_force(s, c, x.spoke_rate))
        rooms = (foot.next, foot.previous, normal, turn, foot.behind)
        if not self.terrain.uneven:
            return rooms
        hub = self._hub(s, c, m)
        return *rooms, room_to_stumble(self.terrain, *hub, l, s, c, self.spoke_spacing, m.direction)

    def _hub(self, s: Scalar, c: Scalar, m: WheelStance) -> tuple[Scalar, Scalar]:
        """Along and normal to the ground's plane."""
        l = self.leg.length
        return m.foot_x - l * s, self.terrain.relief(m.foot_x) + l * c

    def _neighbours(self, s: Scalar, c: Scalar, m: WheelStance) -> tuple[Scalar, Scalar]:
        """Height of the foot in front of the stance foot, and of the one behind it, above the
        ground under it.
        """
        l, alpha, foot_z = self.leg.length, self.spoke_spacing, self.terrain.relief(m.foot_x)
        level, tilted = l * c * (1.0 - math.cos(alpha)), l * s * math.sin(alpha)
        ahead, behind = (tip(m.foot_x - l * s, 0.0, l, s, c, turn)[0] for turn in (alpha, -alpha))
        return (
            self.terrain.room_above(ahead, foot_z + (level + tilted)),
            self.terrain.room_above(behind, foot_z + (level - tilted)),
        )

    def jump(self, t: Scalar, x: RigidWheelState, m: WheelStance, k: int) -> Jump:
        del t
        if k not in (0, BEHIND):  # a lift-off that is only reported changes nothing
            return Jump(x, m, ImpactWork(impact=0.0 * x.spoke_rate))
        l, mass, alpha = self.leg.length, self.mass, self.spoke_spacing
        after = (
            x.spoke_rate
            * (mass * l * l * math.cos(alpha) + self.inertia)
            / (mass * l * l + self.inertia)
        )
        # What a plastic impact takes is the kinetic energy of the velocity it removes.
        removed_x = l * (after * math.cos(alpha) - x.spoke_rate)
        removed_z = l * (after * math.sin(alpha))
        lost = (
            0.5 * mass * (removed_x * removed_x + removed_z * removed_z)
            + 0.5 * self.inertia * (after - x.spoke_rate) ** 2
        )
        s, _ = sincos(x.spoke_angle)
        side = side_of_landing(m.direction, behind=k == BEHIND)
        angle = x.spoke_angle + jnp.asarray(side, jnp.result_type(x.spoke_angle)) * alpha
        foot_x = m.foot_x + l * (sincos(angle)[0] - s)
        return Jump(
            RigidWheelState(spoke_angle=angle, spoke_rate=after),
            WheelStance(foot_x=foot_x, steps=m.steps + 1, direction=side),
            ImpactWork(impact=-lost),
        )

    def stores(self, t: Scalar, x: RigidWheelState, m: WheelStance) -> RigidWheelStores:
        del t
        l = self.leg.length
        s, c = sincos(x.spoke_angle)
        _, height = self.frame.to_house(*self._hub(s, c, m))
        return RigidWheelStores(
            kinetic=0.5 * (self.mass * l * l + self.inertia) * x.spoke_rate * x.spoke_rate,
            gravity=self.mass * self.gravity * height,
        )

    def outputs(self, t: Scalar, x: RigidWheelState, m: WheelStance) -> RigidWheelOutputs:
        del t
        l, frame = self.leg.length, self.frame
        s, c = sincos(x.spoke_angle)
        hub_x, hub_z = frame.to_house(*self._hub(s, c, m))
        speed = -l * x.spoke_rate * c
        vx, vz = frame.to_house(speed, -l * x.spoke_rate * s)
        foot_x, foot_z = frame.to_house(m.foot_x, self.terrain.relief(m.foot_x))
        force = self.ground_force(x)
        fx, fz = frame.to_house(*force)
        return RigidWheelOutputs(
            hub=Body(x=hub_x, z=hub_z, vx=vx, vz=vz, pitch=frame.pitch(x.spoke_angle)),
            foot=RollingFoot(
                x=foot_x,
                z=foot_z,
                fx=fx,
                fz=fz,
                friction_needed=friction_needed(*to_footing(self.terrain, m.foot_x, *force)),
            ),
            travel=WheelTravel(distance=m.foot_x - l * s, speed=speed),
        )

    def suggestions(self, outcome: Outcome) -> tuple[Suggestion, ...]:
        cures = {
            Outcome.rocked_back: (
                cure(
                    '--set terrain=slope --set terrain.angle="0.08 rad"',
                    "steep enough to keep rolling",
                ),
            ),
            STUMBLED: (cure("--set terrain=slope", "nothing in its way"),),
            Outcome.lifted_off: (
                cure(
                    '--set terrain=slope --set terrain.angle="0.08 rad"',
                    "gentle enough for its feet to stay",
                ),
            ),
        }
        slope = "" if "inclined" in self.terrain.features else "--set terrain=slope "
        return (
            *cures.get(outcome, ()),
            Suggestion(f'{slope}--set terrain.angle="0.12 rad"', "steeper, faster"),
            Suggestion(f'{slope}--set terrain.angle="1.8 deg"', "too gentle: it rocks back"),
        )

    def sketch(self) -> tuple[Shape, ...]:
        fan = spoke_fan("hub", self.spokes, self.leg.length)
        return (
            Ground(self.terrain.outline, height=self.terrain.height),
            *fan,
            *stance_spoke("foot", "hub", self.mass * self.gravity),
        )

    def charts(self) -> tuple[Chart, ...]:
        return rigid_charts()

    def bounds(self) -> tuple[Bound, ...]:
        return friction_bounds()

    def doubts(self, t: Any, columns: Any) -> list[Doubt]:
        del t
        return corner_doubts(self.terrain, columns)

    def travel(self) -> Travel:
        return Travel(
            "travel.distance",
            ("steps",),
            self.mass * self.gravity,
            ("motor",),
            friction=("foot.friction_needed",),
        )
