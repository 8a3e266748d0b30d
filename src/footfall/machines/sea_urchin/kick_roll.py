"""Rolling by a kick, in the plane.

The foot of the kicking spike is a pivot, the body a disc that the slide pushes away from it, by a
force or by compressed air (`kick_actuator.py`, `pressure_chamber.py`).

House frame: x ahead, z up, the pivot at the origin; `angle` is that of the line from pivot to
centre above the ground ahead. Theory: docs/theory/sea-urchin.md, section 6.
"""

from typing import Any

import equinox as eqx
import jax
import numpy as np

from footfall.hybrid.compose import added, joined, taken
from footfall.hybrid.fields import ParameterError, param, part, port, signal, store
from footfall.hybrid.frame import Body, Foot
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.start import AbstractStart
from footfall.hybrid.suggestion import Suggestion, cure
from footfall.hybrid.system import (
    AbstractHybridSystem,
    Event,
    HybridState,
    Jump,
    Rates,
    only_while,
)
from footfall.machines.sea_urchin.kick_actuator import AbstractKickActuator, ConstantForce, Slide
from footfall.numerics.namespace import choose, namespace, negated, traced
from footfall.numerics.scalar import Scalar
from footfall.numerics.trig import sincos
from footfall.scene.sketch import Arrow, Ball, Chart, Ground, Link, Shape, arrow_scale

#: The inner stop means something new after it: it counts once the spike has left it.
PUSH_OFF = Event("push_off", "the spike pushes the body off its inner stop", restarts=("drawn_in",))


class KickState(eqx.Module):
    """Continuous state."""

    angle: Scalar = signal(unit="rad", doc="line from pivot to centre above the ground ahead")
    extension: Scalar = signal(unit="m", doc="how far the spike is pushed out")
    angle_rate: Scalar = signal(
        unit="rad/s", doc="rate of the angle, negative rolls ahead", rate_of="angle"
    )
    extension_rate: Scalar = signal(unit="m/s", doc="rate of the extension", rate_of="extension")


class KickMode(eqx.Module):
    """Discrete state."""

    held: Scalar = signal(doc="1 while the spike rests on its inner stop")


class StopPower(eqx.Module):
    """Ports of an actuator whose force builds up."""

    stop: Scalar = port(kind="work", doc="of the inner stop: none, for what it holds stands still")


class KickStores(eqx.Module):
    """Stores."""

    kinetic: Scalar = store(doc="kinetic energy")
    gravity: Scalar = store(doc="weight times height of the centre")


class KickSignals(eqx.Module):
    """The spike that kicks."""

    angle: Scalar = signal(unit="rad", doc="line from pivot to centre above the ground ahead")
    angle_rate: Scalar = signal(unit="rad/s", doc="rate of the angle", rate_of="angle")
    extension: Scalar = signal(unit="m", doc="how far the spike is pushed out")
    extension_rate: Scalar = signal(unit="m/s", doc="rate of the extension", rate_of="extension")
    force: Scalar = signal(unit="N", doc="force of the slide")
    power: Scalar = signal(unit="W", doc="power of the slide")


class KickOutputs(eqx.Module):
    """What can be seen."""

    centre: Body
    foot: Foot
    kick: KickSignals


