"""A controller of one's own written as the law of the firmware.

The same C is built into the Teensy's program, and into a library for the programs in Python
(own_law.py).
"""

from __future__ import annotations

import dataclasses
import inspect
from pathlib import Path
from typing import Any

import numpy as np

from footfall.engines.kernels.targets.c.c_function import CFunction, Field, Struct
from footfall.hybrid.fields import describe
from footfall.machines.control.controller import AbstractController, SampledLaw, of_types
from footfall.machines.control.own_law import SHARED, OwnLaw, SampledMemory
from footfall.realtime.controller_c import REAL, like, parameters, refused, told, traced
from footfall.realtime.firmware_build import GUARD
from footfall.scenario.errors import ScenarioError

_CLOCK, _FLAG = np.dtype(np.uint32), np.dtype(bool)
_OWN = "own_"  # before what the controller itself remembers


def own_law(law: SampledLaw, output_limit: float) -> OwnLaw:
    """The law with its numbers, its output limited to these amperes.

    Raises ScenarioError, with the line, for one that cannot be written as C.
    """
    controller = law.controller
    kind, file = type(controller).__name__, Path(inspect.getsourcefile(type(controller)) or "?")
    values = {name: float(value) for name, value in parameters(controller).items()}
    if clash := [name for name in values if name in SHARED]:
        raise ScenarioError(
            f"{file}: {kind}.{clash[0]} is a name that the firmware's law has of its own. Choose"
            " another name for this parameter."
        )
    with refused(kind, file):
        rest = of_types(controller.rest(), REAL.type)
        function = _declared(controller, tuple(values), rest, file)
        own = [field for field in function.memory.fields if field.name.startswith(_OWN)]

        def program(numbers: Any, memory: Any, given: Any) -> Any:
            *ours, per_ampere, limit, _ = numbers
            *remembered, last_us, started, previous, output = memory
            now = dataclasses.replace(controller, **dict(zip(values, ours, strict=True)))
            names = [field.name.removeprefix(_OWN) for field in own]
            held = rest and dataclasses.replace(rest, **dict(zip(names, remembered, strict=True)))
            before = SampledMemory(held, last_us, started, previous, output)
            sampled = SampledLaw(now, per_ampere, law.period_us, limit)
            after, calculated = sampled.update(before, *given)
            new = [
                like(f"memory.{name}", getattr(after.own, name), field.dtype)
                for name, field in zip(names, own, strict=True)
            ]
            output = like("torque", after.output, REAL)
            return [*new, after.last_us, after.started, after.previous, output], calculated

        start = [getattr(rest, field.name.removeprefix(_OWN)) for field in own]
        made = traced(function, program, [*start, 0, False, 0.0, 0.0])
    shared = (float(law.per_ampere), output_limit, law.period_us)
    return OwnLaw(
        f"{kind} in {file.name}",
        made.header,
        made.source,
        values | dict(zip(SHARED, shared, strict=True)),
        {field.name: field.dtype.name for field in own},
    )


def _declared(
    controller: AbstractController, values: tuple[str, ...], rest: Any, file: Path
) -> CFunction:
    said, kind = describe(controller), type(controller).__name__
    meaning = {} if rest is None else describe(rest)
    own = () if rest is None else dataclasses.fields(rest)
    numbers = (
        *(Field(name, REAL, told(said[name])) for name in values),
        Field("per_ampere", REAL, "torque of all motors by the current of each [N m/A]"),
        Field("output_limit", REAL, "of the motor driver [A]"),
        Field("period_us", np.dtype(np.int32), "nominal sample time, whole microseconds"),
    )
    remembered = (
        *(
            Field(_OWN + f.name, np.asarray(getattr(rest, f.name)).dtype, told(meaning.get(f.name)))
            for f in own
        ),
        Field("last_us", _CLOCK, "when it last calculated"),
        Field("started", _FLAG, "whether it has, since it was cleared"),
        Field("previous", REAL, "measurement of the last calculation"),
        Field("output", REAL, "current for each motor [A]"),
    )
    return CFunction(
        unit="pid",
        made_by=f"Made by `footfall stack firmware` from {kind} in {file.name}: change that and"
        " make this\nagain, rather than editing it.",
        update="ff_pid_update",
        clear="ff_pid_clear",
        doc=inspect.cleandoc(type(controller).__doc__ or kind)
        + "\n\nIn the place of the shipped pitch law, and by its names.",
        clear_doc="As if it had never run.",
        numbers=Struct("ff_gains", "gains", f"Numbers of {kind}.", numbers),
        memory=Struct("ff_pid", "memory", "What the law remembers between calls.", remembered),
        inputs=(
            Field("now_us", _CLOCK, "time in microseconds, which may wrap"),
            Field("setpoint", REAL, "angle that is wanted [rad]"),
            Field("measured", REAL, "angle that was measured last [rad]"),
        ),
        returns=Field(
            "calculated",
            _FLAG,
            "true if it calculated. Called early, it changes nothing; late, it calculates once.",
        ),
        guard=f'#include "{GUARD}"',
        named_from=str(file),
    )
