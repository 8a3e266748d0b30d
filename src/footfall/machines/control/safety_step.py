"""The supervisor's rules as pure functions: when the motors may be on, and when the law may run.

- Any trouble cuts the motors off in the cycle that sees it, and is latched.
- Only a press of "motors on" that comes after the cut-off, in a cycle without trouble, lifts the
  latch and arms the motors.
- The law runs while the motors are in closed loop, all is well, and the start switch is on. A
  cut-off, like a press of "motors off", uses the start switch up: it must be released, with the
  latch lifted, before it counts again. Nothing starts by itself.
- Calibration turns motors too: it is obeyed only while they are off and nothing is latched.

One text for the supervisor (safety.py asks the devices and finds the words) and for lockstep, which
traces it. Numbers may be Python floats, NumPy scalars or arrays, JAX arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from footfall.numerics.namespace import choose, finite, negated

if TYPE_CHECKING:  # it imports JAX, which a control computer need not have
    from footfall.numerics.scalar import Scalar

ARMING_US = 500_000  #: within which an armed motor must be in closed loop


class SafetyMemory(NamedTuple):
    """A latch and two switches, and the last pitch worth sending.

    Times are whole microseconds on a clock that does not wrap.
    """

    latched: Any = False  #: the motors were cut off, and stay off
    motors_on: Any = False  #: armed; `closed_loop` follows when the driver says so
    closed_loop: Any = False
    run_used_up: Any = False  #: the start switch must be released before it counts
    armed_us: Any = 0  #: when the motors were last armed
    troubled: Any = False  #: in this cycle
    pitch_known: Any = False
    pitch: Scalar = 0.0  #: rad
    pitch_us: Any = 0  #: when it was measured


class Pressed(NamedTuple):
    """Buttons pressed since the cycle before."""

    motors_on: Any
    motors_off: Any
    calibrate: Any


class Orders(NamedTuple):
    """What the driver is told because the operator wants it."""

    arm: Any
    calibrate: Any


def over_speed(speeds: Sequence[Scalar], limit: Scalar) -> list[Any]:
    """Which motors are too fast, in either direction. A speed that is no number is too fast."""
    return [negated(abs(speed) <= limit) for speed in speeds]


def disobeyed(memory: SafetyMemory, everywhere: Any, now_us: Any) -> tuple[SafetyMemory, Any]:
    """What is known of the motors' state, and whether that is trouble.

    It is where not all are in closed loop. Asked while they should be on.
    """
    late = now_us - memory.armed_us > ARMING_US
    trouble = negated(everywhere) & (memory.closed_loop | late)
    return memory._replace(closed_loop=choose(trouble, memory.closed_loop, everywhere)), trouble


def watched(memory: SafetyMemory, trouble: Any, off: Any) -> SafetyMemory:
    """The first thing in every cycle.

    Whether there is trouble, and whether the motors are to be switched off without any.
    """
    memory = memory._replace(troubled=memory.troubled & False)
    return choose(trouble, cut_off(memory), choose(off, switched_off(memory), memory))


def cut_off(memory: SafetyMemory) -> SafetyMemory:
    """Motors off, latched."""
    return switched_off(memory)._replace(
        latched=memory.latched | True, troubled=memory.troubled | True
    )


def switched_off(memory: SafetyMemory) -> SafetyMemory:
    """Motors off; the start switch is used up."""
    return memory._replace(motors_on=False, closed_loop=False, run_used_up=True)


def sensed(
    memory: SafetyMemory, fresh: Any, measured: Scalar, limit: Scalar, timeout_us: Any, now_us: Any
) -> tuple[SafetyMemory, Any]:
    """After the sensor was asked, and whether that is trouble.

    A fresh pitch that is none, or nothing fresh for too long.
    """
    good = finite(measured) & (abs(measured) <= limit)
    stale = negated(fresh) & (now_us - memory.pitch_us > timeout_us)
    trouble = stale | (fresh & negated(good))
    kept = choose(
        fresh & good, memory._replace(pitch_known=True, pitch=measured, pitch_us=now_us), memory
    )
    return choose(trouble, cut_off(kept), kept), trouble


def obeyed(
    memory: SafetyMemory, pressed: Pressed, run: Any, now_us: Any
) -> tuple[SafetyMemory, Orders]:
    """What the operator wants, as far as it may be had.

    Motors that are armed here may refuse: then `cut_off`.
    """
    off = negated(memory.motors_on)
    arm = pressed.motors_on & off & negated(memory.troubled) & negated(pressed.motors_off)
    memory = choose(arm, memory._replace(latched=False, motors_on=True, armed_us=now_us), memory)
    calibrate = pressed.calibrate & negated(memory.motors_on) & negated(memory.latched)
    released = negated(run) & negated(memory.latched)
    return memory._replace(run_used_up=memory.run_used_up & negated(released)), Orders(
        arm, calibrate
    )


def may_run(memory: SafetyMemory, run: Any) -> Any:
    """Whether the law may run, the start switch being where it is."""
    return (
        run
        & negated(memory.run_used_up)
        & memory.closed_loop
        & negated(memory.latched)
        & memory.pitch_known
    )
