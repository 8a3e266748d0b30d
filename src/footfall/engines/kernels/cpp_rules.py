"""What each elementwise JAX primitive is in C++.

One expression on values that are shared or held per lane (lanes.h).
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from footfall.engines.kernels.cpp_values import SCALARS, Value, lane_type, literal
from footfall.engines.kernels.fuse_errors import CannotFuse


class Operation(NamedTuple):
    """One equation of the traced program: what goes in, what comes out, how it was asked for."""

    name: str
    inputs: tuple[Value, ...]
    params: Mapping[str, Any]
    dtype: np.dtype
    lanes: bool
    real: np.dtype

    @property
    def texts(self) -> list[str]:
        """The inputs as arguments of a helper, which wants all of them per lane or none."""
        return [v.wide if self.lanes else v.text for v in self.inputs]

    def refuse(self, reason: str) -> CannotFuse:
        return CannotFuse(self.name, reason)


Rule = Callable[[Operation], str]


def _wrapped(op: Operation, text: str) -> str:
    """Integer arithmetic in a lane wider than the integer: back to its own range."""
    return f"wrap({text})" if op.lanes and op.dtype == np.int32 and op.real == np.float64 else text


def _infix(symbol: str) -> Rule:
    def rule(op: Operation) -> str:
        if op.dtype.kind == "b":
            raise op.refuse("arithmetic on truth values")
        a, b = (v.text for v in op.inputs)
        return _wrapped(op, f"{a} {symbol} {b}")

    return rule


def _bitwise(symbol: str) -> Rule:
    def rule(op: Operation) -> str:
        a, b = op.texts
        return f"{a} {symbol} {b}"

    return rule


def _not(op: Operation) -> str:
    (a,) = op.texts
    return f"!{a}" if op.dtype.kind == "b" and not op.lanes else f"~{a}"


def _compare(symbol: str) -> Rule:
    def rule(op: Operation) -> str:
        a, b = op.texts
        # A lane's truth is -1, so false < true reads the other way round.
        if op.lanes and op.inputs[0].dtype.kind == "b":
            a, b = b, a
        return f"(VI)({a} {symbol} {b})" if op.lanes else f"{a} {symbol} {b}"

    return rule


def _call(name: str, *, integers: str | None = None) -> Rule:
    """A helper of lanes.h for numbers; `integers` names the one for integers, if there is one."""

    def rule(op: Operation) -> str:
        kind = op.inputs[0].dtype.kind
        if kind == "b" or (kind == "i" and integers is None):
            raise op.refuse(f"has no rule for {op.inputs[0].dtype}")
        return f"{name if kind == 'f' else integers}({', '.join(op.texts)})"

    return rule


def _integers(name: str) -> Rule:
    """A helper that must know how wide its integers are: a lane does not tell."""

    def rule(op: Operation) -> str:
        if op.dtype.kind != "i":
            raise op.refuse(f"has no rule for {op.dtype}")
        width = f"<{SCALARS[op.dtype.name]}>" if op.lanes else ""
        return f"{name}{width}({', '.join(op.texts)})"

    return rule


def _shift(name: str, symbol: str) -> Rule:
    """By a constant it is one instruction for all lanes.

    Otherwise each lane must look whether it shifts past the end.
    """

    def rule(op: Operation) -> str:
        by = op.inputs[1].number
        if op.lanes and op.dtype.kind == "i" and by is not None and 0 <= by < 8 * op.dtype.itemsize:
            return _wrapped(op, f"({op.texts[0]} {symbol} {int(by)})")
        return _integers(name)(op)

    return rule


def _extreme(name: str, against: str, truth: str) -> Rule:
    def rule(op: Operation) -> str:
        if op.dtype.kind == "b":
            return _bitwise(truth)(op)
        (a, b), (x, y) = op.texts, op.inputs
        if y.is_bound or op.dtype.kind == "i":
            return f"{against}({a}, {b})"
        return f"{against}({b}, {a})" if x.is_bound else f"{name}({a}, {b})"

    return rule


def _clamp(op: Operation) -> str:
    low, x, high = op.inputs
    floor = _extreme("max", "at_least", "|")(op._replace(inputs=(x, low)))
    return _extreme("min", "at_most", "&")(
        op._replace(inputs=(Value(floor, op.dtype, op.lanes), high))
    )


def _divide(op: Operation) -> str:
    return _integers("quotient")(op) if op.dtype.kind == "i" else _infix("/")(op)


def _remainder(op: Operation) -> str:
    return _integers("remainder")(op) if op.dtype.kind == "i" else _call("fmod")(op)


def _power(op: Operation) -> str:
    base, exponent = op.inputs
    if base.dtype.kind != "f":
        raise op.refuse(f"has no rule for {base.dtype}")
    number = _convert(op._replace(inputs=(exponent,), lanes=exponent.lanes))
    return _call("pow")(op._replace(inputs=(base, Value(number, op.dtype, exponent.lanes))))


def _integer_power(op: Operation) -> str:
    """Repeated squaring, in the order JAX uses."""
    (x,) = op.texts
    exponent = op.params["y"]
    square, product, left = x, "", abs(exponent)
    while left:
        if left & 1:
            product = f"({_wrapped(op, f'{product} * {square}')})" if product else square
        left >>= 1
        if left:
            square = f"({_wrapped(op, f'{square} * {square}')})"
    if not product:
        return _one(op)
    return product if exponent > 0 else f"{_one(op)} / {product}"


def _one(op: Operation) -> str:
    one = literal(np.ones((), op.dtype))
    return one.wide if op.lanes else one.text


def _round(op: Operation) -> str:
    return _call("rint" if int(op.params["rounding_method"]) == 1 else "round")(op)


def _is_finite(op: Operation) -> str:
    dtype = op.inputs[0].dtype
    size = Value(_call("abs")(op), dtype, op.lanes)
    return _compare("<")(op._replace(inputs=(size, literal(np.asarray(np.inf, dtype)))))


def _select(op: Operation) -> str:
    which, *cases = op.inputs
    chosen = cases[0].wide if op.lanes else cases[0].text
    for i, case in enumerate(cases[1:], 1):
        test = which.text if which.dtype.kind == "b" else f"{which.text} == {i}"
        if which.lanes:
            chosen = (
                f"pick({test if which.dtype.kind == 'b' else f'(VI)({test})'}, {case.wide},"
                f" {chosen})"
            )
        else:
            chosen = f"({test} ? {case.wide if op.lanes else case.text} : {chosen})"
    return chosen


def _convert(op: Operation) -> str:
    (x,) = op.inputs
    source, target = x.dtype, op.dtype
    if source == target:
        return x.text
    if not x.lanes:
        if target.kind == "b":
            return f"{x.text} != 0"
        scalar = SCALARS[target.name]
        return (
            f"whole<{scalar}>({x.text})"
            if source.kind == "f" and target.kind == "i"
            else f"({scalar}){x.text}"
        )
    if target.kind == "b":
        return f"(VI)({x.text} != 0)"
    if source.kind == "b":
        return (
            f"({lane_type(target)})({x.text} & 1)"
            if target.kind == "i"
            else f"pick({x.text}, all({_text(1, target)}), all({_text(0, target)}))"
        )
    if target.kind == "f":
        return f"from_{source}({x.text})"
    if source.kind == "f":
        return f"to_{target}({x.text})"
    return _wrapped(op, f"({lane_type(target)}){x.text}")  # between the integers


def _text(number: int, dtype: np.dtype) -> str:
    return literal(np.asarray(number, dtype)).text


def _same_bits(op: Operation) -> str:
    (x,) = op.inputs
    if (
        x.dtype.itemsize != op.dtype.itemsize
        or "b" in (x.dtype.kind, op.dtype.kind)
        or (op.lanes and x.dtype.itemsize != op.real.itemsize)
    ):
        raise op.refuse(f"has no rule from {x.dtype} to {op.dtype}")
    if not op.lanes:
        return f"same_bits<{SCALARS[op.dtype.name]}>({x.text})"
    return f"({lane_type(op.dtype)}){x.text}"


def _same(op: Operation) -> str:
    return op.texts[0]


def _across(number: str, truth: str) -> Rule:
    """From all lanes of a block to one value."""

    def rule(op: Operation) -> str:
        (x,) = op.inputs
        if op.lanes or not x.lanes:
            return x.text
        return f"{truth if x.dtype.kind == 'b' else number}({x.text})"

    return rule


RULES: dict[str, Rule] = {
    **{
        name: _infix(symbol)
        for name, symbol in {"add": "+", "add_any": "+", "sub": "-", "mul": "*"}.items()
    },
    **{name: _bitwise(symbol) for name, symbol in {"and": "&", "or": "|", "xor": "^"}.items()},
    **{
        name: _compare(s)
        for name, s in {
            "lt": "<",
            "le": "<=",
            "gt": ">",
            "ge": ">=",
            "eq": "==",
            "ne": "!=",
        }.items()
    },
    **{
        name: _call(name)
        for name in ("floor", "ceil", "sqrt", "cbrt", "exp", "exp2", "expm1", "log", "log1p")
    },
    **{
        name: _call(name)
        for name in (
            "sin",
            "cos",
            "tan",
            "asin",
            "acos",
            "atan",
            "atan2",
            "erf",
            "erfc",
            "logistic",
        )
    },
    **{
        name: _call(name)
        for name in ("sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "nextafter")
    },
    **dict.fromkeys(("copy", "copy_p", "stop_gradient", "name", "broadcast_in_dim"), _same),
    "not": _not,
    "neg": lambda op: _wrapped(op, f"-{op.texts[0]}"),
    "abs": lambda op: _wrapped(op, _call("abs", integers="abs")(op)),
    "sign": _call("sign", integers="sign"),
    "max": _extreme("max", "at_least", "|"),
    "min": _extreme("min", "at_most", "&"),
    "clamp": _clamp,
    "div": _divide,
    "rem": _remainder,
    "pow": _power,
    "integer_pow": _integer_power,
    "square": lambda op: _wrapped(op, f"{op.texts[0]} * {op.texts[0]}"),
    "rsqrt": lambda op: f"1 / {_call('sqrt')(op)}",
    "round": _round,
    "is_finite": _is_finite,
    "shift_left": _shift("shift_left", "<<"),
    "shift_right_arithmetic": _shift("shift_right", ">>"),
    "shift_right_logical": _integers("shift_bits"),
    "select_n": _select,
    "convert_element_type": _convert,
    "bitcast_convert_type": _same_bits,
    "reduce_max": _across("largest", "any"),
    "reduce_min": _across("smallest", "every"),
    "reduce_sum": _across("sum", "sum"),
    "reduce_prod": _across("product", "every"),
    "reduce_or": _across("any", "any"),
    "reduce_and": _across("every", "every"),
}
