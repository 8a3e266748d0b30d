"""A ball that bounces, ever lower, and comes to rest.

Each bounce keeps the share e of the speed, so bounces accumulate: from height h all are over
after sqrt(2 h / g) (1 + e) / (1 - e). Below `rest_speed` the ball is taken to rest: without a mode
for that, a run would end where bounces have no time between them (zeno).
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np

import footfall.authoring as fa


class State(eqx.Module):
    height: float = fa.signal(unit="m", doc="gap between ball and floor")
    speed: float = fa.signal(unit="m/s", doc="velocity up", rate_of="height")


class Mode(eqx.Module):
    resting: int = fa.signal(doc="1 once the ball lies on the floor")
    bounces: int = fa.signal(doc="bounces so far")


class JumpWork(eqx.Module):
    impact: float = fa.port(kind="loss", unit="J", doc="what a bounce takes")


class Stores(eqx.Module):
    kinetic: float = fa.store(doc="kinetic energy")
    gravity: float = fa.store(doc="weight times height")


class Outputs(eqx.Module):
    ball: fa.Body


class Start(fa.AbstractStart):
    height: float = fa.param(1.0, unit="m", doc="gap between ball and floor", gt=0)
    speed: float = fa.param(0.0, unit="m/s", doc="velocity up")

    def state(self, system: "BouncingBall") -> fa.HybridState:
        none = np.int32(0)
        return fa.HybridState(State(self.height, self.speed), Mode(resting=none, bounces=none))


class BouncingBall(fa.HybridSystem):
    """A ball that falls, bounces with a coefficient of restitution, and comes to rest."""

    Start = Start
    mass: float = fa.param(0.2, unit="kg", doc="mass", gt=0)
    radius: float = fa.param(0.05, unit="m", doc="radius, for pictures", gt=0)
    restitution: float = fa.param(0.8, doc="share of its speed that a bounce keeps", ge=0, lt=1)
    rest_speed: float = fa.param(
        1e-3, unit="m/s", doc="a bounce that leaves less is the last", gt=0
    )
    gravity: float = fa.param(9.81, unit="m/s^2", doc="gravity", gt=0)

    @property
    def events(self):
        return (fa.Event("bounce", "the ball meets the floor", unit="m", contact=True),)

    def flow(self, t, x, m):
        falls = jnp.where(m.resting == 1, 0.0, -self.gravity)
        return fa.Rates(State(height=x.speed, speed=falls))

    def guards(self, t, x, m):
        return (fa.only_while(m.resting == 0, x.height),)

    def jump(self, t, x, m, k):
        bounced = -self.restitution * x.speed
        rests = bounced < self.rest_speed
        speed = jnp.where(rests, 0.0, bounced)
        after = Mode(resting=rests.astype(m.resting.dtype), bounces=m.bounces + 1)
        taken = 0.5 * self.mass * (speed**2 - x.speed**2)
        return fa.Jump(State(x.height, speed), after, JumpWork(impact=taken))

    def stores(self, t, x, m):
        weight = self.mass * self.gravity
        return Stores(kinetic=0.5 * self.mass * x.speed**2, gravity=weight * x.height)

    def outputs(self, t, x, m):
        still = 0.0 * x.speed
        return Outputs(ball=fa.Body(x=still, z=x.height + self.radius, vx=still, vz=x.speed))

    def sketch(self):
        return (fa.Ground(), fa.Ball("ball", (0.0, 0.0, 0.0), float(self.radius), "tab:blue"))
