"""Reference figures of the two-leg walker on a step (shared/physics/two-leg-walker.md, section 6,
and the errata of section 7).

Where the page gives a tolerance it is the one used; a value printed with few digits and without one
is allowed half a unit of its last digit. All designs of its tables are evaluated in one call: a
design is a lane."""

import functools
import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from footfall.engines.simulate import simulate
from footfall.hybrid.fields import ParameterError
from footfall.hybrid.outcome import Outcome
from footfall.machines.two_leg.course import Footstep, Verb
from footfall.machines.two_leg.figures import Figures, figures
from footfall.machines.two_leg.gait import InchwormGait
from footfall.machines.two_leg.kinematics import Limbs, Motion, Point, balance, bodies, effort, pose
from footfall.machines.two_leg.moves import MOVES, feet_at, legs_of
from footfall.machines.two_leg.robots import two_leg_walker
from footfall.machines.two_leg.route import blocks_of
from footfall.machines.two_leg.walker import TwoLegWalker
from footfall.record.trajectory import Trajectory
from footfall.scenario.load import load

LENGTH, MASS, GRAVITY = 0.1, 0.1, 9.81
ROD = MASS * LENGTH**2 / 12
STEP = 0.05
GAINED = 4 * MASS * GRAVITY * STEP
SAMPLES = 4001  # "at least 4000 samples per move, trapezoid rule"


def printed(text: str) -> Any:
    """A printed number, give or take half a unit of its last digit."""
    return pytest.approx(float(text), rel=0, abs=0.5001 * 10.0 ** -len(text.partition(".")[2]))


# --- every design at once -------------------------------------------------------------------------


class Design(NamedTuple):
    """What differs from section 1."""

    lift: float = 0.01
    stride: float = 0.08
    speed: float = 0.05
    inertia: float = 0.0
    gravity: float = GRAVITY
    apart: float = 0.1
    start: float = 0.0  #: of foot 1
    foot_2_first: bool = False


LIFTS, STRIDES = (0.005, 0.01, 0.02), (0.04, 0.06, 0.08, 0.09)
GRID = [Design(lift=lift, stride=stride) for lift in LIFTS for stride in STRIDES]
USUAL, LOW = Design(), Design(lift=0.005)
FAST = [
    Design(speed=v, inertia=i)
    for v, i in ((0.05, ROD), (0.1, 0.0), (0.2, 0.0), (0.5, 0.0), (0.5, ROD))
]
OTHER = [
    LOW._replace(inertia=ROD),
    Design(gravity=9.8),
    Design(apart=0.0995),
    Design(apart=0.1005),
    Design(apart=0.18, foot_2_first=True),
    Design(start=-0.05),
    Design(start=0.05),
]
DESIGNS = [*GRID, *FAST, *OTHER]


def course(lanes: Design) -> Footstep:
    """walk -0.49; climb 0.05; walk_to -1.0, footsteps on the first axis, designs on the second."""
    walker = TwoLegWalker(
        gait=InchwormGait(stride=lanes.stride, lift=lanes.lift), separation=lanes.apart
    )
    # Foot 1 of a lane starts at 0 as all do; that it started elsewhere is a goal elsewhere.
    verbs = [Verb("walk", -0.49), Verb("climb", STEP), Verb("walk_to", -1.0 - lanes.start)]
    rows = [step for block in blocks_of(walker, verbs) for step in block.steps]
    for i in range(0, len(rows), 2):
        lead, follow = rows[i : i + 2]
        pick = functools.partial(np.where, lanes.foot_2_first)
        narrow = lead.apart + lead.across
        rows[i : i + 2] = [
            lead._replace(foot=pick(2, lead.foot)),
            follow._replace(
                foot=pick(1, follow.foot),
                apart=pick(narrow, follow.apart),
                above=pick(follow.rise, follow.above),
            ),
        ]
    return Footstep(
        *(
            jnp.stack([np.broadcast_to(np.float64(v), lanes.lift.shape) for v in column])
            for column in zip(*rows, strict=False)
        )
    )


def limbs_of(design: Design) -> Limbs:
    return Limbs(LENGTH, MASS, design.inertia, 0.1, 0.0, design.gravity)


