"""Words on one four-bar leg, and its links cut free with the forces at their joints.

For schematics in the source's plane, x to the robot's rear: `rear_view` draws it so.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from footfall.scene.labels import Anchor, Angle, Frame, Label, Name, Span, Vector
from footfall.scene.sketch import Ball, Bar, Link, Point, Seen, Shape

if TYPE_CHECKING:
    from footfall.machines.water_runner.runner import FourBarRunner

_RAY = 0.02  # m, along which angles are counted from


def rear_view(point: np.ndarray) -> tuple[float, float]:
    """The plane of the source: x to the robot's rear on the right, y up."""
    return -float(point[0]), float(point[2])


class FreeBody(NamedTuple):
    """One body cut free: its shapes, and the forces on it as named arrows."""

    title: str
    shapes: tuple[Shape, ...]
    labels: tuple[Label, ...]


def _rear_of(point: str) -> Anchor:
    """A point on the ray from which angles are counted."""
    return Anchor(point, (-_RAY, 0.0, 0.0), turned=False)


def four_bar_labels(leg: str) -> tuple[Label, ...]:
    """Joints, lengths and angles of one leg, as figure 1 of the source names them."""
    hip, pin, tip, axis, foot = (
        Anchor(f"{leg}.{joint}")
        for joint in ("hip", "crank_pin", "rocker_pin", "rocker_axis", "foot")
    )
    return (
        Name("$O$", hip, (-7.0, -9.0), dot=True),
        Name("$A$", pin, (-9.0, -2.0), dot=True),
        Name("$B$", tip, (7.0, 6.0), dot=True),
        Name("$C$", axis, (8.0, -7.0), dot=True),
        Name("$F$", foot, (-9.0, -4.0), dot=True),
        Span("$L_0$", hip, axis, away=-0.012),
        Span("$L_1$", hip, pin, away=-0.016),
        Span("$L_2$", pin, tip, away=0.014),
        Span("$L_3$", axis, tip, away=-0.012),
        Span("$L_4$", pin, foot, away=-0.014),
        Angle(r"$\theta_0$", hip, _rear_of(f"{leg}.hip"), axis, 0.036),
        Angle(r"$\theta_1$", hip, _rear_of(f"{leg}.hip"), pin, 0.006),
        Angle(r"$\theta_2$", pin, _rear_of(f"{leg}.crank_pin"), tip, 0.016),
        Angle(r"$\theta_3$", axis, _rear_of(f"{leg}.rocker_axis"), tip, 0.012),
        Frame(Anchor(f"{leg}.hip", (0.045, 0.0, 0.035), turned=False), -0.015, ("x", "", "")),
        Frame(Anchor(f"{leg}.hip", (0.045, 0.0, 0.035), turned=False), 0.015, ("", "", "y")),
    )


def four_bar_shapes(leg: str) -> tuple[Shape, ...]:
    """The links of one leg, thin, with the base from O to C."""
    dots = tuple(
        Ball(f"{leg}.{joint}", (0.0, 0.0, 0.0), 0.0016, "joint")
        for joint in ("hip", "crank_pin", "rocker_pin", "rocker_axis", "foot")
    )
    return (
        Link(f"{leg}.hip", f"{leg}.rocker_axis", "body", 0.0016),
        Link(f"{leg}.hip", f"{leg}.crank_pin", "motor", 0.0016),
        Link(f"{leg}.foot", f"{leg}.rocker_pin", "leg", 0.0016),
        Link(f"{leg}.rocker_axis", f"{leg}.rocker_pin", "far_leg", 0.0016),
        *dots,
    )


