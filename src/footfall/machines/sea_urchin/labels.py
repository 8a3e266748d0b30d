"""Poses and words of the sea urchin's schematics, from its kinematics alone."""

import itertools
from typing import Any

import numpy as np

from footfall.machines.sea_urchin.spike import Spike
from footfall.machines.sea_urchin.spike_gait import SpikeGait
from footfall.machines.sea_urchin.spike_kinematics import SPIKES, attachment, axis, forward
from footfall.scene.labels import Anchor, Angle, Frame, Label, Name, Span, Vector
from footfall.scene.sketch import Ball, Bar, Ground, Link, Seen, Shape

Joints = tuple[float, float, float]


def placed(spike: Spike, shell_radius: float, height: float, joints: dict[int, Joints]) -> Seen:
    """What is seen of a shell at `height` with spikes at these joints; 6 to 11 are the upper ones.

    Groups hip.i, elbow.i (end of the prism), slide.i (end of the cylinder), tip.i, shell, floor.i.
    """
    row: dict[str, float] = {"shell.z": height}
    prism = float(spike.prism)
    for i, (q1, q2, d3) in joints.items():
        place, turn = attachment(shell_radius, i >= SPIKES, i % SPIKES)
        hip, rows = np.add(place, (0.0, 0.0, height)), np.array(turn, float)
        along = rows @ np.array([float(v) for v in axis(q1, q2)])
        tip = hip + rows @ np.array([float(v) for v in forward(spike.shape, q1, q2, d3)])
        points = {
            "hip": hip,
            "elbow": hip + prism * along,
            "slide": hip + (prism + d3) * along,
            "tip": tip,
            "floor": tip - (0.0, 0.0, float(spike.ball)),
        }
        for name, point in points.items():
            row |= {f"{name}.{axis}.{i}": float(v) for axis, v in zip("xyz", point, strict=True)}
    return Seen(row)


def spike_shapes(spike: Spike, i: int) -> tuple[Shape, ...]:
    """Prism, cylinder and ball of one spike."""
    return (
        Link(f"hip.{i}", f"elbow.{i}", "body", 0.006),
        Link(f"elbow.{i}", f"slide.{i}", "leg", 0.0025),
        Ball(f"tip.{i}", (0.0, 0.0, 0.0), float(spike.ball), "mark"),
        Ball(f"hip.{i}", (0.0, 0.0, 0.0), 0.003, "joint"),
    )


def shell_shapes(shell_radius: float) -> tuple[Shape, ...]:
    """The floor, and the shell, pale so that words on it can be read."""
    return Ground(), Ball("shell", (0.0, 0.0, 0.0), shell_radius, "far_leg")


def spike_frame_labels(q: Joints, shell_radius: float, size: float) -> tuple[Label, ...]:
    """Frames and variables of spike 0, seen along its z axis: x outwards, y down, z to the viewer.

    x, y, z of the spike's frame S, z_1 of the second hinge, z_2 along the slide; theta_1, d_3.
    """
    hip = Anchor("hip.0")
    s1, c1 = float(np.sin(q[0])), float(np.cos(q[0]))

    def arrow(text: str, at: Anchor, x: float, down: float, color: str = "quiet") -> Vector:
        return Vector(text, at, (size * x, 0.0, -size * down), color)

    level = Anchor("hip.0", (size, 0.0, 0.0))
    return (
        arrow("$x$", hip, 1.0, 0.0),
        arrow("$y$", hip, 0.0, 1.0),
        Name("$z, z_0$", hip, (-14.0, 9.0), dot=True),
        arrow("$z_1$", hip, s1, -c1, "target"),
        arrow("$z_2$", Anchor("tip.0"), c1, s1, "target"),
        Angle(r"$\theta_1$", hip, level, Anchor("tip.0"), 1.2 * size),
        Span("$k$", hip, Anchor("elbow.0"), away=-0.5 * size),
        Span("$d_3$", Anchor("elbow.0"), Anchor("slide.0"), away=-0.5 * size),
        Name("$r$", Anchor("tip.0", toward="floor.0", share=0.5), (9.0, 0.0)),
        Name("$x_e$", Anchor("floor.0"), (0.0, -10.0), dot=True),
        Span(
            "$r_s$",
            Anchor("shell"),
            Anchor("shell", (-0.8 * shell_radius, 0.0, 0.6 * shell_radius)),
        ),
        Frame(Anchor("shell"), 0.9 * size, ("$x_b$", "", "$z_b$")),
    )


