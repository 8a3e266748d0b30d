"""The log of a stack run: an MCAP file, readable however its writing ended.

Records (JSON, one a cycle) and what ROS robots publish (`stack_topics.py`) are gathered into chunks
of about a second, with an index at the end, so that rerun, Foxglove and any indexed reader find
them. What has no chunk yet stands in a second file beside it, a record a line, in the hands of the
system as soon as it is written: a process that is killed loses nothing.
"""

from __future__ import annotations

import dataclasses
import datetime
import io
import json
import math
import os
import typing
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np

from footfall.machines.control.contracts import Record
from footfall.machines.control.settings import StackSettings
from footfall.realtime.stack_topics import RosTopics

FILE_NAME = "stack.mcap"
TAIL_NAME = "stack.tail"  # beside it while the run goes, and after it if nobody could end it
TOPIC = "/stack/record"
CHUNK_BYTES = 1 << 17  # about a second of records at 100 Hz
# MCAP metadata: at the start, and at the end if it came to that.
ABOUT, ENDING = ("footfall-stack", "footfall-stack-ending")
_NANOSECONDS = 1_000_000_000  # per second: MCAP's clock

#: What a log may hold; a file that claims more is damaged, or was made to do harm. A day at 100 Hz
#: is 8.6 million records.
MOST_RECORDS = 20_000_000
LONGEST = 200_000.0  # s: what that many records take at 100 Hz
MOST_ENTRY_BYTES = 1 << 20
MOST_TAIL_BYTES = 1 << 20
MOST_TEXT = 2_000  # characters of a fault
LARGEST = 1e12  # of a number: no device says more, and its square is still one

UNITS = {
    "t": "s",
    "pitch": "rad",
    "pitch_setpoint": "rad",
    "motor_pos_l": "turns",
    "motor_pos_r": "turns",
    "motor_vel_l": "turns/s",
    "motor_vel_r": "turns/s",
    "pid_output": "A",
    "bus_voltage": "V",
    "bus_current": "A",
    "steer": "A",
    "period": "s",
    "work": "s",
}
#: Of a command of a speed, in the record of the cycle that heard it.
COMMANDED = {"cmd_linear": "m/s", "cmd_angular": "rad/s"}
_KINDS = typing.get_type_hints(Record)
_JSON_TYPES = {
    float: "number",
    float
    | None: "number",  # left out where it is not known: viewers refuse a type that may be null
    int: "integer",
    bool: "boolean",
    str: "string",
}


class StackLogError(ValueError):
    """A file is not a log of the stack, and why."""


def to_json(record: Record) -> dict[str, Any]:
    """A record as JSON has it: what is not finite is null, for JSON has no word for it."""
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in vars(record).items()
    }


class StackLogWriter:
    """Writes the file as the run goes.

    `about` are texts: settings (JSON), scenario, changes (JSON), versions (JSON), started (ISO time
    of t = 0). `tail` takes the records that are in no chunk yet.
    """

    def __init__(self, stream: IO[bytes], about: dict[str, str], tail: IO[bytes] | None = None):
        from mcap.writer import CompressionType, Writer

        self._stream, self._tail = stream, tail
        self._started_ns = round(
            datetime.datetime.fromisoformat(about["started"]).timestamp() * _NANOSECONDS
        )
        self._writer = Writer(stream, chunk_size=CHUNK_BYTES, compression=CompressionType.NONE)
        self._writer.start(profile="", library="footfall")
        self._writer.add_metadata(ABOUT, about)
        schema = self._writer.register_schema("footfall.stack.Record", "jsonschema", _schema())
        self._channel = self._writer.register_channel(TOPIC, "json", schema)
        self._topics = {}
        for topic, (name, text) in RosTopics.definitions().items():
            number = self._writer.register_schema(name, "ros2msg", text.encode())
            self._topics[topic] = self._writer.register_channel(topic, "cdr", number)
        self._ros = RosTopics()
        stream.flush()
        self.records = 0

    def add(self, record: dict[str, Any]) -> None:
        stamp = self._started_ns + round(record["t"] * _NANOSECONDS)
        known = {name: value for name, value in record.items() if value is not None}
        data = json.dumps(known, allow_nan=False).encode()
        before = self._stream.tell()
        self.add_data(data, stamp, record["cycle"] & 0xFFFFFFFF)
        for topic, message in self._ros.messages(record, stamp):
            self._writer.add_message(self._topics[topic], stamp, message, stamp)
        if self._tail is not None:
            if self._stream.tell() > before:  # a chunk was written, which has this record, or all
                self._stream.flush()  # before it, in it
                self._tail.seek(0)
                self._tail.truncate()
            self._tail.write(data + b"\n")
            self._tail.flush()
        self.records += 1

    def add_data(self, data: bytes, stamp: int = 0, sequence: int = 0) -> None:
        """One record as its bytes, whatever they are."""
        self._writer.add_message(self._channel, stamp, data, stamp, sequence=sequence)

    def sync(self) -> None:
        """Onto the disk."""
        os.fsync(self._stream.fileno())
        if self._tail is not None:
            os.fsync(self._tail.fileno())

    def finish(self, ending: str) -> None:
        """All into the file; what stands in the tail is in it then."""
        self._writer.add_metadata(ENDING, {"ending": ending})
        self._writer.finish()
        self._stream.flush()
        os.fsync(self._stream.fileno())


