"""`footfall compare-integrators`.

What each method's accuracy costs on one scenario, as a table and a picture.
"""

import contextlib
import dataclasses
import json
import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.progress import BarColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from footfall.cli import stopping
from footfall.cli.extras import can_draw, require
from footfall.cli.folders import fresh_folder
from footfall.cli.run import own_code
from footfall.cli.screen import err, fail, note, out
from footfall.cli.summary_table import verdict_lines
from footfall.engines.analysis.compare import (
    DEFAULT,
    NoReference,
    Reference,
    Result,
    Trial,
    device,
    find_reference,
    known_methods,
    plan_trials,
    run_trial,
)
from footfall.record.run_folder import FolderError
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import Experiment, load, require_flow

#: s; the span compared over when nobody says: long enough for a touchdown, short enough for a
#: thousand steps of anything.
SPAN = 0.2

Say = Callable[[str, int, int | None], None]


def compare_integrators(
    name: str,
    settings: list[str],
    duration: str | None,
    out_file: str | None,
    as_json: bool,
    solvers: str | None,
    plots: bool,
    accept_doubt: bool = False,
) -> int:
    """Status 0 when every method was tried, whatever became of it (how wrong some are is what it
    tells); 3 when what they are compared with is doubtful itself; 130 when Ctrl-C ended it with a
    part of the table."""
    experiment = load(name, settings, duration=duration)
    require_flow(experiment, "a comparison of integrators")
    methods = _methods(solvers)
    picture = (
        _picture_path(out_file, experiment) if plots and (out_file or can_draw("picture")) else None
    )
    span = experiment.plan.duration if duration is not None else min(experiment.plan.duration, SPAN)
    plan = dataclasses.replace(
        experiment.plan,
        duration=span,
        settle=None,
        step=None,
        solver=type(experiment.plan)().solver,
    )
    note(
        "every method is compiled first, which takes a while once per robot; Ctrl-C shows what is"
        " there"
    )
    results: list[Result] = []
    trials: list[Trial] = []
    reference = None
    try:
        with own_code(experiment), _progress() as say:
            reference = find_reference(
                experiment.system, experiment.start, plan, lambda words: say(words, 0, None)
            )
            trials = plan_trials(plan, experiment.start, reference, methods)
            stopping.begin()  # for the table that is there by then
            for i, trial in enumerate(trials):
                stopping.raise_if_asked()
                say(f"{trial.method}, {trial.setting}", i, len(trials))
                results.append(run_trial(experiment.system, experiment.start, trial, reference))
    except NoReference as error:
        raise ScenarioError(f"{name}: {error} Try a shorter --duration.") from None
    except KeyboardInterrupt:
        if reference is None:
            raise
    stopping.hold()
    if picture and results:
        picture = _drawn(results, reference, picture, experiment, span)
    if as_json:
        print(
            json.dumps(
                _summary(experiment, span, reference, trials, results, picture), allow_nan=False
            ),
            flush=True,
        )
    else:
        out.print(_page(experiment, span, reference, trials, results))
    if picture and results:
        note(f"picture: {picture}")
    if len(results) < len(trials):
        return stopping.stopped(f"{len(results)} of {len(trials)} runs are shown.")
    return reference.run.verdict.status(success=True, accepted=accept_doubt)


def _methods(solvers: str | None) -> tuple[str, ...]:
    if solvers is None:
        return DEFAULT
    try:
        return known_methods([name.strip() for name in solvers.split(",") if name.strip()])
    except ValueError as error:
        raise ScenarioError(f"--solvers {solvers}: {error}") from None


def _picture_path(out_file: str | None, experiment: Experiment) -> Path:
    require("matplotlib", "plots", "Without it, --no-plots still prints the table.")
    if out_file is None:
        folder = fresh_folder("comparisons", experiment.name)
        return folder.with_name(f"{folder.name}.png")
    path = Path(out_file)
    if path.suffix != ".png":
        raise FolderError(f"--out {path}: write it as a .png file.")
    if not path.absolute().parent.is_dir():
        raise FolderError(f"--out {path}: there is no folder {path.absolute().parent}.")
    return path


def _drawn(
    results: list[Result], reference: Reference, path: Path, experiment: Experiment, span: float
) -> Path | None:
    """Draw it. What cannot be written is said, but the table comes all the same."""
    from footfall.pictures.compare_plot import write_compare_plot

    title = f"{experiment.about.title or experiment.name}: integrators compared over {span:g} s"
    try:
        with err.status("drawing", spinner="dots"):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_compare_plot(results, reference, path, title=title)
    except OSError as error:
        fail(f"{path} could not be written: {error.strerror or error}")
        return None
    return path


@contextlib.contextmanager
def _progress() -> Iterator[Say]:
    """What is being computed; a log file gets a line every ten seconds."""
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[at]}"))
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        task = bar.add_task("comparing", total=None, at="")
        last = time.perf_counter()

        def say(words: str, done: int, total: int | None) -> None:
            nonlocal last
            bar.update(task, total=total, completed=done, at=words)
            now = time.perf_counter()
            if not err.is_terminal and now - last > 10.0:
                note(f"comparing: {words}" + (f" ({done} of {total} runs done)" if total else ""))
                last = now

        yield say


