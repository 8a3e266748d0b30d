"""Prescribed motion: the other thing that can be run.

A robot whose motion is given has no continuous state: where it is follows from the time. What flows is energy, through its ports into its
stores; what jumps is which move of the plan it is in. So a motion plan is a hybrid system too, and engines, ledger, files and pictures
need no word for it.
"""

import abc
from typing import Any, NamedTuple

import equinox as eqx
import numpy as np

from footfall.hybrid.system import AbstractHybridSystem, Rates
from footfall.numerics.scalar import Scalar


class NoState(eqx.Module):
    """The continuous state of prescribed motion: none."""


class Figure(NamedTuple):
    """Something known of a plan without running it, one value per design."""

    values: np.ndarray
    unit: str
    doc: str


class AbstractMotionPlan(AbstractHybridSystem):
    """A robot that follows a plan. Torques come from inverse dynamics, and every move's work is checked against its energy."""

    @property
    @abc.abstractmethod
    def plan_time(self) -> Scalar:
        """How long the plan takes."""

    @abc.abstractmethod
    def powers(self, t: Scalar, m: Any) -> Any:
        """Power through each port at time t of the plan, while m is held."""

    @property
    @abc.abstractmethod
    def designs(self) -> int:
        """How many designs its numbers stand for: 1, or the length of the arrays among them."""

    @abc.abstractmethod
    def figures(self, lanes: int) -> dict[str, Figure]:
        """What the plan costs, for `lanes` designs at once: the walker's numbers may be arrays. "outcome" is among them.

        A figure and its namesake with "static_" before it are the same thing reckoned in motion and in poses held still.
        """

    def flow(self, t: Scalar, x: NoState, m: Any) -> Rates:
        return Rates(x, self.powers(t, m))
