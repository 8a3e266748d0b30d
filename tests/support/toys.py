"""Small hybrid systems with known answers, one for each thing the event engine must get right."""

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np

from footfall.hybrid.fields import param, port, signal, store
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.system import AbstractHybridSystem, Event, HybridState, Jump, Rates, Travel


class NoPower(eqx.Module):
    none: float = port(kind="work", doc="nothing flows")


class NoWork(eqx.Module):
    none: float = port(kind="work", unit="J", doc="nothing jumps")


class NoStore(eqx.Module):
    none: float = store(doc="nothing is kept")


class Value(eqx.Module):
    x: float = signal(unit="m", doc="value")


class Outputs(eqx.Module):
    value: Value


class Count(eqx.Module):
    n: int = signal(doc="events so far")


class AbstractToy(AbstractHybridSystem):
    """Without energy, unless a toy says otherwise."""

    def stores(self, t, x, m):
        return NoStore(none=0.0 * x.x)

    def outputs(self, t, x, m):
        return Outputs(value=Value(x=x.x))

    @staticmethod
    def begin(x):
        return HybridState(x, Count(n=np.int32(0)))


# --- a ball that bounces --------------------------------------------------------------------------


class Height(eqx.Module):
    x: float = signal(unit="m", doc="height")
    v: float = signal(unit="m/s", doc="speed", rate_of="x")


class BallStores(eqx.Module):
    kinetic: float = store(doc="kinetic")
    gravity: float = store(doc="height")


class Bounce(eqx.Module):
    impact: float = port(kind="loss", unit="J", doc="restitution below one")


class Ball(AbstractToy):
    """Falls, bounces with a coefficient of restitution.

    From height h: first bounce at sqrt(2 h / g).
    """

    gravity: float = param(10.0, unit="m/s^2", doc="gravity", gt=0)
    restitution: float = param(0.5, doc="restitution", ge=0, le=1)

    @property
    def events(self):
        return (Event("bounce", "the ball meets the floor"),)

    def flow(self, t, x, m):
        return Rates(Height(x=x.v, v=-self.gravity + 0.0 * x.v), NoPower(none=0.0 * x.v))

    def guards(self, t, x, m):
        return (x.x,)

    def jump(self, t, x, m, k):
        after = -self.restitution * x.v
        return Jump(
            Height(x=x.x, v=after), Count(n=m.n + 1), Bounce(impact=0.5 * (after**2 - x.v**2))
        )

    def stores(self, t, x, m):
        return BallStores(kinetic=0.5 * x.v**2, gravity=self.gravity * x.x)


# --- several like balls: a guard with a leg axis --------------------------------------------------


class Heights(eqx.Module):
    x: jnp.ndarray = signal(unit="m", doc="heights")
    v: jnp.ndarray = signal(unit="m/s", doc="speeds", rate_of="x")


class ManyOutputs(eqx.Module):
    balls: "ManyHeights"


class ManyHeights(eqx.Module):
    z: jnp.ndarray = signal(unit="m", doc="heights")


class ManyStores(eqx.Module):
    kinetic: float = store(doc="kinetic")
    gravity: float = store(doc="height")


class PerBall(eqx.Module):
    n: jnp.ndarray = signal(doc="bounces of each ball")


class ManyBalls(AbstractToy):
    """Elastic balls side by side; a bounce is the event (guard 0, leg i)."""

    gravity: float = param(10.0, unit="m/s^2", doc="gravity", gt=0)

    @property
    def events(self):
        return (Event("bounce", "a ball meets the floor"),)

    def flow(self, t, x, m):
        return Rates(Heights(x=x.v, v=-self.gravity + 0.0 * x.v), NoPower(none=0.0 * x.v[0]))

    def guards(self, t, x, m):
        return (x.x,)

    def jump(self, t, x, m, k, leg):
        v = x.v.at[leg].multiply(-1.0)
        return Jump(Heights(x=x.x, v=v), PerBall(n=m.n.at[leg].add(1)), NoWork(none=0.0 * x.v[0]))

    def stores(self, t, x, m):
        return ManyStores(
            kinetic=0.5 * jnp.sum(x.v**2, axis=0), gravity=self.gravity * jnp.sum(x.x, axis=0)
        )

    def outputs(self, t, x, m):
        return ManyOutputs(balls=ManyHeights(z=x.x))


# --- scalar curves with guards --------------------------------------------------------------------


class Scalar1(eqx.Module):
    x: float = signal(unit="m", doc="value")


class Clockwork(AbstractToy):
    """x(t) = t, so that guards are plain functions of time; `curve` says which."""

    curve: callable = eqx.field(static=True)
    ends: tuple = eqx.field(static=True, default=())
    rate: float = param(1.0, doc="dx/dt")

    @property
    def events(self):
        ends = self.ends or (None,) * len(self.curve(0.0))
        return tuple(
            Event(f"e{i}", "a curve reaches zero", outcome) for i, outcome in enumerate(ends)
        )

    def flow(self, t, x, m):
        return Rates(Scalar1(x=self.rate + 0.0 * x.x), NoPower(none=0.0 * x.x))

    def guards(self, t, x, m):
        return self.curve(x.x)

    def jump(self, t, x, m, k):
        return Jump(x, Count(n=m.n + 1), NoWork(none=0.0 * x.x))