def rows_of_path(gait: SpikeGait, foothold: Any, spike: Spike, times: Any) -> list[Seen]:
    """A spike on its foot's path, seen from beyond its foot: s ahead to the right."""
    path = gait.path(np.asarray(times, float))
    found = []
    for s, rise in zip(np.asarray(path.s), np.asarray(path.rise), strict=True):
        floor = float(rise)
        tip = floor + float(spike.ball)
        found.append(
            Seen({"hip.z": float(foothold.y), "tip.x": float(s), "tip.z": tip, "floor.x": float(s),
                  "floor.z": floor})
        )  # fmt: skip
    return found


def path_shapes(gait: SpikeGait, spike: Spike, samples: int = 60) -> tuple[Shape, ...]:
    """The foot's path as it is: stance along the floor, rise and fall through the air."""
    stand, rise, _ = (float(length) for length in gait.stage_lengths)
    pieces = ((0.0, stand, "foot"), (stand, stand + rise, "target"),
              (stand + rise, float(gait.period), "leg"))  # fmt: skip
    shapes: list[Shape] = [Ground(), Link("hip", "tip", "idle_leg", 0.0008)]
    for begin, end, color in pieces:
        times = np.linspace(begin, end - 1e-9, samples)
        path = gait.path(times)
        points = np.stack([np.asarray(path.s), 0.0 * times, np.asarray(path.rise)], axis=1)
        shapes += [
            Bar("", tuple(map(float, a)), tuple(map(float, b)), color, 2e-4)
            for a, b in itertools.pairwise(points)
        ]
    return (*shapes, Ball("tip", (0.0, 0.0, 0.0), float(spike.ball), "mark"))


def path_labels(gait: SpikeGait, foothold: Any) -> tuple[Label, ...]:
    """The points 1 and 2, the three pieces, stroke R, lift H, height of the attachment H'."""
    half, lift, high = 0.5 * float(gait.stride), float(gait.lift), float(foothold.y)
    front, back = Anchor("", (half, 0.0, 0.0)), Anchor("", (-half, 0.0, 0.0))
    top = Anchor("", (0.0, 0.0, lift))
    return (
        Name("1", front, (12.0, -8.0), dot=True),
        Name("2", back, (-12.0, -8.0), dot=True),
        Name("stance", Anchor("", (0.0, 0.0, 0.0)), (0.0, 9.0), "foot"),
        Name("take-off", Anchor("", (-0.75 * half, 0.0, 0.85 * lift)), (-30.0, 8.0), "target"),
        Name("landing", Anchor("", (0.75 * half, 0.0, 0.85 * lift)), (30.0, 8.0), "leg"),
        Span("$R$", back, front, away=-0.35 * lift),
        Span("$H$", Anchor("", (0.0, 0.0, 0.0)), top, away=1.9 * half),
        Span("$H'$", Anchor("", (0.0, 0.0, 0.0)), Anchor("", (0.0, 0.0, high)), away=-2.1 * half),
    )


def kick_labels(length: float) -> tuple[Label, ...]:
    """The planar kick: angle a, distance d + R, force F along the spike, weight m g."""
    return (
        Angle("$a$", Anchor("foot"), Anchor("foot", (0.5 * length, 0.0, 0.0)), Anchor("centre"),
              0.45 * length),
        Span("$d + R$", Anchor("foot"), Anchor("centre"), away=0.35 * length),
        Name("$m, I$", Anchor("centre", turned=False), (-16.0, 10.0), dot=True),
    )  # fmt: skip