class KickStart(AbstractStart):
    """At rest by default, the spike drawn in."""

    angle: Scalar = param(
        np.pi / 3,
        unit="rad",
        doc="line from pivot to centre above the ground ahead",
        gt=0,
        lt=3.1415,
    )
    extension: Scalar = param(0.0, unit="m", doc="how far the spike is pushed out", ge=0)
    angle_rate: Scalar = param(0.0, unit="rad/s", doc="rate of the angle, negative rolls ahead")
    extension_rate: Scalar = param(0.0, unit="m/s", doc="rate of the extension", ge=0)

    def state(self, system: Any) -> HybridState:
        leaves = (
            *jax.tree.leaves(system.actuator),
            system.mass,
            system.radius,
            system.gravity,
            *(vars(self)[n] for n in KickState.__dataclass_fields__),
        )
        xp, shape = namespace(*leaves), np.broadcast_shapes(*(np.shape(leaf) for leaf in leaves))
        angle, out, turning, pushing = (
            xp.array(xp.broadcast_to(v, shape), float)
            for v in (self.angle, self.extension, self.angle_rate, self.extension_rate)
        )
        own = jax.tree.map(
            lambda v: xp.array(xp.broadcast_to(v, shape), float), system.actuator.rest(out)
        )
        thrust = system.actuator.thrust(Slide(out, pushing), own)
        weak = (out == 0.0) & (pushing == 0.0) & (thrust <= system.carried(angle, out, turning))
        if not traced(*leaves, system.stroke):
            self._check(system, shape, out)
            if not system.actuator.builds_up:
                self._check_thrust(system, shape, weak, thrust + 0.0 * out, angle, turning)
        held = xp.array(xp.broadcast_to(weak, shape), np.int32)
        return HybridState(
            joined(KickState(angle, out, turning, pushing), own), KickMode(held=held)
        )

    @staticmethod
    def _check(system: Any, shape: tuple, out: Any) -> None:
        beyond = out >= system.stroke
        if np.any(beyond):
            lane = int(np.argmax(beyond))
            told = (
                f"the spike is out by {np.ravel(out)[lane] * 1e3:.4g} mm at the start: that is its"
                " whole stroke or more."
            )
            raise ParameterError(told, "extension", lane if shape else None)

    @staticmethod
    def _check_thrust(
        system: Any, shape: tuple, weak: Any, thrust: Any, angle: Any, turning: Any
    ) -> None:
        if not np.any(weak):
            return
        lane = int(np.argmax(weak))
        needed = system.carried(angle, 0.0, turning) + 0.0 * thrust
        raise ParameterError(
            f"a kick of {np.ravel(thrust)[lane]:.4g} N does not push the body off: at"
            f" {np.ravel(angle)[lane]:.4g} rad the spike carries {np.ravel(needed)[lane]:.4g} N."
            " Kick harder, or start further ahead.",
            "angle",
            lane if shape else None,
        )


