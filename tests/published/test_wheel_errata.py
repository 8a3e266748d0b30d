"""Errors of the source (Sanchez and Bhounsule, multimedia extension, 2022): what its printed forms
do, and what ours do.

Numbers E1 to E21 are those of shared/physics/rimless-wheel.md, section 9, where each correction is
derived."""

import math
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from footfall.hybrid.outcome import Outcome
from footfall.machines.rimless_wheel.spring_leg import SpringLeg
from footfall.machines.rimless_wheel.steered_wheel import SteeredWheelCounts, SteeredWheelState
from footfall.machines.rimless_wheel.torso import Torso
from footfall.machines.rimless_wheel.torso_wheel import TorsoWheelState
from footfall.sources.rimless_wheel import printed
from support.wheels import (
    ALPHA,
    GRAVITY,
    HALF,
    LENGTH,
    MASS,
    SAMPLED,
    SET_B,
    as_jax,
    run,
    standing,
    steered_start,
    steered_wheel,
    torso_start,
    torso_wheel,
)

HALF_TRACK = 0.155
#: Undamped, as its equations are compared here.
SYMBOLS = printed.Symbols(m1=2.46, m2=4.45, c=0.06, k=15000.0, c_v=0.0, l0=LENGTH)


def test_e1_printed_stance_does_not_conserve_energy_and_ours_does():
    """The passive, undamped flow of the reference page, by one integrator.

    Only the right-hand sides differ.
    """
    wheel = torso_wheel(
        SpringLeg(rest_length=LENGTH, stiffness=15000.0, damping=0.0), gains=(0.0, 0.0, 0.0)
    )
    state = standing(TorsoWheelState(0.25, 0.6, 0.25, -4.0, 1.0, 0.0, 0.0))
    ours = jax.jit(lambda *y: wheel.accelerations(TorsoWheelState(*y, 0.0), 0.0))

    def energy(y: np.ndarray) -> float:
        return math.fsum(
            map(float, jax.tree.leaves(wheel.stores(0.0, TorsoWheelState(*y, 0.0), state.m)))
        )

    def drift(accelerations: Callable[..., Any]) -> float:
        start = np.array([0.25, 0.6, 0.25, -4.0, 1.0, 0.0])
        field = lambda t, y: np.concatenate([y[3:], np.asarray(accelerations(*y), float)])  # noqa: E731
        done = solve_ivp(field, (0.0, 0.12), start, method="DOP853", rtol=1e-11, atol=1e-13)
        return abs(energy(done.y[:, -1]) / energy(start) - 1)

    def source(b3_as_printed: bool) -> Callable[..., Any]:
        return lambda *y: printed.stance(SYMBOLS, y, b3_as_printed=b3_as_printed)

    assert drift(source(b3_as_printed=True)) > 5e-3  # 0.13 J of 18.7 in half a step
    assert drift(source(b3_as_printed=False)) < 1e-10
    assert drift(ours) < 1e-10


def test_e1_mended_source_rows_are_our_equations():
    wheel = torso_wheel(SpringLeg(rest_length=LENGTH, stiffness=15000.0, damping=0.0))
    y = (0.2, 0.5, 0.255, -3.0, 0.7, 0.1)
    ours = [float(a) for a in wheel.accelerations(TorsoWheelState(*y, 0.0), 0.0)]
    mended = printed.stance(SYMBOLS, y, b3_as_printed=False)
    assert mended == pytest.approx(ours, rel=1e-11)
    assert printed.stance(SYMBOLS, y) != pytest.approx(ours, rel=1e-2)


def landing_states(lanes: int) -> TorsoWheelState:
    """Walking forward, the next spoke just touching."""
    draw = np.random.default_rng(2).uniform
    theta = draw(-0.4, -0.2, lanes)
    return TorsoWheelState(
        spoke_angle=theta, torso_angle=draw(-1, 1, lanes), spoke_length=LENGTH * np.cos(theta + ALPHA) / np.cos(theta),
        spoke_rate=draw(-5, 0, lanes), torso_rate=draw(-5, 5, lanes), spoke_speed=draw(-1, 1, lanes),
        pitch_integral=0.0 * theta,
    )  # fmt: skip


def moving(x: TorsoWheelState) -> tuple[Any, ...]:
    """As printed.py takes a state."""
    return (
        x.spoke_angle, x.torso_angle, x.spoke_length, x.spoke_rate, x.torso_rate, x.spoke_speed
    )  # fmt: skip


def with_rates(x: TorsoWheelState, rates: np.ndarray) -> TorsoWheelState:
    zero = 0.0 * x.spoke_angle
    return TorsoWheelState(x.spoke_angle + ALPHA, x.torso_angle, LENGTH + zero, *rates, zero)


