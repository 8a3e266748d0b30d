"""A springy foot: a flat strip as a pseudo-rigid body, two rigid pieces and a sprung hinge.

Hard ground presses its tip, water the round face on the piece beyond the hinge.
"""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from footfall.hybrid.compose import joined
from footfall.hybrid.fields import choice, param, port, signal, store
from footfall.hybrid.system import Event, Rates
from footfall.machines.water_runner.foot import AbstractFoot, FootPoint, Tip
from footfall.machines.water_runner.wet_disc import Disc, Medium, WaterLoad, wet_disc
from footfall.machines.water_runner.wet_face import (
    FACE_OVER,
    OFF_ON,
    FaceSignals,
    require_looking_down,
)
from footfall.numerics.planar import cross
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

    In water a disc of `face_radius` on the link feels what any disc feels (pad.6), where it is and
    as it moves: its centre at c = hinge - s u(theta2 - q), along u(theta2 - q), turning at
    theta2' - q'. With P, M_F the force and the moment about F on the leg,

        I q'' = -b q' - k q + (hinge - F) x P - M_F                                       (runner.9)

    so the water's power goes to the leg and the hinge and nowhere else. It does not fold: it bends.
    A strip without a face (`face_radius=0`) is not carried.

    The foot's inertia counts against its own deflection only, not against the leg's acceleration.
    """

    length: Scalar = param(0.040, unit="m", doc="length of the foot beyond the leg's end", gt=0)
    hinge_share: Scalar = param(0.85, doc="part of the length beyond the hinge", gt=0, le=1)
    inertia: Scalar = param(3e-7, unit="kg m^2", doc="inertia of the link about the hinge", gt=0)
    stiffness: Scalar = param(0.05, unit="N m/rad", doc="torsion stiffness of the hinge", gt=0)
    damping: Scalar = param(2e-3, unit="N m s/rad", doc="damping of the hinge", ge=0)
    face_radius: Scalar = param(
        0.020, unit="m", doc="radius of the round face on the link, for water; 0: a strip", ge=0
    )
    face_place: Scalar = param(
        0.5, doc="centre of the face, as a share of the link from the hinge on", ge=0, le=1
    )
    drag_coefficient: Scalar = param(0.703, doc="drag coefficient of the face in water", gt=0)
    hydrostatics: str = choice(
        "on", options=OFF_ON, doc="pressure of the water's depth on the face"
    )

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

    def signals(self, at: FootPoint, own: Hinge, water: WaterLoad | None) -> Any:
        del at
        seen = HingeSignals(own.deflection)
        return seen if water is None else joined(seen, FaceSignals(water.wetted))

    def charts(self, legs: tuple[str, ...], wet: bool) -> tuple[Chart, ...]:
        bent = Chart("Deflection of the feet", tuple(f"{leg}.deflection" for leg in legs))
        shares = Chart("Wetted share of the feet", tuple(f"{leg}.wetted" for leg in legs))
        return (bent, shares) if wet else (bent,)

    # --- water
    # ---------------------------------------------------------------------------------------------

    def face(self, at: FootPoint, own: Hinge) -> Disc:
        """The disc on the link beyond the hinge."""
        fixed = (1.0 - self.hinge_share) * self.length
        wx, wy = self.link_direction(at, own)
        reach = self.face_place * self.hinge_share * self.length
        # From F to the centre, and the centre's way per radian of deflection.
        rx, ry = -fixed * at.ux - reach * wx, -fixed * at.uy - reach * wy
        bend_x, bend_y = -reach * wy, reach * wx
        return Disc(
            x=at.x + rx,
            y=at.y + ry,
            vx=at.vx - at.rate * ry + own.deflection_rate * bend_x,
            vy=at.vy + at.rate * rx + own.deflection_rate * bend_y,
            along_x=wx,
            along_y=wy,
            normal_x=wy,
            normal_y=-wx,
            rate=at.rate - own.deflection_rate,
        )

    def in_water(self, at: FootPoint, own: Hinge, mode: Any, medium: Medium) -> WaterLoad:
        del mode
        face = self.face(at, own)
        pressure = float(self.hydrostatics == "on")
        load = wet_disc(face, self.face_radius, self.drag_coefficient, pressure, medium)
        return load._replace(
            moment=load.moment + cross(face.x - at.x, face.y - at.y, load.fx, load.fy)
        )

    def flow_in_water(self, at: FootPoint, own: Hinge, water: WaterLoad | None) -> Rates:
        if water is None:
            return self.flow(at, own, 0.0, 0.0)
        fixed = (1.0 - self.hinge_share) * self.length
        moment = -fixed * cross(at.ux, at.uy, water.fx, water.fy) - water.moment
        bending = self.hinge_acceleration(own, moment)
        return Rates(Hinge(own.deflection_rate, bending), HingePower(-self.hinge_loss(own)))

    def depth_in_water(self, at: FootPoint, own: Hinge, level: Scalar) -> Scalar:
        """Of the face's lower edge or of the tip."""
        face = self.face(at, own)
        edge = level - face.y + self.face_radius * jnp.abs(face.along_y)
        return jnp.maximum(edge, level - self.tip(at, own).y)

    def events(self, wet: bool) -> tuple[Event, ...]:
        return (FACE_OVER,) if wet else ()

    def guards(self, at: FootPoint, own: Hinge, wet: bool) -> tuple[Scalar, ...]:
        """Cosine of the angle by which the face looks down."""
        return (self.link_direction(at, own)[0],) if wet else ()

    def check_start(self, leg: str, rooms: tuple[np.ndarray, ...], wet: bool) -> None:
        """The face must look down."""
        if wet:
            require_looking_down(leg, rooms[-1])

    # --- the hinge
    # ---------------------------------------------------------------------------------------------

    def link_direction(self, at: FootPoint, hinge: Hinge) -> tuple[Scalar, Scalar]:
        """u(theta2 - q), up the link."""
        s, c = sincos(hinge.deflection)
        return c * at.ux + s * at.uy, c * at.uy - s * at.ux

    def hinge_arm(self, at: FootPoint, hinge: Hinge) -> tuple[Scalar, Scalar]:
        """How far the tip moves per radian of deflection."""
        link = self.hinge_share * self.length
        wx, wy = self.link_direction(at, hinge)
        return -link * wy, link * wx

    def hinge_acceleration(self, hinge: Hinge, moment: Scalar) -> Scalar:
        """Second derivative of the deflection under a moment of ground or water."""
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
