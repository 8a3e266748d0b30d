"""Raibert's hopper: one law for its height and one for its speed keep a single leg hopping.

M. H. Raibert, "Legged Robots That Balance", MIT Press 1986, chapter 2, with the body as a point, so
that his third law, which holds the body upright, has nothing to do. The leg is a spring, set at
once in flight; what it weighs takes a share of the speed along it at touchdown. At the lowest point
a motor stretches the spring by `thrust`. The foot is put down v T / 2 + k (v - v_d) ahead of the
hip, with the time of a stance T = pi sqrt(m / stiffness).
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np

import footfall.authoring as fa

FLIGHT, LANDING, PUSHING = 0, 1, 2


class State(eqx.Module):
    x: float = fa.signal(unit="m", doc="position forward")
    z: float = fa.signal(unit="m", doc="height of the hip")
    vx: float = fa.signal(unit="m/s", doc="velocity forward", rate_of="x")
    vz: float = fa.signal(unit="m/s", doc="velocity up", rate_of="z")
    foot: float = fa.signal(unit="m", doc="foothold, forward")


class Mode(eqx.Module):
    phase: int = fa.signal(doc="0 in flight, 1 landing, 2 pushing off")
    hops: int = fa.signal(doc="touchdowns so far")


class JumpWork(eqx.Module):
    thrust: float = fa.port(kind="work", unit="J", doc="motor that stretches the spring")
    landing: float = fa.port(kind="loss", unit="J", doc="what stops the leg at touchdown")


class Stores(eqx.Module):
    kinetic: float = fa.store(doc="kinetic energy")
    gravity: float = fa.store(doc="weight times height")
    spring: float = fa.store(doc="energy of the leg")


class Outputs(eqx.Module):
    body: fa.Body
    tip: fa.Body


class Start(fa.AbstractStart):
    height: float = fa.param(0.8, unit="m", doc="of the hip", gt=0)
    speed: float = fa.param(0.0, unit="m/s", doc="forward")

    def state(self, system: "RaibertHopper") -> fa.HybridState:
        x = State(x=0.0, z=self.height, vx=self.speed, vz=0.0, foot=0.0)
        return fa.HybridState(x, Mode(phase=np.int32(FLIGHT), hops=np.int32(0)))


class RaibertHopper(fa.HybridSystem):
    """A point on one springy leg that hops at a set speed."""

    Start = Start
    mass: float = fa.param(10.0, unit="kg", doc="m", gt=0)
    leg_length: float = fa.param(0.6, unit="m", doc="of the leg without force", gt=0)
    stiffness: float = fa.param(4000.0, unit="N/m", doc="of the leg", gt=0)
    unsprung: float = fa.param(0.1, doc="share of the speed along the leg lost", ge=0, lt=1)
    thrust: float = fa.param(0.01, unit="m", doc="by which the motor stretches the spring", ge=0)
    set_speed: float = fa.param(1.0, unit="m/s", doc="v_d")
    placement_gain: float = fa.param(0.04, unit="s", doc="k, of the foot's place", ge=0)
    gravity: float = fa.param(9.81, unit="m/s^2", doc="gravity", gt=0)

    @property
    def events(self):
        return (
            fa.Event("touchdown", "the foot meets the ground", unit="m", contact=True),
            fa.Event("bottom", "the leg is shortest: the motor pushes", unit="m/s"),
            fa.Event("liftoff", "the spring pushes no longer", unit="m"),
            fa.Event("falls", "the hip is on the ground", outcome=fa.Outcome.fell, unit="m"),
        )

    def _leg(self, x, m):
        """Length of the leg, its rate, and by how much its spring is pressed."""
        length = jnp.sqrt((x.x - x.foot) ** 2 + x.z**2)
        rate = ((x.x - x.foot) * x.vx + x.z * x.vz) / length
        return length, rate, self.leg_length + (m.phase == PUSHING) * self.thrust - length

    def _ahead(self, x):
        """[m] From the hip to where the foot is put down: forward, and down."""
        half = 0.5 * jnp.pi * jnp.sqrt(self.mass / self.stiffness)
        ahead = half * x.vx + self.placement_gain * (x.vx - self.set_speed)
        ahead = fa.clamp(ahead, -0.5 * self.leg_length, 0.5 * self.leg_length)
        return ahead, jnp.sqrt(self.leg_length**2 - ahead**2)

    def flow(self, t, x, m):
        length, _, pressed = self._leg(x, m)
        push = jnp.where(m.phase == FLIGHT, 0.0, self.stiffness * pressed / (self.mass * length))
        return fa.Rates(State(x.vx, x.vz, push * (x.x - x.foot), push * x.z - self.gravity, 0.0))

    def guards(self, t, x, m):
        _, rate, pressed = self._leg(x, m)
        above = fa.only_while(m.phase == FLIGHT, x.z - self._ahead(x)[1])
        lands, pushes = m.phase == LANDING, m.phase == PUSHING
        return above, fa.only_while(lands, -rate), fa.only_while(pushes, pressed), x.z

    def jump(self, t, x, m, k):
        (ahead, below), none = self._ahead(x), 0.0 * x.z
        after = Mode(jnp.full_like(m.phase, (k + 1) % 3), m.hops + int(k == 0))
        if k == 0:
            toward = (ahead * x.vx - below * x.vz) / self.leg_length
            lost = self.unsprung * toward / self.leg_length
            x1 = State(x.x, x.z, x.vx - lost * ahead, x.vz + lost * below, x.x + ahead)
            taken = 0.5 * self.mass * toward**2 * ((1.0 - self.unsprung) ** 2 - 1.0)
            return fa.Jump(x1, after, JumpWork(thrust=none, landing=taken))
        done = self.stiffness * self.thrust * (self._leg(x, m)[2] + 0.5 * self.thrust)
        return fa.Jump(x, after, JumpWork(thrust=done if k == 1 else none, landing=none))

    def stores(self, t, x, m):
        kinetic = 0.5 * self.mass * (x.vx**2 + x.vz**2)
        pressed = jnp.where(m.phase == FLIGHT, 0.0, self._leg(x, m)[2])
        return Stores(kinetic, self.mass * self.gravity * x.z, 0.5 * self.stiffness * pressed**2)

    def outputs(self, t, x, m):
        (ahead, below), flies = self._ahead(x), m.phase == FLIGHT
        place = fa.choose(flies, (x.x + ahead, x.z - below), (x.foot, 0.0 * x.z))
        speed = fa.choose(flies, (x.vx, x.vz), (0.0 * x.vx, 0.0 * x.vz))
        return Outputs(fa.Body(x.x, x.z, x.vx, x.vz), fa.Body(*place, *speed))

    def sketch(self):
        return (fa.Ground(), fa.Link("tip", "body"), fa.Ball("body", (0.0, 0.0, 0.0), 0.08))

    def travel(self):
        return fa.Travel("body.x", ("hops",), self.mass * self.gravity, ("thrust",))
