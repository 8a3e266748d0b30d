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
    """What a foot remembers."""

    deflection: Scalar | None = signal(
        None, unit="rad", doc="deflection of the foot's hinge, positive flattens it", fast=True
    )
    deflection_rate: Scalar | None = signal(
        None, unit="rad/s", doc="rate of the deflection", rate_of="deflection", fast=True
    )
    bristle: Scalar | None = signal(
        None, unit="m", doc="deflection of the bristles that stick to the ground", fast=True
    )


class RunnerState(eqx.Module):
    """Continuous state, in the model's plane.

    x to the rear of the robot, y up, angles counter-clockwise.
    """

    x: Scalar = signal(unit="m", doc="centre of mass, to the rear")
    y: Scalar = signal(unit="m", doc="centre of mass, height")
    pitch: Scalar = signal(unit="rad", doc="pitch, positive nose down")
    vx: Scalar = signal(unit="m/s", doc="velocity to the rear", rate_of="x")
    vy: Scalar = signal(unit="m/s", doc="velocity up", rate_of="y")
    pitch_rate: Scalar = signal(unit="rad/s", doc="rate of the pitch", rate_of="pitch")
    feet: PerLeg = part(doc="of each foot")
    crank_angle: Scalar | None = signal(
        None, unit="rad", doc="angle of the cranks, for a drive that does not prescribe it"
    )
    crank_rate: Scalar | None = signal(
        None, unit="rad/s", doc="rate of the cranks", rate_of="crank_angle"
    )


class FootMode(eqx.Module):
    """Discrete state of one foot."""

    touching: Scalar = signal(doc="1 while the foot is in the water or on the ground")
    footfalls: Scalar = signal(doc="times it has come down")
    folded: Scalar | None = signal(None, doc="1 while a foot that folds at once is folded")


class RunnerMode(eqx.Module):
    """Discrete state."""

    strides: Scalar = signal(doc="turns of the cranks so far")
    feet: PerLeg = part(doc="of each foot")


class RunnerPower(eqx.Module):
    """Ports."""

    drive: Scalar = port(kind="work", doc="mechanical power of the drive at the cranks")
    forward_drag: Scalar = port(kind="loss", doc="viscous drag on the forward motion")
    drag: Scalar | None = port(kind="loss", doc="drag of the water on pads and tail")
    pressure: Scalar | None = port(
        kind="work", doc="hydrostatic pressure of the water on pads and tail, of either sign"
    )
    contact: Scalar | None = port(kind="loss", doc="damping of the ground under the feet")
    friction: Scalar | None = port(kind="loss", doc="feet sliding on the ground")
    hinge: Scalar | None = port(kind="loss", doc="dampers of the feet")
    bearing: Scalar | None = port(kind="loss", doc="friction of the cranks' bearings")
    lock: Scalar | None = port(
        kind="work", doc="the moment that holds the pitch: nothing, while it does not turn"
    )


class RunnerStores(eqx.Module):
    """Stores."""

    kinetic: Scalar = store(doc="kinetic energy of body, rotor and feet")
    gravity: Scalar = store(doc="weight times height")
    spring: Scalar | None = store(doc="springs of the feet")
    ground: Scalar | None = store(doc="ground pressed in, and bristles bent")


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
    """One leg: its joints in the order of the physics page (O, A, B, C, F), its foot, its loads."""

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
    wetted: Scalar | None = signal(None, doc="share of the pad's diameter under water")
    deflection: Scalar | None = signal(None, unit="rad", doc="deflection of the foot")


class DriveSignals(eqx.Module):
    """The drive of all cranks."""

    torque: Scalar = signal(unit="N m", doc="torque of the drive on the cranks together")
    frequency: Scalar = signal(unit="Hz", doc="turns of the cranks per second")
    power: Scalar = signal(unit="W", doc="mechanical power")
    current: Scalar | None = signal(None, unit="A", doc="motor current")
    electrical_power: Scalar | None = signal(None, unit="W", doc="power drawn from the battery")


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
