"""What the columns of a finished batch say against each of its robots."""

import functools
from collections.abc import Callable, Mapping
from typing import Any

import jax
import numpy as np

from footfall.hybrid.flatten import named_leaves
from footfall.hybrid.motion_plan import AbstractMotionPlan
from footfall.hybrid.outcome import Outcome
from footfall.record.verdict import ROUNDING, creates_energy, open_books
from footfall.sim.batch_program import Kind
from footfall.sim.batch_results import Column, facts
from footfall.sim.lane_state import Lane
from footfall.sim.step_methods import METHODS


def low_order(method: str, precision: str) -> bool:
    """Whether the books can only close to what a method of low order, or single precision, leaves."""
    return METHODS[method].order < 4 or precision == "float32"


def doubts_of(kind: Kind, lane: Lane, columns: Mapping[str, Column]) -> dict[str, np.ndarray]:
    """Reasons not to believe a lane: name -> whether it holds for each."""
    relative = columns["relative_residual"].values
    loss_ports, loss_jumps = _losses(kind, tuple(np.shape(leaf)[:-1] for leaf in (*lane.x, *lane.m)))
    lost = [-columns[f"work_{name}"].values for name in loss_ports] + [
        -np.asarray(lane.jump_work[i], float) for i in loss_jumps
    ]
    doubts = {
        "books_open": open_books(relative, stepped=low_order(kind.method, kind.precision)),
        "loss_creates_energy": creates_energy(lost, np.asarray(lane.through, float)),
    }
    pulls = [c.values < -ROUNDING for name, c in columns.items() if name.startswith("least_liftoff")]
    if pulls:
        doubts["contact_pulls"] = np.any(pulls, axis=0) & (columns["outcome"].values != Outcome.lifted_off)
    return doubts


def plan_doubts(plan: AbstractMotionPlan, figures: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The same of motion plans, from their figures: name -> whether it holds for each design."""
    lanes = len(figures["outcome"])
    found: dict[str, np.ndarray] = {}
    for lane in range(lanes):
        one = jax.tree.map(lambda leaf, lane=lane: leaf[lane] if np.shape(leaf) == (lanes,) else leaf, plan)
        for doubt in one.figure_doubts({name: float(values[lane]) for name, values in figures.items()}):
            found.setdefault(doubt.name, np.zeros(lanes, bool))[lane] = True
    return found


@functools.lru_cache(maxsize=64)
def _losses(kind: Kind, legs: tuple[tuple[int, ...], ...]) -> tuple[list[str], list[int]]:
    """Names of the ports that only take, and places of the works of jumps that do."""
    loop = facts(kind, legs)
    x, m = (
        jax.tree.unflatten(tree, [np.ones((*shape, 1), loop.real) for shape in shapes])
        for tree, shapes in ((kind.x, legs[: kind.x.num_leaves]), (kind.m, legs[kind.x.num_leaves :]))
    )
    ports = _infos(lambda: loop.system.flow(loop.zero, x, m).power)
    event = next((j for j in loop.searched if loop.system.events[j[0]].outcome is None), None)
    jumps: list[tuple[str, str | None]] = []
    if event is not None:
        k, leg = event
        jumps = _infos(lambda: loop.system.jump(loop.zero, x, m, k, *(() if leg is None else (leg,))).work)
    return [name for name, kind in ports if kind == "loss"], [i for i, (_, kind) in enumerate(jumps) if kind == "loss"]


def _infos(make: Callable[[], Any]) -> list[tuple[str, str | None]]:
    return [(name, info.kind) for name, _, info in named_leaves(jax.eval_shape(make))]
