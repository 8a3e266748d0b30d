"""What primitives that move legs about become.

Cuts and shifts are read in place, one leg among the others is a choice in the loop.
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from footfall.engines.kernels.cpp_program import Join, Legs, Part
from footfall.engines.kernels.cpp_rules import RULES, Operation
from footfall.engines.kernels.cpp_totals import TOTALS
from footfall.engines.kernels.cpp_values import BLOCK, Value, layout
from footfall.engines.kernels.fuse_errors import CannotFuse
from footfall.engines.kernels.traced_program import Equation

if TYPE_CHECKING:
    from footfall.engines.kernels.cpp_source import Builder

Rule = Callable[["Builder", Equation, list[Value]], list[Value]]


def _shape(atom: Any) -> tuple[int, ...]:
    return tuple(atom.aval.shape)


def _dtype(atom: Any) -> np.dtype:
    return atom.aval.dtype


def _only_legs(name: str, atom: Any, axis: int) -> None:
    """Legs are the first axis; nothing may move between lanes."""
    if axis != 0 or _shape(atom) == (BLOCK,):
        raise CannotFuse(name, "works along the lanes, not along the legs")


# ---- the same numbers under another shape


def _reshaped(build: "Builder", eqn: Equation, inputs: list[Value]) -> list[Value]:
    name, (out,) = eqn.primitive.name, eqn.outvars
    layout(name, _shape(out))
    before, after = ([n for n in _shape(atom) if n != 1] for atom in (eqn.invars[0], out))
    if before != after or (name == "reshape" and eqn.params["dimensions"] is not None):
        raise CannotFuse(name, "mixes legs and lanes")
    return inputs


# ---- cuts and shifts


def _slice(build: "Builder", eqn: Equation, inputs: list[Value]) -> list[Value]:
    (atom, params) = eqn.invars[0], eqn.params
    cuts = list(
        zip(
            params["start_indices"],
            params["limit_indices"],
            params["strides"] or [1] * len(_shape(atom)),
            _shape(atom),
            strict=True,
        )
    )
    if not cuts:
        return inputs
    for axis, (start, limit, stride, size) in enumerate(cuts):
        if (start, limit, stride) != (0, size, 1):
            _only_legs("slice", atom, axis)
    start, _, stride, _ = cuts[0]
    if _shape(atom) == (BLOCK,):
        return inputs
    return [build.view(inputs[0], int(start), int(stride), _shape(eqn.outvars[0])[0])]


def _rev(build: "Builder", eqn: Equation, inputs: list[Value]) -> list[Value]:
    (atom,) = eqn.invars
    for axis in eqn.params["dimensions"]:
        if _shape(atom)[axis] != 1:
            _only_legs("rev", atom, axis)
    legs = layout("rev", _shape(atom)).legs
    turned = 0 in eqn.params["dimensions"] and legs > 1
    return [build.view(inputs[0], legs - 1, -1, legs)] if turned else inputs


def _split(build: "Builder", eqn: Equation, inputs: list[Value]) -> list[Value]:
    _only_legs("split", eqn.invars[0], eqn.params["axis"])
    starts = np.cumsum([0, *eqn.params["sizes"]])
    return [
        build.view(inputs[0], int(a), 1, int(n))
        for a, n in zip(starts, eqn.params["sizes"], strict=False)
    ]


def _dynamic_slice(build: "Builder", eqn: Equation, inputs: list[Value]) -> list[Value]:
    x, starts = inputs[0], inputs[1:]
    shape, sizes = _shape(eqn.invars[0]), eqn.params["slice_sizes"]
    for axis, (size, whole) in enumerate(zip(sizes, shape, strict=True)):
        if size != whole:
            _only_legs("dynamic_slice", eqn.invars[0], axis)
    if not sizes or shape[0] == sizes[0]:
        return inputs[:1]
    return [
        build.view(x, _start(build, starts[0], shape[0] - sizes[0], "dynamic_slice"), 1, sizes[0])
    ]


def _start(build: "Builder", index: Value, last: int, name: str) -> int | str:
    """Where a cut begins: kept inside, as XLA does."""
    if index.lanes or index.legs > 1:
        raise CannotFuse(name, "its index differs between lanes or legs")
    if index.number is not None:
        return int(np.clip(int(index.number), 0, last))
    inside = f"(int)({index.text} < 0 ? 0 : {index.text} > {last} ? {last} : {index.text})"
    return build.expression("int", Value(inside, np.dtype(np.int32), False)).text


# ---- arrays put together


def _join(build: "Builder", eqn: Equation, parts: Sequence[Part]) -> list[Value]:
    (out,) = eqn.outvars
    name, (legs, lanes) = eqn.primitive.name, layout(eqn.primitive.name, _shape(out))
    kind = build.kind(name, _dtype(out), lanes)
    parts = [part for part in parts if part.rows]
    if legs == 0 or (len(parts) == 1 and parts[0].rows == legs):
        return [parts[0].value if parts else Value("", _dtype(out), lanes, None, 0)]
    made = Value(build.fresh(), _dtype(out), lanes, None, legs)
    build.table[made.text] = Legs(kind, legs)
    build.add(Join(made.text, list(parts)))
    return [made]


def _concatenate(build: "Builder", eqn: Equation, inputs: list[Value]) -> list[Value]:
    name = eqn.primitive.name
    if name == "stack":
        rows = [1] * len(inputs)
        if eqn.params["axis"] != 0:
            raise CannotFuse(name, "works along the lanes, not along the legs")
        layout(name, _shape(eqn.outvars[0]))
    else:
        for atom in eqn.invars:
            _only_legs(name, atom, eqn.params["dimension"])
        rows = [_shape(atom)[0] for atom in eqn.invars]
    starts = np.cumsum([0, *rows])
    return _join(
        build, eqn, [Part(int(a), n, v) for a, n, v in zip(starts, rows, inputs, strict=False)]
    )


def _pad(build: "Builder", eqn: Equation, inputs: list[Value]) -> list[Value]:
    x, filler = inputs
    config = eqn.params["padding_config"]
    for axis, (low, high, interior) in enumerate(config):
        if (low, high, interior) != (0, 0, 0):
            _only_legs("pad", eqn.invars[0], axis)
            if low < 0 or high < 0 or interior:
                raise CannotFuse("pad", "cuts, or fills between legs")
    if not config or _shape(eqn.invars[0]) == (BLOCK,):
        return [x]
    low, high, rows = int(config[0][0]), int(config[0][1]), _shape(eqn.invars[0])[0]
    return _join(
        build, eqn, [Part(0, low, filler), Part(low, rows, x), Part(low + rows, high, filler)]
    )


def _dynamic_update(build: "Builder", eqn: Equation, inputs: list[Value]) -> list[Value]:
    x, new, *starts = inputs
    shape, sizes = _shape(eqn.invars[0]), _shape(eqn.invars[1])
    for axis, (size, whole) in enumerate(zip(sizes, shape, strict=True)):
        if size != whole:
            _only_legs("dynamic_update_slice", eqn.invars[0], axis)
    if not shape or shape == sizes:
        return [new]
    start = _start(build, starts[0], shape[0] - sizes[0], "dynamic_update_slice")
    return _join(build, eqn, [Part(0, shape[0], x), Part(start, sizes[0], new)])


def _iota(build: "Builder", eqn: Equation, inputs: list[Value]) -> list[Value]:
    (out,) = eqn.outvars
    legs, lanes = layout("iota", _shape(out))
    if _shape(out)[eqn.params["dimension"]] == BLOCK:
        raise CannotFuse("iota", "counts lanes")
    numbers = np.arange(legs) if eqn.params["dimension"] == 0 else np.zeros(legs)
    made = build.constant(numbers.astype(_dtype(out)))
    return [build.elementwise("broadcast_in_dim", out.aval, [made], {}) if lanes else made]


# ---- one leg among the others, by its number


def _gather(build: "Builder", eqn: Equation, inputs: list[Value]) -> list[Value]:
    """Whole rows, by indices that lanes share."""
    (x, index), (out,) = inputs, eqn.outvars
    shape, numbers = _shape(eqn.invars[0]), eqn.params["dimension_numbers"]
    plain = (
        numbers.collapsed_slice_dims == (0,)
        and numbers.start_index_map == (0,)
        and not numbers.operand_batching_dims
        and shape != (BLOCK,)
        and tuple(eqn.params["slice_sizes"]) == (1, *shape[1:])
        and not index.lanes
        and "FILL" not in str(eqn.params["mode"])
    )
    if not plain:
        raise CannotFuse(
            "gather", "is not one of whole legs, by indices inside that all lanes share"
        )
    legs, lanes = layout("gather", _shape(out))
    kind = build.kind("gather", _dtype(out), lanes)
    if x.legs == 1 or legs == 0:
        return [x._replace(legs=min(legs, 1))]
    last = shape[0] - 1
    i = index.text
    inside = f"({i} < 0 ? 0 : {i} > {last} ? {last} : {i})"
    view = build.table[x.text].view
    at = f"@{x.text}[{inside}]" if view is None else f"@{view.base}[{view.index(inside)}]"
    return [build.expression(kind, Value(at, _dtype(out), lanes, None, index.legs))]


SCATTERS = {
    "scatter": None,
    "scatter-add": "add",
    "scatter-mul": "mul",
    "scatter-max": "max",
    "scatter-min": "min",
}


def _scatter(build: "Builder", eqn: Equation, inputs: list[Value]) -> list[Value]:
    """One leg set or changed: x.at[3].add(...).

    In the loop over legs it is a choice, so nothing is copied.
    """
    name, (x, index, new), (out,) = eqn.primitive.name, inputs, eqn.outvars
    shape, numbers = _shape(eqn.invars[0]), eqn.params["dimension_numbers"]
    plain = (
        numbers.inserted_window_dims == (0,)
        and numbers.scatter_dims_to_operand_dims == (0,)
        and not numbers.operand_batching_dims
        and shape != (BLOCK,)
        and _shape(eqn.invars[1]) == (1,)
        and _shape(eqn.invars[2]) == shape[1:]
        and not index.lanes
    )
    if not plain:
        raise CannotFuse(name, "does not change one whole leg")
    legs, lanes = layout(name, shape)
    if legs == 0:
        return [x]
    dtype, how = _dtype(out), SCATTERS[name]
    kind = build.kind(name, dtype, lanes)
    if how is not None:
        new = new._replace(
            text=f"({RULES[how](Operation(how, (x, new), {}, dtype, lanes, build.real))})",
            lanes=lanes,
        )
    new, old = (v.wide if lanes else v.text for v in (new, x))
    i, last = index.text, legs - 1
    if "CLIP" in str(eqn.params["mode"]):
        i = f"({i} < 0 ? 0 : {i} > {last} ? {last} : {i})"
    leg = "l" if legs > 1 else "0"
    return [
        build.expression(kind, Value(f"{leg} == {i} ? {new} : {old}", dtype, lanes, None, legs))
    ]


LEG_RULES: dict[str, Rule] = {
    **dict.fromkeys(("reshape", "squeeze", "expand_dims"), _reshaped),
    **dict.fromkeys(("concatenate", "stack"), _concatenate),
    **TOTALS,
    **dict.fromkeys(SCATTERS, _scatter),
    "slice": _slice,
    "rev": _rev,
    "split": _split,
    "dynamic_slice": _dynamic_slice,
    "dynamic_update_slice": _dynamic_update,
    "pad": _pad,
    "iota": _iota,
    "gather": _gather,
}