@dataclasses.dataclass(frozen=True)
class StackLog:
    """What a log holds. Numbers that were not known are NaN."""

    path: Path
    columns: dict[str, np.ndarray]  #: one array for each field of Record, by its name
    settings: StackSettings
    scenario: str
    versions: dict[str, str]
    started: str  #: ISO time
    ending: str | None  #: why the run ended; None: the file was cut off before anybody could say
    changes: tuple[str, ...] = ()  #: what `--set` changed in the scenario

    def __len__(self) -> int:
        return len(self.columns["t"])

    def __getitem__(self, name: str) -> np.ndarray:
        return self.columns[name]

    def records(self) -> list[Record]:
        """One object a cycle, as the supervisor made them."""
        columns = [_as_python(self.columns[name], kind) for name, kind in _KINDS.items()]
        return [Record(*values) for values in zip(*columns, strict=True)]


def read_stack_log(path: str | Path) -> StackLog:
    """A log, whole or cut off. Raises StackLogError for any other file."""
    path = Path(path)
    if path.is_dir():
        path = path / FILE_NAME
    try:
        with path.open("rb") as stream:
            return _read(path, stream)
    except OSError as error:
        raise StackLogError(f"{path} cannot be read: {error.strerror}.") from None


def _read(path: Path, stream: IO[bytes]) -> StackLog:
    from mcap.data_stream import ReadDataStream
    from mcap.opcode import Opcode
    from mcap.records import Channel, Message, Metadata

    if stream.read(8) != b"\x89MCAP0\r\n":
        raise StackLogError(
            f"{path} is not an MCAP file. Expected a log written by `footfall stack run`, named"
            f" {FILE_NAME}."
        )
    about: dict[str, str] = {}
    ending: str | None = None
    channel_id: int | None = None
    rows: dict[str, list[Any]] = {name: [] for name in _KINDS}
    for code, body, where in _entries(path, stream):
        data = ReadDataStream(io.BytesIO(body))
        try:
            match code:
                case Opcode.METADATA:
                    entry = Metadata.read(data)
                    if entry.name == ABOUT:
                        about = entry.metadata
                    elif entry.name == ENDING:
                        ending = entry.metadata.get("ending", "")
                case Opcode.CHANNEL:
                    channel = Channel.read(data)
                    channel_id = channel.id if channel.topic == TOPIC else channel_id
                case Opcode.MESSAGE:
                    message = Message.read(data, len(body))
                    if message.channel_id == channel_id:
                        _take(rows, message.data, where)
        except StackLogError:
            raise
        except Exception as error:  # whatever the reader of MCAP entries makes of nonsense
            raise StackLogError(
                f"{where}: a damaged entry ({type(error).__name__}: {error})."
            ) from None
        if len(rows["t"]) > MOST_RECORDS:
            raise StackLogError(f"{path}: more than {MOST_RECORDS} records.")
    if ending is None:
        _take_tail(rows, path.with_name(TAIL_NAME))
    return _log(path, about, ending, rows)


def _entries(path: Path, stream: IO[bytes]) -> Iterator[tuple[int, bytes, str]]:
    """Code, content and place of each entry, those in chunks too, up to where the file is cut."""
    from mcap.data_stream import ReadDataStream
    from mcap.opcode import Opcode
    from mcap.records import Chunk

    while head := stream.read(9):
        length = int.from_bytes(head[1:], "little")
        where = f"{path}, byte {stream.tell() - len(head)}"
        if len(head) == 9 and length > MOST_ENTRY_BYTES:
            raise StackLogError(
                f"{where}: an entry of {length} bytes; no log of the stack has one over"
                f" {MOST_ENTRY_BYTES}."
            )
        body = stream.read(length) if len(head) == 9 else b""
        if len(head) < 9 or len(body) < length or head[0] == Opcode.DATA_END:
            return  # cut off in the middle of an entry, or the rest repeats what was read
        if head[0] != Opcode.CHUNK:
            yield head[0], body, where
            continue
        try:
            chunk = Chunk.read(ReadDataStream(io.BytesIO(body)))
        except Exception as error:
            raise StackLogError(f"{where}: a damaged chunk ({error}).") from None
        if chunk.compression:
            raise StackLogError(
                f"{where}: a compressed chunk; a log of the stack has none. Was this written by"
                " `footfall stack run`?"
            )
        if chunk.uncompressed_crc not in (0, zlib.crc32(chunk.data)):  # 0: not given
            raise StackLogError(
                f"{where}: a damaged chunk: its checksum is another one. Take a copy of the file"
                " from where it was written."
            )
        yield from _entries(path, io.BytesIO(chunk.data))


