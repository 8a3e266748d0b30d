"""Questions asked in Python, with their tables and pictures: `ff.basin`, `ff.robust`."""

import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from footfall.engines.analysis.basin_study import Basin
from footfall.engines.analysis.robust_study import Robust
from footfall.hybrid.study import AbstractStudy, Answers, Sheet, request_of
from footfall.record.verdict import Verdict
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import Experiment
from footfall.sweep.study import StudyFolder, carry_out, results_of, verdict_of
from footfall.sweep.subject import Subject


class Found:
    """What a study found: `verdict`, numbers by name (found["area"]), `rows`, `plot()`."""

    def __init__(self, study: AbstractStudy, answers: Answers, picture: str):
        self.study, self.answers, self._picture = study, answers, picture
        self.results: dict[str, Any] = results_of(study, answers)  #: as results.json has it
        self.verdict: Verdict = verdict_of(study, answers)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The table."""
        return self.results[self.study.rows_key]

    def __getitem__(self, name: str) -> Any:
        if name not in self.results:
            raise KeyError(f'no "{name}" was found; there are: {", ".join(self.results)}')
        return self.results[name]

    @property
    def starts(self) -> dict[str, Any]:
        """Of a basin: every start that was run, values by key, and what each `does`."""
        return self.study.starts_run(self.answers)  # pyright: ignore[reportAttributeAccessIssue]

    def plot(self, path: str | Path | None = None) -> Any:
        """The picture as a matplotlib figure, written to `path` if one is given."""
        from footfall.pictures.style import SCREEN, styled

        module = importlib.import_module(f"footfall.pictures.{self._picture}")
        with styled():
            figure = module.draw(self.study, self.answers, self.verdict, SCREEN)
        if path is not None:
            figure.savefig(path)
        return figure

    def __repr__(self) -> str:
        first, *rest = self.study.page(self.answers, None)
        lines = [f"{self.study.subject.name}: {first}", f"  verdict: {self.verdict.sentence}"]
        for part in rest:
            lines += [f"  {line}" for line in (_told(part) if isinstance(part, Sheet) else [part])]
        return "\n".join(lines)


def basin(
    experiment: Experiment,
    vary: Mapping[str, Any],
    *,
    resolution: int = 512,
    folder: str | Path | None = None,
    progress: Callable[[float], None] | None = None,
) -> Found:
    """From which starts a robot walks, over two numbers of its scenario.

    Arguments:
        experiment: as `ff.load` gives it.
        vary: (low, high) of two keys, in SI or with units: {"torso_angle": (0, 1.2), "spoke_rate":
            ("-6 rad/s", 0)}. Numbers of [start], or any others.
        resolution: parts of each side that the edge is found to; starts are run only along it.
        folder: where to keep what was found; the same call goes on where one was cut off.
        progress: is told the share of the levels that is done.

    Returns what was found: found["area"], found["area_range"], found["share"], found["pushes"];
    `plot()` draws it.

    >>> import footfall as ff
    >>> wheel = ff.load("passive-wheel", duration=5)
    >>> found = ff.basin(wheel, {"spoke_rate": (-3, 0), "spoke_angle": (0, 0.3)}, resolution=16)
    >>> print(f"{found['share']:.2f}, {found.verdict}")
    0.83, sound
    """
    request = {"vary": "; ".join(_side(key, ends) for key, ends in _sides(vary).items())}
    return _asked(
        Basin, "basin_plot", experiment, request | {"resolution": resolution}, folder, progress
    )


def robust(
    experiment: Experiment,
    tolerance: Mapping[str, float | str] | None = None,
    *,
    ground: float | str | None = None,
    push: float | None = None,
    runs: int = 256,
    seed: int = 0,
    folder: str | Path | None = None,
    progress: Callable[[float], None] | None = None,
) -> Found:
    """How often a robot falls, and what walking costs, when something is not as planned.

    Arguments:
        experiment: as `ff.load` gives it; from its own start it walks.
        tolerance: spreads of numbers by key, either way, {"leg.stiffness": 0.1} or "10%"; without
            it 5 % of every number of the robot and its controller.
        ground: root mean square of a rough ground's height, in m or "2 mm"; without it 1 % of a
            footstep, 0 for none.
        push: largest push on each rate, as a share of the largest in a stride; without it 0.2.
        runs, seed: of each source, rounded up to a power of two; of all that is drawn.
        folder, progress: as for `ff.basin`.

    Returns what was found: `found.rows` has a row for each source, with falls and their 95 %
    interval; found["indices"] says which tolerances matter; `plot()` draws it.

    >>> import footfall as ff
    >>> wheel = ff.load("passive-wheel", duration=5)
    >>> found = ff.robust(wheel, {"leg.length": "5%"}, ground=0, push=0, runs=8)
    >>> [(row["source"], row["runs"], row["falls"]) for row in found.rows]
    [('tolerances', 24, 0)]
    """
    said = "; ".join(f"{key}={value}" for key, value in _sides(tolerance or {}).items())
    given = {"tolerance": said, "ground": ground, "push": push, "runs": runs, "seed": seed}
    return _asked(Robust, "robust_plot", experiment, given, folder, progress)


def _asked(
    kind: type[AbstractStudy],
    picture: str,
    experiment: Experiment,
    given: Mapping[str, Any],
    folder: str | Path | None,
    progress: Callable[[float], None] | None,
) -> Found:
    if not isinstance(experiment, Experiment):
        raise ScenarioError(
            f"ff.{kind.name} takes an experiment, as ff.load gives it, not"
            f" {type(experiment).__name__}."
        )
    study = kind(request_of(kind.Request, given), Subject(experiment))

    def tell(done: float) -> None:
        if progress is not None:
            progress(done / len(study.cases))

    if folder is None:
        study.prepare(lambda _: None)
        return Found(study, carry_out(study, {}, progress=tell), picture)
    with StudyFolder(Path(folder), study) as place:
        study.prepare(lambda _: None)
        found = carry_out(study, place.read(), keep=place.keep, progress=tell)
        place.finish(found, results_of(study, found))
    return Found(study, found, picture)


def _sides(vary: Any) -> dict[str, Any]:
    if not hasattr(vary, "items"):
        raise ScenarioError(
            'vary is a dictionary from keys to (low, high), such as {"spoke_rate": (-6, 0)}, not'
            f" {type(vary).__name__}."
        )
    return dict(vary.items())


def _side(key: str, ends: Any) -> str:
    """As --vary has it."""
    if isinstance(ends, str):
        return f"{key}={ends}"
    try:
        low, high = ends
    except (TypeError, ValueError):
        raise ScenarioError(f'"{key}": give its ends, (low, high), not {ends!r}.') from None
    return f"{key}={low}:{high}"


def _told(sheet: Sheet) -> list[str]:
    rows = [list(sheet.columns), *map(list, sheet.rows)]
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    lines = [
        "  ".join(
            cell.ljust(width) if n in sheet.left else cell.rjust(width)
            for n, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
    return ([sheet.title] if sheet.title else []) + lines