def test_e2_printed_transfer_creates_kinetic_energy_and_ours_does_not():
    wheel, x = torso_wheel(SET_B), landing_states(5000)
    kinetic = lambda x: np.asarray(wheel.kinetic(wheel.motion(x)))  # noqa: E731
    gain = {
        wrong: (
            kinetic(with_rates(x, printed.transfer(SYMBOLS, moving(x), b3_as_printed=wrong)))
            - kinetic(x)
        )
        for wrong in (True, False)
    }
    assert gain[True].max() > 5.0  # J; the page saw 9.2 in its own random states
    assert np.mean(gain[True] > 0.01) > 0.25  # nothing rare
    ours = kinetic(wheel.transfer(x)) - kinetic(x)
    # Of some 20 J, through matrices of condition 1e3.
    assert np.max(np.abs(gain[False])) < 1e-11 and np.max(np.abs(ours)) < 1e-11


def test_e2_mended_source_rows_are_our_transfer():
    wheel, x = torso_wheel(SET_B), landing_states(200)
    after = wheel.transfer(x)
    ours = np.array([after.spoke_rate, after.torso_rate, after.spoke_speed])
    np.testing.assert_allclose(
        printed.transfer(SYMBOLS, moving(x), b3_as_printed=False), ours, rtol=0, atol=1e-10
    )


@pytest.mark.parametrize("share", [0.9, 1.1])
def test_e2_without_torso_the_printed_row_creates_energy_beyond_a_known_speed(share):
    """When the spoke lengthens faster than l |theta_dot| tan(pi/n); slower, it destroys some.

    Ours does neither.
    """
    rate, length = -3.0, 0.257
    speed = share * length * abs(rate) * math.tan(math.pi / 10)
    one = np.ones(1)
    x = TorsoWheelState(
        -0.3 * one, 0.0 * one, length * one, rate * one, 0.0 * one, speed * one, 0.0 * one
    )
    wheel = torso_wheel(
        SET_B, wheel_mass=MASS, torso=Torso(mass=0.0, com_distance=0.0, inertia=1.0)
    )
    kinetic = lambda x: float(wheel.kinetic(wheel.motion(x))[0])  # noqa: E731
    alone = SYMBOLS._replace(m1=MASS, m2=0.0, c=0.0, j2=1.0)
    gain = kinetic(with_rates(x, printed.transfer(alone, moving(x)))) - kinetic(x)
    assert math.copysign(1.0, gain) == math.copysign(1.0, share - 1.0) and abs(gain) > 1e-3
    assert kinetic(wheel.transfer(x)) - kinetic(x) == pytest.approx(0.0, abs=1e-13)


def test_e9_printed_angle_after_transfer_moves_the_hub_and_ours_does_not():
    """Equations 30 and 31, theta+ = -theta-, hold for an unloaded spoke only; equation 12
    always.
    """
    done = run(torso_wheel(SET_B), torso_start(), 10.0)
    landing = done.events_named("touchdown")[-1]
    angle, length = done["spoke_angle"], done["spoke_length"]
    was, now = landing.row_before, landing.row_after
    height = length[was] * math.cos(angle[was])
    assert (-angle[was], angle[now]) == pytest.approx((0.2931, 0.3352), abs=1e-4)
    # 3 mm of hub height out of nothing, at every step.
    assert abs(LENGTH * math.cos(-angle[was]) - height) > 3e-3
    assert length[now] * math.cos(angle[now]) == pytest.approx(height, abs=1e-12)


def upright_landing(yaw_rate: float, right_angle: float = -HALF) -> SteeredWheelState:
    """Unloaded spokes: the left one hands over, the right one stands at `right_angle`; roll as the
    two heights ask.
    """
    left, right = LENGTH * math.cos(HALF), LENGTH * math.cos(right_angle)
    return as_jax(
        SteeredWheelState(
            height=(left + right) / 2, roll=(left - right) / (2 * HALF_TRACK), torso_angle=0.6, speed=0.6, climb_rate=-0.1,
            roll_rate=0.0, torso_rate=0.1, yaw_rate=yaw_rate, foot_ahead_left=-LENGTH * math.sin(HALF),
            foot_ahead_right=LENGTH * math.sin(right_angle), x=0.0, y=0.0, heading=0.0, distance=0.0, pitch_integral=0.0,
        )
    )  # fmt: skip


def no_steps() -> SteeredWheelCounts:
    return SteeredWheelCounts(np.int32(0), np.int32(0))


