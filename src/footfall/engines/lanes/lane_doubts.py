"""What the columns of a finished batch say against each of its robots."""

from collections.abc import Mapping
from typing import Any

import jax
import numpy as np

from footfall.engines.lanes import lane_bounds
from footfall.engines.lanes.batch_program import Kind
from footfall.engines.lanes.batch_results import Column, facts
from footfall.engines.lanes.embedded_pair import order_of
from footfall.engines.lanes.lane_state import Lane
from footfall.hybrid.motion_plan import AbstractMotionPlan
from footfall.hybrid.outcome import Outcome
from footfall.record.verdict import ROUNDING, creates_energy, low_order, numerical_end, open_books


def doubts_of(
    kind: Kind, system: Any, lane: Lane, columns: Mapping[str, Column]
) -> dict[str, np.ndarray]:
    """Reasons not to believe a lane: name -> whether it holds for each.

    `system` has the numbers of the batch.
    """
    relative = columns["relative_residual"].values
    loop = facts(kind, lane)
    taken = [lane.q[i] for i in loop.loss_ports] + [lane.jump_work[i] for i in loop.loss_works]
    lost = [-np.asarray(work, float) for work in taken]
    doubts = {
        "books_open": open_books(
            relative, stepped=low_order(order_of(kind.method), kind.precision)
        ),
        "loss_creates_energy": creates_energy(lost, np.asarray(lane.through, float)),
        "numerical_end": numerical_end(columns["outcome"].values),
    }
    pulls = [
        np.asarray(least) < -ROUNDING
        for least, j in zip(lane.least, loop.margins, strict=True)
        if loop.system.events[loop.searched[j][0]].push
    ]
    if pulls:
        doubts["contact_pulls"] = np.any(pulls, axis=0) & (
            columns["outcome"].values != Outcome.lifted_off
        )
    seen = lane_bounds.found(loop, lane, columns["t_end"].values)
    return doubts | lane_bounds.lane_doubts(tuple(system.bounds()), seen)


def plan_doubts(
    plan: AbstractMotionPlan, figures: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """The same of motion plans, from their figures: name -> whether it holds for each design."""
    lanes = len(figures["outcome"])
    found: dict[str, np.ndarray] = {}
    for lane in range(lanes):
        one = jax.tree.map(
            lambda leaf, lane=lane: leaf[lane] if np.shape(leaf) == (lanes,) else leaf, plan
        )
        for doubt in one.figure_doubts(
            {name: float(values[lane]) for name, values in figures.items()}
        ):
            found.setdefault(doubt.name, np.zeros(lanes, bool))[lane] = True
    return found
