"""Starts the programs of a run, each a process of its own, watches them, and ends them in order.

Motors off first, whatever happens.
"""

from __future__ import annotations

import dataclasses
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from footfall.machines.control.settings import StackSettings
from footfall.realtime.fall import FallWatch
from footfall.realtime.names import RunFolder
from footfall.realtime.serial_port import Cable

#: s; a scenario may have to be compiled before the robot is there.
PLANT_PATIENCE = 300.0
#: s for the mid level's port to appear, and for a program to end when asked.
PATIENCE = 10.0
#: s for a program to end as long as no supervisor has been started: nothing moves, and there is
#: nothing to put in order.
IMPATIENCE = 1.0
#: Exit status of a program that was asked for something it cannot do, and whose last words say so.
REFUSED = 2
#: Bytes of a status line that does not end; more is nonsense.
_MOST_LINE = 1 << 16
_LAST_WORDS = 2_000  # characters

#: The emulated driver is a process that an ordinary system may leave waiting; a real one answers in
#: a fraction of a millisecond.
EMULATED_REPLY_LIMIT = 0.05


def program(module: str) -> tuple[str, ...]:
    """Command of one of our programs."""
    return (sys.executable, "-m", f"footfall.realtime.{module}")


def python_mid(settings: StackSettings) -> Sequence[str]:
    """The mid level in Python, which reads its settings."""
    _require_prompt(settings)
    return program("mid_process")


def firmware_mid(settings: StackSettings) -> Sequence[str]:
    """The Teensy's own program, built for this machine with its settings."""
    from footfall.realtime.firmware_build import CannotBuild, host_program

    _require_prompt(settings)
    try:
        return [str(host_program(settings))]
    except CannotBuild as error:
        raise LaunchError(f"The firmware cannot be built for this machine: {error}") from None


def _require_prompt(settings: StackSettings) -> None:
    """A law of one's own that this machine can build, and call often enough."""
    from footfall.realtime.firmware_build import CannotBuild
    from footfall.realtime.own_law import require_prompt

    try:
        require_prompt(settings)
    except CannotBuild as error:
        raise LaunchError(f"The controller cannot run here: {error}") from None


class LaunchError(Exception):
    """A run did not come about, and why."""


@dataclasses.dataclass(frozen=True)
class Ports:
    """Devices of a real robot."""

    mid: str
    imu: str
    drivers: Sequence[str] = ()  #: a serial port for each board
    #: Without ports: the boards by their serial numbers, through the vendor's package; empty: any.
    driver_serials: Sequence[str] = ("",)
    reset: str | None = None  #: CHIP:LINE, or file:PATH of an emulated one
    reply_limit: float | None = None  #: s, in the place of that of the settings


@dataclasses.dataclass(frozen=True)
class Emulation:
    """Devices that are processes."""

    robot: Sequence[str]  #: command of the robot process, but for what and where
    #: Command of the mid level for these settings, but for its lines.
    mid: Callable[[StackSettings], Sequence[str]] = python_mid
    reply_limit: float = EMULATED_REPLY_LIMIT
    #: Lines by name in the run's folder, for a supervisor that somebody else starts. Our own
    #: programs talk over sockets, which are as prompt as the programs at their ends.
    terminals: bool = False


#: Arguments of the supervisor that say who operates and for how long, once it is known what the run
#: was built for.
Operation = Callable[[RunFolder, StackSettings], Sequence[str]]


