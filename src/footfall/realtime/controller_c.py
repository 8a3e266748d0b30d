"""Control laws as C: the same Python text that simulations run, traced and written out.

python -m footfall.realtime.controller_c writes the pitch law and the constants of firmware/teensy
(`make format` does it too); `footfall export-c` writes a controller of the user's own.
"""

from __future__ import annotations

import contextlib
import inspect
import re
import traceback
from collections.abc import Iterator
from dataclasses import fields as struct_fields
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from footfall.engines.kernels.fuse_errors import CannotFuse
from footfall.engines.kernels.targets.c.c_function import CFiles, CFunction, Field, Struct
from footfall.engines.kernels.targets.c.c_source import c_files
from footfall.hybrid.fields import FieldInfo, ParameterError, describe
from footfall.machines.control.controller import AbstractController, of_types
from footfall.machines.control.digital_pid import DigitalPid
from footfall.machines.control.pid import PidGains, PidMemory, cleared, pid_update
from footfall.realtime.firmware_build import CONFIG, GUARD, firmware_folder
from footfall.realtime.firmware_config import config_header
from footfall.scenario.errors import ScenarioError
from footfall.scenario.own_code import told_with_line

REAL = np.dtype(np.float32)  #: what a microcontroller calculates with
_MADE = (
    "Made by footfall from {}: change that and make this again\nby `{}`, rather than editing it."
)


class Exported(NamedTuple):
    """A law as C: the texts, the name of their files, and three lines that call it."""

    files: CFiles
    unit: str
    call: tuple[str, str, str]


def exported_pid() -> Exported:
    """The shipped law, with the numbers of `digital-pid` in newton metres and at 1 kHz."""
    gains = DigitalPid().in_amperes(1.0, 1000)
    call = (
        "struct ff_pid memory;",
        "ff_pid_clear(&memory);",
        "if (ff_pid_update(&ff_gains_defaults, &memory, now_us, setpoint, measured)) torque ="
        " memory.output;",
    )
    return Exported(pid_files(_guard(), gains), "pid", call)


