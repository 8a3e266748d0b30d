"""A runner with four-bar legs.

A rigid body carried by feet that water or ground pushes on, all cranks turned together.

Model plane: x to the robot's rear, y up, angles counter-clockwise; it runs towards -x, and positive
pitch is nose down. Theory: docs/theory/water-runner.md.
"""

import dataclasses
import functools
import math
from collections.abc import Mapping
from typing import Any, ClassVar

import jax.numpy as jnp

from footfall.hybrid.fields import ParameterError, choice, param, part
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.suggestion import Suggestion, cure
from footfall.hybrid.system import AbstractHybridSystem, Event, Jump, Rates, Travel
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
    each_leg,
    foot_depth,
    hinge_of,
    look,
)
from footfall.machines.water_runner.outputs import runner_outputs
from footfall.machines.water_runner.pads import BreakawayPad
from footfall.machines.water_runner.sketch import free_bodies, runner_sketch
from footfall.machines.water_runner.start import RunnerStart
from footfall.machines.water_runner.states import (
    LEGS,
    FootMode,
    PerLeg,
    RunnerMode,
    RunnerOutputs,
    RunnerPower,
    RunnerState,
    RunnerStores,
)
from footfall.machines.water_runner.tail import AbstractTail
from footfall.machines.water_runner.tails import PadTail
from footfall.machines.water_runner.wet_disc import Medium
from footfall.numerics.scalar import Scalar
from footfall.numerics.trig import sincos
from footfall.numerics.units import TURN
from footfall.scene.sketch import Chart, Shape


