"""From a traced lane program to C++: its equations as statements, its loops and branches as loops and branches.

The program is a jaxpr whose values are shared scalars, shape (), or one number per lane of a block, shape (W,). Elementwise
primitives are looked up in `cpp_rules`; calls are written out in place; common subexpressions are left to the compiler.
"""

from collections.abc import Sequence
from importlib import resources
from typing import Any

import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var
from jax.interpreters import partial_eval

from footfall.sim.cpp_rules import RULES, Operation
from footfall.sim.cpp_values import SCALARS, Value, literal
from footfall.sim.fuse_errors import CannotFuse

#: Primitives that run another program, and the parameter that holds it.
CALLS = {
    "jit": "jaxpr",
    "pjit": "jaxpr",
    "closed_call": "call_jaxpr",
    "core_call": "call_jaxpr",
    "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
    "checkpoint": "jaxpr",
    "remat": "jaxpr",
    "remat2": "jaxpr",
}

HEADER = """\
// Made by footfall from a traced program; nobody edits this file.
//
// footfall_run(in, out, lanes, threads) runs the program for every lane: in[i] points to one value per lane or to one
// shared value, out[i] to room for one value per lane. vN is the program's N-th value, aN its N-th input.

#include <stdint.h>

typedef {real} Real;
typedef {bits} Bits;
enum {{ LANES = {width} }};

"""


def cpp_source(program: ClosedJaxpr, lane: Sequence[bool], *, width: int, real: np.dtype) -> str:
    """The program, traced for blocks of `width` lanes, as one self-contained C++ file."""
    jaxpr, _ = partial_eval.dce_jaxpr(program.jaxpr, [True] * len(program.jaxpr.outvars), instantiate=True)
    header = HEADER.format(real=SCALARS[real.name], bits=f"int{8 * real.itemsize}_t", width=width)
    body = _Writer(width, real).block(jaxpr, program.consts, lane)
    return header + resources.files("footfall.sim").joinpath("lanes.h").read_text() + body


