"""Robots of rigid bodies.

An engine of rigid bodies (MuJoCo) writes and steps their equations of motion.

Such a robot says how it is built, what its computer does in a step, and what can be seen in what
was logged. It has no `flow`, and nothing of it is traced: the engine steps in C, the computer works
in NumPy on arrays that were allocated once. The result is the same Trajectory.
"""

import abc
import importlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import equinox as eqx
import numpy as np

from footfall.hybrid.bound import Bound
from footfall.hybrid.doubt import Doubt
from footfall.hybrid.fields import Parametric, signal
from footfall.hybrid.outcome import Outcome
from footfall.hybrid.suggestion import Suggestion
from footfall.hybrid.system import Event, HybridState, Travel
from footfall.numerics.scalar import Scalar
from footfall.scene.labels import Label
from footfall.scene.sketch import Chart, Drawing, Shape


class MissingEngine(ModuleNotFoundError):
    """The engine is an extra, and is not installed."""


def require_mujoco() -> Any:
    """The module `mujoco`, imported when a robot needs it: importing footfall must not."""
    try:
        return importlib.import_module("mujoco")
    except ModuleNotFoundError:
        raise MissingEngine(
            'this robot is stepped by MuJoCo. Install it with: pip install "footfall[mujoco]"',
            name="mujoco",
        ) from None


class BodiesState(eqx.Module):
    """Continuous state, as MuJoCo orders it.

    A free body has place and quaternion in qpos, velocity and spin in qvel.
    """

    qpos: Scalar = signal(doc="generalised positions")
    qvel: Scalar = signal(doc="generalised velocities")


class Log(NamedTuple):
    """What the engine wrote down, a row to a sample."""

    t: np.ndarray
    qpos: np.ndarray  #: (rows, nq)
    qvel: np.ndarray  #: (rows, nv)
    effort: np.ndarray  #: (rows, actuators), torque or force of each
    contact: np.ndarray  #: (rows, geoms of `touching`, 3), force of the ground on each, house frame
    watched: Mapping[str, np.ndarray]  #: (rows, ...) of what the driver lets be seen


class AbstractDriver(abc.ABC):
    """The robot's computer during one run.

    Made for the run and thrown away after it, so it may keep what it likes.

    `damping` is an array over the degrees of freedom: the part of the actuators' force that is
    -damping * velocity, which the integrator takes at the end of the step; the ledger needs it.
    Where it changes, it is replaced by another array, not written into.
    """

    damping: np.ndarray

    @abc.abstractmethod
    def watch(self) -> Mapping[str, Any]:
        """What to log of it now, numbers or arrays by name, always of the same shapes.

        Called at each sample, after `act`.
        """

    @abc.abstractmethod
    def act(self, i: int) -> None:
        """Write the controls for step i. Called once for each step, in order, before it is made."""


class AbstractRigidBodies(Parametric):
    """A robot of rigid bodies.

    `Start` is the class of its [start] table, whose state holds a BodiesState.
    """

    Start: ClassVar[type]
    engines: ClassVar[tuple[str, ...]] = ("mujoco",)  #: that can run it, the usual one first
    #: Of a state: MuJoCo takes positions and speeds beyond this for a run that went wrong.
    largest: ClassVar[float] = 1e10
    own_time: ClassVar[float | None] = None  #: how long its motion takes, where that is given [s]
    counted: ClassVar[tuple[str, ...]] = ()  #: counters whose growth is an event of their name

    def begin(self, start: Any) -> HybridState:
        """The complete state that a [start] table means for this robot."""
        return start.state(self)

    @property
    @abc.abstractmethod
    def usual_step(self) -> float:
        """Step of the engine where a plan gives none [s]."""

    @abc.abstractmethod
    def spec(self) -> Any:
        """The robot and its ground as an `mujoco.MjSpec`; the engine sets the step."""

    def write_mjcf(self, path: str | Path) -> None:
        """The robot as a file that any program that reads MJCF can load."""
        spec = self.spec()
        spec.compile()  # what has not been compiled cannot be written
        Path(path).write_text(spec.to_xml())

    @property
    @abc.abstractmethod
    def touching(self) -> tuple[str, ...]:
        """Geoms whose contact forces are logged."""

    @abc.abstractmethod
    def driver(self, model: Any, data: Any, steps: int) -> AbstractDriver:
        """The computer for a run of so many steps of `model.opt.timestep`.

        References are computed here, all at once.
        """

    @property
    @abc.abstractmethod
    def events(self) -> tuple[Event, ...]:
        """What ends a run: each has an outcome."""

    @abc.abstractmethod
    def rooms(self, log: Log) -> tuple[np.ndarray, ...]:
        """Room left before each event, a number to a row.

        The run ends at the first row where one is not positive.
        """

    @abc.abstractmethod
    def counters(self, log: Log) -> Any:
        """Struct of `signal` fields that only change at times: strides, faces, modes."""

    @abc.abstractmethod
    def outputs(self, log: Log) -> Any:
        """Named signals in the house frame.

        Struct of structs of `signal` fields, each an array over rows, or over (like legs, rows).
        """

    def idle_parts(self) -> dict[str, str]:
        """Slots whose part changes nothing as the robot is now, each with the reason."""
        return {}

    def cautions(self, step: float) -> list[str]:
        """What someone should know before a run with this step, a sentence each."""
        del step
        return []

    def remarks(self, t: np.ndarray, columns: Mapping[str, np.ndarray]) -> list[str]:
        """What someone should know of a run that its metrics do not say."""
        del t, columns
        return []

    def suggestions(self, outcome: Outcome) -> tuple[Suggestion, ...]:
        """Commands to try after a run that ended so, for people.

        First what may avoid a bad end, then what else there is to see.
        """
        del outcome
        return ()

    def bounds(self) -> tuple[Bound, ...]:
        """What its outputs may be while its equations mean something, for runs and for batches.

        See hybrid/bound.py.
        """
        return ()

    def doubts(self, t: Any, columns: Any) -> list[Doubt]:
        """Why a run with these columns should not be believed, where no bound can say it.

        Batches do not ask. See hybrid/doubt.py.
        """
        del t, columns
        return []

    @property
    def view_distance(self) -> float | None:
        """From how far a picture shows the robot well [m]; None: from where all of it is seen."""
        return None

    def sketch(self) -> tuple[Shape, ...]:
        """Simple shapes that follow the outputs."""
        return ()

    def charts(self) -> tuple[Chart, ...]:
        """Outputs to plot over time."""
        return ()

    def labels(self) -> tuple[Label, ...]:
        """Words for a labelled schematic."""
        return ()

    def drawing(self) -> Drawing:
        return Drawing(self.sketch(), {}, self.charts(), self.labels())

    def travel(self) -> Travel | None:
        """How to measure progress."""
        return None
