"""The picture of a design: its gait."""

from typing import Any

from footfall.pictures.cycle_plot import draw_cycle
from footfall.pictures.show import Picture
from footfall.pictures.style import Style


def draw(study: Any, found: Any, verdict: Any, style: Style) -> Picture:
    """Of the study `design`."""
    del verdict
    best = study.best(found)
    said = f"{best.minimised} {best.figures[best.minimised]:.4g}"
    title = f"{study.subject.title}, best design: {said}"
    return draw_cycle(best.cycle, title=title, style=style)
