"""What each elementwise JAX primitive is in C: an expression, or a call of a small helper.

Nothing is undefined: integers wrap, what does not fit an integer stops at its ends.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from footfall.engines.kernels.cpp_values import literal
from footfall.engines.kernels.fuse_errors import CannotFuse

#: C types.
TYPES = {
    "float32": "float",
    "float64": "double",
    "int32": "int32_t",
    "int64": "int64_t",
    "uint32": "uint32_t",
    "uint64": "uint64_t",
    "bool": "bool",
}

#: How tightly operators hold, from C's table.
PRIMARY, UNARY, TIMES, PLUS, LESS, EQUAL, AND, OR, CHOICE = 9, 8, 7, 6, 5, 4, 3, 2, 1


class Text(NamedTuple):
    """An expression in C and how tightly it holds together."""

    text: str
    holds: int = PRIMARY

    def within(self, least: int) -> str:
        """As an operand where only what holds at least so tightly stands bare."""
        return self.text if self.holds >= least else f"({self.text})"


class Operation(NamedTuple):
    """One equation: operands as text, their types, what comes out, how it was asked for."""

    name: str
    texts: tuple[Text, ...]
    kinds: tuple[np.dtype, ...]
    params: Mapping[str, Any]
    dtype: np.dtype
    need: Callable[[str], Any]  #: says that a helper, or a function of <math.h>, is used

    def refuse(self, reason: str) -> CannotFuse:
        return CannotFuse(self.name, reason)

    def call(self, helper: str, dtype: np.dtype | None = None) -> Text:
        """A helper of FLOATS or INTEGERS, of the type at hand."""
        name = f"{helper}_{TYPES[(dtype or self.dtype).name].removesuffix('_t')}"
        self.need(name)
        return Text(f"{name}({', '.join(text.text for text in self.texts)})")


Rule = Callable[[Operation], Text]


def type_of(what: str, dtype: np.dtype) -> str:
    """Its C type; CannotFuse where there is none."""
    if dtype.name not in TYPES:
        raise CannotFuse(what, f"is of type {dtype}, which has no C type here")
    return TYPES[dtype.name]


def constant(number: np.ndarray) -> Text:
    """A number that a compiler reads back bit for bit."""
    kind, value = number.dtype.kind, number[()]
    if kind == "u":
        return Text(f"{value}u" if number.dtype.itemsize == 4 else f"UINT64_C({value})")
    if kind == "f" and not np.isfinite(value):
        return Text("NAN" if np.isnan(value) else "INFINITY" if value > 0 else "(-INFINITY)")
    return Text(literal(number).text)


def _infix(symbol: str, holds: int) -> Rule:
    def rule(op: Operation) -> Text:
        a, b = op.texts
        if op.dtype.kind == "b":
            raise op.refuse("arithmetic on truth values")
        if op.dtype.kind == "i":  # signed overflow is undefined; that of unsigned integers wraps
            wide = f"u{TYPES[op.dtype.name]}"
            inner = f"({wide}){a.within(UNARY)} {symbol} ({wide}){b.within(UNARY)}"
            return Text(f"({TYPES[op.dtype.name]})({inner})", UNARY)
        return Text(f"{a.within(holds)} {symbol} {b.within(holds + 1)}", holds)

    return rule


def _compare(symbol: str) -> Rule:
    holds = EQUAL if symbol in ("==", "!=") else LESS

    def rule(op: Operation) -> Text:
        a, b = op.texts  # comparisons of comparisons read better, and warn less, in brackets
        return Text(f"{a.within(PLUS)} {symbol} {b.within(PLUS)}", holds)

    return rule


def _truths(symbol: str, holds: int, bits: str) -> Rule:
    def rule(op: Operation) -> Text:
        a, b = op.texts
        if op.dtype.kind != "b":
            return Text(f"({a.within(PRIMARY)} {bits} {b.within(PRIMARY)})")
        if symbol == "!=":
            return Text(f"{a.within(PLUS)} != {b.within(PLUS)}", EQUAL)
        fits = [t.text if t.holds == holds or t.holds >= EQUAL else f"({t.text})" for t in (a, b)]
        return Text(f" {symbol} ".join(fits), holds)

    return rule


def _not(op: Operation) -> Text:
    return Text(("!" if op.dtype.kind == "b" else "~") + op.texts[0].within(UNARY), UNARY)


def _negative(op: Operation) -> Text:
    (a,) = op.texts
    if op.dtype.kind == "i":
        return Text(f"({TYPES[op.dtype.name]})(0u - (u{TYPES[op.dtype.name]}){a.within(UNARY)})")
    text = a.within(UNARY)
    return Text(f"-({text})" if text.startswith("-") else f"-{text}", UNARY)


def _numbers(helper: str, kinds: str) -> Rule:
    """A helper for numbers of these kinds."""

    def rule(op: Operation) -> Text:
        if op.dtype.kind not in kinds:
            raise op.refuse(f"has no C rule for {op.dtype}")
        return op.call(helper)

    return rule


def _extreme(helper: str, truth: Rule) -> Rule:
    return lambda op: truth(op) if op.dtype.kind == "b" else op.call(helper)


def _clamp(op: Operation) -> Text:
    least, value, most = op.texts
    floor = _extreme("larger", _OR)(op._replace(texts=(value, least)))
    return _extreme("smaller", _AND)(op._replace(texts=(floor, most)))


def _divide(op: Operation) -> Text:
    return _infix("/", TIMES)(op) if op.dtype.kind == "f" else _numbers("quotient", "iu")(op)


def _remainder(op: Operation) -> Text:
    return _library("fmod")(op) if op.dtype.kind == "f" else _numbers("remainder", "iu")(op)


def _select(op: Operation) -> Text:
    """The last case that the index names; of truth values the second is taken where it is true."""
    which, *cases = op.texts
    chosen = cases[0]
    for i, case in enumerate(cases[1:], 1):
        test = which if op.kinds[0].kind == "b" else Text(f"{which.within(PLUS)} == {i}", EQUAL)
        chosen = Text(f"{test.within(LESS)} ? {case.within(OR)} : {chosen.within(OR)}", CHOICE)
    return chosen


def _convert(op: Operation) -> Text:
    (a,), (source,), target = op.texts, op.kinds, op.dtype
    if source == target:
        return a
    if target.kind == "b":
        return Text(f"{a.within(PLUS)} != 0", EQUAL)
    if source.kind == "f" and target.kind in "iu":
        helper = "whole" if source.itemsize == 8 else "whole_single"
        return op.call(helper, target)
    return Text(f"({type_of(op.name, target)}){a.within(UNARY)}", UNARY)


def _integer_power(op: Operation) -> Text:
    """Repeated squaring, in the order JAX uses."""
    exponent = op.params["y"]
    if op.dtype.kind != "f":
        raise op.refuse(f"has no C rule for {op.dtype}")
    (x,) = op.texts
    one = constant(np.ones((), op.dtype))
    square, product, left = x, None, abs(exponent)
    while left:
        if left & 1:
            product = square if product is None else _times(product, square)
        left >>= 1
        if left:
            square = _times(square, square)
    if product is None:
        return one
    return product if exponent > 0 else Text(f"{one.text} / {product.within(UNARY)}", TIMES)


def _times(a: Text, b: Text) -> Text:
    return Text(f"{a.within(TIMES)} * {b.within(UNARY)}", TIMES)


def _library(name: str) -> Rule:
    """A function of <math.h>."""

    def rule(op: Operation) -> Text:
        if op.dtype.kind != "f":
            raise op.refuse(f"has no C rule for {op.dtype}")
        called = f"{name}{'f' if op.dtype.itemsize == 4 else ''}"
        op.need(called)
        return Text(f"{called}({', '.join(text.text for text in op.texts)})")

    return rule


def _round(op: Operation) -> Text:
    return _library("rint" if int(op.params["rounding_method"]) == 1 else "round")(op)


_AND, _OR = _truths("&&", AND, "&"), _truths("||", OR, "|")
_SAME: Rule = lambda op: op.texts[0]  # noqa: E731

#: Of <math.h>; the last digit is the library's own. (Of a root or a rounding there is one correct
#: result, and every library gives it.)
INEXACT = (
    *("exp", "exp2", "expm1", "log", "log1p", "sin", "cos", "tan", "asin", "acos", "atan", "atan2"),
    *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "cbrt", "pow", "erf", "erfc"),
)

#: Primitives whose operands appear more than once in their text.
REPEATING = ("integer_pow", "square")

RULES: dict[str, Rule] = {
    "add": _infix("+", PLUS),
    "add_any": _infix("+", PLUS),
    "sub": _infix("-", PLUS),
    "mul": _infix("*", TIMES),
    "div": _divide,
    "rem": _remainder,
    "neg": _negative,
    **{
        name: _compare(symbol)
        for name, symbol in zip(
            ("lt", "le", "gt", "ge", "eq", "ne"), ("<", "<=", ">", ">=", "==", "!="), strict=True
        )
    },
    "and": _AND,
    "or": _OR,
    "xor": _truths("!=", EQUAL, "^"),
    "not": _not,
    "max": _extreme("larger", _OR),
    "min": _extreme("smaller", _AND),
    "clamp": _clamp,
    "abs": lambda op: op.texts[0] if op.dtype.kind == "u" else _numbers("size", "fi")(op),
    "sign": _numbers("sign", "fiu"),
    "floor": _numbers("floor", "f"),
    "ceil": _numbers("ceiling", "f"),
    "round": _round,
    "is_finite": lambda op: op.call("finite", op.kinds[0]),
    "select_n": _select,
    "convert_element_type": _convert,
    "integer_pow": _integer_power,
    "square": lambda op: _infix("*", TIMES)(op._replace(texts=op.texts * 2)),
    **{name: _library(name) for name in (*INEXACT, "sqrt", "nextafter")},
    **dict.fromkeys(
        ("copy", "copy_p", "stop_gradient", "name", "broadcast_in_dim", "squeeze", "reshape"), _SAME
    ),
}

#: Helper -> its text for floats of type T. Written into a file where it is used.
FLOATS = {
    "larger": """\
