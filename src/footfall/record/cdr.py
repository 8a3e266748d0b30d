"""Messages of ROS 2 as bytes: many of one shape at once.

CDR, little endian: four bytes that say so, then the fields in their order, each number at a
multiple of its own size, a text or a list after its length. Messages of one topic differ in their
numbers only, so the first is laid out field by field and all are filled in as arrays: a log of
100 000 rows is a matter of copying.
"""

from typing import Any

import numpy as np

_LITTLE_ENDIAN = b"\x00\x01\x00\x00"


class Layout:
    """Where the numbers of a message stand.

    >>> layout = Layout()
    >>> layout.text("hub").number("x", "<f8")
    >>> [len(message) for message in layout.messages({"x": [1.0, 2.0]})]
    [20, 20]
    """

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._places: dict[str, tuple[int, np.dtype, int]] = {}

    def text(self, text: str) -> "Layout":
        """The same in every message."""
        data = text.encode() + b"\x00"
        self.length(len(data))
        self._bytes += data
        return self

    def length(self, count: int) -> "Layout":
        """Of a list of no fixed length that follows."""
        self._align(4)
        self._bytes += count.to_bytes(4, "little")
        return self

    def number(self, name: str, kind: str, count: int = 1) -> "Layout":
        """A number, or `count` of them, that `messages` fills in by this name."""
        dtype = np.dtype(kind)
        self._align(dtype.itemsize)
        self._places[name] = (len(self._bytes), dtype, count)
        self._bytes += bytes(dtype.itemsize * count)
        return self

    def constant(self, values: Any, kind: str) -> "Layout":
        """Numbers that are the same in every message."""
        data = np.asarray(values, kind)
        self._align(data.dtype.itemsize)
        self._bytes += data.tobytes()
        return self

    def messages(self, values: dict[str, Any]) -> list[bytes]:
        """One message for each row of the values; a name that is left out is zero."""
        rows = len(next(iter(values.values())))
        blank = np.frombuffer(_LITTLE_ENDIAN + bytes(self._bytes), np.uint8)
        filled = np.tile(blank, (rows, 1))
        for name, column in values.items():
            start, dtype, count = self._places[name]
            numbers = np.ascontiguousarray(column, dtype).reshape(rows, count)
            first = start + len(_LITTLE_ENDIAN)
            filled[:, first : first + dtype.itemsize * count] = numbers.view(np.uint8).reshape(
                rows, -1
            )
        data, size = filled.tobytes(), len(blank)
        return [data[first : first + size] for first in range(0, len(data), size)]

    def _align(self, size: int) -> None:
        self._bytes += bytes(-len(self._bytes) % size)


def text_message(text: str) -> bytes:
    """std_msgs/msg/String."""
    layout = Layout().text(text)
    return _LITTLE_ENDIAN + bytes(layout._bytes)


def header(layout: Layout, frame: str, name: str = "") -> Layout:
    """std_msgs/Header in a layout; its stamp is filled in by `stamps`."""
    return layout.number(f"{name}sec", "<i4").number(f"{name}nanosec", "<u4").text(frame)


def stamps(t: np.ndarray, name: str = "") -> dict[str, np.ndarray]:
    """Seconds as the stamp of a header, which ends after 68 years."""
    known = np.clip(np.nan_to_num(t), 0.0, 2**31 - 1)
    whole = np.floor(known)
    parts = np.minimum(np.round((known - whole) * 1e9), 999_999_999)
    return {f"{name}sec": whole, f"{name}nanosec": parts}