class KickRoll(AbstractHybridSystem):
    """A body pushed away from its pivot by a force F along the line between.

    Its mass is m, its inertia I, its distance from the pivot d + R:

    (I + m (d+R)^2) a'' + 2 m (d+R) d' a' + m g (d+R) cos a = 0                           (spike.20)
    m d'' - m a'^2 (d+R) + m g sin a = F                                                  (spike.21)

    A force that builds up leaves the spike on its inner stop, d = 0, until it exceeds what the
    spike carries there. The run ends at full stroke: there the pivot would have to pull, and the
    body flies. Not modelled: what comes then, slip, the mass of the spike.
    """

    Start = KickStart

    mass: Scalar = param(1.232, unit="kg", doc="mass m of the robot", gt=0)
    inertia: Scalar = param(
        0.0025, unit="kg m^2", doc="inertia I of the robot about its centre", gt=0
    )
    radius: Scalar = param(
        0.0909, unit="m", doc="distance R of the centre from the pivot, spike drawn in", gt=0
    )
    stroke: Scalar = param(0.04, unit="m", doc="full stroke of the spike", gt=0)
    gravity: Scalar = param(9.81, unit="m/s^2", doc="gravity", ge=0)
    actuator: AbstractKickActuator = part(
        doc="what pushes the spike out", default_factory=ConstantForce
    )

    def carried(self, angle: Scalar, extension: Scalar, angle_rate: Scalar) -> Scalar:
        """Force along a spike whose slide stands still: m g sin a - m a'^2 (d + R)."""
        s, _ = sincos(angle)
        arm = self.radius + extension
        return self.mass * (self.gravity * s - angle_rate * angle_rate * arm)

    def _held(self, m: KickMode) -> Any:
        """Whether the spike rests on its inner stop, or never does."""
        return m.held > 0 if self.actuator.builds_up else False

    def _slide(self, x: KickState) -> tuple[Slide, Any]:
        """The slide, and the actuator's own states."""
        slide = Slide(x.extension, x.extension_rate)
        return slide, taken(self.actuator.rest(x.extension), x)

    def _lacks(self, x: KickState) -> Scalar:
        """Force that the inner stop must give for the slide to stand still."""
        thrust = self.actuator.thrust(*self._slide(x))
        return self.carried(x.angle, x.extension, x.angle_rate) - thrust

    def _accelerations(self, x: KickState, m: KickMode) -> tuple[Scalar, Scalar]:
        s, c = sincos(x.angle)
        slide, own = self._slide(x)
        mass, arm, rate = self.mass, x.extension + self.radius, x.angle_rate
        turning = (
            -mass
            * arm
            * (self.gravity * c + 2.0 * slide.rate * rate)
            / (self.inertia + mass * arm * arm)
        )
        pushing = self.actuator.thrust(slide, own) / mass + rate * rate * arm
        return turning, choose(self._held(m), 0.0 * pushing, pushing - self.gravity * s)

    def flow(self, t: Scalar, x: KickState, m: KickMode) -> Rates:
        del t
        turning, pushing = self._accelerations(x, m)
        dx = KickState(x.angle_rate, x.extension_rate, turning, pushing)
        driving, stop = self.actuator.flow(*self._slide(x)), None
        if self.actuator.builds_up:
            given = self._lacks(x) * x.extension_rate
            stop = StopPower(choose(self._held(m), given, 0.0 * given))
        return Rates(joined(dx, driving.x), added(driving.power, stop))

    def stores(self, t: Scalar, x: KickState, m: KickMode) -> KickStores:
        del t, m
        s, _ = sincos(x.angle)
        slide, inside = self._slide(x)
        arm, rate, out = x.extension + self.radius, x.angle_rate, slide.rate
        kinetic = self.inertia * rate * rate + self.mass * (rate * rate * arm * arm + out * out)
        own = KickStores(kinetic=0.5 * kinetic, gravity=self.mass * self.gravity * arm * s)
        return added(own, self.actuator.stores(slide, inside))

    @property
    def events(self) -> tuple[Event, ...]:
        return (
            Event("full_stroke", "the spike is pushed out as far as it goes", Outcome.arrived),
            Event("drawn_in", "the spike is pushed back to its inner stop", Outcome.outside_model),
            Event("down", "the centre came down to the ground", Outcome.fell),
            *((PUSH_OFF,) if self.actuator.builds_up else ()),
        )

    def guards(self, t: Scalar, x: KickState, m: KickMode) -> tuple[Scalar, ...]:
        """[m] stroke left; [m] extension; [m] height of the centre; [N] thrust that lacks."""
        del t
        s, _ = sincos(x.angle)
        rooms = (self.stroke - x.extension, x.extension, (x.extension + self.radius) * s)
        if not self.actuator.builds_up:
            return rooms
        held = self._held(m)
        out, inside, up = rooms
        return out, only_while(negated(held), inside), up, only_while(held, self._lacks(x))

    def jump(self, t: Scalar, x: KickState, m: KickMode, k: int) -> Jump:
        del t, k  # every other event ends the run
        return Jump(x, KickMode(held=0 * m.held))

    def outputs(self, t: Scalar, x: KickState, m: KickMode) -> KickOutputs:
        del t
        s, c = sincos(x.angle)
        slide, own = self._slide(x)
        arm, rate, out = x.extension + self.radius, x.angle_rate, slide.rate
        turning, pushing = self._accelerations(x, m)
        thrust = self.actuator.thrust(slide, own)
        along, across = pushing - arm * rate * rate, arm * turning + 2.0 * out * rate
        still = 0.0 * arm
        return KickOutputs(
            centre=Body(
                x=arm * c,
                z=arm * s,
                vx=out * c - arm * rate * s,
                vz=out * s + arm * rate * c,
                pitch=0.5 * np.pi - x.angle,
            ),
            foot=Foot(
                x=still,
                z=still,
                fx=self.mass * (along * c - across * s),
                fz=self.mass * (along * s + across * c + self.gravity),
            ),
            kick=joined(
                KickSignals(x.angle, rate, x.extension, out, thrust + still, thrust * out),
                self.actuator.signals(slide, own),
            ),
        )

    def suggestions(self, outcome: Outcome) -> tuple[Suggestion, ...]:
        over = outcome is not Outcome.arrived
        if not isinstance(self.actuator, ConstantForce):
            stronger = 2.0 * float(self.mass * self.gravity)
            kick = f"--set actuator=constant-force --set force={stronger:.3g}"
            return (cure(kick, "a kick that takes it over"),) if over else ()
        force = float(self.actuator.force)
        return (
            *((cure("--set force=40", "a kick that takes it over"),) if over else ()),
            Suggestion(f"--set force={0.5 * force:.3g}", "half the kick"),
            Suggestion(f"--set force={force:.3g} --animate kick.gif"),
            Suggestion("--set actuator=pressure-chamber", "compressed air in place of a force"),
        )

    def sketch(self) -> tuple[Shape, ...]:
        return (
            Ground(),
            Link("foot", "centre", "leg", 0.004),
            Ball("centre", (0.0, 0.0, 0.0), 0.06, "body"),
            Ball("foot", (0.0, 0.0, 0.0), 0.005, "foot"),
            Arrow("foot", arrow_scale(0.02, self.mass * self.gravity)),
        )

    def charts(self) -> tuple[Chart, ...]:
        return (
            Chart("How far the spike is out", ("kick.extension",), "whole", main=True),
            Chart("Angle of pivot to centre", ("kick.angle",), "whole", main=True),
            Chart(
                "Force of the ground",
                ("foot.fz", "foot.fx"),
                "whole",
                main=True,
                names=("up", "forward"),
            ),
            Chart("Power of the kick", ("kick.power",), "whole"),
            *self.actuator.charts(),
        )
