"""Reference values of the differential-drive rimless wheel (shared/physics/rimless-wheel.md,
sections 7 and 8).

They were computed by an independent code (SciPy's Radau and LSODA) from the same model. Where a
page gives a tolerance it is the one used; a value printed with few digits is also allowed half a
unit of its last one."""

import functools
import math
from typing import NamedTuple

import numpy as np
import pytest

from footfall.hybrid.outcome import Outcome
from footfall.machines.parts.terrain.planes import Slope
from footfall.machines.rimless_wheel.pitch_laws import ConstantTorque
from footfall.machines.rimless_wheel.spring_leg import SpringLeg
from footfall.machines.rimless_wheel.torso import Torso
from footfall.machines.rimless_wheel.torso_wheel import TorsoWheel, TorsoWheelState
from footfall.record.trajectory import Trajectory
from support.wheels import (
    FINE,
    GAITS,
    GRAVITY,
    HALF,
    LENGTH,
    MASS,
    SAMPLED,
    SET_B,
    end_of,
    mean_speed,
    run,
    section_after,
    standing,
    steered_start,
    steered_wheel,
    torso_start,
    torso_wheel,
    unbroken_passive_wheel,
    walking_cycle,
)


def close_to_printed(found: float, printed: str, relative: float) -> bool:
    """Within the page's relative tolerance, or half a unit of the last printed digit."""
    mantissa, _, exponent = printed.partition("e")
    digits = len(mantissa.partition(".")[2])
    half_unit = 0.5 * 10.0 ** (int(exponent or 0) - digits)
    return abs(found - float(printed)) <= max(relative * abs(float(printed)), 1.001 * half_unit)


def test_stance_accelerations():
    x = TorsoWheelState(0.2, 0.5, 0.255, -3.0, 0.7, 0.1, 0.0)
    found = [float(a) for a in torso_wheel(SET_B).accelerations(x, 1.2)]
    assert found == pytest.approx([23.208501137, 109.873112580, -3.527036809], abs=1e-8)


@pytest.mark.parametrize(
    ("j1", "j2", "rates", "loss"),
    [
        (0.0, 0.0, (-2.606448177, 0.7, -0.368754019), 0.0),
        (0.02, 0.03, (-2.626903879, 0.669396486, -0.368551999), 0.001468327),
    ],
    ids=["without inertias", "with inertias"],
)
def test_support_transfer(j1, j2, rates, loss):
    wheel = torso_wheel(
        SET_B, wheel_inertia=j1, torso=Torso(mass=4.45, com_distance=0.06, inertia=j2)
    )
    x = TorsoWheelState(-0.3, 0.5, 0.255, -3.0, 0.7, 0.1, 0.0)
    jump = wheel.jump(0.0, x, standing(x).m, 0)
    assert [
        float(jump.x.spoke_rate),
        float(jump.x.torso_rate),
        float(jump.x.spoke_speed),
    ] == pytest.approx(rates, abs=1e-8)
    assert -float(jump.work.impact) == pytest.approx(loss, abs=1e-8)


def test_passive_flow():
    x = TorsoWheelState(0.25, 0.6, 0.25, -4.0, 1.0, 0.0, 0.0)
    done = run(unbroken_passive_wheel(), standing(x), 0.12, FINE)
    names = (
        "spoke_angle",
        "torso_angle",
        "spoke_length",
        "spoke_rate",
        "torso_rate",
        "spoke_speed",
    )
    expected = (-0.269843055, 0.109540635, 0.250164882, -5.620420144, -9.365426314, 0.012661727)
    assert done.outcome is Outcome.reached_end
    assert [done.ending.state[name] for name in names] == pytest.approx(expected, abs=1e-7)
    stored = math.fsum(done.ledger.stored_start.values())
    assert close_to_printed(stored, "18.722", 0.0)
    assert abs(done.ledger.stored_change) < 1e-11 * stored


