"""What every walk of the wheels must obey.

Energy at transfers and between them, symmetry, and books that close.
"""

import math

import diffrax
import numpy as np
import pytest

from footfall.engines.plan import SimPlan
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.system import HybridState
from footfall.machines.rimless_wheel.steered_wheel import SteeredWheel
from footfall.machines.rimless_wheel.torso import Torso
from footfall.machines.rimless_wheel.torso_wheel import TorsoWheel, TorsoWheelState
from support.wheels import (
    ALPHA,
    FINE,
    GAITS,
    LENGTH,
    PLAN,
    SAMPLED,
    SET_A,
    SET_B,
    mean_speed,
    rigid_start,
    rigid_wheel,
    run,
    standing,
    steered_start,
    steered_wheel,
    torso_start,
    torso_wheel,
    unbroken_passive_wheel,
    walking_cycle,
)

LANES = 20_000


def random_transfers(j1: float, j2: float) -> tuple[TorsoWheel, TorsoWheelState]:
    """Many machines and states at once: the models compute elementwise."""
    draw = np.random.default_rng(1).uniform
    lanes = lambda low, high: draw(low, high, LANES)  # noqa: E731
    torso = Torso(mass=lanes(0.5, 8), com_distance=lanes(0.01, 0.2), inertia=j2 * lanes(0.1, 2))
    wheel = TorsoWheel(
        wheel_mass=lanes(0.5, 5),
        wheel_inertia=j1 * lanes(0.1, 2),
        torso=torso,
        leg=SET_B,
        spokes=10,
    )
    x = TorsoWheelState(
        spoke_angle=lanes(-0.6, 0.0), torso_angle=lanes(-3, 3), spoke_length=lanes(0.2, 0.3), spoke_rate=lanes(-8, 8),
        torso_rate=lanes(-8, 8), spoke_speed=lanes(-2, 2), pitch_integral=lanes(-1, 1),
    )  # fmt: skip
    return wheel, x


@pytest.mark.parametrize(("j1", "j2"), [(0.0, 0.0), (0.0, 0.03), (0.02, 0.0), (0.02, 0.03)])
def test_kinetic_energy_never_rises_at_transfer(j1, j2):
    wheel, x = random_transfers(j1, j2)
    jump = wheel.jump(0.0, x, standing(x).m, 0)
    before, after = (
        np.asarray(wheel.stores(0.0, state, standing(x).m).kinetic) for state in (x, jump.x)
    )
    # Condition of the mass matrix, up to 1e3, times a few units in the last place.
    rounding = 1e-12 * before
    assert np.all(after <= before + rounding)
    np.testing.assert_array_less(np.abs(before - after + np.asarray(jump.work.impact)), rounding)
    if j1 > 0:
        # The wheels' inertia costs something: the bound is not idle.
        assert np.median((before - after) / before) > 1e-3


@pytest.mark.parametrize("j2", [0.0, 0.03])
def test_transfer_without_wheel_inertia_is_smooth(j2):
    """Nothing impulsive happens: the old velocities, resolved along and across the new spoke."""
    wheel, x = random_transfers(0.0, j2)
    after = wheel.transfer(x)
    across = x.spoke_length * x.spoke_rate
    s, c = math.sin(ALPHA), math.cos(ALPHA)
    expected = {
        "spoke_speed": x.spoke_speed * c + across * s,
        "spoke_rate": (across * c - x.spoke_speed * s) / LENGTH,
        "torso_rate": x.torso_rate,
    }
    for name, value in expected.items():
        # Rates are up to 10; the mass matrix is worst, 1e4, for a heavy torso on a short arm.
        np.testing.assert_allclose(getattr(after, name), value, rtol=0, atol=1e-10, err_msg=name)


@pytest.mark.parametrize("seed", range(4))
def test_undamped_passive_flow_keeps_its_energy(seed):
    draw = np.random.default_rng(seed).uniform
    x = TorsoWheelState(draw(-0.3, 0.3), draw(-1.5, 1.5), 0.25, draw(-4, 4), draw(-3, 3), 0.0, 0.0)
    done = run(unbroken_passive_wheel(), standing(x), 0.12, FINE)
    assert done.outcome is Outcome.reached_end
    stored = math.fsum(done.ledger.stored_start.values())
    # Some 100 steps with local errors of 1e-10 of each state.
    assert abs(done.ledger.stored_change) <= 1e-10 * stored


@pytest.mark.parametrize("gait", GAITS)
def test_work_of_a_cycle_is_damper_loss_and_released_spring(gait):
    leg, pitch = GAITS[gait]
    cycle = walking_cycle(gait)
    done = run(torso_wheel(leg, pitch), cycle.state, 1.001 * cycle.period, FINE)
    (landing,) = done.events_named("touchdown")
    work, damper = done["work.motor"][landing.row_before], -done["work.damper"][landing.row_before]
    released = 0.5 * float(leg.stiffness) * (done["spoke_length"][landing.row_before] - LENGTH) ** 2
    assert done.ledger.jump_losses["released_spring"] == pytest.approx(released, rel=1e-12)
    assert min(work, damper, released) > 0
    # The cycle closes to 1e-12 and stores some 18 J; the integrals are taken at 1e-10.
    assert work - damper - released == pytest.approx(0.0, abs=1e-10)


