"""Labels of a sketch drawn with matplotlib: names, lengths, angles, arrows and frames."""

import numpy as np
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from footfall.pictures.draw import Project
from footfall.scene.labels import Angle, Coupling, Frame, Label, Name, Span, Vector
from footfall.scene.palette import colour_of
from footfall.scene.sketch import Seen

#: Over every shape of a pose.
OVER = 20.0
_ARC = 40  # points of a drawn angle
_BEYOND = 1.25  # of an angle's radius: where its name stands, and its dashed ray ends


def draw_labels(
    axes: Axes, labels: tuple[Label, ...], seen: Seen, project: Project, shift: float = 0.0
) -> None:
    """Draw the words of one pose; `shift` moves them to the right with it [m]."""

    def flat(point: np.ndarray) -> np.ndarray:
        across, up = project(point)
        return np.array([across + shift, up])

    for label in labels:
        match label:
            case Name():
                _name(axes, label, flat(label.at.place(seen)))
            case Span():
                _span(axes, label, flat(label.start.place(seen)), flat(label.end.place(seen)))
            case Angle():
                ends = (flat(end.place(seen)) for end in (label.start, label.end))
                _angle(axes, label, flat(label.at.place(seen)), *ends)
            case Vector():
                tail = label.at.place(seen)
                tip = flat(tail + np.asarray(label.along))
                _arrow(axes, flat(tail), tip, label.text, label.color)
            case Frame():
                _frame(axes, label, seen, flat)
            case Coupling():
                ends = (flat(end.place(seen)) for end in (label.start, label.end))
                _coupling(axes, label, *ends)


def _words(axes: Axes, text: str, at: np.ndarray, color: str, shift=(0.0, 0.0)) -> None:
    """On a patch of paper, so that lines do not run through them."""
    if not text:
        return
    paper = {"boxstyle": "round,pad=0.12", "fc": colour_of("paper"), "ec": "none", "alpha": 0.85}
    side = {-1: "right", 0: "center", 1: "left"}[int(np.sign(shift[0]))]
    axes.annotate(
        text,
        tuple(at),
        shift,
        textcoords="offset points",
        ha=side,
        va="center",
        color=colour_of(color),
        bbox=paper,
        zorder=OVER + 2,
    )
    axes.update_datalim([tuple(at)])


def _name(axes: Axes, label: Name, at: np.ndarray) -> None:
    if label.dot:
        axes.plot(*at, "o", ms=4.0, color=colour_of(label.color), zorder=OVER + 1)
    _words(axes, label.text, at, label.color, label.shift)


def _line(axes: Axes, a: np.ndarray, b: np.ndarray, color: str, dashed: bool = False) -> None:
    axes.add_line(
        Line2D(
            [a[0], b[0]],
            [a[1], b[1]],
            color=colour_of(color),
            lw=0.6 * rcParams["lines.linewidth"],
            ls=(0, (4.0, 3.0)) if dashed else "-",
            zorder=OVER,
        )
    )


def _arrow(
    axes: Axes, tail: np.ndarray, tip: np.ndarray, text: str, color: str, style: str = "-|>"
) -> None:
    shape = {
        "arrowstyle": f"{style},head_length=0.4,head_width=0.17",
        "color": colour_of(color),
        "lw": 0.8 * rcParams["lines.linewidth"],
        "mutation_scale": 9.0,
        "shrinkA": 0.0,
        "shrinkB": 0.0,
    }
    axes.annotate("", tuple(tip), tuple(tail), arrowprops=shape, zorder=OVER)
    axes.update_datalim([tuple(tail), tuple(tip)])
    way = tip - tail
    long = float(np.hypot(*way))
    if text and long > 0:
        _words(axes, text, tip, color, tuple(9.0 * way / long))


def _span(axes: Axes, label: Span, a: np.ndarray, b: np.ndarray) -> None:
    way = b - a
    left = np.array([-way[1], way[0]]) / max(float(np.hypot(*way)), 1e-12)
    start, end = a + label.away * left, b + label.away * left
    if label.away:
        for near, far in ((a, start), (b, end)):
            _line(axes, near, far, label.color)
    _arrow(axes, start, end, "", label.color, "<|-|>")
    _words(axes, label.text, 0.5 * (start + end), "ink")


def _angle(axes: Axes, label: Angle, at: np.ndarray, start: np.ndarray, end: np.ndarray) -> None:
    first, last = (float(np.arctan2(*(ray - at)[::-1])) for ray in (start, end))
    turn = (last - first + np.pi) % (2.0 * np.pi) - np.pi  # the short way
    angles = first + turn * np.linspace(0.0, 1.0, _ARC)
    arc = at + label.radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    if label.dashed:
        far = at + _BEYOND * label.radius * np.array([np.cos(first), np.sin(first)])
        _line(axes, at, far, "quiet", dashed=True)
    axes.add_line(
        Line2D(
            *arc.T,
            color=colour_of(label.color),
            lw=0.9 * rcParams["lines.linewidth"],
            zorder=OVER,
        )
    )
    if abs(turn) > 0.15:  # rad; a head would hide a smaller angle
        _arrow(axes, arc[-4], arc[-1], "", label.color)
    middle = first + 0.5 * turn
    out = np.array([np.cos(middle), np.sin(middle)])
    _words(axes, label.text, at + _BEYOND * label.radius * out, label.color)


def _frame(axes: Axes, label: Frame, seen: Seen, flat) -> None:
    origin = label.at.place(seen)
    for axis, name in enumerate(label.names):
        if name:
            step = np.zeros(3)
            step[axis] = label.length
            tip = label.at._replace(local=tuple(np.asarray(label.at.local) + step)).place(seen)
            _arrow(axes, flat(origin), flat(tip), name, label.color)


#: A spring along (0, 0) to (1, 0), sides in shares of its width; a damper's rod, cup and piston.
_SPRING = (
    (0, 0),
    (0.2, 0),
    (0.26, 1),
    (0.38, -1),
    (0.5, 1),
    (0.62, -1),
    (0.74, 1),
    (0.8, 0),
    (1, 0),
)
_DAMPER = (
    ((0, 0), (0.55, 0)),
    ((0.55, -0.7), (0.55, 0.7)),
    ((0.35, -1), (0.7, -1), (0.7, 1), (0.35, 1)),
    ((0.7, 0), (1, 0)),
)


def _coupling(axes: Axes, label: Coupling, a: np.ndarray, b: np.ndarray) -> None:
    way = b - a
    left = np.array([-way[1], way[0]]) / max(float(np.hypot(*way)), 1e-12)
    half = 0.5 * label.apart * left
    look = {"color": colour_of(label.color), "lw": 0.8 * rcParams["lines.linewidth"]}
    for side, pieces, text in ((half, (_SPRING,), label.spring), (-half, _DAMPER, label.damper)):
        for piece in pieces:
            points = np.array([a + side + s * way + 0.5 * w * half for s, w in piece])
            axes.add_line(Line2D(*points.T, zorder=OVER, **look))
        _words(axes, text, a + 0.5 * way + 1.7 * side, "ink", tuple(np.sign(side) * 4.0))
    for end in (a, b):
        _line(axes, end - half, end + half, label.color)
