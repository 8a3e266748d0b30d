"""Continuous and discrete states of the spoked wheels."""

import equinox as eqx

from footfall.hybrid.fields import signal
from footfall.machines.rimless_wheel.rolling import FORWARD
from footfall.numerics.scalar import Scalar


class RigidWheelState(eqx.Module):
    """Continuous state of the rigid wheel."""

    spoke_angle: Scalar = signal(
        unit="rad", doc="stance spoke from the ground's normal, positive with the foot ahead"
    )
    spoke_rate: Scalar = signal(
        unit="rad/s", doc="rate of the spoke angle, negative walking forward", rate_of="spoke_angle"
    )


class WheelStance(eqx.Module):
    """Discrete state of a planar wheel: where it stands."""

    foot_x: Scalar = signal(unit="m", doc="foothold along the ground")
    steps: Scalar = signal(doc="support transfers so far")
    direction: Scalar = signal(
        FORWARD, doc="1 rolling forward, -1 rolling backward, 0 not decided yet"
    )


class SampledStance(eqx.Module):
    """Discrete state of a planar wheel whose controller runs at ticks."""

    foot_x: Scalar = signal(unit="m", doc="foothold along the ground")
    steps: Scalar = signal(doc="support transfers so far")
    torque: Scalar = signal(unit="N m", doc="torque on the torso, held until the next tick")
    ticks: Scalar = signal(doc="control ticks so far")
    direction: Scalar = signal(
        FORWARD, doc="1 rolling forward, -1 rolling backward, 0 not decided yet"
    )


class DrivenStance(eqx.Module):
    """Discrete state of a planar wheel whose torque somebody else decides."""

    foot_x: Scalar = signal(unit="m", doc="foothold along the ground")
    steps: Scalar = signal(doc="support transfers so far")
    torque: Scalar = signal(unit="N m", doc="torque on the torso, held until the next command")
    direction: Scalar = signal(
        FORWARD, doc="1 rolling forward, -1 rolling backward, 0 not decided yet"
    )


class TorsoWheelState(eqx.Module):
    """Continuous state of the sagittal wheel with torso."""

    spoke_angle: Scalar = signal(
        unit="rad", doc="stance spoke from the ground's normal, positive with the foot ahead"
    )
    torso_angle: Scalar = signal(
        unit="rad", doc="torso from hanging, positive with its centre ahead of the hub"
    )
    spoke_length: Scalar = signal(unit="m", doc="length of the stance spoke")
    spoke_rate: Scalar = signal(
        unit="rad/s", doc="rate of the spoke angle, negative walking forward", rate_of="spoke_angle"
    )
    torso_rate: Scalar = signal(unit="rad/s", doc="rate of the torso angle", rate_of="torso_angle")
    spoke_speed: Scalar = signal(unit="m/s", doc="rate of the spoke length", rate_of="spoke_length")
    pitch_integral: Scalar = signal(
        unit="rad s", doc="integral of the pitch error, the controller's memory"
    )


class SteeredWheelState(eqx.Module):
    """Continuous state of the two-sided wheel."""

    height: Scalar = signal(unit="m", doc="height of the middle of the axle")
    roll: Scalar = signal(unit="rad", doc="roll, positive with the left side up")
    torso_angle: Scalar = signal(
        unit="rad", doc="torso from hanging, positive with its centre ahead of the hub"
    )
    speed: Scalar = signal(
        unit="m/s", doc="forward speed of the middle of the axle", rate_of="distance"
    )
    climb_rate: Scalar = signal(unit="m/s", doc="rate of the height", rate_of="height")
    roll_rate: Scalar = signal(unit="rad/s", doc="rate of the roll", rate_of="roll")
    torso_rate: Scalar = signal(unit="rad/s", doc="rate of the torso angle", rate_of="torso_angle")
    yaw_rate: Scalar = signal(unit="rad/s", doc="rate of the heading", rate_of="heading")
    foot_ahead_left: Scalar = signal(unit="m", doc="left foot ahead of its hub")
    foot_ahead_right: Scalar = signal(unit="m", doc="right foot ahead of its hub")
    x: Scalar = signal(unit="m", doc="position of the middle of the axle")
    y: Scalar = signal(unit="m", doc="position of the middle of the axle, left")
    heading: Scalar = signal(unit="rad", doc="heading, counter-clockwise from above")
    distance: Scalar = signal(unit="m", doc="length of the path gone")
    pitch_integral: Scalar = signal(
        unit="rad s", doc="integral of the pitch error, the controller's memory"
    )


class SteeredWheelCounts(eqx.Module):
    """Discrete state of the two-sided wheel: the feet are continuous states here."""

    steps_left: Scalar = signal(doc="support transfers of the left side")
    steps_right: Scalar = signal(doc="support transfers of the right side")
    direction_left: Scalar = signal(
        FORWARD, doc="the left side: 1 rolling forward, -1 rolling backward, 0 not decided yet"
    )
    direction_right: Scalar = signal(
        FORWARD, doc="the right side: 1 rolling forward, -1 rolling backward, 0 not decided yet"
    )


class DrivenWheelCounts(eqx.Module):
    """The same for a wheel whose torques somebody else decides."""

    steps_left: Scalar = signal(doc="support transfers of the left side")
    steps_right: Scalar = signal(doc="support transfers of the right side")
    torque_left: Scalar = signal(
        unit="N m", doc="torque of the left motor on the torso, held until the next command"
    )
    torque_right: Scalar = signal(
        unit="N m", doc="torque of the right motor on the torso, held until the next command"
    )
    direction_left: Scalar = signal(
        FORWARD, doc="the left side: 1 rolling forward, -1 rolling backward, 0 not decided yet"
    )
    direction_right: Scalar = signal(
        FORWARD, doc="the right side: 1 rolling forward, -1 rolling backward, 0 not decided yet"
    )
