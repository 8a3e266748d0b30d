"""The picture of a sweep.

A heat map of two axes (of samples: dots), curves over one, parallel coordinates for more.

Only the columns drawn are read, shard by shard, and binned to what a screen can show: a sweep of
millions needs no more memory than one of thousands.
"""

from collections.abc import Sequence
from pathlib import Path

from footfall.hybrid.fields import nearest
from footfall.pictures.show import Picture
from footfall.pictures.style import SCREEN, Style, styled
from footfall.pictures.sweep_curves import draw_curves
from footfall.pictures.sweep_heatmap import draw_heatmap
from footfall.pictures.sweep_parallel import draw_parallel
from footfall.pictures.sweep_scatter import draw_scatter
from footfall.pictures.sweep_style import headline
from footfall.scenario.errors import ScenarioError
from footfall.sweep.designs import Axis, Grid
from footfall.sweep.files import write_aside
from footfall.sweep.read_back import Sweep, open_sweep
from footfall.sweep.words import counted


def write_sweep_plot(
    folder: Path,
    metric: str | None,
    success: Sequence[str],
    title: str,
    style: Style = SCREEN,
) -> Path | None:
    """Draw `metric` over the designs into heatmap.png, curves.png, scatter.png or designs.png.

    None where there is nothing to compare. For a paper it is a .pdf.
    """
    with styled(style):
        return _write(folder, metric, success, title, style)


def _write(
    folder: Path, metric: str | None, success: Sequence[str], title: str, style: Style
) -> Path | None:
    sweep = open_sweep(folder)
    metric = metric_of(sweep, metric)
    designs = sweep.designs
    axes = [axis for axis in designs.axes if axis_size(axis) != 1]
    words = [axis for axis in axes if axis.structural]
    if designs.count < 2:
        return None
    figure = Picture(style=style)
    doubtful = sum(int(piece["doubtful"].sum()) for piece in sweep.coded_pieces(["design"]))
    if isinstance(designs, Grid) and len(axes) == 2 and not words:
        name = "heatmap"
        draw_heatmap(figure, sweep, designs, (axes[0], axes[1]), metric, success)
    elif isinstance(designs, Grid) and len(axes) in (1, 2) and len(axes) - len(words) <= 1:
        name = "curves"
        draw_curves(figure, sweep, designs, axes, metric, success)
    elif not isinstance(designs, Grid) and len(axes) == 2 and not words:
        name = "scatter"
        draw_scatter(figure, sweep, (axes[0], axes[1]), metric, success)
    else:
        name = "designs"
        draw_parallel(figure, sweep, axes or list(designs.axes), metric, success)
    if style is SCREEN or doubtful:  # a paper has a caption
        headline(figure, sweep_title(title, designs.count, doubtful))
    path = folder / f"{name}{style.suffix}"
    write_aside(path, lambda aside: figure.savefig(aside, format=style.suffix[1:]))
    return path


def sweep_title(title: str, count: int, doubtful: int) -> str:
    """What the picture is of, and how much of it should not be believed."""
    return f"{title}: {counted(count, 'design')}" + (
        f", {doubtful} of them DOUBTFUL (marked red)" if doubtful else ""
    )


def axis_size(axis: Axis) -> int:
    """How many values an axis has; 0 for one that is sampled or listed in a file."""
    return len(axis.values) or axis.count


def metric_of(sweep: Sweep, asked: str | None) -> str:
    """The column to draw.

    What was asked for, else the speed, else (a robot that goes nowhere) how long it lasted.
    """
    names = [
        name
        for name in sweep.names()
        if name not in ("design", "outcome", "verdict", *sweep.designs.keys)
    ]
    if asked is None:
        return "mean_speed" if "mean_speed" in names else "t_end"
    if asked not in names:
        raise ScenarioError(
            f"--metric {asked}: there is no such result.{nearest(asked, names)}\n  Known:"
            f" {', '.join(names)}."
        )
    return asked
