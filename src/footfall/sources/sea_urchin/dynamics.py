"""Chapter 4: equations of motion of a spike; rolling by a kick, and what drives it."""

import functools
import math
from typing import Any

import numpy as np

from footfall.machines.sea_urchin import functions as urchin
from footfall.machines.sea_urchin.kick_actuator import ConstantForce
from footfall.machines.sea_urchin.kick_roll import KickMode, KickRoll, KickStart, KickState
from footfall.machines.sea_urchin.labels import kick_labels
from footfall.machines.sea_urchin.pressure_chamber import PressureChamber
from footfall.machines.sea_urchin.spike import Spike
from footfall.numerics.orifice_flow import Gas, mass_flow
from footfall.pictures.schematic import Panel, schematic, seen_at
from footfall.pictures.show import Picture
from footfall.pictures.style import Style, name_lines, series
from footfall.record.trajectory import Trajectory
from footfall.scenario.load import load
from footfall.scene.labels import Anchor, Vector
from footfall.scene.sketch import Ball, Disc, Ground, Link, Shape
from footfall.sources.item import Item, Made, Value
from footfall.sources.sea_urchin import printed

Q, V = np.array([0.3, 1.1, 0.02]), np.array([0.7, -0.4, 0.1])
#: The source's cylinder has its mass in the middle of what is out, and point masses.
SOURCE_S = Spike(tip_mass=0.0, bodies="points", reading="telescoping")
RODS = Spike(tip_mass=0.0)
EXACT = 1e-15
#: The gravity of the numbers that are printed.
STANDARD = 9.80665


def _mass(style: Style) -> Made:
    del style
    ours, said = np.asarray(urchin.spike_mass_matrix(Q, SOURCE_S)), printed.mass_matrix(Q[1], Q[2])
    rods, points = (
        float(np.asarray(urchin.spike_mass_matrix(Q, spike))[1, 1])
        for spike in (RODS, Spike(tip_mass=0.0, bodies="points"))
    )
    return Made((
        Value("D_11", ours[0, 0], "kg m^2", said[0, 0], 1e-14),
        Value("D_22", ours[1, 1], "kg m^2", said[1, 1], EXACT),
        Value("D_33", ours[2, 2], "kg", said[2, 2], 1e-6,
              "a centre at k + d3/2 moves half as fast as the slide: a quarter of the mass"),
        Value("D_33 of a cylinder that goes with the slide",
              float(np.asarray(urchin.spike_mass_matrix(Q, RODS))[2, 2]), "kg", 0.05, EXACT),
        Value("share of D_22 that the inertia of rods has", (rods - points) / rods),
    ), words="at (0.3, 1.1) rad, 20 mm out; ours with the reading that the source has")  # fmt: skip


def _coriolis(style: Style) -> Made:
    del style
    ours = np.asarray(urchin.spike_coriolis_matrix(Q, V, SOURCE_S))
    said = printed.coriolis(Q, V)
    mended = printed.coriolis(Q, V, c_11_as_printed=False)
    others = [(i, j) for i in range(3) for j in range(3) if (i, j) != (0, 0)]
    off = max(abs(float(ours[at] - said[at])) for at in others)

    def skewness(c: np.ndarray) -> float:
        """Of D' - 2 C, D' by a step along the motion."""
        step = 1e-6
        rate = (
            np.asarray(urchin.spike_mass_matrix(Q + step * V, SOURCE_S))
            - np.asarray(urchin.spike_mass_matrix(Q - step * V, SOURCE_S))
        ) / (2 * step)
        both = rate - 2 * c
        return float(np.abs(both + both.T).max())

    return Made((
        Value("c_11", ours[0, 0], "", said[0, 0], 1e-9, "q_2 is printed where its rate belongs"),
        Value("c_11 with the rate", ours[0, 0], "", mended[0, 0], EXACT),
        Value("all other entries, largest difference", off, "", 0.0, EXACT),
        Value("D' - 2 C plus its transpose, ours", skewness(ours), "", 0.0, 1e-12),
        Value("the same as printed", skewness(said), "", 0.0, 1e-9,
              "not skew: such a spike makes energy"),
    ))  # fmt: skip


def _gravity(style: Style) -> Made:
    del style
    ours = np.asarray(urchin.spike_gravity(Q, SOURCE_S, STANDARD))
    said = printed.gravity(Q)
    wrong = "y points down, so P = -m g y: all signs are the other ones"
    values = [
        Value(f"g_{i}", float(a), unit, float(b), 5e-4 * abs(b), wrong)
        for i, (a, b, unit) in enumerate(zip(ours, said, ("N m", "N m", "N"), strict=True), 1)
    ]
    values += [
        Value(f"-g_{i}", float(-a), unit, float(b), 5e-4 * abs(b))
        for i, (a, b, unit) in enumerate(zip(ours, said, ("N m", "N m", "N"), strict=True), 1)
    ]
    values.append(Value("g that 0.2452 = m_2 g/2 stands for", 0.2452 / 0.025, "m/s^2", 10.0, 0.05,
                        "the script says 10, the numbers are those of 9.80665"))  # fmt: skip
    return Made(tuple(values))


