"""A law of one's own in the loop of the Python programs: its C, built for this machine and called.

A call takes a few microseconds, no longer than the shipped law in Python, and gives the bits that
the firmware gives. One that takes too much of its period is refused before anything moves.
"""

from __future__ import annotations

import ctypes
import time
from typing import Any

import numpy as np

from footfall.machines.control.mid import MidProgram
from footfall.machines.control.own_law import KINDS, OwnLaw, SampledMemory
from footfall.machines.control.settings import StackSettings

#: Of a period that a call may take: the rest is for bytes, and for the other programs.
SHARE = 0.25
#: Calls that are timed: their median, for the machine may be busy.
_CALLS = 25
_MASK = 0xFFFFFFFF  # the C counts microseconds in 32 bits
_C_TYPES = dict(
    zip(KINDS, (ctypes.c_float, ctypes.c_int32, ctypes.c_uint32, ctypes.c_bool), strict=True)
)


class CompiledLaw:
    """What a compiler made of a law. Raises CannotBuild where there is none."""

    def __init__(self, law: OwnLaw):
        # Only now: a mid process with the shipped law loads nothing of the engines' room.
        from footfall.realtime.firmware_build import law_library

        core = ctypes.CDLL(str(law_library(law)))
        self.period_us, self.output_limit = law.period_us, np.float32(law.output_limit)
        numbers = dict.fromkeys(law.numbers, ctypes.c_float) | {"period_us": ctypes.c_int32}
        remembered = {
            **{f"own_{name}": _C_TYPES[kind] for name, kind in law.memory.items()},
            "last_us": ctypes.c_uint32,
            "started": ctypes.c_bool,
            "previous": ctypes.c_float,
            "output": ctypes.c_float,
        }
        self._numbers = _struct(numbers)(*law.numbers.values())
        self._memory = _struct(remembered)
        self._own = [name for name in remembered if name.startswith("own_")]
        self._update: Any = core.ff_pid_update
        self._update.restype = ctypes.c_bool
        self._update.argtypes = [
            *(ctypes.POINTER(type(self._numbers)), ctypes.POINTER(self._memory)),
            *(ctypes.c_uint32, ctypes.c_float, ctypes.c_float),
        ]

    def rested(self) -> SampledMemory:
        """Memory of the law while it is off: what it remembers itself does not count."""
        nothing = np.float32(0.0)
        return SampledMemory((0,) * len(self._own), 0, False, nothing, nothing)

    def update(
        self, memory: SampledMemory, now_us: int, setpoint: Any, measured: Any
    ) -> tuple[SampledMemory, bool]:
        """As SampledLaw.update, in single precision."""
        own, last_us, *rest = memory
        held = self._memory(*own, last_us & _MASK, *rest)
        calculated = self._update(self._numbers, held, now_us & _MASK, setpoint, measured)
        after = SampledMemory(
            tuple([getattr(held, name) for name in self._own]),
            held.last_us,
            held.started,
            np.float32(held.previous),
            np.float32(held.output),
        )
        return after, calculated

    def microseconds_a_call(self) -> float:
        """Median time of a call that calculates."""
        memory, taken = self.rested(), []
        angle = np.float32(0.1)
        for call in range(_CALLS):
            before = time.perf_counter()
            memory, _ = self.update(memory, call * self.period_us, angle, angle)
            taken.append(time.perf_counter() - before)
        return 1e6 * float(np.median(taken))


def _struct(fields: dict[str, Any]) -> Any:
    return type("Numbers", (ctypes.Structure,), {"_fields_": list(fields.items())})


def mid_program(settings: StackSettings) -> MidProgram:
    """The mid level of these settings, a law of one's own built for this machine.

    Of somebody else's settings that is somebody else's code. Raises CannotBuild.
    """
    gains = settings.gains
    return MidProgram(settings, law=CompiledLaw(gains) if isinstance(gains, OwnLaw) else None)


def require_prompt(settings: StackSettings) -> None:
    """Raise CannotBuild if a law of one's own takes too long for its period."""
    gains = settings.gains
    if not isinstance(gains, OwnLaw):
        return
    taken, period = CompiledLaw(gains).microseconds_a_call(), gains.period_us
    if taken > SHARE * period:
        from footfall.realtime.firmware_build import CannotBuild

        raise CannotBuild(
            f"controller = {gains.title}: a call takes {taken:.0f} us on this machine, and the mid"
            f" level calls it every {period} us; at most {SHARE:.0%} of that are left for the law."
            " Make it smaller, or stack.mid_period longer."
        )
