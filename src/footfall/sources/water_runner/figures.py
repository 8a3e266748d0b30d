"""Figures 1 and 2: the labelled four-bar leg, and free bodies with forces to scale."""

import functools
import math

import numpy as np

from footfall.hybrid.system import HybridState
from footfall.machines import robots
from footfall.machines.water_runner.labels import (
    four_bar_labels,
    four_bar_shapes,
    free_bodies_of,
    rear_view,
)
from footfall.machines.water_runner.runner import FourBarRunner
from footfall.machines.water_runner.start import RunnerStart
from footfall.pictures.schematic import Panel, schematic, seen_at
from footfall.pictures.style import Style
from footfall.scene.sketch import Seen
from footfall.sources.item import Item, Made, Value

LEG = "front_left"
#: Crank against the body [rad], pitch, height of the centre of mass [m], forward speed [m/s].
SHOWN, PITCH = math.radians(70.0), 0.15
STROKE, HEIGHT, SPEED = math.radians(225.0), 0.035, 0.5
SCALE = 0.03  # m per newton
FREE_BODIES = "Fig 2. Free bodies at one scale: a newton is as long as 30 mm"


@functools.cache
def _seen(crank: float, pitch: float, height: float, speed: float) -> tuple[FourBarRunner, Seen]:
    """The robot at the instant at which the crank of the front left leg is there."""
    system = robots.water_runner()
    state = RunnerStart(height=height, pitch=pitch, speed=speed).state(system)
    t = crank / (2.0 * math.pi * float(system.drive.frequency))
    return system, seen_at(system, HybridState(state.x, state.m), t)


def _figure_1(style: Style) -> Made:
    system, seen = _seen(SHOWN, PITCH, HEIGHT, SPEED)
    panel = Panel(four_bar_shapes(LEG), seen, four_bar_labels(LEG), project=rear_view)
    ends = (("hip", "rocker_axis"), ("hip", "crank_pin"), ("crank_pin", "rocker_pin"),
            ("rocker_axis", "rocker_pin"), ("crank_pin", "foot"))  # fmt: skip
    values = []
    for k, ((start, end), length) in enumerate(zip(ends, system.leg.links, strict=True)):
        way = seen.origin(f"{LEG}.{end}") - seen.origin(f"{LEG}.{start}")
        drawn = float(np.linalg.norm(way))
        values.append(Value(f"L_{k} as drawn", 1e3 * drawn, "mm", 1e3 * float(length), 1e-10))
    return Made(
        tuple(values),
        schematic([panel], "Fig 1. Four-bar leg", style._replace(width=0.55 * style.width)),
        "drawn from the joints of the robot's front left leg, body 0.15 rad nose down",
    )


def _figure_2(style: Style) -> Made:
    system, seen = _seen(STROKE, 0.0, HEIGHT, SPEED)
    bodies = free_bodies_of(system, seen, LEG, SCALE)
    panels = [
        Panel(body.shapes, seen, body.labels, body.title, project=rear_view) for body in bodies
    ]
    at = {name: seen.force(f"{LEG}.{name}") for name in ("crank_pin", "rocker_pin", "foot")}
    total = sum(at.values())
    whole = sum(
        -seen.force(f"{leg}.{joint}") for leg in system.names for joint in ("hip", "rocker_axis")
    ) + seen.force("tail")
    values = (
        Value("P, up", float(at["foot"][2]), "N"),
        Value("F_1, up", float(at["crank_pin"][2]), "N"),
        Value("F_3, up", float(at["rocker_pin"][2]), "N"),
        Value("torque T", seen.get(LEG, "torque"), "N m"),
        Value("coupler: sum of forces", float(np.hypot(total[0], total[2])), "N", 0.0, 1e-13),
        Value("robot: sum of all joint forces and tail, up", float(whole[2]), "N",
              seen.get("load", "lift"), 1e-13),
    )  # fmt: skip
    return Made(
        values,
        schematic(panels, FREE_BODIES, style, one_scale=True),
        "crank 225 deg into its turn, centre of mass 35 mm above the water, at 0.5 m/s;"
        " F_1 and F_3 act on the coupler, their opposites on crank and rocker",
    )


ITEMS = (
    Item(
        "fig-1",
        "Labelled four-bar leg",
        "Joints O, A, B, C and F, links L_0 to L_4 and angles theta_0 to theta_3 of a leg.",
        _figure_1,
        'python -c "import footfall as ff; print(ff.robots.four_bar.positions(1.22))"',
    ),
    Item(
        "fig-2",
        "Free body diagrams of each link and the robot",
        "Forces and moments on crank, coupler, rocker and robot.",
        _figure_2,
        "footfall run water-runner --duration 0.5 --plots all",
    ),
)