def _motion(style: Style) -> Made:
    """Inverse dynamics undone by forward dynamics, and by power."""
    del style
    a = np.array([3.0, -2.0, 0.5])
    effort = np.asarray(urchin.spike_effort(Q, V, a))
    back = np.asarray(urchin.spike_acceleration(Q, V, effort))
    # Power is what the kinetic and potential energies take, along the motion.
    step = 1e-5

    def energy(t: float) -> float:
        q, v = Q + t * V + 0.5 * t * t * a, V + t * a
        kinetic = 0.5 * v @ np.asarray(urchin.spike_mass_matrix(q)) @ v
        spike, high = Spike(), math.sin(q[0]) * math.sin(q[1])
        moment = (
            spike.prism_mass * spike.prism / 2
            + spike.cylinder_mass * (spike.prism + q[2] - spike.cylinder_length / 2)
            + spike.tip_mass * (spike.prism + spike.ball + q[2])
        )
        return float(kinetic - 9.81 * moment * high)

    taken = (energy(step) - energy(-step)) / (2 * step)
    return Made((
        *(
            Value(f"acceleration {i} from its effort", float(x), "", float(y), 1e-11)
            for i, (x, y) in enumerate(zip(back, a, strict=True), 1)
        ),
        Value("power of the efforts", float(effort @ V), "W", taken, 1e-9),
    ))  # fmt: skip


def _symbols(style: Style) -> Made:
    """The script's own steps, in numbers: D from Jacobians, C by Christoffel, g from P."""
    del style
    step, mass = 1e-6, lambda q: np.asarray(urchin.spike_mass_matrix(q, SOURCE_S))
    slopes = np.array(
        [(mass(Q + step * e) - mass(Q - step * e)) / (2 * step) for e in np.eye(3)]
    )  # slopes[k] = dD/dq_k
    c = np.zeros((3, 3))
    for k in range(3):
        for j in range(3):
            c[k, j] = sum(
                0.5 * (slopes[i][k, j] + slopes[j][k, i] - slopes[k][i, j]) * V[i] for i in range(3)
            )
    ours = np.asarray(urchin.spike_coriolis_matrix(Q, V, SOURCE_S))
    return Made((
        Value("C by Christoffel's symbols less ours, largest", float(np.abs(c - ours).max()), "",
              0.0, 1e-11),
        Value("inertia of a cylinder of 50 g and 4 cm", 0.05 * 0.04**2 / 12, "kg m^2", 1e-15, 1e-16,
              "1e-15 is ten orders too small"),
    ))  # fmt: skip


# --- rolling --------------------------------------------------------------------------------------


def _equations(style: Style) -> Made:
    del style
    y = np.array([0.9, 0.02, -1.2, 1.1])
    force = 33.0
    system = KickRoll(actuator=ConstantForce(force=force))
    moving = system.flow(0.0, KickState(*map(float, y)), KickMode(held=np.int32(0))).x
    m, inertia, radius = (float(v) for v in (system.mass, system.inertia, system.radius))
    turning, pushing = printed.rolling(m, inertia, radius, force, 9.81, y)
    run = load("urchin-kick").run()
    return Made((
        Value("a''", float(moving.angle_rate), "rad/s^2", turning, 1e-12),
        Value("d''", float(moving.extension_rate), "m/s^2", pushing, 1e-12),
        Value("energy that 40 N give over 4 cm",
              float(sum(run[n][-1] - run[n][0] for n in run.of_role("store"))), "J", 1.6, 1e-7),
    ))  # fmt: skip


def _figure_4_1(style: Style) -> Made:
    system = KickRoll()
    start = KickStart(angle=math.radians(55.0), extension=0.02, extension_rate=0.7)
    state = start.state(system)
    seen = seen_at(system, state)
    a, arm = math.radians(55.0), float(system.radius) + 0.02
    push = 0.55 * arm
    centre = Anchor("centre", turned=False)
    labels = (
        *kick_labels(arm),
        Vector("$F$", centre, (push * math.cos(a), 0.0, push * math.sin(a))),
        Vector("$m g$", centre, (0.0, 0.0, -0.5 * push), "quiet"),
    )
    slim = 0.35  # so that words at the pivot can be read
    shapes: list[Shape] = []
    for shape in system.sketch():
        if isinstance(shape, Link):
            shapes.append(shape._replace(radius=slim * float(shape.radius)))
        elif isinstance(shape, Ball) and shape.body == "centre":
            shapes.append(Disc(shape.body, shape.centre, shape.radius, "joint"))
        elif isinstance(shape, Ball | Ground):
            shapes.append(shape)
    picture = schematic([Panel(tuple(shapes), seen, labels)], "Fig 4.1. Rolling by a kick",
                        style._replace(width=0.5 * style.width))  # fmt: skip
    return Made(picture=picture, words="the foot of the spike is the pivot")


@functools.cache
def _run(*settings: str) -> Trajectory:
    return load("urchin-kick", list(settings)).run()


