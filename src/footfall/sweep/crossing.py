"""How often a robot gets over gaps.

Every controller, every width, many arrival phases, as one batch.

Whether one run crosses says little, for it depends on where in its stride the robot arrives. So
each cell is a count over arrivals.
"""

import dataclasses
import itertools
from collections.abc import Callable, Sequence

import numpy as np

from footfall.engines.lanes.batch_plan import BatchPlan
from footfall.engines.lanes.checked_batch import TIME_STEP, run_checked
from footfall.hybrid.fields import describe
from footfall.hybrid.outcome import Outcome
from footfall.record.verdict import verdict_words
from footfall.scenario.document import slot_path, slot_types
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import Experiment
from footfall.scenario.vary import batched, find_knob
from footfall.sweep.designs import Axis

#: Widths of the study [m].
WIDTHS = (0.025, 0.050, 0.075, 0.100, 0.125, 0.150, 0.200)
ARRIVALS = 10


@dataclasses.dataclass(frozen=True)
class Question:
    """What is varied.

    Arrivals are `arrivals` places of the gap's near edge, spread over `spread` beyond the
    scenario's.
    """

    widths: tuple[float, ...] = WIDTHS
    arrivals: int = ARRIVALS
    spread: float = 0.06  #: m; a stride of the centipede
    axis: Axis | None = None  #: one more number, for a map of robustness

    def __post_init__(self) -> None:
        if self.arrivals < 1:
            raise ScenarioError(f"--arrivals {self.arrivals}: at least one.")
        if not self.spread >= 0:
            raise ScenarioError(f"--spread {self.spread:g} m: not negative.")
        bad = [w for w in self.widths if not w > 0]
        if bad or not self.widths:
            raise ScenarioError(
                f"--widths: {bad[0] if bad else 'none'} is no width of a gap; widths are above"
                " zero."
            )

    @property
    def values(self) -> tuple[float, ...]:
        """Of the varied number; one that nobody looks at where there is none."""
        if self.axis is None:
            return (float("nan"),)
        return tuple(self.axis.values) or tuple(self.axis.at(np.arange(self.axis.count)).tolist())


@dataclasses.dataclass(frozen=True)
class Crossings:
    """Outcome of every run: arrays over (controllers, values, widths, arrivals)."""

    question: Question
    controllers: tuple[str, ...]  #: the switches that are on, joined by +, or "none"
    starts: np.ndarray  #: m, near edge of the gap for each arrival
    outcome: np.ndarray
    t_end: np.ndarray  #: s
    residual: np.ndarray  #: of the energy ledger, relative to throughput
    verdict: np.ndarray  #: "sound", or the reasons for doubt
    steps: np.ndarray  #: s, what each run took
    path: str
    notes: tuple[str, ...]

    @property
    def crossed(self) -> np.ndarray:
        return self.outcome == Outcome.arrived

    @property
    def counts(self) -> np.ndarray:
        """(controllers, values, widths): how many of the arrivals got over."""
        return self.crossed.sum(axis=-1)

    @property
    def doubtful(self) -> np.ndarray:
        return self.verdict != "sound"

    @property
    def times(self) -> np.ndarray:
        """Median time at which the tail was over, NaN where none was.

        (controllers, values, widths).
        """
        late = np.where(self.crossed, self.t_end, np.nan)
        some = self.counts > 0
        return np.where(some, np.nanmedian(np.where(some[..., None], late, 0.0), axis=-1), np.nan)

    @property
    def runs_by_step(self) -> dict[float, int]:
        """How many runs took each step [s], the longest first."""
        steps, counts = np.unique(self.steps, return_counts=True)
        return dict(zip(steps[::-1].tolist(), counts[::-1].tolist(), strict=True))


def controllers_of(experiment: Experiment) -> tuple[str, tuple[str, ...]]:
    """Key of the switches of the robot's controller, and what they are called."""
    for slot in slot_types(type(experiment.system)):
        for field, info in describe(getattr(experiment.system, slot)).items():
            if info.role == "switches":
                return ".".join((*slot_path(slot), field)), info.options
    raise ScenarioError(
        f"{experiment.origin}: this robot has no reflexes to switch on and off. Try centipede-gap."
    )


def near_edge(experiment: Experiment) -> float:
    """Where the scenario's one gap begins."""
    terrain = experiment.document.get("terrain", {})
    if "gap_start" not in terrain:
        raise ScenarioError(
            f"{experiment.origin}: crossings are counted over one gap, --set terrain=gap, not over"
            f' terrain "{terrain.get("kind")}".'
        )
    return float(terrain["gap_start"])


def count_crossings(
    experiment: Experiment,
    question: Question,
    plan: BatchPlan,
    *,
    progress: Callable[[float], None] | None = None,
    threads: int | None = None,
) -> Crossings:
    """Run all of them. A run that gets over ends there.

    The others are given the plan's whole duration.

    Without a step in the plan every run has one that suits it, and what a shorter one could
    overturn is run again with it.
    """
    (key, options), near = controllers_of(experiment), near_edge(experiment)
    chosen = [s for size in range(len(options) + 1) for s in itertools.combinations(options, size)]
    starts = near + question.spread * np.arange(question.arrivals) / question.arrivals
    shape = (len(chosen), len(question.values), len(question.widths), question.arrivals)
    which, value, width, arrival = (index.ravel() for index in np.indices(shape))
    columns = {
        f"{key}.{option}": np.array([float(option in s) for s in chosen])[which]
        for option in options
    }
    columns |= {
        "terrain.gap_width": np.array(question.widths)[width],
        "terrain.gap_start": starts[arrival],
    }
    if question.axis is not None:
        taken = {find_knob(experiment, name, name).path: name for name in columns}
        path = find_knob(experiment, question.axis.key, question.axis.key).path
        if path in taken:
            raise ScenarioError(
                f"--vary {question.axis.key}: the study itself varies {taken[path]}; vary something"
                " else."
            )
        columns[question.axis.key] = np.array(question.values)[value]
    system, state = batched(experiment, columns)
    try:
        result = run_checked(system, state, plan, progress=progress, threads=threads)
    except ValueError as error:
        raise ScenarioError(f"{experiment.origin}: {error}") from None

    def cells(name: str) -> np.ndarray:
        return np.asarray(result.columns[name]).reshape(shape)

    return Crossings(
        question,
        tuple("+".join(s) or "none" for s in chosen),
        starts,
        cells("outcome"),
        cells("t_end"),
        cells("relative_residual"),
        verdict_words(result.doubts, result.columns["outcome"].size).reshape(shape),
        cells(TIME_STEP),
        result.path,
        result.notes,
    )


def rows_of(found: Crossings) -> tuple[list[str], list[Sequence[object]]]:
    """A table with a line for each run."""
    varied = [] if found.question.axis is None else [found.question.axis.key]
    names = [
        "controller",
        *varied,
        "gap_width",
        "gap_start",
        "outcome",
        "t_end",
        "verdict",
        TIME_STEP,
    ]
    rows = []
    for place in np.ndindex(found.outcome.shape):
        which, value, width, arrival = place
        chosen = [found.question.values[value]] if varied else []
        end = Outcome(int(found.outcome[place])).name
        rows.append(
            [
                found.controllers[which],
                *chosen,
                found.question.widths[width],
                f"{found.starts[arrival]:.6g}",
                end,
                f"{found.t_end[place]:.6g}",
                found.verdict[place],
                f"{found.steps[place]:.6g}",
            ]
        )
    return names, rows
