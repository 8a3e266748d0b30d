"""What a walking robot stands: tolerances of its numbers, rough ground, pushes; and what it costs.

A case is a batch of runs of one source (disturbances.py). A run *falls* when it does not end as the
scenario calls success, or stands still; one with something against it is doubtful, and neither.
"""

import csv
import io
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from footfall.engines.analysis.disturbances import (
    Source,
    built_otherwise,
    pushed,
    rough_ground,
    rough_settings,
    whole_power,
)
from footfall.engines.analysis.robust_page import ENDS, METRICS, robust_page
from footfall.engines.analysis.settled_gait import Gait, NoGait, settled_gait
from footfall.engines.analysis.walking import DOUBTFUL, NO_START, STANDS, WALKS, Walking
from footfall.hybrid.doubt import Doubt, word_of
from footfall.hybrid.fields import Parametric, param, text
from footfall.hybrid.study import AbstractStudy, Answer, Answers, Progress, Sheet, finite
from footfall.numerics.chances import Z95, Indices, sobol_indices, wilson

#: Runs of a case.
TOGETHER = 2048
#: Of a footstep: the roughness of the ground where nobody says another.
ROUGH = 0.01


class RobustRequest(Parametric):
    """How it is disturbed, and how often."""

    tolerance: str = text("", doc="KEY=5%; KEY=10%: spreads instead of 5 % of every number")
    ground: float | None = param(
        None, unit="m", ge=0, doc="root mean square of the ground's height"
    )
    push: float = param(0.2, ge=0, le=10, doc="push as a share of the largest rate in a stride")
    runs: int = param(256, ge=8, le=65536, static=True, doc="number of runs of each source")
    seed: int = param(0, ge=0, static=True, doc="of all that is drawn")


