"""The first hinge of one spike, driven by a motor that a control computer commands.

Its second hinge and its slide are locked.

The smallest plant there is: one driven joint, one sensed angle. House frame and signs as in
urchin_spike.py: a positive angle lowers the spike. Theory: docs/theory/sea-urchin.md, section 3,
and docs/theory/control-stack.md.
"""

import dataclasses
from collections.abc import Mapping
from typing import Any, ClassVar

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from footfall.hybrid.fields import ParameterError, param, part, port, signal, store
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.plant import AbstractPlant, Senses
from footfall.hybrid.start import AbstractStart
from footfall.hybrid.system import Event, HybridState, Jump, Rates
from footfall.machines.parts.actuators.motors import DcMotor
from footfall.machines.sea_urchin.spike import Spike
from footfall.machines.sea_urchin.spike_dynamics import gravity_load, mass_matrix, potential_energy
from footfall.machines.sea_urchin.spike_kinematics import ball_jacobian, forward, require_joints
from footfall.machines.sea_urchin.spike_states import FixedPoint, TipPoint
from footfall.numerics.scalar import Scalar
from footfall.scene.sketch import Ball, Chart, Ground, Link, Shape

#: The hinge turns this far to either side [rad].
STOP = 0.5 * np.pi


class HingeState(eqx.Module):
    """Continuous state."""

    angle: Scalar = signal(
        unit="rad", doc="hinge about the tangent of the ring, positive lowers the spike"
    )
    rate: Scalar = signal(unit="rad/s", doc="rate of the hinge", rate_of="angle")


class HingeTorque(eqx.Module):
    """Discrete state."""

    torque: Scalar = signal(
        unit="N m", doc="torque of the motor at the hinge, held until the next command"
    )


class HingePower(eqx.Module):
    """Ports."""

    motor: Scalar = port(kind="work", doc="mechanical power of the motor")
    damping: Scalar = port(kind="loss", doc="viscous friction of the hinge")


class HingeStores(eqx.Module):
    """Stores."""

    kinetic: Scalar = store(doc="kinetic energy of spike and rotor")
    gravity: Scalar = store(doc="weight times height, zero at the attachment")


class DrivenHingeSignals(eqx.Module):
    """The hinge and its motor."""

    angle: Scalar = signal(unit="rad", doc="angle")
    rate: Scalar = signal(unit="rad/s", doc="rate", rate_of="angle")
    desired: Scalar = signal(unit="rad", doc="angle to be held")
    angle_error: Scalar = signal(unit="rad", doc="angle to be held less angle")
    torque: Scalar = signal(unit="N m", doc="torque of the motor at the hinge")
    current: Scalar = signal(unit="A", doc="current of the motor")
    power: Scalar = signal(unit="W", doc="mechanical power of the motor")
    electrical_power: Scalar = signal(unit="W", doc="mechanical power plus winding heat")


class HingeOutputs(eqx.Module):
    """What can be seen."""

    base: FixedPoint
    elbow: TipPoint
    tip: TipPoint
    hinge: DrivenHingeSignals
    computer: Any = None


class HingeStart(AbstractStart):
    """At rest at an angle."""

    angle: Scalar = param(0.2, unit="rad", doc="angle of the hinge", gt=-STOP, lt=STOP)
    rate: Scalar = param(0.0, unit="rad/s", doc="rate of the hinge")

    def state(self, system: Any) -> HybridState:
        return HybridState(HingeState(self.angle, self.rate), HingeTorque(0.0))


