"""From the main loop to the bridge to ROS, which is a process of its own, and back.

Records go out without waiting: where the bridge is slow or gone they are dropped. Commands come in
by a thread that sleeps in a read, as a joystick's do.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import math
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from footfall.machines.control.contracts import Operator, Record
from footfall.machines.control.drive_table import Drive, DrivenOperator, DriveTable
from footfall.machines.control.settings import StackSettings
from footfall.realtime.log_link import MOST_BYTES, QUEUE_BYTES
from footfall.realtime.stack_log import to_json

PATIENCE = 2.0  # s for the bridge to end by itself


class Twist(NamedTuple):
    """A command, as the log has it."""

    cmd_linear: float  #: m/s, ahead
    cmd_angular: float  #: rad/s, counter-clockwise


class RosLink:
    """Call it for the newest Operator, who is gone when the bridge is."""

    def __init__(
        self, table: Path, settings: StackSettings, clock: Callable[[], float] = time.monotonic
    ):
        """`table`: file of a DriveTable."""
        self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, QUEUE_BYTES)
        rest = DriveTable.from_json(table.read_text()).rest
        self._operator, self._clock = DrivenOperator(settings, rest), clock
        self._twist: Twist | None = None
        self._told: Twist | None = None
        module = "footfall.realtime.ros_process"
        self.process = subprocess.Popen(
            [sys.executable, "-m", module, str(theirs.fileno()), str(table)],
            pass_fds=[theirs.fileno()],
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            # What ROS says there is no status line; it goes where the supervisor's last words go.
            stdout=sys.stderr,
        )
        theirs.close()
        threading.Thread(target=self._follow, name="ros", daemon=True).start()

    def __call__(self) -> Operator:
        return self._operator.at(self._clock())

    def put(self, record: Record, stamp: int) -> bool:
        """A record with its time [ns since 1970] on its way to be published; False: dropped."""
        try:
            self._ours.send(json.dumps([stamp, to_json(record)]).encode(), socket.MSG_DONTWAIT)
        except OSError:
            return False
        return True

    def commanded(self) -> Twist | None:
        """What was commanded since the last call, once."""
        newest, told = self._twist, self._told
        self._told = newest
        return None if newest is told else newest

    def close(self) -> None:
        """End the bridge."""
        with contextlib.suppress(OSError):  # it is gone already
            self._ours.shutdown(socket.SHUT_RDWR)
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self._ours.close()

    def _follow(self) -> None:
        with contextlib.suppress(OSError, ValueError, TypeError):  # gone, or talking nonsense
            while data := self._ours.recv(MOST_BYTES):
                twist, drive = json.loads(data)
                self._operator.command(Drive(*drive), self._clock())
                if all(map(math.isfinite, twist)):  # a log has no word for others
                    self._twist = Twist(*twist)
        self._operator.gone()


def ros_missing() -> str:
    """Why there is no ROS for this Python, and what to do; "" where there is."""
    missing = [
        name
        for name in ("rclpy", "geometry_msgs", "sensor_msgs")
        if importlib.util.find_spec(name) is None
    ]
    if not missing:
        return ""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return (
        f"--ros needs {', '.join(missing)} of ROS 2, which Python {version} here does not find. No"
        " package index has them: install ROS 2 (docs.ros.org; Jazzy is for Python 3.12), make the"
        " environment of footfall with its Python, and do `. /opt/ros/jazzy/setup.bash` first."
        " Without ROS: --script or --joystick; the log has the same messages."
    )
