"""The robot itself in the log of a stack run, where a viewer sees it: put in when the run is over.

Nobody measures where a real robot's feet are. What is measured, the torso's pitch and the motors'
angles, tells where they are by odometry, which is the robot's own affair
(`AbstractPlant.odometry`): so for an emulated robot as for a real one. It is an estimate, so its
frames are in `odom`, which is what ROS calls a world known in this way (REP 105).

Shapes depend on the whole run (how long a rod may get, how far the ground reaches), and outputs on
JAX: neither is for the programs that must not be late.
"""

from __future__ import annotations

import os
from typing import IO, Any

import jax
import numpy as np

from footfall.engines.jax_setup import prepare_jax
from footfall.hybrid.flatten import named_leaves
from footfall.machines.control.lockstep import ClosedLoop
from footfall.numerics.units import TURN
from footfall.realtime.stack_log import TOPIC, StackLog
from footfall.record.cdr import text_message
from footfall.record.mcap_log import shown_rows, transforms
from footfall.record.robot_model import ODOM, RobotModel, robot_model
from footfall.record.ros_types import definition
from footfall.scenario.load import Experiment

ABOUT = "footfall-stack-poses"  #: MCAP metadata
HOW = (
    "odometry from the measured pitch and motor angles: rigid spokes, no slip, plane ground;"
    " an estimate, also of an emulated robot"
)
_TYPES = {"/robot_description": "std_msgs/msg/String", "/tf": "tf2_msgs/msg/TFMessage"}


def add_poses(log: StackLog, experiment: Experiment) -> bool:
    """Put `/robot_description` and `/tf` into the file of a log; False: nothing to put in.

    The file is written anew beside it and takes its place when it is whole.
    """
    rows = _known(log)
    if log.ending is None or len(rows) < 2:
        return False
    shown = rows[shown_rows(log["t"][rows])]
    model = estimated_model(log, shown, experiment)
    if model is None:
        return False
    messages = transforms(model, log["t"][shown], np.arange(len(shown)))
    aside = log.path.with_name(f".{log.path.name}.part")
    try:
        with log.path.open("rb") as old, aside.open("xb") as new:
            poses = dict(zip(log["cycle"][shown].tolist(), messages, strict=True))
            _copy(old, new, text_message(model.urdf), poses)
            new.flush()
            os.fsync(new.fileno())
        aside.replace(log.path)
    finally:
        aside.unlink(missing_ok=True)
    return True


def estimated_model(log: StackLog, rows: np.ndarray, experiment: Experiment) -> RobotModel | None:
    """Shapes and frames of the robot in these records, of a robot that can tell where it is.

    Until the law is first on somebody holds it at its start.
    """
    system, options = experiment.system, experiment.start_options
    assert isinstance(system, ClosedLoop) and options is not None
    prepare_jax()
    known, plant = _known(log), system.plant
    on = np.flatnonzero(log["setpoint_on"][known])
    begun = known[on[0] if len(on) else -1]
    walked = known[known >= begun]
    sides = "lr"[: log.settings.motors]
    to_joint = TURN / float(system.motor.gear_ratio)
    positions = tuple(to_joint * log[f"motor_pos_{side}"][walked] for side in sides)
    state = plant.odometry(options.state(plant), log["pitch"][walked], positions)
    if state is None:
        return None
    seen = jax.jit(type(plant).outputs)(plant, 0.0, state.x, state.m)
    place = np.searchsorted(walked, np.maximum(rows, begun))
    some = {
        name: np.broadcast_to(np.asarray(values), walked.shape)[place]
        for name, values, _ in named_leaves(seen)
    }
    name = f"{log.scenario} (by odometry)"
    return robot_model(some, system.drawing().shapes, name, ODOM)


def _known(log: StackLog) -> np.ndarray:
    """Rows in which all is known that tells where a robot is."""
    names = ["pitch", *(f"motor_pos_{side}" for side in "lr"[: log.settings.motors])]
    return np.flatnonzero(np.all([np.isfinite(log[name]) for name in names], axis=0))


def _copy(old: IO[bytes], new: IO[bytes], description: bytes, poses: dict[int, bytes]) -> None:
    """A log with its messages, and after the records of these cycles the poses in them."""
    from mcap.records import Channel, DataEnd, Message, Metadata, Schema
    from mcap.stream_reader import StreamReader
    from mcap.writer import CompressionType, Writer

    from footfall.realtime.stack_log import CHUNK_BYTES

    writer = Writer(new, chunk_size=CHUNK_BYTES, compression=CompressionType.NONE)
    writer.start(profile="", library="footfall")
    schemas: dict[int, int] = {}
    channels: dict[int, tuple[str, int]] = {}
    own: dict[str, int] = {}
    for entry in StreamReader(old).records:
        match entry:
            case Metadata():
                writer.add_metadata(entry.name, entry.metadata)
            case Schema() if entry.id not in schemas:
                schemas[entry.id] = writer.register_schema(entry.name, entry.encoding, entry.data)
            case Channel() if entry.id not in channels:
                number = writer.register_channel(
                    entry.topic, entry.message_encoding, schemas[entry.schema_id]
                )
                channels[entry.id] = entry.topic, number
            case Message():
                stamp, (topic, number) = entry.log_time, channels[entry.channel_id]
                if not own:
                    own = _channels(writer)
                    writer.add_message(own["/robot_description"], stamp, description, stamp)
                writer.add_message(
                    number, stamp, entry.data, entry.publish_time, sequence=entry.sequence
                )
                if topic == TOPIC and (pose := poses.get(entry.sequence)) is not None:
                    writer.add_message(own["/tf"], stamp, pose, stamp)
            case DataEnd():
                break
    writer.add_metadata(ABOUT, {"how": HOW})
    writer.finish()


def _channels(writer: Any) -> dict[str, int]:
    channels = {}
    for topic, name in _TYPES.items():
        schema = writer.register_schema(name, "ros2msg", definition(name).encode())
        channels[topic] = writer.register_channel(topic, "cdr", schema)
    return channels
