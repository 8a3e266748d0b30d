"""A runner with four-bar legs.

A rigid body carried by feet that water or ground pushes on, all cranks turned together.

Model plane: x to the robot's rear, y up, angles counter-clockwise; it runs towards -x, and positive
pitch is nose down. Theory: docs/theory/water-runner.md.
"""

import dataclasses
import functools
import math
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import jax.numpy as jnp

from footfall.hybrid.compose import added, joined, put
from footfall.hybrid.fields import ParameterError, choice, param, part
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.suggestion import Suggestion, cure
from footfall.hybrid.system import AbstractHybridSystem, Event, Jump, Rates, Travel
from footfall.hybrid.task import Task
from footfall.machines.parts.contact.base import AbstractContact
from footfall.machines.parts.contact.cubic import CubicContact
from footfall.machines.parts.friction.base import AbstractFriction
from footfall.machines.parts.friction.coulomb import StribeckFriction
from footfall.machines.parts.terrain.base import AbstractTerrain
from footfall.machines.parts.terrain.water import Water
from footfall.machines.water_runner.body import RunnerBody
from footfall.machines.water_runner.crank_drives import PrescribedCrank
from footfall.machines.water_runner.drive import AbstractDrive
from footfall.machines.water_runner.foot import AbstractFoot
from footfall.machines.water_runner.four_bar_leg import FourBarLeg
from footfall.machines.water_runner.legs import (
    Loads,
    Mount,
    all_loads,
    drive_of,
    each_leg,
    foot_depth,
    look,
    own_of,
    water_power,
)
from footfall.machines.water_runner.outputs import runner_outputs
from footfall.machines.water_runner.pads import BreakawayPad
from footfall.machines.water_runner.sketch import free_bodies, runner_sketch
from footfall.machines.water_runner.start import RunnerStart
from footfall.machines.water_runner.states import (
    LEGS,
    FootMode,
    FootStores,
    GroundStores,
    LockPower,
    PerLeg,
    RunnerMode,
    RunnerOutputs,
    RunnerPower,
    RunnerState,
    RunnerStores,
)
from footfall.machines.water_runner.tail import AbstractTail
from footfall.machines.water_runner.tails import PadTail
from footfall.machines.water_runner.tasks import RUN_TASK
from footfall.machines.water_runner.wet_disc import Medium
from footfall.numerics.scalar import Scalar
from footfall.numerics.trig import sincos
from footfall.numerics.units import TURN
from footfall.scene.sketch import Chart, Shape


class Happening(NamedTuple):
    """One event of the robot."""

    event: Event
    leg: str | None = None  #: whose it is; None: the whole robot's
    own: int | None = None  #: its number among the events that the foot declares


#: Depth of a foot [m] that is rounding of where it was put.
AT_SURFACE = 1e-12


