"""Sections 2.2 and 2.3: the model with heading, its collisions, motors."""

import dataclasses
import functools
import math

import numpy as np

from footfall.hybrid.system import HybridState
from footfall.machines import robots
from footfall.machines.rimless_wheel.start import SteeredWheelStart
from footfall.machines.rimless_wheel.steered_wheel import SteeredWheel
from footfall.pictures.show import Picture
from footfall.pictures.style import Style, name_lines, series
from footfall.record.trajectory import Trajectory
from footfall.scenario.load import load
from footfall.sources.item import Made, Value
from footfall.sources.rimless_wheel import printed

#: Listed yaw inertia [kg m^2], and the current difference of the items [A].
J_D, CURRENT = 0.052, 0.5


@functools.cache
def _wheel() -> SteeredWheel:
    return robots.rimless_wheel_3d(steering_current=CURRENT)


def _state(**moved: float) -> HybridState:
    state = SteeredWheelStart().state(_wheel())
    return state._replace(x=dataclasses.replace(state.x, **moved))


def kinematics(style: Style) -> Made:
    """Equations 18 to 21 at a state in mid-stance."""
    del style
    wheel = _wheel()
    x, m = _state(height=0.255, speed=0.8, climb_rate=0.0, yaw_rate=-0.6, foot_ahead_left=0.02,
                  foot_ahead_right=0.02, heading=0.4)  # fmt: skip
    left, right = wheel.sides(x, m)
    b, length = float(wheel.half_track), 0.5 * float(left.length + right.length)
    speed, yaw = printed.steering_rates(length, float(left.rate), float(right.rate), b)
    seen = wheel.outputs(0.0, x, m).axle
    e16 = "E16: forward is a falling angle, and l times the rate is an arc"
    return Made(
        (
            Value("forward speed", float(x.speed), "m/s", speed, 1e-3, e16),
            Value("yaw rate", float(x.yaw_rate), "rad/s", yaw, 1e-3, e16),
            Value("forward speed with the sign turned", float(x.speed), "m/s", -speed, 0.02 * 0.8),
            Value("yaw rate with the sign turned", float(x.yaw_rate), "rad/s", -yaw, 0.02 * 0.6),
            Value("x velocity over speed, of heading 0.4 (eq 19)", float(seen.vx / x.speed), "",
                  math.cos(0.4), 1e-12),
            Value("y velocity over speed (eq 20)", float(seen.vy / x.speed), "",
                  math.sin(0.4), 1e-12),
        ),
        words="the hub's speed is l cos(theta) times the rate, and a stretching spoke adds to it",
    )  # fmt: skip


def steering_law(style: Style) -> Made:
    """Equations 22 to 26: how a difference of the torques turns the robot."""
    del style
    wheel = _wheel()
    l0 = float(wheel.leg.rest_length)
    x, m = _state(height=l0, speed=0.0, climb_rate=0.0, foot_ahead_left=0.0, foot_ahead_right=0.0)
    b, inertia = float(wheel.half_track), float(wheel.total_yaw_inertia)
    torques = [float(torque) for torque in wheel.motor_torques(x, m)]
    difference = torques[0] - torques[1]
    turning = float(wheel.flow(0.0, x, m).x.yaw_rate)
    ours = turning * b / l0  # theta_d = b/l times the heading, of upright spokes
    said = printed.difference_acceleration(difference, b, l0, J_D)
    alone = 2.0 * 0.5 * float(wheel.wheel_mass) * b**2
    return Made(
        (
            Value("T_l - T_r at 0.5 A", difference, "N m", 2.0 * 5.4 * 0.034 * CURRENT, 1e-12),
            Value("acceleration of theta_d at rest, upright", ours, "rad/s^2", said, 1e-3,
                  "E17: a factor b/l0 is missing, and the sign; E8: J_d is too small"),
            Value("the same by eq 23 with both mended", ours, "rad/s^2",
                  -said * (b / l0) * J_D / inertia, 1e-9),
            Value("J_d", inertia, "kg m^2", J_D, 5e-4,
                  "E8: the wheels alone have more"),
            Value("2 m_1 b^2, m_1 of both wheels together", alone, "kg m^2"),
        ),
    )  # fmt: skip


def collision(style: Style) -> Made:
    """Equation 27."""
    del style
    wheel = _wheel()
    x, m = _state(height=0.25, roll=0.02, foot_ahead_left=-0.05, foot_ahead_right=-0.07)
    sides, rooms = wheel.sides(x, m), wheel.guards(0.0, x, m)
    l0, alpha = float(wheel.leg.rest_length), wheel.spoke_spacing
    values = []
    for name, side, room in zip(("left", "right"), sides, rooms[:2], strict=True):
        angle = math.atan2(float(side.sin), float(side.cos))
        said = float(side.length) * math.cos(angle) - l0 * math.cos(angle + alpha)
        values.append(Value(f"h of the {name} side", float(room), "m", said, 1e-12))
    return Made(tuple(values), words="h counts only while it falls: it is zero at lift-off too")