class Child:
    """One program: its process, its last words, what it said of itself."""

    def __init__(
        self, name: str, command: Sequence[str], folder: RunFolder, sockets: Sequence[int] = ()
    ):
        """`sockets`: ends of cables that it inherits."""
        self.name = name
        self._words = folder.words_of(name)
        with self._words.open("wb") as words:
            # A session of its own: Ctrl-C reaches the launcher only, which then ends the others in
            # order; and where the kernel shares the processors out by session, a program that
            # mostly sleeps is not made to wait for its busy neighbours.
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=words,
                start_new_session=True,
                pass_fds=sockets,
            )
        assert self.process.stdout is not None
        self._stdout = self.process.stdout.fileno()
        os.set_blocking(self._stdout, False)
        self._pending = b""

    def fileno(self) -> int:
        return self._stdout

    def heard(self) -> list[dict[str, Any]] | None:
        """Status lines that have come; None once there will be no more."""
        try:
            data = os.read(self._stdout, _MOST_LINE)
        except BlockingIOError:
            return []
        if not data:
            return None
        *lines, rest = (self._pending + data).split(b"\n")
        self._pending = rest[:_MOST_LINE]
        return [said for line in lines if isinstance(said := _json(line), dict)]

    def last_words(self) -> str:
        try:
            return self._words.read_text(errors="replace")[-_LAST_WORDS:].strip()
        except OSError:
            return ""

    def end(self, patience: float) -> None:
        """Ask, wait, insist."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(patience)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


class StackProcesses:
    """A run. Use as a context: what was started is ended on every path.

    `status`: by program, the figures it last gave. `records`, `ending` and the rest of the
    supervisor's come from its status lines.
    """

    def __init__(
        self,
        folder: Path,
        scenario: str,
        operator: Operation,
        *,
        changes: Sequence[str] = (),
        priority: bool = True,
        noise: float = 0.0,
        seed: int = 0,
    ):
        """`changes`: KEY=VALUE in the scenario.

        `noise`: share of bytes that are garbled between supervisor and mid level.
        """
        self.folder = RunFolder(folder)
        self.status: dict[str, dict[str, Any]] = {"robot": {}, "mid": {}, "supervisor": {}}
        self.fall = FallWatch()
        self._operator = operator
        self._subject = [
            "--scenario",
            scenario,
            *(word for change in changes for word in ("--set", change)),
        ]
        self._noise = ["--noise", str(noise), "--seed", str(seed)] if noise else []
        self._priority = ["--priority"] if priority else []
        self.children: dict[str, Child] = {}
        self._cables: dict[Path, Cable] = {}  # by the names that lines have in the folder
        self._selector = selectors.DefaultSelector()
        self._stopped = False
        self.folder.make()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def start_emulated(self, emulation: Emulation) -> StackSettings:
        """Robot, mid level, supervisor."""
        settings, ports = self.start_devices(emulation)
        self._supervise(settings, ports)
        return settings

    def start_on_hardware(self, settings: StackSettings, ports: Ports) -> None:
        """The supervisor alone."""
        self.folder.hand_out(settings)
        self._supervise(settings, ports)

    def start_devices(self, emulation: Emulation) -> tuple[StackSettings, Ports]:
        """Robot and mid level; the robot says what it was built for."""
        folder = self.folder
        folder.reset.write_bytes(b"1")
        lines = ("uart", *folder.driver_uarts), ("usb", *folder.driver_usbs), ("imu", folder.imu)
        robot = [*emulation.robot, *self._subject, "--folder", str(folder.path)]
        ends: list[socket.socket] = []
        if not emulation.terminals:
            # Of the driver's lines as many as there can be: the robot says how many boards it has.
            for option, *names in lines:
                for name in names:
                    cable = self._cables[name] = Cable.made()
                    robot += [f"--{option}", cable.device_name]
                    ends += cable
            self._cables[folder.mid] = Cable.made()
        self._start("robot", [*robot, *self._priority, *_leash()], *ends)
        self._await("robot", folder.settings.exists, PLANT_PATIENCE)
        settings = folder.read_settings()

        uarts, usbs = folder.driver_uarts[: settings.boards], folder.driver_usbs[: settings.boards]
        mid = [*emulation.mid(settings), "--settings", str(folder.settings)]
        mid += ["--high", self._device_name(folder.mid), "--reset", str(folder.reset)]
        mid += [word for uart in uarts for word in ("--driver", self._user_name(uart))]
        ends = [self._cables[uart].user for uart in uarts if uart in self._cables]
        ends += self._cables.get(folder.mid, ())
        self._start("mid", [*mid, *self._priority, *_leash()], *ends)
        # Its first status line, which follows its lines' being there.
        self._await("mid", lambda: bool(self.status["mid"]), PATIENCE)
        ports = Ports(
            self._user_name(folder.mid),
            self._user_name(folder.imu),
            tuple(map(self._user_name, usbs)),
            reset=f"file:{folder.reset}",
            reply_limit=emulation.reply_limit,
        )
        return settings, ports

    def _device_name(self, line: Path) -> str:
        """For the program that the line belongs to."""
        return self._cables[line].device_name if line in self._cables else str(line)

    def _user_name(self, line: Path) -> str:
        """For the program that opens it."""
        return self._cables[line].user_name if line in self._cables else str(line)

    @property
    def running(self) -> bool:
        """The supervisor decides when a run is over, unless one of the others is gone before."""
        return self.children["supervisor"].process.poll() is None and self.lost is None

    @property
    def lost(self) -> str | None:
        """The emulated device that ended before it was told to."""
        gone = (
            name
            for name in ("robot", "mid")
            if name in self.children and self.children[name].process.poll() is not None
        )
        return None if self._stopped else next(gone, None)

    def poll(self, timeout: float) -> None:
        """Hear what the programs say of themselves, for so many seconds at most."""
        if not self._selector.get_map():
            time.sleep(timeout)  # all have closed their standard output
        for key, _ in self._selector.select(timeout):
            child: Child = key.data
            said = child.heard()
            if said is None:
                self._selector.unregister(child)
            for figures in said or ():
                speaker = figures.pop("program", child.name)
                if speaker in self.status:
                    self.status[speaker].update(figures)
                    self.fall.take(speaker, figures)

    def stop(self) -> None:
        """Supervisor first: it turns the motors off and finishes the log.

        Then what it ran on. Once is enough.
        """
        if self._stopped:
            return
        patience = PATIENCE if "supervisor" in self.children else IMPATIENCE
        for name in ("supervisor", "mid", "robot"):
            if child := self.children.get(name):
                child.end(patience)
                self._drain()
        self._stopped = True
        self._let_go()
        self._selector.close()
        self.folder.tidy()

    def priorities(self) -> dict[str, bool]:
        """By program, whether it was granted real-time priority."""
        return {
            name: any(text.startswith("real-time priority") for text in said["granted"])
            for name, said in self.status.items()
            if "granted" in said
        }

    def exit_statuses(self) -> dict[str, int | None]:
        return {name: child.process.poll() for name, child in self.children.items()}

    def _supervise(self, settings: StackSettings, ports: Ports) -> None:
        folder = self.folder
        option = "--driver" if ports.drivers else "--driver-serial"
        boards = ports.drivers or ports.driver_serials
        driver = [word for board in boards for word in (option, board)]
        command = [
            *program("supervisor_process"),
            "--settings",
            str(folder.settings),
            "--folder",
            str(folder.path),
        ]
        command += [*self._subject, "--mid", ports.mid, "--imu", ports.imu, *driver, *self._noise]
        command += ["--reset", ports.reset] if ports.reset is not None else []
        command += [] if ports.reply_limit is None else ["--reply-limit", str(ports.reply_limit)]
        command += self._operator(folder, settings)
        ends = [
            cable.user
            for line, cable in self._cables.items()
            if line not in self.folder.driver_uarts
        ]
        self._start("supervisor", [*command, *self._priority, *_leash()], *ends)
        self._let_go()

    def _start(self, name: str, command: Sequence[str], *ends: socket.socket) -> None:
        sockets = [end.fileno() for end in ends]
        child = self.children[name] = Child(name, command, self.folder, sockets)
        self._selector.register(child, selectors.EVENT_READ, child)

    def _let_go(self) -> None:
        """Of the cables: a program shall learn of the death of the one at the other end."""
        for cable in self._cables.values():
            for end in cable:
                end.close()
        self._cables.clear()

    def _await(self, name: str, ready: Callable[[], bool], patience: float) -> None:
        """Until this program is ready."""
        child, limit = self.children[name], time.monotonic() + patience
        while not ready():
            status = child.process.poll()
            if status == REFUSED and (words := child.last_words()):
                raise LaunchError(words)
            if status is not None:
                raise LaunchError(
                    f"The {name} process ended before it was ready.\n{child.last_words()}"
                )
            if time.monotonic() > limit:
                raise LaunchError(
                    f"The {name} process was not ready after {patience:g} s.\n{child.last_words()}"
                )
            self.poll(0.02)

    def _drain(self) -> None:
        """What was said last."""
        for _ in range(3):
            self.poll(0.0)


def _leash() -> list[str]:
    return ["--parent", str(os.getpid())]


def _json(line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None  # a program's idle remark
