"""From which starts a robot walks: two numbers varied, looked at finely where the answer changes.

A case is a level of refinement, and the last the pushes; what a level has to ask follows from what
the levels before it found (numerics/refine.py). What a start does is a word (walking.py).
"""

import csv
import io
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from footfall.engines.analysis.basin_pushes import BasinPushes, sentences
from footfall.engines.analysis.settled_gait import Gait, NoGait, settled_gait
from footfall.engines.analysis.walking import DOUBTFUL, WALKS, Walking
from footfall.hybrid.doubt import Doubt, word_of
from footfall.hybrid.fields import Parametric, param, text
from footfall.hybrid.study import AbstractStudy, Answer, Answers, Progress, Sheet
from footfall.numerics.refine import cells, lattice, shares, wanted

#: Cells along each side before any is cut.
COARSE = 32
#: Starts along each side among which a gait is sought where the scenario's own does not walk.
SOUGHT = 8


class BasinRequest(Parametric):
    """Which starts, and how finely."""

    vary: str = text("", doc="KEY=LOW:HIGH; KEY=LOW:HIGH: the two sides of the box")
    resolution: int = param(
        512,
        ge=4,
        le=8192,
        static=True,
        doc="number of parts of each side that the edge is found to",
    )


class Basin(AbstractStudy):
    """The walking set in a box of two numbers, its area, and the smallest push out of it."""

    name, place, doing, file = "basin", "basins", "looking for the edge", "basin"
    Request = BasinRequest
    noun, rows_key = "levels", "levels"

    def __init__(self, request: BasinRequest, subject: Any):
        super().__init__(request, subject)
        subject.require_flow("a basin")
        if "step" not in subject.system.engines:
            raise subject.refuse("its motion is a plan: it goes where it is told from any start.")
        texts = [part.strip() for part in request.vary.split(";") if part.strip()]
        if len(texts) != 2:
            raise subject.refuse(
                "a basin is a picture over two numbers, such as --vary torso_angle=0.3:0.9 --vary"
                f" spoke_rate=-6:0, not over {len(texts)}. `footfall show` lists the keys."
            )
        self.axes = subject.ranges(texts)
        self.depth = max(0, math.ceil(math.log2(request.resolution / COARSE)))
        self.coarse = COARSE if self.depth else request.resolution
        self.width = np.array([axis.high - axis.low for axis in self.axes])
        self.plan = subject.batch_plan()
        sides = [axis.between(np.linspace(0.0, 1.0, SOUGHT)) for axis in self.axes]
        self.few = self._columns(*(side.ravel() for side in np.meshgrid(*sides, indexing="ij")))
        self.starts = subject.many_starts(self.plan, self.few)
        self.gait: Gait | None = None
        self.no_gait = ""

    @property
    def success(self) -> tuple[str, ...]:
        return tuple(self.subject.experiment.about.success)

    @property
    def cases(self) -> list[dict[str, Any]]:
        return [*({"level": level} for level in range(self.depth + 1)), {"level": "pushes"}]

    def prepare(self, say: Callable[[str], None]) -> None:
        say("choosing the steps")
        self.starts.prepare()
        say("walking until it settles")
        if self.subject.system.travel() is not None:
            self.gait = self._find_gait()
        else:
            self.no_gait = "it does not travel, so there is no gait: who ends well walks"
        self.walking = Walking(self.starts, self.success, self.gait)

    def _find_gait(self) -> Gait | None:
        """That of the scenario's own start; else of a start of the box that ends well."""
        system, start = self.subject.system, self.subject.start
        try:
            return settled_gait(system, start, self.subject.event_plan, self.success)
        except NoGait as error:
            self.no_gait = f"from its own start {error}"
        able = self.starts.can_start(self.few)
        if not np.any(able):
            raise self.subject.refuse(
                "the robot can stand in no start of this box. `footfall show` has its own start."
            )
        some = {key: values[able] for key, values in self.few.items()}
        result = self.starts.run(some, lambda _: None)
        well = Walking(self.starts, self.success, None).judged(result) == WALKS
        speed = np.asarray(result.columns["mean_speed"], float)
        well = np.flatnonzero(well & np.isfinite(speed))
        if not len(well):
            return None
        far = np.abs(speed[well] - np.median(speed[well]))
        for n in well[np.argsort(far, kind="stable")][:3]:
            values = [f"{axis.path}={float(some[axis.key][n])!r}" for axis in self.axes]
            other = self.subject.changed(values)
            try:
                return settled_gait(system, other.start, other.event_plan, self.success)
            except NoGait:
                continue
        return None

    def _columns(self, a: np.ndarray, b: np.ndarray) -> dict[str, np.ndarray]:
        return {axis.key: values for axis, values in zip(self.axes, (a, b), strict=True)}

    def _at(self, x: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
        """Starts by their places on the lattice."""
        last = self.coarse * 2**self.depth
        return self._columns(
            *(axis.between(p / last) for axis, p in zip(self.axes, (x, y), strict=True))
        )

    def answers(
        self, places: Sequence[int], before: Answers, progress: Progress
    ) -> Sequence[Answer]:
        return [self._answer(place, before, progress) for place in places]

    def _answer(self, place: int, before: Answers, progress: Progress) -> Answer:
        if self.cases[place]["level"] == "pushes":
            return Answer({}, (), BasinPushes(self).found(progress))
        labels, names = self.plane(before)
        asked: list[tuple[np.ndarray, np.ndarray]] = []
        said: list[str] = []
        while True:
            x, y = wanted(labels, self.coarse, place)
            if not len(x):
                break
            words = self.walking.words(self._at(x, y), progress)
            labels[x, y] = [_number(names, word) for word in words]
            asked.append((x, y))
            said += words.tolist()
        x, y = (np.concatenate(v) if asked else np.zeros(0, int) for v in zip(*asked, strict=True))
        found = list(dict.fromkeys(said))
        memory = {
            "x": x.tolist(),
            "y": y.tolist(),
            "words": found,
            "word": [found.index(word) for word in said],
            "path": list(self.starts.ran),
            "notes": list(self.starts.notes),
        }
        return Answer({"level": place, "starts": len(x), "verdict": "sound"}, (), memory)

    def plane(self, found: Answers, level: int | None = None) -> tuple[np.ndarray, list[str]]:
        """Labels of the lattice, and what they are called; up to a level if one is given."""
        labels, names = lattice(self.coarse, self.depth), [WALKS, DOUBTFUL]
        for place in range(self.depth + 1 if level is None else level + 1):
            if place in found:
                memory = found[place].memory
                numbers = np.array([_number(names, word) for word in memory["words"]], np.int16)
                labels[memory["x"], memory["y"]] = numbers[memory["word"]]
        return labels, names

    def kept(self, found: Answers) -> list[Answer]:
        """A row for each level: what was known of the area by then."""
        rows = []
        for level in range(self.depth + 1):
            if level not in found:
                break
            labels, names = self.plane(found, level)
            size = 2 ** (self.depth - level)
            low, guess, high = shares(labels[::size, ::size], self.coarse, np.array([0]))
            doubts = self._doubts(labels, names, level)
            row = {
                "level": level,
                "cells_a_side": self.coarse * 2**level,
                "starts": found[level].row["starts"],
                "least_share": low,
                "share": guess,
                "largest_share": high,
                "verdict": word_of(doubts),
            }
            rows.append(Answer(row, doubts if level == self.depth else ()))
        return rows

    def _doubts(self, labels: np.ndarray, names: list[str], level: int) -> tuple[Doubt, ...]:
        """Doubtful starts are not walking; more of them than the edge leaves open is a doubt."""
        size = 2 ** (self.depth - level)
        plane = labels[::size, ::size]
        low, _, high = shares(plane, self.coarse, np.array([0]))
        _, share, _ = shares(plane, self.coarse, np.array([names.index(DOUBTFUL)]))
        if share <= high - low:
            return ()
        said = (
            f"{100 * share:.2g} % of the box are starts whose runs are doubtful, more than the"
            " edge leaves open; run one of them alone to see why (starts.csv)"
        )
        return (Doubt("doubtful_starts", said),)

    def summary(self, found: Answers) -> dict[str, Any]:
        labels, names = self.plane(found)
        low, guess, high = shares(labels, self.coarse, np.array([0]))
        area = float(np.prod(self.width))
        told = {
            name: shares(labels, self.coarse, np.array([n]))[1]
            for n, name in enumerate(names)
            if np.any(labels == n)
        }
        memory = [found[place].memory for place in range(self.depth + 1) if place in found]
        unit = " ".join(f"({axis.unit})" for axis in self.axes if axis.unit).replace(" ", "")
        gait = self.gait
        return {
            "axes": [
                {"key": a.key, "path": a.path, "unit": a.unit, "low": a.low, "high": a.high}
                for a in self.axes
            ],
            "resolution": self.coarse * 2**self.depth,
            "starts": sum(len(m["x"]) for m in memory),
            "unit": unit,
            "box": area,
            "area": guess * area,
            "area_range": [low * area, high * area],
            "share": guess,
            "share_range": [low, high],
            "shares": told,
            "gait": None
            if gait is None
            else {"mean_speed": gait.speed, "step_time": gait.step_time},
            "no_gait": self.no_gait,
            "pushes": found[self.depth + 1].memory if self.depth + 1 in found else None,
            "duration": self.plan.duration,
            "path": "; ".join(dict.fromkeys(p for m in memory for p in m["path"])),
        }

    def page(self, found: Answers, took: float | None) -> list[Sheet | str]:
        said = self.summary(found)
        keys = " and ".join(axis.key for axis in self.axes)
        rows = [
            [name, f"{100 * share:.2f} %", f"{share * said['box']:.4g}"]
            for name, share in sorted(said["shares"].items(), key=lambda item: -item[1])
        ]
        speed = f", {took:.1f} s with compilation" if took is not None else ""
        half = 50 * (said["share_range"][1] - said["share_range"][0])
        parts: list[Sheet | str] = [
            f"where it walks from, over {keys}",
            Sheet(["what it does", "of the box", said["unit"] or "area"], rows, left=(0,)),
            f"It walks from {100 * said['share']:.3g} % of the box: an area of {said['area']:.5g}"
            f" {said['unit']}, between {said['area_range'][0]:.5g} and {said['area_range'][1]:.5g}"
            f" (edge within 1/{said['resolution']} of each side, +-{half:.2g} % of the box).",
            *sentences(said["pushes"]),
        ]
        if gait := said["gait"]:
            parts.append(
                f"The gait: {gait['mean_speed']:.4g} m/s, {gait['step_time']:.4g} s a step."
            )
        if said["no_gait"]:
            parts.append(f"Note: {said['no_gait']}.")
        parts.append(
            f"{said['starts']} starts of {self.plan.duration:g} s at most, {said['path']}{speed}."
        )
        return [
            *parts,
            *dict.fromkeys(n for a in found.values() for n in a.memory.get("notes", ())),
        ]

    def starts_run(self, found: Answers) -> dict[str, np.ndarray]:
        """Every start that was run, values by key, and what each `does`."""
        memory = [found[level].memory for level in range(self.depth + 1)]
        x, y = (np.array([v for m in memory for v in m[name]], int) for name in "xy")
        words = [m["words"][n] for m in memory for n in m["word"]]
        return self._at(x, y) | {"does": np.array(words, object)}

    def files(self, found: Answers) -> dict[str, str]:
        stream, columns = io.StringIO(), self.starts_run(found)
        table = csv.writer(stream, lineterminator="\n")
        table.writerow(columns)
        table.writerows(zip(*(values.tolist() for values in columns.values()), strict=True))
        return {"starts.csv": stream.getvalue()}

    def cells(self, found: Answers) -> Any:
        """The cells of the picture, with the names of their labels."""
        labels, names = self.plane(found)
        return cells(labels, self.coarse), names


def _number(names: list[str], word: str) -> int:
    """Of a word; a new one is added."""
    if word not in names:
        names.append(word)
    return names.index(word)
