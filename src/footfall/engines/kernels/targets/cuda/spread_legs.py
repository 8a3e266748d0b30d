"""Legs of a lane spread over threads.

One thread with twelve legs keeps them in arrays, for which it has no registers, and a million such
arrays fit into no cache. So a lane with many legs is given a group of threads of a warp, and each
of these has a few legs, which are registers: what another leg has is asked of its thread. Values
without legs are computed by every thread of the group, alike.

Threads whose legs are beyond the last compute numbers that mean nothing: they are kept out of sums
and out of memory.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from footfall.engines.kernels.cpp_program import NAME, Each, Join, Table
from footfall.engines.kernels.cpp_text import TextWriter
from footfall.engines.kernels.cpp_values import Value
from footfall.engines.kernels.fuse_errors import CannotFuse

#: Legs that one thread takes at most, by precision: more of them have no registers. The best of
#: those tried with the centipede on an H200.
MOST_LEGS = {"float32": 3, "float64": 1}
#: So few legs are one thread's own; threads of a warp.
FEW, WARP = 3, 32
#: An array read at a leg by its number.
ELSEWHERE = re.compile(r"@([av]\d+)\[([^\[\]]*)\]")


class Spread(NamedTuple):
    """How the legs of a lane are shared out."""

    threads: int  #: of a lane, a power of two
    legs: int  #: of a thread

    @property
    def words(self) -> str:
        """For the head of the text."""
        if self.threads == 1:
            return ""
        return f"#define SPREAD {self.threads}\n#define EACH {self.legs}\n\n"


class NotSpread(CannotFuse):
    """A program that goes from leg to leg."""


def spread_of(table: Table, real: np.dtype) -> Spread:
    """What suits a program whose values with legs are these."""
    legs, threads = max((kept.count for kept in table.values()), default=1), 1
    if legs <= FEW:
        return Spread(1, legs)
    while threads * MOST_LEGS[real.name] < legs and threads < WARP:
        threads *= 2
    return Spread(threads, -(-legs // threads))


class SpreadWriter(TextWriter):
    """Writes what is done for every leg as done by every thread for its own."""

    def _loop(self, legs: int, nodes: Sequence[Each]) -> None:
        for node in nodes:
            if node.before:
                self.write(self._text(node.before))
        self._each(legs)
        known = {node.makes for node in nodes}
        for node in nodes:
            for at, name in NAME.findall(node.text):
                if not at and name in self.table and name not in known:
                    known.add(name)
                    self.write(f"const {self.table[name].kind} {name} = {self._at(name)};")
        for node in nodes:
            if node.total is not None and node.makes is not None:
                raise NotSpread("a running sum", "goes from leg to leg")
            own = node.makes is None  # into memory, or into a sum
            self.write(f"{f'if (owns(k, {legs})) ' if own else ''}{self._text(node.text)}")
            if node.makes in self.where:
                self.write(f"{self.where[node.makes]}.at[k] = {node.makes};")
        self.write("}")
        for node in nodes:
            if node.total is not None:
                self.write("for (int apart = SPREAD / 2; apart; apart /= 2) {")
                self.write(f"const auto y = of_thread({node.total}, place() ^ apart);")
                self.write(node.combine)
                self.write("}")

    def _join(self, node: Join) -> None:
        place, kept = self.where[node.makes], self.table[node.makes]
        self._each(kept.count)
        for start, rows, value in node.parts:
            first, wide = self._text(str(start)), value.wide
            if kept.kind not in ("V", "VI", "VL"):
                wide = value.text
            self.write("{")
            if value.legs > 1:
                away = -start if isinstance(start, int) else f"-({first})"
                self.write(f"const auto y = {self._shifted(value.text, away, rows)};")
                wide = "y"
            self.write(f"if (among(k, {first}, {rows})) {place}.at[k] = {wide};")
            self.write("}")
        self.write("}")

    def _assign_legs(self, pairs: Sequence[tuple[Value, Value]]) -> None:
        """All are read before any is written."""
        pairs = [
            (to, value) for to, value in pairs if self.where.get(value.text) != self.where[to.text]
        ]
        for n, (to, value) in enumerate(pairs):
            text = value.wide if to.lanes else value.text
            self.write(f"Legs<{self.table[to.text].kind}> c{self.count + 1 + n};")
            self._each(to.legs)
            text = self._at(value.text) if value.legs > 1 else text
            self.write(f"c{self.count + 1 + n}.at[k] = {text};")
            self.write("}")
        for n, (to, _) in enumerate(pairs):
            self.write(f"{self.where[to.text]} = c{self.count + 1 + n};")
        self.count += len(pairs)

    # ---- small things

    def _each(self, legs: int) -> None:
        """The head of a loop over the legs of a thread; `l` is a leg that there is."""
        self.write('_Pragma("unroll") for (int k = 0; k < EACH; k++) {')
        self.write(f"const int l = leg(k, {legs});")

    def _array(self, kind: str, legs: int) -> str:
        self.count += 1
        self.write(f"Legs<{kind}> s{self.count};")
        return f"s{self.count}"

    def _at(self, name: str, leg: str = "l") -> str:
        assert leg == "l"
        return self._shifted(name, 0, self.table[name].count)

    def _shifted(self, name: str, offset: int | str, count: int) -> str:
        """A value at the leg at hand and so many on, kept among its `count`."""
        view = self.table[name].view
        base, begin, stride = (name, 0, 1) if view is None else view
        place = self.where[base]
        near = stride == 1 and isinstance(begin, int) and isinstance(offset, int)
        if place.startswith("s") and near:
            away = begin + offset
            return f"beside({place}, k, {away})" if away else f"{place}.at[k]"
        shift = f"l + {offset}" if offset else "l"
        own = f"inside({shift}, {count})"
        index = f"{self._text(str(begin))} + {stride} * {own}"
        return f"anywhere({place}, {index})" if place.startswith("s") else f"{place}[{index}]"

    def _text(self, text: str) -> str:
        def found(at: re.Match[str]) -> str:
            place, index = self.where[at[1]], super(SpreadWriter, self)._text(at[2])
            if not place.startswith("s"):
                return f"{place}[{index}]"
            return f"one({place}, {index})" if index.isdigit() else f"anywhere({place}, {index})"

        return super()._text(ELSEWHERE.sub(found, text))