class Robust(AbstractStudy):
    """Falls and cost under tolerances, rough ground and pushes."""

    name, place, doing, file = "robust", "robust", "disturbing it", "robust"
    Request = RobustRequest
    noun, rows_key = "parts", "sources"
    needs = ("scipy",)

    def __init__(self, request: RobustRequest, subject: Any):
        super().__init__(request, subject)
        subject.require_flow("robust")
        if "step" not in subject.system.engines:
            raise subject.refuse("its motion is a plan: nothing disturbs it.")
        texts = [part.strip() for part in request.tolerance.split(";") if part.strip()]
        self.spreads = subject.tolerances(texts)
        if not self.spreads:
            raise subject.refuse("it has no number that is built with a spread.")
        self.runs = whole_power(request.runs)
        self.plan = subject.batch_plan()
        own = {one.key: np.array([one.own]) for one in self.spreads}
        self.starts = subject.many_starts(self.plan, own)
        self.remarks: list[str] = []
        self.rise: float | None = None  # of the rough ground
        self.gait: Gait | None = None
        self.sources: list[Source] = []
        self._cases: list[dict[str, Any]] = []

    @property
    def cases(self) -> list[dict[str, Any]]:
        return self._cases

    def prepare(self, say: Callable[[str], None]) -> None:
        subject, request = self.subject, self.request
        system, success = subject.system, tuple(subject.experiment.about.success)
        say("choosing the steps")
        self.starts.prepare()
        say("walking until it settles")
        self.sources = [built_otherwise(self.starts, self.spreads, self.runs, request.seed)]
        if system.travel() is None:
            self.remarks.append("it does not travel: neither rough ground nor pushes are tried")
        else:
            try:
                self.gait = settled_gait(system, subject.start, subject.event_plan, success)
            except NoGait as error:
                raise subject.refuse(
                    f"from its own start {error}, so there is no gait to disturb. Try"
                    f" `footfall run {subject.origin}` first."
                ) from None
            say("roughening the ground")
            self.sources += self._rough(self.gait)
            self.sources += self._pushed(self.gait)
        self.walking = Walking(self.starts, success, None)
        self._cases = [
            {"source": source.name, "first": first, "last": min(first + TOGETHER, source.count)}
            for source in self.sources
            for first in range(0, source.count, TOGETHER)
        ]

    def _rough(self, gait: Gait) -> list[Source]:
        """Waves about as long as a footstep, so that every foot comes down at another height."""
        subject, step = self.subject, abs(gait.speed) * gait.step_time
        rise = ROUGH * step if self.request.ground is None else self.request.ground
        ground = subject.document.get("terrain", {}).get("kind", "none")
        if not rise:
            return []
        if ground not in ("flat", "rough"):
            self.remarks.append(
                f'rough ground is left out: it is level on the whole, and this is "{ground}"'
            )
            return []
        made = subject.changed_or_why(rough_settings(rise, step, self.request.seed))
        if isinstance(made, str):
            self.remarks.append(f"rough ground is left out: {made}")
            return []
        starts = made.many_starts(self.plan, {"terrain.shift": np.linspace(0.0, 20.0, 16) * step})
        starts.prepare()
        self.rise = rise
        return [rough_ground(starts, step, self.runs, self.request.seed)]

    def _pushed(self, gait: Gait) -> list[Source]:
        subject, share = self.subject, self.request.push
        if not share:
            return []
        if gait.state is None:
            self.remarks.append(f"pushes are left out: {gait.why_not}")
            return []
        system, start = subject.system, subject.start
        return pushed(self.starts, system, start, gait, share, self.runs, self.request.seed)

    def answers(
        self, places: Sequence[int], before: Answers, progress: Progress
    ) -> Sequence[Answer]:
        del before
        return [self._answer(self.cases[place], progress) for place in places]

    def _answer(self, case: dict[str, Any], progress: Progress) -> Answer:
        source = next(one for one in self.sources if one.name == case["source"])
        able, result = source.run(np.arange(case["first"], case["last"]), progress)
        words = np.full(len(able), NO_START, object)
        values = {name: np.full(len(able), np.nan) for name in METRICS}
        if result is not None:
            did = self.walking.judged(result)
            for name in METRICS:
                values[name][able] = result.columns.get(name, np.nan)
            if "mean_speed" in result.columns:
                still = (did == WALKS) & ~np.isfinite(np.asarray(result.columns["mean_speed"]))
                did[still] = STANDS
            words[able] = did
        found = list(dict.fromkeys(words.tolist()))
        memory = {
            "words": found,
            "word": [found.index(word) for word in words],
            **{name: [finite(v) for v in column] for name, column in values.items()},
            "reasons": {}
            if result is None
            else {name: int(np.sum(is_)) for name, is_ in result.doubts.items() if np.any(is_)},
            "path": [] if result is None else [result.path],
            "notes": [] if result is None else list(result.notes),
        }
        return Answer({**case, "verdict": "sound"}, (), memory)

    def of_source(self, found: Answers, name: str) -> dict[str, np.ndarray]:
        """What its runs did, and their metrics; as many as were answered."""
        memory = [
            found[place].memory
            for place, case in enumerate(self.cases)
            if case["source"] == name and place in found
        ]
        words = [m["words"][n] for m in memory for n in m["word"]]
        return {"does": np.array(words, object)} | {
            metric: np.array([v for m in memory for v in m[metric]], float) for metric in METRICS
        }

    def kept(self, found: Answers) -> list[Answer]:
        """A row for each source."""
        rows = []
        for source in self.sources:
            runs = self.of_source(found, source.name)
            if len(runs["does"]):
                rows.append(self._row(source.name, runs, self._reasons(found, source.name)))
        return rows

    def _reasons(self, found: Answers, name: str) -> str:
        """Why runs of a source are doubtful, and how many."""
        counts: Counter[str] = Counter()
        for place, case in enumerate(self.cases):
            if case["source"] == name and place in found:
                counts.update(found[place].memory["reasons"])
        return ", ".join(f"{reason} {count}" for reason, count in counts.most_common())

    def _row(self, name: str, runs: dict[str, np.ndarray], reasons: str) -> Answer:
        counts = Counter(runs["does"].tolist())
        doubtful, none = counts[DOUBTFUL], counts[NO_START]
        asked = len(runs["does"]) - doubtful - none
        falls = asked - counts[WALKS]
        low, high = np.clip(wilson(np.array(falls), asked, Z95), 0, 1) if asked else (0.0, 1.0)
        row: dict[str, Any] = {
            "source": name,
            "runs": len(runs["does"]),
            "falls": falls,
            "share": falls / asked if asked else None,
            "share_range": [float(low), float(high)],
            "ends": {word: n for word, n in sorted(counts.items()) if word != WALKS},
        }
        walking = runs["does"] == WALKS
        for metric in METRICS:
            values = runs[metric][walking & np.isfinite(runs[metric])]
            ends = np.percentile(values, [5, 50, 95]).tolist() if len(values) else [None] * 3
            row[metric] = dict(zip(ENDS, ends, strict=True))
        doubts: tuple[Doubt, ...] = ()
        if doubtful > 0.5 * (high - low) * len(runs["does"]):
            said = (
                f"{name}: {doubtful} of {len(runs['does'])} runs are doubtful ({reasons}), more"
                " than chance leaves open; they count neither as falls nor as walking"
            )
            doubts = (Doubt("doubtful_runs", said),)
        return Answer(row | {"verdict": word_of(doubts)}, doubts)

    def indices(self, found: Answers) -> dict[str, Indices]:
        """Of what varies: the cost, the speed, and whether it falls."""
        runs = self.of_source(found, "tolerances")
        shape = (len(self.spreads) + 2, self.runs)
        if len(runs["does"]) < shape[0] * shape[1]:
            return {}
        known = ~np.isin(runs["does"], (DOUBTFUL, NO_START))
        values = {metric: runs[metric] for metric in METRICS}
        values["falls"] = np.where(known, (runs["does"] != WALKS).astype(float), np.nan)
        told = {name: sobol_indices(column.reshape(shape)) for name, column in values.items()}
        return {name: one for name, one in told.items() if one is not None}

    def nominal(self) -> dict[str, float | None]:
        """Of the undisturbed gait."""
        metrics = {} if self.gait is None else self.gait.run.metrics
        return {name: metrics.get(name) for name in METRICS}

    def summary(self, found: Answers) -> dict[str, Any]:
        paths = dict.fromkeys(p for a in found.values() for p in a.memory["path"])
        told = {
            name: {
                "runs": one.rows,
                **{
                    spread.key: {
                        "first": float(one.first[n]),
                        "first_range": one.first_range[:, n].tolist(),
                        "total": float(one.total[n]),
                        "total_range": one.total_range[:, n].tolist(),
                    }
                    for n, spread in enumerate(self.spreads)
                },
            }
            for name, one in self.indices(found).items()
        }
        return {
            "nominal": self.nominal(),
            "tolerances": {
                one.key: {"own": one.own, "spread": one.spread, "unit": one.unit}
                for one in self.spreads
            },
            "indices": told,
            "ground": self.rise,
            "push": self.request.push,
            "remarks": self.remarks,
            "duration": self.plan.duration,
            "path": "; ".join(paths),
        }

    def page(self, found: Answers, took: float | None) -> list[Sheet | str]:
        return robust_page(self, found, took)

    def files(self, found: Answers) -> dict[str, str]:
        """Every run, with what it was given."""
        stream = io.StringIO()
        table = csv.writer(stream, lineterminator="\n")
        table.writerow(["source", "run", "does", *METRICS, "given"])
        for source in self.sources:
            runs = self.of_source(found, source.name)
            columns = [runs["does"].tolist(), *(runs[metric].tolist() for metric in METRICS)]
            for number, row in enumerate(zip(*columns, strict=True)):
                given = "; ".join(f"{k}={float(v[number])!r}" for k, v in source.drawn.items())
                table.writerow([source.name, number, *("" if v != v else v for v in row), given])
        return {"runs.csv": stream.getvalue()}
