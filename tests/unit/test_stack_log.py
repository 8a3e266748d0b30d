"""The log of the stack.

What was put in comes out, however the writing ended; any other file is refused in words.
"""

import dataclasses
import datetime
import json
import math
import signal
import subprocess
import time
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given
from mcap.reader import make_reader
from mcap.writer import Writer
from mcap_ros2.decoder import DecoderFactory

from footfall.machines.control.contracts import Record
from footfall.machines.control.pid import PidGains
from footfall.machines.control.settings import StackSettings
from footfall.realtime.log_link import LogLink
from footfall.realtime.stack_log import (
    FILE_NAME,
    TAIL_NAME,
    TOPIC,
    StackLogError,
    StackLogWriter,
    read_stack_log,
    to_json,
)
from footfall.realtime.stack_topics import RosTopics

SETTINGS = StackSettings(PidGains(16.3, 27.2, 1.23, 5.0, 40.0, 0.01, 1000), setpoint=0.6)
PATIENCE = 20.0  # s; a process starts in a fraction of one


def about():
    started = datetime.datetime.now(datetime.UTC).isoformat()
    return {
        "settings": SETTINGS.to_json(),
        "scenario": "rimless-wheel",
        "versions": '{"footfall": "0"}',
        "started": started,
    }


def record(cycle, **changes):
    values = Record(
        t=cycle * 0.01,
        cycle=cycle,
        pitch=0.59 + 0.001 * cycle,
        pitch_setpoint=0.6,
        motor_pos_l=0.1 * cycle,
        motor_pos_r=0.1 * cycle,
        motor_vel_l=3.5,
        motor_vel_r=3.4,
        pid_output=4.01 if cycle % 2 else None,
        bus_voltage=24.0,
        bus_current=1.5,
        setpoint_on=cycle > 3,
        steer=0.0,
        motors_on=True,
        fault="" if cycle < 8 else "motor 0 turns at 9.1 turns/s",
        late_cycles=0,
        dropped_records=0,
        rejected_frames=2,
        period=0.01,
        work=0.002,
    )
    return dataclasses.replace(values, **changes)


def written(path, records, ending="the operator stopped it"):
    with path.open("wb") as stream:
        writer = StackLogWriter(stream, about())
        for each in records:
            writer.add(to_json(each))
        if ending is not None:
            writer.finish(ending)
    return path


def test_what_was_put_in_comes_out(tmp_path):
    records = [record(cycle) for cycle in range(10)]
    log = read_stack_log(written(tmp_path / FILE_NAME, records))
    assert log.records() == records
    assert log.settings == SETTINGS
    assert (log.scenario, log.ending, log.versions) == (
        "rimless-wheel",
        "the operator stopped it",
        {"footfall": "0"},
    )


def test_a_number_that_is_not_known_is_nan_and_an_empty_output_stays_empty(tmp_path):
    log = read_stack_log(
        written(tmp_path / FILE_NAME, [record(0, pitch=math.inf), record(1, pitch=None)])
    )
    assert np.isnan(log["pitch"]).all()
    assert [each.pid_output for each in log.records()] == [None, 4.01]


def test_any_reader_with_an_index_finds_the_records(tmp_path):
    """An indexed reader found 0 of 1114; rerun and Foxglove read so."""
    path = written(tmp_path / FILE_NAME, [record(cycle) for cycle in range(1000)])
    with path.open("rb") as stream:
        reader = make_reader(stream)
        summary = reader.get_summary()
        assert len(summary.chunk_indexes) > 5  # about a second each
        late = summary.statistics.message_end_time - 1_000_000_000
        found = [
            json.loads(message.data)["cycle"]
            for _, _, message in reader.iter_messages([TOPIC], starting_at=late)
        ]
        everything = sum(1 for _ in reader.iter_messages([TOPIC]))
    assert found == list(range(899, 1000)) and everything == 1000


def test_foxglove_takes_the_schema_and_records_say_nothing_of_what_is_not_known(tmp_path):
    """By the rules of its JSON schema parser: one type to a property, of those it knows."""
    path = written(tmp_path / FILE_NAME, [record(0, pitch=None), record(1)])
    with path.open("rb") as stream:
        reader = make_reader(stream)
        (schema,) = (s for s in reader.get_summary().schemas.values() if s.encoding != "ros2msg")
        first, second = (json.loads(m.data) for _, _, m in reader.iter_messages([TOPIC]))
    told = json.loads(schema.data)
    assert (schema.encoding, told["type"]) == ("jsonschema", "object")
    known = {"number": int | float, "integer": int, "boolean": bool, "string": str}
    for name, value in second.items():
        assert isinstance(value, known[told["properties"][name]["type"]]), name
    assert set(second) - set(first) == {"pitch", "pid_output"}
    assert set(second) == {field.name for field in dataclasses.fields(Record)}


