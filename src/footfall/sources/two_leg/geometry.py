"""Sections 2 and 3: joint angles, centre of mass, how long a foot and a stride may be."""

import math

import numpy as np

from footfall.machines.parts.terrain.planes import Flat
from footfall.machines.two_leg import functions as two_leg
from footfall.machines.two_leg.course import one_step
from footfall.machines.two_leg.functions import LINK
from footfall.machines.two_leg.gait import InchwormGait
from footfall.machines.two_leg.labels import (
    bare,
    centre_labels,
    geometry_labels,
    model_view,
    standing_at,
    stride_labels,
)
from footfall.machines.two_leg.reach import corners
from footfall.machines.two_leg.robots import two_leg_walker
from footfall.machines.two_leg.walker import TwoLegWalker
from footfall.pictures.schematic import Panel, schematic
from footfall.pictures.style import Style
from footfall.scene.labels import Label
from footfall.sources.item import EXACT, Item, Made, Value
from footfall.sources.two_leg import printed

#: The feet of the source's first example [m]: its figures 1 and 2 have about this pose.
LEFT, RIGHT = (0.0, 0.0), (0.15, 0.05)
#: Half a unit of the last digit that is printed.
DIGITS = 5e-3


def _walker() -> TwoLegWalker:
    return two_leg_walker(terrain=Flat(), route="walk -0.08")


def _posed(labels: tuple[Label, ...], title: str, style: Style) -> Made:
    walker = _walker()
    pose = standing_at(walker, LEFT, RIGHT)
    panel = Panel(bare(walker, ground=False), pose, labels, project=model_view)
    return Made(picture=schematic([panel], title, style._replace(width=0.5 * style.width)))


def _figure_1(style: Style) -> Made:
    made = _posed(geometry_labels(_walker()), "Fig 1. Links and the angles between them", style)
    return made._replace(words="the feet of the first example; the source walks to the left")


def _figure_2(style: Style) -> Made:
    return _posed(centre_labels(), "Fig 2. Centres of mass of the links", style)


def _figure_3(style: Style) -> Made:
    walker = _walker()
    flat = [
        (0.0, LINK, "$L$", "feet closest: one foot's length"),
        (0.0, 2 * LINK, "$2L$", "widest"),
    ]
    panels = [
        Panel(bare(walker), standing_at(walker, (left, 0.0), (right, 0.0)),
              stride_labels(walker, apart), said, project=model_view)
        for left, right, apart, said in flat
    ]  # fmt: skip
    lead, _ = one_step(-0.09974, 0.0, LINK, True)
    widest = max(math.hypot(u, v) for u, v in corners(walker, lead))
    lifted = math.sqrt((2 * LINK) ** 2 - float(InchwormGait().lift) ** 2) - LINK
    knee = float(np.degrees(two_leg.inverse((0.0, 0.0), (2 * LINK, 0.0))[1]))
    picture = schematic(panels, "Fig 3. The largest stride, with L₀ = L", style)
    return Made(
        (
            Value("widest less closest, nothing lifted", 2 * LINK - LINK, "m", 0.1, 0.0),
            Value("knee at the widest: stretched, singular", knee, "deg", 0.0, 1e-5),
            Value("longest stride with a lift of 10 mm", lifted, "m", 0.1, 1e-5,
                  "a lifted foot is further away: a stride of L is out of reach"),
            Value("feet apart with a stride of 99.74 mm and that lift", widest, "m"),
        ),
        picture,
    )  # fmt: skip


def _angles(style: Style) -> Made:
    del style
    first = np.asarray(two_leg.inverse(LEFT, RIGHT, degrees=True))
    second = np.asarray(two_leg.inverse((0.0, 0.0), (0.12, 0.0), degrees=True))
    rounded = "taken from angles and a distance that were rounded first"
    said = ((33.80, ""), (75.54, rounded), (70.66, rounded))
    values = [
        Value(f"θ{i}, feet (0.15, 0.05) m apart", float(ours), "deg", theirs, DIGITS, why)
        for i, (ours, (theirs, why)) in enumerate(zip(first, said, strict=True), 1)
    ] + [
        Value(f"θ{i}, feet (0.12, 0) m apart", float(ours), "deg", theirs, DIGITS)
        for i, (ours, theirs) in enumerate(zip(second, (36.87, 106.26, 36.87), strict=True), 1)
    ]
    alpha = round(math.hypot(*RIGHT), 4)
    knee = math.degrees(2 * math.acos(alpha / (2 * LINK)))
    values.append(Value("θ2 with α rounded to 0.1581 m", knee, "deg", 75.54, DIGITS))
    behind = np.asarray(two_leg.inverse((0.0, 0.0), (-0.12, 0.05), degrees=True))
    lines = printed.angles(np.array(-0.12), np.array(0.05))
    values.append(
        Value("θ1 with foot 2 on the other side", float(behind[0]), "deg", float(lines[0]), DIGITS,
              "arccos of (y5 - y1)/α is right for x5 > x1 only; here the mirror image, knee up")
    )  # fmt: skip
    return Made(tuple(values))


