"""The compass gait: two straight legs with mass and a hip walk down a slope without a motor.

A. Goswami, B. Thuilot, B. Espiau, "A study of the passive gait of a compass-like biped robot",
International Journal of Robotics Research 17 (1998), 1282-1301. A leg of length l = a + b has its
mass m at a above the foot; angles are from the vertical, leaning forward; d = stance - swing.

    M = ((m a^2 + (m_h + m) l^2, -m l b cos d), (-m l b cos d, m b^2))
    M (stance'', swing'') = (m l b swing'^2 sin d + (m a + (m_h + m) l) g sin stance,
                             -m l b stance'^2 sin d - m b g sin swing)
A heelstrike keeps the angular momentum about the new foot, and that of the leg that leaves the
ground about the hip: M of the new stance times its rates is (their difference, the latter).
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np

import footfall.authoring as fa


class State(eqx.Module):
    stance: float = fa.signal(unit="rad", doc="standing leg, from the vertical, leaning forward")
    swing: float = fa.signal(unit="rad", doc="swinging leg, the same")
    stance_rate: float = fa.signal(unit="rad/s", doc="of the standing leg", rate_of="stance")
    swing_rate: float = fa.signal(unit="rad/s", doc="of the swinging leg", rate_of="swing")
    foot: float = fa.signal(unit="m", doc="foothold, forward")


class Mode(eqx.Module):
    steps: int = fa.signal(doc="heelstrikes so far")


class JumpWork(eqx.Module):
    heelstrike: float = fa.port(kind="loss", unit="J", doc="what a heelstrike takes")


class Stores(eqx.Module):
    kinetic: float = fa.store(doc="kinetic energy")
    gravity: float = fa.store(doc="weights times heights")


class Outputs(eqx.Module):
    hip: fa.Body
    standing: fa.Body
    swinging: fa.Body


class Start(fa.AbstractStart):
    stance: float = fa.param(-0.22, unit="rad", doc="standing leg; the other foot is on the ground")
    stance_rate: float = fa.param(1.09, unit="rad/s", doc="of the standing leg")
    swing_rate: float = fa.param(0.38, unit="rad/s", doc="of the swinging leg")

    def state(self, system: "CompassGait") -> fa.HybridState:
        x = State(
            self.stance, 2 * system.slope - self.stance, self.stance_rate, self.swing_rate, 0.0
        )
        return fa.HybridState(x, Mode(steps=np.int32(0)))


class CompassGait(fa.HybridSystem):
    """Two straight legs with a mass each and a hip, on a slope."""

    Start = Start
    leg_mass: float = fa.param(5.0, unit="kg", doc="m, of a leg", gt=0)
    hip_mass: float = fa.param(10.0, unit="kg", doc="m_h, of the hip", gt=0)
    below: float = fa.param(0.5, unit="m", doc="a, from the foot to the mass of a leg", gt=0)
    above: float = fa.param(0.5, unit="m", doc="b, from the mass of a leg to the hip", gt=0)
    slope: float = fa.param(np.radians(3.0), unit="rad", doc="of the ground, down forwards", gt=0)
    gravity: float = fa.param(9.81, unit="m/s^2", doc="gravity", gt=0)

    @property
    def events(self):
        lying = fa.Event("falls", "a leg lies on the ground", outcome=fa.Outcome.fell, unit="rad")
        return (fa.Event("heelstrike", "both legs lean alike, feet apart", unit="rad"), lying)

    def _constants(self, x):
        """M, its part m l b, l, and [N m] what the cosines of stance and swing weigh."""
        m, h, a, b = self.leg_mass, self.hip_mass, self.below, self.above
        pull, l, g = m * (a + b) * b, a + b, self.gravity
        both = -pull * jnp.cos(x.stance - x.swing)
        mass = ((m * a**2 + (h + m) * l**2, both), (both, m * b**2))
        return mass, pull, l, (g * (m * a + (h + m) * l), g * m * b)

    def flow(self, t, x, m):
        mass, pull, _, (stance, swing) = self._constants(x)
        s = pull * jnp.sin(x.stance - x.swing)
        first = s * x.swing_rate**2 + stance * jnp.sin(x.stance)
        turns = fa.solve_spd(mass, (first, -s * x.stance_rate**2 - swing * jnp.sin(x.swing)))
        return fa.Rates(State(x.stance_rate, x.swing_rate, *turns, 0.0))

    def guards(self, t, x, m):
        one, other = x.stance - self.slope, x.swing - self.slope
        return jnp.maximum(-one - other, other - one), 0.5 * jnp.pi - jnp.abs(one)

    def jump(self, t, x, m, k):
        (mass, _, l, _), m_a, b = self._constants(x), self.leg_mass * self.below, self.above
        hub = (self.hip_mass * l + 2.0 * m_a) * l * jnp.cos(x.stance - x.swing)
        kept = (hub * x.stance_rate - m_a * b * x.swing_rate, -m_a * b * x.stance_rate)
        foot = x.foot + l * (jnp.sin(x.stance) - jnp.sin(x.swing))
        after = State(x.swing, x.stance, *fa.solve_spd(mass, kept), foot)
        taken = self.stores(t, after, m).kinetic - self.stores(t, x, m).kinetic
        return fa.Jump(after, Mode(steps=m.steps + 1), JumpWork(heelstrike=taken))

    def stores(self, t, x, m):
        ((one, both), (_, other)), _, _, (stance, swing) = self._constants(x)
        mixed = both * x.stance_rate * x.swing_rate
        kinetic = 0.5 * (one * x.stance_rate**2 + other * x.swing_rate**2) + mixed
        ground = -self.travel().weight * jnp.tan(self.slope) * x.foot
        return Stores(kinetic, ground + stance * jnp.cos(x.stance) - swing * jnp.cos(x.swing))

    def outputs(self, t, x, m):
        l, v, w = self.below + self.above, x.stance_rate, x.swing_rate
        (s, c), (p, q) = ((l * jnp.sin(a), l * jnp.cos(a)) for a in (x.stance, x.swing))
        foot = (x.foot, -jnp.tan(self.slope) * x.foot, 0.0 * v, 0.0 * v)
        hip = (foot[0] + s, foot[1] + c, c * v, -s * v)
        swung = (hip[0] - p, hip[1] - q, c * v - q * w, p * w - s * v)
        return Outputs(fa.Body(*hip), fa.Body(*foot), fa.Body(*swung))

    def sketch(self):
        legs = (fa.Link("standing", "hip"), fa.Link("swinging", "hip", "tab:blue"))
        return (
            fa.Ground(((0, 0), (1, -np.tan(self.slope)))),
            *legs,
            fa.Ball("hip", (0, 0, 0), 0.06),
        )

    def travel(self):
        return fa.Travel(
            "hip.x", ("steps",), self.gravity * (self.hip_mass + 2 * self.leg_mass), ()
        )
