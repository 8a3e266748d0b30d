"""Control laws as C: the same Python text that simulations run, traced and written out.

python -m footfall.realtime.controller_c writes the pitch law of firmware/teensy (`make format` does
it too); `footfall export-c` writes a controller of the user's own.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

import jax
import numpy as np

from footfall.engines.kernels.targets.c.c_function import CFiles, CFunction, Field, Struct
from footfall.engines.kernels.targets.c.c_source import c_files
from footfall.machines.control.pid import PidGains, PidMemory, cleared, pid_update
from footfall.realtime.firmware_build import firmware_folder

REAL = np.dtype(np.float32)  #: what a microcontroller calculates with
GUARD = "exact_floats.h"
_MADE = (
    "Made by footfall from {}: change that and make this again\nby `{}`, rather than editing it."
)


def pid_files(unit: str = "pid", guard: str = f'#include "{GUARD}"') -> CFiles:
    """The pitch law of the mid level, as firmware/teensy has it."""
    clock, flag = np.dtype(np.uint32), np.dtype(bool)
    kinds = {"last_us": clock, "started": flag, "period_us": np.dtype(np.int32)}

    def fields(struct: Any) -> tuple[Field, ...]:
        meaning = _comments(struct)
        return tuple(
            Field(name, kinds.get(name, REAL), meaning.get(name, "")) for name in struct._fields
        )

    function = CFunction(
        unit=unit,
        made_by=_MADE.format("footfall/machines/control/pid.py", "make format"),
        update="ff_pid_update",
        clear="ff_pid_clear",
        doc="The pitch law, bit for bit what footfall/machines/control/pid.py gives in single"
        " precision.\n\n" + _formula(pid_update),
        clear_doc="As if it had never run.",
        numbers=Struct("ff_gains", "gains", "Numbers of the law.", fields(PidGains)),
        memory=Struct(
            "ff_pid", "memory", "What the law remembers between calls.", fields(PidMemory)
        ),
        inputs=(
            Field("now_us", clock, "time in microseconds, which may wrap"),
            Field("setpoint", REAL, "what is wanted"),
            Field("measured", REAL, "what is"),
        ),
        returns=Field(
            "calculated",
            flag,
            "true if it calculated. Called early, it changes nothing; late, it calculates once.",
        ),
        guard=guard,
        named_from=inspect.getsourcefile(pid_update) or "",
    )
    return traced(
        function,
        lambda gains, memory, given: pid_update(PidGains(*gains), PidMemory(*memory), *given),
        cleared(),
    )


def traced(function: CFunction, law: Any, rest: Any) -> CFiles:
    """Files of a law: of numbers, memory and inputs, each a tuple, it gives memory and result."""
    fields = (function.numbers.fields, function.memory.fields, function.inputs)
    examples = [tuple(np.zeros((), field.dtype) for field in some) for some in fields]
    program = jax.make_jaxpr(law)(*examples)
    return c_files(program, function, tuple(rest))


def _comments(struct: Any) -> dict[str, str]:
    """Field -> what the comment beside it says, of a NamedTuple."""
    return dict(re.findall(r"^ +(\w+): [^#\n]*#: (.*)$", inspect.getsource(struct), re.M))


def _formula(function: Any) -> str:
    """The indented paragraphs of a docstring after its first line."""
    return inspect.getdoc(function).partition("\n\n")[2]  # type: ignore[union-attr]


def main() -> None:
    """Write the firmware's law."""
    folder = firmware_folder() / "footfall_mid" / "src"
    for name, text in zip(("pid.h", "pid.c"), pid_files(), strict=True):
        (folder / name).write_text(text)


if __name__ == "__main__":
    main()
