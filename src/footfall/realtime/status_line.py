"""How a program of the stack tells whoever started it how it goes.

Now and then one line of JSON on standard output, never waiting.
"""

from __future__ import annotations

import json
import os
import stat
import sys
from typing import Any

#: s between two lines of a program.
EVERY = 0.2
_STDOUT = 1


def say(program: str, **figures: Any) -> None:
    """One line; lost when nobody reads, for a loop must not wait for a screen."""
    line = json.dumps({"program": program, **figures}, default=float) + "\n"
    try:
        os.write(_STDOUT, line.encode())  # shorter than a page: a pipe takes it whole or not at all
    except OSError:
        return


def prepare_to_say() -> None:
    """Before the first line: a pipe shall not block.

    A terminal is left as it is, for it is also the shell's.
    """
    sys.stdout.flush()
    if stat.S_ISFIFO(os.fstat(_STDOUT).st_mode):
        os.set_blocking(_STDOUT, False)