def test_what_a_robot_on_ros_publishes_is_in_it(tmp_path):
    path = written(tmp_path / FILE_NAME, [record(0, pitch=None, motor_vel_l=None), record(1)])
    with path.open("rb") as stream:
        reader = make_reader(stream, decoder_factories=[DecoderFactory()])
        found = [
            (f.channel.topic, f.decoded_message)
            for f in reader.iter_decoded_messages(list(RosTopics.definitions()))
        ]
    battery, *rest = found  # of the first cycle nothing else was known
    assert battery[0] == "/battery_state" and math.isnan(battery[1].temperature)
    assert (battery[1].voltage, battery[1].current, battery[1].present) == (24.0, -1.5, True)
    assert [topic for topic, _ in rest] == ["/joint_states", "/imu/data", "/battery_state"]
    joints, imu = rest[0][1], rest[1][1]
    assert list(joints.name) == ["motor_l", "motor_r"]
    np.testing.assert_allclose(joints.position, 2 * math.pi * np.array([0.1, 0.1]))
    np.testing.assert_allclose(joints.velocity, 2 * math.pi * np.array([3.5, 3.4]))
    assert imu.header.frame_id == "torso" and imu.orientation.x == imu.orientation.z == 0
    assert 2 * math.atan2(imu.orientation.y, imu.orientation.w) == pytest.approx(-0.591)
    # sensor_msgs/Imu: "-1 in element 0" where there is no such measurement.
    assert imu.angular_velocity_covariance[0] == imu.linear_acceleration_covariance[0] == -1
    assert imu.orientation_covariance[0] == 0


