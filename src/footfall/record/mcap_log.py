"""A trajectory as an MCAP log: every number, and the robot itself, in messages of ROS 2.

Foxglove, rerun and PlotJuggler read it as it is. Topics of a run are its output groups, each a
message type of our own whose fields are plain numbers (`float64 x  # m: where it is`), arrays over
like legs; `/joint_states`, `/tf` and `/robot_description` are what robots on ROS publish, and show
the robot.
"""

import re
from collections.abc import Callable
from typing import IO, Any, NamedTuple

import numpy as np

from footfall.record.cdr import Layout, header, stamps, text_message
from footfall.record.robot_model import RobotModel, robot_model
from footfall.record.ros_types import definition
from footfall.record.signal import Signal
from footfall.record.trajectory import EventRecord, Trajectory

#: A log to look at needs no more rows than this; a longer run is thinned in it (the Parquet file
#: has every row).
MOST_LOGGED = 100_000
#: The robot is shown so often: as a screen can, and no more often than this in all.
POSES_PER_SECOND, MOST_POSES = 60.0, 10_000
_AT_ONCE = 4096  # rows
_NANOSECONDS = 1_000_000_000  # nanoseconds per second: MCAP's clock ...
_LAST_STAMP = 2**63 - 1  # ... which ends after 292 years; a message says its time itself

_EVENT = (
    "int32 NO_LEG=-1\nfloat64 t  # s\nstring name\nint32 leg  # of several like legs, else NO_LEG\n"
)


