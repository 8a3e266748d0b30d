"""The kick by compressed air against thermodynamics of its own, and its limit, a constant force."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from footfall import load
from footfall.machines.sea_urchin.kick_actuator import Slide
from footfall.machines.sea_urchin.kick_roll import KickRoll, KickStart
from footfall.machines.sea_urchin.pressure_chamber import ChamberState, PressureChamber
from footfall.numerics.orifice_flow import LAMINAR, Gas, mass_flow

AIR = Gas()
SUPPLY, WARM = 5e5, 293.15
SLIDE = Slide(extension=0.013, rate=1.1)
STATE = ChamberState(pressure=3.1e5, temperature=331.0, valve=0.7)


def flow(ratio):
    return mass_flow(AIR, 2e-6, SUPPLY, WARM, ratio * SUPPLY)


# --- the valve ------------------------------------------------------------------------------------


def test_sonic_flow_is_that_of_the_throat_and_no_lower_pressure_adds_to_it():
    """rho c S at Mach 1, isentropic from rest: T* = 2 T/(gamma + 1)."""
    throat = 2 * WARM / 2.4
    density = SUPPLY / (AIR.constant * WARM) * (2 / 2.4) ** (1 / 0.4)
    sonic = density * math.sqrt(1.4 * AIR.constant * throat) * 2e-6
    assert float(AIR.critical_ratio) == pytest.approx(0.5283, abs=5e-5)
    for ratio in (0.0, 0.2, 0.528):
        assert float(flow(ratio)) == pytest.approx(sonic, rel=1e-12)
    assert float(flow(0.54)) < sonic


@pytest.mark.parametrize("ratio", [0.55, 0.7, 0.9, 0.99])
def test_subsonic_flow_is_bernoulli_s_of_a_gas(ratio):
    """c_p (T - T') = v^2/2 along the isentrope, flow = rho' v S."""
    cold = WARM * ratio ** (0.4 / 1.4)
    speed = math.sqrt(2 * AIR.heat_at_constant_pressure * (WARM - cold))
    density = ratio * SUPPLY / (AIR.constant * cold)
    assert float(flow(ratio)) == pytest.approx(density * speed * 2e-6, rel=1e-12)


def test_the_valve_is_continuous_and_lets_nothing_back():
    ends = np.array([float(AIR.critical_ratio), LAMINAR, 1.0])
    before, behind = flow(ends - 1e-9), flow(ends + 1e-9)
    np.testing.assert_allclose(before, behind, rtol=0.0, atol=1e-7 * float(flow(0.1)))
    assert flow(np.array([1.0, 1.5, 40.0])).tolist() == [0.0, 0.0, 0.0]
    ratios = np.linspace(0.0, 1.0, 2001)
    assert np.all(np.diff(flow(ratios)) <= 0.0)
    slopes = jax.vmap(jax.grad(flow))(jnp.asarray(ratios))
    assert np.isfinite(slopes).all()  # no root's infinite slope


# --- the chamber ----------------------------------------------------------------------------------


def rates(
    chamber: PressureChamber, slide: Slide = SLIDE, own: ChamberState = STATE
) -> ChamberState:
    return chamber.flow(slide, own).x


def along(chamber: PressureChamber, what, slide: Slide = SLIDE, own: ChamberState = STATE) -> float:
    """Derivative of what(slide, own) along the chamber's motion; the slide keeps its rate."""
    moving = (Slide(slide.rate, 0.0), rates(chamber, slide, own))
    floats = jax.tree.map(float, (slide, own))
    return float(jax.jvp(what, floats, jax.tree.map(float, moving))[1])


def test_energy_of_the_gas_is_enthalpy_in_work_out_and_heat():
    """U = p V/(gamma - 1): U' = m' c_p T_0 - p V' + G (T_0 - T)."""
    chamber = PressureChamber(wall_conductance=0.3)
    energy = along(chamber, lambda s, x: x.pressure * chamber.volume(s) / 0.4)
    brought = float(chamber.mass_rate(STATE)) * AIR.heat_at_constant_pressure * 293.15
    worked = STATE.pressure * 1e-4 * SLIDE.rate
    assert energy == pytest.approx(brought - worked + 0.3 * (293.15 - 331.0), rel=1e-12)


def test_mass_of_the_gas_is_what_the_valve_let_in():
    """By p V/(R T) of two states that know nothing of it."""
    chamber = PressureChamber(wall_conductance=0.3)
    found = along(chamber, chamber.gas_mass)
    assert found == pytest.approx(float(chamber.mass_rate(STATE)), rel=1e-12)


def test_a_closed_chamber_without_heat_is_isentropic():
    chamber = PressureChamber(valve_area=0.0)
    assert along(
        chamber, lambda s, x: jnp.log(x.pressure * chamber.volume(s) ** 1.4)
    ) == pytest.approx(0.0, abs=1e-11)
    power = chamber.flow(SLIDE, STATE).power
    assert [float(p) for p in (power.supply, power.throttling, power.wall_heat)] == [0.0, 0.0, 0.0]


def test_a_vessel_that_is_filled_from_nothing_is_gamma_times_as_warm():
    """The classic result: all enthalpy becomes energy, p' V/(m' R) = gamma T_0."""
    chamber, still = PressureChamber(), Slide(0.0, 0.0)
    moving = rates(chamber, still)
    entering = float(moving.pressure) * 1e-6 / (287.05 * float(chamber.mass_rate(STATE)))
    assert entering == pytest.approx(1.4 * 293.15, rel=1e-12)


def test_the_store_is_what_the_gas_could_do_and_nothing_at_rest():
    """By an ideal machine: isentropic to T_0, then isothermal to p_0, against p_0 throughout."""
    chamber, still = PressureChamber(), Slide(0.02, 0.0)
    rest = chamber.rest(0.02)
    assert float(chamber.stores(still, rest).gas) == pytest.approx(0.0, abs=1e-15)
    own = ChamberState(pressure=4e5, temperature=350.0, valve=1.0)
    volume, mass = 3e-6, 4e5 * 3e-6 / (287.05 * 350.0)
    middle = 4e5 * (293.15 / 350.0) ** 3.5  # pressure where the isentrope comes to T_0
    isentropic = mass * 2.5 * 287.05 * (350.0 - 293.15)
    isothermal = mass * 287.05 * 293.15 * math.log(middle / 101325.0)
    pushed_away = 101325.0 * (mass * 287.05 * 293.15 / 101325.0 - volume)
    found = float(chamber.stores(still, own).gas)
    assert found == pytest.approx(isentropic + isothermal - pushed_away, rel=1e-12)


@pytest.mark.parametrize("conductance", [0.0, 0.3, 50.0])
def test_books_close_along_every_state_and_losses_never_give(conductance):
    chamber = PressureChamber(wall_conductance=conductance)
    random = np.random.default_rng(20)
    for _ in range(20):
        own = ChamberState(*(float(random.uniform(*span)) for span in
                             ((0.5e5, 5.5e5), (200.0, 450.0), (0.0, 1.0))))  # fmt: skip
        slide = Slide(float(random.uniform(0.0, 0.04)), float(random.uniform(-2.0, 2.0)))
        power = chamber.flow(slide, own).power
        given = float(chamber.thrust(slide, own)) * slide.rate
        kept = along(chamber, lambda s, x: chamber.stores(s, x).gas, slide, own)
        ports = [float(power.supply), float(power.throttling), float(power.wall_heat)]
        size = sum(map(abs, ports)) + abs(given)
        assert kept == pytest.approx(sum(ports) - given, abs=1e-10 * size)
        assert ports[0] >= 0.0 and ports[1] <= 1e-15 * size and ports[2] <= 0.0


# --- the kick -------------------------------------------------------------------------------------

AIR_KICK = ["actuator=pressure-chamber"]
ENDS = ("kick.angle", "kick.angle_rate", "kick.extension_rate")


def end(run) -> np.ndarray:
    return np.array([float(run[name][-1]) for name in ENDS])


def test_a_large_valve_that_opens_at_once_is_the_constant_force():
    """What is left falls with the valve's area and time: to first order, by four for four times."""
    constant = end(load("urchin-kick").run())
    off = []
    for times in (1.0, 4.0, 16.0):
        valve = [f"valve_area={8e-6 * times}", f"valve_time={4e-4 / times}"]
        run = load("urchin-kick", [*AIR_KICK, *valve, f"dead_volume={1e-6 / times}"]).run()
        assert run.outcome.name == "arrived" and run.ledger.relative_residual < 1e-9
        off.append(np.abs(end(run) - constant))
    assert np.all(off[1] < 0.4 * off[0]) and np.all(off[2] < 0.4 * off[1])
    assert np.all(off[2] < 2e-3)


def test_the_spike_rests_until_the_gas_carries_its_load_and_the_books_close():
    run = load("urchin-kick", [*AIR_KICK, "wall_conductance=0.2"]).run()
    push_off = next(event for event in run.events if event.name == "push_off")
    before = run.t <= push_off.t
    assert np.all(run["extension"][before] == 0.0) and np.all(run["extension_rate"][before] == 0.0)
    row = push_off.row_before
    arm, angle, turning = 0.0909, float(run["angle"][row]), float(run["angle_rate"][row])
    carried = 1.232 * (9.81 * math.sin(angle) - arm * turning**2)
    assert float(run["kick.force"][row]) == pytest.approx(carried, rel=1e-8)
    assert angle < math.pi / 3 and turning < 0.0  # the body falls ahead meanwhile
    assert run.ledger.relative_residual < 1e-9 and run["work.throttling"][-1] < 0.0
    given = sum(run[name][-1] - run[name][0] for name in ("store.kinetic", "store.gravity"))
    force, out = run["kick.force"], run["extension"]
    assert given == pytest.approx(float(np.trapezoid(force, out)), rel=2e-3)  # of the rows kept


def test_a_supply_that_is_too_weak_lets_the_body_down():
    run = load("urchin-kick", [*AIR_KICK, "supply_pressure=120000"]).run()
    assert run.outcome.name == "fell"


def test_lanes_of_starts_are_each_start_alone():
    system = KickRoll(actuator=PressureChamber(dead_volume=np.array([1e-6, 2e-6])))
    both = KickStart(extension=np.array([0.0, 0.01])).state(system)
    assert both.m.held.tolist() == [1, 0]  # the second is not at its stop
    np.testing.assert_allclose(both.x.pressure, 101325.0)
    assert both.x.valve.shape == (2,)
