"""The two-leg step climber.

An inchworm of four links, three motors and two flat feet that follows a plan of footsteps.

Model plane: x to the right, y up; it walks towards -x, foot 1 ahead. Theory:
docs/theory/two-leg-walker.md.
"""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from footfall.hybrid.doubt import Doubt
from footfall.hybrid.fields import (
    ParameterError,
    choice,
    describe,
    param,
    part,
    port,
    require_taken,
    signal,
    store,
    text,
)
from footfall.hybrid.frame import Body, Joint
from footfall.hybrid.motion_plan import AbstractTunablePlan, Figure, Kernel, NoState
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.start import AbstractStart
from footfall.hybrid.suggestion import Suggestion, cure
from footfall.hybrid.system import Event, HybridState, Jump, Travel
from footfall.hybrid.twin import Twin
from footfall.machines.parts.actuators.base import AbstractMotor
from footfall.machines.parts.actuators.motors import IdealMotor
from footfall.machines.parts.terrain.base import AbstractTerrain
from footfall.machines.parts.terrain.steps import Steps
from footfall.machines.two_leg.course import Footstep, Stand
from footfall.machines.two_leg.gait import InchwormGait
from footfall.machines.two_leg.kinematics import (
    Effort,
    Limbs,
    Point,
    Pose,
    balance,
    bodies,
    effort,
    pose,
)
from footfall.machines.two_leg.labels import geometry_labels
from footfall.machines.two_leg.moves import MOVES, feet_at, legs_of
from footfall.machines.two_leg.route import footsteps_of, parse_route
from footfall.machines.two_leg.sketch import two_leg_sketch
from footfall.machines.two_leg.support import LEVEL, Build, ground_under
from footfall.machines.two_leg.table import table
from footfall.machines.two_leg.tuning import TwoLegTuning
from footfall.machines.two_leg.twin import two_leg_twin
from footfall.numerics.scalar import Scalar
from footfall.scene.labels import Label
from footfall.scene.sketch import Chart, Shape

#: The schedule has room for a multiple of this many footsteps: plans of different length then share
#: their compiled programs.
ROOM = 32
#: Samples to a move: of one plan, and of each of many.
SAMPLES_ALONE, SAMPLES_EACH = 4001, 201


class TwoLegMode(eqx.Module):
    """Discrete state: how far the plan is."""

    footsteps: Scalar = signal(doc="footsteps made")
    move: Scalar = signal(doc="move of the current footstep: 0 up, 1 across, 2 down")


class TwoLegPower(eqx.Module):
    """Ports: each motor while it drives and while it brakes, apart."""

    motor_1: Scalar = port(kind="work", doc="motor 1 driving", part_of="motor_1.power")
    motor_2: Scalar = port(kind="work", doc="motor 2 driving", part_of="motor_2.power")
    motor_3: Scalar = port(kind="work", doc="motor 3 driving", part_of="motor_3.power")
    braking_1: Scalar = port(kind="loss", doc="motor 1 braking", part_of="motor_1.power")
    braking_2: Scalar = port(kind="loss", doc="motor 2 braking", part_of="motor_2.power")
    braking_3: Scalar = port(kind="loss", doc="motor 3 braking", part_of="motor_3.power")


class TwoLegStores(eqx.Module):
    """Stores."""

    potential: Scalar = store(doc="weight times height")
    kinetic: Scalar | None = store(doc="kinetic energy of links and feet")


class TurnSignals(eqx.Module):
    """One motor."""

    angle: Scalar = signal(
        unit="rad", doc="clockwise turn from the link before it to the link after it"
    )
    rate: Scalar = signal(unit="rad/s", doc="rate of the angle", rate_of="angle")
    acceleration: Scalar = signal(
        unit="rad/s^2", doc="second derivative of the angle", rate_of="rate"
    )
    torque: Scalar = signal(
        unit="N m", doc="torque on its moving side, clockwise, everything counted"
    )
    static_torque: Scalar = signal(unit="N m", doc="the same if the pose were held still")
    power: Scalar = signal(unit="W", doc="mechanical power")
    current: Scalar | None = signal(unit="A", doc="its current")
    electrical_power: Scalar | None = signal(
        unit="W", doc="mechanical power and heat of the winding"
    )


