"""Motors: an ideal torque source, and a DC motor behind a gear."""

from typing import ClassVar

from footfall.hybrid.fields import param
from footfall.machines.parts.actuators.base import AbstractMotor
from footfall.numerics.scalar import Scalar


class IdealMotor(AbstractMotor):
    """Gives any torque up to a limit, at no cost but its mechanical work."""

    torque_limit: Scalar = param(7.344, unit="N m", doc="largest joint torque", gt=0)

    @property
    def limit(self) -> Scalar:
        return self.torque_limit

    def current(self, torque: Scalar) -> Scalar:
        return 0.0 * torque

    def heat(self, torque: Scalar) -> Scalar:
        return 0.0 * torque


class DcMotor(AbstractMotor):
    """Current-controlled DC motor: joint torque = gear ratio x torque constant x current.

    The current loop is taken as instant and the gear as lossless. A winding resistance of zero
    means "not known": the electrical power then shows the mechanical part only.
    """

    has_winding: ClassVar[bool] = True

    gear_ratio: Scalar = param(5.4, doc="motor turns per joint turn", gt=0)
    torque_constant: Scalar = param(0.034, unit="N m/A", doc="motor torque per ampere", gt=0)
    current_limit: Scalar = param(40.0, unit="A", doc="largest current", gt=0)
    resistance: Scalar = param(0.0, unit="ohm", doc="winding resistance", ge=0)

    @property
    def torque_per_ampere(self) -> Scalar:
        """Joint torque per ampere, G K_t."""
        return self.gear_ratio * self.torque_constant

    @property
    def limit(self) -> Scalar:
        return self.torque_per_ampere * self.current_limit

    def current(self, torque: Scalar) -> Scalar:
        return torque / self.torque_per_ampere

    def heat(self, torque: Scalar) -> Scalar:
        current = self.current(torque)
        return self.resistance * current * current
