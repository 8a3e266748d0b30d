"""A finished (or unfinished) sweep as tables."""

import dataclasses
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from footfall.hybrid.outcome import Outcome
from footfall.sweep.designs import Designs, from_spec
from footfall.sweep.errors import SweepError
from footfall.sweep.manifest import Manifest, read_manifest
from footfall.sweep.shards import shard_path
from footfall.sweep.words import count_reasons


@dataclasses.dataclass(frozen=True)
class Sweep:
    """A sweep's folder, to read from.

    `columns` gives NumPy arrays, `to_pandas` a data frame, `dataset` everything Arrow can do.
    """

    folder: Path
    manifest: Manifest

    @property
    def designs(self) -> Designs:
        return from_spec(self.manifest.designs, self.folder)

    @property
    def files(self) -> list[Path]:
        """The shards of this sweep that are there, in the order of the designs.

        A file that is none of them is left alone.
        """
        return [
            path
            for path in (shard_path(self.folder, number) for number in range(self.manifest.shards))
            if path.is_file()
        ]

    @property
    def complete(self) -> bool:
        """Whether every shard is there."""
        return len(self.files) == self.manifest.shards

    def dataset(self) -> Any:
        """A `pyarrow.dataset.Dataset` of all shards.

        Filters and projections read only what they need.
        """
        import pyarrow.dataset

        if not self.files:
            raise SweepError(f"{self.folder}: no shard is finished yet.")
        return pyarrow.dataset.dataset(self.files, format="parquet")

    def names(self) -> list[str]:
        """Names of all columns."""
        return self.dataset().schema.names

    def unit(self, name: str) -> str:
        return self._said(name, b"unit")

    def doc(self, name: str) -> str:
        return self._said(name, b"doc")

    def _said(self, name: str, what: bytes) -> str:
        return (self.dataset().schema.field(name).metadata or {}).get(what, b"").decode()

    def columns(self, names: Sequence[str] | None = None) -> dict[str, np.ndarray]:
        """Whole columns, in the order of the designs."""
        table = self.dataset().to_table(columns=None if names is None else list(names))
        return {name: table[name].to_numpy() for name in table.column_names}

    def pieces(self, names: Sequence[str]) -> Iterator[dict[str, np.ndarray]]:
        """The same, shard by shard, for sweeps larger than memory."""
        import pyarrow.parquet as pq

        for file in self.files:
            table = pq.read_table(file, columns=list(names))
            yield {name: table[name].to_numpy() for name in names}

    def coded_pieces(self, names: Sequence[str]) -> Iterator[dict[str, np.ndarray]]:
        """Shard by shard, with outcomes as the numbers of `Outcome`.

        Beside them whether a design is `doubtful`: quick to count.
        """
        import pyarrow as pa
        import pyarrow.compute as pc
        import pyarrow.parquet as pq

        for file in self.files:
            table = pq.read_table(file, columns=list(dict.fromkeys([*names, "outcome", "verdict"])))
            piece = {
                name: table[name].to_numpy() for name in names if name not in ("outcome", "verdict")
            }
            words = table["outcome"].combine_chunks().dictionary_encode()
            # a robot's own endings too.
            codes = np.array(
                [Outcome(str(word)) for word in words.dictionary.to_pylist()], np.int32
            )
            piece["outcome"] = codes[words.indices.to_numpy()]
            piece["doubtful"] = pc.call_function(
                "not_equal", [table["verdict"], pa.scalar("sound")]
            ).to_numpy()
            yield piece

    def to_pandas(self, names: Sequence[str] | None = None) -> Any:
        """A pandas data frame, one row per design."""
        return self.dataset().to_table(columns=None if names is None else list(names)).to_pandas()


def open_sweep(folder: str | Path) -> Sweep:
    """Open the folder of a sweep, finished or not, for reading.

    Arguments:
        folder: what `footfall sweep` wrote.

    Returns a `Sweep`: `columns()` gives NumPy arrays, `to_pandas()` a data frame, `dataset()`
    everything Arrow can do.

    >>> import footfall as ff
    >>> sweep = ff.open_sweep("my-sweep")
    >>> sweep.complete, sweep.columns(["terrain.angle"])["terrain.angle"].tolist()
    (True, [0.08, 0.1])
    """
    folder = Path(folder)
    return Sweep(folder, read_manifest(folder))


