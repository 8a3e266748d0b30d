"""`footfall crossing`: how often a robot gets over gaps, with and without its reflexes."""

import csv
import dataclasses
import json
import math
import time
from pathlib import Path

import numpy as np
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from footfall.cli import stopping
from footfall.cli.extras import can_draw
from footfall.cli.folders import fresh_folder
from footfall.cli.screen import err, note, out
from footfall.engines.lanes.batch_plan import BatchPlan
from footfall.engines.stability_limit import spectrum
from footfall.engines.step_growth import damper_reach
from footfall.numerics.units import UnitError, to_si
from footfall.record.run_folder import require_writable
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import Experiment, load
from footfall.sweep.crossing import (
    Crossings,
    Question,
    controllers_of,
    count_crossings,
    near_edge,
    rows_of,
)
from footfall.sweep.parse import parse_axis
from footfall.sweep.plan_sweep import plan_of
from footfall.sweep.words import count_reasons, counted


@dataclasses.dataclass(frozen=True)
class CrossingRequest:
    """The command line's words."""

    name: str
    settings: list[str]
    widths: str | None
    arrivals: int
    spread: str
    vary: str | None
    duration: str | None
    step: str | None
    method: str | None
    precision: str
    path: str
    out: str | None
    as_json: bool
    plots: bool
    force: bool
    accept_doubt: bool = False


def count_gaps(request: CrossingRequest) -> int:
    """Count, print, write. Status 0 when the study was done, whatever it found; 3 when runs are
    doubtful and nobody accepted that.
    """
    experiment = load(request.name, request.settings, duration=request.duration)
    controllers_of(experiment)  # this and the next raise where there is nothing to count
    near_edge(experiment)
    question = _question(experiment, request)
    plan = _plan(experiment, request)
    request = dataclasses.replace(request, plots=request.plots and can_draw("picture"))
    folder = Path(request.out) if request.out else fresh_folder("crossings", experiment.name)
    require_writable(folder, force=request.force)
    if plan.step is not None:
        with err.status("looking at the step", spinner="dots"):
            _warn_if_unstable(experiment, plan.step, plan.method)
    began = time.perf_counter()
    found = _with_progress(experiment, question, plan)
    took = time.perf_counter() - began
    with err.status("writing", spinner="dots"), stopping.later():
        _write(folder, found, experiment, plan, request)
    if request.as_json:
        print(json.dumps(_numbers(found, plan), allow_nan=False), flush=True)
    else:
        _print(found, experiment, plan, took)
    _warn_of_doubts(found, plan)
    note(f"table:   {folder / 'crossings.csv'}")
    if request.plots:
        note(f"picture: {folder / 'crossings.png'}")
    doubtful = found.doubtful.any() and not request.accept_doubt
    return stopping.status(f"all of it, in {folder}") or (3 if doubtful else 0)


def _length(text: str, option: str) -> float:
    try:
        return to_si(text, "m")
    except UnitError as error:
        raise ScenarioError(f"{option} {text}: {error}") from None


def _question(experiment: Experiment, request: CrossingRequest) -> Question:
    given = {"arrivals": request.arrivals, "spread": _length(request.spread, "--spread")}
    if request.widths is not None:
        given["widths"] = tuple(
            _length(word.strip(), "--widths") for word in request.widths.split(",")
        )
    if request.vary:
        axis = parse_axis(experiment, request.vary, counted=True)
        if axis.structural or (
            axis.values and not all(isinstance(v, int | float) for v in axis.values)
        ):
            raise ScenarioError(
                f"--vary {request.vary}: a crossing study varies one number, not the robot's"
                " structure."
            )
        given["axis"] = axis
    return Question(**given)


def _plan(experiment: Experiment, request: CrossingRequest) -> BatchPlan:
    """The scenario's method, and its step as the longest of each run, unless others are asked
    for.
    """
    try:
        step = None if request.step is None else to_si(request.step, "s")
    except UnitError as error:
        raise ScenarioError(f"--step {request.step}: {error}") from None
    return plan_of(
        experiment, step=step, method=request.method, precision=request.precision, path=request.path
    )


def _warn_if_unstable(experiment: Experiment, step: float, method: str) -> None:
    """Friction holds a light tip by a damper of slope mu N c.

    An explicit step must stay below 2 m/(mu N c).
    """
    value, _ = spectrum(experiment.system, experiment.start).largest
    # The robot starts pressed into the ground, with more load on its feet than it will ever have: a
    # margin of two for walking.
    limit = 2.0 * damper_reach(method) / abs(value) if value else math.inf
    if step > limit:
        said = (
            f"--step {step:g} s is above the longest stable step of {method} for walking, about"
            f" {limit:.2g} s: friction on the light tips decays at {0.5 * abs(value):.3g} 1/s."
            f" Expect a wrong count; try --step {_round_down(limit)} or less."
        )
        err.print(f"[bold yellow]warning:[/] {escape(said)}", soft_wrap=True)


