"""The Raspberry Pi's program.

Opens the named devices, checks them, runs footfall.machines.control.supervisor against the clock,
ends in order.

    python -m footfall.realtime.supervisor_process --settings FILE --folder RUN --mid PORT --imu
    PORT --driver PORT --script FILE

Exit status: 0 ended as planned; 1 a fault cut the motors off, or the joystick was lost; 2 it did
not start; 3 a signal ended it.
"""

from __future__ import annotations

import argparse
import datetime
import importlib.metadata
import json
import platform
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from footfall.machines.control.contracts import MotorDriver, Operator, Record, ResetLine
from footfall.machines.control.microseconds import SECOND
from footfall.machines.control.odrive_ascii import OdriveAscii
from footfall.machines.control.operator_sources import (
    JoystickDecoder,
    RecordedOperator,
    ScriptedOperator,
)
from footfall.machines.control.ports import Port
from footfall.machines.control.reset_line import FileResetLine, GpioResetLine, NoResetLine
from footfall.machines.control.settings import StackSettings
from footfall.machines.control.start_up import Connections, Devices, StartUpError, start_up
from footfall.machines.control.supervisor import Supervisor, run
from footfall.realtime.joystick import JoystickThread, require_layout
from footfall.realtime.log_link import LogLink
from footfall.realtime.parent_watch import begin
from footfall.realtime.real_clock import RealClock, keep_time
from footfall.realtime.ros_link import RosLink
from footfall.realtime.sensor_line import open_sensor
from footfall.realtime.serial_port import NoisyPort, open_port
from footfall.realtime.stack_log import read_stack_log
from footfall.realtime.status_line import prepare_to_say, say

PRIORITY = 20  #: of real-time scheduling where it is permitted: below the mid level
PLANNED, FAULT, NOT_STARTED, SIGNAL = range(4)


class Journal:
    """Every record on its way to the log, and what the last words of the run will need."""

    def __init__(self, link: LogLink, started: str, ros: RosLink | None = None):
        """`started`: ISO time of t = 0."""
        self._link, self._ros = link, ros
        self._started_ns = round(datetime.datetime.fromisoformat(started).timestamp() * 1e9)
        self.faults: list[str] = []
        self.cycles = 0
        self.ending = ""

    def put(self, record: Record) -> bool:
        self.cycles = record.cycle + 1
        if record.fault and (not self.faults or self.faults[-1] != record.fault):
            self.faults.append(record.fault)
        if self._ros is None:
            return self._link.put(record)
        self._ros.put(record, self._started_ns + round(record.t * 1e9))
        twist = self._ros.commanded()
        return self._link.put(record, twist and twist._asdict())

    def close(self, finished: str) -> None:
        """The log's last words, on whichever way the run ends.

        By its own wish, by the clock, or by an exception on its way out.
        """
        match sys.exception():
            case None:
                self.ending = finished or "the time was over"
            case SystemExit():
                self.ending = "a signal ended it"
            case error:
                self.ending = f"{type(error).__name__}: {error}"
        self._link.close(self.ending)


class Ready(NamedTuple):
    """All that can be refused is behind it."""

    settings: StackSettings
    devices: Devices
    begin_operating: Callable[[], Callable[[], Operator]]
    ros: RosLink | None = None


def main(arguments: Sequence[str] | None = None) -> int:
    asked = _arguments(arguments)
    begin(asked.parent)
    prepare_to_say()
    clock = RealClock()
    try:
        ready = _prepare(asked, clock)
    except (StartUpError, OSError, ValueError) as error:  # each says what to do about it
        print(error, file=sys.stderr)
        return NOT_STARTED
    return _supervise(asked, ready, clock)


def _prepare(asked: argparse.Namespace, clock: RealClock) -> Ready:
    settings = StackSettings.from_json(Path(asked.settings).read_text())
    # A bad script is found before anything moves.
    ros = RosLink(Path(asked.ros), settings) if asked.ros else None
    begin_operating = (lambda: ros) if ros is not None else _operator(asked, settings, clock)
    changes = [word for change in asked.set for word in ("--set", change)]
    devices = start_up(
        settings,
        _reset_line(asked.reset),
        _connections(asked, settings, clock),
        clock,
        sketch=shlex.join(["footfall", "stack", "firmware", asked.scenario or "NAME", *changes]),
    )
    if devices.standing_errors:
        print(
            f"The motor driver has errors from before, not cleared: {devices.standing_errors}.",
            file=sys.stderr,
        )
    if devices.unread_limits:
        print(
            f"Limits of the motor driver that could not be read: {', '.join(devices.unread_limits)}"
            ". Look at them with odrivetool.",
            file=sys.stderr,
        )
    return Ready(settings, devices, begin_operating, ros)


