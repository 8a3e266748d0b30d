"""From a traced program of numbers and small matrices to a C file and its header.

One statement a line, in the order and by the names of the Python text it was traced from: a value
that is used once, by the assignment it belongs to, is written out in place.
"""

import dataclasses
import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from footfall.engines.kernels import traced_program
from footfall.engines.kernels.fuse_errors import CannotFuse
from footfall.engines.kernels.targets.c.c_arrays import checked, every_place, joined, moved
from footfall.engines.kernels.targets.c.c_function import CFiles, CFunction, Struct
from footfall.engines.kernels.targets.c.c_names import RESERVED, Names, Place, Statements
from footfall.engines.kernels.targets.c.c_rules import (
    INEXACT,
    PRIMARY,
    REPEATING,
    RULES,
    Operation,
    Text,
    constant,
    helper_text,
    type_of,
)
from footfall.engines.kernels.traced_program import CALLS, Equation, known_form, opened

#: A longer expression is given a name of its own.
LONGEST = 100


@dataclasses.dataclass(eq=False)
class Value:
    """A number of the program: a text that is there already, or an operation on others."""

    dtype: np.dtype
    text: Text | None = None
    number: np.ndarray | None = None  #: what it is, where the program says so
    equation: Equation = None
    of: tuple["Value", ...] = ()
    place: Place | None = None
    uses: list["Value | None"] = dataclasses.field(default_factory=list)  #: None: it is given back


def c_files(program: Any, function: CFunction, rest: Sequence[Any]) -> CFiles:
    """The program as a C file and its header.

    `rest` is the memory before the first call, field by field.
    """
    _check_names(function)
    with known_form("the program"):
        writer = _Writer(function)
        body = writer.body(*traced_program.without_unused(program))
    return CFiles(_header(function), _source(function, body, writer.needed, rest))


