"""A centipede after the myriapod of Yasui and others.

Yasui, Sakai, Kano, Owaki and Ishiguro (PLoS ONE 12(2), e0171421, 2017).

From their supplement: the law of contact (with its errata mended) and of friction, without numbers.
Chosen here, not measured: every number, the body, the legs, the oscillators and the reflexes.
"""

from footfall.machines.centipede.body import SegmentChain
from footfall.machines.centipede.gait import WaveGait
from footfall.machines.centipede.leg import PolarLeg
from footfall.machines.centipede.reflexes import ReflexControl
from footfall.machines.centipede.walker import SegmentedWalker
from footfall.machines.parts.contact.base import AbstractContact
from footfall.machines.parts.contact.viscoelastic import ViscoelasticContact
from footfall.machines.parts.friction.base import AbstractFriction
from footfall.machines.parts.friction.coulomb import TanhFriction
from footfall.machines.parts.terrain.base import AbstractTerrain
from footfall.machines.parts.terrain.gaps import Gap
from footfall.machines.parts.terrain.planes import Flat


def centipede(
    *,
    body: SegmentChain | None = None,
    leg: PolarLeg | None = None,
    gait: WaveGait | None = None,
    controller: ReflexControl | None = None,
    contact: AbstractContact | None = None,
    friction: AbstractFriction | None = None,
    terrain: AbstractTerrain | None = None,
    missing_legs: tuple[float, ...] = (),
) -> SegmentedWalker:
    """Twelve segments, 1.44 kg, 60 mm/s over level ground, both reflexes at work."""
    return SegmentedWalker(
        body=body or SegmentChain(),
        leg=leg or PolarLeg(),
        gait=gait or WaveGait(),
        controller=controller or ReflexControl(),
        contact=contact or ViscoelasticContact(stiffness=5000.0, damping=10.0),
        friction=friction or TanhFriction(coefficient=0.8, steepness=50.0),
        terrain=terrain or Flat(),
        missing_legs=missing_legs,
    )


def centipede_gap() -> SegmentedWalker:
    """The same before a gap of 125 mm."""
    return centipede(terrain=Gap(gap_start=0.1, gap_width=0.125))
