"""Start a sweep: check all of it, choose its step, make its folder."""

import dataclasses
import math
import shutil
from pathlib import Path

import jax

from footfall.scenario.load import Experiment
from footfall.sim.batch import ChosenStep
from footfall.sim.batch_plan import BatchPlan
from footfall.sweep.batches import Variants, check_designs, require_step_fits, result_columns, smallest_step
from footfall.sweep.design_file import write_designs
from footfall.sweep.designs import Designs, Table
from footfall.sweep.errors import SweepError
from footfall.sweep.files import locked
from footfall.sweep.manifest import NAME, Manifest, describe_sweep, write_manifest
from footfall.sweep.shards import FOLDER

PROBES = 64
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
) -> Manifest:
    """Check every design, choose the step where none is given, and only then make the folder and its manifest."""
    require_free(folder, force=force)
    shard_size = shard_size or default_shard_size(designs.count, plan.path)
    variants = Variants(experiment, tuple(axis.key for axis in designs.axes if axis.structural))
    for first in range(0, designs.count, CHECKED_AT_ONCE):
        check_designs(variants, designs.columns(first, min(first + CHECKED_AT_ONCE, designs.count)), first)
    probes = designs.probes(PROBES)
    few, source = designs.at(probes), "given"
    if plan.step is None:
        chosen = smallest_step(variants, few, plan)
        plan, source = dataclasses.replace(plan, step=chosen.step), chosen_words(chosen, len(probes))
    require_step_fits(variants, few, plan)
    columns = result_columns(variants, few, plan) if len(variants.seen) > 1 else {}
    manifest = describe_sweep(experiment, designs, plan, shard_size, source, columns)
    require_free(folder, force=force)
    try:
        if folder.exists():
            with locked(folder):
                shutil.rmtree(folder)
        (folder / FOLDER).mkdir(parents=True)
    except OSError as error:
        raise SweepError(f"{folder} could not be made: {error.strerror}.") from None
    if isinstance(designs, Table):
        write_designs(designs, folder)
    write_manifest(folder, manifest, experiment)
    return manifest


def default_shard_size(count: int, path: str = "auto", workers: int = 1) -> int:
    """Designs per shard: enough to keep the device busy, few enough that a kill loses little and every worker gets some."""
    gpu = path == "gpu" or (path == "auto" and jax.default_backend() == "gpu")
    size = GPU_SHARD_SIZE if gpu else SHARD_SIZE
    if workers > 1:
        size = max(LEAST_SHARD_SIZE, min(size, -(-count // (4 * workers))))
    shards = -(-count // size)
    return -(-count // shards)  # all alike: none is small and slow


def chosen_words(chosen: ChosenStep, probes: int) -> str:
    """How a step was chosen, for the summary."""
    if not math.isfinite(chosen.error):
        return f"not tested: none of {probes} designs reached the end"
    return f"chosen from {probes} designs: state error {chosen.error:.1e} after {chosen.time:g} s"


def require_free(folder: Path, *, force: bool) -> None:
    """Fail before the work: nothing that is there is overwritten unasked, and nothing but a sweep even when asked."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise SweepError(f"{folder} is a file, not a folder.")
    if not force:
        again = " Go on with it with --resume," if (folder / NAME).exists() else ""
        raise SweepError(f"{folder} exists already.{again} Choose another folder with --out, or overwrite it with --force.")
    if any(folder.iterdir()) and not (folder / NAME).exists():
        raise SweepError(f"{folder} is not a sweep; --force will not delete it. Choose another with --out.")
