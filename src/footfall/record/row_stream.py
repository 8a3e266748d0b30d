"""Rows of a run as they come.

In memory while they are few, in Parquet shards on disk once they are many.

So a run of any length needs the memory of one shard, and what a killed run had written can be read:
shards are whole files, `rows/00000.parquet`, `rows/00001.parquet`, ..., each with units, meanings
and provenance in its schema (see record/run_folder.py).
"""

import collections
import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from footfall.record.signal import Signal

#: A run with more than this goes to disk.
MOST_IN_MEMORY = 32_000_000  # bytes
#: Shards of this size, or what there is after so many seconds.
SHARD_BYTES, SHARD_SECONDS = 16_000_000, 10.0
#: Of a run on disk, the columns read last stay in memory, up to this size together.
KEPT_BYTES = 16_000_000


def schema_of(signals: Sequence[Signal], notes: Mapping[str, str]) -> Any:
    """t, j and every signal, with units and meanings in the metadata of the columns."""
    import pyarrow as pa

    fields = [
        pa.field("t", pa.float64(), metadata={"unit": "s"}),
        pa.field("j", pa.int64(), metadata={"doc": "jumps so far"}),
    ]
    for s in signals:
        said = {
            "unit": s.unit,
            "doc": s.doc,
            "role": s.role,
            "rate_of": s.rate_of or "",
            "group": s.group,
            "kind": s.kind,
        }
        fields.append(pa.field(s.name, pa.float64(), metadata=said))
    return pa.schema(fields, metadata=dict(notes))


class RowStream:
    """Takes rows, block by block.

    `folder` makes the place for shards when it is first needed; without it all stays in memory.
    """

    def __init__(
        self,
        folder: Callable[[], Path] | None = None,
        most_in_memory: int = MOST_IN_MEMORY,
        scenario: str | None = None,
    ):
        self._make, self._most = folder, most_in_memory
        # What is left of a killed run says what it was.
        self._named = {} if scenario is None else {"scenario": scenario}
        self._folder: Path | None = None
        self._blocks: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        self._clock: list[tuple[np.ndarray, np.ndarray]] = []  # t and j of what is on disk
        self._files: list[Path] = []
        self._bytes = 0
        self._signals: Sequence[Signal] = ()
        self._notes: dict[str, str] = {}
        self._written = time.monotonic()

    def begin(self, signals: Sequence[Signal], provenance: Mapping[str, Any]) -> None:
        """What the columns are."""
        self._signals = signals
        self._notes = {
            "outcome": "running",
            "provenance": json.dumps({**self._named, **provenance}),
        }

    def add(self, t: np.ndarray, j: np.ndarray, rows: np.ndarray) -> None:
        """Some rows more: one for each t."""
        self._blocks.append((t, j, rows))
        self._bytes += rows.nbytes
        if self._make is None:
            return
        if self._folder is None:
            if self._bytes <= self._most:
                return
            self._folder = self._make()
        if self._bytes > SHARD_BYTES or time.monotonic() - self._written > SHARD_SECONDS:
            self._flush()

    def finish(self, count: int) -> tuple[np.ndarray, np.ndarray, Mapping[str, np.ndarray]]:
        """t, j and the columns of the first `count` rows."""
        names = [s.name for s in self._signals]
        if self._folder is None:
            t, j, matrix = _joined(self._blocks, len(names))
            self._blocks = []
            return (
                t[:count],
                j[:count],
                {name: matrix[:count, i].copy() for i, name in enumerate(names)},
            )
        if self._blocks:
            self._flush()
        t, j = (np.concatenate(part) for part in zip(*self._clock, strict=True))
        self._clock = []
        return t[:count], j[:count], StreamedColumns(names, self._folder, tuple(self._files), count)

    def _flush(self) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        t, j, matrix = _joined(self._blocks, len(self._signals))
        assert self._folder is not None
        path = self._folder / f"{len(self._files):05d}.parquet"
        schema = schema_of(self._signals, self._notes)
        arrays = [
            t,
            j.astype(np.int64),
            *(np.ascontiguousarray(matrix[:, i]) for i in range(matrix.shape[1])),
        ]
        aside = path.with_suffix(".part")
        pq.write_table(pa.table(arrays, schema=schema), aside)
        aside.rename(path)  # whole or not there
        self._files.append(path)
        self._clock.append((t, j))
        self._blocks, self._bytes, self._written = [], 0, time.monotonic()


class StreamedColumns(Mapping[str, np.ndarray]):
    """Columns of a run whose rows are on disk, read when they are asked for.

    The last few asked for stay in memory.
    """

    def __init__(self, names: Sequence[str], folder: Path, files: tuple[Path, ...], count: int):
        self._names, self.folder, self.files, self.count = tuple(names), folder, files, count
        self._kept: collections.OrderedDict[str, np.ndarray] = collections.OrderedDict()

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._kept:
            while self._kept and (len(self._kept) + 1) * 8 * self.count > KEPT_BYTES:
                self._kept.popitem(last=False)
            whole, begin = np.empty(self.count), 0
            for table in self.tables([name]):
                whole[begin : (begin := begin + table.num_rows)] = table[name].to_numpy()
            self._kept[name] = whole
        self._kept.move_to_end(name)
        return self._kept[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"StreamedColumns({len(self)} columns, {self.count} rows in {self.folder})"

    def tables(self, columns: list[str] | None = None) -> Iterator[Any]:
        """The rows as Arrow tables, a piece of them at a time."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        left = self.count
        for path in self.files:
            file = pq.ParquetFile(path)
            for group in range(file.num_row_groups):
                table = file.read_row_group(group, columns=columns).slice(0, left)
                left -= table.num_rows
                yield table
            file.close()
            pa.default_memory_pool().release_unused()

    def take(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """These rows of every column, in memory; `rows` increases."""
        parts: dict[str, list[np.ndarray]] = {name: [] for name in self._names}
        begin = 0
        for table in self.tables():
            mine = rows[(rows >= begin) & (rows < begin + table.num_rows)] - begin
            if len(mine):
                for name, part in parts.items():
                    part.append(table[name].to_numpy()[mine])
            begin += table.num_rows
        return {name: np.concatenate(part) if part else np.zeros(0) for name, part in parts.items()}

    def moved(self, folder: Path, files: tuple[Path, ...]) -> None:
        """The rows are somewhere else now."""
        self.folder, self.files = folder, files


def _joined(
    blocks: list[tuple[np.ndarray, np.ndarray, np.ndarray]], columns: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    empty = (np.zeros(0), np.zeros(0, int), np.zeros((0, columns)))
    return tuple(np.concatenate(part) for part in zip(empty, *blocks, strict=True))  # type: ignore[return-value]
