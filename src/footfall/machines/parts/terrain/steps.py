"""Level pieces of ground at different heights."""

from footfall.hybrid.fields import ParameterError, numbers
from footfall.machines.parts.terrain.level_pieces import AbstractLevelPieces
from footfall.numerics.scalar import Scalar


class Steps(AbstractLevelPieces):
    """Ground that goes up and down in steps with upright faces.

    Seen in the house frame (x forward).

    Behind the first edge it is at height 0; from each edge on it is at that edge's height. Two
    edges with a lower height between them are a gap.
    """

    edges: tuple[float, ...] = numbers(
        (0.5,), unit="m", doc="where the ground changes its height, forward", increasing=True
    )
    heights: tuple[float, ...] = numbers(
        (0.05,), unit="m", doc="height of the ground from each edge on"
    )

    def __check_init__(self) -> None:
        super().__check_init__()
        if len(self.edges) != len(self.heights):
            raise ParameterError(
                f"{len(self.edges)} edges need as many heights, there are {len(self.heights)}: each"
                " edge has the height of the ground beyond it.",
                "heights",
            )

    def levels(self) -> tuple[tuple[Scalar, ...], tuple[Scalar, ...]]:
        return self.edges, self.heights