def _supervise(asked: argparse.Namespace, ready: Ready, clock: RealClock) -> int:
    settings, devices = ready.settings, ready.devices
    about = _about(settings, asked.scenario, asked.set)
    link = LogLink(Path(asked.folder), about)
    journal = Journal(link, about["started"], ready.ros)
    status = SIGNAL
    granted = keep_time(PRIORITY if asked.priority else None)
    supervisor = Supervisor(
        settings,
        devices.driver,
        devices.sensor,
        devices.mid_port,
        ready.begin_operating(),
        journal.put,
        clock,
        end_log=lambda: journal.close(supervisor.finished),
    )
    try:
        run(supervisor, clock, None if asked.duration is None else clock.now() + asked.duration)
        status = FAULT if journal.faults else PLANNED
    except SystemExit:
        pass  # it was a signal, and all is switched off
    finally:
        for problem in supervisor.shutdown_problems:
            print(problem, file=sys.stderr)
        for device in (devices.driver, devices.sensor, devices.mid_port):
            device.close()
        if ready.ros is not None:
            ready.ros.close()
        counts = {
            "cycles": journal.cycles,
            "late_cycles": supervisor.late_cycles,
            "dropped_records": supervisor.dropped_records,
        }
        say(
            "supervisor",
            ending=journal.ending,
            faults=journal.faults,
            status=status,
            granted=granted,
            **counts,
        )
    return status


def _operator(
    asked: argparse.Namespace, settings: StackSettings, clock: RealClock
) -> Callable[[], Callable[[], Operator]]:
    """How to begin to ask the operator; a script's time begins then."""
    if asked.joystick:
        layout = require_layout(Path(asked.joystick))
        resting = Operator(setpoint=settings.setpoint)
        decoder = JoystickDecoder(settings, layout)
        return lambda: JoystickThread(Path(asked.joystick), decoder, resting)
    if asked.replay:
        recorded = RecordedOperator(read_stack_log(asked.replay).records(), settings)
        return lambda: recorded.following(clock)
    script = ScriptedOperator(Path(asked.script).read_text().splitlines(), settings)
    return lambda: script.following(clock)


def _connections(
    asked: argparse.Namespace, settings: StackSettings, clock: RealClock
) -> Connections:
    def mid() -> Port:
        port = open_port(asked.mid)
        return NoisyPort(port, asked.noise, asked.seed) if asked.noise else port

    def driver() -> MotorDriver:
        if asked.driver_serial is not None:
            from footfall.machines.control.odrive_vendor import OdriveVendor, find_odrive

            boards = [find_odrive(serial or None) for serial in asked.driver_serial]
            return OdriveVendor(boards, settings)
        limit = asked.reply_limit or settings.reply_limit_us / SECOND
        ports = [open_port(line) for line in asked.driver]
        return OdriveAscii.connect(ports, settings, clock, reply_limit=limit)

    return Connections(mid=mid, sensor=lambda: open_sensor(asked.imu, settings), driver=driver)


def _reset_line(where: str | None) -> ResetLine:
    """file:PATH, CHIP:LINE (a chip by name or by path), or nothing."""
    if where is None:
        return NoResetLine()
    kind, _, rest = where.rpartition(":")
    if where.startswith("file:"):
        return FileResetLine(where.removeprefix("file:"))
    if not kind or not rest.isdecimal():
        raise ValueError(f"reset line {where!r}: expected CHIP:LINE, such as gpiochip0:17.")
    return GpioResetLine(str(Path("/dev") / kind), int(rest))


def _about(settings: StackSettings, scenario: str, changes: Sequence[str]) -> dict[str, str]:
    versions = {name: importlib.metadata.version(name) for name in ("footfall", "numpy", "mcap")}
    return {
        "settings": settings.to_json(),
        "scenario": scenario,
        "changes": json.dumps(list(changes)),
        "versions": json.dumps(versions | {"python": platform.python_version()}),
        "started": datetime.datetime.now(datetime.UTC).isoformat(),
    }


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--settings", required=True, help="JSON file")
    parser.add_argument("--folder", required=True, help="of the run; the log appears in it")
    parser.add_argument("--scenario", default="", help="name to write into the log")
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="change of it, to write into the log",
    )
    parser.add_argument("--mid", required=True, help="serial port of the Teensy")
    parser.add_argument("--imu", required=True, help="line to the pitch sensor")
    driver = parser.add_mutually_exclusive_group(required=True)
    driver.add_argument(
        "--driver", action="append", help="serial port of the motor driver; for each board"
    )
    driver.add_argument(
        "--driver-serial",
        action="append",
        help="serial number of each board of the driver, by the vendor's package; empty: any",
    )
    parser.add_argument(
        "--reset", help="file:PATH or CHIP:LINE; without it the Teensy is not reset"
    )
    operator = parser.add_mutually_exclusive_group(required=True)
    operator.add_argument(
        "--script", help="file of lines: time, action and, where the action has one, a value"
    )
    operator.add_argument("--joystick", help="device, or a named pipe")
    operator.add_argument("--replay", help="log whose operator to repeat")
    operator.add_argument("--ros", help="file of the table of speeds; /cmd_vel of ROS operates")
    parser.add_argument("--duration", type=float, help="s; then it ends")
    parser.add_argument(
        "--noise", type=float, default=0.0, help="share of bytes to garble on the Teensy's line"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the noise")
    parser.add_argument(
        "--reply-limit", type=float, help="s the motor driver may take to answer, if not as set"
    )
    parser.add_argument("--priority", action="store_true", help="ask for real-time scheduling")
    parser.add_argument("--parent", type=int, default=0, help="end when this process does")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    raise SystemExit(main())
