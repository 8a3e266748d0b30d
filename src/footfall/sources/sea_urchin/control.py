"""Chapter 5: stiffness control and PID of a spike, and how it follows its path under them."""

import functools
import inspect
from typing import Any

import numpy as np

from footfall.machines.sea_urchin import functions as urchin
from footfall.machines.sea_urchin.spike import Spike
from footfall.machines.sea_urchin.spike_bench import UrchinSpike
from footfall.machines.sea_urchin.spike_control import (
    AbstractSpikeControl,
    SpikePid,
    StiffnessControl,
)
from footfall.machines.sea_urchin.spike_kinematics import jacobian
from footfall.pictures.block_diagram import Block, Wire, block_diagram
from footfall.pictures.show import Picture
from footfall.pictures.style import Style, name_lines, series
from footfall.record.trajectory import Trajectory
from footfall.scenario.document import own_values
from footfall.scenario.load import load
from footfall.sources.item import Item, Made, Value

STIFFNESS, PID = ("controller=stiffness",), ("controller.gains=source",)
#: One cycle of the gait. An explicit solver, which compiles quickly.
CYCLE = 6.0
#: Where laws are compared: joints, rates, targets and their rates, integral.
AT = (
    (0.132, 1.57, 0.0108), (0.1, -0.2, 0.01), (0.14, 1.6, 0.012), (0.12, -0.1, 0.0),
    (0.01, 0.02, 0.003),
)  # fmt: skip


@functools.cache
def _run(settings: tuple[str, ...]) -> Trajectory:
    return load("urchin-spike", [*settings, "solver=dopri5"], duration=CYCLE).run()


# --- block diagrams -------------------------------------------------------------------------------


def _law(controller: AbstractSpikeControl) -> tuple[str, ...]:
    """The lines of its documentation that are equations, and its gains as they are set."""
    said = inspect.getdoc(type(controller)) or ""
    # Between an introduction with a colon, and what further symbols mean or the equation's number.
    formulas = (line.split("   ")[0].split(": ")[-1] for line in said.splitlines() if " = " in line)
    equations = [formula.strip(" ,") for formula in formulas][:1]
    gains: dict[str, Any] = {
        name: value
        for name, value in own_values(controller).items()
        if isinstance(value, int | float) and not isinstance(value, bool)
    }
    if isinstance(controller, SpikePid):
        gains = dict(
            zip("PID", (controller.proportional, controller.integral, controller.damping),
                strict=True)
        )  # fmt: skip
    lines = [f"{name.replace('_', ' ')} {_numbers(value)}" for name, value in gains.items()]
    return (*equations, *lines)


def _numbers(value: Any) -> str:
    return ", ".join(f"{v:g}" for v in value) if isinstance(value, tuple) else f"{value:g}"


def _diagram(settings: tuple[str, ...], title: str, style: Style) -> Made:
    """What the spike under control is made of: its parts by name, and what passes between them."""
    experiment = load("urchin-spike", list(settings))
    system = experiment.system
    assert isinstance(system, UrchinSpike)
    gait, law, spike = system.gait, system.controller, system.spike
    blocks = {
        "path": Block(
            type(gait).__name__, (0, 0),
            (f"stride {1e3 * gait.stride:g} mm, lift {1e3 * gait.lift:g} mm",
             f"stance {gait.stance_time:g} s of {float(gait.period):g} s"),
            "target",
        ),
        "inverse": Block("spike_inverse", (1.2, 0), ("and spike_rates", "(spike.3), (spike.5)"),
                         "target"),
        "law": Block(type(law).__name__, (2.4, 0), _law(law), "motor", 1.0),
        "spike": Block(
            type(spike).__name__, (3.6, 0),
            ("D q'' + C q' + g = effort",
             f"{1e3 * spike.mass:g} g, stroke {1e3 * spike.stroke:g} mm"),
            "body",
        ),
    }  # fmt: skip
    wires = [
        Wire("path", "inverse", "x_e, x_e'"),
        Wire("inverse", "law", "q_d, q_d'"),
        Wire("law", "spike", "effort"),
        Wire("spike", "law", "q, q'"),
    ]
    if isinstance(law, StiffnessControl):
        blocks["jacobian"] = Block("spike_jacobian", (2.4, 1.2), ("of the ball's centre",), "joint")
        wires += [Wire("spike", "jacobian", "q"), Wire("jacobian", "law", "J")]
    made = block_diagram(blocks, wires, title, style)
    return Made(picture=made, words="made of the parts of urchin-spike and their parameters")


# --- laws -----------------------------------------------------------------------------------------


