"""The pitch law of the mid level.

PID at a fixed sample time, with a limit on the integral and a filter on the derivative.

One text for three uses. With NumPy float32 numbers it is, operation by operation, what
firmware/teensy/ does in C; with Python floats it runs in the real-time programs; with JAX arrays it
is traced into lockstep simulations and batches. Theory: docs/theory/control-stack.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from footfall.machines.control.microseconds import elapsed_us
from footfall.numerics.namespace import choose, clamp, negated, of_kind

if TYPE_CHECKING:  # it imports JAX, which a control computer need not have
    from footfall.numerics.scalar import Scalar


class PidGains(NamedTuple):
    """Numbers of the law.

    Amperes for a motor, newton metres for a joint: the law does not care, as long as all agree.
    """

    proportional: Scalar
    integral: Scalar
    derivative: Scalar
    integral_limit: Scalar  #: largest size of the integral part, in units of the output
    output_limit: Scalar
    filter_time: Scalar  #: s, of the derivative; 0: the raw difference
    period_us: Any  #: nominal sample time, whole microseconds

    def of_type(self, real: Any) -> PidGains:
        """The same with every number but the period in this precision."""
        return PidGains(*(real(value) for value in self[:-1]), period_us=self.period_us)

    def rested(self) -> PidMemory:
        """Memory of the law while it is off."""
        return PidMemory(0, False, *(of_kind(0.0, self.proportional),) * 4)

    def update(
        self, memory: PidMemory, now_us: Any, setpoint: Scalar, measured: Scalar
    ) -> tuple[PidMemory, Any]:
        """The law with these numbers, as the mid level calls it."""
        return pid_update(self, memory, now_us, setpoint, measured)


class PidMemory(NamedTuple):
    """What the law remembers between calls."""

    last_us: Any  #: when it last calculated
    started: Any  #: whether it has, since it was cleared
    integral: Scalar  #: already multiplied by its gain, so that a change of gain makes no bump
    derivative: Scalar  #: filtered
    previous: Scalar  #: measurement of the last calculation
    output: Scalar

    def blank(self) -> PidMemory:
        """Of a law that is off, each number of its own kind."""
        return PidMemory(0, self.started & False, *(of_kind(0.0, value) for value in self[2:]))


def cleared(real: Any = float) -> PidMemory:
    """Memory of a law that is off."""
    return PidMemory(0, False, real(0.0), real(0.0), real(0.0), real(0.0))


def early(memory: Any, now_us: Any, period_us: Any) -> Any:
    """Whether a law that last calculated at `memory.last_us` has to wait."""
    elapsed = elapsed_us(now_us, memory.last_us)
    return memory.started & (elapsed >= 0) & (elapsed < period_us)


def pid_update(
    gains: PidGains, memory: PidMemory, now_us: Any, setpoint: Scalar, measured: Scalar
) -> tuple[PidMemory, Any]:
    """The memory after a call, and whether the law calculated. Called early, it changes nothing.

    e = r - y
    I <- clamp(I + Ki e Ts, +-I_lim)
    D <- D + Ts / (Tf + Ts) (raw - D),  raw = -(y - y_prev) / Ts, 0 at the first call      (stack.1)
    u = clamp(Kp e + I + Kd D, +-u_lim)

    Ts is the nominal sample time however late the call comes: one calculation, no catching up.
    """
    waits = early(memory, now_us, gains.period_us)
    micro = of_kind(1e-6, gains.proportional)
    sample_time = of_kind(gains.period_us, gains.proportional) * micro
    error = setpoint - measured
    grown = memory.integral + gains.integral * error * sample_time
    integral = clamp(grown, -gains.integral_limit, gains.integral_limit)
    slope = -(measured - memory.previous) / sample_time
    raw = choose(memory.started, slope, 0.0 * slope)
    derivative = memory.derivative + sample_time / (gains.filter_time + sample_time) * (
        raw - memory.derivative
    )
    wanted = gains.proportional * error + integral + gains.derivative * derivative
    new = PidMemory(
        last_us=now_us,
        started=memory.started | True,
        integral=integral,
        derivative=derivative,
        previous=measured,
        output=clamp(wanted, -gains.output_limit, gains.output_limit),
    )
    return choose(waits, memory, new), negated(waits)
