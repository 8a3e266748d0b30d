"""What softness of the feet is good for.

Peak force of the ground and tracking against the vertical stiffness K_y, on level ground and over
bumps.

Each stiffness walks the same grounds. A ground is one seed of the bumps; without bumps the same
gait is the yardstick. MuJoCo steps one robot at a time: a case is a run.
"""

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from footfall.hybrid.doubt import word_of
from footfall.hybrid.fields import Parametric, numbers, param
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.rigid_bodies import AbstractRigidBodies
from footfall.hybrid.study import AbstractStudy, Answer, Answers, Progress, Sheet, finite

#: What is told of each run: unit and meaning.
FIGURES = {
    "peak_force": ("N", "largest force of the ground on a foot"),
    "mean_peak": ("N", "mean over the feet of the largest force on each"),
    "swing_error": ("rad", "rms error of joint 1 of the walking spikes"),
    "slide_error": ("m", "rms error of their slides"),
    "foot_error": ("m", "rms distance of the feet from where they are wanted, in the body"),
    "unevenness": ("m", "rms deviation of the shell's height from its mean"),
    "tilt": ("rad", "largest tilt"),
    "mean_speed": ("m/s", "speed along the heading"),
    "residual": ("", "of the energy ledger, relative to throughput"),
}
#: figure -> (heading, factor): what fits a screen
SHOWN = {
    "peak_force": ("peak force [N]", 1.0),
    "foot_error": ("foot error [mm]", 1e3),
    "unevenness": ("uneven [mm]", 1e3),
    "tilt": ("tilt [deg]", 180.0 / math.pi),
    "mean_speed": ("speed [mm/s]", 1e3),
}
LEVEL = "level"


class ComplianceRequest(Parametric):
    """What is varied."""

    stiffness: tuple[float, ...] = numbers(
        (400.0, 600.0, 1000.0, 1500.0, 2500.0, 4000.0, 7000.0), unit="N/m", gt=0, doc="stiffness"
    )
    height: float = param(0.004, unit="m", gt=0, doc="height of the highest bump")
    grounds: int = param(3, ge=1, doc="number of bumpy grounds each stiffness walks", static=True)


