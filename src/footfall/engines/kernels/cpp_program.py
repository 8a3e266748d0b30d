"""A lane program between its equations and its text.

Statements, loops over legs, branches, and what each of them reads and makes.

Statements are C++ text in which a name, v12, stands for a value. Of a value with legs it means the
leg at hand, and @v12 the whole array. So what a statement reads can be read off it, and where the
array is kept is decided last.
"""

import dataclasses
import re
from typing import NamedTuple

from footfall.engines.kernels.cpp_values import Value

NAME = re.compile(r"(@?)\b([av]\d+)\b")


class View(NamedTuple):
    """Some legs of another value, in place.

    Leg l of the view is leg offset + stride l of the base.
    """

    base: str
    offset: int | str  #: a text where it is known only when the program runs
    stride: int

    def cut(self, offset: int | str, stride: int) -> "View":
        """Some legs of the view, as a view of the same base."""
        if isinstance(offset, int) and isinstance(self.offset, int):
            return View(self.base, self.offset + self.stride * offset, self.stride * stride)
        return View(self.base, f"{self.offset} + {self.stride} * ({offset})", self.stride * stride)

    def index(self, leg: str) -> str:
        steps = {1: leg, -1: f"-{leg}", 0: ""}.get(self.stride, f"{self.stride} * {leg}")
        return f"{self.offset} + {steps}".replace("+ -", "- ") if self.offset else steps


class Legs(NamedTuple):
    """A value with legs.

    The C++ type of one, how many there are, and of which other value it is a view.
    """

    kind: str
    count: int
    view: View | None = None


Table = dict[str, Legs]  #: all values with legs, by name


@dataclasses.dataclass
class Line:
    """A statement outside loops over legs."""

    text: str
    makes: str


@dataclasses.dataclass
class Each:
    """A statement for every leg. Neighbours over as many legs become one loop."""

    legs: int
    text: str
    makes: str | None = None  #: a value with legs
    before: str = ""  #: ahead of the loop
    total: str | None = None  #: a value without legs, ready after the loop
    combine: str = ""  #: the statement that adds y, another such total, to it


class Part(NamedTuple):
    """Legs `start` to `start + rows` of an array, and the value they are taken from."""

    start: int | str
    rows: int
    value: Value


@dataclasses.dataclass
class Join:
    """A new array from parts of others, written in order."""

    makes: str
    parts: list[Part]


@dataclasses.dataclass
class Region:
    """Statements of one pair of braces.

    At its end the results are assigned to the targets, all at once.
    """

    nodes: list["Node"] = dataclasses.field(default_factory=list)
    targets: list[Value] = dataclasses.field(default_factory=list)
    results: list[Value] = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Control:
    """A loop or a branch: lines of text with regions between them.

    What it makes is assigned to in its regions.
    """

    parts: list[str | Region]
    made: list[Value]
    #: What is there before a loop begins.
    start: list[Value] = dataclasses.field(default_factory=list)
    repeats: bool = False


Node = Line | Each | Join | Control


class Reads(NamedTuple):
    """What a statement needs.

    `names` as they stand (of values with legs: at its own leg), `arrays` at any leg.
    """

    names: set[str]
    arrays: set[str]


def made(node: Node) -> list[str]:
    if isinstance(node, Control):
        return [value.text for value in node.made]
    names = (node.makes, node.total) if isinstance(node, Each) else (node.makes,)
    return [name for name in names if name]


def reads(node: Node, table: Table) -> Reads:
    """What a node reads of what it does not make."""
    if isinstance(node, Control):
        found = _inside(node, table)
        start = [_text_reads([value.text], table) for value in node.start]
        names, arrays = (set.union(*sets) for sets in zip(found, *start, strict=True))
        # Its regions run when they run: what they read of values with legs they read from arrays.
        arrays |= {name for name in names if name in table}
        names = {name for name in names if name not in table}
    elif isinstance(node, Join):
        names, arrays = _text_reads(
            [t for p in node.parts for t in (p.value.text, str(p.start))], table
        )
        arrays |= {name for name in names if name in table}
        names = {name for name in names if name not in table}
    else:
        names, arrays = _text_reads(
            [node.text, node.before if isinstance(node, Each) else ""], table
        )
    own = set(made(node))
    return Reads(names - own, arrays - own)


def inner_reads(node: Control, table: Table) -> set[str]:
    """Arrays that the regions of a loop or a branch read."""
    names, arrays = _inside(node, table)
    return arrays | {name for name in names if name in table}


def _inside(node: Control, table: Table) -> Reads:
    names, arrays, own = set(), set(), set()
    for part in node.parts:
        if isinstance(part, str):
            found = [_text_reads([part], table)]
        else:
            found = [reads(inner, table) for inner in part.nodes] + [
                _text_reads([v.text for v in part.results], table)
            ]
            own |= {name for inner in part.nodes for name in made(inner)}
        for some in found:
            names |= some.names
            arrays |= some.arrays
    return Reads(names - own, arrays - own)


def _text_reads(texts: list[str], table: Table) -> Reads:
    names, arrays = set(), set()
    for text in texts:
        for at, name in NAME.findall(text):
            view = table[name].view if name in table else None
            if view is not None:
                arrays.add(view.base)
                names |= {offset for _, offset in NAME.findall(str(view.offset))}
            elif at:
                arrays.add(name)
            else:
                names.add(name)
    return Reads(names, arrays)
