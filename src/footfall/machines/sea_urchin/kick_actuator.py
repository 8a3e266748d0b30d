"""What pushes the slide of a kicking spike: the contract, and a constant force."""

import abc
from typing import Any, ClassVar

import equinox as eqx

from footfall.hybrid.fields import Parametric, param, port
from footfall.hybrid.system import Rates
from footfall.numerics.scalar import Scalar
from footfall.scene.sketch import Chart


class Slide(eqx.Module):
    """The slide, as its actuator sees it."""

    extension: Scalar  #: how far it is out [m]
    rate: Scalar  #: [m/s]


class AbstractKickActuator(Parametric):
    """What pushes the slide out, by a force along the spike.

    One with states of its own gives them in `rest`, a struct of `signal` fields that the robot
    carries and hands back as `own`. `flow` says how they move, and the power that enters the robot
    through the actuator: work that comes from outside, and losses inside it. What it keeps is in
    `stores`; what it gives to the slide, thrust times rate, stays inside and is no port.
    """

    #: Whether its force grows after the start: the spike then rests on its inner stop until it can
    #: push the body off.
    builds_up: ClassVar[bool] = False

    @abc.abstractmethod
    def thrust(self, slide: Slide, own: Any) -> Scalar:
        """Force on the body along the spike, away from the pivot [N]."""

    @abc.abstractmethod
    def flow(self, slide: Slide, own: Any) -> Rates:
        """Rates of its states, and power through its ports."""

    def rest(self, extension: Scalar) -> Any:
        """Its state at the start, the slide out by `extension`; None: it has none."""
        del extension

    def stores(self, slide: Slide, own: Any) -> Any:
        """Energy that it keeps, as a struct of `store` fields."""
        del slide, own

    def signals(self, slide: Slide, own: Any) -> Any:
        """What else is to be seen of it, as a struct of `signal` fields: columns `kick.FIELD`."""
        del slide, own

    def charts(self) -> tuple[Chart, ...]:
        """Its signals over time, for the plot page."""
        return ()


class ForcePower(eqx.Module):
    """Ports."""

    kick: Scalar = port(kind="work", doc="force of the slide")


class ConstantForce(AbstractKickActuator):
    """A force that is there at once and stays, whatever the slide does."""

    force: Scalar = param(40.0, unit="N", doc="force F of the kick", ge=0)

    def thrust(self, slide: Slide, own: Any) -> Scalar:
        del slide, own
        return self.force

    def flow(self, slide: Slide, own: Any) -> Rates:
        del own
        return Rates(None, ForcePower(kick=self.force * slide.rate))
