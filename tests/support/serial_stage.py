"""The stack with real processes, for tests: a plant that starts in no time, a
run in a context, ways to watch it.

Run as a program it is the robot process with that plant:  python -m support.serial_stage --scenario
stand-in --folder RUN"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
import os
import signal
import struct
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from footfall.hybrid.outcome import Outcome
from footfall.machines.control.electrics import Battery, Winding
from footfall.machines.control.pid import PidGains
from footfall.machines.control.settings import StackSettings
from footfall.realtime import robot_process
from footfall.realtime.launcher import Emulation, StackProcesses, python_mid
from footfall.realtime.stack_log import StackLog, read_stack_log

TESTS = Path(__file__).resolve().parents[1]
SETTINGS = StackSettings(
    PidGains(16.3, 27.2, 1.23, 5.0, 40.0, 0.01, 1000),
    setpoint=0.6,
    motor_signs=(1.0, -1.0),
    driver_watchdog_us=100_000,
)
#: A loaded machine may leave any process waiting; the limits on what the stack must do are three
#: times the page's.
SLACK = 3.0
PATIENCE = 30.0  # s, for what must come but has no limit of its own


class StandInPlant:
    """A torso that hangs from an axle and is pushed up by the motors, which also spin a flywheel
    against drag. Forward positive.
    """

    outcome = Outcome.running

    def __init__(self) -> None:
        self.pitch, self._rate = 0.55, 0.0
        self._held = True  #: by a hand, until the first current flows
        self._speed, self._turns = 0.0, 0.0

    @property
    def speeds(self) -> tuple[float, float]:
        return self._speed, self._speed

    @property
    def positions(self) -> tuple[float, float]:
        return self._turns, self._turns

    def advance(self, currents: Sequence[float], dt_us: int) -> None:
        dt, torque = dt_us * 1e-6, 0.184 * sum(currents)  # 5.4 x 0.034 N m/A
        if self._held and not any(currents):
            return
        self._held = False
        self._rate += dt * (torque - 0.9 * math.sin(self.pitch) - 0.1 * self._rate) / 0.05
        self.pitch += dt * self._rate
        self._speed += dt * (1.4 * sum(currents) - 1.1 * self._speed)  # 1.4 A: 3.6 turns/s
        self._turns += dt * self._speed


def stand_in(
    scenario: str, changes: Sequence[str]
) -> tuple[StandInPlant, StackSettings, list[Winding], Battery]:
    """`changes`: the number of boards alone, as KEY=VALUE."""
    winding = Winding(torque_constant=0.034, resistance=0.12, current_limit=40.0, loop_share=1.0)
    numbers = {key: int(value) for key, value in (change.split("=") for change in changes)}
    settings = dataclasses.replace(SETTINGS, **numbers)
    return StandInPlant(), settings, [winding, winding], Battery(voltage=24.0, resistance=0.05)


#: Motors on, the law on, and a minute to walk.
WALK = ["0.1 motors-on", "0.3 run", "60 stop"]


#: A process that was kept waiting for so long by the machine proves nothing about the stack: half
#: the shortest watchdog.
PAUSE_US = 50_000
ATTEMPTS = 3
_stages: list[Stage] = []  #: of the test at work


def undisturbed(test: Callable[..., None]) -> Callable[..., None]:
    """A test that is repeated if it failed while the machine paused one of the programs; without a
    pause, a failure is one.
    """

    @functools.wraps(test)
    def repeated(tmp_path: Path, **arguments: Any) -> None:
        for attempt in range(ATTEMPTS):
            _stages.clear()
            folder = tmp_path / f"attempt-{attempt}"
            folder.mkdir()
            try:
                return test(folder, **arguments)
            except AssertionError:
                if attempt == ATTEMPTS - 1 or not any(
                    stage.longest_pause_us > PAUSE_US for stage in _stages
                ):
                    raise

    return repeated


class Stage:
    """A run under way, and what a test does to it."""

    def __init__(self, processes: StackProcesses):
        self.processes, self.status = processes, processes.status
        self.longest_pause_us = 0
        _stages.append(self)

    def until(self, condition: Callable[[], Any], what: str, patience: float = PATIENCE) -> None:
        """Poll until it is so."""
        limit = time.monotonic() + patience
        while not condition():
            assert time.monotonic() < limit, (
                f"{patience} s passed, and not yet: {what}.\n{self.describe()}"
            )
            self.processes.poll(0.02)
            pauses = [self.status[program].get("latest_us", 0) for program in ("robot", "mid")]
            self.longest_pause_us = max(self.longest_pause_us, *pauses, self._high_pause_us())

    def _high_pause_us(self) -> float:
        """What the supervisor's cycles took beyond their period, the only sign of its pauses;
        waiting for a silent driver looks alike.
        """
        seen = self.status["supervisor"]
        return max(
            seen.get("period", 0.0) * 1e6 - SETTINGS.high_period_us,
            10_000.0 * seen.get("late_cycles", 0),
        )

    def until_walking(self) -> None:
        def walks() -> bool:
            supervisor = self.status["supervisor"]
            assert not supervisor.get("fault"), f"a fault nobody made: {self.describe()}"
            assert self.processes.running, f"it did not start: {self.describe()}"
            return (
                bool(supervisor.get("setpoint_on"))
                and max(map(abs, self.status["robot"].get("currents", [0.0]))) > 1.0
            )

        self.until(walks, "the robot walks")

    def until_fault(self, *words: str) -> str:
        def said() -> bool:
            return all(word in self.status["supervisor"].get("fault", "").lower() for word in words)

        self.until(said, f"a fault about {words}")
        return self.status["supervisor"]["fault"]

    def until_ended(self) -> int:
        supervisor = self.processes.children["supervisor"].process
        self.until(lambda: supervisor.poll() is not None, "the supervisor ends")
        self.processes.poll(0.1)
        status = supervisor.poll()
        assert status is not None
        return status

    def spoil(self, line: str) -> float:
        """A fault of the emulated robot; when it was made."""
        with self.processes.folder.faults.open("w") as pipe:
            pipe.write(line + "\n")
        return time.monotonic()

    def send(self, name: str, number: int) -> float:
        """A signal to one of the programs, "log" among them; when it was sent."""
        pid = (
            self.status["supervisor"]["log_pid"]
            if name == "log"
            else self.processes.children[name].process.pid
        )
        os.kill(pid, number)
        return time.monotonic()

    def kill(self, name: str) -> float:
        return self.send(name, signal.SIGKILL)

    def current_stopped_after(self, moment: float, watched: float = 0.7) -> float:
        """Seconds from this moment until no current flowed any more; looked at for long enough to
        see it come back.
        """
        self.until(
            lambda: self.status["robot"].get("now", 0.0) > moment + watched,
            "the robot was watched for a while",
        )
        return self.status["robot"]["flowed"] - moment

    def log(self) -> StackLog:
        return read_stack_log(self.processes.folder.log)

    def describe(self) -> str:
        words = {name: child.last_words() for name, child in self.processes.children.items()}
        return f"status: {self.status}\nexit: {self.processes.exit_statuses()}\nwords: {words}"


@contextlib.contextmanager
def stage(
    folder: Path,
    *,
    mid: Callable[[StackSettings], Sequence[str]] = python_mid,
    script: Sequence[str] = WALK,
    joystick: Path | None = None,
    replay: Path | None = None,
    ros: Path | None = None,
    noise: float = 0.0,
    separate: bool = False,
    boards: int = 1,
) -> Iterator[Stage]:
    """The stack with the stand-in plant; all of it ended when the context is. `separate`: the
    devices are started by somebody else, and the supervisor is given their ports, as it is given a
    real robot's."""

    def operation(run: Any, settings: StackSettings) -> list[str]:
        if joystick is not None:
            return ["--joystick", str(joystick)]
        if replay is not None:
            return ["--replay", str(replay)]
        if ros is not None:
            return ["--ros", str(ros)]
        run.script.write_text("\n".join(script))
        return ["--script", str(run.script)]

    changes = [f"boards={boards}"]
    robot = [sys.executable, str(Path(__file__))]
    # A driver that has not answered for so long may be a process that was not let run.
    emulation = Emulation(robot, mid, reply_limit=0.2)
    with contextlib.ExitStack() as all_of_it:
        processes = all_of_it.enter_context(
            StackProcesses(folder / "run", "stand-in", operation, changes=changes, noise=noise)
        )
        if separate:
            elsewhere = all_of_it.enter_context(
                StackProcesses(folder / "elsewhere", "stand-in", operation, changes=changes)
            )
            settings, ports = elsewhere.start_devices(
                dataclasses.replace(emulation, terminals=True)
            )
            processes.start_on_hardware(settings, dataclasses.replace(ports, reset=None))
        else:
            processes.start_emulated(emulation)
        yield Stage(processes)


def joystick_event(kind: int, number: int, value: int) -> bytes:
    """One event of the Linux joystick device: time, value, kind (1 button, 2 axis), number."""
    return struct.pack("<IhBB", 0, value, kind, number)


if __name__ == "__main__":
    robot_process.main(stand_in)