class FourBarRunner(AbstractHybridSystem):
    """A body with two or four crank-driven four-bar legs, on water or on hard ground.

    Not modelled: mass of the legs, roll, the slap impulse (added mass at entry), buoyancy, waves,
    wakes, a cavity that closes.
    """

    Start = RunnerStart
    tasks: ClassVar[Mapping[str, Task]] = {"run": RUN_TASK}
    refuses: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("hills", "walls", "gaps"),
        "its body and feet are measured against one plane, of water or of ground, from start"
        " to end",
    )

    gravity: Scalar = param(9.81, unit="m/s^2", doc="gravity", ge=0)
    legs: str = choice("four", options=("two", "four"), doc="a biped has the front legs only")
    pitch: str = choice("free", options=("free", "locked"), doc="whether the body may pitch")
    side_phase: Scalar = param(
        math.pi, unit="rad", doc="crank of a right leg ahead of the left one"
    )
    rear_phase: Scalar = param(
        math.pi,
        unit="rad",
        doc="cranks of the rear legs ahead of the front ones: half a turn is a trot",
    )
    tip_pitch: Scalar = param(
        1.2,
        unit="rad",
        doc="pitch, either way, at which the robot counts as tipped over",
        gt=0,
        lt=1.57,
    )
    body: RunnerBody = part(doc="body and where its legs are", default_factory=RunnerBody)
    leg: FourBarLeg = part(doc="linkage of every leg", default_factory=FourBarLeg)
    foot: AbstractFoot = part(doc="what is at the end of every leg", default_factory=BreakawayPad)
    tail: AbstractTail = part(doc="what trims the pitch on water", default_factory=PadTail)
    drive: AbstractDrive = part(doc="what turns the cranks", default_factory=PrescribedCrank)
    contact: AbstractContact = part(doc="how hard ground pushes back", default_factory=CubicContact)
    friction: AbstractFriction = part(
        doc="how hard ground holds a foot", default_factory=StribeckFriction
    )
    terrain: AbstractTerrain = part(doc="water or hard ground", default_factory=Water)

    def __check_init__(self) -> None:
        super().__check_init__()
        reason = self.foot.needs_driven_cranks(self.on_water)
        if reason and self.drive.rest(0.0) is not None:
            raise ParameterError(reason, "foot")

    @property
    def on_water(self) -> bool:
        return self.terrain.water is not None

    def idle_parts(self) -> dict[str, str]:
        if self.on_water:
            return dict.fromkeys(("contact", "friction"), "on water no foot meets hard ground")
        return {"tail": "it works in water only"}

    @property
    def names(self) -> tuple[str, ...]:
        """Its legs."""
        return LEGS[:2] if self.legs == "two" else LEGS

    @property
    def medium(self) -> Medium:
        """The water."""
        assert self.terrain.water is not None
        return Medium(*self.terrain.water, self.gravity)

    def accelerations(self, x: RunnerState, loads: Loads) -> tuple[Scalar, Scalar, Scalar, Scalar]:
        """(x'', y'', pitch'', crank''):

        m x'' = sum P_x - c x',   m y'' = sum P_y - m g,
        I pitch'' = sum [M + (F - centre) x P]                                            (runner.7)
        """
        body = self.body
        return (
            (loads.fx - body.forward_drag * x.vx) / body.mass,
            loads.fy / body.mass - self.gravity,
            0.0 if self.pitch == "locked" else loads.moment / body.inertia,
            self.drive.acceleration(drive_of(self, x), loads.torque),
        )

    def flow(self, t: Scalar, x: RunnerState, m: RunnerMode) -> Rates:
        loads = all_loads(self, t, x, m)
        ax, ay, pitch_dd, _ = self.accelerations(x, loads)
        own = RunnerState(
            x=x.vx,
            y=x.vy,
            pitch=x.pitch_rate,
            vx=ax,
            vy=ay,
            pitch_rate=pitch_dd,
            feet=PerLeg(**{name: one.load.rates for name, one in loads.legs.by_name().items()}),
        )
        drive = drive_of(self, x)
        turning = self.drive.flow(drive, loads.torque)
        power = RunnerPower(
            drive=self.drive.given_torque(drive, loads.torque) * loads.frame.crank_rate,
            forward_drag=-self.body.forward_drag * x.vx * x.vx,
        )
        tail = water_power(loads.tail) if self.on_water and self.tail.present else None
        lock = LockPower(-loads.moment * x.pitch_rate) if self.pitch == "locked" else None
        feet = loads.legs.total(lambda one: one.load.power)
        return Rates(joined(own, turning.x), added(power, feet, tail, turning.power, lock))

    def stores(self, t: Scalar, x: RunnerState, m: RunnerMode) -> RunnerStores:
        body, frame = self.body, look(self, t, x)
        kinetic = 0.5 * (
            body.mass * (x.vx * x.vx + x.vy * x.vy) + body.inertia * x.pitch_rate * x.pitch_rate
        )

        def kept(mount: Mount) -> FootStores:
            """Of one foot and the ground under it."""
            ground = None
            if not self.on_water:
                ground = self.contact.energy(foot_depth(self, x, frame, mount)[0])
            if self.friction.has_memory:
                ground = (0.0 if ground is None else ground) + self.friction.energy(
                    mount.foot.bristle
                )
            return added(
                FootStores(),
                self.foot.stores(own_of(self, mount.foot)),
                None if ground is None else GroundStores(ground),
            )

        return added(
            RunnerStores(kinetic=kinetic, gravity=body.mass * self.gravity * x.y),
            self.drive.stores(drive_of(self, x)),
            each_leg(self, x, m, kept).total(lambda one: one),
        )

    @property
    def _happenings(self) -> tuple[Happening, ...]:
        """In the order of guards: of each leg, of the robot, and what ends a run by one foot."""
        own = list(enumerate(self.foot.events(self.on_water)))
        feet = [(_EVENTS["touchdown"], None), (_EVENTS["lift"], None)]
        feet += [(event, k) for k, event in own if event.outcome is None]
        whole = ("stride", "tip", "sink" if self.on_water else "fall")
        return (
            *(Happening(event, name, k) for event, k in feet for name in self.names),
            *(Happening(_EVENTS[what]) for what in whole),
            *(Happening(event, None, k) for k, event in own if event.outcome is not None),
        )

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(
            event if leg is None else event._replace(name=f"{event.name}.{leg}")
            for event, leg, _ in self._happenings
        )

    def guards(self, t: Scalar, x: RunnerState, m: RunnerMode) -> tuple[Scalar, ...]:
        """Room left before each event.

        [m] height of each foot over the surface, and its depth; what each foot has of its own;
        [rad] crank angle left in this turn; [rad] pitch left; [m] height of the body left.
        """
        frame = look(self, t, x)

        def see(mount: Mount) -> tuple[Scalar, tuple[Scalar, ...]]:
            deep, at = foot_depth(self, x, frame, mount)
            return deep, self.foot.guards(at, own_of(self, mount.foot), self.on_water)

        feet = each_leg(self, x, m, see).by_name()
        turns = jnp.asarray(m.strides + 1, jnp.result_type(frame.crank_angle))
        rooms: dict[str, Any] = {
            "touchdown": lambda name: -feet[name][0],
            "lift": lambda name: feet[name][0],
            "stride": lambda _: TURN * turns - frame.crank_angle,
            "tip": lambda _: self.tip_pitch - jnp.abs(x.pitch),
            "sink": lambda _: x.y + self.body.half_height,
            "fall": lambda _: self._clearance(x),
        }

        def room(event: Event, leg: str | None, own: int | None) -> Scalar:
            if own is None:
                return rooms[event.name](leg)
            if leg is not None:
                return feet[leg][1][own]
            return functools.reduce(jnp.minimum, [rooms[own] for _, rooms in feet.values()])

        return tuple(room(*happening) for happening in self._happenings)

    def _clearance(self, x: RunnerState) -> Scalar:
        """Of the body over hard ground."""
        s, c = sincos(self.terrain.descent)
        return c * x.y - s * x.x - self.body.half_height

    def jump(self, t: Scalar, x: RunnerState, m: RunnerMode, k: int) -> Jump:
        del t
        event, name, own = self._happenings[k]
        work = None
        if name is None:
            return Jump(x, dataclasses.replace(m, strides=m.strides + 1))
        foot, mode = getattr(x.feet, name), getattr(m.feet, name)
        if own is not None:
            done = self.foot.jump(own_of(self, foot), mode, own)
            foot, mode, work = put(foot, done.x), put(mode, done.m), done.work
        else:
            down = event.name == "touchdown"
            mode = dataclasses.replace(
                mode,
                touching=_flag(int(down), mode.touching),
                footfalls=mode.footfalls + 1 if down else mode.footfalls,
            )
        return Jump(
            dataclasses.replace(x, feet=dataclasses.replace(x.feet, **{name: foot})),
            dataclasses.replace(m, feet=dataclasses.replace(m.feet, **{name: mode})),
            work,
        )

    def restarted(self, m: RunnerMode) -> RunnerMode:
        """Cranks that follow the clock turn from zero again; others keep their angle and count."""
        if self.drive.rest(1.0) is not None:
            return m
        return dataclasses.replace(m, strides=0 * m.strides)

    def mode_at(self, t: Scalar, x: RunnerState) -> RunnerMode:
        """The discrete state that belongs to a continuous one, nothing counted yet."""

        frame = look(self, t, x)

        def mode(mount: Mount) -> FootMode:
            deep, at = foot_depth(self, x, frame, mount)
            # One that is put at the surface touches down as the run begins, whatever its rounding.
            touching = jnp.asarray(deep > AT_SURFACE, jnp.int32)
            own = self.foot.mode(at, own_of(self, mount.foot), self.on_water)
            return joined(FootMode(touching=touching, footfalls=0 * touching), own)

        return RunnerMode(
            strides=jnp.int32(0), feet=PerLeg(**each_leg(self, x, None, mode).by_name())
        )

    def outputs(self, t: Scalar, x: RunnerState, m: RunnerMode) -> RunnerOutputs:
        return runner_outputs(self, t, x, m)

    def suggestions(self, outcome: Outcome) -> tuple[Suggestion, ...]:
        lighter = f"--set body.mass={0.5 * float(self.body.mass):.2g}"
        drive = "--set drive=prescribed-crank --set drive.frequency=8"
        cures = {
            Outcome.sank: (cure(drive, "the pads slap harder"), cure(lighter, "less to carry")),
            Outcome.tipped_over: (
                cure("--set robot.pitch=locked", "held level, to see what the legs do"),
            ),
            Outcome.outside_model: (
                cure(lighter, "so that the pads stay above the depth they are made for"),
            ),
            Outcome.fell: (
                cure("--set robot.pitch=locked", "held level, to see what the legs do"),
                cure(lighter, "less to carry"),
            ),
        }
        return (
            *cures.get(outcome, ()),
            Suggestion("--set drive.frequency=6 --animate runner.gif"),
            Suggestion(
                "--vary drive.frequency=5:10:11 --vary body.mass=0.04:0.12:9 --duration 2",
                verb="sweep",
            ),
        )

    def sketch(self) -> tuple[Shape, ...]:
        return runner_sketch(self)

    def close_ups(self) -> dict[str, tuple[Shape, ...]]:
        return free_bodies(self)

    def charts(self) -> tuple[Chart, ...]:
        legs = self.names
        return (
            Chart(
                "Force of the surface",
                ("load.lift", "load.thrust"),
                main=True,
                names=("up", "forward"),
            ),
            Chart("Pitch", ("body.pitch",), "whole", main=True),
            Chart(
                "Torque on the cranks",
                ("drive.torque", *(f"{leg}.torque" for leg in legs)),
                main=True,
                names=("all", *(leg.replace("_", " ") for leg in legs)),
            ),
            *self.foot.charts(legs, self.on_water),
            *self.drive.charts(),
        )

    def travel(self) -> Travel:
        contacts = tuple(f"feet.{name}.touching" for name in self.names)
        means = ("body.z", "body.pitch", "load.lift", "load.thrust", "drive.frequency")
        return Travel(
            "travel.distance",
            ("strides",),
            self.body.mass * self.gravity,
            ("drive",),
            contacts=contacts,
            means=means,
        )


_EVENTS = {
    "touchdown": Event("touchdown", "a foot comes down on water or ground", contact=True),
    "lift": Event("lift", "a foot leaves water or ground"),
    "stride": Event("stride", "the cranks have made another turn"),
    "tip": Event("tip", "the body pitches too far", Outcome.tipped_over),
    "sink": Event("sink", "the body goes under water", Outcome.sank),
    "fall": Event("fall", "the body touches the ground", Outcome.fell),
}


def _flag(value: int, like: Scalar) -> Scalar:
    """Of the type and shape of the one it replaces."""
    return 0 * like + value
