"""`footfall compliance`: what softness of the feet is good for."""

import csv
import dataclasses
import json
import math
import time
from pathlib import Path

import numpy as np
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from footfall.cli import stopping
from footfall.cli.extras import can_draw, require
from footfall.cli.folders import fresh_folder
from footfall.cli.run import tell
from footfall.cli.screen import err, note, out
from footfall.cli.summary_table import verdict_lines
from footfall.numerics.units import UnitError, to_si
from footfall.record.run_folder import require_writable
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import Experiment, load
from footfall.sweep.compliance import FIGURES, Compliance, Question, rows_of, study_compliance
from footfall.sweep.words import counted

#: K_y of the study [N/m]
STIFFNESS = (400.0, 600.0, 1000.0, 1500.0, 2500.0, 4000.0, 7000.0)
#: figure -> (heading, factor): what fits a screen
_SHOWN = {
    "peak_force": ("peak force [N]", 1.0),
    "foot_error": ("foot error [mm]", 1e3),
    "unevenness": ("uneven [mm]", 1e3),
    "tilt": ("tilt [deg]", 180.0 / math.pi),
    "mean_speed": ("speed [mm/s]", 1e3),
}


@dataclasses.dataclass(frozen=True)
class ComplianceRequest:
    """The command line's words."""

    name: str
    settings: list[str]
    stiffness: str | None
    height: str
    grounds: int
    duration: str | None
    out: str | None
    as_json: bool
    plots: bool
    force: bool
    accept_doubt: bool = False


def compare_stiffness(request: ComplianceRequest) -> int:
    """Study, print, write. Status 0 when the study was done, whatever it found; 3 when some of its
    runs are doubtful.
    """
    require("mujoco", "mujoco")
    experiment = load(request.name, request.settings, duration=request.duration)
    question = _question(request)
    request = dataclasses.replace(request, plots=request.plots and can_draw("picture"))
    folder = Path(request.out) if request.out else fresh_folder("compliance", experiment.name)
    require_writable(folder, force=request.force)
    began = time.perf_counter()
    found = _with_progress(experiment, question)
    took = time.perf_counter() - began
    with err.status("writing", spinner="dots"), stopping.later():
        _write(folder, found, experiment, request)
    if request.as_json:
        print(json.dumps(_numbers(found), allow_nan=False), flush=True)
        tell(found.verdict)
    else:
        _print(found, experiment, took)
    note(f"table:   {folder / 'compliance.csv'}")
    if request.plots:
        note(f"picture: {folder / 'compliance.png'}")
    stopped = stopping.status(
        f"{int((found.outcome > 0).sum())} of {found.outcome.size} runs, in {folder}"
    )
    return stopped or found.verdict.status(success=True, accepted=request.accept_doubt)


def _question(request: ComplianceRequest) -> Question:
    try:
        height = to_si(request.height, "m")
        words = request.stiffness.split(",") if request.stiffness else ()
        stiffness = tuple(to_si(word.strip(), "N/m") for word in words) or STIFFNESS
    except UnitError as error:
        raise ScenarioError(str(error)) from None
    return Question(stiffness, height, request.grounds)


def _with_progress(experiment: Experiment, question: Question) -> Compliance:
    columns = (
        TextColumn("walking"),
        BarColumn(),
        TextColumn("{task.percentage:.0f} %"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        task, last = bar.add_task("walking", total=1.0), time.perf_counter()

        def progress(share: float) -> None:
            nonlocal last
            bar.update(task, completed=share)
            if (
                share * len(question.stiffness) * (question.grounds + 1) > 1.0
            ):  # the first of them is there to be kept
                stopping.hold()
            stopping.raise_if_asked()
            if not err.is_terminal and time.perf_counter() - last > 10.0:
                note(f"walking: {100 * share:.0f} %")
                last = time.perf_counter()

        return study_compliance(experiment, question, progress=progress)


def _print(found: Compliance, experiment: Experiment, took: float) -> None:
    question = found.question
    out.print(
        f"[bold]{experiment.about.title or experiment.name}[/]: level ground / bumps of up to"
        f" {1e3 * question.height:g} mm (mean of {counted(question.grounds, 'ground')})"
    )
    out.print(*verdict_lines(found.verdict), sep="\n")
    table = Table(box=None, padding=(0, 2))
    table.add_column("K_y [N/m]", justify="right")
    for heading, _ in _SHOWN.values():
        table.add_column(heading, justify="right")
    table.add_column("walked", justify="right")
    for row, stiffness in enumerate(question.stiffness):
        cells = []
        for name, (_, factor) in _SHOWN.items():
            bumps = factor * found.over_bumps(name)[row]
            mean = float(np.nanmean(bumps)) if np.isfinite(bumps).any() else math.nan
            cells.append(f"{factor * found.level(name)[row]:.3g} / {mean:.3g}")
        mark = " *" if found.least is not None and stiffness < found.least else ""
        table.add_row(
            f"{stiffness:g}{mark}",
            *cells,
            f"{int(found.walked[row].sum())} of {found.walked.shape[1]}",
        )
    out.print(table)
    if found.least is not None and min(question.stiffness) < found.least:
        out.print(
            f"* below W/(3 lift) = {found.least:.0f} N/m: the body sags by more than a foot is"
            " lifted, and swinging feet drag"
        )
    out.print(f"{counted(found.outcome.size, 'run')}, {took:.1f} s", highlight=False)


def _numbers(found: Compliance) -> dict:
    def plain(values: np.ndarray) -> list:
        return np.where(np.isfinite(values), values.astype(object), None).tolist()

    return {
        "stiffness_y": list(found.question.stiffness),
        "height": found.question.height,
        "grounds": found.question.grounds,
        "least_stiffness": found.least,
        "verdict": found.verdict.to_dict(),
        "walked": found.walked.tolist(),
        "units": {name: unit for name, (unit, _) in FIGURES.items()},
        "level": {name: plain(found.level(name)) for name in FIGURES},
        "bumps": {name: plain(found.over_bumps(name)) for name in FIGURES},
    }


def _write(
    folder: Path, found: Compliance, experiment: Experiment, request: ComplianceRequest
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    names, rows = rows_of(found)
    with (folder / "compliance.csv").open("w", newline="") as file:
        csv.writer(file).writerows([names, *rows])
    (folder / "compliance.json").write_text(
        json.dumps(_numbers(found), indent=1, allow_nan=False) + "\n"
    )
    (folder / "scenario.toml").write_text(experiment.to_toml())
    if request.plots:
        from footfall.pictures.compliance_plot import write_compliance_plot

        write_compliance_plot(
            found, folder / "compliance.png", title=experiment.about.title or experiment.name
        )
