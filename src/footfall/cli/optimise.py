"""`footfall optimise`: the fastest gait, the thriftiest one, and what lies between, as a table, a
picture and scenarios to run.
"""

import csv
import json
import math
import shutil
import time
from pathlib import Path
from typing import Any

from rich.console import Group, RenderableType
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from footfall.cli import stopping
from footfall.cli.extras import can_draw
from footfall.cli.folders import fresh_folder
from footfall.cli.run import tell
from footfall.cli.screen import err, note, out
from footfall.cli.summary_table import verdict_lines
from footfall.engines.analysis.plan_optimum import Front, NoGait, Optimum, as_settings, find_front
from footfall.engines.lanes.plan_figures import evaluate_plan
from footfall.hybrid.fields import ParameterError
from footfall.hybrid.motion_plan import AbstractTunablePlan
from footfall.hybrid.outcome import Outcome
from footfall.numerics.units import UnitError, to_si
from footfall.record.run_folder import FolderError, require_writable
from footfall.record.verdict import Verdict, together
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import Experiment, load, with_settings
from footfall.sweep.words import counted

#: Figures of each gait that are shown, besides its knobs.
SHOWN = (
    "t_end",
    "energy",
    "electrical_energy",
    "efficiency",
    "support_margin",
    "peak_torque_1",
    "peak_torque_2",
    "peak_torque_3",
)


def optimise_gait(
    name: str,
    settings: list[str],
    ranges: list[str],
    points: int,
    out_folder: str | None,
    as_json: bool,
    plots: bool,
    force: bool,
    accept_doubt: bool = False,
) -> int:
    """Status 0 when a front was found; 3 when some of its gaits are doubtful."""
    if points < 2:
        raise ScenarioError(f"--points {points}: at least 2, the fastest gait and the thriftiest.")
    experiment = load(name, settings)
    system = experiment.system
    if not isinstance(system, AbstractTunablePlan):
        raise ScenarioError(
            f"{name}: this robot does not follow a plan whose gait could be tuned. Try"
            " two-leg-step."
        )
    plots = plots and can_draw("picture")
    folder = Path(out_folder) if out_folder else fresh_folder("optima", experiment.name)
    require_writable(folder, force=force)
    began = time.perf_counter()
    front, gaits = _search(experiment, name, ranges, points)
    verdicts = [_verdict(tuned) for _, tuned in gaits]
    rows = [
        _row(gait, tuned) | {"verdict": one.word}
        for (gait, tuned), one in zip(gaits, verdicts, strict=True)
    ]
    own = _figures(experiment)
    verdict = together(verdicts, "gaits")
    took = time.perf_counter() - began
    with err.status("writing", spinner="dots"), stopping.later():
        picture = _write(folder, experiment, front, gaits, rows, own, verdict, plots, force)
    if as_json:
        whole = {
            "scenario": experiment.name,
            "verdict": verdict.to_dict(),
            "torque_limit": front.torque_limit,
            "scenario_gait": own,
            "front": rows,
        }
        print(json.dumps({**whole, "folder": str(folder)}, allow_nan=False), flush=True)
        tell(verdict)
    else:
        out.print(_page(experiment, front, rows, own, verdict, took))
    note(f"scenarios to run: {folder / 'fastest.toml'}, {folder / 'thriftiest.toml'}")
    note(f"table:            {folder / 'front.csv'}")
    if picture:
        note(f"picture:          {picture}")
    return stopping.status(f"all of it, in {folder}") or verdict.status(
        success=True, accepted=accept_doubt
    )


def _search(
    experiment: Experiment, name: str, ranges: list[str], points: int
) -> tuple[Front, list[tuple[Optimum, Experiment]]]:
    """The front, and each gait of it as an experiment that loads."""

    def refuses(gait: Optimum) -> str | None:
        """A gait counts only if its scenario loads, so that every footstep is checked against the
        ground, and its plan arrives.
        """
        try:
            made = with_settings(experiment, as_settings(gait))
        except ScenarioError as error:
            return str(error).rpartition("] ")[2]
        outcome = Outcome(int(evaluate_plan(made.system).figures["outcome"].values[0]))
        if outcome is not Outcome.arrived:
            return (
                f"with {', '.join(as_settings(gait))} the walker ends as {outcome.name}:"
                f" {outcome.meaning}."
            )
        return None

    assert isinstance(experiment.system, AbstractTunablePlan)
    columns = (
        TextColumn("searching"),
        BarColumn(),
        TextColumn("{task.completed:.0f}/{task.total:.0f}"),
        TimeRemainingColumn(),
    )
    try:
        with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
            task = bar.add_task("searching", total=1)
            last = time.perf_counter()

            def progress(done: int, total: int) -> None:
                nonlocal last
                bar.update(task, completed=done, total=total)
                if not err.is_terminal and time.perf_counter() - last > 10.0:
                    note(f"searching: {done} of {total}")
                    last = time.perf_counter()

            sought = _ranges(experiment.system, ranges)
            front = find_front(
                experiment.system, points=points, ranges=sought, refuses=refuses, progress=progress
            )
    except ParameterError as error:
        raise ScenarioError(f"{name}: {error}") from None
    except NoGait as error:
        raise ScenarioError(
            f"{name}: {error} Widen a --range, or raise what the motors can do."
        ) from None
    return front, [(gait, with_settings(experiment, as_settings(gait))) for gait in front.gaits]


