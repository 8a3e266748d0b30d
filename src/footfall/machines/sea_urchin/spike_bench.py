"""One spike of the sea urchin on a fixed base.

Its foot is led along the path of the gait through the air.

House frame: x away from the shell, y along the ring, z up; the spike's own frame S has y down.
Theory: docs/theory/sea-urchin.md.
"""

from collections.abc import Mapping
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from footfall.hybrid.fields import ParameterError, param, part
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.suggestion import Suggestion, cure
from footfall.hybrid.system import AbstractHybridSystem, Event, Jump, Rates
from footfall.hybrid.task import Task
from footfall.hybrid.twin import Twin
from footfall.machines.sea_urchin.spike import Spike
from footfall.machines.sea_urchin.spike_control import AbstractSpikeControl, SpikePid
from footfall.machines.sea_urchin.spike_dynamics import (
    accelerations,
    kinetic_energy,
    potential_energy,
)
from footfall.machines.sea_urchin.spike_gait import SINKS, FootPath, SpikeGait
from footfall.machines.sea_urchin.spike_kinematics import (
    AZIMUTHS,
    SPIKES,
    Vector,
    ball_jacobian,
    forward,
    inverse,
    joint_accelerations,
    joint_rates,
    require_reach,
)
from footfall.machines.sea_urchin.spike_start import SpikeStart
from footfall.machines.sea_urchin.spike_states import (
    FixedPoint,
    HingeSignals,
    SlideSignals,
    SpikeOutputs,
    SpikePower,
    SpikeStage,
    SpikeState,
    SpikeStores,
    SpikeTotals,
    TipPoint,
)
from footfall.machines.sea_urchin.spike_twin import spike_twin
from footfall.machines.sea_urchin.tasks import FOLLOW_TASK
from footfall.numerics.scalar import Scalar
from footfall.scene.sketch import Ball, Chart, Ground, Link, Shape

LIFT_OFF, TOP, LANDING = 0, 1, 2  # events
#: Samples of a cycle at which the reach of the spike is looked at, besides the joints of the path.
LOOKS = 48


class Target(NamedTuple):
    """Where the joints should be, and how they should move."""

    q: Vector
    v: Vector
    a: Vector


