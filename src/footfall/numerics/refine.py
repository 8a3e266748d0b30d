"""A plane of labels, looked at finely only where they change.

The plane is a square of `coarse` x `coarse` cells, each of which may be cut into four, `depth`
times over. Labels (whole numbers from 0 on) are known at some points of the finest lattice, -1
elsewhere. A cell whose known points, corners and those that finer neighbours have on its sides,
do not all have one label is cut; its corners and those of its parts have to be known. So the cells
follow an edge wherever it leads, and what is asked for follows from the labels alone.

What lies between points of one label is taken to have it: an island that is smaller than a coarse
cell may be missed.
"""

from typing import NamedTuple

import numpy as np

UNKNOWN = -1


class Cells(NamedTuple):
    """The cells that are not cut, each with its place on the finest lattice."""

    x: np.ndarray  #: of the lower left corner
    y: np.ndarray
    size: np.ndarray  #: in steps of the finest lattice
    label: np.ndarray  #: of all its known points; UNKNOWN where they differ


def lattice(coarse: int, depth: int) -> np.ndarray:
    """A plane of which nothing is known: labels by (x, y) of the finest lattice."""
    points = coarse * 2**depth + 1
    return np.full((points, points), UNKNOWN, np.int16)


def wanted(labels: np.ndarray, coarse: int, level: int) -> tuple[np.ndarray, np.ndarray]:
    """Points to be labelled next, where no cell is cut more than `level` times.

    None are left when every cell that an edge goes through has been cut so often. (x, y), in order.
    """
    depth = _depth(labels, coarse)
    need = np.zeros(labels.shape, bool)
    for at, there in enumerate(_cells(labels, coarse)[: level + 1]):
        size = 2 ** (depth - at)
        corners = need[::size, ::size]
        for i, j in ((0, 0), (0, 1), (1, 0), (1, 1)):
            sides = corners.shape[0] - 1
            corners[i : i + sides, j : j + sides] |= there
    x, y = np.nonzero(need & (labels == UNKNOWN))
    return x, y


def cells(labels: np.ndarray, coarse: int, level: int | None = None) -> Cells:
    """Those that are not cut, where none is cut more than `level` times (as often as may be)."""
    depth = _depth(labels, coarse)
    last = depth if level is None else level
    found: list[tuple[np.ndarray, ...]] = []
    levels, ranges = _cells(labels, coarse), _ranges(labels, coarse)
    for at in range(last + 1):
        low, high = ranges[at]
        leaf = levels[at] & ((low == high) | (at == last))
        x, y = np.nonzero(leaf)
        size = 2 ** (depth - at)
        label = np.where(low == high, low, UNKNOWN)[leaf]
        found.append((x * size, y * size, np.full(len(x), size), label))
    return Cells(*(np.concatenate(column) for column in zip(*found, strict=True)))


def shares(labels: np.ndarray, coarse: int, of: np.ndarray) -> tuple[float, float, float]:
    """Share of the plane whose label is in `of`: at least, best guess, at most.

    Cells that an edge goes through are between: all of it may be `of`, or nothing; the guess is
    the share of its corners that are.
    """
    found = cells(labels, coarse)
    area = (found.size / (labels.shape[0] - 1.0)) ** 2
    inside, cut = np.isin(found.label, of), found.label == UNKNOWN
    corners = [
        np.isin(labels[found.x + i * found.size, found.y + j * found.size], of)
        for i in (0, 1)
        for j in (0, 1)
    ]
    some = np.mean(corners, axis=0) * cut
    touched = cut & (some > 0)
    least = float(np.sum(area[inside]))
    # Cut by an edge between other labels, it has nothing to do with these.
    return least, least + float(np.sum(area * some)), least + float(np.sum(area[touched]))


def _depth(labels: np.ndarray, coarse: int) -> int:
    return ((labels.shape[0] - 1) // coarse).bit_length() - 1


def _ranges(labels: np.ndarray, coarse: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Least and largest known label of each cell, sides included, by how often it was cut."""
    none = np.iinfo(labels.dtype).max
    low, high = np.where(labels == UNKNOWN, none, labels), labels
    found = []
    for _ in range(_depth(labels, coarse) + 1):
        # Points, then cells of the finest lattice; from then on four cells make one.
        step = 1 if not found else 2
        low, high = _pooled(low, step, np.minimum), _pooled(high, step, np.maximum)
        found.append((low, high))
    return found[::-1]


def _pooled(values: np.ndarray, step: int, best: np.ufunc) -> np.ndarray:
    a, b = (values[:-1], values[1:]) if step == 1 else (values[::2], values[1::2])
    rows = best(a, b)
    a, b = (rows[:, :-1], rows[:, 1:]) if step == 1 else (rows[:, ::2], rows[:, 1::2])
    return best(a, b)


def _cells(labels: np.ndarray, coarse: int) -> list[np.ndarray]:
    """Whether each cell is there, cut or not, by how often it was cut."""
    there = [np.ones((coarse, coarse), bool)]
    for low, high in _ranges(labels, coarse)[:-1]:
        cut = there[-1] & (low < high)
        there.append(np.repeat(np.repeat(cut, 2, axis=0), 2, axis=1))
    return there
