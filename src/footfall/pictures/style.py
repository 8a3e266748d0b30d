"""How every picture looks: typography, lines and colours, on a screen and in a paper."""

from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import LinearSegmentedColormap, to_hex, to_rgb
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath
from matplotlib.ticker import LogLocator, NullFormatter

from footfall.hybrid.fields import nearest
from footfall.scene.palette import SERIES, colour_of

#: Colour maps of what is shown as a colour: from little to much, and around zero.
MUCH, SIGNED = "viridis", "RdBu_r"


class Style(NamedTuple):
    """Sizes of one kind of picture."""

    name: str
    width: float  #: of a page, in
    columns: int  #: of panels on a page
    panel: float  #: height of a panel, in
    text: float  #: pt
    line: float  #: pt
    suffix: str  #: of the file where nobody says another
    poses: int  #: side by side of a robot that goes somewhere
    frames: int  #: beside each other of one that stays


SCREEN = Style("screen", 11.0, 2, 2.5, 9.0, 1.3, ".png", 6, 5)
#: One column of a journal: vectors, with the fonts inside.
PAPER = Style("paper", 3.5, 1, 1.35, 7.0, 0.9, ".pdf", 4, 3)
STYLES = {style.name: style for style in (SCREEN, PAPER)}


def style_of(name: str) -> Style:
    """A style by name."""
    if name not in STYLES:
        known = " and ".join(STYLES)
        raise ValueError(f'"{name}" is not a style: there are {known}.{nearest(name, STYLES)}')
    return STYLES[name]


def settings(style: Style = SCREEN) -> dict[str, Any]:
    """matplotlib's settings for a style."""
    quiet, ink, grid = colour_of("quiet"), colour_of("ink"), colour_of("grid")
    return {
        # The font that comes with matplotlib: the same picture on every machine.
        "font.family": "DejaVu Sans",
        "font.size": style.text,
        "text.color": ink,
        "axes.titlesize": style.text + (1.0 if style is SCREEN else 0.0),
        "axes.titlelocation": "left",
        "axes.titlecolor": ink,
        "axes.titlepad": 5.0,
        "axes.labelsize": style.text,
        "axes.labelcolor": quiet,
        "axes.edgecolor": quiet,
        "axes.linewidth": 0.6,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "axes.prop_cycle": _cycle(),
        "axes.formatter.useoffset": False,
        "axes.formatter.limits": (-5, 6),
        "axes.unicode_minus": True,
        "grid.color": grid,
        "grid.linewidth": 0.6,
        "xtick.color": quiet,
        "ytick.color": quiet,
        "xtick.labelsize": style.text - 1.0,
        "ytick.labelsize": style.text - 1.0,
        "xtick.major.width": 0.6,
        "ytick.major.width": 0.6,
        "xtick.major.size": 3.0,
        "ytick.major.size": 3.0,
        "xtick.minor.size": 0.0,
        "ytick.minor.size": 0.0,
        "lines.linewidth": style.line,
        "lines.solid_capstyle": "round",
        "lines.solid_joinstyle": "round",
        "legend.frameon": False,
        "legend.fontsize": style.text - 0.5,
        "legend.title_fontsize": style.text - 0.5,
        "legend.handlelength": 1.4,
        "legend.handletextpad": 0.5,
        "legend.columnspacing": 1.3,
        "legend.borderpad": 0.0,
        "legend.labelspacing": 0.25,
        "figure.dpi": 110.0,
        "figure.titlesize": style.text + 2.5,
        "figure.titleweight": "bold",
        "figure.facecolor": colour_of("paper"),
        "axes.facecolor": colour_of("paper"),
        "savefig.facecolor": colour_of("paper"),
        "hatch.linewidth": 0.5,
        "image.cmap": MUCH,
        "pdf.fonttype": 42,  # TrueType, whole letters: what publishers ask for
        "ps.fonttype": 42,
        "svg.fonttype": "path",
    }


def styled(style: Style = SCREEN) -> AbstractContextManager[Any]:
    """Within this context everything is made as the style says."""
    return rc_context(settings(style))


def series(i: int) -> dict[str, Any]:
    """Colour and dashes of line number i."""
    lines = ("-", (0, (4.0, 1.5)), (0, (1.2, 1.2)))
    turn, place = divmod(i, len(SERIES))
    return {"color": SERIES[place].light, "ls": lines[turn % len(lines)]}


def faded(colour: str, share: float) -> str:
    """A colour mixed with the paper: `share` 0 is itself, 1 the paper. Nothing shines through."""
    own, paper = to_rgb(colour_of(colour)), to_rgb(colour_of("paper"))
    return to_hex([a + share * (b - a) for a, b in zip(own, paper, strict=True)])


def log_ticks(axis: Axis) -> None:
    """Round numbers (1, 2, 5, 10, ...) along a logarithmic axis, written out."""
    low, high = axis.get_view_interval()
    subs = (1.0, 2.0, 3.0, 5.0) if high < 30.0 * max(low, 1e-300) else (1.0, 2.0, 5.0)
    axis.set_major_locator(LogLocator(subs=subs, numticks=12))
    axis.set_major_formatter(lambda value, _: f"{value:g}")
    axis.set_minor_formatter(NullFormatter())  # else they run into each other


def share_map() -> LinearSegmentedColormap:
    """From none, the paper, to all of them: the colour of a leg."""
    ends = [colour_of("paper"), faded("leg", 0.6), colour_of("leg")]
    return LinearSegmentedColormap.from_list("share", ends)


def name_lines(axes: Axes, style: Style = SCREEN) -> None:
    """A legend between title and axes, over nothing that is drawn.

    One line alone is named by the title.
    """
    handles, labels = axes.get_legend_handles_labels()
    if len(labels) < 2:
        return
    size = style.text - 0.5
    room = 72.0 * style.width / style.columns * 0.86
    columns = legend_columns(labels, size, room)
    rows = -(-len(labels) // columns)
    legend = axes.legend(
        handles,
        labels,
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=columns,
        borderaxespad=0.3,
    )
    axes.set_title(axes.get_title("left"), pad=6.0 + 1.4 * size * rows)
    legend.set_in_layout(False)  # the title has made room for it


def legend_columns(labels: list[str], size: float, room: float) -> int:
    """Most columns of labels, `size` pt high, that fit into `room` pt."""
    widths = [text_width(label, size) + 3.3 * size for label in labels]
    for rows in range(1, len(labels)):
        columns = -(-len(labels) // rows)
        # As matplotlib fills them: column by column, the first ones longer.
        least, more = divmod(len(labels), columns)
        ends = np.cumsum([least + 1] * more + [least] * (columns - more))
        if sum(max(part) for part in np.split(widths, ends[:-1])) < room:
            return columns
    return 1


def text_width(words: str, size: float) -> float:
    """Of a text without line breaks, pt."""
    font = FontProperties(family="DejaVu Sans", size=size)
    return float(TextPath((0, 0), words, prop=font).get_extents().width) if words.strip() else 0.0


def _cycle() -> Any:
    from cycler import cycler

    return cycler(color=[shades.light for shades in SERIES])
