"""What the columns of a finished batch say against each of its robots."""

import functools
from collections.abc import Callable, Mapping
from typing import Any

import jax
import numpy as np

from footfall.hybrid.flatten import named_leaves
from footfall.hybrid.outcome import Outcome
from footfall.record.verdict import creates_energy, open_books
from footfall.sim.batch_program import Kind
from footfall.sim.batch_results import Column, facts
from footfall.sim.lane_state import Lane
from footfall.sim.step_methods import METHODS

#: N; a pull weaker than this is rounding where a foot is put down without load.
NO_PULL = 1e-6


def low_order(method: str, precision: str) -> bool:
    """Whether the books can only close to what a method of low order, or single precision, leaves."""
    return METHODS[method].order < 4 or precision == "float32"


def doubts_of(kind: Kind, lane: Lane, columns: Mapping[str, Column]) -> dict[str, np.ndarray]:
    """Reasons not to believe a lane: name -> whether it holds for each."""
    relative, residual = columns["relative_residual"].values, columns["residual"].values
    loss_ports, loss_jumps = _losses(kind, tuple(np.shape(leaf)[:-1] for leaf in (*lane.x, *lane.m)))
    lost = [-columns[f"work_{name}"].values for name in loss_ports] + [
        -np.asarray(lane.jump_work[i], float) for i in loss_jumps
    ]
    with np.errstate(divide="ignore", invalid="ignore"):
        through = np.abs(residual) / relative
    through = np.where(
        np.isfinite(through), through, functools.reduce(lambda a, b: a + np.abs(b), lost, np.zeros_like(relative))
    )
    doubts = {
        "books_open": open_books(relative, stepped=low_order(kind.method, kind.precision)),
        "loss_creates_energy": creates_energy(lost, through),
    }
    pulls = [c.values < -NO_PULL for name, c in columns.items() if name.startswith("least_liftoff")]
    if pulls:
        doubts["contact_pulls"] = np.any(pulls, axis=0) & (columns["outcome"].values != Outcome.lifted_off)
    return doubts


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
