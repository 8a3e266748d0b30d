"""Sums, products and extremes along the legs, and over the lanes of a block.

They run along in the loop that makes what they add up.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from footfall.engines.kernels.cpp_program import Each, Legs
from footfall.engines.kernels.cpp_rules import RULES, Operation
from footfall.engines.kernels.cpp_values import BLOCK, Value, layout, literal
from footfall.engines.kernels.fuse_errors import CannotFuse
from footfall.engines.kernels.traced_program import Equation

if TYPE_CHECKING:
    from footfall.engines.kernels.cpp_source import Builder

#: What combines two legs, and what a reduction over no legs gives: of reals, integers and truth
#: values.
COMBINES: dict[str, tuple[str, Callable[[np.dtype], Any]]] = {
    "sum": ("add", lambda dtype: 0),
    "prod": ("mul", lambda dtype: 1),
    "max": ("max", lambda dtype: _end(dtype, -1)),
    "min": ("min", lambda dtype: _end(dtype, 1)),
    "or": ("or", lambda dtype: 0),
    "and": ("and", lambda dtype: True if dtype.kind == "b" else -1),
}


def _end(dtype: np.dtype, sign: int) -> Any:
    if dtype.kind != "i":
        return sign * np.inf if dtype.kind == "f" else sign > 0
    return np.iinfo(dtype).max if sign > 0 else np.iinfo(dtype).min


def _aval(eqn: Equation) -> Any:
    return eqn.invars[0].aval


def _identity(how: str, dtype: np.dtype) -> Value:
    return literal(np.asarray(COMBINES[how][1](dtype), dtype))


def _combine(build: "Builder", how: str, total: str, x: Value) -> str:
    rule = COMBINES[how][0]
    op = Operation(
        rule,
        (Value(total, x.dtype, x.lanes), x._replace(number=None)),
        {},
        x.dtype,
        x.lanes,
        build.real,
    )
    return f"{total} = {RULES[rule](op)};"


def _reduce(build: "Builder", eqn: Equation, inputs: list[Value]) -> list[Value]:
    """Over legs one after the other, as XLA does; then over the lanes of the block."""
    name, how = eqn.primitive.name, eqn.primitive.name.removeprefix("reduce_")
    (x,), shape, axes = inputs, _aval(eqn).shape, eqn.params["axes"]
    legs, lanes = layout(name, shape)
    if 0 in axes and shape != (BLOCK,):
        x = _over_legs(build, how, x, legs)
    if lanes and len(shape) - 1 in axes:
        x = build.elementwise(name, eqn.outvars[0].aval, [x], eqn.params)
    return [x]


def _over_legs(build: "Builder", how: str, x: Value, legs: int) -> Value:
    start = _identity(how, x.dtype)
    begin = start.wide if x.lanes else start.text
    kind = build.kind(f"reduce_{how}", x.dtype, x.lanes)
    if legs == 0:
        return build.expression(kind, Value(begin, x.dtype, x.lanes))
    if legs == 1 or (x.legs == 1 and how not in ("sum", "prod")):
        return x
    total = build.fresh()
    both = [_combine(build, how, total, v) for v in (x, x._replace(text="y"))]
    before = f"{kind} {total} = {begin};"
    build.add(Each(legs, both[0], before=before, total=total, combine=both[1]))
    return Value(total, x.dtype, x.lanes)


def _cumulative(build: "Builder", eqn: Equation, inputs: list[Value]) -> list[Value]:
    name, (x,), params = eqn.primitive.name, inputs, eqn.params
    if params["axis"] != 0 or _aval(eqn).shape == (BLOCK,):
        raise CannotFuse(name, "works along the lanes, not along the legs")
    legs, lanes = layout(name, _aval(eqn).shape)
    if legs <= 1:
        return inputs
    how, kind, total = name.removeprefix("cum"), build.kind(name, x.dtype, lanes), build.fresh()
    start = _identity(how, x.dtype)
    if params["reverse"]:
        x = build.view(x, legs - 1, -1, legs)
    made = x._replace(text=build.fresh(), legs=legs, number=None)
    text = f"{_combine(build, how, total, x)}\nconst {kind} {made.text} = {total};"
    build.table[made.text] = Legs(kind, legs)
    build.add(
        Each(
            legs,
            text,
            made.text,
            before=f"{kind} {total} = {start.wide if lanes else start.text};",
            total=total,
        )
    )
    return [build.view(made, legs - 1, -1, legs) if params["reverse"] else made]


TOTALS = {
    **{f"reduce_{how}": _reduce for how in COMBINES},
    **{f"cum{how}": _cumulative for how in ("sum", "prod", "max", "min")},
}
