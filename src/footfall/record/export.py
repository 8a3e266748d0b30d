"""A trajectory as files: Parquet tables and an MCAP log with JSON schemas."""

import json
from pathlib import Path
from typing import IO, Any

import numpy as np

from footfall.record.trajectory import Signal, Trajectory

#: A log to look at needs no more rows than this; a longer run is thinned in it (the Parquet file has every row).
MOST_LOGGED = 100_000
_NANOSECONDS = 1_000_000_000  # nanoseconds per second: MCAP's clock


def write_parquet(run: Trajectory, path: Path) -> None:
    """One row per sample, units and meanings in the column metadata."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    arrays = {"t": run.t, "j": run.j.astype(np.int64), **run.columns}
    fields = [pa.field("t", pa.float64(), metadata={"unit": "s"}), pa.field("j", pa.int64(), metadata={"doc": "jumps so far"})]
    for name in run.columns:
        s = run.signals[name]
        said = {"unit": s.unit, "doc": s.doc, "role": s.role, "rate_of": s.rate_of or "", "group": s.group}
        fields.append(pa.field(name, pa.float64(), metadata=said))
    notes = _notes(run)
    table = pa.table(list(arrays.values()), schema=pa.schema(fields, metadata=notes))
    pq.write_table(table, path)


def _notes(run: Trajectory) -> dict[str, str]:
    """What belongs to all rows."""
    verdict = json.dumps(run.verdict.to_dict())
    return {"outcome": run.outcome.name, "verdict": verdict, "provenance": json.dumps(run.provenance)}


def topics(run: Trajectory) -> dict[str, list[Signal]]:
    """MCAP topics: one per body, leg or motor (each output group), one for states, one for energies and one for powers.

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


def write_mcap(run: Trajectory, stream: IO[bytes]) -> None:
    """JSON messages with schemas that carry units; opens in Foxglove, rerun and any MCAP reader."""
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
        schema = writer.register_schema(topic.strip("/").replace("/", "."), "jsonschema", _schema(topic, properties))
        channel = writer.register_channel(topic, "json", schema)
        names = ["t", "j", *(s.leaf for s in signals)]
        columns = [run.t.tolist(), run.j.tolist(), *(_nullable(run.columns[s.name]) for s in signals)]
        channels.append((channel, names, columns))
    stamps = np.round(run.t * _NANOSECONDS).astype(np.int64).tolist()
    every = -(-len(stamps) // MOST_LOGGED)
    for row, stamp in list(enumerate(stamps))[::every]:
        for channel, names, columns in channels:
            data = json.dumps({name: column[row] for name, column in zip(names, columns, strict=True)}).encode()
            writer.add_message(channel, log_time=stamp, data=data, publish_time=stamp)
    properties = {"t": {"type": "number", "unit": "s"}, "name": {"type": "string"}, "leg": {"type": ["integer", "null"]}}
    schema = writer.register_schema("event", "jsonschema", _schema("event", properties))
    channel = writer.register_channel("/events", "json", schema)
    for event in run.events:
        stamp = round(event.t * _NANOSECONDS)
        data = json.dumps({"t": event.t, "name": event.name, "leg": event.leg}).encode()
        writer.add_message(channel, log_time=stamp, data=data, publish_time=stamp)
    writer.add_metadata("footfall", _notes(run))
    writer.finish()


def _schema(title: str, properties: dict[str, Any]) -> bytes:
    return json.dumps({"type": "object", "title": title, "properties": properties}).encode()


def _nullable(values: np.ndarray) -> list[float | None]:
    finite = np.isfinite(values)
    return values.tolist() if finite.all() else [v if ok else None for v, ok in zip(values.tolist(), finite, strict=True)]
