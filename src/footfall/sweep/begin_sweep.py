"""Start a sweep: check all of it, choose its step, make its folder."""

import math
import shutil
from collections.abc import Callable
from pathlib import Path

import jax

from footfall.engines.lanes.batch_plan import BatchPlan
from footfall.engines.lanes.step_ladder import PROBES, StepLadder
from footfall.scenario.load import Experiment
from footfall.sweep.batches import (
    Variants,
    check_designs,
    require_step_fits,
    result_columns,
    step_ladder,
)
from footfall.sweep.design_file import write_designs
from footfall.sweep.designs import Designs, Table
from footfall.sweep.errors import SweepError
from footfall.sweep.files import locked
from footfall.sweep.manifest import NAME, OpenedSweep, describe_sweep, read_manifest, write_manifest
from footfall.sweep.plan_sweep import no_cpp, require_metric
from footfall.sweep.shards import FOLDER
from footfall.sweep.words import counted

CHECKED_AT_ONCE = 2**18
#: A few seconds of work for two cores, and for a GPU, which wants many robots at once.
SHARD_SIZE, GPU_SHARD_SIZE, LEAST_SHARD_SIZE = 2**14, 2**20, 2**10


def begin_sweep(
    folder: Path,
    experiment: Experiment,
    designs: Designs,
    plan: BatchPlan,
    *,
    shard_size: int | None = None,
    force: bool = False,
    metric: str | None = None,
    before_writing: Callable[[], None] = lambda: None,
) -> OpenedSweep:
    """Check every design, then make the folder of a sweep and its manifest.

    In between the steps are chosen, where none is given.

    `metric` is what the picture will show, if it is known: there must be such a result.
    `before_writing` is called between the checks and the folder, which is not to be left half made.
    """
    shard_size = shard_size or default_shard_size(designs.count, plan.path)
    variants = Variants(experiment, tuple(axis.key for axis in designs.axes if axis.structural))
    for first in range(0, designs.count, CHECKED_AT_ONCE):
        check_designs(
            variants, designs.columns(first, min(first + CHECKED_AT_ONCE, designs.count)), first
        )
    probes = designs.probes(PROBES)
    few, source, columns, ladder = designs.at(probes), "given", {}, None
    if plan.step is not None:
        require_step_fits(variants, few, plan)
    if len(variants.seen) > 1 or metric is not None or plan.path == "cpp":
        found, notes = result_columns(variants, few, plan)
        if plan.path == "cpp" and notes:
            raise no_cpp("; ".join(notes))
        if metric is not None:
            require_metric(experiment, metric, list(found))
        columns = found if len(variants.seen) > 1 else {}
    require_free(folder, force=force)
    if plan.rtol is not None:
        source = f"by rtol {plan.rtol:g}"
    if plan.needs_steps:
        ladder = step_ladder(variants, few, plan)
        source = "" if ladder is None else chosen_words(ladder)
    manifest = describe_sweep(experiment, designs, plan, shard_size, source, columns, ladder)
    require_free(folder, force=force)
    before_writing()
    try:
        if folder.exists() and any(folder.iterdir()):
            with locked(folder):
                shutil.rmtree(folder)
        (folder / FOLDER).mkdir(parents=True)
    except OSError as error:
        raise SweepError(f"{folder} could not be made: {error.strerror or error}.") from None
    try:
        if isinstance(designs, Table):
            write_designs(designs, folder)
        write_manifest(folder, manifest, experiment)
        read_manifest(folder)  # what cannot be read again must not be begun
    except BaseException:
        # A folder without a manifest is nothing that --resume or --force would take.
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return OpenedSweep(folder, manifest, experiment, designs)


def default_shard_size(count: int, path: str = "auto", workers: int = 1) -> int:
    """Designs per shard.

    Enough to keep the device busy, few enough that a kill loses little and every worker gets some.
    """
    gpu = path == "gpu" or (path == "auto" and jax.default_backend() == "gpu")
    size = GPU_SHARD_SIZE if gpu else SHARD_SIZE
    if workers > 1:
        size = max(LEAST_SHARD_SIZE, min(size, -(-count // (4 * workers))))
    shards = -(-count // size)
    return -(-count // shards)  # all alike: none is small and slow


def chosen_words(ladder: StepLadder) -> str:
    """How the steps were chosen, for the summary."""
    if not ladder.probes:
        return "the scenario's, halved where it is not stable or not accurate"
    probes = counted(ladder.probes, "design")
    if not math.isfinite(ladder.error):
        return f"chosen from {probes}, which end otherwise at half of it"
    return f"chosen from {probes}: state error {ladder.error:.1e} after {ladder.time:g} s"


def require_free(folder: Path, *, force: bool) -> None:
    """Fail before the work.

    Nothing that is there is overwritten unasked, and nothing but a sweep even when asked.
    """
    if not folder.exists():
        return
    if not folder.is_dir():
        raise SweepError(f"{folder} is a file, not a folder.")
    if not any(folder.iterdir()):
        return
    if not (folder / NAME).exists():
        kept = "; --force will not delete it" if force else ""
        raise SweepError(
            f"{folder} exists already and is not a sweep{kept}. Choose another folder with --out."
        )
    if not force:
        raise SweepError(
            f"{folder} exists already. Go on with it with --resume, choose another folder with"
            " --out, or overwrite it with --force."
        )
