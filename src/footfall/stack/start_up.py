"""Start-up checks: signatures; the body follows in minutes."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from footfall.stack.contracts import Clock, MotorDriver, PitchSensor, ResetLine
from footfall.stack.ports import Port
from footfall.stack.settings import StackSettings


class StartUpError(Exception):
    """A check failed; the motors are off. str() is the whole lesson."""

    def __init__(self, check: str, what: str, advice: str):
        super().__init__(f"Start-up check failed: {check}.\n  {what}\n  Try: {advice}")
        self.check, self.what, self.advice = check, what, advice


class Connections(NamedTuple):
    """How to open each device; called in the order of the checks, since a Teensy's port is gone while it is in reset. An OSError
    (DeviceError, LinkLost) means: not there."""

    mid: Callable[[], Port]
    sensor: Callable[[], PitchSensor]
    driver: Callable[[], MotorDriver]


class Devices(NamedTuple):
    """Connected and checked."""

    driver: MotorDriver
    sensor: PitchSensor
    mid_port: Port
    standing_errors: tuple[int, ...]  #: error words of the driver from before: told, not cleared


def start_up(settings: StackSettings, reset_line: ResetLine, connect: Connections, clock: Clock) -> Devices:
    raise NotImplementedError