CYCLE_TABLE = {
    "speed": ("0.67207", "0.60849", "0.90230"),
    "step time": ("0.23902", "0.26234", "0.17723"),
    "step length": ("0.16064", "0.15963", "0.15991"),
    "motor work": ("0.82795", "0.92306", "1.13473"),
    "damper loss": ("0.82793", "0.82960", "1.08531"),
    "released spring": ("0.00002", "0.09346", "0.04942"),
    "mechanical power": ("3.4639", "3.5185", "6.4026"),
    "cost of transport": ("0.07603", "0.08530", "0.10468"),
    "mean torque": ("1.4753", "1.4726", "2.1925"),
    "rms torque": ("1.6652", "1.5084", "2.5593"),
    "mean current per motor": ("4.018", "4.010", "5.971"),
    "spoke angle after": ("0.315137", "0.335192", "0.329427"),
    "spoke rate after": ("-2.74582", "-2.54799", "-3.26147"),
    "torso angle after": ("0.596343", "0.591874", "1.033318"),
    "torso rate after": ("0.01228", "-0.00735", "0.02727"),
    "spoke speed after": ("-0.51924", "-0.46860", "-0.61234"),
    "pitch integral": ("0.036591", "0.036692", "0.053785"),
    "spoke length before": ("0.259835", "0.256470", "0.257433"),
    "spoke angle before": ("-0.313182", "-0.293126", "-0.298892"),
    "spoke rate before": ("-3.39743", "-3.16370", "-4.06302"),
    "least pitch": ("0.5683", "0.5844", "0.9536"),
    "greatest pitch": ("0.6125", "0.6148", "1.0333"),
    "least spoke force": ("44.65", "48.34", "34.70"),
    "greatest spoke force": ("51924", "187", "245"),
}

MULTIPLIERS = {
    "A": (0.63412 + 0.0381j, 0.63412 - 0.0381j),
    "B": (0.66679, 0.62278),
    "B leaning": (0.70115 + 0.0205j, 0.70115 - 0.0205j),
}
NEXT_MODULUS = {"A": "1.8e-3", "B": "1.9e-3", "B leaning": "2.8e-2"}

each_gait = pytest.mark.parametrize("gait", GAITS)


@functools.cache
def measured(gait: str) -> dict[str, float]:
    """One step of the limit cycle, finely sampled.

    The stiff set's force falls within 70 microseconds.
    """
    cycle = walking_cycle(gait)
    wheel = torso_wheel(*GAITS[gait], on_liftoff="report")
    done = run(wheel, cycle.state, 1.001 * cycle.period, FINE, sample_rate=100_000.0)
    (landing,) = done.events
    before, step = landing.row_before, slice(0, landing.row_before + 1)
    mean = lambda values: np.trapezoid(values[step], done.t[step]) / cycle.period  # noqa: E731
    length = done["travel.distance"][before] - done["travel.distance"][0]
    work = done["work.motor"][before]
    x, torque, pitch, force = (
        cycle.state.x,
        done["motor.torque"],
        done["torso_angle"][step],
        done["spoke.force"][step],
    )
    return {
        "speed": length / cycle.period,
        "step time": cycle.period,
        "step length": length,
        "motor work": work,
        "damper loss": -done["work.damper"][before],
        "released spring": done.ledger.jump_losses["released_spring"],
        "mechanical power": work / cycle.period,
        "cost of transport": work / (MASS * GRAVITY * length),
        "mean torque": mean(torque),
        "rms torque": math.sqrt(mean(torque**2)),
        "mean current per motor": mean(done["motor.current"]),
        "spoke angle after": float(x.spoke_angle),
        "spoke rate after": float(x.spoke_rate),
        "torso angle after": float(x.torso_angle),
        "torso rate after": float(x.torso_rate),
        "spoke speed after": float(x.spoke_speed),
        "pitch integral": float(x.pitch_integral),
        "spoke length before": done["spoke_length"][before],
        "spoke angle before": done["spoke_angle"][before],
        "spoke rate before": done["spoke_rate"][before],
        "least pitch": pitch.min(),
        "greatest pitch": pitch.max(),
        "least spoke force": force.min(),
        "greatest spoke force": force.max(),
    }


