"""The picture of a compliance study: what is gained and what is lost by softer feet."""

import numpy as np
from matplotlib.axes import Axes

from footfall.hybrid.study import Answers
from footfall.machines.sea_urchin.compliance import Compliance
from footfall.pictures.show import Picture
from footfall.pictures.style import PAPER, Style, faded
from footfall.pictures.sweep_style import headline, legend_below
from footfall.record.verdict import Verdict
from footfall.scene.palette import colour_of

#: figure -> (title, factor, unit as shown)
_PANELS = {
    "peak_force": ("Largest force on a foot", 1.0, "N"),
    "foot_error": ("Feet from where they are wanted, rms", 1e3, "mm"),
    "unevenness": ("Height of the shell from its mean, rms", 1e3, "mm"),
    "tilt": ("Largest tilt", 180.0 / np.pi, "deg"),
    "mean_speed": ("Speed", 1e3, "mm/s"),
    "swing_error": ("Error of joint 1, rms", 1e3, "mrad"),
}


def draw(study: Compliance, found: Answers, verdict: Verdict, style: Style) -> Picture:
    """Six panels against K_y.

    Each bumpy ground as a point, their mean as a line, level ground dashed.
    """
    rows = -(-len(_PANELS) // style.columns)
    figure = Picture(figsize=(style.width, (style.panel + 0.4) * rows), style=style)
    for axes, name in zip(figure.subplots(rows, style.columns).ravel(), _PANELS, strict=True):
        _panel(axes, study, found, name, style)
    legend_below(figure, figure.axes[0].get_legend_handles_labels()[0])
    high = 1e3 * study.request.height
    doubtful = "" if verdict.sound else f" ({verdict.title})"
    if style is not PAPER or doubtful:
        title = f"{study.subject.title}: feet of stiffness $K_y$ over bumps of up to {high:g} mm"
        headline(figure, f"{title}{doubtful}")
    return figure


def _panel(axes: Axes, study: Compliance, found: Answers, name: str, style: Style) -> None:
    words, factor, unit = _PANELS[name]
    stiffness, least = np.array(study.request.stiffness), study.least
    values = factor * study.figure(found, name)
    level, bumps = values[:, 0], values[:, 1:]
    for column in range(bumps.shape[1]):
        axes.plot(stiffness, bumps[:, column], "o", ms=3.5, color=colour_of("mark"), alpha=0.6)
    some = np.isfinite(bumps).any(axis=1)
    if some.any():
        axes.plot(
            stiffness[some],
            np.nanmean(bumps[some], axis=1),
            color=colour_of("mark"),
            lw=1.6,
            label="over bumps, mean",
        )
    axes.plot(
        stiffness,
        level,
        "--",
        color=colour_of("leg"),
        lw=1.4,
        marker="s",
        ms=3,
        label="level ground",
    )
    axes.set_xscale("log")
    if stiffness.min() < 1.3 * least:
        low = 0.85 * min(float(stiffness.min()), least)
        axes.axvspan(
            low,
            least,
            color=faded("grid", 0.4),
            zorder=0,
            label="sags more than it lifts: feet drag",
        )
        axes.set_xlim(left=low)
    axes.set_xticks(stiffness, [f"{k:g}" for k in stiffness], rotation=45 if style is PAPER else 0)
    axes.minorticks_off()
    axes.set(title=f"{words} [{unit}]", xlabel="stiffness $K_y$ [N/m]")
    axes.set_ylim(0.0, 1.06 * axes.get_ylim()[1])
