"""The joystick thread.

Waits for events of the Linux joystick device and publishes what the operator wants as one immutable
object.
"""

from __future__ import annotations

import errno
import os
import stat
import threading
from pathlib import Path

from footfall.machines.control.contracts import Operator
from footfall.machines.control.operator_sources import JoystickDecoder
from footfall.realtime.serial_port import PortError

_EVENTS = 8 * 64  # bytes of one read: up to 64 events


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
