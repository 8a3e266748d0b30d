"""Designs -> results: one batch per structure, put back into the order of the designs."""

import dataclasses
from collections.abc import Callable, Iterator

import jax
import numpy as np

from footfall.engines.lanes.batch import BatchResult
from footfall.engines.lanes.batch_inputs import timing
from footfall.engines.lanes.batch_plan import BatchPlan
from footfall.engines.lanes.checked_batch import run_checked
from footfall.engines.lanes.step_ladder import StepLadder, choose_steps, first_step, joined
from footfall.hybrid.doubt import DOUBTS
from footfall.hybrid.outcome import Outcome
from footfall.record.verdict import verdict_words
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import Experiment, with_settings
from footfall.scenario.vary import Columns, batched

Fraction = Callable[[float], None]
#: What the columns of words mean.
WORDS = {
    "outcome": "how the run ended",
    "verdict": "whether to believe it: sound, or the reasons against: " + ", ".join(DOUBTS),
}


@dataclasses.dataclass(frozen=True)
class Results:
    """Per design, in the order they were asked for."""

    columns: dict[str, np.ndarray]
    units: dict[str, str]
    docs: dict[str, str]
    paths: tuple[str, ...]  #: what ran; more than one only when batches went different ways
    notes: tuple[str, ...]


class Variants:
    """The experiment of each structure among the designs, loaded once."""

    def __init__(self, experiment: Experiment, structural: tuple[str, ...]):
        self.experiment, self.structural = experiment, structural
        self._loaded: dict[tuple[str, ...], Experiment] = {}
        if not structural:
            self._loaded[()] = experiment

    @property
    def seen(self) -> list[Experiment]:
        """The experiments of all structures met so far."""
        return list(self._loaded.values())

    def groups(self, columns: Columns) -> Iterator[tuple[Experiment, np.ndarray, Columns]]:
        """(experiment, rows, numeric columns of these rows) of each structure.

        In the order they first appear.
        """
        rows_all = np.arange(len(next(iter(columns.values()))))
        numeric = {key: np.asarray(v) for key, v in columns.items() if key not in self.structural}
        words = {key: np.asarray(columns[key]).astype(str) for key in self.structural}
        code = np.zeros(len(rows_all), dtype=np.int64)
        for values in words.values():
            different, place = np.unique(values, return_inverse=True)
            code = code * len(different) + place
        codes, first = np.unique(code, return_index=True)
        for one in codes[np.argsort(first)]:
            rows = np.flatnonzero(code == one) if len(codes) > 1 else rows_all
            settings = tuple(f"{key}={values[rows[0]]}" for key, values in words.items())
            yield (
                self._experiment(settings),
                rows,
                {k: v[rows] for k, v in numeric.items()} if len(codes) > 1 else numeric,
            )

    def _experiment(self, settings: tuple[str, ...]) -> Experiment:
        if settings not in self._loaded:
            self._loaded[settings] = with_settings(self.experiment, settings)
        return self._loaded[settings]


def check_designs(variants: Variants, columns: Columns, first: int) -> None:
    """Raise for a design that is out of bounds or cannot start. Nothing is simulated."""
    for experiment, rows, numeric in variants.groups(columns):
        batched(experiment, numeric, rows + first)


def step_ladder(variants: Variants, columns: Columns, plan: BatchPlan) -> StepLadder | None:
    """Steps for designs like these, whatever their structure.

    None for motion plans, which are not stepped through.
    """
    groups = [
        (experiment, _laned(experiment, numeric, len(rows)))
        for experiment, rows, numeric in variants.groups(columns)
        if "step" in experiment.system.engines
    ]
    if not groups:
        return None
    first = min(first_step(experiment.system, plan) for experiment, _ in groups)
    require_step_fits(variants, columns, dataclasses.replace(plan, step=first))
    return joined([choose_steps(*batch, plan, first) for _, batch in groups])


def require_step_fits(variants: Variants, columns: Columns, plan: BatchPlan) -> None:
    """The step must divide the duration and every robot's control period."""
    for experiment, _, _ in variants.groups(columns):
        try:
            timing(experiment.system, plan.duration, plan.step or plan.duration)
        except ValueError as error:
            raise ScenarioError(f"step: {error}") from None