@functools.cache
def evaluated() -> dict[Design, Figures]:
    """Figures of every design."""
    lanes = Design(*(np.array(column) for column in zip(*DESIGNS, strict=True)))
    limbs = jax.tree.map(lambda v: np.broadcast_to(np.float64(v), (len(DESIGNS),)), limbs_of(lanes))
    gait = InchwormGait(lift=lanes.lift, stride=lanes.stride, speed=lanes.speed)
    found = jax.jit(figures, static_argnames="samples")(limbs, gait, course(lanes), samples=SAMPLES)
    found = jax.tree.map(np.asarray, found)
    return {
        design: jax.tree.map(lambda v, i=i: float(v[i]), found) for i, design in enumerate(DESIGNS)
    }


def efficiency(found: Figures, side: str = "static") -> float:
    """In per cent."""
    return 100 * found.gain / math.fsum(getattr(found, side).energy)


# --- samples of moves, for what `figures` adds up -------------------------------------------------


class Samples(NamedTuple):
    """Along the course: axes (footstep, move, sample), motors first where there are three."""

    foot: np.ndarray  #: that moves
    duration: np.ndarray
    times: np.ndarray
    turn_rates: np.ndarray
    turn_seconds: np.ndarray
    torques: np.ndarray  #: Q
    still_torques: np.ndarray
    potential: np.ndarray
    kinetic: np.ndarray

    def integral(self, values: np.ndarray) -> np.ndarray:
        """Of every move, by the trapezoid rule."""
        ends = 0.5 * (values[..., 0] + values[..., -1])
        return self.duration[..., 0] * (values.sum(axis=-1) - ends) / (values.shape[-1] - 1)

    @property
    def single_step(self) -> "Samples":
        """The first pair of the course is a flat step from d0."""
        return Samples(*(v[:, :2] if v.ndim == 4 else v[:2] for v in self))


@jax.jit
def _samples(limbs: Limbs, gait: InchwormGait, steps: Footstep) -> Samples:
    move, s = jnp.arange(len(MOVES))[:, None], jnp.linspace(0.0, 1.0, SAMPLES)
    duration = jnp.stack(legs_of(gait, steps).durations, axis=1)[..., None]
    step = Footstep(*(v[:, None, None] for v in steps))
    p = pose(limbs, *feet_at(gait, step, move, s * duration))
    whole = balance(limbs, bodies(limbs, p))
    first_stands = jnp.where(step.foot > 1.5, 1.0, 0.0)
    shape = jnp.broadcast_shapes(step.foot.shape, move.shape, s.shape)
    spread = lambda values: jnp.stack([jnp.broadcast_to(v, shape) for v in values])  # noqa: E731
    return Samples(
        step.foot,
        duration,
        steps.times,
        spread([turn.rate for turn in p.turns]),
        spread([turn.second for turn in p.turns]),
        spread(effort(limbs, p, first_stands).torques),
        spread(effort(limbs, p, first_stands, 0.0).torques),
        whole.potential,
        whole.kinetic,
    )


@functools.cache
def samples(design: Design = USUAL) -> Samples:
    one = Design(*(np.array([v]) for v in design))
    steps = jax.tree.map(lambda v: v[:, 0], course(one))
    gait = InchwormGait(lift=design.lift, stride=design.stride, speed=design.speed)
    limbs = jax.tree.map(np.float64, limbs_of(design))
    return jax.tree.map(np.asarray, _samples(limbs, gait, steps))


# --- kinematics -----------------------------------------------------------------------------------

KINEMATICS = {
    (0.15, 0.05): (33.8038, 75.5225, 70.6737),
    (0.12, 0.00): (36.8699, 106.2602, 36.8699),
    (0.10, 0.00): (30, 120, 30),
    (0.18, -0.05): (84.6037, 41.8409, 53.5554),
    (0.18, 0.06): (53.1301, 36.8699, 90),
}


def stood(u: float, v: float) -> tuple[Point, Point]:
    """Feet at rest, foot 1 at the origin."""
    return Point(Motion(0.0), Motion(0.0)), Point(Motion(u), Motion(v))


