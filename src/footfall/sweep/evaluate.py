"""One shard's work: what a worker is asked to do, wherever it runs.

A task is a folder, the sweep's id and a shard's number: everything else a worker reads from the
folder, and it writes the shard there itself. Results never travel, only a small report does. So
every worker needs the sweep's folder at the same path (a shared file system) and footfall
installed.
"""

import dataclasses
import functools
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from footfall.scenario.trust import accepting
from footfall.sweep.batches import Variants, run_designs
from footfall.sweep.designs import Grid
from footfall.sweep.errors import SweepError
from footfall.sweep.manifest import OpenedSweep, open_folder, read_manifest
from footfall.sweep.shards import ShardTable, write_shard


class ShardReport(NamedTuple):
    """What a worker says of a shard it has written."""

    number: int
    rows: int
    outcomes: dict[str, int]
    seconds: float
    paths: tuple[str, ...]
    notes: tuple[str, ...]


class Workshop(NamedTuple):
    """An opened sweep with the robots its designs need."""

    sweep: OpenedSweep
    variants: Variants

    @classmethod
    def of(cls, sweep: OpenedSweep) -> "Workshop":
        structural = tuple(axis.key for axis in sweep.designs.axes if axis.structural)
        return cls(sweep, Variants(sweep.experiment, structural))


class Means(NamedTuple):
    """What a task may use; it decides how fast results come, not what they are."""

    threads: int | None = None  #: None: all cores
    path: str | None = None  #: None: what the manifest says


def evaluate_shard(folder: str, sweep_id: str, number: int, means: Means) -> ShardReport:
    """Compute one shard and write it.

    Doing it twice does no harm: the second file is the first one again.
    """
    began = time.perf_counter()
    workshop = _workshop(folder, sweep_id)
    return keep_shard(workshop, compute_shard(workshop, number, means), time.perf_counter() - began)


def compute_shard(
    workshop: Workshop, number: int, means: Means, progress: Callable[[float], None] | None = None
) -> ShardTable:
    """Simulate the designs of one shard."""
    sweep, manifest = workshop.sweep, workshop.sweep.manifest
    first, last = manifest.span(number)
    columns, plan = sweep.designs.columns(first, last), manifest.batch_plan()
    results = run_designs(
        workshop.variants,
        columns,
        plan if means.path is None else dataclasses.replace(plan, path=means.path),
        manifest.step_ladder(),
        first=first,
        expected=manifest.columns,
        threads=means.threads,
        progress=progress,
    )
    for key in columns:
        if key in results.columns or key == "design":
            raise SweepError(
                f'the key "{key}" has the name of a result; write more of its path, such as'
                f" robot.{key}."
            )
    units = {axis.key: axis.unit for axis in sweep.designs.axes} | results.units
    table = {"design": np.arange(first, last, dtype=np.int64), **columns, **results.columns}
    repetitive = sweep.designs.keys if isinstance(sweep.designs, Grid) else ()
    docs = {"design": "number of the design"} | results.docs
    return ShardTable(number, table, units, docs, results.paths, results.notes, repetitive)


def keep_shard(workshop: Workshop, shard: ShardTable, seconds: float) -> ShardReport:
    """Write a computed shard and report on it."""
    write_shard(workshop.sweep.folder, workshop.sweep.manifest.id, shard)
    words, counts = np.unique(shard.columns["outcome"].astype(str), return_counts=True)
    outcomes = {str(word): int(n) for word, n in zip(words, counts, strict=True)}
    return ShardReport(shard.number, shard.rows, outcomes, seconds, shard.paths, shard.notes)


@functools.lru_cache(maxsize=2)
def _workshop(folder: str, sweep_id: str) -> Workshop:
    """Kept between shards: a worker loads the scenario once."""
    manifest = read_manifest(Path(folder))
    if manifest.id != sweep_id:
        raise SweepError(
            f"{folder} holds another sweep than the one this worker was asked to work on."
        )
    # By the order of the process that began or resumed the sweep, which may run it.
    with accepting(manifest.files.values()):
        return Workshop.of(open_folder(Path(folder)))
