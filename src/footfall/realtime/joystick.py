"""The joystick thread.

Waits for events of the Linux joystick device and publishes what the operator wants as one immutable
object.
"""

from __future__ import annotations

import array
import errno
import fcntl
import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path

from footfall.machines.control.contracts import Operator
from footfall.machines.control.gamepad import Pad, UnknownPad, layout_of
from footfall.machines.control.operator_sources import DUALSHOCK3, JoystickDecoder, Layout
from footfall.realtime.serial_port import PortError

_EVENTS = 8 * 64  # bytes of one read: up to 64 events

# Requests of linux/joystick.h.
JSIOCGAXES, JSIOCGBUTTONS, JSIOCGNAME_128 = 0x80016A11, 0x80016A12, 0x80806A13
JSIOCGAXMAP, AXES = 0x80406A32, 0x40
JSIOCGBTNMAP, BUTTONS = 0x84006A34, 0x200


def require_joystick(path: Path) -> None:
    """PortError, in words, unless this can be read as a joystick.

    A device, or a named pipe in its place.
    """
    try:
        mode = path.stat().st_mode
        if (stat.S_ISCHR(mode) or stat.S_ISFIFO(mode)) and not os.access(path, os.R_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise PortError(
            f"{path} cannot be opened: {error.strerror}. Is the joystick connected? Try `ls -l"
            " /dev/input/js*`."
        ) from None
    if not (stat.S_ISCHR(mode) or stat.S_ISFIFO(mode)):
        raise PortError(f"{path} is not a joystick. Expected a device such as /dev/input/js0.")


def read_pad(descriptor: int, ioctl: Callable[..., int] = fcntl.ioctl) -> Pad:
    """What a joystick device says of itself. OSError if it does not answer."""
    counts, name = array.array("B", [0]), array.array("B", bytes(128))
    axes, buttons = array.array("B", bytes(AXES)), array.array("H", bytes(2 * BUTTONS))
    ioctl(descriptor, JSIOCGAXES, counts)
    count_axes = counts[0]
    ioctl(descriptor, JSIOCGBUTTONS, counts)
    ioctl(descriptor, JSIOCGAXMAP, axes)
    ioctl(descriptor, JSIOCGBTNMAP, buttons)
    ioctl(descriptor, JSIOCGNAME_128, name)
    words = name.tobytes().partition(b"\0")[0].decode(errors="replace")
    return Pad(words, tuple(axes[:count_axes]), tuple(buttons[: counts[0]]))


def require_layout(path: Path, ioctl: Callable[..., int] = fcntl.ioctl) -> Layout:
    """What the numbers of this joystick do; PortError, in words, where that is not known.

    A named pipe has the numbers of a DualShock 3.
    """
    require_joystick(path)
    if stat.S_ISFIFO(path.stat().st_mode):
        return DUALSHOCK3
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        try:
            return layout_of(read_pad(descriptor, ioctl))
        finally:
            os.close(descriptor)
    except UnknownPad as error:
        raise PortError(f"{path}: {error}") from None
    except OSError as error:
        raise PortError(
            f"{path} does not say which buttons it has ({error.strerror}). Expected a joystick"
            " device such as /dev/input/js0."
        ) from None


class JoystickThread:
    """Call it for the newest Operator.

    End of file, or an error of the device, means unplugged. A named pipe serves as well.

    Ask `require_joystick` first: what cannot be opened counts as unplugged.
    """

    def __init__(self, path: Path, decoder: JoystickDecoder, operator: Operator):
        self._path, self._decoder, self._newest = path, decoder, operator
        # A daemon: it sleeps in a read that only the device can end.
        threading.Thread(target=self._follow, name="joystick", daemon=True).start()

    def __call__(self) -> Operator:
        return self._newest  # one reference, replaced as a whole: no lock is needed to read it

    def _follow(self) -> None:
        try:
            descriptor = os.open(self._path, os.O_RDONLY)
            try:
                while data := os.read(descriptor, _EVENTS):
                    self._newest = self._decoder.feed(data)
            finally:
                os.close(descriptor)
        except OSError:
            pass  # ENODEV: pulled out
        finally:
            self._newest = self._decoder.unplugged()
