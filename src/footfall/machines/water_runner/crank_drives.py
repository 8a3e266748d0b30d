"""A crank that turns as it is told, and one turned by a DC motor."""

import math

from footfall.hybrid.fields import param
from footfall.machines.water_runner.drive import AbstractDrive
from footfall.numerics.scalar import Scalar


class PrescribedCrank(AbstractDrive):
    """Turns steadily, whatever torque that takes: psi = 2 pi f t."""

    free = False

    frequency: Scalar = param(8.0, unit="Hz", doc="turns of the cranks per second", gt=0)

    def crank(self, t: Scalar) -> tuple[Scalar, Scalar]:
        rate = 2.0 * math.pi * self.frequency
        return rate * t, rate

    def torque(self, rate: Scalar) -> Scalar:
        raise NotImplementedError("a prescribed crank gives whatever torque it takes")

    def current(self, rate: Scalar) -> Scalar:
        raise NotImplementedError("nothing electrical is known of a prescribed crank")

    def electrical_power(self, rate: Scalar) -> Scalar:
        raise NotImplementedError("nothing electrical is known of a prescribed crank")

    @property
    def inertia(self) -> Scalar:
        return 0.0

    def friction(self, rate: Scalar) -> Scalar:
        return 0.0 * rate


class CrankMotor(AbstractDrive):
    """One DC motor on a constant voltage behind a gear: N^2 J psi'' = eta N k_t i - b psi' - load,
    i = (V - N k_t psi')/R.
                                                                                          (runner.8)

    Inductance and the rotor's reaction on the body's pitch are neglected.
    """

    free = True

    voltage: Scalar = param(6.0, unit="V", doc="battery voltage")
    resistance: Scalar = param(7.23, unit="ohm", doc="winding resistance", gt=0)
    torque_constant: Scalar = param(2.4e-3, unit="N m/A", doc="motor torque per ampere", gt=0)
    gear_ratio: Scalar = param(30.0, doc="motor turns per crank turn", gt=0)
    efficiency: Scalar = param(
        0.85, doc="share of the motor's torque that the gear passes on", gt=0, le=1
    )
    rotor_inertia: Scalar = param(5e-9, unit="kg m^2", doc="inertia of the rotor", gt=0)
    bearing: Scalar = param(0.0, unit="N m s/rad", doc="viscous friction at the cranks", ge=0)

    def crank(self, t: Scalar) -> tuple[Scalar, Scalar]:
        raise NotImplementedError("a motor does not prescribe the crank")

    def current(self, rate: Scalar) -> Scalar:
        return (self.voltage - self.gear_ratio * self.torque_constant * rate) / self.resistance

    def torque(self, rate: Scalar) -> Scalar:
        return self.efficiency * self.gear_ratio * self.torque_constant * self.current(rate)

    def electrical_power(self, rate: Scalar) -> Scalar:
        return self.voltage * self.current(rate)

    @property
    def inertia(self) -> Scalar:
        return self.gear_ratio * self.gear_ratio * self.rotor_inertia

    def friction(self, rate: Scalar) -> Scalar:
        return self.bearing * rate
