"""From a scenario to an experiment and the task that its robot declares."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from footfall.hybrid.fields import FieldInfo, nearest
from footfall.hybrid.flatten import named_leaves, output_fields
from footfall.hybrid.task import Moment, Observation, Task
from footfall.numerics.units import TURN
from footfall.pages.parameters import Parameter, maker, moving, parameters
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import Experiment, load, require_flow
from footfall.scenario.vary import find_knob
from footfall.sweep.plan_sweep import plan_of


class GivenTask(NamedTuple):
    """A task of a robot, with everything it names found."""

    experiment: Experiment
    task: Task
    name: str
    numbers: list[Parameter]  #: of the robot and its start: whatever may differ between lanes
    actions: list[int]  #: which of them the learner moves
    action_infos: list[FieldInfo]
    observation_infos: list[FieldInfo]

    def look(self, moment: Moment) -> list[Any]:
        """What the learner sees."""
        values = {name: value for name, value, _ in named_leaves(moment.outputs)}
        values |= {name: value for name, value, _ in named_leaves(moment.x)}
        return [_value(values, observation) for observation in self.task.observations]

    @property
    def method(self) -> str:
        """How its steps are made: as in a sweep of the scenario."""
        return plan_of(self.experiment).method

    def place(self, key: str) -> int:
        """Which of the numbers a key means. Raises ScenarioError."""
        path = find_knob(self.experiment, key, f'"{key}"').path
        for place, parameter in enumerate(self.numbers):
            if parameter.path == path:
                return place
        raise ScenarioError(
            f'"{key}" cannot differ between robots that run side by side: it changes their'
            " structure, or it is worked out of other numbers. Set it for all of them with"
            f' settings={{"{key}": ...}}.'
        )


def given_task(
    scenario: str | Path,
    task: str | Task | None = None,
    *,
    settings: Mapping[str, Any] | None = None,
    trust: bool = False,
    period: float | None = None,
    step: float | None = None,
    length: float | None = None,
) -> GivenTask:
    """The task of a scenario's robot.

    Arguments:
        scenario: a shipped scenario or the path of a file.
        task: the name of one that its robot declares, one of your own, or None for its usual one.
        settings: values of the scenario by key, as `ff.load` takes them.
        period, step, length: other times than the task's [s].
    """
    robot = load(scenario, trust=trust)
    require_flow(robot, "a task")
    known = type(robot.system).tasks
    if task is None:
        if not known:
            raise ScenarioError(
                f"{robot.name}: {type(robot.system).__name__} declares no task. Give one of your"
                " own: task=footfall.authoring.Task(...)."
            )
        task = next(iter(known))
    if isinstance(task, str):
        if task not in known:
            raise ScenarioError(
                f'{robot.name} has no task "{task}". Known: {", ".join(known) or "none"}.'
                f"{nearest(task, known)}"
            )
        name, chosen = task, known[task]
    else:
        name, chosen = "own", task
    times = {"period": period, "step": step, "length": length}
    task = chosen._replace(**{key: value for key, value in times.items() if value is not None})
    experiment = load(scenario, {**task.settings, **(settings or {})}, trust=trust)
    numbers = moving(parameters(experiment))
    given = GivenTask(experiment, task, name, numbers, [], [], [])
    places = [given.place(action.key) for action in task.actions]
    infos = _signals(experiment)
    seen = [_info(infos, observation.signal, robot.name) for observation in task.observations]
    _require_own_names(task, robot.name)
    moved = [numbers[place].info for place in places]
    for place in places:
        if numbers[place].path[0] == "start":
            raise ScenarioError(
                f"{robot.name}: the action {numbers[place].key} is where a run begins: to move it"
                " later moves nothing. Give it to reset(options=...)."
            )
    for action, info in zip(task.actions, moved, strict=True):
        for bound in (action.low, action.high):
            if not info.allows(bound):
                raise ScenarioError(
                    f"{robot.name}: the action {action.key} goes to {bound:g} {info.unit}, but"
                    f" {info.doc} must be {info.bounds()}."
                )
    _require_no_stores(experiment, [numbers[place] for place in places], task, robot.name)
    return given._replace(actions=places, action_infos=moved, observation_infos=seen)


def _require_own_names(task: Task, robot: str) -> None:
    """Each term of the reward is found by its name among what a step says."""
    taken = ["outcome", "final_obs", "final_info"]
    for reward in task.rewards:
        if reward.name in taken:
            raise ScenarioError(
                f'{robot}: a term of the reward is called "{reward.name}", as something else that'
                " a step says. Make it a function with a name of its own."
            )
        taken.append(reward.name)


def _require_no_stores(
    experiment: Experiment, moved: list[Parameter], task: Task, robot: str
) -> None:
    """What is stored depends on no action: to move it would be work that no port counts."""
    make, own = maker(experiment, moved), [parameter.value for parameter in moved]
    start = experiment.start
    # Off its start, where a spring may be unloaded and a rate zero.
    x = jax.tree.map(lambda leaf: 1.02 * np.asarray(leaf, float) + 0.01, start.x)
    for place, action in enumerate(task.actions):
        kept = []
        for value in (action.low, action.high):
            system, _ = make(*own[:place], value, *own[place + 1 :])
            kept.append(named_leaves(system.stores(0.0, x, start.m)))
        for (name, low, _), (_, high, _) in zip(*kept, strict=True):
            if not np.array_equal(np.asarray(low), np.asarray(high)):
                raise ScenarioError(
                    f"{robot}: the action {action.key} is part of what {name} stores: to move it"
                    " would do work that no port counts. Move what a motor gives or a set point;"
                    " what stores energy moves as a state of a part of your own"
                    " (docs/how-to/own-parts.md)."
                )


def _signals(experiment: Experiment) -> dict[str, FieldInfo]:
    found = dict(output_fields(experiment.system, experiment.start))
    return found | {name: info for name, _, info in named_leaves(experiment.start.x)}


def _split(signal: str) -> tuple[str, int | None]:
    """A signal, and which of like legs: "tip.load.3"."""
    name, _, leg = signal.rpartition(".")
    return (name, int(leg)) if leg.isdecimal() else (signal, None)


def _info(infos: Mapping[str, FieldInfo], signal: str, robot: str) -> FieldInfo:
    name, _ = _split(signal)
    if name not in infos:
        raise ScenarioError(
            f'{robot} has no signal "{signal}" to observe.{nearest(signal, infos)}\n'
            f"  Known: {', '.join(infos)}."
        )
    return infos[name]


def _value(values: Mapping[str, Any], observation: Observation) -> Any:
    name, leg = _split(observation.signal)
    value = values[name] if leg is None else values[name][leg]
    return value - TURN * jnp.floor(value / TURN + 0.5) if observation.turns else value
