"""A trajectory as files: Parquet, CSV, NetCDF, and an MCAP log with JSON schemas."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np

from footfall.record.row_stream import StreamedColumns, schema_of
from footfall.record.signal import Signal
from footfall.record.trajectory import Trajectory

#: A log to look at needs no more rows than this; a longer run is thinned in it (the Parquet file
#: has every row).
MOST_LOGGED = 100_000
_AT_ONCE = 4096  # rows
_NANOSECONDS = 1_000_000_000  # nanoseconds per second: MCAP's clock ...
_LAST_STAMP = 2**63 - 1  # ... which ends after 292 years; a message says its time itself


def write_csv(run: Trajectory, stream: IO[bytes]) -> None:
    """One row per sample, each number to its last bit, the unit behind the name of its column."""
    header = ["t [s]", "j", *(signal.label for signal in run.signals.values())]
    stream.write((",".join(header) + "\n").encode())
    for first in range(0, len(run.t), _AT_ONCE):
        rows = slice(first, first + _AT_ONCE)
        columns = [run.t[rows], run.j[rows], *(run.columns[name][rows] for name in run.signals)]
        kept = [column.tolist() for column in columns]
        lines = (",".join(map(repr, row)) for row in zip(*kept, strict=True))
        stream.write(("\n".join(lines) + "\n").encode())


def write_netcdf(run: Trajectory, stream: IO[bytes]) -> None:
    """NetCDF 3 with 64-bit offsets: every column over `sample`, with unit and meaning."""
    from scipy.io import netcdf_file

    own = io.BytesIO()  # which it closes
    file = netcdf_file(own, "w", version=2)
    file.createDimension("sample", len(run.t))
    columns = [("t", run.t, "s", "time"), ("j", run.j, "", "jumps so far")]
    columns += [(s.name, run.columns[s.name], s.unit, s.doc) for s in run.signals.values()]
    for name, values, unit, doc in columns:
        made = file.createVariable(name, "d" if name != "j" else "i", ("sample",))
        made[:] = values
        made.units, made.long_name = unit, doc
    for key, value in _notes(run).items():
        setattr(file, key, value.encode())
    file.flush()
    stream.write(own.getvalue())


def write_parquet(run: Trajectory, path: Path | IO[bytes]) -> None:
    """One row per sample, units and meanings in the column metadata."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = schema_of(list(run.signals.values()), _notes(run))
    with pq.ParquetWriter(path, schema) as writer:
        if isinstance(run.columns, StreamedColumns):
            for table in run.columns.tables():
                writer.write_table(table.replace_schema_metadata(schema.metadata))
        else:
            arrays = [run.t, run.j.astype(np.int64), *(run.columns[name] for name in run.signals)]
            # By their bytes: of an array pyarrow would import pandas to ask whether it is a series.
            columns = [
                pa.Array.from_buffers(
                    field.type,
                    len(v),
                    [None, pa.py_buffer(np.ascontiguousarray(v, field.type.to_pandas_dtype()))],
                )
                for field, v in zip(schema, arrays, strict=True)
            ]
            writer.write_table(pa.table(columns, schema=schema))


def _notes(run: Trajectory) -> dict[str, str]:
    """What belongs to all rows."""
    verdict = json.dumps(run.verdict.to_dict())
    return {
        "outcome": run.outcome.name,
        "verdict": verdict,
        "provenance": json.dumps(run.provenance),
    }


def topics(run: Trajectory) -> dict[str, list[Signal]]:
    """MCAP topics, by what they hold.

    One per body, leg or motor (each output group), one for states, one for energies and one for
    powers.

    Running integrals and peaks, which are there for summaries, are in the Parquet file only.
    """
    grouped: dict[str, list[Signal]] = {}
    for signal in run.signals.values():
        match signal.role:
            case "statistic":
                continue
            case "output":
                topic = "/" + signal.group.replace(".", "/")
            case "state" | "discrete":
                topic = "/state"
            case "store":
                topic = "/energy/stores"
            case _:
                topic = f"/energy/{signal.role}"
        grouped.setdefault(topic, []).append(signal)
    return grouped


def write_mcap(
    run: Trajectory,
    stream: IO[bytes],
    progress: Callable[[int, int], bool | None] | None = None,
    most: int = MOST_LOGGED,
) -> float | None:
    """JSON messages with schemas that carry units; opens in Foxglove, rerun and any MCAP reader.

    At most `most` rows, evenly spread. `progress` gets rows and all rows; where it says True, the
    log is cut there, and the time of the cut comes back.
    """
    from mcap.writer import CompressionType, Writer

    writer = Writer(stream, compression=CompressionType.ZSTD)
    writer.start(profile="", library="footfall")
    channels = []
    for topic, signals in topics(run).items():
        properties: dict[str, Any] = {
            "t": {"type": "number", "unit": "s"},
            "j": {"type": "integer", "description": "jumps so far"},
        }
        for s in signals:
            properties[s.leaf] = {"type": ["number", "null"], "unit": s.unit, "description": s.doc}
        schema = writer.register_schema(
            topic.strip("/").replace("/", "."), "jsonschema", _schema(topic, properties)
        )
        channel = writer.register_channel(topic, "json", schema)
        channels.append(
            (channel, ["t", "j", *(s.leaf for s in signals)], [s.name for s in signals])
        )
    every, cut = max(1, -(-len(run.t) // most)), None
    some = run if every == 1 else run.taken(np.arange(0, len(run.t), every))
    # As Python's numbers, rows take five times the room.
    for first in range(0, len(some.t), _AT_ONCE):
        if progress is not None and progress(first, len(some.t)):
            cut = float(some.t[first])
            break
        rows = slice(first, first + _AT_ONCE)
        stamps = [_stamp(t) for t in some.t[rows].tolist()]
        clock = [some.t[rows].tolist(), some.j[rows].tolist()]
        blocks = [
            (*kept[:2], [*clock, *(_nullable(some.columns[name][rows]) for name in kept[2])])
            for kept in channels
        ]
        for row, stamp in enumerate(stamps):
            for channel, names, columns in blocks:
                data = json.dumps(
                    {name: column[row] for name, column in zip(names, columns, strict=True)}
                ).encode()
                writer.add_message(channel, log_time=stamp, data=data, publish_time=stamp)
    properties = {
        "t": {"type": "number", "unit": "s"},
        "name": {"type": "string"},
        "leg": {"type": ["integer", "null"]},
    }
    schema = writer.register_schema("event", "jsonschema", _schema("event", properties))
    channel = writer.register_channel("/events", "json", schema)
    for event in run.events:
        if cut is not None and event.t > cut:
            break
        stamp = _stamp(event.t)
        data = json.dumps({"t": event.t, "name": event.name, "leg": event.leg}).encode()
        writer.add_message(channel, log_time=stamp, data=data, publish_time=stamp)
    writer.add_metadata("footfall", _notes(run))
    writer.finish()
    return cut


def _stamp(t: float) -> int:
    return min(round(t * _NANOSECONDS), _LAST_STAMP)


def _schema(title: str, properties: dict[str, Any]) -> bytes:
    return json.dumps({"type": "object", "title": title, "properties": properties}).encode()


def _nullable(values: np.ndarray) -> list[float | None]:
    finite = np.isfinite(values)
    return (
        values.tolist()
        if finite.all()
        else [v if ok else None for v, ok in zip(values.tolist(), finite, strict=True)]
    )
