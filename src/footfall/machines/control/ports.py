"""A line of bytes between two computers, as a program sees it.

And the kind that needs no hardware.
"""

from collections import deque
from typing import Protocol


class LinkLost(OSError):
    """The other end is gone: unplugged, killed, reset."""


class Port(Protocol):
    """A serial line. Neither call ever waits."""

    def read(self) -> bytes:
        """All bytes that have arrived, perhaps none. Raises LinkLost."""
        ...

    def write(self, data: bytes) -> int:
        """Bytes taken; fewer than given when the line is full. Raises LinkLost."""
        ...

    def close(self) -> None: ...


class PipeEnd:
    """One end of a line in memory, for virtual time.

    What one end writes the other reads, at once and in order.
    """

    def __init__(self, incoming: deque[bytes], outgoing: deque[bytes], ends: list[bool]):
        self._incoming, self._outgoing, self._ends = incoming, outgoing, ends

    def read(self) -> bytes:
        self._require()
        data = b"".join(self._incoming)
        self._incoming.clear()
        return data

    def write(self, data: bytes) -> int:
        self._require()
        self._outgoing.append(bytes(data))
        return len(data)

    def close(self) -> None:
        self._ends[0] = False

    def _require(self) -> None:
        if not self._ends[0]:
            raise LinkLost("the other end is closed")


def pipe() -> tuple[PipeEnd, PipeEnd]:
    """Both ends of a line in memory."""
    there, back, ends = deque[bytes](), deque[bytes](), [True]
    return PipeEnd(there, back, ends), PipeEnd(back, there, ends)
