"""The water runner of Floyd and Sitti's group, as simulated by Thatte (2012).

A light quadruped on crank-driven four-bar legs.

From the group's research files: link lengths, pad radius, hip spacing, tail radius and angle, foot
length and inertia, friction, winding resistance and gear efficiency. From the source text: contact
stiffness and damping, folded radius. From Glasheen and McMahon: the drag coefficient. Chosen here,
not measured: mass, inertia, where the centre of mass is, phases, the tail's place, the hinge of the
compliant foot (the research values made the open-loop robot hop and tip), torque constant, gear and
rotor.
"""

from footfall.machines.parts.contact.base import AbstractContact
from footfall.machines.parts.contact.cubic import CubicContact
from footfall.machines.parts.friction.base import AbstractFriction
from footfall.machines.parts.friction.coulomb import StribeckFriction
from footfall.machines.parts.terrain.base import AbstractTerrain
from footfall.machines.parts.terrain.planes import Flat
from footfall.machines.parts.terrain.water import Water
from footfall.machines.water_runner.body import RunnerBody
from footfall.machines.water_runner.compliant_feet import CompliantFoot
from footfall.machines.water_runner.crank_drives import PrescribedCrank
from footfall.machines.water_runner.drive import AbstractDrive
from footfall.machines.water_runner.foot import AbstractFoot
from footfall.machines.water_runner.four_bar_leg import FourBarLeg
from footfall.machines.water_runner.pads import BreakawayPad
from footfall.machines.water_runner.runner import FourBarRunner
from footfall.machines.water_runner.tail import AbstractTail
from footfall.machines.water_runner.tails import NoTail, PadTail


def water_runner(
    *,
    body: RunnerBody | None = None,
    leg: FourBarLeg | None = None,
    foot: AbstractFoot | None = None,
    tail: AbstractTail | None = None,
    drive: AbstractDrive | None = None,
    contact: AbstractContact | None = None,
    friction: AbstractFriction | None = None,
    terrain: AbstractTerrain | None = None,
    pitch: str = "free",
) -> FourBarRunner:
    """60 g quadruped on water at 8 Hz: breakaway pads that fold by degrees, and a tail."""
    return FourBarRunner(
        legs="four",
        pitch=pitch,
        body=body or RunnerBody(mass=0.060, inertia=4.5e-4, front_hip=-0.0566, rear_hip=0.1166),
        leg=leg or FourBarLeg(),
        foot=foot or BreakawayPad(radius=0.020, edge_radius=0.020, drag_coefficient=0.703),
        tail=tail or PadTail(),
        drive=drive or PrescribedCrank(frequency=8.0),
        contact=contact or CubicContact(),
        friction=friction or StribeckFriction(),
        terrain=terrain or Water(),
    )


def water_runner_biped() -> FourBarRunner:
    """30 g biped on water.

    The legs at the centre of mass, pitch locked, drag on the forward motion, no tail.
    """
    return FourBarRunner(
        legs="two",
        pitch="locked",
        body=RunnerBody(
            mass=0.030, inertia=2.25e-4, front_hip=0.0, rear_hip=0.0, forward_drag=0.15
        ),
        tail=NoTail(),
    )


def water_runner_ground() -> FourBarRunner:
    """The quadruped on hard ground: compliant feet, 3 Hz, centre of mass further back, no tail."""
    return water_runner(
        body=RunnerBody(mass=0.060, inertia=4.5e-4, front_hip=-0.0266, rear_hip=0.1466),
        foot=CompliantFoot(),
        tail=NoTail(),
        drive=PrescribedCrank(frequency=3.0),
        terrain=Flat(),
    )
