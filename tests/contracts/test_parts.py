"""Every part in the catalogue keeps its slot's contract; every robot runs with every part that
fits.
"""

import inspect
import itertools
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from footfall import check_system, load, simulate
from footfall.engines.lanes.batch import run_batch
from footfall.engines.lanes.batch_plan import BatchPlan
from footfall.hybrid.fields import describe
from footfall.hybrid.motion_plan import AbstractMotionPlan
from footfall.hybrid.rigid_bodies import AbstractRigidBodies
from footfall.machines.centipede.walker import SegmentedWalker
from footfall.machines.control.lockstep import ClosedLoop
from footfall.machines.parts.actuators.base import AbstractMotor
from footfall.machines.parts.terrain.base import AbstractPlane, AbstractTerrain
from footfall.machines.rimless_wheel.leg import AbstractCompliantLeg
from footfall.machines.rimless_wheel.pitch_controller import AbstractPitchController
from footfall.machines.water_runner.compliant_feet import Hinge
from footfall.machines.water_runner.drive import AbstractDrive
from footfall.machines.water_runner.foot import AbstractFoot, FootPoint
from footfall.machines.water_runner.pads import PadMode
from footfall.machines.water_runner.runner import FourBarRunner
from footfall.machines.water_runner.tail import AbstractTail
from footfall.machines.water_runner.wet_disc import NO_LOAD, Medium
from footfall.scenario.catalog import PARTS, ROBOTS, kinds_for
from footfall.scenario.document import slot_path, slot_types
from footfall.scenario.known_parts import kept_parts, made_parts
from footfall.scenario.schema import table_model
from support.batches import op_by_op


def kinds(base):
    return sorted(kinds_for(base))


def test_what_footfall_list_shows_is_what_the_catalogue_holds():
    assert kept_parts() == made_parts(), (
        "out of date: run `make format`, or python -m footfall.scenario.known_parts"
    )


@pytest.mark.parametrize("kind", sorted(PARTS))
def test_a_part_has_defaults_a_meaning_and_a_schema(kind):
    cls = PARTS[kind]
    part = cls()
    assert inspect.getdoc(cls)
    for name, info in describe(cls).items():
        assert info.doc, f"{kind}.{name} says nothing about itself"
    values = {n: getattr(part, n) for n, info in describe(cls).items() if info.role != "part"}
    again = cls(**table_model(cls).model_validate(values).model_dump())
    assert {n: getattr(again, n) for n in values} == values


@pytest.mark.parametrize("kind", kinds(AbstractCompliantLeg))
def test_a_legs_force_is_minus_the_slope_of_its_energy_less_what_its_loss_says(kind):
    leg = PARTS[kind]()
    rest = leg.rest_length
    assert leg.energy(rest) == 0.0 and leg.force(rest, 0.0) == 0.0
    for length, rate in itertools.product(
        rest + np.array([-0.02, -0.003, 0.001]), (-0.7, 0.0, 0.4)
    ):
        slope = jax.grad(leg.energy)(jnp.asarray(length))
        loss = leg.loss(length, rate)
        assert loss >= 0
        # Both sides are sums of a few terms of this size: rounding.
        assert leg.force(length, rate) * rate == pytest.approx(
            float(-slope * rate - loss), rel=1e-12, abs=1e-12
        )
    assert leg.force(rest - 0.005, 0.0) > 0 > leg.force(rest + 0.005, 0.0)


@pytest.mark.parametrize("kind", kinds(AbstractMotor))
def test_a_motor_gives_what_is_asked_up_to_a_limit_and_heats_never_less_than_nothing(kind):
    motor = PARTS[kind]()
    assert motor.torque(0.1) == pytest.approx(0.1)
    limit = motor.torque(1e9)
    assert np.isfinite(limit) and motor.torque(-1e9) == -limit and motor.torque(2 * limit) == limit
    assert motor.heat(limit) >= 0 and motor.current(0.0) == 0


def test_winding_heat_is_resistance_times_current_squared():
    motor = PARTS["dc-motor"](resistance=0.2)
    assert motor.current(0.1836) == pytest.approx(1.0)  # G K_t = 5.4 x 0.034 N m per ampere
    assert motor.heat(0.1836 * 3) == pytest.approx(0.2 * 9)


@pytest.mark.parametrize("kind", kinds(AbstractPitchController))
def test_a_pitch_law_is_at_rest_at_its_set_point_unless_it_is_a_constant(kind):
    law = PARTS[kind]()
    still = law.torque(0.0, 0.0, 0.0)
    assert still == (law.value if kind == "constant-torque" else 0.0)
    assert law.integral_rate(0.0, 0.0) == 0.0