def _round_down(limit: float) -> str:
    digit = 10.0 ** math.floor(math.log10(limit))
    return f"{digit * math.floor(limit / digit):.0e}"


def _with_progress(experiment: Experiment, question: Question, plan: BatchPlan) -> Crossings:
    columns = (
        TextColumn("crossing"),
        BarColumn(),
        TextColumn("{task.percentage:.0f} %"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        task, last = bar.add_task("crossing", total=1.0), time.perf_counter()

        def progress(share: float) -> None:
            nonlocal last
            bar.update(task, completed=share)
            if not err.is_terminal and time.perf_counter() - last > 10.0:
                note(f"crossing: {100 * share:.0f} %")
                last = time.perf_counter()

        return count_crossings(experiment, question, plan, progress=progress)


def _print(found: Crossings, experiment: Experiment, plan: BatchPlan, took: float) -> None:
    axis = found.question.axis
    runs = found.outcome.size
    out.print(
        f"[bold]{experiment.about.title or experiment.name}[/]: crossed of"
        f" {found.question.arrivals} arrivals"
    )
    for row, value in enumerate(found.question.values):
        heading = "" if axis is None else f"{axis.key} = {value:.4g} {axis.unit}".strip()
        table = Table(title=heading, title_justify="left", box=None, padding=(0, 1))
        table.add_column("width, mm", no_wrap=True)
        for width in found.question.widths:
            table.add_column(f"{1e3 * width:g}", justify="right", no_wrap=True)
        for which, name in enumerate(found.controllers):
            cells = zip(found.counts[which, row], found.times[which, row], strict=True)
            table.add_row(name, *(f"{n} {t:.1f}" if n else "0     " for n, t in cells))
        out.print(table)
    steps = float(np.sum(plan.duration / found.steps))
    each = " and ".join(
        f"{step:.4g} s" + (f" ({count})" if count < runs else "")
        for step, count in found.runs_by_step.items()
    )
    out.print(
        f"{counted(runs, 'run')} of {plan.duration:g} s, step {each} ({plan.method},"
        f" {plan.precision}), {found.path}, {took:.1f} s with compilation"
        f" ({1e-6 * steps / took:.2g} million robot-steps/s). After each count the median time [s]"
        " until the tail is over.",
        soft_wrap=True,
        markup=False,
    )
    for line in found.notes:
        note(line)


def _warn_of_doubts(found: Crossings, plan: BatchPlan) -> None:
    """How many runs should not be believed, why, and what to try."""
    if not found.doubtful.any():
        return
    why = "; ".join(f"{name} in {count}" for name, count in _doubts(found).items())
    cure = (
        "Without --step each run takes one that suits it"
        if plan.step
        else "Try a shorter --step and see whether the counts stay"
    )
    said = (
        f"{int(found.doubtful.sum())} of {found.verdict.size} runs are doubtful ({why}): this step"
        " is too long for something they do (a leg drawn up to a few millimetres turns at 1e5"
        f" 1/s). {cure}; docs/theory/centipede.md, section 6."
    )
    err.print(f"[bold yellow]warning:[/] {escape(said)}", soft_wrap=True)


def _doubts(found: Crossings) -> dict[str, int]:
    """How many runs each reason for doubt was given for."""
    return count_reasons(found.verdict.ravel().tolist())


def _numbers(found: Crossings, plan: BatchPlan) -> dict:
    axis = found.question.axis
    times = found.times
    return {
        "arrivals": found.question.arrivals,
        "widths": list(found.question.widths),
        "controllers": list(found.controllers),
        "varied": None if axis is None else axis.key,
        "values": [] if axis is None else list(found.question.values),
        "counts": found.counts.tolist(),
        "median_times": np.where(np.isnan(times), None, times.astype(object)).tolist(),
        "doubtful": int(found.doubtful.sum()),
        "doubts": _doubts(found),
        "largest_residual": float(np.max(np.nan_to_num(np.abs(found.residual), nan=1.0))),
        "duration": plan.duration,
        "steps": [{"step": step, "runs": count} for step, count in found.runs_by_step.items()],
        "method": plan.method,
        "precision": plan.precision,
        "path": found.path,
    }


def _write(
    folder: Path,
    found: Crossings,
    experiment: Experiment,
    plan: BatchPlan,
    request: CrossingRequest,
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    names, rows = rows_of(found)
    with (folder / "crossings.csv").open("w", newline="") as file:
        csv.writer(file).writerows([names, *rows])
    (folder / "crossings.json").write_text(
        json.dumps(_numbers(found, plan), indent=1, allow_nan=False) + "\n"
    )
    (folder / "scenario.toml").write_text(experiment.to_toml())
    if request.plots:
        from footfall.pictures.crossing_plot import write_crossing_plot

        write_crossing_plot(
            found, folder / "crossings.png", title=experiment.about.title or experiment.name
        )
