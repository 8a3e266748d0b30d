"""A command on a terminal, as a person sees it: what is shown and when, with Ctrl-C as soon as certain words appear."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
from typing import NamedTuple

from support.commands import COMMAND, PATIENCE, environment

_CODES = re.compile(rb"\x1b\[[0-9;?]*[a-zA-Z]")


class Shown(NamedTuple):
    status: int
    text: str  #: without colours and movements of the cursor
    longest_silence: float  #: s, from the start of the process on
    after_ctrl_c: float  #: s from Ctrl-C to the end


def on_terminal(*arguments, cwd, ctrl_c_on=None, **more):
    """Run `footfall ARGUMENTS`, 140 columns wide; send one SIGINT when `ctrl_c_on` has been shown."""
    terminal, end = pty.openpty()
    fcntl.ioctl(end, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 140, 0, 0))
    env = {name: value for name, value in environment(TERM="xterm", **more).items() if name != "COLUMNS"}
    began = last = time.monotonic()
    process = subprocess.Popen([*COMMAND, *arguments], cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=end, stderr=end)
    os.close(end)
    raw, longest, sent = b"", 0.0, None
    try:
        while time.monotonic() - began < PATIENCE:
            if select.select([terminal], [], [], 0.05)[0]:
                try:
                    raw += os.read(terminal, 65536)
                except OSError:  # the other end is closed
                    break
                longest, last = max(longest, time.monotonic() - last), time.monotonic()
            if ctrl_c_on is not None and sent is None and ctrl_c_on.encode() in _CODES.sub(b"", raw):
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
