"""One robot as a Gymnasium environment."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium.spaces import Box

from footfall.hybrid.task import Task
from footfall.learning.given_task import GivenTask, given_task
from footfall.learning.spread import ranges
from footfall.learning.task_batch import TaskBatch


class RobotEnv(gymnasium.Env):
    """A robot that a controller moves by `reset` and `step`.

    >>> env = RobotEnv("rimless-wheel")
    >>> seen, _ = env.reset(seed=1, options={"leg.stiffness": 2e4, "start.spoke_rate": -3.0})
    >>> seen, reward, terminated, truncated, info = env.step([1.5])  # N m
    >>> round(info["headway"], 4), info["outcome"]
    (0.0137, 'running')

    Arguments:
        scenario, task, settings, trust, period, step, length: see `given_task`.
        randomise: how its numbers differ from start to start; see `spread.py`.
        unit_actions: actions go from -1 to 1 instead of between their bounds.
        render_mode: "rgb_array" for pictures; "human" shows each step in a browser, no faster than
            the robot would move.
        path: "cpp", "xla" or "auto": what compiles and runs it.

    `reset(options=...)` takes values by key, of the robot and of its start. Units and meanings:
    `env.unwrapped.about()`.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "render_modes": ["rgb_array", "human"],
        "render_fps": 50,
    }

    def __init__(
        self,
        scenario: str | Path,
        task: str | Task | None = None,
        *,
        settings: Mapping[str, Any] | None = None,
        trust: bool = False,
        period: float | None = None,
        step: float | None = None,
        length: float | None = None,
        randomise: bool | Mapping[str, Any] | None = None,
        unit_actions: bool = False,
        render_mode: str | None = None,
        path: str = "auto",
    ):
        times = {"period": period, "step": step, "length": length}
        self.given = given_task(scenario, task, settings=settings, trust=trust, **times)
        self.robots = TaskBatch(
            self.given, 1, ranges(self.given, randomise), unit_actions=unit_actions, path=path
        )
        self.observation_space, self.action_space = spaces(self.robots)
        self.metadata = {**self.metadata, "render_fps": round(1.0 / self.given.task.period)}
        self.render_mode = render_mode
        self._camera: Any = None
        self._screen: Any = None

    def about(self) -> str:
        """The task in words: actions, observations and rewards, with units and bounds."""
        return about(self.given)

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        self.robots.begin(self.np_random, given=options, check=True)
        self._show()
        return self.robots.seen[0].copy(), {"outcome": self.robots.outcome_name(0)}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        moved = self.robots.move(np.asarray(action)[None])
        self._show()
        info = {name: float(term[0]) for name, term in moved.terms.items()}
        info["outcome"] = self.robots.outcome_name(0)
        return (
            moved.seen[0].copy(),
            float(moved.reward[0]),
            bool(moved.terminated[0]),
            bool(moved.truncated[0]),
            info,
        )

    def render(self) -> Any:
        """A picture of the robot as it is now, (height, width, 3); "human" has shown it already."""
        if self.render_mode is None:
            gymnasium.logger.warn('To see it, make it with render_mode="rgb_array" or "human".')
        return self._picture() if self.render_mode == "rgb_array" else None

    def close(self) -> None:
        if self._screen is not None:
            self._screen.close()
            self._screen = None

    def _show(self) -> None:
        if self.render_mode != "human":
            return
        if self._screen is None:
            from footfall.learning.screen import Screen

            self._screen = Screen(1.0 / self.given.task.period)
        self._screen.show(self._picture())

    def _picture(self) -> np.ndarray:
        if self._camera is None:
            from footfall.pictures.camera import Camera

            self._camera = Camera()
        return self._camera.picture(*self.robots.pose(0))


def spaces(robots: TaskBatch) -> tuple[Box, Box]:
    """What is seen, what is moved."""
    seen = Box(robots.seen_low, robots.seen_high, dtype=np.float32)
    return seen, Box(*robots.action_bounds, dtype=np.float32)


def about(given: GivenTask) -> str:
    """A task in words."""
    task = given.task
    lines = [f"{given.experiment.name}, {given.name}: {task.about}"]
    lines += [f"  every {task.period:g} s, for {task.length:g} s at most", "  actions"]
    for action, info in zip(task.actions, given.action_infos, strict=True):
        lines.append(_line(action.key, action, info))
    lines.append("  observations")
    for observation, info in zip(task.observations, given.observation_infos, strict=True):
        lines.append(_line(observation.signal, observation, info))
    lines.append("  rewards")
    for reward in task.rewards:
        said = (reward.term.__doc__ or "").strip().partition("\n")[0]
        lines.append(f"    {reward.weight:g} x {reward.name}: {said}")
    return "\n".join(lines)


def _line(name: str, bounded: Any, info: Any) -> str:
    unit = f" {info.unit}" if info.unit else ""
    return f"    {name}: {bounded.low:g} to {bounded.high:g}{unit}, {info.doc}"