class _Writer:
    """Goes through the equations, then writes those that need a line."""

    def __init__(self, function: CFunction) -> None:
        self.function = function
        self.values: list[Value] = []  # those with an equation, in order
        self.needed: dict[str, None] = {}
        self.lines: list[str] = []
        self.statements = Statements(function.named_from)
        arguments = [s.argument for s in (function.numbers, function.memory) if s.fields]
        given = [field.name for field in function.inputs]
        self.names = Names(frozenset((*arguments, *given)))

    def body(self, jaxpr: Any, consts: Sequence[Any]) -> list[str]:
        function = self.function
        inputs = [
            Value(field.dtype, Text(f"{struct.argument}->{field.name}"))
            for struct in (function.numbers, function.memory)
            for field in struct.fields
        ]
        inputs += [Value(field.dtype, Text(field.name)) for field in function.inputs]
        outputs = self.run(jaxpr, consts, inputs)
        for value in outputs:
            value.uses.append(None)
        for value in reversed(self.values):  # what nothing needs uses nothing
            for operand in value.of if value.uses else ():
                operand.uses.append(value)
        for value in self.values:
            if value.uses and not self.in_place(value):
                self.name(value)
        return [*self.lines, *self.ending(outputs)]

    # ---- the program as values

    def run(
        self,
        jaxpr: Any,
        consts: Sequence[Any],
        inputs: Sequence[Any],
        place: Place | None = None,
    ) -> list[Any]:
        """Go through a program's equations; its outputs: values, or arrays of them.

        Inside a call all of them belong to the statement that called.
        """
        known: dict[Any, Any] = dict(zip(jaxpr.invars, inputs, strict=True))
        for var, const in zip(jaxpr.constvars, consts, strict=True):
            known[var] = const if _is_ours(const) else _known("constant", const)

        def value(atom: Any) -> Any:
            if hasattr(atom, "val"):
                return _known("constant", np.asarray(atom.val, atom.aval.dtype))
            return known[atom]

        for eqn in jaxpr.eqns:
            with known_form(eqn.primitive.name):
                made = self.equation(
                    eqn, [value(a) for a in eqn.invars], place or self.statements.of(eqn)
                )
                known |= zip(eqn.outvars, made, strict=True)
        return [value(atom) for atom in jaxpr.outvars]

    def equation(self, eqn: Equation, inputs: list[Any], place: Place | None) -> list[Any]:
        name = eqn.primitive.name
        if name in CALLS:
            return self.run(*opened(traced_program.called(eqn)), inputs, place)
        if name == "optimization_barrier":
            return inputs
        if name == "cond":
            return self.branches(eqn, inputs, place)
        line = f" (line {place.line})" if place else ""
        out, *others = eqn.outvars
        if others:
            raise CannotFuse(name, f"gives several results at once, which has no C rule{line}")
        type_of(name, out.aval.dtype)
        shape = out.aval.shape
        if shape == () and all(isinstance(each, Value) for each in inputs):
            if name not in RULES:
                raise CannotFuse(name, f"has no C rule{line}")
            plain = _shorter(name, inputs) or _converted(name, inputs, out.aval.dtype)
            return [plain or self.add(out.aval.dtype, eqn, inputs, place)]
        checked(name, shape)
        return [self.array(eqn, [_array(each) for each in inputs], place, line)]

    def array(self, eqn: Equation, inputs: list[np.ndarray], place: Place | None, line: str) -> Any:
        """An equation of arrays, number by number."""
        name, (out,) = eqn.primitive.name, eqn.outvars
        dtype, shape = out.aval.dtype, out.aval.shape

        def join(how: str, a: Value, b: Value) -> Value:
            return self.add(dtype, _Made(how), [a, b], place)

        if name == "iota":
            axis = [-1 if axis == eqn.params["dimension"] else 1 for axis in range(len(shape))]
            row = np.arange(shape[eqn.params["dimension"]], dtype=dtype)
            return _known(name, np.broadcast_to(row.reshape(axis), shape))
        made = moved(name, eqn.params, inputs, shape)
        if made is None:
            made = joined(name, eqn.params, inputs, join)
        if made is None:
            if name not in RULES:
                raise CannotFuse(name, f"has no C rule{line}")
            wide = [np.broadcast_to(each, shape) for each in inputs]
            made = np.empty(shape, object)
            for number, at in every_place(shape):
                own = [each[at] for each in wide]
                named = place and place._replace(name=place.name and f"{place.name}_{number}")
                made[at] = _shorter(name, own) or self.add(dtype, eqn, own, named)
        return made[()] if made.shape == () else made

    def branches(self, eqn: Equation, inputs: list[Any], place: Place | None) -> list[Any]:
        """All branches are calculated, then one is taken: numbers have no side effects."""
        which, *operands = inputs
        cases = [
            self.run(*opened(branch), operands, place) for branch in traced_program.branches(eqn)
        ]
        return [
            self.chosen(var.aval, which, each, place)
            for var, *each in zip(eqn.outvars, *cases, strict=True)
        ]

    def chosen(self, aval: Any, which: Value, cases: list[Any], place: Place | None) -> Any:
        if aval.shape == ():
            return self.add(aval.dtype, _Made("select_n"), [which, *cases], place)
        made = np.empty(aval.shape, object)
        for _, at in every_place(aval.shape):
            own = [which, *(case[at] for case in cases)]
            made[at] = self.add(aval.dtype, _Made("select_n"), own, place)
        return made

    def add(
        self, dtype: np.dtype, eqn: Equation, inputs: Sequence[Value], place: Place | None
    ) -> Value:
        self.values.append(
            Value(dtype, equation=eqn, of=tuple(inputs), place=place),
        )
        return self.values[-1]

    # ---- values as text

    def in_place(self, value: Value) -> bool:
        """Whether it is written where it is used: once, in the statement it belongs to."""
        if len(value.uses) != 1:
            return False
        (user,) = value.uses
        if user is None:
            return True
        if value.place is None or user.place is None:
            return False
        same = value.place.statement is user.place.statement
        return same and user.equation.primitive.name not in REPEATING

    def text(self, value: Value) -> Text:
        if value.text is None:
            made = self.operation(value)
            if len(made.text) > LONGEST:  # name what it is made of instead
                for operand in value.of:
                    if self.text(operand).holds < PRIMARY:
                        self.name(operand, "part")
                made = self.operation(value)
            value.text = made
        return value.text

    def operation(self, value: Value) -> Text:
        name, params = value.equation.primitive.name, value.equation.params
        texts = tuple(self.text(operand) for operand in value.of)
        kinds = tuple(operand.dtype for operand in value.of)
        need = self.needed.setdefault
        return RULES[name](Operation(name, texts, kinds, params, value.dtype, need))

    def name(self, value: Value, wanted: str | None = None) -> None:
        """A line that gives it a name, unless it is a name already."""
        text = self.text(value)
        if text.text.isidentifier():
            return
        name = self.names.fresh(wanted or (value.place and value.place.name) or "value")
        self.lines.append(f"const {type_of(name, value.dtype)} {name} = {text.text};")
        value.text = Text(name)

    def ending(self, outputs: Sequence[Value]) -> list[str]:
        """Memory is written last, and nothing is read of it after it was written."""
        memory, lines = self.function.memory, []
        self.lines = []
        *kept, _ = outputs
        named = [*(field.name for field in memory.fields), self.function.returns.name]
        for i, (field, value) in enumerate(zip(memory.fields, kept, strict=True)):
            place = f"{memory.argument}->{field.name}"
            if self.text(value).text == place:
                continue
            for other, name in zip(outputs[i + 1 :], named[i + 1 :], strict=True):
                if _reads(self.text(other).text, place):
                    # Written to another place, it must be what it was: a copy of its own.
                    outputs = [self.copied(v, name) if v is other else v for v in outputs]
            lines.append(f"{place} = {self.text(outputs[i]).text};")
        lines.append(f"return {self.text(outputs[-1]).text};")
        return [*self.lines, *lines]

    def copied(self, value: Value, wanted: str) -> Value:
        made = Value(value.dtype, self.text(value))
        self.name(made, wanted)
        return made


