"""Words of the walker's geometry: points, links, turns of the motors, centres of the links.

Feet may be put anywhere, so the poses are made of points, not of a plan.
"""

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from footfall.machines.two_leg.functions import forward, inverse
from footfall.scene.labels import Anchor, Angle, Label, Name, Span
from footfall.scene.sketch import Ground, Seen, Shape

if TYPE_CHECKING:
    from footfall.machines.two_leg.walker import TwoLegWalker

#: Points 1 to 5 of the source, as outputs name them.
POINTS = ("foot_1", "ankle_1", "knee", "ankle_2", "foot_2")


def model_view(point: np.ndarray) -> tuple[float, float]:
    """The source's plane: x to the right is backward, so foot 1 stands at the left."""
    return -float(point[0]), float(point[2])


def standing_at(walker: "TwoLegWalker", left: Any, right: Any) -> Seen:
    """What can be seen of it with its feet at these points of the source's plane."""
    link = float(walker.link_length)
    points = np.asarray(forward(inverse(left, right, link), left, link))
    middle = np.mean(0.5 * (points[:-1] + points[1:]), axis=0)
    row: dict[str, float] = {}
    for name, (x, y) in zip((*POINTS, "centre"), (*points, middle), strict=True):
        row |= {f"{name}.x": -float(x), f"{name}.z": float(y)}
    return Seen(row)


def bare(walker: "TwoLegWalker", *, ground: bool = True) -> tuple[Shape, ...]:
    """Its shapes without the centre of mass, so that words have room."""
    shapes = (shape for shape in walker.sketch() if getattr(shape, "body", "") != "centre")
    return tuple(shape for shape in shapes if ground or not isinstance(shape, Ground))


def turn_labels(walker: "TwoLegWalker") -> tuple[Label, ...]:
    """theta_i, clockwise from the link before motor i, carried on, to the link after it."""
    radius = 0.3 * float(walker.link_length)
    triples = zip(POINTS, POINTS[1:], POINTS[2:], strict=False)
    return tuple(
        Angle(rf"$\theta_{i}$", Anchor(at), Anchor(at, toward=before, share=-1.0), Anchor(after),
              radius)
        for i, (before, at, after) in enumerate(triples, 1)
    )  # fmt: skip


def geometry_labels(walker: "TwoLegWalker") -> tuple[Label, ...]:
    """Points, length of the links, distance alpha of the outer motors, beta, turns."""
    shifts = ((-12.0, -9.0), (-14.0, 4.0), (0.0, 13.0), (14.0, 6.0), (12.0, -9.0))
    names = (
        Name(f"$(x_{i}, y_{i})$", Anchor(point), shift)
        for i, (point, shift) in enumerate(zip(POINTS, shifts, strict=True), 1)
    )
    lengths = (
        Name("$L$", Anchor(a, toward=b, share=0.5), shift)
        for (a, b), shift in zip(
            itertools.pairwise(POINTS),
            ((-8.0, 0.0), (-9.0, 7.0), (9.0, 7.0), (8.0, 0.0)),
            strict=True,
        )
    )
    beta = Angle(
        r"$\beta$", Anchor("ankle_1"), Anchor("ankle_2"), Anchor("knee"),
        0.42 * float(walker.link_length), "target", dashed=False,
    )  # fmt: skip
    return (
        *names,
        *lengths,
        *turn_labels(walker),
        beta,
        Span(r"$\alpha$", Anchor("ankle_1"), Anchor("ankle_2")),
    )


def centre_labels() -> tuple[Label, ...]:
    """The middle of each link, and the centre of mass of all."""
    shifts = ((-12.0, 0.0), (-10.0, 9.0), (10.0, 9.0), (12.0, 0.0))
    middles = (
        Name(f"$m_{i}$", Anchor(a, toward=b, share=0.5), shift, dot=True)
        for i, ((a, b), shift) in enumerate(zip(itertools.pairwise(POINTS), shifts, strict=True), 1)
    )
    return (
        *middles,
        Name(r"$(\bar{x}, \bar{y})$", Anchor("centre"), (12.0, -8.0), "force", dot=True),
    )


def stride_labels(walker: "TwoLegWalker", apart: str) -> tuple[Label, ...]:
    """How far the feet are apart, in words, and how long a foot is."""
    below = -0.16 * float(walker.link_length)
    toe = Anchor("foot_1", (-float(walker.foot_length), 0.0, 0.0))
    return (
        Span(apart, Anchor("foot_1"), Anchor("foot_2"), away=2.6 * below),
        Span("$L_0$", Anchor("foot_1"), toe, away=below),
    )
