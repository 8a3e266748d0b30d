"""A robot at one moment as pixels, the camera beside it."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg

from footfall.pictures.draw import (
    draw_floor,
    draw_ground,
    draw_pose,
    grid_spacing,
    side_view,
    slanted_view,
)
from footfall.pictures.show import Picture
from footfall.pictures.style import styled
from footfall.scene.palette import colour_of
from footfall.scene.sketch import Arrow, Seen, segments

#: Width and height of a picture, in pixels.
PIXELS = (480, 270)


class Camera:
    """Makes pictures of one kind of robot, all of the same scale: that of the first."""

    def __init__(self) -> None:
        self._size: float | None = None

    def picture(self, system: Any, outputs: Mapping[str, float]) -> np.ndarray:
        """(height, width, 3), of the robot with these outputs (flat names)."""
        seen, shapes = Seen(outputs), system.sketch()
        groups = sorted({name.rpartition(".")[0] for name in outputs if name.endswith(".z")})
        points = [seen.origin(group) for group in groups]
        ends = [
            end
            for shape in shapes
            if not isinstance(shape, Arrow)
            for piece in segments(shape, seen)
            for end in piece
        ]
        places = np.array([*points, *ends])
        project = slanted_view if np.ptp(places[:, 1]) > 1e-9 else side_view
        flat = np.array([project(place) for place in places])
        if self._size is None:
            self._size = max(0.75 * float(np.ptp(flat, axis=0).max()), 0.05)
        size, (x, z) = self._size, flat.mean(axis=0)
        width, height = PIXELS
        with styled():
            figure = Picture(figsize=(width / 100, height / 100), dpi=100, layout=None)
            axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
            axes.set_axis_off()
            axes.set_aspect("equal")
            axes.set_autoscale_on(False)
            across, spacing = 4.0 * size, 2.0 * grid_spacing(4.0 * size)
            if project is side_view:
                draw_ground(axes, shapes, x - across, x + across)
                first = np.floor((x - across) / spacing) * spacing
                for mark in np.arange(first, x + across, spacing):
                    axes.axvline(mark, color=colour_of("grid"), lw=0.8, zorder=-1)
            else:
                draw_floor(axes, shapes, places.mean(axis=0)[None], across, spacing=spacing)
            draw_pose(axes, shapes, seen, project)
            axes.set_xlim(x - 2.0 * size, x + 2.0 * size)
            axes.set_ylim(z - 2.0 * size * height / width, z + 2.0 * size * height / width)
            canvas = FigureCanvasAgg(figure)
            canvas.draw()
        return np.array(np.asarray(canvas.buffer_rgba())[..., :3])
