"""What a robot on ROS publishes, of the records of the stack: for viewers that know no other words.

`/joint_states` of both motors in radians, `/imu/data` of the pitch sensor, `/battery_state` of the
motor driver's supply, and `/cmd_vel` where somebody commanded a speed over ROS. What was not known
in a cycle is left out of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from footfall.record.cdr import Layout, header
from footfall.record.ros_types import definition

COMMAND = "/cmd_vel"
_TYPES = {
    "/joint_states": "sensor_msgs/msg/JointState",
    "/imu/data": "sensor_msgs/msg/Imu",
    "/battery_state": "sensor_msgs/msg/BatteryState",
    COMMAND: "geometry_msgs/msg/Twist",
}
MOTORS = ("motor_l", "motor_r")
_TURN = 2.0 * math.pi
_NANOSECONDS = 1_000_000_000
_UNKNOWN = 9 * [0.0]
_NOT_MEASURED = [-1.0] + 8 * [0.0]  # as sensor_msgs/Imu says it
_DISCHARGING, _HEALTH_UNKNOWN, _TECHNOLOGY_UNKNOWN = 2, 0, 0


class RosTopics:
    """Lays out the messages once, and fills them in record by record."""

    def __init__(self) -> None:
        joints = header(Layout(), "").length(len(MOTORS))
        for name in MOTORS:
            joints.text(name)
        joints.length(2).number("position", "<f8", 2)
        joints.length(2).number("velocity", "<f8", 2).length(0)
        imu = header(Layout(), "torso").number("orientation", "<f8", 4)
        imu.constant(_UNKNOWN, "<f8").constant(3 * [0.0] + _NOT_MEASURED, "<f8")
        imu.constant(3 * [0.0] + _NOT_MEASURED, "<f8")
        battery = header(Layout(), "").number("voltage", "<f4").constant(math.nan, "<f4")
        battery.number("current", "<f4").constant(4 * [math.nan], "<f4")
        battery.constant([_DISCHARGING, _HEALTH_UNKNOWN, _TECHNOLOGY_UNKNOWN, 1], "u1")
        battery.length(0).length(0).text("").text("")
        twist = Layout().number("linear", "<f8").constant([0.0, 0.0], "<f8")
        twist.constant([0.0, 0.0], "<f8").number("angular", "<f8")
        self._joints, self._imu, self._battery, self._twist = joints, imu, battery, twist

    @staticmethod
    def definitions() -> dict[str, tuple[str, str]]:
        """Type and definition by topic."""
        return {topic: (name, definition(name)) for topic, name in _TYPES.items()}

    def messages(self, record: dict[str, Any], stamp: int) -> Iterator[tuple[str, bytes]]:
        """(topic, message) of one record."""
        clock = {"sec": [stamp // _NANOSECONDS], "nanosec": [stamp % _NANOSECONDS]}
        place, speed = (
            [record.get(f"motor_{what}_{side}") for side in "lr"] for what in ("pos", "vel")
        )
        if None not in place and None not in speed:
            values = {"position": _TURN * np.array(place), "velocity": _TURN * np.array(speed)}
            yield "/joint_states", self._joints.messages(clock | values)[0]
        pitch = record.get("pitch")
        if pitch is not None:
            # The torso hangs: with its weight ahead its house pitch, about +y, is negative.
            quaternion = [0.0, math.sin(-pitch / 2), 0.0, math.cos(-pitch / 2)]
            yield "/imu/data", self._imu.messages(clock | {"orientation": quaternion})[0]
        voltage, current = record.get("bus_voltage"), record.get("bus_current")
        if voltage is not None and current is not None:
            values = {"voltage": [voltage], "current": [-current]}  # out of it is negative
            yield "/battery_state", self._battery.messages(clock | values)[0]
        ahead, turn = record.get("cmd_linear"), record.get("cmd_angular")
        if ahead is not None and turn is not None:
            yield COMMAND, self._twist.messages({"linear": [ahead], "angular": [turn]})[0]
