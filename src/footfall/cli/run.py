"""`footfall run`: file in, summary and run folder out."""

import contextlib
import dataclasses
import json
import math
import signal
import time
import traceback
from collections.abc import Iterator, Mapping
from pathlib import Path

from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from footfall.analysis.summary import Summary, summarise
from footfall.cli.cost import Pace, require_affordable
from footfall.cli.extras import can_draw, require
from footfall.cli.folders import fresh_folder
from footfall.cli.screen import err, note, out
from footfall.cli.summary_table import plan_table, summary_table
from footfall.hybrid.motion_plan import AbstractMotionPlan, Figure
from footfall.hybrid.rigid_bodies import AbstractRigidBodies
from footfall.record.run_folder import FolderError, FolderExists, require_writable, write_run
from footfall.record.trajectory import Trajectory
from footfall.record.verdict import Verdict
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import Experiment, load
from footfall.sim.doubts import step_doubts
from footfall.sim.plan_figures import reckon
from footfall.sim.simulate import simulate


def run_scenario(
    name: str,
    settings: list[str],
    out_folder: str | None,
    duration: str | None,
    as_json: bool,
    plots: bool,
    animate: str | None,
    force: bool,
    accept_doubt: bool = False,
) -> int:
    """Run, print, write. Status 0 for an outcome the scenario calls success, 1 otherwise; 3 for a doubtful success."""
    experiment = load(name, settings, duration=duration)
    if animate:
        require("matplotlib", "plots", "Without --animate the run needs no picture.")
        _require_gif(Path(animate))
    if isinstance(experiment.system, AbstractRigidBodies):
        require("mujoco", "mujoco")
    require_affordable(experiment)
    folder = Path(out_folder) if out_folder else fresh_folder("runs", experiment.name)
    require_writable(folder, force=force)
    began = time.perf_counter()
    with own_code(experiment):
        _warn(experiment)
        trajectory = _simulate_with_progress(experiment)
    trajectory = dataclasses.replace(trajectory, provenance={"scenario": experiment.name, **trajectory.provenance})
    took = time.perf_counter() - began
    summary = summarise(trajectory, experiment.name, experiment.plan.settle)
    figures = reckon(experiment.system).figures if isinstance(experiment.system, AbstractMotionPlan) else {}
    if as_json:
        keys = ("scenario", "outcome", "verdict", "metrics", "ledger", "events", "window")
        whole = summary.to_dict()
        print(json.dumps({key: whole[key] for key in keys} | plan_numbers(figures), allow_nan=False), flush=True)
        tell(trajectory.verdict)
    else:
        out.print(summary_table(summary, experiment, trajectory, took))
        if isinstance(experiment.system, AbstractMotionPlan):
            out.print(plan_table(figures, experiment.system.remarks(trajectory.t, trajectory.columns)))
        elif len(trajectory.t):
            for remark in experiment.system.remarks(trajectory.t, trajectory.columns):
                out.print(remark, markup=False, soft_wrap=True)
    plots = plots and len(trajectory.t) > 1 and can_draw("plots.png")
    folder = _write(folder, trajectory, summary, experiment, plots, force, fixed=out_folder is not None, figures=figures)
    note(f"run folder: {folder}")
    if plots:
        note(f"plots:      {folder / 'plots.png'}")
    if animate:
        _animate(trajectory, Path(animate))
        note(f"animation:  {animate}")
    if not as_json:
        _suggest(experiment)
    success = trajectory.outcome.name in experiment.about.success
    return trajectory.verdict.status(success=success, accepted=accept_doubt)


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Ctrl-C while a finished run is being written must not lose it."""
    before = signal.signal(signal.SIGINT, lambda *_: note("writing what was computed; a moment"))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def own_code(experiment: Experiment) -> Iterator[None]:
    """What goes wrong in a user's own robot is told with its file and line; anything else is ours, and shown as it is."""
    try:
        yield
    except Exception as error:
        mine = {str(file.resolve()) for file in experiment.files}
        lines = [f for f in traceback.extract_tb(error.__traceback__) if f.filename in mine]
        if not lines:
            raise
        raise ScenarioError(f"{lines[-1].filename}, line {lines[-1].lineno}: {type(error).__name__}: {error}") from error


def tell(verdict: Verdict) -> None:
    """Of a doubtful result, where only numbers go to standard output."""
    for line in () if verdict.sound else verdict.lines:
        err.print(f"[bold yellow]{escape(line)}[/]", soft_wrap=True)


def _warn(experiment: Experiment) -> None:
    """What is known before a run that may take long: the verdict after it comes from the same place."""
    system, plan = experiment.system, experiment.plan
    said = system.cautions(plan.step or system.usual_step) if isinstance(system, AbstractRigidBodies) else []
    said += [doubt.sentence for doubt in step_doubts(system, experiment.start, plan)]
    for sentence in said:
        err.print(f"[bold yellow]warning:[/] {escape(sentence)}", soft_wrap=True)


def _require_gif(path: Path) -> None:
    if path.suffix != ".gif":
        raise FolderError(f"--animate {path}: write it as a .gif file.")
    if not path.absolute().parent.is_dir():
        raise FolderError(f"--animate {path}: there is no folder {path.absolute().parent}.")


