"""The gait of a scenario: found from its start, with derivatives by its keys."""

import dataclasses
import operator
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from footfall.engines.analysis.cycle import Cycle, find_cycle
from footfall.engines.analysis.cycle_slopes import LARGEST, cycle_slopes
from footfall.engines.analysis.return_map import NoCycle
from footfall.engines.plan import EventEngine, Plan
from footfall.hybrid.system import AbstractHybridSystem, HybridState
from footfall.record.trajectory import Trajectory
from footfall.scenario.document import at
from footfall.scenario.errors import ScenarioError
from footfall.scenario.load import Experiment, require_flow
from footfall.scenario.vary import find_knob, placed

#: Steps that a robot takes from its start before its gait is sought: it comes near a stable one.
WARM_UP = 12


def usual_event(system: AbstractHybridSystem, state: HybridState) -> str:
    """The event a step ends with: the one that counts a footfall.

    Raises ScenarioError where several do, or none.
    """
    travel = system.travel()
    counters = [] if travel is None else [operator.attrgetter(n) for n in travel.step_counters]
    guards = system.guards(0.0, *state)
    jumps = [k for k, e in enumerate(system.events) if e.outcome is None and e.period is None]
    counting = []
    for k in jumps:
        leg = (jnp.int32(0),) if jnp.ndim(guards[k]) else ()
        after = system.jump(0.0, *state, k, *leg).m
        if any(np.any(np.asarray(c(after)) != np.asarray(c(state.m))) for c in counters):
            counting.append(k)
    names = [system.events[k].name for k in counting or jumps]
    if len(names) == 1 or counting:
        return names[0]
    raise ScenarioError(
        "which event does a step end with? Name one with --event (event=...):"
        f" {', '.join(names) or 'this robot has none, and no gait'}."
    )


def fine_plan(experiment: Experiment) -> Plan:
    """Its plan, tight enough for derivatives; its duration is the longest a step may take."""
    own = experiment.event_plan
    engine = dataclasses.replace(own.engine, rtol=1e-10, atol=1e-12)
    return Plan(duration=own.duration, engine=engine) if engine else Plan(engine=EventEngine())


def gait_of(
    experiment: Experiment,
    event: str | None = None,
    *,
    count: int = 1,
    leg: int = 0,
    start: HybridState | None = None,
    warm_up: int = WARM_UP,
    plan: Plan | None = None,
    free_clock: bool = False,
) -> Cycle:
    """The gait a scenario comes to, or one near its start.

    Some steps are taken first; where the robot does not take that many, its start is the guess.
    Raises NoCycle.
    """
    require_flow(experiment, "a gait")
    if not jax.tree.leaves(experiment.start.x):
        raise ScenarioError(
            f"{experiment.origin or experiment.name}: it moves as it is planned: it has no state"
            " that a disturbance could change, and every stride of it is like the last. `footfall"
            " run` says what it does, `footfall optimise` finds its best gaits."
        )
    system, guess = experiment.system, experiment.start if start is None else start
    event = event or usual_event(system, guess)
    plan = plan or fine_plan(experiment)
    if free_clock:
        return find_cycle(system, guess, event, plan, leg=leg, free_clock=True)
    try:
        return find_cycle(system, guess, event, plan, count=count, leg=leg, warm_up=warm_up)
    except NoCycle as none:
        if not warm_up:
            raise
        try:
            return find_cycle(system, guess, event, plan, count=count, leg=leg)
        except NoCycle:
            raise none from None


def nearest_to_gait(
    experiment: Experiment, run: Trajectory, event: str | None = None, count: int = 1, leg: int = 0
) -> HybridState:
    """The state of a run of the same robot just after the event at which it came nearest to
    repeating itself.

    A gait repeats from event to event, but for what goes on by the same amount each time: its
    second differences vanish. Where a run has too few such events, the last of them; without any,
    the state it ended with.
    """
    event = event or usual_event(experiment.system, experiment.start)
    rows = [e.row_after for e in run.events_named(event) if e.leg in (None, leg)]
    # Engines that keep samples only have no row just after an event.
    if not rows or run.provenance.get("engine") != "event":
        return state_in(experiment, run, -1)
    numbers = np.stack([np.asarray(run[name], float)[rows] for name in run.of_role("state")])
    bends = np.abs(
        numbers[:, 2 * count :] - 2 * numbers[:, count:-count] + numbers[:, : -2 * count]
    )
    if not bends.size:
        return state_in(experiment, run, rows[-1])
    spread = np.ptp(numbers, axis=1, keepdims=True)
    far = np.max(bends / np.where(spread > 0, spread, 1.0), axis=0)
    # The last of several that are as near.
    return state_in(experiment, run, rows[count + len(far) - 1 - int(np.argmin(far[::-1]))])