class SupportSignals(eqx.Module):
    """The foot that stands."""

    foot: Scalar = signal(doc="1 or 2")
    zmp: Scalar = signal(unit="m", doc="zero-moment point from its ankle towards the other foot")
    static_zmp: Scalar = signal(
        unit="m", doc="the centre of mass from its ankle: the same if the pose were held still"
    )
    margin: Scalar = signal(
        unit="m",
        doc=(
            "least distance of the zero-moment point from the ends of the part of the foot that has"
            " ground under it"
        ),
    )
    pressure: Scalar = signal(unit="N", doc="force of the ground, up")


class TwoLegTravel(eqx.Module):
    """Progress."""

    distance: Scalar = signal(unit="m", doc="way of the centre of mass, forward")
    speed: Scalar = signal(unit="m/s", doc="its speed", rate_of="distance")


class TwoLegOutputs(eqx.Module):
    """What can be seen."""

    foot_1: Joint
    ankle_1: Joint
    knee: Joint
    ankle_2: Joint
    foot_2: Joint
    centre: Body
    motor_1: TurnSignals
    motor_2: TurnSignals
    motor_3: TurnSignals
    support: SupportSignals
    travel: TwoLegTravel


class Schedule(eqx.Module):
    """The plan as a table: a row for each footstep, filled up with rows that are never reached."""

    steps: Footstep
    stands: Stand
    begins: Any  #: (rows, 4): when each move begins, and when the last one ends
    # the part of the standing foot that has ground under it, from its ankle towards the other foot
    low: Any
    high: Any
    made: Any  #: 1 for a footstep that is made, 0 for filling
    count: Any  #: footsteps that are made
    total: Any  #: time of the whole plan


class TwoLegStart(AbstractStart):
    """At the begin of the plan."""

    def state(self, system: Any) -> HybridState:
        del system
        return HybridState(NoState(), TwoLegMode(footsteps=np.int32(0), move=np.int32(0)))


