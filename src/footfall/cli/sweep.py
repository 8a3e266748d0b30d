"""`footfall sweep`: many designs of one scenario, and a dataset of what became of them.

The Parquet dataset can be resumed; a picture and a summary come with it.
"""

import contextlib
import dataclasses
import datetime
import json
import time
from collections.abc import Iterator
from concurrent.futures import Executor
from pathlib import Path

from rich.progress import BarColumn, Progress, TextColumn

from footfall.cli import stopping
from footfall.cli.extras import can_draw
from footfall.cli.folders import fresh_folder
from footfall.cli.run import own_code
from footfall.cli.screen import err, note, out
from footfall.cli.sweep_request import SweepRequest, require_sense
from footfall.cli.sweep_table import run_alone, sweep_table
from footfall.engines.lanes.batch_plan import BatchPlan
from footfall.numerics.units import UnitError, to_si
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import Experiment, load, require_flow
from footfall.sweep.batches import result_columns
from footfall.sweep.begin_sweep import begin_sweep, default_shard_size
from footfall.sweep.design_file import read_designs
from footfall.sweep.designs import Designs
from footfall.sweep.errors import SweepError
from footfall.sweep.evaluate import Workshop
from footfall.sweep.executors import THREADS_PER_WORKER, local_workers, remote_scheduler
from footfall.sweep.files import write_aside
from footfall.sweep.manifest import Manifest, OpenedSweep, describe_sweep, open_folder
from footfall.sweep.meter import Standing
from footfall.sweep.parse import parse_designs
from footfall.sweep.plan_sweep import (
    plan_of,
    require_compiler,
    require_metric,
    require_tracks,
    tracks_of_metric,
)
from footfall.sweep.read_back import Digest, digest_sweep, open_sweep
from footfall.sweep.run_sweep import SweepReport, run_sweep
from footfall.sweep.words import counted, grouped


def sweep_designs(request: SweepRequest) -> int:
    """Status 0 when every design has been simulated, whatever became of it.

    3 when some are doubtful and nobody accepted that.
    """
    began = time.perf_counter()
    require_sense(request)
    sweep = _resumed(Path(request.out or ""), request) if request.resume else _begun(request)
    kept = f"finished shards are kept. Go on with: footfall sweep --resume --out {sweep.folder}"
    stopping.at_once(kept)
    try:
        with own_code(sweep.experiment), _executor(request) as executor, _bar() as progress:
            threads = None if executor is None else THREADS_PER_WORKER
            report = run_sweep(
                sweep, executor=executor, threads=threads, path=request.path, progress=progress
            )
    except KeyboardInterrupt:
        return stopping.stopped(kept)
    stopping.at_once(kept)
    for number, fault in report.mended:
        note(f"shard {number} was computed again: {fault}")
    return _finish(sweep, request, report, began)


def _experiment(request: SweepRequest) -> Experiment:
    assert request.name is not None
    experiment = load(request.name, request.settings, duration=request.duration)
    require_flow(experiment, "a sweep")
    return experiment


def _designs(experiment: Experiment, request: SweepRequest) -> Designs:
    if request.designs is not None:
        return read_designs(experiment, Path(request.designs))
    designs = parse_designs(experiment, request.vary, request.sample, request.seed or 0)
    if (
        request.sample
        and request.sample.startswith("sobol")
        and designs.count & (designs.count - 1)
    ):
        note(
            "a Sobol sample is most even when its size is a power of two, such as"
            f" {1 << (designs.count.bit_length() - 1)}"
        )
    return designs


def _plan(experiment: Experiment, request: SweepRequest) -> BatchPlan:
    track = (*request.track, *tracks_of_metric(experiment, request.metric))
    plan = plan_of(
        experiment,
        step=_seconds(request.step),
        rtol=request.rtol,
        method=request.method,
        precision=request.precision,
        track=tuple(dict.fromkeys(track)) or None,
        path=request.path,
    )
    require_tracks(experiment, plan.track)
    return plan


