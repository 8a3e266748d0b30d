"""`footfall run`: file in, summary and run folder out."""

import contextlib
import dataclasses
import json
import math
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from rich.markup import escape

from footfall.cli import stopping
from footfall.cli.cost import Pace, require_affordable
from footfall.cli.extras import can_draw, require
from footfall.cli.folders import fresh_folder
from footfall.cli.page_file import require_page, tell_page
from footfall.cli.phases import Phases, told_by_jax
from footfall.cli.screen import err, note, out
from footfall.cli.suggest import commands
from footfall.cli.summary_table import plan_table, summary_table
from footfall.engines.analysis.summary import Summary, summarise
from footfall.engines.bodies.mujoco_engine import MujocoEngine
from footfall.engines.doubts import step_doubts
from footfall.engines.lanes.plan_figures import evaluate_plan
from footfall.engines.simulate import MOST_SAMPLES, simulate
from footfall.hybrid.motion_plan import Figure
from footfall.pages.html_file import write_page
from footfall.pages.replay import replay_page
from footfall.record.columns import columns_of
from footfall.record.mcap_log import MOST_LOGGED
from footfall.record.row_stream import RowStream
from footfall.record.run_folder import (
    FolderError,
    FolderExists,
    begin_aside,
    require_writable,
    write_run,
)
from footfall.record.trajectory import Trajectory
from footfall.record.verdict import Verdict
from footfall.scenario.load import Experiment, load
from footfall.scenario.own_code import told_with_line
from footfall.sweep.words import counted, grouped

LARGE = 50.0  # MB: a run folder worth a word before it is filled
LOGGED_AFTER_STOP = 10_000  # rows of run.mcap, a second of writing, of a run that Ctrl-C ended


def run_scenario(
    name: str,
    settings: list[str],
    out_folder: str | None,
    duration: str | None,
    as_json: bool,
    plots: str | None,
    style: str,
    animate: str | None,
    force: bool,
    accept_doubt: bool = False,
    page: str | None = None,
) -> int:
    """Run, print, write; `plots` is which plot page, or None for none.

    Status 0 for an outcome the scenario calls success, 1 otherwise; 3 for a doubtful success.
    """
    stopping.at_once()
    experiment = load(name, settings, duration=duration)
    if animate:
        require("matplotlib", "plots", "Without --animate the run needs no picture.")
        _require_gif(Path(animate))
    if page:
        require_page(Path(page), "--page", force=force)
    if "mujoco" in experiment.system.engines:
        require("mujoco", "mujoco")
    require_affordable(experiment)
    folder = Path(out_folder) if out_folder else fresh_folder("runs", experiment.name)
    require_writable(folder, force=force)
    _say_size(experiment, folder)
    began = time.perf_counter()
    with own_code(experiment):
        _warn(experiment)
        trajectory = _simulate_with_progress(experiment, folder)
    stopping.hold()  # until what was computed is written
    trajectory = dataclasses.replace(
        trajectory, provenance={"scenario": experiment.name, **trajectory.provenance}
    )
    took = time.perf_counter() - began
    summary = summarise(trajectory, experiment.name, experiment.plan.settle)
    figures = (
        evaluate_plan(experiment.system).figures if experiment.system.own_time is not None else {}
    )
    if as_json:
        keys = ("scenario", "outcome", "verdict", "metrics", "ledger", "events", "window")
        whole = summary.to_dict()
        print(
            json.dumps({key: whole[key] for key in keys} | plan_numbers(figures), allow_nan=False),
            flush=True,
        )
        tell(trajectory.verdict)
    else:
        out.print(summary_table(summary, experiment, trajectory, took))
        if experiment.system.own_time is not None:
            out.print(
                plan_table(figures, experiment.system.remarks(trajectory.t, trajectory.columns))
            )
        elif len(trajectory.t):
            for remark in experiment.system.remarks(trajectory.t, trajectory.columns):
                out.print(remark, markup=False, soft_wrap=True)
    if len(trajectory.t) < 2 or (plots and not can_draw("plots.png")):
        plots = None
    folder = _write(
        folder,
        trajectory,
        summary,
        experiment,
        (plots, style),
        force,
        fixed=out_folder is not None,
        figures=figures,
    )
    note(f"run folder: {folder}")
    for picture in sorted(folder.glob("plots.*")):
        note(f"plots:      {picture}")
    if animate and not stopping.asked():
        _animate(trajectory, Path(animate))
    if page and len(trajectory.t) > 1:
        write_page(Path(page), replay_page(experiment, trajectory, summary))
        tell_page(Path(page))
    if stopping.asked():
        return stopping.kept(f"{trajectory.ending.t:.6g} s, in {folder}")
    if not as_json:
        out.print("\n[bold]Try next[/]")
        for line in commands(
            experiment,
            trajectory.outcome,
            settings,
            duration,
            trajectory.ending.at_start,
            trajectory.verdict,
        ):
            out.print(f"  {line}", markup=False, soft_wrap=True)
    success = trajectory.outcome.name in experiment.about.success
    return trajectory.verdict.status(success=success, accepted=accept_doubt)


@contextlib.contextmanager
def own_code(experiment: Experiment) -> Iterator[None]:
    """What goes wrong in a user's own robot or part is told with its file and line."""
    with told_with_line(experiment.own_files.values()):
        yield


def tell(verdict: Verdict) -> None:
    """Of a doubtful result, where only numbers go to standard output."""
    for line in () if verdict.sound else verdict.lines:
        err.print(f"[bold yellow]{escape(line)}[/]", soft_wrap=True)


