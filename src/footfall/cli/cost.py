"""What a run will cost at least, said before it begins: steps, rows, minutes.

Beyond a limit it is refused, with what to change.
"""

import math
from typing import NamedTuple

from footfall.cli.screen import note
from footfall.engines.bodies.mujoco_engine import MujocoEngine
from footfall.engines.plan import StepEngine
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import Experiment

#: Steps of one run, by engine, and how many of them one core makes in a second, to the nearest
#: power of ten.
MOST_STEPS = {"event": 1e9, "step": 1e9, "mujoco": 1e8}
PER_SECOND = {"event": 1e5, "step": 1e5, "mujoco": 1e4}
#: Rows of one run: eight gigabytes a column.
MOST_ROWS = 1e9
#: A run that takes longer than this [s] is announced; one that goes on is judged by its pace after
#: so long, once.
LONG, PACED_AFTER = 60.0, 10.0


class Cost(NamedTuple):
    """The least a run can cost, if it goes on to the end."""

    engine: str
    steps: float
    because: str  #: what decides the steps
    rows: float

    @property
    def seconds(self) -> float:
        return self.steps / PER_SECOND[self.engine]


def least_cost(experiment: Experiment) -> Cost:
    """From the plan alone: a robot may need shorter steps than the longest it is allowed."""
    system, plan = experiment.system, experiment.plan
    rows = plan.duration * (plan.sample_rate or 0.0)
    by = plan.engine_for(*system.engines)
    if isinstance(by, MujocoEngine):
        step = by.step or system.usual_step
        return Cost(by.name, plan.duration / step, f"sim.step = {step:g} s", rows)
    if isinstance(by, StepEngine):
        return Cost(by.name, plan.duration / by.step, f"sim.batch_step = {by.step:g} s", rows)
    name, step = ("sim.max_step", by.max_step) if by.step is None else ("sim.step", by.step)
    limits = [(step, f"{name} = {step:g} s")]
    limits += [
        (e.period, f"{e.name} every {e.period:g} s") for e in system.events if e.period is not None
    ]
    step, because = min(limits)
    return Cost("event", plan.duration / step, because, rows)


def require_affordable(experiment: Experiment) -> None:
    """Refuse a run without end, announce a long one."""
    cost, where = least_cost(experiment), experiment.origin or experiment.name
    duration = f"sim.duration = {experiment.plan.duration:g} s"
    if cost.steps > MOST_STEPS[cost.engine]:
        raise ScenarioError(
            f"{where}: {duration} with {cost.because} takes {cost.steps:.1e} steps or more,"
            f" {words(cost.seconds)} of one core; {MOST_STEPS[cost.engine]:.0e} is the most.\n "
            " Shorten the duration, or lengthen the step."
        )
    if cost.rows > MOST_ROWS:
        rate = experiment.plan.sample_rate
        raise ScenarioError(
            f"{where}: {duration} with sim.sample_rate = {rate:g} Hz keeps {cost.rows:.1e} rows,"
            f" {8e-9 * cost.rows:.2g} GB for each column; {MOST_ROWS:.0e} rows is the most.\n  Try"
            f" --set sim.sample_rate={MOST_ROWS / experiment.plan.duration:.1g} or less."
        )
    if cost.seconds > LONG:
        note(
            f"at least {cost.steps:.1e} steps ({cost.because}): {words(cost.seconds)} or more."
            " Ctrl-C stops and keeps what there is."
        )


class Pace:
    """Says once, after ten seconds of a run, how long it will go on, if that is long."""

    def __init__(self, duration: float):
        self.duration = duration
        #: Seconds and t at the first look: what came before was compilation.
        self.begun: tuple[float, float] | None = None
        self.said = False

    def look(self, seconds: float, t: float) -> str | None:
        """What to say at this moment of the run, if anything."""
        if self.begun is None:
            self.begun = (seconds, t)
        took, moved = seconds - self.begun[0], t - self.begun[1]
        if self.said or took < PACED_AFTER:
            return None
        self.said = True
        left = took * (self.duration - t) / moved if moved > 0 else math.inf
        if left < LONG:
            return None
        return (
            f"at this pace the run takes another {words(left)}. Where the robot is stiff, --set"
            " sim.solver=kvaerno5 may be faster. Ctrl-C stops and keeps what there is."
        )


def words(seconds: float) -> str:
    """A time as a person says it: "4 min", "3 h", "12 days"."""
    for size, name, until in (
        (1.0, "s", 120.0),
        (60.0, "min", 7200.0),
        (3600.0, "h", 172_800.0),
        (86_400.0, "days", 3e7),
    ):
        if seconds < until:
            return f"{seconds / size:.0f} {name}"
    return "years"
