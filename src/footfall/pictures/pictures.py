"""What a user types to see runs: plot, animate, compare.

matplotlib is an extra, and is imported when a picture is asked for.
"""

import importlib.util
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from footfall.engines.analysis.summary import summarise
from footfall.record.trajectory import Trajectory

#: More words than this in a legend, and nobody reads it.
MOST_DIFFERENCES = 4


def plot(
    run: Trajectory,
    path: str | Path | None = None,
    *,
    plots: str = "main",
    style: str = "screen",
) -> Any:
    """The plot page of a run.

    Poses, speed, what the robot's own charts show first, energy, footfalls.

    Arguments:
        run: as `ff.simulate` or `ff.open_run` gives it.
        path: where to write it as well ("walk.png", "walk.pdf", "walk.svg").
        plots: "main", or "all" for states, powers, stores and phase portraits too.
        style: "screen", or "paper" for a column of 3.5 in: write that as .pdf or .svg.

    Returns a matplotlib figure, which a notebook shows. Needs matplotlib (pip install
    "footfall[plots]").

    >>> import footfall as ff
    >>> figure = ff.plot(ff.simulate(ff.load("passive-wheel", duration=1)), "wheel.png")
    >>> figure.axes[0].get_title("left")[:5]
    'Poses'
    """
    _require_rows(run, "plot")
    from footfall.pictures.plot_page import plot_page
    from footfall.pictures.style import style_of

    page = plot_page(run, summarise(run), title=_title(run), plots=plots, style=style_of(style))
    return _kept(page, path)


def animate(run: Trajectory, path: str | Path) -> Path:
    """Write a GIF of the robot moving, its last seconds, or all of a plan.

    Arguments:
        run: as `ff.simulate` or `ff.open_run` gives it.
        path: a .gif file.

    Returns the path. Needs matplotlib.

    >>> import footfall as ff
    >>> ff.animate(ff.simulate(ff.load("passive-wheel", duration=0.2)), "wheel.gif").name
    'wheel.gif'
    """
    _require_rows(run, "animate")
    path = Path(path)
    if path.suffix != ".gif":
        raise ValueError(f"animate writes a .gif file, not {path.name!r}.")
    from footfall.pictures.animate import write_animation

    write_animation(run, path)
    return path


def compare(first: Trajectory, second: Trajectory, path: str | Path | None = None) -> Any:
    """Two runs over each other, signal by signal.

    The legend says what differs between them.

    Arguments:
        first, second: runs of the same kind of robot; only signals that both have are drawn.
        path: where to write the picture as well.

    Returns a matplotlib figure. Needs matplotlib.

    >>> import footfall as ff
    >>> slopes = ({"terrain.angle": 0.08}, {"terrain.angle": 0.1})
    >>> gentle, steep = (ff.load("passive-wheel", values, duration=1).run() for values in slopes)
    >>> figure = ff.compare(gentle, steep, "slopes.png")
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['terrain.angle = 0.08', 'terrain.angle = 0.1']
    """
    for run in (first, second):
        _require_rows(run, "compare")
    from footfall.pictures.overlay import overlay

    said = [run.verdict.title for run in (first, second)]
    one, other = (
        name if v == "sound" else f"{name} ({v})"
        for name, v in zip(differences(first, second), said, strict=True)
    )
    return _kept(overlay(first, second, (one, other)), path)


def differences(first: Trajectory, second: Trajectory) -> tuple[str, str]:
    """What each run has that the other has not, in a few words.

    Values of the scenario, else the way it was simulated, else its place.
    """
    sources = [dict(_flat(run.scenario)) for run in (first, second)]
    plans = [
        {k: run.provenance.get(k) for k in ("scenario", "engine", "solver", "step", "rtol")}
        for run in (first, second)
    ]
    for a, b in (sources, plans):
        keys = [
            k
            for k in dict.fromkeys([*a, *b])
            if a.get(k) != b.get(k) and k not in ("title", "about", "look_for")
        ]
        if keys:
            said = [
                ", ".join(f"{_short(k)} = {_value(side.get(k))}" for k in keys[:MOST_DIFFERENCES])
                for side in (a, b)
            ]
            more = (
                f" and {len(keys) - MOST_DIFFERENCES} more" if len(keys) > MOST_DIFFERENCES else ""
            )
            return said[0] + more, said[1] + more
    return "first", "second"


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _short(key: str) -> str:
    return key.removeprefix("robot.")


def _value(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else "none" if value is None else str(value)


def _title(run: Trajectory) -> str:
    return run.scenario.get("title") or run.provenance.get("scenario") or "run"


def _kept(figure: Any, path: str | Path | None) -> Any:
    if path is not None:
        figure.savefig(path)
    return figure


def _require_rows(run: Any, what: str) -> None:
    if not isinstance(run, Trajectory):
        raise TypeError(
            f"{what} takes a run, as ff.simulate or ff.open_run gives it, not {type(run).__name__}."
        )
    if importlib.util.find_spec("matplotlib") is None:
        raise ModuleNotFoundError(
            'pictures need matplotlib. Install it with: pip install "footfall[plots]"',
            name="matplotlib",
        )
    if len(run.t) < 2:
        raise ValueError(
            f"there is nothing to {what}: this run has {len(run.t)} rows ({run.ending.sentence})."
        )
