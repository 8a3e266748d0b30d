"""The joystick thread: waits for events of the Linux joystick device and publishes what the operator wants as one immutable object."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

from footfall.realtime.serial_port import PortError
from footfall.stack.contracts import Operator
from footfall.stack.operator_sources import JoystickDecoder

_EVENTS = 8 * 64  # bytes of one read: up to 64 events


class JoystickThread:
    """Call it for the newest Operator. End of file, or an error of the device, means unplugged. A named pipe serves as well."""

    def __init__(self, path: Path, decoder: JoystickDecoder, operator: Operator):
        try:
            mode = path.stat().st_mode
        except OSError as error:
            raise PortError(
                f"{path} cannot be opened: {error.strerror}. Is the joystick connected? Try `ls /dev/input/js*`."
            ) from None
        if not (stat.S_ISCHR(mode) or stat.S_ISFIFO(mode)):
            raise PortError(f"{path} is not a joystick. Expected a device such as /dev/input/js0.")
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
