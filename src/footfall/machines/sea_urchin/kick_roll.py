"""Rolling by a kick, in the plane.

The foot of the kicking spike is a pivot, the body a disc that the slide pushes away from it.

House frame: x ahead, z up, the pivot at the origin; `angle` is that of the line from pivot to
centre above the ground ahead. Theory: docs/theory/sea-urchin.md, section 6.
"""

from typing import Any

import equinox as eqx
import numpy as np

from footfall.hybrid.fields import ParameterError, param, port, signal, store
from footfall.hybrid.frame import Body, Foot
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.start import AbstractStart
from footfall.hybrid.suggestion import Suggestion, cure
from footfall.hybrid.system import AbstractHybridSystem, Event, HybridState, Jump, Rates
from footfall.numerics.namespace import namespace, traced
from footfall.numerics.scalar import Scalar
from footfall.numerics.trig import sincos
from footfall.scene.sketch import Arrow, Ball, Chart, Ground, Link, Shape, arrow_scale


class KickState(eqx.Module):
    """Continuous state."""

    angle: Scalar = signal(unit="rad", doc="line from pivot to centre above the ground ahead")
    extension: Scalar = signal(unit="m", doc="how far the spike is pushed out")
    angle_rate: Scalar = signal(
        unit="rad/s", doc="rate of the angle, negative rolls ahead", rate_of="angle"
    )
    extension_rate: Scalar = signal(unit="m/s", doc="rate of the extension", rate_of="extension")


class KickMode(eqx.Module):
    """Discrete state: nothing happens before the end."""

    kicks: Scalar = signal(doc="kicks so far")


class KickPower(eqx.Module):
    """Ports."""

    kick: Scalar = port(kind="work", doc="force of the slide")


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
            system.force,
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
        if not traced(*leaves, system.stroke):
            self._check(system, shape, angle, out, turning, pushing)
        return HybridState(
            KickState(angle, out, turning, pushing), KickMode(kicks=np.zeros(shape, np.int32))
        )

    @staticmethod
    def _check(system: Any, shape: tuple, angle: Any, out: Any, turning: Any, pushing: Any) -> None:
        beyond = out >= system.stroke
        if np.any(beyond):
            lane = int(np.argmax(beyond))
            told = (
                f"the spike is out by {np.ravel(out)[lane] * 1e3:.4g} mm at the start: that is its"
                " whole stroke or more."
            )
            raise ParameterError(told, "extension", lane if shape else None)
        drawn_in = (out == 0.0) & (pushing == 0.0)
        needed = (
            system.mass * (system.gravity * np.sin(angle) - turning**2 * (system.radius + out))
            + 0.0 * out
        )
        weak = drawn_in & (system.force + 0.0 * out <= needed)
        if np.any(weak):
            lane = int(np.argmax(weak))
            raise ParameterError(
                f"a kick of {np.ravel(system.force + 0.0 * out)[lane]:.4g} N does not push the body"
                f" off: at {np.ravel(angle)[lane]:.4g} rad the spike carries"
                f" {np.ravel(needed)[lane]:.4g} N. Kick harder, or start further ahead.",
                "angle",
                lane if shape else None,
            )


class KickRoll(AbstractHybridSystem):
    """A body pushed away from its pivot by a constant force F along the line between.

    Its mass is m, its inertia I, its distance from the pivot d + R:

    (I + m (d+R)^2) a'' + 2 m (d+R) d' a' + m g (d+R) cos a = 0                           (spike.20)
    m d'' - m a'^2 (d+R) + m g sin a = F                                                  (spike.21)

    The run ends at full stroke: there the pivot would have to pull, and the body flies. Not
    modelled: what comes then, slip, the mass of the spike.
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
    force: Scalar = param(40.0, unit="N", doc="force F of the kick", ge=0)
    gravity: Scalar = param(9.81, unit="m/s^2", doc="gravity", ge=0)

    def _accelerations(self, x: KickState) -> tuple[Scalar, Scalar]:
        s, c = sincos(x.angle)
        m, arm, rate = self.mass, x.extension + self.radius, x.angle_rate
        turning = (
            -m
            * arm
            * (self.gravity * c + 2.0 * x.extension_rate * rate)
            / (self.inertia + m * arm * arm)
        )
        return turning, self.force / m + rate * rate * arm - self.gravity * s

    def flow(self, t: Scalar, x: KickState, m: KickMode) -> Rates:
        del t, m
        turning, pushing = self._accelerations(x)
        dx = KickState(x.angle_rate, x.extension_rate, turning, pushing)
        return Rates(dx, KickPower(kick=self.force * x.extension_rate))

    def stores(self, t: Scalar, x: KickState, m: KickMode) -> KickStores:
        del t, m
        s, _ = sincos(x.angle)
        arm, rate, out = x.extension + self.radius, x.angle_rate, x.extension_rate
        kinetic = self.inertia * rate * rate + self.mass * (rate * rate * arm * arm + out * out)
        return KickStores(kinetic=0.5 * kinetic, gravity=self.mass * self.gravity * arm * s)

    @property
    def events(self) -> tuple[Event, ...]:
        return (
            Event("full_stroke", "the spike is pushed out as far as it goes", Outcome.arrived),
            Event("drawn_in", "the spike is pushed back to its inner stop", Outcome.outside_model),
            Event("down", "the centre came down to the ground", Outcome.fell),
        )

    def guards(self, t: Scalar, x: KickState, m: KickMode) -> tuple[Scalar, ...]:
        """[m] stroke left; [m] extension; [m] height of the centre."""
        del t, m
        s, _ = sincos(x.angle)
        return self.stroke - x.extension, x.extension, (x.extension + self.radius) * s

    def jump(self, t: Scalar, x: KickState, m: KickMode, k: int) -> Jump:
        raise AssertionError("every event ends the run")

    def outputs(self, t: Scalar, x: KickState, m: KickMode) -> KickOutputs:
        del t, m
        s, c = sincos(x.angle)
        arm, rate, out = x.extension + self.radius, x.angle_rate, x.extension_rate
        turning, pushing = self._accelerations(x)
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
            kick=KickSignals(x.angle, rate, x.extension, out, self.force + still, self.force * out),
        )

    def suggestions(self, outcome: Outcome) -> tuple[Suggestion, ...]:
        force = float(self.force)
        return (
            *(
                (cure("--set force=40", "a kick that takes it over"),)
                if outcome is not Outcome.arrived
                else ()
            ),
            Suggestion(f"--set force={0.5 * force:.3g}", "half the kick"),
            Suggestion(f"--set force={force:.3g} --animate kick.gif"),
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
        )
