"""States, ports, stores and outputs of one spike on a fixed base."""

import equinox as eqx

from footfall.hybrid.fields import port, signal, store
from footfall.machines.sea_urchin.spike_kinematics import Vector
from footfall.numerics.scalar import Scalar


class SpikeState(eqx.Module):
    """Continuous state: the joints, and what the controller has summed up."""

    joint_1: Scalar = signal(
        unit="rad", doc="hinge about the tangent of the ring, positive lowers the spike"
    )
    joint_2: Scalar = signal(unit="rad", doc="second hinge, a right angle points outwards")
    slide: Scalar = signal(unit="m", doc="extension of the slide")
    joint_1_rate: Scalar = signal(unit="rad/s", doc="rate of joint 1", rate_of="joint_1")
    joint_2_rate: Scalar = signal(unit="rad/s", doc="rate of joint 2", rate_of="joint_2")
    slide_rate: Scalar = signal(unit="m/s", doc="rate of the slide", rate_of="slide")
    joint_1_integral: Scalar = signal(unit="rad s", doc="integral of the error of joint 1")
    joint_2_integral: Scalar = signal(unit="rad s", doc="integral of the error of joint 2")
    slide_integral: Scalar = signal(unit="m s", doc="integral of the error of the slide")

    @property
    def q(self) -> Vector:
        return self.joint_1, self.joint_2, self.slide

    @property
    def v(self) -> Vector:
        return self.joint_1_rate, self.joint_2_rate, self.slide_rate

    @property
    def integral(self) -> Vector:
        return self.joint_1_integral, self.joint_2_integral, self.slide_integral


class SpikeStage(eqx.Module):
    """Discrete state: where on its path the foot is meant to be."""

    cycles: Scalar = signal(doc="landings so far")
    stage: Scalar = signal(doc="piece of the path: 0 stands, 1 rises, 2 sinks")


class SpikePower(eqx.Module):
    """Ports."""

    motor_1: Scalar = port(kind="work", doc="motor of joint 1")
    motor_2: Scalar = port(kind="work", doc="motor of joint 2")
    motor_3: Scalar = port(kind="work", doc="motor of the slide")
    damping: Scalar = port(kind="loss", doc="viscous friction of the joints")


class SpikeStores(eqx.Module):
    """Stores."""

    kinetic: Scalar = store(doc="kinetic energy of prism, cylinder and ball")
    gravity: Scalar = store(doc="weight times height, zero at the attachment")


class HingeSignals(eqx.Module):
    """A hinge, measured against desired."""

    angle: Scalar = signal(unit="rad", doc="angle")
    desired: Scalar = signal(unit="rad", doc="desired angle")
    rate: Scalar = signal(unit="rad/s", doc="rate", rate_of="angle")
    desired_rate: Scalar = signal(unit="rad/s", doc="desired rate", rate_of="desired")
    acceleration: Scalar = signal(unit="rad/s^2", doc="acceleration", rate_of="rate")
    desired_acceleration: Scalar = signal(
        unit="rad/s^2", doc="desired acceleration", rate_of="desired_rate"
    )
    angle_error: Scalar = signal(unit="rad", doc="desired less measured angle")
    torque: Scalar = signal(unit="N m", doc="torque of the motor")
    power: Scalar = signal(unit="W", doc="mechanical power of the motor")


class SlideSignals(eqx.Module):
    """The slide, measured against desired."""

    extension: Scalar = signal(unit="m", doc="extension")
    desired: Scalar = signal(unit="m", doc="desired extension")
    rate: Scalar = signal(unit="m/s", doc="rate", rate_of="extension")
    desired_rate: Scalar = signal(unit="m/s", doc="desired rate", rate_of="desired")
    acceleration: Scalar = signal(unit="m/s^2", doc="acceleration", rate_of="rate")
    desired_acceleration: Scalar = signal(
        unit="m/s^2", doc="desired acceleration", rate_of="desired_rate"
    )
    extension_error: Scalar = signal(unit="m", doc="desired less measured extension")
    force: Scalar = signal(unit="N", doc="force of the motor, positive pushes out")
    power: Scalar = signal(unit="W", doc="mechanical power of the motor")


class TipPoint(eqx.Module):
    """A point of the spike, house frame: x away from the shell, y along the ring, z up."""

    x: Scalar = signal(unit="m", doc="position outwards")
    y: Scalar = signal(unit="m", doc="position along the ring, counter-clockwise")
    z: Scalar = signal(unit="m", doc="position up")
    vx: Scalar = signal(unit="m/s", doc="velocity outwards", rate_of="x")
    vy: Scalar = signal(unit="m/s", doc="velocity along the ring", rate_of="y")
    vz: Scalar = signal(unit="m/s", doc="velocity up", rate_of="z")


class FixedPoint(eqx.Module):
    """A point that stays."""

    x: Scalar = signal(unit="m", doc="position outwards")
    y: Scalar = signal(unit="m", doc="position along the ring")
    z: Scalar = signal(unit="m", doc="position up")


class SpikeTotals(eqx.Module):
    """All motors together, and how far the foot is from where it should be."""

    power: Scalar = signal(unit="W", doc="mechanical power of all motors")
    tip_error: Scalar = signal(unit="m", doc="distance of the ball from where it should be")


class SpikeOutputs(eqx.Module):
    """What can be seen."""

    base: FixedPoint
    elbow: TipPoint
    tip: TipPoint
    target: TipPoint
    joint_1: HingeSignals
    joint_2: HingeSignals
    joint_3: SlideSignals
    total: SpikeTotals
