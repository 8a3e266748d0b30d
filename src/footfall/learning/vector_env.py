"""Thousands of robots as one vector environment of Gymnasium, moved by one kernel."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from footfall.hybrid.task import Task
from footfall.learning.given_task import given_task
from footfall.learning.robot_env import about, spaces
from footfall.learning.spread import ranges
from footfall.learning.task_batch import Moved, TaskBatch

#: Robots of which `render` makes a picture: the first so many.
RENDERED = 16


class RobotVectorEnv(VectorEnv):
    """Many robots of one task.

    >>> envs = RobotVectorEnv(4, "rimless-wheel", randomise={"leg.stiffness": 0.2})
    >>> seen, _ = envs.reset(seed=1)
    >>> seen, reward, terminated, truncated, infos = envs.step(np.full((4, 1), 1.5))
    >>> seen.shape, envs.robots.episodes.path
    ((4, 6), 'C++ kernel')

    Arguments are those of `RobotEnv`, and:
        num_envs: how many.
        autoreset_mode: what follows the end of an episode. NEXT_STEP: the next `step` begins anew
            and moves nothing. SAME_STEP: the same `step` does, and `infos["final_obs"]` has what
            was seen last, `infos["final_info"]` what was said. DISABLED: nothing, until
            `reset(options={"reset_mask": ...})`.

    `reset(options=...)` takes values by key, one for all or one for each robot; robots that begin
    anew by themselves take them too, until another `reset` says otherwise.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["rgb_array"], "render_fps": 50}  # type: ignore[misc]

    def __init__(
        self,
        num_envs: int,
        scenario: str | Path,
        task: str | Task | None = None,
        *,
        settings: Mapping[str, Any] | None = None,
        trust: bool = False,
        period: float | None = None,
        step: float | None = None,
        length: float | None = None,
        randomise: bool | Mapping[str, Any] | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        unit_actions: bool = False,
        render_mode: str | None = None,
        path: str = "auto",
    ):
        times = {"period": period, "step": step, "length": length}
        self.given = given_task(scenario, task, settings=settings, trust=trust, **times)
        self.robots = TaskBatch(
            self.given,
            num_envs,
            ranges(self.given, randomise),
            unit_actions=unit_actions,
            path=path,
        )
        self.num_envs, self.render_mode = num_envs, render_mode
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.single_observation_space, self.single_action_space = spaces(self.robots)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.metadata = {
            **self.metadata,
            "render_fps": round(1.0 / self.given.task.period),
            "autoreset_mode": self.autoreset_mode,
        }
        self._over = np.zeros(num_envs, bool)  # whose episode is
        self._options: dict[str, Any] = {}
        self._camera: Any = None

    def about(self) -> str:
        """The task in words: actions, observations and rewards, with units and bounds."""
        return about(self.given)

    def reset(  # type: ignore[override]
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        super().reset(seed=seed)
        said = dict(options or {})
        which = said.pop("reset_mask", None)
        if which is not None:
            which = np.asarray(which)
            if which.shape != (self.num_envs,) or which.dtype != bool or not which.any():
                raise ValueError(
                    f"reset_mask is {which.dtype} of shape {which.shape}: it takes a bool for each"
                    f" of the {self.num_envs} robots, True for one at least."
                )
        options = said if which is None or said else self._options
        self.robots.begin(self.np_random, which, options, check=True)
        self._options = {key: np.copy(value) for key, value in options.items()}
        begun = np.ones(self.num_envs, bool) if which is None else which.copy()
        self._over[begun] = False
        return self.robots.seen.copy(), _noted({}, begun, self.robots.outcome_names)

    def step(self, actions: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict]:
        mode, waited = self.autoreset_mode, self._over
        if mode is AutoresetMode.DISABLED and waited.any():
            raise gymnasium.error.ResetNeeded(
                f"the episodes of {waited.sum()} robots are over: begin them anew with"
                ' envs.reset(options={"reset_mask": mask}).'
            )
        moved = self.robots.move(actions)
        final: dict[str, Any] = {}
        begun = np.zeros(self.num_envs, bool)
        if mode is AutoresetMode.NEXT_STEP and waited.any():
            begun = waited
            self.robots.begin(self.np_random, begun, self._options)
            moved = _begun(moved, begun, self.robots.seen)
        over = moved.terminated | moved.truncated
        if mode is AutoresetMode.SAME_STEP and over.any():
            final = _final(moved, over, self.robots.outcome_names)
            begun = over
            self.robots.begin(self.np_random, begun, self._options)
            over = np.zeros_like(over)
        self._over = over
        infos = final | _noted(moved.terms, ~begun, self.robots.outcome_names, begun)
        return self.robots.seen.copy(), moved.reward, moved.terminated, moved.truncated, infos

    def render(self) -> Any:
        """Pictures of the first sixteen robots."""
        if self.render_mode is None:
            return None
        if self._camera is None:
            from footfall.pictures.camera import Camera

            self._camera = Camera()
        shown = range(min(RENDERED, self.num_envs))
        return tuple(self._camera.picture(*self.robots.pose(lane)) for lane in shown)


def _begun(moved: Moved, which: np.ndarray, seen: np.ndarray) -> Moved:
    """Of robots that have just begun anew nothing is said."""
    return Moved(
        seen,
        np.where(which, 0.0, moved.reward),
        moved.terminated & ~which,
        moved.truncated & ~which,
        {name: np.where(which, 0.0, term) for name, term in moved.terms.items()},
    )


def _noted(
    terms: Mapping[str, np.ndarray],
    which: np.ndarray,
    outcomes: np.ndarray,
    begun: np.ndarray | None = None,
) -> dict[str, Any]:
    """What is said of a step, as Gymnasium's own vector environments put it together.

    Terms of the reward for the robots `which` moved, how they ended for those and for the ones that
    have just `begun`; each with its mask, and nothing where it says no.
    """
    noted: dict[str, Any] = {}
    for name, term in terms.items():
        noted[name], noted[f"_{name}"] = np.where(which, term, 0.0), which.copy()
    told = which if begun is None else which | begun
    noted["outcome"], noted["_outcome"] = np.where(told, outcomes, None), told.copy()
    return noted


def _final(moved: Moved, over: np.ndarray, outcomes: np.ndarray) -> dict[str, Any]:
    """What was seen and said last of the robots whose episode is over."""
    seen = np.full(len(over), None, object)
    for lane in np.flatnonzero(over):
        seen[lane] = moved.seen[lane].copy()
    return {
        "final_obs": seen,
        "_final_obs": over.copy(),
        "final_info": _noted(moved.terms, over, outcomes),
        "_final_info": over.copy(),
    }
