"""From a traced lane program to C++.

Its equations as statements, its loops and branches as loops and branches.

The program is a jaxpr whose values are shared scalars, shape (), or one number per lane of a block,
shape (W,); or such a number for each of L like legs, shape (L,), (L, 1) or (L, W). Elementwise
primitives are looked up in `cpp_rules`, those that move legs about in `cpp_legs`; calls are written
out in place; common subexpressions are left to the compiler, except across loops over legs, where
it finds none.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from footfall.engines.kernels import traced_program
from footfall.engines.kernels.cpp_legs import LEG_RULES
from footfall.engines.kernels.cpp_program import (
    Control,
    Each,
    Legs,
    Line,
    Node,
    Region,
    Table,
    View,
)
from footfall.engines.kernels.cpp_rules import RULES, Operation
from footfall.engines.kernels.cpp_text import TextWriter
from footfall.engines.kernels.cpp_values import SCALARS, Value, lane_type, layout, literal
from footfall.engines.kernels.fuse_errors import CannotFuse
from footfall.engines.kernels.target import Target
from footfall.engines.kernels.traced_program import (
    CALLS,
    Equation,
    known_form,
    opened,
    without_unused,
)

HEADER = """\
// Made by footfall from a traced program; nobody edits this file.
//
// footfall_run(in, out, lanes, threads) runs the program for every lane: in[i] points to one value
// per lane or to one
// shared value, out[i] to room for one value per lane; of values for several legs, to one row after
// the other. vN is the
// program's N-th value, aN its N-th input; in a loop over legs, that of leg l. sN and kN hold all
// legs of a value.

#include <stdint.h>

typedef {real} Real;
typedef {bits} Bits;
enum {{ LANES = {width} }};

"""


def cpp_source(
    program: Any,
    lane: Sequence[bool],
    *,
    target: Target,
    real: np.dtype,
    rows: Sequence[int | None] | None = None,
) -> str:
    """The program as one self-contained file for a target.

    It was traced for blocks of `cpp_values.BLOCK` lanes.

    Input i is one value per lane if `lane[i]`, and that for each of `rows[i]` legs unless None.
    """
    header = HEADER.format(
        real=SCALARS[real.name], bits=f"int{8 * real.itemsize}_t", width=target.width
    )
    with known_form("the program"):
        body = Builder(real).block(*without_unused(program), lane, rows or [None] * len(lane))
    return header + target.header + body


#: What writes the text of a program, of its values with legs and of where arrays are kept.
Writer = Callable[[Table, dict[str, str]], TextWriter]


class Functions:
    """Those of a program, each with one text."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}  # -> name
        self._programs: dict[tuple[int, tuple[bool, ...]], tuple[str, Any]] = {}

    def known(self, jaxpr: Any, lanes: Sequence[bool]) -> str | None:
        """The name of a program that was met before."""
        found = self._programs.get((id(jaxpr), tuple(lanes)))
        return None if found is None else found[0]

    def add(self, jaxpr: Any, lanes: Sequence[bool], text: str) -> str:
        name = self.texts.setdefault(text, f"f{len(self.texts) + 1}")
        self._programs[id(jaxpr), tuple(lanes)] = name, jaxpr  # kept, so that its id stays its own
        return name


