"""Ctrl-C in one manner for all verbs.

What was computed is kept, one line says so, and the status is 130.

There are three times, and each verb says which it is:

- *at once*: there is nothing to keep, or all of it is on disk already, and the process ends where
  it stands. That is done by a thread, because the main one may be inside the compiler for half a
  minute, and because an exception in the middle of JAX can get lost there;
- *later*: Ctrl-C is remembered in `asked` (while results are written, or a run looks for it between
  two chunks);
- *raise*: Ctrl-C is a KeyboardInterrupt, as Python has it, where other processes must be told.

A process that Ctrl-C ended never tears its interpreter down: compiled code may still be running in
other threads, which crashes. Imports nothing of weight: it must be in place before anything else
is.
"""

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator

STATUS = 130  #: of a process that Ctrl-C ended: 128 + SIGINT
NOTHING = "nothing was computed yet, nothing is kept."
_SHOW_CURSOR = b"\x1b[?25h\r\x1b[K"  # and clear the line that a progress bar left
# s without an answer from the main thread, which is busy with something that cannot be left
_SAID_AFTER = 1.0

_time = "raise"  # "at once", "raise" or "later"
_words = NOTHING  # what is said of it at once
_asked = False
_heard = False  # by the main thread
_watched = False
_leaving = False
# Whoever leaves holds it: nothing is begun, and no second line said, after that.
_turn = threading.RLock()


def watch() -> None:
    """Take Ctrl-C over, as the first thing a process does.

    Until a verb says otherwise it ends it at once.
    """
    global _time, _watched
    if (
        _watched
        or threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    ):
        return  # a shell's background job ignores it, and so do we
    _watched, _time = True, "at once"
    signal.signal(signal.SIGINT, _on_main_thread)
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    # Written to even while the main thread is in compiled code.
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    threading.Thread(target=_on_own_thread, args=(reading,), daemon=True, name="ctrl-c").start()


def at_once(words: str = NOTHING) -> None:
    """From now on Ctrl-C ends the process where it stands, with these words.

    Nothing is lost that could be kept.
    """
    global _words
    if not _watched:
        return
    with _turn:
        _words = words
        _set("at once")
        if _asked:  # while it was held
            _leave()


def begin() -> None:
    """There are other processes to shut down from now on: Ctrl-C is a KeyboardInterrupt."""
    _set("raise")


def hold() -> None:
    """From now on Ctrl-C is only remembered.

    Whoever works looks at `asked`, or must not be disturbed.
    """
    _set("later")


@contextlib.contextmanager
def later() -> Iterator[None]:
    """Results are written in here, which must not be disturbed.

    Afterwards `asked` says whether Ctrl-C came.
    """
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
    return stopped(f"what was computed is kept ({what}).")


def stopped(words: str) -> int:
    """The one line, and the status, of a verb that Ctrl-C ended."""
    hold()
    from rich.markup import escape

    from footfall.cli.screen import err

    err.print("[bold yellow]stopped:[/]", escape(words), soft_wrap=True)
    return STATUS


def end(code: object) -> None:
    """The one place where a command ends.

    By Ctrl-C without taking the interpreter down, else as Python does, undisturbed.
    """
    if not _watched:
        return
    hold()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if code == STATUS:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(STATUS)


def _set(time: str) -> None:
    """Of a process that is not the command (a program of one's own that calls us) Ctrl-C stays as
    it is.
    """
    global _time
    if _watched:
        with _turn:
            _time = time


def _on_main_thread(*_: object) -> None:
    global _asked, _heard
    _asked = _heard = True
    if _time == "at once":
        _leave()
    if _time == "raise":
        raise KeyboardInterrupt


def _on_own_thread(reading: int) -> None:
    global _heard
    while True:
        if signal.SIGINT not in os.read(reading, 1):
            continue
        _leave()
        began = time.monotonic()
        while not _heard and time.monotonic() - began < _SAID_AFTER:
            time.sleep(0.05)
        if not _heard:
            _say("stopping as soon as what is being compiled is done")
        _heard = False


def _leave() -> None:
    """Say the line and end, if this is the time for it.

    Two threads may come here, and one of them twice.
    """
    global _leaving
    with _turn:
        if _leaving or _time != "at once":
            return
        _leaving = True
        _say(f"stopped: {_words}")
        os._exit(STATUS)


def _say(words: str) -> None:
    """Past Python's buffers, whose locks another thread may hold."""
    clear = _SHOW_CURSOR if os.isatty(2) else b""
    with contextlib.suppress(OSError):
        os.write(2, clear + words.encode() + b"\n")
