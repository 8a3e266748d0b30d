"""A plant: a robot whose joint torques somebody else decides.

With a control computer (footfall.machines.control) it is a hybrid system again.
"""

import abc
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from footfall.hybrid.system import AbstractHybridSystem, HybridState
from footfall.numerics.scalar import Scalar


class Senses(NamedTuple):
    """What a control computer can measure of a plant: the angle it holds, and its driven joints."""

    angle: Scalar  #: rad, the angle to be controlled; a positive torque raises it
    #: Rad, of each driven joint since the start, positive in the direction of a positive torque.
    positions: tuple[Scalar, ...]
    speeds: tuple[Scalar, ...]  #: rad/s


class DriveRange(NamedTuple):
    """Where a robot that walks is looked at, for how fast it does: a table over both."""

    setpoints: tuple[float, ...]  #: rad, rising
    steers: tuple[float, ...] = (0.0,)  #: A of a motor, rising from 0
    rest: float = 0.0  #: rad, the set point at which it comes to a stand


class AbstractPlant(AbstractHybridSystem):
    """A system with joints that are driven and an angle that is sensed.

    Its discrete state holds the torques between two commands.

    `setpoint_key` is where a scenario says the angle to hold ("torso.pitch_setpoint").
    `start_angle` is the field of its [start] table that holds this angle, where one left out means
    the set point.
    `commanded` names the fields (a law of its own, say) that make it such a plant, and what they
    then hold. `drives` says where it walks, for commands of a speed; None: they mean nothing to it.
    The struct its `outputs` returns has a field `computer` that is None: there a control computer
    shows itself.
    """

    setpoint_key: ClassVar[str]
    start_angle: ClassVar[str | None] = None
    commanded: ClassVar[Mapping[str, Any]]
    drives: ClassVar[DriveRange | None] = None

    @property
    @abc.abstractmethod
    def joints(self) -> tuple[str, ...]:
        """Names of the driven joints, one or two: "left", "right"."""

    @property
    @abc.abstractmethod
    def setpoint(self) -> Scalar:
        """The angle to hold [rad]."""

    @abc.abstractmethod
    def driven(self, m: Any, torques: tuple[Scalar, ...]) -> Any:
        """The discrete state with these joint torques [N m], held until the next call."""

    @abc.abstractmethod
    def senses(self, t: Scalar, x: Any, m: Any) -> Senses:
        """What can be measured now."""

    @abc.abstractmethod
    def metered(
        self, outputs: Any, currents: tuple[Scalar, ...], powers: tuple[Scalar, ...]
    ) -> Any:
        """The outputs with the currents [A] and electrical powers [W] that the motors really take.

        Friction has its share of them.
        """

    def odometry(
        self, start: HybridState, angle: np.ndarray, positions: tuple[np.ndarray, ...]
    ) -> HybridState | None:
        """Where the robot is by what was measured alone, moment by moment; rates are left zero.

        `angle` [rad] and `positions` [rad] are as `Senses` has them; at the first moment somebody
        still held the robot at `start`. The arrays in what comes back have an entry for each. For
        showing a robot that nobody saw. None: this robot cannot tell.
        """
        del start, angle, positions
        return None
