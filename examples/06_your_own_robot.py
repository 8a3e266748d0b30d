"""Write a robot: its flow, its end, its energy. (`footfall new`: one with flight and stance.)"""

import equinox as eqx

import footfall as ff
import footfall.authoring as fa


class State(eqx.Module):
    x: float = fa.signal(unit="m", doc="distance")
    v: float = fa.signal(unit="m/s", doc="speed", rate_of="x")


class Mode(eqx.Module):
    count: int = fa.signal(doc="nothing to count")


class Power(eqx.Module):
    mud: float = fa.port(kind="loss", doc="drag of the mud")


class Stores(eqx.Module):
    kinetic: float = fa.store(doc="kinetic energy")


class Outputs(eqx.Module):
    body: fa.Body


class Start(fa.AbstractStart):
    speed: float = fa.param(1.0, unit="m/s", doc="speed at the start")

    def state(self, system):
        return fa.HybridState(State(x=0.0, v=self.speed), Mode(count=0))


class Sled(fa.HybridSystem):
    """A sled that mud slows down."""

    Start = Start
    mass: float = fa.param(2.0, unit="kg", doc="mass", gt=0)
    drag: float = fa.param(1.0, unit="N s/m", doc="drag per speed", gt=0)

    @property
    def events(self):
        ending = fa.Outcome("bogged_down", "the mud holds the sled")
        return (fa.Event("stuck", "too slow to go on", outcome=ending),)

    def flow(self, t, x, m):
        force = -self.drag * x.v
        return fa.Rates(State(x=x.v, v=force / self.mass), Power(mud=force * x.v))

    def guards(self, t, x, m):
        return (x.v - 0.1,)

    def jump(self, t, x, m, k):
        return fa.Jump(x, m)

    def stores(self, t, x, m):
        return Stores(kinetic=0.5 * self.mass * x.v**2)

    def outputs(self, t, x, m):
        return Outputs(body=fa.Body(x=x.x, z=0.0, vx=x.v, vz=0.0))


sled = Sled(drag=2.0)
print("the contract is kept:", ff.check_system(sled, sled.begin(Start())).ok)
run = ff.simulate(sled)
print(run.ending.sentence)  # after ln(10) m / c = 2.302585 s
print(f"{run['x'][-1]:.6f} m far; books open by {run.ledger.relative_residual:.1e}")