def _stiffness_law(style: Style) -> Made:
    del style
    law, spike = StiffnessControl(), Spike(ball=0.04)
    q, v, q_d, v_d, integral = AT
    ours = np.array([float(e) for e in law.wanted(q, v, q_d, v_d, integral, spike)])
    j = np.asarray(urchin.spike_jacobian(q, spike))
    springs = np.diag([law.stiffness_x, law.stiffness_y, law.stiffness_z])
    damping = np.array(law.damping) * (np.array(v_d) - v)
    printed = j.T @ springs @ j @ (np.array(q_d) - q) + damping
    # How far a foot gives under 1 N upwards, with the Jacobian of the ball, and of the cylinder.
    centre = np.array(jacobian(0.04 + q[2] / 2, 1.0, q[0], q[1]), float)
    force = np.array([0.0, 1.0, 0.0])
    gives = [
        1e3 * float((j @ np.linalg.solve(used.T @ springs @ used, j.T @ force))[1])
        for used in (j, centre)
    ]
    asked = 1e3 / law.stiffness_y
    names = (("θ1", "N m"), ("θ2", "N m"), ("d3", "N"))
    return Made((
        *(
            Value(f"effort of {name}", float(a), unit, float(b), 1e-11)
            for (name, unit), a, b in zip(names, ours, printed, strict=True)
        ),
        Value("foot under 1 N, J of the ball's centre", gives[0], "mm", asked, 1e-9),
        Value("the same with the Jacobian of eq 3.2", gives[1], "mm", asked, 1e-3,
              "that point's lever is half as long, so the foot is four times softer than asked"),
    ))  # fmt: skip


def _gains(style: Style) -> Made:
    del style
    law = SpikePid(gains="source")
    table = {"θ1": (10, 10, 10), "θ2": (10, 10, 10), "d3": (10000, 1000, 100)}
    values = [
        Value(f"{letter} of {joint}", float(ours[i]), "", float(printed[k]), 0.0)
        for i, (joint, printed) in enumerate(table.items())
        for k, (letter, ours) in enumerate(
            zip("PID", (law.proportional, law.integral, law.damping), strict=True)
        )
    ]
    damping = law.damping[1]
    inertia = float(np.asarray(urchin.spike_mass_matrix((0.3, 1.1, 0.02)))[1, 1])
    values += [
        Value("time in which an error of a hinge decays, D/P", damping / law.proportional[1], "s"),
        Value("longest step of an explicit solver, 2 J/D", 1e6 * 2 * inertia / damping, "µs"),
    ]
    return Made(tuple(values))


# --- tracking -------------------------------------------------------------------------------------

_JOINTS = {
    "θ1": ("joint_1.angle", "joint_1.desired", "joint_1.angle_error", "rad"),
    "θ2": ("joint_2.angle", "joint_2.desired", "joint_2.angle_error", "rad"),
    "d3": ("joint_3.extension", "joint_3.desired", "joint_3.extension_error", "m"),
}


def _tracking(settings: tuple[str, ...], joint: str, style: Style) -> Made:
    run = _run(settings)
    measured, desired, error, unit = _JOINTS[joint]
    picture = Picture(figsize=(style.width, style.panel + 0.6), style=style)
    left, right = np.atleast_1d(picture.subplots(1, 2))
    for i, (name, word) in enumerate(((desired, "desired"), (measured, "measured"))):
        left.plot(run.t, run[name], label=word, **series(i))
    left.set(title=f"{joint} [{unit}]", xlabel="time [s]")
    name_lines(left, style)
    right.plot(run.t, 1e3 * run[error], **series(0))
    right.set(title=f"desired less measured [m{unit}]", xlabel="time [s]")
    late = run.t > 0.5  # s; the spike starts at rest, its target moves
    off = float(np.sqrt(np.mean(run[error][late] ** 2)))
    span = float(np.ptp(run[desired]))
    return Made(
        (
            Value("rms error", 1e3 * off, f"m{unit}"),
            Value("of the span of the desired motion", off / span),
        ),
        picture,
        "a cycle of the gait in the air, profile T",
    )


def _tracks(first: int, settings: tuple[str, ...], law: str, command: str) -> tuple[Item, ...]:
    return tuple(
        Item(
            f"fig-5.{first + i}",
            f"{joint} measured and desired, {law}",
            "measured and desired joint over time; similar tracking with both laws.",
            functools.partial(_tracking, settings, joint),
            command,
        )
        for i, joint in enumerate(_JOINTS)
    )


ITEMS = (
    Item(
        "fig-5.1",
        "Stiffness control as blocks",
        "Simulink implementation of Jacobian force control.",
        functools.partial(_diagram, STIFFNESS, "Fig 5.1. Stiffness control"),
        "footfall show urchin-spike",
    ),
    Item(
        "eq-5.2",
        "Stiffness control",
        "eq 5.1 and 5.2: torques that give the foot a stiffness in space, after Salisbury.",
        _stiffness_law,
        "footfall run urchin-spike --set controller=stiffness",
        "Which J is not said, nor K_px and K_v; with J of eq 3.2 the foot is softer than asked."
        " Ours: J of the ball's centre, 2000, 3000, 2000 N/m.",
    ),
    *_tracks(2, STIFFNESS, "stiffness control",
             "footfall run urchin-spike --set controller=stiffness --plots all"),
    Item(
        "fig-5.5",
        "PID as blocks",
        "Simulink implementation of the PID controller.",
        functools.partial(_diagram, PID, "Fig 5.5. PID"),
        "footfall show urchin-spike",
    ),
    Item(
        "table-5.1",
        "Gains of the PID controller",
        "P, I, D of the three joints.",
        _gains,
        "footfall run urchin-spike --set controller.gains=source",
        "With D = P = 10 the hinges creep: an error takes a second to go. Recommended: 40, 0, 0.5.",
    ),
    *_tracks(6, PID, "PID", "footfall run urchin-spike --set controller.gains=source --plots all"),
)  # fmt: skip
