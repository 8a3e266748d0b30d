"""States, ports, stores and outputs of the segmented walker.

Fields are arrays over segments, head first.
"""

import equinox as eqx

from footfall.hybrid.fields import part, port, signal, store
from footfall.numerics.scalar import Scalar


class Points(eqx.Module):
    """Point masses in motion, house frame."""

    x: Scalar = signal(unit="m", doc="position forward")
    z: Scalar = signal(unit="m", doc="position up")
    vx: Scalar = signal(unit="m/s", doc="velocity forward", rate_of="x")
    vz: Scalar = signal(unit="m/s", doc="velocity up", rate_of="z")
    bristle: Scalar | None = signal(
        None, unit="m", doc="deflection of the bristle that sticks to the ground"
    )


class LegState(eqx.Module):
    """What the control of each leg remembers."""

    phase: Scalar = signal(
        unit="rad", doc="phase of the oscillator; the first half of a turn is swing"
    )
    lift: Scalar = signal(unit="m", doc="how far the lift reflex has drawn the leg up")
    unsupported: Scalar = signal(
        doc="message to the segment behind: 1 where this leg should carry and does not"
    )


class WalkerState(eqx.Module):
    """Continuous state."""

    nodes: Points = part(doc="segments")
    tips: Points = part(doc="tips of the legs")
    legs: LegState = part(doc="control")


class WalkerMode(eqx.Module):
    """Discrete state."""

    strides: Scalar = signal(doc="cycles of the head's leg so far")
    ticks: Scalar = signal(doc="looks of the cantilever reflex so far")
    missing: Scalar = signal(
        doc="flag of the cantilever reflex: 1 where a leg was seen not to carry"
    )


class WalkerPower(eqx.Module):
    """Ports."""

    drive: Scalar = port(kind="work", doc="leg actuators moving their targets")
    reflex: Scalar = port(
        kind="work", doc="leg actuators drawing a blocked leg up and letting it down"
    )
    trunk: Scalar = port(kind="work", doc="bending moments of the cantilever reflex")
    leg_damping: Scalar = port(kind="loss", doc="dampers of the legs")
    body_damping: Scalar = port(kind="loss", doc="dampers of the body")
    contact: Scalar = port(kind="loss", doc="damping of the ground")
    friction: Scalar = port(kind="loss", doc="tips and segments sliding on the ground")
    corner: Scalar | None = port(
        kind="work", doc="corners of a gap, where their force is blended; sharp ones give nothing"
    )


class WalkerStores(eqx.Module):
    """Stores."""

    kinetic: Scalar = store(doc="kinetic energy of segments and tips")
    gravity: Scalar = store(doc="weight times height")
    body: Scalar = store(doc="springs of the body")
    legs: Scalar = store(doc="springs of the legs")
    ground: Scalar = store(doc="ground pressed in, and bristles bent")


class Nodes(eqx.Module):
    """Segments, house frame."""

    x: Scalar = signal(unit="m", doc="position forward")
    z: Scalar = signal(unit="m", doc="position up")
    vx: Scalar = signal(unit="m/s", doc="velocity forward", rate_of="x")
    vz: Scalar = signal(unit="m/s", doc="velocity up", rate_of="z")
    fx: Scalar = signal(unit="N", doc="force of the ground forward, on the body")
    fz: Scalar = signal(unit="N", doc="force of the ground up, on the body")


class Tips(eqx.Module):
    """Tips of the legs, house frame."""

    x: Scalar = signal(unit="m", doc="position forward")
    z: Scalar = signal(unit="m", doc="position up")
    fx: Scalar = signal(unit="N", doc="force of the ground forward, on the robot")
    fz: Scalar = signal(unit="N", doc="force of the ground up, on the robot")
    load: Scalar = signal(
        unit="N",
        doc="push of the ground along its normal, floor or wall: positive while the tip touches",
    )


class LegSignals(eqx.Module):
    """Legs and their control."""

    lift: Scalar = signal(unit="m", doc="how far the lift reflex has drawn the leg up")
    moment: Scalar = signal(unit="N m", doc="bending moment the cantilever reflex asks for")
    force: Scalar = signal(unit="N", doc="force along the leg, positive pushes the tip out")
    hip_torque: Scalar = signal(
        unit="N m", doc="torque of the hip on the leg, counter-clockwise positive"
    )


class LoadSignals(eqx.Module):
    """Ground on the whole robot."""

    lift: Scalar = signal(unit="N", doc="force of the ground up")
    thrust: Scalar = signal(unit="N", doc="force of the ground forward")


class WalkerTravel(eqx.Module):
    """Progress."""

    distance: Scalar = signal(unit="m", doc="distance gone, mean of the segments")
    speed: Scalar = signal(
        unit="m/s", doc="forward speed, mean of the segments", rate_of="distance"
    )
    height: Scalar = signal(unit="m", doc="height, mean of the segments")
    order: Scalar = signal(doc="how well the phases are locked to the wave: 1 is perfectly")


class WalkerOutputs(eqx.Module):
    """What can be seen."""

    node: Nodes
    tip: Tips
    leg: LegSignals
    load: LoadSignals
    travel: WalkerTravel
