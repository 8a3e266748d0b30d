"""A crank that turns as it is told, and one turned by a DC motor."""

import math

import equinox as eqx

from footfall.hybrid.fields import param, port, signal, store
from footfall.hybrid.system import Rates
from footfall.machines.water_runner.drive import AbstractDrive
from footfall.numerics.scalar import Scalar
from footfall.scene.sketch import Chart


class PrescribedCrank(AbstractDrive):
    """Turns steadily, whatever torque that takes: psi = 2 pi f t."""

    frequency: Scalar = param(8.0, unit="Hz", doc="turns of the cranks per second", gt=0)

    def crank(self, t: Scalar) -> tuple[Scalar, Scalar]:
        """(angle, rate)."""
        rate = 2.0 * math.pi * self.frequency
        return rate * t, rate

    def cranks(self, t: Scalar, own: None) -> tuple[Scalar, Scalar]:
        del own
        return self.crank(t)

    def given_torque(self, own: None, load: Scalar) -> Scalar:
        del own
        return load


class MotorState(eqx.Module):
    """Cranks that a motor turns."""

    crank_angle: Scalar = signal(
        unit="rad", doc="angle of the cranks, for a drive that does not prescribe it"
    )
    crank_rate: Scalar = signal(unit="rad/s", doc="rate of the cranks", rate_of="crank_angle")


class MotorPower(eqx.Module):
    """Ports of the motor."""

    bearing: Scalar = port(kind="loss", doc="friction of the cranks' bearings")


class MotorStores(eqx.Module):
    """Stores of the motor."""

    kinetic: Scalar = store(doc="of the rotor")


class MotorSignals(eqx.Module):
    """What is to be seen of the motor."""

    current: Scalar = signal(unit="A", doc="motor current")
    electrical_power: Scalar = signal(unit="W", doc="power drawn from the battery")


class CrankMotor(AbstractDrive):
    """One DC motor on a constant voltage behind a gear.

    N^2 J psi'' = eta N k_t i - b psi' - load,  i = (V - N k_t psi')/R                    (runner.8)

    Inductance and the rotor's reaction on the body's pitch are neglected.
    """

    voltage: Scalar = param(6.0, unit="V", doc="battery voltage")
    resistance: Scalar = param(7.23, unit="ohm", doc="winding resistance", gt=0)
    torque_constant: Scalar = param(2.4e-3, unit="N m/A", doc="motor torque per ampere", gt=0)
    gear_ratio: Scalar = param(30.0, doc="motor turns per crank turn", gt=0)
    efficiency: Scalar = param(
        0.85, doc="share of the motor's torque that the gear passes on", gt=0, le=1
    )
    rotor_inertia: Scalar = param(5e-9, unit="kg m^2", doc="inertia of the rotor", gt=0)
    bearing: Scalar = param(0.0, unit="N m s/rad", doc="viscous friction at the cranks", ge=0)

    def rest(self, rate: Scalar) -> MotorState:
        return MotorState(crank_angle=0.0, crank_rate=rate)

    def cranks(self, t: Scalar, own: MotorState) -> tuple[Scalar, Scalar]:
        del t
        return own.crank_angle, own.crank_rate

    def given_torque(self, own: MotorState, load: Scalar) -> Scalar:
        del load
        return self.torque(own.crank_rate)

    def acceleration(self, own: MotorState, load: Scalar) -> Scalar:
        rate = own.crank_rate
        return (self.torque(rate) - self.friction(rate) - load) / self.inertia

    def flow(self, own: MotorState, load: Scalar) -> Rates:
        rate = own.crank_rate
        moving = MotorState(crank_angle=rate, crank_rate=self.acceleration(own, load))
        return Rates(moving, MotorPower(-self.friction(rate) * rate))

    def stores(self, own: MotorState) -> MotorStores:
        return MotorStores(0.5 * self.inertia * own.crank_rate * own.crank_rate)

    def signals(self, own: MotorState) -> MotorSignals:
        rate = own.crank_rate
        return MotorSignals(self.current(rate), self.electrical_power(rate))

    def charts(self) -> tuple[Chart, ...]:
        return (Chart("Crank frequency", ("drive.frequency",)),)

    def current(self, rate: Scalar) -> Scalar:
        """Motor current at this rate of the cranks."""
        return (self.voltage - self.gear_ratio * self.torque_constant * rate) / self.resistance

    def torque(self, rate: Scalar) -> Scalar:
        """Torque on the cranks at this rate."""
        return self.efficiency * self.gear_ratio * self.torque_constant * self.current(rate)

    def electrical_power(self, rate: Scalar) -> Scalar:
        """Power drawn from the battery."""
        return self.voltage * self.current(rate)

    @property
    def inertia(self) -> Scalar:
        """Inertia of the rotor as the cranks feel it."""
        return self.gear_ratio * self.gear_ratio * self.rotor_inertia

    def friction(self, rate: Scalar) -> Scalar:
        """Torque lost in the bearings."""
        return self.bearing * rate