def _seconds(text: str | None) -> float | None:
    try:
        return None if text is None else to_si(text, "s")
    except UnitError as error:
        raise ScenarioError(f"--step {text}: {error}") from None


def _begun(request: SweepRequest) -> OpenedSweep:
    experiment = _experiment(request)
    folder = Path(request.out) if request.out else fresh_folder("sweeps", experiment.name)
    designs, plan = _designs(experiment, request), _plan(experiment, request)
    doing = (
        "checking"
        f" {counted(designs.count, 'design')}{' and choosing the step' if plan.needs_steps else ''}"
    )
    with err.status(doing, spinner="dots"), own_code(experiment):
        size = request.shard_size or default_shard_size(
            designs.count, plan.path, request.workers or 1
        )
        return begin_sweep(
            folder,
            experiment,
            designs,
            plan,
            shard_size=size,
            force=request.force,
            metric=request.metric,
            before_writing=stopping.hold,
        )


def _resumed(folder: Path, request: SweepRequest) -> OpenedSweep:
    """The sweep in the folder, if what is asked for now is what was asked for then."""
    sweep = open_folder(folder)
    manifest = sweep.manifest
    experiment, designs = sweep.experiment, sweep.designs
    if request.name is not None:
        experiment = _experiment(request)
    if request.names_designs:
        designs = _designs(experiment, request)
    then = manifest.batch_plan()
    asked = _plan(experiment, dataclasses.replace(request, path=then.path))
    kept = {
        "step": then.step if request.step is None else asked.step,
        "rtol": then.rtol if request.rtol is None else asked.rtol,
        "method": then.method if request.method is None else asked.method,
        "precision": then.precision if request.precision is None else asked.precision,
        "track": asked.track if request.track else then.track,
    }
    asked = dataclasses.replace(asked, **kept)
    wanted = describe_sweep(
        experiment, designs, asked, request.shard_size or manifest.shard_size, manifest.step_source
    )
    if differences := manifest.differences(wanted):
        said = "\n".join(f"  {line}" for line in differences)
        raise SweepError(
            f"{folder} is another sweep than the one asked for:\n{said}\n  Go on with it as it is:"
            f" footfall sweep --resume --out {folder}. Or choose another --out."
        )
    if (request.path or then.path) == "cpp":
        require_compiler()
    if request.metric is not None:
        require_metric(experiment, request.metric, _results(sweep))
    for name in ("footfall", "jax", "numpy"):
        if manifest.versions.get(name) != wanted.versions.get(name):
            note(
                f"{name} was {manifest.versions.get(name)} when this sweep began and is"
                f" {wanted.versions.get(name)} now"
            )
    return sweep


def _results(sweep: OpenedSweep) -> list[str]:
    """Names of the results a sweep has or, before its first shard, will have."""
    there = open_sweep(sweep.folder)
    if there.files:
        return [name for name in there.names() if name not in ("design", *sweep.designs.keys)]
    few = sweep.designs.at(sweep.designs.probes())
    return list(result_columns(Workshop.of(sweep).variants, few, sweep.manifest.batch_plan())[0])


@contextlib.contextmanager
def _executor(request: SweepRequest) -> Iterator[Executor | None]:
    if request.workers is None and request.scheduler is None:
        yield None
        return
    stopping.begin()
    if request.scheduler is not None:
        with remote_scheduler(request.scheduler) as executor:
            yield executor
    else:
        with (
            err.status(f"starting {request.workers} workers", spinner="dots"),
            contextlib.ExitStack() as stack,
        ):
            executor = stack.enter_context(local_workers(request.workers or 1))
            later = stack.pop_all()
        with later:
            yield executor


