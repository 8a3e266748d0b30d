"""A sketch for the Teensy that is ready to flash: a scenario's constants, and its own controller.

The sketch of firmware/teensy as it is, with footfall_config.h for the scenario. With a controller
of one's own its law stands in pid.h and pid.c, where the shipped one stands else, and settings.c
fills in its numbers by their names.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from pathlib import Path
from typing import Any

import numpy as np

from footfall.engines.kernels.targets.c.c_function import CFiles, CFunction, Field, Struct
from footfall.hybrid.fields import describe
from footfall.machines.control.controller import (
    AbstractController,
    SampledLaw,
    SampledMemory,
    of_types,
)
from footfall.machines.control.digital_pid import DigitalPid
from footfall.machines.control.lockstep import ClosedLoop
from footfall.machines.control.pid import PidGains
from footfall.machines.control.settings import StackSettings
from footfall.realtime.controller_c import (
    GUARD,
    REAL,
    like,
    parameters,
    refused,
    told,
    traced,
)
from footfall.realtime.firmware_build import firmware_folder
from footfall.realtime.firmware_config import config_header, define, single
from footfall.realtime.plant import stack_settings
from footfall.scenario.errors import ScenarioError

#: Numbers of the law that mid.c reads too, or that make amperes of its torque.
_SHARED = ("per_ampere", "output_limit", "period_us")
_CLOCK, _FLAG = np.dtype(np.uint32), np.dtype(bool)
_OWN = "own_"  # before what the controller itself remembers


def sketch(system: ClosedLoop, name: str) -> dict[str, str]:
    """Path -> text of a sketch for this robot, in a folder of this name."""
    folder = firmware_folder() / "footfall_mid"
    files = {f"{name}.ino": (folder / "footfall_mid.ino").read_text()}
    for path in sorted((folder / "src").iterdir()):
        if path.suffix in (".c", ".h"):
            files[f"src/{path.name}"] = path.read_text()
    if isinstance(system.gains, SampledLaw):
        law = system.gains
        settings = settings_of_own(system)
        made, numbers = law_files(law, settings)
        files["src/pid.h"], files["src/pid.c"] = made.header, made.source
        files["src/footfall_config.h"] = _own_header(settings, numbers)
        files["src/settings.c"] = _own_settings(files["src/settings.c"], tuple(numbers))
    else:
        files["src/footfall_config.h"] = config_header(stack_settings(system))
    return files


def settings_of_own(system: ClosedLoop) -> StackSettings:
    """What the programs need to know of a robot whose law is its owner's.

    Its gains are those of no law, but for the period and the limit of the output, the driver's.
    """
    usual = stack_settings(dataclasses.replace(system, controller=DigitalPid()))
    nothing = PidGains(0.0, 0.0, 0.0, 1.0, usual.current_limit, 0.0, system.gains.period_us)
    return dataclasses.replace(usual, gains=nothing)


def law_files(law: SampledLaw, settings: StackSettings) -> tuple[CFiles, dict[str, float]]:
    """A controller of one's own by the names that the firmware calls its law by, and its numbers.

    Raises ScenarioError, with the line, for one that cannot be written as C.
    """
    controller = law.controller
    kind, file = type(controller).__name__, Path(inspect.getsourcefile(type(controller)) or "?")
    values = {name: float(value) for name, value in parameters(controller).items()}
    if clash := [name for name in values if name in _SHARED]:
        raise ScenarioError(
            f"{file}: {kind}.{clash[0]} is a name that the firmware's law has of its own. Choose"
            " another name for this parameter."
        )
    with refused(kind, file):
        rest = of_types(controller.rest(), REAL.type)
        function = _declared(controller, tuple(values), rest, file)
        own = [field for field in function.memory.fields if field.name.startswith(_OWN)]

        def program(numbers: Any, memory: Any, given: Any) -> Any:
            *ours, per_ampere, _, _ = numbers
            *remembered, last_us, started, previous, output = memory
            now = dataclasses.replace(controller, **dict(zip(values, ours, strict=True)))
            names = [field.name.removeprefix(_OWN) for field in own]
            held = rest and dataclasses.replace(rest, **dict(zip(names, remembered, strict=True)))
            before = SampledMemory(held, last_us, started, previous, output)
            sampled = SampledLaw(now, per_ampere, law.period_us)
            after, calculated = sampled.update(before, *given)
            new = [
                like(f"memory.{name}", getattr(after.own, name), field.dtype)
                for name, field in zip(names, own, strict=True)
            ]
            output = like("torque", after.output, REAL)
            return [*new, after.last_us, after.started, after.previous, output], calculated

        start = [getattr(rest, field.name.removeprefix(_OWN)) for field in own]
        made = traced(function, program, [*start, 0, False, 0.0, 0.0])
    shared = (float(law.per_ampere), settings.gains.output_limit, law.period_us)
    return made, values | dict(zip(_SHARED, shared, strict=True))


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


def _own_header(settings: StackSettings, numbers: dict[str, float]) -> str:
    """footfall_config.h with the numbers of the law by their names, in the place of the PID's."""
    lines = config_header(settings).splitlines()
    shipped = ("PROPORTIONAL", "INTEGRAL", "DERIVATIVE", "INTEGRAL_LIMIT", "FILTER_TIME")
    kept = [line for line in lines if not any(line.startswith(f"#define FF_{n} ") for n in shipped)]
    after = next(i for i, line in enumerate(kept) if line.startswith("/* The law"))
    kept[after] = "/* The law. */"
    ours = [
        define(_macro(name), single(value), "")
        for name, value in numbers.items()
        if name not in ("output_limit", "period_us")
    ]
    return "\n".join([*kept[: after + 1], *ours, *kept[after + 1 :]]) + "\n"


def _macro(name: str) -> str:
    return f"LAW_{name.upper()}"


def _own_settings(text: str, names: tuple[str, ...]) -> str:
    """settings.c, its gains filled in by these names."""
    known = {"output_limit": "OUTPUT_LIMIT", "period_us": "PERIOD_US"}
    rows = "".join(f"        .{name} = FF_{known.get(name, _macro(name))},\n" for name in names)
    made, count = re.subn(r"(\.gains = \{\n).*?(    \},\n)", rf"\g<1>{rows}\g<2>", text, flags=re.S)
    if count != 1:
        raise RuntimeError("settings.c of the firmware has no `.gains = {...}` to fill in")
    return made