class SpikeHinge(AbstractPlant):
    """(D_1 + J_r) q'' = torque - b q' - g_1(q)                                        (spike.30)

    With D_1 and g_1 of the whole spike at its locked joints.

    Not modelled: play, dry friction, the stops at a right angle (the run ends there).
    """

    Start = HingeStart
    setpoint_key: ClassVar[str] = "angle_setpoint"
    commanded: ClassVar[Mapping[str, Any]] = {}

    gravity: Scalar = param(9.81, unit="m/s^2", doc="gravity", ge=0)
    height: Scalar = param(
        0.08, unit="m", doc="height of the attachment above the drawn floor", gt=0
    )
    angle_setpoint: Scalar = param(0.5, unit="rad", doc="angle to be held", gt=-STOP, lt=STOP)
    joint_2: Scalar = param(
        0.5 * np.pi, unit="rad", doc="angle at which the second hinge is locked", gt=0, lt=np.pi
    )
    slide: Scalar = param(0.02, unit="m", doc="extension at which the slide is locked", ge=0)
    rotor_inertia: Scalar = param(
        2e-3,
        unit="kg m^2",
        doc="inertia of the motor's rotor, seen at the hinge: times the gear ratio squared",
        ge=0,
    )
    spike: Spike = part(doc="the spike", default_factory=Spike)
    motor: DcMotor = part(doc="motor of the first hinge", default_factory=DcMotor)

    def __check_init__(self) -> None:
        super().__check_init__()
        if not all(
            isinstance(v, int | float | np.ndarray | np.generic)
            for v in (self.slide, self.spike.stroke)
        ):
            return  # traced: checked at the door
        beyond = np.asarray(self.slide, float) - np.asarray(self.spike.stroke, float)
        if np.any(beyond > 0):
            lane = int(np.argmax(beyond))
            slide, stroke = (
                float(np.ravel(np.broadcast_to(v, np.shape(beyond)))[lane])
                for v in (self.slide, self.spike.stroke)
            )
            try:
                require_joints(
                    self.spike.shape._replace(stroke=stroke), 0.0, float(STOP), slide, "slide"
                )
            except ParameterError as error:
                raise ParameterError(
                    str(error), "slide", lane if np.ndim(beyond) else None
                ) from None

    @property
    def joints(self) -> tuple[str, ...]:
        return ("hinge",)

    @property
    def setpoint(self) -> Scalar:
        return self.angle_setpoint

    def driven(self, m: HingeTorque, torques: tuple[Scalar, ...]) -> HingeTorque:
        return dataclasses.replace(m, torque=torques[0])

    def senses(self, t: Scalar, x: HingeState, m: HingeTorque) -> Senses:
        del t, m
        return Senses(x.angle, (x.angle,), (x.rate,))

    def metered(
        self, outputs: HingeOutputs, currents: tuple[Scalar, ...], powers: tuple[Scalar, ...]
    ) -> HingeOutputs:
        hinge = dataclasses.replace(outputs.hinge, current=currents[0], electrical_power=powers[0])
        return dataclasses.replace(outputs, hinge=hinge)

    @property
    def _inertia(self) -> Scalar:
        return mass_matrix(self.spike.inertia(self.slide), self.joint_2)[0] + self.rotor_inertia

    def flow(self, t: Scalar, x: HingeState, m: HingeTorque) -> Rates:
        del t
        load = gravity_load(self.spike.inertia(self.slide), x.angle, self.joint_2, self.gravity)[0]
        friction = self.spike.hinge_friction * x.rate
        power = HingePower(motor=m.torque * x.rate, damping=-friction * x.rate)
        return Rates(HingeState(x.rate, (m.torque - friction - load) / self._inertia), power)

    def stores(self, t: Scalar, x: HingeState, m: HingeTorque) -> HingeStores:
        del t, m
        return HingeStores(
            kinetic=0.5 * self._inertia * x.rate * x.rate,
            gravity=potential_energy(
                self.spike.inertia(self.slide), x.angle, self.joint_2, self.gravity
            ),
        )

    @property
    def events(self) -> tuple[Event, ...]:
        return (Event("stop", "the hinge came to a stop", Outcome.outside_model),)

    def guards(self, t: Scalar, x: HingeState, m: HingeTorque) -> tuple[Scalar, ...]:
        """[rad] room left before the nearer stop."""
        del t, m
        return (jnp.minimum(STOP - x.angle, STOP + x.angle),)

    def jump(self, t: Scalar, x: HingeState, m: HingeTorque, k: int) -> Jump:
        del t, k
        return Jump(x, m)

    def outputs(self, t: Scalar, x: HingeState, m: HingeTorque) -> HingeOutputs:
        del t
        still = 0.0 * x.angle
        power = m.torque * x.rate
        return HingeOutputs(
            base=FixedPoint(x=still, y=still, z=self.height + still),
            elbow=self._point(x, 0.0),
            tip=self._point(x, 1.0),
            hinge=DrivenHingeSignals(
                angle=x.angle,
                rate=x.rate,
                desired=self.angle_setpoint + still,
                angle_error=self.angle_setpoint - x.angle,
                torque=m.torque,
                current=self.motor.current(m.torque),
                power=power,
                electrical_power=power + self.motor.heat(m.torque),
            ),
        )

    def _point(self, x: HingeState, share: float) -> TipPoint:
        """The ball's centre (share 1) or the end of the prism (share 0), from the spike's frame
        whose y is down.
        """
        shape = self.spike.shape if share else self.spike.shape._replace(ball=0.0)
        p = forward(shape, x.angle, self.joint_2, share * self.slide)
        v = tuple(
            row[0] * x.rate
            for row in ball_jacobian(shape, x.angle, self.joint_2, share * self.slide)
        )
        return TipPoint(x=p[0], y=p[2], z=self.height - p[1], vx=v[0], vy=v[2], vz=-v[1])

    def odometry(
        self, start: HybridState, angle: np.ndarray, positions: tuple[np.ndarray, ...]
    ) -> HybridState:
        """Its base stands still, and the angle is all there is."""
        del positions
        return HybridState(HingeState(np.asarray(angle), np.zeros_like(angle)), start.m)

    def sketch(self) -> tuple[Shape, ...]:
        return (
            Ground(),
            Link("base", "elbow", "body", 0.005),
            Link("elbow", "tip", "leg", 0.003),
            Ball("base", (0.0, 0.0, 0.0), 0.004, "joint"),
            Ball("tip", (0.0, 0.0, 0.0), self.spike.ball, "mark"),
        )

    def charts(self) -> tuple[Chart, ...]:
        return (
            Chart(
                "Angle of the hinge",
                ("hinge.angle", "hinge.desired"),
                "whole",
                main=True,
                names=("measured", "wanted"),
            ),
            Chart("Torque of the motor", ("hinge.torque",), "whole", main=True),
            Chart("Height of the tip", ("tip.z",), "whole", main=True),
        )