class UrchinSpike(AbstractHybridSystem):
    """A spike that follows the joints of its foot's path under control, touching nothing.

    Its time goes in three pieces, stance, rise and fall, as the path does: where the path's speed
    jumps (`swing_ends` = "resting") the target jumps exactly there. Not modelled: the floor, stops
    at the ends of the slide (the run ends there), motors' inertia and limits of speed.
    """

    Start = SpikeStart
    tasks: ClassVar[Mapping[str, Task]] = {"follow": FOLLOW_TASK}

    gravity: Scalar = param(9.81, unit="m/s^2", doc="gravity", ge=0)
    height: Scalar = param(
        0.0375, unit="m", doc="height of the attachment above the drawn floor", gt=0
    )
    foothold_x: Scalar = param(
        0.0562916512459885,
        unit="m",
        doc="contact point in mid-stride, outwards from the attachment",
        gt=0,
    )
    foothold_y: Scalar = param(
        0.0375, unit="m", doc="contact point in mid-stride, down from the attachment", gt=0
    )
    index: int = param(
        1,
        doc="which spike of the bottom ring, counter-clockwise from the body's x axis",
        ge=0,
        le=SPIKES - 1,
        static=True,
    )
    spike: Spike = part(doc="the spike", default_factory=Spike)
    gait: SpikeGait = part(doc="path of its foot", default_factory=SpikeGait)
    controller: AbstractSpikeControl = part(doc="what leads it along", default_factory=SpikePid)

    def __check_init__(self) -> None:
        super().__check_init__()
        if not all(
            isinstance(leaf, int | float | np.ndarray | np.generic)
            for leaf in jax.tree.leaves(self)
        ):
            return  # traced: checked at the door
        lengths = [np.asarray(length, dtype=float) for length in self.gait.stage_lengths]
        begin, points = 0.0 * lengths[0], []
        for length in lengths:  # piece by piece, so that the ends of each are among the samples
            points += [
                begin + share * length
                for share in np.linspace(0.0, 1.0, LOOKS // 3, endpoint=False)
            ]
            begin = begin + length
        path = self.gait.path(np.stack(np.broadcast_arrays(*points)))
        x, y, z = (
            np.asarray(v)
            for v in self.gait.placed(path, self.foothold, AZIMUTHS[self.index]).position
        )
        try:
            require_reach(self.spike.shape, x, y, z, "foothold_x", "the foot's path at")
        except ParameterError as error:
            lanes = np.broadcast_shapes(np.shape(x), np.shape(y), np.shape(z))[1:]
            lane = None if error.lane is None or not lanes else error.lane % int(np.prod(lanes))
            raise ParameterError(str(error), error.field, lane) from None

    @property
    def foothold(self) -> tuple[Scalar, Scalar]:
        return self.foothold_x, self.foothold_y

    # --- what it should do ------------------------------------------------------------------------

    @property
    def _stage_ends(self) -> Vector:
        stand, rise, sink = self.gait.stage_lengths
        return stand, stand + rise, stand + rise + sink

    def _leg_time(self, t: Scalar) -> Scalar:
        return t + self.gait.offsets_of()[self.index] * self.gait.period

    def path(self, t: Scalar, m: SpikeStage) -> FootPath:
        """The foot's path on the piece that the discrete state names."""
        stand, top, _ = self._stage_ends
        began = jnp.where(m.stage == 0, 0.0, jnp.where(m.stage == 1, stand, top))
        since = (
            self._leg_time(t)
            - jnp.asarray(m.cycles, jnp.result_type(t, float)) * self.gait.period
            - began
        )
        return self.gait.path_in(m.stage, since)

    def target(self, t: Scalar, m: SpikeStage) -> Target:
        """Joints, rates and accelerations that put the foot on its path."""
        foot = self.gait.placed(self.path(t, m), self.foothold, AZIMUTHS[self.index])
        shape = self.spike.shape
        q = inverse(shape, *foot.position)
        v = joint_rates(shape, q, foot.velocity)
        return Target(q, v, joint_accelerations(shape, q, v, foot.acceleration))

    # --- motion -----------------------------------------------------------------------------------

    def effort(self, x: SpikeState, target: Target) -> Vector:
        """Torques and force of the motors."""
        return self.controller.effort(
            x.q, x.v, target.q, target.v, x.integral, self.spike, self.gravity
        )

    def _friction(self, x: SpikeState) -> Vector:
        hinge, slide = self.spike.hinge_friction, self.spike.slide_friction
        return hinge * x.joint_1_rate, hinge * x.joint_2_rate, slide * x.slide_rate

    def _accelerations(self, x: SpikeState, effort: Vector) -> Vector:
        net = tuple(e - f for e, f in zip(effort, self._friction(x), strict=True))
        return accelerations(self.spike.inertia(x.slide), x.q, x.v, net, self.gravity)

    def flow(self, t: Scalar, x: SpikeState, m: SpikeStage) -> Rates:
        target = self.target(t, m)
        effort = self.effort(x, target)
        integral: Vector = (0.0, 0.0, 0.0)
        if self.controller.uses_integral:
            integral = self.controller.integral_rate(
                x.q, x.v, target.q, target.v, x.integral, self.spike, self.gravity
            )
        one, two, three = (e * v for e, v in zip(effort, x.v, strict=True))
        lost = sum(f * v for f, v in zip(self._friction(x), x.v, strict=True))
        return Rates(
            SpikeState(*x.v, *self._accelerations(x, effort), *integral),
            SpikePower(one, two, three, -lost),
        )

    def stores(self, t: Scalar, x: SpikeState, m: SpikeStage) -> SpikeStores:
        del t, m
        inertia = self.spike.inertia(x.slide)
        return SpikeStores(
            kinetic=kinetic_energy(inertia, x.joint_2, x.v),
            gravity=potential_energy(inertia, x.joint_1, x.joint_2, self.gravity),
        )

    # --- events -----------------------------------------------------------------------------------

    @property
    def events(self) -> tuple[Event, ...]:
        return (
            Event("lift_off", "the foot is meant to leave the floor"),
            Event("top", "the foot is meant to be highest"),
            Event("landing", "the foot is meant to land: a new cycle"),
            Event("slide_end", "the slide came to an end of its stroke", Outcome.outside_model),
            Event("on_axis", "the spike came to lie on the axis of joint 1", Outcome.outside_model),
        )

    def guards(self, t: Scalar, x: SpikeState, m: SpikeStage) -> tuple[Scalar, ...]:
        """Room left before each event.

        [s] time left before the path's next pieces; [m] room left for the slide; [rad] of joint 2
        before the axis.
        """
        now, period = self._leg_time(t), self.gait.period
        real = jnp.result_type(now, float)
        cycles = jnp.asarray(m.cycles, real)
        ends = [
            (cycles + jnp.asarray(m.stage > k, real)) * period + end - now
            for k, end in enumerate(self._stage_ends)
        ]
        slide = jnp.minimum(x.slide, self.spike.stroke - x.slide)
        return (*ends, slide, jnp.minimum(x.joint_2, np.pi - x.joint_2))

    def jump(self, t: Scalar, x: SpikeState, m: SpikeStage, k: int) -> Jump:
        del t
        cycles = m.cycles + 1 if k == LANDING else m.cycles
        stage = 0 * m.stage + (0 if k == SINKS else k + 1)
        return Jump(x, SpikeStage(cycles=cycles, stage=stage))

    # --- what is seen -----------------------------------------------------------------------------

    def _point(self, p: Vector, v: Vector) -> TipPoint:
        """From S, whose y is down and whose z goes along the ring."""
        return TipPoint(x=p[0], y=p[2], z=self.height - p[1], vx=v[0], vy=v[2], vz=-v[1])

    def _along(self, q: Vector, v: Vector, share: float) -> TipPoint:
        """The ball's centre (share 1) or, with it drawn in and the ball left out, the end of the
        prism (share 0).
        """
        shape = self.spike.shape
        d3, rate = share * q[2], share * v[2]
        body = shape if share else shape._replace(ball=0.0)
        place = forward(body, q[0], q[1], d3)
        rows = ball_jacobian(body, q[0], q[1], d3)
        velocity = tuple(row[0] * v[0] + row[1] * v[1] + row[2] * rate for row in rows)
        return self._point(place, velocity)

    def outputs(self, t: Scalar, x: SpikeState, m: SpikeStage) -> SpikeOutputs:
        target = self.target(t, m)
        effort = self.effort(x, target)
        acceleration = self._accelerations(x, effort)
        power = tuple(e * v for e, v in zip(effort, x.v, strict=True))
        tip, wanted = self._along(x.q, x.v, 1.0), self._along(target.q, target.v, 1.0)
        rows = list(
            zip(x.q, target.q, x.v, target.v, acceleration, target.a, effort, power, strict=True)
        )

        def joint(i: int) -> tuple[Scalar, ...]:
            q, q_d, v, v_d, a, a_d, e, p = rows[i]
            return q, q_d, v, v_d, a, a_d, q_d - q, e, p

        off = (wanted.x - tip.x, wanted.y - tip.y, wanted.z - tip.z)
        still = 0.0 * tip.x
        return SpikeOutputs(
            base=FixedPoint(x=still, y=still, z=self.height + still),
            elbow=self._along(x.q, x.v, 0.0),
            tip=tip,
            target=wanted,
            joint_1=HingeSignals(*joint(0)),
            joint_2=HingeSignals(*joint(1)),
            joint_3=SlideSignals(*joint(2)),
            # A root of zero has no slope: the least number keeps derivatives finite where the error
            # is exactly none.
            total=SpikeTotals(
                power=sum(power), tip_error=jnp.sqrt(sum(e * e for e in off) + 1e-300)
            ),
        )

    def suggestions(self, outcome: Outcome) -> tuple[Suggestion, ...]:
        shorter = cure(
            f"--set gait.stride={0.5 * float(self.gait.stride):.2g}", "a path within reach"
        )
        return (
            *((shorter,) if outcome is Outcome.outside_model else ()),
            Suggestion("--set controller=stiffness", "the foot as on springs"),
            Suggestion("--set gait.lift=0.02 --animate spike.gif"),
        )

    def twin(self) -> Twin:
        """As bodies of MuJoCo."""
        return spike_twin(self)

    def sketch(self) -> tuple[Shape, ...]:
        ball = self.spike.ball
        return (
            Ground(),
            Ball("target", (0.0, 0.0, 0.0), ball, "target"),
            Link("base", "elbow", "body", 0.005),
            Link("elbow", "tip", "leg", 0.003),
            Ball("base", (0.0, 0.0, 0.0), 0.004, "joint"),
            Ball("tip", (0.0, 0.0, 0.0), ball, "mark"),
        )

    def charts(self) -> tuple[Chart, ...]:
        """Three joints in rows, their place, rate and acceleration in columns, as in the report.

        Then errors, efforts and the foot.
        """
        names = (
            ("joint_1", "Joint 1", "angle"),
            ("joint_2", "Joint 2", "angle"),
            ("joint_3", "Joint 3", "extension"),
        )
        panel = [
            # Close-ups cut rare spikes, which rates and accelerations have where a path begins or
            # jumps.
            Chart(
                f"{title} {word}",
                (f"{group}.{measured}", f"{group}.{desired}"),
                "whole" if word == value else "lines",
                main=word == value and group != "joint_2",
                names=("measured", "wanted"),
            )
            for group, title, value in names
            for word, measured, desired in (
                (value, value, "desired"),
                ("rate", "rate", "desired_rate"),
                ("acceleration", "acceleration", "desired_acceleration"),
            )
        ]
        return (
            *panel,
            Chart(
                "Errors of the hinges",
                ("joint_1.angle_error", "joint_2.angle_error"),
                "whole",
                main=True,
                names=("joint 1", "joint 2"),
            ),
            Chart(
                "Error of the slide and of the foot",
                ("joint_3.extension_error", "total.tip_error"),
                "whole",
                names=("slide", "foot"),
            ),
            Chart(
                "Torques of the hinges", ("joint_1.torque", "joint_2.torque"), "whole", main=True
            ),
            Chart("Force of the slide", ("joint_3.force",), "whole"),
            Chart(
                "Power of the motors",
                ("joint_1.power", "joint_2.power", "joint_3.power", "total.power"),
                "whole",
            ),
            Chart(
                "Height of the foot",
                ("tip.z", "target.z"),
                "whole",
                main=True,
                names=("measured", "wanted"),
            ),
        )
