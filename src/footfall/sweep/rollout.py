"""rollout(experiment, vary=...) -> xarray.Dataset: a sweep in memory."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from footfall.hybrid.outcome import Outcome
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import Experiment
from footfall.scenario.vary import Columns, Knob, find_knob, require_common_length
from footfall.sim.batch_plan import BatchPlan
from footfall.sweep.batches import Results, Variants, require_step_fits, run_designs, smallest_step
from footfall.sweep.designs import Axis, Grid
from footfall.sweep.plan_sweep import plan_of, require_gpu, require_tracks


def rollout(
    experiment: Experiment,
    vary: Mapping[str, Sequence[Any] | np.ndarray] | None = None,
    *,
    designs: Mapping[str, Sequence[Any] | np.ndarray] | None = None,
    duration: float | None = None,
    step: float | None = None,
    method: str = "rk4",
    precision: str = "float64",
    track: Sequence[str] = (),
    path: str = "auto",
    progress: Callable[[float], None] | None = None,
) -> Any:
    """Simulate many designs of one experiment at once and return their metrics as an `xarray.Dataset`.

    `vary` gives values by key path, in SI ({"leg.stiffness": np.geomspace(8e3, 4e4, 50), "leg": ["spring", "stiffening"]}): every
    combination is run, with one dimension per key. `designs` gives columns of equal length instead: one dimension "design".
    Without a `step` one is chosen by accuracy. `progress` is told the fraction done. Outcomes are codes, named in their attributes.
    """
    if (vary is None) == (designs is None):
        raise ScenarioError("rollout needs either `vary` (every combination) or `designs` (columns of equal length).")
    given = {key: np.atleast_1d(np.asarray(values)) for key, values in (vary or designs or {}).items()}
    knobs = {key: find_knob(experiment, key, f'"{key}"') for key in given}
    for key, values in given.items():
        _require_fit(knobs[key], values)
    columns, shape = (_grid(given, knobs), tuple(len(v) for v in given.values())) if vary is not None else (given, None)
    require_common_length(columns)
    variants = Variants(experiment, tuple(key for key, knob in knobs.items() if knob.structural))
    plan = plan_of(experiment, duration=duration, step=step, method=method, precision=precision, track=tuple(track), path=path)
    require_tracks(experiment, plan.track)
    if plan.path == "gpu":
        require_gpu()
    if plan.step is None:
        count = len(next(iter(columns.values())))
        probes = np.unique(np.linspace(0, count - 1, min(64, count)).round().astype(int))
        plan = dataclasses.replace(plan, step=smallest_step(variants, {k: v[probes] for k, v in columns.items()}, plan).step)
    require_step_fits(variants, columns, plan)
    results = run_designs(variants, columns, plan, progress=progress)
    return _dataset(experiment, given, knobs, results, plan, shape)


def _require_fit(knob: Knob, values: np.ndarray) -> None:
    if values.ndim != 1 or not len(values):
        raise ScenarioError(f'"{knob.name}": expected a row of values, got an array of shape {values.shape}.')
    if knob.number and values.dtype.kind not in "iuf":
        raise ScenarioError(f'"{knob.name}": expected numbers{f" in {knob.unit}" if knob.unit else ""}, got {values[0]!r}.')


def _grid(given: Columns, knobs: Mapping[str, Knob]) -> Columns:
    axes = tuple(Axis(key, ".".join(knobs[key].path), values=tuple(v.tolist())) for key, v in given.items())
    grid = Grid(axes)
    return grid.columns(0, grid.count)


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
        raise ScenarioError('rollout needs xarray. Install it with: pip install "footfall[tables]".') from None

    dims = tuple(given) if shape is not None else ("design",)
    coords = {}
    for key, values in given.items():
        info = knobs[key].info
        coords[key] = ((key,) if shape is not None else ("design",), values, {"units": info.unit, "long_name": info.doc})
    variables = {}
    for name, values in results.columns.items():
        notes: dict[str, Any] = {"units": results.units.get(name, ""), "long_name": results.docs.get(name, name)}
        if name == "outcome":
            notes |= {"flag_values": [o.value for o in Outcome], "flag_meanings": " ".join(o.name for o in Outcome)}
        variables[name] = (dims, values.reshape(shape) if shape is not None else values, notes)
    notes = {
        "scenario": experiment.name,
        "resolved_scenario": experiment.to_toml(),
        "path": "; ".join(results.paths),
        "notes": list(results.notes),
        **{k: v for k, v in dataclasses.asdict(plan).items() if k in ("duration", "step", "method", "precision")},
    }
    return xr.Dataset(variables, coords, notes)