/* What is no number stays none. */
static T larger_N(T a, T b) { return a < b || b != b ? b : a; }""",
    "smaller": """\
/* What is no number stays none. */
static T smaller_N(T a, T b) { return a > b || b != b ? b : a; }""",
    "size": """\
/* Never -0. */
static T size_N(T a) { return a <= 0 ? 0 - a : a; }""",
    "sign": """\
static T sign_N(T a) { return a > 0 ? 1 : a < 0 ? -1 : a; }""",
    "finite": """\
static bool finite_N(T a) { return a - a == 0; }""",
    "floor": """\
/* The largest whole number not above it; from LARGE on every number is whole. */
static T floor_N(T a)
{
    if (!(a > -LARGE && a < LARGE))
        return a;
    const T cut = (T)(int64_t)a;
    return cut == a ? a : cut > a ? cut - 1 : cut;
}""",
    "ceiling": """\
/* The smallest whole number not below it; from LARGE on every number is whole. */
static T ceiling_N(T a)
{
    if (!(a > -LARGE && a < LARGE))
        return a;
    const T cut = -(T)(int64_t)-a;
    return cut == a ? a : cut < a ? cut + 1 : cut;
}""",
}
#: The same for integers; U is the unsigned integer as wide as T.
INTEGERS = {
    "larger": """\
