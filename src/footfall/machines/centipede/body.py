"""A body of like segments in a row."""

from footfall.hybrid.fields import Parametric, param
from footfall.numerics.scalar import Scalar


class SegmentChain(Parametric):
    """Point masses in a row, joined by springs.

    Springs along the body and springs that resist bending, each with its damper.
    """

    segments: int = param(
        12, doc="number of segments, one pair of legs each", ge=4, le=60, static=True
    )
    mass: Scalar = param(0.10, unit="kg", doc="mass of a segment", gt=0)
    spacing: Scalar = param(0.05, unit="m", doc="distance l between segments", gt=0)
    radius: Scalar = param(
        0.01,
        unit="m",
        doc="half the thickness r_b of the body: its underside meets the ground",
        ge=0,
    )
    axial_stiffness: Scalar = param(
        4000.0, unit="N/m", doc="stiffness k_a between two segments, along the body", gt=0
    )
    axial_damping: Scalar = param(
        8.0, unit="N s/m", doc="damping c_a between two segments, along the body", ge=0
    )
    bending_stiffness: Scalar = param(
        8.0, unit="N m/rad", doc="stiffness k_b of a joint against bending", gt=0
    )
    bending_damping: Scalar = param(0.02, unit="N m s/rad", doc="damping c_b of a joint", ge=0)