@each_gait
@pytest.mark.parametrize("quantity", CYCLE_TABLE)
def test_limit_cycle(quantity, gait):
    printed = CYCLE_TABLE[quantity][list(GAITS).index(gait)]
    found = measured(gait)[quantity]
    assert close_to_printed(found, printed, 1e-3), (
        f"{quantity} of {gait}: {found:.7g}, printed {printed}"
    )


def two_leading(multipliers: np.ndarray) -> list[complex]:
    """Of largest modulus; of a pair, the one with the positive imaginary part first."""
    return sorted(
        multipliers[np.argsort(-np.abs(multipliers))][:2],
        key=lambda z: (-round(abs(z), 9), -z.imag),
    )


@each_gait
def test_multipliers_from_the_derivative_through_the_event(gait):
    found = walking_cycle(gait).multipliers
    assert two_leading(found) == pytest.approx(MULTIPLIERS[gait], abs=2e-3)
    assert close_to_printed(abs(found[2]), NEXT_MODULUS[gait], 0.0)


@each_gait
def test_multipliers_from_central_differences(gait):
    """As the page took them.

    Step 2e-5 in six coordinates, the spoke unstretched. The solver's 1e-10 makes 1e-5 of it.
    """
    wheel, at = torso_wheel(*GAITS[gait]), vars(walking_cycle(gait).state.x)
    names, step = (
        ("spoke_angle", "torso_angle", "spoke_rate", "torso_rate", "spoke_speed", "pitch_integral"),
        2e-5,
    )

    def mapped(name: str, by: float) -> np.ndarray:
        x = TorsoWheelState(**{**at, "spoke_length": LENGTH, name: at[name] + by})
        after = section_after(wheel, standing(x), "touchdown")
        assert float(after.spoke_length) == LENGTH
        return np.array([float(getattr(after, n)) for n in names])

    jacobian = np.stack(
        [(mapped(name, step) - mapped(name, -step)) / (2 * step) for name in names], axis=1
    )
    assert two_leading(np.linalg.eigvals(jacobian)) == pytest.approx(MULTIPLIERS[gait], abs=2e-3)


PITCHES = (0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.3, 1.57)
SPEEDS = {
    "A": (None, 0.219, 0.456, 0.577, 0.672, 0.819, 0.926, 1.022, 1.045),
    "B": (None, None, 0.226, 0.474, 0.608, 0.782, 0.902, 1.040, 1.079),
}


@pytest.mark.parametrize("spokes", ["A", "B"])
@pytest.mark.parametrize("pitch", PITCHES)
def test_speed_against_pitch(spokes, pitch):
    """Forty steps; the mean of the last twenty, when even the slowest gait has settled to 1 %."""
    expected = SPEEDS[spokes][PITCHES.index(pitch)]
    done = run(torso_wheel(GAITS[spokes][0], pitch), torso_start(pitch), 60.0, max_jumps=40)
    if expected is None:
        assert done.outcome is Outcome.rocked_back
    else:
        assert done.outcome is Outcome.too_many_jumps and len(done.events_named("touchdown")) == 40
        assert mean_speed(done, 20) == pytest.approx(expected, rel=0.02)


def walk(stiffness: float, damping: float, pitch: float = 0.6) -> Trajectory:
    """Fourteen seconds are forty steps of the slowest of these gaits.

    A foot may pull, and that is recorded.
    """
    leg = SpringLeg(rest_length=LENGTH, stiffness=stiffness, damping=damping)
    wheel = torso_wheel(leg, pitch, gains=(20.0, 0.0, 1.0), on_liftoff="report")
    return run(wheel, torso_start(pitch), 14.0, sample_rate=1000.0)


def settled_least_force(done: Trajectory) -> float:
    """Over the last twenty steps, from samples."""
    landings = done.events_named("touchdown")
    return done["spoke.force"][landings[-21].row_after : landings[-1].row_before].min()


