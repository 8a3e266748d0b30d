"""How the sea urchin rolls on its sides: kicks with a pair of spikes."""

from footfall.hybrid.fields import Parametric, param
from footfall.numerics.scalar import Scalar


class RollGait(Parametric):
    """Drawn in, the tips are the corners of a hexagonal prism.

    Lying on a side, it kicks with the two spikes of its rear column, bottom and upper, and falls
    onto the next side; a kick with one of them alone pushes beside the middle and throws it onto an
    end.

    A kick is a constant force until the slides are out, for `kick_time` at least; then they are
    drawn in.
    """

    direction: Scalar = param(
        0.0, unit="rad", doc="where to roll, counter-clockwise from the house's x axis"
    )
    force: Scalar = param(
        5.0,
        unit="N",
        doc="of each of the two spikes while they kick; 4 N is the least that rolls",
        gt=0,
    )
    kick_time: Scalar = param(0.05, unit="s", doc="least time of a kick", ge=0)
    rest: Scalar = param(0.3, unit="s", doc="time it lies still before it kicks", ge=0)
    tip_force: Scalar = param(
        12.0, unit="N", doc="of each spike that tips it from an end onto a side, or back", gt=0
    )
    patience: Scalar = param(
        1.0, unit="s", doc="a kick whose slides are not out by then is given up", gt=0
    )
