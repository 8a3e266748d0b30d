"""A figure that a notebook shows by itself, without a plotting window or a backend."""

import io

from matplotlib.figure import Figure


class Picture(Figure):
    """A matplotlib figure with a PNG of itself."""

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png")
        return buffer.getvalue()
