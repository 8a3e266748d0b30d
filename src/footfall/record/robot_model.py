"""A robot as other viewers take it: frames that move, and shapes fixed in them (URDF).

The shapes are those of the robot's sketch. A rod between two points whose distance changes has no
rigid shape: it is drawn as pieces that slide over each other, as a telescope does.
"""

import dataclasses
import itertools
from collections.abc import Iterable
from xml.sax.saxutils import quoteattr

import numpy as np

from footfall.scene.palette import ROLES, colour_of
from footfall.scene.sketch import Ball, Bar, Disc, Ground, Link, Shape, ground_line

WORLD = "world"  #: the house frame: x forward, y left, z up, as ROS has it
#: The same by odometry, which drifts: what ROS calls by this name (REP 105).
ODOM = "odom"
_MOST_PIECES = 12  # of a rod whose length changes
_BEYOND = 0.5  # m of ground drawn beyond where the robot went
_THICK = 0.01  # m: ground
_CLOSE = 1e-3  # m: how far the ground may be drawn from where it is
_MOST_BOXES = 500  # of ground


@dataclasses.dataclass(frozen=True)
class Frame:
    """Where a frame is in the house frame, row by row."""

    name: str
    place: np.ndarray  #: (rows, 3)
    turn: np.ndarray  #: (rows, 4): quaternion x, y, z, w


@dataclasses.dataclass(frozen=True)
class RobotModel:
    """What a viewer needs to show a robot: its URDF, and how the frames in it move."""

    urdf: str
    frames: tuple[Frame, ...]
    root: str = WORLD  #: the frame that all others are in


def robot_model(
    some: dict[str, np.ndarray], sketch: Iterable[Shape], name: str = "robot", root: str = WORLD
) -> RobotModel:
    """Of a sketch and the outputs that move it, row by row.

    Forces (arrows) are left out; they are numbers of their topics.
    """
    body_shapes: dict[str, list[str]] = {}
    frames: dict[str, Frame] = {}
    fixed: list[str] = []
    grounds = []
    for number, shape in enumerate(sketch):
        match shape:
            case Bar(body=body, start=start, end=end, radius=radius):
                _carry(frames, some, body)
                body_shapes.setdefault(body, []).append(_rod(start, end, radius, shape.color))
            case Disc(body=body, centre=centre, radius=radius):
                half = np.array([0.0, 0.1 * radius, 0.0])
                _carry(frames, some, body)
                body_shapes.setdefault(body, []).append(
                    _rod(np.asarray(centre) - half, np.asarray(centre) + half, radius, shape.color)
                )
            case Ball(body=body, centre=centre, radius=radius):
                _carry(frames, some, body)
                geometry = f'<sphere radius="{radius:.9g}"/>'
                body_shapes.setdefault(body, []).append(_visual(geometry, shape.color, centre))
            case Link(start=start, end=end, radius=radius):
                for frame, length in _telescope(
                    f"rod_{number}", _origin(some, start), _origin(some, end)
                ):
                    frames[frame.name] = frame
                    body_shapes[frame.name] = [
                        _rod((0, 0, -length / 2), (0, 0, length / 2), radius, shape.color)
                    ]
            case Ground():
                grounds.append(shape)
    places = [frame.place for frame in frames.values() if len(frame.place)]
    reach = np.concatenate(places or [np.zeros((1, 3))])
    for ground in grounds:
        fixed += _boxes(ground, reach)
    links = [f"<link name={quoteattr(root)}>{''.join(fixed)}</link>"]
    for frame in frames:
        shapes = "".join(body_shapes.get(frame, ()))
        links.append(f"<link name={quoteattr(frame)}>{shapes}</link>")
        links.append(
            f'<joint name={quoteattr(f"{root}_to_{frame}")} type="floating">'
            f"<parent link={quoteattr(root)}/><child link={quoteattr(frame)}/></joint>"
        )
    urdf = f'<?xml version="1.0"?>\n<robot name={quoteattr(name)}>\n' + "\n".join(links)
    return RobotModel(urdf + "\n</robot>\n", tuple(frames.values()), root)


def _carry(frames: dict[str, Frame], some: dict[str, np.ndarray], body: str) -> None:
    """The frame of an output group, once."""
    if body not in frames:
        roll, pitch, yaw = (
            _known(_signal(some, body, angle)) for angle in ("roll", "pitch", "yaw")
        )
        frames[body] = Frame(body, _origin(some, body), _quaternion(roll, pitch, yaw))


def _signal(some: dict[str, np.ndarray], group: str, name: str) -> np.ndarray:
    """As `Seen.get` finds it: zero where the group has no such signal."""
    base, _, leg = group.rpartition(".")
    key = f"{base}.{name}.{leg}" if leg.isdecimal() else f"{group}.{name}"
    rows = len(next(iter(some.values()))) if some else 0
    return some.get(key, np.zeros(rows))


def _origin(some: dict[str, np.ndarray], group: str) -> np.ndarray:
    return np.stack([_known(_signal(some, group, axis)) for axis in "xyz"], axis=1)


def _known(values: np.ndarray) -> np.ndarray:
    """What is not known is as it last was: no viewer takes a place that is no number."""
    finite = np.isfinite(values)
    if finite.all():
        return values
    last = np.maximum.accumulate(np.where(finite, np.arange(len(values)), 0))
    return np.nan_to_num(values[last], posinf=0.0, neginf=0.0)


