"""Serial lines of this machine.

A named port, a pseudo-terminal that looks like one, a pair of sockets in the place of a cable
between two of our own processes, and a line that garbles what passes.

Between our own processes it is sockets: a pseudo-terminal hands its bytes over in a kernel thread
of ordinary priority, so on a busy machine they wait, whatever the priority of both its ends.

termios is used directly: pyserial would add Windows and read timeouts, and what a program here
needs of a line is that it never waits.
"""

from __future__ import annotations

import errno
import fcntl
import os
import random
import socket
import termios
import tty
from pathlib import Path
from typing import NamedTuple

from footfall.machines.control.ports import LinkLost, Port

_MOST = 1 << 16  # bytes of one read: all a tty holds
_GONE = (
    errno.EIO,
    errno.ENODEV,
    errno.ENXIO,
    errno.EBADF,
    errno.EPIPE,
    errno.ECONNRESET,
)
#: Asked of the kernel, which doubles it and counts about 0.8 kB for a message: some 0.15 s of the
#: busiest line, as long as a pseudo-terminal's buffer lasts.
CABLE_BYTES = 1 << 16
_CABLE = "fd:"


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


class SocketPort:
    """One end of a cable between two of our own processes, handed down by the launcher.

    Behaves as a line does: what is written to an end nobody reads fills it up and is then lost.
    """

    def __init__(self, number: int, held: int | None = None):
        """`number` of an open socket; `held`: the other end, which a device keeps open as well.

        A device so does not break when nobody listens, and who listens learns of its death.
        """
        self._fd, self._held = number, held
        os.set_blocking(self._fd, False)

    def fileno(self) -> int:
        return self._fd

    def read(self) -> bytes:
        return _read(self._fd, "the cable")

    def write(self, data: bytes) -> int:
        return _write(self._fd, data, "the cable")

    def close(self) -> None:
        for fd in (self._fd, self._held):
            if fd is not None and fd >= 0:
                os.close(fd)
        self._fd, self._held = -1, None


class Cable(NamedTuple):
    """Both ends of a new socket pair, as the launcher hands them to two processes."""

    device: socket.socket
    user: socket.socket

    @classmethod
    def made(cls) -> Cable:
        cable = cls(*socket.socketpair())
        for end in cable:
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, CABLE_BYTES)
        return cable

    @property
    def device_name(self) -> str:
        """For `open_device`, in a process that is passed both ends."""
        return f"{_CABLE}{self.device.fileno()},{self.user.fileno()}"

    @property
    def user_name(self) -> str:
        """For `open_port`, in a process that is passed this end."""
        return f"{_CABLE}{self.user.fileno()}"


def open_port(where: str, baud: int = 115_200) -> Port:
    """A device's line: a serial port by its path, or `fd:N`, an end of a cable."""
    if not where.startswith(_CABLE):
        return SerialPort(where, baud)
    port = SocketPort(*_numbers(where))
    port.read()  # what was said before we listened is not for us
    return port


def open_device(where: str) -> PtyPort | SocketPort:
    """What an emulated device speaks through.

    A pseudo-terminal of this name for outsiders, or `fd:N,M`, an end of a cable and its other.
    """
    return SocketPort(*_numbers(where)) if where.startswith(_CABLE) else PtyPort(Path(where))


def _numbers(where: str) -> list[int]:
    words = where.removeprefix(_CABLE).split(",")
    if not (len(words) <= 2 and all(word.isdecimal() for word in words)):
        raise PortError(f"{where!r} names no open socket. Expected {_CABLE}N.")
    return [int(word) for word in words]


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