def free_bodies_of(system: "FourBarRunner", seen: Seen, leg: str, scale: float) -> list[FreeBody]:
    """Crank, coupler and rocker of one leg, and the body with what all legs do to it.

    Arguments:
        system: the robot.
        seen: its outputs at the instant.
        leg: whose links are cut free.
        scale: of every arrow, in metres per newton.

    A force F_1 of one body on another is -F_1 on the other; massless links are in balance.
    """

    def force(joint: str, text: str, way: float, color: str, of: str = leg) -> Vector:
        fx, _, fz = way * scale * seen.force(f"{of}.{joint}")
        return Vector(text, Anchor(f"{of}.{joint}"), (float(fx), 0.0, float(fz)), color)

    def joints(*names: str) -> tuple[Shape, ...]:
        return tuple(Ball(f"{leg}.{name}", (0.0, 0.0, 0.0), 0.0016, "joint") for name in names)

    def turning(joint: str, name: str, value: float, shift: tuple[float, float]) -> Name:
        """A moment, which an arrow cannot show to scale: its value."""
        turn = "↺" if value > 0 else "↻"
        at = Anchor(f"{leg}.{joint}")
        return Name(f"${name}$ {turn} {1e3 * abs(value):.3g} mN m", at, shift)

    torque, moment = seen.get(leg, "torque"), seen.get(leg, "moment")
    crank = FreeBody(
        "Crank, link 1",
        (Link(f"{leg}.hip", f"{leg}.crank_pin", "motor", 0.0016), *joints("hip", "crank_pin")),
        (
            force("hip", "$F_{R1}$", 1.0, "motor"),
            force("crank_pin", "$-F_1$", -1.0, "motor"),
            turning("hip", "T", torque, (12.0, 10.0)),
        ),
    )
    coupler = FreeBody(
        "Coupler, links 2 and 4",
        (
            Link(f"{leg}.foot", f"{leg}.rocker_pin", "leg", 0.0016),
            *joints("crank_pin", "rocker_pin", "foot"),
        ),
        (
            force("crank_pin", "$F_1$", 1.0, "motor"),
            force("rocker_pin", "$F_3$", 1.0, "leg"),
            force("foot", "$P$", 1.0, "force"),
            turning("foot", "M", moment, (-6.0, -14.0)),
        ),
    )
    rocker = FreeBody(
        "Rocker, link 3",
        (
            Link(f"{leg}.rocker_axis", f"{leg}.rocker_pin", "idle_leg", 0.0016),
            *joints("rocker_axis", "rocker_pin"),
        ),
        (
            force("rocker_axis", "$F_{R3}$", 1.0, "leg"),
            force("rocker_pin", "$-F_3$", -1.0, "leg"),
        ),
    )
    return [crank, coupler, rocker, _body(system, seen, scale, force)]


def _body(system: "FourBarRunner", seen: Seen, scale: float, force) -> FreeBody:
    body = system.body
    front, rear, high = (float(v) for v in (-body.front_hip, -body.rear_hip, body.hip_height))
    last = (rear if system.legs == "four" else front) - float(system.leg.ground)
    weight: Point = (0.0, 0.0, -scale * float(system.body.mass * system.gravity))
    words: list[Label] = [Vector("$mg$", Anchor("body"), weight, "ink")]
    for name in system.names:
        index = "".join(word[0] for word in name.split("_"))
        words += [
            force("hip", rf"$-F_{{R1}}^{{{index}}}$", -1.0, "motor", name),
            force("rocker_axis", rf"$-F_{{R3}}^{{{index}}}$", -1.0, "leg", name),
        ]
    shapes: list[Shape] = [
        Bar("body", (front, 0.0, high), (last, 0.0, high), "body", 0.0016),
        Ball("body", (0.0, 0.0, 0.0), 0.004, "mark"),
    ]
    if system.tail.present and system.on_water:
        fx, _, fz = scale * seen.force("tail")
        words.append(Vector("", Anchor("tail"), (float(fx), 0.0, float(fz)), "force"))
        words.append(Name("tail", Anchor("tail"), (-10.0, -8.0), "force"))
        shapes.append(Link("body", "tail", "body", 0.0008))
    total = sum(seen.get(name, "torque") for name in system.names)
    said = f"$-\\Sigma T$ {'↻' if total > 0 else '↺'} {1e3 * abs(total):.3g} mN m"
    words.append(Name(said, Anchor("body"), (0.0, 22.0)))
    return FreeBody("Robot", tuple(shapes), tuple(words))
