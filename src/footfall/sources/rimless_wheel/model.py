"""Sections 1 and 2.1: parameters, variables, and the model in its sagittal plane."""

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from footfall.machines import robots
from footfall.machines.rimless_wheel.spring_leg import SpringLeg
from footfall.machines.rimless_wheel.states import TorsoWheelState, WheelStance
from footfall.machines.rimless_wheel.torso_wheel import TorsoWheel
from footfall.pictures.style import Style
from footfall.scenario.load import load
from footfall.sources.item import Made, Value
from footfall.sources.rimless_wheel import printed

#: (theta, phi, l, rates): a state in mid-stance, and one before a support transfer.
STANCE = (0.2, 0.5, 0.255, -3.0, 0.7, 0.1)
LANDING_ANGLE = -0.3
TORQUE = 1.2  # N m, both motors
#: Double precision through matrices of condition 1e3.
EXACT = 1e-9


def parameters(style: Style) -> Made:
    """Section 1.1, from the robots that come with footfall."""
    del style
    wheel = robots.rimless_wheel_3d()
    planar, stiff = robots.rimless_wheel(), load("rimless-wheel-stiff").system.leg
    motor = wheel.motor
    rows = (
        ("m1, mass of the wheels", wheel.wheel_mass, "kg", 2.46, 5e-3, ""),
        ("m2, mass of the torso", wheel.torso.mass, "kg", 4.45, 5e-3, ""),
        ("J1, inertia of the wheels", planar.wheel_inertia, "kg m^2", 0.0, 0.0, ""),
        ("J2, inertia of the torso", planar.torso.inertia, "kg m^2", 0.0, 0.0, ""),
        (
            "J_d, inertia about the vertical",
            wheel.total_yaw_inertia,
            "kg m^2",
            0.052,
            5e-4,
            "E8",
        ),
        ("l0, free length of a spoke", wheel.leg.rest_length, "m", 0.26, 5e-3, ""),
        (
            "c, hub to the torso's centre of mass",
            wheel.torso.com_distance,
            "m",
            0.0006,
            5e-6,
            "E12",
        ),
        ("k, spokes of rimless-wheel-stiff", stiff.stiffness, "N/m", 1315.0, 0.5, ""),
        ("c_v, spokes of rimless-wheel-stiff", stiff.damping, "N s/m", 1e5, 0.0, ""),
        ("2b, track", 2.0 * wheel.half_track, "m", 0.31, 5e-3, ""),
        ("n, spokes of a wheel", wheel.spokes, "", 10, 0.0, ""),
        ("g, gravity", wheel.gravity, "m/s^2", 9.81, 5e-3, ""),
        ("G, gear ratio", motor.gear_ratio, "", 5.4, 0.05, ""),
        ("K_t, torque constant", motor.torque_constant, "N m/A", 0.034, 5e-4, ""),
    )
    values = [
        Value(what, float(ours), unit, said, tolerance, erratum)
        for what, ours, unit, said, tolerance, erratum in rows
    ]
    wheels_alone = float(wheel.wheel_mass * wheel.half_track**2)
    weight = float(wheel.total_mass * wheel.gravity)
    sag = Value("sag M g/k of these spokes", weight / float(stiff.stiffness), "m")
    room = float(wheel.leg.rest_length) * (1.0 - math.cos(2.0 * math.pi / wheel.spokes))
    return Made(
        (
            *values,
            Value("inertia of the two wheels at b alone", wheels_alone, "kg m^2"),
            sag,
            Value("sag at which a neighbour touches", room, "m"),
        )
    )


#: Symbol -> the state or output that holds it, and what differs.
VARIABLES = {
    "theta_l, theta_r": ("left_hub.pitch", "right_hub.pitch"),
    "phi": ("torso.pitch",),
    "l": ("left_spoke.length", "right_spoke.length"),
    "beta": ("axle.yaw",),
    "I_l, I_r": ("left_motor.current", "right_motor.current"),
    "T_l, T_r": ("left_motor.torque", "right_motor.torque"),
    "x_c, y_c": ("axle.x", "axle.y"),
    "their rates": ("axle.vx", "axle.vy", "yaw_rate"),
    "I_d": ("steering_current",),
}


def variables(style: Style) -> Made:
    """Section 1.2: where a run has what the source names."""
    del style
    experiment = load("rimless-wheel-turning", duration=0.02)
    run = experiment.run()
    lines = []
    for symbol, names in VARIABLES.items():
        there = [name for name in names if name in run.columns]
        lines.append(f"{symbol}: {', '.join(there or names)}")
    theta = float(run["left_hub.pitch"][0])
    start = float(experiment.document["start"]["spoke_angle"])
    values = (Value("left_hub.pitch at the start, -theta_l", theta, "rad"),)
    assert math.isclose(theta, -start)
    return Made(values, words="; ".join(lines) + ". House angles lean forward: pitch = -theta")


def _wheel(damping: float = 400.0) -> TorsoWheel:
    return robots.rimless_wheel(leg=SpringLeg(rest_length=0.26, stiffness=15000.0, damping=damping))


def state_of(y: Any) -> TorsoWheelState:
    return TorsoWheelState(*(jnp.asarray(v, float) for v in y), jnp.zeros_like(y[0], float))


def _energy(wheel: TorsoWheel, y: Any) -> Any:
    stores = wheel.stores(0.0, state_of(y), WheelStance(foot_x=0.0, steps=np.int32(0)))
    return sum(jax.tree.leaves(stores))


