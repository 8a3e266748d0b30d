"""The picture of a compliance study: what is gained and what is lost by softer feet."""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from footfall.hybrid.study import Answers
from footfall.machines.sea_urchin.compliance import Compliance
from footfall.record.verdict import Verdict

#: figure -> (title, factor, unit as shown)
_PANELS = {
    "peak_force": ("Largest force on a foot", 1.0, "N"),
    "foot_error": ("Feet from where they are wanted, rms", 1e3, "mm"),
    "unevenness": ("Height of the shell from its mean, rms", 1e3, "mm"),
    "tilt": ("Largest tilt", 180.0 / np.pi, "deg"),
    "mean_speed": ("Speed", 1e3, "mm/s"),
    "swing_error": ("Error of joint 1, rms", 1e3, "mrad"),
}


def draw(study: Compliance, found: Answers, path: Path, verdict: Verdict) -> None:
    """Six panels against K_y.

    Each bumpy ground as a point, their mean as a line, level ground dashed.
    """
    figure = Figure(figsize=(13.0, 7.0), layout="constrained", dpi=110)
    for axes, name in zip(figure.subplots(2, 3).ravel(), _PANELS, strict=True):
        _panel(axes, study, found, name)
    high = 1e3 * study.request.height
    doubtful = "" if verdict.sound else f" ({verdict.title})"
    figure.suptitle(
        f"{study.subject.title}: feet of stiffness $K_y$ over bumps of up to {high:g} mm{doubtful}",
        fontsize=12,
    )
    figure.savefig(path)


def _panel(axes: Axes, study: Compliance, found: Answers, name: str) -> None:
    words, factor, unit = _PANELS[name]
    stiffness, least = np.array(study.request.stiffness), study.least
    values = factor * study.figure(found, name)
    level, bumps = values[:, 0], values[:, 1:]
    for column in range(bumps.shape[1]):
        axes.plot(stiffness, bumps[:, column], "o", ms=3.5, color="tab:orange", alpha=0.6)
    some = np.isfinite(bumps).any(axis=1)
    if some.any():
        axes.plot(
            stiffness[some],
            np.nanmean(bumps[some], axis=1),
            color="tab:orange",
            lw=1.6,
            label="over bumps, mean",
        )
    axes.plot(
        stiffness, level, "--", color="tab:blue", lw=1.4, marker="s", ms=3, label="level ground"
    )
    axes.set_xscale("log")
    if stiffness.min() < 1.3 * least:
        low = 0.85 * min(float(stiffness.min()), least)
        axes.axvspan(low, least, color="0.9", zorder=0, label="sags more than it lifts: feet drag")
        axes.set_xlim(left=low)
    axes.set_xticks(stiffness, [f"{k:g}" for k in stiffness], fontsize=7)
    axes.minorticks_off()
    axes.set(title=words, xlabel="$K_y$ [N/m]", ylabel=f"[{unit}]")
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.25, which="both")
    axes.legend(fontsize=7)