class _Writer:
    """Writes statements one by one, and gives every value a name."""

    def __init__(self, width: int, real: np.dtype) -> None:
        self.width, self.real = width, real
        self.lines: list[str] = []
        self.depth = 1
        self.count = 0

    # ---- the whole block

    def block(self, jaxpr: Jaxpr, consts: Sequence[Any], lane: Sequence[bool]) -> str:
        inputs = []
        for i, (var, is_lane) in enumerate(zip(jaxpr.invars, lane, strict=True)):
            dtype = _dtype(var)
            scalar = SCALARS[dtype.name].replace("bool", "uint8_t")
            kind = self.kind("input", dtype, is_lane)
            source = f"load{_suffix(dtype)}<{scalar}>(in[{i}], first, lanes)" if is_lane else f"*(const {scalar} *)in[{i}]"
            self.write(f"const {kind} a{i} = {source};")
            inputs.append(Value(f"a{i}", dtype, is_lane))
        for i, value in enumerate(self.run(jaxpr, consts, inputs)):
            self.kind("output", value.dtype, True)
            scalar = SCALARS[value.dtype.name].replace("bool", "uint8_t")
            self.write(f"store{_suffix(value.dtype)}<{scalar}>(out[{i}], {value.wide}, first, lanes);")
        start = "static void lanes::block(const void *const *in, void *const *out, int64_t first, int64_t lanes)"
        return "\n".join(["", f"{start}", "{", *self.lines, "}", ""])

    def run(self, jaxpr: Jaxpr, consts: Sequence[Any], inputs: Sequence[Value]) -> list[Value]:
        """Write a program's equations; its outputs' values."""
        known: dict[Var, Value] = dict(zip(jaxpr.invars, inputs, strict=True))
        for var, const in zip(jaxpr.constvars, consts, strict=True):
            known[var] = const if isinstance(const, Value) else self.constant(const)

        def value(atom: Var | Literal) -> Value:
            return self.constant(atom.val, _dtype(atom)) if isinstance(atom, Literal) else known[atom]

        for eqn in jaxpr.eqns:
            known |= zip(eqn.outvars, self.equation(eqn, [value(atom) for atom in eqn.invars]), strict=True)
        return [value(atom) for atom in jaxpr.outvars]

    def equation(self, eqn: JaxprEqn, inputs: list[Value]) -> list[Value]:
        name, params = eqn.primitive.name, eqn.params
        if name in CALLS:
            inner = params[CALLS[name]]
            return self.run(*_opened(inner), inputs)
        if name == "while":
            return self.while_loop(eqn, inputs)
        if name == "scan":
            return self.counted_loop(eqn, inputs)
        if name == "cond":
            return self.branches(eqn, inputs)
        if name == "optimization_barrier":
            return inputs
        if name not in RULES:
            raise CannotFuse(name, "has no C++ rule")
        (out,) = eqn.outvars
        lanes, dtype = self.is_lane(name, out), _dtype(out)
        kind = self.kind(name, dtype, lanes)
        known = inputs[0].number if name in ("convert_element_type", "broadcast_in_dim") else None
        if known is not None and name == "convert_element_type" and not lanes and not _may_overflow(known.dtype, dtype):
            return [literal(known.astype(dtype))]
        text = RULES[name](Operation(name, tuple(inputs), params, dtype, lanes, self.real))
        if len(inputs) == 1 and text == inputs[0].text:
            return [inputs[0]._replace(dtype=dtype)]
        made = self.fresh()
        self.write(f"const {kind} {made} = {text};")
        return [Value(made, dtype, lanes, known if known is not None and known.dtype == dtype else None)]

    # ---- loops and branches

    def while_loop(self, eqn: JaxprEqn, inputs: list[Value]) -> list[Value]:
        params = eqn.params
        first, second = params["cond_nconsts"], params["cond_nconsts"] + params["body_nconsts"]
        carry = self.variables(eqn, inputs[second:])
        self.open("for (;;) {")
        (going,) = self.run(*_opened(params["cond_jaxpr"]), [*inputs[:first], *carry])
        if going.lanes:
            raise CannotFuse("while", "its condition differs between lanes")
        self.write(f"if (!{going.text}) break;")
        self.assign(carry, self.run(*_opened(params["body_jaxpr"]), [*inputs[first:second], *carry]))
        self.close("}")
        return carry

    def counted_loop(self, eqn: JaxprEqn, inputs: list[Value]) -> list[Value]:
        params = eqn.params
        consts = params["num_consts"]
        if len(inputs) != consts + params["num_carry"] or len(eqn.outvars) != params["num_carry"]:
            raise CannotFuse("scan", "reads or writes arrays")
        carry = self.variables(eqn, inputs[consts:])
        turn = self.fresh()
        self.open(f"for (int64_t {turn} = 0; {turn} < {params['length']}; {turn}++) {{")
        self.assign(carry, self.run(*_opened(params["jaxpr"]), [*inputs[:consts], *carry]))
        self.close("}")
        return carry

    def branches(self, eqn: JaxprEqn, inputs: list[Value]) -> list[Value]:
        which, *operands = inputs
        branches = eqn.params["branches"]
        if which.lanes:
            raise CannotFuse("cond", "its choice differs between lanes")
        made = self.variables(eqn, None)
        if len(branches) == 2:
            # The rare branch is the true one: something happened in some lane of the block.
            self.open(f"if (__builtin_expect({which.text} != 0, 0)) {{")
            self.assign(made, self.run(*_opened(branches[1]), operands))
            self.close("} else {")
            self.depth += 1
            self.assign(made, self.run(*_opened(branches[0]), operands))
        else:
            self.open(f"switch ({which.text}) {{")
            for i, branch in enumerate(branches):
                self.close("default: {" if i == len(branches) - 1 else f"case {i}: {{")
                self.depth += 1
                self.assign(made, self.run(*_opened(branch), operands))
                self.write("break;")
                self.write("}")
        self.close("}")
        return made

    def variables(self, eqn: JaxprEqn, start: Sequence[Value] | None) -> list[Value]:
        """Names that a loop or a branch assigns to."""
        made = []
        for i, var in enumerate(eqn.outvars):
            lanes, dtype = self.is_lane(eqn.primitive.name, var), _dtype(var)
            kind, name = self.kind(eqn.primitive.name, dtype, lanes), self.fresh()
            self.write(f"{kind} {name}" + (f" = {start[i].wide if lanes else start[i].text};" if start is not None else ";"))
            made.append(Value(name, dtype, lanes))
        return made

    def assign(self, to: Sequence[Value], values: Sequence[Value]) -> None:
        """All at once: a value that is itself about to be assigned is set aside first."""
        names = {variable.text for variable in to}
        pairs = []
        for variable, value in zip(to, values, strict=True):
            text = value.wide if variable.lanes else value.text
            if value.text == variable.text:
                continue
            if value.text in names:
                kind, name = self.kind("copy", variable.dtype, variable.lanes), self.fresh()
                self.write(f"const {kind} {name} = {text};")
                text = name
            pairs.append((variable.text, text))
        for name, text in pairs:
            self.write(f"{name} = {text};")

    # ---- small things

    def kind(self, primitive: str, dtype: np.dtype, lanes: bool) -> str:
        """The C++ type, or CannotFuse."""
        fits = dtype.name in SCALARS and (
            not lanes or dtype in (self.real, np.int32, np.bool_) or (dtype == np.int64 and self.real.itemsize == 8)
        )
        if not fits:
            raise CannotFuse(primitive, f"has no rule for {dtype}{' lanes' if lanes else ''} in a {self.real} program")
        return ("V" if dtype.kind == "f" else "VI") if lanes else SCALARS[dtype.name]

    def is_lane(self, primitive: str, var: Any) -> bool:
        shape = tuple(var.aval.shape)
        if shape not in ((), (self.width,)):
            raise CannotFuse(primitive, f"makes shape {shape}; only () and one value per lane, ({self.width},), fit")
        return shape != ()

    def constant(self, value: Any, dtype: Any = None) -> Value:
        array = np.asarray(value, dtype)
        if array.shape != ():
            raise CannotFuse("constant", f"of shape {array.shape}; only scalars can be captured")
        if array.dtype.name not in SCALARS:
            raise CannotFuse("constant", f"of dtype {array.dtype}")
        return literal(array)

    def fresh(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def write(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    def open(self, line: str) -> None:
        self.write(line)
        self.depth += 1

    def close(self, line: str) -> None:
        self.depth -= 1
        self.write(line)


def _opened(program: Any) -> tuple[Jaxpr, Sequence[Any]]:
    """A program and its constants; some primitives hold it closed over them, some bare."""
    return (program.jaxpr, program.consts) if isinstance(program, ClosedJaxpr) else (program, ())


def _dtype(atom: Any) -> np.dtype:
    return atom.aval.dtype


def _may_overflow(source: np.dtype, target: np.dtype) -> bool:
    return target.kind == "i" and source.kind == "f"


def _suffix(dtype: np.dtype) -> str:
    return {"f": "", "i": "_int", "b": "_bool"}[dtype.kind]
