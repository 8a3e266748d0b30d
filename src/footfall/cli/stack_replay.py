"""`footfall stack replay` and `footfall stack fit`: a log against the model."""

from __future__ import annotations

import json
import math
import time
from pathlib import Path
from typing import Any

from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from footfall.cli.extras import can_draw, require
from footfall.cli.run import tell
from footfall.cli.screen import err, note, out
from footfall.cli.summary_table import verdict_lines
from footfall.realtime.fit import Fit, fit
from footfall.realtime.replay import Replay, replay
from footfall.realtime.stack_log import StackLog, StackLogError, read_stack_log
from footfall.record.run_folder import FolderError
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import with_computer


def replay_log(
    path: str,
    scenario: str | None,
    settings: list[str] | None,
    delay: float,
    picture: str | None,
    plots: bool,
    as_json: bool,
    accept_doubt: bool = False,
) -> int:
    """Simulate what a log says the operator did; print how far the two are apart; draw both."""
    if not (math.isfinite(delay) and 0.0 <= delay <= 1.0):
        raise ScenarioError(f"--delay {delay:g}: seconds between 0 and 1 are expected.")
    if plots and picture:
        require("matplotlib", "plots", "Without it, --no-plots still compares.")
    plots = plots and can_draw("picture")
    log = _log(path)
    target = _target(picture, log, "replay.png", plots)
    with _bar() as bar:
        end = float(log["t"][-1]) if len(log) else 0.0
        task = bar.add_task("replaying", total=max(end, 1e-9))
        try:
            found = replay(
                log, scenario, settings, age=delay, progress=lambda t: bar.update(task, completed=t)
            )
        except StackLogError as error:
            raise ScenarioError(str(error)) from None
    if as_json:
        print(json.dumps(_numbers(found), allow_nan=False), flush=True)
        tell(found.verdict)
    else:
        _print_replay(found)
    if plots:
        from footfall.pictures.stack_plot import write_replay_plot

        with err.status("drawing", spinner="dots"):
            write_replay_plot(found, target)
        note(f"plot: {target}")
    return found.verdict.status(success=True, accepted=accept_doubt)


def fit_log(
    path: str,
    scenario: str | None,
    settings: list[str] | None,
    picture: str | None,
    plots: bool,
    as_json: bool,
    accept_doubt: bool = False,
) -> int:
    """Find friction, delay and motor constant with which the model walks as a log says."""
    if plots and picture:
        require("matplotlib", "plots", "Without it, --no-plots still fits.")
    plots = plots and can_draw("picture")
    log = _log(path)
    target = _target(picture, log, "fit.png", plots)
    began = time.perf_counter()
    with _bar() as bar:
        task = bar.add_task("fitting", total=1.0)
        try:
            found = fit(
                log, scenario, settings, progress=lambda share: bar.update(task, completed=share)
            )
        except StackLogError as error:
            raise ScenarioError(str(error)) from None
    if as_json:
        print(json.dumps(_fit_numbers(found), allow_nan=False), flush=True)
        tell(found.verdict)
    else:
        _print_fit(found, scenario or log.scenario, time.perf_counter() - began)
    if plots:
        from footfall.pictures.stack_plot import write_fit_plot

        write_fit_plot(found, scenario or log.scenario, target)
        note(f"plot: {target}")
    return found.verdict.status(success=True, accepted=accept_doubt)


def _target(picture: str | None, log: StackLog, name: str, plots: bool) -> Path:
    """Where to draw."""
    target = Path(picture) if picture else log.path.with_name(name)
    if plots and (target.suffix != ".png" or not target.absolute().parent.is_dir()):
        raise FolderError(f"--picture {target}: a .png file in a folder that exists is expected.")
    return target


def _log(path: str) -> StackLog:
    try:
        return read_stack_log(path)
    except StackLogError as error:
        raise ScenarioError(str(error)) from None


