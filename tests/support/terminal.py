"""A command on a terminal, as a person sees it.

What is shown and when, with Ctrl-C as soon as certain words appear.
"""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from pathlib import Path
from typing import NamedTuple

from support.commands import PATIENCE, environment

_CODES = re.compile(rb"\x1b\[[0-9;?]*[a-zA-Z]")


class Shown(NamedTuple):
    status: int
    text: str  #: without colours and movements of the cursor
    longest_silence: float  #: s, from the start of the process on
    after_ctrl_c: float  #: s from Ctrl-C to the end


#: As the installed script begins, which may be an older one.
MODULE = [sys.executable, "-m", "footfall"]


def on_terminal(*arguments, cwd, ctrl_c_on=None, ctrl_c_after=None, **more):
    """Run `footfall ARGUMENTS`, 140 columns wide; send one SIGINT when `ctrl_c_on` has been shown,
    or so many seconds after the process has taken Ctrl-C over, which it does by a second thread."""
    terminal, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 140, 0, 0))
    env = {
        name: value
        for name, value in environment(TERM="xterm", **more).items()
        if name != "COLUMNS"
    }
    began = last = time.monotonic()
    process = subprocess.Popen(
        [*MODULE, *arguments], cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=end, stderr=end
    )
    os.close(end)
    raw, longest, sent, ready = b"", 0.0, None, None
    threads = Path(f"/proc/{process.pid}/task")
    tick = 0.05 if ctrl_c_after is None else 0.002
    try:
        while time.monotonic() - began < PATIENCE:
            if select.select([terminal], [], [], tick)[0]:
                try:
                    raw += os.read(terminal, 65536)
                except OSError:  # the other end is closed
                    break
                longest, last = max(longest, time.monotonic() - last), time.monotonic()
            if (
                ctrl_c_on is not None
                and sent is None
                and ctrl_c_on.encode() in _CODES.sub(b"", raw)
            ):
                process.send_signal(signal.SIGINT)
                sent = time.monotonic()
            if ctrl_c_after is not None and sent is None:
                if ready is None and len(list(threads.iterdir())) > 1:
                    ready = time.monotonic()
                if ready is not None and time.monotonic() - ready >= ctrl_c_after:
                    process.send_signal(signal.SIGINT)
                    sent = time.monotonic()
        status = process.wait(timeout=PATIENCE)
    finally:
        if process.poll() is None:
            process.kill()
        os.close(terminal)
    assert ctrl_c_on is None or sent is not None, _CODES.sub(b"", raw).decode(errors="replace")
    text = _CODES.sub(b"", raw).decode(errors="replace").replace("\r", "\n")
    return Shown(status, text, longest, time.monotonic() - (sent or began))
