"""What the start page asks for, as commands of `footfall` in processes of their own.

So its words are the command line's, its rules about whose code may run hold, a run can be
cancelled as Ctrl-C does, and a crash is the child's.
"""

import contextlib
import itertools
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from footfall.scenario.errors import ScenarioError

#: Set for a child: Phases (cli/phases.py) then writes each phase as a line with this mark.
PROGRESS, MARK = "FOOTFALL_PROGRESS", "progress:"
#: Children at once: each takes a core.
MOST_RUNNING = 4
#: Pages that are kept, the newest.
MOST_KEPT = 30
#: Lines of a child's words that are kept.
MOST_LINES = 200
#: s for a child to write what it has: after it was cancelled, and when we are to end ourselves.
PATIENCE, GRACE = 30.0, 5.0
#: Exit statuses of `footfall`: success, another outcome, a doubtful success; stopped by Ctrl-C.
FINISHED, STOPPED = (0, 1, 3), 130


class Job:
    """One command: what it is doing, what it said, the page it wrote."""

    def __init__(self, number: int, kind: str, names: Sequence[str], settings: Sequence[str]):
        self.number, self.kind, self.name = number, kind, " and ".join(names)
        self.settings = list(settings)
        self.doing, self.share = "starting", 0.0
        self.cancelled = False
        self._said: list[str] = []
        self._told: list[str] = []

    def start(self, command: Sequence[str], root: Path, page: Path) -> None:
        """Begin what writes the page; two threads read what it says."""
        self.page = page
        self._process = subprocess.Popen(
            command,
            cwd=root,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,  # Ctrl-C is for us, and we tell it
        )
        self._readers = [
            threading.Thread(target=read, daemon=True) for read in (self._read_err, self._read_out)
        ]
        for reader in self._readers:
            reader.start()

    @property
    def running(self) -> bool:
        return any(reader.is_alive() for reader in self._readers) or self._process.poll() is None

    def said(self) -> dict[str, Any]:
        """As JSON has it."""
        state = self._state()
        return {
            "job": self.number,
            "kind": self.kind,
            "name": self.name,
            "settings": self.settings,
            "state": state,
            "doing": self.doing,
            "share": self.share,
            "words": _last_words(self._said),
            "summary": "\n".join(self._told),
            "page": self.page.is_file() and state != "running",
        }

    def cancel(self) -> None:
        """As Ctrl-C does: a run keeps what it has."""
        if self.running:
            self.cancelled = True
            self._signal(signal.SIGINT)
            late = threading.Timer(PATIENCE, self._signal, [signal.SIGTERM])
            late.daemon = True
            late.start()

    def end(self) -> None:
        """Now, within the grace it gets to write."""
        if self._process.poll() is None:
            self._signal(signal.SIGINT)
            try:
                self._process.wait(GRACE)
            except subprocess.TimeoutExpired:
                self._signal(getattr(signal, "SIGKILL", signal.SIGTERM))
                self._process.wait()

    def _state(self) -> str:
        if self.running:
            return "running"
        status = self._process.returncode
        if self.cancelled and status not in FINISHED:
            return "cancelled"
        return "done" if status in FINISHED and self.page.is_file() else "failed"

    def _signal(self, number: int) -> None:
        """To it and what it started; it is not reaped yet, so the number is its own."""
        if self._process.poll() is not None:
            return
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)
        else:  # Windows has neither groups nor an interrupt for another process
            self._process.terminate()

    def _read_err(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            if line.startswith(MARK):
                share, _, self.doing = line.removeprefix(MARK).strip().partition(" ")
                self.share = float(share)
            else:
                self._said = [*self._said, line.rstrip()][-MOST_LINES:]

    def _read_out(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._told = [*self._told, line.rstrip()][-MOST_LINES:]


class Jobs:
    """All of them; pages are written into `folder`, commands run in `root`."""

    def __init__(self, root: Path, folder: Path):
        self._root, self._folder = root, folder
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._jobs: dict[int, Job] = {}
        self._ended = False

    def begin(self, kind: str, names: Sequence[str], settings: Sequence[str]) -> Job:
        """Start a job: "live" or "run" of a scenario, "replay" of one or two recorded runs."""
        with self._lock:
            if self._ended:
                raise ScenarioError("footfall view is ending.")
            if sum(job.running for job in self._jobs.values()) >= MOST_RUNNING:
                raise ScenarioError(
                    f"{MOST_RUNNING} jobs are running; cancel one or wait until it is done."
                )
            number = next(self._numbers)
            page = self._folder / f"{number}.html"
            job = Job(number, kind, names, settings)
            job.start(command_of(kind, names, settings, page), self._root, page)
            self._jobs[number] = job
            self._forget()
            return job

    def job(self, number: int) -> Job | None:
        return self._jobs.get(number)

    def listed(self) -> list[dict[str, Any]]:
        """The newest first."""
        return [job.said() for job in reversed(list(self._jobs.values()))]

    def end(self) -> None:
        """End every child; no other is begun."""
        with self._lock:
            self._ended = True
            enders = [threading.Thread(target=job.end) for job in self._jobs.values()]
            for ender in enders:
                ender.start()
            for ender in enders:
                ender.join()

    def _forget(self) -> None:
        done = [number for number, job in self._jobs.items() if not job.running]
        for number in done[: max(0, len(self._jobs) - MOST_KEPT)]:
            self._jobs.pop(number).page.unlink(missing_ok=True)


def command_of(kind: str, names: Sequence[str], settings: Sequence[str], page: Path) -> list[str]:
    """The command line; what the user wrote can be no option of it.

    -P: no module of the working folder is imported in the place of one of ours.
    """
    given = [f"--set={setting}" for setting in settings]
    verb = {
        "live": ["share", f"--out={page}"],
        "replay": ["share", f"--out={page}"],
        "run": ["run", "--no-plots", f"--page={page}"],
    }[kind]
    return [sys.executable, "-P", "-m", "footfall", *verb, *given, "--", *names]


def settings_of(text: str) -> list[str]:
    """KEY=VALUE, one a line; `--set` may stand before it, # begins a remark."""
    lines = (re.sub(r"^--set[\s=]", "", line.strip()).strip() for line in text.splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def _last_words(said: Sequence[str]) -> str:
    """From the line on that says why it ended, without what came before; else all of it."""
    for mark, kept in (("error: ", ""), ("stopped: ", "stopped: ")):
        for number, line in enumerate(said):
            if line.startswith(mark):
                return "\n".join([kept + line.removeprefix(mark), *said[number + 1 :]])
    return "\n".join(said)


def _environment() -> dict[str, str]:
    """Ours, with words that are plain text and progress as lines."""
    kept = {k: v for k, v in os.environ.items() if k not in ("FORCE_COLOR", "CLICOLOR_FORCE")}
    return {**kept, "NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "100", PROGRESS: "1"}
