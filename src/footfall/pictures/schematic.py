"""Labelled schematics: poses of a robot with the names, lengths and angles of its own sketch."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from footfall.hybrid.flatten import named_leaves
from footfall.hybrid.system import HybridState
from footfall.pictures.draw import Project, draw_ground, draw_pose, row_at, side_view
from footfall.pictures.labels import draw_labels
from footfall.pictures.show import Picture
from footfall.pictures.style import PAPER, SCREEN, Style, styled
from footfall.pictures.sweep_style import headline
from footfall.scene.labels import Label, Vector, anchors
from footfall.scene.sketch import Ball, Bar, Disc, Link, Seen, Shape, segments

_MARGIN = 0.12  # of the larger side, around what is drawn


class Panel(NamedTuple):
    """One pose with its labels. `paler` poses of the same shapes stand behind it."""

    shapes: tuple[Shape, ...]
    seen: Seen
    labels: tuple[Label, ...] = ()
    title: str = ""
    paler: tuple[Seen, ...] = ()
    project: Project = side_view
    forces: bool = False


def panel_at(run: Any, t: float, **more: Any) -> Panel:
    """The pose of a run at a time, with the labels of its robot."""
    own = {"shapes": run.sketch, "seen": run.seen(row_at(run, t)), "labels": run.drawing.labels}
    return Panel(**(own | more))


def seen_at(system: Any, state: HybridState, t: float = 0.0) -> Seen:
    """What can be seen of a state that no run was made of."""
    row: dict[str, float] = {}
    for name, value, _ in named_leaves(system.outputs(t, state.x, state.m)):
        many = np.ndim(value) > 0
        values = np.asarray(value, float).ravel()
        row |= {f"{name}.{i}" if many else name: float(v) for i, v in enumerate(values)}
    return Seen(row)


def schematic(
    panels: Sequence[Panel],
    title: str = "",
    style: Style = SCREEN,
    columns: int | None = None,
    one_scale: bool = False,
) -> Picture:
    """The panels beside each other, each to scale (all to the same with `one_scale`), no axes."""
    with styled(style):
        wide = min(len(panels), columns or style.columns)
        rows = -(-len(panels) // wide)
        side = style.width / wide
        boxes = [_box(panel) for panel in panels]
        if one_scale:
            half = 0.5 * np.max([np.ptp(box, axis=0) for box in boxes], axis=0)
            boxes = [np.array([box.mean(axis=0) - half, box.mean(axis=0) + half]) for box in boxes]
        tall = max(float(np.ptp(box[:, 1]) / max(np.ptp(box[:, 0]), 1e-9)) for box in boxes)
        height = side * float(np.clip(tall, 0.2, 1.1))
        figure = Picture(figsize=(style.width, height * rows + 0.5), style=style)
        grid = np.atleast_1d(figure.subplots(rows, wide)).ravel()
        for axes, panel, box in zip(grid, panels, boxes, strict=False):
            _draw(axes, panel, box)
        for axes in grid[len(panels) :]:
            axes.axis("off")
        if title and style is not PAPER:
            headline(figure, title)
    return figure


def _draw(axes: Any, panel: Panel, box: np.ndarray) -> None:
    left, right = box[:, 0]
    wide = right - left
    draw_ground(axes, panel.shapes, left - wide, right + wide)
    for seen in panel.paler:
        draw_pose(axes, panel.shapes, seen, panel.project, fade=0.65, forces=False)
    draw_pose(axes, panel.shapes, panel.seen, panel.project, forces=panel.forces, layer=5.0)
    draw_labels(axes, panel.labels, panel.seen, panel.project)
    axes.set_title(panel.title)
    axes.set_aspect("equal", adjustable="datalim")
    axes.update_datalim(box)
    axes.autoscale_view()
    axes.axis("off")


def _box(panel: Panel) -> np.ndarray:
    """What the poses fill, (left, low) and (right, high), with a margin."""
    points: list[tuple[float, float]] = []
    for seen in (panel.seen, *panel.paler):
        for shape in panel.shapes:
            if isinstance(shape, Bar | Link):
                ends = (end for pair in segments(shape, seen) for end in pair)
                points += [panel.project(end) for end in ends]
            elif isinstance(shape, Ball | Disc):
                x, z = panel.project(seen.place(shape.body, shape.centre))
                r = shape.radius
                points += [(x - r, z - r), (x + r, z + r)]
    held = (at for label in panel.labels for at in anchors(label))
    points += [panel.project(at.place(panel.seen)) for at in held]
    arrows = (label for label in panel.labels if isinstance(label, Vector))
    points += [panel.project(a.at.place(panel.seen) + np.asarray(a.along)) for a in arrows]
    corners = np.array(points or [(0.0, 0.0), (1.0, 1.0)])
    low, high = corners.min(axis=0), corners.max(axis=0)
    room = _MARGIN * max(float((high - low).max()), 1e-9)
    return np.array([low - room, high + room])