@pytest.mark.parametrize("feet", KINEMATICS)
def test_inverse_kinematics(feet):
    turns = pose(limbs_of(USUAL), *stood(*feet)).turns
    assert np.degrees([float(turn.value) for turn in turns]) == pytest.approx(
        KINEMATICS[feet], rel=0, abs=1e-4
    )


def test_the_reports_75_54_degrees_come_from_rounding_the_distance_of_the_feet_first():
    """Errata 4: alpha rounded to 0.1581, theta_3 from rounded angles. theta_1 is right."""
    alpha = round(math.hypot(0.15, 0.05), 4)
    theta_2 = round(math.degrees(2 * math.acos(alpha / (2 * LENGTH))), 2)
    assert (alpha, theta_2, round(180 - 33.80 - theta_2, 2)) == (0.1581, 75.54, 70.66)
    right = np.degrees(
        [float(turn.value) for turn in pose(limbs_of(USUAL), *stood(0.15, 0.05)).turns]
    )
    assert [round(v, 2) for v in right] == [33.80, 75.52, 70.67]


# --- static, whole terrain ------------------------------------------------------------------------

STATIC = {
    "time": (53.2, 47.6, 1e-9),
    "tau_1": (0.362535, 0.362535, 1e-5),
    "tau_2": (0.147150, 0.146977, 1e-5),
    "tau_3": (0.353160, 0.353160, 1e-5),
    "energy": (4.64406, 4.27304, 1e-4),
    "energy of motor 1": (2.57232, 2.39453, 1e-4),
    "energy of motor 2": (1.75236, 1.68000, 1e-4),
    "energy of motor 3": (0.31938, 0.19852, 1e-4),
    "change of potential energy": (0.1962, 0.1962, 1e-6),
    "efficiency": (4.22475, 4.59157, 2e-4),
    "least distance of the centre of mass": (0.03955, 0.04011, 1e-5),
    "greatest distance of the centre of mass": (0.09239, 0.09239, 1e-5),
}


def static_figures(design: Design) -> dict[str, float]:
    found = evaluated()[design]
    return {
        "time": found.time,
        **{f"tau_{i}": peak for i, peak in enumerate(found.static.peak_torque, start=1)},
        "energy": math.fsum(found.static.energy),
        **{f"energy of motor {i}": energy for i, energy in enumerate(found.static.energy, start=1)},
        "change of potential energy": found.gain,
        "efficiency": efficiency(found),
        "least distance of the centre of mass": found.static.least_zmp,
        "greatest distance of the centre of mass": found.static.most_zmp,
    }


@pytest.mark.parametrize("design", [USUAL, LOW], ids=["10 mm", "5 mm"])
@pytest.mark.parametrize("quantity", STATIC)
def test_static_whole_terrain(quantity, design):
    *expected, tolerance = STATIC[quantity]
    assert static_figures(design)[quantity] == pytest.approx(
        expected[design is LOW], rel=0, abs=tolerance
    )


def test_the_reports_own_figures_where_they_follow_from_its_model():
    usual, low = static_figures(USUAL), static_figures(LOW)
    names = ("tau_1", "tau_2", "tau_3", "energy", "change of potential energy", "efficiency")
    for name, text in zip(
        names, ("0.363", "0.147", "0.353", "4.644", "0.196", "4.225"), strict=True
    ):
        assert usual[name] == printed(text), name
    assert low["efficiency"] == printed("4.592")


@pytest.mark.parametrize("lift", [0.01, 0.005])
def test_where_the_walk_ends(lift):
    table = two_leg_walker(gait=InchwormGait(lift=lift)).schedule
    # 14 steps of two feet; rows beyond repeat the last.
    assert table is not None and np.argmax(table.begins[:, -1]) + 1 == 28
    last = 27
    step = Footstep(*(v[last] for v in table.steps))
    stand = type(table.stands)(*(v[last] for v in table.stands)).after(step)
    assert stand == pytest.approx((-1.0, 0.05, -0.9, 0.05), rel=0, abs=1e-9)


