"""Which statements over legs share a loop, and which of their values are kept in arrays.

A region's statements are sorted into stages. A stage is first what has no legs, then one loop for
each number of legs; a statement stands in the earliest stage in which everything it reads is ready.
What is read in its own loop is a local variable there; only what is read elsewhere (at another leg,
in another loop, in a branch) is stored.
"""

from collections.abc import Mapping
from typing import NamedTuple

from footfall.engines.kernels.cpp_program import (
    Control,
    Each,
    Line,
    Node,
    Region,
    Table,
    inner_reads,
    made,
    reads,
)


class Use(NamedTuple):
    """One node reads what another made.

    `here` if at its own leg, so that one loop can hold both.
    """

    by: int
    of: str
    here: bool


class Schedule:
    """The stages of a region and the arrays its values are kept in.

    `stored`: name -> last moment of use.
    """

    def __init__(self, region: Region, table: Table, where: Mapping[str, str]) -> None:
        self.region, self.table, self.where = region, table, where
        nodes = region.nodes
        self.maker = {name: i for i, node in enumerate(nodes) for name in made(node)}
        self.reads = [reads(node, table) for node in nodes]
        self.uses: list[list[Use]] = [[] for _ in nodes]  # of what each node makes
        self.level = [0] * len(nodes)
        for i, (names, arrays) in enumerate(self.reads):
            for name in sorted(names | arrays):
                if (source := self.maker.get(name)) is None:
                    continue
                here = name in table and name not in arrays and isinstance(nodes[i], Each)
                self.uses[source].append(Use(i, name, here))
                self.level[i] = max(self.level[i], self.level[source] + self._gap(source, here))
        self.final = {_base(value.text, table) for value in region.results}
        self._sink()
        self.stored = self._stored()

    def stages(self) -> list[tuple[list[Node], dict[int, list[Each]]]]:
        """For each stage its statements without legs, and its loops by their number of legs."""
        found: list[tuple[list[Node], dict[int, list[Each]]]] = [
            ([], {}) for _ in range(max(self.level, default=-1) + 1)
        ]
        for node, level in zip(self.region.nodes, self.level, strict=True):
            if isinstance(node, Each):
                found[level][1].setdefault(node.legs, []).append(node)
            else:
                found[level][0].append(node)
        return found

    def moment(self, i: int) -> int:
        """When a node runs: stages in order, what has no legs before the loops."""
        return 2 * self.level[i] + isinstance(self.region.nodes[i], Each)

    def in_place(self) -> dict[str, str]:
        """Results that may be written where their target is kept: name -> array.

        Nobody reads its old value afterwards.
        """
        found: dict[str, str] = {}
        pairs = (
            list(zip(self.region.targets, self.region.results, strict=True))
            if self.region.targets
            else []
        )
        for k, (target, value) in enumerate(pairs):
            i, place = self.maker.get(value.text), self.where.get(target.text)
            if (
                i is None
                or place is None
                or target.legs <= 1
                or value.text not in self.table
                or value.text in found
            ):
                continue
            held = {name for name, array in self.where.items() if array == place}
            wanted = any(
                _base(v.text, self.table) in held for n, (_, v) in enumerate(pairs) if n != k
            )
            if not wanted and all(
                self._read_before(j, i, held) for j in range(len(self.region.nodes))
            ):
                found[value.text] = place
        return found

    def _read_before(self, j: int, i: int, held: set[str]) -> bool:
        """Whether node j has read those arrays, if it does at all, by the time node i overwrites
        them.
        """
        names, arrays = self.reads[j]
        if not (names | arrays) & held:
            return True
        if i == j:
            node = self.region.nodes[i]
            # A branch looks after itself; a loop would come round and read again.
            if isinstance(node, Control):
                return not (node.repeats and inner_reads(node, self.table) & held)
            return isinstance(node, Each) and not arrays & held
        if self.moment(j) == self.moment(i) and isinstance(self.region.nodes[i], Each):
            return not arrays & held  # in one loop a leg is read before it is written
        return (self.moment(j), j) < (self.moment(i), i)

    def _gap(self, source: int, here: bool) -> int:
        return int(isinstance(self.region.nodes[source], Each) and not here)

    def _sink(self) -> None:
        """A value first needed in a later loop is computed there, if no more arrays are needed for
        it than for keeping it.
        """
        nodes = self.region.nodes
        inputs: list[list[int]] = [[] for _ in nodes]
        for i, uses in enumerate(self.uses):
            for use in uses:
                if use.here and isinstance(nodes[i], Each):
                    inputs[use.by].append(i)
        for i in reversed(range(len(nodes))):
            node = nodes[i]
            if (
                not isinstance(node, Each)
                or node.total
                or not self.uses[i]
                or (node.makes in self.final)
            ):
                continue
            latest = min(self.level[use.by] - self._gap(i, use.here) for use in self.uses[i])
            if latest <= self.level[i]:
                continue
            spared = all(use.here and self.level[use.by] == latest for use in self.uses[i])
            if sum(not self._is_stored(source) for source in set(inputs[i])) <= int(spared):
                self.level[i] = latest

    def _is_stored(self, i: int) -> bool:
        node = self.region.nodes[i]
        if not isinstance(node, Each):
            return True
        return node.makes in self.final or any(
            not use.here or self.level[use.by] != self.level[i]
            for use in self.uses[i]
            if use.of == node.makes
        )

    def _stored(self) -> dict[str, int]:
        end = 2 * len(self.region.nodes) + 2
        found = {}
        for i, node in enumerate(self.region.nodes):
            if isinstance(node, Line) or not self._is_stored(i):
                continue
            for name in made(node):
                if name in self.table:
                    last = [self.moment(use.by) for use in self.uses[i] if use.of == name]
                    found[name] = end if name in self.final else max(last, default=self.moment(i))
        return found


def _base(name: str, table: Table) -> str:
    view = table[name].view if name in table else None
    return name if view is None else view.base