def test_the_integral_part_stops_at_its_limit_and_leaves_it_at_once():
    law = PARTS["pid"](integral=40.0, integral_limit=2.0)
    assert law.integral_rate(0.1, 0.04) == pytest.approx(0.1)
    assert law.integral_rate(0.1, 0.05) == 0.0
    assert law.integral_rate(-0.1, 0.05) == pytest.approx(-0.1)
    assert law.integral_rate(-0.1, -0.06) == 0.0


@pytest.mark.parametrize("kind", kinds(AbstractTerrain))
def test_a_terrains_slope_is_the_derivative_of_its_height(kind):
    terrain = PARTS[kind]()
    slope = jax.grad(lambda x: terrain.height(x))(0.3)
    assert slope == pytest.approx(float(terrain.slope(0.3)), rel=1e-12, abs=1e-15)  # rounding
    if isinstance(terrain, AbstractPlane):
        assert slope == pytest.approx(-np.tan(terrain.descent), rel=1e-12)
    assert terrain.height(0.0) == 0.0


# --- feet, drives and tails of the runner; ground and friction have theirs in
# laws/test_contact_laws.py ---------------------------

LANES = 500
WATER = Medium(level=0.0, density=1000.0, gravity=9.81)


def variants(base):
    """Every kind for a slot, with every option of its choices."""
    for kind in kinds(base):
        choices = {
            name: info.options
            for name, info in describe(PARTS[kind]).items()
            if info.role == "choice"
        }
        for chosen in itertools.product(*choices.values()):
            yield pytest.param(
                PARTS[kind](**dict(zip(choices, chosen, strict=True))), id="-".join([kind, *chosen])
            )


def moving_points(seed):
    """Ends of legs at t = 0, half of them under water, and that motion as a function of time, as
    positions and angles only.
    """
    draw = np.random.default_rng(seed)
    x, y, vx, vy = (draw.uniform(-size, size, LANES) for size in (0.1, 0.03, 1.5, 1.5))
    angle, rate = draw.uniform(-0.5, np.pi + 0.5, LANES), draw.uniform(-40.0, 40.0, LANES)
    bend, bend_rate = draw.uniform(-0.5, 0.5, LANES), draw.uniform(-50.0, 50.0, LANES)

    def at(t):
        theta, hinge = angle + rate * t, Hinge(bend + bend_rate * t, bend_rate)
        return (
            FootPoint(x + vx * t, y + vy * t, vx, vy, jnp.cos(theta), jnp.sin(theta), rate),
            hinge,
        )

    return at


@pytest.mark.parametrize("kind", kinds(AbstractFoot))
def test_a_foots_tip_moves_with_the_derivative_of_its_place(kind):
    foot, at = PARTS[kind](), moving_points(1)
    place, velocity = jax.jvp(
        lambda t: foot.tip(*at(t))[:2], (jnp.zeros(LANES),), (jnp.ones(LANES),)
    )
    tip = foot.tip(*at(jnp.zeros(LANES)))
    np.testing.assert_array_equal(tip[:2], place)
    np.testing.assert_allclose(tip[2:], velocity, rtol=0, atol=1e-14)  # sums of a few m/s


def power_of(load, vx, vy, rate):
    return load.fx * vx + load.fy * vy + load.moment * rate


def power_on_own(foot, point, hinge, load):
    """What the water does to the foot's own motion: what it stores, and what its ports take."""
    if foot.rest() is None:
        return 0.0
    rates = foot.flow_in_water(point, hinge, load)
    whole = jax.tree.map(lambda v: v + jnp.zeros(LANES), (hinge, rates.x))
    _, grown = jax.jvp(foot.stores, *((struct,) for struct in whole))
    return sum(jax.tree.leaves(grown)) - sum(jax.tree.leaves(rates.power))


