"""Many starts of one scenario, asked for again and again: steps and programs are made once."""

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import jax
import numpy as np

from footfall.engines.lanes.batch import BatchResult
from footfall.engines.lanes.batch_inputs import prepared
from footfall.engines.lanes.batch_plan import BatchPlan
from footfall.engines.lanes.checked_batch import merged, run_checked
from footfall.engines.lanes.step_ladder import choose_steps, first_step
from footfall.hybrid.system import HybridState
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import Experiment
from footfall.scenario.vary import Columns, batched

#: Robots that are run together, a few seconds of two cores: programs are compiled for so many, or
#: for few.
TOGETHER, FEW = 8192, 512


class ManyStarts:
    """Robots of one scenario, each with its own numbers or its own state.

    What each does does not depend on which others it is run with, nor on when it is asked for: the
    steps are chosen once, from `like`.
    """

    def __init__(self, experiment: Experiment, plan: BatchPlan, like: Columns):
        self._experiment, self.plan, self._like = experiment, plan, like
        self.ran: dict[str, None] = {}  #: by what: "C++ kernel, 2 threads"
        self.notes: dict[str, None] = {}

    def prepare(self) -> None:
        """Choose the steps, from those of `like` that can start."""
        self._ladder = None
        can = self.can_start(self._like)
        if self.plan.needs_steps and np.any(can):
            some = {key: values[can] for key, values in self._like.items()}
            system, state, _ = prepared(*batched(self._experiment, some), self.plan.precision)
            self._ladder = self._asked(choose_steps, system, state, self.plan)

    def state(self, columns: Columns) -> HybridState:
        """Where robots with these numbers begin; each can start."""
        return batched(self._experiment, columns)[1]

    def span(self, seconds: float) -> float:
        """A duration of about so many seconds that the steps divide; at most the plan's own."""
        step = self.plan.step or first_step(self._experiment.system, self.plan)
        return min(step * max(1, round(seconds / step)), self.plan.duration)

    def can_start(self, columns: Columns) -> np.ndarray:
        """Which of them can stand as they should start."""
        count = len(next(iter(columns.values())))
        able = np.zeros(count, bool)

        def look(first: int, last: int) -> None:
            """Halved where one of them cannot: those that cannot mostly lie together."""
            try:
                batched(self._experiment, {key: v[first:last] for key, v in columns.items()})
                able[first:last] = True
            except ScenarioError:
                if last - first > 1:
                    middle = (first + last) // 2
                    look(first, middle)
                    look(middle, last)

        if count:
            look(0, count)
        return able

    def run(
        self,
        columns: Columns,
        progress: Callable[[float], None],
        duration: float | None = None,
    ) -> BatchResult:
        """Robots with these numbers by key; each can start."""
        return self._pieces(
            lambda rows: batched(
                self._experiment, {key: values[rows] for key, values in columns.items()}
            ),
            len(next(iter(columns.values()))),
            progress,
            duration,
        )

    def run_from(
        self,
        state: HybridState,
        progress: Callable[[float], None],
        columns: Mapping[str, np.ndarray] | None = None,
    ) -> BatchResult:
        """Robots that begin in these states (lanes last), and with other numbers if any."""
        count = np.shape(jax.tree.leaves(state)[0])[-1]

        def made(rows: np.ndarray) -> tuple[Any, HybridState]:
            system = self._experiment.system
            if columns:
                some = {key: values[rows] for key, values in columns.items()}
                system, _ = batched(self._experiment, some)
            return system, jax.tree.map(lambda leaf: leaf[..., rows], state)

        return self._pieces(made, count, progress, None)

    def _pieces(
        self,
        make: Callable[[np.ndarray], tuple[Any, HybridState]],
        count: int,
        progress: Callable[[float], None],
        duration: float | None,
    ) -> BatchResult:
        plan = self.plan
        if duration is not None and duration < plan.duration:
            settle = None if plan.settle is None or plan.settle >= duration else plan.settle
            plan = dataclasses.replace(plan, duration=duration, settle=settle)
        parts = []
        for first in range(0, count, TOGETHER):
            rows = np.arange(first, min(first + TOGETHER, count))
            share, begin = len(rows) / count, first / count
            result = self._asked(
                run_checked,
                *make(rows),
                plan,
                self._ladder,
                progress=lambda f, begin=begin, share=share: progress(begin + share * f),
                room=FEW if count <= FEW else TOGETHER,
            )
            parts.append((rows, result))
            self.ran[result.path] = None
            self.notes.update(dict.fromkeys(result.notes))
        return parts[0][1] if len(parts) == 1 else merged(parts, count)

    def _asked(self, engine: Callable[..., Any], *what: Any, **how: Any) -> Any:
        try:
            return engine(*what, **how)
        except ValueError as error:
            raise ScenarioError(f"{self._experiment.origin}: {error}") from None
