"""The machine's clock, and what a loop that must keep time asks of a general-purpose system.

Nothing it asks for is needed to run.
"""

from __future__ import annotations

import ctypes
import gc
import os
import time

_PR_SET_TIMERSLACK = 29  # <sys/prctl.h>
_MCL_CURRENT_AND_FUTURE = 3  # <sys/mman.h>
SECOND_NS = 1_000_000_000


class RealClock:
    """Seconds of CLOCK_MONOTONIC, which all processes of a machine share."""

    def now(self) -> float:
        return time.monotonic()

    def sleep_until(self, t: float) -> None:
        """Sleep until an absolute deadline.

        Python keeps the deadline, so being woken by a signal in between costs nothing.
        """
        left = t - time.monotonic()
        if left > 0:
            time.sleep(left)


def now_us() -> int:
    """Whole microseconds of the same clock."""
    return time.monotonic_ns() // 1000


def keep_time(priority: int | None, *, lock_memory: bool = True) -> list[str]:
    """Prepare this process for a periodic loop; says what it was granted.

    `lock_memory`: no, for a program that holds a lot of it.

    - Timer slack: the kernel may wake a sleeper 50 us late to save power; here at once, so that no
      loop need spin.
    - Garbage: all that exists now is frozen, so that a later collection looks at the few objects of
      the loop only.
    - Priority: real-time scheduling (SCHED_FIFO), and memory that is never paged out; both need a
      privilege.
    """
    granted = []
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_TIMERSLACK, 1, 0, 0, 0) == 0:
        granted.append("exact timers")
    gc.collect()
    gc.freeze()
    if priority is not None:
        try:
            # Children (the I/O process) start as ordinary processes again.
            os.sched_setscheduler(
                0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(priority)
            )
            granted.append(f"real-time priority {priority}")
        except OSError:
            granted.append("no real-time priority: not permitted")
        if lock_memory and libc.mlockall(_MCL_CURRENT_AND_FUTURE) == 0:
            granted.append("memory locked")
    return granted
