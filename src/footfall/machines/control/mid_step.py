"""The mid level as a pure function: gate, watchdog, pitch law, currents.

What it remembers goes in and comes out.

One text for three uses, like the law in pid.py: MidProgram puts bytes around it (and
firmware/teensy/ is the same in C), lockstep traces it. Numbers may be Python floats, NumPy scalars
or arrays, JAX arrays. Theory: docs/theory/control-stack.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from footfall.machines.control.microseconds import elapsed_us
from footfall.machines.control.own_law import SampledMemory
from footfall.machines.control.pid import PidMemory, cleared
from footfall.numerics.namespace import choose, clamp, finite, negated, of_kind

if TYPE_CHECKING:  # it imports JAX, which a control computer need not have
    from footfall.numerics.scalar import Scalar

SIDES = (1.0, -1.0)  #: how the steering current acts on left and right


class Frame(NamedTuple):
    """What the high level says."""

    on: Any  #: the law is wanted
    setpoint: Scalar  #: rad
    pitch: Scalar  #: rad
    steer: Scalar  #: A


class MidMemory(NamedTuple):
    """What the mid level remembers."""

    frame: Frame  #: the last valid one
    heard_us: Any  #: when it came; means something only while armed
    # a frame that says off has come since the start, or since the watchdog tripped: one that says
    # on counts
    armed: Any
    tripped: Any  #: the watchdog has, and no frame has said off since
    #: Cleared while off: the first call takes the present pitch for the previous one.
    law: PidMemory | SampledMemory
    blind: Any  #: the last calculation had no finite pitch
    still: Any  #: 0 A has been commanded since it is off
    still_us: Any  #: when, last

    @property
    def on(self) -> Any:
        """The law is running: the last frame asked for it, and it followed one that said off."""
        return self.frame.on & self.armed


class Commands(NamedTuple):
    """What goes to the motor driver."""

    due: Any  #: whether anything does
    currents: tuple[Scalar, ...]  #: A for each motor, forward drive positive


class Law(Protocol):
    """What calculates the output: PidGains, a SampledLaw, or what a compiler made of one."""

    @property
    def period_us(self) -> Any: ...

    @property
    def output_limit(self) -> Any:
        """A"""
        ...

    def update(
        self, memory: Any, now_us: Any, setpoint: Scalar, measured: Scalar
    ) -> tuple[Any, Any]:
        """The memory after a call, and whether it calculated. Called early, it changes nothing."""
        ...


class BegunLaw(Law, Protocol):
    """A law that knows what it remembers while it is off."""

    def rested(self) -> Any: ...


def started(real: Any = float, law: Any = None) -> MidMemory:
    """As after the power came on; `law`: memory of a law that is off, the shipped one's if None."""
    nothing = real(0.0)
    law = cleared(real) if law is None else law
    return MidMemory(Frame(False, nothing, nothing, nothing), 0, False, False, law, False, False, 0)


def heard(memory: MidMemory, frame: Frame, now_us: Any) -> MidMemory:
    """After a valid frame."""
    off = negated(frame.on)
    told = memory._replace(
        frame=frame, heard_us=now_us, armed=memory.armed | off, tripped=memory.tripped & frame.on
    )
    return choose(memory.on & off, _rested(told), told)


def stepped(
    numbers: Law, watchdog_us: Any, motors: int, memory: MidMemory, now_us: Any
) -> tuple[MidMemory, Commands]:
    """After a call at this time, and what is commanded.

    On, the law's currents whenever it calculates. Off, 0 A at once and then once per period: sent,
    not merely left out, so that the driver's own watchdog stays fed. A pitch that is no number
    keeps the output for one calculation; the second one, or a current that is none, counts as the
    watchdog does.
    """
    silent = memory.armed & (elapsed_us(now_us, memory.heard_us) >= watchdog_us)
    memory = choose(silent, _tripped(memory), memory)

    frame, before = memory.frame, memory.law
    seen = finite(frame.pitch)
    law, calculated = numbers.update(
        before, now_us, frame.setpoint, choose(seen, frame.pitch, before.previous)
    )
    law = choose(seen, law, before._replace(last_us=now_us))
    most = numbers.output_limit
    currents = tuple(clamp(law.output + side * frame.steer, -most, most) for side in SIDES[:motors])
    good = negated(memory.blind) | seen
    for current in currents:
        good = good & finite(current)
    calculates = memory.on & calculated
    drives = calculates & good
    memory = choose(drives, memory._replace(law=law, blind=negated(seen)), memory)
    memory = choose(calculates & negated(good), _tripped(memory), memory)

    off = negated(memory.on)
    waited = elapsed_us(now_us, memory.still_us)
    holds = off & negated(memory.still & (waited >= 0) & (waited < numbers.period_us))
    memory = choose(holds, memory._replace(still=memory.still | True, still_us=now_us), memory)
    nothing = (of_kind(0.0, before.output),) * motors
    return memory, Commands(drives | holds, choose(drives, currents, nothing))


def _tripped(memory: MidMemory) -> MidMemory:
    """Off, until a frame has said off."""
    return _rested(memory)._replace(armed=memory.armed & False, tripped=memory.tripped | True)


def _rested(memory: MidMemory) -> MidMemory:
    """A law without a past."""
    return memory._replace(
        law=memory.law.blank(), blind=memory.blind & False, still=memory.still & False
    )
