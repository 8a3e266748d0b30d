"""Drive a sweep to its end: here, or on any `concurrent.futures.Executor`."""

import concurrent.futures
import dataclasses
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from pathlib import Path

from footfall.sweep.dispatch import run_on
from footfall.sweep.evaluate import Means, ShardReport, Workshop, compute_shard, keep_shard
from footfall.sweep.files import locked, remove_leftovers
from footfall.sweep.manifest import Manifest, OpenedSweep, open_folder
from footfall.sweep.meter import Meter, Progress
from footfall.sweep.shards import CHECKSUMS, FOLDER, ShardState, examine_shard


@dataclasses.dataclass(frozen=True)
class SweepReport:
    """What a session of a sweep did."""

    computed: int  #: designs simulated in this session
    found: int  #: designs that were there already
    mended: tuple[tuple[int, str], ...]  #: shards that were there but bad, and why
    seconds: float
    paths: tuple[str, ...]
    notes: tuple[str, ...]


def run_sweep(
    sweep: Path | OpenedSweep,
    *,
    executor: Executor | Callable[[], Executor] | None = None,
    threads: int | None = None,
    path: str | None = None,
    progress: Progress | None = None,
) -> SweepReport:
    """Compute every shard of the sweep in a folder that is missing or bad.

    Those that are good are left alone.

    Without an executor the work is done here, with all cores. `executor` may be a function that
    makes one: then a pool that breaks because a worker was killed is made anew and its work given
    out again. `threads` is what each task may use; `path` may differ from the one the sweep began
    with (kernels agree to rounding).
    """
    opened = open_folder(sweep.resolve()) if isinstance(sweep, Path) else sweep
    folder = opened.folder.resolve()  # workers may stand elsewhere
    workshop = Workshop.of(dataclasses.replace(opened, folder=folder))
    manifest, began = workshop.sweep.manifest, time.perf_counter()
    with locked(folder):
        (folder / FOLDER).mkdir(exist_ok=True)
        for place in (folder, folder / FOLDER, folder / CHECKSUMS):
            remove_leftovers(place)
        missing, mended, earlier = _survey(folder, manifest)
        found = manifest.count - sum(_rows(manifest, number) for number in missing)
        meter = Meter(manifest.count, found, progress)
        work = (workshop, missing, Means(threads, path), meter)
        reports = _run_here(*work) if executor is None else run_on(executor, *work)
    paths = earlier[0] + [path for report in reports for path in report.paths]
    notes = earlier[1] + [note for report in reports for note in report.notes]
    return SweepReport(
        computed=sum(report.rows for report in reports),
        found=found,
        mended=mended,
        seconds=time.perf_counter() - began,
        paths=tuple(dict.fromkeys(paths)),
        notes=tuple(dict.fromkeys(notes)),
    )


def _rows(manifest: Manifest, number: int) -> int:
    first, last = manifest.span(number)
    return last - first


def _survey(
    folder: Path, manifest: Manifest
) -> tuple[list[int], tuple[tuple[int, str], ...], tuple[list[str], list[str]]]:
    """Shards to compute, those of them that are there but bad, and what the good ones say ran."""
    missing, mended, paths, notes = [], [], [], []

    def examined(number: int) -> ShardState:
        return examine_shard(folder, manifest.id, number, _rows(manifest, number))

    with concurrent.futures.ThreadPoolExecutor(4) as readers:
        for number, state in enumerate(readers.map(examined, range(manifest.shards))):
            if state.fault:
                missing.append(number)
                if state.there:
                    mended.append((number, state.fault))
            paths += state.paths
            notes += state.notes
    return missing, tuple(mended), (paths, notes)


def _run_here(
    workshop: Workshop, missing: list[int], means: Means, meter: Meter
) -> list[ShardReport]:
    """In this process. A shard is written while the next one is computed."""
    reports: list[ShardReport] = []
    with concurrent.futures.ThreadPoolExecutor(1, thread_name_prefix="shard-writer") as writer:
        writing: Future | None = None
        for number in missing:
            began = time.perf_counter()
            rows = _rows(workshop.sweep.manifest, number)
            shard = compute_shard(
                workshop, number, means, lambda f, rows=rows: meter.part(f * rows)
            )
            if writing is not None:
                reports.append(writing.result())
            writing = writer.submit(keep_shard, workshop, shard, time.perf_counter() - began)
            meter.add(rows)
        if writing is not None:
            reports.append(writing.result())
    return reports
