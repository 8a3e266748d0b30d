"""A springy foot for hard ground.

A flat strip as a pseudo-rigid body, two rigid pieces and a hinge with a torsion spring.
"""

from typing import Any

import equinox as eqx

from footfall.hybrid.fields import param, port, signal, store
from footfall.hybrid.system import Rates
from footfall.machines.water_runner.foot import AbstractFoot, FootPoint, Tip
from footfall.machines.water_runner.wet_disc import WaterLoad
from footfall.numerics.scalar import Scalar
from footfall.numerics.trig import sincos
from footfall.scene.sketch import Chart


class Hinge(eqx.Module):
    """Deflection of a foot and its rate."""

    deflection: Scalar = signal(
        unit="rad", doc="deflection of the foot's hinge, positive flattens it", fast=True
    )
    deflection_rate: Scalar = signal(
        unit="rad/s", doc="rate of the deflection", rate_of="deflection", fast=True
    )


class HingePower(eqx.Module):
    """Ports of a hinge."""

    hinge: Scalar = port(kind="loss", doc="dampers of the feet")


class HingeStores(eqx.Module):
    """Stores of a hinge."""

    kinetic: Scalar = store(doc="of the links beyond the hinges")
    spring: Scalar = store(doc="springs of the feet")


class HingeSignals(eqx.Module):
    """What is to be seen of a hinge."""

    deflection: Scalar = signal(unit="rad", doc="deflection of the foot")


class CompliantFoot(AbstractFoot):
    """A rigid piece beyond the leg's end, a sprung hinge, and a light link to the tip.

    The hinge has a spring and a damper.

    With gamma the hinge's share of the length l, q the deflection (positive flattens the foot):

        hinge = F - (1 - gamma) l u(theta2),  tip = hinge - gamma l u(theta2 - q)
        I q'' = -b q' - k q + P . d(tip)/dq                                               (runner.5)

    A flat strip of modulus E, width w and thickness t has k = gamma K E I/l, I = w t^3/12 and
    K = 2.65, the coefficient of a cantilever with a force at its end (runner.6).

    The foot's inertia counts against its own deflection only, not against the leg's acceleration. A
    bare strip has no area to speak of: water does not carry it.
    """

    length: Scalar = param(0.040, unit="m", doc="length of the foot beyond the leg's end", gt=0)
    hinge_share: Scalar = param(0.85, doc="part of the length beyond the hinge", gt=0, le=1)
    inertia: Scalar = param(3e-7, unit="kg m^2", doc="inertia of the link about the hinge", gt=0)
    stiffness: Scalar = param(0.05, unit="N m/rad", doc="torsion stiffness of the hinge", gt=0)
    damping: Scalar = param(2e-3, unit="N m s/rad", doc="damping of the hinge", ge=0)

    def rest(self) -> Hinge:
        return Hinge(deflection=0.0, deflection_rate=0.0)

    def tip(self, at: FootPoint, own: Hinge) -> Tip:
        fixed = (1.0 - self.hinge_share) * self.length
        # The tip is at the hinge plus this, turned back by a quarter.
        arm_x, arm_y = self.hinge_arm(at, own)
        # Turning with the leg moves the tip by rate * (tip - F), a quarter turned; the hinge turns
        # its own link back.
        swing_x, swing_y = fixed * at.uy - arm_x, -fixed * at.ux - arm_y
        return Tip(
            x=at.x - fixed * at.ux - arm_y,
            y=at.y - fixed * at.uy + arm_x,
            vx=at.vx + at.rate * swing_x + own.deflection_rate * arm_x,
            vy=at.vy + at.rate * swing_y + own.deflection_rate * arm_y,
        )

    def flow(self, at: FootPoint, own: Hinge, fx: Scalar, fy: Scalar) -> Rates:
        arm_x, arm_y = self.hinge_arm(at, own)
        bending = self.hinge_acceleration(own, arm_x * fx + arm_y * fy)
        return Rates(Hinge(own.deflection_rate, bending), HingePower(-self.hinge_loss(own)))

    def stores(self, own: Hinge) -> HingeStores:
        return HingeStores(*self.hinge_energy(own))

    def signals(self, at: FootPoint, own: Hinge, water: WaterLoad | None) -> HingeSignals:
        del at, water
        return HingeSignals(own.deflection)

    def charts(self, legs: tuple[str, ...], wet: bool) -> tuple[Chart, ...]:
        del wet
        return (Chart("Deflection of the feet", tuple(f"{leg}.deflection" for leg in legs)),)

    def hinge_arm(self, at: FootPoint, hinge: Hinge) -> tuple[Scalar, Scalar]:
        """How far the tip moves per radian of deflection."""
        s, c = sincos(hinge.deflection)
        link = self.hinge_share * self.length
        wx, wy = c * at.ux + s * at.uy, c * at.uy - s * at.ux  # u(theta2 - q)
        return -link * wy, link * wx

    def hinge_acceleration(self, hinge: Hinge, moment: Scalar) -> Scalar:
        """Second derivative of the deflection under a moment of the ground."""
        return (
            moment - self.damping * hinge.deflection_rate - self.stiffness * hinge.deflection
        ) / self.inertia

    def hinge_energy(self, hinge: Hinge) -> tuple[Scalar, Scalar]:
        """(kinetic, elastic)."""
        return (
            0.5 * self.inertia * hinge.deflection_rate * hinge.deflection_rate,
            0.5 * self.stiffness * hinge.deflection * hinge.deflection,
        )

    def hinge_loss(self, hinge: Hinge) -> Scalar:
        """Power lost in the hinge, never negative."""
        return self.damping * hinge.deflection_rate * hinge.deflection_rate


class PointFoot(AbstractFoot):
    """No foot at all: the bare end of the leg. Hard ground stops it, water does not."""

    def tip(self, at: FootPoint, own: Any) -> Tip:
        del own
        return Tip(at.x, at.y, at.vx, at.vy)
