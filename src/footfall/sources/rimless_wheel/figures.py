"""Figures 1 to 3: the model, before and after support transfer, and the steering geometry."""

import dataclasses
import functools
from typing import Any

import numpy as np

from footfall.hybrid.system import HybridState
from footfall.machines import robots
from footfall.machines.rimless_wheel.labels import (
    constant_labels,
    contact_labels,
    steered_shapes,
    steering_labels,
    top_view,
    variable_labels,
)
from footfall.machines.rimless_wheel.spring_leg import SpringLeg
from footfall.machines.rimless_wheel.start import SteeredWheelStart
from footfall.machines.rimless_wheel.states import WheelStance
from footfall.machines.rimless_wheel.torso_wheel import TorsoWheel
from footfall.pictures.schematic import Panel, schematic, seen_at
from footfall.pictures.style import Style
from footfall.scene.sketch import Bar, Seen
from footfall.sources.item import Made, Value
from footfall.sources.rimless_wheel.model import landing, state_of

#: So far is the stance spoke pressed in the pictures [m]: our robot's by 4 mm at most.
SHOWN = 0.235


def _wheel() -> TorsoWheel:
    return robots.rimless_wheel(leg=SpringLeg(rest_length=0.26, stiffness=15000.0, damping=400.0))


@functools.cache
def _stance() -> tuple[TorsoWheel, HybridState]:
    return _wheel(), _stands((0.25, 0.7, SHOWN, -3.0, 0.0, 0.0))


def _stands(y: tuple[float, ...]) -> HybridState:
    return HybridState(state_of(y), WheelStance(foot_x=0.0, steps=np.int32(0)))


def model(style: Style) -> Made:
    """Figure 1."""
    wheel, state = _stance()
    seen = seen_at(wheel, state)
    shapes = _without_forces(wheel)
    panels = [
        Panel(shapes, seen, constant_labels(wheel), "(a) constants"),
        Panel(shapes, seen, variable_labels(seen), "(b) variables"),
    ]
    hub, foot, torso = (seen.origin(name) for name in ("hub", "foot", "torso"))
    down = float(np.linalg.norm(torso - hub))
    return Made(
        (
            Value("length of the stance spoke as drawn", float(np.linalg.norm(hub - foot)), "m",
                  SHOWN, 1e-12),
            Value("hub to the torso's centre of mass as drawn", down, "m",
                  float(wheel.torso.com_distance), 1e-12),
        ),
        schematic(panels, "Fig 1. The sagittal model", style),
        "drawn from the robot's own shapes, its stance spoke pressed by 25 mm",
    )  # fmt: skip


def _without_forces(wheel: Any) -> tuple:
    """Its shapes, with thinner spokes, so that words can be read."""
    thin = []
    for shape in wheel.sketch():
        if isinstance(shape, Bar):
            shape = shape._replace(radius=0.002)
        thin.append(shape)
    return tuple(thin)


def transfer(style: Style) -> Made:
    """Figure 2."""
    wheel, before = _wheel(), _stands(landing(SHOWN))
    k = next(k for k, event in enumerate(wheel.events) if event.name == "touchdown")
    jumped = wheel.jump(0.0, before.x, before.m, k)
    after = HybridState(jumped.x, jumped.m)
    shapes, panels, seen = _without_forces(wheel), [], {}
    for name, state, mark in (("before", before, "-"), ("after", after, "+")):
        seen[name] = seen_at(wheel, state)
        words = variable_labels(seen[name], mark) + contact_labels(wheel, landed=name == "after")
        panels.append(Panel(shapes, seen[name], words, f"({'ab'[mark == '+']}) just {name}"))
    moved = float(np.linalg.norm(seen["after"].origin("hub") - seen["before"].origin("hub")))
    stands = seen["after"].origin("foot") - seen["before"].origin("foot")
    return Made(
        (
            Value("how far the hub moves in the transfer", moved, "m", 0.0, 1e-12),
            Value("height of the new contact over the old one", float(stands[2]), "m", 0.0, 1e-12),
            Value("distance of P from Q", float(stands[0]), "m"),
        ),
        schematic(panels, "Fig 2. Support transfer", style),
    )


def _from_above(**moved: float) -> tuple[Any, Seen]:
    wheel = robots.rimless_wheel_3d()
    state = SteeredWheelStart().state(wheel)
    return wheel, seen_at(wheel, state._replace(x=dataclasses.replace(state.x, **moved)))


def steering(style: Style) -> Made:
    """Figure 3."""
    wheel, start = _from_above()
    _, later = _from_above(x=0.75, y=0.35, heading=0.6)
    shapes = steered_shapes(wheel)
    panels = [
        Panel(shapes, start, steering_labels(start, moved=False), "(a) at the start",
              project=top_view),
        Panel(shapes, later, steering_labels(later, moved=True), "(b) at some time",
              project=top_view, paler=(start,)),
    ]  # fmt: skip
    track = later.origin("left_hub") - later.origin("right_hub")
    across = np.array([-np.sin(0.6), np.cos(0.6), 0.0])
    return Made(
        (
            Value("2b as drawn", float(np.linalg.norm(track)), "m", 0.31, 5e-3),
            Value(
                "axle across the heading: cosine",
                float(track @ across / np.linalg.norm(track)),
                "",
                1.0,
                1e-12,
            ),
        ),
        schematic(panels, "Fig 3. The steering model, from above", style, one_scale=True),
    )
