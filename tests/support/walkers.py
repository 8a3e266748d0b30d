"""Two classic gaits with published numbers: the simplest walker, and a runner on a spring leg."""

import equinox as eqx
import jax.numpy as jnp

from footfall.hybrid.fields import param, port, signal, store
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.system import (
    AbstractHybridSystem,
    Event,
    HybridState,
    Jump,
    Rates,
    Travel,
)
from support.toys import NoPower, NoStore


class Legs(eqx.Module):
    stance: float = signal(unit="rad", doc="angle of the stance leg")
    swing: float = signal(unit="rad", doc="angle between the legs")
    stance_rate: float = signal(unit="rad/s", doc="its rate", rate_of="stance")
    swing_rate: float = signal(unit="rad/s", doc="its rate", rate_of="swing")


class Place(eqx.Module):
    distance: float = signal(unit="m", doc="distance gone")


class WalkerOutputs(eqx.Module):
    travel: Place


class Steps(eqx.Module):
    steps: int = signal(doc="footfalls so far")
    foot: float = signal(unit="m", doc="where the stance foot is")


class SimplestWalker(AbstractHybridSystem):
    """Garcia et al. 1998: a point mass on two massless legs with tiny feet, in their units.

    theta'' = sin(theta - gamma)
    phi''   = theta'' + theta'^2 sin(phi) - cos(theta - gamma) sin(phi)

    Heel strike: phi = 2 theta, after the swing foot has scuffed through at mid-stance. Just after
    it the guard is at zero and falls: the textbook's form.
    """

    slope: float = param(0.009, unit="rad", doc="slope gamma")

    @property
    def events(self):
        return (Event("heelstrike", "the swing foot lands"),)

    def flow(self, t, x, m):
        push = jnp.sin(x.stance - self.slope)
        swing = push + jnp.sin(x.swing) * (x.stance_rate**2 - jnp.cos(x.stance - self.slope))
        rates = Legs(stance=x.stance_rate, swing=x.swing_rate, stance_rate=push, swing_rate=swing)
        return Rates(rates, NoPower(none=0.0 * push))

    def guards(self, t, x, m):
        return (2.0 * x.stance - x.swing,)

    def jump(self, t, x, m, k):
        kept = jnp.cos(2.0 * x.stance)
        after = Legs(
            stance=-x.stance,
            swing=-2.0 * x.stance,
            stance_rate=kept * x.stance_rate,
            swing_rate=kept * (1.0 - kept) * x.stance_rate,
        )
        return Jump(after, Steps(steps=m.steps + 1, foot=m.foot - 2.0 * jnp.sin(x.stance)))

    def stores(self, t, x, m):
        return NoStore(none=0.0 * x.stance)

    def outputs(self, t, x, m):
        return WalkerOutputs(travel=Place(distance=m.foot - jnp.sin(x.stance)))

    def travel(self):
        return Travel("travel.distance", ("steps",), 1.0, ())

    @staticmethod
    def begin(stance=0.2, stance_rate=-0.2):
        kept = jnp.cos(2.0 * stance)
        return HybridState(
            Legs(
                stance=stance,
                swing=2.0 * stance,
                stance_rate=stance_rate,
                swing_rate=(1.0 - kept) * stance_rate,
            ),
            Steps(steps=0, foot=0.0),
        )


# --- a runner on a spring leg ---------------------------------------------------------------------


class Body(eqx.Module):
    x: float = signal(unit="m", doc="place")
    z: float = signal(unit="m", doc="height")
    vx: float = signal(unit="m/s", doc="speed", rate_of="x")
    vz: float = signal(unit="m/s", doc="speed upwards", rate_of="z")


class Contact(eqx.Module):
    steps: int = signal(doc="footfalls so far")
    grounded: int = signal(doc="1 in stance")
    foot: float = signal(unit="m", doc="where the foot was put")


