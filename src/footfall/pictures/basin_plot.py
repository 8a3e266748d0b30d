"""The picture of a basin: what a robot does from each start, by colour."""

import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch

from footfall.engines.analysis.basin_study import Basin
from footfall.engines.analysis.walking import DOUBTFUL, NO_START, OTHERWISE, STANDS, WALKS
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.study import Answers
from footfall.numerics.refine import UNKNOWN
from footfall.pictures.show import Picture
from footfall.pictures.style import PAPER, Style, legend_columns
from footfall.pictures.sweep_style import axis_label
from footfall.record.verdict import Verdict

_COLOURS = {
    WALKS: "#4aa564",
    OTHERWISE: "#b7d8a0",
    STANDS: "#e8dfb0",
    DOUBTFUL: "#d62728",
    NO_START: "white",
    Outcome.rocked_back.name: "#6f9fc8",
    Outcome.fell.name: "#5a5f66",
    Outcome.lifted_off.name: "#e3a857",
    Outcome.tipped_over.name: "#8a6fb0",
    Outcome.sank.name: "#2f6f8f",
    Outcome.diverged.name: "#c0706b",
}
#: Of endings that a robot declares for itself.
_OTHERS = ("#c7b8d6", "#d8a9a0", "#a9c4d9", "#c9c9a0", "#b0a090")
_EDGE = "0.15"


def draw(study: Basin, answers: Answers, verdict: Verdict, style: Style) -> Picture:
    """The box, a colour for each thing that starts do, the edge of the walking set drawn."""
    found, names = study.cells(answers)
    said = study.summary(answers)
    size = said["resolution"]
    plane = np.zeros((size, size), np.int16)
    for x, y, cell, label in zip(*map(np.ndarray.tolist, found), strict=True):
        plane[x : x + cell, y : y + cell] = label
    figure = Picture(figsize=(style.width, 3.6 if style is PAPER else 7.2), style=style)
    axes = figure.subplots()
    spare = iter(_OTHERS * (1 + len(names)))
    colours = [_COLOURS.get(name) or next(spare) for name in names]
    (left, right), (bottom, top) = ((axis.low, axis.high) for axis in study.axes)
    axes.imshow(
        np.where(plane == UNKNOWN, len(names), plane).T,
        origin="lower",
        extent=(left, right, bottom, top),
        aspect="auto",
        interpolation="nearest",
        cmap=ListedColormap([*colours, _EDGE]),
        vmin=-0.5,
        vmax=len(names) + 0.5,
    )
    handles = [
        Patch(
            facecolor=colours[n],
            edgecolor="0.5",
            lw=0.5,
            label=f"{names[n].replace('_', ' ')}  {100 * share:.3g} %",
        )
        for share, n in sorted(
            ((share, names.index(name)) for name, share in said["shares"].items()), reverse=True
        )
    ]
    handles += _marks(axes, study, said)
    axes.grid(False)
    axes.set(
        xlabel=axis_label(study.axes[0]),
        ylabel=axis_label(study.axes[1]),
        xlim=(left, right),
        ylim=(bottom, top),
    )
    low, high = said["area_range"]
    figure.suptitle(
        f"{study.subject.title}: it walks from {100 * said['share']:.3g} % of the box,"
        f" {said['area']:.4g} {said['unit']} ({low:.4g} to {high:.4g})\n{verdict.title}",
    )
    words = [str(handle.get_label()) for handle in handles]
    columns = legend_columns(words, style.text, 72.0 * style.width * 0.9)
    figure.legend(handles=handles, loc="outside lower center", ncols=columns)
    return figure


def _marks(axes, study: Basin, said: dict) -> list:
    """The gait, or the scenario's own start, and the pushes that just end it."""
    pushes = said["pushes"] or {"axes": [], "nearest": []}
    place = {one["key"]: one for one in pushes["axes"]}
    if len(place) < 2:
        return []
    own = [place[axis.key]["from"] for axis in study.axes]
    inside = [axis.low <= value <= axis.high for axis, value in zip(study.axes, own, strict=True)]
    if not all(inside):
        return []
    kind = place[study.axes[0].key]["kind"]
    word = "the scenario's own" if kind == "margin" else "the gait, just after a footfall"
    handles = axes.plot(*own, "k+", ms=11, mew=1.8, label=word, ls="none")
    ends = []
    for n, axis in enumerate(study.axes):
        for way in ("down", "up"):
            far = place[axis.key][way]["offset"]
            if far is not None:
                ends.append([own[k] + (far if k == n else 0.0) for k in range(2)])
    for near in pushes["nearest"]:
        if near["distance"] is not None:
            offset = list(near["offset"].values())
            ends.append([value + move for value, move in zip(own, offset, strict=True)])
    if ends:
        handles += axes.plot(
            *np.transpose(ends), "kx", ms=6, mew=1.3, ls="none", label="pushes from it that end it"
        )
    return handles