def state_in(experiment: Experiment, run: Trajectory, row: int) -> HybridState:
    """The state in a row of a run of the same robot, as a start."""
    leaves, tree = jax.tree_util.tree_flatten_with_path(experiment.start)
    found = []
    for path, value in leaves:
        name = jax.tree_util.keystr(path[1:], simple=True, separator=".")
        names = [name] if np.ndim(value) == 0 else [f"{name}.{i}" for i in range(np.size(value))]
        missing = [n for n in names if n not in run.columns]
        if missing:
            raise ScenarioError(f"--from: that run has no {missing[0]}; it is of another robot.")
        there = np.array([run[n][row] for n in names]).reshape(np.shape(value))
        found.append(there.astype(np.asarray(value).dtype))
    return jax.tree.unflatten(tree, found)


class Family:
    """The robot of a scenario at any values of some of its keys, and how it moves with them."""

    def __init__(self, experiment: Experiment, keys: Sequence[str]):
        """Raises ScenarioError for a key that cannot move a little."""
        self.keys, self.start = tuple(keys), {key: number_at(experiment, key) for key in keys}
        self.knobs = {key: find_knob(experiment, key, f'"{key}"') for key in keys}

        def put(values: Any) -> Any:
            system, _ = placed(experiment, dict(zip(keys, values, strict=True)))
            return jax.tree.map(lambda v: jnp.asarray(v, float), system)

        def with_slopes(values: Any) -> Any:
            ways = jax.vmap(lambda way: jax.jvp(put, (values,), (way,))[1])(jnp.eye(len(keys)))
            return put(values), ways

        self._slopes = jax.jit(with_slopes)
        _, first = self._slopes(jnp.asarray(list(self.start.values()), float))
        # Always the same numbers, so that nothing is compiled again.
        self._moves = [bool(np.any(np.asarray(leaf))) for leaf in jax.tree.leaves(first)]

    def at(self, *values: float) -> tuple[Any, Any]:
        """The system, and directions of its numbers by each key; None for those that stay.

        Raises ValueError for values out of range.
        """
        for (key, knob), value in zip(self.knobs.items(), values, strict=True):
            if not knob.info.allows(value):
                raise ValueError(f"{key} = {value:.6g} is out of range: {knob.info.bounds()}")
        system, ways = self._slopes(jnp.asarray(values, float))
        leaves, tree = jax.tree.flatten(ways)
        along = [
            np.asarray(leaf) if on else None for leaf, on in zip(leaves, self._moves, strict=True)
        ]
        return jax.tree.map(np.asarray, system), jax.tree.unflatten(tree, along)

    def directions(self, *values: float) -> tuple[Any, Any]:
        """The same with zeros for numbers that stay."""
        system, ways = self._slopes(jnp.asarray(values, float))
        return jax.tree.map(np.asarray, (system, ways))


def number_at(experiment: Experiment, key: str) -> float:
    """The value of a key that can move a little."""
    knob = find_knob(experiment, key, f'"{key}"')
    value = at(experiment.document, knob.path) if knob.number else None
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise ScenarioError(
            f'"{key}" is {value!r}: give it a number first, to say where to begin with it.'
        )
    if knob.path[0] == "start":
        raise ScenarioError(
            f'"{key}" is where a run starts: a gait does not depend on it. Take a key of the robot.'
        )
    return float(value)


def gait_gradient(
    experiment: Experiment, cycle: Cycle, keys: Sequence[str]
) -> Mapping[str, np.ndarray]:
    """Derivatives of what a gait does by keys of its scenario, per SI unit.

    By name, an array over the keys; that of "largest_multiplier" by differences of exact
    derivatives.
    """
    family = Family(experiment, keys)
    values = np.array(list(family.start.values()))
    _, along = family.directions(*values)
    return cycle_slopes(cycle, along, lengths=lengths_at(values))


def lengths_at(values: np.ndarray) -> np.ndarray:
    """Of differences: 1e-4 of a value, so that their square is 1e-8 of it."""
    return 1e-4 * np.where(values != 0.0, np.abs(values), 1.0)


def figures(cycle: Cycle) -> dict[str, float]:
    """What a gait does, with its largest multiplier."""
    largest = float(np.abs(cycle.multipliers[0])) if len(cycle.multipliers) else 0.0
    return {**cycle.figures, LARGEST: largest}
