"""What a batch is given, made ready.

Numbers of one precision, room for the lanes, steps that fit the clocks.
"""

import math
from typing import Any

import jax
import numpy as np

from footfall.hybrid.system import AbstractHybridSystem, HybridState

#: Fixed steps of one run: hours of one core. Counters of steps have 32 bits.
MOST_STEPS = 1_000_000_000


def prepared(system: Any, state: HybridState, precision: str) -> tuple[Any, HybridState, int]:
    """Numbers of one precision; every state spread over the lanes; and how many lanes there are."""
    if _is_one_robot(system, state):
        state = jax.tree.map(lambda leaf: np.asarray(leaf)[..., None], state)
    leaves = jax.tree.leaves((system, state))
    lengths = {np.shape(leaf)[-1] for leaf in leaves if np.ndim(leaf)}
    if len(lengths) > 1:
        raise ValueError(
            f"the lanes of a batch must agree, but there are arrays of lengths {sorted(lengths)}."
        )
    lanes = lengths.pop() if lengths else 1
    if lanes == 0:
        raise ValueError("a batch needs at least one robot.")

    def number(leaf: Any) -> np.ndarray:
        array = np.asarray(leaf)
        if array.dtype == bool:
            return array
        kind = np.int32 if np.issubdtype(array.dtype, np.integer) else precision
        return array.astype(kind, copy=False)

    def spread(leaf: Any) -> np.ndarray:
        array = number(leaf)
        return np.ascontiguousarray(
            np.broadcast_to(array, np.broadcast_shapes(array.shape, (lanes,)))
        )

    return (
        jax.tree.map(lambda leaf: np.asarray(leaf, precision), system),
        jax.tree.map(spread, state),
        lanes,
    )


def _is_one_robot(system: Any, state: HybridState) -> bool:
    """Whether arrays in the state are over the legs of one robot, not over lanes.

    Its powers and energies are then single numbers; one that has none is taken for lanes.
    """
    if any(np.ndim(leaf) for leaf in jax.tree.leaves(system)) or not any(
        np.ndim(leaf) for leaf in jax.tree.leaves(state)
    ):
        return False
    books = jax.eval_shape(
        lambda x, m: (system.flow(0.0, x, m).power, system.stores(0.0, x, m)),
        *jax.tree.map(np.asarray, state),
    )
    entries = jax.tree.leaves(books)
    return bool(entries) and all(entry.shape == () for entry in entries)


def room_for(lanes: int) -> int:
    """Lanes to make room for, at most an eighth more.

    Few different numbers, because each one compiles anew.

    Fillers have ended before they begin and cost nothing.
    """
    grain = max(8, (1 << (lanes - 1).bit_length()) // 16)
    return -(-lanes // grain) * grain


def padded(system: Any, state: HybridState, lanes: int, room: int) -> tuple[Any, HybridState]:
    """Per-lane numbers up to the room, the last lane's repeated."""

    def pad(leaf: np.ndarray) -> np.ndarray:
        per_lane = leaf.ndim and leaf.shape[-1] == lanes
        return (
            np.pad(leaf, [(0, 0)] * (leaf.ndim - 1) + [(0, room - lanes)], mode="edge")
            if per_lane
            else leaf
        )

    return jax.tree.map(pad, (system, state)) if room > lanes else (system, state)


def timing(system: AbstractHybridSystem, duration: float, step: float) -> tuple[int, list[int]]:
    """Steps in all, and steps between the ticks of each clock; clear words when they do not fit."""
    if not duration / step <= MOST_STEPS:
        raise ValueError(
            f"{duration:g} s in steps of {step:g} s are {duration / step:.1e} steps;"
            f" {MOST_STEPS:.0e} is the most. Lengthen the step or shorten the duration."
        )
    steps = round(duration / step)
    periods = [event.period for event in system.events if event.period is not None]
    if abs(steps * step - duration) > 1e-6 * step * max(1, steps):
        # What divides the shortest period has the best chance to divide the rest.
        unit = min([duration, *periods])
        better = unit / math.ceil(unit / step)
        raise ValueError(
            f"a step of {step:g} s does not divide the duration of {duration:g} s. Try"
            f" {better:.6g} s."
        )
    ticks = []
    for event in system.events:
        if event.period is not None:
            count = round(min(event.period / step, 2.0**53))
            if count < 1 or abs(count * step - event.period) > 1e-6 * event.period:
                better = event.period / math.ceil(event.period / step)
                raise ValueError(
                    f"a step of {step:g} s does not divide the {event.period:g} s between ticks of"
                    f" {event.name}. Try {better:.6g} s."
                )
            ticks.append(count)
    return steps, ticks
