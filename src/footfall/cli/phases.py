"""What a command is doing, as one line that moves.

A person at a terminal never looks at nothing for more than a second.
"""

import contextlib
import os
import time
from collections.abc import Iterator
from types import TracebackType

from rich.progress import (
    BarColumn,
    Progress,
    Task,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from footfall.cli import stopping
from footfall.cli.screen import err, note
from footfall.pages.jobs import MARK, PROGRESS

FETCHING = "loading the compiled program"
COMPILING = "compiling (first time for this kind of robot)"
# s after which a program that is asked for is not one that was kept: it is being compiled.
_NOT_THERE = 0.7
_SHOWN_EVERY = 0.2  # s: phases that come and go faster are not worth a look
_LOG_EVERY = 10.0  # s between two lines where there is no terminal


class _Words(TextColumn):
    """The phase; of one that takes longer than expected, what that means.

    After Ctrl-C, that this is what is still to be done.
    """

    def __init__(self) -> None:
        super().__init__("{task.description}")

    def render(self, task: Task) -> Text:
        late = task.fields["late"] if (task.elapsed or 0.0) > _NOT_THERE else ""
        return Text(("stopping: " if stopping.asked() else "") + (late or task.description))


class Phases:
    """One line on the terminal with the present phase, its bar and its clock; gone when it is left.

    A log file (no terminal) gets a line every ten seconds of a phase that counts; `footfall view`,
    which started this command, gets every phase as a line: "progress: 0.25 simulating: t = ...".
    """

    def __init__(self, first: str):
        self._first = first
        self._bar: Progress | None = None
        self._task: TaskID | None = None
        self._logged, self._shown = time.monotonic(), 0.0
        self._lines = PROGRESS in os.environ

    def __enter__(self) -> "Phases":
        if err.is_terminal:
            columns = (
                _Words(),
                BarColumn(bar_width=24),
                TextColumn("{task.fields[at]}"),
                TimeElapsedColumn(),
                TimeRemainingColumn(),
            )
            self._bar = Progress(*columns, console=err, transient=True)
            self._bar.start()
        self.say(self._first)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def say(self, phase: str, late: str = "") -> None:
        """A new phase, of which nobody knows how long it takes.

        `late` is what it is called if it takes long.
        """
        if self._lines:
            self._line(0.0, phase)
        if self._bar is None or (
            self._task is not None and self._bar.tasks[-1].description == phase
        ):
            return
        if self._task is None:
            self._task = self._bar.add_task(phase, total=None, at="", late=late)
        else:  # the same line goes on: one that is taken away and put back flickers
            self._bar.reset(self._task, description=phase, at="", late=late)
            self._bar.tasks[-1].total = None
        if time.monotonic() - self._shown > _SHOWN_EVERY:
            self._shown = time.monotonic()
            self._bar.refresh()

    def count(self, phase: str, done: float, total: float, at: str) -> None:
        """How far a phase has come."""
        if self._lines:
            if time.monotonic() - self._shown > _SHOWN_EVERY:
                self._shown = time.monotonic()
                self._line(done / total if total else 0.0, f"{phase}: {at}")
        elif self._bar is not None:
            self.say(phase)
            assert self._task is not None
            self._bar.update(self._task, completed=done, total=total, at=at)
        elif time.monotonic() - self._logged > _LOG_EVERY:
            self._logged = time.monotonic()
            note(f"{phase}: {at} (Ctrl-C stops and keeps it)")

    def _line(self, share: float, doing: str) -> None:
        err.print(f"{MARK} {share:.4f} {doing}", markup=False, soft_wrap=True)


@contextlib.contextmanager
def told_by_jax(phases: Phases, between: str) -> Iterator[None]:
    """Say when JAX or a kernel is compiled or fetched, by JAX's own (public) kind of events.

    `between` is what goes on otherwise.
    """
    import jax.monitoring as monitoring

    from footfall.engines.lanes.watched_lane import BUILDING, BUILT

    building = False  # kernels: meanwhile JAX makes small programs of its own

    def on_event(event: str, **_: object) -> None:
        nonlocal building
        if building:
            return
        building = event == BUILDING
        if building or event == "/jax/compilation_cache/compile_requests_use_cache":
            phases.say(FETCHING, late=COMPILING)

    def on_duration(event: str, _: float, **__: object) -> None:
        nonlocal building
        building = building and event != BUILT
        if not building and event in ("/jax/core/compile/backend_compile_duration", BUILT):
            phases.say(between)

    monitoring.register_event_listener(on_event)
    monitoring.register_event_duration_secs_listener(on_duration)
    try:
        yield
    finally:
        monitoring.unregister_event_listener(on_event)
        monitoring.unregister_event_duration_listener(on_duration)
