"""The picture of a design: its gait."""

from pathlib import Path
from typing import Any

from footfall.pictures.cycle_plot import draw_cycle


def draw(study: Any, found: Any, path: Path, verdict: Any) -> None:
    """Of the study `design`."""
    del verdict
    best = study.best(found)
    said = f"{best.minimised} {best.figures[best.minimised]:.4g}"
    draw_cycle(best.cycle, path, f"{study.subject.title}, best design: {said}")
