"""The bridge to ROS 2: publishes what the log gets, obeys `/cmd_vel`.

It may wait for the network as long as it must; the main loop does not.

python -m footfall.realtime.ros_process SOCKET TABLE         (started by the supervisor)
"""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import sys
import threading
from pathlib import Path
from typing import Any

from footfall.machines.control.drive_table import DriveTable
from footfall.realtime.log_link import MOST_BYTES
from footfall.realtime.stack_topics import COMMAND, RosTopics

NODE = "footfall"
DEPTH = 10  # messages that ROS keeps for a slow subscriber
NEWEST = 1  # of commands no other counts


class Commands:
    """Every command on its way to the supervisor; what cannot be done is said once."""

    def __init__(self, link: socket.socket, table: DriveTable, logger: Any):
        self._link, self._table, self._logger, self._said = link, table, logger, ""

    def __call__(self, twist: Any) -> None:
        asked = float(twist.linear.x), float(twist.angular.z)
        drive = self._table.drive(*asked)
        if drive.words and drive.words != self._said:
            self._logger.warning(drive.words)
        self._said = drive.words
        with contextlib.suppress(OSError):  # the supervisor has ended, and so will this
            self._link.send(json.dumps([asked, drive]).encode())


def bridge(link: socket.socket, table: DriveTable) -> None:
    """Until the supervisor is gone."""
    import rclpy  # pyright: ignore[reportMissingImports]
    from geometry_msgs.msg import Twist  # pyright: ignore[reportMissingImports]
    from sensor_msgs.msg import BatteryState, Imu, JointState  # pyright: ignore[reportMissingImports]

    types = {"/joint_states": JointState, "/imu/data": Imu, "/battery_state": BatteryState}
    topics = RosTopics()
    rclpy.init(args=[])
    node = rclpy.create_node(NODE)
    publishers = {topic: node.create_publisher(kind, topic, DEPTH) for topic, kind in types.items()}
    commands = Commands(link, table, node.get_logger())
    node.create_subscription(Twist, COMMAND, commands, NEWEST)
    threading.Thread(target=rclpy.spin, args=(node,), name="spin", daemon=True).start()
    try:
        while data := link.recv(MOST_BYTES):
            stamp, record = json.loads(data)
            for topic, message in topics.messages(record, stamp):
                if topic in publishers:
                    publishers[topic].publish(message)  # as its bytes: those of the log
    finally:
        if rclpy.ok():
            rclpy.shutdown()


def main(arguments: list[str]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the end comes through the socket
    table = DriveTable.from_json(Path(arguments[1]).read_text())
    bridge(socket.socket(fileno=int(arguments[0])), table)


if __name__ == "__main__":
    main(sys.argv[1:])
