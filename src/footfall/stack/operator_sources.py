"""Where the operator's wishes come from: signatures; the body follows in minutes."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from footfall.stack.contracts import Clock, Operator, Record
from footfall.stack.settings import StackSettings


class JoystickDecoder:
    """`.operator`: the newest. `layout`: DUALSHOCK3 or DUALSHOCK3_BEFORE_4_12."""

    def __init__(self, settings: StackSettings): ...

    def feed(self, data: bytes) -> Operator:
        """The operator after these bytes of eight-byte events, in pieces of any size."""
        raise NotImplementedError

    def unplugged(self) -> Operator:
        """The operator once the device is gone: present is False."""
        raise NotImplementedError


class ScriptedOperator:
    """Lines `t action [value]`. Raises ScriptError (a ValueError) with the line's number."""

    def __init__(self, lines: Iterable[str], settings: StackSettings): ...

    def at(self, t: float) -> Operator:
        raise NotImplementedError

    def following(self, clock: Clock) -> Callable[[], Operator]:
        """What Supervisor takes: time zero is now."""
        raise NotImplementedError


class RecordedOperator:
    """The operator of a run that was logged; at() and following() as above. Stops after the last record."""

    def __init__(self, records: Iterable[Record], settings: StackSettings): ...

    def at(self, t: float) -> Operator:
        raise NotImplementedError

    def following(self, clock: Clock) -> Callable[[], Operator]:
        raise NotImplementedError
