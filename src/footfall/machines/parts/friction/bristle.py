"""Dry friction that truly sticks.

The foot hangs on a bristle that bends, and slides only once it yields.
"""

from typing import ClassVar, NamedTuple

import jax.numpy as jnp

from footfall.hybrid.fields import param
from footfall.machines.parts.friction.base import AbstractDryFriction
from footfall.numerics.scalar import Scalar


class _Bend(NamedTuple):
    """What force, rate and loss share."""

    grip: Scalar  #: w, how firmly the load couples the foot to the bristle
    # p, what of w slides instead of bending: w in steady sliding, more where the bristle gives way
    slip: Scalar
    lead: Scalar  #: tau, time by which the damper lets the force run ahead of the bend
    fading: Scalar  #: rate at which a bristle bent beyond what the load can hold falls back


class BristleFriction(AbstractDryFriction):
    """A bristle of bend z per foot, elastic at first, then yielding.

    Of LuGre's family, elasto-plastic.

        f = N^2/(N^2 + N0^2)                                touch (0 in flight)
        w = f (N^2 + N0^2)^(1/4)/sqrt(N_r)                  grip                        (friction.4)
        z_dot = v (w - p) - [z - clip(z, -y, y)]/t_r,   y = w s(0)                      (friction.5)
        p = f max(0, sgn(v) z/s(v) - beta w)/(1 - beta),   s(v) = mu(v) N_r/sigma_0     (friction.6)
        F = -w sigma_0 [z + tau v (w - p)]                                              (friction.7)
        tau = (sigma_1 N_r/sigma_0)/(N + N0 + sigma_1 |v|/((1 - beta) mu(v)))
        energy = 1/2 sigma_0 z^2                                                        (friction.8)
        loss = sigma_0 {z v p + tau w v^2 (w - p) + z [z - clip(z, -y, y)]/t_r}         (friction.9)

    The same w turns speed into bend and bend into force, so it passes power on without loss or gain
    however N changes; the rest only dissipates: p > 0 needs z v > 0, and where p > w, tau |v| < (1
    - beta) s keeps the damper's share below that of the slip.

    Loads far above N0 have f = 1 and w = sqrt(N/N_r). Steady sliding then has p = w and |F| = mu(v)
    N (lighter loads: less). A foot at rest has z_dot = 0 for every |z| <= y, that is under every
    push up to mu_s N: it does not creep. Up to beta mu(v) N it hangs on a spring and a damper only:
    shaking does not make it wander either. Spring and damper together stay inside the cone, |F| <=
    mu_s N, while |z| <= y; a load that falls faster than the bristle fades takes it out. In flight
    w = p = y = 0: no force, and the bristle straightens at the rate 1/t_r whatever the speed.

    The square root in w makes stiffness proportional to load, sigma_0 N/N_r, and the travel s at
    which a foot yields the same under every load. Under a constant stiffness that travel would
    shrink with the load, and the bristle be stiff without bound at each touch-down. Rates an
    integrator meets: |v|/((1 - beta) s), 1/t_r, and those of sigma_0 and sigma_1 on the foot's
    mass.
    """

    has_memory: ClassVar[bool] = True

    # 1000 N/m under the weight of the water runner: 0.1 N moves the foot by 0.1 mm, mu_s N by 0.24
    # mm; sliding at 0.9 m/s renews the bristle at 1e4 1/s.
    stiffness: Scalar = param(
        1000.0, unit="N/m", doc="stiffness sigma_0 of the bristle under the nominal load", gt=0
    )
    nominal_load: Scalar = param(
        0.6, unit="N", doc="load N_r at which the foot is held as stiffly as sigma_0 says", gt=0
    )
    # On the tip of the water runner's foot (3e-7 kg m^2 at 34 mm, so 0.26 g): 4e3 1/s, and
    # aperiodic up to its weight.
    damping: Scalar = param(1.0, unit="N s/m", doc="damping sigma_1 of a foot that sticks", ge=0)
    elastic_share: Scalar = param(
        0.5, doc="share beta of the yield force below which nothing slides", ge=0, lt=1
    )
    # 0.2 % of the water runner's weight; under 0.1 N friction is 1.5e-4 less for it.
    light_load: Scalar = param(
        1e-3, unit="N", doc="load N0 below which grip fades in proportion to the load", gt=0
    )
    # Well below the 10 ms and more in which a load goes at lift-off, well above the times of the
    # other rates.
    fading_time: Scalar = param(
        1e-3, unit="s", doc="time t_r in which a bend that the load cannot hold fades", gt=0
    )

    def force(self, speed: Scalar, normal: Scalar, bristle: Scalar) -> Scalar:
        bend = self._bend(speed, normal, bristle)
        return -bend.grip * self.stiffness * (bristle + bend.lead * speed * (bend.grip - bend.slip))

    def bristle_rate(self, speed: Scalar, normal: Scalar, bristle: Scalar) -> Scalar:
        bend = self._bend(speed, normal, bristle)
        return speed * (bend.grip - bend.slip) - bend.fading

    def energy(self, bristle: Scalar) -> Scalar:
        return 0.5 * self.stiffness * bristle * bristle

    def loss(self, speed: Scalar, normal: Scalar, bristle: Scalar) -> Scalar:
        bend = self._bend(speed, normal, bristle)
        damper = bend.lead * bend.grip * speed * speed * (bend.grip - bend.slip)
        return self.stiffness * (bristle * (speed * bend.slip + bend.fading) + damper)

    def _bend(self, speed: Scalar, normal: Scalar, bristle: Scalar) -> _Bend:
        squared = normal * normal + self.light_load * self.light_load
        touch = normal * normal / squared
        grip = touch * jnp.sqrt(jnp.sqrt(squared) / self.nominal_load)
        mu, plastic_share = self.coefficient(speed), 1.0 - self.elastic_share
        reach = self.nominal_load / self.stiffness  # yield bend per coefficient and grip

        # Positive where the bristle is bent the way the foot slides.
        along = jnp.where(speed < 0.0, -bristle, bristle)
        slip = (
            touch
            * jnp.maximum(along / (mu * reach) - self.elastic_share * grip, 0.0)
            / plastic_share
        )
        lead = (
            self.damping
            * reach
            / (normal + self.light_load + self.damping * jnp.abs(speed) / (plastic_share * mu))
        )
        held = self.static_coefficient * reach * grip
        fading = (bristle - jnp.clip(bristle, -held, held)) / self.fading_time
        return _Bend(grip, slip, lead, fading)
