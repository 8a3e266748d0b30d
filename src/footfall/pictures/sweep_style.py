"""What the pictures of a sweep have in common.

Names with units, colours of outcomes, colour limits.
"""

import textwrap
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from footfall.hybrid.outcome import Outcome
from footfall.pictures.names import plain, with_unit
from footfall.pictures.show import Picture
from footfall.pictures.style import MUCH, PAPER, faded, legend_columns
from footfall.scene.palette import SERIES, colour_of
from footfall.sweep.designs import Axis
from footfall.sweep.errors import SweepError
from footfall.sweep.read_back import Sweep

COLOURS = MUCH
_ORANGE, _VERMILION, _PURPLE, _SKY = (SERIES[i].light for i in (1, 3, 4, 5))
#: Face and hatch of designs that did not do what they should, by outcome.
_FAILED = {
    Outcome.rocked_back: ("0.86", "///"),
    Outcome.fell: ("0.62", "\\\\\\"),
    Outcome.lifted_off: ("0.76", "..."),
    Outcome.diverged: (faded(_VERMILION, 0.5), "xxx"),
    Outcome.zeno: (faded(_PURPLE, 0.4), "++"),
    Outcome.too_many_jumps: (faded(_PURPLE, 0.4), "oo"),
    Outcome.tipped_over: ("0.70", "///"),
    Outcome.sank: (faded(_SKY, 0.4), "\\\\\\"),
    Outcome.outside_model: (faded(_ORANGE, 0.5), "xx"),
    Outcome.overloaded: (faded(_VERMILION, 0.5), "||"),
    Outcome.unreachable: ("0.93", "--"),
    Outcome.blocked: ("0.80", "++"),
}


#: Colour, line and marker of the same where they are drawn as lines and dots.
_LINES = {
    Outcome.rocked_back: ("0.62", "-", "<"),
    Outcome.fell: ("0.4", "--", "v"),
    Outcome.lifted_off: ("0.5", ":", "^"),
    Outcome.diverged: (_VERMILION, "-", "x"),
    Outcome.zeno: (_PURPLE, "-", "+"),
    Outcome.too_many_jumps: (_PURPLE, "--", "d"),
}


def line_of(outcome: Outcome) -> tuple[str, str, str]:
    """(colour, line style, marker) of a failed design."""
    return _LINES.get(outcome, ("0.7", "-.", "s"))


def words_of(outcome: Outcome) -> str:
    return outcome.name.replace("_", " ")


#: Edge and hatch of designs whose verdict is doubtful.
DOUBTFUL = (colour_of("doubt"), "xxxx")
_RING = {"marker": "o", "mfc": "none", "mec": DOUBTFUL[0], "mew": 1.0, "ms": 8.0, "ls": "none"}


def ring_doubtful(panel: Axes, x: np.ndarray, y: np.ndarray, **more: Any) -> None:
    """Rings around doubtful designs."""
    if len(x):
        panel.plot(x, y, label="_", zorder=5, **_RING, **more)


def doubtful_entry() -> Line2D:
    """Of a legend."""
    return Line2D([], [], label="doubtful", **_RING)


def joined_pieces(
    sweep: Sweep, names: Sequence[str], numbers: np.ndarray | None = None
) -> dict[str, np.ndarray]:
    """Columns of all designs, or of those with these numbers.

    Outcomes as codes, and which designs are `doubtful`.
    """
    pieces = []
    for piece in sweep.coded_pieces(names):
        rows = slice(None) if numbers is None else np.isin(piece["design"], numbers)
        pieces.append({name: values[rows] for name, values in piece.items()})
    return {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}


def require_values(metric: str, values: np.ndarray) -> None:
    """Something to draw."""
    if not np.any(np.isfinite(values)):
        words = metric.replace("_", " ")
        raise SweepError(
            f"no design that reached the end has a {words}; run longer (--duration) or vary other"
            " values."
        )


def look_of(outcome: Outcome) -> tuple[str, str]:
    """(face colour, hatch) of a failed design."""
    return _FAILED.get(outcome, ("0.93", "--"))


def legend_of(outcomes: Sequence[Outcome]) -> list[Patch]:
    """Legend entries of the outcomes in a picture."""
    looks = [(o, *look_of(o)) for o in outcomes]
    return [
        Patch(facecolor=face, hatch=hatch, edgecolor="0.35", lw=0.0, label=words_of(o))
        for o, face, hatch in looks
    ]


def axis_label(axis: Axis) -> str:
    return with_unit(plain(axis.key), axis.unit)


def metric_label(sweep: Sweep, metric: str) -> str:
    return with_unit(plain(metric), sweep.unit(metric))


def legend_below(figure: Picture, handles: Sequence[Any], title: str | None = None) -> None:
    """A legend under all, as many columns as fit."""
    labels = [str(handle.get_label()) for handle in handles]
    size, room = figure.style.text - 0.5, 72.0 * figure.get_figwidth() * 0.97
    columns = legend_columns(labels, size, room)
    figure.legend(handles=handles, title=title, loc="outside lower center", ncols=columns)


def headline(figure: Picture, words: str) -> None:
    """The title of a picture, in as many lines as it needs."""
    letters = int(figure.get_figwidth() * 72.0 / (0.66 * (figure.style.text + 2.5)))
    figure.suptitle(textwrap.fill(words, letters), x=0.01, ha="left")


def resize(figure: Picture, width: float, height: float) -> None:
    """Give a picture its size [in]; for a paper, the same shape as wide as a column."""
    share = PAPER.width / width if figure.style is PAPER else 1.0
    # Words are not smaller by as much as the picture is: they need the more room.
    figure.set_size_inches(share * width, height * (share if share == 1.0 else 1.25 * share))


def colour_limits(values: np.ndarray) -> tuple[float, float, str]:
    """(least, largest, which ends are cut): a few wild designs must not take all the colours."""
    finite = values[np.isfinite(values)]
    if not len(finite):
        return 0.0, 1.0, "neither"
    low, high = np.percentile(finite, [1, 99])
    least, largest = finite.min(), finite.max()
    span = max(high - low, 1e-12 * max(abs(high), abs(low), 1e-300))
    low, cut_low = (least, False) if least > low - 0.5 * span else (low, True)
    high, cut_high = (largest, False) if largest < high + 0.5 * span else (high, True)
    if low == high:
        low, high = low - 0.5 * abs(low) - 1e-12, high + 0.5 * abs(high) + 1e-12
    return (
        float(low),
        float(high),
        {(0, 0): "neither", (1, 0): "min", (0, 1): "max", (1, 1): "both"}[
            int(cut_low), int(cut_high)
        ],
    )