def _affectors(style: Style) -> Made:
    del style
    x = np.array([[0.0, 0.0], [0, 0], [0, 0], [0, 0], [0.15, 0.12]])
    y = np.array([[0.0, 0.0], [0, 0], [0, 0], [0, 0], [0.05, 0.0]])
    ours = np.asarray(two_leg.affectors_to_angles(x, y, degrees=True))
    lines = printed.angles(x[4] - x[0], y[4] - y[0])
    beyond = two_leg.affectors_to_angles([0, 0, 0, 0, 0.25], [0.0] * 5)
    return Made(
        tuple(
            Value(
                f"θ{i + 1} of example {k + 1}", float(ours[i, k]), "deg", float(lines[i, k]), 1e-11
            )
            for k in range(2)
            for i in range(3)
        ),
        words="arrays of any length; feet 0.25 m apart give"
        f" {float(np.asarray(beyond)[0])}: the source does not look for that",
    )


def _centre(style: Style) -> Made:
    del style
    turns, left = np.radians([20.0, 95.0, 40.0]), np.array([0.3, 0.2])
    a, b, c = np.cumsum(turns)
    ours = np.asarray(two_leg.centre_of_mass(turns, left))
    middles = np.asarray(two_leg.link_centres(turns, left))
    sines = np.array([
        0.0,
        0.5 * math.sin(a),
        math.sin(a) + 0.5 * math.sin(b),
        math.sin(a) + math.sin(b) + 0.5 * math.sin(c),
    ])  # fmt: skip
    x = left[0] + LINK / 8 * (5 * math.sin(a) + 3 * math.sin(b) + math.sin(c))
    y = left[1] + LINK / 8 * (7 + 5 * math.cos(a) + 3 * math.cos(b) + math.cos(c))
    return Made(
        (
            Value("horizontal coordinate", float(ours[0]), "m", x, EXACT),
            Value("vertical coordinate", float(ours[1]), "m", y, EXACT),
            *(
                Value(f"x of m{i}", float(middles[i - 1, 0]), "m",
                      float(left[0] + LINK * sines[i - 1]), EXACT)
                for i in range(1, 5)
            ),
        ),
        words="four equal masses in the middles of the links; turns of 20, 95 and 40 degrees",
    )  # fmt: skip


def _foot_length(style: Style) -> Made:
    del style
    free = two_leg.centre_of_mass((90.0, 0.0, 0.0), degrees=True)
    flat = two_leg.centre_of_mass((90.0, 0.0, 90.0), degrees=True)
    # Every pose with flat feet: feet up to 2 L apart, in all directions.
    span, way = np.meshgrid(np.linspace(1e-3, 2 * LINK, 181), np.radians(np.linspace(0, 180, 181)))
    feet = np.stack([span * np.sin(way), span * np.cos(way)], axis=-1)
    over = np.asarray(two_leg.centre_of_mass(two_leg.inverse((0.0, 0.0), feet)))[..., 0]
    return Made((
        Value("x̄ - x1 at (90, 0, 0) degrees", float(free[0]), "m", 9 / 8 * LINK, EXACT),
        Value("x̄ - x1 at (90, 0, 90) degrees", float(flat[0]), "m", LINK, EXACT),
        Value("greatest x̄ - x1 of poses with flat feet", float(np.nanmax(over)), "m", LINK, 1e-9),
    ))  # fmt: skip


def _python(call: str) -> str:
    return f'python -c "import footfall as ff; print(ff.robots.two_leg.{call})"'


ITEMS = (
    Item(
        "fig-1",
        "Geometry of links and angles",
        "positions of the links, and the angles that they make with each other.",
        _figure_1,
    ),
    Item(
        "sec-2",
        "Joint angles from the places of the feet",
        "alpha, beta, theta_1, theta_2, theta_3 for feet that stay level, and two examples.",
        _angles,
        _python("inverse((0, 0), (0.15, 0.05), degrees=True)"),
        "(75.54, 70.66) should be (75.52, 70.67); the examples call x1 and y1 x0 and y0. The"
        " arccos holds for x5 > x1 only, and no case out of reach is looked for.",
    ),
    Item(
        "affectors_to_angles",
        "Python function of the joint angles",
        "a method that fills theta from the first and the last point.",
        _affectors,
        _python("affectors_to_angles([0, 0, 0, 0, 0.15], [0, 0, 0, 0, 0.05], degrees=True)"),
        '"Affector" is said for "effector".',
    ),
    Item(
        "fig-2",
        "Centres of mass of the links",
        "where the centres of mass of the robot's individual links are.",
        _figure_2,
    ),
    Item(
        "sec-3",
        "Centre of mass of the robot",
        "its coordinates as functions of the joint angles, for four equal masses.",
        _centre,
        _python("centre_of_mass((30, 120, 30), degrees=True)"),
    ),
    Item(
        "sec-3-foot",
        "Length of the foot",
        "with L0 = L the robot cannot topple over while it moves slowly on flat feet.",
        _foot_length,
        "footfall sweep two-leg-single-step --vary foot_length=0.06:0.12:10 --metric"
        " support_margin",
        "It holds only where all of the foot has ground under it: on the edge of the step the"
        " centre of mass is 22 mm beyond the edge when foot 2 lifts, so that foot must be held.",
    ),
    Item(
        "fig-3",
        "Largest stride",
        "the two positions between which a foot of length L0 = L moves at most: a stride of L.",
        _figure_3,
        'footfall run two-leg-single-step --set gait.stride="99.7 mm" --set "route=walk -0.0997"',
        "With any lift a stride of L is out of reach, and without one it ends with a stretched"
        " knee, whose rates are unbounded.",
    ),
)
