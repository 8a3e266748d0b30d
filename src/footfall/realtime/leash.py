"""A child that does not outlive its parent, however the parent ends: SIGKILL leaves no time to tell anybody.

Run as a module it puts the leash on a program that does not know of it:

    python -m footfall.realtime.leash PARENT PROGRAM ARGUMENTS...
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1  # <sys/prctl.h>


def die_with(parent: int) -> None:
    """SIGTERM when this process dies. At once if it has died already."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "PR_SET_PDEATHSIG was refused")
    if os.getppid() != parent:
        raise SystemExit("the program that started this one is gone")


if __name__ == "__main__":
    die_with(int(sys.argv[1]))
    os.execv(sys.argv[2], sys.argv[2:])  # the leash survives it