def test_e10_printed_difference_of_rates_doubles_at_a_joint_collision_and_ours_stays():
    wheel, x = steered_wheel(), upright_landing(yaw_rate=-0.4)

    def difference(x: SteeredWheelState) -> float:
        left, right = wheel.sides(x, no_steps())
        return float(left.rate - right.rate)

    before = difference(x)
    left, right = (float(side.rate) for side in wheel.sides(x, no_steps()))
    for _ in range(10):  # ten collisions by the printed rule, the mean rate held
        mean, delta = 0.5 * (left + right), left - right
        left, right = mean + delta, mean - delta
    assert left - right == pytest.approx(2**10 * before)
    jump = wheel.jump(0.0, x, no_steps(), 0)
    assert (int(jump.m.steps_left), int(jump.m.steps_right)) == (1, 1)
    assert abs(before) > 0.1 and difference(jump.x) == pytest.approx(before, rel=1e-12)
    assert float(jump.x.yaw_rate) == -0.4


@pytest.mark.parametrize("current", [0.3, -1.0])
def test_e17_yaw_acceleration_has_the_squared_lever_and_a_minus(current):
    """Half the difference of the spoke rates, on upright unloaded spokes, where only the torques
    act.
    """
    wheel = steered_wheel(current)
    x = SteeredWheelState(
        height=LENGTH, roll=0.0, torso_angle=0.6, speed=0.6, climb_rate=0.0, roll_rate=0.0, torso_rate=0.0, yaw_rate=0.0,
        foot_ahead_left=0.0, foot_ahead_right=0.0, x=0.0, y=0.0, heading=0.0, distance=0.0, pitch_integral=0.0,
    )  # fmt: skip
    x = as_jax(x)

    def half_difference(x: SteeredWheelState) -> Any:
        left, right = wheel.sides(x, no_steps())
        return 0.5 * (left.rate - right.rate)

    _, found = jax.jvp(half_difference, (x,), (wheel.flow(0.0, x, no_steps()).x,))
    left, right = wheel.motor_torques(x, no_steps())
    lever = HALF_TRACK / LENGTH
    printed = float(left - right) * lever / 0.12
    assert float(left - right) == pytest.approx(2 * 5.4 * 0.034 * current)
    assert float(found) == pytest.approx(-lever * printed, rel=1e-12)
    assert lever == pytest.approx(0.596, abs=1e-3)
    assert abs(float(found)) < 0.6 * abs(printed)


def test_e20_printed_one_sided_collision_lifts_the_hub_and_ours_does_not():
    """Left lands while the right spoke is at -0.25.

    The source gives both l0 and the mean of the two angles.
    """
    right_angle = -0.25
    height_at_collision = LENGTH * math.cos(HALF)
    printed = LENGTH * math.cos(0.5 * (HALF + right_angle))
    assert printed - height_at_collision == pytest.approx(12.6e-3, abs=5e-5)
    assert MASS * GRAVITY * (printed - height_at_collision) == pytest.approx(0.85, abs=5e-3)

    wheel, x = steered_wheel(), upright_landing(0.0, right_angle)
    jump = wheel.jump(0.0, x, no_steps(), 0)
    assert (int(jump.m.steps_left), int(jump.m.steps_right)) == (1, 0)
    heights = [
        [float(side.height) for side in wheel.sides(state, no_steps())] for state in (x, jump.x)
    ]
    assert (
        heights[0]
        == heights[1]
        == pytest.approx([height_at_collision, LENGTH * math.cos(right_angle)], rel=1e-14)
    )
    before, after = (wheel.stores(0.0, state, no_steps()) for state in (x, jump.x))
    assert float(after.gravity) == float(before.gravity) and float(after.kinetic) == float(
        before.kinetic
    )
    # Both spokes unloaded: nothing to release.
    assert float(after.spring) == pytest.approx(float(before.spring), abs=1e-20)


def test_e21_printed_yaw_rate_grows_without_bound_and_ours_settles():
    """Equations 23, 24 and 28: a constant acceleration, and collisions that take nothing."""
    current, inertia = 0.5, 0.12
    done = run(steered_wheel(current), steered_start(), 80.0, SAMPLED)
    assert done.outcome is Outcome.reached_end

    def turned(t0, t1):
        return np.interp(t1, done.t, done["heading"]) - np.interp(t0, done.t, done["heading"])

    early, late = turned(20.0, 50.0) / 30.0, turned(50.0, 80.0) / 30.0
    assert late == pytest.approx(early, rel=0.02)
    assert np.max(np.abs(done["yaw_rate"])) < 3.0

    landings = [0.0, *(event.t for event in done.events)]
    acceleration = 2 * 5.4 * 0.034 * current * (HALF_TRACK / LENGTH) / inertia
    rate, rates = 0.0, []
    for step in np.diff(landings):
        rate += acceleration * step  # stance
        # Collision: the difference of spoke rates is kept; heading rate by eq. 21.
        rates.append(rate * LENGTH / HALF_TRACK)
    half = len(rates) // 2
    assert rates[-1] > 1.9 * rates[half] > 30.0  # rad/s, and no radius