def kinematics(style: Style) -> Made:
    """Equations 1 and 2 against the second derivatives of where the bodies are."""
    del style
    wheel = _wheel()
    theta, phi, l, theta_v, phi_v, l_v = STANCE
    theta_a, phi_a, l_a = (float(a) for a in wheel.accelerations(state_of(STANCE), TORQUE))
    e_r = np.array([-math.sin(theta), math.cos(theta)])
    e_t = np.array([-math.cos(theta), -math.sin(theta)])
    hub = (l_a - l * theta_v**2) * e_r + (2 * l_v * theta_v + l * theta_a) * e_t
    c = float(wheel.torso.com_distance)
    e_r2 = np.array([math.sin(phi), -math.cos(phi)])
    e_t2 = np.array([math.cos(phi), math.sin(phi)])
    torso = hub - c * phi_v**2 * e_r2 + c * phi_a * e_t2

    def speeds(y: Any) -> Any:
        v = wheel.motion(state_of(y))
        return jnp.stack([v.hub_x, v.hub_z, v.torso_x, v.torso_z])

    rates = tuple(map(float, (theta_v, phi_v, l_v, theta_a, phi_a, l_a)))
    _, found = jax.jvp(speeds, (tuple(map(float, STANCE)),), (rates,))
    off = float(np.max(np.abs(np.asarray(found) - np.concatenate([hub, torso]))))
    size = float(np.max(np.abs(torso)))
    return Made(
        (
            Value("largest acceleration at this state", size, "m/s^2"),
            Value("ours less equations 1 and 2, largest", off, "m/s^2", 0.0, EXACT),
        ),
        words="equations 1 and 2 are the derivatives of our velocities",
    )


def stance(style: Style) -> Made:
    """Equation 6 at one state: as printed, mended, ours; and what each does to the energy."""
    del style
    wheel, free = _wheel(), _wheel(damping=0.0)
    ours = np.array([float(a) for a in wheel.accelerations(state_of(STANCE), TORQUE)])
    p = printed.symbols_of(wheel)
    as_printed = printed.stance(p, STANCE, TORQUE)
    mended = printed.stance(p, STANCE, TORQUE, b3_as_printed=False)
    e1 = "E1"
    names = ("theta", "phi", "l")
    units = ("rad/s^2", "rad/s^2", "m/s^2")
    values = [
        Value(f"acceleration of {name}", one, unit, said, 1e-6 * abs(said), e1)
        for name, one, unit, said in zip(names, ours, units, as_printed, strict=True)
    ]
    off = float(np.max(np.abs(mended - ours)))
    values.append(Value("ours less equation 6 with b_3 mended", off, "", 0.0, 1e-7))

    def power(accelerations: Any) -> float:
        y = tuple(map(float, STANCE))
        way = (*y[3:], *(float(a) for a in accelerations))
        return float(jax.jvp(lambda y: _energy(free, y), (y,), (way,))[1])

    passive = printed.stance(printed.symbols_of(free), STANCE)
    values.append(
        Value(
            "power of a passive, undamped wheel",
            power(free.accelerations(state_of(STANCE), 0.0)),
            "W",
            power(passive),
            EXACT,
            e1,
        )
    )
    return Made(tuple(values))


def landing(length: float = 0.2575) -> tuple[float, ...]:
    """A state just before support transfer: the next spoke touches."""
    l0, alpha = 0.26, 2.0 * math.pi / 10
    # l cos(theta) = l0 cos(theta + alpha)
    theta = -math.atan((length / l0 - math.cos(alpha)) / math.sin(alpha))
    return (theta, 0.5, length, -3.0, 0.7, 0.5)


def transfer(style: Style) -> Made:
    """Equations 11 to 17 at one landing, and the kinetic energy each makes."""
    del style
    wheel, y = _wheel(), landing()
    before, p = state_of(y), printed.symbols_of(_wheel())
    after = wheel.transfer(before)
    ours = np.array([float(after.spoke_rate), float(after.torso_rate), float(after.spoke_speed)])
    said = printed.transfer(p, y)
    mended = printed.transfer(p, y, b3_as_printed=False)
    e2 = "E2"
    names = (("theta_dot", "rad/s"), ("phi_dot", "rad/s"), ("l_dot", "m/s"))
    values = [
        Value(f"{name} after", one, unit, old, 1e-6, e2)
        for (name, unit), one, old in zip(names, ours, said, strict=True)
    ]
    off = float(np.max(np.abs(mended - ours)))
    values.append(Value("ours less equation 17 with b_3 mended", off, "", 0.0, EXACT))
    alpha = wheel.spoke_spacing
    turned = float(after.spoke_angle - before.spoke_angle)
    values += [
        Value("eq 11: l after", float(after.spoke_length), "m", p.l0, 0.0),
        Value("eq 12: theta after less before", turned, "rad", alpha, 1e-12),
        Value("eq 13: phi after less before", float(after.torso_angle) - y[1], "rad", 0.0, 0.0),
    ]

    def gained(rates: Any) -> float:
        now = (float(after.spoke_angle), y[1], p.l0, *(float(r) for r in rates))
        kinetic = lambda y: float(wheel.kinetic(wheel.motion(state_of(y))))  # noqa: E731
        return kinetic(now) - kinetic(y)

    values.append(Value("kinetic energy gained", gained(ours), "J", gained(said), EXACT, e2))
    return Made(tuple(values))
