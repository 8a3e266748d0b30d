"""The bridge to ROS 2, against a stand-in for rclpy (support/ros_stand_in).

No ROS was at hand: what is tested is our side of rclpy's documented calls.
"""

import dataclasses
import json
import math
import os
import socket
import sys
import time

import numpy as np
import pytest
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory

from footfall.machines.control.contracts import Record
from footfall.machines.control.drive_table import COMES_TO_REST, STALE, DriveTable
from footfall.realtime.ros_link import RosLink, ros_missing
from footfall.realtime.stack_log import FILE_NAME
from support.serial_stage import SETTINGS, SLACK, TESTS, stage, undisturbed

STAND_IN = TESTS / "support" / "ros_stand_in"
PATIENCE = 20.0  # s
TABLE = DriveTable(
    np.array([0.5, 0.7]),
    np.array([0.0, 1.0]),
    np.array([[0.4, 0.4], [0.8, 0.8]]),
    np.array([[0.0, -1.0], [0.0, -1.0]]),
)


class Ros:
    """The network that the stand-in talks to."""

    def __init__(self, folder):
        self.folder, self.table = folder, folder / "speeds.json"
        self.table.write_text(TABLE.to_json())
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)

    def listens(self):
        return (self.folder / "cmd_vel").exists()

    def command(self, linear, angular):
        said = json.dumps([linear, angular]).encode()
        self._socket.sendto(said, str(self.folder / "cmd_vel"))

    def published(self):
        path = self.folder / "published"
        lines = path.read_text().splitlines() if path.exists() else []
        return [json.loads(line) for line in lines]

    def warnings(self):
        path = self.folder / "warnings"
        return path.read_text().splitlines() if path.exists() else []


@pytest.fixture
def ros(tmp_path, monkeypatch):
    monkeypatch.setenv("STAND_IN_ROS", str(tmp_path))
    paths = [str(STAND_IN), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, paths)))
    return Ros(tmp_path)


def until(condition):
    limit = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < limit
        time.sleep(0.01)


def a_record(cycle):
    kinds = {"float": 0.01 * cycle, "int": cycle, "bool": True, "str": ""}
    values = {f.name: kinds[f.type.partition(" ")[0]] for f in dataclasses.fields(Record)}
    return Record(**values)


def test_commands_come_in_records_go_out_and_the_end_of_either_is_noticed(ros):
    link = RosLink(ros.table, SETTINGS)
    try:
        until(ros.listens)
        assert not link().run and link.commanded() is None
        ros.command(0.6, -0.5)
        until(lambda: link().run)
        operator = link()
        assert (operator.setpoint, operator.steer) == pytest.approx((0.6, 0.5))
        assert link.commanded() == (0.6, -0.5) and link.commanded() is None
        ros.command(3.0, 0.0)
        until(lambda: link().setpoint == 0.7)
        (said,) = ros.warnings()
        assert "0.8 m/s where 3" in said
        assert link.commanded() == (3.0, 0.0)
        ros.command(math.nan, 0.0)
        until(lambda: len(ros.warnings()) == 2)
        until(lambda: link().setpoint < 0.65)  # which is no command to go
        assert link.commanded() is None
        ros.command(0.6, 0.0)
        until(lambda: link().setpoint == pytest.approx(0.6))
        until(lambda: link().setpoint < 0.55)  # nobody commands any more
        assert link().present and link().run
        assert all(link.put(a_record(cycle), 10**9 + cycle) for cycle in range(20))
        until(lambda: len(ros.published()) == 60)
        assert [said["topic"] for said in ros.published()[:3]] == [
            "/joint_states", "/imu/data", "/battery_state"
        ]  # fmt: skip
        link.process.kill()
        until(lambda: not link().present)
        assert not link.put(a_record(0), 0)
    finally:
        link.close()
    assert link.process.returncode is not None


def test_a_bridge_that_sleeps_costs_records_and_no_time(ros):
    link = RosLink(ros.table, SETTINGS)
    try:
        until(ros.listens)
        link.process.send_signal(19)  # SIGSTOP
        began = time.monotonic()
        taken = [link.put(a_record(cycle), 0) for cycle in range(2000)]
        assert time.monotonic() - began < 0.5 * SLACK
        assert taken[0] and not taken[-1]
        link.process.send_signal(18)  # SIGCONT
    finally:
        link.close()


@undisturbed
def test_the_stack_walks_while_it_is_commanded_and_stops_half_a_second_after(tmp_path, ros):
    """With real processes, and a plant that starts in no time."""
    with stage(tmp_path, ros=ros.table) as run:
        run.until(ros.listens, "the bridge is there")

        def walked():
            ros.command(0.6, 0.2)  # again and again, as a robot is driven
            return run.status["supervisor"].get("records", 0) > 250

        run.until(walked, "records of two seconds")
        last = time.monotonic()
        run.until(lambda: run.status["robot"]["now"] > last, "news of the robot")
        assert run.status["robot"]["flowed"] > last
        stopped = run.current_stopped_after(last, watched=STALE + COMES_TO_REST + 0.5)
        assert stopped < STALE + COMES_TO_REST + 0.1 * SLACK
        run.send("supervisor", 2)  # Ctrl-C of the launcher
        run.until_ended()
        log = run.log()
    assert log.ending == "a signal ended it" and not log["fault"].any()
    on, t = log["setpoint_on"], log["t"]
    walks = on & (log["pitch_setpoint"] == 0.6) & (log["steer"] == -0.2)
    rests = on & (log["pitch_setpoint"] < 0.6) & (log["steer"] == 0.0)
    assert (walks ^ rests)[on].all() and t[walks][-1] < t[rests][0]
    assert (np.diff(log["pitch_setpoint"][rests]) < 0).all()
    assert log["pitch_setpoint"][rests][-1] < 0.05 * SLACK  # of 0.6 rad, which is 6 mrad a cycle
    # To a cycle or two, of which a busy machine may leave some out.
    assert np.ptp(t[rests]) == pytest.approx(COMES_TO_REST, abs=0.03 * SLACK)
    with (tmp_path / "run" / FILE_NAME).open("rb") as stream:
        reader = make_reader(stream, decoder_factories=[DecoderFactory()])
        found = list(reader.iter_decoded_messages(["/cmd_vel"]))
        twists = [each.decoded_message for each in found]
        _, _, first = next(iter(reader.iter_messages()))
        heard = t[0] + 1e-9 * (found[-1].message.log_time - first.log_time)
        messages = {
            (channel.topic, message.data.hex())
            for _, channel, message in reader.iter_messages(["/joint_states", "/battery_state"])
        }
    assert len(twists) > 50
    assert {(twist.linear.x, twist.angular.z) for twist in twists} == {(0.6, 0.2)}
    assert t[walks][-1] - heard == pytest.approx(STALE, abs=0.03 * SLACK)
    # What was published is what the log has, to the byte.
    told = [(said["topic"], said["data"]) for said in ros.published()]
    told = {said for said in told if said[0] != "/imu/data"}
    assert len(told) > 200 and told <= messages


def test_without_rclpy_the_command_says_what_to_install(monkeypatch):
    monkeypatch.setattr(sys, "path", [p for p in sys.path if "ros" not in p.rpartition("/")[2]])
    words = ros_missing()
    assert "rclpy" in words and "setup.bash" in words and "--script" in words
    monkeypatch.syspath_prepend(str(STAND_IN))
    assert ros_missing() == ""
