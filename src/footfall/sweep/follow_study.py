"""footfall follow: the gait of a scenario over one of its numbers, as a branch.

Three cases, each kept once it is there: down from the scenario's own gait, up from it, and the
branches of twice the period that leave.
"""

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from footfall.engines.analysis.continuation import BranchPoint, Follower
from footfall.engines.analysis.cycle import Cycle
from footfall.engines.analysis.modes import tracked
from footfall.engines.analysis.orbits import VALUES, Orbit, orbits
from footfall.engines.analysis.return_map import NoCycle
from footfall.engines.analysis.special_curves import CurvePoint
from footfall.hybrid.doubt import Doubt, word_of
from footfall.hybrid.fields import ParameterError, Parametric, param, text
from footfall.hybrid.study import AbstractStudy, Answer, Answers, Progress, Sheet, finite
from footfall.numerics.units import UnitError, to_si
from footfall.scenario.follow import (
    POINTS,
    Branch,
    Curve,
    Part,
    begun,
    branch_of,
    curves_of,
    follower_of,
    is_energy,
    leaving_parts,
    unit_of,
    walked,
)
from footfall.scenario.gait import number_at

#: Figures of the table on the page.
COLUMNS = {"mean_speed": "speed", "step_time": "step time", "cost_of_transport": "cost"}


class FollowRequest(Parametric):
    """Which number, over which range."""

    vary: str = text("", doc="key and range, KEY=FROM:TO; of curves, two of them")
    event: str = text("", doc="event a step ends with")
    count: int = param(1, ge=1, static=True, doc="number of events in a period")
    points: int = param(POINTS, ge=2, static=True, doc="points to each side, at most")
    doublings: int = param(2, ge=0, static=True, doc="times that branches which leave are followed")
    walks: int = param(
        VALUES, ge=0, static=True, doc="values at which it is let walk where its gait is unstable"
    )


