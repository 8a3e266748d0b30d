"""How the programs of a stack begin and end.

A child does not outlive its parent, however the parent ends, for SIGKILL leaves no time to tell
anybody; and a signal means an orderly end, once.
"""

from __future__ import annotations

import ctypes
import os
import signal
from types import FrameType

_PR_SET_PDEATHSIG = 1  # <sys/prctl.h>


def die_with(parent: int) -> None:
    """SIGTERM when this process dies. At once if it has died already."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "PR_SET_PDEATHSIG was refused")
    if os.getppid() != parent:
        raise SystemExit("the program that started this one is gone")


def begin(parent: int) -> None:
    """SIGTERM and SIGINT raise SystemExit, the first of them only.

    And the watch on the parent, if there is one to speak of.
    """
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _end)
    if parent:
        die_with(parent)


def _end(number: int, frame: FrameType | None) -> None:
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, signal.SIG_IGN)  # ending in order must not be interrupted
    raise SystemExit(0)