class Builder:
    """Goes through the equations and gives every value a name.

    Collects the statements of the region that is open.
    """

    def __init__(
        self,
        real: np.dtype,
        functions: "Functions | None" = None,
        *,
        int64: bool | None = None,
        writer: "Writer" = TextWriter,
    ) -> None:
        self.real, self.writer = real, writer
        # Whether lanes may hold 64-bit integers: by default where numbers are as wide.
        self.int64 = real.itemsize == 8 if int64 is None else int64
        self.functions = Functions() if functions is None else functions
        self.table: Table = {}
        self.where: dict[str, str] = {}  # arrays that are there from the start
        self.constants: list[str] = []
        self.region = Region()
        # Statements over legs of this region, and what they made.
        self.same: dict[tuple[Any, ...], Value] = {}
        self.count = 0

    # ---- the whole block

    def block(
        self, jaxpr: Any, consts: Sequence[Any], lane: Sequence[bool], rows: Sequence[int | None]
    ) -> str:
        inputs = []
        for i, (var, is_lane, legs) in enumerate(zip(jaxpr.invars, lane, rows, strict=True)):
            dtype, legs = _dtype(var), 1 if legs is None else legs
            scalar = SCALARS[dtype.name].replace("bool", "uint8_t")
            kind = self.kind("input", dtype, is_lane)
            if is_lane:
                row = f"(const {scalar} *)in[{i}] + l * lanes" if legs > 1 else f"in[{i}]"
                source = f"load{_suffix(dtype)}<{scalar}>({row}, first, lanes)"
            else:
                source = (
                    f"((const {scalar} *)in[{i}])[l]" if legs > 1 else f"*(const {scalar} *)in[{i}]"
                )
            self.statement(f"a{i}", kind, legs, source)
            inputs.append(Value(f"a{i}", dtype, is_lane, None, legs))
        outputs = self.run(jaxpr, consts, inputs)
        for i, (var, value) in enumerate(zip(jaxpr.outvars, outputs, strict=True)):
            self.kind("output", value.dtype, True)
            scalar = SCALARS[value.dtype.name].replace("bool", "uint8_t")
            store = f"store{_suffix(value.dtype)}<{scalar}>"
            legs = layout("output", _shape(var)).legs
            if legs == 1:
                self.add(Line(f"{store}(out[{i}], {value.wide}, first, lanes);", ""))
            elif legs > 1:
                self.add(
                    Each(
                        legs,
                        f"{store}(({scalar} *)out[{i}] + l * lanes, {value.wide}, first, lanes);",
                    )
                )
        writer = self.writer(self.table, self.where)
        writer.region(self.region)
        start = (
            "static void lanes::block(const void *const *in, void *const *out, int64_t first,"
            " int64_t lanes)"
        )
        functions = [f"FUNCTION {name}{text}" for text, name in self.functions.texts.items()]
        inside = ["namespace lanes {", *functions, "}", ""] if functions else []
        return "\n".join(["", *self.constants, *inside, start, "{", *writer.lines, "}", ""])

    def run(self, jaxpr: Any, consts: Sequence[Any], inputs: Sequence[Value]) -> list[Value]:
        """Go through a program's equations; its outputs' values."""
        known: dict[Any, Value] = dict(zip(jaxpr.invars, inputs, strict=True))
        for var, const in zip(jaxpr.constvars, consts, strict=True):
            known[var] = const if isinstance(const, Value) else self.constant(const)

        def value(atom: Any) -> Value:
            return self.constant(atom.val, _dtype(atom)) if hasattr(atom, "val") else known[atom]

        for eqn in jaxpr.eqns:
            with known_form(eqn.primitive.name):
                known |= zip(
                    eqn.outvars,
                    self.equation(eqn, [value(atom) for atom in eqn.invars]),
                    strict=True,
                )
        return [value(atom) for atom in jaxpr.outvars]

    def equation(self, eqn: Equation, inputs: list[Value]) -> list[Value]:
        name, params = eqn.primitive.name, eqn.params
        if name in CALLS:
            called = traced_program.called(eqn)
            if traced_program.is_function(eqn):
                return self.call(eqn, *opened(called), inputs)
            return self.run(*opened(called), inputs)
        if name in ("while", "scan", "cond"):
            return {"while": self.while_loop, "scan": self.counted_loop, "cond": self.branches}[
                name
            ](eqn, inputs)
        if name == "optimization_barrier":
            return inputs
        if name in LEG_RULES:
            return LEG_RULES[name](self, eqn, inputs)
        if name not in RULES:
            raise CannotFuse(name, "has no C++ rule")
        return [self.elementwise(name, eqn.outvars[0].aval, inputs, params)]

    def elementwise(self, name: str, out: Any, inputs: Sequence[Value], params: Any) -> Value:
        """One expression, for all legs if an input has several."""
        (legs, lanes), dtype = layout(name, out.shape), out.dtype
        kind = self.kind(name, dtype, lanes)
        if legs == 0:
            return Value("", dtype, lanes, None, 0)
        known = inputs[0].number if name in ("convert_element_type", "broadcast_in_dim") else None
        if (
            known is not None
            and name == "convert_element_type"
            and not lanes
            and not _may_overflow(known.dtype, dtype)
        ):
            return literal(known.astype(dtype))
        text = RULES[name](Operation(name, tuple(inputs), params, dtype, lanes, self.real))
        if len(inputs) == 1 and text == inputs[0].text:
            return inputs[0]._replace(dtype=dtype)
        legs = max(value.legs for value in inputs)
        made = self.expression(kind, Value(text, dtype, lanes, None, legs))
        return made._replace(number=known if known is not None and known.dtype == dtype else None)

    # ---- functions

    def call(self, eqn: Equation, jaxpr: Any, consts: Sequence[Any], inputs: list[Value]) -> Any:
        """A program that is called in several places, as one function; in place if it has legs."""
        shapes = [_shape(atom) for atom in (*jaxpr.invars, *jaxpr.outvars, *jaxpr.constvars)]
        if any(layout("call", shape).legs != 1 for shape in shapes) or any(
            value.legs != 1 for value in inputs
        ):
            return self.run(jaxpr, consts, inputs)
        given = [layout("call", _shape(var)).lanes for var in jaxpr.invars]
        name = self.function(jaxpr, consts, given)
        made, lines = self.variables(eqn, None)
        texts = [v.wide if lanes else v.text for v, lanes in zip(inputs, given, strict=True)]
        texts += [v.text for v in made]
        self.add(Control([*lines, f"{name}({', '.join(texts)});"], made))
        return made

    def function(self, jaxpr: Any, consts: Sequence[Any], lanes: Sequence[bool]) -> str:
        """Its name. Programs with the same text are one function."""
        if (known := self.functions.known(jaxpr, lanes)) is not None:
            return known
        inner = Builder(self.real, self.functions, int64=self.int64)
        inputs, heads = [], []
        for i, (var, wide) in enumerate(zip(jaxpr.invars, lanes, strict=True)):
            kind = inner.kind("call", _dtype(var), wide)
            heads.append(f"const {kind} {'&' if wide else ''}a{i}")
            inputs.append(Value(f"a{i}", _dtype(var), wide))
        results = inner.run(jaxpr, [_known(const) for const in consts], inputs)
        for i, (var, value) in enumerate(zip(jaxpr.outvars, results, strict=True)):
            wide = layout("call", _shape(var)).lanes
            kind = inner.kind("call", value.dtype, wide)
            heads.append(f"{kind} &r{i}")
            inner.add(Line(f"r{i} = {value.wide if wide else value.text};", ""))
        writer = TextWriter(inner.table, inner.where)
        writer.region(inner.region)
        lines = [*inner.constants, *writer.lines]
        text = "\n".join([f"({', '.join(heads)})", "{", *lines, "}", ""])
        return self.functions.add(jaxpr, lanes, text)

    # ---- loops and branches

    def while_loop(self, eqn: Equation, inputs: list[Value]) -> list[Value]:
        loop = traced_program.while_loop(eqn)
        first, second = loop.condition_consts, loop.condition_consts + loop.body_consts
        carry, head = self.variables(eqn, inputs[second:])
        test, (going,) = self.nested(loop.condition, [*inputs[:first], *carry])
        if going.lanes or going.legs > 1:
            raise CannotFuse("while", "its condition differs between lanes")
        body, results = self.nested(loop.body, [*inputs[first:second], *carry])
        body.targets, body.results = carry, results
        parts = [*head, "for (;;) {", test, f"if (!{going.text}) break;", body, "}"]
        self.add(Control(parts, carry, inputs[second:], repeats=True))
        return carry

    def counted_loop(self, eqn: Equation, inputs: list[Value]) -> list[Value]:
        loop = traced_program.counted_loop(eqn)
        if loop.reads or loop.writes:
            raise CannotFuse("scan", "reads or writes arrays")
        consts, start = inputs[: loop.consts], inputs[loop.consts :]
        carry, head = self.variables(eqn, start)
        body, results = self.nested(loop.body, [*consts, *carry])
        body.targets, body.results = carry, results
        turns = f"for (int64_t turn = 0; turn < {loop.length}; turn++) {{"
        self.add(Control([*head, turns, body, "}"], carry, start, repeats=True))
        return carry

    def branches(self, eqn: Equation, inputs: list[Value]) -> list[Value]:
        which, *operands = inputs
        if which.lanes or which.legs > 1:
            raise CannotFuse("cond", "its choice differs between lanes")
        made, parts = self.variables(eqn, None)
        branches = []
        for branch in traced_program.branches(eqn):
            region, results = self.nested(branch, operands)
            region.targets, region.results = made, results
            branches.append(region)
        if len(branches) == 2:
            # The rare branch is the true one: something happened in some lane of the block.
            test = f"if (__builtin_expect({which.text} != 0, 0)) {{"
            parts += [test, branches[1], "} else {", branches[0], "}"]
        else:
            parts.append(f"switch ({which.text}) {{")
            for i, region in enumerate(branches):
                parts += [
                    "default: {" if i == len(branches) - 1 else f"case {i}: {{",
                    region,
                    "break;",
                    "}",
                ]
            parts.append("}")
        self.add(Control(parts, made))
        return made

    def nested(self, program: Any, inputs: Sequence[Value]) -> tuple[Region, list[Value]]:
        """A program as a region of its own, and its outputs' values."""
        outer, self.region, self.same = (self.region, self.same), Region(), {}
        results = self.run(*opened(program), inputs)
        inner = self.region
        self.region, self.same = outer
        return inner, results

    def variables(
        self, eqn: Equation, start: Sequence[Value] | None
    ) -> tuple[list[Value], list[str | Region]]:
        """Names that a loop or a branch assigns to.

        And the lines that declare those without legs.
        """
        made, lines = [], []
        for i, var in enumerate(eqn.outvars):
            (legs, lanes), dtype = layout(eqn.primitive.name, _shape(var)), _dtype(var)
            kind, name = self.kind(eqn.primitive.name, dtype, lanes), self.fresh()
            if legs == 1:
                begin = "" if start is None else f" = {start[i].wide if lanes else start[i].text}"
                lines.append(f"{kind} {name}{begin};")
            elif legs > 1:
                self.table[name] = Legs(kind, legs)
            made.append(Value(name, dtype, lanes, None, legs))
        return made, lines

    # ---- statements

    def add(self, node: Node) -> None:
        self.region.nodes.append(node)

    def statement(self, name: str, kind: str, legs: int, text: str) -> None:
        """One name for what an expression gives, at every leg if there are several."""
        line = f"const {kind} {name} = {text};"
        if legs > 1:
            self.table[name] = Legs(kind, legs)
            self.add(Each(legs, line, name))
        else:
            self.add(Line(line, name))

    def expression(self, kind: str, value: Value) -> Value:
        """A value whose text is an expression, under a name."""
        key = (kind, value.text, value.dtype, value.legs)
        if value.legs > 1 and key in self.same:
            return self.same[key]
        made = value._replace(text=self.fresh())
        self.statement(made.text, kind, made.legs, value.text)
        self.same[key] = made
        return made

    def view(self, value: Value, offset: int | str, stride: int, legs: int) -> Value:
        """Some legs of a value, read where they are."""
        if legs == 0:
            return value._replace(legs=0)
        if value.legs == 1 or (offset == 0 and stride == 1 and legs == value.legs):
            return value
        kind, _, old = self.table[value.text]
        view = (old or View(value.text, 0, 1)).cut(offset, stride)
        if legs == 1:
            return self.expression(
                kind, value._replace(text=f"@{view.base}[{view.offset}]", legs=1)
            )
        key = (view, legs, value.dtype)
        if key not in self.same:
            self.same[key] = value._replace(text=self.fresh(), legs=legs)
            self.table[self.same[key].text] = Legs(kind, legs, view)
        return self.same[key]

    # ---- small things

    def kind(self, primitive: str, dtype: np.dtype, lanes: bool) -> str:
        """The C++ type, or CannotFuse."""
        fits = dtype.name in SCALARS and (
            not lanes
            or dtype in (self.real, np.int32, np.bool_)
            or (dtype == np.int64 and self.int64)
        )
        if not fits:
            raise CannotFuse(
                primitive,
                f"has no rule for {dtype}{' lanes' if lanes else ''} in a {self.real} program",
            )
        return lane_type(dtype) if lanes else SCALARS[dtype.name]

    def constant(self, value: Any, dtype: Any = None) -> Value:
        array = np.asarray(value, dtype)
        legs, lanes = layout("constant", array.shape)
        if lanes:
            raise CannotFuse(
                "constant",
                "of one number per lane; only scalars and numbers for each leg can be captured",
            )
        if array.dtype.name not in SCALARS:
            raise CannotFuse("constant", f"of dtype {array.dtype}")
        if legs == 1:
            return literal(array.reshape(()))
        name, flat = self.fresh(), array.reshape(-1)
        if legs > 1:
            self.table[name], self.where[name] = (
                Legs(SCALARS[flat.dtype.name], legs),
                f"k{name[1:]}",
            )
            numbers = ", ".join(literal(np.asarray(v)).text for v in flat)
            self.constants.append(
                f"static const {SCALARS[flat.dtype.name]} {self.where[name]}[{legs}] ="
                f" {{{numbers}}};"
            )
        return Value(name, flat.dtype, False, None, legs)

    def fresh(self) -> str:
        self.count += 1
        return f"v{self.count}"


def _known(const: Any) -> Any:
    """A constant of a function is a number: what else it reads it is given."""
    if isinstance(const, Value):
        raise CannotFuse("call", "of a function that reads what it is not given")
    return const


def _dtype(atom: Any) -> np.dtype:
    return atom.aval.dtype


def _shape(atom: Any) -> tuple[int, ...]:
    return atom.aval.shape


def _may_overflow(source: np.dtype, target: np.dtype) -> bool:
    return target.kind == "i" and source.kind == "f"


def _suffix(dtype: np.dtype) -> str:
    return {"f": "", "i": "_int", "b": "_bool"}[dtype.kind]
