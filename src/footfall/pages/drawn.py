"""Shapes as data for the front end.

A shape is an object with its `shape` ("bar", "link", "disc", "ball", "arrow") and the fields that
`scene/sketch.py` gives it. A number that follows the parameters is an object {"n": 3}: entry 3 of
what the page's `start` module computes for shapes.

The ground is {points, color, water}: (x, z) along it, first and last segment going on, at the
values of the scenario. Where the page has a `ground` module, that tells the height instead.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np

from footfall.numerics.namespace import traced
from footfall.scene.sketch import Ground, Shape, ground_line

#: How far from the origin a ground that only has an outline is drawn [m].
BEHIND, AHEAD = 5.0, 30.0
#: Points closer than this to the line through their neighbours are left out [m].
FLAT = 1e-4


class Numbers:
    """Numbers met in shapes, in order: those that JAX is looking through."""

    def __init__(self) -> None:
        self.traced: list[Any] = []

    def __call__(self, value: Any) -> Any:
        """The value as JSON: itself, or which of the traced numbers it is."""
        if isinstance(value, tuple | list):
            return [self(each) for each in value]
        if isinstance(value, str):
            return value
        if traced(value):
            self.traced.append(value)
            return {"n": len(self.traced) - 1}
        return float(value)


def shapes_said(shapes: Iterable[Shape], number: Numbers) -> list[dict[str, Any]]:
    """All shapes but the ground."""
    return [
        {"shape": type(shape).__name__.lower()}
        | {field: number(value) for field, value in shape._asdict().items()}
        for shape in shapes
        if not isinstance(shape, Ground)
    ]


def bodies_of(shapes: Iterable[Mapping[str, Any]], outputs: Collection[str]) -> list[str]:
    """The groups of outputs that shapes hang on and that have a place; of like legs one."""
    ends = {"link": ("start", "end"), "arrow": ()}
    hung = (s[field] for s in shapes for field in ends.get(s["shape"], ("body",)))
    groups = dict.fromkeys(re.sub(r"\.\d+$", "", group) for group in hung)
    return [group for group in groups if {f"{group}.x", f"{group}.z"} <= set(outputs)]


def ground_of(shapes: Iterable[Shape]) -> Ground | None:
    """The first ground among shapes."""
    return next((shape for shape in shapes if isinstance(shape, Ground)), None)


def ground_said(ground: Ground | None, *, behind: float = BEHIND, ahead: float = AHEAD) -> Any:
    """Points along it, without those that a straight line goes through anyway."""
    if ground is None:
        return None
    points = thinned_line(ground_line(ground, -behind, ahead))
    return {"points": points.tolist(), "color": ground.color, "water": ground.water}


def thinned_line(points: np.ndarray, near: float = FLAT) -> np.ndarray:
    """The corners of a line that is straight between them, to within `near` (Douglas-Peucker)."""
    keep = np.zeros(len(points), bool)
    keep[[0, -1]] = True
    open_ends = [(0, len(points) - 1)]
    while open_ends:
        first, last = open_ends.pop()
        if last - first < 2:
            continue
        a, b = points[first], points[last]
        along, inner = b - a, points[first + 1 : last] - a
        length = float(np.hypot(*along))
        away = (
            np.abs(along[0] * inner[:, 1] - along[1] * inner[:, 0]) / length
            if length > 0
            else np.hypot(inner[:, 0], inner[:, 1])
        )
        worst = int(np.argmax(away))
        if away[worst] > near:
            middle = first + 1 + worst
            keep[middle] = True
            open_ends += [(first, middle), (middle, last)]
    return points[keep]
