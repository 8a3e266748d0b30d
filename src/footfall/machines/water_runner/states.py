"""States, ports, stores and outputs of the runner with four-bar legs.

A quantity that a choice of parts does not have is None.
"""

from collections.abc import Callable
from typing import Any

import equinox as eqx

from footfall.hybrid.fields import part, port, signal, store
from footfall.hybrid.frame import Body, Joint
from footfall.numerics.scalar import Scalar

LEGS = ("front_left", "front_right", "rear_left", "rear_right")


class PerLeg(eqx.Module):
    """One struct for each leg; a biped has no rear ones."""

    front_left: Any
    front_right: Any
    rear_left: Any = None
    rear_right: Any = None

    @classmethod
    def of(cls, legs: tuple[str, ...], make: Callable[[str], Any]) -> "PerLeg":
        return cls(**{leg: make(leg) for leg in legs})


class FootState(eqx.Module):
    """What a foot and the ground under it remember: the states of those parts."""


class BristleState(eqx.Module):
    """What friction with a memory keeps of a foot."""

    bristle: Scalar = signal(
        unit="m", doc="deflection of the bristles that stick to the ground", fast=True
    )


class RunnerState(eqx.Module):
    """Continuous state, in the model's plane.

    x to the rear of the robot, y up, angles counter-clockwise. Its drive's own stands beside.
    """

    x: Scalar = signal(unit="m", doc="centre of mass, to the rear")
    y: Scalar = signal(unit="m", doc="centre of mass, height")
    pitch: Scalar = signal(unit="rad", doc="pitch, positive nose down")
    vx: Scalar = signal(unit="m/s", doc="velocity to the rear", rate_of="x")
    vy: Scalar = signal(unit="m/s", doc="velocity up", rate_of="y")
    pitch_rate: Scalar = signal(unit="rad/s", doc="rate of the pitch", rate_of="pitch")
    feet: PerLeg = part(doc="of each foot")


class FootMode(eqx.Module):
    """Discrete state of one foot; what the foot has of its own stands beside."""

    touching: Scalar = signal(doc="1 while the foot is in the water or on the ground")
    footfalls: Scalar = signal(doc="times it has come down")


class RunnerMode(eqx.Module):
    """Discrete state."""

    strides: Scalar = signal(doc="turns of the cranks so far")
    feet: PerLeg = part(doc="of each foot")


class RunnerPower(eqx.Module):
    """Ports that every runner has; those of its feet and its drive stand beside."""

    drive: Scalar = port(kind="work", doc="mechanical power of the drive at the cranks")
    forward_drag: Scalar = port(kind="loss", doc="viscous drag on the forward motion")


class FootPower(eqx.Module):
    """Ports of a foot: those of its parts."""


class WaterPower(eqx.Module):
    """Ports of what water carries."""

    drag: Scalar = port(kind="loss", doc="drag of the water on pads and tail")
    pressure: Scalar = port(
        kind="work", doc="hydrostatic pressure of the water on pads and tail, of either sign"
    )


class ContactPower(eqx.Module):
    """Ports of hard ground."""

    contact: Scalar = port(kind="loss", doc="damping of the ground under the feet")


class FrictionPower(eqx.Module):
    """Ports of friction."""

    friction: Scalar = port(kind="loss", doc="feet sliding on the ground")


class LockPower(eqx.Module):
    """Ports of a pitch that is locked."""

    lock: Scalar = port(
        kind="work", doc="the moment that holds the pitch: nothing, while it does not turn"
    )


class RunnerStores(eqx.Module):
    """Stores that every runner has; those of its feet and its drive stand beside, or are added."""

    kinetic: Scalar = store(doc="kinetic energy of body, rotor and feet")
    gravity: Scalar = store(doc="weight times height")


class FootStores(eqx.Module):
    """Stores of a foot: those of its parts."""


class GroundStores(eqx.Module):
    """Stores of hard ground."""

    ground: Scalar = store(doc="ground pressed in, and bristles bent")


class FootTip(eqx.Module):
    """The point of a foot that meets the ground (of a pad: its outer edge)."""

    x: Scalar = signal(unit="m", doc="position forward")
    z: Scalar = signal(unit="m", doc="position up")
    y: Scalar = signal(unit="m", doc="position left")
    vx: Scalar = signal(unit="m/s", doc="velocity forward", rate_of="x")
    vz: Scalar = signal(unit="m/s", doc="velocity up", rate_of="z")
    fx: Scalar = signal(unit="N", doc="force of water or ground forward, on the robot")
    fz: Scalar = signal(unit="N", doc="force of water or ground up, on the robot")


class LegSignals(eqx.Module):
    """One leg: its joints in the order of the physics page (O, A, B, C, F), its foot, its loads.

    The foot's own signals stand beside.
    """

    hip: Joint  # O: force of the body on the crank
    crank_pin: Joint  # A: force of the crank on the coupler
    rocker_pin: Joint  # B: force of the rocker on the coupler
    rocker_axis: Joint  # C: force of the body on the rocker
    foot: Joint  # F: force of the foot on the coupler
    tip: FootTip
    torque: Scalar = signal(unit="N m", doc="torque of the drive on this crank")
    moment: Scalar = signal(
        unit="N m", doc="moment of the foot on the coupler at its end, nose-down positive"
    )
    coupler_angle: Scalar = signal(
        unit="rad", doc="angle of the coupler theta2, in the model's plane"
    )


class DriveSignals(eqx.Module):
    """The drive of all cranks; its own signals stand beside."""

    torque: Scalar = signal(unit="N m", doc="torque of the drive on the cranks together")
    frequency: Scalar = signal(unit="Hz", doc="turns of the cranks per second")
    power: Scalar = signal(unit="W", doc="mechanical power")


class LoadSignals(eqx.Module):
    """Water or ground on the whole robot."""

    lift: Scalar = signal(unit="N", doc="force up")
    thrust: Scalar = signal(unit="N", doc="force forward")
    moment: Scalar = signal(unit="N m", doc="moment about the centre of mass, nose-down positive")


class TailSignals(eqx.Module):
    """The tail."""

    x: Scalar = signal(unit="m", doc="position forward")
    z: Scalar = signal(unit="m", doc="position up")
    fx: Scalar = signal(unit="N", doc="force of the water forward")
    fz: Scalar = signal(unit="N", doc="force of the water up")
    wetted: Scalar = signal(doc="share of its diameter under water")


class RunnerTravel(eqx.Module):
    """Progress."""

    distance: Scalar = signal(unit="m", doc="distance gone")
    speed: Scalar = signal(unit="m/s", doc="forward speed", rate_of="distance")


class RunnerOutputs(eqx.Module):
    """What can be seen."""

    body: Body
    load: LoadSignals
    drive: DriveSignals
    travel: RunnerTravel
    front_left: LegSignals
    front_right: LegSignals
    rear_left: LegSignals | None = None
    rear_right: LegSignals | None = None
    tail: TailSignals | None = None