def test_closed_forms_of_the_peak_torques():
    """Each is reached at a sample (an end of a move, or a thigh level).

    Rounding, and for tau_2 the nearest sample's error squared.
    """
    tau = evaluated()[USUAL].static.peak_torque
    assert tau[2] == pytest.approx(2 * MASS * GRAVITY * 0.18, rel=1e-12)
    assert tau[1] == pytest.approx(1.5 * MASS * GRAVITY * LENGTH, rel=1e-7)
    foot_2_leaves = effort(limbs_of(USUAL), pose(limbs_of(USUAL), *stood(0.18, -0.05)), 1.0, 0.0)
    assert tau[0] == pytest.approx(-float(foot_2_leaves.torques[0]), rel=1e-12)


def moves_of_the_report() -> list[float]:
    """Distances of its moves, as its loops make them.

    A foot lands where its cubic ends, and a walk's last stride is what remains.
    """
    x, moves = 0.0, []

    def step(dx: float, climb: float = 0.0) -> None:
        nonlocal x
        moves.extend(2 * [climb + 0.01, dx, 0.01])
        T = abs(dx) / 0.05
        x += dx * T**2 * (3 * T - 2 * T) / T**3

    def walk(distance: float) -> None:
        goal = x + distance
        while x + -0.08 > goal + 1e-9:
            step(-0.08)
        step(goal - x)

    walk(-0.49)
    step(-0.08, STEP)
    walk(-1.0 - x)
    return [abs(move) for move in moves]


def test_the_reports_53_119_seconds_are_sample_counts_cut_off():
    """Errata 3: a first sample and int(T/dt) more a move, 1 ms apart.

    In binary most T/dt are just below a whole number.
    """
    dt, moves = 0.001, moves_of_the_report()
    assert len(moves) == 84 and math.fsum(moves) == pytest.approx(2.66, rel=1e-12)
    counts = [move / 0.05 / dt for move in moves]
    assert 1 + sum(int(n) for n in counts) == 53119
    assert sum(int(n) < round(n) for n in counts) == 82
    assert sum(round(n) for n in counts) == 53200  # what is right


# --- one flat step --------------------------------------------------------------------------------


def test_energy_and_net_work_of_each_move_of_a_flat_step():
    step = samples().single_step
    powers = step.still_torques * step.turn_rates
    energy = step.integral(np.maximum(powers, 0.0)).sum(axis=0).ravel()
    net = step.integral(powers).sum(axis=0).ravel()
    assert energy == pytest.approx(
        [0.0190573, 0.1352969, 0, 0.0192723, 0.1772781, 0], rel=0, abs=1e-5
    )
    assert energy.sum() == pytest.approx(0.350905, rel=0, abs=1e-5)
    expected = [0.0190573, -0.0419813, -0.0192723, 0.0192723, 0.0419813, -0.0190573]
    assert net == pytest.approx(expected, rel=0, abs=1e-5)
    assert net.sum() == pytest.approx(0.0, abs=1e-9)  # the trapezoid rule leaves 1e-10 J of a move
    assert step.duration.ravel() == pytest.approx([0.2, 1.6, 0.2] * 2, rel=1e-12)


def test_peak_joint_accelerations():
    """The report's "barely above 15" is right for a single step (errata 8)."""
    step = np.abs(samples().single_step.turn_seconds).max(axis=(1, 2, 3))
    assert step == pytest.approx([15.715, 4.323, 15.715], rel=0, abs=0.005)
    assert evaluated()[USUAL].peak_turn_acceleration == pytest.approx(
        [15.715, 17.919, 15.715], rel=0, abs=0.005
    )


def test_kinetic_energy_of_a_flat_step_against_the_swing_of_its_potential_energy():
    step = {
        (v, i): samples(Design(speed=v, inertia=i)).single_step
        for v in (0.05, 0.5)
        for i in (0.0, ROD)
    }
    peak = {key: float(s.kinetic.max()) for key, s in step.items()}
    potential = step[0.05, 0.0].potential
    swing = float(potential.max() - potential.min())
    assert swing == printed("0.0613")
    assert peak[0.5, 0.0] == printed("0.0546") and peak[0.05, 0.0] == printed("0.000546")
    # errata 6 and 7, in per cent
    assert 100 * peak[0.05, 0.0] / swing == printed("0.9")
    assert 100 * peak[0.5, 0.0] / swing == pytest.approx(89, abs=0.5) and 100 * peak[
        0.5, ROD
    ] / swing == pytest.approx(97, abs=0.5)
    assert 100 * (peak[0.5, ROD] / peak[0.5, 0.0] - 1) == printed("8.6")