def _summary(
    experiment: Experiment,
    span: float,
    reference: Reference,
    trials: list[Trial],
    results: list[Result],
    picture: Path | None,
) -> dict[str, Any]:
    limits = {t.method: t.limit for t in trials if t.limit is not None}
    return {
        "scenario": experiment.name,
        "span": span,
        "reference": reference.to_dict(),
        "longest_stable_step": {
            name: limit.step if math.isfinite(limit.step) else None
            for name, limit in limits.items()
        },
        "runs": [r.to_dict() for r in results],
        "complete": len(results) == len(trials),
        "device": device(),
        "picture": str(picture) if picture and results else None,
    }


def _page(
    experiment: Experiment,
    span: float,
    reference: Reference,
    trials: list[Trial],
    results: list[Result],
) -> RenderableType:
    head = Text.assemble(
        (experiment.about.title or experiment.name, "bold"), f"  ({experiment.name}), {span:g} s"
    )
    return Group(
        head,
        *verdict_lines(reference.run.verdict),
        Text("\n".join(_conditions(reference, trials))),
        Text(),
        _table(results, reference),
        _notes(results, reference),
    )


def _conditions(reference: Reference, trials: list[Trial]) -> list[str]:
    ending, uncertainty = reference.run.ending, reference.uncertainty
    known = f"uncertain by {uncertainty.scaled:.1e} (against {reference.against})"
    if not reference.against:
        known = "no second tight run ends alike, so how far to trust it is not known"
    lines = [
        f"reference: {reference.method} at rtol {reference.rtol:g}, {ending.outcome.name} at t ="
        f" {ending.t:g} s after {ending.jumps} jumps; {known}"
    ]
    value, t = reference.seen.largest
    if value:
        imag = f" +- {abs(value.imag):.3g}i" if abs(value.imag) > 1e-3 * abs(value.real) else ""
        lines.append(f"largest decaying eigenvalue: {value.real:.3g}{imag} 1/s at t = {t:.3g} s")
    limits = {
        t.method: t.limit.step for t in trials if t.limit is not None and t.limit.step < ending.t
    }
    if limits:
        lines.append(
            "longest stable step: "
            + ", ".join(f"{name} {step:.2g} s" for name, step in limits.items())
        )
    return lines


def _table(results: list[Result], reference: Reference) -> Table:
    slow = any(r.slow_error is not None for r in results)
    table = Table(box=None, padding=(0, 1, 0, 0), header_style="bold")  # fits 80 columns
    for column in ("method", "setting"):
        table.add_column(column, no_wrap=True)
    for column in ("error", *(["slow"] if slow else []), "tried", "evals", "ms", "ledger"):
        table.add_column(column, justify="right", no_wrap=True)
    before = ""
    for r in results:
        cells: list[str | Text] = [_error(r, reference)]
        if slow:
            cells.append("" if r.slow_error is None else f"{r.slow_error:.1e}")
        cells += [
            "" if r.tried is None else f"{r.tried}",
            (
                ""
                if r.evaluations is None
                else f"{'>=' if r.evaluations_are_least else ''}{r.evaluations}"
            ),
            "" if r.seconds is None else f"{1e3 * r.seconds:{'.0f' if r.seconds > 0.1 else '.3g'}}",
            "" if r.residual is None else f"{r.residual:.0e}",
        ]
        mark = Text(" !", style="bold yellow") if r.above_limit else Text()
        table.add_row(r.method if r.method != before else "", Text(r.setting) + mark, *cells)
        before = r.method
    return table


def _error(result: Result, reference: Reference) -> str | Text:
    if result.error is None:
        return Text(result.outcome.replace("_", " "), style="yellow")
    below = result.error < reference.uncertainty.scaled < math.inf
    star = "*" if result.jumps != reference.run.ending.jumps else ""
    return f"<{reference.uncertainty.scaled:.0e}" if below else f"{star}{result.error:.1e}"


def _notes(results: list[Result], reference: Reference) -> Text:
    compiled = sum(r.compile_seconds or 0.0 for r in results)
    lines = ["error: largest |x - x_ref| / (1 + |x_ref|) over the states at the end"]
    if any(r.slow_error is not None for r in results):
        lines.append(
            "slow: largest |x - x_ref| over the states that are not marked fast, in their units"
        )
    lines.append(
        "tried: steps, with rejected and searching ones; evals: evaluations of the flow by the"
        " method"
    )
    if any(r.evaluations_are_least for r in results):
        lines.append(">=: at least; two to an implicit stage, and one per state for a Jacobian")
    lines.append(
        f"ms: a compiled run, the best of a few ({device()}); compiling took {compiled:.3g} s"
        " in all"
    )
    if any(r.above_limit for r in results):
        lines.append(
            "!: the step is above the longest stable one; the run may stay bounded and be wrong"
        )
    if any(r.error is not None and r.jumps != reference.run.ending.jumps for r in results):
        lines.append("*: another number of jumps than the reference had")
    lines += dict.fromkeys(f"{r.method}: {r.remark}" for r in results if r.remark)
    return Text("\n" + "\n".join(lines), style="dim")
