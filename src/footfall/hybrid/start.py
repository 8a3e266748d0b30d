"""How a run begins: options a user may set, turned into a complete state."""

import abc
from typing import Any

from footfall.hybrid.fields import Parametric
from footfall.hybrid.system import HybridState


class AbstractStart(Parametric):
    """The [start] table of a robot.

    `state` raises ParameterError for a start that cannot be (a foot below the ground).
    """

    @abc.abstractmethod
    def state(self, system: Any) -> HybridState:
        """The complete state this start means for this system."""