@pytest.mark.parametrize(("speed", "text"), [(0.05, "0.0075"), (0.5, "0.75")])
def test_the_motor_of_the_lifted_foot_holds_nothing_but_must_accelerate_its_shank(speed, text):
    """m (L/2) 6 v^2/|D|: over the terrain, whose shortest stride is 1 cm.

    (Of the step of 8 cm it is an eighth of that.)
    """
    s = samples(Design(speed=speed))
    for motor, foot in ((0, 1), (2, 2)):
        rows = (s.foot[:, 0, 0] == foot) & (s.times > 0)
        assert np.abs(s.still_torques[motor, rows]).max() < 1e-15  # rounding of 0.3 N m
        assert np.abs(s.torques[motor, rows]).max() == printed(text)
        assert np.abs(s.torques[motor, rows]).max() == pytest.approx(
            MASS * LENGTH / 2 * 6 * speed**2 / 0.01, rel=1e-9
        )
        assert np.abs(s.single_step.torques[motor, foot - 1]).max() == pytest.approx(
            MASS * LENGTH / 2 * 6 * speed**2 / 0.08, rel=1e-9
        )


def test_inertial_torque_is_small_at_5_cm_a_second_and_rules_at_50():
    """Errata 9: 0.0447 N m, and a hundred times as much at ten times the speed; half the lift
    doubles it.
    """
    inertial = {
        d: np.abs(s.torques - s.still_torques).max()
        for d in (USUAL, LOW, Design(speed=0.5))
        for s in (samples(d),)
    }
    assert inertial[USUAL] == printed("0.0447") and inertial[Design(speed=0.5)] == printed("4.47")
    # Exactly 2 for poses that do not depend on the lift.
    assert inertial[LOW] / inertial[USUAL] == pytest.approx(2.0, rel=0.01)


# --- tables ---------------------------------------------------------------------------------------

EFFICIENCY = {
    0.005: ((5.7005, 52.4), (5.2858, 49.2), (4.5916, 47.6), (4.1496, 46.8)),
    0.01: ((4.8480, 62.8), (4.7161, 56.4), (4.2248, 53.2), (3.8568, 51.6)),
    0.02: ((3.7710, 83.6), (3.9087, 70.8), (3.6556, 64.4), None),
}


@pytest.mark.parametrize("lift", LIFTS)
@pytest.mark.parametrize("stride", STRIDES)
def test_static_efficiency_over_lift_and_stride(stride, lift):
    expected = EFFICIENCY[lift][STRIDES.index(stride)]
    found = evaluated()[Design(lift=lift, stride=stride)]
    if expected is None:
        assert found.least_reach < 0
        with pytest.raises(
            ParameterError, match=r'footstep 13 \(of "climb 0.05"\): foot 1 is out of reach'
        ):
            two_leg_walker(gait=InchwormGait(lift=lift, stride=stride))
        return
    assert found.least_reach > 0
    assert efficiency(found) == pytest.approx(expected[0], rel=0, abs=5e-4)
    assert found.time == pytest.approx(expected[1], rel=0, abs=1e-9)


#: (speed, inertia): torques, energy, efficiency, peak kinetic energy, least force of the ground
DYNAMIC = {
    (0.05, 0.0): ((0.39783, 0.16556, 0.39783), 4.64541, "4.2235", "0.000606", "3.635"),
    (0.05, ROD): ((0.39922, 0.16667, 0.39922), 4.64548, "4.2235", "0.000633", "3.635"),
    (0.1, 0.0): ((0.53183, 0.22274, 0.53183), 4.64945, "4.2199", "0.002423", "2.767"),
    (0.2, 0.0): ((1.06783, 0.46935, 1.06783), 4.75946, "4.1223", "0.009692", "-0.706"),
    (0.5, 0.0): ((4.81983, 2.48072, 4.81983), 7.19182, "2.7281", "0.060575", "-25.01"),
    (0.5, ROD): ((4.95872, 2.54028, 4.95872), 7.40077, "2.6511", "0.063308", "-25.01"),
}


