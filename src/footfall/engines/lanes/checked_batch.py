"""run_checked: a batch in which each robot has a step that suits it.

And a result that a shorter step would not overturn.

Where the plan has no step, every robot takes that of its rung (step_ladder.py). Then those whose
result may be the step's doing are run again with half of it, in double precision: robots that ended
before their time, robots whose books do not close, robots whose flow turned out faster than their
step allows, robots on a rung that no probe vouches for. What two runs agree on stands. What they do
not agree on after REPEATS halvings is kept with the doubt "step_inaccurate". A step that the plan
gives is kept, and doubted where it is above the limit.
"""

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from footfall.engines.lanes.batch import BatchResult, run_batch
from footfall.engines.lanes.batch_inputs import prepared
from footfall.engines.lanes.batch_plan import BatchPlan
from footfall.engines.lanes.stable_step import above_reach
from footfall.engines.lanes.step_ladder import StepLadder, choose_steps, lanes_of, rungs_of
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.system import AbstractHybridSystem, HybridState

#: How often a robot is run again with half the step before it is left in doubt: errors of order 4
#: are then 65 000 times smaller.
REPEATS = 4
#: Measured columns agree when they differ by less than this share; what is below LITTLE of its SI
#: unit need not agree in all its digits.
MEASURED, LITTLE = 1e-3, 1e-2
#: Columns that two runs need not agree on, by their beginnings and ends: the books have a limit of
#: their own (their residual), extremes are those at the ends of steps, and a count changes by one
#: when an event moves across the end.
_OWN_LIMIT = (
    "residual",
    "relative_residual",
    "work_",
    "jump_work",
    "jumps",
    "footfalls",
    "steps",
    "least_",
)
_EXTREMES = ("_min", "_max")
#: Doubts that a shorter step may settle.
_OF_THE_STEP = ("books_open", "loss_creates_energy", "step_unstable")

TIME_STEP = "time_step"


def run_checked(
    system: AbstractHybridSystem,
    state: HybridState,
    plan: BatchPlan,
    ladder: StepLadder | None = None,
    *,
    progress: Callable[[float], None] | None = None,
    threads: int | None = None,
    room: int | None = None,
) -> BatchResult:
    """Move every lane through the plan's span.

    With the plan's step or, where it has none, with one that suits each lane.

    `ladder` says which; without one it is made from robots of this batch. The result has the step
    of each robot as a column, and in `doubts` what stands against it. Otherwise as `run_batch`.
    """
    rest: dict[str, Any] = {"progress": progress, "threads": threads, "room": room}
    if "step" not in system.engines:
        return run_batch(system, state, plan, **rest)
    system, state, lanes = prepared(system, state, plan.precision)
    if plan.rtol is not None:  # each robot has found its own steps
        result = run_batch(system, state, plan, **rest)
        sound = dict.fromkeys(("step_unstable", "step_inaccurate"), np.zeros(lanes, bool))
        result = dataclasses.replace(result, doubts={**result.doubts, **sound})
        return _with_steps(result, result.columns.pop("mean_step"))
    if plan.step is not None:
        result = run_batch(system, state, plan, **rest)
        return _with_steps(_judged(system, state, result, plan), np.full(lanes, plan.step))
    if plan.sample:
        raise ValueError("BatchPlan.sample_every counts steps, so samples need a step: give one.")
    ladder = ladder or choose_steps(system, state, plan)
    rungs = rungs_of(system, state, ladder.first, plan.method, ladder.margin)
    levels = ladder.levels_of(rungs)
    double = dataclasses.replace(plan, precision="float64")

    done = 0.0

    def share_of_rest(share: float) -> Callable[[float], None] | None:
        nonlocal done
        begin, done = done, done + share * (1.0 - done)
        if progress is None:
            return None
        tell, end = progress, done
        return lambda f: tell(begin + (end - begin) * f)

    def again(rows: np.ndarray, levels: np.ndarray) -> BatchResult:
        return _by_level(
            lanes_of(system, state, rows),
            levels,
            double,
            ladder,
            share_of_rest(0.5),
            threads,
            max(lanes, room or 0),
        )

    # Where accuracy was not asked for before, most of the work is still to come.
    found = _by_level(
        (system, state),
        levels,
        plan,
        ladder,
        share_of_rest(1.0 if ladder.probes else 0.25),
        threads,
        max(lanes, room or 0),
    )
    steps = np.array([ladder.at(int(level)) for level in levels])
    found = _repeated(
        found, levels, steps, ~ladder.vouched(rungs), ladder.agreed(plan.precision), ladder, again
    )
    return _with_steps(found, steps)


def _by_level(
    batch: tuple[Any, HybridState],
    levels: np.ndarray,
    plan: BatchPlan,
    ladder: StepLadder,
    progress: Callable[[float], None] | None,
    threads: int | None,
    room: int,
) -> BatchResult:
    """Each lane with the step of its level; lanes of one level are one batch."""
    parts, done = [], 0.0
    different, sizes = np.unique(levels, return_counts=True)
    cost = float(np.sum(2.0**different * sizes))
    for level, size in zip(different.tolist(), sizes.tolist(), strict=True):
        rows, share = np.flatnonzero(levels == level), 2.0**level * size / cost
        some = batch if len(different) == 1 else lanes_of(*batch, rows)
        told = (
            None
            if progress is None
            else lambda f, done=done, share=share: progress(done + share * f)
        )
        given = dataclasses.replace(plan, step=ladder.at(level))
        result = run_batch(*some, given, progress=told, threads=threads, room=room)
        parts.append((rows, _judged(*some, result, given)))
        done += share
    return parts[0][1] if len(parts) == 1 else merged(parts, len(levels))


