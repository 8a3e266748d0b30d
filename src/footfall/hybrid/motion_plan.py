"""Prescribed motion: the other thing that can be run.

A robot whose motion is given has no continuous state: where it is follows from the time. What flows
is energy, through its ports into its stores; what jumps is which move of the plan it is in. So a
motion plan is a hybrid system too, and engines, ledger, files and pictures need no word for it.
"""

import abc
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol

import equinox as eqx
import numpy as np

from footfall.hybrid.doubt import Doubt
from footfall.hybrid.system import AbstractHybridSystem, Rates
from footfall.numerics.scalar import Scalar


class NoState(eqx.Module):
    """The continuous state of prescribed motion: none."""


class Figure(NamedTuple):
    """Something known of a plan without running it, one value per design."""

    values: np.ndarray
    unit: str
    doc: str


class Kernel(Protocol):
    """Runs an elementwise program over rows, faster than XLA would.

    Each row is one value of every column.
    """

    def __call__(
        self,
        program: Callable[..., tuple[Any, ...]],
        key: Hashable,
        shared: Sequence[Any],
        columns: Sequence[np.ndarray],
    ) -> list[np.ndarray]:
        """The columns of `program(*shared, *columns)`. Programs of one `key` are the same."""
        ...


class AbstractMotionPlan(AbstractHybridSystem):
    """A robot that follows a plan.

    Torques come from inverse dynamics, and every move's work is checked against its energy.
    """

    #: There is no state to step: a batch evaluates `figures` instead.
    engines: ClassVar[tuple[str, ...]] = ("event",)

    @property
    @abc.abstractmethod
    def plan_time(self) -> Scalar:
        """How long the plan takes."""

    @property
    def own_time(self) -> float:
        return float(self.plan_time)

    @abc.abstractmethod
    def powers(self, t: Scalar, m: Any) -> Any:
        """Power through each port at time t of the plan, while m is held."""

    @property
    @abc.abstractmethod
    def designs(self) -> int:
        """How many designs its numbers stand for: 1, or the length of the arrays among them."""

    @abc.abstractmethod
    def figures(self, lanes: int, kernel: Kernel | None = None) -> dict[str, Figure]:
        """What the plan costs, for `lanes` designs at once: its numbers may be arrays.

        "outcome" is among them. By XLA if there is no kernel.

        A figure and its namesake with "static_" before it are the same thing evaluated in motion
        and in poses held still.
        """

    def remarks(self, t: np.ndarray, columns: Mapping[str, np.ndarray]) -> list[str]:
        """What someone should know of a run that its figures do not say.

        From its outputs by name.
        """
        del t, columns
        return []

    def figure_doubts(self, figures: Mapping[str, float]) -> list[Doubt]:
        """The same as `doubts`, of a whole plan that was evaluated and not run.

        From the figures of one design, by name.
        """
        del figures
        return []

    def flow(self, t: Scalar, x: NoState, m: Any) -> Rates:
        return Rates(x, self.powers(t, m))


class Knob(NamedTuple):
    """A number of the robot that may be tuned, and the range it is sought in.

    By its name in a scenario.
    """

    name: str
    unit: str
    low: float
    high: float


class Costs(NamedTuple):
    """What a plan costs, as smooth functions of its knobs."""

    #: By the names of `figures`; several numbers where each part of the plan has its own.
    figures: dict[str, Any]
    #: By name, what must not become negative (reach, margins), in units of its own size: arrays.
    rooms: dict[str, Any]


class AbstractTuning(abc.ABC):
    """A plan as an optimisation problem.

    Knobs, and layouts (how many steps, say) within each of which costs are smooth.
    """

    knobs: tuple[Knob, ...]

    @abc.abstractmethod
    def layouts(self) -> Sequence[Any]:
        """Every layout the knobs' ranges allow: arrays of one shape."""

    @abc.abstractmethod
    def narrower(self, layout: Any) -> Sequence[Any]:
        """The layout in smaller ranges, for where its best gait cannot be walked.

        None if the ranges are too small to matter.
        """

    @abc.abstractmethod
    def values(self, share: Any, layout: Any) -> dict[str, Any]:
        """Knobs, by name, from one number in [0, 1] for each.

        Wherever they are, the plan can be evaluated.
        """

    @abc.abstractmethod
    def costs(self, share: Any, layout: Any) -> Costs:
        """Differentiable in `share`."""


class AbstractTunablePlan(AbstractMotionPlan):
    """A plan that can be tuned."""

    @abc.abstractmethod
    def tuning(self, ranges: Mapping[str, tuple[float, float]]) -> AbstractTuning:
        """With other ranges than the usual ones for some knobs."""
