"""Pushes out of a basin: from the gait along numbers of the state, from the scenario along others.

A number of [start] that the continuous state has by the same name is pushed where it matters: from
the settled gait, just after a footfall, with everything else as the gait has it.
"""

import dataclasses
import functools
import math
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from footfall.engines.analysis.pushes import Ray, find_edges, nearest
from footfall.engines.analysis.walking import NO_START
from footfall.hybrid.flatten import named_leaves
from footfall.hybrid.study import Progress
from footfall.hybrid.system import HybridState

#: From this resolution on the nearest edge is sought all round, with as many starts as the basin.
ALL_ROUND = 64


class BasinPushes:
    """Of one basin (basin_study.py)."""

    def __init__(self, basin: Any):
        self.basin = basin

    @property
    def _all_round(self) -> bool:
        return self.basin.request.resolution >= ALL_ROUND

    def found(self, progress: Progress) -> dict[str, Any]:
        """Along numbers of the state from the gait; along others from the scenario's own value."""
        pushed = [n for n in range(2) if self._state_field(n) is not None]
        groups = [(pushed, "push"), ([n for n in range(2) if n not in pushed], "margin")]
        told: dict[str, Any] = {"axes": [], "nearest": [], "remarks": []}
        for numbers, kind in groups:
            if not numbers:
                continue
            base, why = self._base(numbers, kind)
            keys = " and ".join(self.basin.axes[n].key for n in numbers)
            if why:
                told["remarks"].append(f"no {kind} is told along {keys}: {why}.")
                continue
            runner = self._from_gait if kind == "push" else self._from_own
            found = find_edges(
                len(numbers),
                lambda points, n=numbers, b=base, r=runner: r(n, b, points, progress),
                along_axes=not self._all_round,
            )
            if found is None:
                where = "the settled gait" if kind == "push" else "the scenario's own start"
                told["remarks"].append(f"no {kind} is told along {keys}: {where} does not walk on.")
                continue
            told["axes"] += self._told_axes(found, numbers, base, kind)
            if len(numbers) == 2 and self._all_round:
                told["nearest"].append(self._told_nearest(found, kind))
        return told

    def _state_field(self, number: int) -> str | None:
        """The number of the continuous state that an axis sets, by the name and as it is."""
        return self._fields[number]

    @functools.cached_property
    def _fields(self) -> tuple[str | None, ...]:
        few = self.basin.few
        able = np.flatnonzero(self.basin.starts.can_start(few))
        if not len(able):
            return (None, None)
        some = {key: values[able] for key, values in few.items()}
        begun = {name: value for name, value, _ in named_leaves(self.basin.starts.state(some).x)}
        fields = []
        for axis in self.basin.axes:
            table, _, name = axis.path.rpartition(".")
            same = table == "start" and np.array_equal(begun.get(name), some[axis.key])
            fields.append(name if same else None)
        return tuple(fields)

    def _is_rate(self, number: int) -> bool:
        infos = {leaf: info for leaf, _, info in named_leaves(self.basin.subject.start.x)}
        return infos[str(self._state_field(number))].rate_of is not None

    def _base(self, numbers: Sequence[int], kind: str) -> tuple[np.ndarray, str]:
        if kind == "push":
            if self.basin.gait is None:
                return np.zeros(0), "there is no gait to push"
            if self.basin.gait.state is None:
                return np.zeros(0), self.basin.gait.why_not
            x = self.basin.gait.state.x
            return np.array([float(getattr(x, str(self._state_field(n)))) for n in numbers]), ""
        own = [self.basin.subject.own_value(self.basin.axes[n].path) for n in numbers]
        if None in own:
            return np.zeros(0), 'the scenario leaves it at "auto"'
        return np.array(own, float), ""

    def _from_gait(
        self, numbers: Sequence[int], base: np.ndarray, points: np.ndarray, progress: Progress
    ) -> np.ndarray:
        assert self.basin.gait is not None and self.basin.gait.state is not None
        x, m = (
            jax.tree.map(
                lambda leaf: np.repeat(np.asarray(leaf)[..., None], len(points), axis=-1), tree
            )
            for tree in self.basin.gait.state
        )
        values = base + points * self.basin.width[numbers]
        changes = {str(self._state_field(n)): values[:, k] for k, n in enumerate(numbers)}
        state = HybridState(dataclasses.replace(x, **changes), m)
        words = self.basin.walking.judged(self.basin.starts.run_from(state, progress))
        # Where the gait is a start that its table allows, so must be what it is pushed to.
        able = self.basin.starts.can_start(
            {self.basin.axes[n].key: values[:, k] for k, n in enumerate(numbers)}
        )
        return np.where(able, words, NO_START) if able[0] else words

    def _from_own(
        self, numbers: Sequence[int], base: np.ndarray, points: np.ndarray, progress: Progress
    ) -> np.ndarray:
        values = base + points * self.basin.width[numbers]
        columns = {self.basin.axes[n].key: values[:, k] for k, n in enumerate(numbers)}
        return self.basin.walking.words(columns, progress)

    def _told_axes(
        self, found: list[Ray], numbers: Sequence[int], base: np.ndarray, kind: str
    ) -> list[dict[str, Any]]:
        told = []
        for k, n in enumerate(numbers):
            axis, ends, word = self.basin.axes[n], {}, kind
            if kind == "push" and not self._is_rate(n):
                word = "shift"
            for ray in found[: 2 * len(numbers)]:
                if ray.direction[k]:
                    way, width = (
                        "up" if ray.direction[k] > 0 else "down",
                        float(self.basin.width[n]),
                    )
                    ends[way] = {
                        "offset": float(ray.offset[k]) * width if ray.beyond else None,
                        "end": ray.beyond or None,
                        "searched": ray.searched * width,
                    }
            told.append(
                {"key": axis.key, "unit": axis.unit, "kind": word, "from": float(base[k])} | ends
            )
        return told

    def _told_nearest(self, found: list[Ray], kind: str) -> dict[str, Any]:
        """In shares of the box; among the axes too."""
        near = nearest(found)
        if not near.beyond:
            return {"kind": kind, "distance": None}
        offset = near.offset * self.basin.width
        named = {a.key: float(v) for a, v in zip(self.basin.axes, offset, strict=True)}
        return {"kind": kind, "distance": near.distance, "offset": named, "end": near.beyond}