@pytest.mark.parametrize(
    "row", DYNAMIC, ids=[f"{v:g} {'rod' if i else 'point'}" for v, i in DYNAMIC]
)
def test_dynamic_whole_terrain(row):
    torques, energy, share, kinetic, pressure = DYNAMIC[row]
    found = evaluated()[Design(speed=row[0], inertia=row[1])]
    assert found.dynamic.peak_torque == pytest.approx(torques, rel=1e-4)
    assert math.fsum(found.dynamic.energy) == pytest.approx(energy, rel=2e-4)
    assert efficiency(found, "dynamic") == printed(share)
    assert found.peak_kinetic == printed(kinetic)
    assert found.least_pressure == printed(pressure)


def test_static_figures_do_not_depend_on_speed_or_inertia():
    """The first row of the dynamic table: "any". Rounding only."""
    for design in FAST:
        assert jax.tree.leaves(evaluated()[design].static) == pytest.approx(
            jax.tree.leaves(evaluated()[USUAL].static), rel=1e-12
        )
    still = effort(limbs_of(USUAL), pose(limbs_of(USUAL), *stood(0.18, -0.05)), 1.0, 0.0)
    assert float(still.pressure) == printed("3.924")  # its force of the ground is the weight


def test_how_much_motion_adds():
    """In words: 10 to 13 % of torque and 0.03 % of energy at 0.05 m/s; 13 to 17 times the torque,
    55 or 59 % more energy at 0.5.
    """
    still = evaluated()[USUAL].static
    ratio = lambda d: np.array(evaluated()[d].dynamic.peak_torque) / still.peak_torque  # noqa: E731
    more = lambda d: 100 * (math.fsum(evaluated()[d].dynamic.energy) / math.fsum(still.energy) - 1)  # noqa: E731
    slow = np.concatenate([ratio(USUAL), ratio(Design(inertia=ROD))])
    assert slow.min() > 1.095 and slow.max() < 1.135  # printed to the per cent
    assert more(USUAL) == printed("0.03")
    fast = ratio(Design(speed=0.5))
    assert fast.min() > 12.5 and fast.max() < 17.5
    assert more(Design(speed=0.5)) == pytest.approx(55, abs=0.5)
    assert more(Design(speed=0.5, inertia=ROD)) == pytest.approx(59, abs=0.5)


@pytest.mark.parametrize(
    ("design", "lift_off", "tip"),
    [
        (USUAL, "0.1841", "0.0732"),
        (USUAL._replace(inertia=ROD), "0.1841", "0.0706"),
        (LOW, "0.1290", "0.0518"),
        (LOW._replace(inertia=ROD), "0.1290", "0.0499"),
    ],
    ids=["10 mm point", "10 mm rod", "5 mm point", "5 mm rod"],
)
def test_speed_limits_of_feet_that_nothing_holds_down(design, lift_off, tip):
    """A foot lifts off above the first, and the zero-moment point passes the foot's end above the
    second.
    """
    found = evaluated()[design]
    assert design.speed * found.liftoff**0.5 == printed(lift_off)
    assert design.speed * found.tip**0.5 == printed(tip)


def test_speed_limits_do_not_depend_on_the_speed_they_are_reckoned_at():
    """The inertial part grows with the square of the speed, exactly: rounding only."""

    def limits(d):
        return [d.speed * k for k in (evaluated()[d].liftoff ** 0.5, evaluated()[d].tip ** 0.5)]

    assert limits(Design(speed=0.5)) == pytest.approx(limits(USUAL), rel=1e-10)


# --- how firmly the unstated choices are fixed ----------------------------------------------------


def static_energy(design: Design) -> float:
    return math.fsum(evaluated()[design].static.energy)


@pytest.mark.parametrize(
    ("design", "text"),
    [
        (Design(apart=0.0995), "4.613"),
        (Design(apart=0.1005), "4.676"),
        (Design(gravity=9.8), "4.639"),
        (OTHER[4], "4.753"),
    ],
    ids=["feet closer", "feet further apart", "another gravity", "foot 2 first"],
)
def test_another_reading_of_the_report_gives_another_energy(design, text):
    assert static_energy(design) == printed(text)