def _pressure(style: Style) -> Made:
    """Force of the chamber for three valves, and the constant force that they come to."""
    air = "actuator=pressure-chamber"
    constant = _run()
    picture = Picture(figsize=(style.width, style.panel + 0.6), style=style)
    left, right = np.atleast_1d(picture.subplots(1, 2))
    runs = [(area, _run(air, f"valve_area={area}e-6")) for area in (0.3, 1.0, 4.0)]
    for i, (area, run) in enumerate(runs):
        name = f"valve of {area:g} mm²"
        left.plot(1e3 * run.t, run["kick.force"], label=name, **series(i))
        right.plot(1e3 * run.t, run["kick.temperature"], label=name, **series(i))
    left.plot(1e3 * constant.t, constant["kick.force"], "k:", lw=1.0, label="constant force")
    left.set(title="Force of the slide [N]", xlabel="time [ms]")
    right.set(title="Temperature of the gas [K]", xlabel="time [ms]")
    for axes in (left, right):
        name_lines(axes, style)
    chamber = PressureChamber()
    full = float((chamber.supply_pressure - chamber.ambient_pressure) * chamber.area)
    large = _run(air, "valve_area=1e-4", "valve_time=1e-5")
    ends: list[Any] = []
    for name, unit in (("kick.angle_rate", "rad/s"), ("kick.extension_rate", "m/s")):
        ends.append(Value(f"{name} at full stroke, large valve", float(large[name][-1]), unit,
                          float(constant[name][-1]), 2e-3))  # fmt: skip
    usual = _run(air)
    books = usual.ledger.relative_residual
    throttled = -float(usual["work.throttling"][-1] / usual["work.supply"][-1])
    air_flow = float(mass_flow(Gas(), 1e-6, 5e5, 293.15, 1e5))
    return Made(
        (
            Value("(p_s - p_0) A of the chamber as shipped", full, "N", 40.0, 1e-9),
            *ends,
            Value("sonic flow through 1 mm² at 5 bar, 0.0404 p S/√T",
                  1e3 * air_flow, "g/s", 1e3 * 0.040418 * 5e5 * 1e-6 / math.sqrt(293.15), 1e-4),
            Value("books of the usual kick open by, of the throughput", books, "", 0.0, 1e-9),
            Value("share of the supply's work lost in the valve", throttled),
        ),
        picture,
        "the source says no more than that F comes of a pressure based actuator",
    )  # fmt: skip


def _python(call: str) -> str:
    return f'python -c "import footfall as ff; print(ff.robots.sea_urchin.{call})"'


ITEMS = (
    Item(
        "eq-4.1",
        "Mass matrix of a spike",
        "D(q) of prism and cylinder.",
        _mass,
        _python("spike_mass_matrix((0.3, 1.1, 0.02))"),
        "D_33 = 0.05 belongs to a cylinder that goes with the slide, D_22 to one whose middle moves"
        " half as fast; D_22 lacks the 2e-15 of D_11. Ours offers both readings (spike.reading).",
    ),
    Item(
        "eq-4.2",
        "Coriolis matrix of a spike",
        "C(q, q') by Christoffel's symbols.",
        _coriolis,
        _python("spike_coriolis_matrix((0.3, 1.1, 0.02), (0.7, -0.4, 0.1))"),
        "c_11 has q_2 for its rate.",
    ),
    Item(
        "eq-4.3",
        "Gravity of a spike",
        "g(q) from the potential energy.",
        _gravity,
        _python("spike_gravity((0.3, 1.1, 0.02))"),
        "The sign of all three: y points down.",
    ),
    Item(
        "eq-4.4",
        "Equation of motion of a spike",
        "tau = D q'' + C q' + g.",
        _motion,
        _python("spike_effort((0.3, 1.1, 0.02), (0.7, -0.4, 0.1), (3, -2, 0.5))"),
    ),
    Item(
        "appendix-motion",
        "Script of the equations of motion",
        "symbolic D, Christoffel symbols, g and tau.",
        _symbols,
        erratum="Inertias of 1e-15 leave out 9 % of D_22; gravity is 10 in the script and 9.80665"
        " in what it printed.",
    ),
    Item(
        "fig-4.1",
        "Rolling scheme",
        "the body, the spike that kicks, the angle a and the distance d + R.",
        _figure_4_1,
        "footfall run urchin-kick --animate kick.gif",
    ),
    Item(
        "sec-4.2",
        "Spike dynamics for rolling",
        "Lagrangian of the body on its kicking spike, and both equations of motion.",
        _equations,
        "footfall run urchin-kick",
        "K and L are printed with second derivatives, a and alpha are mixed; the last two equations"
        " are right. A single spike tips the robot over its side: a pair must kick (footfall run"
        " urchin-roll).",
    ),
    Item(
        "sec-4.2-actuator",
        "Pressure based actuator of the kick",
        "the force F comes of a pressure based actuator.",
        _pressure,
        "footfall run urchin-kick --set actuator=pressure-chamber --plots all",
    ),
)