def test_a_log_cut_off_anywhere_is_good_up_to_its_last_whole_record(tmp_path):
    """What is in no chunk is in the tail; both may end in the middle of a record."""
    path, tail = tmp_path / FILE_NAME, tmp_path / TAIL_NAME
    with path.open("wb") as stream, tail.open("wb") as rest:
        writer = StackLogWriter(stream, about(), rest)
        for cycle in range(150):
            writer.add(to_json(record(cycle)))
        whole, held = path.read_bytes(), tail.read_bytes()
    assert 10 < held.count(b"\n") < 150  # some are in a chunk, some are not
    lengths = []
    for cut in (*range(len(held) - 1500, len(held), 41), len(held) - 1, len(held)):
        tail.write_bytes(held[:cut])
        log = read_stack_log(path)
        assert log.ending is None
        assert log["cycle"].tolist() == list(range(len(log)))
        lengths.append(len(log))
    assert sorted(lengths) == lengths
    assert lengths[-2:] == [149, 150] and lengths[0] < 149
    path.write_bytes(whole[: len(whole) // 2])  # the chunk is lost, nothing else
    assert len(read_stack_log(path)) == held.count(b"\n")


def test_a_tail_whose_end_never_came_to_the_disk_is_good_up_to_there(tmp_path):
    """After a power cut a file may have its length, and zeros in the place of its last bytes."""
    path, tail = tmp_path / FILE_NAME, tmp_path / TAIL_NAME
    with path.open("wb") as stream, tail.open("wb") as rest:
        writer = StackLogWriter(stream, about(), rest)
        for cycle in range(6):
            writer.add(to_json(record(cycle)))
        whole, held = path.read_bytes(), tail.read_bytes()
    path.write_bytes(whole + bytes(500))
    kept = held.index(b"\n", len(held) // 2) + 30
    tail.write_bytes(held[:kept] + bytes(len(held) - kept) + b"\n")
    log = read_stack_log(path)
    assert log["cycle"].tolist() == list(range(held[:kept].count(b"\n"))) and len(log) >= 3


def test_a_digit_that_is_another_one_is_no_measurement(tmp_path):
    path = written(tmp_path / FILE_NAME, [record(cycle) for cycle in range(5)])
    data = path.read_bytes()
    assert data.count(b'"bus_voltage": 24.0') == 5
    path.write_bytes(data.replace(b'"bus_voltage": 24.0', b'"bus_voltage": 25.0', 1))
    with pytest.raises(StackLogError, match="damaged chunk: its checksum"):
        read_stack_log(path)


@given(st.integers(0, 10_000), st.binary(min_size=1, max_size=12))
def test_a_damaged_file_gives_a_log_or_an_error_in_words(tmp_path_factory, where, damage):
    path = tmp_path_factory.mktemp("damaged") / FILE_NAME
    data = bytearray(written(path, [record(cycle) for cycle in range(5)]).read_bytes())
    where %= len(data)
    data[where : where + len(damage)] = damage
    path.write_bytes(data)
    try:
        log = read_stack_log(path)
    except StackLogError as error:
        assert str(path) in str(error)
    else:
        assert len(log) <= 5


def test_an_entry_that_claims_a_huge_size_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / FILE_NAME
    path.write_bytes(
        written(path, [], ending=None).read_bytes() + bytes([5]) + (1 << 60).to_bytes(8, "little")
    )
    with pytest.raises(StackLogError, match="no log of the stack has one over"):
        read_stack_log(path)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("pitch", "0.5"),
        ("cycle", 1.5),
        ("cycle", True),
        ("fault", 3),
        ("fault", "x" * 3000),
        ("setpoint_on", 1),
        ("t", [0.0]),
    ],
)
def test_a_record_of_another_shape_is_refused(tmp_path, field, value):
    path = tmp_path / FILE_NAME
    with path.open("wb") as stream:
        writer = StackLogWriter(stream, about())
        writer.add_data(json.dumps(to_json(record(1)) | {field: value}).encode())
        writer.finish("made")
    with pytest.raises(StackLogError, match=f"{field} = "):
        read_stack_log(path)


@pytest.mark.parametrize("text", [b"NaN", b"[" * 100_000, b"{", b"\xff\xfe", b"[1]"])
def test_a_record_that_is_no_json_object_is_refused(tmp_path, text):
    path = tmp_path / FILE_NAME
    with path.open("wb") as stream:
        writer = StackLogWriter(stream, about())
        writer.add_data(text)
        writer.finish("made")
    with pytest.raises(StackLogError, match="a record that is no"):
        read_stack_log(path)


def test_files_of_other_kinds_are_refused(tmp_path):
    text, other = tmp_path / "notes.mcap", tmp_path / "run.mcap"
    text.write_text("t,pitch\n0,0.6\n")
    with other.open("wb") as stream:
        writer = Writer(stream)
        writer.start()
        writer.finish()
    for path, words in (
        (text, "not an MCAP file"),
        (other, "no description"),
        (tmp_path / "absent.mcap", "cannot be read"),
    ):
        with pytest.raises(StackLogError, match=words):
            read_stack_log(path)


def test_settings_that_are_nonsense_are_refused(tmp_path):
    path = tmp_path / FILE_NAME
    for nonsense in ("{}", "[]", "null", "not JSON", json.dumps({"gains": 3})):
        with path.open("wb") as stream:
            StackLogWriter(stream, about() | {"settings": nonsense})
        with pytest.raises(StackLogError, match="settings cannot be read"):
            read_stack_log(path)


def until(condition, what):
    """Poll; a busy machine may take its time, but not for ever."""
    limit = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < limit, f"waited {PATIENCE} s for {what}"
        time.sleep(0.02)


def grown(folder, count):
    path = folder / FILE_NAME
    return path.exists() and path.stat().st_size > 0 and len(read_stack_log(path)) >= count


def test_each_record_is_with_the_system_before_the_next_is_due(tmp_path):
    link = LogLink(tmp_path, about())
    assert link.put(record(0))
    until(lambda: grown(tmp_path, 1), "one record alone to reach the file")
    assert link.close("done")
    assert read_stack_log(tmp_path).ending == "done"


def test_a_stopped_writer_costs_records_not_time_and_what_was_queued_is_written_later(tmp_path):
    link = LogLink(tmp_path, about())
    assert link.put(record(0))
    until(lambda: grown(tmp_path, 1), "the writer to be at work")
    link.process.send_signal(signal.SIGSTOP)
    state = Path(f"/proc/{link.process.pid}/stat")
    until(lambda: state.read_text().rpartition(")")[2].split()[0] == "T", "the writer to stop")
    taken = [link.put(record(cycle)) for cycle in range(1, 401)]
    link.process.send_signal(signal.SIGCONT)
    assert link.close("done")
    kept = taken.index(False)
    assert not any(taken[kept:])  # nothing was read meanwhile
    assert 50 <= kept <= 200  # about a second's worth: QUEUE_BYTES says how many
    assert read_stack_log(tmp_path)["cycle"].tolist() == list(range(kept + 1))


def test_a_killed_writer_leaves_a_readable_file_and_later_records_are_refused(tmp_path):
    link = LogLink(tmp_path, about())
    for cycle in range(5):
        link.put(record(cycle))
    until(lambda: grown(tmp_path, 5), "five records")
    link.process.kill()
    link.process.wait()
    assert link.put(record(5)) is False
    assert link.close("done") is False
    log = read_stack_log(tmp_path)
    assert (len(log), log.ending) == (5, None)


def test_a_log_is_a_new_file_of_its_folder_and_no_link_out_of_it(tmp_path):
    outside = tmp_path / "outside"
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / FILE_NAME).symlink_to(outside)
    link = LogLink(folder, about())
    try:
        assert link.process.wait(PATIENCE) == 1
    except subprocess.TimeoutExpired:
        link.process.kill()
        raise
    assert not outside.exists()