class TwoLegWalker(AbstractTunablePlan):
    """Four equal links, three motors, two flat feet that point at each other.

    One foot moves at a time.

    Not modelled: elasticity, backlash, motors and gears of any mass, slip. A foot that is "clamped"
    cannot tip or lift off; what it would do if it were "free" is told by the support's margin and
    pressure.
    """

    Start = TwoLegStart
    refuses: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("inclined", "hills", "water"),
        "its feet are flat and stay level, so it stands on level pieces only",
    )

    link_length: Scalar = param(0.1, unit="m", doc="length of each link", gt=0)
    link_mass: Scalar = param(0.1, unit="kg", doc="mass of each link, at its middle", gt=0)
    links: str = choice(
        "point",
        options=("point", "rod"),
        doc="inertia of a link about its middle: none, or m L^2/12",
    )
    foot_length: Scalar = param(
        0.1, unit="m", doc="length of each foot, towards the other one", gt=0
    )
    foot_mass: Scalar = param(0.0, unit="kg", doc="mass of each foot, half-way along it", ge=0)
    separation: Scalar = param(0.1, unit="m", doc="distance of the feet between steps", gt=0)
    overhang: Scalar = param(0.05, unit="m", doc="how much of a foot may hang over an edge", ge=0)
    gravity: Scalar = param(9.81, unit="m/s^2", doc="gravity", ge=0)
    dynamics: str = choice(
        "full", options=("full", "static"), doc="torques of the motion, or of poses held still"
    )
    feet: str = choice(
        "clamped", options=("clamped", "free"), doc="whether the ground holds a foot down"
    )
    regeneration: Scalar = param(
        0.0, doc="share of a braking motor's work that comes back", ge=0, le=1
    )
    route: str = text(
        "walk -0.49; climb 0.05; walk_to -1.0",
        doc=(
            "what to do: walk, walk_to, climb, go_to and a distance, forward negative; or move by"
            " move: lift_left, step_left, lift_right, step_right"
        ),
    )
    motor: AbstractMotor = part(
        doc="each of the three motors, with its gear", default_factory=IdealMotor
    )
    gait: InchwormGait = part(doc="how a foot is moved", default_factory=InchwormGait)
    terrain: AbstractTerrain = part(doc="ground of level pieces", default_factory=Steps)
    schedule: Schedule | None = None  # made from all of the above; None for arrays of designs

    def __post_init__(self) -> None:
        require_taken(type(self), "terrain", self.terrain)  # before the plan is made over it
        verbs = parse_route(self.route)
        one = all(
            np.ndim(v) == 0 for v in (*_numbers(self), *_numbers(self.gait), *_numbers(self.motor))
        )
        self.schedule = _schedule(self, *footsteps_of(self, verbs)[:2]) if one else None

    @property
    def designs(self) -> int:
        return max(
            np.size(v) for v in (*_numbers(self), *_numbers(self.gait), *_numbers(self.motor))
        )

    @property
    def limbs(self) -> Limbs:
        rod = self.link_mass * self.link_length * self.link_length / 12.0
        inertia = rod if self.links == "rod" else 0.0 * rod
        return Limbs(
            self.link_length,
            self.link_mass,
            inertia,
            self.foot_length,
            self.foot_mass,
            self.gravity,
        )

    @property
    def plan_time(self) -> Scalar:
        return self._table.total

    @property
    def _table(self) -> Schedule:
        assert self.schedule is not None
        return self.schedule

    @property
    def _inertial(self) -> float:
        return 1.0 if self.dynamics == "full" else 0.0

    # ---- along the plan

    def row(self, m: TwoLegMode) -> tuple[Footstep, Stand, Scalar]:
        """The current footstep (the last, when all are made).

        With where the feet stood before it, and when its current move began.
        """
        table, i = self._table, self._index(m)
        step = Footstep(*(jnp.asarray(v)[i] for v in table.steps))
        stand = Stand(*(jnp.asarray(v)[i] for v in table.stands))
        return step, stand, jnp.asarray(table.begins)[i, jnp.asarray(m.move, jnp.int32)]

    def _index(self, m: TwoLegMode) -> Scalar:
        """Row of the table."""
        return jnp.minimum(
            jnp.asarray(m.footsteps, jnp.int32), jnp.asarray(self._table.count, jnp.int32) - 1
        )

    def pose_at(self, t: Scalar, m: TwoLegMode) -> tuple[Pose, Scalar]:
        """The pose, and 1 where foot 1 stands, 0 where foot 2 does."""
        step, stand, begin = self.row(m)
        feet = feet_at(self.gait, step, m.move, t - begin, stand.x1, stand.y1)
        return pose(self.limbs, *feet), jnp.where(step.foot > 1.5, 1.0, 0.0)

    def effort_at(self, p: Pose, first_stands: Scalar) -> Effort:
        return effort(self.limbs, p, first_stands, self._inertial)

    def powers(self, t: Scalar, m: TwoLegMode) -> TwoLegPower:
        p, stands = self.pose_at(t, m)
        powers = [
            q * turn.rate
            for q, turn in zip(self.effort_at(p, stands).torques, p.turns, strict=True)
        ]
        return TwoLegPower(
            *(jnp.maximum(w, 0.0) for w in powers), *(jnp.minimum(w, 0.0) for w in powers)
        )

    def twin(self) -> Twin:
        """On its first foot, as bodies of MuJoCo."""
        return two_leg_twin(self)

    def stores(self, t: Scalar, x: NoState, m: TwoLegMode) -> TwoLegStores:
        del x
        p, _ = self.pose_at(t, m)
        whole = balance(self.limbs, bodies(self.limbs, p))
        return TwoLegStores(
            potential=whole.potential, kinetic=whole.kinetic if self.dynamics == "full" else None
        )

    # ---- events

    @property
    def events(self) -> tuple[Event, ...]:
        free = (
            Event("tip", "the foot that stands would tip over its end", Outcome.tipped_over),
            Event("lift_off", "the foot that stands would leave the ground", Outcome.lifted_off),
        )
        # Before "arrive": the last one is made too.
        return (
            Event("move", "a move ends, and the next one begins"),
            Event("arrive", "the plan is done", Outcome.arrived),
            Event("overload", "a motor would need more torque than it has", Outcome.overloaded),
            *(free if self.feet == "free" else ()),
        )

    def guards(self, t: Scalar, x: NoState, m: TwoLegMode) -> tuple[Scalar, ...]:
        """Room left before each event.

        [s] time left of the move and of the plan; [N m] torque left; [m] support margin; [N]
        pressure.
        """
        del x
        table, i = self._table, self._index(m)
        end = jnp.asarray(table.begins)[i, jnp.asarray(m.move, jnp.int32) + 1]
        found = self.effort_at(*self.pose_at(t, m))
        one, two, three = (jnp.abs(q) for q in found.torques)
        rooms = (
            end - t,
            table.total - t,
            self.motor.limit - jnp.maximum(jnp.maximum(one, two), three),
        )
        return (*rooms, self._margin(found, m), found.pressure) if self.feet == "free" else rooms

    def _margin(self, found: Effort, m: TwoLegMode) -> Scalar:
        table, i = self._table, self._index(m)
        return jnp.minimum(
            found.zmp - jnp.asarray(table.low)[i], jnp.asarray(table.high)[i] - found.zmp
        )

    def jump(self, t: Scalar, x: NoState, m: TwoLegMode, k: int) -> Jump:
        del t, k
        last = m.move >= len(MOVES) - 1
        footsteps = m.footsteps + jnp.where(last, 1, 0)
        # After the last footstep it stays where that ended.
        over = footsteps > self._index(TwoLegMode(footsteps, m.move))
        move = jnp.where(over, m.move, jnp.where(last, 0 * m.move, m.move + 1))
        return Jump(x, TwoLegMode(footsteps=footsteps, move=move))

    # ---- what can be seen

    def figures(self, lanes: int = 1, kernel: Kernel | None = None) -> dict[str, Figure]:
        return table(self, lanes, SAMPLES_ALONE if lanes == 1 else SAMPLES_EACH, kernel)

    def remarks(self, t: np.ndarray, columns: Mapping[str, np.ndarray]) -> list[str]:
        made, move = int(columns["footsteps"][-1]), int(columns["move"][-1])
        said = []
        if t[-1] < (1.0 - 1e-9) * float(self._table.total):
            step, stand = self.row(TwoLegMode(np.int32(made), np.int32(move)))[:2]
            said.append(
                f"it ended in footstep {made + 1}, while foot {float(step.foot):g} went"
                f" {MOVES[move]}; foot 1 stood at x = {0.0 - float(stand.x1):.4g} m and foot 2 at"
                f" {0.0 - float(stand.x5):.4g} m (forward positive)"
            )
        if columns["travel.distance"][-1] < columns["travel.distance"][0]:
            said.append("it went backward: distances of a route are negative forward")
        margin = np.asarray(columns["support.margin"])
        if not self.doubts(t, columns) and np.isfinite(margin).all():
            said.append(self._tipping(t, margin))
        return said

    def doubts(self, t: np.ndarray, columns: Mapping[str, np.ndarray]) -> list[Doubt]:
        """A foot that only a clamp holds: one that would lift off, or else tip."""
        pressure, margin = (
            np.asarray(columns["support.pressure"]),
            np.asarray(columns["support.margin"]),
        )
        if self.feet == "clamped" and pressure.min() < 0:
            return self._pulled(float(pressure.min()))
        if self.feet == "clamped" and np.isfinite(margin).all() and margin.min() < -LEVEL:
            return [Doubt("tips_unless_held", self._tipping(t, margin))]
        return []

    def figure_doubts(self, figures: Mapping[str, float]) -> list[Doubt]:
        full = self.dynamics == "full"
        margin = figures["support_margin" if full else "static_support_margin"]
        if self.feet == "free" or math.isnan(figures["t_end"]):
            return []
        if full and figures["least_pressure"] < 0:
            return self._pulled(figures["least_pressure"])
        if margin < -LEVEL:
            said = (
                f"support margin: least {1e3 * margin:.3g} mm; a foot that is not held down"
                " would tip"
            )
            return [Doubt("tips_unless_held", said)]
        return []

    def _pulled(self, pressure: float) -> list[Doubt]:
        # What motion adds to the weight grows with the square of the speed.
        weight = float(self.gravity * (4.0 * self.link_mass + 2.0 * self.foot_mass))
        slower = math.sqrt(weight / (weight - pressure))
        timing = (
            f"gait.speed = {slower * float(self.gait.speed):.3g} m/s"
            if self.gait.timing == "mean-speed"
            else f"{slower:.3g} of its speed"
        )
        said = (
            f"the ground would have to pull, by {-pressure:.3g} N at most; above {timing} a foot"
            " that is not held lifts off"
        )
        return [Doubt("contact_pulls", said)]

    def _tipping(self, t: np.ndarray, margin: np.ndarray) -> str:
        worst = int(np.argmin(margin))
        said = f"support margin: least {1e3 * margin[worst]:.3g} mm, at t = {t[worst]:.4g} s"
        below = margin <= LEVEL  # a run that ends by tipping ends where nothing is left
        if not below.any():
            return f"{said}; a foot that is not held down stands all the way"
        share = float(np.sqrt(_standing(self.limbs, self.gait, self._table, self._inertial)))
        begins = np.flatnonzero(below & ~np.concatenate([[False], below[:-1]]))
        ends = np.flatnonzero(below & ~np.concatenate([below[1:], [False]]))
        spans = [
            f"{t[a]:.4g} to {t[b]:.4g} s" if t[b] > t[a] else f"at {t[a]:.4g} s"
            for a, b in zip(begins, ends, strict=True)
        ]
        more = f", and {len(spans) - 3} times more" if len(spans) > 3 else ""
        slower = "even while held still"
        if share > 0:
            slower = f"but not below gait.speed = {share * float(self.gait.speed):.3g} m/s"
            if self.gait.timing != "mean-speed":
                slower = f"but not at {share:.3g} of its speed"
        return (
            f"{said}; a foot that is not held down would tip: {', '.join(spans[:3])}{more};"
            f" {slower}"
        )

    def tuning(self, ranges: Mapping[str, tuple[float, float]]) -> TwoLegTuning:
        return TwoLegTuning(self, ranges)

    def outputs(self, t: Scalar, x: NoState, m: TwoLegMode) -> TwoLegOutputs:
        del x
        p, stands = self.pose_at(t, m)
        every = bodies(self.limbs, p)
        whole = balance(self.limbs, every)
        found, still = self.effort_at(p, stands), effort(self.limbs, p, stands, 0.0)
        vx = sum(b.mass * b.at.x.rate for b in every) / whole.mass
        vy = sum(b.mass * b.at.y.rate for b in every) / whole.mass
        sign = jnp.where(stands > 0, 1.0, -1.0)  # tau acts on the moving side, Q on the next link
        motors = [
            TurnSignals(
                turn.value,
                turn.rate,
                turn.second,
                sign * q,
                sign * q0,
                q * turn.rate,
                self.motor.current(sign * q) if self.motor.has_winding else None,
                q * turn.rate + self.motor.heat(q) if self.motor.has_winding else None,
            )
            for turn, q, q0 in zip(p.turns, found.torques, still.torques, strict=True)
        ]
        names = ("foot_1", "ankle_1", "knee", "ankle_2", "foot_2")
        under = {
            name: (share * found.grip, share * found.pressure)
            for name, share in (("foot_1", stands), ("foot_2", 1.0 - stands))
        }
        return TwoLegOutputs(
            **{
                name: _joint(point, *under.get(name, (0.0, 0.0)))
                for name, point in zip(names, p.points, strict=True)
            },
            centre=Body(x=-whole.x, z=whole.y, vx=-vx, vz=vy),
            motor_1=motors[0],
            motor_2=motors[1],
            motor_3=motors[2],
            support=SupportSignals(
                foot=jnp.where(stands > 0, 1.0, 2.0),
                zmp=found.zmp,
                static_zmp=still.zmp,
                margin=self._margin(found, m),
                pressure=found.pressure,
            ),
            travel=TwoLegTravel(distance=-whole.x, speed=-vx),
        )

    def suggestions(self, outcome: Outcome) -> tuple[Suggestion, ...]:
        slower = cure(
            f"--set gait.speed={0.5 * float(self.gait.speed):.2g}",
            "slower: motion adds less to the torques",
        )
        cures = {
            Outcome.overloaded: (
                cure("--set torque_limit=100", "strong motors, to see what torque it needs"),
                slower,
            ),
            Outcome.tipped_over: (slower, cure("--set feet=clamped", "feet that are held down")),
        }
        climbs = "climb" in str(self.route)
        ranges = "--vary gait.lift=0.004:0.02:20 --vary gait.stride=0.06:0.09:20"
        return (
            *cures.get(outcome, ()),
            Suggestion('--set gait.lift="5 mm" --animate two-leg.gif'),
            Suggestion("--set torque_limit=0.5 --minimise energy --minimise t_end", verb="design"),
            Suggestion(f"{ranges} --metric {'efficiency' if climbs else 'energy'}", verb="sweep"),
        )

    def sketch(self) -> tuple[Shape, ...]:
        return two_leg_sketch(self)

    def labels(self) -> tuple[Label, ...]:
        return geometry_labels(self)

    def charts(self) -> tuple[Chart, ...]:
        motors = ("motor_1", "motor_2", "motor_3")
        return (
            Chart("Heights of the feet", ("foot_1.z", "foot_2.z"), main=True),
            Chart("Places of the feet, forward", ("foot_1.x", "foot_2.x")),
            Chart("Speeds of the feet", ("foot_1.vx", "foot_1.vz", "foot_2.vx", "foot_2.vz")),
            Chart("Acceleration of the feet", ("foot_1.ax", "foot_1.az", "foot_2.ax", "foot_2.az")),
            Chart("Angles of the motors", tuple(f"{m}.angle" for m in motors)),
            Chart("Rates of the motors", tuple(f"{m}.rate" for m in motors)),
            Chart("Accelerations of the motors", tuple(f"{m}.acceleration" for m in motors)),
            Chart("Torques of the motors", tuple(f"{m}.torque" for m in motors), main=True),
            Chart("Torques if poses were held still", tuple(f"{m}.static_torque" for m in motors)),
            Chart("Power of the motors", tuple(f"{m}.power" for m in motors)),
            *(
                (Chart("Currents of the motors", tuple(f"{m}.current" for m in motors)),)
                if self.motor.has_winding
                else ()
            ),
            Chart(
                "Zero-moment point and margin",
                ("support.zmp", "support.static_zmp", "support.margin"),
                main=True,
                names=("zero-moment point", "if held still", "margin"),
            ),
            Chart("Force of the ground", ("support.pressure",)),
        )

    def travel(self) -> Travel:
        weight = self.gravity * (4.0 * self.link_mass + 2.0 * self.foot_mass)
        motors, feet = ("motor_1", "motor_2", "motor_3"), ("foot_1.fz", "foot_2.fz")
        return Travel(
            "travel.distance", ("footsteps",), weight, motors, contacts=feet, planned=True
        )