def _warn(experiment: Experiment) -> None:
    """What is known before a run that may take long.

    The verdict after it comes from the same place.
    """
    system, plan = experiment.system, experiment.plan
    said = (
        system.cautions(plan.engine.step or system.usual_step)
        if isinstance(plan.engine, MujocoEngine)
        else []
    )
    with err.status("looking at the step", spinner="dots"):
        said += [doubt.sentence for doubt in step_doubts(system, experiment.start, plan)]
    for sentence in said:
        err.print(f"[bold yellow]warning:[/] {escape(sentence)}", soft_wrap=True)


def _require_gif(path: Path) -> None:
    if path.suffix != ".gif":
        raise FolderError(f"--animate {path}: write it as a .gif file.")
    if not path.absolute().parent.is_dir():
        raise FolderError(f"--animate {path}: there is no folder {path.absolute().parent}.")


def _simulate_with_progress(experiment: Experiment, folder: Path) -> Trajectory:
    """Say what goes on: loading, compiling, simulating.

    Ctrl-C ends the run and keeps what it has, once there is something.
    """
    total = experiment.plan.duration

    def place() -> Path:
        stopping.hold()
        return begin_aside(folder, experiment.to_toml())

    rows = RowStream(place, scenario=experiment.name)
    with Phases("loading the robot") as phases, told_by_jax(phases, "starting the run"):
        pace = Pace(total)

        def progress(t: float, jumps: int) -> None:
            stopping.hold()
            if (slow := pace.look(time.perf_counter(), t)) is not None:
                note(slow)
            phases.count(
                "simulating", t, total, f"t = {t:.6g} s of {total:g} s, {counted(jumps, 'jump')}"
            )
            stopping.raise_if_asked()

        return simulate(
            experiment.system, experiment.start, experiment.plan, progress=progress, rows=rows
        )


def _say_size(experiment: Experiment, folder: Path) -> None:
    """One line before a run that will fill the disk or take long to write."""
    rate = experiment.plan.sample_rate
    if rate is None or "event" not in experiment.system.engines:
        return
    rows = int(min(experiment.plan.duration * rate, MOST_SAMPLES))
    columns = len(columns_of(experiment.system, experiment.start.x, experiment.start.m).signals) + 2
    size = 8e-6 * rows * columns  # MB; numbers of a motion hardly compress
    if size > LARGE:
        said = (
            f"this run keeps about {grouped(rows)} rows of {columns} columns, {grouped(size)} MB in"
            f" {folder}"
        )
        note(f"{said}; --set sim.sample_rate={rate / 10:g} keeps a tenth")


def plan_numbers(figures: Mapping[str, Figure]) -> dict[str, dict[str, float | None]]:
    """Figures of a plan for JSON; nothing for a robot that does not follow one."""
    values = {
        name: float(figure.values[0]) for name, figure in figures.items() if name != "outcome"
    }
    return (
        {"plan": {name: value if math.isfinite(value) else None for name, value in values.items()}}
        if figures
        else {}
    )


def _write(
    folder: Path,
    run: Trajectory,
    summary: Summary,
    experiment: Experiment,
    page: tuple[str | None, str],
    force: bool,
    fixed: bool,
    figures: Mapping[str, Figure],
) -> Path:
    """Write the run folder; `page` is which plot page, and its style.

    A name we chose ourselves and that another run took meanwhile is chosen again.
    """

    plots, style = page

    def pictures(aside: Path) -> None:
        from footfall.pictures.plot_page import write_plot_page
        from footfall.pictures.style import style_of

        def drawn(done: int, total: int) -> None:
            phases.count("drawing", done, total, f"{done} of {total} panels")
            stopping.raise_if_asked()

        with contextlib.suppress(KeyboardInterrupt):
            stopping.raise_if_asked()
            write_plot_page(
                run.thinned(),
                summary,
                aside / f"plots{style_of(style).suffix}",
                title=experiment.about.title or experiment.name,
                plots=plots or "main",
                style=style_of(style),
                progress=drawn,
            )

    writing = f"writing {counted(len(run.t), 'row')} to {folder}"

    most = LOGGED_AFTER_STOP if stopping.asked() else MOST_LOGGED
    if most < len(run.t):
        note(
            f"run.mcap has about {grouped(most)} of {grouped(len(run.t))} rows, trajectory.parquet"
            " has all"
        )

    def written(done: int, total: int) -> bool:
        phases.count(writing, done, total, f"{grouped(done)} of {grouped(total)}")
        cut = stopping.asked() and total > LOGGED_AFTER_STOP
        if cut:
            note(
                f"run.mcap ends after {grouped(done)} of {grouped(total)} rows, trajectory.parquet"
                " has all"
            )
        return cut

    options = {
        "force": force,
        "pictures": pictures if plots else None,
        "files": experiment.own_files,
        "progress": written,
        "most_logged": most,
    }
    with Phases(writing) as phases:
        while True:
            try:
                return write_run(
                    folder,
                    run,
                    summary.to_dict() | plan_numbers(figures),
                    experiment.to_toml(),
                    **options,
                )
            except FolderExists:
                if fixed:
                    raise
                folder = fresh_folder("runs", experiment.name)


def _animate(run: Trajectory, path: Path) -> None:
    """Like any picture it can be drawn again.

    Ctrl-C between two frames leaves it out, and the data are kept.
    """
    from footfall.pictures.animate import write_animation

    def drawn(done: int, total: int) -> None:
        phases.count("drawing the animation", done, total, f"{done} of {total} frames")
        stopping.raise_if_asked()

    with contextlib.suppress(KeyboardInterrupt):
        with Phases("drawing the animation") as phases:
            write_animation(run.thinned(), path, progress=drawn)
        note(f"animation:  {path}")