class Follow(AbstractStudy):
    """A branch of gaits."""

    name, place, doing, file = "follow", "branches", "following the gait", "branch"
    Request = FollowRequest
    noun, rows_key = "parts", "points"

    def __init__(self, request: FollowRequest, subject: Any):
        super().__init__(request, subject)
        subject.require_flow("a branch of gaits")
        spans = [_range(said, subject.experiment) for said in request.vary.split(";")]
        if len(spans) > 2:
            raise ParameterError(
                f"--vary: {len(spans)} keys. One has a branch, two have curves of its special"
                " points.",
                "vary",
            )
        for key, _, _ in spans:
            if len(spans) > 1 or not is_energy(subject.experiment, key):
                number_at(subject.experiment, key)
        (self.key, self.low, self.high), *self.second = spans

    @property
    def cases(self) -> list[dict[str, Any]]:
        curves = ["curves"] if self.second else []
        walks = ["walks"] if self.request.walks else []
        return [{"part": part} for part in ("down", "up", "doubled", *curves, *walks)]

    def _place(self, part: str) -> int:
        """Of a case; -1 where there is none."""
        return next((k for k, case in enumerate(self.cases) if case["part"] == part), -1)

    @functools.cached_property
    def cycle(self) -> Cycle:
        try:
            return begun(
                self.subject.experiment,
                self.key,
                self.low,
                self.high,
                self.request.event or None,
                self.request.count,
            )
        except NoCycle as none:
            raise self.subject.refuse(
                f"no gait to begin with. {none}\n  `footfall gait {self.subject.origin}` says more."
            ) from None

    @functools.cached_property
    def _walker(self) -> tuple[Follower, float]:
        return follower_of(self.subject.experiment, self.cycle, self.key, self.low, self.high)

    def answers(
        self, places: Sequence[int], before: Answers, progress: Progress
    ) -> Sequence[Answer]:
        (place,) = places
        part, points = self.cases[place]["part"], self.request.points
        if part == "curves":
            ((second, low, high),) = self.second
            curves = curves_of(
                self.subject.experiment,
                self._walker[0],
                self._main(before),
                (self.key, second),
                ((self.low, self.high), (low, high)),
                points,
            )
            memory = [[c.kind, [_plain(point) for point in c.points]] for c in curves]
            return [Answer({}, memory=memory)]
        if part == "walks":
            points_of = self._main(before).points
            walked_on = orbits(self._walker[0], points_of, self.request.walks, progress)
            return [Answer({}, memory=[list(orbit) for orbit in walked_on])]
        if part == "doubled":
            main = self._main(before)
            parts = leaving_parts(self._walker[0], main, points, self.request.doublings)
        else:
            way, (walker, start) = {"down": -1.0, "up": 1.0}[part], self._walker
            found = walked(walker, self.cycle, start, way, points, progress)
            parts = [Part(self.request.count, tuple(found))]
        memory = [[p.count, [_plain(point) for point in p.points], p.leaves_at] for p in parts]
        return [Answer({}, memory=memory)]

    def _parts(self, found: Answers, place: int) -> list[Part]:
        if place not in found:
            return []
        return [
            Part(count, tuple(_point(said) for said in points), leaves_at)
            for count, points, leaves_at in found[place].memory
        ]

    def _main(self, found: Answers) -> Part:
        down = [p for part in self._parts(found, 0) for p in part.points]
        up = [p for part in self._parts(found, 1) for p in part.points]
        return Part(self.request.count, (*reversed(down[1:]), *(up or down[:1])))

    def branch(self, found: Answers) -> Branch:
        """All of it."""
        parts = [self._main(found), *self._parts(found, 2)]
        branch = branch_of(self.subject.experiment, self.key, self.cycle, parts)
        if (place := self._place("walks")) in found:
            walks = [Orbit(value, tuple(t), tuple(d)) for value, t, d in found[place].memory]
            branch = dataclasses.replace(branch, orbits=tuple(walks))
        if (place := self._place("curves")) not in found:
            return branch
        curves = [
            Curve(kind, tuple(_curve_point(said) for said in points))
            for kind, points in found[place].memory
        ]
        return dataclasses.replace(branch, second=self.second[0][0], curves=tuple(curves))

    def kept(self, found: Answers) -> list[Answer]:
        branch = self.branch(found)
        return [
            Answer(
                {
                    self.key: point.value,
                    "repeats_after": part.count,
                    "kind": point.kind,
                    "stable": point.stable,
                    "verdict": word_of(point.doubts),
                    "largest_multiplier": float(np.max(np.abs(point.multipliers), initial=0.0)),
                    **{name: finite(value) for name, value in point.figures.items()},
                    **{
                        f"state.{name}": float(value)
                        for name, value in zip(branch.numbers, point.numbers, strict=True)
                    },
                    "multipliers": [f"{complex(v):.12g}" for v in multipliers],
                },
                point.doubts,
            )
            for part in branch.parts
            for point, multipliers in zip(part.points, _tracked(part), strict=True)
        ]

    def files(self, found: Answers) -> dict[str, str]:
        """Curves and walks have tables of their own."""
        branch, files = self.branch(found), {}
        if branch.orbits:
            rows = [f"{branch.key},time,distance"] + [
                f"{orbit.value!r},{time!r},{distance!r}"
                for orbit in branch.orbits
                for time, distance in zip(orbit.times, orbit.distances, strict=True)
            ]
            files["orbits.csv"] = "\n".join(rows) + "\n"
        if not branch.curves:
            return files
        names = list(branch.curves[0].points[0].figures)
        lines = [",".join(["curve", "kind", branch.key, branch.second, *names, "why"])]
        lines += [
            ",".join([str(k), curve.kind, *map(repr, p.values),
                      *(repr(p.figures.get(n)) for n in names), f'"{p.why}"'])
            for k, curve in enumerate(branch.curves)
            for p in curve.points
        ]  # fmt: skip
        return files | {"curves.csv": "\n".join(lines) + "\n"}

    def summary(self, found: Answers) -> dict[str, Any]:
        return {
            "key": self.key,
            "special": [
                {
                    "kind": point.kind,
                    "value": point.value,
                    "repeats_after": count,
                    "why": point.why,
                }
                for count, point in self.branch(found).special
            ],
            **self._curves(found),
        }

    def _curves(self, found: Answers) -> dict[str, Any]:
        branch = self.branch(found)
        return {
            "curves": [
                {"kind": curve.kind, "points": [list(p.values) for p in curve.points]}
                for curve in branch.curves
            ]
        } if branch.second else {}  # fmt: skip

    def page(self, found: Answers, took: float | None) -> list[Sheet | str]:
        branch = self.branch(found)
        head, *lines = branch.said()
        shown = branch.points[:: max(1, len(branch.points) // 12)]
        names = [name for name in COLUMNS if name in shown[0].figures]
        rows = [
            [
                f"{p.value:.6g}",
                *(f"{p.figures[n]:.5g}" for n in names),
                f"{float(np.max(np.abs(p.multipliers), initial=0.0)):.4f}",
                "stable" if p.stable else "unstable",
            ]
            for p in shown
        ]
        key = self.key.rpartition(".")[2]
        columns = [key, *(COLUMNS[n] for n in names), "multiplier", ""]
        seconds = f" in {took:.1f} s" if took is not None else ""
        words = head.partition(": ")[2]
        return [
            f"{words}{seconds}",
            *(line.strip() for line in lines),
            Sheet(columns, rows, left=(len(columns) - 1,)),
        ]


def _tracked(part: Part) -> list[np.ndarray]:
    return tracked([p.value for p in part.points], [p.multipliers for p in part.points])


def _range(said: str, experiment: Any) -> tuple[str, float, float]:
    key, _, span = (part.strip() for part in said.partition("="))
    low, colon, high = (part.strip() for part in span.partition(":"))
    if not key or not colon or ":" in high:
        raise ParameterError(
            f"--vary {said}: write it as KEY=FROM:TO, such as terrain.angle=0.02:0.1.", "vary"
        )
    unit = unit_of(experiment, key)
    try:
        return key, to_si(low, unit), to_si(high, unit)
    except UnitError as error:
        raise ParameterError(f"--vary {said}: {error}", "vary") from None


def _plain(point: BranchPoint | CurvePoint) -> list[Any]:
    values = np.asarray(point.multipliers, complex)
    return [
        point.value if isinstance(point, BranchPoint) else list(point.values),
        [float(v) for v in point.numbers],
        [[float(v.real), float(v.imag)] for v in values],
        {name: finite(value) for name, value in point.figures.items()},
        point.kind if isinstance(point, BranchPoint) else "",
        point.why,
        [list(doubt) for doubt in point.doubts],
    ]


def _curve_point(said: list[Any]) -> CurvePoint:
    values, numbers, multipliers, figures, _, why = said
    pairs = np.array([complex(*v) for v in multipliers])
    return CurvePoint(tuple(values), np.array(numbers), pairs, figures, why)


def _point(said: list[Any]) -> BranchPoint:
    value, numbers, multipliers, figures, kind, why, doubts = said
    return BranchPoint(
        value,
        np.array(numbers),
        np.array([complex(*v) for v in multipliers]),
        figures,
        kind,
        why,
        tuple(Doubt(*doubt) for doubt in doubts),
    )
