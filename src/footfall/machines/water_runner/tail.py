"""Contract of the tail slot."""

import abc
from typing import ClassVar

from footfall.hybrid.fields import Parametric
from footfall.machines.water_runner.wet_disc import Medium, WaterLoad
from footfall.numerics.scalar import Scalar


class AbstractTail(Parametric):
    """Something fixed to the body that the water carries. Hard ground it never meets."""

    present: ClassVar[bool]

    @property
    @abc.abstractmethod
    def place(self) -> tuple[Scalar, Scalar]:
        """Centre in the body's frame (towards the rear, up)."""

    @abc.abstractmethod
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
        """Load at its centre, which is at (x, y) and moves with (vx, vy).

        Meanwhile the body, pitched by (sin, cos), turns with `rate`.
        """
