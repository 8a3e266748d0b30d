"""Where the operator's wishes come from: a joystick's events, a script, the log of another run."""

from __future__ import annotations

import bisect
import dataclasses
import struct
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from footfall.machines.control.contracts import Clock, Operator, Record
from footfall.machines.control.microseconds import SECOND
from footfall.machines.control.settings import StackSettings

SETPOINT_STEP = 0.05  #: rad, a press of up or down
_PRESSES = ("motors_on", "motors_off", "calibrate")  # counted


def pressed(operator: Operator, action: str, settings: StackSettings) -> Operator:
    """The operator after one action.

    Switching the motors on or off also switches the start switch off: a run is started by a press
    of its own, after the motors'.
    """
    if action in ("motors_on", "motors_off"):
        operator = dataclasses.replace(operator, run=False)
    if action in _PRESSES:
        return dataclasses.replace(operator, **{action: getattr(operator, action) + 1})
    changes = {
        "run": lambda: {"run": True},
        "pause": lambda: {"run": False},
        "start": lambda: {"run": not operator.run},
        "stop": lambda: {"stop": True, "run": False},
        "unplug": lambda: {"present": False, "run": False},
        "up": lambda: {
            "setpoint": _within(operator.setpoint + SETPOINT_STEP, settings.setpoint_limit)
        },
        "down": lambda: {
            "setpoint": _within(operator.setpoint - SETPOINT_STEP, settings.setpoint_limit)
        },
    }
    return dataclasses.replace(operator, **changes[action]())


def _within(value: float, limit: float) -> float:
    return min(max(value, -limit), limit)


class Layout(NamedTuple):
    """Which of a joystick's numbered buttons and axes does what."""

    buttons: dict[int, str]
    steer_axis: int
    hat_axis: int | None = None  #: up and down, of a pad whose cross is an axis; up is negative


#: DualShock 3 under Linux 4.12 and later (driver hid-sony: buttons in the order of the kernel's
#: gamepad rules).
#:
#: | control        | number | action                            |
#: |----------------|--------|-----------------------------------|
#: | cross          | 0      | motors on; lifts a latched cut-off |
#: | circle         | 1      | motors off                        |
#: | triangle       | 2      | calibrate the motors              |
#: | start          | 9      | start and pause, in turn          |
#: | PS             | 10     | stop: shut down                   |
#: | up, down       | 13, 14 | set point 0.05 rad up, down       |
#: | right stick, x | axis 3 | steer; to the right is positive   |
DUALSHOCK3 = Layout(
    {0: "motors_on", 1: "motors_off", 2: "calibrate", 9: "start", 10: "stop", 13: "up", 14: "down"},
    steer_axis=3,
)
#: The same controls by the numbers of kernels before 4.12.
DUALSHOCK3_BEFORE_4_12 = Layout(
    {
        14: "motors_on",
        13: "motors_off",
        12: "calibrate",
        3: "start",
        16: "stop",
        4: "up",
        6: "down",
    },
    steer_axis=2,
)


class JoystickDecoder:
    """Events of the Linux joystick interface to operators.

    `struct js_event`, eight bytes (time, value, type, number).

    A button counts when it goes down. The events marked as initial, which tell of the state found
    when the device was opened, are no presses. Any bytes are survived: unknown types and numbers
    mean nothing.
    """

    EVENT = struct.Struct("<IhBB")
    BUTTON, AXIS, INITIAL = 0x01, 0x02, 0x80
    FULL = 32767  #: an axis at its end
    #: Share of it around the middle that means nothing: sticks do not come back exactly.
    REST = 0.05

    def __init__(self, settings: StackSettings, layout: Layout = DUALSHOCK3):
        self.operator = Operator(setpoint=settings.setpoint)
        self._settings, self._layout = settings, layout
        self._partial = b""
        self._hat = 0  # where it is: -1 up, 1 down

    def feed(self, data: bytes) -> Operator:
        """The operator after these bytes, which may come in pieces of any size."""
        data = self._partial + data
        whole = len(data) - len(data) % self.EVENT.size
        self._partial = data[whole:]
        for _, value, kind, number in self.EVENT.iter_unpack(data[:whole]):
            self.operator = self._after(value, kind, number)
        return self.operator

    def unplugged(self) -> Operator:
        """The operator once the device is gone."""
        self.operator = pressed(self.operator, "unplug", self._settings)
        return self.operator

    def _after(self, value: int, kind: int, number: int) -> Operator:
        if kind == self.BUTTON and value == 1 and number in self._layout.buttons:
            return pressed(self.operator, self._layout.buttons[number], self._settings)
        if kind == self.AXIS and number == self._layout.hat_axis:
            before, self._hat = self._hat, round(value / self.FULL)
            if self._hat and self._hat != before:
                action = "up" if self._hat < 0 else "down"
                return pressed(self.operator, action, self._settings)
        if kind == self.AXIS and number == self._layout.steer_axis:
            return dataclasses.replace(self.operator, steer=self._steer(value / self.FULL))
        return self.operator

    def _steer(self, share: float) -> float:
        beyond = max(abs(share) - self.REST, 0.0) / (1.0 - self.REST)
        return (
            (1.0 if share > 0 else -1.0) * min(beyond, 1.0) * self._settings.steer_limit
            if beyond
            else 0.0
        )


