"""What an engine notices of its own run: reasons to doubt it, whichever engine made it."""

import dataclasses
import functools
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

from footfall.engines.plan import Plan
from footfall.engines.stability_limit import has_limit, spectrum, too_long
from footfall.hybrid.bound import bound_doubts
from footfall.hybrid.doubt import Doubt
from footfall.hybrid.rigid_bodies import AbstractRigidBodies
from footfall.hybrid.system import AbstractHybridSystem, HybridState
from footfall.record.trajectory import Ending, Trajectory
from footfall.record.verdict import pull_doubts

#: of any guard: less is rounding
NOTHING = 1e-9


def with_doubts(
    run: Trajectory,
    system: AbstractHybridSystem | AbstractRigidBodies,
    state: HybridState,
    plan: Plan,
) -> Trajectory:
    """The run with what speaks against it.

    The spectrum along it is looked at only when someone asks for the verdict.
    """
    again = functools.partial(step_doubts, system, state, plan)
    return dataclasses.replace(
        run,
        ending=_with_room(system, run),
        doubts=(*run.doubts, *_noticed(system, run)),
        look_again=again,
    )


def _with_room(system: Any, run: Trajectory) -> Ending:
    """How it ended, and by how much too little room its start has for that, if it ended there."""
    end = run.ending
    if not end.at_start or end.event not in run.least_room:
        return end
    unit = next(event.unit for event in system.events if event.name == end.event)
    room = run.least_room[end.event]
    return dataclasses.replace(
        end, room=f"{0.0 if abs(room) < NOTHING else room:.3g} {unit}".rstrip()
    )


def step_doubts(
    system: Any, state: HybridState, plan: Plan, run: Trajectory | None = None
) -> list[Doubt]:
    """Whether a constant step is above the limit of its explicit method.

    At the start or anywhere along a run.
    """
    if not has_limit(plan) or not jax.tree.leaves(state.x):
        return []  # MuJoCo's steps are implicit, a motion plan has no state
    found = too_long(plan, spectrum(system, state, run))
    return [] if found is None else [Doubt("step_unstable", found.sentence)]


def _noticed(system: Any, run: Trajectory) -> Iterator[Doubt]:
    if not len(run.t):  # interrupted before anything was kept
        return
    yield from pull_doubts(run.least_pushes, run.outcome)
    yield from _not_finite(run)
    if run.provenance["engine"] == "event":  # the others keep no rows on the two sides of an event
        yield from _jumps_without_effect(system, run)
    yield from bound_doubts(system.bounds(), run.t, run.columns)
    yield from system.doubts(run.t, run.columns)


def _not_finite(run: Trajectory) -> Iterator[Doubt]:
    """Columns with values that are no numbers."""
    bad = {
        name: int(np.count_nonzero(~np.isfinite(values))) for name, values in run.columns.items()
    }
    names = [name for name, count in bad.items() if count]
    if names:
        shown = ", ".join(names[:3]) + (
            f" and {len(names) - 3} more signals" if len(names) > 3 else ""
        )
        rows = max(bad.values())
        yield Doubt("not_finite", f"{shown}: not a number in {rows} of {len(run.t)} rows")


def _jumps_without_effect(system: Any, run: Trajectory) -> Iterator[Doubt]:
    """Events that happen and leave x and m as they were, every time.

    A clock may find nothing to do.
    """
    states = run.of_role("state", "discrete")
    for event in system.events:
        seen = run.events_named(event.name)
        if not seen or not states or event.outcome is not None or event.period is not None:
            continue
        before, after = (
            np.array([getattr(e, side) for e in seen]) for side in ("row_before", "row_after")
        )
        # One after another: those of a long run are on disk.
        columns = (run.columns[name] for name in states)
        if all(np.array_equal(column[before], column[after]) for column in columns):
            yield Doubt(
                "jump_without_effect",
                f'jump "{event.name}" changed neither x nor m, {len(seen)} of {len(seen)} times:'
                " what it stands for did not happen; let it change them (a counter, if it only"
                " marks a moment)",
            )
