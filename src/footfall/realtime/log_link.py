"""From the main loop to the I/O process.

A pair of sockets that keeps records apart and holds a bounded number of them.

The kernel's buffer is the queue. Sending never waits; when the queue is full, or nobody is left to
read it, the record is dropped and the caller told. Records travel as JSON.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from footfall.machines.control.contracts import Record
from footfall.realtime.stack_log import to_json

#: Asked of the kernel, which doubles it and counts about 1.3 kB for a record: one second of them.
QUEUE_BYTES = 1 << 16
MOST_BYTES = 1 << 15  # of one message; a longer one is no record of ours


class LogLink:
    """The main loop's end, and the I/O process at the other."""

    def __init__(self, folder: Path, about: dict[str, str]):
        """Starts the process that writes the log into this folder.

        And tells it what the run is.
        """
        self._ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, QUEUE_BYTES)
        command = [
            sys.executable,
            "-m",
            "footfall.realtime.log_process",
            str(theirs.fileno()),
            str(folder),
        ]
        # A session of its own: Ctrl-C and a signal to the supervisor's group must not stop the
        # writing before the last record.
        self.process = subprocess.Popen(
            command, pass_fds=[theirs.fileno()], start_new_session=True, stdin=subprocess.DEVNULL
        )
        theirs.close()
        self._ours.send(_message("about", about))
        self._ours.setblocking(False)

    def put(self, record: Record, more: Mapping[str, float] | None = None) -> bool:
        """A record, and what else was known in its cycle. False: it was dropped."""
        return self._send(_message("record", to_json(record) | dict(more or {})))

    def close(self, ending: str, patience: float = 2.0) -> bool:
        """The sentinel, then wait for the file to be whole.

        False: it was not after twice so many seconds; it will be when its writer gets to it. May be
        called twice.
        """
        if self._ours.fileno() >= 0:
            self._ours.settimeout(patience)
            self._send(_message("end", ending))
            self._ours.close()
        try:
            return self.process.wait(patience) == 0
        except subprocess.TimeoutExpired:
            return False

    def _send(self, message: bytes) -> bool:
        try:
            self._ours.send(message)
        except OSError:  # full (EAGAIN), or the process is gone (EPIPE)
            return False
        return True


def receive(link: socket.socket) -> tuple[str, Any] | None:
    """The next message at the other end, or None at the end of all."""
    data = link.recv(MOST_BYTES)
    if not data:
        return None
    kind, content = json.loads(data)
    return kind, content


def _message(kind: str, content: Any) -> bytes:
    data = json.dumps([kind, content]).encode()
    if len(data) > MOST_BYTES:
        raise ValueError(
            f"a message of {len(data)} bytes for the I/O process; at most {MOST_BYTES}"
        )
    return data