def assert_walks(done: Trajectory) -> None:
    assert done.outcome is Outcome.reached_end and len(done.events_named("touchdown")) >= 40


def assert_stops(done: Trajectory) -> None:
    assert (
        done.outcome in (Outcome.rocked_back, Outcome.fell)
        and len(done.events_named("touchdown")) < 40
    )


@pytest.mark.parametrize("stiffness", [1315.0, 2630.0, 6000.0])
@pytest.mark.parametrize("damping", [20.0, 60.0, 150.0, 400.0, 1000.0])
def test_soft_spokes_stop_unless_heavily_damped(stiffness, damping):
    assert_stops(walk(stiffness, damping))


@pytest.mark.parametrize("stiffness", [1315.0, 2630.0, 6000.0])
@pytest.mark.parametrize("damping", [1e4, 1e5])
def test_soft_spokes_walk_when_heavily_damped(stiffness, damping):
    done = walk(stiffness, damping)
    assert_walks(done)
    assert settled_least_force(done) > 0


@pytest.mark.parametrize("damping", [150.0, 400.0, 1000.0, 1e4, 1e5])
def test_stiff_spokes_walk_on_a_foot_that_pushes(damping):
    done = walk(15000.0, damping)
    assert_walks(done)
    assert settled_least_force(done) > 0


@pytest.mark.parametrize(("damping", "least_force"), [(20.0, -85.0), (60.0, -31.0)])
def test_stiff_spokes_with_little_damping_would_have_to_pull(damping, least_force):
    """They complete the run, but no ground could hold them: an invalid gait."""
    done = walk(15000.0, damping)
    assert_walks(done)
    assert settled_least_force(done) == pytest.approx(least_force, abs=1.0)  # printed to the newton
    # One lift-off a step, and more would be the same one told again.
    assert len(done.events_named("liftoff")) >= 40
    assert len(done.events_named("liftoff")) <= len(done.events_named("touchdown")) + 1


@pytest.mark.parametrize(("pitch", "walks"), [(0.6, False), (0.8, False), (1.0, True), (1.3, True)])
def test_spoke_of_2630_newton_per_metre_walks_only_when_leaning_far(pitch, walks):
    (assert_walks if walks else assert_stops)(walk(2630.0, 60.0, pitch))


@pytest.mark.parametrize("pitch", [1.0, 1.3, 1.6])
@pytest.mark.parametrize("damping", [60.0, 150.0, 400.0])
def test_spoke_of_1315_newton_per_metre_stops_at_every_lean(damping, pitch):
    assert_stops(walk(1315.0, damping, pitch))


class Turn(NamedTuple):
    """Averages from 20 s to 80 s, and the least spoke force from 1 s on (what the page calls after
    start-up).
    """

    speed: float
    yaw_rate: float
    steps_left: int
    steps_right: int
    least_force: float
    most_roll: float

    @property
    def radius(self) -> float:
        return abs(self.speed / self.yaw_rate) if self.yaw_rate else math.inf


@functools.cache
def turn(current: float) -> Turn:
    wheel, start = steered_wheel(current), steered_start()
    settling = run(wheel, start, 20.0, SAMPLED, sample_rate=500.0)
    state = end_of(settling, start)
    done = run(wheel, state, 60.0, SAMPLED)
    assert done.outcome is Outcome.reached_end
    walking = ((settling, settling.t > 1.0), (done, done.t > 0.0))
    least = [
        part[f"{side}_spoke.force"][rows].min()
        for part, rows in walking
        for side in ("left", "right")
    ]
    return Turn(
        speed=(done.ending.state["distance"] - float(state.x.distance)) / 60.0,
        yaw_rate=(done.ending.state["heading"] - float(state.x.heading)) / 60.0,
        steps_left=int(done["steps_left"][-1]),
        steps_right=int(done["steps_right"][-1]),
        least_force=min(least),
        most_roll=float(np.max(np.abs(done["roll"]))),
    )