class RunnerStores(eqx.Module):
    kinetic: float = store(doc="kinetic")
    gravity: float = store(doc="height")
    spring: float = store(doc="leg")


class Damping(eqx.Module):
    damper: float = port(kind="loss", doc="leg damper")
    thrust: float = port(kind="work", doc="thrust along the leg")


class SpringRunner(AbstractHybridSystem):
    """Spring-loaded inverted pendulum: a foot put down at an angle of attack, a leg that pushes.

    Without damping and thrust it conserves energy: gaits are a family. With both it has one.
    The foothold is set from x at touchdown, so that place hides in two numbers.
    """

    mass: float = param(80.0, unit="kg", doc="mass", gt=0)
    stiffness: float = param(20e3, unit="N/m", doc="leg stiffness", gt=0)
    length: float = param(1.0, unit="m", doc="leg length", gt=0)
    attack: float = param(1.1868238913561442, unit="rad", doc="angle of attack")  # 68 deg
    damping: float = param(0.0, unit="N s/m", doc="leg damping", ge=0)
    push: float = param(0.0, unit="N", doc="thrust while the leg lengthens", ge=0)
    gravity: float = param(9.81, unit="m/s^2", doc="gravity", gt=0)

    @property
    def events(self):
        return (
            Event("touchdown", "the foot lands", restarts=("liftoff",)),
            Event("liftoff", "the leg is long again", restarts=("touchdown",)),
            Event("apex", "highest"),
            Event("fall", "the body is on the ground", outcome=Outcome.fell),
        )

    def _leg(self, x, m):
        dx = x.x - m.foot
        length = jnp.sqrt(dx**2 + x.z**2)
        rate = (dx * x.vx + x.z * x.vz) / length
        thrust = self.push * 0.5 * (1.0 + jnp.tanh(rate / 0.1))
        return dx, length, rate, thrust

    def flow(self, t, x, m):
        dx, length, rate, thrust = self._leg(x, m)
        down = jnp.asarray(m.grounded, float)
        force = self.stiffness * (self.length - length) - self.damping * rate + thrust
        force = down * force / self.mass
        rates = Body(x=x.vx, z=x.vz, vx=force * dx / length, vz=force * x.z / length - self.gravity)
        power = Damping(damper=-down * self.damping * rate**2, thrust=down * thrust * rate)
        return Rates(rates, power)

    def guards(self, t, x, m):
        flying = m.grounded == 0
        _, length, _, _ = self._leg(x, m)
        return (
            jnp.where(flying, x.z - self.length * jnp.sin(self.attack), 1.0),
            jnp.where(flying, 1.0, self.length - length),
            jnp.where(flying, x.vz, 1.0),
            x.z,
        )

    def jump(self, t, x, m, k):
        if k == 0:
            foot = x.x + self.length * jnp.cos(self.attack)
            return Jump(x, Contact(steps=m.steps + 1, grounded=0 * m.grounded + 1, foot=foot))
        if k == 1:
            return Jump(x, Contact(steps=m.steps, grounded=0 * m.grounded, foot=m.foot))
        return Jump(x, m)

    def stores(self, t, x, m):
        _, length, _, _ = self._leg(x, m)
        down = jnp.asarray(m.grounded, float)
        return RunnerStores(
            kinetic=0.5 * self.mass * (x.vx**2 + x.vz**2),
            gravity=self.mass * self.gravity * x.z,
            spring=0.5 * down * self.stiffness * (self.length - length) ** 2,
        )

    def outputs(self, t, x, m):
        return WalkerOutputs(travel=Place(distance=x.x))

    def travel(self):
        return Travel("travel.distance", ("steps",), self.mass * self.gravity, ("thrust",))

    @staticmethod
    def begin(height=1.0, speed=5.0, place=0.0):
        return HybridState(
            Body(x=place, z=height, vx=speed, vz=0.0), Contact(steps=0, grounded=0, foot=place)
        )
