"""Mass flow of an ideal gas through an orifice, up to sonic speed and below it."""

from typing import NamedTuple

import jax.numpy as jnp

from footfall.numerics.scalar import Scalar

#: From this share of the supply's pressure on the flow is laminar: it goes to zero with a finite
#: slope, where the ideal nozzle's would be infinite.
LAMINAR = 0.995


class Gas(NamedTuple):
    """An ideal gas with constant specific heats."""

    constant: Scalar = 287.05  #: R [J/(kg K)]; air's
    freedoms: Scalar = 5.0  #: degrees of freedom f of a molecule; air's

    @property
    def heat_ratio(self) -> Scalar:
        """gamma = c_p/c_v = 1 + 2/f."""
        return 1.0 + 2.0 / self.freedoms

    @property
    def critical_ratio(self) -> Scalar:
        """Pressure behind over pressure before an orifice, below which the flow is sonic.

        (2/(gamma + 1))^(gamma/(gamma - 1)), 0.528 for air                                (gas.2)
        """
        return (2.0 / (self.heat_ratio + 1.0)) ** (0.5 * self.freedoms + 1.0)

    @property
    def heat_at_constant_pressure(self) -> Scalar:
        """c_p = R (f/2 + 1) [J/(kg K)]."""
        return self.constant * (0.5 * self.freedoms + 1.0)


def mass_flow(
    gas: Gas, area: Scalar, before: Scalar, temperature: Scalar, behind: Scalar
) -> Scalar:
    """Mass flow [kg/s] through an effective `area` from `before` to `behind` [Pa], never back.

    With r the larger of behind/before and the critical ratio:

    flow = area before sqrt(2 gamma/((gamma - 1) R T) (r^(2/gamma) - r^((gamma+1)/gamma)))  (gas.1)

    Isentropic up to the narrowest place, where it is sonic (choked) below the critical ratio. The
    effective area is the orifice's times its discharge coefficient.
    """
    ratio = jnp.minimum(behind / before, 1.0)
    nozzle = _nozzle(gas, jnp.clip(ratio, gas.critical_ratio, LAMINAR))
    left = jnp.minimum((1.0 - ratio) / (1.0 - LAMINAR), 1.0)
    near = left * (1.5 - 0.5 * left)  # of one slope with the root, from which it takes over
    return area * before / jnp.sqrt(gas.constant * temperature) * nozzle * near


def _nozzle(gas: Gas, ratio: Scalar) -> Scalar:
    g = gas.heat_ratio
    square = jnp.power(ratio, 2.0 / g) - jnp.power(ratio, (g + 1.0) / g)
    return jnp.sqrt((gas.freedoms + 2.0) * square)