#: I_d: speed, yaw rate, steps left and right, least force of either spoke
TURNS = {
    0.0: (0.6085, 0.0, 229, 229, 23.8),
    0.1: (0.633, -0.0015, 238, 238, 23.5),
    0.2: (0.653, -0.002, 245, 246, 23.4),
    0.3: (0.656, -0.342, 267, 227, 20.7),
    0.5: (0.649, -0.599, 279, 209, 20.5),
    0.8: (0.632, -0.983, 294, 181, 19.7),
    1.0: (0.595, -1.28, 298, 149, 19.6),
    1.2: (0.620, -1.34, 311, 155, 19.4),
}
RADII = {0.3: 1.92, 0.5: 1.083, 0.8: 0.644, 1.0: 0.464, 1.2: 0.463}


@pytest.mark.parametrize("current", TURNS)
def test_turning_speed_and_step_counts(current):
    speed, _, left, right, _ = TURNS[current]
    found = turn(current)
    assert found.speed == pytest.approx(speed, rel=0.02)
    assert (found.steps_left, found.steps_right) == pytest.approx((left, right), abs=2)


@pytest.mark.parametrize("current", RADII)
def test_turning_radius_and_direction(current):
    found = turn(current)
    assert found.radius == pytest.approx(RADII[current], rel=0.05)
    assert found.yaw_rate == pytest.approx(TURNS[current][1], rel=0.05)


@pytest.mark.parametrize("current", [0.0, 0.1, 0.2])
def test_sides_locked_in_phase_walk_straight(current):
    """The dead band. At 0.2 A, near its edge, the yaw rate depends on window and start; that it is
    next to nothing does not.
    """
    assert turn(current).radius > 100


@pytest.mark.parametrize("current", TURNS)
def test_turning_feet_never_pull(current):
    """The page gives no tolerance, and its minima are over its output points.

    Finer ones lie a little lower, never higher.
    """
    printed, found = TURNS[current][-1], turn(current).least_force
    assert 0.97 * printed < found < printed + 0.06  # 0.05 is half a unit
    assert turn(current).most_roll < 0.04


def test_yaw_rate_follows_from_the_step_counts():
    """Section 7's kinematics:

    (N_right - N_left) d / (2 b t), d the step length. The page: -0.602 against -0.599.
    """
    found = turn(0.5)
    length = 2.0 * found.speed * 60.0 / (found.steps_left + found.steps_right)
    assert (found.steps_right - found.steps_left) * length / (0.31 * 60.0) == pytest.approx(
        found.yaw_rate, rel=0.01
    )


@pytest.mark.parametrize(
    ("slope", "torque", "rate", "step_time"),
    [
        (0.08, 0.0, 3.284215, 0.251518),
        (0.12, 0.0, 4.019927, 0.192086),
        (0.0, 1.2, 3.056464, 0.280349),
    ],
    ids=["slope 0.08", "slope 0.12", "torque 1.2"],
)
def test_full_model_with_stiff_spokes_and_no_torso_is_nearly_the_rigid_wheel(
    slope, torque, rate, step_time
):
    """Forty steps: what is left of the start is 0.655^40.

    The torso is a flywheel that only takes the motor's reaction.
    """
    wheel = TorsoWheel(
        wheel_mass=MASS, gravity=GRAVITY, spokes=10, terrain=Slope(angle=slope), controller=ConstantTorque(value=torque),
        leg=SpringLeg(rest_length=LENGTH, stiffness=1e7, damping=1e5), torso=Torso(mass=0.0, com_distance=0.0, inertia=1.0),
    )  # fmt: skip
    done = run(
        wheel, standing(TorsoWheelState(HALF, 0.0, LENGTH, -3.0, 0.0, 0.0, 0.0)), 20.0, max_jumps=40
    )
    landings = done.events_named("touchdown")
    assert len(landings) == 40
    assert -done["spoke_rate"][landings[-1].row_before] == pytest.approx(rate, rel=1e-4)
    assert landings[-1].t - landings[-2].t == pytest.approx(step_time, rel=1e-4)
