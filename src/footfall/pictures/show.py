"""A figure that a notebook shows by itself, without a plotting window or a backend."""

import io
from typing import Any

from matplotlib.figure import Figure

from footfall.pictures.style import SCREEN, Style, styled


class Picture(Figure):
    """A matplotlib figure with a PNG of itself, saved in the style it was made in."""

    def __init__(self, *args: Any, style: Style = SCREEN, **more: Any):
        with styled(style):
            super().__init__(*args, **({"layout": "constrained"} | more))
        self.style = style

    def savefig(self, fname: Any, **more: Any) -> None:
        with styled(self.style):
            super().savefig(fname, **more)

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png")
        return buffer.getvalue()