class ScriptError(ValueError):
    """A script that cannot be followed, with the line that is wrong."""


class Timeline:
    """Operators, each from its time on."""

    def __init__(self, times_us: Sequence[int], operators: Sequence[Operator]):
        self._times_us, self._operators = times_us, operators

    def at(self, t: float) -> Operator:
        """The operator at this time [s]; before the first, the first."""
        return self._operators[max(bisect.bisect_right(self._times_us, round(t * SECOND)) - 1, 0)]

    def following(self, clock: Clock) -> Callable[[], Operator]:
        """What a Supervisor takes: time zero is now."""
        start = clock.now()
        return lambda: self.at(clock.now() - start)


class ScriptedOperator(Timeline):
    """An operator who does what a text says.

    Lines `t action [value]`, t in seconds since the start and never falling, `#` a comment.

        0.5 motors-on          # also lifts a latched cut-off
        0.6 run                # the start switch on; off: pause
        3   setpoint 0.7       # rad
        5   steer 1.5          # A, positive turns right
        8   stop               # shut down

    Also: motors-off, calibrate, unplug (as a joystick that is pulled out).
    """

    PLAIN = ("motors-on", "motors-off", "calibrate", "run", "pause", "stop", "unplug")
    VALUED = ("setpoint", "steer")

    def __init__(self, lines: Iterable[str], settings: StackSettings):
        times, operators = [0], [Operator(setpoint=settings.setpoint)]
        for count, line in enumerate(lines, start=1):
            words = line.partition("#")[0].split()
            if not words:
                continue
            t_us = self._time(words[0], count)
            if t_us < times[-1]:
                raise ScriptError(
                    f"line {count}: {words[0]} s comes after {times[-1] / SECOND:g} s. Put the"
                    " lines in order."
                )
            times.append(t_us)
            operators.append(self._after(operators[-1], words[1:], settings, count))
        super().__init__(times, operators)

    @staticmethod
    def _time(word: str, count: int) -> int:
        try:
            t_us = round(float(word) * SECOND)
        except (ValueError, OverflowError):
            t_us = -1
        if t_us < 0:
            raise ScriptError(
                f"line {count}: {word!r} is no time. A line reads `t action [value]`, t in seconds:"
                " `0.5 motors-on`."
            )
        return t_us

    def _after(
        self, operator: Operator, words: list[str], settings: StackSettings, count: int
    ) -> Operator:
        action, *values = words or [""]
        if action in self.PLAIN and not values:
            return pressed(operator, action.replace("-", "_"), settings)
        if action in self.VALUED and len(values) == 1:
            limit = settings.setpoint_limit if action == "setpoint" else settings.steer_limit
            return dataclasses.replace(
                operator, **{action: self._value(action, values[0], limit, count)}
            )
        known = ", ".join(self.PLAIN) + "; with a value: " + ", ".join(self.VALUED)
        raise ScriptError(f"line {count}: {' '.join(words)!r} is no action. Known are: {known}.")

    @staticmethod
    def _value(action: str, word: str, limit: float, count: int) -> float:
        try:
            value = float(word)
        except ValueError:
            value = float("nan")
        if not abs(value) <= limit:
            raise ScriptError(
                f"line {count}: {action} {word}: a number of size at most {limit:g} is expected."
            )
        return value


class RecordedOperator(Timeline):
    """The operator of a run that was logged, as far as the records tell.

    Switches, set point, steering. Stops after the last.
    """

    def __init__(self, records: Iterable[Record], settings: StackSettings):
        times, operators = [0], [Operator(setpoint=settings.setpoint)]
        motors_on = False
        for record in records:
            operator = operators[-1]
            if record.motors_on != motors_on:
                motors_on = record.motors_on
                operator = pressed(operator, "motors_on" if motors_on else "motors_off", settings)
            times.append(round(record.t * SECOND))
            wishes = {
                "setpoint": record.pitch_setpoint,
                "steer": record.steer,
                "run": record.setpoint_on,
            }
            operators.append(dataclasses.replace(operator, **wishes))
        times.append(times[-1] + settings.high_period_us)
        operators.append(pressed(operators[-1], "stop", settings))
        super().__init__(times, operators)