def transfer(style: Style) -> Made:
    """Equations 28 to 32: both sides land at once, at one stance angle."""
    del style
    wheel = _wheel()
    l0, alpha, length = float(wheel.leg.rest_length), wheel.spoke_spacing, 0.25647
    theta = -math.atan((length / l0 - math.cos(alpha)) / math.sin(alpha))
    ahead, height = length * math.sin(theta), length * math.cos(theta)
    x, m = _state(height=height, speed=0.8, yaw_rate=-0.4, climb_rate=-0.1, foot_ahead_left=ahead,
                  foot_ahead_right=ahead)  # fmt: skip
    before = wheel.sides(x, m)
    after = wheel.jump(0.0, x, m, 0)
    landed = wheel.sides(after.x, after.m)
    rates = [float(side.rate) for side in before]
    mean = 0.5 * float(landed[0].rate + landed[1].rate)
    said = printed.landed_rates(mean, *rates)
    angle = math.atan2(float(landed[0].sin), float(landed[0].cos))
    return Made(
        (
            Value("theta_l after, eq 30", angle, "rad", printed.landed_angles(theta, theta)[0],
                  1e-3, "E9: equal to eq 12 only where the spoke was not pressed"),
            Value("theta_l after, eq 12", angle, "rad", theta + alpha, 1e-12),
            Value("difference of the rates after", float(landed[0].rate - landed[1].rate), "rad/s",
                  said[0] - said[1], 1e-3, "E10: doubled at every landing"),
            Value("yaw rate after less before", float(after.x.yaw_rate - x.yaw_rate), "rad/s",
                  0.0, 1e-15),
        ),
        words="without wheel inertia no velocity of hub or heading jumps; E11: eq 32 mixes rates"
        " before and after; E20: a side that lands alone may not move the other's foot",
    )  # fmt: skip


def motors(style: Style) -> Made:
    """Equations 33 and 34."""
    del style
    wheel = _wheel()
    x, m = _state(torso_rate=0.5)
    left, _ = wheel.sides(x, m)
    ours = float(wheel.flow(0.0, x, m).power.motor_left)
    said = printed.motor_power(float(left.torque), float(left.rate))
    return Made(
        (
            Value("torque of a motor for each ampere", float(wheel.motor.torque_per_ampere),
                  "N m/A", 5.4 * 0.034, 1e-15),
            Value("power of the left motor at the start", ours, "W", said, 1e-3,
                  "E19: the motor turns against the torso, and forward is a falling angle"),
        ),
    )  # fmt: skip


@functools.cache
def _turned(roll: str) -> Trajectory:
    return load("rimless-wheel-turning", [f"robot.roll={roll}"], duration=6.0).run()


def without_roll(style: Style) -> Made:
    """The 3-D model that ignores rolling: as printed, mended, and beside ours, which rolls."""
    free, locked = _turned("free"), _turned("locked")
    wheel = _wheel()
    b, l0 = float(wheel.half_track), float(wheel.leg.rest_length)
    difference = 2.0 * CURRENT * float(wheel.motor.torque_per_ampere)
    figure = Picture(figsize=(0.7 * style.width, 1.2 * style.panel), style=style)
    axes = figure.subplots()
    for i, (name, run) in enumerate((("ours, free to roll", free), ("ours, locked", locked))):
        heading = run["axle.yaw"]
        axes.plot(run.t, heading, label=name, **series(i))
    t = np.linspace(0.0, 1.5, 61)
    per_second = printed.yaw_rate_after(1.0, difference, b, l0, J_D)
    axes.plot(t, 0.5 * per_second * t**2, label="equations 21 to 24, 28", **series(3))
    axes.set(title="Heading at a current difference of 0.5 A", xlabel="time [s]")
    axes.set_ylabel("heading [rad], left positive")
    axes.set_ylim(-4.0, 0.5)
    name_lines(axes, style)
    end = min(float(free.t[-1]), float(locked.t[-1]))
    rolled, held = (float(np.interp(end, run.t, run["axle.yaw"])) for run in (free, locked))
    said = 0.5 * per_second * end**2
    return Made(
        (
            Value("yaw rate gained in each second, eq 21 to 24", per_second, "rad/s^2"),
            Value(f"heading after {end:.3g} s, free to roll", rolled, "rad", said, 1.0,
                  "E21: no landing takes yaw rate, so that it grows without bound"),
            Value(f"heading after {end:.3g} s, roll locked", held, "rad", said, 1.0,
                  "the same; with one height of both hubs the sides cannot step by turns"),
            Value("smallest force of a foot, roll locked", _least(locked), "N"),
        ),
        figure,
        f"with its roll locked the run ends as `{locked.outcome.name}` after"
        f" {float(locked.t[-1]):.3g} s: rolling lets one side be loaded while the other lands",
    )  # fmt: skip


def _least(run: Trajectory) -> float:
    return min(run.least_pushes.values(), default=math.nan)