class Curve(NamedTuple):
    """A guard as numbers: c0 + c1 x + c2 x^2 + wave sin(pi x + phase) - dip 2^-((x - centre) /
    half)^2.
    """

    c0: float = 1.0
    c1: float = 0.0
    c2: float = 0.0
    wave: float = 0.0
    phase: float = 0.0
    dip: float = 0.0
    centre: float = 0.0
    half: float = 1.0


class Clocks(AbstractToy):
    """x(t) = t and three guards e0, e1, e2, functions of time whose numbers are traced.

    One compiled program for all of them.
    """

    numbers: np.ndarray = param(doc="those of each curve, one after the other")

    @classmethod
    def of(cls, *curves):
        """With these curves; guards that are not given are 1 for ever."""
        rows = [*curves, *(Curve(),) * (3 - len(curves))]
        return cls(numbers=np.array(rows, float).ravel())

    @property
    def events(self):
        return tuple(Event(f"e{i}", "a curve reaches zero") for i in range(3))

    def flow(self, t, x, m):
        return Rates(Scalar1(x=1.0 + 0.0 * x.x), NoPower(none=0.0 * x.x))

    def guards(self, t, x, m):
        s, size = x.x, len(Curve._fields)

        def value(i):
            c = Curve(*(self.numbers[i * size + n] for n in range(size)))
            waves = c.wave * jnp.sin(np.pi * s + c.phase)
            dip = c.dip * jnp.exp2(-(((s - c.centre) / c.half) ** 2))
            return c.c0 + s * (c.c1 + s * c.c2) + waves - dip

        return tuple(value(i) for i in range(3))

    def jump(self, t, x, m, k):
        return Jump(x, Count(n=m.n + 1), NoWork(none=0.0 * x.x))


class Explosion(AbstractToy):
    """dx/dt = x^2 from 1: leaves every bound at t = 1."""

    @property
    def events(self):
        return (Event("never", "never happens", Outcome.fell),)

    def flow(self, t, x, m):
        return Rates(Scalar1(x=x.x * x.x), NoPower(none=0.0 * x.x))

    def guards(self, t, x, m):
        return (1.0 + 0.0 * x.x,)

    def jump(self, t, x, m, k):
        return Jump(x, m, NoWork(none=0.0 * x.x))


class Ticking(AbstractToy):
    """dx/dt = held command; a tick every `period` sets it to 1, 2, 3, ...

    : a plant with its control computer.
    """

    period: float = param(0.01, unit="s", doc="time between ticks", gt=0)

    @property
    def events(self):
        return (Event("tick", "the computer runs"),)

    def flow(self, t, x, m):
        return Rates(Scalar1(x=m.command + 0.0 * x.x), NoPower(none=0.0 * x.x))

    def guards(self, t, x, m):
        return (m.next_tick - t,)

    def jump(self, t, x, m, k):
        n = m.n + 1
        return Jump(
            x,
            Computer(n=n, command=1.0 * n, next_tick=self.period * (n + 1)),
            NoWork(none=0.0 * x.x),
        )


class Computer(eqx.Module):
    n: int = signal(doc="ticks so far")
    command: float = signal(unit="m/s", doc="held command")
    next_tick: float = signal(unit="s", doc="time of the next tick")


# --- a hopper whose leg pushes at an instant ------------------------------------------------------


class HopState(eqx.Module):
    x: float = signal(unit="m", doc="height")
    v: float = signal(unit="m/s", doc="speed up", rate_of="x")
    way: float = signal(unit="m", doc="distance")


class Push(eqx.Module):
    push: float = port(kind="work", unit="J", doc="the leg pushes off")
    impact: float = port(kind="loss", unit="J", doc="what the landing takes")


class HopTravel(eqx.Module):
    distance: float = signal(unit="m", doc="way gone")


class HopOutputs(eqx.Module):
    travel: HopTravel


