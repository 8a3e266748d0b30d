"""The subject of a study: one scenario, and the ways to run it that a study may need.

Studies in a robot's folder know neither files nor engines: they ask here.
"""

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

from footfall.engines.lanes.batch import BatchResult
from footfall.engines.lanes.batch_inputs import prepared
from footfall.engines.lanes.batch_plan import BatchPlan
from footfall.engines.lanes.checked_batch import run_checked
from footfall.engines.lanes.plan_figures import evaluate_plan
from footfall.engines.lanes.step_ladder import choose_steps, lanes_of
from footfall.engines.plan import Plan
from footfall.engines.simulate import simulate
from footfall.engines.stability_limit import spectrum
from footfall.engines.step_growth import damper_reach
from footfall.hybrid.fields import describe
from footfall.hybrid.outcome import Outcome
from footfall.record.trajectory import Trajectory
from footfall.scenario.document import slot_path, slot_types
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import Experiment, require_flow, with_settings
from footfall.scenario.vary import batched, find_knob
from footfall.sweep.designs import Axis
from footfall.sweep.many_starts import ManyStarts
from footfall.sweep.parse import parse_axis, require_different
from footfall.sweep.plan_sweep import plan_of
from footfall.sweep.tolerances import Tolerance, tolerances

#: Robots of a batch that are run, and kept, together: minutes of work for two cores at worst. A
#: GPU wants all at once.
LANES = 64