def test_straight_steered_wheel_is_the_sagittal_wheel():
    """Two derivations of one motion, in polar and in Cartesian coordinates.

    The same steps at the same times.
    """
    start = torso_start()
    # The steered start, in polar coordinates.
    x = TorsoWheelState(**{**vars(start.x), "spoke_rate": -0.8 / LENGTH})
    # Walking straight is unstable in roll (a disturbance grows up to fivefold a footfall), and a
    # compiler may join products and sums of the two sides differently: what rounding does to the
    # symmetry is 1e-17 at first, 1e-13 after 21 footfalls and 1e-8 after 30.
    flat = run(torso_wheel(), HybridState(x, start.m), 5.5, FINE)
    straight = run(steered_wheel(0.0), steered_start(), 5.5, FINE, sample_rate=100.0)
    flat_rows = [event.row_after for event in flat.events_named("touchdown")]
    # Either side's event lands both, as rounding decides: the left feet by their counter.
    rows = np.flatnonzero(np.diff(straight["steps_left"]) > 0) + 1
    assert len(rows) > 20
    # Local errors of 1e-10 in each of some 700 steps; the gait forgets them at 0.67 a footfall.
    np.testing.assert_allclose(straight.t[rows], flat.t[flat_rows], rtol=0, atol=1e-8)
    for name in ("torso_angle", "torso_rate", "pitch_integral", "travel.speed"):
        np.testing.assert_allclose(
            straight[name][rows], flat[name][flat_rows], rtol=0, atol=1e-7, err_msg=name
        )
    gone = straight["travel.distance"][rows[-1]] - straight["travel.distance"][rows[-21]]
    assert gone / (straight.t[rows[-1]] - straight.t[rows[-21]]) == pytest.approx(
        mean_speed(flat, 20), rel=1e-8
    )
    assert np.max(np.abs(straight["roll"])) < 1e-12 and np.max(np.abs(straight["heading"])) < 1e-12


def test_mirrored_steering_gives_the_mirrored_walk():
    """Left and right are the same part.

    No sum in the model may prefer one. Exact but for the order of additions.
    """
    right, left = (
        run(steered_wheel(current), steered_start(), 20.0, SAMPLED) for current in (0.5, -0.5)
    )
    assert right.outcome is left.outcome is Outcome.reached_end
    np.testing.assert_allclose(right.t, left.t, rtol=0, atol=1e-9)
    for name in ("height", "torso_angle", "speed", "x", "distance", "pitch_integral"):
        np.testing.assert_allclose(right[name], left[name], rtol=0, atol=1e-9, err_msg=name)
    for name in ("roll", "roll_rate", "yaw_rate", "y", "heading"):
        np.testing.assert_allclose(right[name], -left[name], rtol=0, atol=1e-9, err_msg=name)
    np.testing.assert_allclose(
        right["foot_ahead_left"], left["foot_ahead_right"], rtol=0, atol=1e-9
    )
    np.testing.assert_array_equal(right["steps_left"], left["steps_right"])
    assert right["heading"][-1] < -5.0  # it does turn, and to the right


@pytest.mark.parametrize(
    ("system", "start"),
    [
        (torso_wheel(SET_A), torso_start()),
        (torso_wheel(SET_B), torso_start()),
        (steered_wheel(0.5), steered_start()),
        (rigid_wheel(slope=0.08), rigid_start(3.0)),
    ],
    ids=["A", "B", "turning", "rigid"],
)
def test_ledger_closes_at_default_tolerance(system, start):
    done = run(system, start, 10.0, SAMPLED if isinstance(system, SteeredWheel) else PLAN)
    assert done.outcome is Outcome.reached_end
    # A local error of 1e-8 of each integral, over some 1e3 to 1e4 steps, most of it cancelling.
    assert done.ledger.relative_residual < 1e-9


def test_ledger_residual_shrinks_with_the_tolerance():
    """A residual that came from a wrong power or a lost jump would stay.

    Fifth order, so rounding is out of sight.
    """
    plans = [
        SimPlan(rtol=rtol, atol=1e-2 * rtol, solver=diffrax.Tsit5(), sample_rate=None)
        for rtol in (1e-5, 1e-7, 1e-9)
    ]
    loose, default, tight = (
        run(torso_wheel(), torso_start(), 10.0, plan).ledger.relative_residual for plan in plans
    )
    assert loose < 1e-6
    # In proportion it would be 100 each time; step sizes and signs of errors take some of it.
    assert default < loose / 20
    assert tight < default / 20
    assert tight > 1e-14  # still above rounding, so the trend means something
