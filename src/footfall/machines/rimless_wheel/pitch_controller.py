"""Contract of a law that holds a body at an angle."""

import abc

from footfall.hybrid.fields import Parametric
from footfall.numerics.scalar import Scalar


class AbstractPitchController(Parametric):
    """A continuous law of the torque that holds a pitch.

    Torque wanted from the error of an angle, its rate and an integral the caller carries as a
    state.

    Stateless: `integral_rate` says how the caller's integral grows. A plant, whose torque is what a
    control computer last commanded, has no law: None.
    """

    @abc.abstractmethod
    def torque(self, error: Scalar, rate: Scalar, integral: Scalar) -> Scalar:
        """Torque wanted on the body, before any motor limit.

        `error` is set point minus angle, `rate` the angle's rate.
        """

    @abc.abstractmethod
    def integral_rate(self, error: Scalar, integral: Scalar) -> Scalar:
        """d(integral)/dt."""