class Subject:
    """An experiment, as studies see it."""

    def __init__(self, experiment: Experiment):
        self.experiment = experiment
        self.name, self.origin = experiment.name, experiment.origin or experiment.name
        self.title = experiment.about.title or experiment.name
        self.system, self.start, self.plan = experiment.system, experiment.start, experiment.plan
        self.document: Mapping[str, Any] = experiment.document

    @property
    def event_plan(self) -> Plan:
        """Its plan by the event engine, whichever it runs by."""
        return self.experiment.event_plan

    def to_toml(self) -> str:
        """The scenario, with every value."""
        return self.experiment.to_toml()

    @property
    def own_files(self) -> Mapping[str, Path]:
        return self.experiment.own_files

    def refuse(self, why: str) -> ScenarioError:
        """What to raise where this scenario cannot be asked."""
        return ScenarioError(f"{self.origin}: {why}")

    def require_flow(self, what: str) -> None:
        """Raise for a robot without equations of its own."""
        require_flow(self.experiment, what)

    def changed(self, settings: Sequence[str]) -> "Subject":
        """The same scenario with other values or parts, as `--set` would have made it."""
        return Subject(with_settings(self.experiment, settings))

    def changed_or_why(self, settings: Sequence[str]) -> "Subject | str":
        """The same; or why there can be no such scenario."""
        try:
            return self.changed(settings)
        except ScenarioError as error:
            return str(error).rpartition("] ")[2]

    def run(self, progress: Callable[[float], None], *, every_step: bool = False) -> Trajectory:
        """One run. `progress` gets its share, and may end it by a KeyboardInterrupt."""
        plan = self.plan
        if every_step:
            plan = dataclasses.replace(
                plan, sample_rate=1.0 / (plan.step or self.system.usual_step)
            )
        run = simulate(
            self.system, self.start, plan, progress=lambda t, _: progress(t / plan.duration)
        )
        if run.outcome is Outcome.interrupted:
            raise KeyboardInterrupt
        return run

    def figures(self) -> dict[str, float]:
        """Of a motion plan, evaluated with many samples, as a run would."""
        return {
            name: float(figure.values[0])
            for name, figure in evaluate_plan(self.system).figures.items()
        }

    def value(self, key: str) -> float:
        """Of a number of the robot, by its path."""
        owner: Any = self.system
        for part in key.split("."):
            owner = getattr(owner, part)
        return float(owner)

    def switches(self) -> tuple[str, tuple[str, ...]] | None:
        """Key of the switches that a part of the robot has, and what they are called."""
        for slot in slot_types(type(self.system)):
            for field, info in describe(getattr(self.system, slot)).items():
                if info.role == "switches":
                    return ".".join((*slot_path(slot), field)), info.options
        return None

    def axis(self, text: str, taken: Sequence[str]) -> Axis:
        """One number that is varied, from the words of --vary; not one of `taken`."""
        axis = parse_axis(self.experiment, text, counted=True)
        words = axis.values and not all(isinstance(v, int | float) for v in axis.values)
        if axis.structural or words:
            raise ScenarioError(
                f"--vary {text}: this study varies one number, not the robot's structure."
            )
        paths = {find_knob(self.experiment, key, key).path: key for key in taken}
        same = paths.get(find_knob(self.experiment, axis.key, axis.key).path)
        if same:
            raise ScenarioError(
                f"--vary {axis.key}: the study itself varies {same}; vary something else."
            )
        return axis

    def ranges(self, texts: Sequence[str]) -> tuple[Axis, ...]:
        """Numbers that fill a box, KEY=LOW:HIGH each."""
        axes = []
        for text in texts:
            axis = parse_axis(self.experiment, text, counted=False)
            if axis.values or axis.structural or axis.log:
                raise ScenarioError(
                    f"--vary {text}: this is a side of a box: a number of the start or of the"
                    " robot from LOW to HIGH, such as spoke_rate=-6:0."
                )
            axes.append(axis if axis.low < axis.high else _turned(axis))
        require_different(axes)
        return tuple(axes)

    def many_starts(self, plan: BatchPlan, like: Mapping[str, np.ndarray]) -> ManyStarts:
        """Robots like it, any of them at any time; `like` are some of them."""
        return ManyStarts(self.experiment, plan, like)

    def tolerances(self, texts: Sequence[str]) -> tuple[Tolerance, ...]:
        """Of its numbers, from the words of --tolerance, or the usual ones."""
        return tolerances(self.experiment, texts)

    def own_value(self, path: str) -> float | None:
        """The scenario's own number at a full path; None where it is worked out."""
        owner: Any = self.document
        for key in path.split("."):
            owner = owner[key]
        return float(owner) if isinstance(owner, int | float) else None

    def batch_plan(self, **options: Any) -> BatchPlan:
        """The scenario's plan for batches, with the `options` that are not None."""
        return plan_of(self.experiment, **options)

    def lanes(self, columns: Mapping[str, np.ndarray], plan: BatchPlan) -> "Lanes":
        """Many robots like it, each with its own numbers."""
        return Lanes(self, columns, plan)

    def fastest_decay(self, method: str) -> tuple[float, float]:
        """[1/s] of a disturbance at the start; and h times that up to which `method` is stable."""
        value, _ = spectrum(self.system, self.start).largest
        return abs(value), damper_reach(method) if value else math.inf


def _turned(axis: Axis) -> Axis:
    return dataclasses.replace(axis, low=axis.high, high=axis.low)


class Lanes:
    """Robots side by side. What each does does not depend on which others it is run with."""

    def __init__(self, subject: Subject, columns: Mapping[str, np.ndarray], plan: BatchPlan):
        self._subject, self._plan = subject, plan
        system, state = batched(subject.experiment, columns)
        self._system, self._state, self.count = prepared(system, state, plan.precision)
        gpu = plan.path == "gpu" or (plan.path == "auto" and jax.default_backend() == "gpu")
        self.at_once = self.count if gpu else LANES

    def prepare(self) -> None:
        """Choose the steps: from robots of all of it, not of what happens to be missing."""
        self._ladder = None
        if self._plan.needs_steps:
            self._ladder = self._asked(choose_steps, self._system, self._state, self._plan)

    def run(self, rows: Sequence[int], progress: Callable[[float], None]) -> BatchResult:
        """Some of them."""
        some = lanes_of(self._system, self._state, np.asarray(rows))
        return self._asked(run_checked, *some, self._plan, self._ladder, progress=progress)

    def _asked(self, engine: Callable[..., Any], *what: Any, **how: Any) -> Any:
        try:
            return engine(*what, **how)
        except ValueError as error:
            raise self._subject.refuse(str(error)) from None
