"""Block diagrams: boxes on a grid, and named lines between them."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.patches import FancyBboxPatch

from footfall.pictures.show import Picture
from footfall.pictures.style import PAPER, SCREEN, Style, faded, styled
from footfall.pictures.sweep_style import headline
from footfall.scene.palette import colour_of

_HIGH = 0.62  # of a box, in rows
_APART = 0.07  # between lines that go both ways, in rows


class Block(NamedTuple):
    """A box: a headline, lines below it, and its place (columns to the right, rows down)."""

    title: str
    place: tuple[float, float]
    lines: tuple[str, ...] = ()
    color: str = "body"
    wide: float = 0.74  #: in columns
    high: float = _HIGH  #: in rows


class Wire(NamedTuple):
    """A line from one block to another, with what it carries."""

    start: str
    end: str
    text: str = ""
    bend: float = 0.0  #: how far its middle is moved to its left, in columns


def block_diagram(
    blocks: Mapping[str, Block],
    wires: Sequence[Wire],
    title: str = "",
    style: Style = SCREEN,
    row: float | None = None,
) -> Picture:
    """The blocks by name, the wires between them; `row` is the height of a row, in."""
    places = np.array([block.place for block in blocks.values()], float)
    columns, rows = np.ptp(places, axis=0) + 1.0
    most = max(len(block.lines) for block in blocks.values())
    row = row or (2.2 + most) * 1.45 * style.text / 72.0 / _HIGH
    with styled(style):
        figure = Picture(figsize=(style.width, row * rows + 0.4), style=style)
        axes = figure.subplots()
        left, top = places.min(axis=0) - 0.5
        axes.set_xlim(left, left + columns)
        axes.set_ylim(-(top + rows), -top)
        axes.axis("off")
        ways = {(wire.start, wire.end) for wire in wires}
        for wire in wires:
            both = (wire.end, wire.start) in ways
            _wire(axes, wire, blocks[wire.start], blocks[wire.end], _APART if both else 0.0)
        for block in blocks.values():
            _block(axes, block, style)
        if title and style is not PAPER:
            headline(figure, title)
    return figure


def _block(axes, block: Block, style: Style) -> None:
    x, y = block.place[0], -block.place[1]
    axes.add_patch(
        FancyBboxPatch(
            (x - 0.5 * block.wide, y - 0.5 * block.high),
            block.wide,
            block.high,
            boxstyle="round,pad=0,rounding_size=0.03",
            fc=faded(block.color, 0.88),
            ec=colour_of(block.color),
            lw=0.9,
            zorder=3,
        )
    )
    words = "\n".join(block.lines)
    axes.text(
        x,
        y + 0.5 * block.high - 0.05 if words else y,
        block.title,
        ha="center",
        va="top" if words else "center",
        weight="bold",
        zorder=4,
    )
    if words:
        axes.text(
            x,
            y - 0.5 * block.high + 0.05,
            words,
            ha="center",
            va="bottom",
            size=style.text - 1.0,
            color=colour_of("quiet"),
            linespacing=1.35,
            zorder=4,
        )


def _wire(axes, wire: Wire, start: Block, end: Block, apart: float) -> None:
    a = np.array([start.place[0], -start.place[1]])
    b = np.array([end.place[0], -end.place[1]])
    way = (b - a) / max(float(np.hypot(*(b - a))), 1e-9)
    left = np.array([-way[1], way[0]])
    a, b = a + apart * left, b + apart * left
    a, b = _edge(a, b, start), _edge(b, a, end)
    shape = {
        "arrowstyle": "-|>,head_length=0.45,head_width=0.18",
        "color": colour_of("ink"),
        "lw": 0.9,
        "mutation_scale": 9.0,
        "shrinkA": 0.0,
        "shrinkB": 1.0,
        "connectionstyle": f"arc3,rad={-wire.bend}",
    }
    axes.annotate("", tuple(b), tuple(a), arrowprops=shape, zorder=2)
    if wire.text:
        span = float(np.hypot(*(b - a)))
        at = 0.5 * (a + b) + 0.5 * wire.bend * span * left
        upright = abs(way[1]) > abs(way[0])
        side = (7.0 if left[0] > 0 else -7.0) if upright else 0.0
        lift = 0.0 if upright else (7.0 if left[1] >= 0 else -7.0)
        axes.annotate(
            wire.text,
            tuple(at),
            (side, lift),
            textcoords="offset points",
            ha={7.0: "left", -7.0: "right", 0.0: "center"}[side],
            va="center" if upright else ("bottom" if lift > 0 else "top"),
            size=axes.figure.style.text - 1.0,
            color=colour_of("ink"),
            bbox={
                "boxstyle": "round,pad=0.1",
                "fc": colour_of("paper"),
                "ec": "none",
                "alpha": 0.9,
            },
            zorder=5,
        )


def _edge(a: np.ndarray, b: np.ndarray, block: Block) -> np.ndarray:
    """Where the line from a to b leaves the box around a."""
    centre = np.array([block.place[0], -block.place[1]])
    half = np.array([0.5 * block.wide, 0.5 * block.high])
    way = b - a
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = np.where(way > 0, centre + half - a, centre - half - a) / way
    return a + way * float(np.min(reach[np.isfinite(reach)]))
