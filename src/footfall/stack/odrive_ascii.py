"""MotorDriver over the ODrive's ASCII protocol: signatures; the body follows in minutes."""

from __future__ import annotations

from footfall.stack.contracts import Clock
from footfall.stack.ports import Port
from footfall.stack.settings import StackSettings


class OdriveAscii:
    """Implements MotorDriver. Waits at most `reply_limit` seconds for a set of answers, by `clock`, looking every `poll` seconds."""

    def __init__(
        self, port: Port, settings: StackSettings, clock: Clock, *, reply_limit: float = 0.004, poll: float = 0.0002
    ): ...