class FourBarRunner(AbstractHybridSystem):
    """A body with two or four crank-driven four-bar legs, on water or on hard ground.

    Not modelled: mass of the legs, roll, the slap impulse (added mass at entry), buoyancy, waves,
    wakes, a cavity that closes.
    """

    Start = RunnerStart
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
        if self.folds_hard and self.drive.free:
            raise ParameterError(
                "a pad that folds at once cannot be driven by a motor: the water can hold the crank"
                " exactly where the pad switches, and time stands still there. Write foot.folding ="
                ' "blended".',
                "foot",
            )

    @property
    def on_water(self) -> bool:
        return self.terrain.water is not None

    def idle_parts(self) -> dict[str, str]:
        if self.on_water:
            return dict.fromkeys(("contact", "friction"), "on water no foot meets hard ground")
        return {"tail": "it works in water only"}

    @property
    def folds_hard(self) -> bool:
        """Folding is an event."""
        return self.foot.folds_hard and self.on_water

    @property
    def names(self) -> tuple[str, ...]:
        """Its legs."""
        return LEGS[:2] if self.legs == "two" else LEGS

    @property
    def medium(self) -> Medium:
        """The water."""
        assert self.terrain.water is not None
        return Medium(*self.terrain.water, self.gravity)

    def accelerations(
        self, x: RunnerState, loads: Loads
    ) -> tuple[Scalar, Scalar, Scalar, Scalar | None]:
        """(x'', y'', pitch'', crank'' of a drive that has one):

        m x'' = sum P_x - c x',   m y'' = sum P_y - m g,
        I pitch'' = sum [M + (F - centre) x P]                                            (runner.7)
        """
        body, crank = self.body, None
        if self.drive.free:
            rate = loads.frame.crank_rate
            crank = (
                self.drive.torque(rate) - self.drive.friction(rate) - loads.torque
            ) / self.drive.inertia
        return (
            (loads.fx - body.forward_drag * x.vx) / body.mass,
            loads.fy / body.mass - self.gravity,
            0.0 if self.pitch == "locked" else loads.moment / body.inertia,
            crank,
        )

    def flow(self, t: Scalar, x: RunnerState, m: RunnerMode) -> Rates:
        loads = all_loads(self, t, x, m)
        ax, ay, pitch_dd, crank_dd = self.accelerations(x, loads)
        dx = RunnerState(
            x=x.vx,
            y=x.vy,
            pitch=x.pitch_rate,
            vx=ax,
            vy=ay,
            pitch_rate=pitch_dd,
            feet=PerLeg(**{name: one.load.rates for name, one in loads.legs.by_name().items()}),
            crank_angle=x.crank_rate if self.drive.free else None,
            crank_rate=crank_dd,
        )
        return Rates(dx, self._powers(x, loads))

    def _powers(self, x: RunnerState, loads: Loads) -> RunnerPower:
        legs, rate = loads.legs, loads.frame.crank_rate
        wet = self.on_water and (self.foot.has_pads or self.tail.present)
        rubs = not self.on_water or self.friction.has_memory  # in water bent bristles still relax
        return RunnerPower(
            drive=(self.drive.torque(rate) if self.drive.free else loads.torque) * rate,
            forward_drag=-self.body.forward_drag * x.vx * x.vx,
            drag=legs.total(lambda one: one.load.water.drag) + loads.tail.drag if wet else None,
            pressure=(
                legs.total(lambda one: one.load.water.pressure) + loads.tail.pressure
                if wet
                else None
            ),
            contact=None if self.on_water else -legs.total(lambda one: one.load.contact_loss),
            friction=-legs.total(lambda one: one.load.friction_loss) if rubs else None,
            hinge=-legs.total(lambda one: one.load.hinge_loss) if self.foot.has_hinge else None,
            bearing=-self.drive.friction(rate) * rate if self.drive.free else None,
            lock=-loads.moment * x.pitch_rate if self.pitch == "locked" else None,
        )

    def stores(self, t: Scalar, x: RunnerState, m: RunnerMode) -> RunnerStores:
        body, frame = self.body, look(self, t, x)
        kinetic = 0.5 * (
            body.mass * (x.vx * x.vx + x.vy * x.vy) + body.inertia * x.pitch_rate * x.pitch_rate
        )
        if self.drive.free:
            kinetic = kinetic + 0.5 * self.drive.inertia * x.crank_rate * x.crank_rate

        def kept(mount: Mount) -> tuple[Scalar, Scalar, Scalar]:
            """(kinetic, elastic, in the ground) of one foot."""
            moving, bent = (
                self.foot.hinge_energy(hinge_of(self, mount.foot))
                if self.foot.has_hinge
                else (0.0, 0.0)
            )
            ground = (
                0.0 if self.on_water else self.contact.energy(foot_depth(self, x, frame, mount)[0])
            )
            if self.friction.has_memory:
                ground = ground + self.friction.energy(mount.foot.bristle)
            return moving, bent, ground

        spring = ground = None
        if self.foot.has_hinge or self.friction.has_memory or not self.on_water:
            feet = each_leg(self, x, m, kept)
            if self.foot.has_hinge:
                kinetic, spring = (
                    kinetic + feet.total(lambda one: one[0]),
                    feet.total(lambda one: one[1]),
                )
            if self.friction.has_memory or not self.on_water:
                ground = feet.total(lambda one: one[2])
        return RunnerStores(
            kinetic=kinetic, gravity=body.mass * self.gravity * x.y, spring=spring, ground=ground
        )

    @property
    def _happenings(self) -> tuple[tuple[str, str | None], ...]:
        """(what, leg) of each event, in the order of guards."""
        fold = ("fold", "unfold") if self.folds_hard else ()
        feet = [(what, name) for what in ("touchdown", "lift", *fold) for name in self.names]
        down = ("sink" if self.on_water else "fall", None)
        over = (("pad_over", None),) if self.on_water and self.foot.has_pads else ()
        return (*feet, ("stride", None), ("tip", None), down, *over)

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(
            _EVENTS[what] if leg is None else _EVENTS[what]._replace(name=f"{what}.{leg}")
            for what, leg in self._happenings
        )

    def guards(self, t: Scalar, x: RunnerState, m: RunnerMode) -> tuple[Scalar, ...]:
        """Room left before each event.

        [m] height of each foot over the surface, and its depth; [m/s] pressing speed of each pad,
        and its opposite; [rad] crank angle left in this turn; [rad] pitch left; [m] height of the
        body left; cosine of the coupler that stands steepest.
        """
        frame = look(self, t, x)
        feet = each_leg(self, x, m, lambda mount: foot_depth(self, x, frame, mount)).by_name()
        turns = jnp.asarray(m.strides + 1, jnp.result_type(frame.crank_angle))
        rooms: dict[str, Any] = {
            "touchdown": lambda name: -feet[name][0],
            "lift": lambda name: feet[name][0],
            "fold": lambda name: self.foot.fold_speed(feet[name][1]),
            "unfold": lambda name: -self.foot.fold_speed(feet[name][1]),
            "stride": lambda _: TURN * turns - frame.crank_angle,
            "tip": lambda _: self.tip_pitch - jnp.abs(x.pitch),
            "sink": lambda _: x.y + self.body.half_height,
            "fall": lambda _: self._clearance(x),
            "pad_over": lambda _: functools.reduce(jnp.minimum, [at.ux for _, at in feet.values()]),
        }
        return tuple(rooms[what](name) for what, name in self._happenings)

    def _clearance(self, x: RunnerState) -> Scalar:
        """Of the body over hard ground."""
        s, c = sincos(self.terrain.descent)
        return c * x.y - s * x.x - self.body.half_height

    def jump(self, t: Scalar, x: RunnerState, m: RunnerMode, k: int) -> Jump:
        del t
        what, name = self._happenings[k]
        if name is None:
            return Jump(x, dataclasses.replace(m, strides=m.strides + 1))
        mode: FootMode = getattr(m.feet, name)
        match what:
            case "touchdown":
                mode = dataclasses.replace(
                    mode, touching=_flag(1, mode.touching), footfalls=mode.footfalls + 1
                )
            case "lift":
                mode = dataclasses.replace(mode, touching=_flag(0, mode.touching))
            case _:
                mode = dataclasses.replace(mode, folded=_flag(int(what == "fold"), mode.folded))
        return Jump(x, dataclasses.replace(m, feet=dataclasses.replace(m.feet, **{name: mode})))

    def mode_at(self, t: Scalar, x: RunnerState) -> RunnerMode:
        """The discrete state that belongs to a continuous one, nothing counted yet."""

        frame = look(self, t, x)

        def mode(mount: Mount) -> FootMode:
            deep, at = foot_depth(self, x, frame, mount)
            touching = jnp.asarray(deep > 0, jnp.int32)
            folded = (
                jnp.asarray(self.foot.fold_speed(at) < 0, jnp.int32) if self.folds_hard else None
            )
            return FootMode(touching=touching, footfalls=0 * touching, folded=folded)

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
        wet = Chart("Wetted share of the pads", tuple(f"{leg}.wetted" for leg in legs))
        bent = Chart("Deflection of the feet", tuple(f"{leg}.deflection" for leg in legs))
        return (
            Chart("Lift and thrust", ("load.lift", "load.thrust")),
            Chart("Pitch", ("body.pitch",)),
            Chart("Torque on the cranks", ("drive.torque", *(f"{leg}.torque" for leg in legs))),
            *((wet,) if self.on_water and self.foot.has_pads else ()),
            *((bent,) if self.foot.has_hinge else ()),
            *((Chart("Crank frequency", ("drive.frequency",)),) if self.drive.free else ()),
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
    "fold": Event("fold", "a pad folds"),
    "unfold": Event("unfold", "a pad unfolds"),
    "stride": Event("stride", "the cranks have made another turn"),
    "tip": Event("tip", "the body pitches too far", Outcome.tipped_over),
    "sink": Event("sink", "the body goes under water", Outcome.sank),
    "fall": Event("fall", "the body touches the ground", Outcome.fell),
    "pad_over": Event(
        "pad_over",
        "a pad turns its pushing face up: its rule of folding no longer holds",
        Outcome.outside_model,
    ),
}


def _flag(value: int, like: Scalar) -> Scalar:
    """Of the type and shape of the one it replaces."""
    return 0 * like + value