@pytest.mark.parametrize("folded", [0, 1])
@pytest.mark.parametrize("foot", list(variants(AbstractFoot)))
def test_the_water_does_on_a_foot_the_work_it_reports_and_drag_only_takes(foot, folded):
    point, hinge = moving_points(2)(jnp.zeros(LANES))
    load = foot.in_water(point, hinge, PadMode(folded), WATER)
    own = power_on_own(foot, point, hinge, load)
    felt, load = load is not None, NO_LOAD if load is None else load
    given = power_of(load, point.vx, point.vy, point.rate) + own
    # Rounding of sums of a few terms, each at most some watts.
    np.testing.assert_allclose(
        load.drag + load.pressure + jnp.zeros(LANES), given, rtol=0, atol=1e-13
    )
    assert np.max(load.drag) <= 1e-14  # rounding, as above
    deep = foot.depth_in_water(point, hinge, WATER.level)
    # No part of it is higher than its lowest.
    assert np.min(deep - (WATER.level - foot.tip(point, hinge).y)) >= -1e-17
    assert 50 < np.sum(deep > 0) < LANES - 50
    assert felt == (hasattr(foot, "radius") or hasattr(foot, "face_radius"))  # a pad, a face
    if felt:
        assert np.sum(np.abs(given) > 1e-3) > 50
        np.testing.assert_array_equal(load.wetted > 0, deep > 0)


@pytest.mark.parametrize(
    "kind", [kind for kind in kinds(AbstractFoot) if hasattr(PARTS[kind], "hinge_arm")]
)
def test_a_hinge_keeps_what_the_ground_puts_in_less_what_its_loss_says(kind):
    foot, (point, hinge) = PARTS[kind](), moving_points(3)(jnp.zeros(LANES))
    _, arm = jax.jvp(
        lambda q: foot.tip(point, Hinge(q, hinge.deflection_rate))[:2],
        (hinge.deflection,),
        (jnp.ones(LANES),),
    )
    # Rounding of centimetres.
    np.testing.assert_allclose(foot.hinge_arm(point, hinge), arm, rtol=0, atol=1e-16)
    moment = np.random.default_rng(4).uniform(-0.1, 0.1, LANES)
    bend = Hinge(hinge.deflection_rate, foot.hinge_acceleration(hinge, moment))
    _, (moving, bent) = jax.jvp(foot.hinge_energy, (hinge,), (bend,))
    loss = foot.hinge_loss(hinge)
    assert np.min(loss) >= 0.0 and foot.hinge_loss(Hinge(0.3, 0.0)) == 0.0
    # Of some watts.
    np.testing.assert_allclose(
        moving + bent, moment * hinge.deflection_rate - loss, rtol=0, atol=1e-14
    )
    assert foot.hinge_energy(Hinge(0.0, 0.0)) == (0.0, 0.0)


@pytest.mark.parametrize("kind", kinds(AbstractDrive))
def test_a_drive_turns_steadily_or_draws_at_least_what_reaches_the_cranks(kind):
    drive, rates = PARTS[kind](), np.linspace(-100.0, 200.0, LANES)
    if drive.rest(0.0) is None:
        times = jnp.linspace(0.0, 3.0, LANES)
        (_, rate), (turning, _) = jax.jvp(drive.crank, (times,), (jnp.ones(LANES),))
        np.testing.assert_allclose(turning, np.broadcast_to(rate, turning.shape), rtol=1e-15)
        return  # nothing electrical is known of it
    assert np.min(drive.friction(rates) * rates) >= 0.0
    torque, current = drive.torque(rates), drive.current(rates)
    # A crank that lags is driven harder: it has one speed.
    assert drive.inertia > 0.0 and np.all(np.diff(torque) < 0)
    np.testing.assert_array_equal(torque > 0, current > 0)
    driving = (torque > 0) & (rates > 0)
    assert 50 < driving.sum() < LANES - 50
    drawn, given = drive.electrical_power(rates), torque * rates
    assert np.all(drawn[driving] >= given[driving])


def test_a_crank_motor_draws_its_shaft_power_its_winding_heat_and_what_the_gear_loses():
    motor, rate = PARTS["crank-motor"](), 40.0
    # Stalled: voltage over resistance.
    assert motor.current(0.0) == pytest.approx(6.0 / 7.23, rel=1e-15)
    assert motor.torque(0.0) == pytest.approx(0.85 * 30 * 2.4e-3 * 6.0 / 7.23, rel=1e-15)
    # No load: the voltage it makes is the battery's.
    assert motor.current(6.0 / (30 * 2.4e-3)) == pytest.approx(0.0, abs=1e-15)
    assert motor.inertia == pytest.approx(900 * 5e-9, rel=1e-15)
    heat = 7.23 * motor.current(rate) ** 2
    shaft = motor.torque(rate) * rate
    assert motor.electrical_power(rate) == pytest.approx(shaft / 0.85 + heat, rel=1e-14)


