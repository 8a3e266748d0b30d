"""Serial lines of this machine.

A named port, a pseudo-terminal that looks like one, and one that garbles what passes.

termios is used directly: pyserial would add Windows and read timeouts, and what a program here
needs of a line is that it never waits.
"""

from __future__ import annotations

import errno
import fcntl
import os
import random
import termios
import tty
from pathlib import Path

from footfall.machines.control.ports import LinkLost, Port

_MOST = 1 << 16  # bytes of one read: all a tty holds
_GONE = (errno.EIO, errno.ENODEV, errno.ENXIO, errno.EBADF)


class PortError(OSError):
    """A port cannot be opened, and why."""


class SerialPort:
    """A named port, raw, at a baud rate that only real lines heed.

    Locked, so that two programs do not share it by mistake.
    """

    def __init__(self, path: str | Path, baud: int = 115_200):
        self._path = str(path)
        try:
            self._fd = os.open(self._path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        except OSError as error:
            raise PortError(
                f"{self._path} cannot be opened: {error.strerror}. {_advice(error)}"
            ) from None
        try:
            if not os.isatty(self._fd):
                raise PortError(
                    f"{self._path} is not a serial port. Expected a device such as /dev/ttyACM0."
                )
            fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            _make_raw(self._fd, baud)
            # What was said before we listened is not for us.
            termios.tcflush(self._fd, termios.TCIFLUSH)
        except BlockingIOError:
            os.close(self._fd)
            raise PortError(
                f"{self._path} is in use by another program. Close that, or name another port."
            ) from None
        except BaseException:
            os.close(self._fd)
            raise

    def fileno(self) -> int:
        return self._fd

    def read(self) -> bytes:
        return _read(self._fd, self._path)

    def write(self, data: bytes) -> int:
        return _write(self._fd, data, self._path)

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


class PtyPort:
    """The device's end of a pseudo-terminal.

    The other end has a name, a link at `path`, and may be closed and opened at will.
    """

    def __init__(self, path: Path):
        self._path = path
        # The other end is held open here as well: a device does not break when nobody listens.
        self._fd, self._held = os.openpty()
        _make_raw(self._held, None)
        os.set_blocking(self._fd, False)
        self._target = os.ttyname(self._held)
        if path.is_symlink():
            path.unlink()  # of a run that was killed
        path.symlink_to(self._target)

    def fileno(self) -> int:
        return self._fd

    def read(self) -> bytes:
        return _read(self._fd, str(self._path))

    def write(self, data: bytes) -> int:
        """A line nobody reads fills up, and what does not fit is lost, as on a wire."""
        return _write(self._fd, data, str(self._path))

    def close(self) -> None:
        if self._fd < 0:
            return
        if self._path.is_symlink() and str(self._path.readlink()) == self._target:
            self._path.unlink()
        os.close(self._fd)
        os.close(self._held)
        self._fd = -1


class NoisyPort:
    """A port on a bad cable: each byte, either way, becomes another one with probability `rate`."""

    def __init__(self, port: Port, rate: float, seed: int):
        self._port, self._rate = port, rate
        self._random = random.Random(seed)

    def read(self) -> bytes:
        return self._garbled(self._port.read())

    def write(self, data: bytes) -> int:
        return self._port.write(self._garbled(data))

    def close(self) -> None:
        self._port.close()

    def _garbled(self, data: bytes) -> bytes:
        draw = self._random
        return bytes(
            byte ^ draw.randrange(1, 256) if draw.random() < self._rate else byte for byte in data
        )


def _make_raw(fd: int, baud: int | None) -> None:
    tty.setraw(fd, termios.TCSANOW)
    mode = termios.tcgetattr(fd)
    mode[2] |= termios.CLOCAL | termios.CREAD  # heed no modem lines
    mode[2] &= ~termios.HUPCL  # closing must not pull DTR, which resets some boards
    if baud is not None:
        speed = getattr(termios, f"B{baud}", None)
        if speed is None:
            raise PortError(
                f"{baud} baud is no speed this system knows. Try 115200, 460800 or 921600."
            )
        mode[4] = mode[5] = speed
    # At least one byte: "nothing yet" is then EAGAIN, and an empty read means that the other end
    # hung up.
    mode[6][termios.VMIN], mode[6][termios.VTIME] = 1, 0
    termios.tcsetattr(fd, termios.TCSANOW, mode)


def _read(fd: int, name: str) -> bytes:
    try:
        data = os.read(fd, _MOST)
    except BlockingIOError:
        return b""
    except OSError as error:
        if error.errno in _GONE:
            raise LinkLost(f"{name}: the line is gone ({error.strerror})") from None
        raise
    if not data:
        raise LinkLost(f"{name}: the other end hung up")
    return data


def _write(fd: int, data: bytes, name: str) -> int:
    try:
        return os.write(fd, data)
    except BlockingIOError:
        return 0
    except OSError as error:
        if error.errno in _GONE:
            raise LinkLost(f"{name}: the line is gone ({error.strerror})") from None
        raise


def _advice(error: OSError) -> str:
    match error.errno:
        case errno.ENOENT:
            return "Is the device plugged in? `ls /dev/tty*` lists what there is."
        case errno.EACCES:
            return "On most systems members of the group `dialout` may open it."
        case errno.EBUSY:
            return "Another program has it."
    return "Expected a device such as /dev/ttyACM0."