def pid_files(guard: str = f'#include "{GUARD}"', defaults: Any = None) -> CFiles:
    """The pitch law of the mid level, as firmware/teensy has it."""
    clock, flag = np.dtype(np.uint32), np.dtype(bool)
    kinds = {"last_us": clock, "started": flag, "period_us": np.dtype(np.int32)}

    def fields(struct: Any) -> tuple[Field, ...]:
        meaning = _comments(struct)
        return tuple(
            Field(name, kinds.get(name, REAL), meaning.get(name, "")) for name in struct._fields
        )

    function = CFunction(
        unit="pid",
        made_by=_MADE.format(
            "footfall/machines/control/pid.py", "footfall export-c" if defaults else "make format"
        ),
        defaults=defaults,
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


def exported(controller: AbstractController, file: Path) -> Exported:
    """A controller of one's own, of a class in `file`.

    Raises ScenarioError, with the line, for one that cannot be written as C.
    """
    kind = type(controller).__name__
    with refused(kind, file):
        rest = of_types(controller.rest(), REAL.type)
        values = parameters(controller)
        function = _declared(controller, values, rest, file)
        remembered = function.memory.fields

        def law(numbers: Any, memory: Any, given: Any) -> Any:
            ours = replace(controller, **dict(zip(values, numbers, strict=True)))
            names = [field.name for field in remembered]
            own = rest and replace(rest, **dict(zip(names, memory, strict=True)))
            after, torque = ours.updated(own, *given)
            new = [like(f"memory.{f.name}", getattr(after, f.name), f.dtype) for f in remembered]
            return new, like("torque", torque, REAL)

        start = [getattr(rest, field.name) for field in remembered]
        files, again = (traced(function, law, start) for _ in range(2))
    if again != files:
        raise ScenarioError(
            f"{file}: {kind}.update is another function each time it is called. It must depend on"
            " its arguments and parameters alone: no random numbers, no clock, no global counter."
        )
    name = function.numbers.name
    given = [f"&{name}_defaults"] * bool(values) + ["&memory"] * bool(remembered)
    given += ["setpoint", "measured", "0.001f"]
    call = (
        f"struct {name}_memory memory;" if remembered else "/* it has no memory */",
        f"{name}_rest(&memory);" if remembered else "/* nothing to prepare */",
        f"float torque = {name}_update({', '.join(given)});",
    )
    return Exported(files, file.stem, call)


def parameters(controller: AbstractController) -> dict[str, Any]:
    """Parameters that stay numbers in C; what selects code or is left out is written out."""
    said = describe(controller)
    values = {
        f.name: getattr(controller, f.name)
        for f in struct_fields(controller)
        if f.name in said and said[f.name].role == "param" and not f.metadata.get("static")
    }
    return {name: value for name, value in values.items() if value is not None}


def _declared(
    controller: AbstractController, values: dict[str, Any], rest: Any, file: Path
) -> CFunction:
    """Its structs and functions, from the fields of the class and of its memory."""
    kind, said = type(controller).__name__, describe(controller)
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", kind).lower()
    meaning = {} if rest is None else describe(rest)
    memory = () if rest is None else struct_fields(rest)
    remembered = tuple(
        Field(f.name, np.asarray(getattr(rest, f.name)).dtype, told(meaning.get(f.name)))
        for f in memory
    )
    return CFunction(
        unit=file.stem,
        made_by=_MADE.format(f"{kind} in {file.name}", f"footfall export-c {file.name}"),
        update=f"{name}_update",
        clear=f"{name}_rest",
        doc=inspect.cleandoc(type(controller).__doc__ or kind),
        clear_doc="As before the first call.",
        numbers=Struct(
            name,
            "numbers",
            f"Numbers of {kind}.",
            tuple(Field(key, REAL, told(said[key])) for key in values),
        ),
        memory=Struct(f"{name}_memory", "memory", "What it remembers between calls.", remembered),
        inputs=(
            Field("setpoint", REAL, "angle that is wanted [rad]"),
            Field("measured", REAL, "angle that was measured last [rad]"),
            Field("sample_time", REAL, "time from call to call [s]"),
        ),
        returns=Field("torque", REAL, "the torque of all motors together [N m]."),
        defaults=tuple(values.values()),
        guard=_guard(),
        named_from=str(file),
    )


@contextlib.contextmanager
def refused(kind: str, file: Path) -> Iterator[None]:
    """What keeps a controller from being C, told with its file and, where known, its line."""
    with told_with_line([file]):
        try:
            yield
        except CannotFuse as error:
            raise ScenarioError(
                f"{file}: {kind} cannot be written as C: {error}.\n  Known: arithmetic,"
                " comparisons, choose, clamp, min, max, abs, floor, and the functions of <math.h>."
            ) from None
        except ParameterError as error:
            raise ScenarioError(f"{file}: {kind}: {error}") from None
        except jax.errors.JAXTypeError as error:
            frames = traceback.extract_tb(error.__traceback__)
            lines = [frame.lineno for frame in frames if frame.filename == str(file)]
            raise ScenarioError(
                f"{file}, line {lines[-1] if lines else '?'}: {kind} cannot be traced: Python is"
                " asked here for the value of a number that is known only when the law runs (if,"
                " and, or, not, float(), math.sin).\n  Write choose(flag, a, b) for if, & and | for"
                " and and or, jax.numpy for math."
            ) from None


def traced(function: CFunction, law: Any, rest: Any) -> CFiles:
    """Files of a law: of numbers, memory and inputs, each a tuple, it gives memory and result."""
    fields = (function.numbers.fields, function.memory.fields, function.inputs)
    examples = [tuple(np.zeros((), field.dtype) for field in some) for some in fields]
    # A function of its own each time: JAX would remember what it made of the same one.
    program = jax.make_jaxpr(lambda *given: law(*given))(*examples)
    return c_files(program, function, tuple(rest))


def like(name: str, new: Any, dtype: np.dtype) -> Any:
    """A number of this type; a plain number becomes one."""
    try:
        array = jnp.asarray(new)
    except TypeError:
        raise ParameterError(f"{name} is a {type(new).__name__} after a call.", name) from None
    if array.shape != ():
        raise ParameterError(
            f"{name} has shape {array.shape} after a call; one number is expected.", name
        )
    plain = isinstance(new, bool | int | float) or getattr(array, "weak_type", False)
    if array.dtype != dtype and not (plain and np.can_cast(array.dtype, dtype, "same_kind")):
        hint = ""
        if array.dtype == np.float64:
            hint = " A NumPy float64 in the law makes it so: write a plain number, or float(...)."
        raise ParameterError(
            f"{name} is {array.dtype} after a call, and was {dtype} before it: a memory keeps its"
            f" types, a torque is a float.{hint}",
            name,
        )
    return jnp.asarray(array, dtype)


def _guard() -> str:
    return (firmware_folder() / "footfall_mid" / "src" / GUARD).read_text().strip()


def told(info: FieldInfo | None) -> str:
    if info is None:
        return ""
    return f"{info.doc} [{info.unit}]" if info.unit else info.doc


def _comments(struct: Any) -> dict[str, str]:
    """Field -> what the comment beside it says, of a NamedTuple."""
    return dict(re.findall(r"^ +(\w+): [^#\n]*#: (.*)$", inspect.getsource(struct), re.M))


def _formula(function: Any) -> str:
    """The indented paragraphs of a docstring after its first line."""
    return inspect.getdoc(function).partition("\n\n")[2]  # type: ignore[union-attr]


def main() -> None:
    """Write the firmware's law, and its constants for the shipped robot."""
    from footfall.realtime.plant import load_plant

    folder = firmware_folder() / "footfall_mid" / "src"
    constants = config_header(load_plant("rimless-wheel").settings)
    for name, text in zip(("pid.h", "pid.c", CONFIG), (*pid_files(), constants), strict=True):
        (folder / name).write_text(text)


if __name__ == "__main__":
    main()