def _take_tail(rows: dict[str, list[Any]], tail: Path) -> None:
    """Records that came into no chunk, of a run that was killed."""
    if not tail.is_file() or tail.is_symlink() or tail.stat().st_size > MOST_TAIL_BYTES:
        return
    lines = tail.read_bytes().split(b"\n")
    for line in lines[:-1]:  # what follows the last end of a line was cut off
        if b"\0" in line:
            return  # where the power was cut, before these bytes had come to the disk
        held = len(rows["cycle"])
        _take(rows, line, str(tail))
        if held and rows["cycle"][-1] <= rows["cycle"][held - 1]:
            for column in rows.values():
                column.pop()  # it is in a chunk already


def _log(
    path: Path, about: dict[str, str], ending: str | None, rows: dict[str, list[Any]]
) -> StackLog:
    if not about:
        raise StackLogError(
            f"{path} has no description of a stack run in it. Expected a log written by `footfall"
            " stack run`."
        )
    try:
        settings = StackSettings.from_json(about["settings"])
        changes = tuple(str(change) for change in json.loads(about.get("changes", "[]")))
        versions = {
            str(name): str(version)
            for name, version in json.loads(about.get("versions", "{}")).items()
        }
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise StackLogError(f"{path}: its settings cannot be read ({error}).") from None
    columns = {name: _column(rows[name], kind) for name, kind in _KINDS.items()}
    _check_times(path, columns["t"])
    scenario, started = about.get("scenario", ""), about.get("started", "")
    return StackLog(path, columns, settings, scenario, versions, started, ending, changes)


def _check_times(path: Path, t: np.ndarray) -> None:
    """Times tell how long a replay takes and where it stands.

    They are known, in order, and of a length that a run can have.
    """
    wrong = ~((t >= 0.0) & (t <= LONGEST))  # also where it is not a number
    wrong[1:] |= t[1:] < t[:-1]
    if wrong.any():
        row = int(np.argmax(wrong))
        before = f" after {t[row - 1]:g} s" if row else ""
        raise StackLogError(
            f"{path}: record {row} has t = {t[row]:g} s{before}. Expected seconds since the start,"
            f" never falling, at most {LONGEST:g}."
        )


def _take(rows: dict[str, list[Any]], data: bytes, where: str) -> None:
    """One record, each field of the kind it must be."""
    try:
        record = json.loads(data, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise StackLogError(f"{where}: a record that is not JSON ({error}).") from None
    if not isinstance(record, dict):
        raise StackLogError(f"{where}: a record that is no object.")
    values = [record.get(name) for name in rows]
    for (name, column), value in zip(rows.items(), values, strict=True):
        if not _fits(value, _KINDS[name]):
            raise StackLogError(
                f"{where}: {name} = {str(value)[:40]!r} in a record. Expected"
                f" {_JSON_TYPES[_KINDS[name]]}."
            )
        column.append(value)


def _fits(value: Any, kind: Any) -> bool:
    if kind in (float, float | None):
        # A number that was not finite is null in the file, even where the record itself always has
        # one.
        return value is None or (
            isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < LARGEST
        )
    if kind is int:
        return isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 62
    if kind is str:
        return isinstance(value, str) and len(value) <= MOST_TEXT
    return isinstance(value, kind)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _column(values: list[Any], kind: Any) -> np.ndarray:
    if kind in (float, float | None):
        return np.array([math.nan if value is None else value for value in values], float)
    return np.array(values, {int: np.int64, bool: np.bool_}.get(kind, np.str_))


def _as_python(column: np.ndarray, kind: Any) -> list[Any]:
    values = column.tolist()
    return (
        [None if value != value else value for value in values] if kind == float | None else values
    )


def _schema() -> bytes:
    properties: dict[str, Any] = {
        name: {"type": _JSON_TYPES[kind]} for name, kind in _KINDS.items()
    }
    for name, unit in UNITS.items():
        properties[name]["unit"] = unit
    for name, unit in COMMANDED.items():
        properties[name] = {"type": "number", "unit": unit}
    return json.dumps(
        {"type": "object", "title": "one cycle of the high level", "properties": properties}
    ).encode()