@jax.jit
def _standing(limbs: Limbs, gait: InchwormGait, table: Schedule, inertial: float) -> Any:
    """The square of the speed's share below which a foot that is not held would stand all along the
    plan; 0 if it tips even while held still.

    Moment and force under the foot are linear in the square of the speed.
    """
    step = jax.tree.map(lambda v: jnp.asarray(v)[:, None], table.steps)
    low, high, made = (jnp.asarray(v)[:, None] for v in (table.low, table.high, table.made))
    s, least = jnp.linspace(0.0, 1.0, 401), jnp.inf
    for move in range(len(MOVES)):
        p = pose(limbs, *feet_at(gait, step, move, s * legs_of(gait, step).durations[move]))
        stands = jnp.where(step.foot > 1.5, 1.0, 0.0)
        still, moving = effort(limbs, p, stands, 0.0), effort(limbs, p, stands, 1.0)
        held, pushed = still.zmp * still.pressure, inertial * (moving.pressure - still.pressure)
        swung = inertial * (moving.zmp * moving.pressure - held)
        for room, slope in (
            (held - low * still.pressure, swung - low * pushed),
            (high * still.pressure - held, high * pushed - swung),
        ):
            square = jnp.where(
                room <= 0,
                0.0,
                jnp.where(slope < 0, room / jnp.where(slope < 0, -slope, 1.0), jnp.inf),
            )
            least = jnp.minimum(least, jnp.min(jnp.where(made > 0, square, jnp.inf)))
    return least


