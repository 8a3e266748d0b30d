"""A walker of many segments in a row, each with a leg.

Point masses in the vertical plane of its path.

House frame: x forward, z up, angles counter-clockwise. Theory: docs/theory/centipede.md.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np

from footfall.hybrid.fields import ParameterError, numbers, param, part
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.suggestion import Suggestion, cure
from footfall.hybrid.system import AbstractHybridSystem, Event, Jump, Rates, Travel
from footfall.hybrid.task import Task
from footfall.hybrid.twin import Twin
from footfall.machines.centipede.body import SegmentChain
from footfall.machines.centipede.forces import Loads, all_loads, total
from footfall.machines.centipede.gait import WaveGait
from footfall.machines.centipede.leg import PolarLeg
from footfall.machines.centipede.outputs import walker_outputs
from footfall.machines.centipede.point_contact import touch
from footfall.machines.centipede.reflexes import ReflexControl
from footfall.machines.centipede.sketch import walker_charts, walker_sketch
from footfall.machines.centipede.start import WalkerStart
from footfall.machines.centipede.states import (
    LegState,
    Points,
    WalkerMode,
    WalkerOutputs,
    WalkerPower,
    WalkerState,
    WalkerStores,
)
from footfall.machines.centipede.tasks import WALK_TASK
from footfall.machines.centipede.twin import centipede_twin
from footfall.machines.parts.contact.base import AbstractContact
from footfall.machines.parts.contact.viscoelastic import ViscoelasticContact
from footfall.machines.parts.friction.base import AbstractFriction
from footfall.machines.parts.friction.coulomb import TanhFriction
from footfall.machines.parts.terrain.base import AbstractTerrain
from footfall.machines.parts.terrain.planes import Flat
from footfall.numerics.scalar import Scalar
from footfall.numerics.units import TURN
from footfall.scene.sketch import Chart, Shape

#: A gap is crossed once the tail is past its far edge and every segment is this high again [m].
CROSSED_HEIGHT = 0.02
STRIDE = 0  # index of the event; the only other one that jumps is the tick


class SegmentedWalker(AbstractHybridSystem):
    """Segments joined by springs, each with a leg, on solid ground of any shape.

    A leg has two actuated degrees of freedom.

    Not modelled: the second leg of a pair (both legs of a segment are one, of the pair's strength),
    turning, the mass of the legs but for their tips, torque limits, a ground that moves or gives
    way for good, delays in the nerves.
    """

    Start = WalkerStart
    tasks: ClassVar[Mapping[str, Task]] = {"walk": WALK_TASK}
    refuses: ClassVar[Mapping[str, str]] = {
        "water": "its tips are points, and water does not carry points"
    }

    gravity: Scalar = param(9.81, unit="m/s^2", doc="gravity", ge=0)
    missing_legs: tuple[float, ...] = numbers(
        (), doc="segments whose leg is missing, 0 is the head", increasing=True
    )
    body: SegmentChain = part(doc="segments", default_factory=SegmentChain)
    leg: PolarLeg = part(doc="every leg", default_factory=PolarLeg)
    gait: WaveGait = part(doc="what a leg does over a cycle", default_factory=WaveGait)
    controller: ReflexControl = part(doc="oscillators and reflexes", default_factory=ReflexControl)
    contact: AbstractContact = part(
        doc="how hard ground pushes back", default_factory=ViscoelasticContact
    )
    friction: AbstractFriction = part(doc="how hard ground holds", default_factory=TanhFriction)
    terrain: AbstractTerrain = part(doc="the ground", default_factory=Flat)

    def __check_init__(self) -> None:
        super().__check_init__()
        last = self.body.segments - 1
        for leg in self.missing_legs:
            if leg != int(leg) or not 0 <= leg <= last:
                raise ParameterError(
                    f"there is no leg {leg:g}: legs are numbered from 0, the head, to {last}.",
                    "missing_legs",
                )
        if len(self.missing_legs) == self.body.segments:
            raise ParameterError("a walker needs a leg: all of them are missing.", "missing_legs")

    # --- legs that are there ----------------------------------------------------------------------

    def has_leg(self, like: Scalar) -> Any:
        """1 for a segment with a leg, 0 for one without; shaped to meet `like`."""
        present = np.array(
            [0.0 if i in self.missing_legs else 1.0 for i in range(self.body.segments)]
        )
        return present.reshape(-1, *[1] * (np.ndim(like) - 1)).astype(jnp.result_type(like))

    def tip_masses(self, like: Scalar) -> Scalar:
        return self.leg.tip_mass * self.has_leg(like) if self.missing_legs else self.leg.tip_mass

    def weights(self) -> list[Scalar]:
        """Of each segment with its leg."""
        bare, whole = (
            self.body.mass * self.gravity,
            (self.body.mass + self.leg.tip_mass) * self.gravity,
        )
        return [bare if i in self.missing_legs else whole for i in range(self.body.segments)]

    # --- motion -----------------------------------------------------------------------------------

    def flow(self, t: Scalar, x: WalkerState, m: WalkerMode) -> Rates:
        del t
        loads = all_loads(self, x)
        drive, under, feet = loads.drive, loads.on_nodes, loads.on_tips
        still = 0.0 * x.nodes.x
        # One division each, for all segments.
        per_mass, per_tip = (1.0 / self.body.mass, 1.0 / self.leg.tip_mass)
        ax = (loads.chain.force.x + drive.on_nodes.x + under.fx) * per_mass
        az = (loads.chain.force.z + drive.on_nodes.z + under.fz) * per_mass - self.gravity
        tip_ax = (drive.on_tips.x + feet.fx) * per_tip
        tip_az = (drive.on_tips.z + feet.fz) * per_tip - self.gravity
        if self.missing_legs:  # what stands for the tip goes with its segment
            there = self.has_leg(x.tips.x)
            tip_ax, tip_az = (
                there * tip_ax + (1.0 - there) * ax,
                there * tip_az + (1.0 - there) * az,
            )
        memory = self.friction.has_memory
        dx = WalkerState(
            nodes=Points(x.nodes.vx, x.nodes.vz, ax, az, under.bristle_rate if memory else None),
            tips=Points(
                x.tips.vx, x.tips.vz, tip_ax, tip_az, feet.bristle_rate if memory else None
            ),
            legs=LegState(
                phase=loads.phase_rate + still,
                lift=loads.lift_rate + still,
                unsupported=(m.missing - x.legs.unsupported) * (1.0 / self.controller.message_time),
            ),
        )
        return Rates(dx, self._powers(loads))

    def _powers(self, loads: Loads) -> WalkerPower:
        under, feet = loads.on_nodes, loads.on_tips
        return WalkerPower(
            drive=loads.drive.drive,
            reflex=loads.drive.reflex,
            trunk=loads.chain.trunk,
            leg_damping=-loads.drive.loss,
            body_damping=-loads.chain.loss,
            contact=-total(under.contact_loss + feet.contact_loss),
            friction=-total(under.friction_loss + feet.friction_loss),
            corner=total(under.corner + feet.corner) if self.terrain.gaps() else None,
        )

    def stores(self, t: Scalar, x: WalkerState, m: WalkerMode) -> WalkerStores:
        del t, m
        loads, tip_mass = all_loads(self, x), self.tip_masses(x.tips.x)

        def square(vx: Scalar, vz: Scalar) -> Scalar:
            return vx * vx + vz * vz

        kinetic = self.body.mass * square(x.nodes.vx, x.nodes.vz) + tip_mass * square(
            x.tips.vx, x.tips.vz
        )
        ground = total(loads.on_nodes.energy + loads.on_tips.energy)
        if self.friction.has_memory:
            ground = ground + total(
                self.friction.energy(x.nodes.bristle) + self.friction.energy(x.tips.bristle)
            )
        return WalkerStores(
            kinetic=0.5 * total(kinetic),
            gravity=self.gravity * total(self.body.mass * x.nodes.z + tip_mass * x.tips.z),
            body=loads.chain.energy,
            legs=loads.drive.energy,
            ground=ground,
        )

    # --- events -----------------------------------------------------------------------------------

    @property
    def events(self) -> tuple[Event, ...]:
        stride = Event("stride", "the leg of the head has made another cycle")
        fall = Event("fall", "the whole body is below the ground", Outcome.fell)
        tick = Event(
            "reflex_tick",
            "the cantilever reflex looks at which legs carry",
            period=self.controller.period,
        )
        crossed = Event(
            "crossed", "the tail is past the last gap and the body is up again", Outcome.arrived
        )
        return (stride, fall, tick, *((crossed,) if self.terrain.gaps() else ()))

    def guards(self, t: Scalar, x: WalkerState, m: WalkerMode) -> tuple[Scalar, ...]:
        """Room left before each event.

        [rad] phase left in the cycle of the head's leg; [m] highest segment over the ground; [s]
        time left before the next look; [m] way left for the tail, or height left for the lowest
        segment, whichever is more.
        """
        phase, z = x.legs.phase[0], x.nodes.z
        real = jnp.result_type(phase)
        rooms = [
            TURN * jnp.asarray(m.strides + 1, real) - phase,
            jnp.max(z - self.terrain.surface(x.nodes.x), axis=0),
            jnp.asarray(m.ticks, real) * self.controller.period - t,
        ]
        if self.terrain.gaps():
            _, far_edge = self.terrain.gaps()[-1]
            rooms.append(jnp.maximum(far_edge - x.nodes.x[-1], CROSSED_HEIGHT - jnp.min(z, axis=0)))
        return tuple(rooms)

    def jump(self, t: Scalar, x: WalkerState, m: WalkerMode, k: int) -> Jump:
        del t
        if k == STRIDE:
            m = dataclasses.replace(m, strides=m.strides + 1)
        else:
            tips = x.tips
            bristle = 0.0 if tips.bristle is None else tips.bristle
            feet = touch(
                self.terrain, self.contact, self.friction, tips.x, tips.z, tips.vx, tips.vz, bristle
            )
            load = feet.fz * self.has_leg(tips.x) if self.missing_legs else feet.fz
            missing = self.controller.missing(m.missing, x.legs.phase, load)
            m = dataclasses.replace(m, ticks=m.ticks + 1, missing=missing)
        return Jump(x, m)

    def restarted(self, m: WalkerMode) -> WalkerMode:
        """The next look is at zero, wherever between two of them the event was."""
        return dataclasses.replace(m, ticks=0 * m.ticks)

    # --- what is seen -----------------------------------------------------------------------------

    def outputs(self, t: Scalar, x: WalkerState, m: WalkerMode) -> WalkerOutputs:
        del t, m
        return walker_outputs(self, x)

    def suggestions(self, outcome: Outcome) -> tuple[Suggestion, ...]:
        gap = bool(self.terrain.gaps())
        cures = ()
        if outcome in (Outcome.fell, Outcome.reached_end) and gap:
            cures = (
                cure(
                    "--set controller.reflexes=lift+cantilever",
                    "legs that find nothing are drawn up and held",
                ),
                cure('--set terrain.gap_width="75 mm"', "a gap that it gets over more often"),
            )
        elif outcome is Outcome.fell:
            cures = (cure("--set missing_legs=[]"), cure("--set terrain=flat"))
        ground = (
            (
                Suggestion("--set controller.reflexes=[]", "without reflexes"),
                Suggestion("", "how often it gets over", verb="crossing"),
            )
            if gap
            else (Suggestion("--set terrain=profile"),)
        )
        return (
            *cures,
            Suggestion("--set missing_legs=[3,4] --animate centipede.gif"),
            Suggestion("--set start.phases=random --set controller.coupling=3", "the phases lock"),
            *ground,
        )

    def sketch(self) -> tuple[Shape, ...]:
        return walker_sketch(self)

    def charts(self) -> tuple[Chart, ...]:
        return walker_charts(self)

    def twin(self) -> Twin:
        """As points and springs of MuJoCo."""
        return centipede_twin(self)

    def travel(self) -> Travel:
        legs = [i for i in range(self.body.segments) if i not in self.missing_legs]
        weight = self.gravity * (
            self.body.segments * self.body.mass + len(legs) * self.leg.tip_mass
        )
        return Travel(
            "travel.distance",
            ("strides",),
            weight,
            ("drive", "reflex", "trunk"),
            contacts=tuple(f"tip.load.{i}" for i in legs),
            means=("travel.height", "load.lift", "travel.order"),
            legs="leg, 0 is the head's",
        )