def _bar() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    return Progress(*columns, console=err, transient=True, disable=not err.is_terminal)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _numbers(found: Replay) -> dict[str, Any]:
    rows = [
        {k: v if isinstance(v, str) else _finite(v) for k, v in row._asdict().items()}
        for row in found.mismatches
    ]
    return {
        "log": str(found.log.path),
        "scenario": found.scenario,
        "records": len(found.log),
        "compared_cycles": int(found.on.sum()),
        "simulated_robot": found.outcome,
        "simulated_fault": found.fault,
        "verdict": found.verdict.to_dict(),
        "mismatches": rows,
    }


def _print_replay(found: Replay) -> None:
    title = f"{found.log.path}: log and lockstep, law on and settled"
    table = Table(title=title, title_justify="left", box=None, padding=(0, 1))
    heads = (
        "signal",
        "mean\nlog",
        "\nlockstep",
        "spread\nlog",
        "\nlockstep",
        "difference\nas is",
        "\nshifted",
        "\nby s",
    )
    for name in heads:
        first = name == "signal"
        table.add_column(
            name, justify="left" if first else "right", min_width=12 if first else None
        )
    for row in found.mismatches:
        means, spreads = (
            (row.logged_mean, row.simulated_mean),
            (row.logged_spread, row.simulated_spread),
        )
        values = (*means, *spreads, row.difference, row.shifted_difference)
        table.add_row(
            f"{row.name} \\[{row.unit}]", *(f"{v:.4g}" for v in values), f"{row.shift:+.2f}"
        )
    out.print(table)
    out.print(
        "Means and spreads (standard deviations) are of the gait itself; differences are root mean"
        " squares cycle by cycle, as they are and at the shift that makes them least, because a"
        " gait drifts in phase.",
        style="dim",
    )
    out.print(*verdict_lines(found.verdict), sep="\n")
    if found.outcome != "running":
        out.print(f"The simulated robot did not keep walking: {found.outcome}.")
    if found.fault:
        out.print(f"The simulated supervisor cut off: {found.fault}", markup=False)


def _fit_numbers(found: Fit) -> dict[str, Any]:
    return {
        "verdict": found.verdict.to_dict(),
        "estimates": [e._asdict() for e in found.estimates],
        "figures": [f._asdict() for f in found.figures],
        "misfit": found.misfit,
        "window": list(found.window),
        "setpoint": found.setpoint,
        "simulated": found.simulated,
        "settings": found.settings,
    }


def _print_fit(found: Fit, scenario: str, seconds: float) -> None:
    first, last = found.window
    table = Table(
        title=(
            f"Found from {first:.3g} to {last:.3g} s of the log, set point {found.setpoint:g} rad"
        ),
        title_justify="left",
        box=None,
    )
    for name in ("parameter", "value", "+-", "scenario says", "unit", ""):
        table.add_column(name, justify="left" if name in ("parameter", "unit", "") else "right")
    for e in found.estimates:
        table.add_row(
            e.key,
            f"{e.value:.5g}",
            f"{e.error:.2g}",
            f"{e.assumed:.5g}",
            e.unit,
            "edge" if e.at_bound else "",
        )
    out.print(table)
    out.print(*verdict_lines(found.verdict), sep="\n")
    table = Table(title="Figures of the gait", title_justify="left", box=None)
    for name in ("figure", "log", "+-", "fitted", "unit"):
        table.add_column(name, justify="left" if name in ("figure", "unit") else "right")
    for f in found.figures:
        table.add_row(f.name, f"{f.logged:.5g}", f"{f.noise:.2g}", f"{f.fitted:.5g}", f.unit)
    out.print(table)
    said = (
        "the model explains the log"
        if found.misfit < 2
        else "the model does not explain the log: something else differs too"
    )
    out.print(
        f"misfit {found.misfit:.2f} ({said}; about 1 or less is as good as the log is known);"
        f" {found.simulated} robots simulated in {seconds:.0f} s"
    )
    if not found.settings:
        out.print(
            "No command follows: every parameter sits at an edge of what was searched, so this is"
            " another robot, or was another scenario (--scenario, --set)."
        )
        return
    changes = " ".join(f"--set {setting}" for setting in found.settings)
    out.print(
        f"next: footfall run {with_computer(scenario)} {changes}", soft_wrap=True, markup=False
    )
