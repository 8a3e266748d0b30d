"""What softness of the feet is good for.

Peak force of the ground and tracking against the vertical stiffness K_y, on level ground and over
bumps.

Each stiffness walks the same grounds. A ground is one seed of the bumps; without bumps the same
gait is the yardstick.
"""

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from footfall.engines.simulate import simulate
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.rigid_bodies import AbstractRigidBodies
from footfall.record.verdict import Verdict, together
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import Experiment, with_settings

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


@dataclasses.dataclass(frozen=True)
class Question:
    """What is varied."""

    stiffness: tuple[float, ...]  #: K_y [N/m]
    height: float = 0.004  #: of the highest bump [m]
    grounds: int = 3  #: seeds of bumps

    def __post_init__(self) -> None:
        bad = [k for k in self.stiffness if not (np.isfinite(k) and k > 0)]
        if bad or not self.stiffness:
            raise ScenarioError(
                f"--stiffness: {bad[0] if bad else 'none'} is no stiffness; values are above zero,"
                " in N/m."
            )
        if self.grounds < 1:
            raise ScenarioError(f"--grounds {self.grounds}: at least one.")
        if not (np.isfinite(self.height) and self.height > 0):
            raise ScenarioError(f"--height {self.height:g} m: bumps need a height above zero.")


@dataclasses.dataclass(frozen=True)
class Compliance:
    """Figures by name: arrays over (stiffness, ground), the first ground level."""

    question: Question
    figures: dict[str, np.ndarray]
    outcome: np.ndarray
    least: float | None  #: N/m, below which the body sags by more than the feet are lifted
    verdicts: np.ndarray  #: of each run, like `outcome`

    @property
    def verdict(self) -> Verdict:
        """Of all runs together."""
        return together(self.verdicts.ravel().tolist(), "runs")

    @property
    def walked(self) -> np.ndarray:
        """Which runs came to their end."""
        return self.outcome == Outcome.reached_end

    def over_bumps(self, name: str) -> np.ndarray:
        """(stiffness, bumpy grounds), NaN where it did not come to its end."""
        return np.where(self.walked, self.figures[name], np.nan)[:, 1:]

    def level(self, name: str) -> np.ndarray:
        return np.where(self.walked, self.figures[name], np.nan)[:, 0]


def study_compliance(
    experiment: Experiment, question: Question, *, progress: Callable[[float], None] | None = None
) -> Compliance:
    """Run all of them, one after another: MuJoCo steps one robot at a time.

    Ctrl-C, or a KeyboardInterrupt from `progress`, leaves those not made yet as `running`.
    """
    base = _soft_footed(experiment)
    grounds = ["flat", *range(question.grounds)]
    shape = (len(question.stiffness), len(grounds))
    figures = {name: np.full(shape, np.nan) for name in FIGURES}
    outcome, verdicts = np.zeros(shape, int), np.full(shape, Verdict(), object)
    for row, column in np.ndindex(shape):
        settings = [f"controller.stiffness_y={question.stiffness[row]!r}"]
        if column:
            settings += [
                "terrain=bumps",
                f"terrain.highest={question.height!r}",
                f"terrain.seed={grounds[column]}",
            ]
        else:
            settings.append("terrain=flat")
        made = with_settings(base, settings)
        # Peaks are short.
        plan = dataclasses.replace(
            made.plan, sample_rate=1.0 / (made.plan.step or made.system.usual_step)
        )
        told = (
            None
            if progress is None
            else _told(progress, row * shape[1] + column, outcome.size, plan.duration)
        )
        run = simulate(made.system, made.start, plan, progress=told)
        if run.outcome is Outcome.interrupted:
            if not outcome.any():
                raise KeyboardInterrupt  # there is nothing yet
            break
        outcome[row, column], verdicts[row, column] = run.outcome, run.verdict
        for name, value in _figures(run, made.system).items():
            figures[name][row, column] = value
    weight, lift = base.system.weight, float(base.system.gait.lift)
    return Compliance(question, figures, outcome, weight / (3.0 * lift), verdicts)


def _told(
    progress: Callable[[float], None], done: int, runs: int, duration: float
) -> Callable[[float, int], None]:
    """The share of all runs, from within one of them."""
    return lambda t, _: progress((done + t / duration) / runs)


def _soft_footed(experiment: Experiment) -> Experiment:
    """The scenario with stiffness control, if it has not got it."""
    system = experiment.system
    program = str(experiment.document["robot"].get("program", ""))
    if not isinstance(system, AbstractRigidBodies) or "walk" not in program or "roll" in program:
        raise ScenarioError(
            f"{experiment.origin}: compliance is studied on the sea urchin while it walks. Try"
            " urchin-walk."
        )
    if experiment.document["controller"]["kind"] == "stiffness":
        return experiment
    return with_settings(experiment, ["controller=stiffness"])


def _figures(run: Any, system: Any) -> dict[str, float]:
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


def rows_of(found: Compliance) -> tuple[list[str], list[Sequence[object]]]:
    """A table with a line for each run."""
    rows = []
    for row, column in zip(*np.nonzero(found.outcome), strict=True):
        ground = "level" if column == 0 else f"bumps, seed {column - 1}"
        figures = [float(found.figures[name][row, column]) for name in FIGURES]
        ended = [Outcome(found.outcome[row, column]).name, found.verdicts[row, column].word]
        rows.append([found.question.stiffness[row], ground, *ended, *figures])
    return ["stiffness_y", "ground", "outcome", "verdict", *FIGURES], rows
