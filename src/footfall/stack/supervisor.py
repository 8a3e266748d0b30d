"""The high level: signatures; the body follows in minutes."""

from __future__ import annotations

from collections.abc import Callable

from footfall.stack.contracts import Clock, MotorDriver, Operator, PitchSensor, Record
from footfall.stack.ports import Port
from footfall.stack.settings import StackSettings


class Supervisor:
    """`fault`: str. `finished`: why no further cycle is wanted ("" while one is): operator's stop, joystick gone.
    `late_cycles`, `dropped_records`, `cycles`: counters. `shutdown_problems`: list of str.
    The devices stay the caller's: close them after shut_down().
    """

    def __init__(
        self,
        settings: StackSettings,
        driver: MotorDriver,
        sensor: PitchSensor,
        mid_port: Port,
        operator: Callable[[], Operator],
        log: Callable[[Record], bool],
        clock: Clock,
        *,
        end_log: Callable[[], None] = lambda: None,
    ): ...

    def cycle(self) -> Record:
        raise NotImplementedError

    def shut_down(self) -> None:
        """Motors off, setpoint_on = 0, end_log (the sentinel, then joining the log's writer). Never raises; may be called twice."""
        raise NotImplementedError


def run(supervisor: Supervisor, clock: Clock, until: float | None = None) -> str:
    """Cycles until the supervisor is finished or clock.now() reaches `until`; why it ended. Every path shuts down; exceptions
    (also KeyboardInterrupt and SystemExit, which a signal handler raises) go on to the caller after that."""
    raise NotImplementedError
