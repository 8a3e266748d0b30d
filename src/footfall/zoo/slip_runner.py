"""The spring-mass runner (SLIP): a point mass on a weightless spring that lands at a fixed angle.

R. Blickhan, "The spring-mass model for running and hopping", Journal of Biomechanics 22 (1989),
1217-1227; H. Geyer, A. Seyfarth, R. Blickhan, "Spring-mass running: simple approximate solution and
application to gait stability", Journal of Theoretical Biology 232 (2005), 315-328. In flight the
mass falls; in stance, with the leg's length l from its foot to the mass,

    m (x'', z'') = k (l_0 / l - 1) (x - x_foot, z) - (0, m g)

Nothing is lost: a gait has the energy it was started with. Events are touchdown, liftoff and apex.
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np

import footfall.authoring as fa


class State(eqx.Module):
    x: float = fa.signal(unit="m", doc="position forward")
    z: float = fa.signal(unit="m", doc="height")
    vx: float = fa.signal(unit="m/s", doc="velocity forward", rate_of="x")
    vz: float = fa.signal(unit="m/s", doc="velocity up", rate_of="z")
    foot: float = fa.signal(unit="m", doc="foothold, forward")


class Mode(eqx.Module):
    stance: int = fa.signal(doc="1 while the foot is on the ground")
    steps: int = fa.signal(doc="touchdowns so far")
    apexes: int = fa.signal(doc="apexes so far")


class Stores(eqx.Module):
    kinetic: float = fa.store(doc="kinetic energy")
    gravity: float = fa.store(doc="weight times height")
    spring: float = fa.store(doc="energy of the leg")


class Outputs(eqx.Module):
    body: fa.Body
    tip: fa.Body


class Start(fa.AbstractStart):
    height: float = fa.param(1.0, unit="m", doc="height of the apex", gt=0)
    speed: float = fa.param(5.0, unit="m/s", doc="velocity forward at the apex", gt=0)

    def state(self, system: "SlipRunner") -> fa.HybridState:
        none = np.int32(0)
        x = State(x=0.0, z=self.height, vx=self.speed, vz=0.0, foot=0.0)
        return fa.HybridState(x, Mode(stance=none, steps=none, apexes=none))


class SlipRunner(fa.HybridSystem):
    """A point mass that runs on a weightless spring."""

    Start = Start
    mass: float = fa.param(80.0, unit="kg", doc="m", gt=0)
    stiffness: float = fa.param(20e3, unit="N/m", doc="k, of the leg", gt=0)
    leg_length: float = fa.param(1.0, unit="m", doc="l_0, of the leg without force", gt=0)
    leg_angle: float = fa.param(np.radians(68.0), unit="rad", doc="with the ground, at touchdown")
    gravity: float = fa.param(9.81, unit="m/s^2", doc="g", gt=0)

    @property
    def events(self):
        low = fa.Event("falls", "the body is on the ground", outcome=fa.Outcome.fell, unit="m")
        return (
            fa.Event("touchdown", "the foot meets the ground", unit="m", contact=True),
            fa.Event("liftoff", "the leg is as long as without force", unit="m"),
            fa.Event("apex", "the body is highest", unit="m/s"),
            low,
        )

    def _leg(self, x):
        return jnp.sqrt((x.x - x.foot) ** 2 + x.z**2)

    def flow(self, t, x, m):
        pull = self.stiffness * (self.leg_length / self._leg(x) - 1.0) / self.mass
        pull = jnp.where(m.stance == 1, pull, 0.0)
        up = pull * x.z - self.gravity
        return fa.Rates(State(x.vx, x.vz, pull * (x.x - x.foot), up, 0.0))

    def guards(self, t, x, m):
        flies = m.stance == 0
        return (
            fa.only_while(flies, x.z - self.leg_length * jnp.sin(self.leg_angle)),
            fa.only_while(m.stance == 1, self.leg_length - self._leg(x)),
            fa.only_while(flies, x.vz),
            x.z,
        )

    def jump(self, t, x, m, k):
        down, up, top = (int(k == n) for n in range(3))
        ahead = x.x + self.leg_length * jnp.cos(self.leg_angle)
        after = State(x.x, x.z, x.vx, x.vz, ahead if down else x.foot)
        return fa.Jump(after, Mode(m.stance + down - up, m.steps + down, m.apexes + top))

    def stores(self, t, x, m):
        short = jnp.where(m.stance == 1, self.leg_length - self._leg(x), 0.0)
        kinetic = 0.5 * self.mass * (x.vx**2 + x.vz**2)
        spring = 0.5 * self.stiffness * short**2
        return Stores(kinetic, self.mass * self.gravity * x.z, spring)

    def outputs(self, t, x, m):
        stands, (l, a) = m.stance == 1, (self.leg_length, self.leg_angle)
        place = fa.choose(stands, (x.foot, 0.0 * x.z), (x.x + l * jnp.cos(a), x.z - l * jnp.sin(a)))
        speed = fa.choose(stands, (0.0 * x.vx, 0.0 * x.vz), (x.vx, x.vz))
        return Outputs(fa.Body(x.x, x.z, x.vx, x.vz), fa.Body(*place, *speed))

    def sketch(self):
        return (fa.Ground(), fa.Link("tip", "body"), fa.Ball("body", (0.0, 0.0, 0.0), 0.08))

    def travel(self):
        return fa.Travel("body.x", ("steps",), self.mass * self.gravity, ())
