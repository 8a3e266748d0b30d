"""A kick by compressed air: a cylinder that a valve fills from a supply.

Theory: docs/theory/sea-urchin.md, section 6.
"""

from typing import ClassVar

import equinox as eqx
import jax.numpy as jnp

from footfall.hybrid.fields import param, port, signal, store
from footfall.hybrid.system import Rates
from footfall.machines.sea_urchin.kick_actuator import AbstractKickActuator, Slide
from footfall.numerics.orifice_flow import Gas, mass_flow
from footfall.numerics.scalar import Scalar
from footfall.scene.sketch import Chart


class ChamberState(eqx.Module):
    """Continuous state of the gas behind the slide."""

    pressure: Scalar = signal(unit="Pa", doc="pressure in the chamber", fast=True)
    temperature: Scalar = signal(unit="K", doc="temperature of the gas in the chamber", fast=True)
    valve: Scalar = signal(doc="how far the valve is open, 0 to 1", fast=True)


class ChamberPower(eqx.Module):
    """Ports: work that the gas could do, at the surroundings' pressure and temperature."""

    supply: Scalar = port(kind="work", doc="work that the gas of the supply could do")
    throttling: Scalar = port(kind="loss", doc="work lost in the valve, and by mixing behind it")
    wall_heat: Scalar = port(
        kind="loss", doc="work lost with the heat that the wall takes or gives"
    )


class ChamberStores(eqx.Module):
    """Stores."""

    gas: Scalar = store(doc="work that the gas in the chamber could do")


class ChamberSignals(eqx.Module):
    """What is seen of the chamber."""

    overpressure: Scalar = signal(unit="Pa", doc="pressure in the chamber above the surroundings'")
    temperature: Scalar = signal(unit="K", doc="temperature of the gas")
    gas_mass: Scalar = signal(unit="kg", doc="gas in the chamber")
    flow: Scalar = signal(unit="kg/s", doc="mass flow through the valve")
    choked: Scalar = signal(doc="1 while the flow is sonic")