def _quaternion(roll: np.ndarray, pitch: np.ndarray, yaw: np.ndarray) -> np.ndarray:
    """Of yaw about z, then pitch about y, then roll about x: as `scene.sketch.rotation`."""
    cr, cp, cy = (np.cos(angle / 2) for angle in (roll, pitch, yaw))
    sr, sp, sy = (np.sin(angle / 2) for angle in (roll, pitch, yaw))
    x = sr * cp * cy - cr * sp * sy
    y = cr * sp * cy + sr * cp * sy
    z = cr * cp * sy - sr * sp * cy
    return np.stack([x, y, z, cr * cp * cy + sr * sp * sy], axis=1)


def _from_z(direction: np.ndarray) -> np.ndarray:
    """The shortest turn that takes z to each direction, as a quaternion."""
    x, y, z = np.moveaxis(direction, -1, 0)
    raw = np.stack([-y, x, np.zeros_like(x), 1.0 + z], axis=-1)
    raw = np.where((z < -1.0 + 1e-12)[..., None], np.array([1.0, 0.0, 0.0, 0.0]), raw)
    return raw / np.linalg.norm(raw, axis=-1, keepdims=True)


def _telescope(name: str, start: np.ndarray, end: np.ndarray) -> list[tuple[Frame, float]]:
    """Pieces of fixed length that together cover the way from start to end in every row."""
    if len(start) == 0:
        return []
    length = np.linalg.norm(end - start, axis=1)
    longest, shortest = float(length.max()), float(length.min())
    along = np.where(
        length[:, None] > 0, (end - start) / np.maximum(length, 1e-12)[:, None], [0, 0, 1]
    )
    turn = _from_z(along)
    if longest - shortest <= 1e-6 * longest:
        return [(Frame(name, (start + end) / 2, turn), longest)]
    count = int(np.clip(np.ceil(longest / max(shortest, 1e-12)), 2, _MOST_PIECES))
    piece = longest / count
    # The first begins at the start, the last ends at the end, the others lie evenly between.
    first, last = np.minimum(piece / 2, length / 2), np.maximum(length - piece / 2, length / 2)
    middles = first[:, None] + (last - first)[:, None] * np.linspace(0, 1, count)
    return [
        (Frame(f"{name}_{k}", start + along * middles[:, k : k + 1], turn), piece)
        for k in range(count)
    ]


def _rod(start, end, radius: float, color: str) -> str:
    start, end = np.asarray(start, float), np.asarray(end, float)
    length = float(np.linalg.norm(end - start))
    if length == 0.0:
        return ""
    roll, pitch = _roll_pitch((end - start) / length)
    geometry = f'<cylinder radius="{radius:.9g}" length="{length:.9g}"/>'
    return _visual(geometry, color, (start + end) / 2, (roll, pitch, 0.0))


def _roll_pitch(along: np.ndarray) -> tuple[float, float]:
    """Angles that take z to this direction: roll about x, then pitch about y."""
    x, y, z = along
    return float(-np.arcsin(np.clip(y, -1.0, 1.0))), float(np.arctan2(x, z))


def _visual(geometry: str, color: str, xyz, rpy=(0.0, 0.0, 0.0), opaque: float = 1.0) -> str:
    shade = colour_of(color)
    if not (shade.startswith("#") and len(shade) == 7):
        shade = ROLES["body"].light  # a name that only matplotlib knows
    red, green, blue = (int(shade[k : k + 2], 16) / 255 for k in (1, 3, 5))
    place, angles = (" ".join(f"{value:.9g}" for value in values) for values in (xyz, rpy))
    return (
        f'<visual><origin xyz="{place}" rpy="{angles}"/><geometry>{geometry}</geometry>'
        f'<material name="{shade}{opaque:g}">'
        f'<color rgba="{red:.4f} {green:.4f} {blue:.4f} {opaque:g}"/></material></visual>'
    )


def _boxes(ground: Ground, reach: np.ndarray) -> list[str]:
    """The ground under where the robot went, as boxes whose tops are its line."""
    low, high = reach.min(axis=0), reach.max(axis=0)
    line = _thinned(ground_line(ground, float(low[0] - _BEYOND), float(high[0] + _BEYOND)))
    width, middle = float(high[1] - low[1]) + 2 * _BEYOND, float(high[1] + low[1]) / 2
    boxes = []
    for (xa, za), (xb, zb) in itertools.pairwise(line):
        length = float(np.hypot(xb - xa, zb - za))
        if length == 0.0:
            continue
        slope = np.arctan2(za - zb, xb - xa)  # downhill is positive, as pitch is
        below = -_THICK / 2 * np.array([np.sin(slope), 0.0, np.cos(slope)])
        centre = np.array([(xa + xb) / 2, middle, (za + zb) / 2]) + below
        geometry = f'<box size="{length:.9g} {width:.9g} {_THICK:.9g}"/>'
        opaque = 0.5 if ground.water else 1.0
        boxes.append(_visual(geometry, ground.color, centre, (0.0, slope, 0.0), opaque))
    return boxes


def _thinned(line: np.ndarray) -> np.ndarray:
    """The line through as few of its points as keep it within `_CLOSE` (Douglas and Peucker)."""
    kept, pieces = {0, len(line) - 1}, [(0, len(line) - 1)]
    while pieces and len(kept) < _MOST_BOXES:
        first, last = pieces.pop(0)
        (ax, az), (bx, bz) = line[first], line[last]
        inside = line[first + 1 : last]
        away = np.abs((inside[:, 0] - ax) * (bz - az) - (inside[:, 1] - az) * (bx - ax))
        away /= max(np.hypot(bx - ax, bz - az), 1e-12)
        if len(inside) and away.max() > _CLOSE:
            worst = first + 1 + int(away.argmax())
            kept.add(worst)
            pieces += [(first, worst), (worst, last)]
    return line[sorted(kept)]