class _Made:
    """An equation that the program does not have: a sum in a product of matrices, a choice."""

    class _Primitive(NamedTuple):
        name: str

    def __init__(self, name: str) -> None:
        self.primitive, self.params = _Made._Primitive(name), {}


def _known(what: str, number: Any) -> Any:
    """A number of the program, or an array of them."""
    array = np.asarray(number)
    type_of(what, array.dtype)
    if array.shape == ():
        return Value(array.dtype, constant(array), array)
    checked(what, array.shape)
    made = np.empty(array.shape, object)
    for at in np.ndindex(*array.shape):
        made[at] = Value(array.dtype, constant(array[at]), array[at])
    return made


def _is_ours(given: Any) -> bool:
    return isinstance(given, Value) or (isinstance(given, np.ndarray) and given.dtype.kind == "O")


def _array(given: Any) -> np.ndarray:
    if not isinstance(given, Value):
        return given
    made = np.empty((), object)
    made[()] = given
    return made


def _shorter(name: str, inputs: Sequence[Value]) -> Value | None:
    """What `x or true` and the like come to."""
    for known, other in (inputs, inputs[::-1]) if name in ("and", "or") else ():
        if known.dtype.kind == "b" and known.number is not None:
            return known if bool(known.number) == (name == "or") else other
    return None


def _converted(name: str, inputs: Sequence[Value], dtype: np.dtype) -> Value | None:
    """A number of the program in another float type: known here as well as in C."""
    if name != "convert_element_type" or inputs[0].number is None:
        return None
    number = inputs[0].number
    return _known(name, number.astype(dtype)) if number.dtype.kind == dtype.kind == "f" else None


def _check_names(function: CFunction) -> None:
    """Names in Python that are none in C."""
    fields = (*function.numbers.fields, *function.memory.fields, *function.inputs)
    structs = (function.numbers.name, function.memory.name)
    for name in (*(field.name for field in fields), *structs, function.update):
        if name in RESERVED or not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
            raise CannotFuse(name, "is no name in C; choose another one")


# ---- the files


def _header(function: CFunction) -> str:
    guard = re.sub(r"\W", "_", f"footfall_{function.unit}_h", flags=re.ASCII).upper()
    structs = [s for s in (function.numbers, function.memory) if s.fields]
    parts = [
        _comment(f"{function.doc}\n\n{function.made_by}"),
        f"#ifndef {guard}\n#define {guard}\n\n#include <stdbool.h>\n#include <stdint.h>",
        '#ifdef __cplusplus\nextern "C" {\n#endif',
        *(_struct(struct) for struct in structs),
    ]
    if function.defaults is not None and function.numbers.fields:
        parts.append(
            f"/* Those it was exported with. */\nextern const struct {function.numbers.name}"
            f" {function.numbers.name}_defaults;"
        )
    if function.memory.fields:
        parts.append(f"{_comment(function.clear_doc)}\n{_clear(function)};")
    told = [f"{field.name}: {field.doc}" for field in function.inputs if field.doc]
    told.append(f"Returns {function.returns.doc}")
    parts.append(_comment("\n".join(told)) + f"\n{_update(function)};")
    parts += ["#ifdef __cplusplus\n}\n#endif", "#endif"]
    return "\n\n".join(parts) + "\n"