def test_foot_2_first_has_another_torque_and_another_start_another_time():
    assert evaluated()[OTHER[4]].static.peak_torque[0] == printed("0.3532")
    for start, change in ((-0.05, -2.8), (0.05, 2.0)):
        moved = Design(start=start)
        assert evaluated()[moved].time - evaluated()[USUAL].time == pytest.approx(change, abs=1e-9)
        # "about 5 %".
        assert abs(static_energy(moved) / static_energy(USUAL) - 1) == pytest.approx(
            0.05, abs=0.015
        )


def test_clipping_the_sum_counting_braking_or_forgetting_the_sign_gives_other_energies():
    s = samples()
    powers = s.still_torques * s.turn_rates
    energy = lambda values: float((s.integral(values) * s.times[:, None]).sum())  # noqa: E731
    # The same samples.
    assert energy(np.maximum(powers, 0.0).sum(axis=0)) == pytest.approx(
        static_energy(USUAL), rel=1e-12
    )
    assert energy(np.maximum(powers.sum(axis=0), 0.0)) == printed("1.243")
    assert energy(np.abs(powers).sum(axis=0)) == printed("9.092")
    tau_as_if_on_foot_1 = np.where(s.foot > 1.5, powers, -powers)
    forgotten = energy(np.maximum(tau_as_if_on_foot_1, 0.0).sum(axis=0))
    assert forgotten == printed("5.075") and 100 * GAINED / forgotten == printed("3.866")


# --- the same plan, run by the event engine -------------------------------------------------------


@functools.cache
def climbed() -> Trajectory:
    """`footfall run two-leg-step`, rows at moves only."""
    experiment = load("two-leg-step", ["sim.sample_rate=auto"])
    return simulate(experiment.system, experiment.start, experiment.plan)


def test_the_scenario_arrives_after_84_moves_where_the_page_says():
    done = climbed()
    # The last footstep counts, too.
    assert done.outcome is Outcome.arrived and done.ending.jumps == 84
    assert done.ending.t == pytest.approx(53.2, rel=0, abs=1e-9)
    seen = [float(done[name][-1]) for name in ("foot_1.x", "foot_1.z", "foot_2.x", "foot_2.z")]
    # House frame: forward is positive.
    assert seen == pytest.approx([1.0, 0.05, 0.9, 0.05], rel=0, abs=1e-9)


def test_the_ledger_of_the_run_has_the_works_of_the_figures():
    """Two quadratures of powers with kinks where they are clipped.

    The engine's at 1e-8 a step, the trapezoid's 4000 intervals.
    """
    ledger, side = climbed().ledger, evaluated()[USUAL].dynamic
    names = [f"motor_{i}" for i in (1, 2, 3)]
    assert [ledger.work[name] for name in names] == pytest.approx(side.energy, rel=1e-6)
    assert [ledger.losses[name.replace("motor", "braking")] for name in names] == pytest.approx(
        side.returned, rel=1e-6
    )
    assert ledger.stored_change == pytest.approx(GAINED, rel=1e-12)
    assert ledger.relative_residual < 1e-9  # 1e-8 a step, a thousand steps, errors of both signs


def test_with_the_edge_at_half_a_metre_the_climb_needs_a_foot_that_is_held():
    """Errata 12: foot 1 at -0.57 overhangs from -0.5 on, and the centre of mass is 22 mm beyond the
    edge when foot 2 lifts.
    """
    done = climbed()
    row = done.events[3 * 15 - 1].row_after  # seven steps, and foot 1 of the climb
    assert done["support.foot"][row] == 1 and -done["foot_1.x"][row] == pytest.approx(
        -0.57, abs=1e-12
    )
    ahead = float(done["support.static_zmp"][row])
    assert -0.57 + ahead == printed("-0.4776")
    assert 1e3 * (-0.57 + ahead + 0.5) == pytest.approx(22, abs=0.5)
    ground_ends = float(done["support.zmp"][row] + done["support.margin"][row])
    assert ground_ends == pytest.approx(0.07, abs=1e-12)
