"""Derivatives of a gait by parameters: implicit, at the cycle, not through transients.

A gait v solves P(v, p) = v, so that (I - J) dv = P_p dp (gaits.7), and what is measured over its
stride changes by F_v dv + F_p dp. A simple multiplier, J u = lambda u, w J = lambda w, changes by
w dJ u / w u, with dJ a second derivative of the map (gaits.8).
"""

import contextlib
from typing import Any

import jax
import numpy as np

from footfall.engines.analysis.cycle import Cycle
from footfall.engines.analysis.gait_figures import slopes_of
from footfall.engines.analysis.return_map import NoCycle, moved_only

#: Name of the modulus of the slowest multiplier among the figures.
LARGEST = "largest_multiplier"


def implicit_change(cycle: Cycle, mapped: Any) -> np.ndarray:
    """How all its numbers change along each direction that `mapped` was taken along: rows."""
    size = len(cycle.point.flat)
    assert cycle.scale is not None
    scale, jacobian = cycle.scale, cycle.quotient.matrix(mapped.slopes.numbers[:size].T)
    matrix = (np.eye(len(scale)) - jacobian) * scale[None, :] / scale[:, None]
    right = (mapped.slopes.numbers[size:] @ cycle.quotient.reads.T / scale).T
    if cycle.held:
        energy = mapped.slopes.begin_energy[:size][cycle.quotient.kept] * scale
        reach = np.max(np.abs(energy))
        matrix = np.concatenate([matrix, energy[None] / reach])
        right = np.concatenate([right, -mapped.slopes.begin_energy[size:][None] / reach])
    change = np.linalg.lstsq(matrix, right, rcond=None)[0]
    return np.stack([cycle.quotient.spread(scale * column) for column in change.T])


def cycle_slopes(
    cycle: Cycle, along: Any, *, lengths: np.ndarray | None = None
) -> dict[str, np.ndarray]:
    """Derivatives of the figures of a gait along directions of its system's numbers.

    Arguments:
        cycle: as `find_cycle` gives it.
        along: like the system, with a first axis over directions.
        lengths: that of the largest multiplier too, by differences of this length along each
            direction (`multiplier_differences`).

    Returns by name an array over directions; `state` has a row of all numbers for each.
    """
    along = jax.tree.map(lambda v: np.asarray(v, float), along)
    point = cycle.point
    mapped = cycle.map.at(point.flat, point.counts, moved_only(along))
    size, change = len(point.flat), implicit_change(cycle, mapped)
    moved = jax.tree.map(
        lambda slope: slope[size:] + np.tensordot(change, slope[:size], 1),
        mapped.slopes,
    )
    found = slopes_of(cycle.map, mapped, moved, along) | {"state": change}
    if lengths is not None and len(cycle.multipliers):
        slopes = multiplier_differences(cycle, change, along, lengths)
        value = complex(cycle.multipliers[0])
        found[LARGEST] = np.real(np.conj(value) * slopes) / max(abs(value), 1e-300)
    return found


def multiplier_slopes(cycle: Cycle, change: np.ndarray, along: Any, which: int = 0) -> np.ndarray:
    """How one multiplier changes, where the numbers change by `change` and the system goes along.

    The multiplier has to be simple.
    """
    assert cycle.derivative is not None
    values, vectors = np.linalg.eig(cycle.derivative)
    near = int(np.argmin(np.abs(values - cycle.multipliers[which])))
    right, left = vectors[:, near], np.linalg.inv(vectors)[near]
    rows = np.stack([cycle.quotient.spread(part) for part in (right.real, right.imag)])
    bent = cycle.map.bent(cycle.point.flat, cycle.point.counts, rows, (change, moved_only(along)))
    images = (bent[:, 0] + 1j * bent[:, 1]) @ cycle.quotient.reads.T
    return images @ left / (left @ right)


def multiplier_differences(
    cycle: Cycle, change: np.ndarray, along: Any, lengths: np.ndarray
) -> np.ndarray:
    """The same by central differences of the exact J, where a second derivative takes long to
    compile: off by the square of the lengths, and by the rounding of J over them.
    """
    point, found = cycle.point, []
    for k, length in enumerate(lengths):
        ends = {0.0: complex(cycle.multipliers[0])}
        for side in (-length, length):
            system = jax.tree.map(
                lambda v, way, h=side, k=k: np.asarray(v + h * way[k]), cycle.map.system, along
            )
            flat = point.flat + side * change[k]
            with contextlib.suppress(NoCycle):  # at the edge of what walks: to the other side only
                mapped = cycle.map.at(flat, point.counts, system=system)
                matrix = cycle.quotient.matrix(mapped.slopes.numbers[: len(flat)].T)
                values = np.linalg.eigvals(matrix)
                ends[side] = values[np.argmin(np.abs(values - cycle.multipliers[0]))]
        low, high = min(ends), max(ends)
        found.append((ends[high] - ends[low]) / (high - low) if high > low else 0.0)
    return np.array(found)
