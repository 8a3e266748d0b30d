"""Decentralised control of a many-legged walker.

Each leg has an oscillator, feels its own tip, and hears its neighbours.
"""

import math
from typing import Any

import jax.numpy as jnp

from footfall.hybrid.fields import Parametric, param, switches
from footfall.machines.centipede.gait import WaveGait
from footfall.numerics.scalar import Scalar
from footfall.numerics.trig import sincos
from footfall.numerics.units import TURN

#: A leg counts as meant to carry while its phase is this far inside stance [rad].
WELL_INSIDE_STANCE = 0.3


class ReflexControl(Parametric):
    """Oscillators of the legs, from head to tail, with load feedback s_1, coupling s_2 and two
    reflexes:

        phi_i' = omega - s_1 max(F_z, 0) cos phi_i
                 + s_2 [sin(phi_{i-1} - phi_i - psi) + sin(phi_{i+1} - phi_i + psi)]      (walker.6)

    lift: a leg that a wall pushes back (F_x < -F_th, |F_x| > |F_z|) is drawn up at e_up until it
    clears the edge, its swing held in the second half; a leg that carries lets itself down again at
    e_dn, and so raises the body.                                                         (walker.7)

    cantilever: a leg that should carry and does not says so to the segment behind. The segments
    behind hold the weight in front by the bending moment of a straight level beam: from head to
    tail, with S = M = 0,
        M_i = min(M + S l, M_max),   M <- (M + S l) u_i,   S <- (S + (m_b + m_t) g) u_i   (walker.8)
    where u_i follows the flag of leg i with the time constant t_u.
    """

    reflexes: Any = switches(
        ("lift", "cantilever"), options=("lift", "cantilever"), doc="reflexes that are at work"
    )
    load_feedback: Scalar = param(
        0.0, unit="rad/s/N", doc="load feedback s_1: a loaded leg stays near the middle of stance"
    )
    coupling: Scalar = param(0.0, unit="rad/s", doc="coupling s_2 of neighbouring oscillators")
    touch_force: Scalar = param(
        0.3, unit="N", doc="force F_th from which a tip is felt to be blocked, or to carry", gt=0
    )
    lift_speed: Scalar = param(
        0.10, unit="m/s", doc="speed e_up at which a blocked leg is drawn up", ge=0
    )
    lower_speed: Scalar = param(
        0.03, unit="m/s", doc="speed e_dn at which a leg that carries is let down", ge=0
    )
    most_lift: Scalar = param(0.045, unit="m", doc="how far e_max a leg can be drawn up", ge=0)
    support_force: Scalar = param(
        0.1, unit="N", doc="load N_th from which a leg counts as carrying", ge=0
    )
    message_time: Scalar = param(
        0.1, unit="s", doc="time constant t_u of the message to the next segment", gt=0
    )
    most_moment: Scalar = param(2.0, unit="N m", doc="largest bending moment M_max", ge=0)
    period: float = param(
        1e-2,
        unit="s",
        doc="time between two looks of the cantilever reflex at which legs carry",
        gt=0,
        static=True,
    )

    def blocked(self, fx: Scalar, fz: Scalar) -> Any:
        """Pushed back by a wall."""
        return (fx < -self.touch_force) & (jnp.abs(fx) > jnp.abs(fz))

    def phase_rate(self, gait: WaveGait, phase: Scalar, fx: Scalar, fz: Scalar) -> Scalar:
        """Of all legs; rows are legs from head to tail."""
        s, c = sincos(phase)
        s_lag, c_lag = sincos(gait.lag)
        # sin(phi_{i-1} - phi_i - psi) for the leg ahead, sin(phi_{i+1} - phi_i + psi) for the one
        # behind: once per pair of neighbours.
        s_gap = s[:-1] * c[1:] - c[:-1] * s[1:]
        c_gap = c[:-1] * c[1:] + s[:-1] * s[1:]
        pull = s_gap * c_lag - c_gap * s_lag
        none = jnp.zeros_like(phase[:1])
        neighbours = jnp.concatenate([none, pull]) - jnp.concatenate([pull, none])
        rate = (
            TURN * gait.frequency
            - self.load_feedback * jnp.maximum(fz, 0.0) * c
            + self.coupling * neighbours
        )
        turn = phase - TURN * jnp.floor(phase * (1.0 / TURN))
        late_swing = (turn > 0.5 * math.pi) & (turn < math.pi)
        held = self.blocked(fx, fz) & late_swing & (self.reflexes[0] > 0)
        return jnp.where(held, 0.0, rate)

    def lift_rate(self, lift: Scalar, fx: Scalar, fz: Scalar) -> Scalar:
        """How fast a leg is drawn up or let down."""
        up = self.blocked(fx, fz)
        carries = (fz > self.touch_force) & (jnp.abs(fx) <= fz)
        rate = jnp.where(up & (lift < self.most_lift), self.lift_speed, 0.0)
        rate = jnp.where(~up & carries & (lift > 0.0), -self.lower_speed, rate)
        return jnp.where(self.reflexes[0] > 0, rate, 0.0 * lift)

    def missing(self, flag: Scalar, phase: Scalar, fz: Scalar) -> Scalar:
        """Whether a leg should carry and does not, 1 or 0: kept where nothing tells."""
        turn = phase - TURN * jnp.floor(phase * (1.0 / TURN))
        stance = (turn > math.pi + WELL_INSIDE_STANCE) & (turn < TURN - WELL_INSIDE_STANCE)
        carries = fz > self.support_force
        return jnp.where(carries, 0.0, jnp.where(stance & (self.reflexes[1] > 0), 1.0, flag))

    def moments(self, unsupported: Any, weights: list[Scalar], spacing: Scalar) -> Scalar:
        """Bending moment M_i that each segment holds.

        `weights` are those of the segments with their legs.
        """
        shear = moment = jnp.zeros_like(unsupported[0])
        held = []
        for i, weight in enumerate(weights):
            carried = moment + shear * spacing
            held.append(jnp.minimum(carried, self.most_moment))
            moment = carried * unsupported[i]
            shear = (shear + weight) * unsupported[i]
        return jnp.stack(held)
