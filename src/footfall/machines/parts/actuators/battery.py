"""What feeds the motors."""

from footfall.hybrid.fields import Parametric, param
from footfall.numerics.scalar import Scalar


class BatteryPack(Parametric):
    """A constant voltage behind a resistance: it sags under load and rises while the motors brake.

    It does not run down.
    """

    voltage: Scalar = param(24.0, unit="V", doc="voltage without load", gt=0)
    resistance: Scalar = param(0.05, unit="ohm", doc="internal resistance with wiring", ge=0)