def _judged(system: Any, state: HybridState, result: BatchResult, plan: BatchPlan) -> BatchResult:
    """With the doubt whether the step is stable.

    At the start, at the settling time and at the end.
    """
    lanes = len(result.columns["outcome"])
    steps, end = np.full(lanes, plan.step), result.columns["t_end"]
    settle = np.minimum(end, plan.duration / 2 if plan.settle is None else plan.settle)
    unstable = above_reach(system, state, 0.0, steps, plan.method, plan.duration)
    for seen, t in ((result.midway, settle), (result.end, end)):
        unstable = unstable | above_reach(system, seen, t, steps, plan.method, plan.duration)
    return dataclasses.replace(result, doubts={**result.doubts, "step_unstable": unstable})


def _repeated(
    found: BatchResult,
    levels: np.ndarray,
    steps: np.ndarray,
    unsure: np.ndarray,
    tolerance: float,
    ladder: StepLadder,
    run: Callable[[np.ndarray, np.ndarray], BatchResult],
) -> BatchResult:
    """Lanes in question again, with half the step each time, until two runs agree.

    Writes the steps that stand into `steps`.
    """
    at, lanes = levels.copy(), len(levels)
    inaccurate = np.zeros(lanes, bool)
    asked = np.flatnonzero(
        (found.columns["outcome"] != Outcome.reached_end) | _open(found) | unsure
    )
    for _ in range(REPEATS):
        asked = asked[at[asked] <= ladder.deepest]
        if not len(asked):
            break
        finer = run(asked, at[asked] + 1)
        before = taken(found, asked)
        agreed = agree(before, finer, tolerance)
        # What was sound before and is confirmed stands as it is; all else is replaced by what is
        # nearer to the truth.
        kept = agreed & ~_open(before)
        new = asked[~kept]
        at[asked] += 1
        if len(new):
            found = merged(
                [(np.arange(lanes), found), (new, taken(finer, np.flatnonzero(~kept)))], lanes
            )
            steps[new] = [ladder.at(int(level)) for level in at[new]]
        inaccurate[asked] = ~agreed
        asked = asked[~agreed | (~kept & _open(finer))]
    return dataclasses.replace(found, doubts={**found.doubts, "step_inaccurate": inaccurate})


def _open(result: BatchResult) -> np.ndarray:
    """Lanes with a doubt that a shorter step may settle."""
    return np.any([result.doubts[name] for name in _OF_THE_STEP], axis=0)


def agree(one: BatchResult, other: BatchResult, tolerance: float) -> np.ndarray:
    """Which robots ended alike in two runs.

    At the same time within `tolerance` per unit of 1 + time.

    Of robots that reached the end the measured columns must agree too.
    """
    a, b = (np.asarray(r.columns["t_end"], float) for r in (one, other))
    alike = (one.columns["outcome"] == other.columns["outcome"]) & (
        np.abs(a - b) <= tolerance * (1.0 + b)
    )
    ended = np.asarray(other.columns["outcome"]) != Outcome.reached_end
    for name, values in other.columns.items():
        if name.startswith(_OWN_LIMIT) or name.endswith(_EXTREMES):
            continue
        a, b = np.asarray(one.columns[name], float), np.asarray(values, float)
        near = np.isclose(
            a, b, rtol=max(tolerance, MEASURED), atol=MEASURED * LITTLE, equal_nan=True
        )
        alike = alike & (near | ended)
    return alike


def taken(result: BatchResult, rows: np.ndarray) -> BatchResult:
    """The results of some lanes."""
    return _lanewise(lambda leaf: leaf[..., rows], [result])


def merged(parts: list[tuple[np.ndarray, BatchResult]], lanes: int) -> BatchResult:
    """Results of lanes put in their places, the later ones on top."""

    def put(*leaves: np.ndarray) -> np.ndarray:
        whole = np.empty((*leaves[0].shape[:-1], lanes), leaves[0].dtype)
        for (rows, _), leaf in zip(parts, leaves, strict=True):
            whole[..., rows] = leaf
        return whole

    whole = _lanewise(put, [part for _, part in parts])
    notes = tuple(dict.fromkeys(note for _, part in parts for note in part.notes))
    path = "; ".join(dict.fromkeys(part.path for _, part in parts))
    return dataclasses.replace(whole, notes=notes, path=path, step=math.nan)


def _lanewise(make: Callable[..., np.ndarray], results: list[BatchResult]) -> BatchResult:
    """The first result with `make` of the arrays of all of them. Columns keep their order."""
    tables = {
        name: {
            key: make(*(np.asarray(getattr(r, name)[key]) for r in results))
            for key in getattr(results[0], name)
        }
        for name in ("columns", "doubts")
    }
    states = {
        name: jax.tree.map(
            lambda *leaves: make(*map(np.asarray, leaves)), *(getattr(r, name) for r in results)
        )
        for name in ("end", "midway")
    }
    return dataclasses.replace(results[0], **tables, **states)


def _with_steps(result: BatchResult, steps: np.ndarray) -> BatchResult:
    unit, doc = {TIME_STEP: "s"}, {TIME_STEP: "step it ran with"}
    return dataclasses.replace(
        result,
        columns={**result.columns, TIME_STEP: steps},
        units={**result.units, **unit},
        docs={**result.docs, **doc},
        step=float(steps[0]) if np.all(steps == steps[0]) else math.nan,
    )
