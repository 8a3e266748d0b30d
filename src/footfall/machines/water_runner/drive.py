"""Contract of the drive slot."""

import abc
from typing import Any

from footfall.hybrid.fields import Parametric
from footfall.hybrid.system import Rates
from footfall.numerics.scalar import Scalar
from footfall.scene.sketch import Chart


class AbstractDrive(Parametric):
    """What turns all cranks of a robot together, by a rigid gear train that keeps their phases.

    A drive that prescribes the cranks says where they are at any time. One that does not owns their
    state: `rest` gives it, a struct of `signal` fields that the robot carries and hands back as
    `own`; `flow` says how it moves while the legs take the torque `load`, and the power through the
    drive's own ports. The power that it gives to the legs and its own inertia, torque times rate,
    is the robot's port `drive`.
    """

    @abc.abstractmethod
    def cranks(self, t: Scalar, own: Any) -> tuple[Scalar, Scalar]:
        """(angle, rate) of the cranks."""

    @abc.abstractmethod
    def given_torque(self, own: Any, load: Scalar) -> Scalar:
        """Torque on the cranks, while the legs take `load`."""

    def acceleration(self, own: Any, load: Scalar) -> Scalar:
        """Second derivative of the cranks' angle."""
        del own, load
        return 0.0

    def rest(self, rate: Scalar) -> Any:
        """Its state with the cranks at zero, turning at `rate`; None: it has none."""
        del rate

    def flow(self, own: Any, load: Scalar) -> Rates:
        """Rates of its state, and power through its ports."""
        del own, load
        return Rates(None, None)

    def stores(self, own: Any) -> Any:
        """Energy it keeps, as a struct of `store` fields."""
        del own

    def signals(self, own: Any) -> Any:
        """What else is to be seen of it, as a struct of `signal` fields: columns `drive.FIELD`."""
        del own

    def charts(self) -> tuple[Chart, ...]:
        """Its signals over time, for the plot page."""
        return ()
