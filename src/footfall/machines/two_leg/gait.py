"""The gait of a walker that moves one foot at a time: up, across, down."""

from footfall.hybrid.fields import Parametric, choice, param
from footfall.numerics.rest_to_rest import LAWS, Law
from footfall.numerics.scalar import Scalar


class InchwormGait(Parametric):
    """Each foot is lifted, carried across and put down, each a straight move from rest to rest.

    The leading foot goes first.

    "mean-speed": a move of distance D takes |D|/speed.
    "peak-acceleration": as short as the acceleration allows, for the cubic
    sqrt(6 |D|/a)                                                                           (path.2)
    Moves up and down take 1/lift_pace of that: so a footstep's time is split between its moves.
    """

    lift: Scalar = param(
        0.01, unit="m", doc="how high a foot is lifted above the higher of its two footholds", gt=0
    )
    stride: Scalar = param(0.08, unit="m", doc="how far a foot is carried", gt=0)
    law: str = choice("cubic", options=tuple(LAWS), doc="how a foot moves from rest to rest")
    timing: str = choice(
        "mean-speed",
        options=("mean-speed", "peak-acceleration"),
        doc="what sets the duration of a move",
    )
    speed: Scalar = param(0.05, unit="m/s", doc="mean speed of a moving foot", gt=0)
    acceleration: Scalar = param(
        1.0, unit="m/s^2", doc="largest acceleration of a moving foot", gt=0
    )
    lift_pace: Scalar = param(
        1.0, doc="how many times as fast a foot goes up and down as it would at `speed`", gt=0
    )

    @property
    def path(self) -> Law:
        return LAWS[self.law]

    def duration(self, distance: Scalar) -> Scalar:
        """Of a move over a distance of either sign."""
        size = abs(distance)
        if self.timing == "mean-speed":
            return size / self.speed
        return (self.path.peak_bend * size / self.acceleration) ** 0.5
