"""The simplest walker: two legs, a heavy hip, feet that weigh almost nothing, and a slope.

M. Garcia, A. Chatterjee, A. Ruina, M. Coleman, "The simplest walking model: stability, complexity,
and scaling", ASME Journal of Biomechanical Engineering 120 (1998), 281-288. In units of leg length,
hip mass and gravity, with theta of the standing leg, counter-clockwise from the normal of the
slope gamma, and phi between the legs (their equations 1 to 3, 5):

    theta'' = sin(theta - gamma),   phi'' = theta'' + sin(phi) (theta'^2 - cos(theta - gamma))
    at phi = 2 theta: theta+ = -theta, theta'+ = c theta', phi+ = -2 theta, phi'+ = c (1 - c) theta'

with c = cos(2 theta). The swinging foot passes through the floor as the legs pass each other;
it lands only ahead of the other.
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np

import footfall.authoring as fa


class State(eqx.Module):
    theta: float = fa.signal(unit="rad", doc="of the standing leg, from the slope's normal")
    phi: float = fa.signal(unit="rad", doc="from the swinging to the standing leg")
    theta_rate: float = fa.signal(unit="rad/s", doc="of the standing leg", rate_of="theta")
    phi_rate: float = fa.signal(unit="rad/s", doc="between the legs", rate_of="phi")
    foot: float = fa.signal(unit="m", doc="foothold, down the slope")


class Mode(eqx.Module):
    steps: int = fa.signal(doc="heelstrikes so far")


class JumpWork(eqx.Module):
    heelstrike: float = fa.port(kind="loss", unit="J", doc="what a heelstrike takes")


class Stores(eqx.Module):
    kinetic: float = fa.store(doc="kinetic energy of the hip")
    gravity: float = fa.store(doc="weight of the hip times its height")


class Outputs(eqx.Module):
    hip: fa.Body
    standing: fa.Body
    swinging: fa.Body


class Start(fa.AbstractStart):
    theta: float = fa.param(0.2, unit="rad", doc="of the standing leg, just after a heelstrike")
    theta_rate: float = fa.param(-0.2, unit="rad/s", doc="of the standing leg", lt=0)

    def state(self, system: "SimplestWalker") -> fa.HybridState:
        phi_rate = (1.0 - np.cos(2.0 * self.theta)) * self.theta_rate
        x = State(self.theta, 2.0 * self.theta, self.theta_rate, phi_rate, 0.0)
        return fa.HybridState(x, Mode(steps=np.int32(0)))


class SimplestWalker(fa.HybridSystem):
    """Two massless legs with feet that weigh almost nothing walk a heavy hip down a slope."""

    Start = Start
    slope: float = fa.param(0.009, unit="rad", doc="of the ground, down forwards", gt=0)

    @property
    def events(self):
        lying = fa.Event("falls", "the hip is on the ground", outcome=fa.Outcome.fell, unit="rad")
        return (fa.Event("heelstrike", "the swinging foot lands", unit="rad"), lying)

    def flow(self, t, x, m):
        turn = jnp.sin(x.theta - self.slope)
        swing = jnp.sin(x.phi) * (x.theta_rate**2 - jnp.cos(x.theta - self.slope))
        return fa.Rates(State(x.theta_rate, x.phi_rate, turn, turn + swing, 0.0))

    def guards(self, t, x, m):
        """A foot lands where phi = 2 theta, once it has passed the floor."""
        return 2.0 * x.theta - x.phi, 0.5 * jnp.pi - jnp.abs(x.theta)

    def jump(self, t, x, m, k):
        c = jnp.cos(2.0 * x.theta)
        rate, foot = c * x.theta_rate, x.foot - 2.0 * jnp.sin(x.theta)
        after = State(-x.theta, -2.0 * x.theta, rate, (1.0 - c) * rate, foot)
        taken = JumpWork(heelstrike=0.5 * (rate**2 - x.theta_rate**2))
        return fa.Jump(after, Mode(steps=m.steps + 1), taken)

    def _hip(self, x):
        """Along and normal to the slope."""
        return x.foot - jnp.sin(x.theta), jnp.cos(x.theta)

    def stores(self, t, x, m):
        _, z = fa.PlanarFrame(self.slope).to_house(*self._hip(x))
        return Stores(kinetic=0.5 * x.theta_rate**2, gravity=z)

    def outputs(self, t, x, m):
        (along, up), swung = self._hip(x), x.theta - x.phi
        rates = (-jnp.cos(x.theta) * x.theta_rate, -jnp.sin(x.theta) * x.theta_rate)
        leg, turn = (jnp.sin(swung), -jnp.cos(swung)), x.theta_rate - x.phi_rate
        swing = (rates[0] - leg[1] * turn, rates[1] + leg[0] * turn)
        to_house, still = fa.PlanarFrame(self.slope).to_house, 0.0 * x.foot
        hip = fa.Body(*to_house(along, up), *to_house(*rates))
        foot = fa.Body(*to_house(x.foot, still), still, still)
        return Outputs(
            hip, foot, fa.Body(*to_house(along + leg[0], up + leg[1]), *to_house(*swing))
        )

    def sketch(self):
        legs = (fa.Link("standing", "hip"), fa.Link("swinging", "hip", "tab:blue"))
        ground = fa.Ground(((0.0, 0.0), (1.0, -np.tan(float(self.slope)))))
        return (ground, *legs, fa.Ball("hip", (0.0, 0.0, 0.0), 0.06))

    def travel(self):
        return fa.Travel("hip.x", ("steps",), 1.0, ())
