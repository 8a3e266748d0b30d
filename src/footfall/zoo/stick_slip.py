"""A block on a moving belt, held by a spring: it sticks, then slips back, again and again.

The usual model of dry friction with two coefficients. Sticking, the block goes with the belt until
the spring pulls with mu_s N; slipping, it swings about mu_k N / k until it is as fast as the belt.
With d = (mu_s - mu_k) N / k, w^2 = k / m and the belt's speed V a round takes

    2 d / V  +  (2 / w) (pi - atan(w d / V))

Friction by `sign` of the sliding speed would creep for ever where that speed is zero: sticking is a
mode, in which friction is whatever force holds the block.
"""

import equinox as eqx
import jax.numpy as jnp
import numpy as np

import footfall.authoring as fa


class State(eqx.Module):
    stretch: float = fa.signal(unit="m", doc="of the spring")
    speed: float = fa.signal(unit="m/s", doc="of the block", rate_of="stretch")


class Mode(eqx.Module):
    sticks: int = fa.signal(doc="1 while the block goes with the belt")
    slips: int = fa.signal(doc="slips so far")


class Power(eqx.Module):
    belt: float = fa.port(kind="work", doc="what drives the belt")
    slip: float = fa.port(kind="loss", doc="sliding friction")


class Stores(eqx.Module):
    kinetic: float = fa.store(doc="kinetic energy")
    spring: float = fa.store(doc="energy of the spring")


class Surface(eqx.Module):
    force: float = fa.signal(unit="N", doc="friction on the block")
    sliding: float = fa.signal(unit="m/s", doc="speed of the belt under the block")


class Outputs(eqx.Module):
    block: fa.Body
    wall: fa.Body
    surface: Surface


class Start(fa.AbstractStart):
    stretch: float = fa.param(0.0, unit="m", doc="of the spring; the block sticks")

    def state(self, system: "StickSlip") -> fa.HybridState:
        modes = Mode(sticks=np.int32(1), slips=np.int32(0))
        return fa.HybridState(State(self.stretch, system.belt_speed), modes)


class StickSlip(fa.HybridSystem):
    """A block that a spring holds on a moving belt with dry friction."""

    Start = Start
    mass: float = fa.param(1.0, unit="kg", doc="of the block", gt=0)
    stiffness: float = fa.param(100.0, unit="N/m", doc="of the spring", gt=0)
    belt_speed: float = fa.param(0.1, unit="m/s", doc="of the belt", gt=0)
    static_friction: float = fa.param(0.6, doc="coefficient while it sticks", gt=0)
    sliding_friction: float = fa.param(0.4, doc="coefficient while it slips", ge=0)
    gravity: float = fa.param(9.81, unit="m/s^2", doc="gravity", gt=0)

    @property
    def events(self):
        return (
            fa.Event("slip", "the spring is stronger than friction can be", unit="N"),
            fa.Event("stick", "the block is as fast as the belt", unit="m/s"),
        )

    def _friction(self, x, m):
        """[N] On the block, forward: what holds it, or what a belt that is faster drags with."""
        drags = self.sliding_friction * self.mass * self.gravity
        return jnp.where(m.sticks == 1, self.stiffness * x.stretch, drags)

    def flow(self, t, x, m):
        force = self._friction(x, m)
        faster = (force - self.stiffness * x.stretch) / self.mass
        slid = jnp.where(m.sticks == 1, 0.0, -force * (self.belt_speed - x.speed))
        return fa.Rates(State(x.speed, faster), Power(belt=force * x.speed - slid, slip=slid))

    def guards(self, t, x, m):
        most = self.static_friction * self.mass * self.gravity
        return (
            fa.only_while(m.sticks == 1, most - self.stiffness * x.stretch),
            fa.only_while(m.sticks == 0, self.belt_speed - x.speed),
        )

    def jump(self, t, x, m, k):
        modes = Mode(sticks=jnp.full_like(m.sticks, k), slips=m.slips + (1 - k))
        return fa.Jump(x, modes)

    def stores(self, t, x, m):
        kinetic = 0.5 * self.mass * x.speed**2
        return Stores(kinetic=kinetic, spring=0.5 * self.stiffness * x.stretch**2)

    def outputs(self, t, x, m):
        zero = 0.0 * x.speed
        block = fa.Body(x=x.stretch, z=zero + 0.05, vx=x.speed, vz=zero)
        wall = fa.Body(x=zero - 0.3, z=zero + 0.05, vx=zero, vz=zero)
        return Outputs(block, wall, Surface(self._friction(x, m), self.belt_speed - x.speed))

    def sketch(self):
        box = [(-0.05, 0.0, -0.05), (0.05, 0.0, -0.05), (0.05, 0.0, 0.05), (-0.05, 0.0, 0.05)]
        sides = zip(box, [*box[1:], box[0]], strict=True)
        return (fa.Ground(), fa.Link("wall", "block"), *(fa.Bar("block", a, b) for a, b in sides))

    def charts(self):
        return (fa.Chart("friction", ("surface.force",), "whole"),)