def _numbers(owner: Any) -> list[Any]:
    """The values of its parameters."""
    values = [
        getattr(owner, name) for name, info in describe(owner).items() if info.role == "param"
    ]
    return [v for v in values if v is not None]


def _joint(point: Point, along: Scalar, upward: Scalar) -> Joint:
    """In the house frame."""
    x, y = point
    return Joint(
        x=-x.value,
        z=y.value,
        vx=-x.rate,
        vz=y.rate,
        ax=-x.second,
        az=y.second,
        fx=-along,
        fz=upward,
    )


def _schedule(walker: TwoLegWalker, steps: list[Footstep], stands: list[Stand]) -> Schedule:
    if not steps:
        raise ParameterError(f'the route "{walker.route}" asks for no step at all.', "route")
    durations = np.array(
        [[float(T) for T in legs_of(walker.gait, step).durations] for step in steps]
    )
    ends = np.cumsum(durations).reshape(durations.shape)
    begins = np.concatenate([(ends[:, :1] - durations[:, :1]), ends], axis=1)
    build = Build.of(walker)
    standing = [
        (2 if step.foot == 1 else 1, stand) for step, stand in zip(steps, stands, strict=False)
    ]
    under = np.array([ground_under(build, walker.terrain, foot, stand) for foot, stand in standing])
    room = ROOM * math.ceil(len(steps) / ROOM)

    def column(values: Any) -> np.ndarray:
        array = np.asarray(values, float)
        return np.concatenate([array, np.repeat(array[-1:], room - len(array), axis=0)])

    return Schedule(
        steps=Footstep(
            *(column([step[i] for step in steps]) for i in range(len(Footstep._fields)))
        ),
        stands=Stand(
            *(
                column([stand[i] for stand in stands[: len(steps)]])
                for i in range(len(Stand._fields))
            )
        ),
        begins=column(begins),
        low=column(under[:, 0]),
        high=column(under[:, 1]),
        made=np.where(np.arange(room) < len(steps), 1.0, 0.0),
        count=float(len(steps)),
        total=float(ends[-1, -1]),
    )
