"""A rigid block that rocks from one edge of its base to the other, and comes to rest.

G. W. Housner, "The behavior of inverted pendulum structures during earthquakes", Bulletin of the
Seismological Society of America 53 (1963), 403-417. With R from an edge to the centre, alpha its
angle to the vertical and p^2 = 3 g / (4 R):

    tilt'' = p^2 sin(tilt -+ alpha),    tilt'+ = (1 - 3/2 sin^2 alpha) tilt'-

The block turns about one edge without sliding or lifting off; an impact keeps the angular momentum
about the new edge. Slender blocks rock with the period (4 / p) arcosh(1 / (1 - tilt_0 / alpha)).
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np

import footfall.authoring as fa


class State(eqx.Module):
    tilt: float = fa.signal(unit="rad", doc="of the block, positive forward")
    rate: float = fa.signal(unit="rad/s", doc="of the tilt", rate_of="tilt")


class Mode(eqx.Module):
    side: int = fa.signal(doc="+1 on its front edge, -1 on its rear edge, 0 at rest")
    impacts: int = fa.signal(doc="impacts so far")


class JumpWork(eqx.Module):
    impact: float = fa.port(kind="loss", unit="J", doc="what an impact takes")


class Stores(eqx.Module):
    kinetic: float = fa.store(doc="kinetic energy")
    gravity: float = fa.store(doc="weight times height")


class Outputs(eqx.Module):
    block: fa.Body


class Start(fa.AbstractStart):
    tilt: float = fa.param(0.1, unit="rad", doc="of the block, positive forward")
    rate: float = fa.param(0.0, unit="rad/s", doc="of the tilt")

    def state(self, system: "RockingBlock") -> fa.HybridState:
        side = np.int32(1 if self.tilt > 0 else -1)
        return fa.HybridState(State(self.tilt, self.rate), Mode(side=side, impacts=np.int32(0)))


class RockingBlock(fa.HybridSystem):
    """A rigid block on a flat floor that turns about one edge of its base or the other."""

    Start = Start
    mass: float = fa.param(10.0, unit="kg", doc="mass", gt=0)
    width: float = fa.param(0.2, unit="m", doc="of its base", gt=0)
    height: float = fa.param(1.0, unit="m", doc="height", gt=0)
    rest_rate: float = fa.param(
        1e-3, unit="rad/s", doc="an impact that leaves less is the last", gt=0
    )
    gravity: float = fa.param(9.81, unit="m/s^2", doc="gravity", gt=0)

    @property
    def events(self):
        ending = fa.Outcome("toppled", "the block fell over")
        return (
            fa.Event("impact", "the base meets the floor", unit="rad"),
            fa.Event("topples", "the block lies on its side", outcome=ending, unit="rad"),
        )

    def _inertia(self):
        """[kg m^2] about an edge: m R^2 / 3 of the block, m R^2 of its centre."""
        return self.mass * (self.width**2 + self.height**2) / 3.0

    def _centre(self, tilt, side):
        """[m] Its position, the base at rest centred on x = 0, and its derivative by the tilt."""
        b, h, c, s = 0.5 * self.width, 0.5 * self.height, jnp.cos(tilt), jnp.sin(tilt)
        place = (side * b * (1.0 - c) + h * s, side * b * s + h * c)
        return place, (side * b * s + h * c, side * b * c - h * s)

    def flow(self, t, x, m):
        _, (_, lever) = self._centre(x.tilt, m.side)
        turn = jnp.where(m.side == 0, 0.0, -self.mass * self.gravity * lever / self._inertia())
        return fa.Rates(State(tilt=x.rate, rate=turn))

    def guards(self, t, x, m):
        return fa.only_while(m.side != 0, m.side * x.tilt), 0.5 * jnp.pi - jnp.abs(x.tilt)

    def jump(self, t, x, m, k):
        sin_alpha_squared = self.width**2 / (self.width**2 + self.height**2)
        kept = (1.0 - 1.5 * sin_alpha_squared) * x.rate
        rests = jnp.abs(kept) < self.rest_rate
        rate = jnp.where(rests, 0.0, kept)
        after = Mode(side=jnp.where(rests, 0, -m.side).astype(m.side.dtype), impacts=m.impacts + 1)
        taken = 0.5 * self._inertia() * (rate**2 - x.rate**2)
        return fa.Jump(State(x.tilt, rate), after, JumpWork(impact=taken))

    def stores(self, t, x, m):
        (_, z), _ = self._centre(x.tilt, m.side)
        kinetic = 0.5 * self._inertia() * x.rate**2
        return Stores(kinetic=kinetic, gravity=self.mass * self.gravity * z)

    def outputs(self, t, x, m):
        (px, pz), (dx, dz) = self._centre(x.tilt, m.side)
        return Outputs(block=fa.Body(x=px, z=pz, vx=dx * x.rate, vz=dz * x.rate, pitch=x.tilt))

    def sketch(self):
        b, h = 0.5 * float(self.width), 0.5 * float(self.height)
        corners = [(-b, 0.0, -h), (b, 0.0, -h), (b, 0.0, h), (-b, 0.0, h)]
        sides = zip(corners, [*corners[1:], corners[0]], strict=True)
        return (fa.Ground(), *(fa.Bar("block", start, end, "tab:brown") for start, end in sides))