def _struct(struct: Struct) -> str:
    rows = [(f"{type_of(f.name, f.dtype)} {f.name};", f.doc) for f in struct.fields]
    wide = max(len(row) for row, _ in rows)
    lines = [f"    {row:<{wide}} {_comment(doc)}" if doc else f"    {row}" for row, doc in rows]
    return "\n".join([_comment(struct.doc), f"struct {struct.name} {{", *lines, "};"])


def _clear(function: CFunction) -> str:
    memory = function.memory
    return f"void {function.clear}(struct {memory.name} *{memory.argument})"


def _update(function: CFunction) -> str:
    numbers, memory = function.numbers, function.memory
    arguments = [f"const struct {numbers.name} *{numbers.argument}"] if numbers.fields else []
    arguments += [f"struct {memory.name} *{memory.argument}"] if memory.fields else []
    arguments += [f"{type_of(f.name, f.dtype)} {f.name}" for f in function.inputs]
    start = f"{type_of('result', function.returns.dtype)} {function.update}("
    # An argument stays whole: its spaces are no places to break.
    whole = [argument.replace(" ", "\0") for argument in arguments]
    lines = textwrap.wrap(", ".join(whole), 100 - len(start), break_long_words=False)
    return (start + f"\n{' ' * len(start)}".join(lines)).replace("\0", " ") + ")"


def _source(
    function: CFunction, body: Sequence[str], needed: Iterable[str], rest: Sequence[Any]
) -> str:
    helpers = {name: helper_text(name) for name in needed}
    library = [name for name, helper in helpers.items() if helper is None]
    text = "\n".join(body)
    own = [name for name in library if name in INEXACT or name[:-1] in INEXACT]
    parts = []
    if library:
        told = f"Of the C library's <math.h>: {', '.join(library)}."
        if own:
            told += f"\nThe last digit of {', '.join(own)} is the library's own: it may differ."
        parts.append(_comment(told))
    parts += [helper for helper in helpers.values() if helper is not None]
    if function.defaults is not None and function.numbers.fields:
        given = zip(function.numbers.fields, function.defaults, strict=True)
        rows = [
            f"    .{f.name} = {constant(np.asarray(value, f.dtype)).text}," for f, value in given
        ]
        name = function.numbers.name
        parts.append("\n".join([f"const struct {name} {name}_defaults = {{", *rows, "};"]))
    if function.memory.fields:
        start = [
            f"    {function.memory.argument}->{f.name} = {constant(np.asarray(v, f.dtype)).text};"
            for f, v in zip(function.memory.fields, rest, strict=True)
        ]
        parts.append("\n".join([_clear(function), "{", *start, "}"]))
    given = [s.argument for s in (function.numbers, function.memory) if s.fields]
    given += [f.name for f in function.inputs]
    unused = [name for name in given if not _reads(text, name)]
    lines = [f"    (void){name};" for name in unused] + [f"    {line}" for line in body]
    parts.append("\n".join([_update(function), "{", *lines, "}"]))
    start = f'{function.guard}\n#include "{function.unit}.h"'.strip()
    if library or any(_reads(part, name) for part in parts for name in ("NAN", "INFINITY")):
        start += "\n\n#include <math.h>"
    return "\n\n".join([start, *parts]) + "\n"


def _reads(text: str, name: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", text) is not None


def _comment(text: str) -> str:
    for ending in ("/*", "*/", "??"):  # a comment's, and what C99 reads as a trigraph
        text = text.replace(ending, " ".join(ending))
    text = text.strip()
    lines = [" * " + line if line else " *" for line in text.split("\n")]
    return "/" + lines[0][1:] + " */" if len(lines) == 1 else "/" + "\n".join(lines)[1:] + " */"
