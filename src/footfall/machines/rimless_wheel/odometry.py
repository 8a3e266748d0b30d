"""Where a wheel is by what its motors and its torso's pitch say, and where it can be told to go.

Odometry: the spokes are taken as rigid, the feet as never slipping, the ground as a plane. A
wheel is then a polygon that rolls from corner to corner, and where it is follows from how far it
has turned. Theory: docs/theory/rimless-wheel.md, section 4.
"""

import math
from typing import NamedTuple

import numpy as np

from footfall.hybrid.plant import DriveRange

#: Under the shipped programs and spokes the wheel walks from 0.45 to 0.85 rad, and rocks back
#: outside; beyond 0.7 two sides that are not exactly in step walk another gait, a third faster.
DRIVES = DriveRange(tuple(round(0.4 + 0.05 * k, 2) for k in range(11)))
STEERED_DRIVES = DriveRange(
    tuple(round(0.4 + 0.05 * k, 2) for k in range(7)),
    (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0),
)


class Rolled(NamedTuple):
    """A polygon at each of the angles it was given."""

    steps: np.ndarray  #: corners it has gone on by, negative backward
    spoke_angle: np.ndarray  #: rad, of the spoke it stands on, positive with the foot ahead
    foot: np.ndarray  #: m, of that foot along the ground, from the one it began on
    hub: np.ndarray  #: m, along the ground, from the same foot
    height: np.ndarray  #: m, of the hub


def rolled(turned: np.ndarray, spokes: int, length: float) -> Rolled:
    """`turned`: the angle of the spoke it began on, however far that has gone round since.

    It stands on spoke n, at the angle theta = turned + n alpha nearest to upright:

    foot = 2 n l sin(alpha/2),  hub = foot - l sin(theta),  height = l cos(theta)          (wheel.4)

    >>> at = rolled(np.array([-2 * math.pi]), 10, 0.26)
    >>> [round(float(value[0]), 4) for value in (at.steps, at.hub, at.height)]
    [10.0, 1.6069, 0.26]
    """
    spacing = 2.0 * math.pi / spokes
    steps = np.round(-np.asarray(turned) / spacing)
    angle = turned + spacing * steps
    foot = 2.0 * length * math.sin(0.5 * spacing) * steps
    return Rolled(steps, angle, foot, foot - length * np.sin(angle), length * np.cos(angle))


class Course(NamedTuple):
    """Of two wheels on one axle, its middle and where it heads, from where they began."""

    x: np.ndarray  #: m, ahead
    y: np.ndarray  #: m, to the left
    heading: np.ndarray  #: rad, counter-clockwise
    distance: np.ndarray  #: m, along the path


def course(left: np.ndarray, right: np.ndarray, half_track: float) -> Course:
    """Of the ways [m] that both hubs have gone, an axle of 2 b between them.

    heading = (right - left) / 2 b; each piece of the path is as its chord                 (wheel.5)
    """
    distance = 0.5 * (left + right)
    heading = (right - left) / (2.0 * half_track)
    heading, distance = heading - heading[0], distance - distance[0]
    piece = np.diff(distance, prepend=distance[:1])
    along = heading - 0.5 * np.diff(heading, prepend=heading[:1])
    x, y = (np.cumsum(piece * turn(along)) for turn in (np.cos, np.sin))
    return Course(x, y, heading, distance)