def _ranges(plan: AbstractTunablePlan, texts: list[str]) -> dict[str, tuple[float, float]]:
    """`gait.lift=2 mm:20 mm` -> its ends.

    What is no knob of the plan has no ends either, and is refused by its name.
    """
    units = {knob.name: knob.unit for knob in plan.tuning({}).knobs}
    ranges = {}
    for text in texts:
        key, _, span = (part.strip() for part in text.partition("="))
        low, colon, high = (part.strip() for part in span.partition(":"))
        try:
            if not colon:
                raise ValueError("two ends are wanted")
            ranges[key] = (
                (to_si(low, units[key]), to_si(high, units[key]))
                if key in units
                else (math.nan, math.nan)
            )
        except (UnitError, ValueError) as error:
            raise ScenarioError(
                f'--range {text}: {error}. Write it as --range gait.lift="2 mm:20 mm".'
            ) from None
    return ranges


def _figures(experiment: Experiment) -> dict[str, Any]:
    """Evaluated with many samples, as a run would."""
    assert isinstance(experiment.system, AbstractTunablePlan)
    values = {
        name: float(figure.values[0])
        for name, figure in evaluate_plan(experiment.system).figures.items()
        if name in SHOWN
    }
    return {name: value if math.isfinite(value) else None for name, value in values.items()}


def _verdict(experiment: Experiment) -> Verdict:
    """Of its plan as it was evaluated."""
    assert isinstance(experiment.system, AbstractTunablePlan)
    figures = {
        name: float(figure.values[0])
        for name, figure in evaluate_plan(experiment.system).figures.items()
    }
    return Verdict(tuple(experiment.system.figure_doubts(figures)))


def _row(gait: Optimum, tuned: Experiment) -> dict[str, Any]:
    return {**gait.values, **_figures(tuned), "held_by": list(gait.at_limit)}


def _write(
    folder: Path,
    experiment: Experiment,
    front: Front,
    gaits: list[tuple[Optimum, Experiment]],
    rows: list[dict[str, Any]],
    own: dict[str, Any],
    verdict: Verdict,
    plots: bool,
    force: bool,
) -> Path | None:
    try:
        if folder.exists() and force:
            shutil.rmtree(folder)
        folder.mkdir(parents=True)
        for word, (_, tuned) in (("fastest", gaits[0]), ("thriftiest", gaits[-1])):
            (folder / f"{word}.toml").write_text(tuned.to_toml())
        with (folder / "front.csv").open("w", newline="") as stream:
            table = csv.DictWriter(stream, fieldnames=list(rows[0]))
            table.writeheader()
            table.writerows({**row, "held_by": "; ".join(row["held_by"])} for row in rows)
        if not plots:
            return None
        from footfall.pictures.front_plot import write_front_plot

        path = folder / "front.png"
        title = experiment.about.title or experiment.name
        title += "" if verdict.sound else f" ({verdict.title})"
        write_front_plot(rows, own, path, title=title, torque_limit=front.torque_limit)
        return path
    except OSError as error:
        raise FolderError(f"{folder} could not be written: {error.strerror or error}.") from None


def _page(
    experiment: Experiment,
    front: Front,
    rows: list[dict[str, Any]],
    own: dict[str, Any],
    verdict: Verdict,
    took: float,
) -> RenderableType:
    table = Table(box=None, padding=(0, 1, 0, 0), header_style="bold")
    warm = any(
        abs(row["electrical_energy"] - row["energy"]) > 1e-9 * abs(row["energy"]) for row in rows
    )
    columns = [
        "time",
        "energy",
        *(["electr."] if warm else []),
        "torque",
        "margin",
        "lift",
        "stride",
        "speed",
        "pace",
        "held by",
    ]
    units = ["s", "J", *(["J"] if warm else []), "N m", "mm", "mm", "mm", "m/s", "", ""]
    for column, unit in zip(columns, units, strict=True):
        left = column == "held by"
        table.add_column(
            f"{column}\n{unit}".rstrip(), justify="left" if left else "right", no_wrap=not left
        )
    mine = {
        knob: _value(experiment, knob)
        for knob in ("gait.lift", "gait.stride", "gait.speed", "gait.lift_pace")
    }
    for row in [*rows, {**mine, **own, "held_by": ["(own gait)"]}]:
        torque = max(row[f"peak_torque_{i}"] for i in (1, 2, 3))
        table.add_row(
            f"{row['t_end']:.2f}",
            f"{row['energy']:.3f}",
            *([f"{row['electrical_energy']:.3f}"] if warm else []),
            f"{torque:.4f}",
            "-" if row["support_margin"] is None else f"{1e3 * row['support_margin']:.1f}",
            f"{1e3 * row['gait.lift']:.2f}",
            f"{1e3 * row['gait.stride']:.2f}",
            f"{row['gait.speed']:.3f}",
            f"{row['gait.lift_pace']:.2f}",
            ", ".join(held.replace("gait.", "") for held in row["held_by"]),
        )
    limit = (
        "no torque limit (--set torque_limit=0.5)"
        if front.torque_limit is None
        else f"torques up to {front.torque_limit:g} N m"
    )
    head = Text.assemble(
        (experiment.about.title or experiment.name, "bold"),
        f"  ({experiment.name}): best gaits, {limit}",
    )
    tail = [
        f"{counted(front.layouts, 'layout')} of steps, {counted(front.solves, 'solve')} by SLSQP"
        f" with exact derivatives, {took:.1f} s with compilation"
    ]
    if any(row["support_margin"] is None or row["support_margin"] < 0 for row in rows):
        tail.append("margin: of the support, least; - where the ground would have to pull")
    return Group(head, *verdict_lines(verdict), table, Text("\n".join(tail)))


def _value(experiment: Experiment, knob: str) -> float:
    owner: Any = experiment.system
    for part in knob.split("."):
        owner = getattr(owner, part)
    return float(owner)
