"""An item of a source: what it shows, and how to make it again."""

import dataclasses
import math
from collections.abc import Callable
from typing import NamedTuple

from footfall.hybrid.doubt import Doubt
from footfall.pictures.show import Picture
from footfall.pictures.style import Style

#: Double precision through some dozens of operations: a tolerance.
EXACT = 1e-13


class Value(NamedTuple):
    """One number, as the source prints it and as we find it.

    `tolerance` is what the source's digits (or the reading of its figure) leave open. Where the
    source is wrong, `erratum` says why, and the two must not agree; where it prints no number,
    `printed` is None.
    """

    what: str
    ours: float
    unit: str = ""
    printed: float | None = None
    tolerance: float = 0.0
    erratum: str = ""

    @property
    def agrees(self) -> bool | None:
        """Whether ours is the printed one; None where none is printed."""
        if self.printed is None:
            return None
        near = abs(self.ours - self.printed) <= self.tolerance
        return bool(near) and math.isfinite(self.ours)

    @property
    def as_expected(self) -> bool:
        """It agrees, or it has a reason not to."""
        if self.printed is None:
            return math.isfinite(self.ours)
        return self.agrees is not bool(self.erratum)


class Made(NamedTuple):
    """What came of an item: numbers, words, a picture, and why not to believe it."""

    values: tuple[Value, ...] = ()
    picture: Picture | None = None
    words: str = ""
    doubts: tuple[Doubt, ...] = ()


@dataclasses.dataclass(frozen=True)
class Item:
    """A figure, table, function or passage of a source.

    `make` makes it; without one, `command` is what shows it (a line a user types). An item of
    programs (a driver, a protocol) may have a command alone.
    """

    name: str  #: what a user types: "fig-1", "table-5.1", "sec-1.2", "eq-7"
    title: str
    shows: str  #: what the source shows, in a sentence
    make: Callable[[Style], Made] | None = None
    command: str = ""  #: what else shows it, or computes it: a command, or Python in one line
    erratum: str = ""  #: where the source is wrong, and what we do instead


@dataclasses.dataclass(frozen=True)
class Source:
    """One source document."""

    code: str  #: "000"
    robot: str  #: what it describes, as a folder of `machines` is called, with hyphens
    title: str  #: of the document
    items: tuple[Item, ...]

    def item(self, name: str) -> Item | None:
        """By its name."""
        return next((item for item in self.items if item.name == name), None)