@pytest.mark.parametrize("kind", kinds(AbstractTail))
def test_the_water_does_on_a_tail_the_work_it_reports_and_drag_only_takes(kind):
    tail, draw = PARTS[kind](), np.random.default_rng(5)
    y, vx, vy, pitch, rate = (
        draw.uniform(-size, size, LANES) for size in (0.05, 2.0, 1.0, 0.8, 10.0)
    )
    load = tail.water_load(0.0, y, vx, vy, np.sin(pitch), np.cos(pitch), rate, WATER)
    given = power_of(load, vx, vy, rate) + jnp.zeros(LANES)
    # Of some watts.
    np.testing.assert_allclose(
        load.drag + load.pressure + jnp.zeros(LANES), given, rtol=0, atol=1e-13
    )
    assert np.max(load.drag) <= 1e-14  # rounding, as above
    high = tail.water_load(0.0, 1.0, vx, vy, np.sin(pitch), np.cos(pitch), rate, WATER)
    # A dry tail feels exactly nothing.
    assert not np.any(jnp.stack([v + jnp.zeros(LANES) for v in high]))
    assert tail.present == (np.max(np.abs(given)) > 1e-3)


# --- every part
# --------------------------------------------------------------------------------------------------


def test_no_part_has_a_method_that_it_cannot_answer():
    """What only some parts have is None, or a default: a caller need not ask which part it has."""
    folder = Path(inspect.getfile(FourBarRunner)).parents[1]
    files = list(folder.rglob("*.py"))
    assert len(files) > 50
    assert not [f.name for f in files if "NotImplementedError" in f.read_text(encoding="utf-8")]


# --- together
# --------------------------------------------------------------------------------------------------


def fits():
    """Every robot as it is, then with each of its slots filled by each other kind, one at a time.
    The runners have test_runner_matrix.py, the centipede laws/test_centipede_laws.py, rigid bodies
    test_mujoco_engine.py, robots with a computer (whose plants are among these)
    laws/test_lockstep.py; grounds have test_grounds.py."""
    for name, make in ROBOTS.items():
        if isinstance(make(), FourBarRunner | SegmentedWalker | AbstractRigidBodies | ClosedLoop):
            continue
        scenario = {
            "rimless-wheel-3d": "rimless-wheel-turning",
            "two-leg": "two-leg-single-step",
        }.get(name, name)
        robot = load(scenario).system
        yield pytest.param(scenario, [], id=scenario)
        for slot, slot_type in slot_types(type(robot)).items():
            for kind, part in kinds_for(slot_type, type(robot)).items():
                if slot != "terrain" and part is not type(getattr(robot, slot)):
                    where = ".".join(slot_path(slot))
                    yield pytest.param(
                        scenario, [f"{slot}={kind}"], id=f"{scenario}-{where}={kind}"
                    )


#: [s] The spike's law, and the valve of a kick by air, are stiffer than any wheel: at 0.1 ms RK4
#: leaves 4.5e-8 and 6e-8 of what goes through, and 16 times less at half the step.
STEPS = {"urchin-spike": 2.5e-5, "urchin-kick": 2.5e-5}


@pytest.mark.parametrize(("scenario", "swapped"), list(fits()))
def test_any_part_that_fits_a_slot_runs_with_a_closed_ledger(scenario, swapped, monkeypatch):
    """On the step engine, as the runners do.

    A kernel for each choice costs a third of an adaptive loop. A plan is not stepped.
    """
    experiment = load(scenario, swapped, duration=1.0)
    system = experiment.system
    if isinstance(system, AbstractMotionPlan):
        run = simulate(system, experiment.start, experiment.plan)
        t, residual, seen = run.ending.t, run.ledger.relative_residual, run.columns
    else:
        op_by_op(monkeypatch)
        result = run_batch(
            system, experiment.start, BatchPlan(1.0, step=STEPS.get(scenario, 1e-4), path="cpp")
        )
        assert result.path.startswith("C++"), result.notes
        t, residual = result.columns["t_end"][0], result.columns["relative_residual"][0]
        seen = dict(enumerate(jax.tree.leaves((result.end, system.outputs(t, *result.end)))))
    assert t > 0.05  # a stride or so at least: parts that fit do not fail at the start
    assert all(np.all(np.isfinite(values)) for values in seen.values())
    # Default tolerance 1e-8 a step, hundreds of steps, errors of both signs; RK4 at these steps
    # leaves less than 2e-10.
    assert residual < 1e-9


@pytest.mark.parametrize(
    "scenario", ["passive-wheel", "rimless-wheel", "rimless-wheel-stiff", "rimless-wheel-turning"]
)
def test_every_shipped_robot_keeps_the_contract(scenario):
    experiment = load(scenario)
    assert check_system(experiment.system, experiment.start).ok
