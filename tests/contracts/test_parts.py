"""Every part in the catalogue keeps its slot's contract; every robot runs with every part that fits."""

import inspect
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from footfall import check_system, load, simulate
from footfall.hybrid.fields import describe
from footfall.parts.actuators.base import AbstractMotor
from footfall.parts.controllers.base import AbstractPitchController
from footfall.parts.legs.base import AbstractCompliantLeg
from footfall.parts.terrain.base import AbstractPlane, AbstractTerrain
from footfall.scenario.catalog import PARTS, ROBOTS, kinds_for
from footfall.scenario.document import slot_path, slot_types
from footfall.scenario.schema import table_model


def kinds(base):
    return sorted(kinds_for(base))


@pytest.mark.parametrize("kind", sorted(PARTS))
def test_a_part_has_defaults_a_meaning_and_a_schema(kind):
    cls = PARTS[kind]
    part = cls()
    assert inspect.getdoc(cls)
    for name, info in describe(cls).items():
        assert info.doc, f"{kind}.{name} says nothing about itself"
    values = {n: getattr(part, n) for n, info in describe(cls).items() if info.role == "param"}
    assert table_model(cls).model_validate(values).model_dump() == values


@pytest.mark.parametrize("kind", kinds(AbstractCompliantLeg))
def test_a_legs_force_is_minus_the_slope_of_its_energy_less_what_its_loss_says(kind):
    leg = PARTS[kind]()
    rest = leg.rest_length
    assert leg.energy(rest) == 0.0 and leg.force(rest, 0.0) == 0.0
    for length, rate in itertools.product(rest + np.array([-0.02, -0.003, 0.001]), (-0.7, 0.0, 0.4)):
        slope = jax.grad(leg.energy)(jnp.asarray(length))
        loss = leg.loss(length, rate)
        assert loss >= 0
        # Both sides are sums of a few terms of this size: rounding.
        assert leg.force(length, rate) * rate == pytest.approx(float(-slope * rate - loss), rel=1e-12, abs=1e-12)
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
    if isinstance(terrain, AbstractPlane):
        assert slope == pytest.approx(-np.tan(terrain.descent), rel=1e-12)
    assert terrain.height(0.0) == 0.0


def fits():
    """Every robot with each of its slots filled by each kind, one at a time."""
    for name, make in ROBOTS.items():
        scenario = {"rimless-wheel-3d": "rimless-wheel-turning"}.get(name, name)
        for slot, slot_type in slot_types(type(make())).items():
            for kind in kinds_for(slot_type):
                yield pytest.param(scenario, slot, kind, id=f"{scenario}-{'.'.join(slot_path(slot))}={kind}")


@pytest.mark.parametrize(("scenario", "slot", "kind"), fits())
def test_any_part_that_fits_a_slot_runs_with_a_closed_ledger(scenario, slot, kind):
    experiment = load(scenario, [f"{slot}={kind}"], duration=1.0)
    run = simulate(experiment.system, experiment.start, experiment.plan)
    assert run.ending.t > 0.05  # a stride or so at least: parts that fit do not fail at the start
    assert all(np.all(np.isfinite(values)) for values in run.columns.values())
    assert run.ledger.relative_residual < 1e-9  # default tolerance 1e-8 a step, hundreds of steps, errors of both signs


@pytest.mark.parametrize("scenario", ["passive-wheel", "rimless-wheel", "rimless-wheel-stiff", "rimless-wheel-turning"])
def test_every_shipped_robot_keeps_the_contract(scenario):
    experiment = load(scenario)
    assert check_system(experiment.system, experiment.start).ok
