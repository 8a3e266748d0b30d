"""The I/O process: writes the records to disk and tells the screen.

It may wait for a disk as long as it must; the main loop does not.

python -m footfall.realtime.log_process SOCKET FOLDER        (started by the supervisor)
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
from pathlib import Path
from typing import IO, Any

from footfall.realtime.log_link import receive
from footfall.realtime.stack_log import FILE_NAME, TAIL_NAME, StackLogWriter
from footfall.realtime.status_line import EVERY, prepare_to_say, say

SYNC_EVERY = 1.0  # s: what a power cut may cost


def write_log(link: socket.socket, folder: Path) -> None:
    """Until the other end says why it ends, or is gone."""
    first = receive(link)
    if first is None or first[0] != "about":
        raise SystemExit("the supervisor ended before it said what the run is")
    about: dict[str, str] = first[1]
    ending = "the supervisor was killed"
    # Exclusive, and no link is followed: the log of a run is a new file inside its own folder.
    with _new(folder / FILE_NAME) as stream, _new(folder / TAIL_NAME) as tail:
        writer = StackLogWriter(stream, about, tail)
        sync_at = say_at = time.monotonic()
        while (message := receive(link)) is not None:
            kind, content = message
            if kind == "end":
                ending = content
                break
            writer.add(content)
            now = time.monotonic()
            if now >= say_at:
                _say(content, writer.records)
                say_at = now + EVERY
            if now >= sync_at:
                writer.sync()
                sync_at = now + SYNC_EVERY
        writer.finish(ending)
        (folder / TAIL_NAME).unlink()  # all of it is in the file now


def _new(path: Path) -> IO[bytes]:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    return os.fdopen(os.open(path, flags, 0o644), "wb")


def _say(record: dict[str, Any], records: int) -> None:
    say("supervisor", now=time.monotonic(), log_pid=os.getpid(), records=records, **record)


def main(arguments: list[str]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the end comes through the socket
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    prepare_to_say()
    try:
        write_log(socket.socket(fileno=int(arguments[0])), Path(arguments[1]))
    except OSError as error:
        raise SystemExit(
            f"the log cannot be written: {error}. Records are dropped from here on."
        ) from None


if __name__ == "__main__":
    main(sys.argv[1:])