class _Field(NamedTuple):
    """One field of a message: a number, or an array over like legs."""

    name: str
    signals: list[Signal]


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
    """The numbers and the motion of a run; opens in Foxglove, rerun and any MCAP reader.

    At most `most` rows, evenly spread. `progress` gets rows and all rows; where it says True, the
    log is cut there, and the time of the cut comes back.
    """
    from mcap.writer import CompressionType, Writer

    writer = Writer(stream, compression=CompressionType.ZSTD)
    writer.start(profile="ros2", library="footfall")
    every, cut = max(1, -(-len(run.t) // most)), None
    some = run if every == 1 else run.taken(np.arange(0, len(run.t), every))
    shown = shown_rows(some.t)
    outputs = {signal: some.columns[signal][shown] for signal in some.of_role("output")}
    model = robot_model(outputs, some.sketch, _name(run))

    def channel(topic: str, type_name: str, text: str) -> int:
        schema = writer.register_schema(type_name, "ros2msg", text.encode())
        return writer.register_channel(topic, "cdr", schema)

    description = channel(
        "/robot_description", "std_msgs/msg/String", definition("std_msgs/msg/String")
    )
    start = _stamp(float(some.t[0])) if len(some.t) else 0
    writer.add_message(description, start, text_message(model.urdf), start)
    numbers = []
    for topic, signals in topics(run).items():
        fields = _fields(signals)
        to = channel(topic, f"footfall/msg/{_type_name(topic)}", _definition(fields))
        numbers.append((to, fields, _layout(fields)))
    joints = _joints(run)
    if joints:
        name = "sensor_msgs/msg/JointState"
        states = channel("/joint_states", name, definition(name))
    if model.frames:
        name = "tf2_msgs/msg/TFMessage"
        poses_to = channel("/tf", name, definition(name))
    # Rows by the block: as Python's numbers they would take five times the room.
    for first in range(0, len(some.t), _AT_ONCE):
        if progress is not None and progress(first, len(some.t)):
            cut = float(some.t[first])
            break
        rows = slice(first, min(first + _AT_ONCE, len(some.t)))
        t = some.t[rows]
        blocks: list[tuple[int, Any]] = [
            (to, layout.messages(_values(some, fields, rows))) for to, fields, layout in numbers
        ]
        if joints:
            blocks.append((states, _joint_states(some, joints, rows)))
        if model.frames:
            here = np.flatnonzero((shown >= rows.start) & (shown < rows.stop))
            poses = transforms(model, some.t[shown[here]], here)
            blocks.append((poses_to, dict(zip((shown[here] - first).tolist(), poses, strict=True))))
        for row, stamp in enumerate(_stamp(value) for value in t.tolist()):
            for to, messages in blocks:
                if not isinstance(messages, dict) or row in messages:
                    writer.add_message(to, stamp, messages[row], stamp)
    events = channel("/events", "footfall/msg/Event", _EVENT)
    for event in run.events:
        if cut is not None and event.t > cut:
            break
        stamp = _stamp(event.t)
        writer.add_message(events, stamp, _event(event), stamp)
    writer.add_metadata("footfall", run.notes())
    writer.finish()
    return cut


def _name(run: Trajectory) -> str:
    return str(run.provenance.get("scenario") or "robot")


def shown_rows(t: np.ndarray) -> np.ndarray:
    """Rows in which the robot is shown: the first of each sixtieth of a second, and the last."""
    if len(t) == 0:
        return np.zeros(0, int)
    span = float(t[-1] - t[0])
    count = int(min(max(span * POSES_PER_SECOND, 1.0), MOST_POSES, len(t)))
    places = np.searchsorted(t, t[0] + span * np.arange(count) / count)
    return np.unique(np.append(np.minimum(places, len(t) - 1), len(t) - 1))


# --- messages of our own --------------------------------------------------------------------------


def _fields(signals: list[Signal]) -> list[_Field]:
    """Numbers by their names; those of like legs ("fx.0", "fx.1", ...) together as an array."""
    arrays: dict[str, list[Signal]] = {}
    for signal in signals:
        base, _, leg = signal.leaf.rpartition(".")
        row = arrays.get(base, [])
        alike = base and leg == str(len(row))
        arrays.setdefault(base if alike else signal.leaf, []).append(signal)
    fields: list[_Field] = []
    taken = {"t", "j"}
    for leaf, members in arrays.items():
        name = plain = field_name(leaf)
        number = 2
        while name in taken:
            name, number = f"{plain}_{number}", number + 1
        taken.add(name)
        fields.append(_Field(name, members))
    return fields


def field_name(leaf: str) -> str:
    """What ROS takes as the name of a field: small letters, digits, single underscores.

    >>> field_name("feet.front_left.travel"), field_name("M_"), field_name("2nd")
    ('feet_front_left_travel', 'm', 'n2nd')
    """
    name = re.sub("_+", "_", re.sub("[^a-z0-9]", "_", leaf.lower())).strip("_")
    return name if name[:1].isalpha() else f"n{name}"


def _type_name(topic: str) -> str:
    """Of a topic: "/energy/jump_work" has messages of type EnergyJumpWork."""
    words = re.split("[^A-Za-z0-9]+", topic)
    name = "".join(word[:1].upper() + word[1:] for word in words)
    return name if name[:1].isalpha() else f"N{name}"


def _definition(fields: list[_Field]) -> str:
    lines = ["float64 t  # s", "int64 j  # jumps so far"]
    for field in fields:
        size = f"[{len(field.signals)}]" if _is_array(field) else ""
        first = field.signals[0]
        words = ": ".join(part for part in (first.unit, " ".join(first.doc.split())) if part)
        lines.append(f"float64{size} {field.name}  # {words}")
    return "\n".join(lines) + "\n"


def _is_array(field: _Field) -> bool:
    return len(field.signals) > 1 or field.signals[0].leaf.rpartition(".")[2] == "0"


def _layout(fields: list[_Field]) -> Layout:
    layout = Layout().number("t", "<f8").number("j", "<i8")
    for field in fields:
        layout.number(field.name, "<f8", len(field.signals))
    return layout


def _values(run: Trajectory, fields: list[_Field], rows: slice) -> dict[str, np.ndarray]:
    values = {"t": run.t[rows], "j": run.j[rows]}
    for field in fields:
        values[field.name] = np.stack([run.columns[s.name][rows] for s in field.signals], axis=1)
    return values


def _event(event: EventRecord) -> bytes:
    leg = -1 if event.leg is None else event.leg
    layout = Layout().number("t", "<f8").text(event.name).number("leg", "<i4")
    return layout.messages({"t": [event.t], "leg": [leg]})[0]


# --- messages of ROS ------------------------------------------------------------------------------


def _joints(run: Trajectory) -> list[tuple[str, str]]:
    """(position, velocity) of every state that has a rate: an angle, a length, a place."""
    return [
        (signal.rate_of, signal.name)
        for signal in run.signals.values()
        if signal.role == "state" and signal.rate_of in run.signals
    ]


def _joint_states(run: Trajectory, joints: list[tuple[str, str]], rows: slice) -> list[bytes]:
    layout = joint_layout([position for position, _ in joints])
    position, velocity = (
        np.stack([run.columns[pair[side]][rows] for pair in joints], axis=1) for side in (0, 1)
    )
    return layout.messages({**stamps(run.t[rows]), "position": position, "velocity": velocity})


def joint_layout(names: list[str]) -> Layout:
    """sensor_msgs/JointState of these joints, without efforts."""
    layout = header(Layout(), "").length(len(names))
    for name in names:
        layout.text(name)
    layout.length(len(names)).number("position", "<f8", len(names))
    layout.length(len(names)).number("velocity", "<f8", len(names))
    return layout.length(0)


def transforms(model: RobotModel, t: np.ndarray, rows: np.ndarray) -> list[bytes]:
    """tf2_msgs/TFMessage: every frame of these rows in the root frame, at these times."""
    if len(rows) == 0:
        return []
    layout, values = Layout().length(len(model.frames)), {}
    for number, frame in enumerate(model.frames):
        own = f"{number}."
        header(layout, model.root, own).text(frame.name)
        layout.number(f"{own}place", "<f8", 3).number(f"{own}turn", "<f8", 4)
        values |= stamps(t, own)
        values |= {f"{own}place": frame.place[rows], f"{own}turn": frame.turn[rows]}
    return layout.messages(values)


def _stamp(t: float) -> int:
    return min(round(t * _NANOSECONDS), _LAST_STAMP)