@dataclasses.dataclass(frozen=True)
class Found:
    """One design worth naming."""

    number: int
    values: dict[str, Any]
    metric: float


@dataclasses.dataclass(frozen=True)
class Digest:
    """What a person wants to know of a whole sweep first."""

    designs: int
    outcomes: dict[str, int]
    doubtful: dict[str, int]  #: designs with a doubtful verdict, by outcome
    doubts: dict[str, int]  #: the same by reason; a design may have several
    best: Found | None  #: least cost of transport of those that did what they should and are sound
    fastest: Found | None
    worst_residual: float | None  #: largest relative residual of an energy ledger
    steps: dict[float, int]  #: designs that ran with each step [s], the longest first

    def to_dict(self) -> dict[str, Any]:
        steps = [{"step": step, "designs": count} for step, count in self.steps.items()]
        return {**dataclasses.asdict(self), "steps": steps}


def digest_sweep(sweep: Sweep, success: Sequence[str] = ("reached_end",)) -> Digest:
    """Outcomes and doubts counted, best and fastest design, worst ledger.

    One pass over seven columns.
    """
    there = set(sweep.names())
    wanted = [
        n
        for n in ("design", "mean_speed", "cost_of_transport", "relative_residual", "time_step")
        if n in there
    ]
    good = [Outcome(name).value for name in success]
    counts, doubtful, steps = Counter[int](), Counter[int](), Counter[float]()
    best, fastest, worst, designs = (math.inf, -1), (-math.inf, -1), -math.inf, 0
    for piece in sweep.coded_pieces(wanted):
        designs += len(piece["design"])
        for kept, values in (
            (counts, piece["outcome"]),
            (doubtful, piece["outcome"][piece["doubtful"]]),
        ):
            kept.update(
                {
                    int(code): int(n)
                    for code, n in zip(*np.unique(values, return_counts=True), strict=True)
                }
            )
        if "time_step" in piece:
            used = np.unique(piece["time_step"].astype(float), return_counts=True)
            steps.update(
                {float(step): int(n) for step, n in zip(*used, strict=True) if math.isfinite(step)}
            )
        ok = np.isin(piece["outcome"], good) & ~piece["doubtful"]
        cost = _kept(piece, "cost_of_transport", ok & (piece.get("mean_speed", ok) > 0))
        # A cost of nothing is a robot without motors, not a good one.
        best = min(best, _extreme(np.where(cost > 0, cost, np.nan), piece["design"], largest=False))
        fastest = max(
            fastest, _extreme(_kept(piece, "mean_speed", ok), piece["design"], largest=True)
        )
        every = _kept(piece, "relative_residual", np.ones_like(ok))
        worst = max(worst, _extreme(every, piece["design"], largest=True)[0])
    return Digest(
        designs=designs,
        outcomes={Outcome(code).name: n for code, n in counts.most_common()},
        doubtful={Outcome(code).name: n for code, n in doubtful.most_common()},
        doubts=_reasons(sweep) if doubtful else {},
        best=_found(sweep, *best),
        fastest=_found(sweep, *fastest),
        worst_residual=worst if math.isfinite(worst) else None,
        steps=dict(sorted(steps.items(), reverse=True)),
    )


def _reasons(sweep: Sweep) -> dict[str, int]:
    """How many designs each reason was given for."""
    return count_reasons(
        verdict for piece in sweep.pieces(["verdict"]) for verdict in piece["verdict"].tolist()
    )


def _kept(piece: dict[str, np.ndarray], name: str, rows: np.ndarray) -> np.ndarray:
    values = piece.get(name)
    return np.full(len(rows), np.nan) if values is None else np.where(rows, values, np.nan)


def _extreme(values: np.ndarray, numbers: np.ndarray, *, largest: bool) -> tuple[float, int]:
    if not np.any(np.isfinite(values)):
        return (-math.inf if largest else math.inf), -1
    place = int(np.nanargmax(values) if largest else np.nanargmin(values))
    return float(values[place]), int(numbers[place])


def _found(sweep: Sweep, metric: float, number: int) -> Found | None:
    if number < 0:
        return None
    values = {
        key: column[0].item() if hasattr(column[0], "item") else column[0]
        for key, column in sweep.designs.columns(number, number + 1).items()
    }
    return Found(number, values, metric)
