"""A part owns its state: its structs and those of its robot as one flat struct.

Fields keep their names. The robot says where a part's states, ports and stores go, and not what
they are:

    x = joined(FootState(), foot.rest())           # to carry
    own = taken(foot.rest(), x)                    # to hand back to the part
    power = added(RunnerPower(...), foot_power)    # into the ledger
"""

import dataclasses
import functools
import inspect
import operator
import types
from pathlib import Path
from typing import Any

import jax

from footfall.hybrid.fields import describe


class NamesClash(TypeError):
    """A part has a field that its robot has already, and means something else by it."""

    def __init__(self, owner: type, name: str, why: str):
        while name in _MADE_OF.get(owner, {}):  # of a joined struct, who brought the field
            owner = _MADE_OF[owner][name]
        try:
            place = f"{Path(inspect.getfile(owner)).name}, {owner.__name__}.{name}"
        except (TypeError, OSError):  # typed at a prompt: there is no file
            place = f"{owner.__name__}.{name}"
        super().__init__(f"{place}: {why} Give it another name.")


#: Of structs that were joined: which struct brought each field that is not its first's.
_MADE_OF: dict[type, dict[str, type]] = {}


def joined(first: Any, *others: Any) -> Any:
    """`first` with the fields of the others beside its own, in order; None has none.

    For states and signals: two fields of one name clash."""
    return _flat(first, others, None)


def added(first: Any, *others: Any) -> Any:
    """`first` with the fields of the others; those of one name are added up.

    For ports and stores: what a part has of a name that its robot has already counts with it, if it
    is of the same kind."""
    return _flat(first, others, operator.add)


def taken(like: Any, struct: Any) -> Any:
    """The fields of `struct` that `like` has, as a struct of its class; None of None."""
    if like is None:
        return None
    return type(like)(**{f.name: getattr(struct, f.name) for f in dataclasses.fields(like)})


def put(struct: Any, part: Any) -> Any:
    """`struct` with the values of a part's fields put in; None changes nothing."""
    if part is None:
        return struct
    return dataclasses.replace(
        struct, **{f.name: getattr(part, f.name) for f in dataclasses.fields(part)}
    )


def total(structs: list[Any]) -> Any:
    """Like structs of like parts, added up leaf by leaf."""
    return functools.reduce(lambda a, b: jax.tree.map(operator.add, a, b), structs)


def _flat(first: Any, others: tuple[Any, ...], both: Any) -> Any:
    others = tuple(other for other in others if other is not None)
    values = {f.name: getattr(first, f.name) for f in dataclasses.fields(first)}
    for other in others:
        for field in dataclasses.fields(other):
            value = getattr(other, field.name)
            if field.name not in values:
                values[field.name] = value
            elif both is None:
                said = f"{type(first).__name__} has a field of that name already."
                raise NamesClash(type(other), field.name, said)
            elif value is not None:
                _require_alike(first, other, field.name)
                before = values[field.name]
                values[field.name] = value if before is None else both(before, value)
    return _class_of(type(first), *map(type, others))(**values)


def _require_alike(first: Any, other: Any, name: str) -> None:
    """A loss must not be counted with the work of a motor."""
    theirs, ours = (describe(struct).get(name) for struct in (first, other))
    if theirs and ours and (theirs.role, theirs.kind) != (ours.role, ours.kind):
        what = " and ".join(f"a {info.kind or info.role}" for info in (ours, theirs))
        said = f"{type(first).__name__} has one of that name already, and they are {what}."
        raise NamesClash(type(other), name, said)


@functools.cache
def _class_of(first: type, *others: type) -> type:
    """A struct class with the fields of all: `first` itself, where the others bring nothing new."""
    own = {f.name for f in dataclasses.fields(first)}
    new = {f.name: f for other in others for f in dataclasses.fields(other) if f.name not in own}
    if not new:
        return first

    def fill(space: dict[str, Any]) -> None:
        space["__annotations__"] = {name: field.type for name, field in new.items()}
        space["__doc__"] = first.__doc__
        space["__module__"] = first.__module__
        for name, field in new.items():  # after fields with defaults, so by keyword only
            space[name] = dataclasses.field(metadata=field.metadata, kw_only=True)

    made = types.new_class(first.__name__, (first,), {}, fill)
    _MADE_OF[made] = {f.name: other for other in others[::-1] for f in dataclasses.fields(other)}
    return made
