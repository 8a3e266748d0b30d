"""Shards: the Parquet files of a sweep, and a checksum beside each.

Each has the results of a range of designs.

Shard i of a sweep with shards of n designs holds designs i n to (i + 1) n - 1. A shard is whole or
not there. It says in its own metadata which sweep and which shard it is and how many rows it has;
its checksum (the form `sha256sum` writes, in a folder of its own so that readers of the shards do
not stumble over it) tells a truncated or altered file from a good one.
"""

import dataclasses
import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from footfall.scenario.vary import Columns
from footfall.sweep.files import write_aside

FOLDER, CHECKSUMS = "shards", "checksums"
_NOTE = b"footfall"
#: Columns with few different values: much smaller, and as fast, with a dictionary.
_REPETITIVE = ("jumps", "steps", "time_step")


@dataclasses.dataclass(frozen=True)
class ShardTable:
    """What goes into one shard."""

    number: int
    columns: Columns
    units: dict[str, str]
    docs: dict[str, str]
    paths: tuple[str, ...]  #: what ran: "C++ kernel, 2 threads"
    notes: tuple[str, ...]
    #: Columns of few different values, such as those of a grid's axes.
    repetitive: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        return len(next(iter(self.columns.values())))


def shard_path(folder: Path, number: int) -> Path:
    """Where a shard of a sweep lies."""
    return folder / FOLDER / f"part-{number:06d}.parquet"


def checksum_path(folder: Path, number: int) -> Path:
    """Where the checksum of a shard lies."""
    return folder / CHECKSUMS / f"part-{number:06d}.sha256"


def digest(columns: Columns) -> str:
    """A fingerprint of names, types and values."""
    sha = hashlib.sha256()
    for name, values in columns.items():
        values = np.asarray(values)
        words = values.dtype.kind in "OU"
        sha.update(f"{name}:{'word' if words else values.dtype.str}:{len(values)}\0".encode())
        sha.update(
            "\0".join(map(str, values)).encode()
            if words
            else np.ascontiguousarray(values).tobytes()
        )
    return sha.hexdigest()


def write_shard(folder: Path, sweep_id: str, shard: ShardTable) -> Path:
    """Write a shard aside and put it in place."""
    import pyarrow as pa

    fields, arrays = [], []
    for name, values in shard.columns.items():
        kind = np.asarray(values).dtype
        notes = {"unit": shard.units.get(name, ""), "doc": shard.docs.get(name, "")}
        type_ = pa.string() if kind.kind in "OU" else pa.from_numpy_dtype(kind)
        fields.append(pa.field(name, type_, nullable=kind.kind == "f", metadata=notes))
        # What is not defined is null, not NaN: every reader's maximum, mean and sort then leave it
        # out.
        arrays.append(pa.array(values, type=type_, from_pandas=True))
    note = {
        "sweep": sweep_id,
        "shard": shard.number,
        "rows": shard.rows,
        "paths": shard.paths,
        "notes": shard.notes,
    }
    schema = pa.schema(fields, metadata={_NOTE: json.dumps(note)})
    table = pa.table(arrays, schema=schema)
    repetitive = {
        *_REPETITIVE,
        *shard.repetitive,
        *(f.name for f in fields if f.type == pa.string()),
    }
    path = shard_path(folder, shard.number)

    def write(aside: Path) -> None:
        _write_table(table, aside, [name for name in table.column_names if name in repetitive])
        # Before the shard is in place: a checksum without a shard does no harm, a shard without one
        # would be computed again.
        line = f"{_checksum(aside)}  {path.name}\n"
        checksum = checksum_path(folder, shard.number)
        checksum.parent.mkdir(exist_ok=True)
        write_aside(checksum, lambda file: file.write_text(line))

    write_aside(path, write)
    return path


def _write_table(table: Any, path: Path, repetitive: list[str]) -> None:
    import pyarrow.parquet as pq

    pq.write_table(table, path, compression="lz4", use_dictionary=repetitive)


@dataclasses.dataclass(frozen=True)
class ShardState:
    """What is known of a shard's file."""

    fault: str = ""  #: why it must be computed again; empty when it is good
    paths: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    there: bool = True


def examine_shard(folder: Path, sweep_id: str, number: int, rows: int) -> ShardState:
    """Compare a shard with its checksum, and what it says it is with what it should be."""
    import pyarrow.parquet as pq

    path, written = shard_path(folder, number), checksum_path(folder, number)
    try:
        if not path.exists():
            return ShardState("missing", there=False)
        if not written.exists():
            return ShardState("it has no checksum")
        if written.read_bytes() != f"{_checksum(path)}  {path.name}\n".encode():
            return ShardState("it is damaged: its checksum does not fit")
        schema = pq.read_schema(path)
        note = json.loads((schema.metadata or {})[_NOTE])
        if (note["sweep"], note["shard"], note["rows"]) != (sweep_id, number, rows):
            return ShardState("it belongs to another sweep or another place")
        return ShardState(paths=tuple(note["paths"]), notes=tuple(note["notes"]))
    except Exception as error:  # Arrow answers files that are not its own with many kinds of error
        return ShardState(f"it cannot be read ({type(error).__name__})")


def _checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
