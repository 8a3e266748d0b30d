"""Words on the sagittal wheel, its constants and variables, and on the two-sided one from above."""

import math
from typing import TYPE_CHECKING

import numpy as np

from footfall.scene.labels import Anchor, Angle, Coupling, Frame, Label, Name, Span, Vector
from footfall.scene.sketch import Ball, Link, Point, Seen, Shape

if TYPE_CHECKING:
    from footfall.machines.rimless_wheel.steered_wheel import SteeredWheel
    from footfall.machines.rimless_wheel.torso_wheel import TorsoWheel

_HUB, _TORSO, _FOOT = Anchor("hub"), Anchor("torso"), Anchor("foot")
_BELOW = Anchor("hub", (0.0, 0.0, -0.1), turned=False)  # angles are counted from straight down


def top_view(point: np.ndarray) -> tuple[float, float]:
    """From above: x to the right, y up."""
    return float(point[0]), float(point[1])


def _spoke_tip(wheel: "TorsoWheel", spoke: int) -> Anchor:
    """End of a spoke that carries nothing, counted from the stance spoke towards the front."""
    angle, length = spoke * 2.0 * math.pi / wheel.spokes, float(wheel.leg.rest_length)
    return Anchor("hub", (length * math.sin(angle), 0.0, -length * math.cos(angle)))


def constant_labels(wheel: "TorsoWheel") -> tuple[Label, ...]:
    """What does not change: masses, lengths, spring and damper of the stance spoke, gravity."""
    high = wheel.spokes // 2
    tips = _spoke_tip(wheel, high - 1), _spoke_tip(wheel, high - 2)
    return (
        Name("$m_1, J_1$", _HUB, (-12.0, 10.0), dot=True),
        Name("$m_2, J_2$", _TORSO, (16.0, -6.0)),
        Span("$c$", _HUB, _TORSO, away=0.03),
        Span(r"$\ell_0$", _HUB, _spoke_tip(wheel, -2), away=-0.02),
        Angle(r"$2\pi/n$", _HUB, tips[1], tips[0], 0.17, dashed=False),
        Coupling("$k$", "$c_v$", _FOOT, _HUB, 0.04),
        Vector("$g$", Anchor("hub", (-0.3, 0.0, 0.2), turned=False), (0.0, 0.0, -0.09), "ink"),
    )


def variable_labels(seen: Seen, mark: str = "") -> tuple[Label, ...]:
    """What changes: angles and length of the stance spoke, angle of the torso, unit vectors.

    `mark` is a superscript, such as - just before support transfer.
    """
    up = f"^{mark}" if mark else ""
    along = seen.origin("hub") - seen.origin("foot")
    hang = seen.origin("torso") - seen.origin("hub")
    return (
        Span(rf"$\ell{up}$", _FOOT, _HUB, away=0.035),
        Angle(rf"$\theta{up}$", _HUB, _BELOW, _FOOT, 0.15),
        Angle(rf"$\phi{up}$", _HUB, _BELOW, _TORSO, 0.075),
        *_unit_vectors(_HUB, along, up, 1),
        *_unit_vectors(_TORSO, hang, up, 2),
        Name("$G_1$", _HUB, (-10.0, 8.0), dot=True),
        Name("$G_2$", _TORSO, (14.0, 2.0)),
    )


def _unit_vectors(at: Anchor, way: np.ndarray, up: str, body: int) -> tuple[Label, ...]:
    """Along a spoke or the torso, and a quarter turn on."""
    x, _, z = 0.08 * way / np.linalg.norm(way)
    along: Point = (float(x), 0.0, float(z))
    across: Point = (float(-z), 0.0, float(x))
    return (
        Vector(rf"$\hat{{e}}_{{r_{body}}}{up}$", at, along, "target"),
        Vector(rf"$\hat{{e}}_{{\theta_{body}}}{up}$", at, across, "target"),
    )


def contact_labels(wheel: "TorsoWheel", *, landed: bool) -> tuple[Label, ...]:
    """The old contact Q, at x = 0 in the house, and the new one P."""
    other = Anchor("") if landed else _spoke_tip(wheel, 1)
    names = ("$P$", "$Q$") if landed else ("$Q$", "$P$")
    return (Name(names[0], _FOOT, (0.1, -14.0)), Name(names[1], other, (0.1, -14.0)))


def steered_shapes(wheel: "SteeredWheel") -> tuple[Shape, ...]:
    """Axle, torso and stance spokes of the two-sided wheel, as they look from above."""
    del wheel
    return (
        Link("left_hub", "right_hub", "joint", 0.006),
        Link("left_foot", "left_hub", "leg", 0.008),
        Link("right_foot", "right_hub", "leg", 0.008),
        Link("axle", "torso", "body", 0.012),
        Ball("torso", (0.0, 0.0, 0.0), 0.02, "body"),
    )


def steering_labels(seen: Seen, *, moved: bool) -> tuple[Label, ...]:
    """Frames, heading and track, and what drives each side."""
    left, right, centre = Anchor("left_hub"), Anchor("right_hub"), Anchor("axle")
    heading = seen.get("axle", "yaw")
    ahead = (0.16 * math.cos(heading), 0.16 * math.sin(heading), 0.0)
    words: tuple[Label, ...] = (
        Name("$C$", centre, (-10.0, 8.0), dot=True),
        Name(r"$\dot\theta_l$", left, (-12.0, 6.0)),
        Name(r"$\dot\theta_r$", right, (-12.0, -6.0)),
        Span("$2b$", left, right, away=-0.09),
        Frame(Anchor(""), 0.22, ("$X_0$", "$Y_0$", "")),
    )
    if moved:
        near = Anchor("axle", (0.2, 0.0, 0.0), turned=False)
        front = Anchor("axle", ahead, turned=False)
        words += (
            Angle(r"$\beta$", centre, near, front, 0.14),
            Vector("$X_1$", centre, (1.4 * ahead[0], 1.4 * ahead[1], 0.0), "target"),
            Vector("$Y_1$", centre, (-1.4 * ahead[1], 1.4 * ahead[0], 0.0), "target"),
        )
    return words
