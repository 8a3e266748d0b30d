"""Ctrl-C in one manner for all verbs: what was computed is kept, one line says so, and the status is 130.

There are three times, and each verb says which it is:

- *nothing yet*: while libraries are loaded and programs compiled there is nothing to keep, and the process ends at once. That is done
  by a thread, because the main one may be inside the compiler for half a minute, and because an exception in the middle of JAX's
  imports can get lost there;
- *raise*: Ctrl-C is a KeyboardInterrupt, as Python has it;
- *later*: Ctrl-C is remembered in `asked` (while results are written, or a run looks for it between two chunks).

Imports nothing of weight: it must be in place before anything else is.
"""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator

STATUS = 130  #: of a process that Ctrl-C ended: 128 + SIGINT
_SHOW_CURSOR = b"\x1b[?25h\r\x1b[K"  # and clear the line that a progress bar left
_SAID_AFTER = 1.0  # s without an answer from the main thread, which is busy with something that cannot be left

_time = "raise"  # "nothing yet", "raise" or "later"
_asked = False
_watched = False
_heard = threading.Event()  # the main thread has seen it


def watch() -> None:
    """Take Ctrl-C over, as the first thing a process does: until `begin` it ends it at once."""
    global _time, _watched
    if (
        _watched
        or threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    ):
        return  # a shell's background job ignores it, and so do we
    _watched, _time = True, "nothing yet"
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)  # written to even while the main thread is in compiled code
    signal.signal(signal.SIGINT, _on_main_thread)
    threading.Thread(target=_on_own_thread, args=(reading,), daemon=True, name="ctrl-c").start()


def nothing_yet() -> None:
    """What comes next leaves nothing behind (it loads, it compiles): Ctrl-C ends the process at once."""
    _set("nothing yet")


def begin() -> None:
    """There is something to keep or to shut down from now on: Ctrl-C is a KeyboardInterrupt."""
    _set("raise")


def hold() -> None:
    """From now on Ctrl-C is only remembered: whoever works looks at `asked`, or must not be disturbed."""
    _set("later")


@contextlib.contextmanager
def later() -> Iterator[None]:
    """Results are written in here, which must not be disturbed; afterwards `asked` says whether Ctrl-C came."""
    before = _time
    hold()
    try:
        yield
    finally:
        _set(before)


def asked() -> bool:
    """Whether Ctrl-C came."""
    return _asked


def raise_if_asked() -> None:
    """The place in a loop where a remembered Ctrl-C ends it."""
    if _asked:
        raise KeyboardInterrupt


def status(what: str) -> int:
    """Of a verb whose results are written: 0, or `kept` where Ctrl-C came."""
    return kept(what) if _asked else 0


def kept(what: str) -> int:
    """The one line, and the status, of a verb that Ctrl-C ended after something was computed."""
    from rich.markup import escape

    from footfall.cli.screen import err

    err.print("[bold yellow]stopped:[/]", f"what was computed is kept ({escape(what)}).", soft_wrap=True)
    return STATUS


def _set(time: str) -> None:
    """Of a process that is not the command (a program of one's own that calls us) Ctrl-C stays as it is."""
    global _time
    if _watched:
        _time = time


def _remember(*_: object) -> None:
    global _asked
    _asked = True
    _heard.set()


def _on_main_thread(*_: object) -> None:
    _remember()
    if _time == "nothing yet":
        _leave()
    if _time == "raise":
        raise KeyboardInterrupt


def _on_own_thread(reading: int) -> None:
    while True:
        if signal.SIGINT not in os.read(reading, 1):
            continue
        if _time == "nothing yet":
            _leave()
        if not _heard.wait(_SAID_AFTER):
            _say("stopping as soon as what is being compiled is done")
        _heard.clear()


def _leave() -> None:
    _say("stopped: nothing was computed yet, nothing is kept.")
    os._exit(STATUS)


def _say(words: str) -> None:
    clear = _SHOW_CURSOR if os.isatty(2) else b""
    with contextlib.suppress(OSError):
        sys.stdout.flush()
        os.write(2, clear + words.encode() + b"\n")