class Compliance(AbstractStudy):
    """Soft and stiff feet on the same grounds."""

    name, place, doing, file = "compliance", "compliance", "walking", "compliance"
    Request = ComplianceRequest
    needs = ("mujoco",)
    older_results = "compliance.json"

    def __init__(self, request: ComplianceRequest, subject: Any):
        super().__init__(request, subject)
        program = str(subject.document["robot"].get("program", ""))
        urchin = isinstance(subject.system, AbstractRigidBodies)
        if not urchin or "walk" not in program or "roll" in program:
            raise subject.refuse(
                "compliance is studied on the sea urchin while it walks. Try urchin-walk."
            )
        soft = subject.document["controller"]["kind"] == "stiffness"
        self.base = subject if soft else subject.changed(["controller=stiffness"])

    @property
    def cases(self) -> list[dict[str, Any]]:
        grounds = [LEVEL, *(f"bumps, seed {seed}" for seed in range(self.request.grounds))]
        return [
            {"stiffness_y": stiffness, "ground": ground}
            for stiffness, ground in itertools.product(self.request.stiffness, grounds)
        ]

    def answers(
        self, places: Sequence[int], before: Answers, progress: Progress
    ) -> Sequence[Answer]:
        del before
        (place,) = places
        case = self.cases[place]
        seed = case["ground"].rpartition(" ")[2]
        ground = ["terrain=flat"]
        if seed != LEVEL:
            height = f"terrain.highest={self.request.height!r}"
            ground = ["terrain=bumps", height, f"terrain.seed={seed}"]
        made = self.base.changed([f"controller.stiffness_y={case['stiffness_y']!r}", *ground])
        run = made.run(progress, every_step=True)  # peaks are short
        figures = dict.fromkeys(FIGURES, math.nan) | figures_of(run, made.system)
        doubts = tuple(run.verdict.doubts)
        ended = {"outcome": run.outcome.name, "verdict": word_of(doubts)}
        return [Answer(case | ended | {k: finite(v) for k, v in figures.items()}, doubts)]

    @property
    def least(self) -> float:
        """[N/m] below which the body sags by more than the feet are lifted."""
        system = self.base.system
        return system.weight / (3.0 * float(system.gait.lift))

    def walked(self, found: Answers) -> np.ndarray:
        """(stiffness, ground): which runs came to their end."""
        ends = Outcome.reached_end.name
        return self._grid(found, lambda row: row["outcome"] == ends, False)

    def figure(self, found: Answers, name: str) -> np.ndarray:
        """(stiffness, ground), the first ground level; NaN where a run did not come to its end."""
        values = self._grid(found, lambda row: row[name], math.nan).astype(float)
        return np.where(self.walked(found), values, np.nan)

    def _grid(self, found: Answers, read: Any, missing: Any) -> np.ndarray:
        cells = [
            read(found[place].row) if place in found else missing
            for place in range(len(self.cases))
        ]
        return np.array(cells).reshape(len(self.request.stiffness), -1)

    def summary(self, found: Answers) -> dict[str, Any]:
        def plain(values: np.ndarray) -> list:
            return np.where(np.isfinite(values), values.astype(object), None).tolist()

        return {
            "stiffness_y": list(self.request.stiffness),
            "height": self.request.height,
            "grounds": self.request.grounds,
            "least_stiffness": self.least,
            "walked": self.walked(found).tolist(),
            "units": {name: unit for name, (unit, _) in FIGURES.items()},
            "level": {name: plain(self.figure(found, name)[:, 0]) for name in FIGURES},
            "bumps": {name: plain(self.figure(found, name)[:, 1:]) for name in FIGURES},
        }

    def page(self, found: Answers, took: float | None) -> list[Sheet | str]:
        walked, rows = self.walked(found), []
        for row, stiffness in enumerate(self.request.stiffness):
            cells = []
            for name, (_, factor) in SHOWN.items():
                level, *bumps = factor * self.figure(found, name)[row]
                mean = float(np.nanmean(bumps)) if np.isfinite(bumps).any() else math.nan
                cells.append(f"{level:.3g} / {mean:.3g}")
            mark = " *" if stiffness < self.least else ""
            count = f"{int(walked[row].sum())} of {walked.shape[1]}"
            rows.append([f"{stiffness:g}{mark}", *cells, count])
        columns = ["K_y [N/m]", *(heading for heading, _ in SHOWN.values()), "walked"]
        sags = (
            f"* below W/(3 lift) = {self.least:.0f} N/m: the body sags by more than a foot is"
            " lifted, and swinging feet drag"
        )
        grounds = self.request.grounds
        return [
            f"level ground / bumps of up to {1e3 * self.request.height:g} mm (mean of {grounds}"
            f" ground{'' if grounds == 1 else 's'})",
            Sheet(columns, rows),
            *([sags] if min(self.request.stiffness) < self.least else []),
            f"{len(found)} runs" + ("" if took is None else f", {took:.1f} s"),
        ]


def figures_of(run: Any, system: Any) -> dict[str, float]:
    """What is told of a run, while it walked; nothing of one that did not."""
    walking = run["mode"] == 1.0
    if walking.sum() < 2:
        return {}
    feet = range(6)
    force = np.array([run[f"tip.fz.{i}"][walking] for i in feet])
    errors = {
        joint: np.array([run[f"error.{joint}.{i}"][walking] for i in feet])
        for joint in ("swing", "sweep", "slide")
    }
    length = float(system.built_spike.shape.shortest) + np.array(
        [run[f"joint.slide.{i}"][walking] for i in feet]
    )
    # Near a right angle of joint 2.
    away = length**2 * (errors["swing"] ** 2 + errors["sweep"] ** 2) + errors["slide"] ** 2
    t, gone, height = run.t[walking], run["travel.distance"][walking], run["shell.z"][walking]
    return {
        "peak_force": float(force.max()),
        "mean_peak": float(force.max(axis=1).mean()),
        "swing_error": float(np.sqrt(np.mean(errors["swing"] ** 2))),
        "slide_error": float(np.sqrt(np.mean(errors["slide"] ** 2))),
        "foot_error": float(np.sqrt(np.mean(away))),
        "unevenness": float(np.std(height)),
        "tilt": float(run["travel.tilt"][walking].max()),
        "mean_speed": float((gone[-1] - gone[0]) / (t[-1] - t[0])),
        "residual": run.ledger.relative_residual,
    }
