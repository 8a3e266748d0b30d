"""The same robots as a pure pair (reset, step), for learners that are programs of JAX."""

from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from footfall.engines.lanes.episodes import Episodes
from footfall.hybrid.task import Task
from footfall.learning.given_task import GivenTask, given_task
from footfall.learning.spread import ranges
from footfall.pages.parameters import maker


class Robots(NamedTuple):
    """Robots between two periods, as arrays over lanes."""

    values: tuple[Array, ...]  #: their numbers
    leaves: tuple[Array, ...]  #: their lanes
    age: Array  #: in periods


class PureTask:
    """`reset(key, lanes)` and `step(robots, actions)`: pure, compiled, alone or inside a program.

    >>> wheel = pure_task("rimless-wheel")
    >>> robots, seen = wheel.reset(jax.random.key(0), 3)
    >>> seen.shape
    (3, 6)

    They do not begin anew by themselves: `again` does it for the lanes that are done.
    """

    def __init__(self, given: GivenTask, randomise: Any = None):
        self.given, self._spread = given, ranges(given, randomise)
        task = given.task
        self.horizon = max(1, round(task.length / task.period))
        self.episodes = Episodes(
            maker(given.experiment, given.numbers),
            [parameter.value for parameter in given.numbers],
            period=task.period,
            step=task.step,
            look=given.look,
            judge=lambda passage: [reward.term(passage) for reward in task.rewards],
            method=given.method,
        )
        self._reset, self._step = jax.jit(self._begun, static_argnums=1), jax.jit(self._moved)

    def reset(self, key: Array, lanes: int) -> tuple[Robots, Array]:
        """So many robots at their start, and what they see, (lanes, observations)."""
        return self._reset(key, lanes)

    def step(self, robots: Robots, actions: Array) -> tuple[Robots, Array, Array, Array, Array]:
        """After a period: robots, what they see, rewards, and who has terminated or is cut off.

        `actions` has the shape (lanes, actions).
        """
        return self._step(robots, actions)

    def _begun(self, key: Array, lanes: int) -> tuple[Robots, Array]:
        values = [jnp.full(lanes, value) for value in self.episodes.values]
        for one, own in zip(self._spread, jax.random.split(key, len(self._spread) or 1)):  # noqa: B905
            values[one.place] = jax.random.uniform(own, (lanes,), minval=one.low, maxval=one.high)
        out = self.episodes.start(*values)
        count = self.episodes.leaf_count
        robots = Robots(tuple(values), out[:count], jnp.zeros(lanes, jnp.int32))
        return robots, self._seen(out[count:])

    def _moved(self, robots: Robots, actions: Array) -> tuple[Robots, Array, Array, Array, Array]:
        task, values = self.given.task, list(robots.values)
        for n, (place, action) in enumerate(zip(self.given.actions, task.actions, strict=True)):
            values[place] = jnp.clip(actions[:, n].astype(float), action.low, action.high)
        steps = robots.age * jnp.int32(self.episodes.count)
        out = self.episodes.step(*values, *robots.leaves, steps)
        count, watched = self.episodes.leaf_count, len(task.observations)
        leaves, judged = out[:count], out[count + watched :]
        age = robots.age + 1
        pairs = zip(task.rewards, judged, strict=True)
        reward = sum(one.weight * term for one, term in pairs)
        ended = leaves[self.episodes.outcome_leaf] != 0
        seen = self._seen(out[count : count + watched])
        late = (age >= self.horizon) & ~ended
        return Robots(tuple(values), leaves, age), seen, jnp.asarray(reward), ended, late

    def again(self, robots: Robots, seen: Array, done: Array, key: Array) -> tuple[Robots, Array]:
        """The same, where those that are done have begun anew."""
        fresh, first = self.reset(key, done.shape[0])
        chosen = jax.tree.map(lambda new, old: jnp.where(done, new, old), fresh, robots)
        return chosen, jnp.where(done[:, None], first, seen)

    def _seen(self, numbers: Any) -> Array:
        watched = zip(self.given.task.observations, numbers, strict=True)
        clipped = [jnp.clip(value, one.low, one.high) for one, value in watched]
        return jnp.stack(clipped, axis=1).astype(jnp.float32)


def pure_task(
    scenario: str | Path, task: str | Task | None = None, *, randomise: Any = None, **how: Any
) -> PureTask:
    """The pure pair of a scenario's task; `how` as `given_task` takes it."""
    return PureTask(given_task(scenario, task, **how), randomise)
