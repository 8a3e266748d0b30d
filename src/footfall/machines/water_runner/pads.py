"""Circular pads that slap water.

One that never folds, and the breakaway pad, which folds as soon as it would pull.
"""

import jax.numpy as jnp

from footfall.hybrid.fields import choice, param
from footfall.machines.water_runner.foot import AbstractFoot, FootPoint, Hinge, Tip
from footfall.machines.water_runner.wet_disc import Disc, Medium, WaterLoad, wet_disc
from footfall.numerics.scalar import Scalar

_OFF_ON = ("off", "on")


def _pad(at: FootPoint) -> Disc:
    """A disc along the leg.

    Its normal is the right-hand side of u, down and rearward: the face that meets the water.
    """
    return Disc(at.x, at.y, at.vx, at.vy, at.ux, at.uy, at.uy, -at.ux, at.rate)


def _edge(at: FootPoint) -> Disc:
    """A disc across the leg, facing down it."""
    return Disc(at.x, at.y, at.vx, at.vy, at.uy, -at.ux, -at.ux, -at.uy, at.rate)


class _Pad(AbstractFoot):
    """What both pads are: a disc of some radius, centred at the leg's end.

    On hard ground its outer edge is the tip.
    """

    has_pads = True

    radius: Scalar = param(0.020, unit="m", doc="radius of the pad", gt=0)
    drag_coefficient: Scalar = param(0.703, doc="drag coefficient of a disc entering water", gt=0)
    hydrostatics: str = choice(
        "on", options=_OFF_ON, doc="pressure of the water's depth on the pad"
    )

    def tip(self, at: FootPoint, hinge: Hinge) -> Tip:
        del hinge
        r = self.radius
        return Tip(
            at.x - r * at.ux,
            at.y - r * at.uy,
            at.vx + r * at.rate * at.uy,
            at.vy - r * at.rate * at.ux,
        )

    def depth_in_water(self, at: FootPoint, hinge: Hinge, level: Scalar) -> Scalar:
        del hinge
        return level - at.y + self.radius * jnp.abs(at.uy)

    def open_load(self, at: FootPoint, medium: Medium) -> WaterLoad:
        """Load of the unfolded pad."""
        return wet_disc(
            _pad(at), self.radius, self.drag_coefficient, float(self.hydrostatics == "on"), medium
        )


class RigidPad(_Pad):
    """A pad that never folds: it pulls on the water as it pushes."""

    def water_load(self, at: FootPoint, medium: Medium, folded: Scalar) -> WaterLoad:
        del folded
        return self.open_load(at, medium)


class BreakawayPad(_Pad):
    """A pad that folds when the water would hold it back, and then shows the water little.

    It folds where the normal speed a0 of its centre is negative. Folded it is a pad `folded_share`
    as large, and a disc of `edge_radius` across the leg, facing down it.

    "blended" folds by degrees, unfolded by
    lambda = (1 + tanh(a0/blend_speed))/2                                                 (runner.3)
    "hard" folds at once, an event at a0 = 0, where the force jumps. Only with a prescribed crank: a
    motor can be held at a0 = 0 from both sides.
    """

    folded_share: Scalar = param(
        0.25, doc="radius of the folded pad, as a share of the radius", ge=0, le=1
    )
    edge_radius: Scalar = param(
        0.020, unit="m", doc="radius of the disc across the leg that the folded pad shows", ge=0
    )
    folded_hydrostatics: str = choice(
        "off", options=_OFF_ON, doc="pressure of the water's depth on the folded pad"
    )
    folding: str = choice("blended", options=("blended", "hard"), doc="by degrees, or at once")
    blend_speed: Scalar = param(
        0.05, unit="m/s", doc="normal speed over which it folds by degrees", gt=0
    )

    @property
    def folds_hard(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.folding == "hard"

    def folded_load(self, at: FootPoint, medium: Medium) -> WaterLoad:
        """Load of the folded pad; its wetted share is that of the pad."""
        pressure = float(self.folded_hydrostatics == "on")
        small = wet_disc(
            _pad(at), self.folded_share * self.radius, self.drag_coefficient, pressure, medium
        )
        edge = wet_disc(_edge(at), self.edge_radius, self.drag_coefficient, pressure, medium)
        return small.plus(edge._replace(wetted=0.0))

    def water_load(self, at: FootPoint, medium: Medium, folded: Scalar) -> WaterLoad:
        whole, little = self.open_load(at, medium), self.folded_load(at, medium)
        if self.folds_hard:
            return WaterLoad(
                *(jnp.where(folded > 0, b, a) for a, b in zip(whole, little, strict=True))
            )._replace(wetted=whole.wetted)
        share = 0.5 + 0.5 * jnp.tanh(self.fold_speed(at) / self.blend_speed)
        return whole.times(share).plus(little.times(1.0 - share))._replace(wetted=whole.wetted)