static T larger_N(T a, T b) { return a < b ? b : a; }""",
    "smaller": """\
static T smaller_N(T a, T b) { return a > b ? b : a; }""",
    "size": """\
/* That of the smallest integer wraps. */
static T size_N(T a) { return a < 0 ? (T)(0u - (U)a) : a; }""",
    "sign": """\
static T sign_N(T a) { return a > 0 ? 1 : a < 0 ? -1 : 0; }""",
    "quotient": """\
/* Nothing is undefined: by zero it is -1, and the smallest integer divided by -1 wraps. */
static T quotient_N(T a, T b) { return b == 0 ? -1 : b == -1 ? (T)(0u - (U)a) : a / b; }""",
    "remainder": """\
/* Nothing is undefined: by zero it is what was divided. */
static T remainder_N(T a, T b) { return b == 0 ? a : b == -1 ? 0 : a % b; }""",
    "whole": """\
/* Towards zero; what does not fit stops at the ends, and what is no number is 0. */
static T whole_N(double a)
{
    return a != a ? 0 : a >= HIGHEST ? MAX : a <= -HIGHEST ? MIN : (T)a;
}""",
    "whole_single": """\
/* Towards zero; what does not fit stops at the ends, and what is no number is 0. */
static T whole_single_N(float a)
{
    return a != a ? 0 : a >= HIGHESTf ? MAX : a <= -HIGHESTf ? MIN : (T)a;
}""",
}

#: The same for unsigned integers, where it differs.
UNSIGNED = INTEGERS | {
    "sign": """\
static T sign_N(T a) { return a > 0; }""",
    "quotient": """\
/* Nothing is undefined: by zero it is the largest number. */
static T quotient_N(T a, T b) { return b == 0 ? MAX : a / b; }""",
    "remainder": """\
/* Nothing is undefined: by zero it is what was divided. */
static T remainder_N(T a, T b) { return b == 0 ? a : a % b; }""",
    "whole": """\
/* Towards zero; what does not fit stops at the ends, and what is no number is 0. */
static T whole_N(double a) { return !(a > 0) ? 0 : a >= HIGHEST ? MAX : (T)a; }""",
    "whole_single": """\
/* Towards zero; what does not fit stops at the ends, and what is no number is 0. */
static T whole_single_N(float a) { return !(a > 0) ? 0 : a >= HIGHESTf ? MAX : (T)a; }""",
}


def helper_text(name: str) -> str | None:
    """The text of a helper, by the name that calls it: larger_float, quotient_int32.

    None for what is no helper.
    """
    helper, _, kind = name.rpartition("_")
    dtype = {c_type.removesuffix("_t"): dtype for dtype, c_type in TYPES.items()}.get(kind, "")
    unsigned = dtype.startswith("uint")
    table = FLOATS if dtype.startswith("float") else UNSIGNED if unsigned else INTEGERS
    text = table.get(helper)
    if text is None:
        return None
    bits, c_type = 8 * np.dtype(dtype).itemsize, TYPES[dtype]
    words = {
        "T": c_type,
        "U": f"u{c_type}",
        "LARGE": "8388608.0f" if bits == 32 else "4503599627370496.0",
        "HIGHEST": f"{2 ** (bits - (not unsigned))}.0",
        "HIGHESTf": f"{2 ** (bits - (not unsigned))}.0f",
        "MAX": f"{'U' if unsigned else ''}INT{bits}_MAX",
        "MIN": f"INT{bits}_MIN",
    }
    text = text.replace("_N(", f"_{kind}(")
    return re.sub(rf"\b({'|'.join(words)})\b", lambda found: words[found[1]], text)
