"""Section 4, energy, torque and power, and the curves of the appendix."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

from footfall.machines.two_leg import functions as two_leg
from footfall.machines.two_leg.robots import two_leg_walker
from footfall.pictures.show import Picture
from footfall.pictures.style import Style, name_lines, series
from footfall.sources.item import Item, Made, Value
from footfall.sources.two_leg import printed
from footfall.sources.two_leg.along import Along, along
from footfall.sources.two_leg.printed import GRAVITY, MASS, STEP

FAST = 0.5  #: m/s, the source's other speed
GAINED = 4 * MASS * GRAVITY * STEP
FEET = ("foot 1", "foot 2")
MOTORS = ("motor 1", "motor 2", "motor 3")


# --- energies -------------------------------------------------------------------------------------


def _single(speed: float, links: str = "point") -> Along:
    return along(speed, links=links).first(2)


def _figure_6(style: Style) -> Made:
    picture = Picture(figsize=(style.width, style.panel + 0.6), style=style)
    values = []
    panels = np.atleast_1d(picture.subplots(1, 2))
    for axes, speed, share in zip(panels, (0.05, FAST), (0.05, None), strict=True):
        one = _single(speed)
        rise = one.kept.potential - one.kept.potential[0, 0, 0]
        kinetic, swing = float(one.kept.kinetic.max()), float(np.ptp(rise))
        for i, (word, energy) in enumerate((("potential", rise), ("kinetic", one.kept.kinetic))):
            axes.plot(one.joined(one.t), one.joined(energy), label=word, **series(i))
        axes.set(title=f"Energy of a step at {speed:g} m/s [J]", xlabel="time [s]")
        name_lines(axes, style)
        said = {"printed": 0.0, "tolerance": share} if share else {
            "printed": 0.0, "tolerance": 0.05,
            "erratum": "at 0.5 m/s it is nearly as large: it grows with the square of the speed",
        }  # fmt: skip
        values += [
            Value(f"largest kinetic energy at {speed:g} m/s", 1e3 * kinetic, "mJ"),
            Value(f"potential energy, highest less lowest, at {speed:g} m/s", 1e3 * swing, "mJ"),
            Value(f"kinetic over potential at {speed:g} m/s", kinetic / swing, "", **said),
        ]  # fmt: skip
    rod = float(_single(FAST, "rod").kept.kinetic.max() / _single(FAST).kept.kinetic.max())
    values.append(Value("kinetic energy with the links' rotation, over without", rod))
    return Made(tuple(values), picture)


def _orders(style: Style) -> Made:
    del style
    single, whole, limbs = _single(0.05), along(), two_leg_walker().limbs
    fastest = [max(float(np.abs(m.acceleration).max()) for m in run.motors)
               for run in (single, whole)]  # fmt: skip
    added = [
        float(np.abs(motor.torque - motor.static_torque).max())
        for run in (single, along(FAST).first(2))
        for motor in run.motors[:1]
    ]
    bound = "the largest is 15.7 in a single step and 17.9 on the terrain"
    return Made((
        Value("m g L", float(limbs.mass * limbs.gravity * limbs.length), "N m", 0.0981, 5e-5),
        Value("largest angular acceleration, one step", fastest[0], "rad/s^2", 15.0, 0.05, bound),
        Value("the same on the terrain", fastest[1], "rad/s^2"),
        Value("m θ'' L² of 15 rad/s²", float(15.0 * limbs.mass * limbs.length**2), "N m", 0.015,
              5e-4),
        Value("largest torque that motion adds, motor 1, 0.05 m/s", added[0], "N m", 0.015, 5e-4,
              "the far links act on long levers"),
        Value("the same at 0.5 m/s", added[1], "N m"),
    ))  # fmt: skip


# --- torques --------------------------------------------------------------------------------------


def _torques(foot_1_clamped: bool) -> Callable[[Style], Made]:
    def make(style: Style) -> Made:
        del style
        left, right = np.array([0.0, 0.05]), np.array([0.16, 0.0])
        points = np.asarray(two_leg.forward(two_leg.inverse(left, right), left))
        ours = np.asarray(two_leg.static_torques(left, right, foot_1_clamped))
        theirs = printed.static_torques(points[:, 0], foot_1_clamped)
        return Made(
            tuple(
                Value(f"τ{i}", float(a), "N m", float(b), 1e-14)
                for i, (a, b) in enumerate(zip(ours, theirs, strict=True), 1)
            ),
            words="feet at (0, 0.05) and (0.16, 0) m",
        )

    return make


def _peaks(style: Style) -> Made:
    del style
    run, fast = along(), along(FAST)
    static = [float(np.abs(motor.static_torque).max()) for motor in run.motors]
    full = [float(np.abs(motor.torque).max()) for motor in run.motors]
    quick = [float(np.abs(motor.torque).max()) for motor in fast.motors]
    return Made((
        *(
            Value(f"motor {i}, poses held still", ours, "N m", said, 5e-4)
            for i, (ours, said) in enumerate(zip(static, (0.363, 0.147, 0.353), strict=True), 1)
        ),
        *(Value(f"motor {i}, in motion at 0.05 m/s", v, "N m") for i, v in enumerate(full, 1)),
        *(Value(f"motor {i}, in motion at 0.5 m/s", v, "N m") for i, v in enumerate(quick, 1)),
    ))  # fmt: skip


def _power(style: Style) -> Made:
    del style
    run = along().first(2)
    first_stands = run.seen.support.foot.ravel() < 1.5
    torque = np.array([motor.static_torque.ravel() for motor in run.motors])
    rate = np.array([motor.rate.ravel() for motor in run.motors])
    lines = printed.instantaneous_power(torque, rate, first_stands, ~first_stands)
    ours = np.asarray(two_leg.instantaneous_power(torque.T, rate.T, first_stands)).T
    # What all motors give is what lifts the weight.
    gained = np.diff(run.kept.potential[..., [0, -1]], axis=-1)[..., 0]
    work = sum(np.trapezoid(power, run.t, axis=-1) for power in run.static_power())
    wrong = np.trapezoid((torque * rate).sum(axis=0).reshape(run.t.shape), run.t, axis=-1)
    return Made((
        Value("ours less its six lines, largest", float(np.abs(ours - lines).max()), "W", 0.0, 0.0),
        Value("work of a move less what it lifts, largest", float(np.abs(work - gained).max()),
              "J", 0.0, 1e-6),
        Value("the same without the change of sign", float(np.abs(wrong - gained).max()), "J"),
    ))  # fmt: skip


def _consumption(style: Style) -> Made:
    del style
    run, low = along(), along(lift=0.005)
    gained = float(run.kept.potential[-1, -1, -1] - run.kept.potential[0, 0, 0])
    energy, lower = run.static_energy(), low.static_energy()
    moving = sum(
        float(np.trapezoid(np.maximum(motor.power, 0.0), run.t, axis=-1).sum())
        for motor in run.motors
    )
    return Made((
        Value("energy of the motors, static torque", energy, "J", 4.644, 5e-4),
        Value("change of potential energy", gained, "J", 0.196, 5e-4),
        Value("efficiency", 100 * gained / energy, "%", 4.225, 5e-4),
        Value("efficiency with y_lift = 0.005", 100 * GAINED / lower, "%", 4.592, 5e-4),
        Value("energy with the torques of motion, 0.05 m/s", moving, "J"),
        Value("energy of the static torques at 0.5 m/s", along(FAST).static_energy(), "J", energy,
              1e-9),
    ))  # fmt: skip


# --- curves ---------------------------------------------------------------------------------------


class Curves(NamedTuple):
    """One panel."""

    title: str
    names: Sequence[str]
    lines: Sequence[np.ndarray]


def _curves(run: Along) -> list[Curves]:
    """Rows of place, speed and acceleration, vertical, horizontal and angular; then the rest."""
    feet, motors = (run.seen.foot_1, run.seen.foot_2), run.motors
    turns = tuple(f"θ{i}" for i in (1, 2, 3))
    rise = run.kept.potential - run.kept.potential[0, 0, 0]
    return [
        Curves("Height of the feet [m]", FEET, [f.z for f in feet]),
        Curves("Vertical speed [m/s]", FEET, [f.vz for f in feet]),
        Curves("Vertical acceleration [m/s²]", FEET, [f.az for f in feet]),
        # The source's x is to the right, and the walk goes to the left.
        Curves("Horizontal place of the feet [m]", FEET, [-f.x for f in feet]),
        Curves("Horizontal speed [m/s]", FEET, [-f.vx for f in feet]),
        Curves("Horizontal acceleration [m/s²]", FEET, [-f.ax for f in feet]),
        Curves("Joint angles [deg]", turns, [np.degrees(m.angle) for m in motors]),
        Curves("Joint rates [rad/s]", turns, [m.rate for m in motors]),
        Curves("Joint accelerations [rad/s²]", turns, [m.acceleration for m in motors]),
        Curves("Energy [J]", ("potential", "kinetic"), [rise, run.kept.kinetic]),
        Curves("Torque, held still [N m]", MOTORS, [m.static_torque for m in motors]),
        Curves("Power, held still [W]", MOTORS, run.static_power()),
    ]


def _draw(axes: Axes, run: Along, curves: Curves, style: Style) -> None:
    for i, (name, line) in enumerate(zip(curves.names, curves.lines, strict=True)):
        axes.plot(run.joined(run.t), run.joined(line), label=name, **series(i))
    axes.set(title=curves.title)
    axes.margins(x=0.01)
    name_lines(axes, style)


def _page(run: Along, style: Style) -> Picture:
    panels = _curves(run)
    wide = 3 if style.columns > 1 else 1
    rows = len(panels) // wide
    picture = Picture(figsize=(style.width, 0.95 * style.panel * rows), style=style)
    grid = np.atleast_1d(picture.subplots(rows, wide, sharex=True)).ravel()
    for axes, curves in zip(grid, panels, strict=True):
        _draw(axes, run, curves, style)
    for axes in grid[-wide:]:
        axes.set_xlabel("time [s]")
    return picture


def _figure_7(style: Style) -> Made:
    run = along().first(2)
    peaks = [float(np.abs(m.acceleration).max()) for m in run.motors]
    bound = 'below 15 and "barely surpasses 15" do not agree; it is 15.7'
    return Made(
        (
            Value("time", float(run.t[-1, -1, -1]), "s", 4.0, 1e-12),
            Value("largest size of θ1''", peaks[0], "rad/s^2", 15.0, 0.5, bound),
            Value("largest size of θ2''", peaks[1], "rad/s^2"),
            Value("largest size of θ3''", peaks[2], "rad/s^2", 15.0, 0.5, bound),
        ),
        _page(run, style),
        "rates are exact here, differences in the source",
    )


def _figure_8(style: Style) -> Made:
    run = along()
    knee = float(np.abs(run.seen.motor_2.acceleration).max())
    angles = np.degrees([motor.angle for motor in run.motors])
    return Made(
        (
            Value("time", float(run.t[-1, -1, -1]), "s", 53.119, 5e-4, "53.2 s: see sec-4-script"),
            Value("largest size of θ2''", knee, "rad/s^2"),
            Value("least angle", float(angles.min()), "deg"),
            Value("largest angle", float(angles.max()), "deg"),
        ),
        _page(run, style),
    )


def _run(name: str, more: str = "") -> str:
    return f"footfall run {name}{more} --plots all"


ITEMS = (
    Item(
        "fig-6",
        "Kinetic against potential energy at two speeds",
        "energies of a single step at 0.05 m/s and at 0.5 m/s; the kinetic one is said to be"
        " negligible at both.",
        _figure_6,
        _run("two-leg-single-step", " --set gait.speed=0.5"),
        "At 0.5 m/s kinetic energy is 89 % of the change of the potential one. The rotation of the"
        " links is left out: 8.6 % more with it (links=rod).",
    ),
    Item(
        "sec-orders",
        "Orders of magnitude of static and dynamic torque",
        "m g L = 0.0981 against m theta'' L^2 = 0.015, with |theta''| < 15 rad/s^2.",
        _orders,
        "footfall run two-leg-single-step --set gait.speed=0.5",
        "The true inertial torque is three times that, and 4.5 N m at 0.5 m/s. g is in m/s^2."
        ' "Proportional to" should read "of the order of".',
    ),
    Item(
        "eq-torque-1",
        "Static torques with foot 1 clamped",
        "tau_1, tau_2, tau_3 from free-body diagrams, clockwise positive.",
        _torques(True),
        'python -c "import footfall as ff;'
        ' print(ff.robots.two_leg.static_torques((0, 0.05), (0.16, 0)))"',
    ),
    Item(
        "eq-torque-2",
        "Static torques with foot 2 clamped",
        "the same for the other foot.",
        _torques(False),
        'python -c "import footfall as ff;'
        ' print(ff.robots.two_leg.static_torques((0, 0.05), (0.16, 0), False))"',
        '"When foot 1 is clamped" is printed for it a second time.',
    ),
    Item(
        "sec-peak-torques",
        "Largest torques of the task",
        "0.363, 0.147 and 0.353 N m.",
        _peaks,
        "footfall run two-leg-step --set dynamics=static",
    ),
    Item(
        "instantaneous_power",
        "Python function of the power",
        "torque times rate, whose sign is changed while foot 2 is clamped.",
        _power,
        'python -c "import footfall as ff;'
        ' print(ff.robots.two_leg.instantaneous_power((0.1, 0, 0), (2, 0, 0), False))"',
    ),
    Item(
        "sec-energy",
        "Energy and efficiency",
        "4.644 J for 0.196 J of height, 4.225 %; 4.592 % with half the lift.",
        _consumption,
        "footfall sweep two-leg-step --vary gait.lift=0.005:0.02:4 --metric efficiency",
    ),
    Item(
        "fig-7",
        "Trajectories of a single step",
        "vertical, horizontal and angular place, speed and acceleration, energy, torque, power.",
        _figure_7,
        _run("two-leg-single-step"),
    ),
    Item(
        "fig-8",
        "Trajectories over the terrain",
        "the same while the robot crosses the whole terrain.",
        _figure_8,
        _run("two-leg-step"),
    ),
)
