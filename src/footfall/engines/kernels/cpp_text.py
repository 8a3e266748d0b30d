"""The text of a scheduled lane program.

Loops over legs, arrays for what outlives its loop, assignments at the end of braces.
"""

from collections.abc import Sequence

from footfall.engines.kernels.cpp_program import NAME, Control, Each, Join, Line, Region, Table
from footfall.engines.kernels.cpp_schedule import Schedule
from footfall.engines.kernels.cpp_values import Value


class TextWriter:
    """Writes regions line by line. `where` says in which C++ array each value with legs is kept."""

    def __init__(self, table: Table, where: dict[str, str]) -> None:
        self.table, self.where = table, where
        self.lines: list[str] = []
        self.depth = 1
        self.count = 0

    def region(self, region: Region) -> None:
        schedule = Schedule(region, self.table, self.where)
        self._place(schedule)
        for plain, loops in schedule.stages():
            for node in plain:
                if isinstance(node, Control):
                    self._control(node)
                elif isinstance(node, Join):
                    self._join(node)
                elif isinstance(node, Line):
                    self.write(self._text(node.text))
            for legs, nodes in loops.items():
                self._loop(legs, nodes)
        if region.targets:
            pairs = list(zip(region.targets, region.results, strict=True))
            self._assign_legs([(to, value) for to, value in pairs if to.legs > 1])
            self._assign([(to, value) for to, value in pairs if to.legs == 1])

    def _place(self, schedule: Schedule) -> None:
        """An array for every value that is stored.

        One whose last reader is done takes the next value of its kind.
        """
        places = schedule.in_place()
        free: dict[tuple[str, int], list[str]] = {}
        busy: list[tuple[int, tuple[str, int], str]] = []
        for name in sorted(schedule.stored, key=lambda name: schedule.moment(schedule.maker[name])):
            if name in places:
                self.where[name] = places[name]
                continue
            now, shape = schedule.moment(schedule.maker[name]), self.table[name][:2]
            for item in [item for item in busy if item[0] < now]:
                busy.remove(item)
                free.setdefault(item[1], []).append(item[2])
            spare = free.get(shape)
            self.where[name] = spare.pop() if spare else self._array(*shape)
            busy.append((schedule.stored[name], shape, self.where[name]))

    def _loop(self, legs: int, nodes: Sequence[Each]) -> None:
        """Values of other loops are read first, so that a leg may be overwritten in place."""
        for node in nodes:
            if node.before:
                self.write(self._text(node.before))
        self.write(f"for (int l = 0; l < {legs}; l++) {{")
        known = {node.makes for node in nodes}
        for node in nodes:
            for at, name in NAME.findall(node.text):
                if not at and name in self.table and name not in known:
                    known.add(name)
                    self.write(f"const {self.table[name].kind} {name} = {self._at(name)};")
        for node in nodes:
            self.write(self._text(node.text))
            if node.makes in self.where:
                self.write(f"{self.where[node.makes]}[l] = {node.makes};")
        self.write("}")

    def _join(self, node: Join) -> None:
        place = self.where[node.makes]
        for start, rows, value in node.parts:
            wide = value.wide if self.table[node.makes].kind in ("V", "VI", "VL") else value.text
            if rows == 1:
                self.write(
                    f"{place}[{start}] = {self._at(value.text, '0') if value.legs > 1 else wide};"
                )
            else:
                to = f"{start} + l" if start else "l"
                self.write(
                    f"for (int l = 0; l < {rows}; l++) {place}[{to}] ="
                    f" {self._at(value.text) if value.legs > 1 else wide};"
                )

    def _control(self, node: Control) -> None:
        if node.start:
            self._assign_legs(
                [
                    (to, value)
                    for to, value in zip(node.made, node.start, strict=True)
                    if to.legs > 1
                ]
            )
        for part in node.parts:
            if isinstance(part, Region):
                self.region(part)
            else:
                self.write(self._text(part))

    # ---- assignments, all at once

    def _assign_legs(self, pairs: Sequence[tuple[Value, Value]]) -> None:
        """Legs of one number are read before any is written.

        What is read at other legs is set aside first.
        """
        pairs = [
            (to, value) for to, value in pairs if self.where.get(value.text) != self.where[to.text]
        ]
        taken = {self.where[to.text] for to, _ in pairs}
        aside: dict[str, str] = {}
        for _, value in pairs:
            view = self.table[value.text].view if value.text in self.table else None
            if view is not None and self.where[view.base] in taken and value.text not in aside:
                kind, legs, _ = self.table[value.text]
                aside[value.text] = self._array(kind, legs)
                self.write(
                    f"for (int l = 0; l < {legs}; l++) {aside[value.text]}[l] ="
                    f" {self._at(value.text)};"
                )
        for legs in dict.fromkeys(to.legs for to, _ in pairs):
            self.write(f"for (int l = 0; l < {legs}; l++) {{")
            writes = []
            for k, (to, value) in enumerate((to, value) for to, value in pairs if to.legs == legs):
                text = value.wide if to.lanes else value.text
                if value.legs > 1:
                    text = (
                        f"{aside[value.text]}[l]" if value.text in aside else self._at(value.text)
                    )
                self.write(f"const {self.table[to.text].kind} c{k} = {text};")
                writes.append(f"{self.where[to.text]}[l] = c{k};")
            for line in writes:
                self.write(line)
            self.write("}")

    def _assign(self, pairs: Sequence[tuple[Value, Value]]) -> None:
        """A value that is itself about to be assigned is set aside first."""
        names = {to.text for to, _ in pairs}
        writes = []
        for to, value in pairs:
            text = value.wide if to.lanes else value.text
            if value.text == to.text:
                continue
            if value.text in names:
                self.count += 1
                self.write(f"const auto c{self.count} = {text};")
                text = f"c{self.count}"
            writes.append(f"{to.text} = {text};")
        for line in writes:
            self.write(line)

    # ---- small things

    def _array(self, kind: str, legs: int) -> str:
        self.count += 1
        self.write(f"{kind} s{self.count}[{legs}];")
        return f"s{self.count}"

    def _at(self, name: str, leg: str = "l") -> str:
        view = self.table[name].view
        if view is None:
            return f"{self.where[name]}[{leg}]"
        return f"{self.where[view.base]}[{view.index(leg)}]"

    def _text(self, text: str) -> str:
        return NAME.sub(lambda found: self.where[found[2]] if found[1] else found[2], text)

    def write(self, line: str) -> None:
        """Braces at its ends say how far in a line stands."""
        self.depth -= line.startswith("}")
        self.lines.extend("    " * self.depth + part for part in line.split("\n"))
        self.depth += line.endswith("{")