def sentences(pushes: dict[str, Any] | None) -> list[str]:
    """The pushes in words."""
    if pushes is None:
        return []
    said = []
    for one in pushes["axes"]:
        name, unit, ends = _spoken(one["key"]), one["unit"], []
        for way in ("down", "up"):
            far, does = one[way]["offset"], _does(one[way]["end"])
            if far is None and not one[way]["searched"]:
                continue  # there is no such state
            if far is None:
                limit = math.copysign(one[way]["searched"], -1 if way == "down" else 1)
                ends.append(f"none up to {limit:+.3g} {unit} ends it")
            elif one["kind"] == "margin":
                ends.append(f"{one['from'] + far:.4g} {unit} {does}")
            else:
                ends.append(f"a {one['kind']} of {far:+.3g} {unit} on {name} {does}")
        begin = f"From its own {name} of {one['from']:.4g} {unit}: "
        if one["kind"] != "margin":
            begin = f"From the gait just after a footfall, {name} {one['from']:.4g} {unit}: "
        said.append(f"{begin}{'; '.join(ends)}.")
    units = {one["key"]: one["unit"] for one in pushes["axes"]}
    for near in pushes["nearest"]:
        if near["distance"] is not None:
            both = " with ".join(
                f"{value:+.3g} {units[key]} on {_spoken(key)}"
                for key, value in near["offset"].items()
                if value
            )
            said.append(
                f"The nearest edge of all {_does(near['end'])}: {both} ({near['distance']:.3g} of"
                " a side of the box)."
            )
    return said + pushes["remarks"]


def _spoken(key: str) -> str:
    return key.rpartition(".")[2].replace("_", " ")


def _does(word: str | None) -> str:
    if word is None:
        return ""
    known = {
        "fell": "makes it fall",
        "rocked_back": "makes it rock back",
        "lifted_off": "makes it lift off",
        "tipped_over": "makes it tip over",
        "sank": "makes it sink",
        "stands": "makes it stand still",
        "walks otherwise": "takes it to another gait",
        "doubtful": "makes its run doubtful",
        "cannot start": "is no start",
    }
    return known.get(word, f"ends it as {word.replace('_', ' ')}")
