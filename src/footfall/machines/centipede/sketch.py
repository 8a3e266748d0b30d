"""Shapes and charts of the segmented walker."""

from typing import TYPE_CHECKING

from footfall.numerics.namespace import namespace
from footfall.scene.sketch import Arrow, Ball, Chart, Ground, Link, Shape, arrow_scale

if TYPE_CHECKING:
    from footfall.machines.centipede.walker import SegmentedWalker


def walker_sketch(system: "SegmentedWalker") -> tuple[Shape, ...]:
    """Segments, legs, tips with their forces, ground."""
    count = system.body.segments
    scale = arrow_scale(0.01, system.body.mass * system.gravity)
    legs = [i for i in range(count) if i not in system.missing_legs]
    shapes: list[Shape] = [Ground(system.terrain.outline, height=system.terrain.height)]
    shapes += [Link(f"node.{i}", f"tip.{i}", "leg", 0.003) for i in legs]
    shapes += [Link(f"node.{i}", f"node.{i + 1}", "body", 0.006) for i in range(count - 1)]
    radius = namespace(system.body.radius).maximum(system.body.radius, 0.004)
    shapes += [
        Ball(f"node.{i}", (0.0, 0.0, 0.0), radius, "mark" if i == 0 else "body")
        for i in range(count)
    ]
    shapes += [Arrow(f"tip.{i}", scale) for i in legs]
    return tuple(shapes)


def walker_charts(system: "SegmentedWalker") -> tuple[Chart, ...]:
    """What a biologist looks at.

    The body over time, ground reaction, reflexes, locking of the phases.
    """
    rows = range(system.body.segments)

    def each(name: str) -> tuple[str, ...]:
        return tuple(f"{name}.{i}" for i in rows)

    def carpet(title: str, name: str, main: bool = False) -> Chart:
        return Chart(title, each(name), "carpet", "segment, 0 is the head", main)

    gaps = "gaps" in system.terrain.features

    return (
        carpet("Height of the body", "node.z", True),
        carpet("Force of the ground up", "tip.fz", True),
        carpet("Force of the ground forward", "tip.fx"),
        carpet("Lift reflex: legs drawn up by", "leg.lift", gaps),
        carpet("Cantilever reflex: bending moment", "leg.moment"),
        Chart(
            "Force of the ground on all legs",
            ("load.lift", "load.thrust"),
            main=not gaps,
            names=("up", "forward"),
        ),
        Chart("Order of the phases", ("travel.order",), "whole"),
    )
