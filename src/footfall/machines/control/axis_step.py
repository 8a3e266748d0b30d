"""The motor driver as pure functions.

An axis with its watchdog and loops, and the bus that all axes draw from.

One text for the emulated driver (odrive_axis.py, odrive_emulator.py), which has a protocol around
it, and for lockstep, which traces it. Everything here is in the motor's own sign. Numbers may be
Python floats, NumPy scalars or arrays, JAX arrays.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from footfall.machines.control.electrics import (
    Battery,
    Winding,
    bus,
    electrical_power,
    next_current,
    too_much,
)
from footfall.machines.control.microseconds import elapsed_us
from footfall.numerics.namespace import choose, clamp, negated

if TYPE_CHECKING:  # it imports JAX, which a control computer need not have
    from footfall.numerics.scalar import Scalar

SPEED_TOLERANCE = 1.2  #: times the speed limit, unless told otherwise


class AxisError(enum.IntFlag):
    """Why an axis is off. Bits of our own: every firmware has others (odrive_errors.py)."""

    INVALID_STATE = enum.auto()  #: a state was requested that cannot be entered
    UNDER_VOLTAGE = enum.auto()
    OVER_VOLTAGE = enum.auto()
    OVER_SPEED = enum.auto()
    WATCHDOG_EXPIRED = enum.auto()
    OVER_CURRENT = enum.auto()  #: drawn from the bus
    OVER_RETURN = enum.auto()  #: fed back into it
    NOT_A_NUMBER = enum.auto()  #: the command
    WRITTEN = enum.auto()  #: somebody wrote an error word


class Mode(enum.Enum):
    """What the last command was about, by the ODrive's numbers."""

    CURRENT = 1
    VELOCITY = 2
    POSITION = 3


class Command(NamedTuple):
    """What is wanted of the motor.

    Kept while the axis is idle, as the ODrive keeps its inputs: who arms it clears it first.
    """

    mode: Mode = Mode.CURRENT
    position: Scalar = 0.0  #: turns
    velocity: Scalar = 0.0  #: turns/s; with a position: added to what the position loop wants
    current: Scalar = 0.0  #: A; with the others: added to what their loops want


class AxisNumbers(NamedTuple):
    """What an axis is set to."""

    winding: Winding
    watchdog_us: Any  #: without a command for so long: off
    watched: Any = True  #: the watchdog is enabled
    speed_limit: Scalar = math.inf  #: turns/s
    position_gain: Scalar = 20.0  #: (turns/s)/turn, the ODrive's default
    velocity_gain: Scalar = 0.16  #: N m/(turns/s), the ODrive's default
    speed_tolerance: Scalar = SPEED_TOLERANCE  #: times the speed limit: there it trips
    turn: float = math.tau  #: rad in a turn; 1 where positions and speeds are told in radians


class AxisMemory(NamedTuple):
    """What an axis remembers.

    Neither in closed loop nor calibrating: idle, with its bridge open.
    """

    closed_loop: Any
    fed_us: Any  #: when its watchdog was last heard
    wanted: Scalar  #: A, as limited
    current: Scalar  #: A, that flows
    error: Any = 0  #: bits of AxisError
    calibrating: Any = False
    calibrated: Any = True
    calibrated_us: Any = 0  #: when the calibration under way is done


def rested(memory: AxisMemory) -> AxisMemory:
    """The bridge is open: no current, whatever the motor does."""
    return memory._replace(closed_loop=False, calibrating=False, wanted=0.0, current=0.0)


def failed(memory: AxisMemory, error: AxisError) -> AxisMemory:
    """Off, until the error is cleared and closed loop requested again."""
    return rested(memory)._replace(error=memory.error | int(error))


def ticked(
    numbers: AxisNumbers,
    memory: AxisMemory,
    command: Command,
    now_us: Any,
    bus_voltage: Scalar,
    speed: Scalar,
    position: Scalar = 0.0,
) -> AxisMemory:
    """After a tick of the driver.

    Its watchdog and its speed limit, then the current until the next tick.
    """
    ready = memory.calibrating & (elapsed_us(now_us, memory.calibrated_us) >= 0)
    memory = memory._replace(
        calibrating=memory.calibrating & negated(ready), calibrated=memory.calibrated | ready
    )
    fast = memory.closed_loop & (abs(speed) > numbers.speed_tolerance * numbers.speed_limit)
    silent = (
        memory.closed_loop
        & numbers.watched
        & (elapsed_us(now_us, memory.fed_us) >= numbers.watchdog_us)
    )
    memory = choose(fast, failed(memory, AxisError.OVER_SPEED), memory)
    memory = choose(silent, failed(memory, AxisError.WATCHDOG_EXPIRED), memory)
    most = numbers.winding.current_limit
    wanted = clamp(_asked(numbers, command, speed, position), -most, most)
    current = next_current(
        numbers.winding, bus_voltage, speed * numbers.turn, wanted, memory.current
    )
    return choose(memory.closed_loop, memory._replace(wanted=wanted, current=current), memory)


def loaded(
    battery: Battery,
    windings: Sequence[Winding],
    axes: Sequence[AxisMemory],
    speeds: Sequence[Scalar],
) -> tuple[tuple[AxisMemory, ...], Scalar, Scalar]:
    """The axes once the bus has fed them, its voltage and its current. Speeds in rad/s.

    A bus that breaks down, since its battery cannot give so much at any voltage, switches every
    axis off.
    """
    each = zip(windings, axes, speeds, strict=True)
    drawn = sum(electrical_power(winding, axis.current, speed) for winding, axis, speed in each)
    broken = too_much(battery, drawn)
    axes = tuple(choose(broken, failed(axis, AxisError.UNDER_VOLTAGE), axis) for axis in axes)
    return axes, *bus(battery, choose(broken, 0.0 * drawn, drawn))


def _asked(numbers: AxisNumbers, command: Command, speed: Scalar, position: Scalar) -> Scalar:
    """The cascade: position to velocity to current."""
    if command.mode is Mode.CURRENT:  # a kind, not a number: never traced
        return command.current
    pull = (
        numbers.position_gain * (command.position - position)
        if command.mode is Mode.POSITION
        else 0.0
    )
    velocity = clamp(command.velocity + pull, -numbers.speed_limit, numbers.speed_limit)
    return (
        command.current
        + numbers.velocity_gain * (velocity - speed) / numbers.winding.torque_constant
    )
