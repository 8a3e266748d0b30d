"""Circular pads that slap water.

One that never folds, and the breakaway pad, which folds as soon as it would pull.
"""

import abc
from typing import Any

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from footfall.hybrid.fields import choice, param, signal
from footfall.hybrid.system import Event, Jump
from footfall.machines.water_runner.foot import AbstractFoot, FootPoint, Tip
from footfall.machines.water_runner.wet_disc import Disc, Medium, WaterLoad, wet_disc
from footfall.machines.water_runner.wet_face import (
    FACE_OVER,
    OFF_ON,
    FaceSignals,
    require_looking_down,
)
from footfall.numerics.scalar import Scalar
from footfall.scene.sketch import Chart

_FOLD, _UNFOLD = Event("fold", "a pad folds"), Event("unfold", "a pad unfolds")


class PadMode(eqx.Module):
    """Discrete state of a pad that folds at once."""

    folded: Scalar = signal(doc="1 while a foot that folds at once is folded")


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

    radius: Scalar = param(0.020, unit="m", doc="radius of the pad", gt=0)
    drag_coefficient: Scalar = param(0.703, doc="drag coefficient of a disc entering water", gt=0)
    hydrostatics: str = choice("on", options=OFF_ON, doc="pressure of the water's depth on the pad")

    def tip(self, at: FootPoint, own: Any) -> Tip:
        del own
        r = self.radius
        return Tip(
            at.x - r * at.ux,
            at.y - r * at.uy,
            at.vx + r * at.rate * at.uy,
            at.vy - r * at.rate * at.ux,
        )

    def depth_in_water(self, at: FootPoint, own: Any, level: Scalar) -> Scalar:
        del own
        return level - at.y + self.radius * jnp.abs(at.uy)

    def signals(self, at: FootPoint, own: Any, water: WaterLoad | None) -> FaceSignals | None:
        del at, own
        return None if water is None else FaceSignals(water.wetted)

    def events(self, wet: bool) -> tuple[Event, ...]:
        return (FACE_OVER,) if wet else ()

    def guards(self, at: FootPoint, own: Any, wet: bool) -> tuple[Scalar, ...]:
        """Cosine of the angle by which the pad looks down."""
        del own
        return (at.ux,) if wet else ()

    def in_water(self, at: FootPoint, own: Any, mode: Any, medium: Medium) -> WaterLoad:
        del own
        return self.water_load(at, medium, getattr(mode, "folded", None))

    @abc.abstractmethod
    def water_load(self, at: FootPoint, medium: Medium, folded: Scalar | None) -> WaterLoad:
        """Load of the pad; `folded`, 1 or 0, says nothing to one that folds by degrees."""

    def fold_speed(self, at: FootPoint) -> Scalar:
        """Speed at which the pad presses on the water; where it is negative, the water holds it."""
        return at.vx * at.uy - at.vy * at.ux

    def charts(self, legs: tuple[str, ...], wet: bool) -> tuple[Chart, ...]:
        shares = tuple(f"{leg}.wetted" for leg in legs)
        return (Chart("Wetted share of the pads", shares),) if wet else ()

    def check_start(self, leg: str, rooms: tuple[np.ndarray, ...], wet: bool) -> None:
        """The face that pushes must look down."""
        if wet:
            require_looking_down(leg, rooms[-1])

    def open_load(self, at: FootPoint, medium: Medium) -> WaterLoad:
        """Load of the unfolded pad."""
        return wet_disc(
            _pad(at), self.radius, self.drag_coefficient, float(self.hydrostatics == "on"), medium
        )


class RigidPad(_Pad):
    """A pad that never folds: it pulls on the water as it pushes."""

    def water_load(self, at: FootPoint, medium: Medium, folded: Scalar | None) -> WaterLoad:
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
        "off", options=OFF_ON, doc="pressure of the water's depth on the folded pad"
    )
    folding: str = choice("blended", options=("blended", "hard"), doc="by degrees, or at once")
    blend_speed: Scalar = param(
        0.05, unit="m/s", doc="normal speed over which it folds by degrees", gt=0
    )

    @property
    def folds_hard(self) -> bool:
        """It folds and unfolds at an instant."""
        return self.folding == "hard"

    def events(self, wet: bool) -> tuple[Event, ...]:
        return (_FOLD, _UNFOLD, FACE_OVER) if wet and self.folds_hard else super().events(wet)

    def guards(self, at: FootPoint, own: Any, wet: bool) -> tuple[Scalar, ...]:
        """[m/s] pressing speed, and its opposite, of a pad that folds at once; and as any pad."""
        speed = self.fold_speed(at)
        folding = (speed, -speed) if wet and self.folds_hard else ()
        return (*folding, *super().guards(at, own, wet))

    def needs_driven_cranks(self, wet: bool) -> str | None:
        if not (wet and self.folds_hard):
            return None
        return (
            "a pad that folds at once cannot be driven by a motor: the water can hold the crank"
            " exactly where the pad switches, and time stands still there. Write foot.folding ="
            ' "blended".'
        )

    def mode(self, at: FootPoint, own: Any, wet: bool) -> PadMode | None:
        del own
        if not (wet and self.folds_hard):
            return None
        return PadMode(jnp.asarray(self.fold_speed(at) < 0, jnp.int32))

    def jump(self, own: Any, mode: PadMode, k: int) -> Jump:
        return Jump(own, PadMode(0 * mode.folded + (1 - k)))

    def folded_load(self, at: FootPoint, medium: Medium) -> WaterLoad:
        """Load of the folded pad; its wetted share is that of the pad."""
        pressure = float(self.folded_hydrostatics == "on")
        small = wet_disc(
            _pad(at), self.folded_share * self.radius, self.drag_coefficient, pressure, medium
        )
        edge = wet_disc(_edge(at), self.edge_radius, self.drag_coefficient, pressure, medium)
        return small.plus(edge._replace(wetted=0.0))

    def water_load(self, at: FootPoint, medium: Medium, folded: Scalar | None) -> WaterLoad:
        whole, little = self.open_load(at, medium), self.folded_load(at, medium)
        if self.folds_hard:
            assert folded is not None  # its discrete state
            return WaterLoad(
                *(jnp.where(folded > 0, b, a) for a, b in zip(whole, little, strict=True))
            )._replace(wetted=whole.wetted)
        share = 0.5 + 0.5 * jnp.tanh(self.fold_speed(at) / self.blend_speed)
        return whole.times(share).plus(little.times(1.0 - share))._replace(wetted=whole.wetted)