def result_columns(
    variants: Variants, columns: Columns, plan: BatchPlan
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Name -> type of all result columns of all structures seen so far.

    Every shard then has the same, in the same order.

    And why they cannot run as the plan says, where they cannot. Found by a moment of simulation.
    `columns` are those the step is chosen from: that size is compiled once.
    """
    found: dict[str, str] = {}
    notes: list[str] = []
    # Compiles fastest, and kernels agree on their columns.
    path = "cpp" if plan.path in ("auto", "gpu") else plan.path
    probed = {
        id(experiment): _laned(experiment, numeric, len(rows))
        for experiment, rows, numeric in variants.groups(columns)
    }
    for experiment in variants.seen:
        periods = [event.period for event in experiment.system.events if event.period is not None]
        step = plan.step or first_step(experiment.system, plan)
        span = max([2 * step, *periods])
        batch = probed.get(id(experiment), (experiment.system, experiment.start))
        result = run_checked(
            *batch,
            dataclasses.replace(plan, duration=span, step=step, rtol=None, settle=None, path=path),
        )
        notes += result.notes
        found |= {
            name: values.dtype.str for name, values in _worded(result).items() if name not in found
        }
    return found, tuple(dict.fromkeys(notes))


def run_designs(
    variants: Variants,
    columns: Columns,
    plan: BatchPlan,
    ladder: StepLadder | None = None,
    *,
    first: int = 0,
    expected: dict[str, str] | None = None,
    threads: int | None = None,
    progress: Fraction | None = None,
) -> Results:
    """Simulate designs (number `first` and following) and return their results.

    Row by row as the columns came.

    `ladder` (of `step_ladder`) has the steps of a plan without one. Outcomes and verdicts are
    words. `expected` (of `result_columns`) are columns to return in any case, for structures that
    do not have all of them.
    """
    total = len(next(iter(columns.values())))
    merged = {name: _empty(np.dtype(kind), total) for name, kind in (expected or {}).items()}
    units, docs, paths, notes, done = {}, {}, [], [], 0
    for experiment, rows, numeric in variants.groups(columns):
        inner = None if progress is None else _part_of(progress, done / total, len(rows) / total)
        system, state = _laned(experiment, numeric, len(rows), rows + first)
        result = run_checked(system, state, plan, ladder, progress=inner, threads=threads)
        for name, values in _worded(result).items():
            if len(rows) == total:
                merged[name] = np.ascontiguousarray(values)
                continue
            if name not in merged:
                merged[name] = _empty(np.asarray(values).dtype, total)
            merged[name][rows] = values
        units, docs = {**result.units, **units}, {**result.docs, **docs, **WORDS}
        paths += [result.path] if result.path not in paths else []
        notes += [note for note in result.notes if note not in notes]
        done += len(rows)
    return Results(merged, units, docs, tuple(paths), tuple(notes))


def _laned(experiment: Experiment, numeric: Columns, lanes: int, numbers: np.ndarray | None = None):
    """A batch of `lanes` robots.

    Also where only the structure varies and no leaf is an array yet.
    """
    system, state = batched(experiment, numeric, numbers)
    if not numeric:
        state = jax.tree.map(
            lambda leaf: np.repeat(np.asarray(leaf)[..., None], lanes, axis=-1), state
        )
    return system, state


def _worded(result: BatchResult) -> dict[str, np.ndarray]:
    """The columns of a batch with words for its outcomes, and the verdict of each robot."""
    codes, place = np.unique(result.columns["outcome"], return_inverse=True)
    outcome = np.array([Outcome(int(code)).name for code in codes], object)[place]
    verdict = verdict_words(result.doubts, len(outcome))
    return {
        "outcome": outcome,
        "verdict": verdict,
        **{k: v for k, v in result.columns.items() if k != "outcome"},
    }


def _empty(kind: np.dtype, rows: int) -> np.ndarray:
    """Room for a column that some of the structures may not have.

    Counts are then 0, all else NaN.
    """
    if kind.kind == "O":
        return np.full(rows, Outcome.running.name, object)
    return np.full(rows, np.nan if kind.kind == "f" else 0, kind)


def _part_of(progress: Fraction, start: float, share: float) -> Fraction:
    return lambda fraction: progress(start + share * fraction)
