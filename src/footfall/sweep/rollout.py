"""rollout(experiment, vary=...) -> xarray.Dataset: a sweep in memory."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from footfall.engines.lanes.batch_plan import BatchPlan
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import Experiment, require_flow, seconds
from footfall.scenario.vary import Columns, Knob, find_knob, require_common_length
from footfall.sweep.batches import Results, Variants, require_step_fits, run_designs, step_ladder
from footfall.sweep.begin_sweep import begin_sweep
from footfall.sweep.designs import Axis, Designs, Grid, Table
from footfall.sweep.errors import SweepError
from footfall.sweep.manifest import describe_sweep, open_folder
from footfall.sweep.parse import to_number
from footfall.sweep.plan_sweep import plan_of, require_compiler, require_gpu, require_tracks
from footfall.sweep.read_back import Sweep, open_sweep
from footfall.sweep.run_sweep import run_sweep
from footfall.sweep.shards import digest


def rollout(
    experiment: Experiment,
    vary: Mapping[str, Sequence[Any] | np.ndarray] | None = None,
    *,
    designs: Any = None,
    duration: float | str | None = None,
    step: float | str | None = None,
    rtol: float | None = None,
    method: str | None = None,
    precision: str = "float64",
    track: Sequence[str] = (),
    path: str = "auto",
    folder: str | Path | None = None,
    progress: Callable[[float], None] | None = None,
) -> Any:
    """Simulate many designs of one experiment at once.

    Their metrics come back as an `xarray.Dataset`.

    Arguments:
        experiment: as `ff.load` gives it.
        vary: values by key path, in SI or with units ({"leg.stiffness": np.geomspace(8e3, 4e4, 50),
            "leg": ["spring", "stiffening"]}): every combination is run, with one dimension per key.
        designs: columns of equal length instead (a dictionary or a pandas data frame): one
            dimension "design".
        duration, step, method: without them the scenario's, and each design has a step that is
            stable and accurate for it (`data.time_step`; where the scenario has a `sim.batch_step`
            it is the longest); what a shorter step could overturn is run again with it. A step that
            you give is kept.
        rtol: tolerance instead of steps, such as 1e-8: every design chooses its own steps, all the
            way (`data.time_step` is their mean).
        precision, path: "float64" or "float32"; "auto", "cpp", "xla" or "gpu".
        track: outputs whose least, greatest and mean values are kept.
        progress: is told the fraction done.
        folder: where to keep the designs as `footfall sweep` does; the same call goes on where one
            was cut off.

    Returns a dataset with units and meanings. Outcomes and verdicts are words:
    `data.mean_speed.where(data.verdict == "sound")`. With a folder it returns the `Sweep` in it,
    which need not fit into memory (`ff.open_sweep` opens it again).

    >>> import footfall as ff
    >>> found = ff.rollout(ff.load("passive-wheel"), {"terrain.angle": [0.08, 0.1]}, duration=4)
    >>> found["mean_speed"].dims, [round(v, 3) for v in found["mean_speed"].values.tolist()]
    (('terrain.angle',), [0.64, 0.745])
    """
    if isinstance(experiment, str):
        raise ScenarioError(
            f'"{experiment}" is a name, not an experiment. Load it first:'
            f' ff.rollout(ff.load("{experiment}"), ...).'
        )
    if not isinstance(experiment, Experiment):
        raise ScenarioError(
            f"rollout takes an experiment, as ff.load gives it, not {type(experiment).__name__}."
        )
    require_flow(experiment, "a rollout")
    if (vary is None) == (designs is None):
        raise ScenarioError(
            "rollout needs either `vary` (every combination) or `designs` (columns of equal"
            " length)."
        )
    asked = _by_key(vary, "vary") if vary is not None else _by_key(designs, "designs")
    knobs = {key: find_knob(experiment, key, f'"{key}"') for key in asked}
    given = {key: _column(knobs[key], values) for key, values in asked.items()}
    rows = _table(given, knobs) if vary is None else _grid(given, knobs)
    columns, shape = (
        rows.columns(0, rows.count),
        tuple(len(v) for v in given.values()) if vary is not None else None,
    )
    variants = Variants(experiment, tuple(key for key, knob in knobs.items() if knob.structural))
    times = {"duration": seconds("duration", duration), "step": seconds("step", step)}
    how = {"method": method, "precision": precision, "track": track, "path": path}
    plan = plan_of(experiment, **times, rtol=rtol, **how)
    require_tracks(experiment, plan.track)
    if plan.path == "gpu":
        require_gpu()
    if plan.path == "cpp":
        require_compiler()
    if folder is not None:
        return _kept(Path(folder), experiment, rows, plan, progress)
    ladder = None
    if plan.needs_steps:
        count = len(next(iter(columns.values())))
        probes = np.unique(np.linspace(0, count - 1, min(64, count)).round().astype(int))
        ladder = step_ladder(variants, {k: v[probes] for k, v in columns.items()}, plan)
    elif plan.step is not None:
        require_step_fits(variants, columns, plan)
    results = run_designs(variants, columns, plan, ladder, progress=progress)
    step = plan.step if ladder is None else ladder.step
    return _dataset(experiment, given, knobs, results, dataclasses.replace(plan, step=step), shape)


def _by_key(said: Any, name: str) -> dict[str, Any]:
    """Values by key, of a dictionary or a data frame."""
    if not (hasattr(said, "keys") and hasattr(said, "items")):
        raise ScenarioError(
            f'{name} is a dictionary from keys to values, such as {{"leg.stiffness": [1e4, 2e4]}},'
            f" not {type(said).__name__}."
        )
    found = dict(said.items())
    if not found:
        raise ScenarioError(
            f'{name} is empty: name a key and its values, such as {{"leg.stiffness": [1e4, 2e4]}}.'
        )
    for key in found:
        if not isinstance(key, str):
            raise ScenarioError(
                f'{name}: {key!r} is not a key; keys are words such as "leg.stiffness".'
            )
    return found


def _column(knob: Knob, said: Any) -> np.ndarray:
    """What was given for a key as an array: numbers in SI, or words."""
    where = f'"{knob.name}"'
    try:
        values = np.atleast_1d(np.asarray(said))
    except ValueError:
        raise ScenarioError(
            f"{where}: expected a row of values, got rows of different lengths."
        ) from None
    if not values.size:
        raise ScenarioError(f"{where} is empty: give at least one value.")
    if values.ndim != 1:
        raise ScenarioError(
            f"{where}: expected a row of values, got an array of shape {values.shape}."
        )
    if not knob.number or (knob.optional and knob.structural and "auto" in values.tolist()):
        return values.astype(str)
    if values.dtype.kind in "OU":
        values = np.array([_number(knob, value, where) for value in values.tolist()])
    if values.dtype.kind not in "iuf":
        raise ScenarioError(
            f"{where}: expected numbers{f' in {knob.unit}' if knob.unit else ''}, got"
            f" {values[0]!r}."
        )
    if not np.all(np.isfinite(values)):
        raise ScenarioError(
            f"{where}: every value must be finite, but there is {values[~np.isfinite(values)][0]}"
            " among them."
        )
    return (
        values.astype(np.int64)
        if knob.structural and np.all(values == np.floor(values))
        else values
    )


def _number(knob: Knob, value: Any, where: str) -> float:
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        raise ScenarioError(
            f"{where}: expected numbers{f' in {knob.unit}' if knob.unit else ''}, got {value!r}."
        )
    return to_number(knob, value, where)


def _grid(given: Columns, knobs: Mapping[str, Knob]) -> Grid:
    return Grid(tuple(_axis(knobs[key], key, values=tuple(v.tolist())) for key, v in given.items()))


def _table(given: Columns, knobs: Mapping[str, Knob]) -> Table:
    require_common_length(given)
    return Table(tuple(_axis(knobs[key], key) for key in given), given, digest(given))


def _axis(knob: Knob, key: str, **more: Any) -> Axis:
    return Axis(key, ".".join(knob.path), knob.unit, structural=knob.structural, **more)


def _kept(
    folder: Path,
    experiment: Experiment,
    designs: Designs,
    plan: BatchPlan,
    progress: Callable[[float], None] | None,
) -> Sweep:
    """The sweep in the folder, begun or gone on with, when it is whole."""
    if folder.exists():
        sweep = open_folder(folder)
        then = sweep.manifest
        asked = dataclasses.replace(
            plan, step=then.batch_plan().step if plan.needs_steps else plan.step
        )
        wanted = describe_sweep(experiment, designs, asked, then.shard_size, then.step_source)
        if differences := then.differences(wanted):
            said = "\n".join(f"  {line}" for line in differences)
            raise SweepError(
                f"{folder} is another sweep than the one asked for:\n{said}\n  Choose another"
                " folder."
            )
    else:
        sweep = begin_sweep(folder, experiment, designs, plan)
    run_sweep(
        sweep,
        progress=None if progress is None else lambda now: progress(now.done / max(now.total, 1)),
    )
    return open_sweep(folder)


def _dataset(
    experiment: Experiment,
    given: Columns,
    knobs: Mapping[str, Knob],
    results: Results,
    plan: BatchPlan,
    shape: tuple[int, ...] | None,
) -> Any:
    try:
        import xarray as xr
    except ImportError:
        raise ScenarioError(
            'rollout needs xarray. Install it with: pip install "footfall[tables]".'
        ) from None

    dims = tuple(given) if shape is not None else ("design",)
    coords = {}
    for key, values in given.items():
        info = knobs[key].info
        coords[key] = (
            (key,) if shape is not None else ("design",),
            values,
            _notes(key, info.unit, info.doc),
        )
    variables = {}
    for name, values in results.columns.items():
        notes = _notes(
            name.replace("_", " "), results.units.get(name, ""), results.docs.get(name, "")
        )
        values = values.astype(str) if values.dtype.kind == "O" else values
        variables[name] = (dims, values.reshape(shape) if shape is not None else values, notes)
    notes = {
        "scenario": experiment.name,
        "resolved_scenario": experiment.to_toml(),
        "path": "; ".join(results.paths),
        "notes": list(results.notes),
        **{
            k: v
            for k, v in dataclasses.asdict(plan).items()
            if k in ("duration", "step", "rtol", "method", "precision")
        },
    }
    return xr.Dataset(variables, coords, notes)


def _notes(name: str, unit: str, doc: str) -> dict[str, Any]:
    """Attributes of a variable.

    xarray labels axes with the first two, and would print an empty unit as [].
    """
    return (
        {"long_name": name}
        | ({"units": unit} if unit else {})
        | ({"description": doc} if doc else {})
    )