def _simulate_with_progress(experiment: Experiment) -> Trajectory:
    """A bar appears once a run takes longer than a moment; Ctrl-C ends the run and keeps what it has."""
    total = experiment.plan.duration
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[at]}"), TimeRemainingColumn())
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        task = bar.add_task("simulating", total=total, at="", visible=False)
        began = last = time.perf_counter()
        pace = Pace(total)

        def progress(t: float, jumps: int) -> None:
            nonlocal last
            now = time.perf_counter()
            if (slow := pace.look(now, t)) is not None:
                note(slow)
            if now - began > 0.5:
                at = f"t = {t:.6g} s of {total:g} s, {jumps} jumps"
                bar.update(task, completed=t, at=at, visible=True)
                if not err.is_terminal and now - last > 10.0:  # a log file gets a line every ten seconds
                    note(f"simulating: {at} (Ctrl-C stops and keeps it)")
                    last = now

        return simulate(experiment.system, experiment.start, experiment.plan, progress=progress)


def plan_numbers(figures: Mapping[str, Figure]) -> dict[str, dict[str, float | None]]:
    """Figures of a plan for JSON; nothing for a robot that does not follow one."""
    values = {name: float(figure.values[0]) for name, figure in figures.items() if name != "outcome"}
    return {"plan": {name: value if math.isfinite(value) else None for name, value in values.items()}} if figures else {}


def _write(
    folder: Path,
    run: Trajectory,
    summary: Summary,
    experiment: Experiment,
    plots: bool,
    force: bool,
    fixed: bool,
    figures: Mapping[str, Figure],
) -> Path:
    """Write the run folder. A name we chose ourselves and that another run took meanwhile is chosen again."""

    def pictures(aside: Path) -> None:
        from footfall.viewer.plot_page import write_plot_page

        write_plot_page(run, summary, aside / "plots.png", title=experiment.about.title or experiment.name)

    if len(run.t) > 50_000:
        note(f"writing {len(run.t)} rows to {folder}")
    options = {"force": force, "pictures": pictures if plots else None, "files": experiment.files}
    with err.status("writing the run folder", spinner="dots"), undisturbed():
        while True:
            try:
                return write_run(folder, run, summary.to_dict() | plan_numbers(figures), experiment.to_toml(), **options)
            except FolderExists:
                if fixed:
                    raise
                folder = fresh_folder("runs", experiment.name)


def _animate(run: Trajectory, path: Path) -> None:
    from footfall.viewer.animate import write_animation

    with err.status("drawing the animation", spinner="dots"):
        write_animation(run, path)


def _suggest(experiment: Experiment) -> None:
    """A few things to try next, of the kind this scenario allows."""
    name, gif = experiment.origin, f"{experiment.name}.gif"
    ideas = [f"footfall show {name}"]
    if isinstance(experiment.system, AbstractMotionPlan):
        ideas.append(f'footfall run {name} --set gait.lift="5 mm" --animate {gif}')
        ideas.append(f"footfall optimise {name} --set torque_limit=0.5")
        metric = "efficiency" if "climb" in str(experiment.document["robot"].get("route", "")) else "energy"
        ideas.append(f"footfall sweep {name} --vary gait.lift=0.004:0.02:20 --vary gait.stride=0.06:0.09:20 --metric {metric}")
    elif "body" in experiment.document["robot"] and "segments" in experiment.document["robot"]["body"]:
        ideas.append(f"footfall run {name} --set missing_legs=[3,4] --animate {gif}")
        ideas.append(f"footfall run {name} --set start.phases=random --set controller.coupling=3   # the phases lock")
        if experiment.document["terrain"]["kind"] == "gap":
            ideas.append(f"footfall run {name} --set controller.reflexes=[]")
            ideas.append(f"footfall crossing {name}")
        else:
            ideas.append(f"footfall run {name} --set terrain=profile")
    elif isinstance(experiment.system, AbstractRigidBodies):
        if "roll" in experiment.document["robot"].get("program", ""):
            ideas.append(f"footfall run {name} --set roll.force=8   # two sides with a kick")
            ideas.append(f'footfall run {name} --set program="roll 3; rise; walk" --duration 30 --animate {gif}')
        else:
            ideas.append(f"footfall run {name} --set controller=stiffness --set gait.pattern=wave")
            ideas.append(f'footfall run {name} --set terrain=slope --set terrain.angle="-5 deg" --animate {gif}')
            ideas.append(f"footfall compliance {name}")
    elif "stack" in experiment.document:
        ideas.append(f"footfall run {name} --set stack.pitch_noise=0.002 --set stack.frame_loss=0.2 --set stack.frame_copies=1")
        ideas.append(f"footfall stack run {name.removesuffix('-closed-loop')} --duration 10   # the same programs in real time")
        ideas.append(f"footfall sweep {name} --vary controller.proportional=2:12:21 --vary controller.derivative=0.1:0.9:17")
    elif "torso" in experiment.document["robot"]:
        ideas.append(f"footfall run {name} --set torso.pitch_setpoint=1.0")
        ideas.append(f"footfall run {name} --set leg=stiffening --animate {gif}")
    elif "drive" in experiment.document["robot"]:
        ideas.append(f"footfall run {name} --set drive.frequency=6 --animate {gif}")
        ideas.append(f"footfall sweep {name} --vary drive.frequency=5:10:11 --vary body.mass=0.04:0.12:9 --duration 2")
    elif experiment.document.get("terrain", {}).get("kind") == "slope":
        ideas.append(f'footfall run {name} --set terrain.angle="0.12 rad"')
        ideas.append(f'footfall run {name} --set terrain.angle="1.8 deg"   # too gentle: it rocks back')
    else:
        ideas.append(f"footfall run {name} --duration 30")
        ideas.append(f"footfall run {name} --animate {gif}")
    out.print("\n[bold]Try next[/]")
    for idea in ideas:
        out.print(f"  {idea}", markup=False, soft_wrap=True)
