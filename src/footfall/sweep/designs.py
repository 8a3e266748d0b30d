"""Which designs a sweep holds, as rules rather than tables.

Any range of them is made when it is needed.

A `Designs` knows how many there are and gives the columns of any range of design numbers. Grids and
Sobol samples compute them from the numbers, so ten million designs cost nothing until they are run.
Its `spec` is plain JSON, from which `from_spec` makes it again in another process or on another
day.
"""

import abc
import dataclasses
import functools
import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from footfall.scenario.errors import ScenarioError
from footfall.scenario.vary import Columns

#: More designs than this are a mistake: at a million robots per second they take a quarter of an
#: hour and fill 300 GB.
MOST_DESIGNS = 1_000_000_000
#: A Latin hypercube must hold all its designs at once.
MOST_HELD = 2**31  # bytes
#: Where a sweep's folder keeps designs that were listed one by one.
TABLE = "designs.parquet"


@dataclasses.dataclass(frozen=True)
class Axis:
    """How one key varies.

    A range (of `count` values, or without a count for samples), or a list of values.
    """

    key: str
    path: str  #: its full path, by which two sweeps are compared
    unit: str = ""
    low: float = -math.inf  #: first value of a range; it may be the larger one
    high: float = math.inf
    log: bool = False
    count: int = 0
    values: tuple[float | int | str, ...] = ()  #: of a list
    structural: bool = False

    def at(self, index: np.ndarray) -> np.ndarray:
        """Values of a grid axis by their place in it."""
        if self.values:
            return np.asarray(self.values)[index]
        share = index / max(self.count - 1, 1)
        return np.where(
            index == self.count - 1, self.high if self.count > 1 else self.low, self.between(share)
        )

    def sampled(self, share: np.ndarray) -> np.ndarray:
        """Values of a sampled axis by their place in [0, 1)."""
        if self.values:
            return np.asarray(self.values)[
                np.minimum((share * len(self.values)).astype(int), len(self.values) - 1)
            ]
        return self.between(share)

    def between(self, share: np.ndarray) -> np.ndarray:
        """Values of a range by their place in [0, 1], ends included; beyond them it goes on."""
        if self.log:
            return self.low * (self.high / self.low) ** share
        return self.low + (self.high - self.low) * share

    def spec(self) -> dict[str, Any]:
        """Plain JSON."""
        what: dict[str, Any] = {}
        if self.values:
            what = {"values": list(self.values)}
        elif math.isfinite(self.low):  # a column of a file has neither
            what = {"low": self.low, "high": self.high, "log": self.log}
        counted = {"count": self.count} if self.count else {}
        return {
            "key": self.key,
            "path": self.path,
            "unit": self.unit,
            "structural": self.structural,
            **what,
            **counted,
        }

    @classmethod
    def from_spec(cls, spec: dict[str, Any]) -> "Axis":
        return cls(**{**spec, "values": tuple(spec.get("values", ()))})


class Designs(abc.ABC):
    """All designs of a sweep, numbered from 0."""

    axes: tuple[Axis, ...]

    @property
    @abc.abstractmethod
    def count(self) -> int:
        """How many."""

    @abc.abstractmethod
    def columns(self, first: int, last: int) -> Columns:
        """Key -> values of designs first .. last - 1."""

    @abc.abstractmethod
    def spec(self) -> dict[str, Any]:
        """What `from_spec` needs to make it again, as plain JSON."""

    def at(self, numbers: np.ndarray) -> Columns:
        """Key -> values of the designs with these numbers (a few of them)."""
        rows = [self.columns(int(n), int(n) + 1) for n in numbers]
        return {key: np.concatenate([row[key] for row in rows]) for key in rows[0]}

    def probes(self, most: int = 64) -> np.ndarray:
        """Numbers of designs spread over the whole sweep.

        For choices that must hold for all of them.
        """
        return np.unique(
            np.linspace(0, self.count - 1, min(most, self.count)).round().astype(np.int64)
        )

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(axis.key for axis in self.axes)