class PressureChamber(AbstractKickActuator):
    """A piston of area A, driven by an ideal gas that flows in from a supply at p_s and T_0.

    V = V_0 + A d,  m = p V/(R T),  m' = w flow(p_s, p),  w' = (1 - w)/tau               (spike.25)
    V p' = gamma R T_0 m' - gamma p A d' + (gamma - 1) G (T_0 - T)
    m c_v T' = m' (c_p T_0 - c_v T) - p A d' + G (T_0 - T)                               (spike.26)
    F = (p - p_0) A                                                                      (spike.27)

    with the valve's flow of (gas.1), which goes one way: the first law of an open chamber. The gas
    is adiabatic for G = 0 and isothermal for a large G. A large valve that opens at once gives the
    constant force (p_s - p_0) A. Not modelled: friction of the seals, the gas of the other side, a
    pressure of the supply that sags, lines between supply and valve.
    """

    builds_up: ClassVar[bool] = True

    area: Scalar = param(1e-4, unit="m^2", doc="area A of the piston", gt=0)
    dead_volume: Scalar = param(
        1e-6, unit="m^3", doc="volume V_0 of the chamber with the slide drawn in", gt=0
    )
    supply_pressure: Scalar = param(
        501325.0, unit="Pa", doc="absolute pressure p_s of the supply", gt=0
    )
    ambient_pressure: Scalar = param(
        101325.0, unit="Pa", doc="pressure p_0 of the surroundings", gt=0
    )
    gas_temperature: Scalar = param(
        293.15, unit="K", doc="temperature T_0 of supply, wall and surroundings", gt=0
    )
    valve_area: Scalar = param(
        2e-6, unit="m^2", doc="effective area of the open valve: orifice times coefficient", ge=0
    )
    valve_time: Scalar = param(3e-3, unit="s", doc="time constant tau of its opening", gt=0)
    wall_conductance: Scalar = param(
        0.0, unit="W/K", doc="heat conductance G between gas and wall", ge=0
    )
    gas_constant: Scalar = param(287.05, unit="J/kg/K", doc="R of the gas", gt=0)
    freedoms: Scalar = param(
        5.0, doc="degrees of freedom f of a molecule of the gas: gamma = c_p/c_v = 1 + 2/f", gt=0
    )

    @property
    def _gas(self) -> Gas:
        return Gas(self.gas_constant, self.freedoms)

    def volume(self, slide: Slide) -> Scalar:
        """V [m^3]."""
        return self.dead_volume + self.area * slide.extension

    def gas_mass(self, slide: Slide, own: ChamberState) -> Scalar:
        """m [kg]."""
        return own.pressure * self.volume(slide) / (own.temperature * self.gas_constant)

    def mass_rate(self, own: ChamberState) -> Scalar:
        """m' [kg/s]."""
        t = self.gas_temperature
        flow = mass_flow(self._gas, self.valve_area, self.supply_pressure, t, own.pressure)
        return jnp.clip(own.valve, 0.0, 1.0) * flow

    def rest(self, extension: Scalar) -> ChamberState:
        """At the pressure of the surroundings, the valve shut, opening from now on."""
        still = 0.0 * extension
        return ChamberState(
            pressure=self.ambient_pressure + still,
            temperature=self.gas_temperature + still,
            valve=still,
        )

    def thrust(self, slide: Slide, own: ChamberState) -> Scalar:
        del slide
        return (own.pressure - self.ambient_pressure) * self.area

    def flow(self, slide: Slide, own: ChamberState) -> Rates:
        """With the books of the work that gas could do.

        supply     m' R T_0 ln(p_s/p_0)
        throttling -m' T_0 [c_p (T_0/T - 1 + ln(T/T_0)) + R ln(p_s/p)]
        wall       -G (T - T_0)^2/T                                                      (spike.28)
        """
        g, r, warm = self._gas.heat_ratio, self.gas_constant, self.gas_temperature
        p, hot, rate = own.pressure, own.temperature, self.mass_rate(own)
        c_p = self._gas.heat_at_constant_pressure
        heat, pushed = self.wall_conductance * (warm - hot), p * self.area * slide.rate
        warming = rate * (c_p * warm - (c_p - r) * hot) - pushed + heat
        moving = ChamberState(
            pressure=(g * r * warm * rate - g * pushed + (g - 1.0) * heat) / self.volume(slide),
            temperature=warming / (self.gas_mass(slide, own) * (c_p - r)),
            valve=(1.0 - own.valve) / self.valve_time,
        )
        mixed = c_p * (warm / hot - 1.0 + jnp.log(hot / warm))
        throttled = r * jnp.log(self.supply_pressure / p)
        power = ChamberPower(
            supply=rate * r * warm * jnp.log(self.supply_pressure / self.ambient_pressure),
            throttling=-rate * warm * (mixed + throttled),
            wall_heat=-self.wall_conductance * (hot - warm) ** 2 / hot,
        )
        return Rates(moving, power)

    def stores(self, slide: Slide, own: ChamberState) -> ChamberStores:
        """B = m [c_v (T - T_0) - T_0 (c_p ln(T/T_0) - R ln(p/p_0)) - R T_0] + p_0 V     (spike.29)

        Zero at the state of the surroundings; B' is (spike.28) less F d'.
        """
        r, warm, hot = self.gas_constant, self.gas_temperature, own.temperature
        c_p = self._gas.heat_at_constant_pressure
        entropy = c_p * jnp.log(hot / warm) - r * jnp.log(own.pressure / self.ambient_pressure)
        each = (c_p - r) * (hot - warm) - warm * entropy - r * warm
        return ChamberStores(
            self.gas_mass(slide, own) * each + self.ambient_pressure * self.volume(slide)
        )

    def signals(self, slide: Slide, own: ChamberState) -> ChamberSignals:
        ratio = own.pressure / self.supply_pressure
        return ChamberSignals(
            overpressure=own.pressure - self.ambient_pressure,
            temperature=own.temperature,
            gas_mass=self.gas_mass(slide, own),
            flow=self.mass_rate(own),
            choked=jnp.where(ratio < self._gas.critical_ratio, 1.0, 0.0),
        )

    def charts(self) -> tuple[Chart, ...]:
        return (
            Chart(
                "Pressure in the chamber above the surroundings'", ("kick.overpressure",), "whole"
            ),
            Chart("Temperature of the gas", ("kick.temperature",), "whole"),
            Chart("Flow through the valve", ("kick.flow",), "whole"),
        )
