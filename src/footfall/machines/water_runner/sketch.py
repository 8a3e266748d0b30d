"""Shapes of the runner: the whole robot, and one leg cut free with the forces at its joints."""

from typing import TYPE_CHECKING

from footfall.scene.sketch import Arrow, Ball, Bar, Ground, Link, Shape, arrow_scale

if TYPE_CHECKING:
    from footfall.machines.water_runner.runner import FourBarRunner

_NEAR, _FAR = "leg", "far_leg"


def _linkage(name: str, color: str) -> tuple[Shape, ...]:
    return (
        Link(f"{name}.hip", f"{name}.crank_pin", color, 0.003),
        Link(f"{name}.foot", f"{name}.rocker_pin", color, 0.003),
        Link(f"{name}.rocker_axis", f"{name}.rocker_pin", color, 0.003),
        Link(f"{name}.foot", f"{name}.tip", "foot", 0.004),
    )


def runner_sketch(system: "FourBarRunner") -> tuple[Shape, ...]:
    """Body, legs, feet with their forces, tail, surface."""
    scale = arrow_scale(0.05, system.body.mass * system.gravity)
    front, rear, high = -system.body.front_hip, -system.body.rear_hip, system.body.hip_height
    last = rear if system.legs == "four" else front - system.leg.ground
    shapes: list[Shape] = [
        Ground(
            system.terrain.outline,
            "water" if system.on_water else "ground",
            height=system.terrain.height,
            water=system.on_water,
        )
    ]
    for name in reversed(system.names):  # far ones first
        shapes += _linkage(name, _NEAR if name.endswith("right") else _FAR)
    shapes += [
        Bar("body", (front + 0.03, 0.0, high), (last - 0.03, 0.0, high), "body", 0.008),
        Ball("body", (0.0, 0.0, 0.0), 0.006, "mark"),
    ]
    if system.tail.present and system.on_water:
        shapes += [
            Link("body", "tail", "body", 0.004),
            Ball("tail", (0.0, 0.0, 0.0), 0.008, "foot"),
            Arrow("tail", scale),
        ]
    return (*shapes, *(Arrow(f"{name}.tip", scale) for name in system.names))


def free_bodies(system: "FourBarRunner") -> dict[str, tuple[Shape, ...]]:
    """The front left leg by itself.

    What the body, the crank and the rocker do to its coupler, against what the foot does.
    """
    name = system.names[0]
    scale = arrow_scale(0.02, system.body.mass * system.gravity)
    forces = (
        Arrow(f"{name}.foot", scale, "force"),
        Arrow(f"{name}.crank_pin", scale, "motor"),
        Arrow(f"{name}.rocker_pin", scale, "leg"),
    )
    pins = tuple(
        Ball(f"{name}.{point}", (0.0, 0.0, 0.0), 0.002)
        for point in ("hip", "rocker_axis", "crank_pin", "rocker_pin")
    )
    return {
        f"Forces on the coupler, {name.replace('_', ' ')} leg": (
            *_linkage(name, "idle_leg"),
            *pins,
            *forces,
        )
    }