class Hopper(AbstractToy):
    """Unit mass, a constant pace forward. A landing takes 1 - e^2 of the energy up and the leg puts
    it back at once, by a jump: cost of transport v (1 - e^2) / (4 pace) for hops that leave the
    ground at v. `reported` scales what the landing says it took."""

    pace: float = param(0.5, unit="m/s", doc="speed forward", gt=0)
    leaving: float = param(2.0, unit="m/s", doc="speed up after a push", gt=0)
    restitution: float = param(0.5, doc="of the landing", ge=0, le=1)
    reported: float = param(1.0, doc="share of the landing's loss that is told", ge=0)
    gravity: float = param(10.0, unit="m/s^2", doc="gravity", gt=0)

    @property
    def events(self):
        return (Event("landing", "the foot meets the ground"),)

    def flow(self, t, x, m):
        return Rates(
            HopState(x=x.v, v=-self.gravity + 0.0 * x.v, way=self.pace + 0.0 * x.v),
            NoPower(none=0.0 * x.v),
        )

    def guards(self, t, x, m):
        return (x.x,)

    def jump(self, t, x, m, k):
        kept = 0.5 * (self.restitution * x.v) ** 2
        work = Push(push=0.5 * self.leaving**2 - kept, impact=self.reported * (kept - 0.5 * x.v**2))
        return Jump(HopState(x=x.x, v=self.leaving + 0.0 * x.v, way=x.way), Count(n=m.n + 1), work)

    def stores(self, t, x, m):
        return BallStores(kinetic=0.5 * (x.v**2 + self.pace**2), gravity=self.gravity * x.x)

    def outputs(self, t, x, m):
        return HopOutputs(travel=HopTravel(distance=x.way))

    def travel(self):
        return Travel("travel.distance", ("n",), self.gravity, ("push",))


# --- a motor whose torque is known ----------------------------------------------------------------


class MotorSignals(eqx.Module):
    torque: float = signal(unit="N m", doc="a sine, or a sine cut off")


class MotorOutputs(eqx.Module):
    motor: MotorSignals


class SineMotor(AbstractToy):
    """x(t) = t turns a motor whose torque is sin(rate t), no more than `limit`; a bell rings at 1.1
    s, and nothing comes of it.
    """

    rate: float = param(5.0, unit="rad/s", doc="of the sine", gt=0)
    limit: float = param(10.0, unit="N m", doc="largest torque", gt=0)

    @property
    def events(self):
        return (Event("bell", "1.1 s are over"),)

    def flow(self, t, x, m):
        return Rates(Scalar1(x=1.0 + 0.0 * x.x), NoPower(none=0.0 * x.x))

    def guards(self, t, x, m):
        return (1.1 - x.x,)

    def jump(self, t, x, m, k):
        return Jump(x, Count(n=m.n + 1), NoWork(none=0.0 * x.x))

    def outputs(self, t, x, m):
        return MotorOutputs(
            motor=MotorSignals(torque=jnp.clip(jnp.sin(self.rate * x.x), -self.limit, self.limit))
        )


# --- a hopper: two modes, and a jump that means something in one of them only ---------------------


class LegMode(eqx.Module):
    stance: int = signal(doc="1 while the foot is on the ground")
    pushed: int = signal(doc="1 once the leg has been lengthened in this stance")


class LegPower(eqx.Module):
    damper: float = port(kind="loss", doc="damper of the leg")


class LegWork(eqx.Module):
    push: float = port(kind="work", unit="J", doc="the leg lengthened against its spring")


class LegStores(eqx.Module):
    kinetic: float = store(doc="kinetic")
    gravity: float = store(doc="height")
    spring: float = store(doc="spring of the leg, in stance")


class SpringHopper(AbstractToy):
    """A mass of 1 kg on a damped spring.

    At the bottom of each stance its leg becomes longer by `push`, which keeps it hopping.
    """

    gravity: float = param(10.0, unit="m/s^2", doc="gravity", gt=0)
    stiffness: float = param(400.0, unit="N/m", doc="spring", gt=0)
    damping: float = param(2.0, unit="N s/m", doc="damper", ge=0)
    push: float = param(0.02, unit="m", doc="how much longer", ge=0)

    @staticmethod
    def begin(x):
        return HybridState(x, LegMode(stance=np.int32(0), pushed=np.int32(0)))

    @property
    def events(self):
        return (
            Event("touchdown", "the foot meets the ground"),
            Event("bottom", "the mass is lowest"),
            Event("liftoff", "the leg is as long as it can be"),
        )

    def _short(self, x, m):
        return 1.0 + self.push * m.pushed - x.x

    def flow(self, t, x, m):
        force = m.stance * (self.stiffness * self._short(x, m) - self.damping * x.v)
        return Rates(
            Height(x=x.v, v=force - self.gravity),
            LegPower(damper=-m.stance * self.damping * x.v**2),
        )

    def guards(self, t, x, m):
        flying, low = m.stance == 0, (m.stance == 1) & (m.pushed == 0)
        return (
            jnp.where(flying, x.x - 1.0, 1.0),
            jnp.where(low, -x.v, 1.0),
            jnp.where(m.pushed == 1, self._short(x, m), 1.0),
        )

    def jump(self, t, x, m, k):
        after = (
            LegMode(m.stance + 1, m.pushed),
            LegMode(m.stance, m.pushed + 1),
            LegMode(0 * m.stance, 0 * m.pushed),
        )[k]
        gained = (
            0.5 * self.stiffness * (self._short(x, after) ** 2 - self._short(x, m) ** 2)
            if k == 1
            else 0.0 * x.x
        )
        return Jump(x, after, LegWork(push=gained))

    def stores(self, t, x, m):
        spring = 0.5 * self.stiffness * m.stance * self._short(x, m) ** 2
        return LegStores(kinetic=0.5 * x.v**2, gravity=self.gravity * x.x, spring=spring)