@contextlib.contextmanager
def _bar() -> Iterator:
    """A bar with robots per second and time left; a log file gets a line every ten seconds."""
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[at]}"))
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        task = bar.add_task("sweeping", total=None, at="compiling")
        last = time.perf_counter()

        def progress(standing: Standing) -> None:
            nonlocal last
            at = standing_words(standing)
            bar.update(task, total=standing.total, completed=standing.done, at=at)
            now = time.perf_counter()
            if not err.is_terminal and now - last > 10.0:
                note(f"sweeping: {at}")
                last = now

        yield progress


def standing_words(standing: Standing) -> str:
    """12 345 of 40 000 robots, 5 120 robots/s, 0:00:05 left"""
    words = f"{grouped(standing.done)} of {counted(standing.total, 'robot')}"
    if standing.rate > 0:
        words += (
            f", {grouped(standing.rate) if standing.rate >= 10 else f'{standing.rate:.2g}'}"
            " robots/s"
        )
    if standing.left < 1e7:
        words += f", {datetime.timedelta(seconds=round(standing.left))} left"
    return words


def _finish(opened: OpenedSweep, request: SweepRequest, report: SweepReport, began: float) -> int:
    folder, manifest, experiment = opened.folder, opened.manifest, opened.experiment
    digest = digest_sweep(open_sweep(folder), experiment.about.success)
    picture = _picture(folder, request, experiment) if request.plots else None
    summary = {
        **_summary(folder, manifest, digest, report, request.workers),
        "seconds_in_all": time.perf_counter() - began,
    }
    text = json.dumps(summary, indent=2, allow_nan=False) + "\n"
    write_aside(folder / "summary.json", lambda aside: aside.write_text(text, encoding="utf-8"))
    if request.as_json:
        print(
            json.dumps({**summary, "picture": str(picture) if picture else None}, allow_nan=False),
            flush=True,
        )
    else:
        out.print(sweep_table(summary, experiment, manifest))
        if alone := run_alone(summary):
            out.print("\n[bold]Try next[/]")
            out.print(f"  {alone}", markup=False, soft_wrap=True)
    note(f"sweep folder: {folder}")
    note(
        f"data:         {folder / 'shards'}/*.parquet ({manifest.shards}"
        f" file{'s' if manifest.shards > 1 else ''})"
    )
    if picture:
        note(f"picture:      {picture}")
    return 3 if digest.doubtful and not request.accept_doubt else 0


def _picture(folder: Path, request: SweepRequest, experiment: Experiment) -> Path | None:
    """Draw it. What cannot be drawn is said, but the sweep is complete all the same."""
    if not can_draw("picture"):
        return None
    from footfall.pictures.style import style_of
    from footfall.pictures.sweep_plots import write_sweep_plot

    title = experiment.about.title or experiment.name
    try:
        with err.status("drawing", spinner="dots"):
            return write_sweep_plot(
                folder, request.metric, experiment.about.success, title, style_of(request.style)
            )
    except (ScenarioError, SweepError) as error:
        note(f"no picture: {error}")
        return None


def _summary(
    folder: Path, manifest: Manifest, digest: Digest, report: SweepReport, workers: int | None
) -> dict:
    """One JSON object: what was swept, what came out, what ran."""
    plan, ladder = manifest.plan, manifest.step_ladder()
    return {
        "scenario": manifest.name,
        "folder": str(folder),
        **digest.to_dict(),
        "duration": plan["duration"],
        "step": plan["step"] if ladder is None else ladder.step,
        "planned": (
            bool(report.paths) and all(path.startswith("along the plan") for path in report.paths)
        ),
        "rtol": plan.get("rtol"),
        "step_source": manifest.step_source,
        "method": plan["method"],
        "precision": plan["precision"],
        "paths": list(report.paths),
        "workers": workers,
        "notes": list(report.notes),
        "shards": manifest.shards,
        "computed_now": report.computed,
        "found": report.found,
        "recomputed": [{"shard": number, "why": why} for number, why in report.mended],
        "seconds": report.seconds,
        "robots_per_second": report.computed / report.seconds if report.computed else None,
    }
