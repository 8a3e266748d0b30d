"""The leg that does not give."""

from footfall.hybrid.fields import Parametric, param
from footfall.numerics.scalar import Scalar


class Strut(Parametric):
    """A rigid, massless leg. Impacts are then plastic: the new foot sticks, the old one leaves."""

    length: Scalar = param(0.26, unit="m", doc="length", gt=0)