class Grid(Designs):
    """Every combination of the axes; the last axis runs fastest."""

    def __init__(self, axes: tuple[Axis, ...]):
        self.axes = axes
        self.shape = tuple(len(axis.values) or axis.count for axis in axes)
        require_runnable(self.count)

    @property
    def count(self) -> int:
        return math.prod(self.shape)

    def columns(self, first: int, last: int) -> Columns:
        return self.at(np.arange(first, last, dtype=np.int64))

    def at(self, numbers: np.ndarray) -> Columns:
        return {
            axis.key: axis.at(index)
            for axis, index in zip(self.axes, self.places(numbers), strict=True)
        }

    def places(self, numbers: np.ndarray) -> tuple[np.ndarray, ...]:
        """Place along each axis of the designs with these numbers."""
        return np.unravel_index(np.asarray(numbers, dtype=np.int64), self.shape)

    def probes(self, most: int = 64) -> np.ndarray:
        """Corners first (the stiffest design is at one of them), the rest spread evenly."""
        corners = np.zeros(1, dtype=np.int64)
        for size in self.shape:
            ends = np.unique([0, size - 1])
            corners = (corners[:, None] * size + ends).ravel()
            if len(corners) > most // 2:
                return super().probes(most)
            corners = np.unique(corners)
        return np.unique(np.concatenate([corners, super().probes(most - len(corners))]))

    def spec(self) -> dict[str, Any]:
        return {"kind": "grid", "axes": [axis.spec() for axis in self.axes]}


class Samples(Designs):
    """Points that fill the box of the axes evenly.

    A scrambled Sobol sequence, or a Latin hypercube.
    """

    def __init__(self, axes: tuple[Axis, ...], kind: str, count: int, seed: int):
        self.axes, self.kind, self.size, self.seed = axes, kind, count, seed
        require_runnable(count)
        if kind == "lhs" and count * len(axes) * 8 > MOST_HELD:
            raise ScenarioError(
                f"--sample lhs:{count}: a Latin hypercube holds all its designs in memory, here"
                f" {count * len(axes) * 8 / 1e9:.1f} GB. Take --sample sobol:{count}, which needs"
                " none."
            )

    @property
    def count(self) -> int:
        return self.size

    def columns(self, first: int, last: int) -> Columns:
        shares = _unit_cube(self.kind, len(self.axes), self.count, self.seed, first, last)
        return {axis.key: axis.sampled(shares[:, i]) for i, axis in enumerate(self.axes)}

    def spec(self) -> dict[str, Any]:
        sample = {"method": self.kind, "count": self.count, "seed": self.seed}
        return {"kind": "samples", **sample, "axes": [axis.spec() for axis in self.axes]}


class Table(Designs):
    """Designs listed one by one, held in memory."""

    def __init__(self, axes: tuple[Axis, ...], held: Columns, digest: str):
        self.axes, self.held, self.digest = axes, held, digest

    @property
    def count(self) -> int:
        return len(next(iter(self.held.values())))

    def columns(self, first: int, last: int) -> Columns:
        return {key: self.held[key][first:last] for key in self.keys}

    def at(self, numbers: np.ndarray) -> Columns:
        return {key: self.held[key][numbers] for key in self.keys}

    def spec(self) -> dict[str, Any]:
        what = {"count": self.count, "digest": self.digest}
        return {"kind": "table", **what, "axes": [axis.spec() for axis in self.axes]}


def from_spec(spec: dict[str, Any], folder: Path) -> Designs:
    """Designs from their `spec`; a table lies in the sweep's `folder`."""
    axes = tuple(Axis.from_spec(axis) for axis in spec["axes"])
    match spec["kind"]:
        case "grid":
            return Grid(axes)
        case "samples":
            return Samples(axes, spec["method"], spec["count"], spec["seed"])
        case _:
            return Table(axes, _read_table(folder / TABLE), spec["digest"])


def require_runnable(count: int) -> None:
    """Fewer designs than anyone could wait for."""
    if count > MOST_DESIGNS:
        raise ScenarioError(
            f"{count:.3g} designs are more than a sweep can hold (at most {MOST_DESIGNS:.0e}).\n "
            " Vary fewer keys, take fewer values of each, or spread samples over them: --sample"
            " sobol:65536."
        )


def _read_table(file: Path) -> dict[str, np.ndarray]:
    import pyarrow.parquet as pq

    table = pq.read_table(file)
    return {name: table[name].to_numpy() for name in table.column_names}


def _unit_cube(
    kind: str, dimensions: int, count: int, seed: int, first: int, last: int
) -> np.ndarray:
    """Rows first .. last - 1 of a sample of [0, 1)^d, the same whichever range is asked for."""
    if kind == "lhs":
        return _latin_hypercube(dimensions, count, seed)[first:last]
    from scipy.stats import qmc

    sequence = qmc.Sobol(dimensions, scramble=True, rng=np.random.default_rng(seed))
    if first:
        sequence.fast_forward(first)
    with warnings.catch_warnings():
        # A part of the sequence need not be a power of two; the whole is noted at the door.
        warnings.simplefilter("ignore", UserWarning)
        return sequence.random(last - first)


@functools.lru_cache(maxsize=1)
def _latin_hypercube(dimensions: int, count: int, seed: int) -> np.ndarray:
    from scipy.stats import qmc

    return qmc.LatinHypercube(dimensions, rng=np.random.default_rng(seed)).random(count)
