"""A tail pad, and no tail."""

from footfall.hybrid.fields import param
from footfall.machines.water_runner.tail import AbstractTail
from footfall.machines.water_runner.wet_disc import NO_LOAD, Disc, Medium, WaterLoad, wet_disc
from footfall.numerics.scalar import Scalar
from footfall.numerics.trig import sincos


class PadTail(AbstractTail):
    """A disc behind the body that never folds, its rear edge down by an angle eta.

    Thrust lifts the nose, the tail presses it down.

    tau = Rot(pitch) (-cos eta, sin eta),   n = Rot(pitch) (-sin eta, -cos eta)           (runner.4)
    """

    present = True

    behind: Scalar = param(0.20, unit="m", doc="its centre behind the body's centre of mass")
    above: Scalar = param(-0.04, unit="m", doc="its centre above the body's centre of mass")
    radius: Scalar = param(0.030, unit="m", doc="radius", gt=0)
    down_angle: Scalar = param(
        0.5235987755982988, unit="rad", doc="how far the rear edge is turned down", ge=0, lt=1.57
    )
    drag_coefficient: Scalar = param(0.703, doc="drag coefficient of a disc entering water", gt=0)

    @property
    def place(self) -> tuple[Scalar, Scalar]:
        return self.behind, self.above

    def water_load(
        self,
        x: Scalar,
        y: Scalar,
        vx: Scalar,
        vy: Scalar,
        sin: Scalar,
        cos: Scalar,
        rate: Scalar,
        medium: Medium,
    ) -> WaterLoad:
        s, c = sincos(self.down_angle)
        along = (-c * cos - s * sin, s * cos - c * sin)  # Rot(pitch) (-cos eta, sin eta)
        normal = (-s * cos + c * sin, -s * sin - c * cos)  # Rot(pitch) (-sin eta, -cos eta)
        return wet_disc(
            Disc(x, y, vx, vy, *along, *normal, rate),
            self.radius,
            self.drag_coefficient,
            1.0,
            medium,
        )


class NoTail(AbstractTail):
    """None."""

    present = False

    @property
    def place(self) -> tuple[Scalar, Scalar]:
        return 0.0, 0.0

    def water_load(
        self,
        x: Scalar,
        y: Scalar,
        vx: Scalar,
        vy: Scalar,
        sin: Scalar,
        cos: Scalar,
        rate: Scalar,
        medium: Medium,
    ) -> WaterLoad:
        del x, y, vx, vy, sin, cos, rate, medium
        return NO_LOAD
