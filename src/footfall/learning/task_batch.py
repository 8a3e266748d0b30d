"""The robots of a task, side by side: begun, moved by actions, begun anew one by one."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import gymnasium
import numpy as np

from footfall.engines.lanes.episodes import Episodes
from footfall.hybrid.flatten import named_leaves
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.task import Passage
from footfall.learning.given_task import GivenTask
from footfall.learning.spread import Range, drawn
from footfall.pages.parameters import maker
from footfall.scenario.errors import ScenarioError
from footfall.scenario.vary import batched

#: Fewer robots than this are moved by one thread.
FEW = 64


class Moved(NamedTuple):
    """What a period did, for each robot."""

    seen: np.ndarray  #: (robots, observations), float32
    reward: np.ndarray
    terminated: np.ndarray  #: its run ended by an outcome
    truncated: np.ndarray  #: its time was over
    terms: dict[str, np.ndarray]  #: of the reward, before their weights


class TaskBatch:
    """So many robots of a task.

    `seen` is what they see now, `outcome` how each has ended (0 while it runs), `age` for how many
    periods it has run.
    """

    def __init__(
        self,
        given: GivenTask,
        lanes: int,
        spread: tuple[Range, ...] = (),
        *,
        unit_actions: bool = False,
        path: str = "auto",
    ):
        self.given, self.lanes, self.spread, self._unit = given, lanes, spread, unit_actions
        task = given.task
        self.horizon = max(1, round(task.length / task.period))
        self.low, self.high = _bounds(task.actions)
        # As declared: in single precision a bound may lie beyond itself.
        self._least, self._most = np.array(_ends(task.actions)).T
        self.seen_low, self.seen_high = _bounds(task.observations)
        self._make = maker(given.experiment, given.numbers)
        self._weights = [reward.weight for reward in task.rewards]
        self.episodes = Episodes(
            self._make,
            [parameter.value for parameter in given.numbers],
            period=task.period,
            step=task.step,
            look=given.look,
            judge=self._judge,
            method=given.method,
        )
        threads = 1 if lanes < FEW else None
        self._start, self._step = self.episodes.compiled(threads=threads, path=path)
        self.values = np.tile(np.array(self.episodes.values)[:, None], lanes)
        self.age = np.zeros(lanes, np.int32)
        self.seen = np.zeros((lanes, len(task.observations)), np.float32)
        self._leaves: list[np.ndarray] = []

    def _judge(self, passage: Passage) -> list[Any]:
        return [reward.term(passage) for reward in self.given.task.rewards]

    def begin(
        self,
        random: np.random.Generator,
        which: np.ndarray | None = None,
        given: Mapping[str, Any] | None = None,
        *,
        check: bool = False,
    ) -> None:
        """Robots begin anew, all or `which` (a mask), with the numbers `given` by key.

        To `check` raises ScenarioError for numbers out of bounds and for a start that cannot be.
        """
        rows = np.flatnonzero(np.ones(self.lanes, bool) if which is None else which)
        values = np.tile(np.array(self.episodes.values)[:, None], len(rows))
        changed: dict[str, np.ndarray] = {}
        draws = drawn(self.spread, len(rows), random)
        for one, numbers in zip(self.spread, draws, strict=True):
            values[one.place] = numbers
            changed[self.given.numbers[one.place].key] = values[one.place]
        for key, said in (given or {}).items():
            place = self.given.place(str(key))
            values[place] = self._column(str(key), said)[rows]
            changed[self.given.numbers[place].key] = values[place]
        if check and changed:
            batched(self.given.experiment, changed, rows)
        self.values[:, rows] = values
        out = self._start(*values)
        count = self.episodes.leaf_count
        if len(rows) == self.lanes:
            self._leaves = [np.ascontiguousarray(leaf) for leaf in out[:count]]
        else:
            for leaf, new in zip(self._leaves, out[:count], strict=True):
                leaf[..., rows] = new
        self.age[rows] = 0
        self.seen[rows] = self._looked(out[count:])

    def move(self, actions: np.ndarray) -> Moved:
        """All of them for a period, by actions of shape (robots, actions)."""
        self._require_begun()
        actions = self._actions(actions)
        if self._unit:
            actions = self._least + 0.5 * (actions + 1.0) * (self._most - self._least)
        self.values[self.given.actions] = np.clip(actions, self._least, self._most).T
        steps = self.age * np.int32(self.episodes.count)
        out = self._step(*self.values, *self._leaves, steps)
        count, watched = self.episodes.leaf_count, len(self.given.task.observations)
        self._leaves, judged = list(out[:count]), out[count + watched :]
        self.age += 1
        self.seen = self._looked(out[count : count + watched])
        reward = np.zeros(self.lanes)
        for weight, term in zip(self._weights, judged, strict=True):
            reward += weight * term
        ended = self.outcome != 0
        names = (one.name for one in self.given.task.rewards)
        terms = dict(zip(names, judged, strict=True))
        return Moved(self.seen, reward, ended, (self.age >= self.horizon) & ~ended, terms)

    @property
    def action_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Of what `move` takes: in the units of the actions, or from -1 to 1."""
        one = np.ones_like(self.low)
        return (-one, one) if self._unit else (self.low, self.high)

    @property
    def outcome(self) -> np.ndarray:
        return self._leaves[self.episodes.outcome_leaf]

    def outcome_name(self, lane: int) -> str:
        return Outcome(int(self.outcome[lane])).name

    @property
    def outcome_names(self) -> np.ndarray:
        """Of all robots, as an array of words."""
        names = np.full(self.lanes, Outcome.running.name, object)
        for code in np.unique(self.outcome[self.outcome != 0]):
            names[self.outcome == code] = Outcome(int(code)).name
        return names

    def pose(self, lane: int) -> tuple[Any, dict[str, float]]:
        """The robot of a lane as it is now, and its outputs by name."""
        self._require_begun()
        system, _ = self._make(*self.values[:, lane])
        x, m = self.episodes.state(self._leaves, lane)
        t = float(self.age[lane]) * self.given.task.period
        outputs: dict[str, float] = {}
        for name, value, _ in named_leaves(system.outputs(t, x, m)):
            each = np.asarray(value, float)
            legs = {f"{name}.{leg}": float(v) for leg, v in enumerate(each)} if each.ndim else {}
            outputs |= legs or {name: float(each)}
        return system, outputs

    def _require_begun(self) -> None:
        if not self._leaves:
            raise gymnasium.error.ResetNeeded("there is no robot yet: begin with reset().")

    def _actions(self, said: Any) -> np.ndarray:
        """A row for each robot; one number for each is enough where there is one action."""
        count = len(self.given.actions)
        try:
            actions = np.asarray(said, float)
        except (TypeError, ValueError):
            raise ValueError(f"actions are no numbers: {said!r}.") from None
        if count == 1 and actions.shape == (self.lanes,):
            actions = actions[:, None]
        if actions.shape != (self.lanes, count):
            names = ", ".join(action.key for action in self.given.task.actions)
            raise ValueError(
                f"actions have the shape {actions.shape}, not {(self.lanes, count)}: a row for each"
                f" robot, with {names}."
            )
        if not np.all(np.isfinite(actions)):
            lane, which = np.argwhere(~np.isfinite(actions))[0]
            raise ValueError(
                f"an action is not a number: {actions[lane, which]} for"
                f" {self.given.task.actions[which].key} of robot {lane}."
            )
        return actions

    def _column(self, key: str, said: Any) -> np.ndarray:
        try:
            numbers = np.array(said, float)
        except (TypeError, ValueError):
            info = self.given.numbers[self.given.place(key)].info
            raise ScenarioError(
                f'"{key}" = {said!r} is no number: options are numbers in SI units'
                f" ({info.unit or 'without unit'})."
            ) from None
        if numbers.shape not in ((), (self.lanes,)):
            raise ScenarioError(
                f'"{key}" takes one number, or one for each of the {self.lanes} robots, not an'
                f" array of shape {numbers.shape}."
            )
        return np.broadcast_to(numbers, self.lanes)

    def _looked(self, seen: list[np.ndarray]) -> np.ndarray:
        numbers = np.clip(np.stack(seen, axis=1), self.seen_low, self.seen_high)
        return numbers.astype(np.float32)


def _bounds(said: Any) -> tuple[np.ndarray, np.ndarray]:
    low, high = (np.array(ends, np.float32) for ends in zip(*_ends(said), strict=True))
    return low, high


def _ends(said: Any) -> list[tuple[float, float]]:
    return [(one.low, one.high) for one in said]
